"""Host code for launches in several queues: what it says of slices, in C.

Each queue gets a slice of the outermost loop.  It copies its share of each buffer, waits for the shares of other
queues that its slice touches, runs the kernel, and copies its share of the results back as soon as all slices
that touch it have run.

Source: The OpenCL Specification 1.2, sections 5.11 and 5.13, and appendix A.1 (objects shared by queues).
"""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.codegen.device import ArgumentKind, KernelArgument
from orio_py.kernel.call import slice_names, trips_name
from orio_py.kernel.plan import KernelPlan

_FIELDS = {ArgumentKind.FROM: "from", ArgumentKind.TRIPS: "to", ArgumentKind.GROUP: "group"}


def is_of_slice(argument: KernelArgument, plan: KernelPlan) -> bool:
    """Whether an argument's value belongs to a slice."""
    if plan.options.streams == 1 or argument.kind not in _FIELDS:
        return False
    return argument.kind is not ArgumentKind.TRIPS or argument.of == plan.axes[0].index


def slice_argument(argument: KernelArgument, kind: str) -> str:
    """The initialiser of such an argument, of type `kind`: the value of the first slice."""
    return f"{{ORIO_VALUE, &orio_slices[0].{_FIELDS[argument.kind]}, NULL, sizeof({kind})}}"


def slices(plan: KernelPlan, groups: Sequence[str], kind: str) -> list[str]:
    """The table of slices; `groups` are the groups of one with `orio_length` iterations, in C, fastest first.

    `kind` is the type of the numbers that the device is given.
    """
    count, total = plan.options.streams, trips_name(plan.axes[0])
    dimensions, items = len(plan.axes), ", ".join(str(n) for n in plan.launch.block_size)
    product = " * ".join(f"orio_launch.groups[{k}]" for k in range(dimensions))
    return [
        f"struct orio_slice orio_slices[{count}] = {{{{0, 0, 0, {{0, {{0}}, {{0}}}}}}}};",
        "size_t orio_total = 0;",
        "int orio_number = 0;",
        "int orio_piece;",
        f"for (orio_piece = 0; orio_piece < {count}; orio_piece++) {{",
        f"  const long orio_from = {_part(total, count, 'orio_piece')};",
        f"  const long orio_to = {_part(total, count, '(orio_piece + 1)')};",
        "  const long orio_length = orio_to - orio_from;",
        f"  const struct orio_launch orio_launch = {{{dimensions}, {{{', '.join(groups)}}}, {{{items}}}}};",
        "  if (orio_length > 0) {",
        "    orio_slices[orio_number].from = orio_from;",
        "    orio_slices[orio_number].to = orio_to;",
        f"    orio_slices[orio_number].group = ({kind})orio_total;",
        "    orio_slices[orio_number].launch = orio_launch;",
        f"    orio_total += {product};",
        "    orio_number++;",
        "  }",
        "}",
    ]


def _part(total: str, count: int, piece: str) -> str:
    return f"{total} / {count} * {piece} + {total} % {count} * {piece} / {count}"


def reaches(plan: KernelPlan, arguments: Sequence[KernelArgument]) -> list[str]:
    """What an iteration touches of each argument that is a buffer, and which arguments belong to slices."""
    known = {buffer.name for buffer in plan.buffers if buffer.slices is not None}
    rows = [
        f"  {{{', '.join(slice_names(a.of))}, {a.structure_bytes or f'sizeof *{a.host}'}}},"
        if a.kind is ArgumentKind.BUFFER and a.of in known
        else "  {0, 0, 0, 1},"
        for a in arguments
    ]
    slots = {a.kind: k for k, a in enumerate(arguments) if is_of_slice(a, plan)}
    places = ", ".join(str(slots.get(kind, -1)) for kind in _FIELDS)
    return [
        "const struct orio_reach orio_reaches[] = {",
        *rows,
        "};",
        f"const int orio_slots[3] = {{{places}}};",
    ]


def run_slices(arguments: Sequence[KernelArgument]) -> list[str]:
    """The call that copies, launches and copies back."""
    return [
        "if (orio_run_slices(orio_kernel, orio_arguments, orio_reaches, "
        f"{len(arguments)}, orio_slices, orio_number,",
        "                    orio_slots, orio_failure))",
        "  return 1;",
    ]
