"""Reports of finished runs as JSON content of the results database, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from orio_py.core.diagnostics import Diagnostic, Severity
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.record.environment import Environment
from orio_py.record.front import FrontPoint
from orio_py.record.measurement import Clock, Timing
from orio_py.record.prediction_trust import PredictionTrust
from orio_py.record.timing_noise import TimingNoise
from orio_py.record.trial import CounterSource, CounterValue
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.result import (
    Best,
    Goal,
    PastUse,
    PredictionUse,
    RegionReport,
    SpaceCount,
    TimeSpent,
    counters_as_json,
)

VERSION = 1
"""Of the content; a report of another version is not used, and the session is run again."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The report of a finished run, the warnings that it gave, and the winning code of each region.

    The code fits a file in which the regions have the same `layout`.
    """

    report: RegionReport
    diagnostics: tuple[Diagnostic, ...]
    codes: tuple[str, ...] | None = None
    layout: str = ""


def encode(known: Remembered) -> dict[str, object]:
    """The content to store."""
    report = known.report
    return {
        "version": VERSION,
        "name": report.name,
        "target": report.target,
        "inputs": Configuration(report.inputs).as_json(),
        "space": [report.space.cartesian, report.space.valid],
        "trials": report.trials,
        "cached": report.cached,
        "failures": dict(report.failures),
        "refused": report.refused,
        "seconds": asdict(report.seconds),
        "environment": asdict(report.environment),
        "baseline": _timing_content(report.baseline),
        "best": None
        if report.best is None
        else {
            "configuration": Configuration(report.best.configuration).as_json(),
            "order": list(report.best.configuration),
            "timing": _timing_content(report.best.timing),
            "speedup": report.best.speedup,
            "counters": counters_as_json(report.best.counters),
            "features": list(report.best.features),
            "build_with": list(report.best.build_with),
            "fallback": None
            if report.best.fallback is None
            else Configuration(report.best.fallback).as_json(),
        },
        "kept_original": report.kept_original,
        "reason": report.reason,
        "steadiness": asdict(report.steadiness) if report.steadiness is not None else None,
        "calls_per_sample": report.calls_per_sample,
        "goal": _goal_content(report.goal),
        "counters": counters_as_json(report.counters),
        "past": asdict(report.past) if report.past is not None else None,
        "prediction": asdict(report.prediction) if report.prediction is not None else None,
        "codes": list(known.codes) if known.codes is not None else None,
        "layout": known.layout,
        "diagnostics": [
            {"code": d.code, "severity": str(d.severity), "message": d.message, "help": d.help}
            for d in known.diagnostics
        ],
    }


def decode(content: Mapping[str, object], position: Position) -> Remembered | None:
    """The report, told of the region at `position`; None for content of another version."""
    if content.get("version") != VERSION:
        return None
    stored = cast("Mapping[str, Any]", content)
    best = stored["best"]
    report = RegionReport(
        file=position.file,
        line=position.line,
        name=stored["name"],
        target=stored["target"],
        inputs=dict(Configuration.from_json(stored["inputs"])),
        space=SpaceCount(*stored["space"]),
        trials=stored["trials"],
        cached=stored["cached"],
        failures=stored["failures"],
        refused=stored["refused"],
        seconds=TimeSpent(**stored["seconds"]),
        environment=Environment(**stored["environment"]),
        baseline=_timing(stored["baseline"]),
        best=None if best is None else _best(best),
        kept_original=stored["kept_original"],
        reason=stored["reason"],
        steadiness=TimingNoise(**seen) if (seen := stored.get("steadiness")) is not None else None,
        calls_per_sample=stored.get("calls_per_sample", 1),
        goal=_goal(stored.get("goal")),
        counters=_counters(stored),
        past=PastUse(past["trials"], tuple(past["circumstances"])) if (past := stored.get("past")) else None,
        prediction=_prediction(stored.get("prediction")),
    )
    codes = stored.get("codes")
    return Remembered(
        report,
        _diagnostics(stored["diagnostics"], position),
        None if codes is None else tuple(codes),
        stored.get("layout", ""),
    )


def _goal_content(goal: Goal | None) -> dict[str, object] | None:
    if goal is None:
        return None
    front = [[Configuration(p.configuration).as_json(), list(p.configuration), p.values] for p in goal.front]
    return {**asdict(goal), "others": list(goal.others), "front": front}


def _goal(content: Mapping[str, Any] | None) -> Goal | None:
    if content is None:
        return None
    front: list[FrontPoint] = []
    for stored, order, values in content.get("front", ()):
        configuration = Configuration.from_json(stored)
        front.append(FrontPoint({name: configuration[name] for name in order}, tuple(values)))
    changed: dict[str, Any] = {"others": tuple(content.get("others", ())), "front": tuple(front)}
    return Goal(**{**content, **changed})


def _best(content: Mapping[str, Any]) -> Best:
    values = Configuration.from_json(content["configuration"])
    timing = _timing(content["timing"])
    assert timing is not None, "a best variant has been timed"
    ordered = {name: values[name] for name in content["order"]}
    features, flags = (tuple(content.get(name, ())) for name in ("features", "build_with"))
    fallback = None
    if (stored := content.get("fallback")) is not None:
        known = Configuration.from_json(stored)
        fallback = {name: known[name] for name in content["order"]}
    return Best(ordered, timing, content["speedup"], _counters(content), features, flags, fallback)


def _counters(content: Mapping[str, Any]) -> tuple[CounterValue, ...]:
    found = content.get("counters", ())
    return tuple(CounterValue(c["name"], c["value"], c["unit"], CounterSource(c["source"])) for c in found)


def _diagnostics(content: Sequence[Mapping[str, Any]], position: Position) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(d["code"], d["message"], position, Severity(d["severity"]), help=d["help"])
        for d in content
    )


def _timing_content(timing: Timing | None) -> dict[str, object] | None:
    if timing is None:
        return None
    return {
        "median_s": timing.median_s,
        "mad_s": timing.mad_s,
        "repeats": timing.repeats,
        "clock": str(timing.clock),
    }


def _prediction(stored: Any) -> PredictionUse | None:
    """What static features told; reports of earlier versions have no trust."""
    if not stored:
        return None
    trust = stored.get("trust")
    told = PredictionTrust(**trust) if trust else None
    return PredictionUse(stored["ranked"], stored["refused"], Seconds(stored["seconds"]), told)


def _timing(content: Mapping[str, Any] | None) -> Timing | None:
    if content is None:
        return None
    return Timing(
        Seconds(content["median_s"]), Seconds(content["mad_s"]), content["repeats"], Clock(content["clock"])
    )
