"""The linear-algebra kernels of the OrCL paper on this machine's OpenCL device: tuned, plain, and ViennaCL's.

Each kernel of `kernels/orcl` is tuned; then the winner, a plain OpenCL kernel (one item per element, the group size
left to the driver; for sums 1024 items and the rest on the host) and ViennaCL in its default configuration run in
turn, in shuffled order, with their data on the device.  Times are the host's, from the call until all is done; for
sums they contain the way of the partial results to the host.  ViennaCL needs its headers, those of OpenCL, g++ and
libOpenCL (Debian: libviennacl-dev); without them its columns say why they are empty.

    python benchmarks/orcl_table1.py --size 1000000 --trials 40 --picture ratios.svg

Exit codes: 0 measured; 4 a kernel could not be tuned.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np
import pyopencl as cl
from rich.console import Console
from rich.table import Table

from orio_py.codegen.device import ArgumentKind
from orio_py.measure.opencl.variant import DeviceVariant

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "kernels" / "orcl"
NAMES = ("matvec", "vecaxpy", "vecmaxpy", "vecscale", "vecwaxpy", "dot", "norm")
PARTIALS = 1024
"""Items, and so partial results, of the plain sums."""

_SUM = "double s = 0.0; for (long k = i; k < n; k += get_global_size(0)) s += {term}; partial[i] = s;"
PLAIN: Mapping[str, tuple[str, str]] = {
    "matvec": ("A x y", "double s = 0.0; for (long j = 0; j < n; j++) s += A[i * n + j] * x[j]; y[i] = s;"),
    "vecaxpy": ("x y", "y[i] = y[i] + a * x[i];"),
    "vecmaxpy": ("x1 x2 x3 x4 y", "y[i] = y[i] + a * x1[i] + a * x2[i] + a * x3[i] + a * x4[i];"),
    "vecscale": ("w", "w[i] = a * w[i];"),
    "vecwaxpy": ("x y w", "w[i] = y[i] + a * x[i];"),
    "dot": ("x y", _SUM.format(term="x[k] * y[k]")),
    "norm": ("x", _SUM.format(term="x[k] * x[k]")),
}
"""Arrays and body of the plain kernels."""

Timed = Callable[[], float]


@dataclass(slots=True)
class Bench:
    """A device with the arrays of one kernel at one size; `n` is the extent of its vectors."""

    context: cl.Context
    queue: cl.CommandQueue
    n: int
    arrays: dict[str, cl.Buffer]

    @classmethod
    def of(cls, device: cl.Device, name: str, n: int) -> Bench:
        """New arrays, all filled with the same small number."""
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        arrays = {
            array: cl.Buffer(context, flags, hostbuf=np.full(n * n if array == "A" else n, 0.5))
            for array in PLAIN[name][0].split()
        }
        return cls(context, queue, n, arrays)

    def plain(self, name: str) -> Timed:
        """The plain kernel."""
        arrays, body = PLAIN[name]
        is_sum = "partial" in body
        names = [*arrays.split(), *(["partial"] if is_sum else [])]
        head = ", ".join(f"__global double *restrict {array}" for array in names)
        text = f"__kernel void plain({head}, double a, long n) {{ const long i = get_global_id(0); {body} }}"
        kernel = cl.Kernel(cl.Program(self.context, text).build(), "plain")
        partial = self._partial(PARTIALS) if is_sum else None
        buffers = [*self.arrays.values(), *([partial] if partial is not None else [])]
        kernel.set_args(*buffers, np.float64(0.999), np.int64(self.n))
        return self._timed(kernel, (PARTIALS if is_sum else self.n,), None, partial, PARTIALS)

    def tuned(self, path: Path) -> Timed:
        """The kernel of a stored variant.  Raises KeyError for an argument that has no value here."""
        variant = DeviceVariant.read(path)
        (call,), (text,), (flags,) = variant.calls, variant.sources, variant.flags
        kernel = cl.Kernel(cl.Program(self.context, text).build(options=flags.split()), call.kernel)
        groups = call.group_counts((self.n,))
        values: list[object] = []
        partial = None
        for argument in call.arguments:
            if argument.kind is ArgumentKind.BUFFER:
                values.append(self.arrays[argument.of])
            elif argument.kind is ArgumentKind.PARTIALS:
                partial = self._partial(groups[0])
                values.append(partial)
            elif argument.device_type == "double":
                values.append(np.float64(0.999))
            else:
                kind = {"int": np.int32, "long": np.int64}[argument.device_type]
                values.append(kind(self.n))
        kernel.set_args(*values)
        return self._timed(kernel, (groups[0] * call.items[0],), call.items, partial, groups[0])

    def _partial(self, count: int) -> cl.Buffer:
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, 8 * count)

    def _timed(
        self,
        kernel: cl.Kernel,
        items: tuple[int, ...],
        group: tuple[int, ...] | None,
        partial: cl.Buffer | None,
        count: int,
    ) -> Timed:
        results = np.empty(count)

        def run() -> float:
            self.queue.finish()
            began = time.perf_counter()
            cl.enqueue_nd_range_kernel(self.queue, kernel, items, group)
            if partial is not None:
                cl.enqueue_copy(self.queue, results, partial)
                results.sum()
            self.queue.finish()
            return time.perf_counter() - began

        return run


def tune(name: str, n: int, trials: int, folder: Path) -> tuple[dict[str, object], Path] | None:
    """The best configuration and its stored variant; None when nothing valid was found."""
    source = folder / f"{name}.c"
    text = (KERNELS / source.name).read_text()
    source.write_text(re.sub(r"param n\[\] = \[\d+\];", f"param n[] = [{n}];", text))
    command = [sys.executable, "-m", "orio_py", "tune", str(source), "-o", str(folder / f"{name}_out.c")]
    command += ["--no-db", "--quiet", "--seed", "1"]
    report = folder / f"{name}.json"
    subprocess.run([*command, "--trials", str(trials), "--json", str(report)], check=False)
    best = json.loads(report.read_text())["regions"][0]["best"] if report.exists() else None
    if best is None:
        return None
    kept = folder / f"{name}_kept"
    pins = [word for key, value in best["configuration"].items() for word in ("--set", f"{key}={value!r}")]
    subprocess.run([*command, *pins, "--keep", str(kept)], check=False)
    found = sorted(kept.rglob("variant.json"))
    return (best["configuration"], found[0]) if found else None


@dataclass(frozen=True, slots=True)
class Vienna:
    """A program that runs ViennaCL's operations on the same device."""

    process: subprocess.Popen[str]

    def timed(self, name: str) -> Timed:
        """The operation that belongs to a kernel."""

        def run() -> float:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
            return float(self.process.stdout.readline())

        return run


def vienna(device: cl.Device, n: int, folder: Path, stack: ExitStack) -> Vienna | str:
    """ViennaCL's program, built and started; why not, otherwise."""
    program = folder / "viennacl"
    command = ["g++", "-O2", "-w", str(HERE / "orcl_viennacl.cpp"), "-o", str(program), "-lOpenCL"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "there is no g++"
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line or "cannot find" in line]
        return f"it does not build: {errors[0] if errors else done.stderr[-200:]}"
    words = [str(program), str(n), str(isqrt(n))]
    with (folder / "viennacl.log").open("w") as log:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=drivers(folder)
        )
    stack.callback(process.kill)
    assert process.stdout is not None
    name = process.stdout.readline().strip()
    if not name:
        return "its program found no device"
    if not device.name.strip().startswith(name) and name not in device.name:
        return f"it took another device, {name}"
    return Vienna(process)


def drivers(folder: Path) -> dict[str, str]:
    """The environment in which a system's OpenCL library finds the PoCL that comes with PyOpenCL, if there is one."""
    libraries = sorted((Path(cl.__file__).parent / ".libs").glob("libpocl*.so*"))
    if not libraries:
        return dict(os.environ)
    vendors = folder / "vendors"
    vendors.mkdir()
    (vendors / "pocl.icd").write_text(f"{libraries[0]}\n")
    return {**os.environ, "OCL_ICD_VENDORS": str(vendors)}


def interleaved(runs: Mapping[str, Timed], rounds: int) -> dict[str, float]:
    """The median seconds of each, after two runs that do not count."""
    rng = random.Random(0)
    order = list(runs)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 2):
        rng.shuffle(order)
        for name in order:
            seconds = runs[name]()
            if number >= 2:
                times[name].append(seconds)
    return {name: median(found) for name, found in times.items()}


def draw(ratios: Mapping[str, Mapping[str, float]], path: Path) -> str:
    """Bars of the ratios, as in the paper's Fig. 7; what became of it."""
    try:
        from matplotlib.figure import Figure  # an optional library
    except ImportError:
        return "no picture: matplotlib is not installed"
    figure = Figure(figsize=(8, 4))
    axes = figure.subplots()
    for number, (other, values) in enumerate(ratios.items()):
        places = [k + 0.4 * number for k, name in enumerate(NAMES) if name in values]
        axes.bar(places, list(values.values()), 0.38, label=f"time of {other} / time of the tuned kernel")
    axes.set_xticks([k + 0.2 for k in range(len(NAMES))], NAMES)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.legend()
    figure.savefig(path)
    return f"picture: {path}"


def print_table(
    console: Console, rows: Mapping[str, tuple[dict[str, float], str]]
) -> dict[str, dict[str, float]]:
    """Medians and ratios; the ratios by opponent and kernel."""
    table = Table("kernel", "tuned ms", "plain ms", "ViennaCL ms", "plain/tuned", "ViennaCL/tuned", "winner")
    ratios: dict[str, dict[str, float]] = {}
    for name, (medians, winner) in rows.items():
        times = [f"{1e3 * medians[k]:.3f}" if k in medians else "-" for k in ("tuned", "plain", "ViennaCL")]
        found = {k: v / medians["tuned"] for k, v in medians.items() if k != "tuned"}
        for other, ratio in found.items():
            ratios.setdefault(other, {})[name] = ratio
        shown = [f"{found[k]:.2f}" if k in found else "-" for k in ("plain", "ViennaCL")]
        table.add_row(name, *times, *shown, winner)
    console.print(table)
    for other, values in ratios.items():
        mean = geometric_mean(values.values())
        console.print(f"{other} / tuned, geometric mean of {len(values)} kernels: {mean:.2f}")
    return ratios


def main() -> int:
    """Tune, measure, print; exit code."""
    parser = argparse.ArgumentParser(
        description="The OrCL paper's linear algebra: tuned, plain and ViennaCL."
    )
    parser.add_argument("--size", type=int, default=1_000_000, help="elements of vectors and matrix (10^6)")
    parser.add_argument("--trials", type=int, default=40, help="variants tried per kernel (40)")
    parser.add_argument("--rounds", type=int, default=30, help="interleaved measurements (30)")
    parser.add_argument("--kernel", action="append", choices=NAMES, help="only this one; may be repeated")
    parser.add_argument("--picture", type=Path, help="write a bar chart of the ratios, with matplotlib")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console.width = 160
    device = cl.get_platforms()[0].get_devices()[0]
    rows: dict[str, tuple[dict[str, float], str]] = {}
    with tempfile.TemporaryDirectory(prefix="orcl-") as name, ExitStack() as stack:
        folder = Path(name)
        other = vienna(device, options.size, folder, stack)
        for kernel in options.kernel or NAMES:
            n = isqrt(options.size) if kernel == "matvec" else options.size
            found = tune(kernel, n, options.trials, folder)
            if found is None:
                console.print(f"{kernel}: no valid variant")
                return 4
            winner, path = found
            number = DeviceVariant.read(path)
            device = cl.get_platforms()[number.platform].get_devices()[number.device]
            bench = Bench.of(device, kernel, n)
            runs = {"tuned": bench.tuned(path), "plain": bench.plain(kernel)}
            if isinstance(other, Vienna):
                runs["ViennaCL"] = other.timed(kernel)
            shown = ", ".join(f"{key}={value}" for key, value in winner.items())
            rows[kernel] = (interleaved(runs, options.rounds), shown)
    console.print(f"{device.name.strip()}, {device.platform.version}; {options.size} elements of double")
    console.print(
        f"{options.trials} variants per kernel; medians of {options.rounds} interleaved rounds, host clock"
    )
    if isinstance(other, str):
        console.print(f"ViennaCL was not measured: {other}")
    ratios = print_table(console, rows)
    if options.picture is not None:
        console.print(draw(ratios, options.picture))
    return 0


if __name__ == "__main__":
    sys.exit(main())
