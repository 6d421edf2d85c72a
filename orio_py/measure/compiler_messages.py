"""A compiler's messages about generated programs, in the user's places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orio_py.build.compiler import BuildFailure
from orio_py.core.diagnostics import Diagnostic, Note
from orio_py.core.source import Position, SourceFile
from orio_py.spec.task import TuningTask

MOST_ERRORS = 6
"""Errors of a compiler that are shown; its others mostly follow from these."""

MOST_LINES = 12
"""Lines of output that are shown where none of them is an error of a known form."""

# `FILE:LINE:COLUMN: error: TEXT` is the form of gcc, clang, icx and zig; tcc leaves the column out.
_ERROR = re.compile(r"^(.+?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$")
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:?) [`']?([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class CompilerError:
    """One error: the compiler's text, and where in the user's file that is, or the generated line."""

    text: str
    position: Position | None
    line: str = ""

    @property
    def note(self) -> Note:
        """The error as a note, with the line of the generated program where the user's file has no such line."""
        return Note(self.text if not self.line else f"{self.text}: `{self.line}`", self.position)


def compiler_problem(
    code: str, message: str, failure: BuildFailure, task: TuningTask, generated: Path | None = None
) -> Diagnostic:
    """The diagnostic for something that does not build, at the place of the first error in the user's file.

    `generated` is the program that was compiled.
    """
    errors = list(_errors(failure.log, task.source, generated))[:MOST_ERRORS]
    missing = undefined_names(failure.log)
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        text = f"{message}: nothing that is linked defines {names}"
        help_text = "name the files or libraries that define it in `libs` of the `build` section"
        return Diagnostic(code, text, _place(errors) or task.position, help=help_text)
    if not errors:
        lines = [line for line in failure.log.splitlines() if line.strip()][:MOST_LINES]
        notes = tuple(Note(line) for line in lines)
        return Diagnostic(code, f"{message}: {failure.reason}", task.position, notes=notes)
    first = errors[0]
    text = first.text if first.position is not None or not first.line else first.note.message
    notes = tuple(error.note for error in errors[1:])
    return Diagnostic(code, f"{message}: {text}", first.position or task.position, notes=notes)


def undefined_names(log: str) -> tuple[str, ...]:
    """The functions and variables that a linker did not find, each once."""
    return tuple(dict.fromkeys(_UNDEFINED.findall(log)))


def _place(errors: list[CompilerError]) -> Position | None:
    return next((error.position for error in errors if error.position is not None), None)


def _errors(log: str, source: SourceFile, generated: Path | None) -> Iterator[CompilerError]:
    written = (
        generated.read_text("latin-1").split("\n") if generated is not None and generated.exists() else []
    )
    for line in log.splitlines():
        if (found := _ERROR.match(line)) is None:
            continue
        file, number, column, text = found[1], int(found[2]), int(found[3] or 1), found[4]
        if Path(file).name == Path(source.name).name and (generated is None or Path(file) != generated):
            yield CompilerError(text, Position(source.name, number, column))
        elif generated is not None and Path(file) == generated and 0 < number <= len(written):
            yield _in_generated(text, written[number - 1], column, source)
        else:
            yield CompilerError(f"{file}:{number}: {text}", None)


def _in_generated(text: str, line: str, column: int, source: SourceFile) -> CompilerError:
    """An error of a line that was copied from the user's file, if it is there once."""
    lines = source.text.split("\n")
    places = [number for number, own in enumerate(lines, 1) if own.strip() == line.strip()]
    if not line.strip() or len(places) != 1:
        return CompilerError(text, None, line.strip())
    indent = len(lines[places[0] - 1]) - len(lines[places[0] - 1].lstrip())
    shift = indent - (len(line) - len(line.lstrip()))
    return CompilerError(text, Position(source.name, places[0], max(1, column + shift)))
