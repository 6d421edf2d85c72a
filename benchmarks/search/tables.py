"""Tables and figures of merit from the rows of `traces`."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

CHECKPOINTS = (25, 50, 100, 200, 400, 800)
CLOSE = (1.10, 1.05, 1.01)


@dataclass(frozen=True)
class Run:
    """One run: the share of the optimum after each evaluation, the simulated seconds, the overhead in all."""

    shares: tuple[float, ...]
    simulated: tuple[float, ...]
    overhead: float

    def share(self, evaluations: int) -> float:
        """The share of the optimum after so many evaluations; a search that ended keeps what it has."""
        return self.shares[min(evaluations, len(self.shares)) - 1] if self.shares else 0.0

    def reached(self, threshold: float) -> float:
        """The evaluations until the time is at most the optimum times `threshold`; infinity for never."""
        # The shares are written with six digits.
        wanted = 1 / threshold - 1e-6
        return next((k for k, share in enumerate(self.shares, 1) if share >= wanted), math.inf)


Runs = Mapping[tuple[str, str], Sequence[Run]]
"""The runs by searcher and space."""


def read_runs(paths: Iterable[Path]) -> Runs:
    """The runs in CSV files."""
    rows: dict[tuple[str, str, str], list[Mapping[str, str]]] = defaultdict(list)
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                rows[row["searcher"], row["space"], row["seed"]].append(row)
    found: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for (searcher, space, _), of_run in rows.items():
        of_run.sort(key=lambda row: int(row["evaluation"]))
        found[searcher, space].append(
            Run(
                tuple(float(row["share"]) for row in of_run),
                tuple(float(row["simulated_s"]) for row in of_run),
                float(of_run[-1]["overhead_s"]),
            )
        )
    return found


@dataclass(frozen=True)
class Figures:
    """The figures of merit of a searcher on a space, or their mean over spaces.

    `shares` at the checkpoints; `close` the share of runs within 10, 5, 1 % by each of the deadlines;
    `needed` the median evaluations to 10, 5, 1 % (infinity where more than half of the runs do not get there);
    `mean_needed` the mean, where such a run counts with all its evaluations; `overhead` in milliseconds per
    evaluation.
    """

    shares: Mapping[int, float]
    close: Mapping[int, tuple[float, ...]]
    needed: tuple[float, ...]
    mean_needed: tuple[float, ...]
    overhead: float
    seeds: int


def checkpoints(trials: int) -> tuple[int, ...]:
    """The evaluations at which tables show the share of the optimum."""
    return tuple(k for k in CHECKPOINTS if k <= trials) or (trials,)


def figures(runs: Sequence[Run], trials: int) -> Figures:
    """The figures of the runs of a searcher on one space."""
    needed = [[run.reached(threshold) for run in runs] for threshold in CLOSE]
    deadlines = checkpoints(trials)[-2:]
    return Figures(
        {k: mean(run.share(k) for run in runs) for k in checkpoints(trials)},
        {d: tuple(mean(n <= d for n in of) for of in needed) for d in deadlines},
        tuple(median(n if n <= trials else math.inf for n in of) for of in needed),
        tuple(mean(min(n, trials) for n in of) for of in needed),
        mean(1e3 * run.overhead / len(run.shares) for run in runs),
        len(runs),
    )


def mean_figures(found: Sequence[Figures]) -> Figures:
    """The mean over spaces; of the median evaluations it is infinite if one is."""
    first = found[0]
    return Figures(
        {k: mean(f.shares[k] for f in found) for k in first.shares},
        {d: tuple(map(mean, zip(*(f.close[d] for f in found), strict=True))) for d in first.close},
        tuple(map(mean, zip(*(f.needed for f in found), strict=True))),
        tuple(map(mean, zip(*(f.mean_needed for f in found), strict=True))),
        mean(f.overhead for f in found),
        min(f.seeds for f in found),
    )


def show_table(title: str, rows: Sequence[tuple[str, Figures]], trials: int) -> str:
    """A Markdown table with a row per searcher, the best share at the last checkpoint first."""
    marks, deadlines = checkpoints(trials), checkpoints(trials)[-2:]
    head = ["searcher", *(f"share@{k}" for k in marks)]
    head += [f"10/5/1 % by {d}" for d in deadlines]
    head += ["median to 10/5/1 %", "mean to 10/5/1 %", "ms each", "runs"]
    lines = [f"### {title}", "", _line(head), _line(["---"] * len(head))]
    for name, found in sorted(rows, key=lambda row: -sum(row[1].shares.values())):
        cells = [name, *(f"{found.shares[k]:.3f}" for k in marks)]
        cells += [" / ".join(f"{100 * share:.0f}" for share in found.close[d]) for d in deadlines]
        cells += [" / ".join(f"{n:.0f}" if n <= trials else f">{trials}" for n in found.needed)]
        cells += [" / ".join(f"{n:.0f}" for n in found.mean_needed)]
        cells += [f"{found.overhead:.2f}", str(found.seeds)]
        lines.append(_line(cells))
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def all_tables(runs: Runs, trials: int, discriminating: Sequence[str]) -> str:
    """A table per space, the means over the discriminating ones, and what options cost that were chosen."""
    spaces = sorted({space for _, space in runs})
    searchers = list(dict.fromkeys(searcher for searcher, _ in runs))
    found = {key: figures(of_key, trials) for key, of_key in runs.items()}
    parts: list[str] = []
    for space in spaces:
        rows = [(name, found[name, space]) for name in searchers if (name, space) in found]
        parts.append(show_table(space, rows, trials))
    chosen = [space for space in spaces if space in discriminating]
    complete = [name for name in searchers if chosen and all((name, space) in found for space in chosen)]
    if complete:
        rows = [(name, mean_figures([found[name, space] for space in chosen])) for name in complete]
        title = f"Mean over the {len(chosen)} discriminating spaces ({', '.join(chosen)})"
        parts.append(show_table(title, rows, trials))
    parts += leave_one_out(found, complete, chosen, trials)
    return "\n".join(parts)


def leave_one_out(
    found: Mapping[tuple[str, str], Figures], searchers: Sequence[str], spaces: Sequence[str], trials: int
) -> list[str]:
    """For searchers that ran with several options: on each space, those that were best on the other spaces.

    That is what a user of the best options can expect on a space on which they were not chosen.
    """
    variants: dict[str, list[str]] = defaultdict(list)
    for name in searchers:
        variants[name.partition(";")[0]].append(name)
    rows: list[tuple[str, Figures]] = []
    choices: list[str] = []
    for base, names in variants.items():
        if len(names) < 2 or len(spaces) < 2:
            continue
        held_out: list[Figures] = []
        for space in spaces:
            others = [other for other in spaces if other != space]
            best = max(names, key=lambda name: _merit([found[name, other] for other in others]))
            choices.append(f"without {space}: `{best}`")
            held_out.append(found[best, space])
        rows.append((base, mean_figures(held_out)))
    if not rows:
        return []
    table = show_table("Options chosen on the other spaces, leaving one out at a time", rows, trials)
    return [table, *(f"- {choice}\n" for choice in choices)]


def _merit(found: Sequence[Figures]) -> float:
    return sum(mean(figure.shares.values()) for figure in found)
