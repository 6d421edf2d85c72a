"""Judges the machine by a loop of fixed length: did its speed drift, did others take the processor?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orio_py.record.measurement import Sample
from orio_py.record.timing_noise import TimingNoise

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
