"""`orio transform`: apply the recipes at one configuration; measure nothing, run nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, check_one_result, print_json
from orio_py.core.streams import STANDARD_OUTPUT

EPILOG = "Example: orio transform mm.c --set T_I=32 --set U_K=4 -o mm_tiled.c"

Recipe = Annotated[
    Path | None,
    typer.Option(
        "--recipe",
        metavar="FILE",
        help="A recipe by statement number for the regions marked `/*@ begin CHiLL() @*/`.",
    ),
]


def transform(
    paths: shared.Paths,
    output: shared.OutputPath = None,
    in_place: shared.InPlace = False,
    spec: shared.Spec = None,
    assume: shared.Assume = None,
    recipe: Recipe = None,
    settings: shared.Settings = None,
    include: shared.Include = None,
    exclude: shared.Exclude = None,
    compile_commands: shared.CompileCommandsPath = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Apply the recipes at one configuration, without measuring."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    check_one_result("-" if json else None, output)
    pins = shared.parse_pins(settings or ())
    report = orio_py.transform(
        paths,
        output=output,
        in_place=in_place,
        spec=spec,
        assume=assume or (),
        recipe=recipe,
        pins=pins,
        include=include or (),
        exclude=exclude or (),
        compile_commands=compile_commands,
    )
    out.diagnostics(report.diagnostics, report.sources)
    if json:
        print_json(report.as_json())
    elif output != STANDARD_OUTPUT:
        for path in report.outputs:
            out.result(f"wrote {path}")
    return report.exit_code
