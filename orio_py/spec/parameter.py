"""Tuning parameters and the constraints between them."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.expr import Expr, Value
from orio_py.core.source import Position


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named list of values to choose from, in the order written.

    `option` is the command-line flag (`-x`) of a parameter from `cmdline_params`, which is handed to
    the test executable instead of to the recipe.
    """

    name: str
    values: tuple[Value, ...]
    position: Position | None = None
    option: str | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition over parameters that a configuration has to meet."""

    name: str
    expression: Expr
    position: Position | None = None
