"""T4 1.0.0, the results format that tools of the autotuning community exchange.

Per result: `configuration`, `times` (milliseconds, as `metadata.timeunit` says), `invalidity`,
`correctness`, `timestamp`, `objectives`, `measurements`.  T4 has no place for the second clock, digests,
counters' sources and types of values, so each result also has a member `orio` with all of the trial, which
other tools ignore; a file with it comes back exactly.  A file of another tool is filed as one imported task,
ranked by time: T4 does not say of an objective whether less of it is better.
Source: https://github.com/odgaard/TuningSchema (T4 results schema), version 1.0.0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, cast

from orio_py.core.diagnostics import fail
from orio_py.core.digest import digest
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.record.trial import Trial
from orio_py.space.configuration import Configuration, value_from_json
from orio_py.store.flat import from_flat, to_flat
from orio_py.store.rows import show_time

VERSION = "1.0.0"
CORRECT = "correct"

INVALIDITY: Mapping[Stage, str] = {
    Stage.TRANSFORM: "constraints",
    Stage.COMPILE: "compile",
    Stage.COMPILE_TIMEOUT: "compile",
    Stage.LOAD: "runtime",
    Stage.CRASH: "runtime",
    Stage.TIMEOUT: "timeout",
    Stage.MEMORY: "runtime",
    Stage.SANITIZER: "runtime",
    Stage.WRONG_RESULT: "correctness",
    Stage.OUT_OF_BOUNDS: "correctness",
    Stage.VALIDATION: "correctness",
    Stage.PROTOCOL: "runtime",
    Stage.COUNTERS: "runtime",
}
"""T4's word for each stage of failure."""

STAGES: Mapping[str, Stage] = {
    "constraints": Stage.TRANSFORM,
    "compile": Stage.COMPILE,
    "runtime": Stage.CRASH,
    "timeout": Stage.TIMEOUT,
    "correctness": Stage.WRONG_RESULT,
}
"""The stage that stands for each of T4's words; T4 is coarser."""

TIME = "time"
UNITS = {"wall_time": "s", "cpu_time": "s"}
"""Units of objectives that are plain times; those of expressions are not known."""

SECONDS = {"s": 1.0, "seconds": 1.0, "ms": 1e-3, "milliseconds": 1e-3, "us": 1e-6, "microseconds": 1e-6}
SECONDS.update({"ns": 1e-9, "nanoseconds": 1e-9})


def write_t4(trials: Sequence[Trial]) -> str:
    """The trials as T4 JSON."""
    document = {
        "schema_version": VERSION,
        "metadata": {"timeunit": "milliseconds", "tool": "orio_py"},
        "results": [_result(trial) for trial in trials],
    }
    return json.dumps(document, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def _result(trial: Trial) -> dict[str, object]:
    times: dict[str, object] = {"runtimes": []}
    if trial.build is not None:
        times["compilation_time"] = 1e3 * trial.build
    measurements: list[dict[str, object]] = []
    invalidity, correctness = CORRECT, 1.0
    match trial.measurement:
        case Success(samples=samples, clock=clock) as success:
            times["runtimes"] = [1e3 * s.by(clock) for s in samples]
            measurements.append({"name": TIME, "value": 1e3 * success.timing.median_s, "unit": "ms"})
        case Failure(stage=stage):
            invalidity, correctness = INVALIDITY[stage], 0.0
    measurements.extend({"name": c.name, "value": c.value, "unit": c.unit} for c in trial.counters)
    known = {entry["name"] for entry in measurements}
    for name, value in trial.objectives.items():
        if value is not None and name not in known:
            measurements.append({"name": name, "value": value, "unit": UNITS.get(name, "")})
    return {
        "timestamp": show_time(trial.time),
        "configuration": {name: _plain(value) for name, value in trial.configuration.items()},
        "objectives": list(trial.objectives) or [TIME],
        "times": times,
        "invalidity": invalidity,
        "correctness": correctness,
        "measurements": measurements,
        "orio": to_flat(trial),
    }


def _plain(value: object) -> object:
    """A parameter value as any JSON reader understands it: tuples as lists, infinities as text."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def read_t4(text: str, name: str, now: datetime) -> list[Trial]:
    """The trials of a T4 file; `now` stands in for a timestamp that is missing.

    Raises DiagnosticError ORIO-D007 with the place of a syntax error, or the member that is wrong.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        fail("ORIO-D007", f"this is not JSON: {error.msg}", Position(name, error.lineno, error.colno))
    except RecursionError:
        fail("ORIO-D007", "the JSON is nested too deeply", Position(name, 1, 1))
    trials: list[Trial] = []
    try:
        top = _member(document, "the file", dict)
        results = _member(top.get("results"), "`results`", list)
        unit = _unit(top)
    except ValueError as error:
        fail("ORIO-D007", str(error), Position(name, 1, 1))
    for index, result in enumerate(results):
        try:
            trials.append(_read_result(_member(result, "the result", dict), name, unit, now))
        except ValueError as error:
            fail("ORIO-D007", f"results[{index}]: {error}", Position(name, 1, 1))
    return trials


def _member(value: object, what: str, kind: type) -> Any:
    if not isinstance(value, kind):
        wanted = {dict: "an object", list: "a list", str: "text"}[kind]
        raise ValueError(f"{what} is not {wanted}" if value is not None else f"{what} is missing")
    return value


def _unit(top: Mapping[str, Any]) -> float:
    metadata = top.get("metadata")
    word = cast("Mapping[str, object]", metadata).get("timeunit") if isinstance(metadata, dict) else None
    if word is not None and str(word) not in SECONDS:
        raise ValueError(f"the time unit `{word}` is not known; one of {', '.join(SECONDS)} is needed")
    return SECONDS[str(word)] if word is not None else 1e-3


def _read_result(result: Mapping[str, Any], name: str, unit: float, now: datetime) -> Trial:
    times = _member(result.get("times"), "`times`", dict)
    values = _member(result.get("configuration"), "`configuration`", dict)
    invalidity = _member(result.get("invalidity"), "`invalidity`", str)
    if invalidity != CORRECT and invalidity not in STAGES:
        raise ValueError(f"`invalidity` is `{invalidity}`; one of {CORRECT}, {', '.join(STAGES)} is needed")
    if not _is_number(result.get("correctness")):
        raise ValueError("`correctness` is not a number")
    if isinstance(result.get("orio"), dict):
        return from_flat(result["orio"])
    configuration = Configuration({key: value_from_json(value) for key, value in values.items()})
    build = times.get("compilation_time")
    stamp = result.get("timestamp")
    measurement = _measurement(result, times, invalidity, unit)
    seconds = sum(s.wall for s in measurement.samples) if isinstance(measurement, Success) else 0.0
    return Trial(
        name=PurePath(name).stem,
        file=name,
        task=digest(["T4", PurePath(name).name]),
        configuration=configuration,
        toolchain=digest(["T4", "toolchain not told"]),
        environment=digest(["T4", "environment not told"]),
        inputs={},
        measurement=measurement,
        code=digest(["T4", PurePath(name).name, configuration.digest]),
        build=Seconds(unit * float(build)) if _is_number(build) else None,
        run=Seconds(seconds),
        time=_time(stamp) if isinstance(stamp, str) else now,
        metadata={"orio:imported": PurePath(name).name, "orio:cpu": "not told; wall time stands in for it"},
    )


def _measurement(
    result: Mapping[str, Any], times: Mapping[str, Any], invalidity: str, unit: float
) -> Measurement:
    if invalidity != CORRECT:
        return Failure(STAGES[invalidity], f"reported as `{invalidity}`")
    runtimes = _member(times.get("runtimes", []), "`times.runtimes`", list)
    values = [unit * float(v) for v in runtimes if _is_number(v)] or _measured(result, unit)
    if not values:
        raise ValueError("a correct result needs `times.runtimes` or a measurement named `time`")
    return Success(tuple(Sample(Seconds(v), Seconds(v)) for v in values), Clock.WALL)


def _measured(result: Mapping[str, Any], unit: float) -> list[float]:
    found: list[float] = []
    for item in _member(result.get("measurements", []), "`measurements`", list):
        entry = _member(item, "a measurement", dict)
        if entry.get("name") == TIME and _is_number(entry.get("value")):
            found.append(SECONDS.get(entry.get("unit") or "", unit) * float(entry["value"]))
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
