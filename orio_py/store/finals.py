"""The finals of tuning runs as rows of the tables, and back."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, and_, select, tuple_

from orio_py.core.units import Seconds
from orio_py.record.finals import FinalEntry
from orio_py.record.measurement import Failure, Sample, Stage
from orio_py.search_space.configuration import Configuration
from orio_py.store.rows import Row, values_text
from orio_py.store.schema import FINAL_ROUND, FINAL_SAMPLE, FINALIST, RUN, TRIAL
from orio_py.store.selection import Selection
from orio_py.store.series import Series

_KEY = ("run", "finalist", "round", "repetition")


@dataclass(frozen=True, slots=True)
class StoredFinals:
    """The finals of a finished run; `objective` is None for time, `finished` is in UTC."""

    series: Series
    run: int
    generation: int
    finished: str
    objective: str | None
    entries: tuple[FinalEntry, ...]


def insert_finals(connection: Connection, run: int, entries: Sequence[FinalEntry]) -> None:
    """Insert what the finals of the run with the id `run` measured."""
    finalists = [_finalist(run, number, entry) for number, entry in enumerate(entries)]
    rounds: list[Row] = [
        {"run": run, "finalist": number, "round": k, "value": float(value)}
        for number, entry in enumerate(entries)
        for k, value in enumerate(entry.values)
    ]
    samples: list[Row] = [
        {**dict(zip(_KEY, (run, number, k, r), strict=True)), "wall_seconds": s.wall, "cpu_seconds": s.cpu}
        for number, entry in enumerate(entries)
        for k, taken in enumerate(entry.rounds)
        for r, s in enumerate(taken)
    ]
    for table, rows in ((FINALIST, finalists), (FINAL_ROUND, rounds), (FINAL_SAMPLE, samples)):
        if rows:
            connection.execute(table.insert(), rows)


def load_finals(connection: Connection, selection: Selection) -> list[StoredFinals]:
    """The finals of the finished runs of the series meant, in the order of the runs."""
    columns = ("task", "toolchain", "environment")
    meant = select(*(TRIAL.c[name] for name in columns)).where(selection.condition()).distinct()
    is_meant = tuple_(*(RUN.c[name] for name in columns)).in_(meant)
    finished = and_(is_meant, RUN.c.finished.is_not(None))
    rows = connection.execute(select(RUN).where(finished).order_by(RUN.c.id)).mappings().all()
    runs = select(RUN.c.id).where(finished)

    def content(table: Table) -> Sequence[Any]:
        names = [table.c[name] for name in (*_KEY, "number") if name in table.c]
        return connection.execute(select(table).where(table.c.run.in_(runs)).order_by(*names)).all()

    values: dict[tuple[int, int], list[float]] = defaultdict(list)
    for run, finalist, _, value in content(FINAL_ROUND):
        values[run, finalist].append(value)
    samples: dict[tuple[int, int], dict[int, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for run, finalist, number, _, wall, cpu in content(FINAL_SAMPLE):
        samples[run, finalist][number].append(Sample(Seconds(wall), Seconds(cpu)))
    entries: dict[int, list[FinalEntry]] = defaultdict(list)
    for run, number, is_original, parameters, flags, stage, reason in content(FINALIST):
        key = (run, number)
        entries[run].append(
            FinalEntry(
                is_original,
                Configuration.from_json(json.loads(parameters)),
                tuple(tuple(taken) for taken in samples[key].values()),
                tuple(values[key]),
                flags,
                Failure(Stage(stage), reason or "") if stage is not None else None,
            )
        )
    return [
        StoredFinals(
            Series(row["task"], row["toolchain"], row["environment"]),
            row["id"],
            row["generation"],
            row["finished"],
            row["objective"],
            tuple(entries[row["id"]]),
        )
        for row in rows
        if row["id"] in entries
    ]


def _finalist(run: int, number: int, entry: FinalEntry) -> Row:
    return {
        "run": run,
        "number": number,
        "is_original": entry.is_original,
        "parameters": values_text(entry.configuration.as_json()),
        "flags": entry.flags,
        "stage": str(entry.failed.stage) if entry.failed is not None else None,
        "reason": entry.failed.reason if entry.failed is not None else None,
    }
