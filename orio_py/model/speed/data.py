"""What models of speed learn from: stored trials with static features, a series for each task, compiler and machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from orio_py.record.measurement import Success
from orio_py.record.trial import Trial

Array: TypeAlias = "npt.NDArray[np.float64]"

KERNEL_TIME = "kernel_time"
"""The counter of trials on devices that has the time of the kernel alone."""

LEAST_TRIALS = 8
"""A series with fewer valid trials says too little of what is fast."""


@dataclass(frozen=True, slots=True)
class SpeedSeries:
    """Variants of one kernel at one size on one machine: rows of features, and their speeds.

    `speeds` are throughputs, as shares of that of the fastest of the series (section 5.1 of the paper, see
    `orio_py.model.speed.neighbours`), so that those of different kernels compare.
    """

    name: str
    inputs: Mapping[str, object]
    rows: Array
    speeds: Array
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class SpeedData:
    """Series that have the same features, whose names are those of the columns."""

    features: tuple[str, ...]
    series: tuple[SpeedSeries, ...]

    @property
    def count(self) -> int:
        """The number of variants."""
        return sum(len(one.speeds) for one in self.series)

    def without(self, place: int) -> SpeedData:
        """All series but one."""
        return SpeedData(self.features, self.series[:place] + self.series[place + 1 :])


def speed_data(trials: Sequence[Trial]) -> list[SpeedData]:
    """The series that trials make, those with the same features together; the largest first.

    Kernels and C code have different features.  Trials without features, failures and series with fewer than
    `LEAST_TRIALS` others are left out.
    """
    series: dict[tuple[str, str, str], list[Trial]] = {}
    for trial in trials:
        if trial.features and _seconds(trial) > 0:
            series.setdefault((trial.task, trial.toolchain, trial.environment), []).append(trial)
    kinds: dict[bool, list[list[Trial]]] = {}
    for members in series.values():
        if len(members) >= LEAST_TRIALS:
            kinds.setdefault(is_of_kernels(members[0].features), []).append(members)
    return sorted((_data(members) for members in kinds.values()), key=lambda data: -data.count)


def is_of_kernels(features: Mapping[str, float]) -> bool:
    """Whether features are those of kernels, and not of C code."""
    return "local_memory" in features


def _data(series: Sequence[Sequence[Trial]]) -> SpeedData:
    names = {name for members in series for trial in members for name in trial.features}
    ordered = tuple(sorted(names))
    return SpeedData(ordered, tuple(_series(members, ordered) for members in series))


def _series(trials: Sequence[Trial], names: Sequence[str]) -> SpeedSeries:
    first = trials[0]
    seconds = np.array([_seconds(trial) for trial in trials])
    return SpeedSeries(
        first.name,
        first.inputs,
        feature_rows([trial.features for trial in trials], names),
        seconds.min() / seconds,
        tuple(trials),
    )


def _seconds(trial: Trial) -> float:
    """How long a trial took, without the copies around a kernel where that is known; 0 for a failure."""
    if not isinstance(trial.measurement, Success):
        return 0.0
    of_kernel = (counter.value for counter in trial.counters if counter.name == KERNEL_TIME)
    return next(of_kernel, float(trial.measurement.time))


def feature_rows(found: Sequence[Mapping[str, float]], names: Sequence[str]) -> Array:
    """Rows of features in the order of some names; 0 for one that is missing."""
    rows = [[values.get(name, 0.0) for name in names] for values in found]
    return np.array(rows, dtype=np.float64).reshape(len(found), len(names))
