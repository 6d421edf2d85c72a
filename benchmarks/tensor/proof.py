"""Random contractions against `numpy.einsum`: as many as asked for, and the first difference if there is one.

    python -m benchmarks.tensor.proof --count 10000 --seed 1
    python -m benchmarks.tensor.proof --count 300 --target opencl

With a target of devices two variants of each program are built and compared with its plain loops, as `orio tensor` does:
on an OpenCL device, or, of CUDA and HIP, on the processor's executor; CUDA kernels are in tiles or by the thesis' recipe.
Without, the variants are C.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))

from contraction_runs import differences
from random_contractions import random_example, random_program

import orio_py

BATCH = 100


def device_difference(name: str, text: str, target: str, folder: Path) -> tuple[int, str]:
    """How many variants of a program were compared with its loops, and what was wrong, as text."""
    source = folder / f"{name}.tensor"
    source.write_text(text)
    options = orio_py.TuneOptions(target=target, trials=2, seed=1, search="random", repeats=1)
    by_recipe = target == "cuda" and len(text) % 2 == 0
    report = orio_py.tensor(source, output=folder / f"{name}.c", by_recipe=by_recipe, options=options)
    if any(problem.code == "ORIO-N016" for problem in report.diagnostics):
        return 0, ""
    compared, found = 0, [] if report.regions else [str(report.diagnostics)]
    for region in report.regions:
        compared += region.succeeded + region.right
        if region.invalid or region.failed:
            found.append(f"{dict(region.failures)}, refused {region.refused}")
        elif region.reason and not region.trials:
            found.append(region.reason)
    return compared, f"{'; '.join(found)}\n{text}" if found else ""


def on_devices(count: int, seed: int, target: str) -> int:
    """Compare the variants of so many programs; the number of differences, at most 1."""
    begun, draw, compared = time.monotonic(), random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, count + 1):
            text = random_program(draw, f"f{number}")
            variants, found = device_difference(f"f{number}", text, target, Path(folder))
            compared += variants
            if found:
                print(f"after {number} programs:\n{found}")
                return 1
            if number % 20 == 0 or number == count:
                seconds = time.monotonic() - begun
                print(
                    f"{number} programs, {compared} variants without difference, {seconds:.0f} s", flush=True
                )
    return 0


def main() -> int:
    """The number of differences found, at most 1."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=("c", "opencl", "hip", "cuda", "openacc"), default="c")
    given = parser.parse_args()
    if given.target != "c":
        return on_devices(given.count, given.seed, given.target)
    begun, done = time.monotonic(), 0
    draw = random.Random(given.seed)
    while done < given.count:
        count = min(BATCH, given.count - done)
        with tempfile.TemporaryDirectory() as folder:
            found = differences([random_example(draw, f"f{k}") for k in range(count)], Path(folder))
        done += count
        if found:
            print(f"after {done} contractions:\n{found[0]}")
            return 1
        print(f"{done} contractions without difference, {time.monotonic() - begun:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
