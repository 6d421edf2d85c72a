"""How a search went, and where in the space its trials lie: convergence and parallel coordinates.

Parallel coordinates: A. Inselberg, "The plane with parallel coordinates", The Visual Computer 1, 1985.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from orio_py.core.expr import Value, show
from orio_py.record.cuda import CUDA_DEVICE_NAME
from orio_py.record.measurement import Success
from orio_py.record.trial import Trial
from orio_py.search_space.configuration import value_key
from orio_py.store.pictures import draw_picture
from orio_py.store.series import Series

FAILED = "#b0b0b0"
OTHERS = "#4a6fa5"
BEST = "#c0392b"
SHARE_OF_BEST = 0.01
"""The best trials, which are drawn in a colour of their own."""
MANY_LINES = 1000
SHOWN_VALUES = 16
"""Values of a parameter that are written beside its axis; of longer lists only some."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The trials of a task on one machine in the order stored, with what they were ranked by.

    `objective` is an expression, None for the time; `values` has the median seconds or the value of the
    expression, None for failures.  `device` is '' for the processor.
    """

    series: Series
    file: str
    name: str
    inputs: Mapping[str, Value]
    device: str
    objective: str | None
    trials: tuple[Trial, ...]
    values: tuple[float | None, ...]

    @property
    def title(self) -> str:
        """Region, problem size and device in words."""
        words = [self.name, *(f"{key}={show(value)}" for key, value in self.inputs.items())]
        return " ".join(words) + (f", {self.device}" if self.device else "")

    @property
    def best(self) -> tuple[float | None, ...]:
        """The least value so far after each trial, None until a trial is valid."""
        found: list[float | None] = []
        least: float | None = None
        for value in self.values:
            least = value if least is None or (value is not None and value < least) else least
            found.append(least)
        return tuple(found)

    @property
    def unit(self) -> str:
        """What the values are, in words."""
        return "median time in s" if self.objective is None else self.objective


def ranked_series(
    trials: Sequence[Trial], objectives: Mapping[Series, str | None], device_name: str
) -> list[Ranked]:
    """The series of the trials that have a valid trial, in the order in which they occur.

    `device_name` is the name under which metadata hold the device of a trial.
    """
    groups: dict[Series, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(Series(trial.task, trial.toolchain, trial.environment), []).append(trial)
    found: list[Ranked] = []
    for series, members in groups.items():
        objective = objectives.get(series)
        values = tuple(_value(trial, objective) for trial in members)
        if any(value is not None for value in values):
            first = members[0]
            device = first.metadata.get(device_name) or first.metadata.get(CUDA_DEVICE_NAME, "")
            found.append(
                Ranked(
                    series, first.file, first.name, first.inputs, device, objective, tuple(members), values
                )
            )
    return found


def _value(trial: Trial, objective: str | None) -> float | None:
    if not isinstance(trial.measurement, Success):
        return None
    return trial.measurement.timing.median_s if objective is None else trial.objectives.get(objective)


def draw_convergence(found: Sequence[Ranked], path: Path) -> None:
    """Write one picture: the best so far over the trials, a line per series, and each trial as a dot.

    Raises as `draw_picture`.
    """

    def draw(figure: Any) -> None:
        kinds = [list(members) for _, members in groupby(sorted(found, key=_unit), key=_unit)]
        for axes, members in zip(figure.subplots(len(kinds), squeeze=False)[:, 0], kinds, strict=True):
            for number, ranked in enumerate(members):
                steps = [(k, v) for k, v in enumerate(ranked.best, 1) if v is not None]
                dots = [(k, v) for k, v in enumerate(ranked.values, 1) if v is not None]
                color = f"C{number % 10}"
                axes.plot(*zip(*dots, strict=True), ".", color=color, alpha=0.25, markersize=4)
                axes.step(*zip(*steps, strict=True), where="post", color=color, label=ranked.title)
            if all(value > 0 for ranked in members for value in ranked.values if value is not None):
                axes.set_yscale("log")
            axes.set_xlabel("trials")
            axes.set_ylabel(members[0].unit)
            axes.legend()

    units = {ranked.unit for ranked in found}
    draw_picture(draw, (8, 4.5 * max(1, len(units))), "Convergence", path)


def _unit(ranked: Ranked) -> str:
    return ranked.unit


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The trials of a series as places in the lists of values of its parameters.

    Parameters with one value are left out; lists hold what occurs, numbers ascending.
    """

    ranked: Ranked
    parameters: Mapping[str, tuple[Value, ...]]
    rows: tuple[tuple[tuple[int | None, ...], float | None], ...]


def coordinates_of(ranked: Ranked) -> Coordinates:
    """The coordinates of a series; a trial without a parameter has None there."""
    lists: dict[str, dict[object, Value]] = {}
    for trial in ranked.trials:
        for name, value in trial.configuration.items():
            lists.setdefault(name, {}).setdefault(value_key(value), value)
    parameters = {name: _ordered(tuple(found.values())) for name, found in lists.items() if len(found) > 1}
    places = {
        name: {value_key(value): place for place, value in enumerate(values)}
        for name, values in parameters.items()
    }
    rows = [
        tuple(
            [
                table[value_key(trial.configuration[name])] if name in trial.configuration else None
                for name, table in places.items()
            ]
        )
        for trial in ranked.trials
    ]
    return Coordinates(ranked, parameters, tuple(zip(rows, ranked.values, strict=True)))


def _ordered(values: tuple[Value, ...]) -> tuple[Value, ...]:
    numbers = [value for value in values if isinstance(value, (bool, int, float))]
    return tuple(sorted(numbers)) if len(numbers) == len(values) else values


def draw_parallel(found: Sequence[Coordinates], path: Path) -> None:
    """Write one picture: an axis per parameter and one for the objective, a line per trial, per series.

    The better, the darker; the best hundredth is red, failures are grey and end before the last axis.
    Raises as `draw_picture`.
    """

    def draw(figure: Any) -> None:
        for axes, one in zip(figure.subplots(len(found), squeeze=False)[:, 0], found, strict=True):
            _draw_one(axes, one)

    width = 2.0 + max((1.3 * (1 + len(one.parameters)) for one in found), default=6.0)
    draw_picture(draw, (max(7.0, width), 4.5 * len(found)), "Parallel coordinates", path)


def _draw_one(axes: Any, one: Coordinates) -> None:
    sizes = [len(values) for values in one.parameters.values()]
    scaled = _scale([value for _, value in one.rows if value is not None])
    order = sorted(one.rows, key=lambda row: -math.inf if row[1] is None else -row[1])
    # A picture of many thousand lines would take a browser long, and its lines hide each other.
    style = {"rasterized": len(order) > MANY_LINES}
    for number, (places, value) in enumerate(order):
        points = [(k, place / (sizes[k] - 1)) for k, place in enumerate(places) if place is not None]
        if value is None:
            axes.plot(*zip(*points, strict=True), ":", color=FAILED, linewidth=0.5, alpha=0.3, **style)
            continue
        points.append((len(sizes), scaled(value)))
        behind = 1.0 - (number + 1) / len(order)  # the share of the trials that are better
        color, width = (BEST, 1.4) if behind <= SHARE_OF_BEST else (OTHERS, 0.6)
        alpha = 1.0 if behind <= SHARE_OF_BEST else max(0.04, 0.5 * (1 - behind) ** 2)
        axes.plot(*zip(*points, strict=True), color=color, linewidth=width, alpha=alpha, **style)
    for k, values in enumerate(one.parameters.values()):
        axes.axvline(k, color="black", linewidth=0.8)
        step = -(-len(values) // SHOWN_VALUES)
        for place in range(0, len(values), step):
            axes.text(k + 0.03, place / (len(values) - 1), show(values[place])[:16], fontsize=7, va="center")
    axes.axvline(len(sizes), color="black", linewidth=0.8)
    valid = [value for _, value in one.rows if value is not None]
    for height, value in ((0.0, min(valid)), (1.0, max(valid))):
        axes.text(len(sizes) + 0.03, height, f"{value:.4g}", fontsize=7, va="center")
    axes.set_xticks(range(len(sizes) + 1), [*one.parameters, one.ranked.unit])
    axes.set_yticks([])
    axes.set_xlim(-0.2, len(sizes) + 0.6)
    axes.set_title(one.ranked.title)


def _scale(values: Sequence[float]) -> Callable[[float], float]:
    """From values to 0 (the least) … 1, by their logarithms where all are positive."""
    convert = math.log if min(values) > 0 else float
    low, high = convert(min(values)), convert(max(values))
    return lambda value: (convert(value) - low) / (high - low) if high > low else 0.0
