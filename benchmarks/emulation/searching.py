"""Searches of large spaces of CUDA kernels on a GPU that is not there: trials until a time near the best.

    python -m benchmarks.emulation.searching --trials 60 --seeds 2

Five annotated nests, each with a space of more than a million configurations.  Nothing runs, neither on a GPU nor on the
processor: a configuration is transformed, compiled and emulated, once for all searches.  The best is that of all runs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory

from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import cuda_options
from orio_py.build.cuda_catalog import cuda_compiler
from orio_py.build.disassembler import find_nvdisasm
from orio_py.build.launch_emulation import emulated_gpu
from orio_py.codegen.extent import extent_text
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.measure.cuda.emulated import LaunchEmulation
from orio_py.measure.cuda.variant import CudaVariant
from orio_py.measure.offload.host import followed_launches
from orio_py.measure.offload.host_data import told_data
from orio_py.record.measurement import Stage
from orio_py.record.outcome import Outcome
from orio_py.search.base import SearchContext, drive
from orio_py.search.bottleneck import REGISTERS
from orio_py.search.catalog import start_search
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.files.load import load
from orio_py.tuning.variants.variant import VariantGenerator

WITHIN = 1.05
"""A time of so many times the best of all runs is to be reached."""

SEARCHES = ("random", "auto", "bottleneck")

FILE = Template("""/* $name: written by benchmarks/emulation. */
void $name($parameters)
{
  int $indices;
  /*@ begin PerfTuning(
    def performance_params {
$space
    }
    def input_params { param n[] = [$size]; }
    def input_vars {
$data
    }
  ) @*/
  /*@ begin Loop(transform CUDA($recipe)) @*/
$loops
  /*@ end @*/
  /*@ end @*/
}
""")


@dataclass(frozen=True)
class Nest:
    """A nest with its arrays (extents), the space of its kernels, constraints, and the arguments of the transformation."""

    loops: str
    indices: str
    arrays: Mapping[str, str]
    size: int
    space: Mapping[str, str]
    constraints: tuple[str, ...]
    recipe: str
    type: str = "float"

    def text(self, name: str) -> str:
        """The annotated file."""
        lines = [f"      param {parameter}[] = {values};" for parameter, values in self.space.items()]
        lines += [f"      constraint c{k} = {text};" for k, text in enumerate(self.constraints)]
        return FILE.substitute(
            name=name,
            parameters=", ".join(["int n", *(f"{self.type} *restrict {array}" for array in self.arrays)]),
            indices=self.indices,
            space="\n".join(lines),
            size=self.size,
            data="\n".join(
                f"      decl dynamic {self.type} {a}[{extent}] = random;" for a, extent in self.arrays.items()
            ),
            recipe=self.recipe,
            loops=self.loops,
        )


_WARPS = ("TX * TY >= 32", "TX * TY <= 1024", "TX * TY * LB <= 2048")
_BLOCKS = {"TX": "range(2, 129, 2)", "TY": "range(1, 33)"}
_LESS = {"U": "[1, 2, 4, 8, 16]", "LB": "[1, 2, 3, 4, 6, 8]", "PL": "[0, 16, 32, 48]"}
_COMMON = "unrollInner=U, launchBounds=LB, preferL1Size=PL, arch='sm_90'"

NESTS: Mapping[str, Nest] = {
    "transposition": Nest(
        "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n      B[j * n + i] = A[i * n + j];",
        "i, j",
        {"A": "n*n", "B": "n*n"},
        4096,
        {**_BLOCKS, "RX": "range(1, 9)", "RY": "range(1, 9)", "IN": "['i, j', 'j, i']", **_LESS},
        (*_WARPS, "RX * RY <= 16"),
        f"domain=IN, threadCount=[TX, TY], registerTile=[RX, RY], {_COMMON}",
    ),
    "nbody": Nest(
        "  for (i = 0; i < n; i++) {\n    float sum = 0.0f;\n    for (j = 0; j < n; j++) {\n"
        "      const float d = x[j] - x[i], e = y[j] - y[i];\n      const float r = d * d + e * e + 0.01f;\n"
        "      sum += m[j] * d / (r * sqrtf(r));\n    }\n    a[i] = sum;\n  }",
        "i, j",
        {"x": "n", "y": "n", "m": "n", "a": "n"},
        16384,
        {
            "TC": "range(32, 1025, 32)", "C": "range(1, 129)", "SP": "['strided', 'blocked']", "CB": "[False, True]", **_LESS,
        },
        ("TC * LB <= 2048",),
        f"threadCount=TC, coarsen=C, spread=SP, cacheBlocks=CB, {_COMMON}",
    ),
    "stencil": Nest(
        "  for (i = 1; i < n - 1; i++)\n    for (j = 1; j < n - 1; j++)\n"
        "      B[i * n + j] = 0.2f * (A[i * n + j] + A[i * n + j - 1] + A[i * n + j + 1]"
        " + A[(i - 1) * n + j] + A[(i + 1) * n + j]);",
        "i, j",
        {"A": "n*n", "B": "n*n"},
        4096,
        {**_BLOCKS, "RX": "range(1, 9)", "RY": "range(1, 9)", "CB": "[False, True]", **_LESS},
        (*_WARPS, "RX * RY <= 16"),
        f"nd=2, threadCount=[TX, TY], registerTile=[RX, RY], cacheBlocks=CB, {_COMMON}",
    ),
    "contraction": Nest(
        "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n      for (k = 0; k < n; k++)\n"
        "        for (l = 0; l < n; l++)\n"
        "          C[(i * n + j) * n + k] += A[(i * n + l) * n + j] * B[k * n + l];",
        "i, j, k, l",
        {"A": "n*n*n", "B": "n*n", "C": "n*n*n"},
        128,
        {
            "TX": "range(2, 129, 2)", "TY": "range(1, 33)", "TZ": "[1, 2, 4]", "RX": "range(1, 7)", "RY": "range(1, 7)",
            "CB": "[False, True]", **_LESS,
        },
        ("TX * TY * TZ >= 32", "TX * TY * TZ <= 1024", "TX * TY * TZ * LB <= 2048", "RX * RY <= 12"),
        f"nd=3, threadCount=[TX, TY, TZ], registerTile=[RX, RY, 1], cacheBlocks=CB, {_COMMON}",
    ),
    "product": Nest(
        "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n      for (k = 0; k < n; k++)\n"
        "        C[i * n + j] += A[i * n + k] * B[k * n + j];",
        "i, j, k",
        {"A": "n*n", "B": "n*n", "C": "n*n"},
        1024,
        {**_BLOCKS, "RX": "range(1, 9)", "RY": "range(1, 9)", "CB": "[False, True]", **_LESS},
        (*_WARPS, "RX * RY <= 16"),
        f"nd=2, threadCount=[TX, TY], registerTile=[RX, RY], cacheBlocks=CB, {_COMMON}",
    ),
}  # fmt: skip


@dataclass
class EmulatedNest:
    """Outcomes of the configurations of an annotated file by emulation; each is found once."""

    path: Path
    gpu: str
    outcomes: dict[Configuration, Outcome] = field(default_factory=dict[Configuration, Outcome])

    def __post_init__(self) -> None:
        loaded = load([self.path])
        problems = [d.headline() for d in loaded.diagnostics]
        assert loaded.files, problems
        (one,) = loaded.files[0].tasks
        self.task, (self.point,), (self.space,) = one.task, one.points, one.spaces
        self.timing = emulated_gpu(self.gpu)
        self.generator = VariantGenerator.of(self.task)
        self.disassembler = find_nvdisasm()
        self.compiler = cuda_compiler()

    def __call__(self, configuration: Configuration) -> Outcome:
        """The emulated time with what limits it; a failure where the variant is refused or cannot be launched."""
        if configuration not in self.outcomes:
            try:
                self.outcomes[configuration] = self._emulated(configuration)
            except DiagnosticError:
                self.outcomes[configuration] = Outcome.of(configuration, None, Stage.TRANSFORM)
        return self.outcomes[configuration]

    def _emulated(self, configuration: Configuration) -> Outcome:
        position = self.task.position
        parts = self.generator.parts(self.point, dict(configuration))
        plans = [plan for program in parts.devices for plan in program.plans]
        flags = plans[0].options.build_flags
        architecture = self.timing.architecture
        variant = CudaVariant.of(architecture, flags, extent_text(self.task, parts.codes), parts.devices)
        binaries = [
            self.compiler.compile(source, architecture, cuda_options(variant.options, position))
            for source in variant.sources
        ]
        built = [binary for binary in binaries if not isinstance(binary, BuildFailure)]
        if len(built) < len(binaries):
            return Outcome.of(configuration, None, Stage.BUILD)
        launches = followed_launches(variant.host, variant.calls, told_data(self.task, self.point), position)
        emulation = LaunchEmulation(self.timing, self.disassembler, self.path.name)
        found = emulation.variant(built, launches, bottlenecks=True)
        counters = {one.name: one.value for one in found.counters}
        counters[REGISTERS] = float(max(kernel.registers for binary in built for kernel in binary.kernels))
        return Outcome(configuration, (found.seconds,), None, counters)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it."""
    parser = argparse.ArgumentParser("python -m benchmarks.emulation.searching", description=__doc__)
    add = parser.add_argument
    add("--gpu", default="H200 SXM", metavar="GPU", help="the GPU to emulate")
    add("--only", default="", metavar="A,B", help="these nests only")
    add("--trials", type=int, default=60, metavar="N", help="trials of each run (60)")
    add("--seeds", type=int, default=2, metavar="N", help="runs of each search (2)")
    add("--json", type=Path, metavar="FILE", help="write all runs")
    chosen = parser.parse_args(arguments)
    try:
        rows = {
            name: _runs(name, nest, chosen.gpu, chosen.trials, chosen.seeds)
            for name, nest in NESTS.items()
            if not chosen.only or name in chosen.only.split(",")
        }
    except EnvironmentProblem as problem:
        print("\n".join(d.headline() for d in problem.diagnostics), file=sys.stderr)
        return 3
    print("geometric mean: " + "  ".join(f"{s} {_mean([r[s] for r in rows.values()]):.1f}" for s in SEARCHES))
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


def _runs(name: str, nest: Nest, gpu: str, trials: int, seeds: int) -> dict[str, list[int]]:
    """Trials to `WITHIN` of each search and seed; one more than there were where a run did not get there."""
    with TemporaryDirectory(prefix="orio-searching-") as folder:
        path = Path(folder) / f"{name}.c"
        path.write_text(nest.text(name), encoding="utf-8")
        evaluate = EmulatedNest(path, gpu)
        began = time.process_time()
        costs: dict[tuple[str, int], list[float | None]] = {}
        for search in SEARCHES:
            for seed in range(seeds):
                context = SearchContext(evaluate.space, random.Random(seed), {}, trials, 8)
                tried = drive(start_search(search, context), evaluate, trials)
                costs[search, seed] = [cost for _, cost in tried]
    best = min(cost for found in costs.values() for cost in found if cost is not None)
    rows: dict[str, list[int]] = {search: [] for search in SEARCHES}
    for (search, _), found in costs.items():
        good = (k for k, cost in enumerate(found, 1) if cost is not None and cost <= WITHIN * best)
        rows[search].append(next(good, trials + 1))
    ends = {
        search: min(cost for seed in range(seeds) for cost in costs[search, seed] if cost is not None) / best
        for search in SEARCHES
    }
    cells = "  ".join(f"{s} {_mean([rows[s]]):.1f} (best {ends[s]:.2f})" for s in SEARCHES)
    valid = sum(one.failure is None for one in evaluate.outcomes.values())
    print(
        f"{name} ({evaluate.space.size:,} configurations, best {best * 1e6:.1f} us): {cells}; {valid} of "
        f"{len(evaluate.outcomes)} emulated in {time.process_time() - began:.0f} s of processor time",
        flush=True,
    )
    return rows


def _mean(rows: Sequence[Sequence[int]]) -> float:
    """The geometric mean of all numbers."""
    numbers = [number for row in rows for number in row]
    return exp(sum(map(log, numbers)) / len(numbers))


if __name__ == "__main__":
    raise SystemExit(main())
