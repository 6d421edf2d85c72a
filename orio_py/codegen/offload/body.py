"""C statements → a device language: types, literals, function calls, and names that are words of the language."""

from __future__ import annotations

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.dialect import Dialect, Kernel
from orio_py.codegen.offload.types import Types, type_of
from orio_py.ctree.build import binary, call, ternary
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, rename
from orio_py.kernel.functions import choice, device_function
from orio_py.kernel.types import device_type


def device_statement(node: Node, kernel: Kernel) -> Node:
    """A statement of a kernel's body in the kernel's language."""
    result = translated(node, kernel.types, kernel.dialect)
    mapping = {name: device_name(name) for name in kernel.types if device_name(name) != name}
    return rename(result, mapping) if mapping else result


def translated(node: Node, types: Types, dialect: Dialect) -> Node:
    """The same, with the names as they are."""
    return _Translation(types, dialect).rewrite(node)


class _Translation(Rewriter):
    def __init__(self, types: Types, dialect: Dialect) -> None:
        self._types = types
        self._dialect = dialect

    def visit_ID(self, node: c_ast.ID) -> Node:
        if node.name in self._types:
            return node
        text = self._dialect.constant(node.name)
        return node if text == node.name else c_ast.ID(text)

    def visit_IdentifierType(self, node: c_ast.IdentifierType) -> Node:
        text = " ".join(node.names)
        found = device_type(text)
        name = None if found is None else self._dialect.type_name(found)
        return node if name is None or name == text else copy_with(node, names=[name])

    def visit_Decl(self, node: c_ast.Decl) -> Node:
        new = copy_with(self.generic(node), storage=[])
        narrows = self._dialect.narrows_in_braces or node.name is None
        if narrows or not isinstance(new.init, c_ast.InitList):
            return new
        return copy_with(
            new, init=_cast_in_braces(new.init, self._dialect.type_name(self._types[node.name or ""]))
        )

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        member = node.field
        name = device_name(member.name) if isinstance(member, c_ast.ID) else ""
        return copy_with(node, name=self.rewrite(node.name), field=c_ast.ID(name))

    def visit_Constant(self, node: c_ast.Constant) -> Node:
        # Devices' `long` is as wide as `long long`, which OpenCL C lacks.
        text = node.value.replace("ll", "l").replace("LL", "L") if "int" in node.type else node.value
        return node if text == node.value else copy_with(node, value=text)

    def visit_FuncCall(self, node: c_ast.FuncCall) -> Node:
        new = self.generic(node)
        if not isinstance(node.name, c_ast.ID) or not isinstance(new.args, c_ast.ExprList):
            return new
        arguments = new.args.exprs
        originals = node.args.exprs if isinstance(node.args, c_ast.ExprList) else arguments
        function = device_function(node.name.name)
        if function is None:
            operator = choice(node.name.name)
            if operator is None:
                return new
            return ternary(binary(operator, arguments[0], arguments[1]), arguments[0], arguments[1])
        wanted = [p or self._floating(o) for p, o in zip(function.parameters, originals, strict=True)]
        given = [
            argument
            if type_of(original, self._types) == kind
            else cast_to(argument, self._dialect.type_name(kind))
            for argument, original, kind in zip(arguments, originals, wanted, strict=True)
        ]
        result = call(self._dialect.function(node.name.name, function), *given)
        if function.name == "abs" and self._dialect.absolute_is_unsigned:
            return cast_to(result, self._dialect.type_name(function.result))
        return result

    def _floating(self, node: Node) -> str:
        kind = type_of(node, self._types)
        return kind if kind in {"float", "double"} else "double"


def _cast_in_braces(node: c_ast.InitList, kind: str) -> Node:
    items = [
        _cast_in_braces(item, kind) if isinstance(item, c_ast.InitList) else cast_to(item, kind)
        for item in node.exprs
    ]
    return copy_with(node, exprs=items)


def cast_to(node: Node, kind: str) -> Node:
    """A cast to a type that is one name."""
    words = c_ast.IdentifierType([kind])
    return c_ast.Cast(c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, words)), node)
