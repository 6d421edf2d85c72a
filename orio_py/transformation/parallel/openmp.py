"""OpenMP: run the iterations of the outermost loops in parallel (Composite's key `openmp`).

    for (i = 0; i < n; i++)             #if defined(_OPENMP)
      for (j = 0; j < n; j++)           #pragma omp parallel for private(j)
        a[i][j] = a[i][j] + b[j];       #endif
                                        for (i = 0; i < n; i++)
                                          for (j = 0; j < n; j++)
                                            a[i][j] = a[i][j] + b[j];

A loop that shares out its iterations must carry no dependence; what the clauses make private or reduce
does not count.  Indices of inner loops that are declared outside are made private by the generated pragma.
Source: OpenMP API 5.2, section 11.5 (worksharing-loop) and 4.4.1 (canonical loop nest form).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from orio_py.ctree.build import block, literal_value
from orio_py.ctree.dependence.legality import may_parallelise
from orio_py.ctree.loops import CanonicalLoop, loops_in, nest, outermost_loops
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import declared_names
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.final_index import with_final_indices
from orio_py.transformation.forms import (
    loop_view,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transformation.overwriting import other_use
from orio_py.transformation.parallel.annotate import annotated, at_least_once, check_texts, require_direct
from orio_py.transformation.parallel.clause_check import require_clauses
from orio_py.transformation.parallel.data_sharing import (
    collapsed,
    require_own_indices,
    require_shared_storage,
)
from orio_py.transformation.parallel.iteration_counts import may_run_where_c_does_not
from orio_py.transformation.parallel.pragma_text import Clauses, clauses, is_omp_loop, pragma_lines
from orio_py.transformation.sites import Choice, rewrite_where
from orio_py.transformation.verdicts import dependence_context, require_legal

_WHAT = "`omp parallel for`"


@dataclass(frozen=True, slots=True)
class OpenMP:
    """Put OpenMP pragmas before each outermost loop, where its iterations are independent.

    `trusted` leaves the dependence test out, for loops that passed it before they were unrolled.
    """

    enabled: bool
    pragmas: tuple[str, ...]
    force: bool = False
    trusted: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with pragmas before its outermost loops; `node` is not modified.

        Raises Refusal: ORIO-T012, T020 to T029, T032, T040, T041.
        """
        loops = {id(loop) for loop in outermost_loops(node)}
        return self.apply_where(node, context, lambda n: id(n) in loops)

    def apply_where(self, node: Node, context: Context, chosen: Choice) -> Node:
        """The tree with pragmas before the loops that `chosen` names."""
        check_texts(self.pragmas, node, "openmp")
        if not self.enabled or not pragma_lines(self.pragmas):
            return node
        return rewrite_where(node, chosen, self._loop, context)

    def _loop(self, node: Node, context: Context) -> Node:
        shared_out = [text for text in self.pragmas if is_omp_loop(text)]
        if not shared_out:
            return annotated(pragma_lines(self.pragmas), node, context)
        for text in shared_out:
            require_direct(text, node, context)
        view = loop_view(node, _WHAT, context)
        require_stable_index(view, _WHAT, context)
        require_no_jumps(view, _WHAT)
        require_invariant_bound(view, _WHAT, context, force=self.force)
        require_shared_storage(view, _WHAT, context)
        complete = {text: self._parallel(view, text, context) for text in shared_out}
        result = annotated(pragma_lines([complete.get(t, t) for t in self.pragmas]), node, context)
        pragmas = [(complete[text], loops_of(view, clauses(text), context)) for text in shared_out]
        return finished(result, pragmas, _WHAT, context)

    def _parallel(self, view: CanonicalLoop, text: str, context: Context) -> str:
        """The pragma with the indices of inner loops made private."""
        given = clauses(text)
        loops = loops_of(view, given, context)
        inner = inner_indices(view) - {loop.index for loop in loops[1:]} - given.reductions
        if shared := sorted(inner & given.shared):
            refuse("ORIO-T034", f"the index `{shared[0]}` of an inner loop cannot be shared", view.node)
        missing = sorted(inner - given.private)
        for name in missing:
            if (place := other_use(view.body, name, context)) is not None:
                refuse("ORIO-T034", f"a private `{name}` is not what another name leads to", place)
        last = [name for name in missing if name in context.live_after]
        parts = [text.rstrip()]
        if private := [name for name in missing if name not in last]:
            parts.append(f"private({', '.join(private)})")
        if last:
            parts.append(f"lastprivate({', '.join(last)})")
        complete = " ".join(parts)
        if not self.trusted:
            require_clauses(clauses(complete), loops, _WHAT, context, force=self.force)
            require_independent(clauses(complete), loops, _WHAT, context, force=self.force)
        return complete


def require_independent(
    given: Clauses,
    loops: Sequence[CanonicalLoop],
    what: str,
    context: Context,
    *,
    force: bool,
) -> None:
    """No dependence but those that the clauses remove.  Raises Refusal: ORIO-T040, T041."""
    known = replace(context, live_after=context.live_after - given.last)
    for level, loop in enumerate(loops):
        # The ranges of outer loops are known; each loop is asked about for fixed iterations of these.
        inside = replace(known, surrounding=(*known.surrounding, *loops[:level]))
        verdict = may_parallelise(
            loop,
            dependence_context(inside),
            private=given.private | {loop.index for loop in loops},
            reductions=given.reductions | {name for name, _ in given.linear},
        )
        require_legal(verdict, what, loop.node, context, force=force)
    named = given.private | given.reductions | {name for name, _ in given.linear}
    lost = (given.private - given.last) & context.live_after
    require_own_indices(loops, named - lost, what, context, force=force)


def loops_of(view: CanonicalLoop, given: Clauses, context: Context) -> list[CanonicalLoop]:
    """The loops that a pragma with these clauses makes one.  Raises Refusal: ORIO-T032."""
    if given.collapse is None:
        return [view]
    depth = literal_value(c_ast.Constant("int", given.collapse)) if given.collapse.isdigit() else None
    return collapsed(nest(view), depth or 0, given.collapse, context)


def finished(
    result: Node, pragmas: Sequence[tuple[str, Sequence[CanonicalLoop]]], what: str, context: Context
) -> Node:
    """The loop behind its pragmas, with what gives variables their last values.

    Raises Refusal: ORIO-T029.
    """
    deepest = max((loops for _, loops in pragmas), key=len)
    indices = {loop.index for loop in deepest}
    in_order = not any("for" in text.replace("(", " ").split() for text, _ in pragmas)
    is_doubtful = any(may_run_where_c_does_not(loop, context, in_order=in_order) for loop in deepest)
    if is_doubtful or any(_needs_an_iteration(clauses(text), indices) for text, _ in pragmas):
        result = block(at_least_once(result, deepest, context))
    return with_final_indices(result, deepest, what, context)


def _needs_an_iteration(given: Clauses, indices: Set[str]) -> bool:
    """Whether the clauses are right only where the loop runs at least once."""
    return bool(given.last - indices) or any(operator in {"&&", "||"} for operator, _ in given.operators)


def inner_indices(view: CanonicalLoop) -> frozenset[str]:
    """The indices of inner loops that are declared outside the loop, and so would be shared."""
    names = {name for loop in loops_in(view.body) if (name := _counted_by(loop)) is not None}
    return frozenset(names - declared_names(view.node) - {view.index})


def _counted_by(loop: For) -> str | None:
    match loop.init:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)):
            return name
        case _:
            return None
