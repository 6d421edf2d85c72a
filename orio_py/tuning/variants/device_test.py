"""Whether a region's kernels can run, asked before the region does: the user's loops run where they cannot.

    int orio_opencl_axpy_0_ready(long orio_count_x, long orio_count_y);
    if (orio_opencl_axpy_0_ready(n, n)) {
      … the calls of kernels …
    } else {
      … the original …
    }

The test takes memory for arrays as far as their numbers of elements are known before the region.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from orio_py.codegen.offload.ready import data_ready_prototype, kernel_ready_prototype, ready_prototype
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Compound, KernelCall, Node, c_ast
from orio_py.ctree.rewrite import declared_names, walk
from orio_py.kernel.call import (
    DataBoundary,
    KernelGroup,
    call_parameters,
    count_name,
    ready_function,
)
from orio_py.kernel.plan import KernelPlan
from orio_py.transformation.base import Context
from orio_py.tuning.files.host_functions import DeviceTest

_OPERATORS = frozenset({"+", "-", "*"})


def device_test(tree: Node, context: Context) -> DeviceTest | None:
    """The test before a region's code; None where it calls no kernels, or cannot stand beside the original.

    Names that it declares may be used behind it, labels stand in a function once, and static variables have one value.
    """
    calls = {emit_expression(node.name): node for node in walk(tree) if isinstance(node, KernelCall)}
    if not calls or not _may_be_doubled(tree):
        return None
    changed = context.effects(tree).scalar_writes | frozenset(declared_names(tree))
    known = _Known(changed, context)
    staying = {
        array.name
        for node in calls.values()
        if isinstance(node.plan, DataBoundary) and node.plan.kernel.data is not None
        if known.test(node, frozenset()) is not None
        for array in node.plan.kernel.data.arrays
    }
    tests = [found for node in calls.values() if (found := known.test(node, staying)) is not None]
    return DeviceTest(tuple(f"{p};" for p, _ in tests), tuple(condition for _, condition in tests))


def _may_be_doubled(tree: Node) -> bool:
    items = (tree.block_items or []) if isinstance(tree, Compound) else [tree]
    if any(isinstance(item, (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)) for item in items):
        return False
    return not any(
        isinstance(node, c_ast.Label) or (isinstance(node, c_ast.Decl) and "static" in node.storage)
        for node in walk(tree)
    )


class _Known:
    """What can be told before a region runs that changes some names."""

    def __init__(self, changed: Set[str], context: Context) -> None:
        self._changed = changed
        self._context = context

    def test(self, node: KernelCall, staying: Set[str]) -> tuple[str, str] | None:
        """Prototype and call of the function that asks for a call of kernels; None where nothing can be asked."""
        arguments = list(node.args.exprs) if isinstance(node.args, c_ast.ExprList) else []
        match node.plan:
            case DataBoundary(kernel=kernel, ends=ends):
                if ends or kernel.data is None or not all(map(self._is_known, arguments)):
                    return None
                return data_ready_prototype(kernel.name, kernel), _call(
                    node.plan.name, map(emit_expression, arguments)
                )
            case KernelGroup(name=name):
                return ready_prototype(name, []), _call(name, [])
            case KernelPlan() as plan:
                given = dict(zip((p.name for p in call_parameters(plan)), arguments, strict=True))
                counts = [
                    emit_expression(count) if buffer.name not in staying and self._is_known(count) else "0"
                    for buffer in plan.buffers
                    for count in [given[count_name(buffer.name)]]
                ]
                return kernel_ready_prototype(plan.name, plan), _call(plan.name, counts)
            case _:
                return None

    def _is_known(self, node: Node) -> bool:
        """Whether an expression has its value before, and may be evaluated where its code does not run."""
        match node:
            case c_ast.Constant():
                return True
            case c_ast.ID():
                return node.name not in self._changed
            case c_ast.UnaryOp(op="sizeof"):
                return all(n.name not in self._changed for n in walk(node) if isinstance(n, c_ast.ID))
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
                return self._is_element(element)
            case c_ast.UnaryOp(op="-" | "+", expr=inner) | c_ast.Cast(expr=inner):
                return self._is_known(inner)
            case c_ast.BinaryOp(op=op) if op in _OPERATORS:
                return self._is_known(node.left) and self._is_known(node.right)
            case _:
                return False

    def _is_element(self, element: c_ast.ArrayRef) -> bool:
        """Whether an element's address is known without a look at memory."""
        subscripts: list[Node] = []
        base: Node = element
        while isinstance(base, c_ast.ArrayRef):
            subscripts.append(base.subscript)
            base = base.name
        if not isinstance(base, c_ast.ID) or not all(map(self._is_known, [base, *subscripts])):
            return False
        declared = self._context.declarations.get(base.name)
        return len(subscripts) == 1 or (declared is not None and len(declared.dimensions) >= len(subscripts))


def _call(function: str, arguments: Iterator[str] | list[str]) -> str:
    return f"{ready_function(function)}({', '.join(arguments)})"
