"""Events around operations of a CUDA driver, and the streams in which slices of a kernel run."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from orio_py.measure.cuda.drivers.base import Address, CudaDriver, Event, Kernel, Stream
from orio_py.measure.offload.slices import BufferPart, Interval


@dataclass(frozen=True, slots=True)
class Timed:
    """An operation between two events."""

    begin: Event
    end: Event

    @property
    def ends(self) -> tuple[Event, Event]:
        """Both events."""
        return self.begin, self.end

    def interval(self, driver: CudaDriver, base: Event) -> Interval:
        """When it ran, in nanoseconds after another event."""
        begin, end = (round(1e9 * driver.seconds(base, event)) for event in self.ends)
        return begin, end


@dataclass(slots=True)
class EventPool:
    """The events of a run, which each launch uses anew."""

    driver: CudaDriver
    _events: list[Event] = field(default_factory=list[Event])
    _used: int = 0

    def reuse(self) -> None:
        """What was measured by the events before is not wanted any more."""
        self._used = 0

    def new(self) -> Event:
        """An event that is not in use."""
        if self._used == len(self._events):
            self._events.append(self.driver.new_event())
        self._used += 1
        return self._events[self._used - 1]

    @contextmanager
    def timed(self, stream: Stream = None) -> Generator[Timed]:
        """Put an event before and one behind what is put into a stream meanwhile."""
        found = Timed(self.new(), self.new())
        self.driver.record(found.begin, stream)
        yield found
        self.driver.record(found.end, stream)


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams in which slices of one kernel run, as `offload.slices.Queues`."""

    driver: CudaDriver
    events: EventPool
    streams: Sequence[Stream]
    kernel: Kernel
    block: tuple[int, int, int]

    def copy_in(self, queue: int, part: BufferPart, low: int, high: int) -> Timed:
        """Start a copy to the device."""
        stream = self.streams[queue]
        with self.events.timed(stream) as timed:
            self.driver.copy_to_device(Address(part.buffer.value + low), part.host[low:high], stream)
        return timed

    def launch(
        self, queue: int, values: Sequence[Any], groups: tuple[int, ...], waits: Sequence[Timed]
    ) -> Timed:
        """Start the kernel."""
        stream = self._behind(queue, waits)
        x, y, z = (*groups, 1, 1)[:3]
        with self.events.timed(stream) as timed:
            self.driver.launch(self.kernel, (x, y, z), self.block, values, stream=stream)
        return timed

    def copy_out(self, queue: int, part: BufferPart, low: int, high: int, waits: Sequence[Timed]) -> Timed:
        """Start a copy back."""
        stream = self._behind(queue, waits)
        with self.events.timed(stream) as timed:
            self.driver.copy_to_host(part.host[low:high], Address(part.buffer.value + low), stream)
        return timed

    def flush(self, queue: int) -> None:
        """Nothing: CUDA submits by itself."""

    def finish(self, queue: int) -> None:
        """Wait for a stream."""
        self.driver.synchronize(self.streams[queue])

    def _behind(self, queue: int, waits: Sequence[Timed]) -> Stream:
        for timed in waits:
            self.driver.wait(self.streams[queue], timed.end)
        return self.streams[queue]
