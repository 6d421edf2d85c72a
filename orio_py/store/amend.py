"""What is added to stored trials: samples of a second round, a later failure, values of other objectives."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, and_, select

from orio_py.record.measurement import Sample, Success
from orio_py.record.trial import Trial
from orio_py.store.rows import load_trials, objective_rows, outcome_columns, sample_rows
from orio_py.store.schema import OBJECTIVE, SAMPLE, TRIAL


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
