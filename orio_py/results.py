"""The public API on the results database: list, show, best, export, import, delete.

Unlike the functions of `orio_py.api`, these raise: `DiagnosticError` for what the user can mend in the
command or the file (exit code 2), `EnvironmentProblem` for what the machine lacks (3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orio_py
from orio_py.core.diagnostics import fail
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.record.device import DEVICE_NAME
from orio_py.record.measurement import Failure, Success
from orio_py.record.trial import Trial
from orio_py.store.curves import Curve, curves_of, draw_curves
from orio_py.store.database import ResultsDatabase, Series, StoredFinals, StoredSeries
from orio_py.store.imported import ImportedMeasurement
from orio_py.store.interchange import Format, as_text, format_of, read, write
from orio_py.store.rows import show_time
from orio_py.store.selection import Selection
from orio_py.tuning.result import counters_as_json
from orio_py.tuning.session.front import Choice
from orio_py.tuning.session.report_codec import decode

__all__ = [
    "BestEntry",
    "Choice",
    "Format",
    "Selection",
    "best_configurations",
    "curve_json",
    "curves",
    "delete_trials",
    "export_trials",
    "finals_json",
    "import_trials",
    "list_series",
    "plot_curves",
    "ranked_trials",
    "series_json",
    "show_finals",
    "show_trials",
    "trial_json",
]

Place = Path | str


@dataclass(frozen=True, slots=True)
class BestEntry:
    """The best stored configuration of a series.

    From the finals of the newest finished run where there is one (`from_finals`, with the speed-up over
    the original), else from the trials.  `kept_original` says that the finals found nothing better.
    `objective` is what was minimised, None for time, and `value` its value for this configuration.
    """

    stored: StoredSeries
    configuration: Mapping[str, Value]
    median_s: float
    mad_s: float
    repeats: int
    clock: str
    time: str
    from_finals: bool
    speedup: float | None = None
    kept_original: bool | None = None
    objective: str | None = None
    value: float | None = None

    def as_json(self) -> dict[str, object]:
        """The entry of `results best --json`."""
        return {
            **series_json(self.stored),
            "best": {
                "configuration": dict(self.configuration),
                "median_s": self.median_s,
                "mad_s": self.mad_s,
                "repeats": self.repeats,
                "clock": self.clock,
                "time": self.time,
                "from": "finals" if self.from_finals else "trials",
                "speedup": self.speedup,
                "kept_original": self.kept_original,
                "objective": objective_json(self.objective, self.value),
            },
        }


def list_series(
    place: Place, selection: Selection | None = None, *, required: bool = True
) -> list[StoredSeries]:
    """What is stored, a series per task, compiler and machine; nothing where a database is not `required`.

    Raises DiagnosticError ORIO-D002, D003, D005, D006, EnvironmentProblem ORIO-D001, D004.
    """
    if not required and not Path(place).exists():
        return []
    with ResultsDatabase.open(place, create=False) as database:
        return database.overview(selection or Selection())


def show_trials(place: Place, selection: Selection) -> list[Trial]:
    """Every trial meant, in the order stored.  Raises as `list_series`, and ORIO-D006 when there is none."""
    with ResultsDatabase.open(place, create=False) as database:
        found = database.history(selection)
    return found or _nothing(place, selection)


def ranked_trials(place: Place, selection: Selection) -> list[Trial]:
    """Every trial meant, the best first by the objective of its series.  Raises as `show_trials`."""
    with ResultsDatabase.open(place, create=False) as database:
        found = database.history(selection)
        objectives = {stored.series: stored.objective for stored in database.overview(selection)}
    return sorted_trials(found, objectives) or _nothing(place, selection)


def show_finals(place: Place, selection: Selection) -> list[StoredFinals]:
    """What the finals of finished runs measured, in the order of the runs.  Raises as `list_series`."""
    with ResultsDatabase.open(place, create=False) as database:
        return database.finals(selection)


def best_configurations(place: Place, selection: Selection) -> list[BestEntry]:
    """The best of each series that has a valid trial.  Raises as `show_trials`."""
    with ResultsDatabase.open(place, create=False) as database:
        found = [_best(database, stored) for stored in database.overview(selection)]
    return [entry for entry in found if entry is not None] or _nothing(place, selection)


def curves(place: Place, selection: Selection) -> list[Curve]:
    """The times of each task's trials, the slowest first.

    Raises as `show_trials`, and ORIO-D006 where no trial meant is valid.
    """
    return curves_of(show_trials(place, selection), DEVICE_NAME) or _nothing(place, selection)


def plot_curves(found: Sequence[Curve], output: Path) -> None:
    """Draw curves; the ending says the kind of picture.

    Raises DiagnosticError ORIO-D016, U009, EnvironmentProblem ORIO-D015.
    """
    draw_curves(found, output)


def export_trials(
    place: Place, selection: Selection, form: Format | None, output: Path | None
) -> tuple[int, str | None]:
    """Write the trials meant to a file (TAU: a folder); how many, and the text where `output` is None.

    Without `form` the file's ending decides.  Raises as `show_trials`, and ORIO-D008, D010, U009.
    """
    chosen = form if form is not None else format_of(output) if output is not None else Format.T4
    trials = show_trials(place, selection)
    if output is not None:
        write(trials, chosen, output)
        return len(trials), None
    text = as_text(trials, chosen)
    if text is None:
        fail(
            "ORIO-U009",
            f"the format `{chosen}` is not text and cannot go to stdout",
            help="name it with `-o`",
        )
    return len(trials), text


def import_trials(
    place: Place, path: Path, form: Format | None, *, name: str | None = None, device: str | None = None
) -> tuple[int, int]:
    """Add the trials of a file; how many were new, of how many.

    `name` is that of the kernel and `device` the one that it ran on, for files of other tools that do not
    tell them.  Raises as `list_series`, and ORIO-D007, D008, D010, U006, U008.
    """
    told = ImportedMeasurement(name, device)
    trials = read(path, form if form is not None else format_of(path), datetime.now(UTC), told)
    with ResultsDatabase.open(place) as database:
        return database.append_all(trials), len(trials)


def delete_trials(place: Place, selection: Selection, *, everything: bool = False) -> int:
    """Remove the trials meant for good; how many it were.

    Raises as `show_trials`, and ORIO-D009 for a selection of everything without `everything`.
    """
    if selection.is_everything and not everything:
        fail(
            "ORIO-D009", "it is not said what to delete", help="use `--file`, `--region`, `--task` or `--all`"
        )
    with ResultsDatabase.open(place, create=False) as database:
        return database.delete(selection) or _nothing(place, selection)


def document(place: Place, **content: object) -> dict[str, object]:
    """The JSON document of a `results` command."""
    tool = f"orio_py {orio_py.__version__}"
    return {"version": 1, "tool": tool, "diagnostics": [], "database": str(place), **content}


def series_json(stored: StoredSeries) -> dict[str, object]:
    """The entry of `results list --json`."""
    return {
        "file": stored.file,
        "name": stored.name,
        "inputs": dict(stored.inputs),
        "task": stored.series.task,
        "toolchain": stored.series.toolchain,
        "environment": stored.series.environment,
        "generation": stored.generation,
        "trials": stored.trials,
        "failed": stored.failed,
        "all_trials": stored.all_trials,
        "finished_runs": stored.results,
        "best_s": stored.best_seconds,
        "clock": None if stored.clock is None else str(stored.clock),
        "command": stored.command,
        "objective": objective_json(stored.objective, stored.best_value),
        "last": stored.last,
    }


def curve_json(curve: Curve) -> dict[str, object]:
    """The entry of `results plot --json`."""
    return {
        "file": curve.file,
        "name": curve.name,
        "inputs": dict(curve.inputs),
        "task": curve.task,
        "toolchain": curve.toolchain,
        "environment": curve.environment,
        "device": curve.device,
        "clock": str(curve.clock),
        "failed": curve.failed,
        "seconds": list(curve.seconds),
    }


def trial_json(trial: Trial) -> dict[str, object]:
    """The entry of `results show --json`."""
    key = trial.key
    content: dict[str, object] = {
        "file": trial.file,
        "name": trial.name,
        "inputs": dict(trial.inputs),
        "configuration": dict(trial.configuration),
        "task": key.task,
        "toolchain": key.toolchain,
        "environment": key.environment,
        "code": trial.code,
        "time": show_time(trial.time),
        "seconds": {"build": trial.build, "run": trial.run},
        "counters": counters_as_json(trial.counters),
        "objectives": dict(trial.objectives),
        "features": dict(trial.features),
        "metadata": dict(trial.metadata),
    }
    match trial.measurement:
        case Success(samples=samples) as success:
            content |= {"outcome": "ok", "reason": None, **success.timing.as_json()}
            content |= {"wall_s": [s.wall for s in samples], "cpu_s": [s.cpu for s in samples]}
            content |= {"full": success.is_full}
        case Failure(stage=stage, reason=reason):
            content |= {"outcome": str(stage), "reason": reason}
    return content


def finals_json(finals: StoredFinals) -> dict[str, object]:
    """The entry of `results show --json` under `finals`; `values` are those of the objective per round."""
    return {
        "task": finals.series.task,
        "toolchain": finals.series.toolchain,
        "environment": finals.series.environment,
        "generation": finals.generation,
        "run": finals.run,
        "finished": finals.finished,
        "objective": finals.objective or "time",
        "finalists": [
            {
                "original": entry.is_original,
                "configuration": dict(entry.configuration),
                "flags": entry.flags,
                "failed": entry.failed.reason if entry.failed is not None else None,
                "values": list(entry.values),
                "wall_s": [[sample.wall for sample in taken] for taken in entry.rounds],
                "cpu_s": [[sample.cpu for sample in taken] for taken in entry.rounds],
            }
            for entry in finals.entries
        ],
    }


def objective_json(expression: str | None, value: float | None) -> dict[str, object] | None:
    """The objective of a series with the value of the best; None for time."""
    return None if expression is None else {"expression": expression, "value": value}


def _best(database: ResultsDatabase, stored: StoredSeries) -> BestEntry | None:
    for result in database.results(stored.series):
        known = decode(result.report, Position(stored.file, 1, 1))
        if known is not None and known.report.best is not None and result.generation == stored.generation:
            found, timing, goal = known.report.best, known.report.best.timing, known.report.goal
            return BestEntry(
                stored,
                found.configuration,
                timing.median_s,
                timing.mad_s,
                timing.repeats,
                str(timing.clock),
                result.time,
                from_finals=True,
                speedup=found.speedup,
                kept_original=known.report.kept_original,
                objective=goal.expression if goal is not None else None,
                value=goal.best if goal is not None else None,
            )
    trial = database.best(stored.series)
    if trial is None or not isinstance(trial.measurement, Success):
        return None
    timing = trial.measurement.timing
    return BestEntry(
        stored,
        dict(trial.configuration),
        timing.median_s,
        timing.mad_s,
        timing.repeats,
        str(timing.clock),
        show_time(trial.time),
        from_finals=False,
        objective=stored.objective,
        value=stored.best_value,
    )


def _nothing(place: Place, selection: Selection) -> Any:
    message = f"`{place}` holds nothing that matches {selection.show()}"
    if selection.is_everything:
        message = f"`{place}` holds no trials"
    fail("ORIO-D006", message, help="`orio results list` shows what is stored")


def sorted_trials(
    trials: Sequence[Trial], objectives: Mapping[Series, str | None] | None = None
) -> list[Trial]:
    """Valid trials, the best first, then the failures.

    `objectives` tells the objective of a trial's series; where there is none, the median counts.  Trials
    ranked by time come first, then those of each objective, then those without a value of it.
    """

    def rank(trial: Trial) -> tuple[bool, str, bool, float]:
        found = trial.measurement
        if not isinstance(found, Success):
            return True, "", False, 0.0
        series = Series(trial.task, trial.toolchain, trial.environment)
        objective = (objectives or {}).get(series)
        if objective is None:
            return False, "", False, found.timing.median_s
        value = trial.objectives.get(objective)
        return False, objective, value is None, found.timing.median_s if value is None else value

    return sorted(trials, key=rank)
