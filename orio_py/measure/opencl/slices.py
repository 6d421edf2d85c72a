"""Runs a kernel in several queues, as the generated host code does, and tells how long the device was busy.

Transfers and kernels overlap, so that their times cannot be added up: the kernels' time is that in which one at
least runs, the transfers' that in which there are only transfers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl

from orio_py.codegen.device import ArgumentKind, KernelArgument, Reach, slices_of
from orio_py.measure.opencl.host import Launch
from orio_py.transform.offload.call import slice_names
from orio_py.transform.offload.plan import Direction

Interval = tuple[int, int]
"""Nanoseconds of a device's clock."""


@dataclass(frozen=True, slots=True)
class Part:
    """A buffer of a launch, the bytes of the host's array that it holds, and what iterations touch of them."""

    direction: Direction
    buffer: cl.Buffer
    host: Any
    reach: Reach

    @classmethod
    def of(cls, launch: Launch, argument: KernelArgument, buffer: Any, host: Any) -> Part:
        """The part of one argument."""
        assert argument.direction is not None
        size = argument.element_bytes
        given = [launch.numbers.get(name) for name in slice_names(argument.of)]
        step, low, reach = (0 if number is None else int(number.value) * size for number in given)
        return cls(argument.direction, buffer.data, host, Reach(buffer.size, step, low, reach))


@dataclass(frozen=True, slots=True)
class Ran:
    """The events of a launch in several queues, all of which are complete."""

    kernels: tuple[cl.Event, ...]
    copies: tuple[cl.Event, ...]


def run_slices(
    queues: Sequence[cl.CommandQueue],
    kernel: cl.Kernel,
    launch: Launch,
    parts: Sequence[Part],
    values: list[Any],
) -> Ran:
    """Copy, launch and copy back; `values` are the kernel's arguments, of which each slice sets its own."""
    call, trips = launch.call, launch.trips
    slices = slices_of(call.streams, trips[0])
    copied = [_copy_in(queue, parts, slices, k) for k, queue in enumerate(queues[: len(slices)])]
    slots = {(argument.kind, argument.host): k for k, argument in enumerate(call.arguments)}
    kernels: list[cl.Event] = []
    first_group = 0
    for k, (begin, end) in enumerate(slices):
        values[slots[ArgumentKind.FROM, ""]] = np.int64(begin)
        values[slots[ArgumentKind.TRIPS, call.trips[0]]] = np.int64(end)
        if (ArgumentKind.GROUP, "") in slots:
            values[slots[ArgumentKind.GROUP, ""]] = np.int64(first_group)
        kernel.set_args(*values)
        groups = call.group_counts((end - begin, *trips[1:]))
        size = tuple(g * n for g, n in zip(groups, call.items, strict=True))
        waits = _waits(parts, slices, copied, k)
        kernels.append(cl.enqueue_nd_range_kernel(queues[k], kernel, size, call.group_size, wait_for=waits))
        queues[k].flush()
        first_group += int(np.prod(groups))
    copies = [event for row in copied for event in row if event is not None]
    for k in range(len(slices)):
        copies += _copy_out(queues[k], parts, slices, kernels, k)
    for queue in queues[: len(slices)]:
        queue.finish()
    return Ran(tuple(kernels), tuple(copies))


def _copy_in(
    queue: cl.CommandQueue, parts: Sequence[Part], slices: Sequence[tuple[int, int]], k: int
) -> list[cl.Event | None]:
    """The copies of a queue's share of each buffer; None where there is nothing to copy."""
    events: list[cl.Event | None] = []
    for part in parts:
        low, high = part.reach.shares(slices)[k]
        if part.direction is Direction.OUT or low >= high:
            events.append(None)
            continue
        events.append(
            cl.enqueue_copy(queue, part.buffer, part.host[low:high], dst_offset=low, is_blocking=False)
        )
    queue.flush()
    return events


def _waits(
    parts: Sequence[Part],
    slices: Sequence[tuple[int, int]],
    copied: Sequence[Sequence[cl.Event | None]],
    k: int,
) -> list[cl.Event]:
    """The copies of what a slice touches."""
    found: list[cl.Event] = []
    for number, part in enumerate(parts):
        touched = part.reach.touched(*slices[k])
        for share, row in zip(part.reach.shares(slices), copied, strict=True):
            event = row[number]
            if event is not None and _meet(touched, share):
                found.append(event)
    return found


def _copy_out(
    queue: cl.CommandQueue,
    parts: Sequence[Part],
    slices: Sequence[tuple[int, int]],
    kernels: Sequence[cl.Event],
    k: int,
) -> list[cl.Event]:
    """The copies of a queue's share of each result, behind all slices that touch it."""
    events: list[cl.Event] = []
    for part in parts:
        low, high = part.reach.shares(slices)[k]
        if part.direction is Direction.IN or low >= high:
            continue
        waits = [
            event
            for event, piece in zip(kernels, slices, strict=True)
            if _meet((low, high), part.reach.touched(*piece))
        ]
        target = part.host[low:high]
        events.append(
            cl.enqueue_copy(queue, target, part.buffer, src_offset=low, is_blocking=False, wait_for=waits)
        )
    queue.flush()
    return events


def _meet(one: tuple[int, int], two: tuple[int, int]) -> bool:
    return one[0] < two[1] and two[0] < one[1]


def busy_seconds(kernels: Iterable[cl.Event], copies: Iterable[cl.Event]) -> tuple[float, float]:
    """The seconds in which kernels ran, and in which only copies did."""
    running = [_interval(event) for event in kernels]
    everything = [*running, *(_interval(event) for event in copies)]
    kernel = covered(running)
    return 1e-9 * kernel, 1e-9 * (covered(everything) - kernel)


def _interval(event: cl.Event) -> Interval:
    event.wait()
    return event.profile.start, event.profile.end


def covered(intervals: Iterable[Interval]) -> int:
    """The nanoseconds that lie in one interval at least.

    >>> covered([(0, 4), (2, 5), (7, 8)])
    6
    """
    total, reached = 0, None
    for start, end in sorted(intervals):
        begin = start if reached is None else max(start, reached)
        total += max(0, end - begin)
        reached = end if reached is None else max(end, reached)
    return total
