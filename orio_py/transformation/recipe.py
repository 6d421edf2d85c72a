"""Checks the recipe of a region, and applies it for given parameter values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol, assert_never

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.expr import Value
from orio_py.ctree.build import block
from orio_py.ctree.nodes import Comment, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, walk
from orio_py.spec.recipe import MarkedRecipe, StatementRecipe
from orio_py.spec.region import Region
from orio_py.spec.target import Target
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.context import context_for
from orio_py.transformation.dead_declarations import with_idle_mentioned, without_superfluous
from orio_py.transformation.forms import sole_statement
from orio_py.transformation.marked_steps import MarkedSteps
from orio_py.transformation.parallel.own_pragmas import require_valid_pragmas
from orio_py.transformation.parallel.pragma_text import is_about_loop, is_hint, normal, takes_statement
from orio_py.transformation.shadowing import without_shadowing

__all__ = [
    "apply_recipe",
    "check_recipe",
    "context_for",
    "device_targets",
    "directive_targets",
    "uses_openmp",
]


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

    def directive_targets(self) -> frozenset[Target]:
        """As the function `directive_targets`."""
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
    return (*_check_place(region), *_engine(region).check(known))


def _check_place(region: Region) -> Iterator[Diagnostic]:
    """Where C takes one statement the region is one.  Codes: ORIO-A021."""
    code = [s for s in region.reference.block_items or [] if not isinstance(s, (Comment, c_ast.Pragma))]
    if is_one_statement(region) and len(code) != 1:
        where = "behind a pragma" if region.pragmas else "as the body of a statement without braces"
        message = f"the region stands {where}, and has {len(code)} statements"
        yield Diagnostic("ORIO-A021", message, region.position, help="put braces around the whole region")


def is_one_statement(region: Region) -> bool:
    """Whether the region stands where C takes one statement, so that what replaces it has to be one."""
    if any(map(is_about_loop, region.pragmas)):
        return False
    return region.is_body or any(map(takes_statement, region.pragmas))


def apply_recipe(region: Region, values: Mapping[str, Value], context: Context) -> Compound:
    """The region's code, transformed by its recipe with the given parameter values.

    Raises Refusal where a transformation says no or a pragma's nest is none any longer, DiagnosticError where an argument has no value.
    """
    region, context = without_shadowing(region, context)
    result = _applied(region, values, context)
    if device_targets(region):
        from orio_py.kernel.call import numbered  # takes time to load
        from orio_py.transformation.offload.device_data import kept_on_device  # takes time to load
        from orio_py.transformation.offload.sequences import in_sequence

        result = in_sequence(kept_on_device(numbered(result, context.label), context), context)
    if directive_targets(region):
        from orio_py.transformation.offload.directive_data import kept_by_directives  # takes time to load

        result = kept_by_directives(result, context)
    result = without_superfluous(result, region.tree, context)
    require_valid_pragmas(result)
    assert isinstance(result, Compound)
    if context.pragmas and not isinstance(sole_statement(result), For):
        refuse(
            "ORIO-T023",
            f"the code is one loop no longer, which `#pragma {context.pragmas[-1]}` before the region is about",
            region.position,
            help="begin the region before the pragma, or remove that and let the recipe insert one",
        )
    # A pragma before the region needs the loop, and nothing behind it.
    return result if context.pragmas else with_idle_mentioned(result, region.tree, context)


def _applied(region: Region, values: Mapping[str, Value], context: Context) -> Node:
    """The code as the recipe makes it; hints to the compiler that are in the way are left out.

    They change nothing that the code computes.  Raises as `apply_recipe`.
    """
    try:
        return _engine(region).apply(values, context)
    except Refusal:
        hints = _WithoutHints()
        tree = hints.rewrite(region.tree)
        if not hints.found:
            raise
        result = _engine(replace(region, tree=tree)).apply(values, context)
        listed = ", ".join(f"`#pragma {text}`" for text in dict.fromkeys(hints.found))
        remark = Comment(f"/* Left out, as the loops are others now: {listed}. */")
        return block(remark, *(result.block_items or [] if isinstance(result, Compound) else [result]))


class _WithoutHints(Rewriter):
    """Leaves out pragmas that only say how loops may be compiled, and collects their texts in `found`."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def visit_Pragma(self, node: c_ast.Pragma) -> Node | list[Node]:
        if not is_hint(node.string):
            return node
        self.found.append(normal(node.string))
        return []


def device_targets(region: Region) -> frozenset[str]:
    """The targets in whose languages some variant of the region has kernels: `opencl`, `cuda`, or none."""
    return _engine(region).device_targets()


def directive_targets(region: Region) -> frozenset[Target]:
    """The targets by whose directives some variant of the region takes loops to a device."""
    return _engine(region).directive_targets()


def uses_openmp(region: Region) -> bool:
    """Whether some variant of the region contains an OpenMP pragma."""
    if _engine(region).uses_openmp():
        return True
    pragmas = (node.string for node in walk(region.tree) if isinstance(node, c_ast.Pragma))
    return any(text.split()[:1] == ["omp"] for text in pragmas)
