"""`orio explain`: the long text of a diagnostic."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output
from orio_py.cli.show import show_explanation
from orio_py.core.codes import CODES
from orio_py.core.diagnostics import fail
from orio_py.core.registry import nearest

EPILOG = "Example: orio explain ORIO-T003"


def explain(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="A code such as ORIO-T003; all codes without it.")
    ] = None,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Explain a diagnostic at length, or list all of them."""
    out = Output.create(color=color, verbose=verbose)
    if code is None:
        for name in sorted(CODES):
            out.result(Text(name if quiet else f"{name}  {CODES[name].title}"))
            if verbose:
                out.result(Text(f"\n{show_explanation(CODES[name].explanation)}\n"))
        return 0
    entry = CODES.get(_canonical(code))
    if entry is None:
        match = nearest(_canonical(code), CODES)
        advice = f"did you mean `{match}`?" if match else "`orio explain` lists all codes"
        fail("ORIO-U015", f"there is no diagnostic code `{code}`", help=advice)
    if not quiet:
        out.result(Text(f"{entry.name}: {entry.title}\n", style="bold"))
    out.results.print(Text(show_explanation(entry.explanation)), soft_wrap=True)
    return 0


def _canonical(code: str) -> str:
    name = code.strip().upper()
    return name if name.startswith("ORIO-") else f"ORIO-{name}"
