"""How long arrays are, as their declarations say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orio_py.ctree.build import as_long, binary, ident, index, literal_value, unary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.symbols import CDeclaration
from orio_py.kernel.plan import ScalarPlan
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import parsed_extent
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.names import is_number_macro


def inner_extents(declared: CDeclaration, context: Context) -> tuple[list[Node], list[ScalarPlan]]:
    """The extents of all dimensions but the first, and the scalars by which the kernel gets them."""
    extents: list[Node] = []
    scalars: list[ScalarPlan] = []
    row: Node = ident(declared.name)
    for number, text in enumerate(declared.dimensions[1:], start=1):
        row = index(row, 0)
        node = parsed_extent(text)
        if not _is_constant(node, context):
            # The extents of a variable-length array are those of its declaration, whatever became of the
            # variables since.
            name = f"orio_extent_{declared.name}_{number}"
            size = binary("/", unary("sizeof", row), unary("sizeof", index(row, 0)))
            scalars.append(ScalarPlan(name, "long", as_long(size), name))
            node = ident(name)
        extents.append(node)
    return extents, scalars


def factor_of(extent: Node, sizes: Mapping[str, Node], arithmetic: Arithmetic) -> Polynomial:
    """An extent in the arithmetic of subscripts; `sizes` has the values of names that stand for extents."""
    if isinstance(extent, c_ast.ID) and extent.name in sizes:
        return arithmetic.extent(extent.name, sizes[extent.name])
    value = literal_value(extent)
    return arithmetic.extent(emit_expression(extent), extent) if value is None else Polynomial.constant(value)


def _is_constant(node: Node, context: Context) -> bool:
    if isinstance(node, c_ast.ID):
        return is_number_macro(node.name, context)
    return literal_value(node) is not None or (
        isinstance(node, c_ast.BinaryOp) and all(_is_constant(part, context) for part in node)
    )


def declared_count(declared: CDeclaration, arithmetic: Arithmetic, context: Context) -> Polynomial | None:
    """The number of elements that a declaration gives; None for pointers and open arrays."""
    is_pointer = (
        declared.is_parameter or declared.promised or not declared.dimensions or declared.dimensions[0] == ""
    )
    if is_pointer or "(*" in declared.text:
        return None
    extents = [parsed_extent(text) for text in declared.dimensions]
    if all(_is_constant(extent, context) for extent in extents):
        size = Polynomial.constant(1)
        for extent in extents:
            size = size * factor_of(extent, {}, arithmetic)
        return size
    element: Node = ident(declared.name)
    for _ in extents:
        element = index(element, 0)
    whole = binary("/", unary("sizeof", ident(declared.name)), unary("sizeof", element))
    return arithmetic.extent(emit_expression(whole), whole)


def promised_count(
    declared: CDeclaration, inner: Sequence[Polynomial], arithmetic: Arithmetic
) -> Polynomial | None:
    """The number of elements that are promised; None where nothing does."""
    if not declared.promised:
        return None
    size = arithmetic.polynomial(parsed_extent(declared.dimensions[0]), {})
    for extent in inner:
        size = None if size is None else size * extent
    return size


def first_extent(declared: CDeclaration) -> Node:
    """The outermost extent of a declaration that has one."""
    return parsed_extent(declared.dimensions[0])
