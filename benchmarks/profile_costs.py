r"""What a profiled run costs with each provider of counters that works here, beside a run without it.

    python -m benchmarks.profile_costs

A C kernel with a few configurations is tuned without counters and with each method: the additional wall time per variant.  A
CUDA kernel is compiled and emulated, with and without its counters.  Recordings charge the build and the run once more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import orio_py
from benchmarks.bottlenecks import DEVICE_KERNELS
from benchmarks.emulation.searching import EmulatedNest
from orio_py.build.cuda import CudaBinary, cuda_options
from orio_py.codegen.extent import extent_text
from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.measure.cuda.emulated import LaunchEmulation
from orio_py.measure.cuda.variant import CudaVariant
from orio_py.measure.observers.catalog import OBSERVERS
from orio_py.measure.offload.host import followed_launches
from orio_py.measure.offload.host_data import told_data
from orio_py.tuning.options import TuneOptions

SOURCE = """void product(int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n])
{
  int i, j, k;
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 2, 4, 8]; }
    def input_params { param n[] = [200]; }
    def input_vars {
      decl dynamic double A[n][n] = random;
      decl dynamic double B[n][n] = random;
      decl dynamic double C[n][n] = random;
    }
    %s
  ) @*/
  /*@ begin Loop(transform UnrollJam(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
  /*@ end @*/
  /*@ end @*/
}
"""
VARIANTS = 5
"""Four configurations and the original."""


def tuned(folder: Path, method: str) -> float:
    """Seconds per variant, with a method of counting or without one ('')."""
    path = folder / "product.c"
    path.write_text(SOURCE % (f"def performance_counter {{ arg method = '{method}'; }}" if method else ""))
    options = TuneOptions(search="exhaustive", full_samples=True, jobs=1)
    began = perf_counter()
    told = orio_py.tune(path, output=folder / "out.c", options=options)
    if told.exit_code:
        raise RuntimeError(f"{method}: {[d.headline() for d in told.diagnostics]}")
    return (perf_counter() - began) / VARIANTS


def emulated(folder: Path) -> list[tuple[str, float]]:
    """Seconds to compile a kernel, to emulate it, and to emulate it with counters and sensitivities, once all is loaded."""
    kernel = next(one for one in DEVICE_KERNELS if one.name == "product")
    path = folder / "cuda.c"
    path.write_text(kernel.versions[0].nest.text(kernel.name))
    nest = EmulatedNest(path, kernel.gpu)
    first, position, architecture = nest.space.first(), nest.task.position, nest.timing.architecture
    assert first is not None
    began = perf_counter()
    parts = nest.generator.parts(nest.point, dict(first))
    plans = [plan for program in parts.devices for plan in program.plans]
    text = extent_text(nest.task, parts.codes)
    variant = CudaVariant.of(architecture, plans[0].options.build_flags, text, parts.devices)
    options = cuda_options(variant.options, position)
    binaries = [nest.compiler.compile(source, architecture, options) for source in variant.sources]
    built = [binary for binary in binaries if isinstance(binary, CudaBinary)]
    found = [("compiled", perf_counter() - began)]
    launches = followed_launches(variant.host, variant.calls, told_data(nest.task, nest.point), position)
    LaunchEmulation(nest.timing, nest.disassembler, path.name).variant(built, launches, bottlenecks=False)
    for title, bottlenecks in (("time alone", False), ("time and counters", True)):
        emulation = LaunchEmulation(nest.timing, nest.disassembler, path.name)
        began = perf_counter()
        emulation.variant(built, launches, bottlenecks=bottlenecks)
        found.append((title, perf_counter() - began))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table."""
    description = (__doc__ or "").split("\n")[0]
    argparse.ArgumentParser("python -m benchmarks.profile_costs", description=description).parse_args(
        arguments
    )
    print("| provider | seconds per variant | against one without |\n|---|---|---|")
    with TemporaryDirectory() as name:
        folder = Path(name)
        tuned(folder, "")  # what is loaded and calibrated first is not counted
        plain = tuned(folder, "")
        print(f"| C: none (build, check, time) | {plain:.2f} | 1.0 |", flush=True)
        for method, observer in OBSERVERS.items():
            if (reason := observer.available()) is not None:
                print(f"| C: {method} | not here: {reason.split('(')[0].strip()} | |")
                continue
            missing = f", in part: without {', '.join(observer.missing())}" if observer.missing() else ""
            each = tuned(folder, method)
            print(f"| C: {method}{missing} | {each:.2f} | {each / plain:.1f} |", flush=True)
        try:
            steps = emulated(folder)
        except EnvironmentProblem as problem:
            print(f"| CUDA: emulation | not here: {problem.diagnostics[0].message} | |")
            return 0
        compiled = steps[0][1]
        for title, seconds in steps:
            print(f"| CUDA: emulation, {title} | {seconds:.2f} | {seconds / compiled:.1f} of compiling |")
    print("| replay | none; a build and a run are charged once more | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
