"""Strict YAML for files that people write: a doubled key is an error, not a silent choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from groundeval.errors import InputError, quoted


class _Strict(yaml.CSafeLoader):
    """SafeLoader that refuses doubled keys."""


def _mapping(loader: Any, node: Any) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"key {quoted(key)} stands twice", key_node.start_mark)
        seen.add(key)
    mapping: dict[Any, Any] = loader.construct_mapping(node, deep=True)
    return mapping


_Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load(path: Path) -> Any:
    """The content of a YAML file; what cannot be read is an InputError with its line."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Strict)  # noqa: S506 - a SafeLoader
    except FileNotFoundError:
        raise InputError(path, "no such file", "Check the path.") from None
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise InputError(path, f"not readable YAML ({_where(error)})", "Correct the file.") from None


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return f"line {mark.line + 1}: {problem}" if mark else problem
