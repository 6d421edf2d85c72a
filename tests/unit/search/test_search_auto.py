"""The default searcher: its start, its batches, what it learns from, and what it does with the past."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from statistics import mean, median

import pytest
from random_spaces import space_of

from orio_py.record.outcome import Outcome
from orio_py.search.acquisition_policy import AcquisitionPolicy
from orio_py.search.auto import OWN_PER_SUGGESTION, TINY
from orio_py.search.base import LEAST_OF_A_SERIES, SearchContext, drive
from orio_py.search.catalog import start_search
from orio_py.search.memory import Memory
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.search_space import SearchSpace

Objective = Callable[[Configuration], float | None]
Trials = Sequence[tuple[Configuration, float | None]]

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16)
SPACE = space_of([SIZES, SIZES, SIZES, (False, True), ("-O1", "-O2", "-O3")], ["{0} * {1} <= 64"])
HUGE = space_of([tuple(range(1, 1001))] * 7, ["{0} <= {1} + 500"])


def numbers(configuration: Configuration) -> list[int]:
    return [v for v in configuration.values() if isinstance(v, int) and not isinstance(v, bool)]


def valley(configuration: Configuration) -> float:
    """Times with a factor for remainders; the best is at A=8, B=4, C=2 with D and -O3."""
    a, b, c = numbers(configuration)
    remainder = 1.0 + 0.3 * sum(n & (n - 1) != 0 for n in (a, b, c))
    flag = {"-O1": 1.5, "-O2": 1.1, "-O3": 1.0}[str(configuration["E"])]
    steps = abs(a - 8) / 8 + abs(b - 4) / 4 + abs(c - 2) / 4
    return remainder * flag * (1.0 + steps) * (1.0 if configuration["D"] else 1.2)


def trials_of(
    space: SearchSpace, objective: Objective, count: int, seed: int = 1, past: Trials = (), batch: int = 1
) -> Trials:
    context = SearchContext(space, random.Random(seed), {}, count, batch, past=[past])
    return drive(start_search("auto", context), objective, count)


def evaluations(trials: Trials, target: float) -> int:
    """How many trials it took to come to a target; all, if it was not reached."""
    for number, (_, result) in enumerate(trials, start=1):
        if result is not None and result <= target:
            return number
    return len(trials)


def test_tiny_spaces_do_without_numerical_libraries() -> None:
    code = f"""
import random, sys
from orio_py.search.base import SearchContext, drive
from orio_py.search.catalog import start_search
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Parameter
space = SearchSpace([Parameter("A", tuple(range({TINY})))])
assert len(drive(start_search("auto", SearchContext(space, random.Random(1))), lambda c: 1.0)) == {TINY}
print([name for name in ("scipy", "sklearn", "orio_py.search.acquisition_policy") if name in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_starts_far_apart_and_mostly_with_powers_of_two() -> None:
    guide = AcquisitionPolicy(Memory(SearchContext(SPACE, random.Random(1))))
    first = guide.spread_out(8)
    assert len(set(first)) == 8
    table = guide._table
    rows = table.rows(first)
    apart = [((rows[i] - rows[j]) ** 2).sum() for i in range(8) for j in range(i)]
    drawn = Memory(SearchContext(SPACE, random.Random(1))).draw_many(200)
    others = table.rows(drawn)
    usual = [((others[i] - others[j]) ** 2).sum() for i in range(0, 200, 9) for j in range(i)]
    assert min(apart) > 2 * min(usual)
    assert table.unround(first).mean() < 0.5 * table.unround(drawn).mean()


@pytest.mark.parametrize(("built", "options", "most"), [(64, {}, 8), (64, {"batch": 3}, 3), (1, {}, 1)])
def test_batches_are_small_whatever_could_be_built(built: int, options: dict[str, int], most: int) -> None:
    search = start_search("auto", SearchContext(SPACE, random.Random(1), options, 40, built))
    batch = next(search)
    sizes = [len(batch)]
    for _ in range(5):
        batch = search.send([Outcome.of(c, valley(c)) for c in batch])
        sizes.append(len(batch))
    assert max(sizes) == most
    assert set(sizes[3:]) == {most}


@pytest.mark.proof
def test_finds_the_best_in_few_trials_and_in_batches_nearly_as_soon() -> None:
    best = min(map(valley, SPACE))
    alone = median(evaluations(trials_of(SPACE, valley, 60, seed), 1.02 * best) for seed in range(5))
    together = median(
        evaluations(trials_of(SPACE, valley, 80, seed, batch=8), 1.02 * best) for seed in range(5)
    )
    # Of 60 random ones, one in ten comes as near.
    assert alone < 50
    assert together < 70


@pytest.mark.proof
def test_goes_down_in_a_space_too_large_to_list() -> None:
    assert HUGE.size > 10**19

    def slope(configuration: Configuration) -> float:
        return 1.0 + sum(abs(n - 300) for n in numbers(configuration)) / 1000

    found = min(result or 9.0 for _, result in trials_of(HUGE, slope, 60))
    drawn = drive(start_search("random", SearchContext(HUGE, random.Random(1))), slope, 600)
    assert found < min(result or 9.0 for _, result in drawn)


def unround_share(options: dict[str, float]) -> float:
    """Of how many values that could be no power of two those that were chosen by the model are none."""
    context = SearchContext(SPACE, random.Random(1), {"explore": 1, **options}, 40, 1)
    trials = drive(start_search("auto", context), valley, 40)
    return mean(n & (n - 1) != 0 for configuration, _ in trials[8:] for n in numbers(configuration))


@pytest.mark.proof
def test_explores_powers_of_two_rather_than_others() -> None:
    assert unround_share({"roundness": 3.0}) < 0.5 * unround_share({"roundness": 0.0})


def test_explores_as_often_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    wide: list[bool] = []
    choose = AcquisitionPolicy._choose

    def noted(guide: AcquisitionPolicy, *, is_wide: bool) -> tuple[int, ...]:
        wide.append(is_wide)
        return choose(guide, is_wide=is_wide)

    monkeypatch.setattr(AcquisitionPolicy, "_choose", noted)
    for explore, count in ((0, 0), (1, 12), (4, 3)):
        wide.clear()
        context = SearchContext(SPACE, random.Random(1), {"explore": explore}, 20, 1)
        drive(start_search("auto", context), valley, 20)
        assert (len(wide), sum(wide)) == (12, count)


@pytest.mark.proof
def test_learns_where_configurations_fail() -> None:
    def often_fails(configuration: Configuration) -> float | None:
        a, b, _ = numbers(configuration)
        return None if a * b > 16 else valley(configuration)

    share = mean(often_fails(configuration) is None for configuration in SPACE)
    trials = trials_of(SPACE, often_fails, 60)
    late = mean(result is None for _, result in trials[20:])
    assert share > 0.3
    # What is expected to be best lies where everything fails.
    assert late < 0.9 * share


@pytest.mark.parametrize(
    "objective", [lambda _: 1.0, lambda _: 0.0, lambda c: -float(c["A"]), lambda _: None]
)
def test_takes_any_objective(objective: Objective) -> None:
    trials = trials_of(SPACE, objective, 30)
    assert len({configuration for configuration, _ in trials}) == 30


def on_another(configuration: Configuration) -> float:
    """As `valley`, twice as slow, and a little faster with more of C."""
    return 2.0 * valley(configuration) * (1.0 + 0.01 * abs(numbers(configuration)[2] - 3))


SAMPLE = SPACE.sample(150, random.Random(7))
PASTS: dict[str, Trials] = {
    "alike": [(c, on_another(c)) for c in SAMPLE],
    "reversed": [(c, 1.0 / valley(c)) for c in SAMPLE],
    "noise": [(c, random.Random(index).random()) for index, c in enumerate(SAMPLE)],
}


@pytest.mark.proof
def test_an_earlier_search_on_another_device_saves_trials() -> None:
    best = 1.02 * min(map(valley, SPACE))
    alone, guided = (
        mean(evaluations(trials_of(SPACE, valley, 30, seed, past), best) for seed in range(3))
        for past in ((), trials_of(SPACE, on_another, 60, 9, batch=8))
    )
    assert guided < 0.6 * alone


@pytest.mark.share(3)
@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("kind", PASTS)
def test_a_search_with_a_past_is_the_one_without_and_a_fifth_more_at_most(kind: str, batch: int) -> None:
    """So whatever is to be found takes at most 1.2 times as many trials."""
    found = [configuration for configuration, _ in trials_of(SPACE, valley, 42, 3, PASTS[kind], batch)]
    alone = [configuration for configuration, _ in trials_of(SPACE, valley, 35, 3, (), batch)]
    behind = 0
    for count, configuration in enumerate(alone, start=1):
        known = found[: count + count // OWN_PER_SUGGESTION]
        if len(known) < count + count // OWN_PER_SUGGESTION:
            break
        behind += configuration not in known
    assert behind == 0
    assert len(set(found)) == len(found) == 42


@pytest.mark.parametrize("batch", [1, 8, 64])
def test_a_search_with_a_past_ends_when_every_configuration_was_tried(batch: int) -> None:
    space = space_of([(1, 2, 3, 4, 5, 6, 7), (1, 2, 3, 4, 5, 6)], [])
    past: Trials = [(c, float(sum(numbers(c)))) for c in space]
    tried = trials_of(space, lambda c: None if numbers(c)[0] > 3 else 1.0, 100, past=past, batch=batch)
    assert len(tried) == len({configuration for configuration, _ in tried}) == space.size


def test_where_everything_fails_the_past_is_tried_from_its_fastest_on() -> None:
    past = sorted(PASTS["alike"], key=lambda trial: trial[1] or 9.0)
    found = [configuration for configuration, _ in trials_of(SPACE, lambda _: None, 30, past=past)]
    own = [configuration for configuration, _ in trials_of(SPACE, lambda _: None, 25)]
    assert [c for c in found if c not in own] == [c for c, _ in past if c not in own][:5]


def test_a_past_that_says_nothing_changes_nothing() -> None:
    strange: Trials = [
        (Configuration({"Z": 1}), 1.0),
        *((Configuration({**c, "E": "-O0"}), 1.0) for c in SPACE.sample(20, random.Random(1))),
        *((c, None) for c in SPACE.sample(20, random.Random(2))),
        *((c, 1.0) for c in SPACE.sample(LEAST_OF_A_SERIES - 1, random.Random(3))),
    ]
    assert trials_of(SPACE, valley, 25, past=strange) == trials_of(SPACE, valley, 25)


def test_the_fastest_of_the_past_comes_first_of_what_is_suggested() -> None:
    past = [(c, valley(c)) for c in SPACE.sample(100, random.Random(1))]
    start = [configuration for configuration, _ in trials_of(SPACE, valley, 8, past=past)]
    assert start.pop(OWN_PER_SUGGESTION) == min(past, key=lambda trial: trial[1] or 9.0)[0]
    assert start == [configuration for configuration, _ in trials_of(SPACE, valley, 7)]
