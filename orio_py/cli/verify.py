"""`orio verify`: the application with original and with tuned code, built, run and compared."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json
from orio_py.core.diagnostics import fail
from orio_py.core.units import Seconds

if TYPE_CHECKING:  # types only: `orio --help` does without what compiles and reads C
    from orio_py.tuning.verify import Verification

EPILOG = "Example: orio verify --build 'make app' --rel 1e-6 -- ./app input.txt"


def _tolerance(text: str) -> float:
    """A relative difference.  Raises DiagnosticError: ORIO-U004."""
    if not re.fullmatch(r"\d*\.?\d+([eE][-+]?\d+)?", text) or not 0 <= float(text) < 1:
        fail(
            "ORIO-U004", f"`--rel {text}`: a number from 0 up to 1 is needed", help="for example `--rel 1e-6`"
        )
    return float(text)


def _require_expression(pattern: str) -> None:
    """Raises DiagnosticError: ORIO-U004."""
    try:
        re.compile(pattern)
    except re.error as error:
        fail("ORIO-U004", f"`--ignore {pattern}` is no regular expression: {error}")


Build = Annotated[
    str | None,
    typer.Option(
        "--build",
        metavar="COMMAND",
        help="How the tree is built (a shell's command line). Without it `make` or `cmake`, as the tree has it.",
    ),
]
Tree = Annotated[
    Path, typer.Option("--tree", metavar="DIR", help="The folder with all that is needed to build and run.")
]
Compare = Annotated[
    list[Path] | None,
    typer.Option(
        "--compare",
        metavar="FILE",
        help="A file below the tree that the program writes, compared beside its output; may be repeated.",
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--rel",
        metavar="R",
        parser=_tolerance,
        help="Numbers may differ by this, relative to the larger; without it outputs are to be equal.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="REGEX",
        help="Lines in which this is found may differ, as those with times; may be repeated. Lines that the original "
        "writes in another way in each of its runs may so in any case.",
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs",
        metavar="N",
        parser=shared.whole_number("--runs", least=1),
        help="Runs of each program, in turn (3).",
    ),
]
Timeout = Annotated[
    Seconds | None,
    typer.Option(
        "--timeout", metavar="DURATION", parser=shared.parse_duration, help="Limit of one build or run (10m)."
    ),
]


def verify(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="How the program is run, in the tree.")
    ] = None,
    build: Build = None,
    tree: Tree = Path(),
    compare: Compare = None,
    rel: Tolerance = None,
    ignore: Ignore = None,
    runs: Runs = None,
    timeout: Timeout = None,
    db: shared.Database = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Build and run the application with original and with tuned code, and compare."""
    if not command:
        fail(
            "ORIO-U003",
            "orio verify: the command that runs the program is needed behind `--`",
            help="`orio verify -- ./app`",
        )
    if not tree.is_dir():
        fail("ORIO-U006", f"`{tree}` is no folder")
    for pattern in ignore or ():
        _require_expression(pattern)
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    report = orio_py.verify(
        command,
        tree=tree,
        build=build,
        outputs=compare or (),
        tolerance=rel or 0.0,
        ignore=ignore or (),
        runs=runs or 3,
        timeout=timeout or 600.0,
        database=db if db is not None else shared.default_database(),
    )
    out.diagnostics(report.diagnostics, report.sources)
    if json:
        print_json(report.as_json())
    elif report.result is not None:
        for line in _told(report.result):
            out.result(line)
    return report.exit_code


def _told(found: Verification) -> list[str]:
    lines = [f"tuned: {', '.join(found.sources)}"]
    for version, times in found.seconds.items():
        shown = ", ".join(f"{time:.3f}" for time in times)
        lines.append(
            f"{version}: {median(times):.3f} s (median of {len(times)} runs of the whole program: {shown})"
        )
    least, most = found.ratios[0], found.ratios[-1]
    lines.append(f"original / tuned: {found.ratio:.2f} (pairs of runs: {least:.2f} to {most:.2f})")
    different = found.difference
    if different is None:
        lines.append("outputs: equal")
    else:
        lines.append(f"outputs: DIFFERENT, {different.output}, line {different.line}")
        lines += [f"  original: {different.original}", f"  tuned:    {different.tuned}"]
        lines.append("  (lines that change from run to run can be left out: `--ignore REGEX`)")
    lines += [
        f"not compared: {each.count} of {each.total} lines of {each.output}, as the original does not repeat them: "
        f"line {each.line} `{each.text}`"
        for each in found.unsteady
    ]
    return lines
