"""The value lists of parameters."""

from __future__ import annotations

from orio_py.core.diagnostics import Diagnostic, Severity, fail
from orio_py.core.expr import FUNCTIONS, Value, show, weight
from orio_py.core.source import Position
from orio_py.frontend.tuning.sections import RESERVED

_MOST = 2_000_000


def _sort(value: Value) -> str:
    match value:
        case bool():
            return "booleans"
        case int() | float():
            return "numbers"
        case str():
            return "strings"
        case list():
            return "lists"
        case tuple():
            return "tuples"
        case None:
            return "None"


def parameter_values(
    name: str, value: Value, is_list: bool, position: Position, problems: list[Diagnostic]
) -> tuple[Value, ...]:
    """The distinct values of a parameter in the order written.

    Duplicates are dropped with a warning, ORIO-S011.  Raises ORIO-S010.
    """
    if weight(value, _MOST) > _MOST:
        fail("ORIO-S010", f"the values of `{name}` are too large", position)
    if not is_list:
        return (value,)
    if not isinstance(value, (list, tuple)):
        fail(
            "ORIO-S010",
            f"`param {name}[]` needs a list of values, not {show(value)[:40]}",
            position,
            help=f"write `param {name}[] = [{show(value)[:40]}];`",
        )
    if not value:
        fail("ORIO-S010", f"`param {name}[]` has an empty list; at least one value is needed", position)
    sorts = {_sort(item) for item in value}
    if len(sorts) > 1:
        mixed = " and ".join(sorted(sorts))
        fail("ORIO-S010", f"the values of `{name}` mix {mixed}; all must be of one type", position)
    return _distinct(name, value, position, problems)


def _distinct(
    name: str, values: list[Value] | tuple[Value, ...], position: Position, problems: list[Diagnostic]
) -> tuple[Value, ...]:
    seen: dict[object, Value] = {}
    for value in values:
        key = show(value) if isinstance(value, (list, tuple)) else value
        seen.setdefault(key, value)
    if len(seen) < len(values):
        message = f"`{name}` lists {len(values) - len(seen)} value(s) twice; the repetitions are dropped"
        problems.append(Diagnostic("ORIO-S011", message, position, severity=Severity.WARNING))
    return tuple(seen.values())


def check_name(name: str, position: Position, *, is_size: bool = False) -> None:
    """Refuse reserved words and function names, but for sizes, which the code names.  Raises ORIO-S009."""
    if name in RESERVED:
        fail("ORIO-S009", f"`{name}` is a reserved word and cannot name a parameter", position)
    if name in FUNCTIONS and not is_size:
        fail("ORIO-S009", f"`{name}` is a function and cannot name a parameter", position)
