"""Recipes: which transformations, with which arguments, on which part of a region."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.expr import Expr
from orio_py.core.source import Position


@dataclass(frozen=True, slots=True)
class Argument:
    """One `name=expression` of a `transform` statement."""

    name: str
    expression: Expr
    position: Position


@dataclass(frozen=True, slots=True)
class RecipeStep:
    """`transform NAME(arguments)` as written; names are checked by `transformation.recipe`."""

    name: str
    arguments: tuple[Argument, ...]
    position: Position
