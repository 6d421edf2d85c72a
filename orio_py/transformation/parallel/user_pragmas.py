"""Examines the OpenMP pragmas that stand in the user's own code.

    #pragma omp parallel for            error: `t` is shared by the iterations
    for (i = 0; i < n; i++) {
      t = x[i];
      y[i] = t * t;
    }

A race in the original makes the comparison of variants with it meaningless.  Loops with `ordered`, `atomic`,
`critical` or other constructs inside are not judged: those exist to make dependences harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orio_py.core.diagnostics import Diagnostic, Note, Severity
from orio_py.core.source import Position
from orio_py.ctree.dependence.distance import independent_iterations
from orio_py.ctree.dependence.legality import may_parallelise
from orio_py.ctree.dependence.verdict import Illegal, Legal, Unknown, Verdict
from orio_py.ctree.loops import CanonicalLoop, nest
from orio_py.ctree.nodes import For, GuardedPragma, Node, c_ast
from orio_py.ctree.parse import position
from orio_py.ctree.rewrite import walk
from orio_py.spec.region import Region
from orio_py.transformation.base import Context
from orio_py.transformation.parallel.clause_check import clause_problems
from orio_py.transformation.parallel.openmp import inner_indices
from orio_py.transformation.parallel.own_pragmas import OwnPragmas
from orio_py.transformation.parallel.pragma_text import (
    Clauses,
    asserts_independence,
    clauses,
    is_omp,
    is_omp_loop,
)
from orio_py.transformation.simpler import in_simpler_forms
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.verdicts import dependence_context


def check_user_pragmas(region: Region, context: Context) -> tuple[Diagnostic, ...]:
    """What is wrong with the `for` and `simd` pragmas of OpenMP in a region's code.

    Codes: ORIO-T096 (a dependence forbids it; a warning if the user's build leaves the pragma without effect and the
    recipe puts another in its place), T097 (undecided, a warning).
    """
    found = pragma_problems(region.reference, context)
    if not found or context.has_openmp:
        return found
    # The recipe's tree may stand elsewhere in the file.
    staying = {one.message for one in pragma_problems(OwnPragmas().rewrite(region.tree), context)}
    return tuple(one if one.message in staying else _without_effect(one) for one in found)


def pragma_problems(tree: Node, context: Context) -> tuple[Diagnostic, ...]:
    """What is wrong with the pragmas of OpenMP in some code, if compilers act on them.  Codes: ORIO-T096, T097."""
    found: list[Diagnostic] = []
    around = _enclosing(tree)

    def look(node: Node, inner: Context) -> Node:
        text = next((t for t in reversed(inner.pragmas) if is_omp_loop(t) or _is_simd(t)), None)
        view = CanonicalLoop.match(node)
        if text is not None and view is not None and not _is_synchronised(text, view):
            found.extend(_problems(text, view, around, replace(inner, pragmas=())))
        return node

    rewrite_where(tree, lambda node: isinstance(node, For), look, context)
    return tuple(found)


def _without_effect(problem: Diagnostic) -> Diagnostic:
    """The problem of a pragma that the user's compiler never acts on."""
    if problem.severity is not Severity.ERROR:
        return problem
    message = problem.message.replace(
        " is wrong here: ", " has no effect without OpenMP, and is wrong with it: "
    )
    return replace(problem, severity=Severity.WARNING, message=message)


def _problems(text: str, view: CanonicalLoop, around: Clauses, context: Context) -> Iterator[Diagnostic]:
    given = clauses(text)
    collapse = given.collapse or ""
    depth = int(collapse) if collapse.isdigit() else 1
    loops = nest(view)[:depth]
    for message, place in clause_problems(given, loops, context):
        yield _error(text, message, position(place), view)
    shared = _shared_indices(view, given.private | given.reductions | around.private | around.reductions)
    shared -= {loop.index for loop in loops}
    if is_omp_loop(text) and shared and not _is_inside_a_region(text):
        listed = ", ".join(f"`{name}`" for name in sorted(shared))
        advice = f"add private({', '.join(sorted(shared))})"
        message = f"all threads count the inner loops with the same {listed}; {advice}"
        yield _error(text, message, position(view.node), view)
    for level, loop in enumerate(loops):
        inside = replace(context, surrounding=(*context.surrounding, *loops[:level]))
        yield from _verdict(text, loop, view, _merged(given, around), inside)


def _verdict(
    text: str, loop: CanonicalLoop, view: CanonicalLoop, given: Clauses, context: Context
) -> Iterator[Diagnostic]:
    """What the dependence test says of one of the loops that the pragma is for."""
    known = replace(context, live_after=context.live_after - given.last)
    private = given.private | inner_indices(view) | {view.index, loop.index}
    combined = given.reductions | {name for name, _ in given.linear}
    found: Verdict = may_parallelise(loop, dependence_context(known), private=private, reductions=combined)
    match found:
        case Illegal(message=message, name=name, source=source):
            if given.safelen is not None and not is_omp_loop(text):
                excused = private | combined
                if independent_iterations(loop, dependence_context(known), excused) >= given.safelen:
                    return
            declared = context.declarations.get(name.partition(".")[0])
            is_scalar = declared is not None and declared.is_scalar
            if is_scalar and _is_inside_a_region(text):
                # The region around may have made the variable private.
                return
            place = source.position if source is not None else position(loop.node)
            if is_scalar and declared is not None and declared.scope == "global":
                # A `threadprivate` directive at its declaration would make it harmless.
                yield _warning(text, message, place)
            else:
                yield _error(text, message, place, view)
        case Unknown() if _is_right_at_its_word(loop, known, private, combined):
            pass
        case Unknown(reason=reason, position=place):
            yield _warning(text, reason, place or position(loop.node))
        case _:
            pass


def _is_right_at_its_word(
    loop: CanonicalLoop, context: Context, private: frozenset[str], combined: frozenset[str]
) -> bool:
    """Whether a loop may be shared out if its arrays do not overlap, which who writes the pragma says of them."""
    simpler = CanonicalLoop.match(in_simpler_forms(loop.node, context))
    apart = replace(context, assumptions=replace(context.assumptions, noalias=True))
    found = may_parallelise(simpler or loop, dependence_context(apart), private=private, reductions=combined)
    return isinstance(found, Legal)


def _merged(given: Clauses, around: Clauses) -> Clauses:
    return replace(
        given, private=given.private | around.private, reductions=given.reductions | around.reductions
    )


def _error(text: str, message: str, place: Position | None, view: CanonicalLoop) -> Diagnostic:
    notes = (Note("the loop behind the pragma", position(view.node)),) if position(view.node) != place else ()
    return Diagnostic("ORIO-T096", f"`#pragma {text}` is wrong here: {message}", place, notes=notes)


def _warning(text: str, reason: str, place: Position | None) -> Diagnostic:
    message = f"`#pragma {text}` cannot be shown to be right: {reason}"
    return Diagnostic("ORIO-T097", message, place, Severity.WARNING)


def _is_simd(text: str) -> bool:
    return is_omp(text) and asserts_independence(text)


def _is_inside_a_region(text: str) -> bool:
    """Whether the pragma shares out the loop in a parallel region that another pragma starts."""
    return is_omp_loop(text) and "parallel" not in text.split("for", 1)[0]


def _is_synchronised(text: str, view: CanonicalLoop) -> bool:
    """Whether `ordered` or a construct in the body orders accesses that would be races without it."""
    if "ordered" in text.replace("(", " ").split():
        return True
    return any(
        is_omp(pragma) and not is_omp_loop(pragma) and not _is_simd(pragma)
        for part in walk(view.body)
        if isinstance(part, (c_ast.Pragma, GuardedPragma)) and isinstance(pragma := part.string, str)
    )


def _shared_indices(view: CanonicalLoop, given: frozenset[str]) -> set[str]:
    """Indices of inner loops that nothing makes private."""
    own: set[str] = set()

    def look(node: Node, inner: Context) -> Node:
        # A loop with a pragma of its own has its index for itself.
        loop = CanonicalLoop.match(node)
        if loop is not None and any(is_omp_loop(t) or _is_simd(t) for t in inner.pragmas):
            own.add(loop.index)
        return node

    rewrite_where(view.body, lambda node: isinstance(node, For), look, Context())
    return set(inner_indices(view)) - own - given


def _enclosing(tree: Node) -> Clauses:
    """The clauses of the `omp parallel` regions in the code, together."""
    result = Clauses()
    for part in walk(tree):
        if not isinstance(part, (c_ast.Pragma, GuardedPragma)) or not isinstance(part.string, str):
            continue
        text = part.string
        if is_omp(text) and not is_omp_loop(text) and "parallel" in text.replace("(", " ").split():
            given = clauses(text)
            result = replace(
                result,
                private=result.private | given.private,
                reductions=result.reductions | given.reductions,
            )
    return result
