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

from dataclasses import dataclass, replace

from orio_py.ctree.build import literal_value
from orio_py.ctree.dependence import may_parallelise
from orio_py.ctree.loops import CanonicalLoop, loops_in, nest, outermost_loops
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import declared_names
from orio_py.transform.base import Context, refuse
from orio_py.transform.forms import (
    loop_view,
    refuse_if_live,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transform.pragma import annotated, check_texts, require_direct
from orio_py.transform.pragma_text import Clauses, clauses, is_omp_loop, pragma_lines
from orio_py.transform.sites import Choice, rewrite_where
from orio_py.transform.verdicts import analysed, dependence_context, require_legal

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

    def check(self, node: Node, context: Context) -> None:
        """Whether `apply` would succeed.  Raises Refusal: ORIO-T012, T020 to T029, T032, T040, T041."""
        self.apply(node, context)

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with pragmas before its outermost loops; `node` is not modified."""
        loops = {id(loop) for loop in outermost_loops(node)}
        return self.apply_where(node, context, lambda n: id(n) in loops)

    def apply_where(self, node: Node, context: Context, chosen: Choice) -> Node:
        """The tree with pragmas before the loops that `chosen` names."""
        check_texts(self.pragmas, node, "openmp")
        if not self.enabled or not pragma_lines(self.pragmas):
            return node
        return rewrite_where(node, chosen, self._loop, context)

    def _loop(self, node: Node, context: Context) -> Node:
        texts = [self._parallel(node, t, context) if is_omp_loop(t) else t for t in self.pragmas]
        return annotated(pragma_lines(texts), node, context)

    def _parallel(self, node: Node, text: str, context: Context) -> str:
        """The pragma with the indices of inner loops made private."""
        given = clauses(text)
        require_direct(text, node, context)
        view = loop_view(node, _WHAT, context)
        require_stable_index(view, _WHAT, context)
        require_no_jumps(view, _WHAT)
        require_invariant_bound(view, _WHAT, context, force=self.force)
        refuse_if_live(view, _WHAT, replace(context, live_after=context.live_after - given.last))
        inner = inner_indices(view) - given.reductions
        if shared := sorted(inner & given.shared):
            refuse("ORIO-T034", f"the index `{shared[0]}` of an inner loop cannot be shared", node)
        collapsed = _collapsed(view, given, context)
        known = replace(context, live_after=context.live_after - given.last)
        for loop in () if self.trusted else collapsed:
            verdict = may_parallelise(
                analysed(loop),
                dependence_context(known),
                private=given.private | inner | {view.index},
                reductions=given.reductions,
            )
            require_legal(verdict, _WHAT, loop.node, context, force=self.force)
        missing = sorted(inner - given.private)
        return f"{text.rstrip()} private({', '.join(missing)})" if missing else text


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


def _collapsed(view: CanonicalLoop, given: Clauses, context: Context) -> list[CanonicalLoop]:
    if given.collapse is None:
        return [view]
    depth = literal_value(c_ast.Constant("int", given.collapse)) if given.collapse.isdigit() else None
    loops = nest(view)
    if depth is None or not 1 <= depth <= len(loops):
        refuse(
            "ORIO-T032",
            f"`collapse({given.collapse})` needs as many perfectly nested loops; there are {len(loops)}",
            view.node,
        )
    chosen = loops[:depth]
    indices = frozenset(loop.index for loop in chosen)
    for loop in chosen[1:]:
        if (context.effects(loop.start).reads | context.effects(loop.bound).reads) & indices:
            refuse(
                "ORIO-T032", f"`collapse({depth})` needs bounds that no collapsed index changes", loop.node
            )
    return chosen
