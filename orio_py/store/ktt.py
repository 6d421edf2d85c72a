"""Tuning results of KTT, the Kernel Tuning Toolkit, as JSON: times, and the hardware counters of each configuration.

At the top level `Metadata` (`Device`, `TimeUnit`, `GlobalSizeType`, `KttVersion`) and `Results`: `Configuration` (a
list of `Name` and `Value`), `Status`, `TotalDuration`, `KernelName`, and `ComputationResults` with `Duration`,
`GlobalSize`, `LocalSize`, `CompilationData` and `ProfilingData.Counters` (`Name`, `Value`) for each kernel.
Source: https://github.com/HiPerCoRe/KTT, `Source/Output/JsonConverters.h`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from orio_py.core.diagnostics import fail
from orio_py.core.source import Position
from orio_py.record.measurement import Failure, Stage
from orio_py.record.trial import Trial
from orio_py.search_space.configuration import Configuration, value_from_json
from orio_py.store.imported import (
    BENCHMARK,
    SEARCH,
    SECONDS,
    VERIFICATION,
    ImportedMeasurement,
    ImportedTrial,
    Origin,
    imported_trial,
)
from orio_py.store.json_text import is_number, member

OK = "Ok"
STAGES: Mapping[str, Stage] = {
    "ComputationFailed": Stage.CRASH,
    "ValidationFailed": Stage.WRONG_RESULT,
    "CompilationFailed": Stage.COMPILE,
    "DeviceLimitsExceeded": Stage.TRANSFORM,
}
"""The stage of each of the tool's words for a failure."""

SPENT = {"ValidationOverhead": VERIFICATION, "SearcherOverhead": SEARCH}
COMPILED = {
    "RegistersCount": "registers",
    "LocalMemorySize": "shared_memory",
    "ConstantMemorySize": "constant_memory",
    "PrivateMemorySize": "local_memory",
}
"""What the compiler tells, by the names that it has here; the tool's words are OpenCL's."""


def is_ktt(document: object) -> bool:
    """Whether a document holds results of KTT."""
    if not isinstance(document, dict):
        return False
    top = cast("Mapping[str, Any]", document)
    return "Results" in top and isinstance(top.get("Metadata"), dict) and "KttVersion" in top["Metadata"]


def ktt_trials(document: object, name: str, now: datetime, told: ImportedMeasurement) -> list[Trial]:
    """The trials of such a document; what the user tells takes precedence over what it says.

    Raises DiagnosticError ORIO-D007, which names the result that is wrong.
    """
    try:
        top = member(document, "the file", dict)
        metadata = member(top.get("Metadata"), "`Metadata`", dict)
        results = [
            member(result, "a result", dict) for result in member(top.get("Results"), "`Results`", list)
        ]
        unit = _unit(metadata)
        stamp = _stamp(metadata.get("Timestamp"), now)
    except ValueError as error:
        fail("ORIO-D007", str(error), Position(name, 1, 1))
    is_blocks = str(metadata.get("GlobalSizeType", "")).upper() != "OPENCL"
    trials: list[Trial] = []
    origin: Origin | None = None
    for number, result in enumerate(results):
        try:
            configuration = _configuration(result)
            if origin is None:
                device = metadata.get("Device")
                said = ImportedMeasurement(
                    told.name or _text(result.get("KernelName")), told.device or _text(device)
                )
                origin = Origin.of(name, said, list(configuration))
            trials.append(imported_trial(origin, _read_result(result, configuration, unit, stamp, is_blocks)))
        except ValueError as error:
            fail("ORIO-D007", f"Results[{number}]: {error}", Position(name, 1, 1))
    return trials


def _read_result(
    result: Mapping[str, Any], configuration: Configuration, unit: float, stamp: datetime, is_blocks: bool
) -> ImportedTrial:
    status = member(result.get("Status"), "`Status`", str)
    if status != OK and status not in STAGES:
        raise ValueError(f"`Status` is `{status[:40]}`; one of {OK}, {', '.join(STAGES)} is needed")
    failure = None if status == OK else Failure(STAGES[status], f"reported as `{status}`")
    kernels = [
        member(kernel, "a kernel's result", dict)
        for kernel in member(result.get("ComputationResults", []), "`ComputationResults`", list)
    ]
    duration = result.get("TotalDuration")
    if failure is None and not is_number(duration):
        raise ValueError("`TotalDuration` is not a number")
    time = unit * float(cast("float", duration)) if failure is None else None
    spent = {what: unit * float(result[word]) for word, what in SPENT.items() if is_number(result.get(word))}
    if time is not None:
        spent[BENCHMARK] = time
    build = [unit * float(kernel["Overhead"]) for kernel in kernels if is_number(kernel.get("Overhead"))]
    counters: dict[str, tuple[float, str]] = {}
    # Counters of several kernels do not add up: percentages are among them.
    if failure is None and len(kernels) == 1:
        counters = _counters(kernels[0], is_blocks)
    times = () if time is None else (time,)
    return ImportedTrial(configuration, times, time, failure, sum(build) or None, spent, stamp, counters)


def _counters(kernel: Mapping[str, Any], is_blocks: bool) -> dict[str, tuple[float, str]]:
    found: dict[str, tuple[float, str]] = {}
    profile = member(kernel.get("ProfilingData", {}), "`ProfilingData`", dict)
    for item in member(profile.get("Counters", []), "`Counters`", list):
        entry = member(item, "a counter", dict)
        name, value = entry.get("Name"), entry.get("Value")
        if not isinstance(name, str) or not is_number(value):
            raise ValueError("a counter has no name or no number")
        found[name] = (float(value), "")
    launched, block = _size(kernel.get("GlobalSize")), _size(kernel.get("LocalSize"))
    if launched and block:
        found["threads_per_block"] = (block, "")
        found["launched_threads"] = (launched * block if is_blocks else launched, "")
    compiled = member(kernel.get("CompilationData", {}), "`CompilationData`", dict)
    for word, name in COMPILED.items():
        if is_number(compiled.get(word)):
            found[name] = (float(compiled[word]), "" if name == "registers" else "B")
    return found


def _size(value: object) -> float:
    """The product of the sizes of three axes; 0 where they are not told."""
    if not isinstance(value, dict):
        return 0.0
    sizes = cast("Mapping[str, object]", value)
    found = [float(cast("float", sizes[axis])) for axis in "XYZ" if is_number(sizes.get(axis))]
    return found[0] * found[1] * found[2] if len(found) == 3 else 0.0


def _configuration(result: Mapping[str, Any]) -> Configuration:
    values: dict[str, Any] = {}
    for item in member(result.get("Configuration"), "`Configuration`", list):
        entry = member(item, "a parameter", dict)
        if not isinstance(entry.get("Name"), str) or "Value" not in entry:
            raise ValueError("a parameter has no name or no value")
        values[entry["Name"]] = value_from_json(entry["Value"])
    return Configuration(values)


def _unit(metadata: Mapping[str, Any]) -> float:
    word = str(metadata.get("TimeUnit", "")).lower()
    if word not in SECONDS:
        raise ValueError(f"`TimeUnit` is `{word[:40]}`; one of {', '.join(SECONDS)} is needed")
    return SECONDS[word]


def _stamp(value: object, now: datetime) -> datetime:
    """The time stamp of the file, which is in UTC; the moment of reading where it has none."""
    try:
        return datetime.strptime(str(value), "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    except ValueError:
        return now


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
