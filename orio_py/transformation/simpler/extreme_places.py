"""The place of a smallest or largest value is found behind the value, in a loop of its own.

    for (i = 0; i < n; i++)             const double before = most;
      if (x[i] > most) {                for (i = 0; i < n; i++)
        most = x[i];                      if (x[i] > most)
        at = i;                             most = x[i];
      }                                 if (most > before) {
                                          int place = n;
                                          for (i = 0; i < n; i++)
                                            if (x[i] == most)
                                              place = i < place ? i : place;
                                          at = place;
                                        }

Each of the loops combines one value, in any order.  Of equal values the first one counts, as in the original, with `>=`
and `<=` the last one.  The value has to be the same when it is computed again: an element, a variable, its sign, or whole
numbers.

Source: for the idea, loop distribution of a reduction with a location; R. Allen, K. Kennedy, "Optimizing Compilers for
Modern Architectures", Morgan Kaufmann 2001, section 5.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.build import assign, binary, block, declare, ident, if_, ternary
from orio_py.ctree.ctype import CType
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, sole_statement
from orio_py.ctree.nodes import MIRRORED, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, substitute, used_names, walk
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.types import index_type

_RELATIONS = frozenset({"<", "<=", ">", ">="})
_OPERATORS = frozenset({"-", "+", "!", "~"})
_SIGNS = frozenset({"-", "+"})


@dataclass(frozen=True, slots=True)
class _Search:
    """A loop that keeps the first or last value that is largest, or smallest, and what it assigns with it.

    `relation` is that of the value to the variable `best`.
    """

    loop: CanonicalLoop
    best: c_ast.ID
    value: Node
    relation: str
    others: tuple[c_ast.Assignment, ...]

    @property
    def keeps_first(self) -> bool:
        """Whether the first of equal values counts."""
        return "=" not in self.relation


def with_places_apart(tree: Node, context: Context) -> Node:
    """The tree with loops of their own for the places of smallest and largest values; the same object without any."""

    def change(node: Node, inner: Context) -> Node:
        found = _search(node, inner)
        return node if found is None else _apart(found, inner)

    return rewrite_where(tree, lambda node: isinstance(node, For), change, context)


def _search(node: Node, context: Context) -> _Search | None:
    loop = CanonicalLoop.match(node)
    test = None if loop is None else sole_statement(loop.body)
    if loop is None or not isinstance(test, c_ast.If) or test.iffalse is not None:
        return None
    condition = test.cond
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in _RELATIONS:
        return None
    assigned = _assignments(test.iftrue)
    for best, value, relation in (
        (condition.right, condition.left, condition.op),
        (condition.left, condition.right, MIRRORED[condition.op]),
    ):
        kept = [a for a in assigned or () if equal(a.lvalue, best) and equal(a.rvalue, value)]
        if not isinstance(best, c_ast.ID) or len(kept) != 1:
            continue
        others = tuple(a for a in assigned or () if a is not kept[0])
        found = _Search(loop, best, value, relation, others)
        return found if others and _is_apart(found, context) else None
    return None


def _assignments(then: Node) -> list[c_ast.Assignment] | None:
    """The assignments of variables that a branch is made of; None where it is anything else."""
    items: Sequence[Node] = then.block_items or [] if isinstance(then, c_ast.Compound) else [then]
    found = [item for item in items if isinstance(item, c_ast.Assignment)]
    plain = all(item.op == "=" and isinstance(item.lvalue, c_ast.ID) for item in found)
    return found if plain and len(found) == len(items) else None


def _is_apart(search: _Search, context: Context) -> bool:
    """Whether values, and what is assigned with them, are the same when they are computed again behind the loop."""
    loop = search.loop
    written = [search.best.name, *(a.lvalue.name for a in search.others if isinstance(a.lvalue, c_ast.ID))]
    read = used_names([search.value, loop.start, loop.bound, *(a.rvalue for a in search.others)])
    if len(set(written)) != len(written) or {loop.index, *read}.intersection(written):
        return False
    if context.exposed.intersection(written) or not all(_is_plain(name, context) for name in written):
        return False
    if any(_changes_by_itself(name, context) for name in (*read, *written)):
        return False
    inside = context.effects(loop.node)
    if inside.calls or inside.opaque or inside.array_writes or loop.index not in used_names([search.value]):
        return False
    kind = expression_type(search.value, context)
    held = expression_type(search.best, context)
    if kind is None or held is None or not (kind == held or _widens(kind, held)):
        return False
    exact = not kind.is_floating or _is_exact(search.value)
    return exact and all(_is_steady(part) for part in (search.value, *(a.rvalue for a in search.others)))


def _is_plain(name: str, context: Context) -> bool:
    declared = context.declarations.get(name)
    return declared is not None and declared.is_scalar


def _changes_by_itself(name: str, context: Context) -> bool:
    declared = context.declarations.get(name)
    return declared is not None and bool(declared.qualifiers & {"volatile", "_Atomic"})


def _widens(kind: CType, held: CType) -> bool:
    """Whether each value of a floating-point type is one of another."""
    return kind.is_floating and held.is_floating and kind.rank <= held.rank


def _is_exact(value: Node) -> bool:
    """Whether a floating-point value is what memory holds, or its sign is changed."""
    match value:
        case c_ast.ID() | c_ast.ArrayRef() | c_ast.StructRef() | c_ast.Constant():
            return True
        case c_ast.UnaryOp(op=op, expr=operand) if op in _SIGNS:
            return _is_exact(operand)
        case _:
            return False


def _is_steady(value: Node) -> bool:
    """Whether an expression only looks at variables and elements."""
    return not any(
        isinstance(part, (c_ast.Assignment, c_ast.FuncCall))
        or (isinstance(part, c_ast.UnaryOp) and part.op not in _OPERATORS)
        for part in walk(value)
    )


def _apart(search: _Search, context: Context) -> Node:
    """The value, then its place, then what is assigned with it."""
    loop, best, value = search.loop, search.best, search.value
    supply = context.names(loop.node)
    before, place = supply.fresh(f"{best.name}_before"), supply.fresh(f"{best.name}_place")
    kind = context.declarations[best.name].type
    # The iterations before others have smaller indices where these grow.
    least = search.keeps_first == loop.upward
    beyond = loop.bound if search.keeps_first else loop.start
    closer = binary("<" if least else ">", ident(loop.index), ident(place))
    nearest = assign(place, ternary(closer, ident(loop.index), ident(place)))
    found = supply.fresh(f"{best.name}_found") if not search.keeps_first else None
    noted = [] if found is None else [assign(found, 1, "|=")]
    where = if_(binary("==", value, best), block(*noted, nearest))
    assigned = [assign(a.lvalue, substitute(a.rvalue, loop.index, ident(place))) for a in search.others]
    looking = [declare(index_type(loop, context), place, beyond), _over(loop, where)]
    values = _over(loop, if_(binary(search.relation, value, best), assign(best, value)))
    if found is None:
        better = binary(search.relation, best, ident(before))
        return block(declare(f"const {kind}", before, best), values, if_(better, block(*looking, *assigned)))
    return block(values, declare("int", found, 0), *looking, if_(ident(found), block(*assigned)))


def _over(loop: CanonicalLoop, body: Node) -> Node:
    node = loop.node
    assert isinstance(node, For)
    return copy_with(node, stmt=block(body))
