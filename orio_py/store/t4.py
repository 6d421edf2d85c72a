"""T4 1.0.0, the results format that tools of the autotuning community exchange.

Per result: `configuration`, `times` (milliseconds, as `metadata.timeunit` says), `invalidity`,
`correctness`, `timestamp`, `objectives`, `measurements`.  T4 has no place for the second clock, digests,
counters' sources and types of values, so each result also has a member `orio` with all of the trial, which
other tools ignore; a file with it comes back exactly.  A file of another tool is filed as one imported task,
ranked by its measurement `time` (else by the times): T4 does not say of others whether less is better.
Source: https://github.com/odgaard/TuningSchema (T4 results schema), version 1.0.0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from orio_py.core.diagnostics import fail
from orio_py.core.source import Position
from orio_py.record.cuda import EMULATED_TIME
from orio_py.record.measurement import Clock, Failure, Stage, Success
from orio_py.record.trial import Trial
from orio_py.search_space.configuration import Configuration, value_from_json
from orio_py.store.flat import from_flat, to_flat
from orio_py.store.imported import (
    BENCHMARK,
    FRAMEWORK,
    REPORTED,
    SEARCH,
    SECONDS,
    VERIFICATION,
    ImportedMeasurement,
    ImportedTrial,
    Origin,
    imported_trial,
    read_stamp,
)
from orio_py.store.json_text import is_number, load_json, member, numbers
from orio_py.store.rows import show_time

VERSION = "1.0.0"
CORRECT = "correct"
_UNTOLD = ImportedMeasurement()
_COMPILATION = ("compilation_time", "compilation")

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
    Stage.CHECKED: "runtime",
    Stage.NOT_RECORDED: "runtime",
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
UNITS = {"wall_time": "s", "cpu_time": "s", REPORTED: "s"}
"""Units of objectives that are plain times; those of expressions are not known."""

SPENT = {
    "validation": VERIFICATION,
    "benchmark": BENCHMARK,
    "framework": FRAMEWORK,
    "search_algorithm": SEARCH,
}
"""What each of T4's times is spent on; the time of the benchmark is not part of T4, but is written by some."""


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
    invalidity, correctness, time = CORRECT, 1.0, TIME
    match trial.measurement:
        case Success(samples=samples, clock=clock) as success:
            times["runtimes"] = [1e3 * s.by(clock) for s in samples]
            if clock is Clock.EMULATED:
                time = EMULATED_TIME
            measurements.append({"name": time, "value": 1e3 * success.timing.median_s, "unit": "ms"})
        case Failure(stage=stage):
            invalidity, correctness = INVALIDITY[stage], float(stage is Stage.CHECKED)
    measurements.extend({"name": c.name, "value": c.value, "unit": c.unit} for c in trial.counters)
    known = {entry["name"] for entry in measurements}
    for name, value in trial.objectives.items():
        if value is not None and name not in known:
            measurements.append({"name": name, "value": value, "unit": UNITS.get(name, "")})
    return {
        "timestamp": show_time(trial.time),
        "configuration": {name: _plain(value) for name, value in trial.configuration.items()},
        "objectives": list(trial.objectives) or [time],
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
    return t4_trials(load_json(text, name), name, now)


def t4_trials(document: object, name: str, now: datetime, told: ImportedMeasurement = _UNTOLD) -> list[Trial]:
    """The trials of a T4 document; `told` is what is known of it beside.  Raises ORIO-D007."""
    trials: list[Trial] = []
    try:
        top = member(document, "the file", dict)
        results = member(top.get("results"), "`results`", list)
        unit = _unit(top)
    except ValueError as error:
        fail("ORIO-D007", str(error), Position(name, 1, 1))
    origin: Origin | None = None
    for index, result in enumerate(results):
        try:
            content = member(result, "the result", dict)
            if origin is None:
                origin = Origin.of(
                    name, told, list(member(content.get("configuration"), "`configuration`", dict))
                )
            trials.append(_read_result(content, origin, unit, now))
        except ValueError as error:
            fail("ORIO-D007", f"results[{index}]: {error}", Position(name, 1, 1))
    return trials


def _unit(top: Mapping[str, Any]) -> float:
    metadata = top.get("metadata")
    word = cast("Mapping[str, object]", metadata).get("timeunit") if isinstance(metadata, dict) else None
    if word is not None and str(word) not in SECONDS:
        raise ValueError(f"the time unit `{word}` is not known; one of {', '.join(SECONDS)} is needed")
    return SECONDS[str(word)] if word is not None else 1e-3


def _read_result(result: Mapping[str, Any], origin: Origin, unit: float, now: datetime) -> Trial:
    times = member(result.get("times"), "`times`", dict)
    values = member(result.get("configuration"), "`configuration`", dict)
    invalidity = member(result.get("invalidity"), "`invalidity`", str)
    if invalidity != CORRECT and invalidity not in STAGES:
        raise ValueError(f"`invalidity` is `{invalidity}`; one of {CORRECT}, {', '.join(STAGES)} is needed")
    if not is_number(result.get("correctness")):
        raise ValueError("`correctness` is not a number")
    if isinstance(result.get("orio"), dict):
        return from_flat(result["orio"])
    failure = None if invalidity == CORRECT else Failure(STAGES[invalidity], f"reported as `{invalidity}`")
    repetitions = numbers(times.get("runtimes", []), "`times.runtimes`", unit) if failure is None else ()
    seconds = {what: unit * float(times[word]) for word, what in SPENT.items() if is_number(times.get(word))}
    seconds.setdefault(BENCHMARK, sum(repetitions))
    build = next((times[word] for word in _COMPILATION if is_number(times.get(word))), None)
    stamp = result.get("timestamp")
    measured = {} if failure is not None else _measured(result, unit)
    reported = ImportedTrial(
        Configuration({key: value_from_json(value) for key, value in values.items()}),
        repetitions,
        measured.pop(TIME, (None, ""))[0],
        failure,
        None if build is None else unit * float(build),
        seconds,
        read_stamp(stamp) if isinstance(stamp, str) else now,
        {name: (value, word) for name, (value, word) in measured.items() if value is not None},
    )
    return imported_trial(origin, reported)


def _measured(result: Mapping[str, Any], unit: float) -> dict[str, tuple[float | None, str]]:
    """The measurements with their units; that of the time in seconds."""
    found: dict[str, tuple[float | None, str]] = {}
    for item in member(result.get("measurements", []), "`measurements`", list):
        entry = member(item, "a measurement", dict)
        name, value, word = entry.get("name"), entry.get("value"), entry.get("unit") or ""
        if isinstance(name, str) and is_number(value) and isinstance(word, str):
            scale = SECONDS.get(word, unit) if name == TIME else 1.0
            found.setdefault(name, (scale * float(value), word))
    return found
