"""`module.py:function`: a format of the user's own. It is their code, and runs with their permissions.

    def function(source_path, manifest_rows):
        for row in manifest_rows:                    # sample_id, image_id, height, width, text; sorted by sample_id
            yield {"sample_id": row["sample_id"], "mask": ...}

source_path is a pathlib.Path, what --predictions names. A row is a dictionary with
    sample_id   a text, one of the manifest's; a sample without a row is missing
    status      "answered" (the default), "none" (the model says that there is no target), or "invalid"
    reason      a text, why the answer is invalid
and where it is answered, by the benchmark's shape,
    mask        NumPy bool [height, width], or uint8 of 0 and 1; without foreground it is a "none"
    boxes       [n, 4] numbers, x1 y1 x2 y2 in pixels of the image, and scores [n] or none for all samples; n may be 0
    map         NumPy array: a class map [height, width], uint8 or uint16, or score maps [classes, height, width], uint8,
                uint16, float16 or float32; rows in the order of manifest_rows, since maps are not kept in memory
Every row is checked as any format's is. The file is read once; what it imports beside it is not found.
"""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from groundeval.errors import InputError, quoted
from groundeval.formats import ADAPTER, Format, _adapter_rows, _boxes
from groundeval.options import Option
from groundeval.sources.folder import Source
from groundeval.tables import Shape

_MANIFEST = ("sample_id", "image_id", "height", "width", "text")  # nothing that tells of the truth
_SHAPES: tuple[Shape, ...] = ("mask", "boxes", "map")
_TRAPS = """\
Whoever gives you such a file gives you a program: read it before you run it.
The result records its sha256. `groundeval verify` does not run it, and so cannot make the predictions again."""
_YIELD = 'Yield dictionaries: {"sample_id": ..., "mask" or "boxes" or "map": ...}; see the README.'


class Adapter:
    """One user's format, named `module.py:function`."""

    def __init__(self, name: str) -> None:
        match = ADAPTER.fullmatch(name)
        if match is None:
            raise ValueError(f"{name!r} is no adapter")
        self.name, self.path, self.function = name, Path(match["file"]), match["function"]

    def record(self, shape: Shape | None) -> Format:
        """As a format of a shape; it fits every benchmark, since only its rows say what they are."""
        rows = Option("choice", "what the rows of the adapter hold", shape, (shape,) if shape else _SHAPES)
        options = {"rows": rows}
        if shape == "boxes":
            options["score_threshold"] = _boxes.OPTIONS["score_threshold"]
        return Format(self.name, shape or "mask", "whatever the function reads", options, __doc__ or "", _TRAPS)

    def read(
        self, source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
    ) -> Iterator[pa.RecordBatch]:
        """Batches in the manifest's order; see `formats` for what is an error and what a status."""
        print(f"{self.path}: running {self.function}, which is your own code, with your permissions", file=sys.stderr)
        rows = self._rows(source.path, manifest.select(_MANIFEST).to_pylist())
        return _adapter_rows.batches(rows, manifest, options, str(self.path), notes)

    def _rows(self, path: Path, manifest: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The function's rows. Whatever it raises is one line, with the line of the user's file."""
        function = self._loaded()
        try:
            found = function(path, manifest)
            if not isinstance(found, Iterable):
                raise InputError(self.path, f"{self.function} gives a {type(found).__name__}, not rows", _YIELD)
            yield from found
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise self._fault(error) from None

    def _loaded(self) -> Callable[[Path, list[dict[str, Any]]], object]:
        """The function, from the file's bytes, so that nothing is written beside it."""
        try:
            program = compile(self.path.read_bytes(), str(self.path), "exec")
            module = ModuleType(self.path.stem)
            module.__file__ = str(self.path)
            exec(program, module.__dict__)  # noqa: S102 - the user asks for it
        except OSError as error:
            raise InputError(self.path, f"cannot be read ({error.strerror})", "Check the path.") from None
        except (Exception, SystemExit) as error:
            raise self._fault(error) from None
        found: Any = getattr(module, self.function, None)
        if not callable(found):
            raise InputError(self.path, f"has no function {quoted(self.function)}", "Name one: FILE.py:FUNCTION.")
        return found  # type: ignore[no-any-return]

    def _fault(self, error: BaseException) -> InputError:
        frames = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(self.path)]
        line = error.lineno if isinstance(error, SyntaxError) else frames[-1] if frames else None
        where = f"{self.path}, line {line}" if line else str(self.path)
        return InputError(where, f"{type(error).__name__}: {str(error)[:500]}", "Correct the adapter.")
