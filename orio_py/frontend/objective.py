"""Reads the objective of a search: an expression over times and counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.expr import Name, names_in
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.frontend.expressions import parse_expression
from orio_py.spec.counters import OBJECTIVE_NAMES
from orio_py.spec.objective import Objective


def parse_objective(text: str | Sequence[str], position: Position | None = None) -> Objective | None:
    """The objective, None for plain `time`; of several the first, with the others; all problems stand at `position`.

    Raises DiagnosticError ORIO-S019 for names that no method counts, for an expression without any, and for one
    that stands twice, and ORIO-E… for what is no expression.
    """
    texts = (text,) if isinstance(text, str) else tuple(text)
    if not texts:
        return None
    first, *others = (_objective(one.strip(), position) for one in texts)
    if not others:
        return None if isinstance(first.expression, Name) and first.expression.name == "time" else first
    expressions = [one.expression for one in (first, *others)]
    for place, one in enumerate(others, 1):
        if one.expression in expressions[:place]:
            fail("ORIO-S019", f"the objective `{one.text[:40]}` is named twice", position)
    return replace(first, others=tuple(others))


def _objective(text: str, position: Position | None) -> Objective:
    expression = parse_expression(text, position=position)
    names = names_in(expression)
    unknown = sorted(names - set(OBJECTIVE_NAMES))
    if unknown:
        raise DiagnosticError(
            *(
                Diagnostic(
                    "ORIO-S019",
                    f"the objective names `{name[:40]}`, which is neither a time nor a counter",
                    position,
                    help=did_you_mean(name, OBJECTIVE_NAMES) or _known(),
                )
                for name in unknown
            )
        )
    if not names:
        message = f"the objective `{text[:40]}` is the same for all variants"
        raise DiagnosticError(Diagnostic("ORIO-S019", message, position, help=_known()))
    return Objective(text, expression, position)


def _known() -> str:
    return f"it can use {', '.join(OBJECTIVE_NAMES)}"
