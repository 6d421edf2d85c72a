"""An application built twice, from the original and from the tuned sources, run and compared.

Both are built in copies of the source tree.  Sources that were tuned in place are compiled with and without
`ORIO_ORIGINAL`; a result that stands beside its source (`_name.c`) takes the source's place in one of the copies; for
others the best of the results database is written there.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import median

from orio_py.build.process import Completed, run
from orio_py.build.scratch import Scratch
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.units import Seconds
from orio_py.spec.generated import GENERATED_MARK, OPEN
from orio_py.tuning.files.marks import may_be_annotated
from orio_py.tuning.files.tree import FileSelection, expand_paths
from orio_py.tuning.program_outputs import EXACTLY, Difference, LineRules, Unsteady, compare_runs

_LEFT_OUT = shutil.ignore_patterns(".git", ".hg", ".svn", "__pycache__")
_STDOUT = "standard output"


class TunedProgramFailure(DiagnosticError):
    """The tuned program cannot be built or run where the original can."""


class Version(StrEnum):
    """Which of the two programs."""

    ORIGINAL = "original"
    TUNED = "tuned"


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """What is built and run, in copies of the folder `tree`.

    `outputs` are files that the program writes, below the tree, which are compared beside its standard output.
    """

    tree: Path
    build: str | None
    command: Sequence[str]
    outputs: Sequence[Path] = ()
    rules: LineRules = EXACTLY
    runs: int = 3
    timeout: Seconds = Seconds(600.0)


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of both programs: the sources that were tuned, and the seconds of each run by version.

    `unsteady` are the outputs of which lines were left out, as the original writes others in each run.
    """

    sources: tuple[str, ...]
    seconds: Mapping[Version, tuple[float, ...]]
    difference: Difference | None
    unsteady: tuple[Unsteady, ...] = ()

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

    def output(self, version: Version, number: int, file: Path | None = None) -> Path:
        """Where the standard output of a run goes, or a copy of a file that it writes."""
        name = "" if file is None else "-" + file.as_posix().replace("/", "|")
        return self.root / f"{version}-{number}{name}.out"

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
    for number in range(request.runs):
        for version in list(Version)[:: 1 if number % 2 == 0 else -1]:
            seconds[version].append(_run(request, workspace, version, number))
    difference, unsteady = _compare(request, workspace)
    return Verification(
        tuple(sources), {v: tuple(times) for v, times in seconds.items()}, difference, unsteady
    )


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
    for file in request.outputs:
        try:
            shutil.copyfile(workspace.tree(version) / file, workspace.output(version, number, file))
        except OSError as error:
            message = (
                f"the output `{file}` of the {version} program cannot be read: {error.strerror or error}"
            )
            raise _failure(version, Diagnostic("ORIO-U038", message)) from None
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


def _compare(request: VerifyRequest, workspace: Workspace) -> tuple[Difference | None, tuple[Unsteady, ...]]:
    """The first difference, and what does not count.  Raises DiagnosticError: ORIO-U038 (nothing counts)."""
    difference: Difference | None = None
    skipped: list[Unsteady] = []
    for file in (None, *request.outputs):
        texts = {
            version: [workspace.output(version, number, file).read_bytes() for number in range(request.runs)]
            for version in Version
        }
        name = _STDOUT if file is None else file.as_posix()
        found, unsteady = compare_runs(name, texts[Version.ORIGINAL], texts[Version.TUNED], request.rules)
        difference = difference or found
        skipped += [] if unsteady is None else [unsteady]
    if len(skipped) > len(request.outputs) and all(each.is_whole for each in skipped):
        fail(
            "ORIO-U038",
            "every line that the original program writes differs from run to run, so that nothing can be compared",
            help="name a file that it writes with `--compare FILE`, or let numbers differ with `--rel R`",
        )
    return difference, tuple(skipped)


def scratch_workspace(parent: Path | None) -> tuple[Scratch, Workspace]:
    """A temporary folder for the copies, to be removed by the caller."""
    scratch = Scratch.make(parent)
    return scratch, Workspace(scratch.path)
