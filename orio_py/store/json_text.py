"""JSON from other tools: parsed, and its members checked."""

from __future__ import annotations

import json
import math
from typing import Any, TypeGuard

from orio_py.core.diagnostics import fail
from orio_py.core.source import Position


def load_json(text: str, name: str) -> object:
    """The content of a JSON file.  Raises DiagnosticError ORIO-D007 with the place of a syntax error."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        fail("ORIO-D007", f"this is not JSON: {error.msg}", Position(name, error.lineno, error.colno))
    except RecursionError:
        fail("ORIO-D007", "the JSON is nested too deeply", Position(name, 1, 1))


def member(value: object, what: str, kind: type) -> Any:
    """A value of a wanted kind.  Raises ValueError which says what is not of it, or is missing."""
    if not isinstance(value, kind):
        wanted = {dict: "an object", list: "a list", str: "text"}[kind]
        raise ValueError(f"{what} is not {wanted}" if value is not None else f"{what} is missing")
    return value


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def numbers(value: object, what: str, scale: float) -> tuple[float, ...]:
    """The finite numbers of a list, times `scale`.  Raises ValueError where it is no list."""
    found: list[object] = member(value, what, list)
    return tuple(scale * float(number) for number in found if is_number(number))
