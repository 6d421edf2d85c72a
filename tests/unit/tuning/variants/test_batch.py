"""Measuring a batch: the race, repeated rounds, equal code; with an invented evaluator."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.codegen.program import Program
from orio_py.core.diagnostics import Diagnostic
from orio_py.core.units import Seconds
from orio_py.measure.calibration import Calibrations
from orio_py.measure.job import EarlyStopping
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.record.outcome import VariantFacts
from orio_py.record.trial import CounterValue
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.variants.batch import CALIBRATE_EVERY, BatchMeasurer, VariantMaker
from orio_py.tuning.variants.pipeline import (
    BuildRequest,
    BuildResult,
    MeasuredVariant,
    MeasurementOrigin,
    RefusedVariant,
)
from orio_py.tuning.variants.variant import VariantParts


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

    def run_facts(self, artifact: Artifact) -> VariantFacts:
        return VariantFacts((CounterValue("launches", 1.0),), {"clock": artifact.path.name})

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.calls]


def built(name: str, key: str | None = None, code: str = "") -> BuildResult:
    request = BuildRequest(0, Configuration({"name": name}))
    facts = VariantFacts((CounterValue("registers", 32.0),), {"OpenCL Device": name})
    return BuildResult(request, key or name, None, Artifact(Path(name), Seconds(0.0)), code, facts)


def measurer(evaluator: Invented, *, best: float = 1.0, full: bool = False) -> BatchMeasurer:
    any_evaluator: Any = evaluator
    return BatchMeasurer(any_evaluator, lambda values: (), Seconds(best), full, False, Calibrations())


def measured(
    found: BatchMeasurer, ready: list[BuildResult], is_over: Callable[[], bool] = lambda: False
) -> dict[str, MeasuredVariant]:
    """What is known at the end of a batch, in the order in which it was measured first."""
    last: dict[str, MeasuredVariant] = {}
    for variant in found.measure(ready, is_over):
        name = str(variant.configuration["name"])
        assert variant.amends == (name in last)
        last[name] = variant
    return last


def test_what_the_evaluator_knows_goes_with_the_variant_and_its_copies(tmp_path: Path) -> None:
    ready = [built("a", code="same"), built("b", code="same")]
    found = measured(measurer(Invented(tmp_path, {"a": [0.5]})), ready).values()
    assert [v.metadata for v in found] == [{"OpenCL Device": "a", "clock": "a"}] * 2
    assert [v.facts for v in found] == [ready[0].facts] * 2
    assert [v.outcome.counters for v in found] == [{"launches": 1.0, "registers": 32.0}] * 2
    assert [list(v.outcome.counters) for v in found] == [["launches", "registers"]] * 2


def test_the_race_is_against_the_best_so_far_and_the_original_at_first(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5], "b": [3.0], "c": [0.4], "d": [0.6]})
    measured(measurer(evaluator), [built(name) for name in "abcd"])
    assert [race.best for _, race, _ in evaluator.calls if race is not None] == [1.0, 0.5, 0.5, 0.4]


def test_full_samples_means_no_race(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5], "b": [3.0]})
    measured(measurer(evaluator, full=True), [built("a"), built("b")])
    assert evaluator.calls == [("a", None, True), ("b", None, True)]


def test_by_wall_time_those_that_may_win_are_measured_again_in_turn(tmp_path: Path) -> None:
    times: dict[str, list[float | None]] = {"a": [0.50, 0.45], "b": [3.0], "c": [0.52, 0.40], "d": [None]}
    evaluator = Invented(tmp_path, times, Clock.WALL)
    found = measured(measurer(evaluator), [built(name) for name in "abcd"])
    assert evaluator.names == ["a", "b", "c", "d", "a", "c"]
    assert [check for _, _, check in evaluator.calls] == [True] * 4 + [False] * 2
    assert {name: v.objective for name, v in found.items()} == {"a": 0.45, "b": 3.0, "c": 0.40, "d": None}


def test_by_wall_time_and_in_full_all_valid_ones_are_measured_again(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5, 0.5], "b": [3.0, 3.0], "c": [None]}, Clock.WALL)
    measured(measurer(evaluator, full=True), [built(name) for name in "abc"])
    assert evaluator.names == ["a", "b", "c", "a", "b"]


def test_each_trial_is_given_on_as_soon_as_it_is_measured_and_again_after_its_second_round(
    tmp_path: Path,
) -> None:
    times: dict[str, list[float | None]] = {"a": [0.50, 0.45], "b": [3.0], "c": [0.52, None]}
    evaluator = Invented(tmp_path, times, Clock.WALL)
    ready = [built("a", code="same"), built("b"), built("d", "k", "same"), built("c")]
    told = [
        (v.amends, v.configuration["name"], len(evaluator.calls), v.objective)
        for v in measurer(evaluator).measure(ready)
    ]
    assert told == [
        (False, "a", 1, 0.50),
        (False, "b", 2, 3.0),
        (False, "d", 2, 0.50),
        (False, "c", 3, 0.52),
        (True, "a", 4, 0.45),
        (True, "d", 4, 0.45),
        (True, "c", 5, None),
    ]


def test_a_recalled_variant_stays_as_it_is_and_its_code_is_not_measured(tmp_path: Path) -> None:
    """Also beside a variant of the same code that is measured twice."""
    evaluator = Invented(tmp_path, {"a": [0.50, 0.45]}, Clock.WALL)
    stored = Success((Sample(Seconds(0.6), Seconds(0.6)),), Clock.WALL)

    def recalled(name: str, key: str) -> MeasuredVariant:
        origin = MeasurementOrigin.RECALLED
        return MeasuredVariant(Configuration({"name": name}), key, stored, origin=origin)

    ready = [built("a"), recalled("b", "a"), recalled("c", "k"), built("d", "k")]
    found = list(measurer(evaluator).measure(ready))
    assert [(v.configuration["name"], v.amends, v.objective) for v in found] == [
        ("a", False, 0.5),
        ("b", False, 0.6),
        ("c", False, 0.6),
        ("d", False, 0.6),
        ("a", True, 0.45),
    ]
    assert [v.origin for v in found[1:4]] == [MeasurementOrigin.RECALLED] * 2 + [MeasurementOrigin.COPY]


def test_later_copies_have_the_measurement_of_all_rounds(tmp_path: Path) -> None:
    found = measurer(Invented(tmp_path, {"a": [0.50, 0.45]}, Clock.WALL))
    first = measured(found, [built("a", code="same")])["a"]
    copy = measured(found, [built("b", code="same")])["b"]
    assert copy.measurement == first.measurement
    assert (copy.origin, copy.amends, copy.objective) == (MeasurementOrigin.COPY, False, 0.45)


def test_a_variant_that_fails_in_a_later_round_has_failed(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5, None]}, Clock.WALL)
    found = measured(measurer(evaluator), [built("a")])["a"]
    assert isinstance(found.measurement, Failure)
    assert found.outcome.failure is Stage.CRASH


@pytest.mark.parametrize("clock", list(Clock))
def test_equal_source_and_equal_machine_code_are_measured_once(tmp_path: Path, clock: Clock) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5, 0.5], "d": [0.9]}, clock)
    found = measurer(evaluator)
    first = [
        built("a", "k1", "x"),
        built("b", "k1", "x"),
        built("c", "k2", "x"),
        built("d", "k3", "y"),
    ]
    second = [built("e", "k2", "x"), built("f", "k1", "x")]
    done = {**measured(found, first), **measured(found, second)}
    assert sorted(done) == ["a", "b", "c", "d", "e", "f"]
    assert set(evaluator.names) == {"a", "d"}
    copies = [v.origin is MeasurementOrigin.COPY for v in done.values()]
    assert copies == [False, True, True, False, True, True]
    assert [v.objective for v in done.values()] == [0.5, 0.5, 0.5, 0.9, 0.5, 0.5]


def test_what_did_not_build_is_a_failure_and_is_not_run(tmp_path: Path) -> None:
    evaluator = Invented(tmp_path, {})
    broken = replace(built("a"), built=BuildFailure("gcc: error: expected `;`", ""))
    slow = replace(built("b"), built=BuildFailure("gcc took longer", "", timed_out=True))
    found = measured(measurer(evaluator), [broken, slow])
    assert evaluator.calls == []
    assert [v.outcome.failure for v in found.values()] == [Stage.COMPILE, Stage.COMPILE_TIMEOUT]


@pytest.mark.parametrize("clock", list(Clock))
def test_when_the_time_is_up_the_rest_has_no_outcome(tmp_path: Path, clock: Clock) -> None:
    evaluator = Invented(tmp_path, {"a": [0.5, 0.5]}, clock)
    done = measured(measurer(evaluator), [built("a"), built("b")], lambda: bool(evaluator.calls))
    assert list(done) == ["a"]


def test_the_machine_is_looked_at_now_and_then(tmp_path: Path) -> None:
    names = [f"v{n}" for n in range(2 * CALIBRATE_EVERY + 1)]
    found = measurer(Invented(tmp_path, {name: [0.5] for name in names}))
    measured(found, [built(name) for name in names])
    assert found.calibrations.steadiness().readings == 3
    assert found.calibrations.wall == found.calibrations.busy == 3 * 0.5 * len(names)


def test_files_of_slow_and_failed_variants_are_removed(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"code_{name}").mkdir()
    evaluator = Invented(tmp_path, {"a": [0.5], "b": [3.0], "c": [None]})
    measured(measurer(evaluator), [built(name) for name in "abc"])
    assert [p.name for p in tmp_path.iterdir()] == ["code_a"]


@dataclass
class Noting(Invented):
    """Notes in which order a variant is built, known and measured."""

    order: list[str] = field(default_factory=list)

    @property
    def compiler(self) -> Any:
        return SimpleNamespace(words=lambda values: ["cc"], spec=SimpleNamespace(postrun=""))

    def program(self, codes: Any, devices: Any = ()) -> Program:
        return Program(codes[0])

    def build(self, program: Program, values: Any, name: str) -> Artifact:
        self.order.append("build")
        path = self.folder / name / "a"
        path.write_text(program.text)
        return Artifact(path, Seconds(0.25))

    def facts(self, artifact: Artifact) -> VariantFacts:
        self.order.append("facts")
        return VariantFacts((CounterValue("registers", 32.0),))

    def measure(self, artifact: Artifact, *arguments: Any, **options: Any) -> Measurement:
        self.order.append("measure")
        return super().measure(artifact, *arguments, **options)

    def run_facts(self, artifact: Artifact) -> VariantFacts:
        self.order.append("run_facts")
        return super().run_facts(artifact)


def test_facts_are_there_before_anything_is_measured(tmp_path: Path) -> None:
    evaluator: Any = Noting(tmp_path, {"a": [0.5]})
    generator: Any = SimpleNamespace(parts=lambda point, values: VariantParts(("x = 1;",)))
    point: Any = None
    maker = VariantMaker(generator, point, evaluator, lambda values: ())
    made = maker.make(BuildRequest(0, Configuration({"name": "a"})), 1)
    assert evaluator.order == ["build", "facts"]
    assert made.facts.counters == (CounterValue("registers", 32.0),)
    (found,) = measured(measurer(evaluator), [made]).values()
    assert evaluator.order == ["build", "facts", "measure", "run_facts"]
    assert (found.facts, found.build) == (made.facts, 0.25)


def test_the_values_of_the_pipeline_are_frozen(tmp_path: Path) -> None:
    made = built("a")
    variant = measured(measurer(Invented(tmp_path, {"a": [0.5]})), [made])["a"]
    refused = RefusedVariant(Configuration({"U": 1}), Diagnostic("ORIO-T003", "the body assigns the index"))
    assert refused.outcome.failure is Stage.TRANSFORM
    for value in (made.request, made, variant, variant.outcome, refused):
        for each in fields(value):
            with pytest.raises(FrozenInstanceError):
                setattr(value, each.name, None)
