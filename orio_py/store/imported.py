"""Trials that other tools measured, as the formats of those tools tell of them.

All trials of a file are one task.  Where the name of the kernel and its device are known, the task is that of
the name, the input sizes and the parameters, and the device is the machine: files about the same kernel on
several devices are then one task on several machines.  Where nothing is known, the file's name stands in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePath

from orio_py.core.digest import digest
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.record.device import DEVICE_NAME
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Success
from orio_py.record.trial import CounterSource, CounterValue, Trial
from orio_py.search_space.configuration import Configuration

REPORTED = "reported_time"
"""The objective of imported trials: the time in seconds by which the tool ranked them, often a mean."""

SECONDS = {
    "s": 1.0,
    "seconds": 1.0,
    "ms": 1e-3,
    "milliseconds": 1e-3,
    "miliseconds": 1e-3,  # so written by the tool whose files are shared most
    "us": 1e-6,
    "microseconds": 1e-6,
    "ns": 1e-9,
    "nanoseconds": 1e-9,
}
"""The length of each unit of time."""

VERIFICATION = "verification"
BENCHMARK = "benchmark"
FRAMEWORK = "framework"
SEARCH = "search"
"""What a tool spent time on beside compilation."""

_IN_RUN = (VERIFICATION, BENCHMARK)


def seconds_name(what: str) -> str:
    """The name under which metadata hold the seconds that a tool reported for something."""
    return f"orio:seconds:{what}"


@dataclass(frozen=True, slots=True)
class ImportedMeasurement:
    """What the user tells of a file: the name of the kernel, and of the device; None where nothing."""

    name: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the trials of a file come from; `task`, `toolchain` and `environment` are digests."""

    file: str
    name: str
    task: str
    toolchain: str
    environment: str
    inputs: Mapping[str, Value]
    metadata: Mapping[str, str]

    @classmethod
    def of(
        cls,
        file: str,
        told: ImportedMeasurement,
        parameters: Sequence[str],
        inputs: Mapping[str, Value] | None = None,
    ) -> Origin:
        """The origin of a file; `told` holds what its user or itself tells."""
        plain = PurePath(file).name.removesuffix(".gz")
        name = told.name or re.sub(r"[-_](T4|cache)$", "", PurePath(plain).stem, flags=re.IGNORECASE)
        key: list[object] = ["T4", plain]
        if told.name is not None:
            key = ["imported", name, Configuration(inputs or {}).as_json(), sorted(parameters)]
        metadata = {"orio:imported": plain, "orio:cpu": "not told; wall time stands in for it"}
        if told.device is not None:
            metadata[DEVICE_NAME] = told.device
        return cls(
            file,
            name,
            digest(key),
            digest(["T4", "toolchain not told"]),
            digest(["T4", "environment not told"] if told.device is None else ["device", told.device]),
            inputs or {},
            metadata,
        )


@dataclass(frozen=True, slots=True)
class ImportedTrial:
    """One result as a tool reported it.

    `times` are seconds per repetition, empty for a failure; `time` is the tool's own figure, in seconds;
    `seconds` is what it spent on other things than compilation, by the names above.
    """

    configuration: Configuration
    times: tuple[float, ...]
    time: float | None
    failure: Failure | None
    build: float | None
    seconds: Mapping[str, float]
    stamp: datetime
    counters: Mapping[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])


def imported_trial(origin: Origin, reported: ImportedTrial) -> Trial:
    """The trial of a result.  Raises ValueError for one that neither failed nor has a time."""
    spent = {seconds_name(what): repr(value) for what, value in reported.seconds.items()}
    return Trial(
        name=origin.name,
        file=origin.file,
        task=origin.task,
        configuration=reported.configuration,
        toolchain=origin.toolchain,
        environment=origin.environment,
        inputs=origin.inputs,
        measurement=_measurement(reported),
        code=digest(["T4", origin.metadata["orio:imported"], reported.configuration.digest]),
        build=None if reported.build is None else Seconds(reported.build),
        run=Seconds(sum(reported.seconds.get(what, 0.0) for what in _IN_RUN)),
        time=reported.stamp,
        counters=tuple(
            CounterValue(name, value, unit, CounterSource.REPORTED)
            for name, (value, unit) in reported.counters.items()
        ),
        metadata={**origin.metadata, **spent},
        objectives={} if reported.time is None and reported.failure is None else {REPORTED: reported.time},
    )


def _measurement(reported: ImportedTrial) -> Measurement:
    if reported.failure is not None:
        return reported.failure
    times = reported.times or (() if reported.time is None else (reported.time,))
    if not times:
        raise ValueError("a correct result needs `times.runtimes` or a measurement named `time`")
    return Success(tuple(Sample(Seconds(value), Seconds(value)) for value in times), Clock.WALL)


def read_stamp(text: str) -> datetime:
    """A time stamp, in UTC where it tells no zone.  Raises ValueError."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
