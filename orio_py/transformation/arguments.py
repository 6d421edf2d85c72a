"""Turns evaluated arguments into what the transformations hold, and says what is wrong with others."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, cast

from orio_py.core.expr import Value, show
from orio_py.transformation.base import refuse
from orio_py.transformation.loop_names import LoopName

Converter = Callable[[Value, str], object]
"""From a value and its argument's name to what the transformation holds.  Raises Refusal."""

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def positive_int(value: Value, name: str) -> int:
    """An integer of at least 1.  Raises Refusal: ORIO-T010, T011."""
    if isinstance(value, bool) or not isinstance(value, int):
        wrong(name, "an integer", value)
    if value < 1:
        refuse("ORIO-T011", f"`{name}` is {value}; it must be at least 1", None, argument=name)
    return value


def boolean(value: Value, name: str) -> bool:
    """True or False, or 1 or 0 for them.  Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    wrong(name, "True or False", value)


def text(value: Value, name: str) -> str:
    """A string.  Raises Refusal: ORIO-T010."""
    if isinstance(value, str):
        return value
    wrong(name, "a string", value)


def optional_text(value: Value, name: str) -> str | None:
    """A string without blanks around it; None for an empty one, the default.  Raises Refusal: ORIO-T010."""
    return text(value, name).strip() or None


def new_index(value: Value, name: str) -> str:
    """The name of a new loop index.  Raises Refusal: ORIO-T010, T013."""
    word = text(value, name)
    if not _IDENTIFIER.fullmatch(word):
        refuse("ORIO-T013", f"{word!r} is not a C identifier", None, argument=name)
    return word


def texts(value: Value, name: str) -> tuple[str, ...]:
    """A string, or a list or tuple of strings; empty ones are left out.  Raises Refusal: ORIO-T010."""
    items = [value] if isinstance(value, str) else value
    if isinstance(items, (list, tuple)) and all(isinstance(item, str) for item in items):
        return tuple(item for item in cast("list[str]", items) if item.strip())
    wrong(name, "a string or a list of strings", value)


def loop_name(value: Value, name: str) -> LoopName:
    """A loop: `'i'`, `('ii', 'i')` for the first that exists, or `['i']` for one that may be missing."""
    match value:
        case str():
            return LoopName((value,))
        case tuple() | list() if value and all(isinstance(item, str) for item in value):
            names = tuple(cast("list[str]", value))
            return LoopName(names, optional=isinstance(value, list))
        case _:
            wrong(name, "a loop: 'i', ('ii', 'i') or ['i']", value)


def sequence(value: Value, name: str) -> tuple[LoopName, ...]:
    """The order of loops that `Permut` makes.  Raises Refusal: ORIO-T010."""
    if not isinstance(value, (list, tuple)) or not value:
        wrong(name, "a list of loops", value)
    return tuple(loop_name(item, name) for item in value)


def sequences(value: Value, name: str) -> tuple[tuple[LoopName, ...], ...]:
    """A list of orders.  Raises Refusal: ORIO-T010."""
    if not isinstance(value, (list, tuple)) or any(isinstance(item, str) for item in value):
        wrong(name, "a list of lists of loops, such as [['j', 'i']]", value)
    return tuple(sequence(item, name) for item in value)


def unroll_factors(value: Value, name: str) -> tuple[tuple[str, int], ...]:
    """`([loops], [factors])` of the same length.  Raises Refusal: ORIO-T010, T011, T016."""
    loops, factors = _two_lists(value, name)
    names = [text(item, name) for item in loops]
    for word in names:
        if names.count(word) > 1:
            refuse("ORIO-T016", f"the loop `{word}` is named twice", None, argument=name)
    for factor in factors:
        if isinstance(factor, bool) or not isinstance(factor, int):
            wrong(name, "integers as factors", factor)
    return tuple(zip(names, cast("list[int]", factors), strict=True))


def _two_lists(value: Value, name: str) -> tuple[list[Value], list[Value]]:
    kind = "([loops], [factors]), two lists of the same length"
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        wrong(name, kind, value)
    first, second = value
    if not isinstance(first, (list, tuple)) or not isinstance(second, (list, tuple)):
        wrong(name, kind, value)
    if len(first) != len(second):
        refuse(
            "ORIO-T010",
            f"`{name}` names {len(first)} loops but {len(second)} factors; it needs one factor per loop",
            None,
            argument=name,
        )
    return list(first), list(second)


def wrong(name: str, kind: str, value: Value) -> NoReturn:
    """Refuse a value that is not of the kind.  Raises Refusal: ORIO-T010."""
    refuse("ORIO-T010", f"`{name}` is {show(value)}; it must be {kind}", None, argument=name)
