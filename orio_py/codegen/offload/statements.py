"""C statements → device trees: types, literals, arguments of functions, and names that are words of a language."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.atomics import with_updates
from orio_py.codegen.offload.device_tree import DeviceFeatures
from orio_py.codegen.offload.types import Types, type_of
from orio_py.ctree.build import binary, call, cast_to, ternary
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, rename
from orio_py.kernel.functions import choice, device_function
from orio_py.kernel.plan import KernelPlan
from orio_py.kernel.types import device_type


@dataclass(frozen=True, slots=True)
class Kernel:
    """A plan that is being lowered; `types` are those of all names in the kernel."""

    plan: KernelPlan
    types: Types
    features: DeviceFeatures


def device_kind(text: str) -> str:
    """The name of a C type on devices."""
    kind = device_type(text)
    assert kind is not None, f"no device type for {text}"
    return kind


def device_statement(node: Node, kernel: Kernel) -> Node:
    """A statement or an expression of a kernel's body."""
    result = lowered(with_updates(node, kernel.plan, kernel.types), kernel.types)
    mapping = {name: device_name(name) for name in kernel.types if device_name(name) != name}
    return rename(result, mapping) if mapping else result


def lowered(node: Node, types: Types) -> Node:
    """The same, with the names as they are."""
    return _Lowering(types).rewrite(node)


class _Lowering(Rewriter):
    def __init__(self, types: Types) -> None:
        self._types = types

    def visit_IdentifierType(self, node: c_ast.IdentifierType) -> Node:
        text = " ".join(node.names)
        name = device_type(text)
        return node if name is None or name == text else copy_with(node, names=[name])

    def visit_Decl(self, node: c_ast.Decl) -> Node:
        return copy_with(self.generic(node), storage=[])

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        member = node.field
        name = device_name(member.name) if isinstance(member, c_ast.ID) else ""
        return copy_with(node, name=self.rewrite(node.name), field=c_ast.ID(name))

    def visit_Constant(self, node: c_ast.Constant) -> Node:
        # Devices' `long` is as wide as `long long`, which OpenCL C lacks.
        text = node.value.replace("ll", "l").replace("LL", "L") if "int" in node.type else node.value
        return node if text == node.value else copy_with(node, value=text)

    def visit_TernaryOp(self, node: c_ast.TernaryOp) -> Node:
        new = self.generic(node)
        # OpenCL C has no floating-point condition there (The OpenCL Specification 1.2, 6.3.i).
        is_floating = type_of(node.cond, self._types) in {"float", "double"}
        return copy_with(new, cond=binary("!=", new.cond, 0)) if is_floating else new

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
            argument if type_of(original, self._types) == kind else cast_to(kind, argument)
            for argument, original, kind in zip(arguments, originals, wanted, strict=True)
        ]
        return call(node.name.name, *given)

    def _floating(self, node: Node) -> str:
        kind = type_of(node, self._types)
        return kind if kind in {"float", "double"} else "double"
