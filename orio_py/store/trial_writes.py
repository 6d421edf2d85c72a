"""What changes stored trials: many new ones, with a statement per table and thousand trials, and additions to one.

Samples of a second round, a later failure and values of other objectives are added; nothing is taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, Table, and_, select

from orio_py.record.measurement import Sample, Success
from orio_py.record.trial import Trial
from orio_py.store.overview import is_of
from orio_py.store.rows import (
    Row,
    detail_rows,
    load_trials,
    objective_rows,
    outcome_columns,
    sample_rows,
    trial_row,
)
from orio_py.store.schema import OBJECTIVE, SAMPLE, TRIAL
from orio_py.store.series import Series


def amend_trial(connection: Connection, number: int, trial: Trial, known: Sequence[Sample]) -> Trial:
    """Add to the trial with the id `number` what `trial` has beyond the samples `known`.

    Returns what is then stored: where that was no success with just these samples, it stays.
    """
    (stored,) = load_trials(connection, TRIAL.c.id == number)
    before = stored.measurement
    after = trial.measurement.samples if isinstance(trial.measurement, Success) else tuple(known)
    if not isinstance(before, Success) or not before.samples == tuple(known) == after[: len(known)]:
        return stored
    if more := after[len(known) :]:
        connection.execute(SAMPLE.insert(), sample_rows(number, more, len(known)))
    columns = outcome_columns(trial.measurement)
    connection.execute(TRIAL.update().where(TRIAL.c.id == number).values(columns))
    for expression, value in trial.objectives.items():
        same = and_(OBJECTIVE.c.trial == number, OBJECTIVE.c.expression == expression)
        connection.execute(OBJECTIVE.update().where(same).values(value=value))
    return trial


def add_objective_value(connection: Connection, number: int, expression: str, value: float | None) -> None:
    """Add the value of an objective to the trial with the id `number`, unless it has one."""
    known = (
        connection.execute(select(OBJECTIVE.c.expression).where(OBJECTIVE.c.trial == number)).scalars().all()
    )
    if expression not in known:
        rows = objective_rows(number, {expression: value}, len(known))
        connection.execute(OBJECTIVE.insert(), rows)


CHUNK = 1000


def insert_new(
    connection: Connection, trials: Sequence[Trial], generation_of: Callable[[Connection, Trial], int]
) -> int:
    """Insert the trials whose key the newest generation of their series does not have; how many these were.

    Of several trials with one key the first counts.
    """
    generations: dict[Series, int] = {}
    known: dict[Series, set[str]] = {}
    rows: list[tuple[Trial, Row]] = []
    for trial in trials:
        series = Series(trial.task, trial.toolchain, trial.environment)
        if series not in generations:
            generations[series] = generation_of(connection, trial)
            same = (is_of(series), TRIAL.c.generation == generations[series])
            known[series] = set(connection.execute(select(TRIAL.c.configuration).where(*same)).scalars())
        configuration = trial.configuration.digest
        if configuration not in known[series]:
            known[series].add(configuration)
            rows.append((trial, trial_row(trial, generations[series])))
    for start in range(0, len(rows), CHUNK):
        _insert(connection, rows[start : start + CHUNK])
    return len(rows)


def _insert(connection: Connection, rows: Sequence[tuple[Trial, Row]]) -> None:
    values = [row for _, row in rows]
    if connection.dialect.insert_executemany_returning_sort_by_parameter_order:
        query = TRIAL.insert().returning(TRIAL.c.id, sort_by_parameter_order=True)
        numbers: Sequence[int] = connection.execute(query, values).scalars().all()
    else:
        numbers = [_insert_one(connection, row) for row in values]
    details = [detail_rows(number, trial) for number, (trial, _) in zip(numbers, rows, strict=True)]
    for parts in zip(*details, strict=True):
        table = parts[0][0]
        found = [row for _, part in parts for row in part]
        if found:
            _execute_many(connection, table, found)


def _execute_many(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows whose columns need no conversion, past SQLAlchemy's work per row where the driver allows."""
    compiled = table.insert().compile(dialect=connection.dialect, column_keys=list(rows[0]))
    names = compiled.positiontup
    if names is None:
        connection.execute(table.insert(), rows)
    else:
        connection.exec_driver_sql(str(compiled), [tuple([row[name] for name in names]) for row in rows])


def _insert_one(connection: Connection, row: Row) -> int:
    key = connection.execute(TRIAL.insert().values(row)).inserted_primary_key
    assert key is not None
    return int(key[0])
