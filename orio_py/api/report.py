"""What all commands report, and the exit codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orio_py
from orio_py.core.diagnostics import Diagnostic, Severity, has_errors
from orio_py.core.source import SourceFile
from orio_py.tuning.files.load import Loaded

Paths = Path | str | Sequence[Path] | Sequence[str]

OK, BAD_INPUT, ENVIRONMENT, NO_VARIANT, INTERRUPTED = 0, 2, 3, 4, 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What every command reports: problems, the sources to show them in, and the exit code."""

    diagnostics: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, SourceFile] = field(default_factory=dict[str, SourceFile])
    exit_code: int = OK

    def _problems(self) -> list[dict[str, object]]:
        return [
            {
                "code": d.code,
                "severity": str(d.severity),
                "message": d.message,
                "file": d.position.file if d.position else None,
                "line": d.position.line if d.position else None,
                "column": d.position.column if d.position else None,
                "help": d.help,
            }
            for d in self.diagnostics
        ]

    def as_json(self) -> dict[str, object]:
        """The report as JSON content."""
        return {"version": 1, "tool": f"orio_py {orio_py.__version__}", "diagnostics": self._problems()}


def given_paths(paths: Paths) -> list[Path]:
    """One path or several, as a list."""
    if isinstance(paths, str | Path):
        return [Path(paths)]
    return [Path(path) for path in paths]


def nothing_found(loaded: Loaded, problems: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The warning ORIO-U014 where nothing was annotated."""
    if loaded.tasks or has_errors(problems):
        return []
    return [Diagnostic("ORIO-U014", "no annotated region was found", severity=Severity.WARNING)]
