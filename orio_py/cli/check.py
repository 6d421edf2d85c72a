"""`orio check`: find the mistakes without building anything."""

from __future__ import annotations

from typing import Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json
from orio_py.core.diagnostics import Severity

EPILOG = "Example: orio check kernels/"


def check(
    paths: shared.Paths,
    spec: shared.Spec = None,
    assume: shared.Assume = None,
    build: Annotated[
        bool,
        typer.Option(
            "--build", help="Also compile and link the original and one variant of each region; run nothing."
        ),
    ] = False,
    settings: shared.Settings = None,
    cc: Annotated[
        str | None, typer.Option("--cc", metavar="CMD", help="Compiler command for --build.")
    ] = None,
    compile_commands: shared.CompileCommandsPath = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Check annotations, specifications and legality; build nothing without --build."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    options = orio_py.TuneOptions(
        cc=cc,
        assume=tuple(assume or ()),
        pins=shared.parse_pins(settings or ()),
        compile_commands=compile_commands,
    )
    report = orio_py.check(paths, spec=spec, build=build, options=options)
    out.diagnostics(report.diagnostics, report.sources)
    if json:
        print_json(report.as_json())
        return report.exit_code
    errors = sum(d.severity is Severity.ERROR for d in report.diagnostics)
    warnings = len(report.diagnostics) - errors
    for each in report.legality:
        if (summary := each.summary()) is not None:
            out.result(summary)
    built = f"; {report.built} built" if report.built is not None else ""
    out.result(
        f"{_count(report.regions, 'region')}: {_count(errors, 'error')}, {_count(warnings, 'warning')}{built}"
    )
    return report.exit_code


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
