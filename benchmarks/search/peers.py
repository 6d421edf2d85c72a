"""Runs of other tuners on recorded spaces, in a Python of their own that need not know orio_py.

    python -m benchmarks.search.peers SPACE.json TUNER:STRATEGY FIRST_SEED SEEDS TRIALS OUT.csv

An evaluation is a configuration that was not evaluated before and is in the space: repetitions, and
proposals that the restrictions rule out, are free.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.search.traces import Trace, write_rows

Values = tuple[Any, ...]

STALLED = 1000
"""After so many proposals in a row that are known or not in the space, a tuner has converged."""


@dataclass
class Table:
    """A recorded space: parameters with their values, and what each configuration achieved and cost."""

    space: str
    optimum: float
    parameters: dict[str, list[Any]]
    rows: dict[Values, tuple[float | None, float]]

    @classmethod
    def read(cls, path: Path) -> Table:
        """The space in a file that `recordings.write_for_peers` wrote."""
        content = json.loads(path.read_text(encoding="utf-8"))
        rows = {tuple(values): (objective, cost) for values, objective, cost in content["rows"]}
        return cls(content["space"], content["optimum"], content["parameters"], rows)


class Recorder:
    """Answers from the table and keeps the trace; all processor time between answers is the tuner's."""

    def __init__(self, table: Table, trace: Trace) -> None:
        self.table = table
        self.trace = trace
        self.seen: set[Values] = set()
        self.overhead = 0.0
        self.since = process_time()

    def ask(self, values: Values) -> float | None:
        """The objective of a configuration of the table, None for a failure."""
        self.overhead += process_time() - self.since
        objective, cost = self.table.rows[values]
        if values not in self.seen:
            self.seen.add(values)
            self.trace.add(objective, cost, self.overhead)
        self.since = process_time()
        return objective


def kernel_tuner(recorder: Recorder, strategy: str, seed: int) -> None:
    """A strategy of Kernel Tuner with its default options and the budget as `max_fevals`."""
    import numpy  # the tuners are optional, and each run needs one
    from kernel_tuner import interface, util
    from kernel_tuner.runners.runner import Runner
    from kernel_tuner.searchspace import Searchspace

    random.seed(seed)
    numpy.random.seed(seed)
    table, trials = recorder.table, min(recorder.trace.trials, len(recorder.table.rows))

    class Replay(Runner):
        """Stands in for the simulation runner, which wants a file and prints."""

        def get_device_info(self) -> None:
            """No device."""

        def get_environment(self, tuning_options: object) -> dict[str, object]:
            """Nothing is known."""
            return {}

        def run(self, parameter_space: Iterable[Sequence[Any]], tuning_options: Any) -> list[Any]:
            """Answer, and count what is new, until the budget is spent."""
            results: list[Any] = []
            for element in parameter_space:
                if tuning_options.budget.is_done():
                    results.append(None)
                    continue
                values = tuple(v.item() if hasattr(v, "item") else v for v in element)
                if values not in recorder.seen:
                    tuning_options.budget.add_evaluations(1)
                result = dict(zip(table.parameters, values, strict=True))
                objective = recorder.ask(values)
                if objective is None:
                    result["__error__"] = util.RuntimeFailedConfig()
                else:
                    result["time"] = objective
                results.append(result)
            return results

    names = list(table.parameters)
    entries = {",".join(map(str, key)): dict(zip(names, key, strict=True)) for key in table.rows}
    recorder.since = process_time()
    space = Searchspace(
        None, None, None, from_cache={"tune_params": dict(table.parameters), "cache": entries}
    )
    options = interface.Options(
        {
            "objective": ["time"],
            "objective_higher_is_better": [False],
            "strategy_options": interface.Options({"max_fevals": trials}),
            "max_fevals": trials,
            "budget": util.TuningBudget(None, trials),
            "tune_params": table.parameters,
            "restrictions": [],
            "verbose": False,
            "cache": {},
            "seed": seed,
        }
    )
    with contextlib.suppress(util.StopCriterionReached):
        interface.strategy_map[strategy].tune(space, Replay(), options)


def optuna(recorder: Recorder, strategy: str, seed: int) -> None:
    """Optuna's TPE with its default options; it ends when it proposes nothing new any more.

    Failures, and proposals that are not in the space, are failed trials; repetitions are answered again.
    """
    import optuna as library  # as above
    from optuna.trial import TrialState

    library.logging.set_verbosity(library.logging.ERROR)
    samplers = {"tpe": library.samplers.TPESampler, "random": library.samplers.RandomSampler}
    recorder.since = process_time()
    study = library.create_study(sampler=samplers[strategy](seed=seed))
    parameters = recorder.table.parameters
    stalled = 0
    while not recorder.trace.is_full and stalled < STALLED:
        trial = study.ask()
        values = tuple(_suggest(trial, name, choices) for name, choices in parameters.items())
        stalled = 0 if values in recorder.table.rows and values not in recorder.seen else stalled + 1
        objective = recorder.ask(values) if values in recorder.table.rows else None
        if objective is None:
            study.tell(trial, state=TrialState.FAIL)
        else:
            study.tell(trial, objective)


def _suggest(trial: Any, name: str, choices: Sequence[Any]) -> Any:
    """A value: the place in a list of numbers, which have an order, else a category."""
    if all(isinstance(value, int | float) for value in choices):
        return choices[trial.suggest_int(name, 0, len(choices) - 1)]
    return trial.suggest_categorical(name, choices)


TUNERS = {"kernel_tuner": kernel_tuner, "optuna": optuna}


def run_peer(table: Table, peer: str, seed: int, trials: int) -> Trace:
    """A run; `peer` is `TUNER:STRATEGY`."""
    tuner, _, strategy = peer.partition(":")
    trace = Trace(table.space, peer, seed, table.optimum, trials)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TUNERS[tuner](Recorder(table, trace), strategy, seed)
    return trace


def main(arguments: Sequence[str]) -> int:
    """Run one peer on one space for several seeds."""
    path, peer, first, seeds, trials, target = arguments
    if peer.partition(":")[0] not in TUNERS:
        print(f"there is no tuner `{peer}`; there are {', '.join(TUNERS)}", file=sys.stderr)
        return 2
    table = Table.read(Path(path))
    try:
        traces = [run_peer(table, peer, int(first) + k, int(trials)) for k in range(int(seeds))]
    except ModuleNotFoundError as error:
        print(f"{error}; `pip install -r benchmarks/search/requirements.txt` brings it", file=sys.stderr)
        return 3
    write_rows(Path(target), (row for trace in traces for row in trace.rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
