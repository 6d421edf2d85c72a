"""The contract of searchers, over the whole registry: random spaces, batches and patterns of failures."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_spaces import space_of, spaces

import orio_py.search
from orio_py.core.codes import CODES
from orio_py.core.expr import Value
from orio_py.frontend.tuning.sections import ALGORITHMS
from orio_py.record.outcome import Outcome
from orio_py.search.base import Search, SearchContext, drive
from orio_py.search.catalog import NOT_AVAILABLE, SEARCHERS, find, start_search
from orio_py.search.memory import Memory, SpaceExhaustedError
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.search import SEARCHER_NAMES

QUICK: Mapping[str, Mapping[str, Value]] = {
    "mlsearch": {"trees": 3, "samples": 30, "initial": 6},
    "bayesian": {"trees": 3, "candidates": 20, "batch": 3, "initial": 6},
}
"""Options under which slow searchers do the same with less."""
LEARNERS = ("mlsearch", "bayesian")
OTHERS = tuple(name for name in SEARCHERS if name not in LEARNERS)


def started(name: str, space: SearchSpace, seed: int, batch: int, trials: int | None = None) -> Search:
    context = SearchContext(space, random.Random(seed), QUICK.get(name, {}), trials, batch)
    return start_search(name, context)


def check_contract(name: str, space: SearchSpace, seed: int, batch: int, pattern: int) -> None:
    """Every configuration is proposed once, in batches of the right size, and again for the same seed.

    The pattern decides what each configuration achieves: every n-th fails, for 1 all and for 0 none.
    """
    noise = random.Random(pattern)
    results = {
        configuration: None if pattern and i % pattern == 0 else noise.lognormvariate(0, 1)
        for i, configuration in enumerate(space)
    }
    sizes: list[int] = []
    search = started(name, space, seed, batch)
    proposed: list[Configuration] = []
    found = next(search, None)
    while found is not None:
        sizes.append(len(found))
        proposed.extend(found)
        assert len(proposed) <= space.size
        try:
            found = search.send([Outcome.of(c, results[c]) for c in found])
        except StopIteration:
            found = None
    assert len(set(proposed)) == len(proposed) == space.size
    assert all(1 <= size <= batch for size in sizes)
    trials = space.size // 2
    again = drive(started(name, space, seed, batch), results.__getitem__, trials)
    assert [configuration for configuration, _ in again] == proposed[:trials]


SEEDS = st.integers(0, 2**32)
PATTERNS = st.sampled_from([0, 0, 1, 2, 3, 5])
ANY = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=12, deadline=None, suppress_health_check=ANY)
@given(spaces(most=72), SEEDS, st.integers(1, 9), PATTERNS)
def test_contract(name: str, space: SearchSpace, seed: int, batch: int, pattern: int) -> None:
    check_contract(name, space, seed, batch, pattern)


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=3, deadline=None, suppress_health_check=ANY)
@given(spaces(most=24), SEEDS, st.integers(1, 9), PATTERNS)
def test_contract_of_learners(name: str, space: SearchSpace, seed: int, batch: int, pattern: int) -> None:
    check_contract(name, space, seed, batch, pattern)


def test_every_searcher_is_registered() -> None:
    registered = {entry.search.__module__ for entry in SEARCHERS.values()}
    written: set[str] = set()
    for found in pkgutil.iter_modules(orio_py.search.__path__, "orio_py.search."):
        module = importlib.import_module(found.name)
        classes = [value for key, value in vars(module).items() if key.endswith("Options")]
        if any(dataclasses.is_dataclass(each) and each.__module__ == found.name for each in classes):
            written.add(found.name)
    assert written == registered


def test_names_are_of_one_searcher_each() -> None:
    names = [
        other.lower()
        for entry in SEARCHERS.values()
        for other in dict.fromkeys([entry.name, *map(str.lower, entry.other_names)])
    ]
    assert len(names) == len(set(names))
    assert not set(names) & {name.lower() for name in NOT_AVAILABLE}
    assert all("_" not in name for name in SEARCHERS), "options are written NAME_option"


SMOOTH = space_of([tuple(range(1, 9))] * 5, ["{0} * {1} <= 40", "{2} <= {3} * 2"])


def smooth(configuration: Configuration) -> float | None:
    """A valley away from the corners, with a tenth of the space failing."""
    a, b, c, d, e = (value for value in configuration.values() if isinstance(value, int))
    if (3 * a + 5 * b + c) % 10 == 0:
        return None
    return 1.0 + abs(a - 6) + abs(b - 5) + 0.5 * abs(c - 7) + (d - 4) ** 2 / 4 + 0.2 * e


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.proof) if name == "auto" else name
        for name in SEARCHERS
        if name not in ("exhaustive", "random")
    ],
)
def test_is_better_than_random_on_a_smooth_space(name: str) -> None:
    def best(name: str, seed: int) -> float:
        search = started(name, SMOOTH, seed, 4, 80)
        return min(result for _, result in drive(search, smooth, 80) if result is not None)

    seeds = range(3) if name in LEARNERS else range(9)
    own = sorted(best(name, seed) for seed in seeds)
    other = sorted(best("random", seed) for seed in range(21))
    assert own[len(own) // 2] < other[len(other) // 2]


def test_a_memory_draws_everything_once() -> None:
    space = space_of([(1, 2, 3), (1, 2)], [])
    memory = Memory(SearchContext(space, random.Random(1)))
    dropped = memory.draw()
    assert len(set(memory.draw_many(99))) == 6
    memory.known.update(dict.fromkeys((p for p in memory.draw_many(6) if p != dropped), 1.0))
    assert [memory.draw() for _ in range(3)] == [dropped] * 3
    memory.known[dropped] = 1.0
    with pytest.raises(SpaceExhaustedError):
        memory.draw()


def test_a_memory_answers_what_it_knows() -> None:
    space = space_of([(1, 2, 3), (1, 2)], [])
    memory = Memory(SearchContext(space, random.Random(1), batch_size=2))
    asking = memory.ask([(0, 0), (1, 0), (0, 0), (2, 0)])
    first = next(asking)
    assert [dict(c) for c in first] == [{"A": 1, "B": 1}, {"A": 2, "B": 1}]
    (last,) = asking.send([Outcome.of(c, value) for c, value in zip(first, (2.0, None), strict=True)])
    assert dict(last) == {"A": 3, "B": 1}
    with pytest.raises(StopIteration) as end:
        asking.send([Outcome.of(last, float("nan"))])
    assert end.value.value == [2.0, float("inf"), 2.0, float("inf")]
    assert (memory.best, memory.best_cost) == ((0, 0), 2.0)


@pytest.mark.parametrize("name", list(SEARCHERS))
def test_defaults_are_values_that_may_be_written(name: str) -> None:
    entry = find(name)
    defaults = entry.read({}, SMOOTH, None)
    written = {
        field: list(value) if isinstance(value := getattr(defaults, field), tuple) else value
        for field in entry.option_names
    }
    assert dataclasses.is_dataclass(defaults)
    assert entry.read(written, SMOOTH, None) == defaults


def test_specifications_know_every_name_as_a_prefix() -> None:
    prefixes = [name.lower() for entry in SEARCHERS.values() for name in (entry.name, *entry.other_names)]
    assert {prefix for prefix in prefixes if "_" not in prefix} <= set(ALGORITHMS)


def test_the_reference_has_every_name_and_option() -> None:
    text = (Path(__file__).parents[3] / "docs/reference/searchers.md").read_text(encoding="utf-8")
    explained = CODES["ORIO-P020"].explanation
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    named: dict[str, str] = {}
    current = ""
    for cells in rows:
        current = cells[0] if cells[0].strip() else current
        for name in re.findall(r"`(\w+)`", current):
            named[name] = named.get(name, "") + "|".join(cells)
    for entry in SEARCHERS.values():
        assert entry.name in explained
        for word in (*entry.other_names, *entry.option_names):
            assert f"`{word}`" in named[entry.name], (entry.name, word)
        defaults = entry.read({}, SMOOTH, None)
        for option in entry.option_names:
            value = getattr(defaults, option)
            shown = (
                "none"
                if value is None
                else value[0]
                if option.endswith("coef") and isinstance(value, tuple)
                else value
            )
            shown = list(shown) if isinstance(shown, tuple) else shown
            assert str(shown) in named[entry.name], (entry.name, option)


def test_the_names_of_searchers_are_known_without_them() -> None:
    written = (name for entry in SEARCHERS.values() for name in (entry.name, *entry.other_names))
    assert {name.lower() for name in written} == SEARCHER_NAMES
