"""Trials of a region that were stored under other circumstances than those of a series."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath

from sqlalchemy import Connection, RowMapping, and_, not_, or_, select

from orio_py.record.measurement import Clock, Stage
from orio_py.search_space.configuration import Configuration
from orio_py.store.overview import is_of
from orio_py.store.schema import COUNTER, GENERATION, METADATA, OBJECTIVE, TRIAL
from orio_py.store.selection import Selection
from orio_py.store.series import EarlierSeries, RegionKey, Series

_OF_THE_MACHINE = (Stage.TIMEOUT, Stage.COMPILE_TIMEOUT, Stage.COUNTERS, Stage.CHECKED, Stage.NOT_RECORDED)
"""How trials fail that say nothing of their configuration elsewhere."""


def earlier_series(
    connection: Connection, own: Series, generation: int, region: RegionKey, objective: str | None, limit: int
) -> list[EarlierSeries]:
    """The other series of a region, or of the task of `own`, the newest first: up to `limit` trials in all.

    Only trials count that were stored before the generation of `own` began: whoever goes on with it has the same
    past again.  The objective is the median time, or an expression; trials without its value are left out, and so are
    time-outs and other failures that do not come from the configuration.  Times are measured or emulated ones, as the region has it.
    """
    begun = connection.execute(
        select(GENERATION.c.started).where(
            GENERATION.c.task == own.task,
            GENERATION.c.toolchain == own.toolchain,
            GENERATION.c.environment == own.environment,
            GENERATION.c.number == generation,
        )
    ).scalar()
    if begun is None:
        return []
    namesakes = Selection(PurePath(region.file).name, region.name).condition()
    told = [TRIAL.c.stage.is_(None), TRIAL.c.stage.not_in(map(str, _OF_THE_MACHINE))]
    is_emulated = TRIAL.c.clock == str(Clock.EMULATED)
    obtained = or_(TRIAL.c.clock.is_(None), is_emulated if region.emulated else not_(is_emulated))
    value = TRIAL.c.median_seconds if objective is None else OBJECTIVE.c.value
    query = select(TRIAL, value.label("value")).where(
        or_(TRIAL.c.task == own.task, namesakes), not_(is_of(own)), TRIAL.c.time < begun, or_(*told), obtained
    )
    if objective is not None:
        has_value = and_(OBJECTIVE.c.trial == TRIAL.c.id, OBJECTIVE.c.expression == objective)
        query = query.join(OBJECTIVE, has_value, isouter=True)
    rows = connection.execute(query.order_by(TRIAL.c.id.desc()).limit(limit)).mappings()
    found: dict[Series, list[RowMapping]] = {}
    for row in rows:
        found.setdefault(Series(row["task"], row["toolchain"], row["environment"]), []).append(row)
    return [_earlier(connection, series, of_series) for series, of_series in found.items()]


def _earlier(connection: Connection, series: Series, rows: list[RowMapping]) -> EarlierSeries:
    newest = rows[0]
    words = select(METADATA.c.name, METADATA.c.value).where(METADATA.c.trial == newest["id"])
    trials: dict[Configuration, float | None] = {}
    numbers: dict[int, Configuration] = {}
    for row in rows:
        if row["stage"] is None and row["value"] is None:
            continue
        configuration = Configuration.from_json(json.loads(row["parameters"]))
        if configuration not in trials and row["stage"] is None:
            numbers[row["id"]] = configuration
        trials.setdefault(configuration, None if row["stage"] is not None else row["value"])
    return EarlierSeries(
        series,
        dict(Configuration.from_json(json.loads(newest["inputs"]))),
        {row.name: row.value for row in connection.execute(words)},
        trials,
        _counters(connection, numbers),
    )


def _counters(
    connection: Connection, numbers: Mapping[int, Configuration]
) -> dict[Configuration, dict[str, float]]:
    found: dict[Configuration, dict[str, float]] = {}
    for row in connection.execute(select(COUNTER).where(COUNTER.c.trial.in_(numbers))).mappings():
        found.setdefault(numbers[row["trial"]], {})[row["name"]] = row["value"]
    return found
