"""What a GPU takes: the points of the benchmark by events, and latencies and gaps by microbenchmarks.

Latency: one warp, each instruction waits for the one before.  Gap: as many warps as fit, independent instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.emulation.points import Point, Shape, shape
from benchmarks.emulation.predicting import Forecaster
from orio_py.build.cuda import CudaBinary
from orio_py.core.units import Bytes
from orio_py.emulation.signature import KernelParameter, signatures
from orio_py.machine.timing import GpuTiming, Resource
from orio_py.measure.cuda.drivers.base import Address, CudaDriver, Kernel

HERE = Path(__file__).resolve().parent

REPEATS, WARM_UP = 9, 2
SIZES = {"float4": 16, "double": 8, "float": 4, "unsigned": 4, "int": 4}


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """The median of the times of a launch, by events, and the least."""

    point: Point
    seconds: float
    least: float


def measure_points(driver: CudaDriver, binary: CudaBinary, points: Sequence[Point]) -> list[MeasuredPoint]:
    """Measure launches one after the other, each on arrays of its own.  Raises DriverProblem."""
    known = signatures((HERE / "kernels.cu").read_text(encoding="utf-8"))
    found: list[MeasuredPoint] = []
    for point in points:
        (kernel,) = driver.kernels(binary.cubin, (point.kernel,))
        buffers = {p.name: _filled(driver, p, point) for p in known[point.kernel] if p.is_pointer}
        values: list[Any] = [
            buffers[p.name] if p.is_pointer else _number(p, point.numbers[p.name])
            for p in known[point.kernel]
        ]
        times = timed(driver, kernel, point.grid, point.block, values)
        for buffer in buffers.values():
            driver.free(buffer)
        found.append(MeasuredPoint(point, median(times), min(times)))
    return found


def timed(
    driver: CudaDriver, kernel: Kernel, grid: Shape, block: Shape, values: Sequence[Any]
) -> list[float]:
    """The seconds of some launches, behind others that are not timed."""
    times: list[float] = []
    for number in range(WARM_UP + REPEATS):
        begin, end = driver.new_event(), driver.new_event()
        driver.record(begin)
        driver.launch(kernel, grid, block, values)
        driver.record(end)
        driver.synchronize()
        if number >= WARM_UP:
            times.append(driver.seconds(begin, end))
    return times


def _filled(driver: CudaDriver, parameter: KernelParameter, point: Point) -> Address:
    size = next(size for name, size in SIZES.items() if name in parameter.type)
    buffer = driver.allocate(Bytes(size * point.arrays[parameter.name]))
    driver.fill(buffer, 0, Bytes(size * point.arrays[parameter.name]))
    driver.synchronize()
    return buffer


def _number(parameter: KernelParameter, value: int) -> Any:
    return np.int64(value) if "long" in parameter.type else np.int32(value)


@dataclass(frozen=True, slots=True)
class MeasuredNumber:
    """A latency or gap in cycles, measured and as the table has it."""

    resource: str
    what: str
    cycles: float
    table: float

    @property
    def text(self) -> str:
        """The two, and by how much they differ."""
        return f"{self.what:8} {self.resource:8} measured {self.cycles:8.2f} table {self.table:8.2f} ({self.cycles / self.table - 1:+.0%})"

    def as_json(self) -> dict[str, object]:
        """All of it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Probe:
    """A microbenchmark: `each` instructions of a resource in each of `steps` of a warp."""

    resource: Resource
    kernel: str
    steps: int
    each: int = 1


CHAINS = (
    Probe(Resource.FP32, "chain_float", 1 << 14, 16),
    Probe(Resource.FP64, "chain_double", 1 << 13, 16),
    Probe(Resource.IMAD, "chain_imad", 1 << 14, 16),
    Probe(Resource.ALU, "chain_logic", 1 << 14, 16),
    Probe(Resource.SFU, "chain_sfu", 1 << 13, 16),
    Probe(Resource.SHARED, "chain_shared", 1 << 12, 16),
)
RATES = (
    Probe(Resource.FP32, "rate_float", 1 << 11, 32),
    Probe(Resource.FP64, "rate_double", 1 << 10, 32),
    Probe(Resource.IMAD, "rate_imad", 1 << 11, 32),
    Probe(Resource.ALU, "rate_logic", 1 << 11, 32),
    Probe(Resource.SFU, "rate_sfu", 1 << 10, 32),
    Probe(Resource.SHARED, "rate_shared", 1 << 10, 16),
)
CHASES = ((Resource.L1, 16 << 10), (Resource.L2, 4 << 20), (Resource.DRAM, 512 << 20))
"""Bytes over which pointers are followed."""

LINE = 128
HOPS = 1 << 13


def microbenchmarks(gpu: str) -> Forecaster:
    """The microbenchmarks, compiled for a GPU."""
    return Forecaster((HERE / "microbenchmarks.cu").read_text(encoding="utf-8"), gpu)


def rate_shape(timing: GpuTiming) -> tuple[Shape, Shape]:
    """Grid and block that give each scheduler 16 warps."""
    return shape(int(timing.multiprocessors.value)), shape(32 * 16 * int(timing.schedulers.value) // 2)


def measured_table(driver: CudaDriver, timing: GpuTiming) -> list[MeasuredNumber]:
    """Latencies and gaps of the GPU, beside those of the table, at the table's clock.  Raises DriverProblem."""
    code = microbenchmarks(timing.name).binary
    clock = timing.clock_mhz.value * 1e6
    sink = driver.allocate(Bytes(1 << 20))

    def cycles(probe: Probe, grid: Shape, block: Shape) -> float:
        (kernel,) = driver.kernels(code.cubin, (probe.kernel,))
        short, long = (
            min(timed(driver, kernel, grid, block, [np.int32(steps), sink]))
            for steps in (probe.steps, 2 * probe.steps)
        )
        return (long - short) * clock / (probe.steps * probe.each)

    found = [_number_of(p.resource, "latency", cycles(p, shape(1), shape(32)), timing) for p in CHAINS]
    grid, block = rate_shape(timing)
    for probe in RATES:
        warps = block[0] // 32
        parts = 1 if probe.resource.is_shared_by_partitions else timing.schedulers.value
        found.append(_number_of(probe.resource, "gap", cycles(probe, grid, block) * parts / warps, timing))
    found += [_chased(driver, code, resource, size, timing, clock) for resource, size in CHASES]
    driver.free(sink)
    return found


def _chased(
    driver: CudaDriver, code: CudaBinary, resource: Resource, size: int, timing: GpuTiming, clock: float
) -> MeasuredNumber:
    """The latency of a level of memory: one thread follows a ring of pointers in random order, a line each."""
    lines = size // LINE
    order = np.random.default_rng(1).permutation(lines).astype(np.int64)
    ring = np.zeros(lines * LINE // 8, np.int64)
    ring[order * (LINE // 8)] = np.roll(order, -1) * (LINE // 8)
    place, sink = driver.allocate(Bytes(size)), driver.allocate(Bytes(64))
    driver.copy_to_device(place, ring.view(np.uint8))
    driver.synchronize()
    (kernel,) = driver.kernels(code.cubin, ("chase",))
    short, long = (
        min(timed(driver, kernel, shape(1), shape(1), [np.int32(hops), place, sink]))
        for hops in (HOPS, 2 * HOPS)
    )
    driver.free(place)
    driver.free(sink)
    return _number_of(resource, "latency", (long - short) * clock / HOPS, timing)


def _number_of(resource: Resource, what: str, cycles: float, timing: GpuTiming) -> MeasuredNumber:
    known = timing.resources[resource]
    return MeasuredNumber(
        str(resource), what, cycles, (known.latency if what == "latency" else known.gap).value
    )
