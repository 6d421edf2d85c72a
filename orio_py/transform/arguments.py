"""Turns evaluated arguments into what the transformations hold, and says what is wrong with others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, cast

from orio_py.core.expr import Value, show
from orio_py.transform.base import refuse
from orio_py.transform.composite import PragmaEntry, TileEntry
from orio_py.transform.loop_names import LoopName

Converter = Callable[[Value, str], object]
"""From a value and its argument's name to what the transformation holds.  Raises Refusal."""

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """One argument: its name, what it may be in words, its meaning, and its default (None: required).

    `flagged` arguments are `(bool, …)`, or lists of such: what follows a False is not evaluated.
    """

    name: str
    kind: str
    meaning: str
    convert: Converter
    default: str | None = None
    flagged: bool = False
    available: bool = True


def positive_int(value: Value, name: str) -> int:
    """An integer of at least 1.  Raises Refusal: ORIO-T010, T011."""
    if isinstance(value, bool) or not isinstance(value, int):
        _wrong(name, "an integer", value)
    if value < 1:
        refuse("ORIO-T011", f"`{name}` is {value}; it must be at least 1", None, argument=name)
    return value


def boolean(value: Value, name: str) -> bool:
    """True or False, or 1 or 0 for them.  Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    _wrong(name, "True or False", value)


def text(value: Value, name: str) -> str:
    """A string.  Raises Refusal: ORIO-T010."""
    if isinstance(value, str):
        return value
    _wrong(name, "a string", value)


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
    _wrong(name, "a string or a list of strings", value)


def loop_name(value: Value, name: str) -> LoopName:
    """A loop: `'i'`, `('ii', 'i')` for the first that exists, or `['i']` for one that may be missing."""
    match value:
        case str():
            return LoopName((value,))
        case tuple() | list() if value and all(isinstance(item, str) for item in value):
            names = tuple(cast("list[str]", value))
            return LoopName(names, optional=isinstance(value, list))
        case _:
            _wrong(name, "a loop: 'i', ('ii', 'i') or ['i']", value)


def sequence(value: Value, name: str) -> tuple[LoopName, ...]:
    """The order of loops that `Permut` makes.  Raises Refusal: ORIO-T010."""
    if not isinstance(value, (list, tuple)) or not value:
        _wrong(name, "a list of loops", value)
    return tuple(loop_name(item, name) for item in value)


def sequences(value: Value, name: str) -> tuple[tuple[LoopName, ...], ...]:
    """A list of orders.  Raises Refusal: ORIO-T010."""
    if not isinstance(value, (list, tuple)) or any(isinstance(item, str) for item in value):
        _wrong(name, "a list of lists of loops, such as [['j', 'i']]", value)
    return tuple(sequence(item, name) for item in value)


def tiles(value: Value, name: str) -> tuple[TileEntry, ...]:
    """`[(loopid, tsize, newindex), …]`.  Raises Refusal: ORIO-T010, T011, T013."""
    if not isinstance(value, (list, tuple)):
        _wrong(name, "a list of (loopid, tsize, newindex)", value)
    entries: list[TileEntry] = []
    for item in value:
        if not isinstance(item, (list, tuple)) or len(item) != 3:
            _wrong(name, "a list of (loopid, tsize, newindex)", item)
        loop, size, index = item
        entries.append(TileEntry(loop_name(loop, name), positive_int(size, name), new_index(index, name)))
    return tuple(entries)


def unroll_factors(value: Value, name: str) -> tuple[tuple[str, int], ...]:
    """`([loops], [factors])` of the same length.  Raises Refusal: ORIO-T010, T011, T016."""
    loops, factors = _two_lists(value, name)
    names = [text(item, name) for item in loops]
    for word in names:
        if names.count(word) > 1:
            refuse("ORIO-T016", f"the loop `{word}` is named twice", None, argument=name)
    for factor in factors:
        if isinstance(factor, bool) or not isinstance(factor, int):
            _wrong(name, "integers as factors", factor)
    return tuple(zip(names, cast("list[int]", factors), strict=True))


def pragmas(value: Value, name: str) -> tuple[PragmaEntry, ...]:
    """`[(loopid, text or list of texts), …]`.  Raises Refusal: ORIO-T010."""
    if not isinstance(value, (list, tuple)):
        _wrong(name, "a list of (loopid, text)", value)
    entries: list[PragmaEntry] = []
    for item in value:
        if not isinstance(item, (list, tuple)) or len(item) != 2:
            _wrong(name, "a list of (loopid, text)", item)
        entries.append(PragmaEntry(loop_name(item[0], name), texts(item[1], name)))
    return tuple(entries)


def flagged_texts(value: Value, name: str) -> tuple[bool, tuple[str, ...]]:
    """`(bool, text or list of texts)`; nothing has to follow a False.  Raises Refusal: ORIO-T010."""
    if value is False:
        return False, ()
    if not isinstance(value, (list, tuple)) or not value:
        _wrong(name, "(True or False, text)", value)
    if not boolean(value[0], name):
        return False, ()
    if len(value) != 2:
        _wrong(name, "(True or False, text)", value)
    return True, texts(value[1], name)


def disabled_only(value: Value, name: str) -> None:
    """Accepts the values of a key that switch it off.  Raises Refusal: ORIO-T009."""
    if not _is_disabled(value):
        refuse(
            "ORIO-T009",
            f"Composite's `{name}` is known but not available yet; its value is {show(value)}",
            None,
            help=f"leave `{name}` out, or switch it off",
            argument=name,
        )


def _is_disabled(value: Value) -> bool:
    match value:
        case None | False | [] | ():
            return True
        case (list() as loops, list() as factors):
            return not loops or all(isinstance(f, int) and f <= 1 for f in factors)
        case tuple():
            return value[0] is False or value[0] == 0
        case list():
            return all(isinstance(item, (list, tuple)) and _is_disabled(item) for item in value)
        case _:
            return False


def _two_lists(value: Value, name: str) -> tuple[list[Value], list[Value]]:
    kind = "([loops], [factors]), two lists of the same length"
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        _wrong(name, kind, value)
    first, second = value
    if not isinstance(first, (list, tuple)) or not isinstance(second, (list, tuple)):
        _wrong(name, kind, value)
    if len(first) != len(second):
        refuse(
            "ORIO-T010",
            f"`{name}` names {len(first)} loops but {len(second)} factors; it needs one factor per loop",
            None,
            argument=name,
        )
    return list(first), list(second)


def _wrong(name: str, kind: str, value: Value) -> NoReturn:
    refuse("ORIO-T010", f"`{name}` is {show(value)}; it must be {kind}", None, argument=name)
