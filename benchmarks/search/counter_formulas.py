r"""Counter-guided search on a space of 1.9 million configurations, with models from another device.

    python -m benchmarks.search.counter_formulas --seeds 20 --trials 60

The stencil of `benchmarks.search.formulas` on its two made-up devices, with counters that follow from the same
formulas: traffic, instructions, occupancy.  Models are trained on random valid configurations of a device, with its
occupancies; a run's evaluations include its profiled run.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from math import inf
from statistics import fmean
from time import process_time

import numpy as np

from benchmarks.search.formulas import DEVICES, Device, Values, fastest_of_others, space_of, time_of
from orio_py.model.counters.model import CounterModel, Domain, ModelParameter, TrainingSet
from orio_py.model.counters.table import GpuCounter
from orio_py.model.counters.trees import grow_ensemble
from orio_py.record.outcome import Outcome
from orio_py.search.base import SearchContext, drive
from orio_py.search.catalog import start_search
from orio_py.search.counter_guided import CountersOptions, guided_by
from orio_py.search_space.configuration import Configuration

KERNEL = "stencil"
NAMES = {
    GpuCounter.DRAM_RT: "dram__sectors_read.sum",
    GpuCounter.INST_EXE: "smsp__inst_executed.sum",
    GpuCounter.OCCUPANCY: "sm__warps_active.avg.pct_of_peak_sustained_active",
    GpuCounter.BLOCK: "threads_per_block",
}
STRESS = (
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
)
INSTRUCTIONS = 8e6
"""Of warps, where a million sectors are read: ten or so for each element of a stencil."""
MARKS = (10, 15, 25, 40, 60)
OTHERS = 20_000


def work(v: Values, device: Device) -> dict[GpuCounter, float] | None:
    """The counters of a configuration, as `stencil_time` reckons; None for what does not fit."""
    threads, steps = v["block_size_x"] * v["block_size_y"], v["temporal_tiling_factor"]
    inner = (v["block_size_x"] * v["tile_size_x"], v["block_size_y"] * v["tile_size_y"])
    outer = (inner[0] + 2 * steps) * (inner[1] + 2 * steps)
    shared = 4 * outer * (2 + v["sh_power"])
    wanted = 18 + 2 * v["tile_size_x"] * v["tile_size_y"] + 2 * v["loop_unroll_factor_t"]
    limit = 65536 // (threads * v["blocks_per_sm"]) if v["blocks_per_sm"] else wanted
    registers = min(wanted, limit)
    if shared > device.shared or (blocks := device.blocks(threads, registers, shared)) < 1:
        return None
    redundant = outer / (inner[0] * inner[1])
    narrow = 1.0 + 0.5 * (v["block_size_x"] < 32) + 0.2 * (v["block_size_x"] % 32 != 0)
    executed = redundant * (1.0 + 0.05 * abs(v["loop_unroll_factor_t"] - 3)) * (1.0 - 0.08 * v["sh_power"])
    return {
        GpuCounter.DRAM_RT: 1e6 * redundant / steps * narrow,
        GpuCounter.INST_EXE: INSTRUCTIONS * executed * (1.0 + 0.03 * (wanted - registers)),
        GpuCounter.OCCUPANCY: 100.0 * blocks * threads / device.threads,
        GpuCounter.BLOCK: float(threads),
    }


def profiled(device: int, configuration: Configuration) -> Outcome:
    """Time, counters and how far memory and issue are in use."""
    time = time_of(KERNEL, device, configuration)
    counted = work(_values(configuration), DEVICES[device])
    if time is None or counted is None:
        return Outcome.of(configuration, None)
    memory = counted[GpuCounter.DRAM_RT] / 1e6 * DEVICES[device].traffic / 6.0
    used = (memory / time, counted[GpuCounter.INST_EXE] / INSTRUCTIONS / time)
    counters = {NAMES[name]: value for name, value in counted.items()}
    counters |= {name: 100.0 * min(1.0, share) for name, share in zip(STRESS, used, strict=True)}
    return Outcome(configuration, (time,), counters=counters)


def _values(configuration: Configuration) -> dict[str, int]:
    return {name: value for name, value in configuration.items() if isinstance(value, int)}


def trained(device: int, rows: int, seed: int) -> CounterModel:
    """A model of random valid configurations on a device."""
    space, rng = space_of(KERNEL), random.Random(1_000_000 + seed)
    found: list[tuple[Configuration, dict[GpuCounter, float]]] = []
    while len(found) < rows:
        configuration = space.at(rng.randrange(space.size))
        if (counted := work(_values(configuration), DEVICES[device])) is not None:
            found.append((configuration, counted))
    parameters = tuple(ModelParameter(parameter.name) for parameter in space.parameters)
    domain = Domain(parameters, tuple(NAMES))
    counters = np.array([[counted[name] for name in NAMES] for _, counted in found])
    return grow_ensemble(TrainingSet(domain, domain.rows([row for row, _ in found]), counters))


def run(device: int, model: CounterModel | None, seed: int, trials: int) -> tuple[list[float], float]:
    """The best time after each evaluation, and the seconds of processor time of the run; `auto` without a model."""
    context = SearchContext(space_of(KERNEL), random.Random(seed), {}, trials, 1)
    begin = process_time()
    search = start_search("auto", context) if model is None else guided_by(model, context, CountersOptions())
    tried = drive(
        search,
        lambda configuration: time_of(KERNEL, device, configuration),
        trials,
        lambda configuration: profiled(device, configuration),
    )
    best, found = inf, list[float]()
    for _, time in tried:
        best = min(best, inf if time is None else time)
        found.append(best)
    return found, process_time() - begin


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything, print a table."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.search.counter_formulas", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="runs of each search (20)")
    parser.add_argument("--trials", type=int, default=60, metavar="N", help="evaluations of a run (60)")
    chosen = parser.parse_args(arguments)
    marks = [mark for mark in MARKS if mark <= chosen.trials]
    print(f"| device | search | {' | '.join(f'share@{mark}' for mark in marks)} | s per run |")
    print("|---" * (len(marks) + 3) + "|")
    for device, description in enumerate(DEVICES):
        least, _ = fastest_of_others((KERNEL, device, OTHERS))
        for name, rows, place in (
            ("auto", 0, device),
            ("counters, 500 trials here", 500, device),
            ("counters, 3000 trials here", 3000, device),
            ("counters, 500 trials on the other device", 500, 1 - device),
            ("counters, 3000 trials on the other device", 3000, 1 - device),
        ):
            models = [trained(place, rows, seed) if rows else None for seed in range(chosen.seeds)]
            runs = [run(device, model, seed, chosen.trials) for seed, model in enumerate(models)]
            shares = [f"{fmean(least / bests[mark - 1] for bests, _ in runs):.3f}" for mark in marks]
            seconds = fmean(spent for _, spent in runs)
            print(f"| {description.name} | {name} | {' | '.join(shares)} | {seconds:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
