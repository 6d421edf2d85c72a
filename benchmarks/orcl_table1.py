"""The linear-algebra kernels of the OrCL paper on this machine's OpenCL device: tuned, plain, and ViennaCL's.

Each kernel of `kernels/orcl` is tuned over its whole space, and with a sixth of the trials each over two parts of it:
an item for each element in groups that the driver chooses (for the matrix, which has not these, in groups of any
size), and groups of one item that goes along its share, which suits processors; a sum, which has no item for each
element, over the latter alone.  The best of the winners, a plain OpenCL kernel (one item per element, the group size
left to the driver; for sums 1024 items and the rest on the host) and ViennaCL in its default configuration are compared
with NumPy's result, then run in turn, in shuffled order, with their data on the device.  What computes something else is
reported and not timed.

ViennaCL needs its headers, those of OpenCL, g++ and libOpenCL:

    apt-get install -y libviennacl-dev ocl-icd-opencl-dev g++

Without them its columns say why they are empty.  It runs on the device of the tuned kernels, which is found by its
name and that of its platform.

    python benchmarks/orcl_table1.py --size 1000000 --trials 60 --picture ratios.svg

A kernel counts as slower than another if the whole 95 % interval of the median ratio of their times in one round
lies below 1, and the median by more than 2 %.

Exit codes: 0 measured; 1 a tuned kernel computes something else, or is slower; 4 a kernel could not be tuned.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import isqrt, sqrt
from pathlib import Path
from statistics import geometric_mean, median

import pyopencl as cl
from orcl_operations import (
    HERE,
    OPERATIONS,
    TOLERANCE,
    Bench,
    Inputs,
    Runner,
    ViennaCL,
    difference,
    variant,
    vienna,
)
from rich.console import Console
from rich.table import Table

from orio_py.codegen.device import DeviceProgram
from orio_py.measure.opencl.limits import choose_device
from orio_py.measure.opencl.survey import survey

KERNELS = HERE / "kernels" / "orcl"
NAMES = tuple(OPERATIONS)
OTHERS = ("plain", "ViennaCL")
MARGIN = 0.02
"""Differences below this share are not told from noise, whatever the interval."""
TARGET = 1.5
"""Of the geometric mean of ViennaCL's times over ours."""
DECIDING = 20
"""Rounds that decide between the winners of the searches; they do not count afterwards."""

Configuration = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Another's time over the tuned kernel's: the median over the rounds, and the interval around it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
        """From times of the same rounds; the interval is that of order statistics, with 95 % confidence."""
        found = sorted(b / a for a, b in zip(ours, theirs, strict=True))
        place = max(0, int((len(found) - 1.96 * sqrt(len(found))) / 2))
        return cls(median(found), found[place], found[-1 - place])

    @property
    def is_slower(self) -> bool:
        """Whether the tuned kernel is slower, beyond noise."""
        return self.high < 1 and self.median < 1 - MARGIN


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one kernel; `wrong` are those whose result differs, with the difference."""

    configuration: Configuration
    seconds: Mapping[str, Sequence[float]]
    wrong: Mapping[str, float]

    def ratio(self, other: str) -> Ratio | None:
        """The other's time over the tuned kernel's; None where one was not timed."""
        if "tuned" not in self.seconds or other not in self.seconds:
            return None
        return Ratio.of(self.seconds["tuned"], self.seconds[other])


def tuned(name: str, n: int, trials: int, folder: Path) -> list[tuple[Configuration, DeviceProgram]]:
    """The winners of the searches, each with its kernel."""
    source = folder / f"{name}.c"
    text = (KERNELS / source.name).read_text()
    source.write_text(re.sub(r"param n\[\] = \[\d+\];", f"param n[] = [{n}];", text))
    driver = ["--set", "WG=0", *(["--set", "WI=0"] if name != "matvec" else [])]
    parts = [["--set", "WI=1", "--set", "SP=blocked"], *([] if OPERATIONS[name].is_sum else [driver])]
    least = max(1, trials // 6)
    searches = [["--trials", str(max(1, trials - least * len(parts)))]]
    searches += [["--trials", str(least), *part] for part in parts]
    found: list[tuple[Configuration, DeviceProgram]] = []
    for number, options in enumerate(searches):
        report = folder / f"{name}_{number}.json"
        _tune(source, *options, "--json", str(report))
        best = json.loads(report.read_text())["regions"][0]["best"] if report.exists() else None
        if best is not None:
            found.append((best["configuration"], variant(source, best["configuration"])))
    return found


def _tune(source: Path, *options: str) -> None:
    command = [sys.executable, "-m", "orio_py", "tune", str(source), "-o", str(source.with_suffix(".out.c"))]
    subprocess.run([*command, "--no-db", "--quiet", "--seed", "1", *options], check=False)


def interleaved(runs: Mapping[str, Runner], rounds: int) -> dict[str, list[float]]:
    """The seconds of each in each round, after two rounds that do not count."""
    rng = random.Random(0)
    order = list(runs)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 2):
        rng.shuffle(order)
        for name in order:
            seconds = runs[name].timed()
            if number >= 2:
                times[name].append(seconds)
    return times


def measured(
    name: str,
    bench: Bench,
    found: Sequence[tuple[Configuration, DeviceProgram]],
    other: ViennaCL | str,
    rounds: int,
) -> Row:
    """Compare the results of a kernel, then time what is right."""
    candidates = {str(k): bench.tuned(program) for k, (_, program) in enumerate(found)}
    chosen = "0"
    if len(candidates) > 1:
        times = interleaved(candidates, DECIDING)
        chosen = min(times, key=lambda key: median(times[key]))
    runs: dict[str, Runner] = {"tuned": candidates[chosen], "plain": bench.plain()}
    if isinstance(other, ViennaCL):
        runs["ViennaCL"] = other.operation(name)
    expected = bench.inputs.expected(name)
    errors = {who: difference(run.result(), expected) for who, run in runs.items()}
    wrong = {who: error for who, error in errors.items() if not error <= TOLERANCE}
    right = {who: run for who, run in runs.items() if who not in wrong}
    return Row(found[int(chosen)][0], interleaved(right, rounds), wrong)


def draw(rows: Mapping[str, Row], path: Path) -> str:
    """Bars of the ratios, as in the paper's Fig. 7; what became of it."""
    try:
        from matplotlib.figure import Figure  # an optional library
    except ImportError:
        return "no picture: matplotlib is not installed (pip install 'orio_py[plot]')"
    figure = Figure(figsize=(8, 4))
    axes = figure.subplots()
    for number, other in enumerate(OTHERS):
        found = {place: row.ratio(other) for place, row in enumerate(rows.values())}
        values = {place: ratio for place, ratio in found.items() if ratio is not None}
        heights = [ratio.median for ratio in values.values()]
        spread = [[r.median - r.low for r in values.values()], [r.high - r.median for r in values.values()]]
        label = f"time of {other} / time of the tuned kernel"
        axes.bar([p + 0.4 * number for p in values], heights, 0.38, yerr=spread, capsize=2, label=label)
    axes.set_xticks([k + 0.2 for k in range(len(rows))], list(rows))
    axes.set_yscale("log")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.legend()
    figure.savefig(path)
    return f"picture: {path}"


def print_table(console: Console, rows: Mapping[str, Row]) -> None:
    """Medians and ratios with their intervals."""
    table = Table("kernel", "tuned ms", "plain ms", "ViennaCL ms", "plain/tuned", "ViennaCL/tuned", "winner")
    for name, row in rows.items():
        cells: list[str] = []
        for who in ("tuned", *OTHERS):
            wrong = row.wrong.get(who)
            times = row.seconds.get(who)
            cells.append(
                f"wrong by {wrong:.1e}"
                if wrong is not None
                else "-"
                if not times
                else f"{1e3 * median(times):.3f}"
            )
        for other in OTHERS:
            ratio = row.ratio(other)
            cells.append("-" if ratio is None else f"{ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f})")
        table.add_row(name, *cells, ", ".join(f"{key}={value}" for key, value in row.configuration.items()))
    console.print(table)


def verdict(console: Console, rows: Mapping[str, Row]) -> bool:
    """Print what became of the targets; whether each tuned kernel is right and not slower."""
    wrong = [name for name, row in rows.items() if "tuned" in row.wrong]
    if wrong:
        console.print(f"wrong results of tuned kernels: {', '.join(wrong)}")
    fine = not wrong
    for other in OTHERS:
        ratios = {name: ratio for name, row in rows.items() if (ratio := row.ratio(other)) is not None}
        if not ratios:
            continue
        slower = [name for name, ratio in ratios.items() if ratio.is_slower]
        fine = fine and not slower
        mean = geometric_mean(ratio.median for ratio in ratios.values())
        console.print(
            f"{other} / tuned, geometric mean of {len(ratios)} kernels: {mean:.2f}"
            f"; tuned slower beyond noise: {', '.join(slower) or 'never'}"
        )
        if other == "ViennaCL":
            console.print(
                f"target of {TARGET} in the geometric mean: {'met' if mean >= TARGET else 'not met'}"
            )
    return fine


def main() -> int:
    """Tune, compare, measure, print; exit code."""
    parser = argparse.ArgumentParser(
        description="The OrCL paper's linear algebra: tuned, plain and ViennaCL.",
        epilog="ViennaCL needs: apt-get install -y libviennacl-dev ocl-icd-opencl-dev g++",
    )
    parser.add_argument("--size", type=int, default=1_000_000, help="elements of vectors and matrix (10^6)")
    parser.add_argument("--trials", type=int, default=60, help="variants tried per kernel (60)")
    parser.add_argument("--rounds", type=int, default=40, help="interleaved measurements (40)")
    parser.add_argument("--kernel", action="append", choices=NAMES, help="only this one; may be repeated")
    parser.add_argument("--picture", type=Path, help="write a bar chart of the ratios, with matplotlib")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console.width = 180
    warnings.simplefilter("ignore", cl.CompilerWarning)  # what drivers say while they compile
    rows: dict[str, Row] = {}
    place = choose_device(survey(), None, None)
    device = cl.get_platforms()[place.platform_number].get_devices()[place.number]
    inputs = Inputs.of(options.size)
    with tempfile.TemporaryDirectory(prefix="orcl-") as name, ExitStack() as stack:
        folder = Path(name)
        other = vienna(device, inputs, folder, stack)
        for kernel in options.kernel or NAMES:
            n = isqrt(options.size) if kernel == "matvec" else options.size
            found = tuned(kernel, n, options.trials, folder)
            if not found:
                console.print(f"{kernel}: no valid variant")
                return 4
            rows[kernel] = measured(kernel, Bench.of(device, kernel, inputs), found, other, options.rounds)
            console.print(f"{kernel}: done", highlight=False)
    console.print(f"{device.name.strip()}, {device.platform.version}; {options.size} elements of double")
    console.print(f"{options.trials} variants per kernel; {options.rounds} interleaved rounds, host clock")
    if isinstance(other, str):
        console.print(f"ViennaCL was not measured: {other}")
    print_table(console, rows)
    fine = verdict(console, rows)
    if options.picture is not None:
        console.print(draw(rows, options.picture))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
