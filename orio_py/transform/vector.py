"""Vector: pragmas for the vectoriser before the innermost loops (Composite's key `vector`).

    for (i = 0; i < n; i++)             #if defined(__INTEL_COMPILER)
      y[i] = y[i] + a * x[i];           #pragma ivdep
                                        #endif
                                        #if defined(__GNUC__) && !defined(__clang__)
                                        #pragma GCC ivdep
                                        #endif
                                        for (i = 0; i < n; i++)
                                          y[i] = y[i] + a * x[i];

A pragma that promises independent iterations (`ivdep`, `GCC ivdep`, `omp simd`,
`clang loop vectorize(assume_safety)`) is refused where the dependence test does not bear it out; one
that only encourages (`vector always`) is not examined.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.ctree.dependence import may_parallelise, may_vectorise
from orio_py.ctree.loops import innermost_loops
from orio_py.ctree.nodes import GuardedPragma, Node
from orio_py.transform.base import Context
from orio_py.transform.forms import (
    loop_view,
    refuse_if_live,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transform.pragma import annotated, check_texts, require_direct
from orio_py.transform.pragma_text import (
    asserts_independence,
    clauses,
    is_omp,
    must_be_last,
    pragma_lines,
    without_openmp,
)
from orio_py.transform.sites import rewrite_where
from orio_py.transform.verdicts import analysed, dependence_context, require_legal


@dataclass(frozen=True, slots=True)
class Vector:
    """Put vectorisation pragmas before each innermost loop.

    `trusted` leaves the dependence test out, for loops that passed it before they were unrolled.
    """

    enabled: bool
    pragmas: tuple[str, ...]
    force: bool = False
    trusted: bool = False

    def check(self, node: Node, context: Context) -> None:
        """Whether `apply` would succeed.  Raises Refusal: ORIO-T012, T020 to T029, T040, T041."""
        self.apply(node, context)

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with pragmas before its innermost loops; `node` is not modified."""
        check_texts(self.pragmas, node, "vector")
        if not self.enabled or not pragma_lines(self.pragmas):
            return node
        loops = {id(loop) for loop in innermost_loops(node)}
        return rewrite_where(node, lambda n: id(n) in loops, self._loop, context)

    def _loop(self, node: Node, context: Context) -> Node:
        for text in self.pragmas:
            if asserts_independence(text):
                self._require_independence(node, text, context)
        return annotated(self._lines(node, context), node, context)

    def _lines(self, node: Node, context: Context) -> list[GuardedPragma]:
        for text in self.pragmas:
            require_direct(text, node, context)
        lines = pragma_lines(self.pragmas)
        if any(must_be_last(text) for text in context.pragmas):
            return [without_openmp(line) for line in lines]
        return lines

    def _require_independence(self, node: Node, text: str, context: Context) -> None:
        what = f"`{text}`"
        if not is_omp(text):
            if not self.trusted:
                view = loop_view(node, what, replace(context, pragmas=()))
                verdict = may_vectorise(analysed(view), dependence_context(context))
                require_legal(verdict, what, node, context, force=self.force)
            return
        # Another pragma before the loop is no obstacle here: nothing is moved.
        view = loop_view(node, what, replace(context, pragmas=()))
        require_stable_index(view, what, context)
        require_no_jumps(view, what)
        require_invariant_bound(view, what, context, force=self.force)
        refuse_if_live(view, what, context)
        given = clauses(text)
        if not self.trusted:
            verdict = may_parallelise(
                analysed(view),
                dependence_context(context),
                private=given.private | {view.index},
                reductions=given.reductions,
            )
            require_legal(verdict, what, node, context, force=self.force)
