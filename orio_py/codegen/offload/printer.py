"""Device trees → text in a dialect: what C has no words for becomes what C's printer can write.

WorkItem(GLOBAL_ID, 0, 64)     get_global_id(0)     or     (long)blockIdx.x * 64 + threadIdx.x
"""

from __future__ import annotations

import re

from orio_py.codegen.offload.device_tree import (
    AtomicUpdate,
    DeviceKernel,
    GroupArray,
    GroupBarrier,
    Query,
    Shuffle,
    VectorOperation,
    WorkItem,
)
from orio_py.codegen.offload.dialect import Dialect
from orio_py.ctree.build import call, cast_to, declare
from orio_py.ctree.emit import emit
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, used_names
from orio_py.kernel.functions import device_function
from orio_py.kernel.types import TYPES

_VECTOR_TYPE = re.compile(r"([a-z]+?)(2|4|8|16)")
_COUNTED = frozenset({Query.GLOBAL_ID, Query.GLOBAL_SIZE})


def kernel_text(kernel: DeviceKernel, dialect: Dialect) -> str:
    """The definition of a kernel."""
    body = _Spelling(dialect, kernel.names).rewrite(kernel.body)
    return f"{dialect.head(kernel.plan, used_names([body]))}\n{emit(body, braces=True)}"


class _Spelling(Rewriter):
    def __init__(self, dialect: Dialect, names: frozenset[str]) -> None:
        self._dialect = dialect
        self._names = names

    def visit_WorkItem(self, node: WorkItem) -> Node:
        return self._dialect.work_item(node)

    def visit_GroupBarrier(self, node: GroupBarrier) -> Node:
        return self._dialect.barrier(is_global=node.is_global)

    def visit_GroupArray(self, node: GroupArray) -> Node:
        new = declare(self._dialect.type_name(node.type), node.name, dimensions=[node.elements])
        words = [self._dialect.group_memory, *([self._dialect.alignment] if node.is_aligned else [])]
        return copy_with(new, storage=words)

    def visit_Shuffle(self, node: Shuffle) -> Node:
        return self._dialect.shuffle(self.rewrite(node.value), self.rewrite(node.distance), back=node.back)

    def visit_AtomicUpdate(self, node: AtomicUpdate) -> Node:
        return self._dialect.atomic(self.generic(node))

    def visit_VectorOperation(self, node: VectorOperation) -> Node:
        return self._dialect.vector(self.generic(node))

    def visit_ID(self, node: c_ast.ID) -> Node:
        text = node.name if node.name in self._names else self._dialect.constant(node.name)
        return node if text == node.name else c_ast.ID(text)

    def visit_IdentifierType(self, node: c_ast.IdentifierType) -> Node:
        name = self._type_name(node.names[0]) if len(node.names) == 1 else None
        return node if name is None or [name] == node.names else copy_with(node, names=[name])

    def _type_name(self, kind: str) -> str | None:
        vector = _VECTOR_TYPE.fullmatch(kind)
        if vector is not None and vector[1] in TYPES:
            return self._dialect.vector_type(vector[1], int(vector[2]))
        return self._dialect.type_name(kind) if kind in TYPES else None

    def visit_Cast(self, node: c_ast.Cast) -> Node:
        inner = node.expr
        counted = isinstance(inner, WorkItem) and inner.query in _COUNTED
        if counted and self._dialect.ids_are_long and emit_type(node.to_type) == "long":
            return self.rewrite(inner)
        return self.generic(node)

    def visit_Decl(self, node: c_ast.Decl) -> Node:
        new = self.generic(node)
        if self._dialect.narrows_in_braces or not isinstance(new.init, c_ast.InitList):
            return new
        kind = new.type
        while isinstance(kind, c_ast.ArrayDecl):
            kind = kind.type
        element = copy_with(kind, quals=[]) if isinstance(kind, c_ast.TypeDecl) else kind
        return copy_with(new, init=_cast_in_braces(new.init, emit_type(copy_with(element, declname=None))))

    def visit_FuncCall(self, node: c_ast.FuncCall) -> Node:
        new, name = self.generic(node), node.name
        if not isinstance(name, c_ast.ID) or not isinstance(new.args, c_ast.ExprList):
            return new
        function = device_function(name.name)
        if function is None:
            return new
        result = call(self._dialect.function(name.name, function), *new.args.exprs)
        if function.name == "abs" and self._dialect.absolute_is_unsigned:
            return cast_to(self._dialect.type_name(function.result), result)
        return result


def _cast_in_braces(node: c_ast.InitList, kind: str) -> Node:
    items = [
        _cast_in_braces(item, kind) if isinstance(item, c_ast.InitList) else cast_to(kind, item)
        for item in node.exprs
    ]
    return copy_with(node, exprs=items)
