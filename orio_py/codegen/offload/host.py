"""What the host code of all device languages says of a kernel, and the header that declares its functions.

Sources: ISO C99; ISO/IEC 14882:2020 for the words that C++ applications cannot use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orio_py.codegen.device import ArgumentKind, KernelArgument, host_parameters, kernel_arguments
from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.codegen.offload.declarations import parameter_texts, wrapped
from orio_py.codegen.offload.ready import data_ready_prototype, ready_declarations
from orio_py.codegen.offload.slices import is_of_slice, reaches, run_slices, slice_argument, slices
from orio_py.codegen.program import Program
from orio_py.codegen.templates import render
from orio_py.kernel.backend import Backend
from orio_py.kernel.call import (
    KernelGroup,
    data_function,
    data_parameters,
    group_parameters,
    size_name,
    trips_name,
)
from orio_py.kernel.plan import Direction, KernelPlan, ReductionPlan, Role
from orio_py.spec.generated import companion_mark


@dataclass(frozen=True, slots=True)
class HostLanguage:
    """What host code says otherwise: the language's name, the devices' type of a value, words for the shape.

    `run` are the statements that copy, launch and copy back, for a number of arguments; `invalid` is the status
    for an argument that cannot be right.

    Functions for arrays on the device have the parameter `queue`, and `handle` for the type of arrays, '' for pointers.
    """

    backend: Backend
    title: str
    value_type: Callable[[str], str]
    run: Callable[[int], list[str]]
    group: str
    item: str
    invalid: str
    queue: str
    handle: str = ""


def host_prefix_of(unit: HostUnit, host: HostLanguage) -> str:
    """How the names of the functions for all kernels begin."""
    return f"{host.backend.host_prefix}{unit.name}"


def header_text(
    unit: HostUnit,
    host: HostLanguage,
    more: Callable[[HostKernel], list[str]],
    sequences: Sequence[object] = (),
) -> Program:
    """The text of `STEM.h`: what C and C++ applications can call; `more` are further declarations of a kernel."""
    kernels = [
        {
            "title": _comment(f"Kernel {k.plan.name}: {_shape(k.plan, host)}"),
            "declarations": [prototype(k.plan, k.function, for_cpp=True), *more(k)],
        }
        for k in unit.kernels
        if k.group is None
    ]
    kernels += [
        {
            "title": _comment(f"Kernels {', '.join(plan.name for plan in group.plans)}, one after the other"),
            "declarations": [group_prototype(group, for_cpp=True)],
        }
        for group in unit.groups
    ]
    guard = re.sub(r"\W", "_", f"ORIO_{unit.stem}_H", flags=re.ASCII).upper()
    words = {word for k in unit.kernels for kind, _ in host_parameters(k.plan) for word in kind.split()}
    includes = sorted({header for word in words if (header := _header_of(word)) is not None})
    text = render(
        "offload/host.h.j2",
        mark=host_mark(unit, host),
        title=host.title,
        guard=guard,
        prefix=host_prefix_of(unit, host),
        includes=includes,
        kernels=kernels,
        sequences=sequences,
        tests=ready_declarations(unit),
        data=[view["begin_declaration"] for view in data_views(unit)],
        ends=[view["end"] for view in data_views(unit)],
    )
    return Program(text)


def prototype(plan: KernelPlan, function: str, *, for_cpp: bool = False) -> str:
    """The declaration of a host function without its semicolon, in lines of at most 110 characters.

    Parameters that C++ could not name are left without names with `for_cpp`.
    """
    return wrapped(f"void {function}(", host_parameter_texts(plan, for_cpp=for_cpp), ")")


def group_prototype(group: KernelGroup, *, for_cpp: bool = False) -> str:
    """The same for a function that runs several kernels."""
    given = [(parameter.type, parameter.name) for parameter in group_parameters(group).parameters]
    return wrapped(f"void {group.name}(", parameter_texts(given, for_cpp=for_cpp), ")")


def host_parameter_texts(plan: KernelPlan, *, for_cpp: bool = False) -> list[str]:
    """The host function's parameters as C declares them."""
    return parameter_texts(host_parameters(plan), for_cpp=for_cpp)


def host_body(index: int, plan: KernelPlan, host: HostLanguage) -> list[str]:
    """The statements of one kernel's run, from the arguments to the combined reductions."""
    arguments = kernel_arguments(plan)
    is_cut, whole = plan.options.streams > 1, host.value_type("long")
    lines = [
        *(value(a, host) for a in arguments if a.kind in VALUES and not is_of_slice(a, plan)),
        f"struct orio_kernel *orio_kernel = &orio_kernels[{index}];",
        *(slices(plan, _groups(plan), whole) if is_cut else [launch_text(plan)]),
    ]
    if plan.reductions and not is_cut:
        product = " * ".join(f"orio_launch.groups[{k}]" for k in range(len(plan.axes)))
        lines += [f"const size_t orio_total = {product};"]
    turned = [(slot, a) for slot, a in enumerate(arguments) if a.rows]
    lines += [line for slot, argument in turned for line in _turned(slot, argument)]
    for argument in arguments:
        lines += same_size(argument, host) if argument.structure_bytes else []
    table = [
        "const struct orio_argument orio_arguments[] = {",
        *(f"  {slice_argument(a, whole) if is_of_slice(a, plan) else _argument(a)}," for a in arguments),
        "};",
        *(reaches(plan, arguments) if is_cut else []),
        *(f"const {reduction.type} *orio_partials_{reduction.name};" for reduction in plan.reductions),
        *(["size_t orio_group;"] if plan.reductions else []),
    ]
    lines += [*table, *(run_slices(arguments) if is_cut else host.run(len(arguments)))]
    lines += [_transposed(a, back=True) for _, a in turned if a.direction is not Direction.IN]
    results = [name for _, name in host_parameters(plan)[-len(plan.reductions) :]]
    for reduction, result in zip(plan.reductions, results, strict=False):
        slot = next(k for k, a in enumerate(arguments) if is_partial_of(a, reduction))
        lines += combined(slot, reduction, result)
    return [*lines, "return 0;"]


def data_view(index: int, kernel: HostKernel, first: int) -> dict[str, object] | None:
    """What a template needs of the arrays that stay around a kernel; None where there are none.

    `first` is the number of the first of them among those of the file.  All texts are C.
    """
    data = kernel.plan.data
    if data is None:
        return None
    given = [(p.type, p.name) for p in data_parameters(data)]
    begin, end = (data_function(kernel.function, ends=ends) for ends in (False, True))
    held = [
        {
            "number": first + slot,
            "array": array.name,
            "pieces": ", ".join(
                f"{{orio_piece_{slot}_{k}, orio_bytes_{slot}_{k}}}" for k in range(len(array.pieces))
            ),
            "count": len(array.pieces),
            "comes_in": int(array.comes_in),
            "goes_out": int(array.goes_out),
        }
        for slot, array in enumerate(data.arrays)
    ]
    return {
        "begin": begin,
        "end": end,
        "kernel": index,
        "arrays": held,
        "begin_declaration": wrapped(f"void {begin}(", parameter_texts(given), ")"),
        "ready_header": data_ready_prototype(kernel.function, kernel.plan),
        "run_header": wrapped(
            f"static int orio_begin_{index}(",
            ["struct orio_failure *orio_failure", *parameter_texts(given)],
            ")",
        ),
        "run_call": wrapped(f"orio_begin_{index}(", ["&orio_failure", *(name for _, name in given)], ")"),
    }


def data_views(unit: HostUnit) -> list[dict[str, object]]:
    """What a template needs of all arrays that stay."""
    found: list[dict[str, object]] = []
    count = 0
    for index, kernel in enumerate(unit.kernels):
        view = data_view(index, kernel, count)
        if view is not None and kernel.plan.data is not None:
            found.append(view)
            count += len(kernel.plan.data.arrays)
    return found


def data_count(unit: HostUnit) -> int:
    """How many arrays of a file stay."""
    return sum(len(k.plan.data.arrays) for k in unit.kernels if k.plan.data is not None)


def same_size(argument: KernelArgument, host: HostLanguage) -> list[str]:
    """The host's structures are as long as the device's."""
    what = f"structures in {argument.host}, which are not as long as the device's"
    return [
        f"if ({size_name(argument.of)} != {argument.structure_bytes} &&",
        f'    orio_failed(orio_failure, {host.invalid}, "{what}"))',
        "  return 1;",
    ]


def is_partial_of(argument: KernelArgument, reduction: ReductionPlan) -> bool:
    """Whether an argument holds the partial results of a reduction."""
    return argument.kind is ArgumentKind.PARTIALS and argument.of == reduction.name


def _turned(slot: int, argument: KernelArgument) -> list[str]:
    """Memory of the host for an array that the device holds column by column, and the array in it."""
    name = f"orio_turned_{argument.of}"
    size = f"orio_bytes(orio_count_{argument.of}, sizeof *{argument.host})"
    lines = [
        f"void *{name} = orio_scratch(orio_kernel, {slot}, {size}, orio_failure);",
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


def value(argument: KernelArgument, host: HostLanguage) -> str:
    """The value as the device knows it, in a variable of its own."""
    kind = host.value_type(argument.device_type)
    return f"{kind} {variable(argument)} = ({kind}){argument.host};"


def variable(argument: KernelArgument) -> str:
    """The variable that holds a value."""
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
    name = variable(argument)
    return f"{{ORIO_VALUE, &{name}, NULL, sizeof {name}}}"


def launch_text(plan: KernelPlan) -> str:
    """The launch of the whole loop, in C."""
    groups = ", ".join(_groups(plan))
    items = ", ".join("0" if plan.launch.driver_chosen else str(n) for n in plan.launch.block_size)
    return f"struct orio_launch orio_launch = {{{len(plan.launch.block_size)}, {{{groups}}}, {{{items}}}}};"


def _groups(plan: KernelPlan) -> list[str]:
    """The number of groups in each dimension, fastest first, as C."""
    if plan.launch.grid_size is not None:
        return [str(n) for n in plan.launch.grid_size]
    if plan.launch.bindings:
        return _placed_groups(plan)
    trips = [trips_name(axis) for axis in plan.axes]
    if plan.options.streams > 1:
        trips[0] = "orio_length"
    return [_covering(plan, k, number) for k, number in enumerate(reversed(trips))]


def _placed_groups(plan: KernelPlan) -> list[str]:
    """A group for each iteration of the axes that run over groups; those have iterations where a kernel starts."""
    counts = ["1"] * len(plan.launch.block_size)
    for placement, axis in zip(plan.launch.bindings, plan.axes, strict=True):
        if placement.role is Role.GROUPS:
            counts[placement.dimension] = _at_most(plan, placement.dimension, trips_name(axis))
    return counts


def _covering(plan: KernelPlan, dimension: int, trips: str) -> str:
    piece = plan.launch.step[dimension] * (plan.coarsen if dimension == 0 else 1)
    return _at_most(plan, dimension, f"orio_groups({trips}, {piece})")


def _at_most(plan: KernelPlan, dimension: int, text: str) -> str:
    """A number of groups within the language's limit; that of the fastest dimension is looked at in each launch."""
    if text.isidentifier():
        text = f"(size_t){text}"
    if plan.launch.most_groups is None or dimension == 0:
        return text
    return f"orio_at_most({text}, {plan.launch.most_groups[dimension]})"


def combined(slot: int, reduction: ReductionPlan, result: str) -> list[str]:
    """The value before the loop with the groups' results, in the order of the groups."""
    partials = f"orio_partials_{reduction.name}"
    value, partial = f"*{result}", f"{partials}[orio_group]"
    match reduction.operator:
        case "min" | "max" as name:
            sign = "<" if name == "min" else ">"
            merged = f"if ({partial} {sign} {value})\n  {value} = {partial};"
        case operator:
            merged = f"{value} = ({reduction.type})({value} {operator} {partial});"
    return [
        f"{partials} = (const {reduction.type} *)orio_kernel->memory[{slot}].partials;",
        "for (orio_group = 0; orio_group < orio_total; orio_group++)",
        *(f"  {line}" for line in merged.split("\n")),
    ]


def _shape(plan: KernelPlan, host: HostLanguage) -> str:
    if plan.launch.driver_chosen:
        return f"{host.group}s that the driver chooses"
    items = " x ".join(str(n) for n in plan.launch.block_size)
    if plan.launch.bindings:
        over = [
            a.index for a, p in zip(plan.axes, plan.launch.bindings, strict=True) if p.role is Role.GROUPS
        ]
        return f"{host.group}s of {items} {host.item}s, one for each iteration of {', '.join(over)}"
    if plan.launch.grid_size is None:
        return f"{host.group}s of {items} {host.item}s, as many as cover the loops"
    return f"{' x '.join(str(n) for n in plan.launch.grid_size)} {host.group}s of {items} {host.item}s"


def host_mark(unit: HostUnit, host: HostLanguage) -> str:
    """The comment at the top of a generated file."""
    lines = "\n   ".join(_comment(remark) for remark in unit.remarks)
    return f"{companion_mark(host.title)} {lines} */"


def _comment(text: str) -> str:
    plain = text.encode("ascii", "replace").decode("ascii").replace("\n", " ")
    return plain.replace("*/", "* /").replace("/*", "/ *")


def _header_of(word: str) -> str | None:
    """The standard header that declares a type."""
    if re.fullmatch(r"u?int\w*_t", word):
        return "stdint.h"
    return {"size_t": "stddef.h", "ptrdiff_t": "stddef.h", "ssize_t": "sys/types.h", "bool": "stdbool.h"}.get(
        word
    )


VALUES = frozenset([ArgumentKind.SCALAR, ArgumentKind.START, ArgumentKind.TRIPS])
"""Arguments that are passed by value."""
