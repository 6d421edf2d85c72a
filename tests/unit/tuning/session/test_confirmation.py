"""The verdict of the finals, on invented measurements."""

import random
from pathlib import Path

from orio_py.build.compiler import Artifact
from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.session.confirmation import (
    FEWEST_ALONE,
    FEWEST_ROUNDS,
    FINALISTS,
    HEATS,
    IN_HEATS,
    LEVEL,
    ROUNDS,
    Finalist,
    chance_of,
    hold_finals,
    hold_heats,
)


def finalist(name: str) -> Finalist:
    return Finalist(Artifact(Path(name), Seconds(0.0)), Configuration({"name": name}))


def finals(times: dict[str, list[float] | None], *, allowance: float = 60.0):
    """Hold finals in which variant `name` takes `times[name]` in turn; None always fails."""
    calls: list[str] = []
    counts = dict.fromkeys(times, 0)

    def measure(f: Finalist) -> Measurement:
        name = f.artifact.path.name
        calls.append(name)
        series = times[name]
        if series is None:
            return Failure(Stage.CRASH, "ended by SIGSEGV")
        value = Seconds(series[counts[name] % len(series)])
        counts[name] += 1
        return Success((Sample(value, value),) * 3, Clock.WALL)

    names = list(times)
    verdict = hold_finals(
        [finalist(names[0])],
        [finalist(n) for n in names[1:]],
        measure,
        rng=random.Random(0),
        allowance=Seconds(allowance),
        clock=Clock.WALL,
    )
    return verdict, calls


def test_a_clear_gain_wins() -> None:
    verdict, calls = finals({"original": [1.0, 1.02, 0.98], "fast": [0.5, 0.51], "slow": [2.0]})
    assert verdict.wins
    assert verdict.best is not None
    assert verdict.best.artifact.path.name == "fast"
    assert 1.9 < verdict.speedup < 2.1
    assert len(calls) == 3 * FEWEST_ROUNDS


def test_a_gain_that_is_not_clear_is_measured_in_all_rounds() -> None:
    verdict, calls = finals({"original": [1.0], "fast": [0.95], "slow": [2.0]})
    assert verdict.wins
    assert len(calls) == 3 * ROUNDS


def test_rounds_end_where_none_could_win_any_more() -> None:
    """Three of five rounds lost: seven of ten, the best that is left, have p = 0.17."""
    verdict, calls = finals({"original": [1.0], "maybe": [0.9, 1.1]})
    assert not verdict.wins
    assert len(calls) == 2 * 5
    _, calls = finals({"original": [1.0], "maybe": [0.9, 0.9, 0.9, 0.9, 1.1]})
    assert len(calls) == 2 * ROUNDS


def test_rounds_go_on_while_another_finalist_could_win() -> None:
    """Two of the first six rounds lost by one, none by the other, whose gain is small."""
    _, calls = finals({"original": [1.0], "one": [0.5, 1.5, 0.5], "other": [0.97]})
    assert len(calls) == 3 * ROUNDS


def test_a_gain_within_the_noise_keeps_the_original() -> None:
    verdict, _ = finals({"original": [1.0, 1.5, 0.8, 1.1, 0.7], "maybe": [0.9, 0.8, 1.4, 1.0, 1.2]})
    assert not verdict.wins
    assert "noise" in verdict.reason or "no variant was faster" in verdict.reason


def test_a_gain_below_one_per_cent_keeps_the_original() -> None:
    verdict, _ = finals({"original": [1.0], "hardly": [0.995]})
    assert not verdict.wins
    assert verdict.reason.startswith("no variant was faster")


def test_a_finalist_that_fails_is_out_and_measured_no_more() -> None:
    verdict, calls = finals({"original": [1.0], "crash": None, "good": [0.8]})
    assert verdict.best is not None
    assert verdict.best.artifact.path.name == "good"
    assert calls.count("crash") == 1


def test_all_finalists_failing_keeps_the_original() -> None:
    verdict, _ = finals({"original": [1.0], "crash": None})
    assert not verdict.wins
    assert verdict.best is None
    assert verdict.speedup == 1.0


def test_measurements_are_interleaved() -> None:
    _, calls = finals({"original": [1.0], "a": [0.9], "b": [0.8]})
    for start in range(0, len(calls), 3):
        assert sorted(calls[start : start + 3]) == ["a", "b", "original"]


def test_past_its_allowance_it_stops_after_the_fewest_rounds() -> None:
    _, calls = finals({"original": [1.0], "a": [0.5]}, allowance=-1.0)
    assert len(calls) == 2 * FEWEST_ALONE


def test_where_rounds_take_long_the_first_of_the_finalists_goes_on_alone() -> None:
    verdict, calls = finals({"original": [1.0], "a": [0.5], "b": [0.4]}, allowance=-1.0)
    assert calls.count("b") == 1
    assert len(calls) == 3 + 2 * (FEWEST_ALONE - 1)
    assert verdict.best is not None
    assert verdict.best.artifact.path.name == "a"
    assert [len(entry.rounds) for entry in verdict.entries] == [FEWEST_ALONE, FEWEST_ALONE, 1]


def test_where_rounds_take_long_who_has_failed_does_not_go_on() -> None:
    verdict, calls = finals({"original": [1.0], "a": None, "b": [0.5], "c": [0.4]}, allowance=-1.0)
    assert calls.count("c") == 1
    assert verdict.best is not None
    assert verdict.best.artifact.path.name == "b"


def test_the_sign_test_is_exact() -> None:
    assert chance_of([1.0] * 5) == 1 / 32
    assert chance_of([1.0] * 4 + [-1.0]) == 6 / 32
    assert chance_of([-1.0] * 5) == 1.0
    assert chance_of([0.0] * 5) == 1.0
    assert chance_of([1.0] * 10, among=3) == 3 / 1024


def test_the_fewest_rounds_can_be_significant_for_all_finalists() -> None:
    assert chance_of([1.0] * FEWEST_ROUNDS, among=FINALISTS) <= LEVEL
    assert chance_of([1.0] * FEWEST_ALONE) <= LEVEL


def test_a_large_gain_with_two_lost_rounds_in_ten_is_not_beyond_chance() -> None:
    fast = [0.5, 1.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.5]
    verdict, _ = finals({"original": [1.0], "fast": fast})
    assert not verdict.wins
    assert "won 8 of 10 rounds, p = 0.055" in verdict.reason


def heats(times: dict[str, float], search: dict[str, float], allowance: float = 60.0):
    calls: list[str] = []

    def measure(f: Finalist) -> Measurement:
        name = f.artifact.path.name
        calls.append(name)
        value = Seconds(times[name])
        return Success((Sample(value, value),), Clock.WALL) if value else Failure(Stage.CRASH, "SIGSEGV")

    ranked = sorted(search, key=lambda name: search[name])
    field = [finalist(name) for name in ranked]
    for each in field:
        each.objective = Seconds(search[each.artifact.path.name])
    found = hold_heats(field, measure, rng=random.Random(0), allowance=Seconds(allowance))
    return [f.artifact.path.name for f in found], calls


def test_heats_find_the_best_among_those_near_the_best_of_the_search() -> None:
    search = {"a": 1.0, "b": 1.1, "c": 1.2, "d": 1.25, "far": 1.4}
    chosen, calls = heats({"a": 1.2, "b": 1.0, "c": 1.01, "d": 1.3, "far": 0.1}, search)
    assert chosen == ["b", "c"]
    assert "far" not in calls
    assert len(calls) == 4 * HEATS


def test_heats_take_few_and_few_come_out_of_them() -> None:
    names = [f"v{n:02}" for n in range(2 * IN_HEATS)]
    chosen, calls = heats(dict.fromkeys(names, 1.0), {name: 1.0 + 1e-3 * i for i, name in enumerate(names)})
    assert len(set(calls)) == IN_HEATS
    assert len(chosen) == FINALISTS


def test_few_candidates_need_no_heats() -> None:
    chosen, calls = heats({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.02})
    assert (chosen, calls) == (["a", "b"], [])


def test_who_fails_in_the_heats_is_out() -> None:
    chosen, _ = heats({"a": 0.0, "b": 1.0, "c": 1.0, "d": 1.5}, {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0})
    assert chosen == ["b", "c"]


def test_finalists_come_without_the_measurements_that_chose_them() -> None:
    field = [finalist(name) for name in "abcd"]
    for each in field:
        each.objective = Seconds(1.0)
    sample = Success((Sample(Seconds(1.0), Seconds(1.0)),), Clock.WALL)
    found = hold_heats(field, lambda f: sample, rng=random.Random(0), allowance=Seconds(60.0))
    assert found
    assert all(not f.samples and not f.rounds for f in found)
