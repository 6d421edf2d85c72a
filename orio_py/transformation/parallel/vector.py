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

from orio_py.ctree.dependence.legality import may_vectorise
from orio_py.ctree.loops import CanonicalLoop, innermost_loops
from orio_py.ctree.nodes import Node
from orio_py.transformation.base import Context
from orio_py.transformation.forms import (
    loop_view,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transformation.parallel.annotate import annotated, check_texts, require_direct
from orio_py.transformation.parallel.clause_check import require_clauses
from orio_py.transformation.parallel.data_sharing import Sharing, require_own_storage
from orio_py.transformation.parallel.openmp import finished, loops_of, require_independent
from orio_py.transformation.parallel.pragma_text import (
    asserts_independence,
    clauses,
    is_omp,
    lines_behind,
    pragma_lines,
)
from orio_py.transformation.sites import Choice, rewrite_where
from orio_py.transformation.verdicts import dependence_context, require_legal


@dataclass(frozen=True, slots=True)
class Vector:
    """Put vectorisation pragmas before each innermost loop.

    `trusted` leaves the dependence test out, for loops that passed it before they were unrolled.
    """

    enabled: bool
    pragmas: tuple[str, ...]
    force: bool = False
    trusted: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with pragmas before its innermost loops; `node` is not modified.

        Raises Refusal: ORIO-T012, T020 to T029, T040, T041.
        """
        loops = {id(loop) for loop in innermost_loops(node)}
        return self.apply_where(node, context, lambda n: id(n) in loops)

    def apply_where(self, node: Node, context: Context, chosen: Choice) -> Node:
        """The tree with pragmas before the loops that `chosen` names."""
        check_texts(self.pragmas, node, "vector")
        if not self.enabled or not pragma_lines(self.pragmas):
            return node
        return rewrite_where(node, chosen, self._loop, context)

    def _loop(self, node: Node, context: Context) -> Node:
        for text in self.pragmas:
            if asserts_independence(text) and not is_omp(text) and not self.trusted:
                self._require_no_memory_dependence(node, text, context)
        simd = [text for text in self.pragmas if asserts_independence(text) and is_omp(text)]
        for text in self.pragmas:
            require_direct(text, node, context)
        examined = [(text, self._simd(node, text, context)) for text in simd]
        result = annotated(lines_behind(context.pragmas, self.pragmas), node, context)
        return finished(result, examined, f"`{simd[0]}`", context) if examined else result

    def _require_no_memory_dependence(self, node: Node, text: str, context: Context) -> None:
        # Another pragma before the loop is no obstacle here: nothing is moved.
        view = loop_view(node, f"`{text}`", replace(context, pragmas=()))
        verdict = may_vectorise(view, dependence_context(context))
        require_legal(verdict, f"`{text}`", node, context, force=self.force)

    def _simd(self, node: Node, text: str, context: Context) -> list[CanonicalLoop]:
        """The loops that a pragma of OpenMP's makes vectors of."""
        what, given = f"`{text}`", clauses(text)
        view = loop_view(node, what, replace(context, pragmas=()))
        require_stable_index(view, what, context)
        require_no_jumps(view, what)
        require_invariant_bound(view, what, context, force=self.force)
        loops = loops_of(view, given, context)
        for loop in loops:
            require_own_storage(loop, Sharing(), what, context)
        if not self.trusted:
            require_clauses(given, loops, what, context, force=self.force)
            require_independent(given, loops, what, context, force=self.force)
        return loops
