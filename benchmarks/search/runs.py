"""Runs of our own searchers on recorded spaces."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.search.recordings import recording, space_name
from benchmarks.search.traces import Trace
from orio_py.core.diagnostics import DiagnosticError
from orio_py.measure.replay import ReplayEvaluator
from orio_py.record.outcome import Outcome
from orio_py.search.base import PastSeries, SearchContext
from orio_py.search.catalog import start_search

REPEATS_ALLOWED = 1000
"""A searcher that proposes as many known configurations in a row has nothing new to say."""


@dataclass(frozen=True)
class Searcher:
    """A searcher with options; `label` stands in tables."""

    label: str
    name: str
    options: Mapping[str, Any]

    @classmethod
    def read(cls, text: str) -> Searcher:
        """`NAME` or `NAME;OPTION=VALUE;…`."""
        name, *settings = text.split(";")
        options: dict[str, Any] = {}
        for setting in settings:
            option, _, value = setting.partition("=")
            try:
                options[option] = ast.literal_eval(value)
            except (SyntaxError, ValueError):
                options[option] = value
        return cls(text, name, options)


def run_seeds(path: Path, searcher: Searcher, seeds: Sequence[int], trials: int, batch: int) -> list[Trace]:
    """A run per seed.  Raises RuntimeError, which can travel between processes, for wrong names or options."""
    try:
        return [run(path, searcher, seed, trials, batch) for seed in seeds]
    except DiagnosticError as error:
        raise RuntimeError(f"{searcher.label}: {error.diagnostics[0].message}") from None


def run(
    path: Path, searcher: Searcher, seed: int, trials: int, batch: int, *, past: Sequence[PastSeries] = ()
) -> Trace:
    """Run a searcher, which may know a past, until it ends or has evaluated `trials` configurations."""
    found = recording(path)
    assert found.optimum is not None
    trace = Trace(space_name(path), searcher.label, seed, found.optimum, trials)
    evaluator = ReplayEvaluator(found)
    overhead, repeats = 0.0, 0
    begin = process_time()
    context = SearchContext(found.space, random.Random(seed), searcher.options, trials, batch, past=past)
    search = start_search(searcher.name, context)
    proposed = next(search, None)
    overhead += process_time() - begin
    while proposed is not None and not trace.is_full and repeats < REPEATS_ALLOWED:
        results: list[Outcome] = []
        for configuration in proposed:
            if configuration not in found.space:
                raise RuntimeError(
                    f"{searcher.label} proposed {configuration.show()}, which is not in the space"
                )
            before = evaluator.evaluations
            answer = evaluator.evaluate(configuration)
            results.append(answer.outcome(configuration))
            if evaluator.evaluations > before:
                repeats = 0
                trace.add(answer.objective, answer.cost, overhead)
            else:
                repeats += 1
        begin = process_time()
        try:
            proposed = search.send(results)
        except StopIteration:
            proposed = None
        overhead += process_time() - begin
    search.close()
    return trace
