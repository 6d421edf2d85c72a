"""Reading a searcher's options: names are checked against those it has, values by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.expr import Value, show
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position


def read_options(
    searcher: str,
    prefixes: Sequence[str],
    known: Sequence[str],
    options: Mapping[str, Value],
    position: Position | None,
) -> dict[str, Value]:
    """The options by their short names: `exhaustive_start_coord` is `start_coord` of `exhaustive`.

    Raises ORIO-P022 for every option that the searcher does not have.
    """
    found: dict[str, Value] = {}
    problems: list[Diagnostic] = []
    for written, value in options.items():
        name = _short(written, prefixes)
        if name in known:
            found[name] = value
        else:
            message = f"the searcher `{searcher}` has no option `{written}`"
            hint = did_you_mean(name, known) or f"`{searcher}` has no options"
            problems.append(Diagnostic("ORIO-P022", message, position, help=hint))
    if problems:
        raise DiagnosticError(*problems)
    return found


def _short(written: str, prefixes: Sequence[str]) -> str:
    name = written.strip().lower()
    for prefix in prefixes:
        if name.startswith(f"{prefix.lower()}_"):
            return name[len(prefix) + 1 :]
    return name


def read_coordinate(
    name: str, value: Value, sizes: Mapping[str, int], position: Position | None
) -> tuple[int, ...]:
    """A list with one place per parameter, each a valid place in that parameter's list.

    Raises ORIO-P023.
    """
    if not isinstance(value, (list, tuple)) or len(value) != len(sizes):
        fail(
            "ORIO-P023",
            f"`{name}` is {show(value)}; it needs a list of {len(sizes)} integers, one per parameter",
            position,
            help=f"the parameters are {', '.join(sizes)}" if sizes else None,
        )
    places: list[int] = []
    for item, (parameter, size) in zip(value, sizes.items(), strict=True):
        if not isinstance(item, int) or isinstance(item, bool) or not 0 <= item < size:
            fail(
                "ORIO-P023",
                f"`{name}` has {show(item)} for `{parameter}`; it needs an integer from 0 to {size - 1}",
                position,
            )
        places.append(item)
    return tuple(places)
