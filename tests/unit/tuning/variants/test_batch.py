"""Measuring a batch: the race, repeated rounds, equal code; with an invented evaluator."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.core.units import Seconds
from orio_py.measure.base import VariantFacts
from orio_py.measure.calibration import Calibrations
from orio_py.measure.job import EarlyStopping
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.record.trial import CounterValue
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.variants.batch import CALIBRATE_EVERY, BatchMeasurer, Candidate


@dataclass
class Invented:
    """Answers with the times of a table, one after the other; None is a crash."""

    folder: Path
    times: dict[str, list[float | None]]
    clock: Clock = Clock.THREAD_CPU
    calls: list[tuple[str, EarlyStopping | None, bool]] = field(default_factory=list)

    def calibrate(self) -> tuple[Sample, ...]:
        return (Sample(Seconds(1e-3), Seconds(1e-3)),)

    def measure(
        self,
        artifact: Artifact,
        arguments: Any,
        *,
        coordinate: str = "",
        race: EarlyStopping | None = None,
        check: bool = True,
    ) -> Measurement:
        name = artifact.path.name
        value = self.times[name][sum(call[0] == name for call in self.calls)]
        self.calls.append((name, race, check))
        if value is None:
            return Failure(Stage.CRASH, "ended by SIGSEGV")
        return Success((Sample(Seconds(value), Seconds(value)),) * 3, self.clock)

    def facts(self, artifact: Artifact) -> VariantFacts:
        return VariantFacts((CounterValue("launches", 1.0),), {"OpenCL Device": artifact.path.name})

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.calls]


def candidate(name: str, key: str | None = None, code: str = "") -> Candidate:
    built = Artifact(Path(name), Seconds(0.0))
    return Candidate(Configuration({"name": name}), key or name, code, None, built)


def measurer(evaluator: Invented, *, best: float = 1.0, full: bool = False) -> BatchMeasurer:
    any_evaluator: Any = evaluator
    return BatchMeasurer(any_evaluator, lambda values: (), Seconds(best), full, False, Calibrations())


def finished(
    found: BatchMeasurer, candidates: list[Candidate], is_over: Callable[[], bool] = lambda: False
) -> list[str]:
    done: list[str] = []
    found.measure(candidates, lambda c: done.append(str(c.configuration["name"])), lambda c: None, is_over)
    return done


def test_what_the_evaluator_knows_goes_with_the_candidate_and_its_copies(tmp_path: Path) -> None:
    found = [candidate("a", code="same"), candidate("b", code="same")]
    finished(measurer(Invented(tmp_path, {"a": [0.5]})), found)
    assert [c.metadata for c in found] == [{"OpenCL Device": "a"}] * 2
    assert [[counter.name for counter in c.counters] for c in found] == [["launches"]] * 2


def test_the_race_is_against_the_best_so_far_and_the_original_at_first(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5], "b": [3.0], "c": [0.4], "d": [0.6]})
    finished(measurer(evaluator), [candidate(name) for name in "abcd"])
    assert [race.best for _, race, _ in evaluator.calls if race is not None] == [1.0, 0.5, 0.5, 0.4]


def test_full_samples_means_no_race(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5], "b": [3.0]})
    finished(measurer(evaluator, full=True), [candidate("a"), candidate("b")])
    assert evaluator.calls == [("a", None, True), ("b", None, True)]


def test_by_wall_time_those_that_may_win_are_measured_again_in_turn(tmp_path: Path) -> None:
    times: dict[str, list[float | None]] = {"a": [0.50, 0.45], "b": [3.0], "c": [0.52, 0.40], "d": [None]}
    evaluator = Invented(tmp_path, times, Clock.WALL)
    candidates = [candidate(name) for name in "abcd"]
    done = finished(measurer(evaluator), candidates)
    assert evaluator.names == ["a", "b", "c", "d", "a", "c"]
    assert [check for _, _, check in evaluator.calls] == [True] * 4 + [False] * 2
    assert sorted(done) == ["a", "b", "c", "d"]
    assert [c.objective for c in candidates] == [0.45, 3.0, 0.40, None]


def test_by_wall_time_and_in_full_all_valid_ones_are_measured_again(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5, 0.5], "b": [3.0, 3.0], "c": [None]}, Clock.WALL)
    finished(measurer(evaluator, full=True), [candidate(name) for name in "abc"])
    assert evaluator.names == ["a", "b", "c", "a", "b"]


def test_each_trial_is_given_on_as_soon_as_it_is_measured_and_again_after_its_second_round(
    tmp_path: Path,
) -> None:
    times: dict[str, list[float | None]] = {"a": [0.50, 0.45], "b": [3.0], "c": [0.52, None]}
    evaluator = Invented(tmp_path, times, Clock.WALL)
    told: list[tuple[str, str, int, float | None]] = []

    def note(word: str) -> Callable[[Candidate], None]:
        return lambda c: told.append((word, str(c.configuration["name"]), len(evaluator.calls), c.objective))

    copy = candidate("d", "k", "same")
    candidates = [candidate("a", code="same"), candidate("b"), copy, candidate("c")]
    measurer(evaluator).measure(candidates, note("finish"), note("amend"), lambda: False)
    assert told == [
        ("finish", "a", 1, 0.50),
        ("finish", "b", 2, 3.0),
        ("finish", "d", 2, 0.50),
        ("finish", "c", 3, 0.52),
        ("amend", "a", 4, 0.45),
        ("amend", "d", 4, 0.45),
        ("amend", "c", 5, None),
    ]


def test_a_variant_that_fails_in_a_later_round_has_failed(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5, None]}, Clock.WALL)
    candidates = [candidate("a")]
    finished(measurer(evaluator), candidates)
    assert isinstance(candidates[0].outcome, Failure)


@pytest.mark.parametrize("clock", list(Clock))
def test_equal_source_and_equal_machine_code_are_measured_once(tmp_path: Path, clock: Clock) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5, 0.5], "d": [0.9]}, clock)
    found = measurer(evaluator)
    first = [
        candidate("a", "k1", "x"),
        candidate("b", "k1", "x"),
        candidate("c", "k2", "x"),
        candidate("d", "k3", "y"),
    ]
    second = [candidate("e", "k2", "x"), candidate("f", "k1", "x")]
    done = finished(found, first) + finished(found, second)
    assert sorted(done) == ["a", "b", "c", "d", "e", "f"]
    assert set(evaluator.names) == {"a", "d"}
    assert [c.is_copy for c in (*first, *second)] == [False, True, True, False, True, True]
    assert [c.objective for c in (*first, *second)] == [0.5, 0.5, 0.5, 0.9, 0.5, 0.5]


def test_what_did_not_build_is_a_failure_and_is_not_run(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {})
    broken, slow = candidate("a"), candidate("b")
    broken.built = BuildFailure("gcc: error: expected `;`", "")
    slow.built = BuildFailure("gcc took longer", "", timed_out=True)
    finished(measurer(evaluator), [broken, slow])
    assert evaluator.calls == []
    stages = [c.outcome.stage for c in (broken, slow) if isinstance(c.outcome, Failure)]
    assert stages == [Stage.COMPILE, Stage.COMPILE_TIMEOUT]


@pytest.mark.parametrize("clock", list(Clock))
def test_when_the_time_is_up_the_rest_has_no_outcome(tmp_path: Path, clock: Clock) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5, 0.5]}, clock)
    candidates = [candidate("a"), candidate("b")]
    done = finished(measurer(evaluator), candidates, lambda: bool(evaluator.calls))
    assert done == ["a"]
    assert candidates[1].outcome is None


def test_the_machine_is_looked_at_now_and_then(tmp_path: Path) -> None:
    names = [f"v{n}" for n in range(2 * CALIBRATE_EVERY + 1)]
    found = measurer(Invented(tmp_path, {name: [0.5] for name in names}))
    finished(found, [candidate(name) for name in names])
    assert found.calibrations.steadiness().readings == 3
    assert found.calibrations.wall == found.calibrations.busy == 3 * 0.5 * len(names)


def test_files_of_slow_and_failed_variants_are_removed(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"code_{name}").mkdir()
    evaluator = Invented(tmp_path, {"a": [0.5], "b": [3.0], "c": [None]})
    finished(measurer(evaluator), [candidate(name) for name in "abc"])
    assert [p.name for p in tmp_path.iterdir()] == ["code_a"]
