"""Times that others have published of kernels on GPUs, beside emulated ones."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.emulation.points import Point, shape
from benchmarks.emulation.predicting import Forecast, Forecaster
from orio_py.build.launch_emulation import emulated_gpu
from orio_py.emulation.launch import DataPolicy

HERE = Path(__file__).resolve().parent

ELEMENTS = 128 * 1024 * 1024 + 2
"""Of each array of the streams."""

STREAMS = {"init": 1, "read": 1, "scale": 2, "triad": 3, "points3": 2, "points5": 2}
"""The arrays that count as moved by each kernel."""

RESERVED = 1024
"""Bytes of shared memory that a block has for the system."""

NEVER_STORES = DataPolicy(takes_branches=True)
"""What `read` reads is never what would make it store."""


@dataclass(frozen=True, slots=True)
class PublishedTime:
    """A measured launch of a kernel on a GPU, with its source; `blocks` are on a multiprocessor at a time."""

    gpu: str
    point: Point
    seconds: float
    source: str


def published_times(path: Path = HERE / "published.csv") -> Iterator[PublishedTime]:
    """The rows of the table.  Raises KeyError for a kernel that is not known, ValueError for bad numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            block, blocks, rate = int(row["block"]), int(row["blocks"]), float(row["gb_per_s"]) * 1e9
            moved = 8 * STREAMS[row["kernel"]] * ELEMENTS
            grid = ELEMENTS // block + 1
            shared = _spread(row["gpu"], blocks)
            numbers = {"n": ELEMENTS}
            point = Point(
                row["kernel"], row["kernel"], shape(grid), shape(block), numbers, shared_bytes=shared
            )
            yield PublishedTime(row["gpu"], point, moved / rate, row["source"])


def _spread(gpu: str, blocks: int) -> int:
    """So many bytes of shared memory that no more than `blocks` are on a multiprocessor at a time."""
    model = emulated_gpu(gpu).model
    whole = max(model.shared_configurations_bytes)
    return whole // blocks - RESERVED - 256


def beside_published(only: str = "") -> Iterator[tuple[PublishedTime, Forecast]]:
    """Each published time with what is emulated of it, for GPUs whose names contain `only`."""
    text = (HERE / "published.cu").read_text(encoding="utf-8")
    made: dict[str, Forecaster] = {}
    for one in published_times():
        if only.lower() not in one.gpu.lower():
            continue
        if one.gpu not in made:
            made[one.gpu] = Forecaster(text, one.gpu, policy=NEVER_STORES)
        yield one, made[one.gpu].forecast(one.point)
