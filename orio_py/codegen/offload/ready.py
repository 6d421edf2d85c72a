"""The functions that say, before a region runs, whether its kernels can: the C loops run where they cannot.

    int orio_opencl_axpy_0_ready(long orio_count_x, long orio_count_y);

They find the device, build the kernel and take memory for the arrays whose numbers of elements are given; a number of 0
stands for one that is not known yet.  `templates/offload/ready.c.j2` says what happens where that fails.
"""

from __future__ import annotations

from orio_py.codegen.device import ArgumentKind, kernel_arguments
from orio_py.codegen.host_unit import HostUnit
from orio_py.codegen.offload.declarations import parameter_texts, wrapped
from orio_py.kernel.call import count_name, data_function, data_parameters, ready_function
from orio_py.kernel.plan import Direction, KernelPlan


def ready_views(unit: HostUnit) -> list[dict[str, object]]:
    """What a template needs of the functions for kernels; all texts are C."""
    alone: list[dict[str, object]] = [
        {
            "header": kernel_ready_prototype(kernel.function, kernel.plan),
            "function": kernel.function,
            "kernel": index,
            "arguments": _arguments(kernel.plan),
        }
        for index, kernel in enumerate(unit.kernels)
        if kernel.group is None
    ]
    together: list[dict[str, object]] = [
        {
            "header": ready_prototype(group.name, []),
            "function": group.name,
            "kernel": next(k for k, one in enumerate(unit.kernels) if one.group == group.name),
            "arguments": [],
        }
        for group in unit.groups
    ]
    return [*alone, *together]


def ready_declarations(unit: HostUnit) -> list[str]:
    """Declarations of all of them, with those for arrays that stay, without semicolons."""
    held = [
        data_ready_prototype(kernel.function, kernel.plan)
        for kernel in unit.kernels
        if kernel.plan.data is not None
    ]
    return [str(view["header"]) for view in ready_views(unit)] + held


def kernel_ready_prototype(function: str, plan: KernelPlan) -> str:
    """The declaration of the function for a kernel, without a semicolon."""
    return ready_prototype(function, [count_name(buffer.name) for buffer in plan.buffers])


def ready_prototype(function: str, counts: list[str]) -> str:
    """The declaration of the function for a kernel with these numbers of elements, or for a group of kernels, with none."""
    return wrapped(f"int {ready_function(function)}(", [f"long {name}" for name in counts] or ["void"], ")")


def data_ready_prototype(function: str, plan: KernelPlan) -> str:
    """The declaration of the function for the arrays that stay around a kernel."""
    assert plan.data is not None
    given = [(p.type.replace("const ", ""), p.name) for p in data_parameters(plan.data)]
    texts = parameter_texts([(f"const {kind}" if kind == "void *" else kind, name) for kind, name in given])
    return wrapped(f"int {ready_function(data_function(function, ends=False))}(", texts, ")")


def _arguments(plan: KernelPlan) -> list[str]:
    """The table of arguments as far as memory is needed for them.

    What is written has some place that it goes to.
    """
    found: list[str] = []
    for argument in kernel_arguments(plan):
        if argument.kind is not ArgumentKind.BUFFER:
            found.append("{ORIO_VALUE, NULL, NULL, 0}")
            continue
        out = "NULL" if argument.direction is Direction.IN else "&orio_is_missing"
        size = f"orio_bytes({count_name(argument.of)}, {argument.element_bytes})"
        found.append(f"{{ORIO_BUFFER, NULL, {out}, {size}}}")
    return found
