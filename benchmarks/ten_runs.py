"""Is the winner still the winner tomorrow?  The same tuning ten times, and the ten winners measured side by side.

Each run is a command of its own that tunes a kernel of `kernels/` with the same seed, so that all search the same
variants and only noise can make them choose differently.  The code that each wrote back is then compiled and timed in
one interleaved session: rounds in which every winner runs once, in shuffled order, each in a process of its own.

    python benchmarks/ten_runs.py --kernel matmul_packed --size 256 --trials 60

Printed are each run's own time of its winner and the time measured side by side, relative to the best of all, and
in how many runs the winner is within 3 % of that.

Exit codes: 0 at least nine tenths of the runs are within 3 %; 1 fewer; 4 a run found nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

KERNELS = Path(__file__).resolve().parent / "kernels"
WITHIN = 0.03


@dataclass(slots=True)
class Run:
    """One tuning: its winner as a set of pinned parameters, its own time, and the times side by side."""

    values: dict[str, object]
    own_s: float
    machine: str
    times: list[float] = field(default_factory=list[float])


def tune(source: Path, trials: int, folder: Path, seed: int) -> Run | None:
    """Tune once; None when nothing valid was found."""
    report = folder / "report.json"
    command = [
        sys.executable,
        "-m",
        "orio_py",
        "tune",
        str(source),
        "-o",
        str(folder / "out.c"),
        "--quiet",
        "--no-db",
    ]
    command += ["--search", "random", "--trials", str(trials), "--seed", str(seed), "--json", str(report)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if not report.exists():
        return None
    region = json.loads(report.read_text())["regions"][0]
    if region["best"] is None:
        return None
    best = region["best"]
    return Run(best["configuration"], best["median_s"], region["machine"]["remark"])


def measure(source: Path, runs: list[Run], rounds: int, folder: Path) -> None:
    """All different winners in one interleaved session."""
    winners: dict[str, Run] = {}
    for run in runs:
        winners.setdefault(json.dumps(run.values, sort_keys=True), run)
    order = list(winners)
    rng = random.Random(0)
    for _ in range(rounds):
        rng.shuffle(order)
        for key in order:
            winners[key].times.append(time_once(source, winners[key].values, folder))
    for run in runs:
        run.times = winners[json.dumps(run.values, sort_keys=True)].times


def time_once(source: Path, values: dict[str, object], folder: Path) -> float:
    """One configuration measured by a command that tries nothing else."""
    report = folder / "once.json"
    pins = [word for name, value in values.items() for word in ("--set", f"{name}={value!r}")]
    command = [
        sys.executable,
        "-m",
        "orio_py",
        "tune",
        str(source),
        "-o",
        str(folder / "once.c"),
        "--quiet",
        "--no-db",
    ]
    subprocess.run([*command, *pins, "--json", str(report)], check=False, stdout=subprocess.DEVNULL)
    return float(json.loads(report.read_text())["regions"][0]["best"]["median_s"])


def print_table(console: Console, runs: list[Run]) -> int:
    """The table and the count; how many runs are within the limit."""
    middles = [median(run.times) for run in runs]
    best = min(middles)
    table = Table("run", "own ms", "side by side ms", "to the best", "machine", "winner")
    for number, (run, middle) in enumerate(zip(runs, middles, strict=True), 1):
        winner = ", ".join(f"{name}={value}" for name, value in run.values.items())
        own, ratio = f"{1e3 * run.own_s:.3f}", f"{middle / best:.3f}"
        table.add_row(str(number), own, f"{1e3 * middle:.3f}", ratio, run.machine, winner)
    console.print(table)
    good = sum(middle <= (1 + WITHIN) * best for middle in middles)
    console.print(f"within {WITHIN:.0%} of the best of all: {good} of {len(runs)} runs")
    return good


def main() -> int:
    """Tune, measure, print; exit code."""
    parser = argparse.ArgumentParser(description="The same tuning ten times, winners side by side.")
    parser.add_argument("--kernel", default="matmul_packed", help="a file of benchmarks/kernels, without .c")
    parser.add_argument("--size", type=int, default=256, help="the size n (256)")
    parser.add_argument("--trials", type=int, default=60, help="variants per run (60)")
    parser.add_argument("--runs", type=int, default=10, help="tunings (10)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each winner side by side (5)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console.width = 160
    with tempfile.TemporaryDirectory(prefix="ten-runs-") as name:
        folder = Path(name)
        source = folder / f"{options.kernel}.c"
        text = (KERNELS / source.name).read_text()
        source.write_text(re.sub(r"param n\[\] = \[\d+\];", f"param n[] = [{options.size}];", text))
        shutil.copytree(KERNELS / "init", folder / "init")
        found = [tune(source, options.trials, folder, options.seed) for _ in range(options.runs)]
        runs = [run for run in found if run is not None]
        if len(runs) < len(found):
            console.print(f"{len(found) - len(runs)} runs found no valid variant")
            return 4
        measure(source, runs, options.rounds, folder)
        return 0 if print_table(console, runs) >= 0.9 * len(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
