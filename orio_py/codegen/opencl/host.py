"""OpenCL host code: plain C that an application keeps, for the kernels of one tuned file.

A tuned region holds a prototype and a call of each host function:

    void orio_opencl_axpy_0(double *y, const double *x, long orio_count_y, long orio_count_x, double a,
                            long orio_trips_i);
    orio_opencl_axpy_0(&y[0], &x[0], n, n, a, n);

The functions stand in `STEM_opencl.c`, with `STEM_opencl.h` for applications that set the error handler or
release what is kept.  Everything is C99 and OpenCL 1.2.

Source: The OpenCL Specification 1.2, sections 4 and 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from orio_py.codegen.device import (
    ArgumentKind,
    KernelArgument,
    host_parameters,
    kernel_arguments,
)
from orio_py.codegen.host_unit import PREFIX, HostKernel, HostUnit
from orio_py.codegen.opencl.slices import is_of_slice, reaches, run_slices, slice_argument, slices
from orio_py.codegen.program import Program
from orio_py.codegen.string_literals import escape, string_pieces
from orio_py.codegen.templates import render
from orio_py.spec.generated import COMPANION_MARK
from orio_py.transform.offload.call import size_name, trips_name
from orio_py.transform.offload.plan import Direction, KernelPlan, ReductionPlan

T = TypeVar("T")

WIDTH = 110
"""Characters in a line of generated code, where it can be broken."""


def host_header(unit: HostUnit) -> Program:
    """The text of `STEM.h`: what C and C++ applications can call."""
    kernels = [
        {
            "title": _comment(f"Kernel {k.plan.name}: {_shape(k.plan)}"),
            "declaration": prototype(k.plan, k.function, for_cpp=True),
        }
        for k in unit.kernels
    ]
    guard = re.sub(r"\W", "_", f"ORIO_{unit.stem}_H", flags=re.ASCII).upper()
    words = {word for k in unit.kernels for kind, _ in host_parameters(k.plan) for word in kind.split()}
    includes = sorted({header for word in words if (header := _header_of(word)) is not None})
    text = render(
        "opencl/host.h.j2",
        mark=_mark(unit),
        guard=guard,
        prefix=_prefix(unit),
        includes=includes,
        kernels=kernels,
    )
    return Program(text)


def host_source(unit: HostUnit) -> Program:
    """The text of `STEM.c`.  Raises ValueError for a unit without kernels."""
    if not unit.kernels:
        raise ValueError("host code needs at least one kernel")
    kernels = unit.kernels
    doubles = {_choice(k.plan) for k in kernels if _needs_double(k)}
    devices = _numbered(_choice(k.plan) for k in kernels)
    sources = _numbered(k.source for k in kernels)
    built = _numbered(_build(k) for k in kernels)
    texts = [string_pieces(source) for source in sources]
    arguments = [kernel_arguments(k.plan) for k in kernels]
    programs = [
        f'{{orio_source_{sources[source]}, {len(texts[sources[source]])}, "{escape(flags)}", '
        f"&orio_devices[{devices[choice]}], NULL}}"
        for source, flags, choice in built
    ]
    text = render(
        "opencl/host.c.j2",
        mark=_mark(unit),
        header=f"{unit.stem}.h",
        prefix=_prefix(unit),
        devices=[
            f'{{"{escape(p)}", "{escape(d)}", {int((p, d) in doubles)}, NULL, NULL, {{NULL}}}}'
            for p, d in devices
        ],
        sources=[{"name": f"orio_source_{k}", "pieces": _lines(pieces)} for k, pieces in enumerate(texts)],
        programs=programs,
        queues=max(k.plan.options.streams for k in kernels),
        arguments=max(len(group) for group in arguments),
        checks=_checks([argument for group in arguments for argument in group]),
        kernels=[_view(index, kernel, built[_build(kernel)]) for index, kernel in enumerate(kernels)],
        transposes=any(argument.rows for group in arguments for argument in group),
        driver_groups=any(k.plan.launch.free for k in kernels),
        divides=any(k.plan.launch.groups is None for k in kernels),
        is_cut=any(k.plan.options.streams > 1 for k in kernels),
        is_whole=any(k.plan.options.streams == 1 for k in kernels),
        statuses=STATUSES,
    )
    return Program(text)


def prototype(plan: KernelPlan, function: str, *, for_cpp: bool = False) -> str:
    """The declaration of a host function without its semicolon, in lines of at most 110 characters.

    Parameters that C++ could not name are left without names with `for_cpp`.
    """
    return _wrapped(f"void {function}(", _parameters(plan, for_cpp=for_cpp), ")")


def _parameters(plan: KernelPlan, *, for_cpp: bool = False) -> list[str]:
    given = [
        (kind, "" if for_cpp and name in _CPP_ONLY_WORDS else name) for kind, name in host_parameters(plan)
    ]
    return [f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}".rstrip() for kind, name in given]


def _wrapped(head: str, items: Sequence[str], tail: str) -> str:
    """`head`, the items separated by commas, and `tail`; lines that are too long go on below the head."""
    lines = [head]
    margin = " " * len(head)
    for number, item in enumerate(items):
        text = item + (", " if number + 1 < len(items) else tail)
        if len(lines[-1]) + len(text.rstrip()) > WIDTH and lines[-1].strip() and lines[-1] != head:
            lines.append(margin)
        lines[-1] += text
    if not items:
        lines[-1] += tail
    return "\n".join(line.rstrip() for line in lines)


def _view(index: int, kernel: HostKernel, program: int) -> dict[str, object]:
    """What the template needs of one kernel; all texts are C."""
    plan = kernel.plan
    run = f"orio_run_{index}"
    names = [name for _, name in host_parameters(plan)]
    parameters = ["struct orio_failure *orio_failure", *_parameters(plan)]
    return {
        "function": kernel.function,
        "declaration": prototype(plan, kernel.function),
        "entry": f'{{"{plan.name}", &orio_programs[{program}], NULL, {{{{NULL, 0, NULL, 0}}}}}}',
        "run_header": _wrapped(f"static int {run}(", parameters, ")"),
        "run_test": _wrapped(f"  if ({run}(", ["&orio_failure", *names], "))"),
        "empty": " || ".join(f"{trips_name(axis)} <= 0" for axis in plan.axes),
        "body": _body(index, plan),
    }


def _body(index: int, plan: KernelPlan) -> list[str]:
    """The statements of one kernel's run, from the arguments to the combined reductions."""
    arguments = kernel_arguments(plan)
    is_cut = plan.options.streams > 1
    lines = [
        *(_value(a) for a in arguments if a.kind in _VALUES and not is_of_slice(a, plan)),
        f"struct orio_kernel *orio_kernel = &orio_kernels[{index}];",
        *(slices(plan, _groups(plan)) if is_cut else [_launch(plan)]),
    ]
    if plan.reductions and not is_cut:
        product = " * ".join(f"orio_launch.groups[{k}]" for k in range(len(plan.axes)))
        lines += [f"const size_t orio_total = {product};"]
    turned = [(slot, a) for slot, a in enumerate(arguments) if a.rows]
    lines += [line for slot, argument in turned for line in _turned(slot, argument)]
    for argument in arguments:
        lines += _same_size(argument) if argument.structure_bytes else []
    table = [
        "const struct orio_argument orio_arguments[] = {",
        *(f"  {slice_argument(a) if is_of_slice(a, plan) else _argument(a)}," for a in arguments),
        "};",
        *(reaches(plan, arguments) if is_cut else []),
        *(f"const {reduction.type} *orio_partials_{reduction.name};" for reduction in plan.reductions),
        *(["size_t orio_group;"] if plan.reductions else []),
    ]
    lines += [*table, *(run_slices(plan, arguments) if is_cut else _run(len(arguments)))]
    lines += [_transposed(a, back=True) for _, a in turned if a.direction is not Direction.IN]
    results = [name for _, name in host_parameters(plan)[-len(plan.reductions) :]]
    for reduction, result in zip(plan.reductions, results, strict=False):
        slot = next(k for k, a in enumerate(arguments) if _is_partial_of(a, reduction))
        lines += _combine(slot, reduction, result)
    return [*lines, "return 0;"]


def _same_size(argument: KernelArgument) -> list[str]:
    """The host's structures are as long as the device's."""
    what = f"structures in {argument.host}, which are not as long as the device's"
    return [
        f"if ({size_name(argument.of)} != {argument.structure_bytes} &&",
        f'    orio_failed(orio_failure, CL_INVALID_VALUE, "{what}"))',
        "  return 1;",
    ]


def _run(count: int) -> list[str]:
    """Copies, one launch, and copies back."""
    return [
        f"if (orio_prepare(orio_kernel, orio_arguments, {count}, orio_failure))",
        "  return 1;",
        "if (orio_start(orio_kernel, 0, &orio_launch, orio_failure))",
        "  return 1;",
        f"if (orio_collect(orio_kernel, orio_arguments, {count}, orio_failure))",
        "  return 1;",
    ]


def _is_partial_of(argument: KernelArgument, reduction: ReductionPlan) -> bool:
    return argument.kind is ArgumentKind.PARTIALS and argument.of == reduction.name


def _turned(slot: int, argument: KernelArgument) -> list[str]:
    """Memory of the host for an array that the device holds column by column, and the array in it."""
    name = f"orio_turned_{argument.of}"
    size = f"orio_bytes(orio_count_{argument.of}, sizeof *{argument.host})"
    lines = [
        f"void *{name} = orio_scratch(&orio_kernel->memory[{slot}], {size}, orio_failure);",
        f"if ({name} == NULL)",
        "  return 1;",
    ]
    return lines if argument.direction is Direction.OUT else [*lines, _transposed(argument, back=False)]


def _transposed(argument: KernelArgument, *, back: bool) -> str:
    host, turned, rows = argument.host, f"orio_turned_{argument.of}", argument.rows
    count = f"orio_count_{argument.of}"
    if back:
        return (
            f"orio_transpose({host}, {turned}, {rows} > 0 ? {count} / {rows} : 0, {count}, sizeof *{host});"
        )
    return f"orio_transpose({turned}, {host}, {rows}, {count}, sizeof *{host});"


def _value(argument: KernelArgument) -> str:
    """The value as the device knows it, in a variable of its own."""
    kind = f"cl_{argument.device_type}"
    return f"{kind} {_variable(argument)} = ({kind}){argument.host};"


def _variable(argument: KernelArgument) -> str:
    words = {ArgumentKind.START: "first", ArgumentKind.TRIPS: "number"}
    return f"orio_{words.get(argument.kind, 'value')}_{argument.of}"


def _argument(argument: KernelArgument) -> str:
    """The initialiser of one entry of the table of arguments."""
    if argument.kind is ArgumentKind.BUFFER:
        name = f"orio_turned_{argument.of}" if argument.rows else argument.host
        source = "NULL" if argument.direction is Direction.OUT else name
        target = "NULL" if argument.direction is Direction.IN else name
        size = argument.structure_bytes or f"sizeof *{argument.host}"
        return f"{{ORIO_BUFFER, {source}, {target}, orio_bytes(orio_count_{argument.of}, {size})}}"
    if argument.kind is ArgumentKind.PARTIALS:
        return f"{{ORIO_PARTIALS, NULL, NULL, orio_total * sizeof({argument.type})}}"
    name = _variable(argument)
    return f"{{ORIO_VALUE, &{name}, NULL, sizeof {name}}}"


def _launch(plan: KernelPlan) -> str:
    groups = ", ".join(_groups(plan))
    items = ", ".join("0" if plan.launch.free else str(n) for n in plan.launch.items)
    return f"struct orio_launch orio_launch = {{{len(plan.axes)}, {{{groups}}}, {{{items}}}}};"


def _groups(plan: KernelPlan) -> list[str]:
    """The number of groups in each dimension, fastest first, as C."""
    if plan.launch.groups is not None:
        return [str(n) for n in plan.launch.groups]
    trips = [trips_name(axis) for axis in plan.axes]
    if plan.options.streams > 1:
        trips[0] = "orio_length"
    return [_covering(plan, k, number) for k, number in enumerate(reversed(trips))]


def _covering(plan: KernelPlan, dimension: int, trips: str) -> str:
    piece = plan.launch.step[dimension] * (plan.coarsen if dimension == 0 else 1)
    return f"orio_groups({trips}, {piece})"


def _combine(slot: int, reduction: ReductionPlan, result: str) -> list[str]:
    """The value before the loop with the groups' results, in the order of the groups."""
    partials = f"orio_partials_{reduction.name}"
    value, partial = f"*{result}", f"{partials}[orio_group]"
    match reduction.operator:
        case "min" | "max" as name:
            sign = "<" if name == "min" else ">"
            combined = f"if ({partial} {sign} {value})\n  {value} = {partial};"
        case operator:
            combined = f"{value} = ({reduction.type})({value} {operator} {partial});"
    return [
        f"{partials} = orio_kernel->memory[{slot}].partials;",
        "for (orio_group = 0; orio_group < orio_total; orio_group++)",
        *(f"  {line}" for line in combined.split("\n")),
    ]


def _checks(arguments: Sequence[KernelArgument]) -> list[dict[str, str]]:
    """Types whose elements are copied as they are: they must be as large here as there."""
    pairs = dict.fromkeys(
        (a.type, f"cl_{a.device_type}")
        for a in arguments
        if a.kind in (ArgumentKind.BUFFER, ArgumentKind.PARTIALS) and not a.structure_bytes
    )
    return [
        {"name": f"orio_check_{k}", "host": host, "device": device} for k, (host, device) in enumerate(pairs)
    ]


def _choice(plan: KernelPlan) -> tuple[str, str]:
    options = plan.options
    return _given(options.platform), _given(options.device)


def _given(value: int | str | None) -> str:
    return "" if value is None else str(value)


def _needs_double(kernel: HostKernel) -> bool:
    return re.search(r"\bdouble\d*\b", kernel.source) is not None


def _prefix(unit: HostUnit) -> str:
    return f"{PREFIX}{unit.name}"


def _shape(plan: KernelPlan) -> str:
    if plan.launch.free:
        return "groups that the driver chooses"
    items = " x ".join(str(n) for n in plan.launch.items)
    if plan.launch.groups is None:
        return f"groups of {items} items, as many as cover the loops"
    return f"{' x '.join(str(n) for n in plan.launch.groups)} groups of {items} items"


def _mark(unit: HostUnit) -> str:
    lines = "\n   ".join(_comment(remark) for remark in unit.remarks)
    return f"{COMPANION_MARK} {lines} */"


def _comment(text: str) -> str:
    plain = text.encode("ascii", "replace").decode("ascii").replace("\n", " ")
    return plain.replace("*/", "* /").replace("/*", "/ *")


def _build(kernel: HostKernel) -> tuple[str, str, tuple[str, str]]:
    """What makes a program of its own: text, options and device."""
    return kernel.source, kernel.plan.options.build_flags, _choice(kernel.plan)


def _numbered(items: Iterable[T]) -> dict[T, int]:
    """The different items in order, each with its number."""
    return {item: number for number, item in enumerate(dict.fromkeys(items))}


def _lines(pieces: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of a table of strings; every string but the last one ends with a comma."""
    return [[*piece[:-1], piece[-1] + ","] for piece in pieces[:-1]] + [list(pieces[-1])]


def _header_of(word: str) -> str | None:
    """The standard header that declares a type."""
    if re.fullmatch(r"u?int\w*_t", word):
        return "stdint.h"
    return {"size_t": "stddef.h", "ptrdiff_t": "stddef.h", "ssize_t": "sys/types.h", "bool": "stdbool.h"}.get(
        word
    )


_VALUES = frozenset([ArgumentKind.SCALAR, ArgumentKind.START, ArgumentKind.TRIPS])

# ISO/IEC 14882:2020, [lex.key] and [lex.digraph], less what are keywords of C99 as well.
_CPP_WORDS = """alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast
    explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public reinterpret_cast requires static_assert static_cast template this thread_local throw true
    try typeid typename using virtual wchar_t xor xor_eq"""
_CPP_ONLY_WORDS = frozenset(_CPP_WORDS.split())

STATUSES = (
    "CL_DEVICE_NOT_FOUND",
    "CL_DEVICE_NOT_AVAILABLE",
    "CL_COMPILER_NOT_AVAILABLE",
    "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    "CL_OUT_OF_RESOURCES",
    "CL_OUT_OF_HOST_MEMORY",
    "CL_BUILD_PROGRAM_FAILURE",
    "CL_INVALID_VALUE",
    "CL_INVALID_PLATFORM",
    "CL_INVALID_DEVICE",
    "CL_INVALID_CONTEXT",
    "CL_INVALID_COMMAND_QUEUE",
    "CL_INVALID_MEM_OBJECT",
    "CL_INVALID_BINARY",
    "CL_INVALID_BUILD_OPTIONS",
    "CL_INVALID_PROGRAM",
    "CL_INVALID_PROGRAM_EXECUTABLE",
    "CL_INVALID_KERNEL_NAME",
    "CL_INVALID_KERNEL_DEFINITION",
    "CL_INVALID_KERNEL",
    "CL_INVALID_ARG_INDEX",
    "CL_INVALID_ARG_VALUE",
    "CL_INVALID_ARG_SIZE",
    "CL_INVALID_KERNEL_ARGS",
    "CL_INVALID_WORK_DIMENSION",
    "CL_INVALID_WORK_GROUP_SIZE",
    "CL_INVALID_WORK_ITEM_SIZE",
    "CL_INVALID_GLOBAL_OFFSET",
    "CL_INVALID_EVENT_WAIT_LIST",
    "CL_INVALID_EVENT",
    "CL_INVALID_OPERATION",
    "CL_INVALID_BUFFER_SIZE",
    "CL_INVALID_GLOBAL_WORK_SIZE",
    "CL_INVALID_PROPERTY",
)
"""The statuses whose names the host code can tell (OpenCL 1.2, table 4.x, and the calls' own lists)."""
