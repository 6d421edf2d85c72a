"""Calls that set or copy the elements of arrays are replaced by loops over these.

    memset(y + i * n, 0, n * sizeof(double));       for (long k = 0; k < n; k++) *(y + i * n + k) = 0;
    memcpy(a, b, sizeof(a));                        for (long k = 0; k < 16; k++) a[k] = b[k];

The size has to be a number of elements of the type that the pointers say.  Compilers make calls of such loops again.

Source: ISO/IEC 9899:1999, 7.21.2.1 and 7.21.6.1; all bytes 0 are the number 0 (6.2.6.2, IEC 60559).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from orio_py.core.names import NameSupply
from orio_py.ctree.build import (
    assign,
    binary,
    cast_to,
    const,
    declare,
    for_,
    ident,
    index,
    literal_value,
    unary,
)
from orio_py.ctree.ctype import CType, ctype
from orio_py.ctree.dependence.names import names_of, resolve
from orio_py.ctree.expression_effects import is_repeatable
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, declared_names, used_names, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.overwriting import overwritten

_CALLED = frozenset({"memset", "memcpy"})


def without_block_copies(tree: Node, context: Context) -> Node:
    """The tree with loops for calls of `memset` and `memcpy`; the same object where there are none."""
    calls = any(isinstance(part, c_ast.FuncCall) and _name(part) in _CALLED for part in walk(tree))
    return _Statements(tree, context).rewrite(tree) if calls else tree


def _name(call: c_ast.FuncCall) -> str | None:
    return call.name.name if isinstance(call.name, c_ast.ID) else None


class _Statements(Rewriter):
    def __init__(self, tree: Node, context: Context) -> None:
        self._context = context
        self._names = names_of(tree, context.declarations)
        self._own = declared_names(tree)
        self._supply = context.names(tree)

    def visit_Compound(self, node: c_ast.Compound) -> Node:
        return self._with_loops(node)

    def visit_For(self, node: For) -> Node:
        return self._with_loops(node)

    def visit_If(self, node: c_ast.If) -> Node:
        return self._with_loops(node)

    def _with_loops(self, node: Node) -> Node:
        """A statement with loops for the calls that are statements inside it."""
        new = self.generic(node)
        found = {id(part): loop for part in _statements(new) if (loop := self._loop(part)) is not None}
        return _Replacing(found).rewrite(new) if found else new

    def _loop(self, statement: Node) -> For | None:
        match statement:
            case c_ast.FuncCall(name=c_ast.ID(name="memset"), args=c_ast.ExprList(exprs=[to, value, size])):
                source = None
            case c_ast.FuncCall(name=c_ast.ID(name="memcpy"), args=c_ast.ExprList(exprs=[to, source, size])):
                value = None
            case _:
                return None
        kind = self._element(to)
        count = None if kind is None else self._count(size, kind, to)
        if kind is None or count is None or (source is not None and self._element(source) != kind):
            return None
        number = None if value is None else _of_bytes(value, kind)
        if source is None and number is None:
            return None
        return self._over(to, source, number, count, self._supply)

    def _over(
        self, to: Node, source: Node | None, number: int | None, count: Node, supply: NameSupply
    ) -> For | None:
        """The loop over the elements; None where it might change what its header or its pointers are computed from."""
        place = supply.fresh("k")
        given = const(number or 0) if source is None else _at(source, place)
        body = assign(_at(to, place), given)
        loop = for_(
            declare("long", place, const(0)),
            binary("<", ident(place), count),
            unary("p++", ident(place)),
            body,
        )
        view = CanonicalLoop.match(loop)
        parts = [*_parts(to), *([] if source is None else _parts(source)), count]
        if view is None or any(overwritten(part, view, self._context) is not None for part in parts):
            return None
        return loop

    def _element(self, pointer: Node) -> CType | None:
        """The type of the numbers that a pointer points to; None for others."""
        if not used_names([pointer]).isdisjoint(self._own) or not is_repeatable(pointer):
            return None
        found = resolve(_at_first(pointer), self._names)
        if found is None or found.variable in self._own:
            return None
        if "." in found.name:
            return expression_type(_at_first(pointer), self._context)
        declared = self._context.declarations.get(found.name)
        if declared is None or "(" in declared.type or "volatile" in declared.qualifiers:
            return None
        depth = declared.pointers + len(declared.dimensions)
        return self._named(declared.type) if depth == len(found.subscripts) else None

    def _named(self, kind: str) -> CType | None:
        return ctype(self._context.types.get(kind, kind))

    def _count(self, size: Node, kind: CType, to: Node) -> Node | None:
        """The number of elements; None where the size does not say it."""
        factors = list(_factors(size))
        sizes = [part for part in factors if isinstance(part, c_ast.UnaryOp) and part.op == "sizeof"]
        rest = [part for part in factors if part not in sizes]
        if len(sizes) == 1 and not rest and isinstance(to, c_ast.ID) and _is(sizes[0].expr, to.name):
            return self._length(self._context.declarations.get(to.name))
        if not sizes:
            is_byte = kind.limits is not None and kind.limits[1] <= 255
            return self._total(rest) if is_byte else None
        return self._total(rest) if len(sizes) == 1 and self._measured(sizes[0].expr) == kind else None

    def _measured(self, part: Node) -> CType | None:
        """The type whose size is taken."""
        match part:
            case c_ast.Typename(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=words))):
                return self._named(" ".join(words))
            case c_ast.Typename():
                return None
            case _:
                return expression_type(part, self._context)

    def _length(self, declared: CDeclaration | None) -> Node | None:
        """The number of elements of an array of numbers with constant extents."""
        if (
            declared is None
            or declared.pointers
            or declared.scope == "parameter"
            or len(declared.dimensions) != 1
        ):
            return None
        extent = declared.dimensions[0]
        return c_ast.Constant("int", extent) if extent and extent.isdigit() else None

    def _total(self, parts: list[Node]) -> Node | None:
        """A product as a signed number."""
        signed = [self._signed(part) for part in parts]
        known = [part for part in signed if part is not None]
        if len(known) < len(signed):
            return None
        return reduce(lambda a, b: binary("*", a, b), known) if known else const(1)

    def _signed(self, part: Node) -> Node | None:
        if literal_value(part) is not None:
            return part
        kind = expression_type(part, self._context)
        if kind is None or kind.is_floating or not is_repeatable(part):
            return None
        if not used_names([part]).isdisjoint(self._own):
            return None
        return cast_to("long", part) if kind.promoted.unsigned else part


class _Replacing(Rewriter):
    def __init__(self, found: dict[int, For]) -> None:
        self._found = found

    def visit_FuncCall(self, node: c_ast.FuncCall) -> Node:
        return self._found.get(id(node), node)


def _statements(node: Node) -> Iterator[Node]:
    match node:
        case c_ast.Compound():
            yield from node.block_items or []
        case For():
            yield node.stmt
        case c_ast.If():
            yield from (part for part in (node.iftrue, node.iffalse) if part is not None)
        case _:
            pass


def _factors(size: Node) -> Iterator[Node]:
    if isinstance(size, c_ast.BinaryOp) and size.op == "*":
        yield from _factors(size.left)
        yield from _factors(size.right)
    else:
        yield size


def _is(node: Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _at(pointer: Node, place: str) -> Node:
    """The element of a number behind a pointer."""
    match pointer:
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=base, subscript=first)):
            return index(base, binary("+", first, ident(place)))
        case c_ast.ID() | c_ast.ArrayRef() | c_ast.StructRef():
            return index(pointer, ident(place))
        case _:
            return c_ast.UnaryOp("*", binary("+", pointer, ident(place)), pointer.coord)


def _parts(pointer: Node) -> list[Node]:
    """What the place that a pointer points to is computed from."""
    match pointer:
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=base, subscript=first)):
            return [base, first]
        case _:
            return [pointer]


def _at_first(pointer: Node) -> Node:
    match pointer:
        case c_ast.UnaryOp(op="&", expr=element):
            return element
        case _:
            return c_ast.UnaryOp("*", pointer, pointer.coord)


def _of_bytes(value: Node, kind: CType) -> int | None:
    """The number all of whose bytes have a value; None where that is not known."""
    byte = literal_value(value)
    if byte == 0:
        return 0
    if byte == -1 and not kind.is_floating:
        return -1
    return (
        byte
        if byte is not None and kind.limits is not None and kind.limits[1] <= 255 and 0 < byte < 128
        else None
    )
