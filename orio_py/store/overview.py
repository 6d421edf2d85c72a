"""What is stored, in numbers, and which trial of a series is the best by its objective."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, func, select

from orio_py.core.expr import Value
from orio_py.record.measurement import Clock
from orio_py.search_space.configuration import Configuration
from orio_py.store.schema import METADATA, OBJECTIVE, RESULT, RUN, TRIAL
from orio_py.store.selection import Selection
from orio_py.store.series import Series


@dataclass(frozen=True, slots=True)
class StoredSeries:
    """A series in numbers; `generation` is the newest one, which `trials` and the rest are counted in.

    `objective` is that of its newest run, None for time; `best_value` is its least value among the trials,
    None for time.  `best_seconds` is the median of the best trial on its ranking clock; `all_trials` counts
    every generation; `results` is how many finished tuning runs are stored; `last` is when a trial was last
    added; `clock` is that of its times, None where it has none; `command` is the build command with its parameters, '' where that is not known.
    """

    series: Series
    name: str
    file: str
    inputs: Mapping[str, Value]
    generation: int
    trials: int
    failed: int
    best_seconds: float | None
    all_trials: int
    results: int
    last: str
    objective: str | None = None
    best_value: float | None = None
    command: str = ""
    clock: Clock | None = None


@dataclass(frozen=True, slots=True)
class BestRow:
    """The best trial of a series: its id, its median and the value of the series' objective, if not time."""

    trial: int
    median_seconds: float
    value: float | None = None


def overview(connection: Connection, selection: Selection) -> list[StoredSeries]:
    """The series that are stored, by file and region."""
    found = [_stored(row) for row in _rows(connection, selection)]
    runs = _newest_runs(connection)
    return [_ranked(connection, one, runs) for one in found]


def series_objective(connection: Connection, series: Series, generation: int) -> str | None:
    """The objective of the series' newest run; without runs, of the trial added last; None for time."""
    return _objective(connection, series, generation, _newest_runs(connection, series))


def best_of(connection: Connection, series: Series, generation: int, objective: str | None) -> BestRow | None:
    """The trial of a generation with the least value of the objective, or for time with the least median."""
    valid = and_(is_of(series), TRIAL.c.generation == generation, TRIAL.c.median_seconds.is_not(None))
    columns = (TRIAL.c.id, TRIAL.c.median_seconds)
    if objective is None:
        query = select(*columns).where(valid).order_by(TRIAL.c.median_seconds, TRIAL.c.id)
    else:
        has_value = and_(OBJECTIVE.c.expression == objective, OBJECTIVE.c.value.is_not(None))
        joined = select(*columns, OBJECTIVE.c.value).join(OBJECTIVE, OBJECTIVE.c.trial == TRIAL.c.id)
        query = joined.where(valid, has_value).order_by(OBJECTIVE.c.value, TRIAL.c.id)
    row = connection.execute(query.limit(1)).one_or_none()
    return BestRow(*row) if row is not None else None


def is_of(series: Series) -> ColumnElement[bool]:
    """The condition on `trial` that it belongs to a series."""
    return and_(
        TRIAL.c.task == series.task,
        TRIAL.c.toolchain == series.toolchain,
        TRIAL.c.environment == series.environment,
    )


def _rows(connection: Connection, selection: Selection) -> list[RowMapping]:
    columns = (TRIAL.c.task, TRIAL.c.toolchain, TRIAL.c.environment)
    newest = (
        select(*columns, func.max(TRIAL.c.generation).label("generation"), func.count().label("all_trials"))
        .where(selection.condition())
        .group_by(*columns)
        .subquery()
    )
    same = and_(*(column == newest.c[column.name] for column in (*columns, TRIAL.c.generation)))
    query = (
        select(
            *columns,
            newest.c.generation,
            newest.c.all_trials,
            func.count().label("trials"),
            func.count(TRIAL.c.stage).label("failed"),
            func.min(TRIAL.c.median_seconds).label("best"),
            func.max(TRIAL.c.time).label("last"),
            func.max(TRIAL.c.clock).label("clock"),
            func.min(TRIAL.c.id).label("first"),
        )
        .join(newest, same)
        .group_by(*columns, newest.c.generation, newest.c.all_trials)
        .subquery()
    )
    results = (
        select(func.count())
        .where(*(RESULT.c[column.name] == query.c[column.name] for column in columns))
        .scalar_subquery()
    )
    is_command = and_(METADATA.c.trial == query.c.first, METADATA.c.name == "orio:command")
    command = select(METADATA.c.value).where(is_command).limit(1).scalar_subquery()
    full = (
        select(
            query,
            results.label("results"),
            command.label("command"),
            TRIAL.c.name,
            TRIAL.c.file,
            TRIAL.c.inputs,
        )
        .join(TRIAL, TRIAL.c.id == query.c.first)
        .order_by(TRIAL.c.file, TRIAL.c.name, query.c.last)
    )
    return list(connection.execute(full).mappings())


def _stored(row: RowMapping) -> StoredSeries:
    return StoredSeries(
        Series(row["task"], row["toolchain"], row["environment"]),
        row["name"],
        row["file"],
        dict(Configuration.from_json(json.loads(row["inputs"]))),
        row["generation"],
        row["trials"],
        row["failed"],
        row["best"],
        row["all_trials"],
        row["results"],
        row["last"],
        command=row["command"] or "",
        clock=None if row["clock"] is None else Clock(row["clock"]),
    )


def _ranked(connection: Connection, stored: StoredSeries, runs: Mapping[Series, str | None]) -> StoredSeries:
    """The series with its objective; `best_seconds` is then the time of the best by that."""
    objective = _objective(connection, stored.series, stored.generation, runs)
    if objective is None:
        return stored
    best = best_of(connection, stored.series, stored.generation, objective)
    seconds, value = (best.median_seconds, best.value) if best is not None else (None, None)
    return replace(stored, best_seconds=seconds, objective=objective, best_value=value)


def _newest_runs(connection: Connection, series: Series | None = None) -> dict[Series, str | None]:
    """The objective of the newest run of each series (or of one)."""
    columns = (RUN.c.task, RUN.c.toolchain, RUN.c.environment)
    newest = select(func.max(RUN.c.id)).group_by(*columns)
    if series is not None:
        of = (series.task, series.toolchain, series.environment)
        newest = newest.where(*(column == value for column, value in zip(columns, of, strict=True)))
    rows = connection.execute(select(*columns, RUN.c.objective).where(RUN.c.id.in_(newest)))
    return {Series(*digests): objective for *digests, objective in rows}


def _objective(
    connection: Connection, series: Series, generation: int, runs: Mapping[Series, str | None]
) -> str | None:
    if series in runs:
        return runs[series]
    query = (
        select(OBJECTIVE.c.expression)
        .join(TRIAL, TRIAL.c.id == OBJECTIVE.c.trial)
        .where(is_of(series), TRIAL.c.generation == generation)
        .order_by(OBJECTIVE.c.trial.desc(), OBJECTIVE.c.number.desc())
        .limit(1)
    )
    return connection.execute(query).scalar()
