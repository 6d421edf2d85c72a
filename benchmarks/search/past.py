r"""What trials on another device are worth to a search, and what a past costs that misleads.

    python -m benchmarks.search.past --spaces DIR --seeds 20 --trials 100 --jobs 2

DIR holds recordings named `KERNEL_DEVICE`.  For each kernel and each ordered pair of its devices, trials on the
first are the past of a search on the second: those of a search by `auto`, of a random search, and those of `auto`
with their objectives inverted, so that the past calls the slowest the fastest.  Searches with and without a past
start with the same seed; nothing is built or measured.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import product
from math import exp, inf, log, sqrt
from multiprocessing import get_context
from pathlib import Path
from statistics import mean

from benchmarks.search.recordings import find_spaces, recording, space_name
from benchmarks.search.runs import Searcher, run
from benchmarks.search.tables import Run
from benchmarks.search.traces import Trace
from orio_py.core.diagnostics import DiagnosticError
from orio_py.measure.replay import ReplayEvaluator
from orio_py.search.base import PastSeries, SearchContext, drive
from orio_py.search.catalog import start_search

KINDS = {"auto": "auto", "random": "random", "reversed": "auto", "alike": "auto"}
"""The pasts, with the searcher whose trials they are."""

AUTO = Searcher.read("auto")
SEEDS_APART = 10_000
"""A past has a seed of its own, so far from that of the search."""
PAST_BATCH = 8
MARKS = (10, 25, 50, 100)
CLOSE = (1.10, 1.05)
SEEDS_AT_ONCE = 5
ALIKE = 0.05
"""The spread of the logarithm of the factors between objectives of pasts that are alike."""


@dataclass(frozen=True)
class Work:
    """Searches on some spaces, each once per seed; with the trials on `earlier` of each kind as their past."""

    spaces: tuple[Path, ...]
    seeds: range
    trials: int
    batch: int
    earlier: Path | None = None
    kinds: tuple[str, ...] = ()
    past_trials: int = 0


@dataclass(frozen=True)
class Key:
    """What is searched with which past; `kind` is empty without one."""

    space: str
    kind: str = ""
    earlier: str = ""


def options() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.search.past", description=(__doc__ or "").splitlines()[0]
    )
    add = parser.add_argument
    add("--spaces", type=Path, required=True, metavar="DIR", help="the folder of the recorded spaces")
    add("--only", default="", metavar="A,B", help="these spaces of the folder only")
    add("--kinds", default=",".join(KINDS), metavar="A,B", help=f"these pasts only ({','.join(KINDS)})")
    add("--seeds", type=int, default=20, metavar="N", help="runs of each search (20)")
    add("--first-seed", type=int, default=0, metavar="N", help="the seed of the first run (0)")
    add("--trials", type=int, default=100, metavar="N", help="evaluations of a run (100)")
    add("--past-trials", type=int, default=200, metavar="N", help="evaluations that a past holds (200)")
    add("--batch", type=int, default=1, metavar="N", help="configurations that are proposed at once (1)")
    add("--jobs", type=int, default=2, metavar="N", help="processes (2)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything, print the tables."""
    chosen = options().parse_args(arguments)
    names = [name for name in chosen.only.split(",") if name]
    kinds = tuple(kind for kind in chosen.kinds.split(",") if kind)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise SystemExit(f"there is no past {', '.join(unknown)}; there are {', '.join(KINDS)}")
    work = list(all_work(find_spaces(chosen.spaces, names), kinds, chosen))
    found: dict[Key, list[Run]] = defaultdict(list)
    overhead: dict[str, list[float]] = defaultdict(list)
    for key, trace in sorted(_results(work, chosen.jobs), key=lambda one: one[1].seed):
        one = _as_run(trace)
        found[key].append(one)
        overhead[key.kind].append(1e3 * one.overhead / len(one.shares))
    for kind in kinds:
        print(table(kind, found, chosen.trials))
    each = (f"{kind or 'none'} {mean(values):.1f}" for kind, values in overhead.items())
    print(f"Milliseconds of the searcher per evaluation, by past: {', '.join(each)}.")
    return 0


def all_work(paths: Sequence[Path], kinds: Sequence[str], chosen: argparse.Namespace) -> Iterator[Work]:
    """The searches to run; a past is made once for all spaces that it is the past of."""
    end = chosen.first_seed + chosen.seeds
    for first in range(chosen.first_seed, end, SEEDS_AT_ONCE):
        seeds = range(first, min(first + SEEDS_AT_ONCE, end))
        for path in paths:
            yield Work((path,), seeds, chosen.trials, chosen.batch)
            others = tuple(other for other in paths if other != path and _kernel(other) == _kernel(path))
            apart = tuple(kind for kind in kinds if kind != "alike")
            same = ("alike",) if "alike" in kinds else ()
            for spaces, some in ((others, apart), ((path,), same)):
                if spaces and some:
                    past_trials = chosen.past_trials
                    yield Work(spaces, seeds, chosen.trials, chosen.batch, path, some, past_trials)


def _kernel(path: Path) -> str:
    return space_name(path).rpartition("_")[0]


def work_off(work: Work) -> list[tuple[Key, Trace]]:
    """A run per space, seed and past.  Raises RuntimeError, which can travel between processes."""
    try:
        return list(_runs(work))
    except DiagnosticError as error:
        raise RuntimeError(error.diagnostics[0].message) from None


def _runs(work: Work) -> Iterator[tuple[Key, Trace]]:
    for seed in work.seeds:
        if work.earlier is None:
            for path in work.spaces:
                yield Key(space_name(path)), run(path, AUTO, seed, work.trials, work.batch)
            continue
        sources = sorted({KINDS[kind] for kind in work.kinds})
        stored = {source: earlier_trials(work.earlier, source, seed, work.past_trials) for source in sources}
        for kind, path in product(work.kinds, work.spaces):
            past = _changed(stored[KINDS[kind]], kind, seed)
            key = Key(space_name(path), kind, space_name(work.earlier))
            yield key, run(path, AUTO, seed, work.trials, work.batch, past=[past])


def _changed(past: PastSeries, kind: str, seed: int) -> PastSeries:
    """The trials with the objectives that a kind of past has."""
    if kind == "reversed":
        return [(configuration, None if t is None else 1.0 / t) for configuration, t in past]
    if kind == "alike":
        rng = random.Random(seed)
        return [(c, None if t is None else t * rng.lognormvariate(0.0, ALIKE)) for c, t in past]
    return past


def earlier_trials(path: Path, searcher: str, seed: int, trials: int) -> PastSeries:
    """The trials of a search on a recorded space."""
    found = recording(path)
    context = SearchContext(found.space, random.Random(seed + SEEDS_APART), {}, trials, PAST_BATCH)
    return drive(start_search(searcher, context), ReplayEvaluator(found), trials)


def _results(work: Sequence[Work], jobs: int) -> Iterator[tuple[Key, Trace]]:
    if jobs <= 1:
        for piece in work:
            yield from work_off(piece)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(work_off, piece) for piece in work]):
            yield from future.result()


def _as_run(trace: Trace) -> Run:
    """The shares of a trace, its overhead in all."""
    shares = tuple(float(row[6]) for row in trace.rows)
    return Run(shares, tuple(float(row[7]) for row in trace.rows), float(trace.rows[-1][8]))


def needed(runs: Sequence[Run], threshold: float, trials: int) -> float:
    """The mean evaluations to come so close to the optimum; a run that does not get there counts with all."""
    return mean(min(one.reached(threshold), trials) for one in runs)


def ratio_error(with_past: Sequence[Run], without: Sequence[Run], threshold: float, trials: int) -> float:
    """The standard error of the ratio of both means over seeds, to first order; infinity for a single seed."""
    if len(without) < 2:
        return inf
    pairs = [
        (min(a.reached(threshold), trials), min(b.reached(threshold), trials))
        for a, b in zip(with_past, without, strict=True)
    ]
    base = mean(before for _, before in pairs)
    ratio = mean(after for after, _ in pairs) / base
    rest = sum((after - ratio * before) ** 2 for after, before in pairs)
    return sqrt(rest / (len(pairs) * (len(pairs) - 1))) / base


def table(kind: str, found: Mapping[Key, Sequence[Run]], trials: int) -> str:
    """A Markdown table with a row per pair of devices: without a past, with it, and the ratio."""
    marks = [mark for mark in MARKS if mark <= trials]
    head = ["past", "search on", *(f"to {100 * c - 100:.0f} %: without, with, ratio" for c in CLOSE)]
    head += [f"share@{mark}" for mark in marks]
    lines = [f"### {kind}", "", _line(head), _line(["---"] * len(head))]
    ratios: dict[float, list[float]] = defaultdict(list)
    for key in sorted((key for key in found if key.kind == kind), key=lambda k: (k.earlier, k.space)):
        with_past, without = found[key], found[Key(key.space)]
        cells = [key.earlier, key.space]
        for close in CLOSE:
            before, after = needed(without, close, trials), needed(with_past, close, trials)
            ratios[close].append(after / before)
            error = ratio_error(with_past, without, close, trials)
            cells.append(f"{before:.1f}, {after:.1f}, {after / before:.2f} ± {error:.2f}")
        for mark in marks:
            first, second = (mean(one.share(mark) for one in runs) for runs in (without, with_past))
            cells.append(f"{first:.3f}, {second:.3f}")
        lines.append(_line(cells))
    for close in CLOSE:
        of = ratios[close]
        middle = exp(mean(map(log, of)))
        lines.append("")
        lines.append(
            f"Ratio to {100 * close - 100:.0f} %: geometric mean {middle:.2f}, least {min(of):.2f}, worst {max(of):.2f}."
        )
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DiagnosticError as error:
        sys.exit("\n".join(str(diagnostic.message) for diagnostic in error.diagnostics))
