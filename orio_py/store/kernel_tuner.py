"""Cache files of Kernel Tuner, in which it keeps every configuration that it has tried.

At the top level `device_name`, `kernel_name`, `problem_size`, `tune_params` (the values of each parameter)
and `cache`: an object per configuration with the value of each parameter, `time` and `times` in
milliseconds, what compilation, verification, benchmark, search and framework took, and the tool's metrics.
The `time` of a failure is a word.  A tool that was interrupted leaves the last brackets out.
Source: https://github.com/KernelTuner/kernel_tuner, `doc/source/cache_files.rst`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from orio_py.core.diagnostics import DiagnosticError, fail
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.record.measurement import Failure, Stage
from orio_py.record.trial import Trial
from orio_py.search_space.configuration import Configuration, value_from_json
from orio_py.store.imported import (
    BENCHMARK,
    FRAMEWORK,
    SEARCH,
    VERIFICATION,
    ImportedMeasurement,
    ImportedTrial,
    Origin,
    imported_trial,
    read_stamp,
)
from orio_py.store.json_text import is_number, load_json, member, numbers

STAGES: Mapping[str, Stage] = {
    "InvalidConfig": Stage.TRANSFORM,
    "CompilationFailedConfig": Stage.COMPILE,
    "RuntimeFailedConfig": Stage.CRASH,
}
"""The stage of each of the tool's words for a failure."""

SPENT = {
    "verification_time": VERIFICATION,
    "benchmark_time": BENCHMARK,
    "framework_time": FRAMEWORK,
    "strategy_time": SEARCH,
}
_ERROR = "__error__"
_HUGE = 1e20  # the time of a failure in files of early versions, in milliseconds
_OTHERS = frozenset({*SPENT, "time", "times", "compile_time", "timestamp", _ERROR})
_MS = 1e-3


def close_brackets(text: str) -> str:
    """The text of a cache file with the brackets that an interrupted tool left out."""
    whole = text.rstrip()
    return text if whole.endswith(("}\n}", "}}")) else whole.rstrip(",") + "}\n}"


def load_document(text: str, name: str) -> object:
    """The content of a T4 or cache file.  Raises ORIO-D007."""
    try:
        return load_json(text, name)
    except DiagnosticError:
        if '"cache"' not in text[:100_000]:
            raise
        try:
            return load_json(close_brackets(text), name)
        except DiagnosticError:
            pass
        raise


def is_cache(document: object) -> bool:
    """Whether a document is a cache file, and no T4."""
    return isinstance(document, dict) and "cache" in document and "results" not in document


def cache_trials(document: object, name: str, now: datetime, told: ImportedMeasurement) -> list[Trial]:
    """The trials of a cache file; what the user tells takes precedence over what it says.

    Raises DiagnosticError ORIO-D007, which names the entry that is wrong.
    """
    try:
        top = member(document, "the file", dict)
        cache = member(top.get("cache"), "`cache`", dict)
        keys = member(top.get("tune_params_keys"), "`tune_params_keys`", list)
        if not all(isinstance(key, str) for key in keys):
            raise ValueError("`tune_params_keys` is not a list of names")
        said = ImportedMeasurement(
            told.name or _text(top, "kernel_name"), told.device or _text(top, "device_name")
        )
        origin = Origin.of(name, said, keys, _inputs(top.get("problem_size")))
    except ValueError as error:
        fail("ORIO-D007", str(error), Position(name, 1, 1))
    trials: list[Trial] = []
    for key, entry in cast("Mapping[str, object]", cache).items():
        try:
            trials.append(_read_entry(member(entry, "the entry", dict), keys, origin, now))
        except ValueError as error:
            fail("ORIO-D007", f"cache[{key[:80]!r}]: {error}", Position(name, 1, 1))
    return trials


def _read_entry(entry: Mapping[str, Any], keys: Sequence[str], origin: Origin, now: datetime) -> Trial:
    missing = [key for key in keys if key not in entry]
    if missing:
        raise ValueError(f"there is no value of the parameter `{missing[0]}`")
    time, stamp = entry.get("time"), entry.get("timestamp")
    word = entry.get(_ERROR, time)
    failure: Failure | None = None
    if isinstance(word, str):
        if word not in STAGES:
            raise ValueError(f"`time` is `{word[:40]}`; a number or one of {', '.join(STAGES)} is needed")
        failure = Failure(STAGES[word], f"reported as `{word}`")
    elif not is_number(time):
        raise ValueError("`time` is neither a number nor a failure")
    elif time >= _HUGE:
        failure = Failure(Stage.CRASH, f"reported by the time {time:g}")
    times = numbers(entry.get("times", []), "`times`", _MS) if failure is None else ()
    build = entry.get("compile_time")
    metrics = {
        name: (float(value), "")
        for name, value in entry.items()
        if failure is None and name not in _OTHERS and name not in keys and is_number(value)
    }
    reported = ImportedTrial(
        Configuration({key: value_from_json(entry[key]) for key in keys}),
        times,
        _MS * float(time) if failure is None and is_number(time) else None,
        failure,
        _MS * float(build) if is_number(build) else None,
        {what: _MS * float(entry[name]) for name, what in SPENT.items() if is_number(entry.get(name))},
        read_stamp(stamp) if isinstance(stamp, str) else now,
        metrics,
    )
    return imported_trial(origin, reported)


def _text(top: Mapping[str, Any], name: str) -> str | None:
    value = top.get(name)
    return value if isinstance(value, str) and value else None


def _inputs(size: object) -> dict[str, Value]:
    """The problem size as input sizes: the tool has up to three of them and no names."""
    sizes = cast("Sequence[object]", size) if isinstance(size, list) else [size]
    return {
        f"problem_size_{axis}": value
        for axis, value in zip("xyz", sizes, strict=False)
        if isinstance(value, int | float | str)
    }
