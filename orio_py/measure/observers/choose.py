"""Which observers a task's variants are counted by, on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, Note, Severity
from orio_py.measure.observers.base import AnyObserver, Counter, usable_counters
from orio_py.measure.observers.catalog import OBSERVERS
from orio_py.spec.objective import Objective
from orio_py.spec.task import MeasurementSpec

SERIAL_ONLY = ("papi",)
"""Methods that count one thread only, which would mislead about OpenMP code."""


@dataclass(frozen=True, slots=True)
class Watch:
    """An observer and what is taken from it: where several give a counter, the first of them counts."""

    observer: AnyObserver
    counters: tuple[Counter, ...]


@dataclass(frozen=True, slots=True)
class ChosenObservers:
    """The observers to use, and warnings about those that do not work here."""

    watches: tuple[Watch, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def methods(self) -> tuple[str, ...]:
        """The observers' names, in their order."""
        return tuple(watch.observer.name for watch in self.watches)


def choose_observers(
    spec: MeasurementSpec,
    objective: Objective | None,
    *,
    is_parallel: bool,
    observers: Mapping[str, AnyObserver] = OBSERVERS,
) -> ChosenObservers:
    """The methods of a specification, and for a counter of the objective that none of them gives, the first
    that works here.

    A method that does not work here is a warning, ORIO-M014.  Raises EnvironmentProblem ORIO-M015 when the
    objective needs a counter that cannot be had.
    """
    needed = objective.counters if objective is not None else ()
    warnings: list[Diagnostic] = []
    chosen: dict[str, tuple[Counter, ...]] = {}
    for method in spec.methods:
        reason = _reason(observers[method], is_parallel=is_parallel)
        if reason is None:
            chosen[method] = usable_counters(observers[method])
            continue
        message = f"method '{method}' does not work here: {reason}"
        help_text = "its counters are left out; `orio devices` tells what works"
        warnings.append(
            Diagnostic("ORIO-M014", message, spec.methods_position, Severity.WARNING, help=help_text)
        )
    for name in needed:
        if any(counter.name == name for counters in chosen.values() for counter in counters):
            continue
        added = _first_with(name, observers, is_parallel=is_parallel)
        asked = [method for method in spec.methods if _gives(observers[method], name)]
        if added is None or asked:
            problem = _impossible(name, asked, added, observers, is_parallel=is_parallel)
            place = objective.position if objective is not None else None
            raise EnvironmentProblem(replace(problem, position=place or spec.methods_position))
        chosen[added] = usable_counters(observers[added])
    return ChosenObservers(_watches(chosen, observers), tuple(warnings))


def work_method(observers: Mapping[str, AnyObserver] = OBSERVERS) -> str:
    """The method that counts what code does: hardware events where they are to be had, else simulated ones."""
    names = {counter.name for counter in usable_counters(observers["perf"])}
    return "perf" if {"instructions", "cache_misses"} <= names else "valgrind"


def choose_for_device(spec: MeasurementSpec, objective: Objective | None) -> ChosenObservers:
    """The observers for variants on a device: none, for none of them sees what a device does.

    Each method of a specification gives a warning, ORIO-M014.  Raises EnvironmentProblem ORIO-M015 when the
    objective needs a counter.
    """
    if objective is not None and objective.counters:
        message = f"counter `{objective.counters[0]}` cannot be had of kernels on a device"
        place = objective.position or spec.methods_position
        raise EnvironmentProblem(Diagnostic("ORIO-M015", message, place))
    help_text = "kernels on a device are timed by its events"
    return ChosenObservers(
        (),
        tuple(
            Diagnostic(
                "ORIO-M014",
                f"method '{method}' does not count what a device does",
                spec.methods_position,
                Severity.WARNING,
                help=help_text,
            )
            for method in spec.methods
        ),
    )


def _watches(
    chosen: Mapping[str, tuple[Counter, ...]], observers: Mapping[str, AnyObserver]
) -> tuple[Watch, ...]:
    taken: set[str] = set()
    found: list[Watch] = []
    for method, counters in chosen.items():
        own = tuple(counter for counter in counters if counter.name not in taken)
        taken.update(counter.name for counter in own)
        found.append(Watch(observers[method], own))
    return tuple(found)


def _reason(observer: AnyObserver, *, is_parallel: bool) -> str | None:
    if is_parallel and observer.name in SERIAL_ONLY:
        return "it counts one thread, and this code runs on several"
    return observer.available()


def _gives(observer: AnyObserver, name: str) -> bool:
    return any(counter.name == name for counter in observer.counters())


def _first_with(name: str, observers: Mapping[str, AnyObserver], *, is_parallel: bool) -> str | None:
    for method, observer in observers.items():
        if not _gives(observer, name) or _reason(observer, is_parallel=is_parallel) is not None:
            continue
        if name not in observer.missing():
            return method
    return None


def _impossible(
    name: str,
    asked: list[str],
    other: str | None,
    observers: Mapping[str, AnyObserver],
    *,
    is_parallel: bool,
) -> Diagnostic:
    """Why a counter cannot be had, by the methods that were asked for, or by all that have it."""
    methods = asked or [method for method, observer in observers.items() if _gives(observer, name)]
    notes: list[Note] = []
    for method in methods:
        observer = observers[method]
        reason = _reason(observer, is_parallel=is_parallel) or observer.missing().get(name, "")
        notes.append(Note(f"method '{method}': {reason}"))
    message = f"the objective needs the counter `{name}`, which cannot be taken here"
    if asked:
        message += f" by method '{asked[0]}'"
    help_text = f"method '{other}' gives it here" if other is not None else "`orio devices` tells what works"
    return Diagnostic("ORIO-M015", message, notes=tuple(notes), help=help_text)
