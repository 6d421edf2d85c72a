"""How much processor time the parts of an emulation take.

    python -m benchmarks.emulation.speed                         # the kernels of the feasibility study and all points
    python -m benchmarks.emulation.speed --json before.json      # at another commit, then
    python -m benchmarks.emulation.speed --beside before.json    # here: both in one table, and whether predictions are the same
    python -m benchmarks.emulation.speed --build                 # compiling and disassembling, one by one and together

Each launch is done several times and the least time of each part counts: following the threads with what their accesses find in
caches (once for a launch), the emulation of a multiprocessor, and all sensitivities.

Exit codes: 0 done; 1 a prediction is another one than beside; 3 the machine lacks something.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

from benchmarks.emulation.points import Point, points, shape
from benchmarks.emulation.predicting import Forecaster, own_kernels
from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import CudaBuildOptions
from orio_py.build.cuda_catalog import cuda_compiler
from orio_py.build.disassembler import find_nvdisasm
from orio_py.build.emulation_core import emulation_core
from orio_py.build.launch_emulation import emulated_gpu
from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.core.resources import CACHE_FOLDER
from orio_py.emulation.sensitivity import sensitivity
from orio_py.sass.listing import parse_listing

KERNELS = Path(__file__).resolve().parents[1] / "kernels" / "cuda_text"

MOST_EMULATION, MOST_SENSITIVITY = 5e-3, 50e-3
"""Seconds of processor time that are aimed at."""

_T = TypeVar("_T")

STUDY = (
    Point("study", "vecaxpy", shape(65536), shape(256), {"n": 1 << 24}),
    Point("study", "matmul_tile", shape(128, 128), shape(16, 16), {"n": 2048}),
    Point("study", "matmul_registers", shape(16, 16), shape(256), {"n": 2048}),
    Point("study", "stencil3d", shape(16, 64), shape(32, 8), {"nx": 512, "ny": 512, "nz": 512}),
)


@dataclass(frozen=True, slots=True)
class SpentTime:
    """Seconds of processor time, and what was predicted with them."""

    label: str
    following: float
    emulation: float
    sensitivity: float
    cycles: float
    bottleneck: str
    sensitivities: tuple[float, ...]

    @property
    def prediction(self) -> tuple[float, str, tuple[float, ...]]:
        """What must not depend on how it is computed."""
        return self.cycles, self.bottleneck, self.sensitivities


def launches(gpu: str, only: str) -> Iterator[tuple[Forecaster, Point]]:
    """The launches whose kernels' names contain `only`."""
    own = own_kernels(gpu)
    for point in STUDY:
        text = (KERNELS / f"{point.kernel}.cu").read_text(encoding="utf-8")
        yield Forecaster(text, gpu), point
    for point in points():
        yield own, point


def spent(forecaster: Forecaster, point: Point, times: int) -> SpentTime:
    """The least time of each part."""
    core = emulation_core()
    _ = forecaster.code
    least = [float("inf")] * 3
    for _ in range(times):
        following, emulator = timed(partial(forecaster.emulator, point))
        emulation, prediction = timed(emulator.predict)
        sensitivities, report = timed(partial(sensitivity, emulator, prediction, core))
        now = (following, emulation, sensitivities)
        least = [min(a, b) for a, b in zip(least, now, strict=True)]
    first = report.bottleneck.sensitivity
    name = f"{first.resource} {first.bound}" if first is not None else "none"
    values = tuple(one.value for one in report.sensitivities)
    return SpentTime(point.label, *least, prediction.cycles, name, values)


def timed(what: Callable[[], _T]) -> tuple[float, _T]:
    """Seconds of processor time of a call, and its result."""
    began = _processor_time()
    found = what()
    return _processor_time() - began, found


def _processor_time() -> float:
    """Of this process and of those that it has waited for."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


VARIANTS = 16
"""Of each kernel with `--build`: as many register limits."""


def build_table(gpu: str) -> Iterator[str]:
    """For each kernel of the study what compiling takes, and disassembling, alone and together, for each variant.

    What is compiled together is one program with as many kernels, each with a name of its own.
    """
    compiler, disassembler = cuda_compiler(), find_nvdisasm()
    architecture = emulated_gpu(gpu).architecture
    yield f"{'milliseconds of processor time for a variant':48} {'compiling':>10} {'of ' + str(VARIANTS):>10} {'listing':>10} {'of ' + str(VARIANTS):>10} {'reading':>10}"
    for point in STUDY:
        text = (KERNELS / f"{point.kernel}.cu").read_text(encoding="utf-8")
        cubins: list[bytes] = []
        compiling = 0.0
        for limit in range(40, 40 + 8 * VARIANTS, 8):
            options = CudaBuildOptions(line_info=True, flags=(f"--maxrregcount={limit}",))
            seconds, built = timed(partial(compiler.compile, text, architecture, options))
            assert not isinstance(built, BuildFailure), built
            compiling += seconds
            cubins.append(built.cubin)
        many = "\n".join(re.sub(rf"\b{point.kernel}\b", f"{point.kernel}_{n}", text) for n in range(VARIANTS))
        at_once, built = timed(
            partial(compiler.compile, many, architecture, CudaBuildOptions(line_info=True))
        )
        assert not isinstance(built, BuildFailure), built
        with TemporaryDirectory() as folder:
            token = CACHE_FOLDER.set(Path(folder))  # nothing that was kept
            alone, _ = timed(partial(disassembler.listing, cubins[0]))
            together, listings = timed(partial(disassembler.code_listings, cubins))
            CACHE_FOLDER.reset(token)
        reading, _ = timed(partial(parse_listing, listings[0]))
        values = (compiling / VARIANTS, at_once / VARIANTS, alone, together / VARIANTS, reading)
        yield f"{point.kernel:48} {' '.join(f'{value * 1e3:10.1f}' for value in values)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.emulation.speed", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--gpu", default="H200 SXM", metavar="GPU", help="the GPU to emulate")
    parser.add_argument("--only", default="", metavar="TEXT", help="kernels whose names contain this")
    parser.add_argument("--times", type=int, default=5, metavar="N", help="how often each launch is emulated")
    parser.add_argument("--build", action="store_true", help="what machine code costs, and no emulation")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument("--beside", type=Path, metavar="FILE", help="what --json wrote at another commit")
    chosen = parser.parse_args(arguments)
    before = _read(chosen.beside)
    try:
        if chosen.build:
            print("\n".join(build_table(chosen.gpu)))
            return 0
        found = [
            spent(forecaster, point, chosen.times)
            for forecaster, point in launches(chosen.gpu, chosen.only)
            if chosen.only in point.kernel
        ]
    except EnvironmentProblem as problem:
        print("\n".join(d.headline() for d in problem.diagnostics), file=sys.stderr)
        return 3
    if chosen.json is not None:
        chosen.json.write_text(json.dumps([asdict(one) for one in found], indent=1), encoding="utf-8")
    return _print(found, before)


def _read(path: Path | None) -> Mapping[str, SpentTime]:
    if path is None:
        return {}
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {row["label"]: SpentTime(**(row | {"sensitivities": tuple(row["sensitivities"])})) for row in rows}


def _print(found: Sequence[SpentTime], before: Mapping[str, SpentTime]) -> int:
    print(f"{'milliseconds of processor time':64} {'following':>15} {'emulation':>15} {'sensitivity':>15}")
    others = 0
    for one in found:
        old = before.get(one.label)
        cells = " ".join(_cell(one, old, name) for name in ("following", "emulation", "sensitivity"))
        differs = old is not None and old.prediction != one.prediction
        others += differs
        print(f"{one.label[:64]:64} {cells}{'  another prediction' if differs else ''}")
    for name, most in (("emulation", MOST_EMULATION), ("sensitivity", MOST_SENSITIVITY)):
        values = [getattr(one, name) for one in found]
        within = sum(value <= most for value in values)
        print(
            f"{name}: median {median(values) * 1e3:.1f} ms, most {max(values) * 1e3:.1f} ms, "
            f"{within} of {len(values)} within {most * 1e3:.0f} ms"
        )
    if before:
        print(f"{others} of {len(found)} predictions differ")
    return 1 if others else 0


def _cell(one: SpentTime, old: SpentTime | None, name: str) -> str:
    now = f"{getattr(one, name) * 1e3:6.1f}"
    return f"{getattr(old, name) * 1e3:6.1f} → {now}" if old is not None else f"{now:>15}"


if __name__ == "__main__":
    raise SystemExit(main())
