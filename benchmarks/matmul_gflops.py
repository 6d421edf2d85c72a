"""How close a tuned matrix product comes to a BLAS library: n = 1024, double, one core.

Compares in one run, with the processor time of one thread: the plain loops with `gcc -O3 -march=native`,
the best variant that random search finds in `--trials` trials of a recipe with packing
(`kernels/matmul_packed.c`), and the product of numpy's BLAS library on one thread.

    python benchmarks/matmul_gflops.py --trials 500
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from orio_py import TuneOptions, tune
from orio_py.core.diagnostics import render
from orio_py.tuning.events import Event, TrialDone

KERNEL = Path(__file__).resolve().parent / "kernels" / "matmul_packed.c"


def gflops(n: int, seconds: float) -> str:
    """Floating-point operations of a matrix product by its time."""
    return f"{2e-9 * n**3 / seconds:.2f}"


def blas_alone(n: int) -> list[float]:
    """Thread times of the library's product, from a process in which it has one thread."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    command = [sys.executable, str(Path(__file__).resolve()), "--blas-only", "--size", str(n)]
    done = subprocess.run(command, env={**os.environ, **one}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def blas_seconds(n: int, repetitions: int) -> list[float]:
    """Thread times of `C += A @ B`."""
    generator = np.random.default_rng(1)
    a, b, c = (generator.random((n, n)) for _ in range(3))
    found: list[float] = []
    for _ in range(repetitions + 1):
        start = time.thread_time()
        c += a @ b
        found.append(time.thread_time() - start)
    return found[1:]


def blas_name() -> str:
    """The BLAS library that numpy was built with."""
    found = np.show_config(mode="dicts") or {}
    blas = found.get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def main() -> int:
    """Tune, measure the library, print the table.  Exit codes: 0 done; 4 no valid variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=500, help="variants that random search tries")
    parser.add_argument("--size", type=int, default=1024, help="rows and columns of the matrices")
    parser.add_argument("--seed", type=int, default=1, help="seed of the search")
    parser.add_argument("--output", type=Path, help="where the tuned file goes")
    parser.add_argument(
        "--blas-only", action="store_true", help="print the times of the BLAS library as JSON"
    )
    given = parser.parse_args()
    if given.blas_only:
        print(json.dumps(blas_seconds(given.size, 7)))
        return 0
    console = Console()
    n: int = given.size
    done = 0

    def listener(event: Event) -> None:
        nonlocal done
        if isinstance(event, TrialDone):
            done += 1
            if done % 50 == 0:
                console.print(f"{done} trials", style="dim")

    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        output = given.output or Path(folder) / "matmul_packed.c"
        options = TuneOptions(trials=given.trials, seed=given.seed, pins={"n": n})
        report = tune([KERNEL], output=output, options=options, listener=listener)
    seconds = time.perf_counter() - start
    for diagnostic in report.diagnostics:
        console.print(render(diagnostic, report.sources), markup=False)
    if not report.regions or report.regions[0].best is None or report.regions[0].baseline is None:
        return 4
    (region,) = report.regions
    assert region.best is not None
    assert region.baseline is not None
    library = blas_alone(n)
    best, plain = region.best.timing, region.baseline
    table = Table(title=f"C += A B, n = {n}, double, one core; median thread times")
    for heading in ("code", "GFLOP/s", "seconds", "repetitions"):
        table.add_column(heading)
    table.add_row(
        "plain loops, gcc -O3 -march=native",
        gflops(n, plain.median_s),
        f"{plain.median_s:.4f}",
        str(plain.repeats),
    )
    table.add_row("best variant", gflops(n, best.median_s), f"{best.median_s:.4f}", str(best.repeats))
    median = statistics.median(library)
    table.add_row(f"numpy: {blas_name()}", gflops(n, median), f"{median:.4f}", str(len(library)))
    console.print(table)
    console.print(f"clock: {best.clock}; {region.environment.cpu}; {region.environment.compiler}")
    console.print(
        f"trials {region.trials}, refused {region.refused}, failures {dict(region.failures)}, {seconds:.0f} s"
    )
    console.print(f"configuration: {dict(region.best.configuration)}", markup=False)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
