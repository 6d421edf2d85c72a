"""Skew: shift the range of an inner loop by a multiple of an outer index.

    for (t = 0; t < m; t++)             for (t = 0; t < m; t++)
      for (i = 1; i < n; i++)             for (i = t + 1; i < t + n; i++)
        a[i] += a[i - 1] + a[i + 1];        a[i - t] += a[i - t - 1] + a[i - t + 1];

The iterations and their order stay as they are.  Dependences that went backwards in the inner loop can go
forwards, or stay in place, in the skewed one, so that the loops may be exchanged or tiled.  Source: M. Wolfe,
"Loop skewing: the wavefront method revisited", International Journal of Parallel Programming 15(4), 1986.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.core.expr import Value
from orio_py.ctree.bounds import with_header
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.linear_expressions import LinearExpressions, leaves, total
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, substitute, walk
from orio_py.ctree.simplify import simplify
from orio_py.transformation.arguments import text, wrong
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.final_index import is_live, with_final_indices
from orio_py.transformation.forms import loop_view, require_no_jumps, require_stable_index
from orio_py.transformation.loop_names import LoopName, first_present, show_loops
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.tiling.permute import maximal_nests, show_nests
from orio_py.transformation.types import index_type, same_signedness, signedness_of_type, subtracts


@dataclass(frozen=True, slots=True)
class Skew:
    """Let the index of `loop` run `factor` times the index of `by` ahead of what it was (0 = unchanged)."""

    loop: str
    by: str
    factor: int = 1
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The statement with the loop skewed in each perfect nest of the two; the same object for factor 0.

        Raises Refusal: ORIO-T015, T020 to T029, T030, T080 to T082.
        """
        present = show_loops(node)
        for name, argument in ((self.loop, "loop"), (self.by, "by")):
            first_present(LoopName((name,)), present, node, argument)
        if self.factor == 0:
            return node
        nests = maximal_nests(node)
        both = [loops for loops in nests if {self.loop, self.by} <= {loop.index for loop in loops}]
        if not both:
            refuse(
                "ORIO-T030",
                f"the loops `{self.by}` and `{self.loop}` do not form a perfect nest: there are statements "
                "between them, or they stand beside each other",
                node,
                help=f"perfect nests here: {show_nests(nests)}",
                argument="loop",
            )
        for loops in both:
            names = [loop.index for loop in loops]
            if names.index(self.by) >= names.index(self.loop):
                refuse(
                    "ORIO-T082",
                    f"`{self.loop}` is skewed by the index of a loop around it, and `{self.by}` is not one",
                    loops[names.index(self.loop)].node,
                    argument="by",
                )
        heads = {id(loops[0].node): loops for loops in both}
        return rewrite_where(node, lambda n: id(n) in heads, self._nest, context)

    def _nest(self, head: Node, context: Context) -> Node:
        (loops,) = maximal_nests(head)[:1]
        loop_view(head, "Skew", context)
        names = [loop.index for loop in loops]
        outer, view = loops[names.index(self.by)], loops[names.index(self.loop)]
        for loop in (outer, view):
            loop_view(loop.node, "Skew", replace(context, pragmas=()))
            require_stable_index(loop, "Skew", context)
        self._check_types(outer, view, context)
        _check_names(outer, view, context)
        result = _Exchange(view.node, self._skewed(outer, view, context)).rewrite(head)
        if not is_live(view, context):
            return result
        for loop in loops:
            require_no_jumps(loop, "Skew")
        return with_final_indices(result, loops, "Skew", context)

    def _check_types(self, outer: CanonicalLoop, view: CanonicalLoop, context: Context) -> None:
        kind, other = index_type(view, context), index_type(outer, context)
        sign = signedness_of_type(kind)
        end, low = ("start", view.start) if view.upward else ("bound", view.bound)
        problem = None
        if sign == "unknown" or sign != signedness_of_type(other):
            problem = f"its index is `{kind}` and that of `{outer.index}` is `{other}`"
        elif not _is_word(kind) or (_is_plain(kind) and _is_word(other) and not _is_plain(other)):
            problem = f"its index is only `{kind}`, and that of `{outer.index}` is `{other}`"
        elif sign == "unsigned" and self.factor < 0:
            problem = f"its index is `{kind}`, which does not take the factor {self.factor}"
        elif sign == "unsigned" and any(subtracts(part, context) for part in walk(low)):
            problem = f"its {end} `{emit_expression(low)}` could wrap around below zero, where the loop does not run"
        elif not same_signedness(kind, context, *(x for p in (view.start, view.bound) for x in leaves(p))):
            problem = f"its start and bound do not have the signedness of its index, `{kind}`"
        if problem is not None:
            refuse(
                "ORIO-T080",
                f"Skew cannot shift the loop `{view.index}`: {problem}",
                view.node,
                notes=[note(f"loop `{outer.index}`", outer.node)],
            )

    def _skewed(self, outer: CanonicalLoop, view: CanonicalLoop, context: Context) -> For:
        unsigned = signedness_of_type(index_type(view, context)) == "unsigned"
        forms = LinearExpressions([outer.index, view.index], unsigned=unsigned)
        away = {outer.index: self.factor}
        start, bound = (
            forms.extreme(
                [total([(row, 1), (away, 1)]) for row in forms.operands(part, smallest=smallest)],
                smallest=smallest,
            )
            for part, smallest in ((view.start, not view.upward), (view.bound, view.upward))
        )
        place = forms.write({view.index: 1, outer.index: -self.factor})
        body = _Cancelled(forms, outer.index).rewrite(simplify(substitute(view.body, view.index, place)))
        return copy_with(with_header(view, start, view.relation, bound), stmt=body)


class _Exchange(Rewriter):
    """Puts one loop in the place of another."""

    def __init__(self, old: For, new: For) -> None:
        self.old = old
        self.new = new

    def visit_For(self, node: For) -> Node:
        return self.new if node is self.old else self.generic(node)


class _Cancelled(Rewriter):
    """Writes `a[j - i + i]` as `a[j]`."""

    def __init__(self, forms: LinearExpressions, name: str) -> None:
        self.forms = forms
        self.name = name

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        node = self.generic(node)
        uses = [n for n in walk(node.subscript) if isinstance(n, c_ast.ID) and n.name == self.name]
        if len(uses) < 2:
            return node
        row = self.forms.read(node.subscript)
        return node if self.forms.hidden(row) else copy_with(node, subscript=self.forms.write(row))


def _check_names(outer: CanonicalLoop, view: CanonicalLoop, context: Context) -> None:
    for part in (view.start, view.bound):
        if view.index in context.effects(part).reads:
            refuse("ORIO-T027", f"Skew needs bounds that do not use the index `{view.index}` itself", part)
    if {outer.index, view.index} & declared_names(view.body):
        refuse(
            "ORIO-T081",
            f"Skew cannot write `{view.index} - {outer.index}` for `{view.index}`: "
            f"the body declares another `{outer.index}` or `{view.index}`",
            view.node,
        )


def _is_word(kind: str) -> bool:
    """Whether a type is at least as wide as `int`."""
    narrow = {"char", "short", "_Bool", "int8_t", "uint8_t", "int16_t", "uint16_t"}
    return not narrow & set(kind.split())


def _is_plain(kind: str) -> bool:
    """Whether a type is as wide as `int`, as far as its name tells."""
    return set(kind.split()) <= {"int", "unsigned", "signed", "int32_t", "uint32_t"}


def _factor(value: Value, name: str) -> int:
    """Any integer.  Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or not isinstance(value, int):
        wrong(name, "an integer", value)
    return value


ENTRY = Entry(
    "Skew",
    "shift the range of an inner loop by a multiple of an outer index",
    (
        ArgumentSpec("loop", "index of a loop", "the loop that is skewed", text),
        ArgumentSpec("by", "index of a loop around it", "the loop whose index is added", text),
        ArgumentSpec("factor", "integer", "what that index is multiplied by", _factor, default="1"),
        FORCE,
    ),
    Skew,
)
