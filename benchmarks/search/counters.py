r"""Counter-guided search on a recorded space with counters, beside searchers that know none.

    python -m benchmarks.search.counters --space FILE --seeds 30 --trials 200 --jobs 2

FILE is a recording with hardware counters, such as KTT writes.  Every run starts with another seed, and the models of
run k are trained on other configurations than those of run k + 1.  An evaluation is a configuration that was tried,
failures included, or a profiled run, also of one that was tried before.

    random, annealing, …    searchers without counters
    starchart               trees of times, as W. Jia, K. A. Shaw and M. Martonosi (PACT 2013) search
    SHARE METHOD            a model trained on a share of the space, drawn anew for each run
    other half METHOD       trained on one half of the space, searching the other
    less LIMIT METHOD       trained on the configurations whose largest number is below the median, searching all
    shuffled                a model of 50 % whose predictions belong to other configurations: it misleads
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, median
from time import process_time

import numpy as np

from benchmarks.search.recordings import THRESHOLDS
from benchmarks.search.starchart import starchart
from orio_py.measure.replay import Recording, ReplayEvaluator, record
from orio_py.model.counters.model import Array, CounterModel, Domain, TrainingSet, training_set
from orio_py.model.counters.regression import fit_regression
from orio_py.model.counters.trees import grow_ensemble, grow_tree
from orio_py.record.outcome import Outcome as Answer
from orio_py.record.trial import Trial
from orio_py.search.base import Batch, ProfiledBatch, Search, SearchContext
from orio_py.search.catalog import start_search
from orio_py.search.counter_guided import COSTS, PUBLISHED, CountersOptions, guided_by
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.listed import space_of_rows
from orio_py.store.interchange import format_of, read

PLAIN = ("random", "annealing", "basinhopping", "auto")
KINDS: dict[str, Callable[[TrainingSet], CounterModel]] = {
    "ensemble": grow_ensemble,
    "tree": grow_tree,
    "regression": fit_regression,
}


@dataclass(frozen=True)
class Condition:
    """A search: a plain searcher, or with a model of a kind, trained on a part of the space."""

    name: str
    part: float | str = 0.0
    method: str = COSTS
    kind: str = "ensemble"
    reaction: float = 0.7


CONDITIONS = (
    *(Condition(name) for name in PLAIN),
    Condition("starchart"),
    Condition("50 % published", 0.5, PUBLISHED),
    Condition("50 % published, reaction 0.5", 0.5, PUBLISHED, reaction=0.5),
    Condition("5 % published", 0.05, PUBLISHED),
    Condition("50 % costs", 0.5),
    Condition("50 % costs, tree", 0.5, kind="tree"),
    Condition("50 % costs, regression", 0.5, kind="regression"),
    Condition("5 % costs", 0.05),
    Condition("5 % costs, regression", 0.05, kind="regression"),
    Condition("1 % costs", 0.01),
    Condition("other half published", "half", PUBLISHED),
    Condition("other half costs", "half"),
    Condition("less than median costs", "less"),
    Condition("shuffled costs", "shuffled"),
)


@dataclass(frozen=True)
class Shuffled:
    """A model whose predictions belong to other configurations."""

    model: CounterModel

    @property
    def domain(self) -> Domain:
        """Of the model."""
        return self.model.domain

    def predict(self, rows: Array) -> Array:
        """The predictions in another order."""
        return self.model.predict(rows)[np.random.default_rng(0).permutation(len(rows))]


@lru_cache(maxsize=1)
def trials_of(path: Path) -> list[Trial]:
    """The trials of a file, kept for the next runs of this process."""
    return read(path, format_of(path), datetime.now(UTC))


def prepared(path: Path, condition: Condition, seed: int) -> tuple[Recording, CounterModel | None]:
    """The space to search and the model to search it with."""
    trials = trials_of(path)
    whole = record(trials)
    if not condition.part:
        return whole, None
    rng = random.Random(1_000_000 + seed)
    shuffled = rng.sample(trials, len(trials))
    match condition.part:
        case "half":
            half = len(trials) // 2
            shuffled, rest = shuffled[:half], shuffled[half:]
            whole = _restricted(whole, [trial.configuration for trial in rest])
        case "less":
            middle = median(_largest(trial.configuration) for trial in trials)
            shuffled = [trial for trial in trials if _largest(trial.configuration) < middle]
        case "shuffled":
            shuffled = shuffled[: len(trials) // 2]
        case share:
            shuffled = shuffled[: int(len(trials) * float(share))]
    training = training_set(shuffled)
    assert training is not None
    model = KINDS[condition.kind](training)
    return whole, Shuffled(model) if condition.part == "shuffled" else model


def _largest(configuration: Configuration) -> float:
    """The product of all numbers but 0: how much a configuration holds at once."""
    found = 1.0
    for value in configuration.values():
        if isinstance(value, int | float) and value > 0:
            found *= value
    return found


def _restricted(recording: Recording, kept: Sequence[Configuration]) -> Recording:
    rows = {configuration: recording.rows[configuration] for configuration in kept}
    return replace(recording, space=space_of_rows(list(rows)), rows=rows)


@dataclass(frozen=True)
class Outcome:
    """Evaluations to 10, 5 and 1 % (infinity for never) and the searcher's milliseconds per evaluation."""

    needed: tuple[float, ...]
    milliseconds: float


def run(path: Path, condition: Condition, seed: int, trials: int, batch: int) -> Outcome:
    """One search, as far as it takes to come within 1 %.  The training of its model is not charged."""
    recording, model = prepared(path, condition, seed)
    assert recording.optimum is not None
    evaluator = ReplayEvaluator(recording)
    context = SearchContext(recording.space, random.Random(seed), {}, trials, batch)
    search: Search
    if model is not None:
        options = CountersOptions(method=condition.method, reaction=condition.reaction)
        search = guided_by(model, context, options)
    elif condition.name == "starchart":
        search = starchart(context)
    else:
        search = start_search(condition.name, context)
    needed = [inf] * len(THRESHOLDS)
    number, spent = 0, 0.0
    batch_of: Batch | None = None
    outcomes: list[Answer] = []
    while number < trials and needed[-1] == inf:
        begin = process_time()
        batch_of = next(search, None) if batch_of is None else search.send(outcomes)
        spent += process_time() - begin
        if batch_of is None:
            break
        ask = evaluator.profile if isinstance(batch_of, ProfiledBatch) else evaluator
        outcomes = [ask(configuration) for configuration in batch_of]
        for outcome in outcomes:
            number += 1
            for place, threshold in enumerate(THRESHOLDS):
                time = outcome.objective
                if time is not None and time <= recording.optimum * threshold and number <= trials:
                    needed[place] = min(needed[place], number)
    return Outcome(tuple(needed), 1e3 * spent / max(number, 1))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything, print a table."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.search.counters", description=(__doc__ or "").split("\n")[0]
    )
    add = parser.add_argument
    add("--space", type=Path, required=True, metavar="FILE", help="the recording")
    add("--only", default="", metavar="A;B", help="these conditions only, separated by semicolons")
    add("--seeds", type=int, default=30, metavar="N", help="runs of each condition (30)")
    add("--first-seed", type=int, default=0, metavar="N", help="the seed of the first run (0)")
    add("--trials", type=int, default=200, metavar="N", help="evaluations of a run (200)")
    add("--batch", type=int, default=1, metavar="N", help="configurations that are proposed at once (1)")
    add("--jobs", type=int, default=2, metavar="N", help="processes (2)")
    chosen = parser.parse_args(arguments)
    wanted = [name.strip() for name in chosen.only.split(";") if name.strip()]
    conditions = [condition for condition in CONDITIONS if not wanted or condition.name in wanted]
    print(
        f"| search ({chosen.seeds} runs, batches of {chosen.batch}) | mean to 10 / 5 / 1 % | median | never | ms each |"
    )
    print("|---|---|---|---|---|")
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        for condition in conditions:
            seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
            futures = [
                pool.submit(run, chosen.space, condition, seed, chosen.trials, chosen.batch) for seed in seeds
            ]
            print(_row(condition.name, [future.result() for future in futures], chosen.trials), flush=True)
    return 0


def _row(name: str, outcomes: Sequence[Outcome], trials: int) -> str:
    columns = list(zip(*(outcome.needed for outcome in outcomes), strict=True))
    means: list[str] = []
    medians: list[str] = []
    never: list[str] = []
    for column in columns:
        missed = sum(value == inf for value in column)
        mean = fmean(min(value, trials) for value in column)
        means.append(f"{'> ' if missed else ''}{mean:.1f}")
        medians.append("> " + str(trials) if median(column) == inf else f"{median(column):g}")
        never.append(str(missed))
    each = fmean(outcome.milliseconds for outcome in outcomes)
    return f"| {name} | {' / '.join(means)} | {' / '.join(medians)} | {' / '.join(never)} | {each:.1f} |"


if __name__ == "__main__":
    sys.exit(main())
