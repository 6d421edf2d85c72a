"""Vectorize: let the compiler use vector instructions, with the clauses that the loop needs.

    for (i = 0; i < n; i++) {           #if defined(_OPENMP)
      t = x[i] - y[i];                  #pragma omp simd private(t) reduction(+: count)
      z[i] = t * t;                     #endif
      count += c[i];                    for (i = 0; i < n; i++) {
    }                                     t = x[i] - y[i];
                                          z[i] = t * t;
                                          count += c[i];
                                        }

Iterations that depend on earlier ones a known distance away are run in groups of at most that length
(`safelen`).  `aligned` is a promise of the user's, which Specialize can check at run time instead.
Source: OpenMP API 5.2, sections 10.4 (simd), 5.4.6 (linear) and 5.11 (aligned).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.core.expr import Value
from orio_py.ctree.build import block
from orio_py.ctree.dependence.distance import independent_iterations
from orio_py.ctree.dependence.verdict import Illegal
from orio_py.ctree.loops import CanonicalLoop, innermost_loops
from orio_py.ctree.nodes import Node
from orio_py.transformation.arguments import optional_text, positive_int, texts
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.final_index import with_final_indices
from orio_py.transformation.forms import (
    loop_view,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transformation.parallel.annotate import (
    annotated,
    at_least_once,
    chosen_loops,
    require_direct,
    require_no_constructs,
)
from orio_py.transformation.parallel.array_sharing import with_variables
from orio_py.transformation.parallel.data_sharing import (
    Sharing,
    require_order_free,
    require_own_storage,
    sharing,
    verdict_of,
)
from orio_py.transformation.parallel.iteration_counts import may_run_where_c_does_not, require_count
from orio_py.transformation.parallel.pragma_text import pragma_lines
from orio_py.transformation.parallel.reduction_variables import around, within
from orio_py.transformation.sites import Choice, rewrite_where
from orio_py.transformation.verdicts import dependence_context, require_legal

_WHAT = "Vectorize"


@dataclass(frozen=True, slots=True)
class Vectorize:
    """Put `omp simd` with inferred clauses before the loops over `loop`, or the innermost ones.

    `aligned` are arrays whose addresses the user promises to be multiples of `alignment` bytes; they are
    named in the pragma of each loop that uses them.  `simdlen` is the preferred number of iterations per
    vector.  `trusted` leaves the dependence test out, for loops that passed it before they were unrolled.
    """

    loop: str | None = None
    aligned: tuple[str, ...] = ()
    alignment: int = 64
    simdlen: int | None = None
    force: bool = False
    trusted: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with pragmas before the chosen loops; `node` is not modified.

        Raises Refusal: ORIO-T011, T015, T020 to T033, T040, T041, T090 to T094.
        """
        return self.apply_where(node, context, chosen_loops(node, self.loop, innermost_loops(node), _WHAT))

    def apply_where(self, node: Node, context: Context, chosen: Choice) -> Node:
        """The tree with pragmas before the loops that `chosen` names."""
        if self.simdlen is not None and self.simdlen < 1:
            message = f"`simdlen` is {self.simdlen}; it must be at least 1"
            refuse("ORIO-T011", message, node, argument="simdlen")
        require_alignment(self.alignment, node)
        require_arrays(self.aligned, node, context, argument="aligned")
        return rewrite_where(node, chosen, self._loop, context)

    def _loop(self, node: Node, context: Context) -> Node:
        require_direct("omp simd", node, context)
        view = loop_view(node, _WHAT, replace(context, pragmas=()))
        require_stable_index(view, _WHAT, context)
        require_no_jumps(view, _WHAT)
        require_invariant_bound(view, _WHAT, context, force=self.force)
        require_count(view, "", _WHAT, context, in_order=True)
        require_no_constructs(view, _WHAT, allowed=frozenset())
        shared = sharing([view], context, stepped=True)
        require_own_storage(view, shared, _WHAT, context)
        shared = shared if self.trusted else with_variables(shared, [view], context)
        together = None if self.trusted else self._together(view, shared, context)
        if not self.trusted:
            require_order_free(shared, _WHAT, context, force=self.force)
        lines = pragma_lines([self._text(view, shared, together, context)])
        result = annotated(lines, within(node, shared.variables), context)
        if shared.needs_an_iteration or may_run_where_c_does_not(view, context, in_order=True):
            result = block(at_least_once(result, [view], context))
        result = around(result, shared.variables)
        return with_final_indices(result, [view], _WHAT, context)

    def _together(self, view: CanonicalLoop, shared: Sharing, context: Context) -> int | None:
        """How many iterations may run at the same time, None for any number.  Raises Refusal: ORIO-T040, T041, T092."""
        found, _ = verdict_of([view], shared, context)
        if isinstance(found, Illegal):
            # What may overlap the place of a sum may do so in any iterations.
            excused = (shared.names | {view.index}) - {found.name for found in shared.variables}
            most = independent_iterations(view, dependence_context(context), excused)
            if most > 1:
                self._require_short(most, view)
                return most
        require_legal(found, _WHAT, view.node, context, force=self.force)
        return None

    def _require_short(self, most: int, view: CanonicalLoop) -> None:
        if self.simdlen is not None and self.simdlen > most:
            refuse(
                "ORIO-T092",
                f"`simdlen` is {self.simdlen}, but only {most} consecutive iterations of the loop "
                f"`{view.index}` are independent of each other",
                view.node,
                argument="simdlen",
            )

    def _text(self, view: CanonicalLoop, shared: Sharing, together: int | None, context: Context) -> str:
        parts = ["omp simd", *shared.clauses()]
        if together is not None:
            parts.append(f"safelen({together})")
        if self.simdlen is not None:
            parts.append(f"simdlen({self.simdlen})")
        inside = context.effects(view.body)
        named = [name for name in self.aligned if name in inside.array_reads | inside.array_writes]
        if named:
            parts.append(f"aligned({', '.join(named)}: {self.alignment})")
        return " ".join(parts)


def require_alignment(alignment: int, node: Node | None) -> None:
    """An alignment is a power of two.  Raises Refusal: ORIO-T093."""
    if alignment < 1 or alignment & (alignment - 1):
        refuse(
            "ORIO-T093", f"`alignment` is {alignment}; it must be a power of two", node, argument="alignment"
        )


def require_arrays(names: Sequence[str], node: Node, context: Context, *, argument: str) -> None:
    """The names are arrays or pointers that the code uses and does not set.  Raises Refusal: ORIO-T094."""
    inside = context.effects(node)
    for name in names:
        declared = context.declarations.get(name)
        if declared is None or not declared.is_array_like:
            problem = "is not declared in this file" if declared is None else "is no array and no pointer"
        elif name not in inside.array_reads | inside.array_writes:
            problem = "is not used here"
        elif name in inside.scalar_writes:
            problem = "is set to other addresses here"
        else:
            continue
        refuse("ORIO-T094", f"`{argument}` names `{name}`, which {problem}", node, argument=argument)


def alignment_value(value: Value, name: str) -> int:
    """An alignment in bytes.  Raises Refusal: ORIO-T010, T011, T093."""
    number = positive_int(value, name)
    require_alignment(number, None)
    return number


ENTRY = Entry(
    "Vectorize",
    "use vector instructions for a loop (OpenMP simd), with the clauses that it needs",
    (
        ArgumentSpec(
            "loop", "index of a loop", "the loop; by default the innermost ones", optional_text, default="''"
        ),
        ArgumentSpec(
            "aligned",
            "array or list of arrays",
            "arrays that begin at multiples of `alignment`: a promise",
            texts,
            default="[]",
        ),
        ArgumentSpec(
            "alignment", "power of two", "alignment in bytes of those arrays", alignment_value, default="64"
        ),
        ArgumentSpec(
            "simdlen",
            "integer, at least 1",
            "preferred number of iterations per vector; by default the compiler's choice",
            positive_int,
            default="the compiler's",
        ),
        FORCE,
    ),
    Vectorize,
)
