"""The outcome of evaluating one variant: samples, or the stage at which it failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from orio_py.core.units import Seconds


class Clock(StrEnum):
    """What ranks variants: CPU time of the kernel's thread, time on the wall, or the time on a GPU that is not there.

    Emulated times are no measurements, and are never compared with any.
    """

    THREAD_CPU = "thread CPU time"
    WALL = "wall time"
    EMULATED = "emulated time"


class Stage(StrEnum):
    """Where a variant failed; the words are used in reports and in JSON."""

    TRANSFORM = "refused"
    COMPILE = "compile error"
    COMPILE_TIMEOUT = "compile timeout"
    LOAD = "load error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    MEMORY = "out of memory"
    SANITIZER = "sanitizer report"
    WRONG_RESULT = "wrong result"
    OUT_OF_BOUNDS = "write out of bounds"
    VALIDATION = "rejected by the validation file"
    PROTOCOL = "no result"
    COUNTERS = "no counters"
    CHECKED = "checked, not timed"
    """Its outputs were right where it could be run but not timed: no time of it is known."""
    NOT_RECORDED = "not recorded"


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed repetition by both clocks."""

    wall: Seconds
    cpu: Seconds

    def by(self, clock: Clock) -> Seconds:
        """The sample on the given clock."""
        return self.cpu if clock is Clock.THREAD_CPU else self.wall


@dataclass(frozen=True, slots=True)
class Timing:
    """Median and median absolute deviation, in seconds, of `repeats` samples on one clock."""

    median_s: Seconds
    mad_s: Seconds
    repeats: int
    clock: Clock

    @classmethod
    def of(cls, samples: Sequence[Sample], clock: Clock) -> Timing:
        """Summarise samples.  Raises ValueError when there are none."""
        values = [s.by(clock) for s in samples]
        middle = median(values)
        deviation = median(abs(v - middle) for v in values)
        return cls(Seconds(middle), Seconds(deviation), len(values), clock)

    def as_json(self) -> dict[str, object]:
        """The summary as it stands in reports."""
        return {
            "median_s": self.median_s,
            "mad_s": self.mad_s,
            "repeats": self.repeats,
            "clock": str(self.clock),
        }


@dataclass(frozen=True, slots=True)
class Success:
    """A variant whose outputs matched, with all its samples in the order taken.

    `is_full` is false for a variant that was so slow that its repetitions were cut short.  `score` is the
    value of the search's objective, where that is not the time; `others` those of its further objectives.
    """

    samples: tuple[Sample, ...]
    clock: Clock
    is_full: bool = True
    score: float | None = None
    others: tuple[float, ...] = ()

    @property
    def timing(self) -> Timing:
        """The samples' summary on the ranking clock."""
        return Timing.of(self.samples, self.clock)

    @property
    def time(self) -> Seconds:
        """The one figure for how long a call takes: the median CPU time, or the smallest wall time.

        Other programs lengthen wall time and never shorten it, so its minimum is the steadier figure.
        """
        return self.time_by(self.clock)

    def time_by(self, clock: Clock) -> Seconds:
        """The figure on a given clock."""
        values = [sample.by(clock) for sample in self.samples]
        return Seconds(median(values) if clock is Clock.THREAD_CPU else min(values))

    @property
    def wall_median(self) -> Seconds:
        """The median wall time of a call."""
        return Seconds(median(sample.wall for sample in self.samples))

    @property
    def objective(self) -> float:
        """What variants are ranked by, less being better: the time in seconds, or the score."""
        return self.time if self.score is None else self.score

    @property
    def objectives(self) -> tuple[float, ...]:
        """The values of all objectives, the one that ranks variants first."""
        return (self.objective, *self.others)

    def joined(self, other: Success) -> Success:
        """Both measurements as one, still without a score."""
        return Success((*self.samples, *other.samples), self.clock, self.is_full and other.is_full)


@dataclass(frozen=True, slots=True)
class Failure:
    """A variant that did not get as far as being timed, with the reason in words."""

    stage: Stage
    reason: str


Measurement = Success | Failure
