"""Puts one recipe around every outermost or innermost loop of C files that nobody here has written, and tells which are accepted.

    python -m benchmarks.real_code.sweep CHECKOUT/train_gpt2.c --recipe 'Parallelize()' --flags=-I.
    python -m benchmarks.real_code.sweep CHECKOUT/src-mpi -o FOLDER --assume reassociate --flags '-DDOUBLE -std=c99'

The loops of a file that are accepted are transformed together, and the result is compiled, with warnings as errors where
the file itself has none.  With `-o` the files are written there as the application would
take them; nothing else of the project is touched.  For each file it prints how many loops there are and are accepted, and
with `-v` the first reason for each other one.  Exit status 1 where a file that was transformed does not compile.
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
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orio_py
from benchmarks.real_code.places import innermost_loops, outermost_loops
from orio_py.core.diagnostics import Diagnostic, Severity
from orio_py.spec.assumptions import Promise

_WARNINGS = ("-fsyntax-only", "-fopenmp", "-Wall", "-Wextra", "-Werror")


@dataclass(slots=True)
class Swept:
    """What came of the loops of one file."""

    path: Path
    loops: int = 0
    refused: dict[int, tuple[str, str, int]] = field(default_factory=dict[int, tuple[str, str, int]])
    """By number of the loop: code, message and line."""
    broken: str = ""

    @property
    def accepted(self) -> int:
        """How many loops are accepted."""
        return self.loops - len(self.refused)


def annotated(text: str, recipe: str, chosen: Sequence[tuple[int, int]]) -> str:
    """The text with the recipe around the chosen loops, given by start and end."""
    for start, end in reversed(chosen):
        opening = f"/*@ begin Loop (transform {recipe}) @*/"
        text = f"{text[:start]}{opening}{text[start:end]}/*@ end @*/{text[end:]}"
    return text


def swept(
    path: Path,
    recipe: str,
    promises: Sequence[Promise],
    flags: Sequence[str],
    output: Path | None,
    *,
    uncounted: bool = False,
    innermost: bool = False,
) -> Swept:
    """Annotate, transform and compile one file; its neighbours are found where they are.

    Loops that are refused are left out until the others are accepted together.
    """
    text = path.read_text(encoding="latin-1")
    try:
        loops = innermost_loops(text) if innermost else outermost_loops(text, uncounted=uncounted)
    except LookupError as problem:
        return Swept(path, broken=f"not read: {problem}")
    result = Swept(path, len(loops))
    with tempfile.TemporaryDirectory() as folder:
        copy, commands = Path(folder) / path.name, Path(folder) / "compile_commands.json"
        known = [*flags, f"-I{path.parent}"]
        entry = {
            "directory": str(path.parent),
            "file": str(copy),
            "arguments": ["gcc", *known, "-c", str(copy)],
        }
        commands.write_text(json.dumps([entry]))
        while result.accepted:
            chosen = [place for number, place in enumerate(loops) if number not in result.refused]
            copy.write_text(annotated(text, recipe, chosen), encoding="latin-1")
            report = orio_py.transform([copy], in_place=True, assume=promises, compile_commands=commands)
            if report.exit_code == 0:
                result.broken = _compiled(copy, path, known)
                break
            if not _note_refusals(result, report.diagnostics, text, loops):
                result.broken = report.diagnostics[0].headline()
                break
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(copy if result.accepted else path, output / path.name)
    return result


def _note_refusals(
    result: Swept, problems: Sequence[Diagnostic], text: str, loops: Sequence[tuple[int, int]]
) -> bool:
    """Put errors down to loops; the annotated copy has the lines of the text.  Whether any was."""
    before = len(result.refused)
    lines = [(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1) for start, end in loops]
    for problem in problems:
        if problem.severity is not Severity.ERROR or problem.position is None:
            continue
        line = problem.position.line
        number = next((n for n, (first, last) in enumerate(lines) if first <= line <= last), None)
        if number is not None and number not in result.refused:
            result.refused[number] = (problem.code, problem.message, line)
    return len(result.refused) > before


def _compiled(copy: Path, path: Path, flags: Sequence[str]) -> str:
    """The first message of the compiler about the transformed file, with warnings where the file itself has none."""
    strict = subprocess.run(["gcc", *flags, *_WARNINGS, str(path)], capture_output=True, check=False)
    checks = _WARNINGS if strict.returncode == 0 else _WARNINGS[:2]
    done = subprocess.run(["gcc", *flags, *checks, str(copy)], capture_output=True, check=False)
    messages = re.findall(r"^.*(?:error|warning): .*$", done.stderr.decode("latin-1"), re.MULTILINE)
    return "" if done.returncode == 0 else (messages or ["the compiler fails"])[0]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_code.sweep", description=__doc__.splitlines()[0]
    )
    parser.add_argument("paths", nargs="+", type=Path, help="C files, or folders of them")
    parser.add_argument(
        "--recipe", default="Parallelize()", help="the transformation (default: Parallelize())"
    )
    parser.add_argument("--flags", default="", help="what the compiler needs")
    parser.add_argument("--assume", action="append", default=[], choices=["noalias", "reassociate"])
    parser.add_argument("-o", "--output", type=Path, help="a folder for the transformed files")
    loops = parser.add_mutually_exclusive_group()
    loops.add_argument("--while", dest="uncounted", action="store_true", help="loops of `while`, too")
    loops.add_argument("--innermost", action="store_true", help="loops without others in them instead")
    parser.add_argument("-v", "--verbose", action="store_true", help="why loops are refused")
    given = parser.parse_args()
    flags = [
        flag.replace("-I", f"-I{Path.cwd()}/", 1) if re.match(r"-I[^/]", flag) else flag
        for flag in shlex.split(given.flags)
    ]
    files = [f for path in given.paths for f in (sorted(path.glob("*.c")) if path.is_dir() else [path])]
    reasons: Counter[str] = Counter()
    total = accepted = broken = 0
    for path in files:
        result = swept(
            path,
            given.recipe,
            given.assume,
            flags,
            given.output,
            uncounted=given.uncounted,
            innermost=given.innermost,
        )
        total, accepted, broken = (
            total + result.loops,
            accepted + result.accepted,
            broken + bool(result.broken),
        )
        print(f"{path.name:28} {result.accepted:3} of {result.loops:3}  {result.broken}", flush=True)
        for _, (code, message, line) in sorted(result.refused.items()):
            reasons[code] += 1
            if given.verbose:
                print(f"    line {line}: {code} {message}")
    print(f"{accepted} of {total} loops accepted: {', '.join(f'{c} {n}' for c, n in reasons.most_common())}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
