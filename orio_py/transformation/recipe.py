"""Checks the recipe of a region, and applies it for given parameter values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, assert_never

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.expr import Value
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.spec.recipe import MarkedRecipe, StatementRecipe
from orio_py.spec.region import Region
from orio_py.transformation.base import Context
from orio_py.transformation.context import context_for
from orio_py.transformation.dead_declarations import without_superfluous
from orio_py.transformation.marked_steps import MarkedSteps

__all__ = ["apply_recipe", "check_recipe", "context_for", "device_targets", "uses_openmp"]


class Engine(Protocol):
    """Knows one kind of recipe, for the tree that it is written for."""

    def check(self, known: frozenset[str]) -> tuple[Diagnostic, ...]:
        """As `check_recipe`."""
        ...

    def apply(self, values: Mapping[str, Value], context: Context) -> Node:
        """The tree as the recipe makes it.  Raises as `apply_recipe`."""
        ...

    def device_targets(self) -> frozenset[str]:
        """As the function `device_targets`."""
        ...

    def uses_openmp(self) -> bool:
        """Whether the recipe can make an OpenMP pragma."""
        ...


def _engine(region: Region) -> Engine:
    recipe = region.recipe
    match recipe:
        case MarkedRecipe():
            return MarkedSteps(region.tree, recipe)
        case StatementRecipe():
            # These recipes are rare, and what they need takes time to load.
            from orio_py.transformation.statements.recipe import StatementCommands

            return StatementCommands(region.tree, recipe)
        case _:
            assert_never(recipe)


def check_recipe(region: Region, known: frozenset[str]) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a region's recipe whatever the parameter values.

    `known` are the names that arguments may use.  Codes: ORIO-T001 to T016, T100 to T104.
    """
    return _engine(region).check(known)


def apply_recipe(region: Region, values: Mapping[str, Value], context: Context) -> Compound:
    """The region's code, transformed by its recipe with the given parameter values.

    Raises Refusal where a transformation says no, DiagnosticError where an argument has no value.
    """
    result = _engine(region).apply(values, context)
    if device_targets(region):
        from orio_py.kernel.call import numbered  # takes time to load

        result = numbered(result, context.label)
    result = without_superfluous(result, region.tree, context)
    assert isinstance(result, Compound)
    return result


def device_targets(region: Region) -> frozenset[str]:
    """The targets in whose languages some variant of the region has kernels: `opencl`, `cuda`, or none."""
    return _engine(region).device_targets()


def uses_openmp(region: Region) -> bool:
    """Whether some variant of the region contains an OpenMP pragma."""
    if _engine(region).uses_openmp():
        return True
    pragmas = (node.string for node in walk(region.tree) if isinstance(node, c_ast.Pragma))
    return any(text.split()[:1] == ["omp"] for text in pragmas)
