"""Trials as flat rows, one column per fact, for CSV and Parquet.

What has no fixed columns (parameter values, input sizes, counters, metadata) is JSON text in one; samples
are lists of seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.record.trial import CounterSource, CounterValue, Trial
from orio_py.search_space.configuration import Configuration
from orio_py.store.rows import show_time, values_text

OK = "ok"

TEXTS = (
    "file",
    "region",
    "inputs",
    "configuration",
    "outcome",
    "reason",
    "clock",
    "time",
    "counters",
    "metadata",
    "task",
    "toolchain",
    "environment",
    "code",
    "objectives",
    "features",
)
NUMBERS = ("median_s", "mad_s", "build_s", "run_s")
WHOLES = ("repeats", "threads", "is_full")
LISTS = ("wall_s", "cpu_s")
COLUMNS = (*TEXTS[:7], *NUMBERS, *WHOLES, *LISTS, *TEXTS[7:])

OPTIONAL = frozenset({"is_full", "objectives", "features"})
"""Columns that files of earlier versions lack."""

Flat = dict[str, object]


def to_flat(trial: Trial) -> Flat:
    """The columns of a trial; None where there is no value."""
    row: Flat = {name: None for name in COLUMNS}  # noqa: C420 - `fromkeys` narrows the type
    row.update(
        file=trial.file,
        region=trial.name,
        inputs=values_text(Configuration(trial.inputs).as_json()),
        configuration=values_text(trial.configuration.as_json()),
        time=show_time(trial.time),
        build_s=trial.build,
        run_s=trial.run,
        threads=trial.threads,
        counters=values_text({c.name: [c.value, c.unit, str(c.source)] for c in trial.counters}),
        metadata=values_text(dict(trial.metadata)),
        task=trial.task,
        toolchain=trial.toolchain,
        environment=trial.environment,
        code=trial.code,
        objectives=values_text(dict(trial.objectives)),
        features=values_text(dict(trial.features)),
        wall_s=[],
        cpu_s=[],
    )
    match trial.measurement:
        case Success(samples=samples, clock=clock) as success:
            timing = success.timing
            row.update(outcome=OK, clock=str(clock), repeats=timing.repeats)
            row.update(median_s=timing.median_s, mad_s=timing.mad_s, is_full=int(success.is_full))
            row.update(wall_s=[s.wall for s in samples], cpu_s=[s.cpu for s in samples])
        case Failure(stage=stage, reason=reason):
            row.update(outcome=str(stage), reason=reason)
    return row


def from_flat(row: Mapping[str, object]) -> Trial:
    """The trial of a row.  Raises ValueError with the reason."""
    try:
        return _trial(row)
    except KeyError as error:
        raise ValueError(f"the column {error} is missing") from None
    except (TypeError, AttributeError) as error:
        raise ValueError(f"a value is of the wrong kind: {error}") from None


def _trial(row: Mapping[str, object]) -> Trial:
    counters = _object(row, "counters").items()
    objectives = _object(row, "objectives") if row.get("objectives") is not None else {}
    features = _object(row, "features") if row.get("features") is not None else {}
    build = row["build_s"]
    return Trial(
        name=_text(row, "region"),
        file=_text(row, "file"),
        task=_text(row, "task"),
        configuration=Configuration.from_json(_object(row, "configuration")),
        toolchain=_text(row, "toolchain"),
        environment=_text(row, "environment"),
        inputs=dict(Configuration.from_json(_object(row, "inputs"))),
        measurement=_measurement(row),
        code=_text(row, "code"),
        build=None if build is None else Seconds(float(cast("Any", build))),
        run=Seconds(float(cast("Any", row["run_s"]))),
        time=datetime.fromisoformat(_text(row, "time")),
        threads=int(cast("Any", row["threads"])),
        counters=tuple(_counter(name, content) for name, content in counters),
        metadata={name: str(value) for name, value in _object(row, "metadata").items()},
        objectives={name: _value(found) for name, found in objectives.items()},
        features={name: float(cast("Any", found)) for name, found in features.items()},
    )


def _measurement(row: Mapping[str, object]) -> Measurement:
    outcome = _text(row, "outcome")
    if outcome != OK:
        return Failure(Stage(outcome), str(row["reason"] or ""))
    wall, cpu = (cast("Sequence[Any]", row[name]) for name in LISTS)
    if not wall or len(wall) != len(cpu):
        raise ValueError("a valid trial needs samples, as many on one clock as on the other")
    samples = tuple(Sample(Seconds(float(w)), Seconds(float(c))) for w, c in zip(wall, cpu, strict=True))
    return Success(samples, Clock(_text(row, "clock")), is_full=row.get("is_full") != 0)


def _value(found: object) -> float | None:
    return None if found is None else float(cast("Any", found))


def _counter(name: str, content: object) -> CounterValue:
    value, unit, source = cast("Sequence[Any]", content)
    return CounterValue(name, float(value), str(unit), CounterSource(source))


def _text(row: Mapping[str, object], name: str) -> str:
    value = row[name]
    if not isinstance(value, str) or not value:
        raise ValueError(f"the column `{name}` is empty")
    return value


def _object(row: Mapping[str, object], name: str) -> dict[str, object]:
    content = json.loads(_text(row, name))
    if not isinstance(content, dict):
        raise ValueError(f"the column `{name}` does not hold a JSON object")
    return cast("dict[str, object]", content)
