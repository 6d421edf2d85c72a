"""Chooses the clock and the number of calls per sample for a kernel of a given length."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock

CPU_CLOCK_FROM = Seconds(100e-6)
"""Samples at least this long can be timed by CPU time: reading that clock costs about a microsecond."""

SAMPLE = Seconds(200e-6)
"""How long a sample of several calls should take, so that a variant twice as fast still suffices."""

TICKS = 200
"""A single call must take this many of the wall clock's smallest steps: errors of half a per cent."""

RESTORING_LIMIT = 4.0
"""Restoring the inputs may take this many times as long as the kernel when it is subtracted from a sample."""

MOST_CALLS = 100_000


@dataclass(frozen=True, slots=True)
class Precision:
    """The ranking clock, and how many calls make one sample."""

    clock: Clock
    inner: int = 1


def choose_precision(
    kernel: Seconds, *, tick: Seconds, restoring: Seconds, is_parallel: bool
) -> Precision | None:
    """The way to time a kernel that takes `kernel` seconds a call; None when there is none.

    `tick` is the wall clock's smallest step, `restoring` what putting the inputs back takes.  Every call
    has to start from the same inputs, so a sample of several calls contains as many restorings; their
    time is measured beside it and subtracted, which is exact enough only while they are short.

    >>> choose_precision(Seconds(3e-6), tick=Seconds(3e-8), restoring=Seconds(1e-6), is_parallel=False)
    Precision(clock=<Clock.THREAD_CPU: 'thread CPU time'>, inner=67)
    """
    clock = Clock.WALL if is_parallel else Clock.THREAD_CPU
    if kernel >= CPU_CLOCK_FROM:
        return Precision(clock)
    shortest = max(kernel, Seconds(tick / 4))
    if restoring <= RESTORING_LIMIT * shortest:
        return Precision(clock, min(ceil(SAMPLE / shortest), MOST_CALLS))
    return Precision(Clock.WALL) if kernel >= TICKS * tick else None
