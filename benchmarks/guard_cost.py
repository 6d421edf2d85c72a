"""What a test at run time costs: kernels with plain pointers, guarded and promised not to overlap (`noalias`).

    python -m benchmarks.guard_cost

Both variants of a kernel are timed in alternating order in one process.  Printed are the median seconds of a call and
their ratio, for small and large arrays.
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

KERNELS = {
    "scale": ("Reverse()", "for (i = 0; i < n; i++) y[i] = 3 * x[i];"),
    "stencil": ("Reverse()", "for (i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i] + x[i + 1] + z[i];"),
    "rows": (
        "UnrollJam(ufactor=4)",
        "for (i = 0; i < 4; i++) for (j = 0; j < n / 4; j++) y[i] += x[j] * z[j];",
    ),
}
SIZES = (16, 256, 4096, 65536)
ROUNDS = 41
FASTEST = 2e-3
"""Seconds of a sample at least, which is many ticks of the clock."""


def _variant(recipe: str, code: str, folder: Path, *, promised: bool) -> Callable[..., None]:
    """The kernel, transformed by `orio transform` and compiled."""
    source, tuned, library = (folder / f"{promised}{end}" for end in (".c", "_tuned.c", ".so"))
    inputs = " ".join(f"decl dynamic double {name}[64] = random;" for name in "xyz")
    promise = "def assumptions { arg noalias = True; }" if promised else ""
    source.write_text(
        "void kernel(int n, double *y, double *x, double *z)\n{\nint i, j;\n"
        f"/*@ begin PerfTuning ({promise} def input_vars {{ decl int n = 64; {inputs} }}) @*/\n"
        f"/*@ begin Loop (transform {recipe}) @*/\n{code}\n/*@ end @*/\n/*@ end @*/\n}}\n"
    )
    subprocess.run(["orio", "transform", "-o", str(tuned), str(source)], check=True, capture_output=True)
    if ("overlap" in tuned.read_text()) == promised:
        raise ValueError(f"the guard is not where it has to be: {code}")
    subprocess.run(["gcc", "-O3", "-w", "-shared", "-fPIC", str(tuned), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).kernel


def _seconds(kernel: Callable[..., None], arguments: tuple[object, ...], calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        kernel(*arguments)
    return (time.perf_counter() - begin) / calls


def _compared(variants: tuple[Callable[..., None], Callable[..., None]], n: int) -> tuple[float, float]:
    """Median seconds of both."""
    arrays = [(ctypes.c_double * n)(*range(n)) for _ in range(3)]
    arguments = (ctypes.c_int(n), *arrays)
    calls = max(1, int(FASTEST / max(_seconds(variants[0], arguments, 3), 1e-9)))
    samples: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS):
        for which in (0, 1) if number % 2 else (1, 0):
            samples[which].append(_seconds(variants[which], arguments, calls))
    return statistics.median(samples[0]), statistics.median(samples[1])


def main() -> int:
    """The command."""
    print("kernel       n    guarded   promised  guarded / promised")
    for name, (recipe, code) in KERNELS.items():
        with tempfile.TemporaryDirectory() as folder:
            variants = tuple(
                _variant(recipe, code, Path(folder), promised=promised) for promised in (False, True)
            )
            for n in SIZES:
                guarded, promised = _compared((variants[0], variants[1]), n)
                print(f"{name:8} {n:6d} {guarded:.3e} {promised:.3e} {guarded / promised:6.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
