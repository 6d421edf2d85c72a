"""Answers from stored trials: searchers are tried, tested and compared without hardware.

A recording is a task as far as it was measured: its search space holds just the configurations that are
stored, and each answer is what was measured then, failures included, with the time that building and running
took.  The wall time of a search on a recording is simulated as the sum of these times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from orio_py.core.diagnostics import fail
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.record.device import DEVICE_NAME
from orio_py.record.measurement import Failure, Measurement, Stage, Success
from orio_py.record.outcome import Outcome
from orio_py.record.trial import Trial
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.listed import ListedSpace, space_of_rows
from orio_py.store.database import ResultsDatabase
from orio_py.store.imported import FRAMEWORK, seconds_name
from orio_py.store.interchange import format_of, read
from orio_py.store.selection import Selection

_DATABASES = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a configuration achieved: its objective, None for a failure, and how it failed.

    `build`, `run` and `overhead` are the seconds on the wall that building, validating with timing, and the
    tuner itself took when it was measured.
    """

    objective: float | None
    failure: Failure | None
    build: Seconds
    run: Seconds
    overhead: Seconds = Seconds(0.0)
    counters: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def cost(self) -> Seconds:
        """The wall time of the evaluation in seconds."""
        return Seconds(self.build + self.run + self.overhead)

    def outcome(self, configuration: Configuration) -> Outcome:
        """What a searcher hears of it."""
        failure = self.failure.stage if self.failure is not None else Stage.NOT_RECORDED
        return Outcome.of(configuration, self.objective, failure)

    def profiled(self, configuration: Configuration) -> Outcome:
        """What a searcher hears of it that asked for its counters."""
        return replace(self.outcome(configuration), counters=self.counters)


NOT_RECORDED = Recorded(
    None, Failure(Stage.NOT_RECORDED, "the configuration is not stored"), Seconds(0.0), Seconds(0.0)
)
"""The answer for a configuration that the recording does not hold."""


@dataclass(frozen=True)
class Recording:
    """The stored trials of one task on one machine.

    `objective` is the expression of the objective, None for the time; `device` is '' for the processor or
    where it is not told.
    """

    name: str
    device: str
    inputs: Mapping[str, Value]
    objective: str | None
    space: ListedSpace
    rows: Mapping[Configuration, Recorded]

    @cached_property
    def optimum(self) -> float | None:
        """The least objective of all; None where everything failed."""
        return min((row.objective for row in self.rows.values() if row.objective is not None), default=None)


class ReplayEvaluator:
    """Evaluates configurations by looking them up; `elapsed` is the simulated wall time so far.

    A configuration that was evaluated before is answered again and costs nothing, as a results database
    would answer it; `evaluations` counts the others, failures included.  Counters are told only to who asks for a
    profile, which is a further run: `profiles` counts these.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.elapsed = Seconds(0.0)
        self._seen: set[Configuration] = set()
        self._profiled: set[Configuration] = set()

    @property
    def profiles(self) -> int:
        """How many different configurations were profiled."""
        return len(self._profiled)

    @property
    def evaluations(self) -> int:
        """How many different configurations were evaluated."""
        return len(self._seen)

    def evaluate(self, configuration: Configuration) -> Recorded:
        """What the configuration achieved; ``Stage.NOT_RECORDED`` where that is not stored."""
        found = self.recording.rows.get(configuration, NOT_RECORDED)
        if configuration not in self._seen:
            self._seen.add(configuration)
            self.elapsed = Seconds(self.elapsed + found.cost)
        return found

    def profile(self, configuration: Configuration) -> Outcome:
        """What the configuration achieved, with its counters.

        Recordings do not tell how long profiling took: another build and run are charged.
        """
        found = self.evaluate(configuration)
        if configuration not in self._profiled:
            self._profiled.add(configuration)
            self.elapsed = Seconds(self.elapsed + found.cost)
        return found.profiled(configuration)

    def __call__(self, configuration: Configuration) -> Outcome:
        """What the configuration achieved, as searchers hear it."""
        return self.evaluate(configuration).outcome(configuration)


def record(trials: Sequence[Trial], objective: str | None = None) -> Recording:
    """The recording of trials of one task on one machine; of one configuration the newest trial counts.

    The objective is the one given, else the one that the trials were ranked by last, else time: the median
    CPU time, or the least wall time.  A trial without a value of it is a failure.

    Raises DiagnosticError ORIO-D019 for no trials, or trials of several tasks or with different parameters.
    """
    if not trials:
        fail("ORIO-D019", "there are no trials to replay")
    several = {(trial.task, trial.toolchain, trial.environment) for trial in trials}
    if len(several) > 1:
        message = f"the trials belong to {len(several)} series; a replay needs those of one"
        fail("ORIO-D019", message, help="`orio results list` shows them; choose by file, region or task")
    if objective is None:
        objective = next((list(trial.objectives)[-1] for trial in reversed(trials) if trial.objectives), None)
    rows = {trial.configuration: _recorded(trial, objective) for trial in trials}
    parameters = {frozenset(configuration) for configuration in rows}
    if len(parameters) > 1:
        fail("ORIO-D019", "the trials do not have the same parameters, so they span no search space")
    first = trials[0]
    device = first.metadata.get(DEVICE_NAME, "")
    return Recording(first.name, device, first.inputs, objective, space_of_rows(list(rows)), rows)


def load_recording(
    place: Path | str, selection: Selection | None = None, objective: str | None = None
) -> Recording:
    """The recording in a file (T4, cache of Kernel Tuner, results of KTT, CSV, Parquet) or in a results database.

    A place is a database where it is an address or ends in `.db` or `.sqlite`; of it the newest generation of
    the series meant counts.  Raises as `record`, and ORIO-D006 where the database holds nothing of the kind;
    for files as `orio_py.store.interchange.read`.
    """
    if "://" not in str(place) and Path(place).suffix not in _DATABASES:
        path = Path(place)
        return record(read(path, format_of(path), datetime.now(UTC)), objective)
    with ResultsDatabase.open(place, create=False) as database:
        trials = database.history(selection or Selection())
    if not trials:
        shown = (selection or Selection()).show()
        fail(
            "ORIO-D006", f"`{place}` holds nothing that matches {shown}", help="`orio results list` shows it"
        )
    return record(trials, objective)


def _recorded(trial: Trial, objective: str | None) -> Recorded:
    found: Measurement = trial.measurement
    overhead = trial.metadata.get(seconds_name(FRAMEWORK), "0")
    costs = (trial.build or Seconds(0.0), trial.run, Seconds(float(overhead)))
    match found:
        case Failure():
            return Recorded(None, found, *costs)
        case Success():
            value = found.objective if objective is None else trial.objectives.get(objective)
            if value is not None:
                counters = {counter.name: counter.value for counter in trial.counters}
                return Recorded(value, None, *costs, counters)
            missing = Failure(Stage.COUNTERS, f"no value of `{objective}` is stored")
            return Recorded(None, missing, *costs)
