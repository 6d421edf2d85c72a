"""`orio space`: what there is to search."""

from __future__ import annotations

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json
from orio_py.cli.tables import space_results

EPILOG = "Example: orio space mm.c"


def space(
    paths: shared.Paths,
    spec: shared.Spec = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Show parameters, constraints and the exact size of the space."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    report = orio_py.space(paths, spec=spec)
    out.diagnostics(report.diagnostics, report.sources)
    if json:
        print_json(report.as_json())
    elif report.regions:
        out.result(space_results(report.regions))
    return report.exit_code
