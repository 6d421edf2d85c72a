"""C statements → OpenCL C: types, literals, function calls, and names that are words of the language."""

from __future__ import annotations

from orio_py.codegen.device_names import device_name
from orio_py.codegen.opencl.types import Types, type_of
from orio_py.ctree.build import binary, call, ternary
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, rename
from orio_py.transform.offload.functions import choice, device_function
from orio_py.transform.offload.types import device_type


def device_statement(node: Node, types: Types) -> Node:
    """A statement of a kernel's body in OpenCL C; `types` are those of all names in it."""
    result = translated(node, types)
    mapping = {name: device_name(name) for name in types if device_name(name) != name}
    return rename(result, mapping) if mapping else result


def translated(node: Node, types: Types) -> Node:
    """The same, with the names as they are."""
    return _Translation(types).rewrite(node)


class _Translation(Rewriter):
    def __init__(self, types: Types) -> None:
        self._types = types

    def visit_IdentifierType(self, node: c_ast.IdentifierType) -> Node:
        text = " ".join(node.names)
        found = device_type(text)
        return node if found is None or found == text else copy_with(node, names=[found])

    def visit_Decl(self, node: c_ast.Decl) -> Node:
        return copy_with(self.generic(node), storage=[])

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        member = node.field
        name = device_name(member.name) if isinstance(member, c_ast.ID) else ""
        return copy_with(node, name=self.rewrite(node.name), field=c_ast.ID(name))

    def visit_Constant(self, node: c_ast.Constant) -> Node:
        # OpenCL C has no `long long`; its `long` is as wide.
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
            argument if type_of(original, self._types) == kind else _cast(argument, kind)
            for argument, original, kind in zip(arguments, originals, wanted, strict=True)
        ]
        result = call(function.name, *given)
        # `abs` is unsigned in OpenCL C (1.2, table 6.10).
        return _cast(result, function.result) if function.name == "abs" else result

    def _floating(self, node: Node) -> str:
        kind = type_of(node, self._types)
        return kind if kind in {"float", "double"} else "double"


def _cast(node: Node, kind: str) -> Node:
    words = c_ast.IdentifierType([kind])
    return c_ast.Cast(c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, words)), node)
