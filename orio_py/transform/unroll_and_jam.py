"""Unroll-and-jam: unroll a loop and fuse the copies of the loops inside it (Composite's `unrolljam`).

    for (i = 0; i < n; i++)             for (i = 0; n > 1 && i < n - 1; i += 2)
      for (j = 0; j < n; j++)             for (j = 0; j < n; j++) {
        y[i] += a[i][j] * x[j];             y[i] += a[i][j] * x[j];
                                            y[i + 1] += a[i + 1][j] * x[j];
                                          }
                                        for (; i < n; i++)
                                          for (j = 0; j < n; j++)
                                            y[i] += a[i][j] * x[j];

A loop without loops inside is unrolled; so is one whose inner bounds use its index, without fusing.
Source: D. Callahan, J. Cocke, K. Kennedy, "Estimating interlock and improving balance for pipelined
architectures", Journal of Parallel and Distributed Computing 5(4), 1988.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.ctree.dependence import may_jam
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import copy_with
from orio_py.transform import unrolled
from orio_py.transform.base import Context, refuse
from orio_py.transform.forms import loop_view, require_no_jumps, require_stable_index
from orio_py.transform.loop_names import index_name
from orio_py.transform.unroll import Unroll
from orio_py.transform.verdicts import analysed, dependence_context, require_legal


@dataclass(frozen=True, slots=True)
class UnrollAndJam:
    """Unroll a loop `ufactor` times and fuse the copies of its inner loops (1 = unchanged)."""

    ufactor: int
    force: bool = False
    canonical: bool = False

    def check(self, node: Node, context: Context) -> CanonicalLoop:
        """The loop as `apply` needs it.  Raises Refusal: ORIO-T011, T020 to T029, T040, T041."""
        view = self._unroll().check(node, context)
        if self.ufactor > 1 and self._jams(view, context):
            self._check_inner(view, context)
            verdict = may_jam(analysed(view), self.ufactor, dependence_context(context))
            require_legal(verdict, "unroll-and-jam", node, context, force=self.force)
        return view

    def apply(self, node: Node, context: Context) -> Node:
        """The jammed main loop and the loop over the remaining iterations; `node` is not modified."""
        view = self.check(node, context)
        if self.ufactor == 1 or not self._jams(view, context):
            return self._unroll().apply(node, context)
        return unrolled.apply(view, self.ufactor, context, jam=True, canonical=self.canonical)

    def _unroll(self) -> Unroll:
        return Unroll(self.ufactor, force=self.force, canonical=self.canonical)

    def _jams(self, view: CanonicalLoop, context: Context) -> bool:
        inner = loops_in(view.body)
        return bool(inner) and not any(
            view.index in context.expanded(context.effects(part).reads)
            for loop in inner
            for part in _header(loop)
        )

    def _check_inner(self, view: CanonicalLoop, context: Context) -> None:
        for loop in loops_in(view.body):
            inner = loop_view(loop, "unroll-and-jam", replace(context, pragmas=()))
            whole = CanonicalLoop.match(copy_with(loop, stmt=view.body)) or inner
            require_stable_index(inner, "unroll-and-jam", context)
            require_no_jumps(inner, "unroll-and-jam")
            _require_invariant(whole, context)
        _require_no_declarations(view.body)


def _require_invariant(view: CanonicalLoop, context: Context) -> None:
    """The bounds of a fused loop keep their value while all copies run.  Raises Refusal: ORIO-T027."""
    changed = context.effects(view.body).writes
    for part in (view.start, view.bound):
        outside = changed - {n for loop in loops_in(view.body) if (n := index_name(loop)) is not None}
        if names := sorted(outside & context.expanded(context.effects(part).reads)):
            refuse("ORIO-T027", f"unroll-and-jam needs inner bounds that no copy changes: `{names[0]}`", part)


def _require_no_declarations(body: Node) -> None:
    """Around the fused loops nothing is declared.  Raises Refusal: ORIO-T026."""
    for statement in unrolled.statements(body):
        if isinstance(statement, (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)) and loops_in(body):
            refuse(
                "ORIO-T026",
                "unroll-and-jam cannot fuse loops beside a declaration, of which each copy needs its own",
                statement,
            )
        if isinstance(statement, For) and loops_in(statement.stmt):
            _require_no_declarations(statement.stmt)


def _header(loop: For) -> list[Node]:
    return [part for part in (loop.init, loop.cond, loop.next) if part is not None]
