"""Functions for arrays that are on the device: one for each kernel, and one for all kernels of a region.

    void orio_cuda_f_0_on_device(const double *a, const double *b, double *t, long orio_trips_i, void *orio_stream);
    void orio_cuda_f_all_on_device(double *v, const double *a, const double *b, double *t, void *orio_stream);

They copy nothing and wait for nothing but results of the host's.  Memory is a pointer of the device's, or, in OpenCL, a
`cl_mem`, which headers that do without OpenCL's own call `void *`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orio_py.codegen.device import ArgumentKind, KernelArgument, host_parameters, kernel_arguments
from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.codegen.offload.declarations import cpp_name, for_cpp, parameter_texts, wrapped
from orio_py.codegen.offload.host import VALUES, HostLanguage, header_text, launch_text, value, variable
from orio_py.codegen.offload.slices import is_of_slice
from orio_py.codegen.program import Program
from orio_py.ctree.emit_expression import emit_expression
from orio_py.kernel.call import call_parameters, from_name, slice_names
from orio_py.kernel.plan import Direction, KernelPlan


def whole_header(unit: HostUnit, host: HostLanguage) -> Program:
    """The text of `STEM.h` with these functions, too."""

    def own(kernel: HostKernel) -> list[str]:
        is_there = kernel.plan.options.on_device
        return [on_device_prototype(kernel, host, for_cpp=True)] if is_there else []

    return header_text(unit, host, own, sequence_views(unit, host))


def device_parameters(plan: KernelPlan, host: HostLanguage) -> list[tuple[str, str]]:
    """The types and names of the host function's parameters less those that only copies need, and the queue."""
    left_out, arrays = _of_copies(plan), {buffer.name for buffer in plan.buffers}
    given = [
        (host.handle if host.handle and name in arrays else kind, name)
        for kind, name in host_parameters(plan)
        if name not in left_out
    ]
    return [*given, ("void *", host.queue)]


def on_device_prototype(kernel: HostKernel, host: HostLanguage, *, for_cpp: bool = False) -> str:
    """The declaration of a kernel's function."""
    texts = parameter_texts(device_parameters(kernel.plan, host), for_cpp=for_cpp)
    return wrapped(f"void {kernel.function}_on_device(", texts, ")")


def on_device_view(
    index: int, kernel: HostKernel, host: HostLanguage, body: Sequence[str]
) -> dict[str, object]:
    """What a template needs of a kernel's function, whose `body` starts the kernel; all texts are C++."""
    plan = kernel.plan
    run = f"orio_run_on_device_{index}"
    given = device_parameters(plan, host)
    names = [name for _, name in given]
    header = wrapped(
        f"static int {run}(", ["struct orio_failure *orio_failure", *parameter_texts(given)], ")"
    )
    return {
        "function": f"{kernel.function}_on_device",
        "declaration": "\n".join(for_cpp(on_device_prototype(kernel, host).split("\n"), names)),
        "run_header": "\n".join(for_cpp(header.split("\n"), names)),
        "call": wrapped(f"{run}(", ["&orio_failure", *map(cpp_name, names)], ")"),
        "body": for_cpp(body, names),
    }


def started(
    index: int, plan: KernelPlan, host: HostLanguage, launched: KernelPlan | None = None
) -> list[str]:
    """The statements before a launch: values, the kernel, its shape and the table of its arguments."""
    return [
        *(value(a, host) for a in kernel_arguments(plan) if a.kind in VALUES),
        *(["const long orio_begin = 0;"] if plan.options.streams > 1 else []),
        f"struct orio_kernel *orio_kernel = &orio_kernels[{index}];",
        launch_text(launched or plan),
    ]


def argument_table(plan: KernelPlan) -> list[str]:
    """The table of a launch's arguments."""
    return [
        "const struct orio_argument orio_arguments[] = {",
        *(f"  {_given(argument, plan)}," for argument in kernel_arguments(plan)),
        "};",
    ]


def _given(argument: KernelArgument, plan: KernelPlan) -> str:
    """The initialiser of one argument of a launch on the device."""
    if argument.kind is ArgumentKind.PARTIALS:
        return f"{{ORIO_PARTIALS, NULL, NULL, orio_total * sizeof({argument.type})}}"
    if argument.kind is ArgumentKind.BUFFER:
        name = argument.host
    elif is_of_slice(argument, plan) and argument.name in (from_name(plan.axes[0]), "orio_first_group"):
        name = "orio_begin"
    else:
        name = variable(argument)
    return f"{{ORIO_VALUE, &{name}, NULL, sizeof {name}}}"


def sequence_views(unit: HostUnit, host: HostLanguage) -> list[dict[str, object]]:
    """What templates need of the functions for all kernels of regions; all texts are C++."""
    return [
        {
            "title": f"Kernels {', '.join(k.function for _, k in members)}, one after the other",
            "function": name,
            "declaration": wrapped(f"void {name}(", parameter_texts(given, for_cpp=True), ")"),
            "definition": "\n".join(
                for_cpp(
                    wrapped(f"void {name}(", parameter_texts(given), ")").split("\n"), [n for _, n in given]
                )
            ),
            "calls": [_call(index, kernel.plan, host) for index, kernel in members],
        }
        for name, members, given in _sequences(unit, host)
    ]


def started_kernels(unit: HostUnit, host: HostLanguage) -> frozenset[int]:
    """The numbers of the kernels that some function starts for arrays on the device.

    Kernels that share arrays have no functions of their own.
    """
    alone = {n for n, k in enumerate(unit.kernels) if k.plan.options.on_device and k.group is None}
    return frozenset(alone | {index for _, members, _ in _sequences(unit, host) for index, _ in members})


def _sequences(
    unit: HostUnit, host: HostLanguage
) -> Iterator[tuple[str, list[tuple[int, HostKernel]], list[tuple[str, str]]]]:
    """The functions' names, their kernels with their numbers, and the parameters.

    Regions whose kernels have names that other variants took before have none.
    """
    functions = {kernel.function: (index, kernel) for index, kernel in enumerate(unit.kernels)}
    for kernel in unit.kernels:
        sequence = kernel.plan.sequence
        if sequence is None or kernel.function != kernel.plan.name:
            continue
        members = [functions[name] for name in sequence.kernels if name in functions]
        if len(members) < len(sequence.kernels) or any(k.plan.name != k.function for _, k in members):
            continue
        buffers = [buffer for _, member in members for buffer in member.plan.buffers]
        types = {buffer.name: buffer.type for buffer in buffers}
        written = {buffer.name for buffer in buffers if buffer.direction is not Direction.IN}
        given = [
            (host.handle or f"{'' if array in written else 'const '}{types[array]} *", array)
            for array in sequence.arrays
        ]
        name = f"{kernel.function.removesuffix('_0')}_all_on_device"
        yield name, members, [*given, ("void *", host.queue)]


def _call(index: int, plan: KernelPlan, host: HostLanguage) -> str:
    """The call of one kernel's run: its arrays by their names, all else is literal."""
    left_out, arrays = _of_copies(plan), {buffer.name for buffer in plan.buffers}
    words = [
        cpp_name(p.name) if p.name in arrays else emit_expression(p.argument)
        for p in call_parameters(plan)
        if p.name not in left_out
    ]
    return f"orio_run_on_device_{index}({', '.join(['&orio_failure', *words, host.queue])})"


def _of_copies(plan: KernelPlan) -> frozenset[str]:
    """The parameters that tell of buffers what only copies need: elements, and what slices touch."""
    counts = {f"orio_count_{buffer.name}" for buffer in plan.buffers}
    return frozenset(counts | {name for buffer in plan.buffers for name in slice_names(buffer.name)})
