"""An application built twice, from the original and from the tuned sources, run and compared.

Both are built in copies of the source tree.  Sources that were tuned in place are compiled with and without
`ORIO_ORIGINAL`; a result that stands beside its source (`_name.c`) takes the source's place in one of the copies; for
others the best of the results database is written there.
"""

from __future__ import annotations

import math
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from statistics import median

from orio_py.build.process import Completed, run
from orio_py.build.scratch import Scratch
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.units import Seconds
from orio_py.spec.generated import GENERATED_MARK, OPEN
from orio_py.tuning.files.marks import may_be_annotated
from orio_py.tuning.files.tree import FileSelection, expand_paths

_NUMBER = re.compile(
    r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf(?:inity)?\b|nan\b)", re.I
)
_LEFT_OUT = shutil.ignore_patterns(".git", ".hg", ".svn", "__pycache__")
_STDOUT = "standard output"
_WIDEST = 160
"""Characters of a line that are shown."""


class TunedProgramFailure(DiagnosticError):
    """The tuned program cannot be built or run where the original can."""


class Version(StrEnum):
    """Which of the two programs."""

    ORIGINAL = "original"
    TUNED = "tuned"


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """What is built and run, in copies of the folder `tree`.

    `outputs` are files that the program writes, below the tree, which are compared beside its standard output; numbers in
    them may differ by `tolerance`, relative to the larger one.
    """

    tree: Path
    build: str | None
    command: Sequence[str]
    outputs: Sequence[Path] = ()
    tolerance: float = 0.0
    runs: int = 3
    timeout: Seconds = Seconds(600.0)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two outputs differ: the output's name, the line, and what stands there."""

    output: str
    line: int
    original: str
    tuned: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of both programs: the sources that were tuned, and the seconds of each run by version."""

    sources: tuple[str, ...]
    seconds: Mapping[Version, tuple[float, ...]]
    difference: Difference | None

    @property
    def ratio(self) -> float:
        """The median time of the original by that of the tuned program."""
        times = [median(self.seconds[version]) for version in Version]
        return times[0] / times[1]

    @property
    def ratios(self) -> tuple[float, ...]:
        """The ratio of each pair of runs, the smallest first."""
        pairs = zip(self.seconds[Version.ORIGINAL], self.seconds[Version.TUNED], strict=True)
        return tuple(sorted(original / tuned for original, tuned in pairs))


@dataclass(frozen=True, slots=True)
class Workspace:
    """Copies of a source tree, one for each version."""

    root: Path

    def tree(self, version: Version) -> Path:
        """The copy for one version."""
        return self.root / version

    def output(self, version: Version, number: int) -> Path:
        """Where the standard output of a run goes."""
        return self.root / f"{version}-{number}.out"

    def prepare(self, tree: Path) -> tuple[tuple[str, ...], tuple[Path, ...]]:
        """Copy the tree twice; the names of sources with their results in place, and the annotated ones without.

        The latter are in the tuned copy.  Raises OSError, DiagnosticError ORIO-U007 (no C files).
        """
        for version in Version:
            shutil.copytree(tree, self.tree(version), symlinks=True, ignore=_LEFT_OUT)
        found: list[str] = []
        without: list[Path] = []
        original = self.tree(Version.ORIGINAL)
        for path in expand_paths([original], FileSelection()):
            inner = path.relative_to(original)
            result = path.with_name(f"_{path.name}")
            data = path.read_bytes()
            if result.is_file() and GENERATED_MARK.encode() in result.read_bytes():
                (self.tree(Version.TUNED) / inner).write_bytes(result.read_bytes())
                for version in Version:
                    (self.tree(version) / inner.with_name(result.name)).unlink()
                found.append(inner.as_posix())
            elif OPEN.encode() in data and GENERATED_MARK.encode() in data:
                path.write_bytes(f'#define ORIO_ORIGINAL 1\n#line 1 "{path.name}"\n'.encode() + data)
                found.append(inner.as_posix())
            elif may_be_annotated(data):
                without.append(self.tree(Version.TUNED) / inner)
        return tuple(found), tuple(without)


def verify(request: VerifyRequest, workspace: Workspace, sources: Sequence[str]) -> Verification:
    """Build and run both versions, in turn.

    Raises DiagnosticError: ORIO-U037, U038; TunedProgramFailure with these codes.
    """
    for output in request.outputs:
        if output.is_absolute() or ".." in output.parts:
            fail("ORIO-U038", f"`{output}` is not below the tree, so that both programs would write it")
    build = request.build if request.build is not None else build_command(request.tree)
    for version in Version:
        done = run(["sh", "-c", build], timeout=request.timeout, directory=workspace.tree(version))
        if not done.ok:
            message = f"the {version} program cannot be built: `{build}` {_end(done)}"
            raise _failure(version, Diagnostic("ORIO-U037", message, help=_said(done)))
    seconds: dict[Version, list[float]] = {version: [] for version in Version}
    difference: Difference | None = None
    for number in range(request.runs):
        for version in list(Version)[:: 1 if number % 2 == 0 else -1]:
            seconds[version].append(_run(request, workspace, version, number))
        difference = difference or _compare(request, workspace, number)
    return Verification(tuple(sources), {v: tuple(times) for v, times in seconds.items()}, difference)


def build_command(tree: Path) -> str:
    """How a tree is built, as its files say.  Raises DiagnosticError: ORIO-U003."""
    if any((tree / name).is_file() for name in ("Makefile", "makefile", "GNUmakefile")):
        return "make"
    if (tree / "CMakeLists.txt").is_file():
        return "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"
    fail(
        "ORIO-U003",
        f"`{tree}` has neither a Makefile nor a CMakeLists.txt: a build command is needed",
        help="for example `--build 'gcc -O3 *.c -o app -lm'`",
    )


def _run(request: VerifyRequest, workspace: Workspace, version: Version, number: int) -> float:
    """Seconds of one run, from the start of the program to its end."""
    done = run(
        ["sh", "-c", 'exec "$@" > "$ORIO_VERIFY_OUTPUT"', "sh", *request.command],
        timeout=request.timeout,
        directory=workspace.tree(version),
        environment={"ORIO_VERIFY_OUTPUT": str(workspace.output(version, number))},
    )
    if not done.ok:
        message = f"the {version} program fails: `{shlex.join(request.command)}` {_end(done)}"
        raise _failure(version, Diagnostic("ORIO-U038", message, help=_said(done)))
    return done.seconds


def _failure(version: Version, problem: Diagnostic) -> DiagnosticError:
    return TunedProgramFailure(problem) if version is Version.TUNED else DiagnosticError(problem)


def _end(done: Completed) -> str:
    if done.timed_out:
        return f"did not end within {done.seconds:.0f} s"
    return f"was ended by {done.signal_name}" if done.signal_name else f"returned {done.returncode}"


def _said(done: Completed) -> str | None:
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return "\n".join(lines[:8]) or None


def _compare(request: VerifyRequest, workspace: Workspace, number: int) -> Difference | None:
    pairs = [(_STDOUT, *(workspace.output(version, number) for version in Version))]
    pairs += [
        (output.as_posix(), *(workspace.tree(version) / output for version in Version))
        for output in request.outputs
    ]
    for name, original, tuned in pairs:
        try:
            texts = [path.read_bytes() for path in (original, tuned)]
        except OSError as error:
            fail("ORIO-U038", f"the output `{name}` cannot be read: {error.strerror or error}")
        found = first_difference(name, texts[0], texts[1], request.tolerance)
        if found is not None:
            return found
    return None


def first_difference(name: str, original: bytes, tuned: bytes, tolerance: float) -> Difference | None:
    """The first line in which two outputs differ by more than numbers that are close; None if there is none."""
    if original == tuned:
        return None
    ours, theirs = (data.decode("latin-1").split("\n") for data in (original, tuned))
    for number, (one, two) in enumerate(zip_longest(ours, theirs), start=1):
        if one is None or two is None or not _are_close(one, two, tolerance):
            shown = ("(nothing)" if line is None else line[:_WIDEST] for line in (one, two))
            return Difference(name, number, *shown)
    return None


def _are_close(one: str, two: str, tolerance: float) -> bool:
    if one == two:
        return True
    if tolerance <= 0 or _NUMBER.sub("#", one) != _NUMBER.sub("#", two):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(two), strict=True)
    return all(_is_same(float(a), float(b), tolerance) for a, b in pairs)


def _is_same(a: float, b: float, tolerance: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance)


def scratch_workspace(parent: Path | None) -> tuple[Scratch, Workspace]:
    """A temporary folder for the copies, to be removed by the caller."""
    scratch = Scratch.make(parent)
    return scratch, Workspace(scratch.path)
