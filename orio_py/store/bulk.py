"""Many trials at once: a statement per table and thousand trials instead of several per trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, Table, select

from orio_py.record.trial import Trial
from orio_py.store.overview import is_of
from orio_py.store.rows import Row, detail_rows, trial_row
from orio_py.store.schema import TRIAL
from orio_py.store.series import Series

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
