"""`orio transform`: apply the recipes at one configuration; measure nothing, run nothing."""

from __future__ import annotations

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json

EPILOG = "Example: orio transform mm.c --set T_I=32 --set U_K=4 -o mm_tiled.c"


def transform(
    paths: shared.Paths,
    output: shared.OutputPath = None,
    in_place: shared.InPlace = False,
    spec: shared.Spec = None,
    settings: shared.Settings = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Apply the recipes at one configuration, without measuring."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    pins = shared.parse_pins(settings or ())
    report = orio_py.transform(paths, output=output, in_place=in_place, spec=spec, pins=pins)
    out.diagnostics(report.diagnostics, report.sources)
    if json:
        print_json(report.as_json())
    else:
        for path in report.outputs:
            out.result(f"wrote {path}")
    return report.exit_code
