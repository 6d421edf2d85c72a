"""CUDA host code: one source that an application compiles with nvcc, for the kernels of one tuned file.

A tuned region holds a prototype and a call of each host function:

    void orio_cuda_axpy_0(double *y, const double *x, long orio_count_y, long orio_count_x, double a,
                          long orio_trips_i);
    orio_cuda_axpy_0(&y[0], &x[0], n, n, a, n);

The functions stand in `STEM_cuda.cu` with their kernels, with `STEM_cuda.h` for applications that set the error
handler, release what is kept, or call kernels for arrays that are on the device already.

Source: CUDA Runtime API, modules 3.1 to 3.11; CUDA C++ Best Practices Guide, chapter 10 (memory).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from orio_py.codegen.cuda.device import cuda_program
from orio_py.codegen.cuda.dialect import CUDA
from orio_py.codegen.cuda.groups import group_view
from orio_py.codegen.device import ArgumentKind, host_parameters, kernel_arguments
from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.codegen.languages import Renderer
from orio_py.codegen.offload.declarations import cpp_name, for_cpp, wrapped
from orio_py.codegen.offload.host import (
    HostLanguage,
    combined,
    data_count,
    data_views,
    host_body,
    host_mark,
    host_parameter_texts,
    host_prefix_of,
    is_partial_of,
    same_size,
)
from orio_py.codegen.offload.on_device import (
    argument_table,
    on_device_view,
    sequence_views,
    started,
    started_kernels,
    whole_header,
)
from orio_py.codegen.offload.ready import ready_views
from orio_py.codegen.program import Program
from orio_py.codegen.templates import render
from orio_py.kernel.backends.cuda import BACKEND
from orio_py.kernel.call import group_parameters, trips_name
from orio_py.kernel.plan import KernelPlan, LaunchShape, Role


def one_run(count: int) -> list[str]:
    """Copies, one launch, and copies back."""
    call = f"orio_run(orio_kernel, orio_arguments, {count}, &orio_launch, orio_failure)"
    return [f"if ({call})", "  return 1;"]


_HOST = HostLanguage(
    BACKEND,
    BACKEND.title,
    CUDA.type_name,
    one_run,
    "block",
    "thread",
    "cudaErrorInvalidValue",
    "orio_stream",
)


def host_header(unit: HostUnit) -> Program:
    """The text of `STEM.h`: what C and C++ applications can call."""
    return whole_header(unit, _HOST)


def host_source(unit: HostUnit) -> Program:
    """The text of `STEM.cu`.  Raises ValueError for a unit without kernels."""
    return runtime_source(unit, _HOST, cuda_program)


def runtime_source(
    unit: HostUnit, host: HostLanguage, program: Callable[[Sequence[KernelPlan]], str]
) -> Program:
    """The host code over CUDA's runtime, with kernels that `program` writes.  Raises ValueError as `host_source`."""
    if not unit.kernels:
        raise ValueError("host code needs at least one kernel")
    plans = [kernel.plan for kernel in unit.kernels]
    arguments = [kernel_arguments(plan) for plan in plans]
    launches = [plan.launch for plan in plans]
    text = render(
        "cuda/host.cu.j2",
        mark=host_mark(unit, host),
        header=f"{unit.stem}.h",
        prefix=host_prefix_of(unit, host),
        device=program([replace(k.plan, name=_symbol(k)) for k in unit.kernels]),
        streams=max(plan.options.streams for plan in plans),
        arguments=max(map(len, [*arguments, *(group_parameters(group).parameters for group in unit.groups)])),
        kernels=[_view(index, kernel, host) for index, kernel in enumerate(unit.kernels)],
        groups=[group_view(unit, number, host) for number in range(len(unit.groups))],
        transposes=any(argument.rows for group in arguments for argument in group),
        divides=any(launch.covers for launch in launches),
        limits_groups=any(map(_limits_groups, launches)),
        has_buffers=any(argument.kind is ArgumentKind.BUFFER for group in arguments for argument in group),
        is_cut=any(plan.options.streams > 1 for plan in plans),
        is_whole=any(plan.options.streams == 1 for plan in plans),
        runs_alone=any(k.group is None and k.plan.options.streams == 1 for k in unit.kernels),
        sequences=sequence_views(unit, host),
        started_alone=sorted(started_kernels(unit, host)),
        success="cudaSuccess",
        invalid="cudaErrorInvalidValue",
        residents=data_views(unit),
        tests=ready_views(unit),
        resident_count=data_count(unit),
        enters=True,
        long_type="long",
    )
    return Program(text)


def _limits_groups(launch: LaunchShape) -> bool:
    """Whether the host keeps the number of blocks along some slow axis within the grid's limits."""
    if launch.bindings:
        return any(p.role is Role.GROUPS and p.dimension > 0 for p in launch.bindings)
    return launch.grid_size is None and launch.most_groups is not None and len(launch.block_size) > 1


def _symbol(kernel: HostKernel) -> str:
    """The kernel's own name, which no two kernels of a file share."""
    return f"{kernel.function}_kernel"


def _view(index: int, kernel: HostKernel, host: HostLanguage) -> dict[str, object]:
    """What the template needs of one kernel; all texts are C++."""
    plan, cuda = kernel.plan, kernel.plan.options.cuda
    run = f"orio_run_{index}"
    names = [cpp_name(name) for _, name in host_parameters(plan)]
    parameters = ["struct orio_failure *orio_failure", *_parameters(plan)]
    configure = f"orio_configure_{index}" if cuda.carveout is not None else "NULL"
    return {
        "index": index,
        "function": kernel.function,
        "is_alone": kernel.group is None,
        "symbol": _symbol(kernel),
        "start": f"orio_start_{index}",
        "configure": configure,
        "look": f"orio_look_{index}",
        "carveout": cuda.carveout,
        "declaration": wrapped(f"void {kernel.function}(", _parameters(plan), ")"),
        "entry": f"{{orio_start_{index}, {configure}, orio_look_{index}, {int(cuda.pins)}, 0, {{{{NULL, 0, NULL, 0}}}}}}",
        "run_header": wrapped(f"static int {run}(", parameters, ")"),
        "run_test": wrapped(f"      {run}(", ["&orio_failure", *names], "))"),
        "empty": " || ".join(f"{trips_name(axis)} <= 0" for axis in plan.axes),
        "body": _for_cpp(host_body(index, plan, host), plan),
        "on_device": on_device_view(index, kernel, host, _on_device_body(index, plan, host))
        if plan.options.on_device
        else None,
    }


def _on_device_body(index: int, plan: KernelPlan, host: HostLanguage) -> list[str]:
    """The statements of one launch for arrays on the device, from the arguments to the combined reductions."""
    arguments = kernel_arguments(plan)
    whole = replace(plan, options=replace(plan.options, streams=1))
    lines = [
        *started(index, plan, host, whole),
        *(line for a in arguments if a.structure_bytes for line in same_size(a, host)),
    ]
    if plan.reductions:
        product = " * ".join(f"orio_launch.groups[{k}]" for k in range(len(plan.axes)))
        lines += [f"const size_t orio_total = {product};"]
    lines += [
        *argument_table(plan),
        *(f"const {r.type} *orio_partials_{r.name};" for r in plan.reductions),
        *(["size_t orio_group;"] if plan.reductions else []),
        f"if (orio_run_on_device(orio_kernel, orio_arguments, {len(arguments)}, &orio_launch,",
        "                       (cudaStream_t)orio_stream, orio_failure))",
        "  return 1;",
    ]
    results = [name for _, name in host_parameters(plan)[-len(plan.reductions) :]]
    for reduction, result in zip(plan.reductions, results, strict=False):
        slot = next(k for k, a in enumerate(arguments) if is_partial_of(a, reduction))
        lines += combined(slot, reduction, result)
    return [*lines, "return 0;"]


def _parameters(plan: KernelPlan) -> list[str]:
    """The host function's parameters; the words of C++ among their names get an underscore."""
    return _for_cpp(host_parameter_texts(plan), plan)


def _for_cpp(lines: Sequence[str], plan: KernelPlan) -> list[str]:
    return for_cpp(lines, [name for _, name in host_parameters(plan)])


RENDERER = Renderer(cuda_program, host_source, host_header)
"""What writes the texts of this language."""
