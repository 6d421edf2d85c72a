"""What a session remembers in the results database: trials, and the report of a finished run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Severity
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.record.finals import FinalEntry
from orio_py.record.measurement import Clock, Measurement, Success
from orio_py.record.trial import CounterValue, Profile, Trial, TrialKey
from orio_py.search_space.configuration import Configuration
from orio_py.store.result_lookup import ResultLookup
from orio_py.store.series import Series
from orio_py.tuning.result import RegionReport
from orio_py.tuning.session.report_codec import Remembered, decode, encode

if TYPE_CHECKING:  # loaded when a session begins: finished tasks are answered sooner than it loads
    from orio_py.store.database import ResultsDatabase

__all__ = ["Archive", "Keys", "Remembered", "TrialCache"]


@dataclass(frozen=True, slots=True)
class Keys:
    """The digests of a session, and what to file its trials under.

    `plan` covers all that decides the result of a whole session: the rest, the space, the search, its
    seed and its budget.  `metadata` goes with every trial.  `objectives` are empty for time alone.
    """

    task: str
    toolchain: str
    environment: str
    plan: str
    name: str
    file: str
    inputs: Mapping[str, Value]
    threads: int
    host: str
    metadata: Mapping[str, str]
    objectives: tuple[str, ...] = ()

    @property
    def series(self) -> Series:
        """What the session's trials have in common."""
        return Series(self.task, self.toolchain, self.environment)


@dataclass(slots=True)
class Archive:
    """The results database of a command; it is opened by the first session that measures.

    `problems` takes the warnings about a database that is not `required` and cannot be used.
    """

    place: Path | str
    required: bool
    problems: list[Diagnostic]
    _glance: ResultLookup | None = None
    _database: ResultsDatabase | None = None
    _is_tried: bool = False

    @classmethod
    def open(cls, place: Path | str, problems: list[Diagnostic], *, required: bool) -> Archive:
        """The archive at `place`, whose database is opened now unless it is there and in order.

        Raises as `ResultsDatabase.open`, if it is required.
        """
        archive = cls(place, required, problems, ResultLookup.at(place))
        if archive._glance is None:
            archive.database()
        return archive

    def finished(self, keys: Keys, position: Position) -> Remembered | None:
        """The outcome of a finished run of the same plan, if it can be had without the database's library."""
        content = self._glance.report(keys.plan, keys.series) if self._glance is not None else None
        return decode(content, position) if content is not None else None

    def database(self) -> ResultsDatabase | None:
        """The open database, or None where it cannot be used.  Raises as `open`."""
        from orio_py.store.database import ResultsDatabase  # takes time to load

        if self._database is None and not self._is_tried:
            self._is_tried = True
            try:
                self._database = ResultsDatabase.open(self.place)
            except DiagnosticError as problem:
                if self.required:
                    raise
                self.problems.extend(replace(d, severity=Severity.WARNING) for d in problem.diagnostics)
        return self._database

    def close(self) -> None:
        """Close the database."""
        if self._database is not None:
            self._database.close()


@dataclass(slots=True)
class TrialCache:
    """The stored trials of one session; `open` makes it.

    `clock` is the ranking clock of the session: samples were taken on both, so that trials ranked by the
    other one are read anew.  All methods raise EnvironmentProblem ORIO-D001 when the database fails.
    """

    database: ResultsDatabase
    keys: Keys
    now: Callable[[], datetime]
    generation: int
    clock: Clock | None = None
    _trials: dict[str, Trial] = field(default_factory=dict[str, Trial])
    _own: set[str] = field(default_factory=set[str])
    _run: int | None = None

    @classmethod
    def open(
        cls, database: ResultsDatabase, keys: Keys, now: Callable[[], datetime], *, fresh: bool = False
    ) -> TrialCache:
        """The memory of a session; when `fresh`, stored trials are kept but not used."""
        generation = database.begin(keys.series, now(), fresh=fresh)
        return cls(database, keys, now, generation, _trials=dict(database.find(keys.series, generation)))

    def finished(self, position: Position) -> Remembered | None:
        """The outcome of a finished run of the same plan, told of the region where it stands now.

        Without one, a run begins here.
        """
        content = self.database.result(self.keys.plan, self.generation)
        known = decode(content, position) if content is not None else None
        if known is None:
            self._run = self.database.start_run(
                self.keys.plan,
                self.keys.series,
                self.generation,
                host=self.keys.host,
                process=os.getpid(),
                time=self.now(),
                objective=next(iter(self.keys.objectives), None),
            )
        return known

    def recall(self, configuration: Configuration) -> Trial | None:
        """An earlier trial, of this process or of another one that tunes the same task."""
        key = configuration.digest
        trial = self._trials.get(key)
        if trial is None:
            series = self.keys.series
            trial_key = TrialKey(series.task, key, series.toolchain, series.environment)
            trial = self.database.get(trial_key, self.generation)
        if trial is None:
            return None
        self._trials[key] = trial
        return replace(trial, measurement=self._on_clock(trial.measurement))

    def remember(
        self,
        configuration: Configuration,
        measurement: Measurement,
        *,
        code: str,
        build: Seconds | None,
        run: Seconds,
        counters: Sequence[CounterValue] = (),
        profiles: Sequence[Profile] = (),
        metadata: Mapping[str, str] | None = None,
        features: Mapping[str, float] | None = None,
    ) -> Measurement:
        """Store a trial; returns its outcome, or that of the trial which another process stored first.

        `metadata` is what is known of this trial beside what all of a session have in common.
        """
        keys = self.keys
        parameters = {f"orio:param:{name}": str(value) for name, value in configuration.items()}
        trial = Trial(
            name=keys.name,
            file=keys.file,
            task=keys.task,
            configuration=configuration,
            toolchain=keys.toolchain,
            environment=keys.environment,
            inputs=keys.inputs,
            measurement=_unscored(measurement),
            code=code,
            build=build,
            run=run,
            time=self.now(),
            threads=keys.threads,
            counters=tuple(counters),
            profiles=tuple(profiles),
            features=features or {},
            metadata={**keys.metadata, **(metadata or {}), **parameters},
            objectives=self._objectives(measurement),
        )
        stored = self.database.append(trial, self.generation)
        if stored is trial:
            self._own.add(configuration.digest)
        self._trials[configuration.digest] = stored
        return self._on_clock(stored.measurement)

    def amend(self, configuration: Configuration, measurement: Measurement) -> Measurement:
        """Store what came of a trial after it was remembered: more samples, or a failure.

        Returns its outcome; where another process has stored the trial first, or amended it, that one's.
        """
        key = configuration.digest
        before = self._trials[key]
        if key in self._own and isinstance(before.measurement, Success):
            after = replace(
                before, measurement=_unscored(measurement), objectives=self._objectives(measurement)
            )
            samples = before.measurement.samples
            self._trials[key] = self.database.amend(after, samples, self.generation)
        return self._on_clock(self._trials[key].measurement)

    def rank(self, configuration: Configuration, measurement: Measurement) -> None:
        """Store the values of this session's objectives with a trial that was recalled from another's."""
        trial = self._trials[configuration.digest]
        for expression, value in self._objectives(measurement).items():
            if expression not in trial.objectives:
                self.database.add_objective(trial.key, self.generation, expression, value)

    def _objectives(self, measurement: Measurement) -> dict[str, float | None]:
        if not self.keys.objectives:
            return {}
        if not isinstance(measurement, Success):
            return dict.fromkeys(self.keys.objectives)
        return dict(zip(self.keys.objectives, measurement.objectives, strict=True))

    def finish(
        self,
        report: RegionReport,
        diagnostics: Sequence[Diagnostic],
        codes: Sequence[str] | None = None,
        layout: str = "",
        finals: Sequence[FinalEntry] = (),
    ) -> RegionReport:
        """Store the report of a run that came to its end; returns it, or the one stored first for its plan.

        So processes that tune the same task at the same time end with the same answer.  An interrupted run
        and one without a valid variant leave their trials, not a report.
        """
        if self._run is None:
            return report
        is_final = not report.interrupted and report.best is not None
        kept = None if codes is None else tuple(codes)
        content = encode(Remembered(report, tuple(diagnostics), kept, layout)) if is_final else None
        counted = self.database.finish_run(self._run, self.now(), content, finals)
        if counted is None or counted is content:
            return report
        known = decode(counted, Position(report.file, report.line, 1))
        if known is None:
            return report
        own = replace(known.report, name=report.name, trials=report.trials, cached=report.cached)
        return replace(own, seconds=report.seconds)

    def _on_clock(self, measurement: Measurement) -> Measurement:
        if isinstance(measurement, Success) and self.clock is not None:
            return replace(measurement, clock=self.clock)
        return measurement


def _unscored(measurement: Measurement) -> Measurement:
    """The measurement without its score, which stands in a trial's `objectives`."""
    return replace(measurement, score=None, others=()) if isinstance(measurement, Success) else measurement
