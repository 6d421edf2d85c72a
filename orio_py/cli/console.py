"""Where a command prints: results to stdout, progress and messages to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from textwrap import indent

from rich.console import Console, RenderableType
from rich.text import Text

from orio_py.cli.show import show_explanation
from orio_py.core.codes import CODES
from orio_py.core.diagnostics import Diagnostic, Severity, fail, render
from orio_py.core.source import SourceFile
from orio_py.core.streams import STANDARD_OUTPUT

# Wide enough that a table in a file or pipe is never folded.
PIPE_WIDTH = 250


class Color(StrEnum):
    """When to colour: on a terminal, always, never."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Detail(StrEnum):
    """How much to say."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


@dataclass(frozen=True, slots=True)
class Output:
    """The two streams of a command and how much is said on them."""

    results: Console
    messages: Console
    detail: Detail = Detail.NORMAL

    @classmethod
    def create(cls, *, color: Color = Color.AUTO, quiet: bool = False, verbose: bool = False) -> Output:
        """Consoles on the process's stdout and stderr."""
        detail = Detail.QUIET if quiet else Detail.VERBOSE if verbose else Detail.NORMAL
        return cls(_console(color, stderr=False), _console(color, stderr=True), detail)

    @property
    def is_quiet(self) -> bool:
        """Whether only problems are shown."""
        return self.detail is Detail.QUIET

    @property
    def is_verbose(self) -> bool:
        """Whether details are shown."""
        return self.detail is Detail.VERBOSE

    def result(self, what: RenderableType) -> None:
        """Print a result on stdout, unless quiet."""
        if not self.is_quiet:
            self.results.print(what)

    def message(self, what: RenderableType) -> None:
        """Print progress or a remark on stderr, unless quiet."""
        if not self.is_quiet:
            self.messages.print(what)

    def diagnostics(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, SourceFile]) -> None:
        """Print problems on stderr; quiet leaves out warnings, verbose adds each code's long text once."""
        explained: set[str] = set()
        for diagnostic in diagnostics:
            if self.is_quiet and diagnostic.severity is not Severity.ERROR:
                continue
            self.messages.print(_styled(diagnostic, sources), soft_wrap=True)
            if self.is_verbose and diagnostic.code not in explained:
                explained.add(diagnostic.code)
                self.messages.print(Text(_long_text(diagnostic.code)), soft_wrap=True)


class _Console(Console):
    """A console that leaves a closed pipe to `cli.main`, as plain `print` does."""

    def on_broken_pipe(self) -> None:
        """Called by rich while the exception is handled; by default it ends the process with status 1."""
        raise BrokenPipeError


def _console(color: Color, *, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    terminal = stream.isatty()
    return _Console(
        stderr=stderr,
        width=None if terminal else PIPE_WIDTH,
        force_terminal=True if color is Color.ALWAYS else None,
        color_system=None if color is Color.NEVER else "standard" if color is Color.ALWAYS else "auto",
        no_color=False if color is Color.ALWAYS else None,
        markup=False,
        emoji=False,
        highlight=False,
    )


def _long_text(code: str) -> str:
    entry = CODES.get(code)
    return (
        indent(show_explanation(entry.explanation), "  | ", lambda _: True) + "\n"
        if entry is not None
        else ""
    )


def _styled(diagnostic: Diagnostic, sources: Mapping[str, SourceFile]) -> Text:
    text = Text(render(diagnostic, sources))
    style = "bold red" if diagnostic.severity is Severity.ERROR else "bold yellow"
    text.highlight_words([f"{diagnostic.severity}[{diagnostic.code}]"], style)
    text.highlight_regex(r"(?m)^\s*\^$", "bold green")
    text.highlight_regex(r"(?m)^help:", "bold cyan")
    return text


def print_json(document: Mapping[str, object]) -> None:
    """Print a JSON document on stdout, as it is: neither coloured nor folded."""
    sys.stdout.write(_json_text(document))


def write_json(document: Mapping[str, object], target: str) -> None:
    """Write a JSON document to a file, or to stdout for `-`.  Raises DiagnosticError: ORIO-U009."""
    if target == "-":
        print_json(document)
        return
    path = Path(target)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(_json_text(document), encoding="ascii")
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        fail("ORIO-U009", f"cannot write `{target}`: {error.strerror or error}")


def check_json_target(target: str | None) -> None:
    """Find out before a long run that a JSON file cannot be written.  Raises DiagnosticError: ORIO-U009."""
    if target is None or target == "-":
        return
    path = Path(target)
    if path.is_dir():
        fail("ORIO-U009", f"cannot write `{target}`: it is a folder; `--json` needs a file or `-`")
    if not path.parent.is_dir():
        fail("ORIO-U009", f"cannot write `{target}`: there is no folder `{path.parent}`")
    if not os.access(path.parent, os.W_OK):
        fail("ORIO-U009", f"cannot write `{target}`: the folder `{path.parent}` is not writable")


def check_one_result(json: str | None, output: Path | None) -> None:
    """Refuse two results on stdout, of which neither could be read.  Raises DiagnosticError: ORIO-U010."""
    if json == "-" and output == STANDARD_OUTPUT:
        help_text = "write one of them to a file"
        fail("ORIO-U010", "the code and the JSON results cannot both go to stdout", help=help_text)


def _json_text(document: Mapping[str, object]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
