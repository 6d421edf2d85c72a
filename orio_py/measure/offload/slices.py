"""Runs a kernel in several queues, as the generated host code does, and tells how long the device was busy.

Transfers and kernels overlap, so that their times cannot be added up: the kernels' time is that in which one at
least runs, the transfers' that in which there are only transfers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from orio_py.codegen.device import ArgumentKind, KernelArgument, Reach, slices_of
from orio_py.kernel.call import slice_names
from orio_py.kernel.plan import Direction
from orio_py.measure.offload.host import Launch

Interval = tuple[int, int]
"""Nanoseconds of a device's clock."""

Event = Any
"""What a device's library tells of an operation that was put into a queue."""


@dataclass(frozen=True, slots=True)
class BufferPart:
    """A buffer of a launch, the bytes of the host's array that it holds, and what iterations touch of them."""

    direction: Direction
    buffer: Any
    host: Any
    reach: Reach

    @classmethod
    def of(cls, launch: Launch, argument: KernelArgument, buffer: Any, size: int, host: Any) -> BufferPart:
        """The part of one argument, whose buffer has `size` bytes."""
        assert argument.direction is not None
        element = argument.element_bytes
        given = [launch.numbers.get(name) for name in slice_names(argument.of)]
        step, low, reach = (0 if number is None else int(number.value) * element for number in given)
        return cls(argument.direction, buffer, host, Reach(size, step, low, reach))


class Queues(Protocol):
    """Queues of a device, by number; operations of one run in their order, and nothing is waited for."""

    def copy_in(self, queue: int, part: BufferPart, low: int, high: int) -> Event:
        """Copy the bytes from `low` to before `high` of a part to the device."""
        ...

    def launch(
        self, queue: int, values: Sequence[Any], groups: tuple[int, ...], waits: Sequence[Event]
    ) -> Event:
        """Start the kernel with these arguments behind other operations."""
        ...

    def copy_out(self, queue: int, part: BufferPart, low: int, high: int, waits: Sequence[Event]) -> Event:
        """Copy bytes of a part back behind other operations."""
        ...

    def flush(self, queue: int) -> None:
        """Let the device begin with what is in a queue."""
        ...

    def finish(self, queue: int) -> None:
        """Wait for all that is in a queue."""
        ...


@dataclass(frozen=True, slots=True)
class Ran:
    """The events of a launch in several queues, all of which are complete."""

    kernels: tuple[Event, ...]
    copies: tuple[Event, ...]


def run_slices(queues: Queues, launch: Launch, parts: Sequence[BufferPart], values: list[Any]) -> Ran:
    """Copy, launch and copy back; `values` are the kernel's arguments, of which each slice sets its own."""
    call, trips = launch.call, launch.trips
    slices = slices_of(call.streams, trips[0])
    numbers = range(len(slices))
    copied = [_copy_in(queues, parts, slices, k) for k in numbers]
    slots = {(argument.kind, argument.host): k for k, argument in enumerate(call.arguments)}
    kernels: list[Event] = []
    first_group = 0
    for k, (begin, end) in enumerate(slices):
        values[slots[ArgumentKind.FROM, ""]] = np.int64(begin)
        values[slots[ArgumentKind.TRIPS, call.trips[0]]] = np.int64(end)
        if (ArgumentKind.GROUP, "") in slots:
            values[slots[ArgumentKind.GROUP, ""]] = np.int64(first_group)
        groups = call.group_counts((end - begin, *trips[1:]))
        kernels.append(queues.launch(k, values, groups, _waits(parts, slices, copied, k)))
        queues.flush(k)
        first_group += prod(groups)
    copies = [event for row in copied for event in row if event is not None]
    for k in numbers:
        copies += _copy_out(queues, parts, slices, kernels, k)
    for k in numbers:
        queues.finish(k)
    return Ran(tuple(kernels), tuple(copies))


def _copy_in(
    queues: Queues, parts: Sequence[BufferPart], slices: Sequence[tuple[int, int]], k: int
) -> list[Event | None]:
    """The copies of a queue's share of each buffer; None where there is nothing to copy."""
    events: list[Event | None] = []
    for part in parts:
        low, high = part.reach.shares(slices)[k]
        if part.direction is Direction.OUT or low >= high:
            events.append(None)
            continue
        events.append(queues.copy_in(k, part, low, high))
    queues.flush(k)
    return events


def _waits(
    parts: Sequence[BufferPart],
    slices: Sequence[tuple[int, int]],
    copied: Sequence[Sequence[Event | None]],
    k: int,
) -> list[Event]:
    """The copies of what a slice touches."""
    found: list[Event] = []
    for number, part in enumerate(parts):
        touched = part.reach.touched(*slices[k])
        for share, row in zip(part.reach.shares(slices), copied, strict=True):
            event = row[number]
            if event is not None and _meet(touched, share):
                found.append(event)
    return found


def _copy_out(
    queues: Queues,
    parts: Sequence[BufferPart],
    slices: Sequence[tuple[int, int]],
    kernels: Sequence[Event],
    k: int,
) -> list[Event]:
    """The copies of a queue's share of each result, behind all slices that touch it."""
    events: list[Event] = []
    for part in parts:
        low, high = part.reach.shares(slices)[k]
        if part.direction is Direction.IN or low >= high:
            continue
        waits = [
            event
            for event, piece in zip(kernels, slices, strict=True)
            if _meet((low, high), part.reach.touched(*piece))
        ]
        events.append(queues.copy_out(k, part, low, high, waits))
    queues.flush(k)
    return events


def _meet(one: tuple[int, int], two: tuple[int, int]) -> bool:
    return one[0] < two[1] and two[0] < one[1]


def busy_seconds(kernels: Sequence[Interval], copies: Sequence[Interval]) -> tuple[float, float]:
    """The seconds in which kernels ran, and in which only copies did."""
    kernel = covered(kernels)
    return 1e-9 * kernel, 1e-9 * (covered([*kernels, *copies]) - kernel)


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
