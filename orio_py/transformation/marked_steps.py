"""Recipes whose transformations are marked in the tree: checked, and applied from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
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
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.kernel.backends import BACKENDS, BY_TITLE
from orio_py.spec.recipe import Argument, MarkedRecipe, RecipeStep
from orio_py.spec.target import DIRECTIVES, Target
from orio_py.transformation.base import Context, Refusal, Transformation, refuse
from orio_py.transformation.catalog import NOT_YET, TRANSFORMATIONS
from orio_py.transformation.entry import ArgumentSpec, Entry
from orio_py.transformation.forms import sole_statement
from orio_py.transformation.guards.guarded_tree import (
    GuardedTree,
    with_own_indices,
    with_own_indices_inside,
)
from orio_py.transformation.guards.runtime_guards import Apply, GuardedRecipe, without_marks
from orio_py.transformation.kernels_inside import with_kernels_inside
from orio_py.transformation.parallel.own_pragmas import OwnPragmas, shared_out, with_private_scalars
from orio_py.transformation.sites import Change, rewrite_where
from orio_py.transformation.unrolling.reg_tile import RegTile
from orio_py.transformation.unrolling.unroll import Unroll
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam
from orio_py.transformation.unrolling.unroll_reduction import UnrollReduction
from orio_py.transformation.unrolling.unroll_rewrite import require_moderate
from orio_py.transformation.ways import forms, in_parts, running

_DEPENDENCES = frozenset({"ORIO-T027", "ORIO-T040", "ORIO-T041"})
_UNDECIDED = frozenset({"ORIO-T041"})
_ELEMENTS = frozenset({"ORIO-T122", "ORIO-T123"})
_NO_LOOP = frozenset({"ORIO-T020"})
"""What is said of a form that is no single loop, as the user's code may be."""
_CONTRACT_THREADS = ("Contract", "parallel")
_UNROLLING = frozenset({"Unroll", "UnrollJam", "RegTile"})


@dataclass(frozen=True, slots=True)
class MarkedSteps:
    """The engine of recipes whose transformations are marked in the tree."""

    tree: Compound
    recipe: MarkedRecipe

    def check(self, known: frozenset[str]) -> tuple[Diagnostic, ...]:
        """Everything that is wrong whatever the parameter values.  Codes: ORIO-T001 to T016."""
        return tuple(problem for step in self.recipe.steps for problem in _check_step(step, known))

    def apply(self, values: Mapping[str, Value], context: Context) -> Node:
        """The tree with every marked statement transformed, inner ones first.  Raises as `apply_recipe`.

        What is refused is tried again: with the user's pragmas taken away and put before what loops became,
        with loops that count by variables of their own, in forms that are simple to test, and all of that on
        each simpler form of the code.
        """
        inside = with_kernels_inside(self.tree, self.recipe)
        if inside is not None:
            return MarkedSteps(*inside).apply(values, context)
        reason: Refusal | None = None
        refused: list[GuardedTree] = []
        inspectable = _ELEMENTS if self.device_targets() else _UNDECIDED
        unknown = False
        on_host = not self.device_targets() | self.directive_targets()
        for form in forms(self.tree, context, typed=on_host):
            try:
                return self._tried(form, values)
            except Refusal as refusal:
                # A dependence says more than that a form of the code is not what a step needs.
                kept = reason is not None and (_is_about_dependence(reason) or _is_about(_NO_LOOP, refusal))
                reason = reason if kept and not _is_about_dependence(refusal) else refusal
                unknown |= _is_about(inspectable, refusal)
                refused.append(form)
        assert reason is not None
        for form in filter(None, map(in_parts, refused if _is_about_dependence(reason) else ())):
            with suppress(Refusal):  # What it says of pointers that the user has not written is none to tell.
                return self._tried(form, values)
        for form in filter(None, map(running, refused if self.device_targets() else ())):
            try:
                return self._tried(form, values)
            except Refusal as refusal:
                # A dependence through a variable that the user has not written is none to tell.
                reason = reason if _is_about_dependence(refusal) else refusal
        # Loops that find out which elements others use come last: they take time in each run.
        for form in refused if unknown else ():
            try:
                return self._tried(replace(form, context=replace(form.context, inspects=True)), values)
            except Refusal as refusal:
                reason = refusal if _is_about(_ELEMENTS, reason) and _is_about(_ELEMENTS, refusal) else reason
        if any(step.name == "Unroll" for step in self.recipe.steps):
            with suppress(Refusal):
                return self._applied(refused[0], OwnPragmas(), values, tested=True)
        raise reason

    def _tried(self, form: GuardedTree, values: Mapping[str, Value]) -> Node:
        """The tree with the steps applied in the first way that is not refused."""
        own, reason = OwnPragmas(), None
        without = own.rewrite(form.tree)
        if form.context.has_openmp or not own.texts:
            try:
                return self._applied(form, OwnPragmas(), values)
            except Refusal as refusal:
                reason = refusal
        # A pragma without effect may be wrong, and is examined and put before what the loop becomes.
        form = replace(form, tree=without)
        if own.texts:
            try:
                return self._applied(form, own, values)
            except Refusal as refusal:
                reason = refusal
        indexed = with_own_indices(form)
        unrolls = any(step.name in _UNROLLING for step in self.recipe.steps)
        if indexed is form and not (unrolls and len(self.recipe.steps) > 1):
            assert reason is not None
            raise reason
        try:
            return self._applied(indexed, own, values, canonical=True)
        except Refusal:
            inside = with_own_indices_inside(indexed)
            if inside is indexed:
                raise
            with suppress(Refusal):
                return self._applied(inside, own, values, canonical=True)
            raise

    def _applied(
        self,
        form: GuardedTree,
        own: OwnPragmas,
        values: Mapping[str, Value],
        *,
        canonical: bool = False,
        tested: bool = False,
    ) -> Node:
        """The tree with the steps applied, and the pragmas that were taken away put before what loops became."""
        context = _with_new_declarations(form.tree, form.context)

        def apply(mark: Transform, inner: Context) -> Node:
            step, text = self.recipe.steps[mark.step], own.texts.get(mark.step)
            if text is None:
                made = partial(_make, step, values, canonical=canonical, tested=tested)
                return _apply_step(step, made, mark.stmt, inner)
            return _apply_behind_pragma(step, text, mark.stmt, values, inner)

        def original(mark: Transform) -> Node:
            return own.before(mark.step, form.originals.get(mark.step) or without_marks(mark), context)

        def rewrite(change: Apply) -> Node:
            return rewrite_where(
                form.tree, lambda n: isinstance(n, Transform), cast("Change", change), context
            )

        made = GuardedRecipe(form.tree, apply, context, original, form.guards).result(rewrite)
        return form.restored(made)

    def device_targets(self) -> frozenset[str]:
        """Those named by transformations, or by arguments that are not False."""
        steps = {BY_TITLE[step.name].name for step in self.recipe.steps if step.name in BY_TITLE}
        arguments = (argument for step in self.recipe.steps for argument in step.arguments)
        return frozenset(
            steps | {a.name for a in arguments if a.name in BACKENDS and a.expression != Literal(False)}
        )

    def directive_targets(self) -> frozenset[Target]:
        """Those whose directives transformations make."""
        return frozenset(DIRECTIVES[step.name] for step in self.recipe.steps if step.name in DIRECTIVES)

    def uses_openmp(self) -> bool:
        """Whether a transformation makes OpenMP pragmas, or an argument holds the text of one."""
        return any(_uses_openmp(step) for step in self.recipe.steps)


def _with_new_declarations(node: Node, context: Context) -> Context:
    """The context with what a tree declares that the user's code does not; what is declared in two ways is of no known type."""
    declared: dict[str, CDeclaration] = {}
    for part in walk(node):
        if isinstance(part, c_ast.Decl) and part.name is not None and part.name not in context.declarations:
            here = declaration_of(part)
            other = declared.get(part.name, here)
            same = (other.type, other.pointers, other.dimensions) == (
                here.type,
                here.pointers,
                here.dimensions,
            )
            declared[part.name] = here if same else replace(here, type="void")
    return replace(context, declarations={**context.declarations, **declared}) if declared else context


def _is_about(codes: frozenset[str], refusal: Refusal) -> bool:
    return any(diagnostic.code in codes for diagnostic in refusal.diagnostics)


def _is_about_dependence(refusal: Refusal) -> bool:
    return _is_about(_DEPENDENCES, refusal)


def _apply_behind_pragma(
    step: RecipeStep, text: str, stmt: Node, values: Mapping[str, Value], context: Context
) -> Node:
    """The result of a step on a loop whose iterations a pragma of the user's shares out, behind the pragma."""
    text = with_private_scalars(text, stmt, context)
    match step.name:
        case "Parallelize":
            return shared_out(stmt, text, context)
        case "Composite":
            given = Argument("openmp", TupleExpr((Literal(True), Literal(text))), step.position)
            kept = tuple(a for a in step.arguments if a.name not in {"parallelize", "openmp"})
            step = replace(step, arguments=(*kept, given))
            result = _apply_step(step, partial(_make, step, values), stmt, context)
            return shared_out(result, text, context, heads=False, trusted=True)
        case "Unroll" | "UnrollJam" | "RegTile":
            shared_out(stmt, text, context)
            result = _apply_step(step, partial(_make, step, values, canonical=True), stmt, context)
            return shared_out(result, text, context, trusted=True)
        case name if name in BY_TITLE:
            if "parallel" not in text.split() or "copyin" in text:
                refuse(
                    "ORIO-T023",
                    f"each thread around `#pragma {text}` would run what {name} makes of the loop",
                    stmt,
                )
            # A kernel takes the place of the threads.
            return _apply_step(step, partial(_make, step, values), stmt, context)
        case _:
            return shared_out(_apply_step(step, partial(_make, step, values), stmt, context), text, context)


def _uses_openmp(step: RecipeStep) -> bool:
    if step.name in {"Parallelize", "Vectorize"} or DIRECTIVES.get(step.name) is Target.OPENMP_TARGET:
        return True
    for argument in step.arguments:
        if step.name == "Specialize" and argument.name == "aligned":
            return True
        inferred = (
            argument.name in {"parallelize", "vectorize"} or (step.name, argument.name) == _CONTRACT_THREADS
        )
        parallel = inferred and argument.expression != Literal(False)
        if parallel or any(_mentions_openmp(e) for e in _walk(argument.expression)):
            return True
    return False


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


def _apply_step(step: RecipeStep, make: Callable[[], Transformation], stmt: Node, context: Context) -> Node:
    try:
        transformation = make()
        takes_blocks = TRANSFORMATIONS[step.name].takes_blocks
        result = _on_statement(transformation, stmt, context, takes_blocks=takes_blocks)
        if result is not stmt:
            require_moderate(result)
        return result
    except Refusal as refusal:
        if refusal.argument is None and all(d.position is not None for d in refusal.diagnostics):
            raise
        places = {a.name: a.position for a in step.arguments}
        raise _moved(refusal, places.get(refusal.argument or "", step.position)) from None


def _make(
    step: RecipeStep, values: Mapping[str, Value], *, canonical: bool = False, tested: bool = False
) -> Transformation:
    """The transformation of a step; `canonical` and `tested` ask for other copies of one that unrolls."""
    problems = [p for p in _check_step(step, frozenset(values)) if p.severity is Severity.ERROR]
    if problems:
        raise DiagnosticError(*problems)
    entry = TRANSFORMATIONS[step.name]
    given: dict[str, Value] = {}
    for argument in step.arguments:
        spec = entry.argument(argument.name)
        assert spec is not None
        given[argument.name] = _value(spec, argument.expression, values)
    made = entry.make(given)
    if tested and isinstance(made, Unroll):
        return replace(made, tested=True)
    return (
        replace(made, canonical=True)
        if canonical and isinstance(made, (RegTile, Unroll, UnrollAndJam, UnrollReduction))
        else made
    )


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
