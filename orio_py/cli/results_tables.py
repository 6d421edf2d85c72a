"""Stored trials as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, nan
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from orio_py.cli.show import (
    show_configuration,
    show_count,
    show_counters,
    show_objectives,
    show_seconds,
    show_timing,
)
from orio_py.cli.tables import NOTHING, front_points, make_table
from orio_py.record.finals import FinalEntry
from orio_py.record.measurement import Clock, Failure, Success, Timing
from orio_py.record.trial import Trial
from orio_py.search_space.configuration import Configuration

if TYPE_CHECKING:  # types only: the database takes its time to load, and `orio --help` does without
    from orio_py.results import BestEntry
    from orio_py.store.curves import Curve
    from orio_py.store.database import StoredFinals, StoredSeries
    from orio_py.tuning.session.front import Front

DIGITS = 12
"""Of a digest; enough to tell tasks apart and to give to `--task`."""


_BLOCKS = "▁▂▃▄▅▆▇█"

COUNTERS_SHOWN = 4
"""Per trial, without `--verbose`."""


def series_table(series: Sequence[StoredSeries], place: Path | str, *, verbose: bool) -> RenderableType:
    """Per series: where, trials, failures, the best trial, finished runs, when last added to.

    How it was built, where that differs between series of a region.
    """
    if not series:
        return Text(f"nothing is stored in {place}")
    found = make_table(
        ("region", "left"),
        ("task", "left"),
        ("trials", "right"),
        ("failed", "right"),
        ("best", "right"),
        ("finished", "right"),
        ("last", "left"),
    )
    built = {(s.file, s.name, Configuration(s.inputs)): s.command for s in series}
    shows_command = any(built[s.file, s.name, Configuration(s.inputs)] != s.command for s in series)
    if shows_command:
        found.add_column("built with", overflow="fold")
    if verbose:
        for heading in ("toolchain", "environment", "generation"):
            found.add_column(heading)
    for s in series:
        more = (
            (s.series.toolchain[:DIGITS], s.series.environment[:DIGITS], str(s.generation)) if verbose else ()
        )
        more = (s.command or NOTHING, *more) if shows_command else more
        found.add_row(
            region_words(s.file, s.name, s.inputs),
            s.series.task[:DIGITS],
            show_count(s.trials),
            show_count(s.failed),
            _best(s),
            str(s.results),
            s.last[:16].replace("T", " "),
            *more,
        )
    return found


def trial_table(trials: Sequence[Trial], total: int, *, verbose: bool = False) -> RenderableType:
    """Per trial: outcome, time, configuration, objectives and counters if any, all counters if `verbose`.

    Samples of variants that were given up early are marked: they are fewer.
    """
    found = make_table(("region", "left"), ("time", "right"), ("samples", "right"), ("configuration", "left"))
    has_objectives = any(trial.objectives for trial in trials)
    if has_objectives:
        found.add_column("objective", overflow="fold")
    has_counters = any(trial.counters for trial in trials)
    if has_counters:
        found.add_column("counters", overflow="fold")
    for trial in trials:
        match trial.measurement:
            case Success() as success:
                timing = success.timing
                time, repeats = show_timing(timing), f"{timing.repeats}{'' if success.is_full else ' (cut)'}"
            case Failure(stage=stage):
                time, repeats = str(stage), "0"
        region = region_words(trial.file, trial.name, trial.inputs)
        more = (show_objectives(trial.objectives),) if has_objectives else ()
        if has_counters:
            more = (*more, show_counters(trial.counters, None if verbose else COUNTERS_SHOWN))
        found.add_row(region, time, repeats, show_configuration(trial.configuration), *more)
    if len(trials) < total:
        found.caption = f"{total - len(trials)} more; `--limit` shows them"
    return found


def feature_table(trials: Sequence[Trial]) -> RenderableType:
    """Per static feature: its unit, its value for the first of the trials, the least and the largest of all valid ones."""
    from orio_py.features.catalog import FEATURES  # takes time to load

    known = [trial for trial in trials if trial.features and isinstance(trial.measurement, Success)]
    if not known:
        return Text("the trials have no features: they are of an earlier version, or of another tool")
    found = make_table(
        ("feature", "left"),
        ("unit", "left"),
        ("best", "right"),
        ("least", "right"),
        ("most", "right"),
        ("meaning", "left"),
    )
    stored = {name for trial in known for name in trial.features}
    for name in sorted(stored, key=[*FEATURES, *sorted(stored)].index):
        values = [trial.features[name] for trial in known if name in trial.features]
        shown = [f"{value:.4g}" for value in (known[0].features.get(name, nan), min(values), max(values))]
        unit, meaning = (FEATURES[name].unit, FEATURES[name].meaning) if name in FEATURES else ("", "")
        found.add_row(name, unit, *shown, meaning)
    return found


def finals_table(
    finals: Sequence[StoredFinals], trials: Sequence[Trial], *, verbose: bool = False
) -> RenderableType:
    """Per finalist of the newest finished run of each series (all runs if `verbose`): time, rounds, samples.

    With an objective other than time its median over the rounds, too.
    """
    newest = {one.series: one for one in finals}
    shown = finals if verbose else list(newest.values())
    regions = {_digests(trial): region_words(trial.file, trial.name, trial.inputs) for trial in trials}
    clocks = {_digests(t): t.measurement.clock for t in trials if isinstance(t.measurement, Success)}
    found = make_table(
        ("finals of", "left"), ("time", "right"), ("samples", "right"), ("rounds", "right"), ("", "left")
    )
    has_objectives = any(one.objective is not None for one in shown)
    if has_objectives:
        found.add_column("objective", overflow="fold")
    for one in shown:
        series = (one.series.task, one.series.toolchain, one.series.environment)
        clock = clocks.get(series, Clock.WALL)
        for entry in one.entries:
            timing = show_timing(Timing.of(entry.samples, clock)) if entry.samples else NOTHING
            value = median(entry.values) if one.objective is not None and entry.values else None
            more = (show_objectives({one.objective: value}) if one.objective is not None else "",)
            found.add_row(
                regions[series],
                timing if entry.failed is None else str(entry.failed.stage),
                str(len(entry.samples)),
                str(len(entry.rounds)),
                _who(entry),
                *(more if has_objectives else ()),
            )
    return found


def _digests(trial: Trial) -> tuple[str, str, str]:
    return trial.task, trial.toolchain, trial.environment


def front_table(stored: StoredSeries, front: Front) -> RenderableType:
    """A series and the points of its front."""
    without = f"; {front.without} have no value of one" if front.without else ""
    heading = (
        f"{region_words(stored.file, stored.name, stored.inputs)}: {len(front.points)} of {front.judged} "
        f"variants are not beaten in every objective{without}"
    )
    return Group(Text(heading), front_points(front.objectives, front.points))


def best_table(entries: Sequence[BestEntry]) -> RenderableType:
    """Per series: the best configuration, its time, the value of its objective, and where that comes from."""
    found = make_table(
        ("region", "left"), ("best", "right"), ("speed-up", "right"), ("", "left"), ("configuration", "left")
    )
    has_objectives = any(entry.objective is not None for entry in entries)
    if has_objectives:
        found.add_column("objective", overflow="fold")
    for entry in entries:
        source = "finals" if entry.from_finals else "trials; no finished run"
        if entry.clock == Clock.EMULATED:
            source = "emulation"
        value = show_objectives({entry.objective: entry.value}) if entry.objective is not None else ""
        found.add_row(
            region_words(entry.stored.file, entry.stored.name, entry.stored.inputs),
            f"{show_seconds(entry.median_s)}, emulated"
            if entry.clock == Clock.EMULATED
            else f"{show_seconds(entry.median_s)} ± {show_seconds(entry.mad_s)}",
            NOTHING if entry.speedup is None else f"{entry.speedup:.2f}x",
            f"{source}, original kept" if entry.kept_original else source,
            show_configuration(entry.configuration),
            *((value,) if has_objectives else ()),
        )
    return found


def curve_table(curves: Sequence[Curve]) -> RenderableType:
    """Per task: how many variants, how long they take, and their times in order as a row of blocks."""
    found = make_table(
        ("region", "left"),
        ("variants", "right"),
        ("failed", "right"),
        ("slowest", "right"),
        ("median", "right"),
        ("fastest", "right"),
        ("slowest to fastest", "left"),
    )
    for curve in curves:
        times = (curve.seconds[0], median(curve.seconds), curve.seconds[-1])
        found.add_row(
            region_words(curve.file, curve.name, curve.inputs),
            show_count(len(curve.seconds)),
            show_count(curve.failed),
            *map(show_seconds, times),
            blocks(curve.seconds),
        )
    return found


def blocks(values: Sequence[float], width: int = 24) -> str:
    """Positive numbers as blocks of eight heights, by their logarithms; of many, evenly spaced ones.

    >>> blocks([8.0, 4.0, 2.0, 1.0])
    '█▆▃▁'
    """
    picked = [values[k * (len(values) - 1) // (width - 1)] for k in range(width)]
    chosen = [log(max(value, 1e-12)) for value in (picked if len(values) > width else values)]
    low, high = min(chosen), max(chosen)
    scale = (len(_BLOCKS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BLOCKS[round(scale * (value - low))] for value in chosen)


def _best(stored: StoredSeries) -> str:
    """The best time; with an objective other than time its least value."""
    if stored.objective is not None:
        return show_objectives({stored.objective: stored.best_value})
    if stored.best_seconds is None:
        return NOTHING
    return f"{show_seconds(stored.best_seconds)}{', emulated' if stored.clock is Clock.EMULATED else ''}"


def _who(entry: FinalEntry) -> str:
    if not entry.is_original:
        return show_configuration(entry.configuration)
    return f"original, built with `{entry.flags}`" if entry.flags else "original"


def region_words(file: str, name: str, inputs: Mapping[str, object]) -> str:
    """File, region and problem size in words."""
    return f"{file} {name}" + "".join(f" {key}={value}" for key, value in inputs.items())
