"""`orio cc`: a compiler command whose annotated sources are tuned first."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
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
from orio_py.tune.marks import annotated_sources

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
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Run a compiler command with the tuned texts of its annotated sources."""
    if not command:
        fail(
            "ORIO-U003", "orio cc: a compiler command is needed behind `--`", help="`orio cc -- gcc -c mm.c`"
        )
    if not annotated_sources(command, Path.cwd()):
        return _run(command)
    # The tuner takes its time to load, and most files of a build do without.
    from orio_py.tune.wrapper import Wrapper

    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    chosen = orio_py.TuneOptions(trials=trials, time=time_limit, pins=shared.parse_pins(settings or ()))
    wrapper = Wrapper(
        words=command,
        directory=Path.cwd(),
        store=store if store is not None else _default_store(),
        options=chosen,
        tune=lambda source, target, options: _tuned(source, target, options, out),
        run=_run,
        may_tune=tune,
    )
    try:
        wrapper.options = with_defaults(chosen, configuration_for([Path.cwd()]))
    except DiagnosticError as problem:
        wrapper.told.extend(problem.diagnostics)
        wrapper.may_tune = False
    status = wrapper.compile()
    out.diagnostics(wrapper.told, {})
    return status


def _tuned(source: Path, target: Path, options: orio_py.TuneOptions, out: Output) -> Sequence[Diagnostic]:
    """Tune a file; a tuning that goes wrong must not keep the file from being compiled."""
    out.message(f"orio cc: tuning {source}")
    progress = progress_for(out, time.monotonic) if out.is_verbose else None
    try:
        with progress or nullcontext() as listener:
            report = orio_py.tune(source, output=target, options=options, listener=listener)
    except Exception as error:  # process boundary: the build goes on, whatever is wrong with the tuner
        message = f"`{source}` could not be tuned: {type(error).__name__}: {error}"
        return [Diagnostic("ORIO-U034", message, severity=Severity.WARNING)]
    if any(region.interrupted for region in report.regions):
        raise KeyboardInterrupt
    return report.diagnostics


def _default_store() -> Path:
    """The folder that the XDG Base Directory Specification names for such files."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "orio_py" / "cc"


def _run(words: Sequence[str]) -> int:
    """Run the compiler on our own streams; the exit status as a shell gives it."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        process = os.posix_spawnp(words[0], list(words), os.environ)
    except OSError as error:
        fail("ORIO-B002", f"the compiler `{words[0]}` cannot be started: {error.strerror or error}")
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status if status >= 0 else 128 - status
