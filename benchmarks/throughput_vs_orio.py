"""Variants per minute of orio_py and of Orio 0.6.1 on the same kernels, machine and compiler.

Both tools get the same parameters, constraints and recipe for a matrix product (`kernels/matmul.c`) and for an LU
factorisation whose update is tiled for the registers (`comparison/lu_registers.c`), a random search of the same
number of trials, and the same compiler command; both run as a user would run them, as commands.  Orio is installed
from the package registry into an environment of its own.  Its input differs where its language does: `<=` bounds, a
`min` macro, one-dimensional arrays, no comments.

    python benchmarks/throughput_vs_orio.py --trials 200 --size 256

Both run from compiled bytecode, as an installation has it: the package's own is compiled first.

Beside the two the physical floor is printed: the compiler's CPU time spread over all cores plus one run of every valid
variant, all for the variants that orio_py really tried; and where orio_py's time beyond the floor went.  On a machine
that others use, builds wait for a core; the share of the floor is therefore told a second time from CPU seconds alone:
builds and transformations spread evenly over all cores, everything else one after the other, no core waiting.

orio_py does more per variant than Orio: it checks legality, compares every output with the original code, restores
the inputs before each repetition, and measures the best variants again beside the original.  The best times are not
comparable: Orio makes the size a compile-time constant, orio_py passes it at run time as the file does, and the two
draw different variants.  Configurations that orio_py refuses as illegal are not counted.

Exit codes: 0 done; 3 a compiler or Orio itself is missing; 4 one of the tools measured nothing.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import json
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ORIO_VERSION = "0.6.1"
FOLDER = Path(__file__).resolve().parent
COMPILER = "gcc -O3 -march=native"
RUN_LINE = re.compile(r"\(run \d+\) \| (\{.*\})")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel file and what Orio needs instead: the declarations, and the region around the same recipe.

    `flags` are added to the compiler command, `changes` are further replacements in the specification.
    """

    file: Path
    parameters: str
    locals: str
    opening: str
    body: str
    flags: str = ""
    changes: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The kernel's name on the command line."""
        return self.file.stem


KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel(
            FOLDER / "kernels" / "matmul.c",
            "double *A, double *B, double *C",
            "int i, j, k;",
            "",
            """for (i = 0; i <= n-1; i++)
      for (j = 0; j <= n-1; j++)
        for (k = 0; k <= n-1; k++)
          C[i*n+j] += A[i*n+k]*B[k*n+j];""",
            flags=" -fopenmp",
        ),
        Kernel(
            FOLDER / "comparison" / "lu_registers.c",
            "double *a",
            # the names that Orio's register tiling takes for granted
            "int i, j, k, ii, jj, it, jt;",
            """for (k = 0; k <= n-2; k++) {
      for (i = k+1; i <= n-1; i++)
        a[i*n+k] = a[i*n+k] / a[k*n+k];""",
            """for (i = k+1; i <= n-1; i++)
      for (j = k+1; j <= n-1; j++)
        a[i*n+j] = a[i*n+j] - a[i*n+k]*a[k*n+j];
    }""",
            changes=(("a[n][n]", "a[n*n]"), ("init/lu_registers.c", "init/lu_orio.c")),
        ),
    )
}


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
    spent: Mapping[str, float] = field(default_factory=dict[str, float])
    machine: str = ""
    cpu_s: float = 0.0

    @property
    def per_minute(self) -> float:
        """Configurations evaluated per minute of wall time."""
        return 60.0 * self.evaluated / self.seconds if self.seconds > 0 else 0.0


def section(text: str, start: str, end: str) -> str:
    """The part of `text` from `start` through the first `end` after it."""
    begin = text.index(start)
    return text[begin : text.index(end, begin) + len(end)]


def resized(kernel: Kernel, size: int, trials: int) -> str:
    """The kernel file with another size, trial count and compiler command."""
    changes = {
        r"param n\[\] = \[\d+\];": f"param n[] = [{size}];",
        r"total_runs = \d+;": f"total_runs = {trials};",
        r"build_command = '[^']*';": f"build_command = '{COMPILER}{kernel.flags}';",
    }
    source = kernel.file.read_text()
    for pattern, replacement in changes.items():
        source, count = re.subn(pattern, replacement, source)
        if count != 1:
            raise ValueError(f"{kernel.file.name}: expected one match of {pattern!r}, found {count}")
    return source


def orio_input(kernel: Kernel, source: str) -> str:
    """The same specification and recipe in a file that Orio reads."""
    spec = section(source, "/*@ begin PerfTuning(", ") @*/")
    spec = re.sub(r"^\s*#.*\n", "", spec, flags=re.MULTILINE)
    for ours, theirs in kernel.changes:
        spec = spec.replace(ours, theirs)
    recipe = section(source, "transform Composite(", ") @*/").removesuffix(") @*/").rstrip()
    return f"""void {kernel.name}({kernel.parameters})
{{
  {spec}
#define min(a, b) ((a) < (b) ? (a) : (b))
  {kernel.locals}
  /*@ begin Loop(
    {kernel.opening}
    {recipe}
    {kernel.body}
  ) @*/
  /*@ end @*/
  /*@ end @*/
}}
"""


def run_limited(command: Sequence[str], folder: Path, limit: float) -> tuple[int | None, float, float, str]:
    """Exit status (None when the limit was reached), wall and CPU seconds and output of a command in `folder`."""
    used = cpu_of_children()
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
                stop(child)
    seconds, cpu = time.perf_counter() - began, cpu_of_children() - used
    return status, seconds, cpu, log.read_text(errors="replace")


def stop(child: subprocess.Popen[bytes]) -> None:
    """Interrupt a command, which ends the compilers that it has started; its group is killed if that takes long."""
    os.killpg(child.pid, signal.SIGINT)
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def cpu_of_children() -> float:
    """CPU seconds of all programs that have ended, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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


def prepared(kernel: Kernel, text: str, folder: Path) -> str:
    """Write an input and its data files into a new folder; the input's name."""
    folder.mkdir(parents=True)
    (folder / kernel.file.name).write_text(text)
    data = kernel.file.parent / "init"
    if data.is_dir():
        shutil.copytree(data, folder / "init")
    return kernel.file.name


def measure_orio(command: Path, kernel: Kernel, source: str, folder: Path, limit: float) -> Outcome:
    """Run Orio and read the variants from its log."""
    name = prepared(kernel, orio_input(kernel, source), folder)
    status, seconds, cpu, output = run_limited([str(command), "-v", name], folder, limit)
    runs: list[Mapping[str, Any]] = [json.loads(m[1]) for m in RUN_LINE.finditer(output)]
    costs: list[list[float]] = [r["cost"] for r in runs if isinstance(r["cost"], list)]
    timed = [c for c in costs if c and all(t < float("inf") for t in c)]
    # After a compile error Orio reports the times of the variant before: count what it ran.
    ran = min(output.count("running test:"), len(timed))
    return Outcome(
        tool=f"Orio {ORIO_VERSION}",
        evaluated=len(runs),
        built=len(runs),
        without_time=len(runs) - ran,
        seconds=seconds,
        best=min((sum(c) / len(c) for c in timed), default=None),
        note=explain(status, output),
        cpu_s=cpu,
    )


def compile_bytecode() -> None:
    """Compile our package as its installation does; a checkout may lack what Orio's installation has."""
    found = importlib.util.find_spec("orio_py")
    for place in (found.submodule_search_locations or ()) if found is not None else ():
        compileall.compile_dir(place, quiet=2)


def measure_ours(kernel: Kernel, source: str, folder: Path, limit: float, seed: int) -> Outcome:
    """Run `orio tune` and read the variants from its JSON report."""
    name = prepared(kernel, source, folder)
    command = [
        sys.executable,
        "-m",
        "orio_py",
        "tune",
        name,
        "--no-db",
        "--seed",
        str(seed),
        "--json",
        "report.json",
    ]
    status, seconds, cpu, output = run_limited(command, folder, limit)
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
        spent={**regions[0]["seconds"], **regions[0]["cost"]},
        machine=str(regions[0]["machine"]["remark"]),
        cpu_s=cpu,
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


def print_results(console: Console, outcomes: Sequence[Outcome], kernel: Kernel, size: int) -> None:
    """One row per tool, the ratio, the floor and the rest."""
    console.print(f"\nkernel       {kernel.name}, n = {size}, {COMPILER}{kernel.flags}")
    table = Table("tool", "evaluated", "built", "no time", "wall s", "CPU s", "per min", "best ms")
    for o in outcomes:
        best = "-" if o.best is None else f"{1e3 * o.best:.3f}"
        counts = (o.tool, str(o.evaluated), str(o.built), str(o.without_time))
        table.add_row(*counts, f"{o.seconds:.1f}", f"{o.cpu_s:.1f}", f"{o.per_minute:.1f}", best)
    console.print(table)
    for o in outcomes:
        if o.note:
            console.print(f"{o.tool}: {o.note}", markup=False)
    ours, *others = outcomes
    for theirs in others:
        if ours.per_minute and theirs.per_minute:
            ratio = ours.per_minute / theirs.per_minute
            console.print(
                f"ratio        {ratio:.2f} (orio_py / {theirs.tool}, variants evaluated per minute)"
            )
    if ours.spent:
        print_floor(console, ours)


def print_floor(console: Console, ours: Outcome) -> None:
    """The least time that compiling and running these variants takes, and where the rest went."""
    spent, cores = ours.spent, len(os.sched_getaffinity(0))
    compiling, least = spent["compile_cpu"] / cores, spent["least_run"]
    floor, transforming = compiling + least, spent["transform_cpu"] / cores
    rest = {
        "transform": transforming,
        "idle or waiting while building": max(0.0, spent["build"] - compiling - transforming),
        "running beyond one call": max(0.0, spent["run"] - least),
        "finals": spent["finals"],
        "test program and original": spent["prepare"],
        "search": spent["search"],
        "start and end": ours.seconds - spent["total"],
    }
    share = floor / ours.seconds
    console.print(
        f"floor        {floor:.1f} s = {compiling:.1f} compiling on {cores} cores + {least:.1f} running once: "
        f"{60 * ours.evaluated / floor:.0f} per minute; achieved {share:.0%} of it"
    )
    elsewhere = max(0.0, ours.cpu_s - spent["compile_cpu"] - spent["transform_cpu"])
    busy = compiling + transforming + max(elsewhere, least)
    console.print(
        f"CPU time     {ours.cpu_s:.1f} s = {spent['compile_cpu']:.1f} compiling + "
        f"{spent['transform_cpu']:.1f} transforming + {elsewhere:.1f} running and else; "
        f"{floor / busy:.0%} of the floor if no core waits"
    )
    table = Table("beyond the floor", "s", "ms per variant", "share of all")
    for name, seconds in rest.items():
        per_variant = 1e3 * seconds / max(ours.evaluated, 1)
        table.add_row(name, f"{seconds:.2f}", f"{per_variant:.1f}", f"{seconds / ours.seconds:.1%}")
    console.print(table)
    console.print(f"machine      {ours.machine}", markup=False)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Variants per minute of orio_py and Orio.")
    parser.add_argument("--kernels", nargs="+", choices=list(KERNELS), default=list(KERNELS))
    parser.add_argument("--trials", type=int, default=200, help="variants that each tool searches (200)")
    parser.add_argument("--size", type=int, default=256, help="matrix size n (256)")
    parser.add_argument("--seed", type=int, default=1, help="seed of orio_py's search; Orio's is always 1")
    parser.add_argument("--time-limit", type=float, default=1800.0, metavar="S", help="limit per tool (1800)")
    parser.add_argument("--environment", type=Path, help="folder of Orio's environment, made if missing")
    parser.add_argument("--without-orio", action="store_true", help="only orio_py and the floor")
    return parser.parse_args()


def compare(options: argparse.Namespace, folder: Path, console: Console) -> int:
    """Run both tools on every kernel in `folder`; exit code."""
    if shutil.which("gcc") is None:
        raise MissingError("gcc is not installed; install it, for example with: apt install gcc")
    if importlib.util.find_spec("orio_py") is None:
        raise MissingError("orio_py is not installed for this Python; install it with: pip install -e .")
    compile_bytecode()
    command: Path | None = None
    if not options.without_orio:
        where = options.environment.resolve() if options.environment else folder / "orio-environment"
        command = install_orio(where)
    print_machine(console)
    good = True
    for kernel in (KERNELS[name] for name in options.kernels):
        source = resized(kernel, options.size, options.trials)
        mine, theirs = folder / kernel.name / "ours", folder / kernel.name / "theirs"
        outcomes = [measure_ours(kernel, source, mine, options.time_limit, options.seed)]
        if command is not None:
            outcomes.append(measure_orio(command, kernel, source, theirs, options.time_limit))
        print_results(console, outcomes, kernel, options.size)
        good = good and all(o.evaluated for o in outcomes)
    return 0 if good else 4


def print_machine(console: Console) -> None:
    """Processor, load and versions."""
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    console.print(
        f"machine      {processor()}, {cores} cores, {platform.system()} {platform.release()}, load {load:.1f}"
    )
    console.print(f"compiler     {first_line(['gcc', '--version'])}")
    console.print(f"python       {platform.python_version()}")


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
