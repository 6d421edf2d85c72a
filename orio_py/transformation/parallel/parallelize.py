"""Parallelize: run the iterations of a loop in parallel, with the clauses that it needs.

    for (i = 0; i < n; i++) {           #if defined(_OPENMP)
      t = x[i] * y[i];                  #pragma omp parallel for private(t) reduction(+: s)
      z[i] = t * t;                     #endif
      s += c[i];                        for (i = 0; i < n; i++) {
    }                                     t = x[i] * y[i];
                                          z[i] = t * t;
                                          s += c[i];
                                        }

Scalars that each iteration assigns before it reads them become private, accumulations become reductions;
any other dependence between iterations refuses.  Source: OpenMP API 5.2, sections 5.4 (data-sharing
attribute clauses), 5.5 (reductions) and 11.5 (worksharing-loop); for the scalars Z. Li, "Array
privatization for parallel execution of loops", ICS 1992.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.core.expr import Value
from orio_py.ctree.build import block
from orio_py.ctree.dependence.verdict import Legal
from orio_py.ctree.loops import CanonicalLoop, nest, outermost_loops
from orio_py.ctree.nodes import Comment, Compound, For, Node, c_ast
from orio_py.transformation.arguments import optional_text, positive_int, text
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.certain_conditions import if_all
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
    with_directives,
)
from orio_py.transformation.parallel.array_sharing import with_arrays
from orio_py.transformation.parallel.data_sharing import (
    Sharing,
    collapsed,
    require_independent,
    require_none_shared,
    require_order_free,
    require_shared_storage,
    sharing,
    verdict_of,
)
from orio_py.transformation.parallel.iteration_counts import may_run_where_c_does_not, require_count
from orio_py.transformation.parallel.kept_values import in_a_team, kept_values
from orio_py.transformation.parallel.pragma_text import pragma_lines
from orio_py.transformation.parallel.reduction_variables import around, within
from orio_py.transformation.parallel.scan_loops import in_two_passes, scan_for_threads
from orio_py.transformation.sites import Choice, rewrite_where

_WHAT = "Parallelize"
_SCHEDULE = re.compile(r"(static|dynamic|guided)(, [1-9]\d*)?|auto|runtime")
_REMARK = "/* Runs with threads where each has room for sums of its own; else the loops run as they were. */"
_INSIDE_A_TEAM = frozenset({"simd", "atomic", "critical"})


@dataclass(frozen=True, slots=True)
class Parallelize:
    """Put `omp parallel for` with inferred clauses before the loops named `loop`, or the outermost ones.

    `schedule` is `static`, `dynamic` or `guided`, with a chunk size as in `dynamic, 4` if wanted, or
    `auto` or `runtime`; `collapse` is the number of perfectly nested loops whose iterations are shared
    out.  `trusted` leaves the dependence test out, for loops that passed it before they were unrolled.
    """

    loop: str | None = None
    schedule: str = ""
    num_threads: int | None = None
    collapse: int = 1
    force: bool = False
    trusted: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with pragmas before the chosen loops; `node` is not modified.

        Raises Refusal: ORIO-T010, T011, T015, T020 to T033, T040, T041, T090.
        """
        return self.apply_where(node, context, chosen_loops(node, self.loop, outermost_loops(node), _WHAT))

    def apply_where(self, node: Node, context: Context, chosen: Choice) -> Node:
        """The tree with pragmas before the loops that `chosen` names."""
        if _schedule(self.schedule) is None:
            refuse("ORIO-T010", _wrong_schedule(self.schedule), node, argument="schedule")
        for name, number in (("num_threads", self.num_threads), ("collapse", self.collapse)):
            if number is not None and number < 1:
                message = f"`{name}` is {number}; it must be at least 1"
                refuse("ORIO-T011", message, node, argument=name)
        return rewrite_where(node, chosen, self._loop, context)

    def _loop(self, node: Node, context: Context) -> Node:
        loops = self._loops(node, context)
        shared = _with_kept(sharing(loops, context), loops, context)
        if not self.trusted:
            shared = with_arrays(shared, loops, context)
            known = verdict_of(loops, shared, context)
            if not isinstance(known[0], Legal) and (passes := self._scan(loops, context)) is not None:
                return passes
            require_independent(loops, shared, _WHAT, context, force=self.force, known=known)
            require_order_free(shared, _WHAT, context, force=self.force)
        else:
            require_none_shared(loops, shared, _WHAT, context)
        inside = within(with_directives(node, shared.updates, "omp atomic", context), shared.variables)
        result = self._shared_out(inside, loops[0], shared, context)
        if shared.needs_an_iteration or any(may_run_where_c_does_not(loop, context) for loop in loops):
            result = block(at_least_once(result, loops, context))
        result = around(result, shared.variables)
        if shared.tests:
            versions = if_all(shared.tests, _in_block(result), context, otherwise=_in_block(node))
            result = block(Comment(_REMARK), versions) if isinstance(versions, c_ast.If) else versions
        return with_final_indices(result, loops, _WHAT, context)

    def _scan(self, loops: Sequence[CanonicalLoop], context: Context) -> Node | None:
        """The loops over tiles that stand in place of one that uses a running value; None for others."""
        found = None if len(loops) > 1 or self.force else scan_for_threads(loops[0], context)
        if found is None:
            return None
        found.require_apart(_WHAT, context, force=False)
        return in_two_passes(found, replace(self, loop=None, trusted=True)._loop, _WHAT, context)

    def _loops(self, node: Node, context: Context) -> list[CanonicalLoop]:
        """The loops whose iterations are shared out, in a form that OpenMP takes."""
        require_direct("omp parallel for", node, context)
        view = loop_view(node, _WHAT, context)
        loops = collapsed(nest(view), self.collapse, str(self.collapse), context)
        require_no_jumps(view, _WHAT)
        for loop in loops:
            loop_view(loop.node, _WHAT, replace(context, pragmas=()))
            require_stable_index(loop, _WHAT, context)
            require_invariant_bound(loop, _WHAT, context, force=self.force)
            require_count(loop, self.schedule.partition(",")[0].strip(), _WHAT, context)
        require_shared_storage(view, _WHAT, context)
        require_no_constructs(view, _WHAT, allowed=_INSIDE_A_TEAM)
        return loops

    def _shared_out(self, loop: Node, view: CanonicalLoop, shared: Sharing, context: Context) -> Node:
        """The loop behind its directive, or in a team of threads that keep values apart from each other."""
        threads = "" if self.num_threads is None else f" num_threads({self.num_threads})"
        schedule = _schedule(self.schedule)
        if shared.kept:
            assert isinstance(loop, For)
            order = f"schedule(monotonic: {schedule})" if schedule else "schedule(static)"
            inner = " ".join(["omp for nowait", order, *shared.clauses()])
            return in_a_team(loop, view, shared.kept, (f"omp parallel{threads}", inner), context)
        collapse = f" collapse({self.collapse})" if self.collapse > 1 else ""
        parts = [f"omp parallel for{collapse}{threads}"]
        if schedule:
            parts.append(f"schedule({schedule})")
        return annotated(pragma_lines([" ".join([*parts, *shared.clauses()])]), loop, context)


def _with_kept(shared: Sharing, loops: Sequence[CanonicalLoop], context: Context) -> Sharing:
    """The clauses, and the values that a loop keeps, where no clause says which, or one is not exact."""
    if len(loops) > 1:
        return shared
    exact = [r for r in shared.reductions if r.exact or context.assumptions.reassociate]
    known = replace(shared, reductions=tuple(exact)).names
    kept = kept_values(loops[0], known, context)
    names = {name for one in kept for name in one.names}
    reductions = tuple(r for r in shared.reductions if r.name not in names)
    return replace(shared, reductions=reductions, kept=kept)


def _in_block(statement: Node) -> Node:
    return statement if isinstance(statement, Compound) else block(statement)


def schedule_text(value: Value, name: str) -> str:
    """A schedule as OpenMP writes it, or an empty text for the compiler's choice.  Raises Refusal: ORIO-T010."""
    words = _schedule(text(value, name))
    if words is None:
        refuse("ORIO-T010", _wrong_schedule(text(value, name)), None, argument=name)
    return words


def _schedule(words: str) -> str | None:
    """The schedule in OpenMP's spelling; None if it is none."""
    words = ", ".join(part.strip() for part in words.split(","))
    return words if not words or _SCHEDULE.fullmatch(words) else None


def _wrong_schedule(words: str) -> str:
    kinds = "'static', 'dynamic' or 'guided', with a chunk as in 'dynamic, 4', or 'auto'"
    return f"`schedule` is {words!r}; it must be {kinds}"


LOOP = ArgumentSpec("loop", "index of a loop", "the loop; by default the outermost ones", optional_text, "''")

ENTRY = Entry(
    "Parallelize",
    "run a loop's iterations in parallel (OpenMP), with the clauses that it needs",
    (
        LOOP,
        ArgumentSpec(
            "schedule",
            "'static', 'dynamic' or 'guided', with a chunk as in 'dynamic, 4', or 'auto'",
            "how iterations are shared out; empty for the compiler's choice",
            schedule_text,
            default="''",
        ),
        ArgumentSpec(
            "num_threads",
            "integer, at least 1",
            "number of threads; by default OpenMP's own",
            positive_int,
            default="OpenMP's",
        ),
        ArgumentSpec(
            "collapse",
            "integer, at least 1",
            "number of perfectly nested loops whose iterations are shared out",
            positive_int,
            default="1",
        ),
        FORCE,
    ),
    Parallelize,
)
