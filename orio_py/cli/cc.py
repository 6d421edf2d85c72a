"""`orio cc`: a compiler command whose annotated sources are tuned first."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output
from orio_py.cli.defaults import configuration_for, with_defaults
from orio_py.cli.progress import progress_for
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Severity, fail
from orio_py.core.units import Seconds
from orio_py.tuning.files.marks import annotated_sources

EPILOG = "Example: orio cc --trials 50 -- gcc -O3 -c mm.c -o mm.o      (in a Makefile: CC = orio cc -- gcc)"


def cc(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The compiler with its arguments.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store", metavar="DIR", help="Where tuned texts are kept (default: the user's cache folder)."
        ),
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune/--no-tune", help="Tune what is not stored, or compile it as written.")
    ] = True,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="N",
            parser=shared.whole_number("--trials", least=1),
            help="As in `orio tune`.",
        ),
    ] = None,
    time_limit: Annotated[
        Seconds | None,
        typer.Option("--time", metavar="DURATION", parser=shared.parse_duration, help="As in `orio tune`."),
    ] = None,
    settings: shared.Settings = None,
    db: shared.Database = None,
    no_db: Annotated[
        bool, typer.Option("--no-db", help="Remember nothing, and use nothing that is remembered.")
    ] = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Run a compiler command with the tuned texts of its annotated sources."""
    if not command:
        fail(
            "ORIO-U003", "orio cc: a compiler command is needed behind `--`", help="`orio cc -- gcc -c mm.c`"
        )
    if no_db and db is not None:
        fail("ORIO-U017", "`--no-db` contradicts `--db`")
    if not annotated_sources(command, Path.cwd()):
        return _run(command)
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    pins = shared.parse_pins(settings or ())
    chosen = orio_py.TuneOptions(
        trials=trials,
        time=time_limit,
        pins=pins,
        db=None if no_db else db if db is not None else shared.default_database(),
        db_required=False,  # without its database a build goes on, with a warning
    )
    return _compile(command, chosen, store if store is not None else _default_store(), out, may_tune=tune)


def _compile(
    command: Sequence[str], chosen: orio_py.TuneOptions, store: Path, out: Output, *, may_tune: bool
) -> int:
    """Compile with tuned texts, or as written with a warning, whatever is wrong with the tuning."""
    progress = progress_for(out, time.monotonic) if out.is_verbose else None
    try:
        options = with_defaults(chosen, configuration_for([Path.cwd()]))
        with progress or nullcontext() as listener:
            report = orio_py.compile_tuned(
                command,
                run=_run,
                store=store,
                options=options,
                may_tune=may_tune,
                listener=listener,
                announce=lambda source: out.message(f"orio cc: tuning {source}"),
            )
        out.diagnostics(report.diagnostics, report.sources)
        return report.exit_code
    except _CannotStart:
        raise
    except DiagnosticError as problem:
        told = [replace(d, severity=Severity.WARNING) for d in problem.diagnostics]
    except Exception as error:  # process boundary: a fault of the tuner must not break a build
        message = f"nothing could be tuned: {type(error).__name__}: {error}"
        told = [Diagnostic("ORIO-U034", message, severity=Severity.WARNING)]
    out.diagnostics(told, {})
    return _run(command)


class _CannotStart(DiagnosticError):
    """The compiler itself is missing."""


def _default_store() -> Path:
    """The folder of tuned texts in the user's cache folder."""
    return shared.cache_folder() / "cc"


def _run(words: Sequence[str]) -> int:
    """Run the compiler on our own streams; the exit status as a shell gives it."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        process = os.posix_spawnp(words[0], list(words), os.environ)
    except OSError as error:
        message = f"the compiler `{words[0]}` cannot be started: {error.strerror or error}"
        raise _CannotStart(Diagnostic("ORIO-B002", message)) from None
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status if status >= 0 else 128 - status
