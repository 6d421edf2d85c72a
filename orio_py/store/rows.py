"""Trials as rows of the tables, and back."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, select

from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.record.trial import CounterSource, CounterValue, Profile, Trial
from orio_py.search_space.configuration import Configuration
from orio_py.store.schema import COUNTER, FEATURE, METADATA, OBJECTIVE, PROFILE, SAMPLE, TRIAL

Row = dict[str, object]


def show_time(time: datetime) -> str:
    """A time as it is stored: ISO 8601 in UTC with microseconds, which sorts as text."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def values_text(values: Mapping[str, object]) -> str:
    """Parameter values as JSON text in their own order."""
    return json.dumps(values, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def trial_row(trial: Trial, generation: int) -> Row:
    """The row of `trial`."""
    return {
        "name": trial.name,
        "data_source": "orio_py",
        "node_count": 1,
        "contexts_per_node": 1,
        "threads_per_context": trial.threads,
        "total_threads": trial.threads,
        "file": trial.file,
        "task": trial.task,
        "configuration": trial.configuration.digest,
        "toolchain": trial.toolchain,
        "environment": trial.environment,
        "generation": generation,
        "parameters": values_text(trial.configuration.as_json()),
        "inputs": values_text(Configuration(trial.inputs).as_json()),
        "code": trial.code,
        **outcome_columns(trial.measurement),
        "build_seconds": None if trial.build is None else float(trial.build),
        "run_seconds": float(trial.run),
        "time": show_time(trial.time),
    }


def outcome_columns(measurement: Measurement) -> Row:
    """The columns of `trial` that tell how a trial ended."""
    found: Row = {"stage": None, "reason": None, "clock": None, "median_seconds": None, "is_full": None}
    match measurement:
        case Success() as success:
            found.update(clock=str(success.clock), median_seconds=float(success.timing.median_s))
            found.update(is_full=success.is_full)
        case Failure(stage=stage, reason=reason):
            found.update(stage=str(stage), reason=reason)
    return found


def sample_rows(number: int, samples: Sequence[Sample], first: int = 0) -> list[Row]:
    """The rows of samples of the trial with the id `number`, counted from `first`."""
    return [
        {"trial": number, "repetition": k, "wall_seconds": float(s.wall), "cpu_seconds": float(s.cpu)}
        for k, s in enumerate(samples, first)
    ]


def objective_rows(number: int, objectives: Mapping[str, float | None], first: int = 0) -> list[Row]:
    """The rows of objectives' values of the trial with the id `number`, counted from `first`."""
    return [
        {"trial": number, "number": k, "expression": expression, "value": value}
        for k, (expression, value) in enumerate(objectives.items(), first)
    ]


def insert_details(connection: Connection, number: int, trial: Trial) -> None:
    """Insert samples, counters, features, objectives, metadata and profiles of the trial whose row has the id `number`."""
    for table, rows in detail_rows(number, trial):
        if rows:
            connection.execute(table.insert(), rows)


def detail_rows(number: int, trial: Trial) -> tuple[tuple[Table, list[Row]], ...]:
    """The rows of samples, counters, features, objectives, metadata and profiles, with their tables."""
    found = trial.measurement
    samples = sample_rows(number, found.samples) if isinstance(found, Success) else []
    counters: list[Row] = [
        {"trial": number, "name": c.name, "value": c.value, "unit": c.unit, "source": str(c.source)}
        for c in trial.counters
    ]
    features: list[Row] = [{"trial": number, "name": n, "value": v} for n, v in trial.features.items()]
    words: list[Row] = [{"trial": number, "name": n, "value": v} for n, v in trial.metadata.items()]
    objectives = objective_rows(number, trial.objectives)
    profiles: list[Row] = [
        {"trial": number, "method": p.method, "path": p.path, "text": p.text} for p in trial.profiles
    ]
    return (
        (SAMPLE, samples),
        (COUNTER, counters),
        (FEATURE, features),
        (METADATA, words),
        (OBJECTIVE, objectives),
        (PROFILE, profiles),
    )


def load_trials(
    connection: Connection, condition: ColumnElement[bool], *, with_metadata: bool = True
) -> list[Trial]:
    """The trials that meet a condition on `trial`, in the order in which they were stored.

    Without metadata they are without features and profiles, too.
    """
    rows = connection.execute(select(TRIAL).where(condition).order_by(TRIAL.c.id)).mappings().all()
    if not rows:
        return []
    ids = select(TRIAL.c.id).where(condition).scalar_subquery()
    samples: dict[int, list[Sample]] = defaultdict(list)
    query = select(SAMPLE).where(SAMPLE.c.trial.in_(ids)).order_by(SAMPLE.c.trial, SAMPLE.c.repetition)
    for number, _, wall, cpu in connection.execute(query):
        samples[number].append(Sample(Seconds(wall), Seconds(cpu)))
    counters: dict[int, list[CounterValue]] = defaultdict(list)
    query = select(COUNTER).where(COUNTER.c.trial.in_(ids)).order_by(COUNTER.c.trial, COUNTER.c.name)
    for number, name, value, unit, source in connection.execute(query):
        counters[number].append(CounterValue(name, value, unit, CounterSource(source)))
    objectives: dict[int, dict[str, float | None]] = defaultdict(dict)
    query = (
        select(OBJECTIVE).where(OBJECTIVE.c.trial.in_(ids)).order_by(OBJECTIVE.c.trial, OBJECTIVE.c.number)
    )
    for number, _, expression, value in connection.execute(query):
        objectives[number][expression] = value
    words: dict[int, dict[str, str]] = defaultdict(dict)
    if with_metadata:
        query = select(METADATA).where(METADATA.c.trial.in_(ids)).order_by(METADATA.c.trial, METADATA.c.name)
        for number, name, value in connection.execute(query):
            words[number][name] = value
    features: dict[int, dict[str, float]] = defaultdict(dict)
    profiles: Mapping[int, Sequence[Profile]] = {}
    if with_metadata:
        query = select(FEATURE).where(FEATURE.c.trial.in_(ids)).order_by(FEATURE.c.trial, FEATURE.c.name)
        for number, name, value in connection.execute(query):
            features[number][name] = value
        profiles = _profiles(connection, condition)
    return [
        replace(
            _trial(row, samples[row["id"]]),
            counters=tuple(counters[row["id"]]),
            features=features[row["id"]],
            metadata=words[row["id"]],
            objectives=objectives[row["id"]],
            profiles=tuple(profiles.get(row["id"], ())),
        )
        for row in rows
    ]


def _profiles(connection: Connection, condition: ColumnElement[bool]) -> Mapping[int, Sequence[Profile]]:
    found: dict[int, list[Profile]] = defaultdict(list)
    ids = select(TRIAL.c.id).where(condition).scalar_subquery()
    query = select(PROFILE).where(PROFILE.c.trial.in_(ids))
    for number, method, path, text in connection.execute(query.order_by(PROFILE.c.trial, PROFILE.c.path)):
        found[number].append(Profile(method, path, text))
    return found


def _trial(row: RowMapping, samples: Sequence[Sample]) -> Trial:
    """The trial without its details.  Rows older than the column `is_full` count as full."""
    measurement: Measurement
    if row["stage"] is None:
        measurement = Success(tuple(samples), Clock(row["clock"]), is_full=row["is_full"] is not False)
    else:
        measurement = Failure(Stage(row["stage"]), row["reason"] or "")
    build = row["build_seconds"]
    return Trial(
        name=row["name"],
        file=row["file"],
        task=row["task"],
        configuration=Configuration.from_json(json.loads(row["parameters"])),
        toolchain=row["toolchain"],
        environment=row["environment"],
        inputs=dict(Configuration.from_json(json.loads(row["inputs"]))),
        measurement=measurement,
        code=row["code"],
        build=None if build is None else Seconds(build),
        run=Seconds(row["run_seconds"]),
        time=datetime.fromisoformat(row["time"]),
        threads=row["total_threads"],
    )
