"""The body of one iteration as a kernel has it: flat subscripts, and nothing that devices do not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orio_py.ctree.build import as_long, binary, index, literal_value, unary
from orio_py.ctree.loops import innermost_loops
from orio_py.ctree.nodes import (
    Comment,
    Compound,
    For,
    GuardedPragma,
    Node,
    OwnFunction,
    c_ast,
    reference_parts,
)
from orio_py.ctree.rewrite import Replacement, Rewriter, copy_with, walk
from orio_py.ctree.symbols import holds_constants
from orio_py.kernel.functions import choice, device_function
from orio_py.kernel.types import device_type
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.offload.buffers import Array

_JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Return)
_POINTS = frozenset({"&", "*"})


def subscripted(body: Node) -> Node:
    """The body with `*p`, `*(p + i)` and `*(p + i + j)` as `p[0]`, `p[i]` and `p[(long)i + j]`."""
    return _Subscripts().rewrite(body)


class _Subscripts(Rewriter):
    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        inner = self.generic(node)
        if inner.op != "*":
            return inner
        match inner.expr:
            case c_ast.ID() as pointer:
                return c_ast.ArrayRef(pointer, c_ast.Constant("int", "0"), node.coord)
            case c_ast.BinaryOp(op="+", left=c_ast.ID() as pointer, right=offset):
                return c_ast.ArrayRef(pointer, offset, node.coord)
            case c_ast.BinaryOp() if (found := _steps(inner.expr)) is not None:
                return c_ast.ArrayRef(*found, node.coord)
            case _:
                return inner


def _steps(value: Node) -> tuple[c_ast.ID, Node] | None:
    """The name that a sum begins with, and all that is added to it in a type that does not overflow before an address does."""
    match value:
        case c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID() as pointer, right=step):
            return pointer, as_long(step if op == "+" else unary("-", as_long(step)))
        case c_ast.BinaryOp(op="+" | "-" as op, left=left, right=step) if (inner := _steps(left)) is not None:
            return inner[0], binary(op, inner[1], step)
        case _:
            return None


def require_device_code(body: Node, what: str, context: Context) -> None:
    """Every statement and expression has a counterpart on devices.  Raises Refusal: ORIO-T124, T125."""
    for node in walk(body):
        if (problem := _problem(node, context)) is not None:
            code, text = problem
            refuse(code, f"{what} needs code that devices can run: {text}", node)


def _problem(node: Node, context: Context) -> tuple[str, str] | None:
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name)):
            known = device_function(name) is not None or choice(name) is not None
            return None if known else ("ORIO-T125", f"they have no function `{name}`")
        case c_ast.FuncCall(name=OwnFunction(function=name)):
            return "ORIO-T125", f"the body of the function `{name}` cannot stand in place of this call"
        case c_ast.FuncCall():
            return "ORIO-T125", "they cannot call a function through a pointer"
        case c_ast.StructRef() | c_ast.Struct() | c_ast.Union() | c_ast.CompoundLiteral():
            return (
                "ORIO-T124",
                "a kernel holds no structures but elements of arrays, and no unions",
            )
        case c_ast.UnaryOp(op=op) if op in _POINTS:
            return "ORIO-T125", f"`{op}` computes with addresses, and an array has another one there"
        case c_ast.Constant(type=kind, value=value):
            floating = kind == "long double" or ("." in value and value[-1] in "lL")
            return ("ORIO-T125", f"they have no literal {value}") if "string" in kind or floating else None
        case c_ast.Decl():
            return _declaration_problem(node)
        case c_ast.IdentifierType(names=names):
            text = context.types.get(" ".join(names), " ".join(names))
            known = device_type(text) is not None or text == "void"
            return None if known else ("ORIO-T124", f"they have no type `{text}`")
        case c_ast.Pragma() | GuardedPragma():
            text = str(node.string)
            return ("ORIO-T125", "an OpenMP pragma stands in it") if text.split()[:1] == ["omp"] else None
        case c_ast.Typedef() | c_ast.Enum():
            return "ORIO-T125", "it declares a type"
        case _:
            return None


def _declaration_problem(node: c_ast.Decl) -> tuple[str, str] | None:
    kept = {"register", "auto", *(["static"] if holds_constants(node) else [])}
    if node.storage and set(node.storage) - kept:
        return "ORIO-T125", f"`{node.name}` is declared `{node.storage[0]}`"
    kind: Node = node.type
    while isinstance(kind, c_ast.ArrayDecl):
        if literal_value(kind.dim) is None:
            return "ORIO-T125", f"the array `{node.name}` has no literal extent"
        kind = kind.type
    if isinstance(kind, c_ast.PtrDecl):
        return "ORIO-T125", f"`{node.name}` is a pointer"
    if isinstance(kind, c_ast.FuncDecl):
        return "ORIO-T125", f"it declares the function `{node.name}`"
    return None


def flattened(body: Node, arrays: Mapping[str, Array], others: Mapping[int, Node] | None = None) -> Node:
    """The body with one subscript for each array element; `others` stand for references by identity."""
    return _Flattening(arrays, others or {}).rewrite(body)


class _Flattening(Rewriter):
    def __init__(self, arrays: Mapping[str, Array], others: Mapping[int, Node]) -> None:
        self._arrays = arrays
        self._others = others

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        if (other := self._others.get(id(node))) is not None:
            return other
        base, subscripts = reference_parts(node)
        subscripts = [self.rewrite(subscript) for subscript in subscripts]
        if isinstance(base, c_ast.ID) and base.name in self._arrays:
            return self._arrays[base.name].element(base, subscripts)
        return index(self.rewrite(base), *subscripts)


def plain_body(body: Node, context: Context) -> Node:
    """The body without pragmas, which belong to host compilers, with the types that typedefs stand for, and the numbers that
    constants in extents are.
    """
    return _Plain(context).rewrite(body)


class _Plain(Rewriter):
    def __init__(self, context: Context) -> None:
        self._types = context.types
        self._declarations = context.declarations

    def visit_IdentifierType(self, node: c_ast.IdentifierType) -> Node:
        found = self._types.get(" ".join(node.names))
        return node if found is None else copy_with(node, names=found.split())

    def visit_Pragma(self, node: c_ast.Pragma) -> Replacement:
        return []

    def visit_ArrayDecl(self, node: c_ast.ArrayDecl) -> Node:
        declared = self._declarations.get(node.dim.name) if isinstance(node.dim, c_ast.ID) else None
        value = (declared.initialiser or "").strip() if declared is not None and declared.is_scalar else ""
        if declared is None or "const" not in declared.qualifiers or not value.isdecimal():
            return self.generic(node)
        return self.generic(copy_with(node, dim=c_ast.Constant("int", value)))

    def visit_GuardedPragma(self, node: GuardedPragma) -> Replacement:
        return []


def unrolled_by_pragma(body: Node, factor: int) -> Node:
    """The body with `#pragma unroll` before its innermost loops."""
    inner = {id(loop) for loop in innermost_loops(body)}
    return _Unrolling(inner, factor).rewrite(body)


class _Unrolling(Rewriter):
    def __init__(self, inner: set[int], factor: int) -> None:
        self._inner = inner
        self._factor = factor

    def visit_For(self, node: For) -> Replacement:
        if id(node) not in self._inner:
            return self.generic(node)
        return [c_ast.Pragma(f"unroll {self._factor}"), node]

    def visit_Compound(self, node: Compound) -> Node:
        return self.generic(node)


def body_items(body: Node) -> tuple[Node, ...]:
    """The statements of the body."""
    if isinstance(body, Compound):
        return tuple(body.block_items or [])
    return () if isinstance(body, (c_ast.EmptyStatement, Comment)) else (copy_with(body),)


def certain_references(node: Node) -> frozenset[int]:
    """The array references, by identity, that a statement makes whatever happens; none in loops inside."""
    return frozenset(id(part) for part in _certain(node) if isinstance(part, c_ast.ArrayRef))


def _certain(node: Node) -> Iterator[Node]:
    """The parts of a statement that are always evaluated."""
    match node:
        case Compound():
            for item in node.block_items or []:
                yield from _certain(item)
                if any(isinstance(part, _JUMPS) for part in walk(item)):
                    return
        case c_ast.If() | c_ast.TernaryOp() | c_ast.Switch():
            yield from _certain(node.cond)
        case c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.Label() | c_ast.Case() | c_ast.Default():
            return
        case c_ast.BinaryOp(op="&&" | "||"):
            yield from _certain(node.left)
        case _:
            yield node
            for part in node:
                yield from _certain(part)
