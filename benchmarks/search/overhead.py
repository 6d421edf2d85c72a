r"""How much processor time a searcher takes per configuration that it proposes.

    OMP_NUM_THREADS=1 python -m benchmarks.search.overhead --spaces DIR --searchers auto --trials 100,500,1000 --batch 1,8

Runs each searcher once per space and batch size on recorded spaces, and prints the mean milliseconds per
configuration from the first up to each number of trials, and those of the last tenth alone.  The time of all
threads counts.  Loading libraries is done before and not counted.  A space with fewer configurations than trials is left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.search.recordings import find_spaces, recording, space_name
from benchmarks.search.runs import Searcher, run
from benchmarks.search.traces import Trace

WARM_UP = 40
"""So many trials are run before, to load what the searcher needs."""


def options() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.search.overhead", description=(__doc__ or "").splitlines()[0]
    )
    add = parser.add_argument
    add("--spaces", type=Path, required=True, metavar="DIR", help="the folder of the recorded spaces")
    add("--only", default="", metavar="A,B", help="these spaces of the folder only, by name or file name")
    add("--searchers", default="auto", metavar="A,B", help="searchers; `NAME;OPTION=VALUE` sets an option")
    add("--trials", default="100,500,1000", metavar="N,N", help="after how many trials (100,500,1000)")
    add("--batch", default="1,8", metavar="N,N", help="how many configurations are proposed at once (1,8)")
    add("--seed", type=int, default=0, metavar="N", help="the seed (0)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything, print the table."""
    chosen = options().parse_args(arguments)
    marks, batches = _numbers(chosen.trials), _numbers(chosen.batch)
    names = [name for name in chosen.only.split(",") if name]
    means = " | ".join(f"ms each to {mark}" for mark in marks)
    print(f"| searcher | space | batch | {means} | ms each of the last tenth |")
    print("|---|---|---|" + "---|" * (len(marks) + 1))
    for path in find_spaces(chosen.spaces, names):
        if len(recording(path).rows) < marks[-1]:
            continue
        for text in chosen.searchers.split(","):
            searcher = Searcher.read(text)
            run(path, searcher, chosen.seed, WARM_UP, 1)
            for batch in batches:
                spent = _spent(run(path, searcher, chosen.seed, marks[-1], batch))
                print(f"| {text} | {space_name(path)} | {batch} |", *_cells(spent, marks), flush=True)
    return 0


def _numbers(text: str) -> list[int]:
    return sorted(int(part) for part in text.split(","))


def _spent(trace: Trace) -> list[float]:
    """The seconds of processor time up to each evaluation."""
    return [float(row[-1]) for row in trace.rows]


def _cells(spent: Sequence[float], marks: Sequence[int]) -> list[str]:
    """The means in milliseconds; a search that ended before counts as far as it came."""
    last = len(spent)
    tenth = max(marks[-1] // 10, 1)
    means = [spent[min(mark, last) - 1] / min(mark, last) for mark in marks]
    means.append((spent[-1] - spent[last - tenth - 1]) / tenth)
    return [f"{1e3 * value:#.3g} |" for value in means]


if __name__ == "__main__":
    sys.exit(main())
