"""The times of all trials of a task in order, the slowest first, as the OrCL paper's Fig. 9 shows them.

Source: N. Chaimov, B. Norris, A. Malony, "Toward Multi-target Autotuning for Accelerators", ICPADS 2014, section IV.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orio_py.core.expr import Value
from orio_py.record.measurement import Clock, Success
from orio_py.record.trial import Trial
from orio_py.store.pictures import draw_picture


@dataclass(frozen=True, slots=True)
class Curve:
    """The median seconds of a task's valid trials on one machine, the slowest first; `failed` others have none.

    `device` is the device that its kernels ran on, '' for the processor.
    """

    file: str
    name: str
    inputs: Mapping[str, Value]
    task: str
    toolchain: str
    environment: str
    device: str
    clock: Clock
    seconds: tuple[float, ...]
    failed: int

    @property
    def title(self) -> str:
        """Region and problem size in words, and whether the times are emulated."""
        how = ["(emulated)"] if self.clock is Clock.EMULATED else []
        return " ".join([self.name, *(f"{key}={value}" for key, value in self.inputs.items()), *how])


def curves_of(trials: Sequence[Trial], device_name: str) -> list[Curve]:
    """A curve for each task, compiler and machine that has a valid trial, in the order in which they occur.

    `device_name` is the name under which metadata hold the device of a trial.
    """
    groups: dict[tuple[str, str, str], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.task, trial.toolchain, trial.environment), []).append(trial)
    found = [_curve(group, device_name) for group in groups.values()]
    return [curve for curve in found if curve is not None]


def _curve(trials: Sequence[Trial], device_name: str) -> Curve | None:
    valid = [(t, t.measurement) for t in trials if isinstance(t.measurement, Success)]
    if not valid:
        return None
    first, measured = valid[0]
    times = sorted((success.timing.median_s for _, success in valid), reverse=True)
    return Curve(
        first.file,
        first.name,
        first.inputs,
        first.task,
        first.toolchain,
        first.environment,
        first.metadata.get(device_name, ""),
        measured.clock,
        tuple(map(float, times)),
        len(trials) - len(valid),
    )


def draw_curves(curves: Sequence[Curve], path: Path) -> None:
    """Write one picture with all curves: milliseconds, on a logarithmic scale, over the variants.

    Raises as `draw_picture`.
    """

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for curve in curves:
            label = f"{curve.title}, {curve.device}" if curve.device else curve.title
            milliseconds = [1e3 * seconds for seconds in curve.seconds]
            axes.plot(range(1, len(milliseconds) + 1), milliseconds, ".-", label=label)
        axes.set_yscale("log")
        axes.set_xlabel("variants, the slowest first")
        axes.set_ylabel("median time in ms")
        axes.legend()

    draw_picture(draw, (8, 5), "Times of variants", path)
