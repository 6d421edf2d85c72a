"""Tests whether a pointer is null: the host makes them, and kernels are given what they tell.

    y[i] = b != NULL ? b[i] : 0.0;         becomes        y[i] = orio_has_b ? b[i] : 0.0;

An array that is tested has no elements where its pointer is null, so that nothing is copied.

Source: ISO/IEC 9899:1999, 6.3.2.3 (null pointers) and 6.5.9 (their comparison).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orio_py.ctree.build import binary, ident, literal_value, ternary, unary
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with
from orio_py.ctree.symbols import CDeclaration
from orio_py.kernel.plan import BufferPlan
from orio_py.transformation.base import Context
from orio_py.transformation.offload.structures import Flattened


@dataclass(frozen=True, slots=True)
class PointerTests:
    """Code in which scalars tell of pointers; `names` has the scalar of each pointer that is tested."""

    body: Node
    names: Mapping[str, str]

    @classmethod
    def of(cls, body: Node, context: Context) -> PointerTests:
        """The body of an iteration, with its tests replaced."""
        found = _Tests(context)
        return cls(found.rewrite(body), found.names)

    def known(self, plain: Flattened) -> Flattened:
        """What is known of the code, with the scalars: the region gives them their values."""
        if not self.names:
            return plain
        scalars = {name: CDeclaration(name, "int", text=f"int {name}") for name in self.names.values()}
        context = replace(plain.context, declarations={**plain.context.declarations, **scalars})
        values = {scalar: _is_there(pointer) for pointer, scalar in self.names.items()}
        return replace(plain, context=context, parts={**plain.parts, **values})

    def counted(self, buffer: BufferPlan) -> BufferPlan:
        """A buffer without elements where its pointer is null."""
        if buffer.name not in self.names:
            return buffer
        return replace(buffer, count=ternary(_is_there(buffer.name), buffer.count, 0))


def _is_there(pointer: str) -> Node:
    return binary("!=", ident(pointer), 0)


class _Tests(Rewriter):
    def __init__(self, context: Context) -> None:
        self.names: dict[str, str] = {}
        self._declarations = context.declarations

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> Node:
        if node.op in {"==", "!="}:
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if _is_null(other) and (scalar := self._scalar(one)) is not None:
                    return scalar if node.op == "!=" else unary("!", scalar)
        if node.op in {"&&", "||"}:
            return copy_with(node, left=self._truth(node.left), right=self._truth(node.right))
        return self.generic(node)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        return copy_with(node, expr=self._truth(node.expr)) if node.op == "!" else self.generic(node)

    def visit_If(self, node: c_ast.If) -> Node:
        return self.generic(copy_with(node, cond=self._truth(node.cond)))

    def visit_TernaryOp(self, node: c_ast.TernaryOp) -> Node:
        return self.generic(copy_with(node, cond=self._truth(node.cond)))

    def _truth(self, node: Node) -> Node:
        return self._scalar(node) or self.rewrite(node)

    def _scalar(self, node: Node) -> c_ast.ID | None:
        """The scalar for a pointer; None for anything else."""
        declared = self._declarations.get(node.name) if isinstance(node, c_ast.ID) else None
        if declared is None or declared.pointers + len(declared.dimensions) != 1:
            return None
        if declared.dimensions and not declared.is_parameter:
            return None  # It is there in any case.
        return ident(self.names.setdefault(declared.name, f"orio_has_{declared.name}"))


def _is_null(node: Node) -> bool:
    """Whether an expression is a null pointer constant."""
    match node:
        case c_ast.ID(name="NULL"):
            return True
        case c_ast.Cast(
            to_type=c_ast.Typename(
                type=c_ast.PtrDecl(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=["void"])))
            ),
            expr=inner,
        ):
            return literal_value(inner) == 0
        case _:
            return literal_value(node) == 0
