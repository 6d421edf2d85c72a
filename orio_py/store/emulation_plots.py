"""A picture of an emulated kernel: what its warps issue when, and how busy each unit is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orio_py.emulation.outcome import IssuedInstruction, LaunchPrediction
from orio_py.machine.timing import Resource
from orio_py.store.pictures import draw_picture

SIZE = (10.0, 6.5)
"""Inches."""

OTHER = "#b0b0b0"
COLOURS = {
    Resource.FP32: "#4a6fa5", Resource.FP64: "#274472", Resource.FP16: "#7ea3cc", Resource.TENSOR: "#5b2a86",
    Resource.ALU: "#9aa5b1", Resource.IMAD: "#6b7a8f", Resource.SFU: "#8e6c8a", Resource.SHARED: "#2e8b57",
    Resource.L1: "#d98324", Resource.L2: "#c0392b", Resource.DRAM: "#7b241c", Resource.BARRIER: "#000000",
}  # fmt: skip
_MOST_TICKS = 8


def plot_issues(
    name: str, prediction: LaunchPrediction, timeline: Sequence[IssuedInstruction], path: Path
) -> None:
    """Write the picture: a mark for each instruction of the first blocks, and a bar for each unit.

    Raises as `draw_picture`.
    """
    kernel = prediction.kernel
    grid = "x".join(map(str, kernel.launch.grid))
    title = f"{name} on {kernel.timing.name}, grid {grid}: {prediction.seconds * 1e6:.1f} us, emulated"

    def draw(figure: Any) -> None:
        figure.suptitle(title)
        above, below = figure.subplots(2, 1, height_ratios=[3, 1.6])
        _draw_issues(above, timeline)
        _draw_units(below, prediction)

    draw_picture(draw, SIZE, title, path)


def _draw_issues(axes: Any, timeline: Sequence[IssuedInstruction]) -> None:
    """A row for each warp; what has no colour of its own is grey."""
    groups: dict[Resource | None, list[IssuedInstruction]] = {}
    for issued in timeline:
        groups.setdefault(issued.resource if issued.resource in COLOURS else None, []).append(issued)
    for resource, marks in groups.items():
        axes.scatter(
            [mark.time for mark in marks], [mark.warp for mark in marks], s=6, marker="|", linewidths=1.0,
            color=OTHER if resource is None else COLOURS[resource], label="others" if resource is None else resource.label,
        )  # fmt: skip
    axes.set_xlabel("cycles, from the start of the first blocks; loops are shortened")
    axes.set_ylabel("warp of a multiprocessor")
    legend = axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)
    for handle in legend.legend_handles:  # the marks of instructions are too thin to tell colours by
        handle.set_sizes([60.0])
        handle.set_linewidth(5.0)


def _draw_units(axes: Any, prediction: LaunchPrediction) -> None:
    """The units that take requests most of the time, the issue of instructions among them."""
    shares = sorted(prediction.utilization.items(), key=lambda item: -item[1])[: _MOST_TICKS - 1]
    labels = [resource.label for resource, _ in shares]
    values = [min(1.0, share) for _, share in shares]
    colours = [COLOURS.get(resource, OTHER) for resource, _ in shares]
    axes.barh(
        [*labels, "issue of instructions"], [*values, prediction.issue_share], color=[*colours, "#333333"]
    )
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("share of the whole time in which it takes requests")
