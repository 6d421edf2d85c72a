"""Variants per minute of orio_py and of Orio 0.6.1 on the same kernel, machine and compiler.

Both tools get the matrix product of `kernels/matmul.c` with the same parameters, constraints and recipe, a random
search of the same number of trials, and the same compiler command; both run as a user would run them, as commands.
Orio is installed from the package registry into an environment of its own.  Its input differs where its language
does: `<=` bounds, a `min` macro, no comments.

    python benchmarks/throughput_vs_orio.py --trials 100 --size 256

orio_py does more per variant than Orio: it checks legality, compares every output with the original code, restores
the inputs before each repetition, and measures the best variants again beside the original.  The best times are not
comparable: Orio makes the size a compile-time constant, orio_py passes it at run time as the file does, and the two
draw different variants.

Exit codes: 0 done; 3 a compiler or Orio itself is missing; 4 one of the tools measured nothing.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ORIO_VERSION = "0.6.1"
KERNEL = Path(__file__).resolve().parent / "kernels" / "matmul.c"
COMPILER = "gcc -O3 -march=native"
RUN_LINE = re.compile(r"\(run \d+\) \| (\{.*\})")


class MissingError(Exception):
    """Something that the comparison needs is not on this machine and cannot be installed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one tool did: configurations evaluated, how many of those were built and run, how many gave no time.

    orio_py does not build a configuration whose code equals an earlier one's.  `best` is the tool's own
    figure in seconds: Orio's mean over the repetitions, orio_py's median.
    """

    tool: str
    evaluated: int
    built: int
    without_time: int
    seconds: float
    best: float | None
    note: str = ""

    @property
    def per_minute(self) -> float:
        """Configurations evaluated per minute of wall time."""
        return 60.0 * self.evaluated / self.seconds if self.seconds > 0 else 0.0


def section(text: str, start: str, end: str) -> str:
    """The part of `text` from `start` through the first `end` after it."""
    begin = text.index(start)
    return text[begin : text.index(end, begin) + len(end)]


def resized(source: str, size: int, trials: int) -> str:
    """The kernel file with another matrix size and trial count, and OpenMP on in the compiler command."""
    changes = {
        r"param n\[\] = \[\d+\];": f"param n[] = [{size}];",
        r"total_runs = \d+;": f"total_runs = {trials};",
        r"build_command = '[^']*';": f"build_command = '{COMPILER} -fopenmp';",
    }
    for pattern, replacement in changes.items():
        source, count = re.subn(pattern, replacement, source)
        if count != 1:
            raise ValueError(f"{KERNEL.name}: expected one match of {pattern!r}, found {count}")
    return source


def orio_input(source: str) -> str:
    """The same specification and recipe in a file that Orio reads."""
    spec = section(source, "/*@ begin PerfTuning(", ") @*/")
    spec = re.sub(r"^\s*#.*\n", "", spec, flags=re.MULTILINE)
    recipe = section(source, "transform Composite(", ") @*/").removesuffix(") @*/").rstrip()
    return f"""void matmul(double *A, double *B, double *C)
{{
  {spec}
#define min(a, b) ((a) < (b) ? (a) : (b))
  int i, j, k;
  /*@ begin Loop(
    {recipe}
    for (i = 0; i <= n-1; i++)
      for (j = 0; j <= n-1; j++)
        for (k = 0; k <= n-1; k++)
          C[i*n+j] += A[i*n+k]*B[k*n+j];
  ) @*/
  /*@ end @*/
  /*@ end @*/
}}
"""


def run_limited(command: Sequence[str], folder: Path, limit: float) -> tuple[int | None, float, str]:
    """Exit status (None when the limit was reached), wall seconds and output of a command in `folder`."""
    log = folder / "command-output.txt"
    began = time.perf_counter()
    with log.open("w") as out:
        child = subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            status: int | None = child.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    return status, time.perf_counter() - began, log.read_text(errors="replace")


def install_orio(folder: Path) -> Path:
    """The `orcc` command of an environment with Orio in `folder`, made when it is not there."""
    command = folder / "bin" / "orcc"
    if command.exists():
        return command
    venv.create(folder, with_pip=True)
    done = subprocess.run(
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", f"orio=={ORIO_VERSION}"],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0 or not command.exists():
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MissingError(f"Orio {ORIO_VERSION} cannot be installed from the package registry: {reason}")
    return command


def measure_orio(command: Path, source: str, folder: Path, limit: float) -> Outcome:
    """Run Orio and read the variants from its log."""
    (folder / "matmul.c").write_text(orio_input(source))
    status, seconds, output = run_limited([str(command), "-v", "matmul.c"], folder, limit)
    runs: list[Mapping[str, Any]] = [json.loads(m[1]) for m in RUN_LINE.finditer(output)]
    costs: list[list[float]] = [r["cost"] for r in runs if isinstance(r["cost"], list)]
    timed = [c for c in costs if c and all(t < float("inf") for t in c)]
    return Outcome(
        tool=f"Orio {ORIO_VERSION}",
        evaluated=len(runs),
        built=len(runs),
        without_time=len(runs) - len(timed),
        seconds=seconds,
        best=min((sum(c) / len(c) for c in timed), default=None),
        note=explain(status, output),
    )


def measure_ours(source: str, folder: Path, limit: float, seed: int) -> Outcome:
    """Run `orio tune` and read the variants from its JSON report."""
    (folder / "matmul.c").write_text(source)
    command = [
        sys.executable,
        "-m",
        "orio_py",
        "tune",
        "matmul.c",
        "--seed",
        str(seed),
        "--json",
        "report.json",
    ]
    status, seconds, output = run_limited(command, folder, limit)
    report = folder / "report.json"
    if not report.exists():
        return Outcome("orio_py", 0, 0, 0, seconds, None, explain(status, output) or "no report")
    contents = json.loads(report.read_text())
    regions: Sequence[Mapping[str, Any]] = contents["regions"]
    best = [r["best"]["median_s"] for r in regions if r.get("best")]
    return Outcome(
        tool=str(contents["tool"]),
        evaluated=sum(r["trials"] for r in regions),
        built=sum(r["trials"] - r["cached"] for r in regions),
        without_time=sum(r["failed"] + r["invalid"] for r in regions),
        seconds=seconds,
        best=min(best, default=None),
        note=explain(status, output),
    )


def explain(status: int | None, output: str) -> str:
    """Empty for a command that ended well, else why not."""
    if status == 0:
        return ""
    if status is None:
        return "stopped at the time limit"
    return f"exit status {status}: {(output.strip().splitlines() or ['no output'])[-1]}"


def first_line(command: Sequence[str]) -> str:
    """The first line that a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def processor() -> str:
    """The processor's name as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def print_results(console: Console, outcomes: Sequence[Outcome], size: int, source: str) -> None:
    """Machine, settings, one row per tool, and the ratio."""
    repetitions = re.search(r"repetitions = (\d+)", source)
    console.print(
        f"machine      {processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"
    )
    console.print(f"compiler     {first_line(['gcc', '--version'])}, {COMPILER} -fopenmp")
    console.print(f"python       {platform.python_version()}")
    console.print(
        f"kernel       {KERNEL.name}, n = {size}, {repetitions[1] if repetitions else '?'} repetitions"
    )
    table = Table("tool", "evaluated", "built", "no time", "wall s", "per min", "best ms")
    for o in outcomes:
        best = "-" if o.best is None else f"{1e3 * o.best:.3f}"
        table.add_row(
            o.tool,
            str(o.evaluated),
            str(o.built),
            str(o.without_time),
            f"{o.seconds:.1f}",
            f"{o.per_minute:.1f}",
            best,
        )
    console.print(table)
    for o in outcomes:
        if o.note:
            console.print(f"{o.tool}: {o.note}", markup=False)
    ours, theirs = outcomes
    if ours.per_minute and theirs.per_minute:
        console.print(
            f"ratio        {ours.per_minute / theirs.per_minute:.2f} (orio_py / Orio, variants evaluated per minute)"
        )


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Variants per minute of orio_py and Orio on matmul.")
    parser.add_argument("--trials", type=int, default=100, help="variants that each tool searches (100)")
    parser.add_argument("--size", type=int, default=256, help="matrix size n (256)")
    parser.add_argument("--seed", type=int, default=1, help="seed of orio_py's search; Orio's is always 1")
    parser.add_argument("--time-limit", type=float, default=1800.0, metavar="S", help="limit per tool (1800)")
    parser.add_argument("--environment", type=Path, help="folder of Orio's environment, made if missing")
    return parser.parse_args()


def compare(options: argparse.Namespace, folder: Path, console: Console) -> int:
    """Run both tools in `folder`; exit code."""
    if shutil.which("gcc") is None:
        raise MissingError("gcc is not installed; install it, for example with: apt install gcc")
    if importlib.util.find_spec("orio_py") is None:
        raise MissingError("orio_py is not installed for this Python; install it with: pip install -e .")
    command = install_orio(
        options.environment.resolve() if options.environment else folder / "orio-environment"
    )
    source = resized(KERNEL.read_text(), options.size, options.trials)
    for name in ("ours", "theirs"):
        (folder / name).mkdir()
    outcomes = (
        measure_ours(source, folder / "ours", options.time_limit, options.seed),
        measure_orio(command, source, folder / "theirs", options.time_limit),
    )
    print_results(console, outcomes, options.size, source)
    return 0 if all(o.evaluated for o in outcomes) else 4


def main() -> int:
    """Compare in a temporary folder; exit code."""
    options = arguments()
    console = Console()
    if not console.is_terminal:
        console.width = 140
    with tempfile.TemporaryDirectory(prefix="throughput-") as folder:
        try:
            return compare(options, Path(folder), console)
        except MissingError as missing:
            console.print(f"error: {missing}", markup=False)
            return 3


if __name__ == "__main__":
    sys.exit(main())
