"""Before kernels are timed: the clock and the calls per sample that serve, and whether the machine is quiet.

The machine is judged by a loop of fixed length: did its speed drift, did others take the processor?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock, Sample
from orio_py.record.timing_noise import TimingNoise

CPU_CLOCK_FROM = Seconds(100e-6)
"""Samples at least this long can be timed by CPU time: reading that clock costs about a microsecond."""

SAMPLE = Seconds(200e-6)
"""How long a sample of several calls should take, so that a variant twice as fast still suffices."""

TICKS = 200
"""A single call must take this many of the wall clock's smallest steps: errors of half a per cent."""

RESTORING_LIMIT = 4.0
"""Restoring the inputs may take this many times as long as the kernel when it is subtracted from a sample."""

MOST_CALLS = 100_000

LONGEST_SAMPLE = Seconds(20e-3)
"""Restoring the inputs may take so long in a sample of more calls than were chosen at first."""


@dataclass(frozen=True, slots=True)
class Precision:
    """The ranking clock, and how many calls make one sample."""

    clock: Clock
    inner: int = 1


@dataclass(frozen=True, slots=True)
class TimingCosts:
    """The wall clock's smallest step, and what putting back takes that a call changes."""

    tick: Seconds
    restoring: Seconds


def choose_precision(kernel: Seconds, costs: TimingCosts, *, is_parallel: bool) -> Precision | None:
    """The way to time a kernel that takes `kernel` seconds a call; None when there is none.

    Every call has to start from the same inputs, so a sample of several calls contains as many restorings; their
    time is measured beside it and subtracted, which is exact enough only while they are short.

    >>> choose_precision(Seconds(3e-6), TimingCosts(Seconds(3e-8), Seconds(1e-6)), is_parallel=False)
    Precision(clock=<Clock.THREAD_CPU: 'thread CPU time'>, inner=67)
    """
    clock = Clock.WALL if is_parallel else Clock.THREAD_CPU
    if kernel >= CPU_CLOCK_FROM:
        return Precision(clock)
    shortest = max(kernel, Seconds(costs.tick / 4))
    if costs.restoring <= RESTORING_LIMIT * shortest:
        return Precision(clock, min(ceil(SAMPLE / shortest), MOST_CALLS))
    return Precision(Clock.WALL) if kernel >= TICKS * costs.tick else None


def with_enough_calls(chosen: Precision, kernel: Seconds, costs: TimingCosts) -> Precision:
    """The same way of timing, with the calls that a sample needs of a kernel that takes `kernel` seconds when repeated.

    In the first run all of its inputs were put back before each call, so that it found little of them in caches.

    >>> with_enough_calls(Precision(Clock.WALL, 10), Seconds(3e-6), TimingCosts(Seconds(3e-8), Seconds(1e-6)))
    Precision(clock=<Clock.WALL: 'wall time'>, inner=67)
    """
    needed = ceil(SAMPLE / max(kernel, Seconds(costs.tick / 4)))
    allowed = ceil(LONGEST_SAMPLE / max(costs.restoring, Seconds(1e-9)))
    return Precision(chosen.clock, max(chosen.inner, min(needed, allowed, MOST_CALLS)))


LOOPS = 3
"""Loops per reading.  The fastest tells the processor's speed, all of them together tell the waiting."""

DRIFT_LIMIT = 0.05
"""A processor whose speed changes by more than this makes variants look different that are not."""

WAITING_LIMIT = 0.10
"""Where others take a larger share of the time than this, wall times are doubtful."""


@dataclass(slots=True)
class Calibrations:
    """The readings of one session, in the order taken; each is `LOOPS` runs of the loop.

    `wall` and `busy` are seconds of serial kernels meanwhile, which show waiting better: they run longer.
    """

    readings: list[tuple[Sample, ...]] = field(default_factory=list[tuple[Sample, ...]])
    wall: float = 0.0
    busy: float = 0.0

    def add(self, reading: Sequence[Sample]) -> None:
        """Take note of a reading; one without loops says nothing."""
        if reading:
            self.readings.append(tuple(reading))

    def watch(self, samples: Sequence[Sample]) -> None:
        """Take note of the samples of a serial kernel, whose wall and CPU time agree when nobody disturbs."""
        self.wall += sum(sample.wall for sample in samples)
        self.busy += sum(sample.cpu for sample in samples)

    def steadiness(self, cpu: int | None = None) -> TimingNoise:
        """The verdict over all readings; `cpu` is the processor that the kernels were kept on."""
        if not self.readings:
            return TimingNoise(0, 0.0, 0.0, is_steady=True, remark="not observed", cpu=cpu)
        speeds = [min(loop.cpu for loop in reading) for reading in self.readings]
        drift = max(speeds) / max(min(speeds), 1e-12) - 1.0
        wall = self.wall + sum(loop.wall for reading in self.readings for loop in reading)
        busy = self.busy + sum(loop.cpu for reading in self.readings for loop in reading)
        waiting = max(0.0, 1.0 - busy / max(wall, 1e-12))
        remarks: list[str] = []
        if drift > DRIFT_LIMIT:
            remarks.append(f"the processor's speed varied by {drift:.0%}")
        if waiting > WAITING_LIMIT:
            remarks.append(f"other programs took {waiting:.0%} of the processor's time")
        remark = " and ".join(remarks) or "steady"
        return TimingNoise(len(self.readings), drift, waiting, not remarks, remark, cpu)
