"""NSGA-II: what it finds of a front, and what it says without its library."""

import random
import sys

import pytest
from random_spaces import space_of

from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.record.front import not_dominated
from orio_py.record.outcome import Outcome
from orio_py.search.base import SearchContext
from orio_py.search.catalog import start_search

SPACE = space_of([tuple(range(32)), tuple(range(32)), ("x", "y", "z")], ())
"""3072 configurations."""


def values(configuration) -> tuple[float, float]:
    """Less A is better for one, more for the other; everything else makes both worse."""
    away = abs(configuration["B"] - 7) + (0 if configuration["C"] == "y" else 20)
    return 1.0 + configuration["A"] + away, 40.0 - configuration["A"] + away


def front_found(name: str, trials: int = 300) -> int:
    """How many of the 32 points of the front a searcher finds."""
    context = SearchContext(SPACE, random.Random(3), {}, trials, batch_size=16, objectives=2)
    search = start_search(name, context)
    tried: list[tuple[float, float]] = []
    batch = next(search)
    while len(tried) < trials:
        tried += [values(configuration) for configuration in batch]
        batch = search.send([Outcome(configuration, values(configuration)) for configuration in batch])
    return sum(sum(tried[place]) == 41.0 for place in not_dominated(tried))


def test_it_finds_more_of_the_front_than_chance_and_than_one_objective():
    assert front_found("nsga") > max(8, 2 * front_found("random"), front_found("genetic"))


def test_without_its_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "orio_py.model.front_sampler", None)
    with pytest.raises(EnvironmentProblem, match=r"ORIO-P024.*`optuna`"):
        next(start_search("nsga", SearchContext(SPACE, random.Random(1))))
