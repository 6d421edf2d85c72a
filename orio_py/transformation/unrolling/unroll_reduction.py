"""UnrollReduction: unroll a loop that accumulates into scalars, with an accumulator for each copy.

    for (i = 0; i < n; i++)             {
      s += x[i] * y[i];                   double s_1 = 0.0;
                                          for (i = 0; n > 1 && i < n - 1; i += 2) {
                                            s += x[i] * y[i];
                                            s_1 += x[i + 1] * y[i + 1];
                                          }
                                          s += s_1;
                                          for (; i < n; i++)
                                            s += x[i] * y[i];
                                        }

Additions of one copy need not wait for those of the others.  The terms are added in another order, which
only exact arithmetic does not notice.  Source: D. Callahan, "Recognizing and parallelizing bounded
recurrences", LCPC 1991; R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures", Morgan
Kaufmann 2001.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.core.names import NameSupply
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import rename
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.arguments import positive_int
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.parallel.array_sharing import with_variables
from orio_py.transformation.parallel.data_sharing import require_independent, sharing
from orio_py.transformation.parallel.reduction_variables import around, within
from orio_py.transformation.unrolling import unroll_rewrite
from orio_py.transformation.unrolling.body_copies import Copies
from orio_py.transformation.unrolling.unroll import unrollable
from orio_py.transformation.unrolling.unroll_reduction_forms import Reduction, reductions_in

_WHAT = "UnrollReduction"


@dataclass(frozen=True, slots=True)
class UnrollReduction:
    """Unroll a loop `ufactor` times, each copy with accumulators of its own (1 = unchanged).

    `canonical` is that of `Unroll`.
    """

    ufactor: int
    force: bool = False
    canonical: bool = False

    def _unrollable(self, node: Node, context: Context) -> CanonicalLoop:
        """The loop, if its body can be repeated so often.  Raises Refusal: ORIO-T011, T020 to T028, T050."""
        if self.ufactor < 1:
            refuse(
                "ORIO-T011",
                f"the unroll factor is {self.ufactor}; it must be at least 1",
                node,
                argument="ufactor",
            )
        view = unrollable(node, _WHAT, context, force=self.force)
        size = self.ufactor * unroll_rewrite.count_statements(view.body)
        unroll_rewrite.require_size(size, _WHAT, node, "ufactor")
        return view

    def apply(self, node: Node, context: Context) -> Node:
        """The main loop, the sum of the accumulators, and the loop over the rest; `node` is not modified.

        Raises Refusal: ORIO-T011, T020 to T028, T040, T041, T050, T053, T054.
        """
        view = self._unrollable(node, context)
        if self.ufactor == 1:
            return node
        found = self._reductions(view, context)
        if not found:
            return self._with_variables(view, context)
        names = context.names(node)
        partial = {r.name: self._accumulators(r, names) for r in found}
        # Where the scalar itself has too little room, the first copy has an accumulator of its own too.
        own = {r.name: partial[r.name][0] for r in found if r.apart}
        renamed = {own.get(name, name): new[name in own :] for name, new in partial.items()}

        def make(loop: CanonicalLoop, factor: int, around: Context) -> list[Node]:
            copies = Copies(loop, rename(loop.body, own) if own else loop.body, around, renamed)
            return copies.first() + [item for number in range(1, factor) for item in copies.at(number)]

        parts = unroll_rewrite.parts_of(view, self.ufactor, context, make=make, canonical=self.canonical)
        if parts is None:
            return node
        declared = tuple(r.declared(name) for r in found for name in partial[r.name])
        combined = tuple(item for r in found for item in r.combined(partial[r.name]))
        return replace(parts, declarations=(*declared, *parts.declarations)).joined(combined)

    def _with_variables(self, view: CanonicalLoop, context: Context) -> Node:
        """What becomes of a loop that only accumulates into numbers in memory."""
        shared = with_variables(sharing([view], context, stepped=True), [view], context)
        if not shared.variables:
            refuse(
                "ORIO-T053",
                f"{_WHAT} needs a variable that the body only accumulates into, and there is none",
                view.body,
                help="such as `s += x[i]`; use Unroll for other loops",
            )
        require_independent([view], shared, _WHAT, context, force=self.force)
        declared = {found.variable: CDeclaration(found.variable, found.kind) for found in shared.variables}
        inside = replace(context, declarations={**context.declarations, **declared})
        return around(self.apply(within(view.node, shared.variables), inside), shared.variables)

    def _accumulators(self, reduction: Reduction, names: NameSupply) -> tuple[str, ...]:
        first = 0 if reduction.apart else 1
        return tuple(names.fresh(f"{reduction.name}_{number}") for number in range(first, self.ufactor))

    def _reductions(self, view: CanonicalLoop, context: Context) -> list[Reduction]:
        found = reductions_in(view, context)
        called = context.effects(view.body).calls
        usable = [r for r in found if self.force or not (called and r.name in context.exposed)]
        for reduction in usable:
            is_promised = context.assumptions.reassociate and not reduction.is_cut_off
            if reduction.why is None or is_promised:
                continue
            if not self.force:
                promise = (
                    "" if reduction.is_cut_off else "`def assumptions { arg reassociate = True; }`, or by "
                )
                refuse(
                    "ORIO-T054",
                    f"{_WHAT} would accumulate `{reduction.name}` in another order: {reduction.why}",
                    reduction.place,
                    help=f"allow it by {promise}`force=True`",
                )
            context.overruled.add(f"{_WHAT}: `{reduction.name}` is accumulated in another order")
        return usable


ENTRY = Entry(
    "UnrollReduction",
    "unroll a loop that accumulates, with an accumulator for each copy",
    (
        ArgumentSpec("ufactor", "integer, at least 1", "copies of the body, and accumulators", positive_int),
        FORCE,
    ),
    UnrollReduction,
)
