"""The public API on what stored trials tell: which parameters mattered, which variants are the best
compromises, and pictures of searches.

Raises as `orio_py.results` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from orio_py.core.diagnostics import fail
from orio_py.model.counters.diagnosis import Diagnosis, diagnose
from orio_py.model.counters.nsight import read_nsight
from orio_py.record.device import DEVICE_NAME
from orio_py.record.measurement import Success
from orio_py.record.trial import Trial
from orio_py.results import Place, Selection, series_json
from orio_py.store.database import ResultsDatabase, StoredSeries
from orio_py.store.progress_plots import (
    Coordinates,
    Ranked,
    coordinates_of,
    draw_convergence,
    draw_parallel,
    ranked_series,
)
from orio_py.tuning.session.front import Front, front_of, stored_objectives

if TYPE_CHECKING:  # it loads scikit-learn
    from orio_py.model.importance import Importances

__all__ = [
    "SeriesDiagnosis",
    "SeriesImportances",
    "bottleneck_json",
    "bottlenecks",
    "convergence_json",
    "coordinates",
    "coordinates_json",
    "front_json",
    "fronts",
    "importance_json",
    "importances",
    "plot_convergence",
    "plot_coordinates",
    "ranked",
]


@dataclass(frozen=True, slots=True)
class SeriesImportances:
    """Which parameters mattered in a series."""

    ranked: Ranked
    found: Importances


@dataclass(frozen=True, slots=True)
class SeriesDiagnosis:
    """What the best trial of a series that has counters is bound by."""

    ranked: Ranked
    best: Trial
    found: Diagnosis


def bottlenecks(place: Place, selection: Selection) -> list[SeriesDiagnosis]:
    """What the best of each series waits for, for those whose counters tell it.

    Raises as `ranked`, and DiagnosticError ORIO-D023 where no counters do.
    """
    found: list[SeriesDiagnosis] = []
    for one in ranked(place, selection):
        pairs = zip(one.trials, one.values, strict=True)
        order = sorted(
            ((value, number, trial) for number, (trial, value) in enumerate(pairs) if value is not None)
        )
        for _, _, trial in order:
            counted = {counter.name: counter.value for counter in trial.counters}
            told = (
                diagnose(trial.measurement.time, counted) if isinstance(trial.measurement, Success) else None
            )
            if told is not None:
                found.append(SeriesDiagnosis(one, trial, told))
                break
    if not found:
        fail(
            "ORIO-D023",
            "no trial has counters that tell what it waits for",
            help="`orio explain ORIO-D023` tells how",
        )
    return found


@dataclass(frozen=True, slots=True)
class ProfileDiagnosis:
    """What a profiled launch of a kernel is bound by; None where its counters do not tell."""

    kernel: str
    found: Diagnosis | None


def profile_bottlenecks(path: Path) -> list[ProfileDiagnosis]:
    """What each launch waits for in a file that Nsight Compute wrote with `--csv`.

    Raises DiagnosticError ORIO-U006 for a file that cannot be read, and as `read_nsight`.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        fail("ORIO-U006", f"`{path}` cannot be read: {error.strerror}")
    return [
        ProfileDiagnosis(kernel.name, diagnose(kernel.seconds, kernel.counters))
        for kernel in read_nsight(text, str(path))
    ]


def profile_json(entry: ProfileDiagnosis) -> dict[str, object]:
    """The entry of `results bottleneck --profile FILE --json`."""
    return {"kernel": entry.kernel, **(_diagnosis_json(entry.found) if entry.found else {"bound": None})}


def bottleneck_json(entry: SeriesDiagnosis) -> dict[str, object]:
    """The entry of `results bottleneck --json`."""
    one, best, found = entry.ranked, entry.best, entry.found
    return {
        "file": one.file,
        "name": one.name,
        "inputs": dict(one.inputs),
        "configuration": dict(best.configuration),
        **_diagnosis_json(found),
    }


def _diagnosis_json(found: Diagnosis) -> dict[str, object]:
    return {"bound": str(found.bound), "parts": dict(found.parts), "parts_are": str(found.measure)}


def ranked(place: Place, selection: Selection) -> list[Ranked]:
    """The series meant with their trials in the order stored, and the values they were ranked by.

    Raises DiagnosticError ORIO-D006 where nothing meant is valid, and as `orio_py.results.list_series`.
    """
    with ResultsDatabase.open(place, create=False) as database:
        trials = database.history(selection)
        objectives = {stored.series: stored.objective for stored in database.overview(selection)}
    found = ranked_series(trials, objectives, DEVICE_NAME)
    if not found:
        _nothing_valid(place, selection)
    return found


def importances(place: Place, selection: Selection, *, seed: int = 0) -> list[SeriesImportances]:
    """Which parameters mattered, for each series with enough valid trials.

    Raises as `ranked`, and DiagnosticError ORIO-D020 where no series has enough.
    """
    # scikit-learn takes its time to load.
    from orio_py.model.importance import importances as learn

    found: list[SeriesImportances] = []
    reasons: list[str] = []
    for one in ranked(place, selection):
        pairs = zip(one.trials, one.values, strict=True)
        valid = [(trial.configuration, value) for trial, value in pairs if value is not None]
        try:
            if len({frozenset(configuration) for configuration, _ in valid}) > 1:
                raise ValueError("the trials do not have the same parameters")
            learned = learn([c for c, _ in valid], [value for _, value in valid], seed=seed)
        except ValueError as error:
            reasons.append(f"{one.title}: {error}")
            continue
        found.append(SeriesImportances(one, learned))
    if not found:
        fail("ORIO-D020", reasons[0], help="tune with more trials (`--trials`), or choose another task")
    return found


def coordinates(found: Sequence[Ranked]) -> list[Coordinates]:
    """The trials of each series that has a parameter with several values, as places in lists of values.

    Raises DiagnosticError ORIO-D020 where there is none.
    """
    several = [one for one in map(coordinates_of, found) if one.parameters]
    if not several:
        fail("ORIO-D020", "no parameter has more than one value among the trials")
    return several


def fronts(
    place: Place, selection: Selection, objectives: Sequence[str] = ()
) -> list[tuple[StoredSeries, Front]]:
    """What no other variant of its series beats in every objective, for each series; those without a point are left out.

    `objectives` are expressions over times and counters; without them those of the newest trial that has several
    count.  Raises as `ranked`, and ORIO-D017 where a series has no objectives, S019 for what is none.
    """
    found: list[tuple[StoredSeries, Front]] = []
    with ResultsDatabase.open(place, create=False) as database:
        for stored in database.overview(selection):
            trials = list(database.find(stored.series, stored.generation).values())
            wanted = tuple(objectives) or stored_objectives(trials)
            if wanted and (front := front_of(trials, wanted)).points:
                found.append((stored, front))
    if not found and not objectives:
        message = f"no trial of {selection.show()} was judged by several objectives"
        fail("ORIO-D017", message, help="name them: `--objective time --objective peak_memory`")
    if not found:
        _nothing_valid(place, selection)
    return found


def plot_convergence(found: Sequence[Ranked], output: Path) -> None:
    """Draw the best so far over the trials.  Raises ORIO-D016, U009, EnvironmentProblem ORIO-D015."""
    draw_convergence(found, output)


def plot_coordinates(found: Sequence[Coordinates], output: Path) -> None:
    """Draw parallel coordinates.  Raises ORIO-D016, U009, EnvironmentProblem ORIO-D015."""
    draw_parallel(found, output)


def importance_json(entry: SeriesImportances) -> dict[str, object]:
    """The entry of `results importance --json`."""
    return {
        **_series_json(entry.ranked),
        "trials": entry.found.trials,
        "explained": entry.found.explained,
        "parameters": [
            {"name": p.parameter, "loss": p.loss, "spread": p.spread, "share": p.share, "values": p.values}
            for p in entry.found.parameters
        ],
    }


def front_json(stored: StoredSeries, front: Front) -> dict[str, object]:
    """The entry of `results front --json`."""
    return {
        **series_json(stored),
        "front": {
            "objectives": list(front.objectives),
            "points": [point.as_json() for point in front.points],
            "judged": front.judged,
            "without": front.without,
        },
    }


def convergence_json(one: Ranked) -> dict[str, object]:
    """The entry of `results plot --kind convergence --json`; `best` is the least value after each trial."""
    return {**_series_json(one), "values": list(one.values), "best": list(one.best)}


def coordinates_json(one: Coordinates) -> dict[str, object]:
    """The entry of `results plot --kind parallel --json`; `rows` hold places in the lists and the value."""
    return {
        **_series_json(one.ranked),
        "parameters": {name: list(values) for name, values in one.parameters.items()},
        "rows": [[list(places), value] for places, value in one.rows],
    }


def _nothing_valid(place: Place, selection: Selection) -> NoReturn:
    message = f"`{place}` holds no valid trial that matches {selection.show()}"
    fail("ORIO-D006", message, help="`orio results list` shows what is stored")


def _series_json(one: Ranked) -> dict[str, object]:
    return {
        "file": one.file,
        "name": one.name,
        "inputs": dict(one.inputs),
        "task": one.series.task,
        "toolchain": one.series.toolchain,
        "environment": one.series.environment,
        "device": one.device,
        "objective": one.objective,
    }
