"""Turns the values of Composite's keys into what Composite holds."""

from __future__ import annotations

from orio_py.core.expr import Value, show
from orio_py.transform.arguments import boolean, loop_name, new_index, positive_int, texts, wrong
from orio_py.transform.base import refuse
from orio_py.transform.composite import PragmaEntry, TileEntry


def tiles(value: Value, name: str) -> tuple[TileEntry, ...]:
    """`[(loopid, tsize, newindex), …]`.  Raises Refusal: ORIO-T010, T011, T013."""
    if not isinstance(value, (list, tuple)):
        wrong(name, "a list of (loopid, tsize, newindex)", value)
    entries: list[TileEntry] = []
    for item in value:
        if not isinstance(item, (list, tuple)) or len(item) != 3:
            wrong(name, "a list of (loopid, tsize, newindex)", item)
        loop, size, index = item
        entries.append(TileEntry(loop_name(loop, name), positive_int(size, name), new_index(index, name)))
    return tuple(entries)


def pragmas(value: Value, name: str) -> tuple[PragmaEntry, ...]:
    """`[(loopid, text or list of texts), …]`.  Raises Refusal: ORIO-T010."""
    if not isinstance(value, (list, tuple)):
        wrong(name, "a list of (loopid, text)", value)
    entries: list[PragmaEntry] = []
    for item in value:
        if not isinstance(item, (list, tuple)) or len(item) != 2:
            wrong(name, "a list of (loopid, text)", item)
        entries.append(PragmaEntry(loop_name(item[0], name), texts(item[1], name)))
    return tuple(entries)


def flagged_texts(value: Value, name: str) -> tuple[bool, tuple[str, ...]]:
    """`(bool, text or list of texts)`; nothing has to follow a False.  Raises Refusal: ORIO-T010."""
    if value is False:
        return False, ()
    if not isinstance(value, (list, tuple)) or not value:
        wrong(name, "(True or False, text)", value)
    if not boolean(value[0], name):
        return False, ()
    if len(value) != 2:
        wrong(name, "(True or False, text)", value)
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
