"""A kernel in several queues of an OpenCL device; only worker processes import this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyopencl as cl

from orio_py.measure.offload.slices import BufferPart, Interval
from orio_py.measure.offload.variant import HostFunction


@dataclass(frozen=True, slots=True)
class CommandQueues:
    """The queues in which slices of one kernel run."""

    queues: Sequence[cl.CommandQueue]
    kernel: cl.Kernel
    call: HostFunction

    def copy_in(self, queue: int, part: BufferPart, low: int, high: int) -> cl.Event:
        """Start a copy to the device."""
        return cl.enqueue_copy(
            self.queues[queue], part.buffer, part.host[low:high], dst_offset=low, is_blocking=False
        )

    def launch(
        self, queue: int, values: Sequence[Any], groups: tuple[int, ...], waits: Sequence[cl.Event]
    ) -> cl.Event:
        """Start the kernel."""
        self.kernel.set_args(*values)
        size = tuple(g * n for g, n in zip(groups, self.call.items, strict=True))
        return cl.enqueue_nd_range_kernel(
            self.queues[queue], self.kernel, size, self.call.group_size, wait_for=list(waits)
        )

    def copy_out(
        self, queue: int, part: BufferPart, low: int, high: int, waits: Sequence[cl.Event]
    ) -> cl.Event:
        """Start a copy back."""
        target = part.host[low:high]
        return cl.enqueue_copy(
            self.queues[queue],
            target,
            part.buffer,
            src_offset=low,
            is_blocking=False,
            wait_for=list(waits),
        )

    def flush(self, queue: int) -> None:
        """Submit what is in a queue."""
        self.queues[queue].flush()

    def finish(self, queue: int) -> None:
        """Wait for a queue."""
        self.queues[queue].finish()


def interval(event: cl.Event) -> Interval:
    """When an operation ran."""
    event.wait()
    return event.profile.start, event.profile.end
