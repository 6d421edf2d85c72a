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

SIDE = 4096
"""Rows and columns of the matrices."""

PRODUCTS = {
    "product_columns": (shape(32, 32), 32),
    "product_rows": (shape(1024), 32),
    "product_shared": (shape(1024), 32),
    "product_strips": (shape(512), 64),
    "product_squares": (shape(256), 128),
}
"""The block of each kernel, and the rows and columns of C that it has."""

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
            rate = float(row["rate"]) * 1e9
            if row["unit"] == "GFLOP/s":
                point, work = _product(row["kernel"]), 2 * SIDE**3
            else:
                point = _stream(row["gpu"], row["kernel"], int(row["block"]), int(row["blocks"]))
                work = 8 * STREAMS[row["kernel"]] * ELEMENTS
            yield PublishedTime(row["gpu"], point, work / rate, row["source"])


def _stream(gpu: str, kernel: str, block: int, blocks: int) -> Point:
    """A stream with so many blocks on a multiprocessor at a time."""
    grid = shape(ELEMENTS // block + 1)
    return Point(kernel, kernel, grid, shape(block), {"n": ELEMENTS}, shared_bytes=_spread(gpu, blocks))


def _product(kernel: str) -> Point:
    """A product of matrices."""
    block, tile = PRODUCTS[kernel]
    return Point("product", kernel, shape(SIDE // tile, SIDE // tile), block, {"n": SIDE})


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
