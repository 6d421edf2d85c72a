"""Recipes: which transformations, with which arguments, on which part of a region."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.expr import Expr
from orio_py.core.source import Position
from orio_py.spec.parameter import Parameter


@dataclass(frozen=True, slots=True)
class Argument:
    """One `name=expression` of a step; a positional argument of a command has an empty name."""

    name: str
    expression: Expr
    position: Position


@dataclass(frozen=True, slots=True)
class RecipeStep:
    """`transform NAME(arguments)` or `NAME(arguments)` as written; names are checked by `transformation.recipe`."""

    name: str
    arguments: tuple[Argument, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class MarkedRecipe:
    """Transformations of the statements that are marked in the region's tree."""

    steps: tuple[RecipeStep, ...] = ()
    """The transformations; each `ctree.nodes.Transform` in the tree holds the index of one."""
    parameters: tuple[Parameter, ...] = ()
    """Tuning parameters that the recipe defines, beside those of the specification."""


@dataclass(frozen=True, slots=True)
class StatementRecipe:
    """Commands on the statements of the region's tree, which are numbered in the order in which they stand."""

    steps: tuple[RecipeStep, ...] = ()
    """The commands, applied one after the other."""
    parameters: tuple[Parameter, ...] = ()
    """Tuning parameters that the recipe defines, beside those of the specification."""


Recipe = MarkedRecipe | StatementRecipe
"""How a region is transformed; `transformation.recipe` knows what checks and applies each kind."""
