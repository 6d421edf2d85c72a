"""The times of all trials of a task in order, the slowest first, as the OrCL paper's Fig. 9 shows them.

Source: N. Chaimov, B. Norris, A. Malony, "Toward Multi-target Autotuning for Accelerators", ICPADS 2014, section IV.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, fail
from orio_py.core.expr import Value
from orio_py.record.measurement import Clock, Success
from orio_py.record.trial import Trial

PICTURES = (".svg", ".png", ".pdf")
"""Endings of files that pictures can be written to."""


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
        """Region and problem size in words."""
        return " ".join([self.name, *(f"{key}={value}" for key, value in self.inputs.items())])


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

    The picture is the same for the same trials.  Raises DiagnosticError ORIO-D016 for an ending that is no
    picture's, ORIO-U009 when the system refuses; EnvironmentProblem ORIO-D015 without matplotlib.
    """
    if path.suffix.lower() not in PICTURES:
        fail("ORIO-D016", f"the ending of `{path}` tells no picture", help=f"one of {', '.join(PICTURES)}")
    matplotlib, figure_module = _matplotlib()
    with matplotlib.rc_context({"svg.hashsalt": "orio_py"}):
        figure = figure_module.Figure(figsize=(8, 5))
        axes = figure.subplots()
        for curve in curves:
            label = f"{curve.title}, {curve.device}" if curve.device else curve.title
            milliseconds = [1e3 * seconds for seconds in curve.seconds]
            axes.plot(range(1, len(milliseconds) + 1), milliseconds, ".-", label=label)
        axes.set_yscale("log")
        axes.set_xlabel("variants, the slowest first")
        axes.set_ylabel("median time in ms")
        axes.legend()
        try:
            figure.savefig(str(path), metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
        except OSError as error:
            fail("ORIO-U009", f"`{path}` cannot be written: {error.strerror or error}")


def _matplotlib() -> tuple[Any, Any]:
    # An optional dependency that takes a second to load, needed for pictures only.
    try:
        return import_module("matplotlib"), import_module("matplotlib.figure")
    except ImportError as error:
        message = f"pictures need the Python package `matplotlib`, which cannot be loaded: {error}"
        help_text = (
            "`pip install 'orio-py[plot]'`, or leave `-o` away: a table, or `--json`, has the same numbers"
        )
        raise EnvironmentProblem(Diagnostic("ORIO-D015", message, help=help_text)) from error
