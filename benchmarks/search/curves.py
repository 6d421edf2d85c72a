"""Anytime curves: the best so far as a share of the optimum, over evaluations and over simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.search.tables import Run, Runs

QUARTILES = (25, 75)
POINTS = 300


def draw(runs: Runs, trials: int, path: Path) -> None:
    """Draw a column per space, two rows: mean share with a band from the lower to the upper quartile."""
    from matplotlib.figure import Figure  # optional, and slow to load

    spaces = sorted({space for _, space in runs})
    searchers = list(dict.fromkeys(searcher for searcher, _ in runs))
    figure = Figure(figsize=(4.2 * len(spaces), 7.5), layout="constrained")
    grid = figure.subplots(2, len(spaces), squeeze=False, sharey=True)
    for column, space in enumerate(spaces):
        for number, searcher in enumerate(searchers):
            of_both = runs.get((searcher, space), ())
            if not of_both:
                continue
            color = f"C{number % 10}"
            style = ("-", "--", ":", "-.")[number // 10 % 4]
            for axes, (x, shares) in zip(
                grid[:, column], (by_evaluation(of_both, trials), by_time(of_both)), strict=True
            ):
                low, high = np.percentile(shares, QUARTILES, axis=0)
                axes.plot(x, shares.mean(axis=0), style, color=color, label=searcher, linewidth=1.3)
                axes.fill_between(x, low, high, color=color, alpha=0.12, linewidth=0)
        grid[0, column].set_title(space)
        grid[0, column].set_xlabel("evaluations")
        grid[1, column].set_xlabel("simulated time in minutes")
        for axes in grid[:, column]:
            axes.grid(alpha=0.3)
    for axes in grid[:, 0]:
        axes.set_ylabel("optimum / best so far")
    grid[0, 0].legend(fontsize="small", loc="lower right")
    figure.savefig(str(path))


def by_evaluation(runs: Sequence[Run], trials: int) -> tuple[np.ndarray, np.ndarray]:
    """Evaluations from 1, and the shares of each run after each."""
    x = np.arange(1, trials + 1)
    return x, np.array([[run.share(int(k)) for k in x] for run in runs])


def by_time(runs: Sequence[Run]) -> tuple[np.ndarray, np.ndarray]:
    """Minutes of simulated time up to the median end of the runs, and the shares of each run at each."""
    end = float(np.median([run.simulated[-1] for run in runs]))
    x = np.linspace(0, end, POINTS)
    rows = []
    for run in runs:
        shares = np.array((0.0, *run.shares))
        rows.append(shares[np.searchsorted(np.array(run.simulated), x, side="right")])
    return x / 60, np.array(rows)
