"""`orio predict`: which variants are predicted to be fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json
from orio_py.cli.tables import ranked_variants

EPILOG = "Example: orio predict mm.c --limit 5"

_SHOWN = 10


def predict(
    paths: shared.Paths,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", metavar="FILE", help="A model of speed; default: the one that comes with orio."
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="N",
            parser=shared.whole_number("--sample", least=1),
            help="Random variants that are ranked (default: 500), and then what is near the best.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            parser=shared.whole_number("--limit", least=1),
            help="At most N variants in the table (default: 10); JSON has all.",
        ),
    ] = None,
    spec: shared.Spec = None,
    assume: shared.Assume = None,
    settings: shared.Settings = None,
    cc: Annotated[
        str | None, typer.Option("--cc", metavar="CMD", help="Compiler command, whose options count.")
    ] = None,
    compile_commands: shared.CompileCommandsPath = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Rank variants by what is known before they are compiled; build and run nothing."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    chosen = orio_py.PredictOptions(model) if sample is None else orio_py.PredictOptions(model, sample)
    tuned = orio_py.TuneOptions(
        cc=cc,
        spec=spec,
        assume=tuple(assume or ()),
        pins=shared.parse_pins(settings or ()),
        compile_commands=compile_commands,
    )
    report = orio_py.predict(paths, options=chosen, tune_options=tuned)
    out.diagnostics(report.diagnostics, report.sources)
    if json:
        print_json(report.as_json())
    elif report.regions:
        out.result(ranked_variants(report.regions, limit or _SHOWN))
    return report.exit_code
