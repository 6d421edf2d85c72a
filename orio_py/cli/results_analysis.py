"""`orio results plot`, `importance`, `front` and `bottleneck`: what the stored trials tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json
from orio_py.cli.results_options import File, Objectives, Region, Task, database_place
from orio_py.cli.results_tables import blocks, curve_table, front_table, region_words
from orio_py.cli.show import show_count, show_seconds
from orio_py.cli.tables import NOTHING, make_table
from orio_py.core.diagnostics import fail
from orio_py.core.registry import did_you_mean

if TYPE_CHECKING:  # types only: the database takes its time to load, and `orio --help` does without
    from orio_py.analysis import SeriesDiagnosis, SeriesImportances
    from orio_py.model.counters.diagnosis import Diagnosis
    from orio_py.results import Place, Selection
    from orio_py.store.progress_plots import Ranked

KINDS = ("variants", "convergence", "parallel")

_CLOSE = 1.05
"""Within this factor of the best, a search has as good as found it."""

_WEAK = 0.3
"""With less of the variance explained, importances deserve a warning."""

_BAR = 24
"""Characters of the longest bar."""


def plot(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            parser=shared.destination("--output"),
            help="A picture (.svg, .png, .pdf, .html); default: a table.",
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
    return _Made(content, lambda: _convergence_table(found), "search", "searches")


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
        out.result(_importance_table(found))
    return 0


def bottleneck(
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    profile: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Instead of stored trials, what `ncu --csv` printed."),
    ] = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Show what the best variants wait for: bandwidth, latency, computing, or the front end."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    if profile is not None:
        told = orio_py.analysis.profile_bottlenecks(profile)
        if json:
            shown = [orio_py.analysis.profile_json(entry) for entry in told]
            print_json(orio_py.results.document(profile, kernels=shown))
        else:
            out.result(Group(*(part for entry in told for part in _diagnosis(entry.kernel, entry.found, ""))))
        return 0
    place = database_place(db)
    found = orio_py.analysis.bottlenecks(place, orio_py.results.Selection(file, region, task))
    if json:
        shown = [orio_py.analysis.bottleneck_json(entry) for entry in found]
        print_json(orio_py.results.document(place, series=shown))
    else:
        out.result(_bottleneck_table(found))
    return 0


def _bottleneck_table(found: Sequence[SeriesDiagnosis]) -> RenderableType:
    """Per series what it is bound by, and a table of the parts."""
    parts: list[RenderableType] = []
    for entry in found:
        title = region_words(entry.ranked.file, entry.ranked.name, entry.ranked.inputs)
        parts += _diagnosis(title, entry.found, f", with {entry.best.configuration.show()}")
    return Group(*parts)


def _diagnosis(title: str, told: Diagnosis | None, remark: str) -> list[RenderableType]:
    """What something is bound by, and a table of the parts, the largest first."""
    head = Text(title, style="bold")
    if told is None:
        return [head, Text("  its counters do not tell what it waits for")]
    table = make_table(("part", "left"), (str(told.measure), "right"), ("", "left"))
    for name, value in told.parts.items():
        table.add_row(name, f"{100 * value:.1f} %", "█" * round(_BAR * value))
    return [head, Text(f"  {told.bound}{remark}"), table]


def _convergence_table(found: Sequence[Ranked]) -> RenderableType:
    """Per series: trials, the first valid and the best value, and after how many trials it was found."""
    table = make_table(
        ("region", "left"),
        ("trials", "right"),
        ("failed", "right"),
        ("first", "right"),
        ("best", "right"),
        ("found at", "right"),
        ("within 5 % at", "right"),
        ("best so far", "left"),
    )
    for one in found:
        steps = [value for value in one.best if value is not None]
        show = show_seconds if one.objective is None else _number
        skipped = len(one.best) - len(steps)
        table.add_row(
            region_words(one.file, one.name, one.inputs),
            show_count(len(one.values)),
            show_count(sum(value is None for value in one.values)),
            show(steps[0]),
            show(steps[-1]),
            show_count(skipped + 1 + steps.index(steps[-1])),
            show_count(skipped + 1 + next(k for k, v in enumerate(steps) if v <= _CLOSE * steps[-1])),
            blocks(steps),
        )
    return table


def _number(value: float) -> str:
    return f"{value:.6g}"


def _importance_table(found: Sequence[SeriesImportances]) -> RenderableType:
    """Per series a table: parameters, the most important first, with their shares and the loss without them."""
    parts: list[RenderableType] = []
    for entry in found:
        one, learned = entry.ranked, entry.found
        goal = "the median time" if one.objective is None else f"`{one.objective}`"
        parts.append(Text(region_words(one.file, one.name, one.inputs), style="bold"))
        words = f"{100 * learned.explained:.0f} % of the variance of {goal} is explained"
        parts.append(Text(f"  {words}, from {show_count(learned.trials)} valid trials"))
        if learned.explained < _WEAK:
            parts.append(Text("  that is little: do not rely on these importances", style="yellow"))
        table = make_table(
            ("parameter", "left"), ("values", "right"), ("share", "right"), ("", "left"), ("loss", "right")
        )
        for p in learned.parameters:
            bar = "█" * round(_BAR * p.share)
            share = f"{100 * p.share:.1f} %" if p.values > 1 else NOTHING
            table.add_row(p.parameter, show_count(p.values), share, bar, f"{p.loss:.3f} ± {p.spread:.3f}")
        parts.append(table)
    return Group(*parts)
