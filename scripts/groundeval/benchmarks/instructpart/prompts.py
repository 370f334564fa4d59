"""The setting and the prompt that a run declares, and that they agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundeval.benchmarks.instructpart import PROMPTS
from groundeval.errors import InputError


def declared(options: Mapping[str, Any]) -> int | None:
    """The index of the instruction: the prompt, else the setting's first, else None. InputError where they disagree."""
    setting, prompt = options.get("setting"), options.get("prompt")
    if setting is None and prompt is None:
        return None
    if setting is None:
        fitting = [name for name, indices in PROMPTS.items() if prompt in indices]
        fix = f"Declare setting={fitting[0]} too." if fitting else "A prompt is 0 to 5."
        raise InputError("option prompt", f"prompt={prompt} is given without its setting", fix)
    if prompt is not None and prompt not in PROMPTS[setting]:
        expected = " or ".join(map(str, PROMPTS[setting]))
        raise InputError("option prompt", f"prompt={prompt} is no prompt of {setting}", f"There it is {expected}.")
    return PROMPTS[setting][0] if prompt is None else int(prompt)
