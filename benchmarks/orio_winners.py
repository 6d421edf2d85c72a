"""The winners of Orio 0.6.1 and of `orio tune` on Orio's own annotated inputs, timed against each other.

    python benchmarks/orio_winners.py CHECKOUT
    python benchmarks/orio_winners.py CHECKOUT --files 40 --trials 10 --repetitions 10 --results FILE

Takes files of `orio_corpus.csv` that Orio tunes, spread over the kernels.  Both tools are run as commands on the same
copy, with the same number of trials of a random search and the same repetitions of each run; Orio is installed from the
package registry.  Then both written files become a function each, in shared objects with Orio's own declarations and
inputs, built by the command that the file names; one process runs them in turn, on inputs that are set anew before each
call.  A line of JSON is added to the results file for each input; a later run takes up what is missing.

Wall times on a machine that others use are those of a busy machine; CPU seconds, of all processes of a tool, are nearly
those of a quiet one.  `ratio` is the time of Orio's winner by that of ours: above 1 ours is faster.  `wrong` marks results that differ from
ours, which `orio tune` has compared with the original's: such a time does not count.  `sooner` is the wall time of
Orio by that of `orio tune`.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np
from throughput_vs_orio import install_orio, run_limited

TABLE = Path(__file__).with_name("orio_corpus.csv")
AS_FAST = 0.97
"""Ratios down to this count as equally fast: three in a hundred are within the noise of single runs."""

_ALGORITHM = re.compile(r"(arg\s+algorithm\s*=\s*)['\"]\w+['\"]")
_RUNS = re.compile(r"(arg\s+total_runs\s*=\s*)\d+")
_REPETITIONS = re.compile(r"(arg\s+repetitions\s*=\s*)\d+")
_SIZES = re.compile(r"def\s+input_params\s*\{[^{}]*\}")
_VALIDATION = re.compile(r"def\s+validation\s*\{[^{}]*\}")
"""Holds for the file's own sizes."""
_BUILD = re.compile(r"build_command\s*=\s*['\"]([^'\"]*)['\"]")
_ARRAYS = re.compile(r"^(?:static\s+)?double\s+(\w+)((?:\[[^\]]+\])+);", re.MULTILINE)
_PERFTUNING = re.compile(r"/\*@\s*begin\s+PerfTuning.*?@\*/", re.DOTALL)
_SUPPORT = r"""
static void *orio_blocks[256];
static size_t orio_sizes[256];
static int orio_used, orio_filled;
static void *orio_block(size_t size) {
  if (orio_blocks[orio_used] == NULL) {
    orio_blocks[orio_used] = (malloc)(size);
    orio_sizes[orio_used] = size;
  }
  return orio_blocks[orio_used++];
}
#define malloc(size) orio_block(size)
#define free(block) ((void)(block))
"""
_CALLS = r"""
void orio_inputs(void) { orio_used = 0; init_input_vars(); orio_filled = orio_used; }
double orio_seconds(void) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  orio_kernel();
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - begin.tv_sec) + 1e-9 * (end.tv_nsec - begin.tv_nsec);
}
int orio_count(void) { return orio_filled + %d; }
void *orio_array(int k, size_t *size) {
  static void *places[] = {%s};
  static size_t sizes[] = {%s};
  *size = k < orio_filled ? orio_sizes[k] : sizes[k - orio_filled];
  return k < orio_filled ? orio_blocks[k] : places[k - orio_filled];
}
"""


@dataclass(slots=True)
class Comparison:
    """A file: seconds of both tools and of both winners (least and median of the calls), and what went wrong."""

    path: str
    orio_wall: float = 0.0
    ours_wall: float = 0.0
    orio_cpu: float = 0.0
    ours_cpu: float = 0.0
    orio_least: float = 0.0
    orio_median: float = 0.0
    ours_least: float = 0.0
    ours_median: float = 0.0
    calls: int = 0
    wrong: bool = False
    kept: bool = False
    problem: str = ""

    @property
    def ratio(self) -> float:
        """The time of Orio's winner by that of ours, of the least times."""
        return self.orio_least / self.ours_least if self.ours_least else 0.0

    @property
    def sooner(self) -> float:
        """Orio's wall time by ours."""
        return self.orio_wall / self.ours_wall if self.ours_wall else 0.0

    @property
    def is_as_fast(self) -> bool:
        """Whether our winner is at least as fast, or Orio's computes something else."""
        return self.wrong or self.ratio >= AS_FAST


@dataclass(frozen=True, slots=True)
class Contest:
    """How files are tried: Orio's command, trials and repetitions of both tools, the largest size, seconds for each tool."""

    checkout: Path
    orio: Path
    trials: int
    repetitions: int
    size: int
    limit: float

    def of(self, path: str) -> Comparison:
        """Tune a file with both tools and race their winners."""
        found = Comparison(path)
        with tempfile.TemporaryDirectory(prefix="winners-") as scratch:
            folder = Path(scratch) / "input"
            shutil.copytree((self.checkout / path).parent, folder)
            source = folder / Path(path).name
            self._edit(source)
            status, found.ours_wall, found.ours_cpu, output = run_limited(
                self._ours(source), folder, self.limit
            )
            if status != 0:
                found.problem = f"orio tune: {_last(output) if status is not None else 'time limit'}"
            command = [str(self.orio), "-k", source.name]
            status, found.orio_wall, found.orio_cpu, output = run_limited(command, folder, self.limit)
            if status != 0 or not (folder / f"_{source.name}").exists():
                problem = f"Orio: {_last(output) if status is not None else 'time limit'}"
                found.problem = "; ".join(filter(None, [found.problem, problem]))
            if found.problem:
                return found
            self._race(source, found)
        return found

    def _edit(self, source: Path) -> None:
        """The same search, trials and repetitions for both; a compiler that is not here is gcc."""
        text = source.read_text(encoding="latin-1")
        text = _ALGORITHM.sub(r"\1'Randomsimple'", text)
        text = _RUNS.sub(rf"\g<1>{self.trials}", text)
        if self.repetitions:
            text = _REPETITIONS.sub(rf"\g<1>{self.repetitions}", text)
        if self.size:
            text = _VALIDATION.sub("", _SIZES.sub(self._smaller, text))
        text = (
            text.replace("gcc-mp-10", "gcc").replace("-openmp", "-fopenmp").replace("--fopenmp", "-fopenmp")
        )
        source.write_text(text.replace("-ffopenmp", "-fopenmp"), encoding="latin-1")

    def _smaller(self, section: re.Match[str]) -> str:
        return re.sub(r"\b\d+\b", lambda number: str(min(int(number[0]), self.size)), section[0])

    def _ours(self, source: Path) -> list[str]:
        tune = [sys.executable, "-m", "orio_py", "tune", source.name, "-o", "ours.c", "--json", "report.json"]
        return [*tune, "--no-db", "-q"]

    def _race(self, source: Path, found: Comparison) -> None:
        folder = source.parent
        report = json.loads((folder / "report.json").read_text())
        found.kept = all(
            region["best"] is None or not region.get("applied", True) for region in report["regions"]
        )
        flags = [
            flag for region in report["regions"] for flag in (region["best"] or {}).get("build_with", [])
        ]
        build = _BUILD.search(source.read_text(encoding="latin-1"))
        words = shlex.split(build[1] if build else "gcc -O3 -fopenmp")
        prelude = _prelude(folder)
        libraries: list[str] = []
        for name, more in ((f"_{source.name}", []), ("ours.c", flags)):
            body = _PERFTUNING.sub("", (folder / name).read_text(encoding="latin-1"), count=1)
            program = folder / f"race_{len(libraries)}.c"
            program.write_text(_program(prelude, body), encoding="latin-1")
            command = [
                *words,
                *more,
                "-w",
                "-shared",
                "-fPIC",
                program.name,
                "-lm",
                "-o",
                f"{program.stem}.so",
            ]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                found.problem = f"{name} does not build: {_first_error(done.stderr)}"
                return
            libraries.append(str(folder / f"{program.stem}.so"))
        race = subprocess.run(
            [sys.executable, __file__, "--race", *libraries], capture_output=True, text=True, timeout=600
        )
        if race.returncode:
            found.problem = f"race: {_last(race.stderr)}"
            return
        times: Mapping[str, list[float]] = json.loads(race.stdout)
        theirs, ours = times["0"], times["1"]
        found.orio_least, found.orio_median = min(theirs), median(theirs)
        found.ours_least, found.ours_median = min(ours), median(ours)
        found.calls, found.wrong = len(ours), bool(times["wrong"])


def _prelude(folder: Path) -> str:
    """The declarations and inputs of a test program that Orio has kept."""
    program = next(iter(sorted(folder.glob("__orio_perftest[0-9]*.c"))), None)
    if program is None:
        raise RuntimeError("Orio has kept no test program")
    text = re.sub(r"\A/\*.*?\*/", "", program.read_text(encoding="latin-1"), flags=re.DOTALL)
    head, _, _ = text.partition("int main (")
    headers, _, rest = head.partition("#include <time.h>")
    return f"{headers}#include <time.h>\n{_SUPPORT}{rest}"


def _program(prelude: str, body: str) -> str:
    """A shared object's text: a function with the code, and what sets its inputs, times it and shows its arrays."""
    names = [name for name, _ in _ARRAYS.findall(prelude)]
    places = ", ".join(names) or "0"
    sizes = ", ".join(f"sizeof {name}" for name in names) or "0"
    return f"{prelude}\nvoid orio_kernel(void) {{\n{body}\n}}\n{_CALLS % (len(names), places, sizes)}"


def race(libraries: Sequence[str]) -> dict[str, object]:
    """Seconds of each library's calls, in turn, and whether their arrays differ behind the first ones."""
    loaded = [ctypes.CDLL(name) for name in libraries]
    for library in loaded:
        library.orio_seconds.restype = ctypes.c_double
        library.orio_array.restype = ctypes.c_void_p
    times: list[list[float]] = [[] for _ in loaded]
    is_wrong, began = False, time.perf_counter()
    while not times[0] or (len(times[0]) < 25 and time.perf_counter() - began < 10.0) or len(times[0]) < 3:
        order = range(len(loaded)) if len(times[0]) % 2 == 0 else reversed(range(len(loaded)))
        for number in order:
            loaded[number].orio_inputs()
            times[number].append(loaded[number].orio_seconds())
        if len(times[0]) == 1:
            is_wrong = _differ(*loaded)
    return {"wrong": is_wrong, **{str(number): found for number, found in enumerate(times)}}


def _differ(one: ctypes.CDLL, two: ctypes.CDLL) -> bool:
    """Whether arrays of doubles differ by more than rounding in another order explains."""
    for k in range(min(one.orio_count(), two.orio_count())):
        first, second = (_array(library, k) for library in (one, two))
        with np.errstate(all="ignore"):
            scale = np.maximum(
                np.maximum(np.abs(first), np.abs(second)), 1e-3 * np.nanmax(np.abs(second), initial=0)
            )
            near = np.abs(first - second) <= 1e-9 * scale
        if not (near | (first == second) | (np.isnan(first) & np.isnan(second))).all():
            return True
    return False


def _array(library: ctypes.CDLL, k: int) -> np.ndarray:
    size = ctypes.c_size_t()
    place = library.orio_array(k, ctypes.byref(size))
    held = (ctypes.c_double * (size.value // 8)).from_address(place)
    return np.frombuffer(held)


def _last(output: str) -> str:
    return (output.strip().splitlines() or ["no output"])[-1][:200]


def _first_error(text: str) -> str:
    return next((line for line in text.splitlines() if "error" in line), _last(text))[:200]


def chosen(files: int, only: str) -> list[str]:
    """Inputs that Orio tunes and that begin as a fragment, spread over the kernels."""
    with TABLE.open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["orio"] == "works" and row["category"] == "SPAPT"]
    paths = [row["path"] for row in rows if any(part in row["path"] for part in only.split(","))]
    by_kernel: dict[str, list[str]] = {}
    for path in paths:
        by_kernel.setdefault(str(Path(path).parent), []).append(path)
    rounds = [
        group[n]
        for n in range(max(map(len, by_kernel.values()), default=0))
        for group in by_kernel.values()
        if n < len(group)
    ]
    return rounds[:files]


def _stored(path: Path) -> dict[str, Comparison]:
    if not path.exists():
        return {}
    return {row["path"]: Comparison(**row) for row in map(json.loads, path.read_text().splitlines())}


def _line(found: Comparison) -> str:
    name = "/".join(Path(found.path).parts[-2:])
    if found.problem:
        return f"{name:42} {found.orio_wall:8.1f} {found.ours_wall:8.1f} {found.orio_cpu:8.1f} {found.ours_cpu:8.1f}  {found.problem}"
    mark = "wrong" if found.wrong else "original kept" if found.kept else ""
    return (
        f"{name:42} {1e3 * found.orio_least:9.2f} {1e3 * found.orio_median:9.2f} {1e3 * found.ours_least:9.2f} "
        f"{1e3 * found.ours_median:9.2f} {found.ratio:7.2f} {found.orio_wall:8.1f} {found.ours_wall:8.1f} "
        f"{found.orio_cpu:8.1f} {found.ours_cpu:8.1f} {found.sooner:7.2f}  {mark}"
    )


def _summary(rows: Sequence[Comparison]) -> list[str]:
    raced = [row for row in rows if not row.problem]
    right = [row for row in raced if not row.wrong]
    if not raced:
        return ["nothing was compared"]
    fast, total = sum(row.is_as_fast for row in raced), len(raced)
    mean = geometric_mean([row.ratio for row in right]) if right else 0.0
    return [
        f"{total} of {len(rows)} compared; Orio's winner computes something else in {total - len(right)}",
        f"ours at least as fast (within {1 - AS_FAST:.0%}): {fast} of {total} ({fast / total:.0%}); "
        f"ratio of the {len(right)} right ones {mean:.2f} (geometric mean)",
        f"sooner done {geometric_mean([row.sooner for row in raced]):.2f}x (geometric mean), "
        f"at least 3x in {sum(row.sooner >= 3 for row in raced)}; "
        f"CPU seconds of Orio by ours {geometric_mean([row.orio_cpu / row.ours_cpu for row in raced]):.2f}",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the files and print the table."""
    if (arguments or sys.argv[1:])[:1] == ["--race"]:
        print(json.dumps(race((arguments or sys.argv[1:])[1:])))
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="a checkout of Orio's repository")
    parser.add_argument("--files", type=int, default=40, help="how many files (default: 40)")
    parser.add_argument("--only", default="", help="files whose path holds one of these, with commas")
    parser.add_argument("--trials", type=int, default=10, help="of both tools (default: 10)")
    parser.add_argument("--repetitions", type=int, default=0, help="of each run (default: as the file says)")
    parser.add_argument(
        "--size", type=int, default=0, help="the largest problem size (default: as the file says)"
    )
    parser.add_argument(
        "--limit", type=float, default=300, help="seconds for each tool and file (default: 300)"
    )
    parser.add_argument("--environment", type=Path, help="folder of Orio's environment, made if missing")
    parser.add_argument(
        "--results", type=Path, default=Path("orio_winners.jsonl"), help="continued where it exists"
    )
    options = parser.parse_args(arguments)
    stored = _stored(options.results)
    paths = chosen(options.files, options.only)
    with tempfile.TemporaryDirectory(prefix="winners-") as scratch, options.results.open("a") as lines:
        where = options.environment.resolve() if options.environment else Path(scratch) / "orio"
        contest = Contest(
            options.checkout.resolve(),
            install_orio(where),
            options.trials,
            options.repetitions,
            options.size,
            options.limit,
        )
        head = f"{'':42} {'Orio ms':>9} {'median':>9} {'ours ms':>9} {'median':>9} {'ratio':>7} {'Orio s':>8} {'ours s':>8} {'Orio CPU':>8} {'ours CPU':>8} {'sooner':>7}"
        print(head, flush=True)
        for path in paths:
            if path not in stored:
                stored[path] = contest.of(path)
                lines.write(json.dumps(asdict(stored[path])) + "\n")
                lines.flush()
            print(_line(stored[path]), flush=True)
    print("\n".join(["", *_summary([stored[path] for path in paths])]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
