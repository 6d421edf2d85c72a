"""The results database: trials are added and found; what was measured is never changed, only added to."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from sqlalchemy import ColumnElement, Connection, Engine, and_, delete, func, select, tuple_
from sqlalchemy.exc import IntegrityError

from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, fail
from orio_py.core.digest import canonical_json
from orio_py.record.finals import FinalEntry
from orio_py.record.measurement import Sample
from orio_py.record.trial import Trial, TrialKey
from orio_py.store.engine import WRITES, address, explained, make_engine, use_write_ahead_log
from orio_py.store.finals import StoredFinals, insert_finals, load_finals
from orio_py.store.migrations.catalog import NEWEST, migrate, version_of
from orio_py.store.overview import StoredSeries, best_of, is_of, overview, series_objective
from orio_py.store.past import earlier_series
from orio_py.store.rows import insert_details, load_trials, show_time, trial_row
from orio_py.store.schema import GENERATION, RESULT, RUN, TRIAL
from orio_py.store.selection import Selection
from orio_py.store.series import EarlierSeries, RegionKey, Series
from orio_py.store.trial_writes import add_objective_value, amend_trial, insert_new

__all__ = [
    "EVERYTHING",
    "ResultsDatabase",
    "Selection",
    "Series",
    "StoredFinals",
    "StoredResult",
    "StoredSeries",
]

EVERYTHING = Selection()

_MIGRATION_LOCK = 0x6F72696F  # any number that other programs are unlikely to use


@dataclass(frozen=True, slots=True)
class StoredResult:
    """The report of a finished tuning run."""

    plan: str
    series: Series
    generation: int
    time: str
    report: Mapping[str, object]


@dataclass(slots=True)
class ResultsDatabase:
    """An open database; `place` is its file or address as messages name it.

    Every method raises EnvironmentProblem ORIO-D001 when the database fails and DiagnosticError ORIO-D002
    when it is found damaged.  Each call is one transaction.
    """

    engine: Engine
    place: str

    @classmethod
    def open(cls, place: str | Path, *, create: bool = True) -> ResultsDatabase:
        """Open a file or an address, make it where there is none, migrate it where it is old.

        Raises DiagnosticError ORIO-D002 (not ours, or damaged), D003 (newer), D005 (malformed), D006 (there
        is none and `create` is False); EnvironmentProblem D001 (cannot be opened), D004 (no driver).
        """
        url = address(place)
        file = Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
        shown = str(file) if file is not None else url.render_as_string(hide_password=True)
        if file is not None and str(file) != ":memory:":
            _prepare(file, create=create)
        database = cls(make_engine(url), shown)
        try:
            with explained(shown):
                database._bring_up_to_date()
        except BaseException:
            database.close()
            raise
        return database

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- writing ---

    def begin(self, series: Series, time: datetime, *, fresh: bool = False) -> int:
        """The generation that new trials of the series belong to; a new one when `fresh`.

        A generation that is still empty is used again.
        """
        while True:
            with explained(self.place):
                try:
                    with self._write() as connection:
                        return _generation(connection, series, time, fresh=fresh)
                except IntegrityError:  # another process opened one at the same moment
                    continue

    def append(self, trial: Trial, generation: int | None = None) -> Trial:
        """Store a trial (in the newest generation) and return it, or the one that its key already has."""
        while True:
            with explained(self.place):
                try:
                    with self._write() as connection:
                        number = generation or _generation_of(connection, trial)
                        if (stored := _stored(connection, trial.key, number)) is not None:
                            return stored
                        _insert(connection, trial, number)
                        return trial
                except IntegrityError:  # servers let two writers in at once; the first one's trial counts
                    continue

    def append_all(self, trials: Sequence[Trial]) -> int:
        """Store the trials whose key the newest generation does not have yet; how many these were."""
        while True:
            with explained(self.place):
                try:
                    with self._write() as connection:
                        return insert_new(connection, trials, _generation_of)
                except IntegrityError:
                    continue

    def amend(self, trial: Trial, known: Sequence[Sample], generation: int) -> Trial:
        """Store what came of a trial after its first samples, `known`: more of them, or a failure.

        Returns the trial, or what is stored where that is no longer a success with just these samples:
        another process has amended it first, or somebody has deleted it.
        """
        while True:
            with explained(self.place):
                try:
                    with self._write() as connection:
                        number = _number(connection, trial.key, generation)
                        return trial if number is None else amend_trial(connection, number, trial, known)
                except IntegrityError:
                    continue

    def add_objective(self, key: TrialKey, generation: int, expression: str, value: float | None) -> None:
        """Add the value of another objective to a trial, once; nothing where the trial was deleted."""
        while True:
            with explained(self.place):
                try:
                    with self._write() as connection:
                        number = _number(connection, key, generation)
                        if number is not None:
                            add_objective_value(connection, number, expression, value)
                    return
                except IntegrityError:
                    continue

    def start_run(
        self,
        plan: str,
        series: Series,
        generation: int,
        *,
        host: str,
        process: int,
        time: datetime,
        objective: str | None = None,
    ) -> int:
        """Record that a tuning run begins, with its objective if that is not time; the run's number."""
        values = {
            "plan": plan,
            **_columns(series),
            "generation": generation,
            "host": host,
            "process": process,
            "started": show_time(time),
            "objective": objective,
        }
        with explained(self.place), self._write() as connection:
            key = connection.execute(RUN.insert().values(values)).inserted_primary_key
            assert key is not None
            return int(key[0])

    def finish_run(
        self,
        run: int,
        time: datetime,
        report: Mapping[str, object] | None,
        finals: Sequence[FinalEntry] = (),
    ) -> Mapping[str, object] | None:
        """Record a run's end, its finals and its report.

        Returns the report that counts: the first for its plan.  Without a report (interrupted, nothing
        valid) only the time is recorded and None is returned.
        """
        with explained(self.place):
            try:
                with self._write() as connection:
                    connection.execute(RUN.update().where(RUN.c.id == run).values(finished=show_time(time)))
                    if report is None:
                        return None
                    row = connection.execute(select(RUN).where(RUN.c.id == run)).mappings().one_or_none()
                    if row is None:  # somebody deleted the series meanwhile
                        return report
                    insert_finals(connection, run, finals)
                    found = _result(connection, row["plan"], row["generation"])
                    if found is not None:
                        return found
                    names = ("plan", "task", "toolchain", "environment", "generation")
                    values = {name: row[name] for name in names}
                    text = canonical_json(report)
                    connection.execute(
                        RESULT.insert().values(**values, run=run, time=show_time(time), report=text)
                    )
                    return report
            except IntegrityError:
                return self.finish_run(run, time, report, finals)

    def delete(self, selection: Selection) -> int:
        """Remove the trials meant, with the runs and results of their series; how many trials it were."""
        condition = selection.condition()
        with explained(self.place), self._write() as connection:
            columns = (TRIAL.c.task, TRIAL.c.toolchain, TRIAL.c.environment)
            meant = [tuple(row) for row in connection.execute(select(*columns).where(condition).distinct())]
            removed = connection.execute(delete(TRIAL).where(condition)).rowcount
            for table in (RESULT, RUN, GENERATION):
                names = (table.c.task, table.c.toolchain, table.c.environment)
                for series in meant:
                    connection.execute(delete(table).where(tuple_(*names) == tuple_(*series)))
            return removed

    # --- reading ---

    def get(self, key: TrialKey, generation: int) -> Trial | None:
        """The trial of a key in a generation."""
        with explained(self.place), self.engine.connect() as connection:
            return _stored(connection, key, generation)

    def find(self, series: Series, generation: int | None = None) -> Mapping[str, Trial]:
        """The trials of a series in its newest (or the given) generation, by configuration digest."""
        with explained(self.place), self.engine.connect() as connection:
            number = generation if generation is not None else _filled(connection, series)
            condition = and_(is_of(series), TRIAL.c.generation == number)
            found = load_trials(connection, condition, with_metadata=False)
        return {trial.configuration.digest: trial for trial in found}

    def earlier(
        self, own: Series, generation: int, region: RegionKey, objective: str | None, limit: int
    ) -> list[EarlierSeries]:
        """The other series of a region, see `earlier_series`."""
        with explained(self.place), self.engine.connect() as connection:
            return earlier_series(connection, own, generation, region, objective, limit)

    def overview(self, selection: Selection = EVERYTHING) -> list[StoredSeries]:
        """The series that are stored, by file and region."""
        with explained(self.place), self.engine.connect() as connection:
            return overview(connection, selection)

    def finals(self, selection: Selection = EVERYTHING) -> list[StoredFinals]:
        """What the finals of the series' finished runs measured, in the order of the runs."""
        with explained(self.place), self.engine.connect() as connection:
            return load_finals(connection, selection)

    def history(self, selection: Selection = EVERYTHING) -> list[Trial]:
        """Every trial meant, of all generations, in the order stored."""
        with explained(self.place), self.engine.connect() as connection:
            return load_trials(connection, selection.condition())

    def best(self, series: Series) -> Trial | None:
        """The valid trial with the least value of the series' objective, in the newest generation.

        For time that is the smallest median on the ranking clock.
        """
        with explained(self.place), self.engine.connect() as connection:
            number = _filled(connection, series)
            best = best_of(connection, series, number, series_objective(connection, series, number))
            found = load_trials(connection, TRIAL.c.id == best.trial) if best is not None else []
        return found[0] if found else None

    def result(self, plan: str, generation: int) -> Mapping[str, object] | None:
        """The report of the finished run of a plan."""
        with explained(self.place), self.engine.connect() as connection:
            return _result(connection, plan, generation)

    def results(self, series: Series) -> list[StoredResult]:
        """The reports of a series' finished runs, the newest first."""
        same = and_(*(RESULT.c[name] == value for name, value in _columns(series).items()))
        query = select(RESULT).where(same).order_by(RESULT.c.time.desc())
        with explained(self.place), self.engine.connect() as connection:
            rows = connection.execute(query).mappings().all()
        return [
            StoredResult(row["plan"], series, row["generation"], row["time"], json.loads(row["report"]))
            for row in rows
        ]

    # --- connections ---

    @contextmanager
    def _write(self) -> Generator[Connection]:
        with self.engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
            yield connection

    def _bring_up_to_date(self) -> None:
        with self.engine.connect() as connection:
            found = version_of(connection, self.place)
        if found < NEWEST:
            with self._write() as connection:
                if self.engine.dialect.name == "postgresql":  # creating tables does not wait for others there
                    connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
                migrate(connection, self.place)
        use_write_ahead_log(self.engine)


def _prepare(file: Path, *, create: bool) -> None:
    if not file.exists() and not create:
        fail("ORIO-D006", f"there is no results database `{file}`", help="`--db` names another one")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder of the results database `{file}` cannot be made: {error.strerror or error}"
        raise EnvironmentProblem(Diagnostic("ORIO-D001", message)) from error


def _columns(series: Series) -> dict[str, str]:
    return {"task": series.task, "toolchain": series.toolchain, "environment": series.environment}


def _newest(connection: Connection, series: Series) -> int:
    same = (GENERATION.c[name] == value for name, value in _columns(series).items())
    return connection.execute(select(func.max(GENERATION.c.number)).where(*same)).scalar() or 0


def _filled(connection: Connection, series: Series) -> int:
    """The newest generation with a trial in it."""
    return connection.execute(select(func.max(TRIAL.c.generation)).where(is_of(series))).scalar() or 0


def _generation(connection: Connection, series: Series, time: datetime, *, fresh: bool) -> int:
    number = _newest(connection, series)
    if number and fresh:
        same = and_(*(RESULT.c[name] == value for name, value in _columns(series).items()))
        used = (
            select(TRIAL.c.id).where(is_of(series), TRIAL.c.generation == number).limit(1),
            select(RESULT.c.run).where(same, RESULT.c.generation == number).limit(1),
        )
        fresh = any(connection.execute(query).scalar() is not None for query in used)
    if number and not fresh:
        return number
    values = {**_columns(series), "number": number + 1, "started": show_time(time)}
    connection.execute(GENERATION.insert().values(values))
    return number + 1


def _stored(connection: Connection, key: TrialKey, generation: int) -> Trial | None:
    found = load_trials(connection, _is(key, generation))
    return found[0] if found else None


def _generation_of(connection: Connection, trial: Trial) -> int:
    series = Series(trial.task, trial.toolchain, trial.environment)
    return _generation(connection, series, trial.time, fresh=False)


def _insert(connection: Connection, trial: Trial, generation: int) -> None:
    key = connection.execute(TRIAL.insert().values(trial_row(trial, generation))).inserted_primary_key
    assert key is not None
    insert_details(connection, key[0], trial)


def _is(key: TrialKey, generation: int) -> ColumnElement[bool]:
    return and_(
        is_of(Series(key.task, key.toolchain, key.environment)),
        TRIAL.c.generation == generation,
        TRIAL.c.configuration == key.configuration,
    )


def _number(connection: Connection, key: TrialKey, generation: int) -> int | None:
    """The id of the trial of a key."""
    return connection.execute(select(TRIAL.c.id).where(_is(key, generation))).scalar()


def _result(connection: Connection, plan: str, generation: int) -> Mapping[str, object] | None:
    query = select(RESULT.c.report).where(RESULT.c.plan == plan, RESULT.c.generation == generation)
    text = connection.execute(query).scalar()
    return cast("Mapping[str, object]", json.loads(text)) if text is not None else None
