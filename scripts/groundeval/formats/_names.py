"""From the names that a producer gives its answers to the samples of the manifest. An ambiguous name is never guessed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from groundeval.errors import InputError, first_of, quoted
from groundeval.options import Option
from groundeval.sources import ids, jsonfile
from groundeval.sources.folder import Source

OPTIONS: Mapping[str, Option] = {
    "names": Option(
        "choice",
        "what an answer is named by: the sample's id, or the file name of its image; an image of several samples does "
        "not say of which, and these are invalid",
        "sample",
        ("sample", "image"),
    ),
    "map": Option("text", 'in place of names: a JSON file in the folder, {"name of an answer": "id of its sample"}'),
}
IMAGES = {".jpg", ".jpeg", ".png", ".bmp", ".webp"}
Key = tuple[str, ...]
AMBIGUOUS = 'Name the answers by sample ids, or declare map=..., a JSON file {"name": "sample_id"} beside them.'
_MAP_FIX = 'Write it as {"name": "sample_id", ...}, an entry for each answer.'


@dataclass
class Matched:
    """names: sample -> the name of its answer; faults: sample -> why an answer cannot be said to be its own."""

    names: dict[str, str]
    faults: dict[str, str] = field(default_factory=dict)

    def answer(self, sample_id: str, source: Source) -> str | None:
        """The name of a sample's answer, or None; InputError where one may be its own."""
        if sample_id in self.faults:
            raise InputError(source.path, self.faults[sample_id], AMBIGUOUS)
        return self.names.get(sample_id)


def match(found: Collection[str], manifest: pa.Table, options: Mapping[str, Any], source: Source) -> Matched:
    """The sample of each name, as the options say. A name of no sample, and a sample with two answers, are InputErrors."""
    names, where = list(found), str(source.path)
    if options.get("map") and options.get("names", "sample") != "sample":
        raise InputError(where, f"map={options['map']} and names={options['names']} are both declared", "Declare one.")
    if options.get("map"):
        return _by_map(names, manifest, options["map"], source)
    if options.get("names") == "image":
        return by_key({n: (n,) for n in names}, _images(manifest), "image", where)
    ids.check(names, manifest["sample_id"].to_pylist(), where)
    return Matched(dict(zip(names, names, strict=True)))


def by_key(keys: Mapping[str, Key], samples: Mapping[Key, Sequence[str]], of: str, where: str) -> Matched:
    """The one sample that has a name's key. `keys`: name -> key; `of` says what a key is, for messages."""
    if strangers := [name for name, key in keys.items() if key not in samples]:
        first = " / ".join(next(iter(samples), ("nothing",)))
        what = f"{len(strangers)} of {len(keys)} answers are of no {of} of this split, {first_of(strangers)}"
        raise InputError(where, f"{what}; one here is {quoted(first)}", "Check the names and the split.")
    out = Matched({})
    for name, key in keys.items():
        owners = samples[key]
        if len(owners) > 1:
            why = f"{quoted(name)} is the {of} of {len(owners)} samples, and does not say of which it is the answer"
            out.faults |= dict.fromkeys(owners, why)
        elif owners[0] in out.names:
            what = f"{quoted(out.names[owners[0]])} and {quoted(name)} are both answers for {quoted(owners[0])}"
            raise InputError(where, what, "Keep one answer a sample.")
        else:
            out.names[owners[0]] = name
    return out


def _images(manifest: pa.Table) -> dict[Key, list[str]]:
    out: dict[Key, list[str]] = {}
    for sample, image in zip(manifest["sample_id"].to_pylist(), manifest["image_id"].to_pylist(), strict=True):
        for key in _image_keys(image):
            out.setdefault((key,), []).append(sample)
    return out


def _image_keys(image: str) -> list[str]:
    """How producers write an image: its file name, and that without its suffix, or cut at its first dot."""
    name = PurePosixPath(image.replace("\\", "/")).name
    return sorted({name, stem(image), name.split(".")[0]})


def stem(image: str) -> str:
    """The file name of an image, without folders and without the suffix of an image file."""
    path = PurePosixPath(image.replace("\\", "/"))
    return path.stem if path.suffix.lower() in IMAGES else path.name


def _by_map(names: Sequence[str], manifest: pa.Table, file: str, source: Source) -> Matched:
    if file not in source.names():
        raise InputError(source.path, f"has no file {quoted(file)}, the declared map", "Put it beside the answers.")
    where = source.where(file)
    content = jsonfile.load(source.read(file), where)
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise InputError(where, "is not an object of texts", _MAP_FIX)
    if absent := [name for name in names if name not in content]:
        raise InputError(
            where, f"{len(absent)} of {len(names)} answers are not in the map, {first_of(absent)}", _MAP_FIX
        )
    ids.check([content[name] for name in names], manifest["sample_id"].to_pylist(), where)
    return Matched({content[name]: name for name in names})
