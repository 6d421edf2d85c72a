"""`orio devices`: what works on this machine, and why the rest does not."""

from __future__ import annotations

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json
from orio_py.cli.tables import device_results

EPILOG = "Example: orio devices --json"


def devices(
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Show which compilers, counters, OpenCL devices and parts of CUDA work here, and why others do not."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    report = orio_py.devices()
    out.diagnostics(report.diagnostics, report.sources)
    if json:
        print_json(report.as_json())
    else:
        out.result(device_results(report))
    return report.exit_code
