r"""Searchers on large spaces whose times are formulas, which nothing in a searcher was chosen on.

    python -m benchmarks.search.formulas --searchers auto,annealing,genetic,random --seeds 20 --trials 200

The spaces have the parameters and constraints of two well-known kernels: a matrix product (those of CLBlast: C.
Nugteren, "CLBlast: A Tuned OpenCL BLAS Library", IWOCL 2018) and a stencil with tiling in time (those of hotspot: J. O.
Tørring and others, "Towards a Benchmarking Suite for Kernel Tuners", IPDPSW 2023).  Each is "run" on two made-up devices:
the time follows from occupancy, traffic, redundant work and a factor of its own for each configuration.  The times
look like those of kernels and are of none: this shows how searchers compare where they were never tried, not how fast
anything is.  Shares are of the fastest configuration that any run found, or that is among many others.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import ceil, inf, log2
from multiprocessing import get_context
from time import process_time
from typing import TypeAlias

from benchmarks.search.runs import Searcher
from benchmarks.search.tables import Run, figures, mean_figures, show_table
from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.digest import digest
from orio_py.frontend.expressions import parse_expression
from orio_py.search.base import SearchContext, drive
from orio_py.search.catalog import start_search
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter

Values: TypeAlias = "Mapping[str, int]"


@dataclass(frozen=True)
class Device:
    """A made-up device: limits in bytes, threads and registers, and what traffic costs on it."""

    name: str
    shared: int
    shared_of_multiprocessor: int
    threads: int
    registers: int
    hiding: float
    traffic: float
    uncached: tuple[float, float]
    conflicts: float
    vector: int
    multiprocessors: int

    def blocks(self, threads: int, registers: int, shared: int) -> int:
        """How many blocks a multiprocessor holds at once."""
        by_shared = self.shared_of_multiprocessor // shared if shared else 32
        return min(self.threads // threads, 65536 // (registers * threads), by_shared, 32)

    def stalls(self, blocks: int, threads: int, work: int) -> float:
        """The factor by which computing waits for memory, with independent work of each thread."""
        occupancy = blocks * threads / self.threads
        return max(1.0, self.hiding / (occupancy * (1.0 + 0.3 * log2(work))))


DEVICES = (
    Device("wide caches", 49152, 98304, 2048, 128, 0.6, 14.0, (1.4, 2.2), 0.15, 1, 80),
    Device("many registers", 65536, 65536, 2560, 96, 0.3, 25.0, (2.5, 1.1), 0.5, 2, 60),
)

PRODUCT = {
    "MWG": (16, 32, 64, 128),
    "NWG": (16, 32, 64, 128),
    "MDIMC": (8, 16, 32),
    "NDIMC": (8, 16, 32),
    "MDIMA": (8, 16, 32),
    "NDIMB": (8, 16, 32),
    "VWM": (1, 2, 4, 8),
    "VWN": (1, 2, 4, 8),
    "STRM": (0, 1),
    "STRN": (0, 1),
    "SA": (0, 1),
    "SB": (0, 1),
}
PRODUCT_CONSTRAINTS = (
    "MWG % (MDIMC * VWM) == 0",
    "NWG % (NDIMC * VWN) == 0",
    "MWG % (MDIMA * VWM) == 0",
    "NWG % (NDIMB * VWN) == 0",
    "32 % ((MDIMC * NDIMC) / MDIMA) == 0",
    "32 % ((MDIMC * NDIMC) / NDIMB) == 0",
)
STENCIL = {
    "block_size_x": (1, 2, 4, 8, *range(16, 257, 16)),
    "block_size_y": (1, 2, 4, 8, 16, 32),
    "tile_size_x": tuple(range(1, 11)),
    "tile_size_y": tuple(range(1, 11)),
    "temporal_tiling_factor": tuple(range(1, 11)),
    "loop_unroll_factor_t": tuple(range(1, 11)),
    "sh_power": (0, 1),
    "blocks_per_sm": (0, 1, 2, 3, 4),
}
STENCIL_CONSTRAINTS = (
    "32 <= block_size_x * block_size_y",
    "block_size_x * block_size_y <= 1024",
    "temporal_tiling_factor % loop_unroll_factor_t == 0",
)


def product_time(v: Values, device: Device) -> float | None:
    """A product of matrices with 2048 rows and columns; None for what does not fit."""
    threads = v["MDIMC"] * v["NDIMC"]
    rows, columns = v["MWG"] // v["MDIMC"], v["NWG"] // v["NDIMC"]
    shared = 128 * (v["SA"] * v["MWG"] + v["SB"] * v["NWG"])
    registers = 24 + rows * columns + 2 * rows + 2 * columns
    if shared > device.shared or threads > 1024 or (blocks := device.blocks(threads, registers, shared)) < 1:
        return None
    vectors = 1.0 + 0.12 * abs(log2(v["VWM"]) - device.vector) + 0.08 * abs(log2(v["VWN"]) - device.vector)
    strides = 1.0 + 0.1 * (v["STRM"] and v["VWM"] > 1) + 0.1 * (v["STRN"] and not v["SB"])
    spilled = 1.0 + 0.05 * max(0, registers - device.registers)
    computing = device.stalls(blocks, threads, 1 + rows * columns) * vectors * strides * spilled
    uncached_a = 1.0 if v["SA"] else device.uncached[0] * (1.0 + 0.3 * (v["MDIMA"] < 16))
    uncached_b = 1.0 if v["SB"] else device.uncached[1] * (1.0 + 0.3 * (v["NDIMB"] < 16))
    memory = device.traffic * (v["MWG"] + v["NWG"]) / (2 * v["MWG"] * v["NWG"]) * uncached_a * uncached_b
    local = (v["SA"] + v["SB"]) * device.conflicts * (1.0 / rows + 1.0 / columns)
    waves = 2048 * 2048 / (v["MWG"] * v["NWG"]) / (blocks * device.multiprocessors)
    return (max(computing, memory) + 0.3 * min(computing, memory) + local) * (ceil(waves) / waves) ** 0.5


def stencil_time(v: Values, device: Device) -> float | None:
    """Some steps of a stencil on a plane; None for what does not fit."""
    threads = v["block_size_x"] * v["block_size_y"]
    steps = v["temporal_tiling_factor"]
    inner = (v["block_size_x"] * v["tile_size_x"], v["block_size_y"] * v["tile_size_y"])
    outer = (inner[0] + 2 * steps) * (inner[1] + 2 * steps)
    shared = 4 * outer * (2 + v["sh_power"])
    elements = v["tile_size_x"] * v["tile_size_y"]
    wanted = 18 + 2 * elements + 2 * v["loop_unroll_factor_t"]
    registers = min(wanted, 65536 // (threads * v["blocks_per_sm"])) if v["blocks_per_sm"] else wanted
    if shared > device.shared or (blocks := device.blocks(threads, registers, shared)) < 1:
        return None
    redundant = outer / (inner[0] * inner[1])
    narrow = 1.0 + 0.5 * (v["block_size_x"] < 32) + 0.2 * (v["block_size_x"] % 32 != 0)
    memory = redundant / steps * device.traffic / 6.0 * narrow
    spilled = 1.0 + 0.03 * (wanted - registers)
    unrolled = 1.0 + 0.05 * abs(v["loop_unroll_factor_t"] - 3)
    computing = device.stalls(blocks, threads, elements) * redundant * unrolled * spilled
    computing *= 1.0 - 0.08 * v["sh_power"]
    return max(memory, computing) + 0.2 * min(memory, computing)


@dataclass(frozen=True)
class Kernel:
    """A kernel with its space; `spread` is how much configurations differ for no reason the formula knows."""

    parameters: Mapping[str, Sequence[int]]
    constraints: Sequence[str]
    time: Callable[[Values, Device], float | None]
    spread: float


KERNELS = {
    "product": Kernel(PRODUCT, PRODUCT_CONSTRAINTS, product_time, 0.06),
    "stencil": Kernel(STENCIL, STENCIL_CONSTRAINTS, stencil_time, 0.05),
}
TASKS = tuple(product(KERNELS, range(len(DEVICES))))


@cache
def space_of(kernel: str) -> SearchSpace:
    """The search space of a kernel."""
    found = KERNELS[kernel]
    return SearchSpace(
        [Parameter(name, tuple(values)) for name, values in found.parameters.items()],
        [Constraint(f"c{place}", parse_expression(text)) for place, text in enumerate(found.constraints)],
    )


def time_of(kernel: str, device: int, configuration: Configuration) -> float | None:
    """The time of a configuration, None for a failure."""
    values = {name: value for name, value in configuration.items() if isinstance(value, int)}
    found = KERNELS[kernel].time(values, DEVICES[device])
    if found is None:
        return None
    chance = int(digest([device, sorted(values.items())])[:8], 16) / 2**32
    return found * (1.0 + KERNELS[kernel].spread * chance)


@dataclass(frozen=True)
class Found:
    """The times of a run in order, infinite for failures, and the searcher's seconds of processor time."""

    label: str
    kernel: str
    device: int
    times: tuple[float, ...]
    overhead: float


def run(work: tuple[str, str, int, int, int, int]) -> Found:
    """Run a searcher.  Raises RuntimeError, which can travel between processes, for wrong names or options."""
    text, kernel, device, seed, trials, batch = work
    searcher = Searcher.read(text)
    spent = 0.0

    def objective(configuration: Configuration) -> float | None:
        nonlocal spent
        begin = process_time()
        try:
            return time_of(kernel, device, configuration)
        finally:
            spent += process_time() - begin

    context = SearchContext(space_of(kernel), random.Random(seed), searcher.options, trials, batch)
    begin = process_time()
    try:
        tried = drive(start_search(searcher.name, context), objective, trials)
    except DiagnosticError as error:
        raise RuntimeError(f"{text}: {error.diagnostics[0].message}") from None
    times = tuple(inf if value is None else value for _, value in tried)
    return Found(text, kernel, device, times, process_time() - begin - spent)


def fastest_of_others(work: tuple[str, int, int]) -> tuple[float, float]:
    """The least time among many configurations, evenly spaced, and the share of them that fit."""
    kernel, device, count = work
    space = space_of(kernel)
    step = max(1, space.size // count)
    times = [time_of(kernel, device, space.at(rank)) for rank in range(0, space.size, step)]
    valid = [value for value in times if value is not None]
    return min(valid), len(valid) / len(times)


def as_run(found: Found, optimum: float) -> Run:
    """The shares of the optimum after each trial."""
    best, shares = inf, list[float]()
    for value in found.times:
        best = min(best, value)
        shares.append(optimum / best)
    return Run(tuple(shares), tuple(0.0 for _ in shares), found.overhead)


def options() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.search.formulas", description=(__doc__ or "").splitlines()[0]
    )
    add = parser.add_argument
    add("--searchers", default="auto,annealing,genetic,random", metavar="A,B", help="what is compared")
    add("--seeds", type=int, default=20, metavar="N", help="runs of each searcher on each space (20)")
    add("--first-seed", type=int, default=0, metavar="N", help="the seed of the first run (0)")
    add("--trials", type=int, default=200, metavar="N", help="evaluations of a run (200)")
    add("--batch", type=int, default=1, metavar="N", help="configurations that are proposed at once (1)")
    add(
        "--others",
        type=int,
        default=20_000,
        metavar="N",
        help="so many others of each space are evaluated (20000)",
    )
    add("--jobs", type=int, default=2, metavar="N", help="processes (2)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything, print the tables."""
    chosen = options().parse_args(arguments)
    labels, trials = chosen.searchers.split(","), chosen.trials
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    work = [(label, *task, seed, trials, chosen.batch) for label, task, seed in product(labels, TASKS, seeds)]
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        looks = [(*task, chosen.others) for task in TASKS]
        others = dict(zip(TASKS, pool.map(fastest_of_others, looks), strict=True))
        by_task: dict[tuple[str, int], list[Found]] = defaultdict(list)
        for found in pool.map(run, work):
            by_task[found.kernel, found.device].append(found)
    tables = {label: list[tuple[str, Sequence[Run]]]() for label in labels}
    print("| space | configurations | of which fit |\n|---|---|---|")
    for (kernel, device), results in by_task.items():
        title = f"{kernel}, {DEVICES[device].name}"
        least, share = others[kernel, device]
        optimum = min(least, *(min(found.times) for found in results))
        print(f"| {title} | {space_of(kernel).size} | {100 * share:.0f} % |")
        for label in labels:
            runs = [as_run(found, optimum) for found in results if found.label == label]
            tables[label].append((title, runs))
    each = {label: [figures(runs, trials) for _, runs in of] for label, of in tables.items()}
    print("\n" + show_table("Mean", [(label, mean_figures(of)) for label, of in each.items()], trials))
    for place, (title, _) in enumerate(tables[labels[0]]):
        print("\n" + show_table(title, [(label, of[place]) for label, of in each.items()], trials))
    return 0


if __name__ == "__main__":
    sys.exit(main())
