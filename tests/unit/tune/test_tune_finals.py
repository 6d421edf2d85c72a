"""The verdict of the finals, on invented measurements."""

import random
from pathlib import Path

from orio_py.build.compiler import Artifact
from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.space.configuration import Configuration
from orio_py.tune.finals import FEWEST_ROUNDS, ROUNDS, Finalist, hold_finals


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
    assert len(calls) == 2 * FEWEST_ROUNDS
