"""Addresses between which all lies that is touched under a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from orio_py.core.names import NameSupply
from orio_py.ctree.build import as_long, binary, expression, ident, index, literal_value, unary
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node, c_ast, reference_parts
from orio_py.ctree.rewrite import Rewriter, assigned_names, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context, KnownRange
from orio_py.transformation.guards.row_ranges import ADDRESS, RowRange
from orio_py.transformation.offload.access_slice import AccessSlice, Uninspectable
from orio_py.transformation.offload.bounded_values import is_positive
from orio_py.transformation.offload.inspection import Inspection, inspected_array


@dataclass(frozen=True, slots=True)
class AddressRange:
    """The addresses, as numbers, of the first byte that is touched and of the first one behind.

    Each is the smallest, or the largest, of several ones.  `rows` says how the variables are found that they may be,
    and `pointers` is the memory of the pointers to these rows.  The statements `before` find out values that they use, which
    are `known` then; they do so where what arrays in `doubtful` hold is not written.
    """

    first: tuple[Node, ...]
    behind: tuple[Node, ...]
    rows: RowRange | None = None
    pointers: AddressRange | None = None
    before: tuple[Node, ...] = ()
    known: KnownRange | None = None
    doubtful: frozenset[str] = frozenset()


def is_total(nodes: Sequence[Node], certain: Set[str] = frozenset()) -> bool:
    """Whether nothing is divided by what may be 0, but in expressions whose text is in `certain`."""
    parts = (part for node in nodes for part in walk(node))
    divisions = (part for part in parts if isinstance(part, c_ast.BinaryOp) and part.op in _PARTIAL)
    return all(
        literal_value(part.right) not in {None, 0}
        or _is_size(part.right)
        or is_positive(part.right)
        or emit_expression(part) in certain
        for part in divisions
    )


def _is_size(node: Node) -> bool:
    """Whether an expression is the size of something, which is not 0."""
    return isinstance(node, c_ast.UnaryOp) and node.op == "sizeof"


_PARTIAL = frozenset({"/", "%", "<<", ">>"})


def bytes_of(base: Node, offset: Node | int) -> Node:
    """The size of so many elements of what a pointer points to, as a number of addresses."""
    number = as_long(expression(offset), ADDRESS)
    return binary("*", number, unary("sizeof", unary("*", base)))


def object_range(address: Node) -> AddressRange:
    """The memory of what has an address."""
    return AddressRange((as_long(address, ADDRESS),), (as_long(binary("+", address, 1), ADDRESS),))


def inspected_range(
    declared: CDeclaration,
    statement: Node,
    tested: Set[str],
    wraps: Callable[[Node], bool],
    context: Context,
    supply: NameSupply,
) -> AddressRange | None:
    """The range of the elements of an array that a statement uses, with loops that find it out; None where none do.

    Pointers that are `tested` may be null; `wraps` says of an expression that C may compute it in an unsigned type.
    """
    array = inspected_array(declared, context, supply)
    statement = _Subscripted(declared.name).rewrite(statement)
    carried = context.effects(statement).reads_before_write.intersection(assigned_names(statement))
    name = declared.name
    try:
        found = Inspection.of(AccessSlice((), statement, {name: array}, carried, set(), context, wraps))
    except Uninspectable:
        return None
    if not _is_all_indexed(statement, name, array.depth):
        return None
    base: Node = ident(name)
    for _ in declared.dimensions[1:]:
        base = index(base, 0)
    offsets = ident(array.first), binary("+", ident(array.last), 1)
    if name in tested and not declared.dimensions[1:]:
        first, behind = (binary("+", as_long(base, ADDRESS), bytes_of(base, offset)) for offset in offsets)
    else:
        first, behind = (as_long(binary("+", base, offset), ADDRESS) for offset in offsets)
    before = tuple(found.statements(supply))
    return AddressRange((first,), (behind,), before=before, known=found.known(name))


class _Subscripted(Rewriter):
    """Writes `p[(long)i + (long)j]` for `*(p + i + j)` and `(p + i)[j]`, which C computes in no type of its own."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        """`*(p + i + j)`."""
        new = self.generic(node)
        match new:
            case c_ast.UnaryOp(op="*", expr=pointer) if (place := self._place(pointer)) is not None:
                return index(ident(self._name), place)
            case _:
                return new

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        """`(p + i)[j]`."""
        new = self.generic(node)
        match new:
            case c_ast.ArrayRef(name=pointer, subscript=last) if (place := self._place(pointer)) is not None:
                return index(ident(self._name), binary("+", place, as_long(last)))
            case _:
                return new

    def _place(self, pointer: Node) -> Node | None:
        """How far a sum is behind the pointer; None for what is no such sum."""
        match pointer:
            case c_ast.BinaryOp(op="+" | "-" as op, left=left, right=right):
                if isinstance(left, c_ast.ID) and left.name == self._name:
                    return as_long(right) if op == "+" else unary("-", as_long(right))
                before = self._place(left)
                return None if before is None else binary(op, before, as_long(right))
            case _:
                return None


def _is_all_indexed(statement: Node, name: str, depth: int) -> bool:
    """Whether all that a statement does with an array is to use elements by their subscripts."""
    parts = [reference_parts(part) for part in walk(statement)]
    elements = {id(base) for base, subscripts in parts if len(subscripts) == depth}
    uses = [part for part in walk(statement) if isinstance(part, c_ast.ID) and part.name == name]
    return all(id(part) in elements for part in uses)


def doubtful_arrays(
    extents: Mapping[str, AddressRange | None], tested: Sequence[tuple[str, str]], own: Mapping[str, str]
) -> frozenset[str]:
    """The arrays that no other one may overlap where the ranges of others are right."""
    given = (extent for pair in tested for name in pair if (extent := extents[name]) is not None)
    inside = {member: name for name, member in own.items()}
    return frozenset(inside.get(name, name) for extent in given for name in extent.doubtful)
