"""The value of an objective: from times and counters, or the reason why there is none."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from orio_py.build.compiler import Artifact
from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.frontend.objective import parse_objective
from orio_py.measure.observers.observing import Observation
from orio_py.record.measurement import Clock, Failure, Sample, Stage, Success
from orio_py.record.trial import CounterSource, CounterValue
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.session.confirmation import Finalist, hold_finals
from orio_py.tuning.variants.scoring import Scorer

PLACE = Position("a.c", 3, 1)
SAMPLES = tuple(Sample(Seconds(wall), Seconds(cpu)) for wall, cpu in ((4.0, 1.0), (3.0, 2.0), (5.0, 6.0)))
MEASURED = Success(SAMPLES, Clock.THREAD_CPU)
NOTHING = Observation()
ARTIFACT = Artifact(Path("variant.so"), Seconds(0.1))


def counters(**values: float) -> tuple[CounterValue, ...]:
    return tuple(CounterValue(name, value, "", CounterSource.SIMULATED) for name, value in values.items())


class Counted:
    """Stands for `Observing`: the same counters for everything, and how often it was asked."""

    def __init__(self, found: Observation) -> None:
        self.found = found
        self.calls = 0

    def observe(self, artifact: object, values: object, arguments: object = ()) -> Observation:
        self.calls += 1
        return self.found


def scorer(objective: str | None, found: Observation = NOTHING) -> Scorer:
    goal = parse_objective(objective, PLACE) if objective is not None else None
    return Scorer(goal, Counted(found))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("objective", "value"),
    [
        ("wall_time", 3.0),
        ("cpu_time", 2.0),
        ("time * energy", 20.0),
        ("instructions", 7.0),
        ("1 / instructions if energy > 5 else 0", 1 / 7),
        ("max(instructions, energy) + 2 * time", 14.0),
        ("page_faults", 0.0),
    ],
)
def test_objectives_have_values(objective: str, value: float) -> None:
    found = scorer(objective).scored(MEASURED, counters(energy=10.0, instructions=7.0, page_faults=0.0))
    assert isinstance(found, Success)
    assert found.objective == pytest.approx(value)
    assert found.time == 2.0


@pytest.mark.parametrize(
    ("objective", "reason"),
    [
        ("time * branches", "no `branches`"),
        ("time / page_faults", "zero"),
        ("time - 100 * energy", "must not be negative"),
        ("[time]", "no number"),
        ("time > 3", "no number"),
    ],
)
def test_a_variant_without_a_value_has_failed(objective: str, reason: str) -> None:
    found = scorer(objective).scored(MEASURED, counters(energy=10.0, page_faults=0.0))
    assert isinstance(found, Failure)
    assert found.stage is Stage.COUNTERS
    assert reason in found.reason


def test_why_a_counter_is_missing_is_told() -> None:
    found = scorer("branches").scored(MEASURED, (), ("method 'valgrind': no result after 3 s",))
    assert isinstance(found, Failure)
    assert found.reason == "no `branches`: method 'valgrind': no result after 3 s"


def test_without_an_objective_the_time_counts_and_failures_stay() -> None:
    assert scorer(None).scored(MEASURED, ()) is MEASURED
    failed = Failure(Stage.CRASH, "x")
    assert scorer("wall_time").scored(failed, ()) is failed


@pytest.mark.parametrize(
    ("outcome", "objective", "calls"),
    [
        (MEASURED, None, 1),
        (Success(SAMPLES, Clock.WALL, is_full=False), None, 0),
        (Success(SAMPLES, Clock.WALL, is_full=False), "instructions", 1),
        (Failure(Stage.CRASH, "x"), "instructions", 0),
    ],
    ids=["kept", "given up", "needed", "failed"],
)
def test_who_is_observed(outcome: Success | Failure, objective: str | None, calls: int) -> None:
    judge = scorer(objective, Observation(counters(instructions=5.0)))
    measured, found = judge.inspect(ARTIFACT, {"U": 1}, outcome)
    assert isinstance(judge.observing, Counted)
    assert judge.observing.calls == calls
    assert found.counters == (counters(instructions=5.0) if calls else ())
    assert getattr(measured, "objective", None) == (
        5.0 if objective and calls else getattr(outcome, "objective", None)
    )


def test_counters_that_the_original_lacks_are_a_warning_or_an_error() -> None:
    lacking = Observation(counters(branches=1.0), ("method 'rapl' gave no `energy`",))
    measured, found, warnings = scorer("branches", lacking).baseline(ARTIFACT, {}, MEASURED, PLACE)
    assert (measured.objective, found) == (1.0, lacking.counters)
    assert [(w.code, str(w.severity)) for w in warnings] == [("ORIO-M016", "warning")]
    with pytest.raises(DiagnosticError) as caught:
        scorer("energy", lacking).baseline(ARTIFACT, {}, MEASURED, Position("a.c", 1, 1))
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.position) == ("ORIO-M016", PLACE)


def test_the_finals_are_decided_by_the_objective() -> None:
    """A variant that takes longer wins by the counter; one with equal counts does not."""
    scores = {"original": 100.0, "same": 100.0, "less": 50.0}
    slower = (Sample(Seconds(9.0), Seconds(9.0)),)

    def measure(finalist: Finalist) -> Success:
        return Success(slower, Clock.THREAD_CPU, True, scores[finalist.artifact.path.name])

    def final(*names: str):
        original, *others = (
            Finalist(Artifact(Path(n), Seconds(0.0)), Configuration({"n": n})) for n in names
        )
        rng, allowance = random.Random(1), Seconds(60.0)
        return hold_finals(
            [original], others, measure, rng=rng, allowance=allowance, clock=Clock.THREAD_CPU, better="better"
        )

    verdict = final("original", "less")
    assert verdict.wins
    assert verdict.reason.startswith("better by 50.0%")
    assert not final("original", "same").wins


def test_counters_may_be_zero_in_the_finals() -> None:
    values = {"original": 0.0, "more": 3.0}

    def measure(finalist: Finalist) -> Success:
        return Success(SAMPLES, Clock.THREAD_CPU, True, values[finalist.artifact.path.name])

    original, more = (Finalist(Artifact(Path(n), Seconds(0.0)), Configuration({"n": n})) for n in values)
    verdict = hold_finals(
        [original], [more], measure, rng=random.Random(1), allowance=Seconds(60.0), clock=Clock.THREAD_CPU
    )
    assert not verdict.wins


def test_several_objectives_are_evaluated_and_the_first_ranks():
    counted = scorer(None)
    counted.objective = parse_objective(["time", "energy", "instructions * 2"])
    assert counted.objective is not None
    assert counted.objective.texts == ("time", "energy", "instructions * 2")
    assert counted.objective.counters == ("energy", "instructions")
    found = counted.scored(MEASURED, counters(energy=10.0, instructions=7.0))
    assert isinstance(found, Success)
    assert (found.objective, found.objectives) == (2.0, (2.0, 10.0, 14.0))
    missing = counted.scored(MEASURED, counters(energy=10.0))
    assert missing == Failure(Stage.COUNTERS, "no `instructions`")
    negative = counted.scored(MEASURED, counters(energy=-1.0, instructions=7.0))
    assert isinstance(negative, Failure)
    assert "`energy` is -1.0" in negative.reason


def test_time_alone_is_no_objective_and_none_stands_twice():
    assert parse_objective(["time"]) is None
    with pytest.raises(DiagnosticError, match="named twice"):
        parse_objective(["energy", "time", "energy"], PLACE)
