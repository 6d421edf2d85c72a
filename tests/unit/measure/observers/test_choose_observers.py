"""Which observers a task gets: those it names, those its objective needs, and what that takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from orio_py.core.diagnostics import EnvironmentProblem, Severity
from orio_py.core.source import Position
from orio_py.frontend.objective import parse_objective
from orio_py.measure.observers.base import Counter
from orio_py.measure.observers.choose import ChosenObservers, choose_for_device, choose_observers
from orio_py.spec.task import MeasurementSpec

PLACE = Position("a.c", 7, 3)


@dataclass(frozen=True)
class Invented:
    name: str
    gives: tuple[str, ...]
    reason: str | None = None
    lacks: Mapping[str, str] = field(default_factory=dict)

    def counters(self) -> tuple[Counter, ...]:
        return tuple(Counter(name) for name in self.gives)

    def available(self) -> str | None:
        return self.reason

    def missing(self) -> Mapping[str, str]:
        return self.lacks

    def job_lines(self) -> tuple[str, ...]:
        return (f"observe {self.name}",)


PERF = Invented("perf", ("instructions", "page_faults"), lacks={"instructions": "no such event"})
PAPI = Invented("papi", ("instructions", "cycles"))
RUSAGE = Invented("rusage", ("page_faults", "user_time"))
RAPL = Invented("rapl", ("energy",), reason="no meter")
VALGRIND = Invented("valgrind", ("instructions", "branches"))


def choose(
    *methods: str, objective: str | None = None, is_parallel: bool = False, papi: bool = False
) -> ChosenObservers:
    known = {o.name: o for o in (PERF, *((PAPI,) if papi else ()), RUSAGE, RAPL, VALGRIND)}
    goal = parse_objective(objective, PLACE) if objective is not None else None
    spec = MeasurementSpec(methods=methods, methods_position=PLACE)
    return choose_observers(spec, goal, is_parallel=is_parallel, observers=known)


def taken(choice: ChosenObservers) -> list[tuple[str, list[str]]]:
    return [(watch.observer.name, [c.name for c in watch.counters]) for watch in choice.watches]


def test_nothing_counts_what_a_device_does() -> None:
    chosen = choose_for_device(MeasurementSpec(methods=("perf",), methods_position=PLACE), None)
    assert chosen.watches == ()
    [warning] = chosen.warnings
    assert (warning.code, warning.position, warning.severity) == ("ORIO-M014", PLACE, Severity.WARNING)
    assert choose_for_device(MeasurementSpec(), parse_objective("wall_time", PLACE)) == ChosenObservers()
    with pytest.raises(EnvironmentProblem) as caught:
        choose_for_device(MeasurementSpec(), parse_objective("time * instructions", PLACE))
    assert caught.value.diagnostics[0].code == "ORIO-M015"


def test_nothing_is_counted_unless_asked_for() -> None:
    assert choose() == ChosenObservers()
    assert choose(objective="wall_time + cpu_time") == ChosenObservers()


def test_the_first_method_that_gives_a_counter_counts() -> None:
    assert taken(choose("rusage", "perf")) == [("rusage", ["page_faults", "user_time"]), ("perf", [])]
    assert taken(choose("perf", "rusage")) == [("perf", ["page_faults"]), ("rusage", ["user_time"])]


def test_a_method_that_does_not_work_here_is_a_warning() -> None:
    choice = choose("rapl", "rusage")
    assert choice.methods == ("rusage",)
    (warning,) = choice.warnings
    assert (warning.code, warning.position) == ("ORIO-M014", PLACE)
    assert "'rapl' does not work here: no meter" in warning.message


def test_the_objective_brings_the_first_method_that_works() -> None:
    assert choose(objective="time * instructions").methods == ("valgrind",)
    assert choose(objective="instructions", papi=True).methods == ("papi",)
    assert choose("rusage", objective="branches + user_time").methods == ("rusage", "valgrind")


def test_one_thread_is_not_mistaken_for_all_of_them() -> None:
    assert choose(objective="instructions", papi=True, is_parallel=True).methods == ("valgrind",)
    (warning,) = choose("papi", papi=True, is_parallel=True).warnings
    assert "one thread" in warning.message


@pytest.mark.parametrize(
    ("methods", "objective", "note", "help_text"),
    [
        ((), "time * energy", "method 'rapl': no meter", "orio devices"),
        (("perf",), "instructions", "method 'perf': no such event", "'valgrind' gives it here"),
    ],
    ids=["nowhere", "not by the method asked for"],
)
def test_a_counter_that_cannot_be_had_ends_the_task(
    methods: tuple[str, ...], objective: str, note: str, help_text: str
) -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        choose(*methods, objective=objective)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.position) == ("ORIO-M015", PLACE)
    assert note in [n.message for n in problem.notes]
    assert help_text in str(problem.help)
