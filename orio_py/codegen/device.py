"""What a device kernel is called with: the one description that renderers, hosts and executors share.

A region is transformed to calls of host functions, one for each kernel:

    orio_opencl_axpy_0(x, y, n, n, a, n);

`host_parameters` says what such a function is given, `kernel_arguments` what it passes on to the kernel, both
in the order in which they stand.  A host, in C or in Python, does the same in each call:

1. return where one of the trip counts is 0 or less;
2. copy the buffers that are `in` or `inout` to the device, those with `rows` column by column;
3. launch `group_counts(plan, trips)` groups of `plan.launch.block_size` items, with one element per group in
   each buffer of partial results;
4. copy back the buffers that are `out` or `inout`, those with `rows` row by row again, and combine each reduction's value `s` with its partial
   results `p`, in the order of the groups, by `s = s OP p`, or `if (p < s) s = p` for `min`, `if (p > s) s = p`
   for `max`.

A buffer whose count is 0 or less is not touched, but the kernel needs some buffer in its place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import prod

from orio_py.codegen.device_names import device_name
from orio_py.core.units import Bytes
from orio_py.ctree.build import literal_value
from orio_py.ctree.ctype import Rank, ctype
from orio_py.kernel.call import (
    FIRST_GROUP,
    call_parameters,
    from_name,
    start_name,
    trips_name,
)
from orio_py.kernel.phases import row_reductions
from orio_py.kernel.plan import Axis, Direction, Distribution, KernelPlan, LaunchShape, Role
from orio_py.kernel.records import RecordPlan
from orio_py.kernel.types import device_type


@dataclass(frozen=True, slots=True)
class DeviceProgram:
    """The device text of a region; `plans` are its kernels, in the order in which the region runs them."""

    source: str
    plans: tuple[KernelPlan, ...]


class ArgumentKind(StrEnum):
    """What an argument of a kernel is.

    `BUFFER`: an array's buffer; `SCALAR`: a scalar of the nest by value; `START` and `TRIPS`: first index
    and number of iterations of an axis; `FROM`: the number of a slice's first iteration, and `GROUP`: of its
    first group among all groups; `PARTIALS`: a buffer with room for one element per group.
    """

    BUFFER = "buffer"
    SCALAR = "scalar"
    START = "start"
    TRIPS = "trips"
    FROM = "from"
    GROUP = "group"
    PARTIALS = "partials"


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One argument of a kernel, under the `name` that it has in the device text.

    `of` names the buffer, scalar, reduction or the axis's index in the plan.  `type` is the C type on the
    host of the value, or of an element of the buffer; `device_type` the same in OpenCL C.  `direction` is
    a buffer's.  `host` is the parameter of the host function that holds the value, '' for partial results.
    `rows` is the one with the number of rows of a buffer that the device holds column by column, '' for others.
    `structure_bytes` are those of a structure, 0 for numbers.
    """

    kind: ArgumentKind
    name: str
    of: str
    type: str
    device_type: str
    direction: Direction | None = None
    host: str = ""
    rows: str = ""
    structure_bytes: int = 0

    @property
    def element_bytes(self) -> int:
        """The bytes of the value, or of an element of the buffer."""
        return self.structure_bytes or DEVICE_BYTES[self.device_type]


def kernel_arguments(plan: KernelPlan) -> tuple[KernelArgument, ...]:
    """The kernel's arguments in order: buffers, scalars, starts and trip counts of the axes, partial results.

    The start of an axis that is a literal stands in the kernel's text and is not passed.  A plan for several
    streams is also told the first iteration of the outermost axis, and the first group where there are partial
    results; the trip count of that axis is then the number of the iteration behind the slice.
    """
    found = [
        KernelArgument(
            ArgumentKind.BUFFER,
            device_name(b.name),
            b.name,
            b.type,
            _device(b.type) if b.record is None else f"struct {b.record.name}",
            b.direction,
            b.name,
            b.rows or "",
            0 if b.record is None else record_bytes(b.record),
        )
        for b in plan.buffers
    ]
    for scalar in plan.scalars:
        name = device_name(scalar.name)
        found.append(_value(ArgumentKind.SCALAR, name, scalar.name, scalar.type, scalar.parameter))
    for axis in plan.axes:
        if literal_value(axis.start) is None:
            start = start_name(axis)
            found.append(_value(ArgumentKind.START, start, axis.index, axis.type, start))
        name, kind = trips_name(axis), "unsigned" if is_narrow(axis, plan) else "long"
        found.append(_value(ArgumentKind.TRIPS, name, axis.index, kind, name))
    if plan.options.streams > 1:
        outer = plan.axes[0]
        found.append(_value(ArgumentKind.FROM, from_name(outer), outer.index, "long", ""))
        if plan.reductions:
            found.append(_value(ArgumentKind.GROUP, FIRST_GROUP, "", "long", ""))
    for reduction in plan.reductions:
        name = f"orio_partials_{reduction.name}"
        device = _device(reduction.type)
        found.append(KernelArgument(ArgumentKind.PARTIALS, name, reduction.name, reduction.type, device))
    return tuple(found)


def is_narrow(axis: Axis, plan: KernelPlan) -> bool:
    """Whether 32 bits without a sign hold all numbers of an axis's iterations that a kernel computes.

    There are at most 2^31 iterations, and from each of them to the next that the same item does, or to the end of the
    last group, are less: no sum wraps.  Those of tiles in the memory of groups may lie before the first iteration, those
    of slices behind others, and pieces are products.
    """
    launch, kind = plan.launch, ctype(axis.type)
    if (
        plan.staged
        or plan.march is not None
        or plan.options.streams > 1
        or plan.spread is Distribution.BLOCKED
    ):
        return False
    if kind is None or kind.rank > Rank.INT:
        return False
    if plan.coarsen > 1 and launch.most_groups is None and axis is not plan.axes[-1]:
        return False  # The stride of the loop over what is left may be as large as the number of iterations.
    first = literal_value(axis.start)
    is_half = axis.upward and first is not None and first >= 0 and not kind.unsigned
    steps = () if launch.grid_size is None else map(operator.mul, launch.grid_size, launch.step)
    return (is_half or kind.rank < Rank.INT or abs(axis.stride) > 1) and all(step < 2**31 for step in steps)


def _value(kind: ArgumentKind, name: str, of: str, type_name: str, host: str) -> KernelArgument:
    return KernelArgument(kind, name, of, type_name, _device(type_name), host=host)


def _device(type_name: str) -> str:
    found = device_type(type_name)
    assert found is not None, f"no device type for {type_name}"
    # A `bool` cannot be passed to a kernel (The OpenCL Specification 1.2, section 6.9k).
    return "uchar" if found == "bool" else found


def host_parameters(plan: KernelPlan) -> tuple[tuple[str, str], ...]:
    """The host function's parameters, as (C type, name), for example `("const double *", "x")`.

    In order: a pointer to the first element of each buffer (`const` where the kernel only reads it); the
    `long` number of elements of each buffer, `orio_count_NAME`; for launches in several queues what an
    iteration touches of a buffer, where that is known, `orio_step_NAME`, `orio_low_NAME`, `orio_reach_NAME`; for
    structures, whose pointer is one to `void`, the `long` bytes of each, `orio_size_NAME`; the scalars; for each axis, slowest first,
    its start unless that is a literal, `orio_start_INDEX`, and its `long` number of iterations,
    `orio_trips_INDEX`; a pointer to each reduction's scalar, which holds the value before the loop and
    gets the one after it.
    """
    return tuple((parameter.type, parameter.name) for parameter in call_parameters(plan))


def group_counts(plan: KernelPlan, trips: Sequence[int]) -> tuple[int, ...]:
    """The number of groups in each dimension of the launch, fastest first, for `plan.axes`' trip counts.

    Where the plan does not say it: as many as give each group `plan.coarsen` steps along the fastest axis
    and one along the others.  Axes with dimensions of their own have a group for each iteration, or none at all.
    """
    return groups_of(plan.launch, plan.coarsen, trips)


def groups_of(launch: LaunchShape, coarsen: int, trips: Sequence[int]) -> tuple[int, ...]:
    """`group_counts` of a plan with this launch shape and coarsening."""
    if launch.grid_size is not None:
        return launch.grid_size
    if launch.bindings:
        needed = _placed_groups(launch, trips)
    else:
        pieces = [step * (coarsen if dimension == 0 else 1) for dimension, step in enumerate(launch.step)]
        needed = [max(1, -(-count // piece)) for piece, count in zip(pieces, reversed(trips), strict=True)]
    if launch.most_groups is None:
        return tuple(needed)
    return tuple(map(min, needed, launch.most_groups))


def _placed_groups(launch: LaunchShape, trips: Sequence[int]) -> list[int]:
    """A group for each iteration of the axes that run over groups."""
    counts = [1] * len(launch.block_size)
    for placement, count in zip(launch.bindings, trips, strict=True):
        if placement.role is Role.GROUPS:
            counts[placement.dimension] = max(1, count)
    return counts


def partial_elements(plan: KernelPlan, trips: Sequence[int]) -> int:
    """The elements of each buffer of partial results: the total number of groups, in all slices."""
    slices = slices_of(plan.options.streams, trips[0])
    return sum(prod(group_counts(plan, (end - begin, *trips[1:]))) for begin, end in slices)


def local_bytes(plan: KernelPlan) -> Bytes:
    """The memory of a group that a kernel needs: staged tiles, and one element per item for each reduction."""
    sizes = {a.of: a.element_bytes for a in kernel_arguments(plan)}
    tiles = sum(tile.elements * sizes[tile.array] for tile in plan.staged)
    partial = sum(sizes[r.name] for r in plan.reductions)
    partial += sum(DEVICE_BYTES[_device(r.type)] for r in row_reductions(plan.body))
    copies = sum(copy.elements * sizes[copy.name] for copy in plan.copies)
    return Bytes(tiles + copies + partial * prod(plan.launch.block_size))


def slices_of(streams: int, trips: int) -> list[tuple[int, int]]:
    """The iterations of the outermost axis that each queue runs, as (first, behind the last); none is empty.

    >>> slices_of(3, 7), slices_of(4, 2)
    ([(0, 2), (2, 4), (4, 7)], [(0, 1), (1, 2)])
    """
    ends = [trips // streams * k + trips % streams * k // streams for k in range(streams + 1)]
    return [(begin, end) for begin, end in pairwise(ends) if begin < end]


@dataclass(frozen=True, slots=True)
class Reach:
    """What iteration `t` touches of a buffer with `size` bytes: no others than `reach` from `low + step * t` on.

    All are bytes.  Without `reach` each iteration may touch everything.
    """

    size: int
    step: int = 0
    low: int = 0
    reach: int = 0

    def touched(self, begin: int, end: int) -> tuple[int, int]:
        """The bytes that the iterations from `begin` to before `end` touch, as (first, behind the last)."""
        if self.reach <= 0:
            return 0, self.size
        least, most = (begin, end - 1) if self.step >= 0 else (end - 1, begin)
        first, last = self.low + self.step * least, self.low + self.step * most + self.reach
        return min(max(first, 0), self.size), min(max(last, 0), self.size)

    def shares(self, slices: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The bytes that each queue copies: all of the buffer, each byte once; where possible what it touches."""
        if self.reach <= 0:
            return [(0, self.size), *((self.size, self.size) for _ in slices[1:])]
        firsts = [self.touched(begin, end)[0] for begin, end in slices]
        if self.step >= 0:
            ends = [0, *firsts[1:], self.size]
            return list(pairwise(ends))
        ends = [self.size, *firsts[:-1], 0]
        return [(end, begin) for begin, end in pairwise(ends)]


DEVICE_BYTES: Mapping[str, int] = {
    "char": 1,
    "uchar": 1,
    "short": 2,
    "ushort": 2,
    "int": 4,
    "uint": 4,
    "long": 8,
    "ulong": 8,
    "float": 4,
    "double": 8,
}
"""The types of OpenCL C that elements and scalars can have, with their sizes (OpenCL 1.2, table 6.1)."""


def record_bytes(record: RecordPlan) -> int:
    """The bytes of a structure, each of whose members begins at a multiple of its own size.

    >>> from orio_py.kernel.records import RecordMember
    >>> record_bytes(RecordPlan("cell", (RecordMember("n", "int", None), RecordMember("x", "double", 2))))
    24
    """
    end, widest = 0, 1
    for member in record.members:
        size = DEVICE_BYTES[member.type]
        end = -(-end // size) * size + size * member.places
        widest = max(widest, size)
    return -(-end // widest) * widest


def record_definitions(plans: Sequence[KernelPlan], type_name: Callable[[str], str], claim: str) -> list[str]:
    """The structures of the kernels, each with a line that compiles only if it is as long as the host's.

    `type_name` spells the types of members, `claim` the line, with `{size}` for a condition and `{name}` for the
    structure.
    """
    found = {b.record.name: b.record for plan in plans for b in plan.buffers if b.record is not None}
    lines: list[str] = []
    for name, record in found.items():
        members = [
            f"{type_name(m.type)} {device_name(m.name)}{'' if m.extent is None else f'[{m.extent}]'};"
            for m in record.members
        ]
        lines.append(f"struct {name} {{ {' '.join(members)} }};")
        lines.append(claim.format(name=name, size=f"sizeof(struct {name}) == {record_bytes(record)}"))
    return lines
