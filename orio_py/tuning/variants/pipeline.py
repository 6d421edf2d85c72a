"""The values of the tuning loop, each made from the one before: a request, what was built, what was measured.

    configuration -> BuildRequest -> BuildResult -> MeasuredVariant -> Outcome

None of them is changed once it is made; what is learnt later makes a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.core.diagnostics import Diagnostic
from orio_py.core.units import Seconds
from orio_py.record.measurement import Failure, Measurement, Stage, Success
from orio_py.record.outcome import Outcome, VariantFacts
from orio_py.record.trial import CounterValue, Profile
from orio_py.search_space.configuration import Configuration


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """A configuration that is to be transformed and built."""

    number: int
    """Its place in the batch."""
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a worker made of a request; without `built` and `refusal` another worker builds the same code."""

    request: BuildRequest
    key: str = ""
    """The digest of all that it is built of: the program, the compiler's words, the command line."""
    refusal: Diagnostic | None = None
    """Why a transformation refused the configuration."""
    built: Artifact | BuildFailure | None = None
    code: str = ""
    """The digest of the machine code; '' where equal machine code does not say that runs are equal."""
    facts: VariantFacts = field(default_factory=VariantFacts)
    """What is known of it before it is measured."""
    transforming: Seconds = Seconds(0.0)
    """CPU time of transforming and printing."""
    compiling: Seconds = Seconds(0.0)
    """CPU time of the compiler."""

    @property
    def configuration(self) -> Configuration:
        """What was to be built."""
        return self.request.configuration


def code_folder(key: str) -> str:
    """The name of the folder in which the code of a key is built."""
    return f"code_{key[:24]}"


class MeasurementOrigin(Enum):
    """Where the measurement of a variant is from."""

    MEASURED = "measured"
    COPY = "measured before in this session, of the same code"
    RECALLED = "found in the results database"


@dataclass(frozen=True, slots=True)
class MeasuredVariant:
    """A configuration with its measurement: a trial, as a session knows it."""

    configuration: Configuration
    key: str
    """As in `BuildResult`."""
    measurement: Measurement
    artifact: Artifact | None = None
    """What was built, None for a failure, and where that is on another machine or was not made in this session."""
    origin: MeasurementOrigin = MeasurementOrigin.MEASURED
    amends: bool = False
    """Whether it replaces what was said of the same trial before, after another round of measurement."""
    facts: VariantFacts = field(default_factory=VariantFacts)
    """What was known before it was measured."""
    counters: tuple[CounterValue, ...] = ()
    """All counters, those among the facts included."""
    profiles: tuple[Profile, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    """Descriptions in words, those among the facts included."""
    build: Seconds | None = None
    """Time on the wall of its build, None where nothing was built for it."""
    run: Seconds = Seconds(0.0)
    """Time on the wall of checking, timing and counting it."""

    @property
    def objective(self) -> float | None:
        """What variants are ranked by, None for a failure."""
        return self.measurement.objective if isinstance(self.measurement, Success) else None

    @property
    def outcome(self) -> Outcome:
        """What a searcher hears of it."""
        counters = {counter.name: counter.value for counter in self.counters}
        match self.measurement:
            case Success(objectives=objectives):
                return Outcome(self.configuration, objectives, None, counters, self.facts)
            case Failure(stage=stage):
                return Outcome(self.configuration, (), stage, counters, self.facts)


@dataclass(frozen=True, slots=True)
class RefusedVariant:
    """A configuration that a transformation refused before anything was built; that is no trial."""

    configuration: Configuration
    refusal: Diagnostic

    @property
    def measurement(self) -> Measurement:
        """The failure that it counts as."""
        return Failure(Stage.TRANSFORM, self.refusal.message)

    @property
    def outcome(self) -> Outcome:
        """What a searcher hears of it."""
        return Outcome(self.configuration, failure=Stage.TRANSFORM)


EvaluatedVariant = MeasuredVariant | RefusedVariant

Recall = Callable[[Configuration], MeasuredVariant | None]
"""Finds the trial of a configuration in the results database."""


@dataclass(frozen=True, slots=True)
class QueueCosts:
    """What a queue has used so far, in seconds."""

    building: Seconds = Seconds(0.0)
    """Time on the wall in which nothing could be measured, because variants were built."""
    transform_cpu: Seconds = Seconds(0.0)
    """CPU time of all workers."""
    compile_cpu: Seconds = Seconds(0.0)
    """CPU time of all workers' compilers."""
    least_run: Seconds = Seconds(0.0)
    """The sum of the shortest single runs of all valid variants."""


class VariantQueue(Protocol):
    """Builds and measures batches of configurations, on this machine or on others."""

    @property
    def costs(self) -> QueueCosts:
        """What it has used so far."""
        ...

    def evaluate(self, batch: Sequence[Configuration], room: int) -> Generator[EvaluatedVariant]:
        """The first variants of a batch, as many as give `room` trials, each as soon as it is known.

        Refused ones are no trials.  A variant may come a second time, amended.  Raises EnvironmentProblem where
        nothing is left that could evaluate.
        """
        ...

    def close(self) -> None:
        """End all that builds."""
        ...
