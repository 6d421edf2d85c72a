"""One trial: a configuration of a task, built and measured somewhere, with everything that was seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.record.measurement import Measurement
from orio_py.search_space.configuration import Configuration


class CounterSource(StrEnum):
    """How a counter's value was obtained."""

    HARDWARE = "hardware"
    DEVICE = "device"
    SYSTEM = "operating system"
    SIMULATED = "simulated"
    EMULATED = "emulated"
    DERIVED = "derived"
    COMPILER = "compiler"
    TAU = "tau"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class CounterValue:
    """One counter of a trial, per execution of the kernel; `unit` is free text such as `B` or `J`."""

    name: str
    value: float
    unit: str = ""
    source: CounterSource = CounterSource.HARDWARE


@dataclass(frozen=True, slots=True)
class Profile:
    """A file that a profiler wrote about a trial: the method, its path below the profiler's folder, its text."""

    method: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class TrialKey:
    """What a measurement depends on, as content digests; two trials of one key answer one question.

    `task` covers the code, its inputs at one problem size, the recipe and how it is measured, `toolchain`
    the compiler with its command, `environment` the machine.
    """

    task: str
    configuration: str
    toolchain: str
    environment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A measured configuration.

    `code` is the digest of the generated program with its compiler command; `build` and `run` are seconds
    on the wall, `build` None where nothing was built; `time` is in UTC; `threads` is how many the kernel may
    run on.  `features` are the static ones, known before anything was built (`orio_py.features`).  `metadata` describes machine, compiler and task in words, by names as TAU uses them.  `objectives`
    has the value of each objective but time that a search has ranked the trial by, in the order of the
    searches; None for a trial that failed.
    """

    name: str
    file: str
    task: str
    configuration: Configuration
    toolchain: str
    environment: str
    inputs: Mapping[str, Value]
    measurement: Measurement
    code: str
    build: Seconds | None
    run: Seconds
    time: datetime
    threads: int = 1
    counters: tuple[CounterValue, ...] = ()
    profiles: tuple[Profile, ...] = ()
    features: Mapping[str, float] = field(default_factory=dict[str, float])
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    objectives: Mapping[str, float | None] = field(default_factory=dict[str, float | None])

    @property
    def key(self) -> TrialKey:
        """The digests by which the trial is found."""
        return TrialKey(self.task, self.configuration.digest, self.toolchain, self.environment)
