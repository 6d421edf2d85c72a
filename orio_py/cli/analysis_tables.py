"""What stored trials tell, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from orio_py.cli.results_tables import blocks, region_words
from orio_py.cli.show import show_count, show_seconds
from orio_py.cli.tables import NOTHING, make_table

if TYPE_CHECKING:  # types only: the database takes its time to load, and `orio --help` does without
    from orio_py.analysis import SeriesImportances
    from orio_py.store.progress_plots import Ranked

CLOSE = 1.05
WEAK = 0.3
"""With less of the variance explained, importances deserve a warning."""
BAR = 24


def convergence_table(found: Sequence[Ranked]) -> RenderableType:
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
            show_count(skipped + 1 + next(k for k, v in enumerate(steps) if v <= CLOSE * steps[-1])),
            blocks(steps),
        )
    return table


def _number(value: float) -> str:
    return f"{value:.6g}"


def importance_table(found: Sequence[SeriesImportances]) -> RenderableType:
    """Per series a table: parameters, the most important first, with their shares and the loss without them."""
    parts: list[RenderableType] = []
    for entry in found:
        one, learned = entry.ranked, entry.found
        goal = "the median time" if one.objective is None else f"`{one.objective}`"
        parts.append(Text(region_words(one.file, one.name, one.inputs), style="bold"))
        words = f"{100 * learned.explained:.0f} % of the variance of {goal} is explained"
        parts.append(Text(f"  {words}, from {show_count(learned.trials)} valid trials"))
        if learned.explained < WEAK:
            parts.append(Text("  that is little: do not rely on these importances", style="yellow"))
        table = make_table(
            ("parameter", "left"), ("values", "right"), ("share", "right"), ("", "left"), ("loss", "right")
        )
        for p in learned.parameters:
            bar = "█" * round(BAR * p.share)
            share = f"{100 * p.share:.1f} %" if p.values > 1 else NOTHING
            table.add_row(p.parameter, show_count(p.values), share, bar, f"{p.loss:.3f} ± {p.spread:.3f}")
        parts.append(table)
    return Group(*parts)
