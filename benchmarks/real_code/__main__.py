"""Annotates kernels of a project that nobody here has written, tunes them, and compares the programs.

    python -m benchmarks.real_code polybench CHECKOUT --size SMALL --trials 5

Nothing of the project enters this one: the table (`polybench.toml`) says where an annotation goes, what it asks for, and
how inputs are declared.  For each kernel it prints whether `orio check` accepts it as written, what `orio tune` makes of
it (or the first reason why not), how much faster the kernel is by the finals, whether the program with the tuned kernel
prints the arrays that the original prints, and how long both programs take.  Exit status 1 where a result differs.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PARAMETERS = {"OMP": "[False, True]", "U": "[1, 2, 4]"}
_TIME = re.compile(r"^\d+\.\d+$")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of the table: its file in the checkout, and the annotation before and behind its region."""

    name: str
    content: Mapping[str, str]
    project: Mapping[str, str]
    root: Path
    size: str

    @property
    def path(self) -> Path:
        """The file that holds it."""
        return self.root / self.content["file"]

    def command(self, which: str, **more: str) -> str:
        """A command of the project for this kernel."""
        values = {"root": str(self.root), "folder": str(self.path.parent), "size": self.size, **more}
        return self.project[which].format(**values)

    @property
    def inputs(self) -> str:
        """The declarations of inputs."""
        element = self.project["element"]
        pairs = (word.split("=") for word in self.content.get("sizes", "").split())
        lines = [f"decl int {name} = {value};" for name, value in pairs]
        lines += [f"decl {element} {name} = 1.5;" for name in self.content.get("reals", "").split()]
        lines += [f"decl static {element} {array} = random;" for array in self.content["arrays"].split()]
        return " ".join([*lines, self.content.get("more", "")])

    def annotated(self) -> str:
        """The file with the annotation around its kernel."""
        text = self.path.read_text(encoding="latin-1")
        first, last = self.content.get("from", "#pragma scop\n"), self.content.get("to", "#pragma endscop")
        start = text.index(first) + (len(first) if first.startswith("#pragma") else 0)
        end = text.index(last, start)
        recipe = self.content["recipe"]
        used = [name for name in PARAMETERS if re.search(rf"\b{name}\b", recipe)]
        parameters = " ".join(f"param {name}[] = {PARAMETERS[name]};" for name in used)
        tuning = f"def performance_params {{ {parameters} }}" if used else ""
        opening = (
            f"/*@ begin PerfTuning (\n  def build {{ arg build_command = '{self.command('command')}'; }}\n  {tuning}\n"
            f"  def input_vars {{ {self.inputs} }}\n) @*/\n/*@ begin Loop (transform {recipe}) @*/\n"
        )
        return f"{text[:start]}{opening}{text[start:end]}/*@ end @*/\n/*@ end @*/\n{text[end:]}"


@dataclass(slots=True)
class Row:
    """What came of one kernel."""

    name: str
    accepted: str = "no"
    reason: str = ""
    gain: float | None = None
    guards: int = 0
    same: str = ""
    seconds: tuple[float, float] | None = None

    def shown(self) -> str:
        """One line of the table."""
        gain = f"{self.gain:6.2f}" if self.gain is not None else "     -"
        times = "{:.4f} / {:.4f} s".format(*self.seconds) if self.seconds else ""
        return f"{self.name:16} {self.accepted:8} {gain}  {self.guards:2d} {self.same:6} {times:20} {self.reason}"


def tried(kernel: Kernel, folder: Path, trials: int, *, only_check: bool) -> Row:
    """Check, tune, build and compare one kernel."""
    row = Row(kernel.name)
    source = folder / kernel.path.name
    source.write_text(kernel.annotated(), encoding="latin-1")
    checked = _run(["orio", "check", "--json", str(source)])
    problems = [d for d in _diagnostics(checked.stdout) if d.get("severity") in {"error", "warning"}]
    if problems or checked.returncode:
        row.reason = _first(problems, checked)
        row.accepted = "part" if checked.returncode == 0 else "no"
    else:
        row.accepted = "whole"
    if only_check or checked.returncode:
        return row
    tuned = folder / f"tuned_{kernel.path.name}"
    report = _run(
        ["orio", "tune", "--json", "-", "-q", "--trials", str(trials), "-o", str(tuned), str(source)]
    )
    if report.returncode:
        row.reason = row.reason or f"tune: {_first(_diagnostics(report.stdout), report)}"
        return row
    (region,) = json.loads(report.stdout)["regions"]
    best = region.get("best")
    row.gain = best["speedup"] if best else None
    row.guards = tuned.read_text(encoding="latin-1").count("Runs unless arrays overlap")
    return _compared(kernel, tuned, folder, row)


def _compared(kernel: Kernel, tuned: Path, folder: Path, row: Row) -> Row:
    outputs: list[list[str]] = []
    seconds: list[float] = []
    for number, file in enumerate((kernel.path, tuned)):
        program = folder / f"program{number}"
        command = shlex.split(kernel.command("program", file=str(file)))
        built = _run([*command, *(["-fopenmp"] if number else []), "-o", str(program)])
        if built.returncode:
            row.same, row.reason = "failed", f"the program: {built.stderr.strip().splitlines()[:1]}"
            return row
        ran = _run([str(program)])
        outputs.append(ran.stderr.split())
        times = [float(line) for line in ran.stdout.split() if _TIME.match(line)]
        seconds.append(times[-1] if times else 0.0)
    row.same = "equal" if _equal(*outputs) else "WRONG"
    row.seconds = (seconds[0], seconds[1])
    return row


def _equal(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two outputs are the same words, numbers to the two digits that are printed and one in the last place."""
    return len(first) == len(second) and all(
        one == two or (_is_number(one) and _is_number(two) and abs(float(one) - float(two)) <= 0.02)
        for one, two in zip(first, second, strict=True)
    )


def _is_number(word: str) -> bool:
    return re.fullmatch(r"-?\d+\.\d+", word) is not None


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="latin-1")


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
    given = parser.parse_args()
    if shutil.which("orio") is None:
        parser.error("`orio` is not on the PATH")
    table = tomllib.loads((HERE / f"{given.project}.toml").read_text())
    rows: list[Row] = []
    print(
        f"{table['project']['name']}, {given.size}, {given.trials} trials; gain of the kernel in the finals, guards in"
    )
    print("the written code, output of the programs, seconds of the original and of the tuned program")
    for name, content in table["kernel"].items():
        if given.kernel and name not in given.kernel:
            continue
        with tempfile.TemporaryDirectory() as folder:
            kernel = Kernel(name, content, table["project"], given.checkout.resolve(), given.size)
            rows.append(tried(kernel, Path(folder), given.trials, only_check=given.check))
        print(rows[-1].shown(), flush=True)
    whole = sum(row.accepted == "whole" for row in rows)
    wrong = sum(row.same in {"WRONG", "failed"} for row in rows)
    print(
        f"{whole} of {len(rows)} accepted whole as written; {sum(r.same == 'equal' for r in rows)} tuned programs equal, {wrong} not"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
