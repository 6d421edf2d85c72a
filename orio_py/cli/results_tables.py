"""Stored trials as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from orio_py.cli.show import show_configuration, show_count, show_counters, show_seconds
from orio_py.cli.tables import NOTHING, make_table
from orio_py.record.measurement import Failure, Success
from orio_py.record.trial import Trial

if TYPE_CHECKING:  # types only: the database takes its time to load, and `orio --help` does without
    from orio_py.results import BestEntry
    from orio_py.store.database import StoredSeries

DIGITS = 12
"""Of a digest; enough to tell tasks apart and to give to `--task`."""


COUNTERS_SHOWN = 4
"""Per trial, without `--verbose`."""


def series_table(series: Sequence[StoredSeries], place: Path | str, *, verbose: bool) -> RenderableType:
    """Per series: where, trials, failures, the best trial, finished runs, when last added to."""
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
    if verbose:
        for heading in ("toolchain", "environment", "generation"):
            found.add_column(heading)
    for s in series:
        more = (
            (s.series.toolchain[:DIGITS], s.series.environment[:DIGITS], str(s.generation)) if verbose else ()
        )
        found.add_row(
            _region(s.file, s.name, s.inputs),
            s.series.task[:DIGITS],
            show_count(s.trials),
            show_count(s.failed),
            NOTHING if s.best_seconds is None else show_seconds(s.best_seconds),
            str(s.results),
            s.last[:16].replace("T", " "),
            *more,
        )
    return found


def trial_table(trials: Sequence[Trial], total: int, *, verbose: bool = False) -> RenderableType:
    """Per trial: outcome, time, configuration, and counters where there are any, all of them if `verbose`."""
    found = make_table(("region", "left"), ("time", "right"), ("samples", "right"), ("configuration", "left"))
    has_counters = any(trial.counters for trial in trials)
    if has_counters:
        found.add_column("counters", overflow="fold")
    for trial in trials:
        match trial.measurement:
            case Success() as success:
                timing = success.timing
                time, repeats = (
                    f"{show_seconds(timing.median_s)} ± {show_seconds(timing.mad_s)}",
                    timing.repeats,
                )
            case Failure(stage=stage):
                time, repeats = str(stage), 0
        region = _region(trial.file, trial.name, trial.inputs)
        more = (show_counters(trial.counters, None if verbose else COUNTERS_SHOWN),) if has_counters else ()
        found.add_row(region, time, str(repeats), show_configuration(trial.configuration), *more)
    if len(trials) < total:
        found.caption = f"{total - len(trials)} more; `--limit` shows them"
    return found


def best_table(entries: Sequence[BestEntry]) -> RenderableType:
    """Per series: the best configuration, its time, and where that comes from."""
    found = make_table(
        ("region", "left"), ("best", "right"), ("speed-up", "right"), ("", "left"), ("configuration", "left")
    )
    for entry in entries:
        source = "finals" if entry.from_finals else "trials; no finished run"
        found.add_row(
            _region(entry.stored.file, entry.stored.name, entry.stored.inputs),
            f"{show_seconds(entry.median_s)} ± {show_seconds(entry.mad_s)}",
            NOTHING if entry.speedup is None else f"{entry.speedup:.2f}x",
            f"{source}, original kept" if entry.kept_original else source,
            show_configuration(entry.configuration),
        )
    return found


def _region(file: str, name: str, inputs: Mapping[str, object]) -> str:
    return f"{file} {name}" + "".join(f" {key}={value}" for key, value in inputs.items())
