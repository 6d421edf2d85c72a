"""Checks the recipe of a region, and applies it for given parameter values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, Severity
from orio_py.core.expr import (
    Expr,
    ListExpr,
    Literal,
    TupleExpr,
    Value,
    children,
    evaluate,
    name_positions,
    names_in,
)
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.ctree.nodes import Compound, Node, Transform, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.kernel.backends import BACKENDS, BY_TITLE
from orio_py.spec.recipe import Argument, RecipeStep
from orio_py.spec.region import Region
from orio_py.transformation.base import Context, Refusal, Transformation
from orio_py.transformation.catalog import NOT_YET, TRANSFORMATIONS
from orio_py.transformation.context import context_for
from orio_py.transformation.dead_declarations import without_superfluous
from orio_py.transformation.entry import ArgumentSpec, Entry
from orio_py.transformation.forms import sole_statement
from orio_py.transformation.runtime_guards import Apply, GuardedRecipe
from orio_py.transformation.sites import Change, rewrite_where

__all__ = ["apply_recipe", "check_recipe", "context_for", "device_targets", "uses_openmp"]


def check_recipe(region: Region, known: frozenset[str]) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a region's recipe whatever the parameter values.

    `known` are the names that arguments may use.  Codes: ORIO-T001 to T016, T100 to T104.
    """
    if region.by_statement:
        # Recipes by statement number are rare, and what they need takes time to load.
        from orio_py.transformation.statements.recipe import check_statement_recipe

        return check_statement_recipe(region, known)
    return tuple(problem for step in region.steps for problem in _check_step(step, known))


def apply_recipe(region: Region, values: Mapping[str, Value], context: Context) -> Compound:
    """The region's code, transformed by its recipe with the given parameter values.

    Raises Refusal where a transformation says no, DiagnosticError where an argument has no value.
    """
    result = _applied(region, values, context)
    if any(_has_kernels(step, region) for step in region.steps):
        from orio_py.kernel.call import numbered  # takes time to load

        result = numbered(result, context.label)
    result = without_superfluous(result, region.tree, context)
    assert isinstance(result, Compound)
    return result


def _applied(region: Region, values: Mapping[str, Value], context: Context) -> Node:
    if region.by_statement:
        from orio_py.transformation.statements.recipe import apply_statement_recipe  # takes time to load

        return apply_statement_recipe(region.tree, region.steps, values, context)

    def apply(mark: Transform, inner: Context) -> Node:
        return _apply_step(region.steps[mark.step], mark.stmt, values, inner)

    def rewrite(change: Apply) -> Node:
        return rewrite_where(region.tree, lambda n: isinstance(n, Transform), cast("Change", change), context)

    return GuardedRecipe(region.tree, apply, context).result(rewrite)


_MAPPING_COMMANDS = frozenset({"cuda", "cudaize"})
"""The commands of recipes by statement number that make kernels."""


def _has_kernels(step: RecipeStep, region: Region) -> bool:
    if region.by_statement:
        return step.name in _MAPPING_COMMANDS
    named = (argument.name for argument in step.arguments)
    return step.name in BY_TITLE or any(name in BACKENDS for name in named)


def uses_openmp(region: Region) -> bool:
    """Whether some variant of the region contains an OpenMP pragma."""
    for step in region.steps:
        if step.name in {"Parallelize", "Vectorize"}:
            return True
        for argument in step.arguments:
            if step.name == "Specialize" and argument.name == "aligned":
                return True
            inferred = argument.name in {"parallelize", "vectorize"}
            parallel = inferred and argument.expression != Literal(False)
            if parallel or any(_mentions_openmp(e) for e in _walk(argument.expression)):
                return True
    pragmas = (node.string for node in walk(region.tree) if isinstance(node, c_ast.Pragma))
    return any(text.split()[:1] == ["omp"] for text in pragmas)


def device_targets(region: Region) -> frozenset[str]:
    """The targets in whose languages some variant of the region has kernels: `opencl`, `cuda`, or none."""
    if region.by_statement:
        return frozenset("cuda" for step in region.steps if step.name in _MAPPING_COMMANDS)
    steps = {BY_TITLE[step.name].name for step in region.steps if step.name in BY_TITLE}
    arguments = (argument for step in region.steps for argument in step.arguments)
    return frozenset(
        steps | {a.name for a in arguments if a.name in BACKENDS and a.expression != Literal(False)}
    )


def _mentions_openmp(expr: Expr) -> bool:
    return isinstance(expr, Literal) and isinstance(expr.value, str) and expr.value.split()[:1] == ["omp"]


def _walk(expr: Expr) -> Iterator[Expr]:
    yield expr
    for child in children(expr):
        yield from _walk(child)


def _check_step(step: RecipeStep, known: frozenset[str]) -> Iterator[Diagnostic]:
    entry = TRANSFORMATIONS.get(step.name)
    if entry is None:
        yield _unknown_transformation(step)
        for argument in step.arguments:
            yield from _undefined_names(argument, known)
        return
    seen = {argument.name for argument in step.arguments}
    for argument in step.arguments:
        yield from _check_argument(entry, argument, known)
    for spec in entry.arguments:
        if spec.default is None and spec.name not in seen:
            message = f"{entry.name} needs the argument `{spec.name}`: {spec.kind}"
            yield Diagnostic("ORIO-T003", message, step.position, help=f"add `{spec.name}=…`")


def _unknown_transformation(step: RecipeStep) -> Diagnostic:
    if step.name in NOT_YET:
        message = f"the transformation `{step.name}` is known but not available yet"
        return Diagnostic(
            "ORIO-T008", message, step.position, help=f"available: {', '.join(TRANSFORMATIONS)}"
        )
    known = set(TRANSFORMATIONS) | NOT_YET
    message = f"there is no transformation `{step.name}`"
    return Diagnostic("ORIO-T001", message, step.position, help=did_you_mean(step.name, known))


def _check_argument(entry: Entry, argument: Argument, known: frozenset[str]) -> Iterator[Diagnostic]:
    spec = entry.argument(argument.name)
    if spec is None:
        message = f"{entry.name} has no argument `{argument.name}`"
        help_text = did_you_mean(argument.name, (a.name for a in entry.arguments))
        yield Diagnostic("ORIO-T002", message, argument.position, help=help_text)
        return
    undefined = list(_undefined_names(argument, known))
    yield from undefined
    if undefined:
        return
    if not names_in(argument.expression):
        try:
            spec.convert(_value(spec, argument.expression, {}), spec.name)
        except Refusal as refusal:
            yield from _moved(refusal, argument.position).diagnostics
        except DiagnosticError as error:
            yield from error.diagnostics


def _undefined_names(argument: Argument, known: frozenset[str]) -> Iterator[Diagnostic]:
    for name, place in name_positions(argument.expression):
        if name not in known:
            message = f"`{name}` is neither a tuning parameter nor an input parameter"
            yield Diagnostic("ORIO-T007", message, place or argument.position, help=did_you_mean(name, known))


def _apply_step(step: RecipeStep, stmt: Node, values: Mapping[str, Value], context: Context) -> Node:
    try:
        transformation = _make(step, values)
        takes_blocks = TRANSFORMATIONS[step.name].takes_blocks
        return _on_statement(transformation, stmt, context, takes_blocks=takes_blocks)
    except Refusal as refusal:
        if refusal.argument is None and all(d.position is not None for d in refusal.diagnostics):
            raise
        places = {a.name: a.position for a in step.arguments}
        raise _moved(refusal, places.get(refusal.argument or "", step.position)) from None


def _make(step: RecipeStep, values: Mapping[str, Value]) -> Transformation:
    problems = [p for p in _check_step(step, frozenset(values)) if p.severity is Severity.ERROR]
    if problems:
        raise DiagnosticError(*problems)
    entry = TRANSFORMATIONS[step.name]
    given: dict[str, Value] = {}
    for argument in step.arguments:
        spec = entry.argument(argument.name)
        assert spec is not None
        given[argument.name] = _value(spec, argument.expression, values)
    return entry.make(given)


def _value(spec: ArgumentSpec, expr: Expr, values: Mapping[str, Value]) -> Value:
    """The value of an argument; what follows the False of a switched-off entry is not evaluated."""
    if spec.flagged and isinstance(expr, TupleExpr) and expr.items:
        flag = evaluate(expr.items[0], values)
        if flag == 0:  # False among them
            return (False,)
    if spec.flagged and isinstance(expr, ListExpr):
        return [_value(spec, item, values) for item in expr.items]
    return evaluate(expr, values)


def _on_statement(
    transformation: Transformation, stmt: Node, context: Context, *, takes_blocks: bool
) -> Node:
    only = sole_statement(stmt)
    if takes_blocks or only is stmt or not isinstance(stmt, Compound):
        return transformation.apply(stmt, context)
    return rewrite_where(stmt, lambda n: n is only, lambda n, c: transformation.apply(n, c), context)


def _moved(refusal: Refusal, place: Position) -> Refusal:
    moved: list[Diagnostic] = []
    for problem in refusal.diagnostics:
        notes = problem.notes
        if problem.position is not None:
            notes = (*notes, Note("for this statement", problem.position))
        moved.append(replace(problem, position=place, notes=notes))
    return Refusal(*moved, argument=refusal.argument)
