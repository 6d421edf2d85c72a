"""Annotates kernels of a project that nobody here has written, tunes them, and compares the programs.

    python -m benchmarks.real_code polybench CHECKOUT --size SMALL --trials 5
    python -m benchmarks.real_code rodinia CHECKOUT --trials 4
    python -m benchmarks.real_code cloverleaf CHECKOUT --trials 4
    python -m benchmarks.real_code darknet CHECKOUT --trials 3
    python -m benchmarks.real_code devices CHECKOUTS --trials 1 --target CUDA

Nothing of the project enters this one: the table of a project (`polybench.toml`, …) says where an annotation
goes, what it asks for, how inputs are declared, and how programs are built and run; each runs in a copy of its folder.
For each kernel it prints whether `orio check` accepts it as written, what `orio tune` makes of it (or the first reason
why not), how much faster the kernel is by the finals (or that the original is kept), how many guards it runs and what
they cost the program (its seconds, divided by those with tests that always hold), whether the program with the tuned
kernel writes what the original writes, and how long both programs take: the least of five runs in turn.  Of `devices`
there are no programs: variants are compared with the original by `orio tune` alone.  Exit status 1 where a result differs.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.real_code.places import loops_at

HERE = Path(__file__).resolve().parent
PARAMETERS = {"OMP": "[False, True]", "U": "[1, 2, 4]"}
_SCOP = "#pragma scop\n"
_PLACEHOLDER = re.compile(r"\{(root|folder|file|function|size|call)\}")
_TIME = re.compile(r"^\d+\.\d+$")
_GUARD = re.compile(r"(/\* Runs (?:unless|where) [^\n]*\*/(?:\s*const [^\n;]*;)*\s*if )(?=\()")
_RUNS = 5


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of the table, and a copy of its program's folder in which it is built."""

    name: str
    content: Mapping[str, str]
    program: Mapping[str, str]
    root: Path
    copy: Path
    size: str
    target: str

    @property
    def path(self) -> Path:
        """The file that holds it, in the copy."""
        return self.copy / self.content["file"]

    def command(self, which: str) -> str:
        """A command of the program, for a shell in the copy."""
        values = {
            "root": str(self.root),
            "folder": str(self.path.parent),
            "file": str(self.path),
            "function": self.content.get("function", ""),
            "size": self.size,
            "call": self.content.get("call", ""),
        }
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.program.get(which, ""))

    @property
    def inputs(self) -> str:
        """The declarations of inputs."""
        element = self.program.get("element", "double")
        sizes = self.content.get("sizes", self.program.get("sizes", ""))
        pairs = (word.split("=") for word in sizes.split())
        lines = [f"decl int {name} = {value};" for name, value in pairs]
        lines += [f"decl {element} {name} = 1.5;" for name in self.content.get("reals", "").split()]
        lines += [
            f"decl static {element} {array} = random;" for array in self.content.get("arrays", "").split()
        ]
        return " ".join([*lines, self.content.get("more", "")])

    def _place(self, text: str) -> tuple[int, int]:
        if "loops" in self.content:
            numbers = [int(number) for number in self.content["loops"].split("-")]
            return loops_at(text, self.content["function"], numbers[0], numbers[-1])
        start = text.index(_SCOP) + len(_SCOP)
        return start, text.index("#pragma endscop", start)

    def annotated(self) -> str:
        """The file with the annotation around its kernel."""
        text = self.path.read_text(encoding="latin-1")
        start, end = self._place(text)
        recipe = self.content["recipe"].replace("DEVICE(", f"{self.target}(")
        used = [name for name in PARAMETERS if re.search(rf"\b{name}\b", recipe)]
        parameters = " ".join(f"param {name}[] = {PARAMETERS[name]};" for name in used)
        tuning = f"def performance_params {{ {parameters} }}" if used else ""
        promised = [name for name in ("reassociate", "noalias") if name in self.content]
        arguments = " ".join(f"arg {name} = True;" for name in promised)
        promises = f"def assumptions {{ {arguments} }}" if promised else ""
        if "tolerance" in self.content:
            promises += f" def validation {{ arg tolerance = {self.content['tolerance']}; }}"
        opening = (
            f"/*@ begin PerfTuning (\n  def build {{ arg build_command = '{self.command('command')}'; }}\n  {tuning} {promises}\n"
            f"  def input_vars {{ {self.inputs} }}\n) @*/\n/*@ begin Loop (transform {recipe}) @*/\n"
        )
        return f"{text[:start]}{opening}{text[start:end]}\n/*@ end @*/\n/*@ end @*/\n{text[end:]}"


def kernels(
    table: Mapping[str, Mapping[str, dict[str, str]]], root: Path, copies: Path, size: str, target: str
) -> Iterator[Kernel]:
    """The kernels of a table, each with a fresh copy of its program's folder."""
    project = table["project"]
    for name, content in table["kernel"].items():
        program = {**project, **table.get("program", {}).get(content.get("program", ""), {})}
        folder = program.get("folder", str(Path(content["file"]).parent))
        copy = copies / name / folder
        shutil.copytree(root / folder, copy, ignore=shutil.ignore_patterns(".git"))
        inside = content if "folder" in program else {**content, "file": Path(content["file"]).name}
        yield Kernel(name, inside, program, root, copy, size, target)


@dataclass(slots=True)
class Row:
    """What came of one kernel."""

    name: str
    accepted: str = "no"
    reason: str = ""
    gain: float | None = None
    kept: bool = False
    guards: int = 0
    same: str = ""
    seconds: tuple[float, ...] = ()
    """Of the original program, the tuned one, and that one with guards that always hold, if it has any."""

    def shown(self) -> str:
        """One line of the table."""
        gain = "  kept" if self.kept else f"{self.gain:6.2f}" if self.gain is not None else "     -"
        cost = f"{self.seconds[1] / self.seconds[2]:5.3f}" if len(self.seconds) > 2 else "    -"
        times = "{:.5f} / {:.5f} s".format(*self.seconds) if self.seconds else ""
        return f"{self.name:26} {self.accepted:8} {gain}  {self.guards:2d} {cost} {self.same:6} {times:23} {self.reason}"


def tried(kernel: Kernel, trials: int, *, only_check: bool) -> Row:
    """Check, tune, build and compare one kernel."""
    row = Row(kernel.name)
    original, source = kernel.path.read_bytes(), kernel.path.with_name(f"annotated_{kernel.path.name}")
    source.write_text(kernel.annotated(), encoding="latin-1")
    checked = _run(["orio", "check", "--json", str(source)], kernel.path.parent)
    problems = [d for d in _diagnostics(checked.stdout) if d.get("severity") in {"error", "warning"}]
    row.accepted = "no" if checked.returncode else "part" if problems else "whole"
    if problems or checked.returncode:
        row.reason = _first(problems, checked)
    if only_check or checked.returncode:
        return row
    if "variants_only" in kernel.program:
        return _right(source, trials, row)
    tuned = kernel.path.with_name(f"tuned_{kernel.path.name}")
    command = ["orio", "tune", "--json", "-", "-q", "--trials", str(trials), "-o", str(tuned), str(source)]
    report = _run(command, kernel.path.parent)
    if report.returncode:
        row.reason = row.reason or f"tune: {_first(_diagnostics(report.stdout), report)}"
        return row
    (region,) = json.loads(report.stdout)["regions"]
    best = region.get("best")
    row.gain = best["speedup"] if best else None
    row.kept = region["kept_original"]
    text = tuned.read_text(encoding="latin-1")
    row.guards = len(_GUARD.findall(text))
    contents = [original, tuned.read_bytes()]
    if row.guards:
        contents.append(_always_run(text).encode("latin-1"))
    return _compared(kernel, contents, row)


def _right(source: Path, trials: int, row: Row) -> Row:
    """The row with whether variants compute what the original does, on a device or where CUDA is checked without one."""
    command = [
        "orio",
        "tune",
        "--no-db",
        "--json",
        "-",
        "-q",
        "--trials",
        str(trials),
        "-j",
        "1",
        str(source),
    ]
    report = _run([*command, "-o", str(source.with_name("tuned.c"))], source.parent)
    found = _diagnostics(report.stdout)
    untimed = [d["message"] for d in found if d.get("code") == "ORIO-B040"]
    count = re.match(r"(\d+) of (\d+) variants", untimed[0]) if untimed else None
    is_right = count is not None and count[1] == count[2] if untimed else report.returncode == 0
    is_tried = not any(d.get("code") in {"ORIO-M017", "ORIO-B005"} for d in found)
    row.same = "equal" if is_right else "WRONG" if is_tried else "-"
    if not is_right:
        row.reason = f"tune: {_first([d for d in found if d.get('severity') == 'error'], report)}"
    return row


def _always_run(text: str) -> str:
    """The text with tests of guards that always hold."""
    for found in reversed(list(_GUARD.finditer(text))):
        end, depth = found.end(), 0
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        text = f"{text[: found.end()]}(1){text[end:]}"
    return text


def _compared(kernel: Kernel, contents: Sequence[bytes], row: Row) -> Row:
    """The row with what the program did with the original file and with others in its place."""
    prepared = _run(["sh", "-c", kernel.command("prepare")], kernel.copy)
    folders = [kernel.copy.with_name(f"{kernel.copy.name}_{number}") for number in range(len(contents))]
    for folder, content, flags in zip(folders, contents, ("", *[" -fopenmp"] * 2), strict=False):
        kernel.path.write_bytes(content)
        built = _run(["sh", "-c", kernel.command("build") + flags], kernel.copy)
        if built.returncode or prepared.returncode:
            row.same, row.reason = (
                "failed",
                f"the program: {(prepared.stderr + built.stderr).strip().splitlines()[:1]}",
            )
            return row
        shutil.copytree(kernel.copy, folder, symlinks=True)
    outputs: list[list[str]] = []
    seconds = [float("inf")] * len(folders)
    for number in [*range(len(folders))] * _RUNS:
        begin = time.perf_counter()
        ran = _run(["sh", "-c", kernel.command("run")], folders[number])
        elapsed = time.perf_counter() - begin
        if ran.returncode:
            row.same, row.reason = "failed", f"the program: {ran.stderr.strip().splitlines()[:1]}"
            return row
        times = [float(line) for line in ran.stdout.split() if _TIME.match(line)]
        taken = times[-1] if times and "prints_seconds" in kernel.program else elapsed
        seconds[number] = min(seconds[number], taken)
        outputs.append(ran.stderr.split())
    row.same = "equal" if outputs[0] and all(_equal(outputs[0], other) for other in outputs) else "WRONG"
    row.seconds = tuple(seconds)
    return row


def _equal(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two outputs are the same words, and numbers to two digits behind the point and one in 100 000."""
    return len(first) == len(second) and all(
        one == two or (_is_number(one) and _is_number(two) and _close(float(one), float(two)))
        for one, two in zip(first, second, strict=True)
    )


def _close(one: float, two: float) -> bool:
    return abs(one - two) <= 0.02 or abs(one - two) <= 1e-5 * abs(one)


def _is_number(word: str) -> bool:
    return re.fullmatch(r"-?\d+\.\d+", word) is not None


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, encoding="latin-1")


def _diagnostics(text: str) -> list[dict[str, str]]:
    try:
        return json.loads(text).get("diagnostics", [])
    except ValueError:
        return []


def _first(problems: Sequence[Mapping[str, str]], done: subprocess.CompletedProcess[str]) -> str:
    if problems:
        return f"{problems[0].get('code', '')} {problems[0].get('message', '')}"
    return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[0]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_code", description=__doc__.splitlines()[0]
    )
    parser.add_argument("project", choices=sorted(path.stem for path in HERE.glob("*.toml")))
    parser.add_argument("checkout", type=Path, help="a checkout of the project")
    parser.add_argument("--size", default="SMALL", help="the project's data set")
    parser.add_argument("--trials", type=int, default=5, help="trials of each kernel")
    parser.add_argument("--kernel", action="append", help="only this one; may be repeated")
    parser.add_argument("--check", action="store_true", help="check only, build and run nothing")
    parser.add_argument(
        "--target",
        choices=("OpenCL", "CUDA", "HIP"),
        default="OpenCL",
        help="what DEVICE in recipes stands for",
    )
    given = parser.parse_args()
    if shutil.which("orio") is None:
        parser.error("`orio` is not on the PATH")
    table = tomllib.loads((HERE / f"{given.project}.toml").read_text())
    if given.kernel:
        table["kernel"] = {name: table["kernel"][name] for name in given.kernel}
    rows: list[Row] = []
    print(
        f"{table['project']['name']}, {given.trials} trials; gain of the kernel in the finals, guards in the written"
    )
    print("code and their cost, output of the programs, seconds of the original and of the tuned program")
    with tempfile.TemporaryDirectory() as folder:
        for kernel in kernels(table, given.checkout.resolve(), Path(folder), given.size, given.target):
            rows.append(tried(kernel, given.trials, only_check=given.check))
            print(rows[-1].shown(), flush=True)
    whole = sum(row.accepted == "whole" for row in rows)
    wrong = sum(row.same in {"WRONG", "failed"} for row in rows)
    print(
        f"{whole} of {len(rows)} accepted whole as written; {sum(r.same == 'equal' for r in rows)} tuned programs equal, {wrong} not"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
