"""What `orio` makes of the annotated inputs of Orio's own repository, beside what Orio 0.6.1 makes of them.

    python benchmarks/orio_corpus.py CHECKOUT
    python benchmarks/orio_corpus.py CHECKOUT --steps check,transform,compile,small,tune --trials 5 --results FILE

`orio_corpus.csv` lists the files by category, with Orio's outcome (works; works with errors on its output; fails; writes
code that gives other results; needs longer than was given), the options that a file needs, and the fault of the file,
if it has one that a reader can verify.  Each file runs in a copy of its folder:

- `check`: `orio check`;
- `transform`: `orio transform`;
- `compile`: a compiler's syntax check of what was written, where it passes one with the user's own code;
- `small`: `orio tune` with small problem sizes and compilers that do not optimise, the results of every variant
  compared with the original's; with `--sanitize` under gcc's sanitizers for addresses and undefined behaviour;
- `tune`: `orio tune` of the file as it stands, which compares all results, too.

One line of JSON is added to the results file for each; a later run takes up what is missing.  A file works, works with
a note (a warning, or a promise among its options), is refused for its fault, or fails.  Exit status 1 if one fails.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

TABLE = Path(__file__).with_suffix(".csv")
REPORT = "report.json"
STEPS = ("check", "transform", "compile", "small", "tune")
SANITIZED = "gcc -fsanitize=address,undefined -fno-sanitize-recover=undefined"
_SECTION = r"def\s+%s\s*\{[^{}]*\}"
_ERROR = re.compile(r"^\S*?:?\d*:?\d*:? ?error\[(ORIO-\w+)\]: (.*)", re.MULTILINE)
_QUOTED = re.compile(r"`[^`]*`")
_EXPECTED = frozenset({0, 2, 3, 4})


@dataclass(frozen=True, slots=True)
class Input:
    """A file of the corpus: its path below the checkout, its category, and what Orio makes of it.

    `options` are those that `orio` needs for it, `fault` is what is wrong with the file itself.
    """

    path: str
    category: str
    orio: str
    options: str
    fault: str


@dataclass(slots=True)
class Outcome:
    """Exit status, seconds and first error of each step that was tried; status `None` is the time limit.

    `tuned` holds what `tune` reports of each region and problem size: trials, and seconds of the original and the best.
    """

    path: str
    status: dict[str, int | None] = field(default_factory=dict[str, int | None])
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    cpu: dict[str, float] = field(default_factory=dict[str, float])
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    warnings: int = 0
    tuned: list[dict[str, object]] = field(default_factory=list[dict[str, object]])


@dataclass(frozen=True, slots=True)
class Trial:
    """How each file is tried: the checkout, the steps, the trials of `orio tune`, seconds for each step, the small size."""

    checkout: Path
    steps: Sequence[str]
    trials: int
    limit: float
    size: int
    sanitize: bool

    def outcome(self, item: Input) -> Outcome:
        """Run the steps on a file, each after the ones before it have gone well."""
        outcome = Outcome(item.path)
        with tempfile.TemporaryDirectory() as scratch:
            source = self._copied(item, Path(scratch))
            for step in self.steps:
                if step in {"small", "tune"} and outcome.status.get("transform", 0):
                    continue
                self._step(step, source, item.options, outcome)
        return outcome

    def _copied(self, item: Input, scratch: Path) -> Path:
        source = self.checkout / item.path
        folder = scratch / source.parent.name
        shutil.copytree(source.parent, folder, ignore_dangling_symlinks=True)
        return folder / source.name

    def _step(self, step: str, source: Path, options: str, outcome: Outcome) -> None:
        written = source.with_name(f"written_{source.name}")
        if step == "compile" and (outcome.status.get("transform", 0) or not _original_compiles(written)):
            return
        if step == "small":
            text = source.read_text(encoding="latin-1")
            source = source.with_name(f"small_{source.name}")
            source.write_text(_with_small_sizes(text, self.size), encoding="latin-1")
        command = [*self._command(step, source, written), *_options(step, options)]
        begin, used = time.perf_counter(), os.times()
        try:
            ran = _run(command, source.parent, self.limit)
        except subprocess.TimeoutExpired:
            outcome.status[step], outcome.reasons[step] = None, "time limit"
        else:
            is_checked = ran.returncode == 3 and "ORIO-B040" in ran.stderr  # right, and no GPU to time it
            outcome.status[step] = 0 if is_checked else ran.returncode
            outcome.warnings += is_checked
            outcome.warnings += ran.stderr.count(" warning[")
            if outcome.status[step]:
                outcome.reasons[step] = _first_error(ran.stderr)
        if step == "tune":
            outcome.tuned = _tuned(source.with_name(REPORT))
        outcome.seconds[step] = round(time.perf_counter() - begin, 2)
        after = os.times()  # of all finished children: exact with `--jobs 1` alone
        spent = after.children_user + after.children_system - used.children_user - used.children_system
        outcome.cpu[step] = round(spent, 2)

    def _command(self, step: str, source: Path, written: Path) -> list[str]:
        limits = ["--trials", str(self.trials), "--time", str(self.limit / 2), "-q"]
        sanitized = ["--cc", SANITIZED] if self.sanitize else []
        match step:
            case "transform":
                return ["orio", "transform", source.name, "-o", str(written)]
            case "compile":
                return _syntax_check(written)
            case "small":
                return [
                    "orio",
                    "tune",
                    source.name,
                    "-o",
                    f"tuned_{source.name}",
                    *sanitized,
                    *limits,
                ]
            case "tune":
                return ["orio", "tune", source.name, "-o", str(written), "--json", REPORT, *limits]
            case _:
                return ["orio", step, source.name]


def _options(step: str, options: str) -> list[str]:
    """Those of a file's options that a step knows: only `tune` builds with a compiler that the file names."""
    is_for_all = not options.startswith("--cc")
    return shlex.split(options) if step in {"small", "tune"} or (is_for_all and step != "compile") else []


def _with_small_sizes(text: str, most: int) -> str:
    """A specification with no input parameter above `most`, without the validation that holds for its own sizes.

    The first OpenCL device takes the place of one that another machine had.
    Compilers do not optimise: with thousands of statements that takes minutes.
    """

    def smaller(section: re.Match[str]) -> str:
        return re.sub(r"\b\d+\b", lambda number: str(min(int(number[0]), most)), section[0])

    text = re.sub(_SECTION % "validation", "", text)
    text = re.sub(_SECTION % "build", lambda section: re.sub(r"-O\d", "-O0", section[0]), text)
    text = re.sub(r"\bdevice\s*=\s*\d+", "device=0", text)
    text = re.sub(r"\blet\s+\w+\s*=\s*\d+\s*;", smaller, text)
    return re.sub(_SECTION % "input_params", smaller, text)


def _run(command: Sequence[str], folder: Path, limit: float) -> subprocess.CompletedProcess[str]:
    """A finished command; at the time limit it is ended."""
    own = {**os.environ, "XDG_DATA_HOME": str(folder / ".data")}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            _, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            _end(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, "", errors)


def _end(process: subprocess.Popen[str]) -> None:
    """Interrupt a command, which ends the compilers and test programs that it has started; later its group is killed."""
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def _syntax_check(path: Path) -> list[str]:
    language = ["-x", "c++"] if path.suffix in {".cu", ".cpp"} else ["-std=gnu99"]
    return ["cc", "-fsyntax-only", "-fopenmp", "-w", *language, path.name]


def _original_compiles(written: Path) -> bool:
    """Whether a file that was written compiles with the user's code in its regions: a fragment does not."""
    return _run([*_syntax_check(written), "-DORIO_ORIGINAL"], written.parent, 60).returncode == 0


def _first_error(text: str) -> str:
    found = _ERROR.search(text)
    return f"{found[1]} {found[2]}"[:300] if found else text.strip()[-200:]


def _tuned(report: Path) -> list[dict[str, object]]:
    if not report.exists():
        return []
    return [
        {
            "trials": region["trials"],
            "failed": region["failed"] + region["invalid"],
            "original_s": region["baseline"] and region["baseline"]["median_s"],
            "best_s": region["best"] and region["best"]["median_s"],
            "kept": region["kept_original"],
            "reason": region["reason"],
        }
        for region in json.loads(report.read_text())["regions"]
    ]


def _verdict(item: Input, outcome: Outcome) -> str:
    statuses = outcome.status.values()
    if all(status == 0 for status in statuses):
        return "works with a note" if outcome.warnings or "--assume" in item.options else "works"
    is_refusal = all(status in _EXPECTED for step, status in outcome.status.items() if step != "compile")
    return "refused" if item.fault and is_refusal and not outcome.status.get("compile") else "fails"


def _table(rows: Iterable[tuple[Input, Outcome]]) -> list[str]:
    """Counts by category: Orio's outcomes, and ours by the last step that was tried."""
    counts: dict[str, Counter[str]] = {}
    for item, outcome in rows:
        of_category = counts.setdefault(item.category, Counter())
        of_category.update(["files", f"orio {item.orio}", _verdict(item, outcome)])
        of_category.update(step for step, status in outcome.status.items() if status == 0)
    counts["all"] = sum(counts.values(), Counter[str]())
    columns = ["files", "orio works", *STEPS, "works", "works with a note", "refused", "fails"]
    header = f"{'':18}" + "".join(f"{column:>{len(column) + 2}}" for column in columns)
    return [header] + [
        f"{category:18}" + "".join(f"{count[column]:>{len(column) + 2}}" for column in columns)
        for category, count in counts.items()
    ]


def _faults(rows: Iterable[tuple[Input, Outcome]]) -> list[str]:
    """The files that are refused for a fault of their own."""
    return [f"{item.path}: {item.fault}" for item, outcome in rows if _verdict(item, outcome) == "refused"]


def _causes(rows: Iterable[tuple[Input, Outcome]]) -> list[str]:
    """What stopped how many files without a fault, the most frequent first, each with a file."""
    stopped: dict[str, list[str]] = {}
    for item, outcome in rows:
        if _verdict(item, outcome) != "fails":
            continue
        for step, reason in outcome.reasons.items():
            stopped.setdefault(f"{step}: {_QUOTED.sub('…', reason)[:120]}", []).append(Path(item.path).name)
    ordered = sorted(stopped.items(), key=lambda entry: -len(entry[1]))
    return [f"{len(files):4}  {reason}  ({', '.join(files[:3])})" for reason, files in ordered]


def _stored(path: Path) -> dict[str, Outcome]:
    if not path.exists():
        return {}
    rows = (json.loads(line) for line in path.read_text().splitlines())
    return {row["path"]: Outcome(**row) for row in rows}


def _tried(inputs: Sequence[Input], trial: Trial, results: Path, jobs: int) -> Mapping[str, Outcome]:
    stored, by_path = _stored(results), {item.path: item for item in inputs}
    missing = [item for item in inputs if item.path not in stored]
    with ThreadPoolExecutor(jobs) as pool, results.open("a") as lines:
        for outcome in pool.map(trial.outcome, missing):
            stored[outcome.path] = outcome
            lines.write(json.dumps(asdict(outcome)) + "\n")
            lines.flush()
            print(
                f"{_verdict(by_path[outcome.path], outcome):18} {outcome.path}  {next(iter(outcome.reasons.values()), '')}",
                flush=True,
            )
    return stored


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the files and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="a checkout of Orio's repository")
    parser.add_argument("--steps", default="check,transform,compile", help=f"of {', '.join(STEPS)}")
    parser.add_argument("--trials", type=int, default=5, help="of `orio tune` (default: 5)")
    parser.add_argument("--limit", type=float, default=120, help="seconds for each step (default: 120)")
    parser.add_argument("--size", type=int, default=40, help="the largest size in `small` (default: 40)")
    parser.add_argument("--sanitize", action="store_true", help="`small` with sanitizers")
    parser.add_argument("--jobs", type=int, default=2, help="files at a time (default: 2)")
    parser.add_argument("--only", default="", help="files whose category, path or outcome in Orio holds this")
    parser.add_argument(
        "--results", type=Path, default=Path("orio_corpus.jsonl"), help="continued where it exists"
    )
    chosen = parser.parse_args(arguments)
    with TABLE.open() as lines:
        inputs = [Input(**row) for row in csv.DictReader(lines)]
    inputs = [item for item in inputs if chosen.only in f"{item.category} {item.path} {item.orio}"]
    steps = chosen.steps.split(",")
    trial = Trial(chosen.checkout.resolve(), steps, chosen.trials, chosen.limit, chosen.size, chosen.sanitize)
    stored = _tried(inputs, trial, chosen.results, chosen.jobs)
    rows = [(item, stored[item.path]) for item in inputs]
    print("\n".join(["", *_table(rows), "", *_faults(rows), "", *_causes(rows)]))
    return 1 if any(_verdict(item, outcome) == "fails" for item, outcome in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
