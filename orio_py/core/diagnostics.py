"""Problems that a user can cause: what was found, where, and what is needed instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from orio_py.core.source import Position, SourceFile


class Severity(StrEnum):
    """How much a diagnostic matters: an error stops the command, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Note:
    """A further place or fact that belongs to a diagnostic."""

    message: str
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem.  `code` is listed in `core.codes`; `position` is None where no file is involved."""

    code: str
    message: str
    position: Position | None = None
    severity: Severity = Severity.ERROR
    notes: tuple[Note, ...] = ()
    help: str | None = None

    def headline(self) -> str:
        """`FILE:LINE:COL: error[CODE]: message`, the first line of what is printed."""
        place = f"{self.position}: " if self.position else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}"


class DiagnosticError(Exception):
    """Raised to end a step with one or more diagnostics that the user has to see."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(d.headline() for d in diagnostics))
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[type[DiagnosticError], tuple[Diagnostic, ...]]:
        """Pickled as it was made: workers on other machines send it."""
        return type(self), self.diagnostics


class EnvironmentProblem(DiagnosticError):
    """The machine lacks something: a compiler, a device (exit code 3)."""


def fail(code: str, message: str, position: Position | None = None, *, help: str | None = None) -> NoReturn:
    """Raise a `DiagnosticError` with one diagnostic."""
    raise DiagnosticError(Diagnostic(code, message, position, help=help))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of the diagnostics is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


def render(diagnostic: Diagnostic, sources: Mapping[str, SourceFile]) -> str:
    """The diagnostic as text: headline, source line with caret, notes and help."""
    lines = [diagnostic.headline(), *_excerpt(diagnostic.position, sources)]
    for note in diagnostic.notes:
        place = f"{note.position}: " if note.position else ""
        lines.append(f"{place}note: {note.message}")
        lines.extend(_excerpt(note.position, sources))
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    return "\n".join(lines)


def _excerpt(position: Position | None, sources: Mapping[str, SourceFile]) -> list[str]:
    if position is None or (source := sources.get(position.file)) is None:
        return []
    text = source.line_text(position.line)
    if not text.strip():
        return []
    shown = "".join(c if c.isprintable() or c == "\t" else "?" for c in text)
    margin = "".join("\t" if c == "\t" else " " for c in shown[: position.column - 1])
    if len(shown) > 200:
        start = max(0, position.column - 80)
        shown, margin = shown[start : start + 160], " " * (position.column - 1 - start)
    return ["    " + shown, "    " + margin + "^"]
