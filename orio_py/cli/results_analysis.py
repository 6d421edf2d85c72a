"""`orio results plot`, `importance` and `front`: what the stored trials tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.analysis_tables import convergence_table, importance_table
from orio_py.cli.console import Color, Output, print_json
from orio_py.cli.results_options import File, Objectives, Region, Task, database_place
from orio_py.cli.results_tables import curve_table, front_table
from orio_py.core.diagnostics import fail
from orio_py.core.registry import did_you_mean

if TYPE_CHECKING:  # types only: the database takes its time to load, and `orio --help` does without
    from orio_py.results import Place, Selection

KINDS = ("variants", "convergence", "parallel")


def plot(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="A picture (.svg, .png, .pdf, .html); default: a table."
        ),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="|".join(KINDS),
            help="Times of all variants in order, the best after each trial, or parallel coordinates.",
        ),
    ] = KINDS[0],
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Show how the times of all variants spread, how searches went, or where the best variants lie."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    if kind not in KINDS:
        message = f"`--kind {kind}`: one of {', '.join(KINDS)} is needed"
        fail("ORIO-U004", message, help=did_you_mean(kind, KINDS))
    place = database_place(db)
    made = PLOTS[kind](place, orio_py.results.Selection(file, region, task), output, json)
    if json:
        written = str(output) if output is not None else None
        print_json(orio_py.results.document(place, series=made.content, output=written))
    elif output is not None:
        count = len(made.content)
        out.result(f"{count} {made.noun if count == 1 else made.nouns} drawn in {output}")
    elif made.table is not None:
        out.result(made.table())
    return 0


@dataclass(frozen=True)
class _Made:
    """What a plot shows: as JSON, as a table (None: it has none), and what it is called."""

    content: Sequence[object]
    table: Callable[[], RenderableType] | None
    noun: str
    nouns: str


def _variants(place: Place, selection: Selection, output: Path | None, json: bool) -> _Made:
    found = orio_py.results.curves(place, selection)
    if output is not None:
        orio_py.results.plot_curves(found, output)
    content = [orio_py.results.curve_json(curve) for curve in found]
    return _Made(content, lambda: curve_table(found), "curve", "curves")


def _convergence(place: Place, selection: Selection, output: Path | None, json: bool) -> _Made:
    found = orio_py.analysis.ranked(place, selection)
    if output is not None:
        orio_py.analysis.plot_convergence(found, output)
    content = [orio_py.analysis.convergence_json(one) for one in found]
    return _Made(content, lambda: convergence_table(found), "search", "searches")


def _parallel(place: Place, selection: Selection, output: Path | None, json: bool) -> _Made:
    if output is None and not json:
        fail("ORIO-U003", "orio results plot: `--kind parallel` is a picture; name it with `-o`")
    found = orio_py.analysis.coordinates(orio_py.analysis.ranked(place, selection))
    if output is not None:
        orio_py.analysis.plot_coordinates(found, output)
    return _Made([orio_py.analysis.coordinates_json(one) for one in found], None, "space", "spaces")


PLOTS: Mapping[str, Callable[[Place, Selection, Path | None, bool], _Made]] = {
    "variants": _variants,
    "convergence": _convergence,
    "parallel": _parallel,
}


def front(
    objective: Objectives = None,
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Show the best compromises: variants that no other one beats in every objective."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    place = database_place(db)
    found = orio_py.analysis.fronts(
        place, orio_py.results.Selection(file, region, task), tuple(objective or ())
    )
    if json:
        shown = [orio_py.analysis.front_json(stored, one) for stored, one in found]
        print_json(orio_py.results.document(place, series=shown))
    else:
        for stored, one in found:
            out.result(front_table(stored, one))
    return 0


def importance(
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Show which parameters mattered: how much worse a model predicts when it is told wrong values."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    place = database_place(db)
    found = orio_py.analysis.importances(place, orio_py.results.Selection(file, region, task))
    if json:
        shown = [orio_py.analysis.importance_json(entry) for entry in found]
        print_json(orio_py.results.document(place, series=shown))
    else:
        out.result(importance_table(found))
    return 0
