"""Of how much of a search space a recipe is legal, and which parameters change nothing, found by applying it.

Nothing is built.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, Severity
from orio_py.core.expr import Value, names_in
from orio_py.core.source import Position
from orio_py.search_space.configuration import Configuration, value_key
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.check import used_beside_recipes
from orio_py.spec.inputs import InputPoint
from orio_py.spec.parameter import Parameter
from orio_py.spec.task import TuningTask
from orio_py.tuning.variants.constraint_hints import ConstraintHint, Neighbourhood
from orio_py.tuning.variants.variant import VariantGenerator

CONFIGURATIONS_CHECKED = 200
"""How many configurations of a space the recipe is tried on at most; all of them in smaller spaces."""

CONFIGURATIONS_WITHOUT_NEWS = 25
"""After so many configurations in a row that brought no new outcome, the sample of a larger space ends.

A sample in which everything was refused goes on to its end: a recipe is not called refused everywhere lightly.
"""

SECONDS = 1.5
"""The processor time after which a sample ends, once it has a legal configuration or `FEWEST` were tried."""

FEWEST = 10
"""How many configurations are tried at least, where all are refused."""

HINT_SECONDS = 0.5
"""The processor time after which the search for constraints, and for parameters without effect, ends."""

MOST_REASONS = 4
"""So many kinds of refusals are named in the summary."""

MOST_PAIRS = 40
"""So many pairs of configurations that differ in one parameter are compared at most."""

FEWEST_PAIRS = 10
"""So many pairs have to be compared, where there are more, before a parameter is said to change nothing."""

_ONE_VALUE = "one value is enough, unless it matters in a combination that was not tried"

_Kind = tuple[str, Position | None]
"""Messages name parameter values, so that the same refusal reads differently in each configuration."""


@dataclass(frozen=True, slots=True)
class RefusalOfSome:
    """A kind of refusal: its first diagnostic, how many configurations it was of, and a constraint that leaves them out."""

    first: Diagnostic
    count: int
    constraint: str | None = None


@dataclass(frozen=True, slots=True)
class IdleParameter:
    """A parameter that changed the code in none of the `pairs` of configurations that differ in it alone."""

    parameter: Parameter
    pairs: int

    def diagnostic(self) -> Diagnostic:
        """The warning: ORIO-P025."""
        name, place = self.parameter.name, self.parameter.position
        pairs = "one pair" if self.pairs == 1 else f"all {self.pairs} pairs"
        message = f"parameter `{name}` changes nothing: the code was the same in {pairs} of configurations that differ in it alone"
        return Diagnostic("ORIO-P025", message, place, Severity.WARNING, help=_ONE_VALUE)


@dataclass(frozen=True, slots=True)
class Legality:
    """How many configurations of a space there are, were tried and were refused, with the kinds of refusals.

    `idle` are the parameters that changed nothing.
    """

    place: Position
    size: int
    tried: int
    refusals: tuple[RefusalOfSome, ...] = ()
    idle: tuple[IdleParameter, ...] = ()

    @property
    def legal(self) -> int:
        """How many of those tried were not refused."""
        return self.tried - sum(refusal.count for refusal in self.refusals)

    def summary(self) -> str | None:
        """`K.c:4: 37 % of 2 000 drawn are refused: 30 % …; 7 % …`, the frequent reasons first; None if none is, or the only one."""
        if not self.refusals or self.size == 1:
            return None
        count = f"{self.tried:,}".replace(",", " ")
        some = f"{count} drawn" if self.tried < self.size else f"all {count}"
        often = sorted(self.refusals, key=lambda refusal: -refusal.count)
        share = _percent(self.tried - self.legal, self.tried)
        if len(often) == 1:
            return f"{self.place}: {share} of {some} are refused: {_reason(often[0].first)}"
        reasons = [f"{_percent(r.count, self.tried)} {_reason(r.first)}" for r in often[:MOST_REASONS]]
        more = [f"{len(often) - MOST_REASONS} further reasons"] if len(often) > MOST_REASONS else []
        return f"{self.place}: {share} of {some} are refused: {'; '.join([*reasons, *more])}"

    def diagnostics(self) -> Iterator[Diagnostic]:
        """The refusals, errors where nothing else was found and warnings else; parameters that change nothing."""
        severity = Severity.WARNING if self.legal else Severity.ERROR
        number = 0
        for refusal in self.refusals:
            notes = [Note(f"refused for {refusal.count} of {self.tried} configurations tried")]
            if refusal.constraint is not None:
                number += 1
                notes.append(Note(f"left out by `constraint legal{number} = {refusal.constraint};`"))
            first = refusal.first
            yield replace(first, severity=severity, notes=(*first.notes, *notes))
        for each in self.idle:
            yield each.diagnostic()

    def as_json(self) -> dict[str, object]:
        """The place and the numbers, the kinds of refusals, and the parameters that change nothing."""
        often = sorted(self.refusals, key=lambda refusal: -refusal.count)
        refused = [
            {"code": r.first.code, "message": r.first.message, "count": r.count, "constraint": r.constraint}
            for r in often
        ]
        return {
            "file": self.place.file,
            "line": self.place.line,
            "configurations": self.size,
            "tried": self.tried,
            "legal": self.legal,
            "refused": refused,
            "idle": [{"parameter": each.parameter.name, "pairs": each.pairs} for each in self.idle],
        }


def legality(task: TuningTask, space: SearchSpace, point: InputPoint) -> Legality:
    """What the recipes of a task refuse at a problem size, over a space or a sample of it.

    The space's first configuration, where factors are small and switches often off, is always among them.
    """
    some = _some(space)
    is_sample = space.size > len(some)
    sample = _Sample(VariantGenerator.of(task), point)
    started = time.process_time()
    last_news = 0
    for tried, configuration in enumerate(some, 1):
        if sample.take(configuration):
            last_news = tried
        is_possible = bool(sample.legal)
        if is_sample and is_possible and tried - last_news >= CONFIGURATIONS_WITHOUT_NEWS:
            break
        if time.process_time() - started > SECONDS and (is_possible or tried >= FEWEST):
            break
    end = time.process_time() + HINT_SECONDS
    hints = sample.hints({p.name: p.values for p in space.parameters}, end)
    refusals = tuple(
        RefusalOfSome(sample.first[kind], len(found), hints.get(kind))
        for kind, found in sample.refused.items()
    )
    idle = tuple(sample.idle(_candidates(task, space), end))
    return Legality(task.position, space.size, sample.tried, refusals, idle)


def _candidates(task: TuningTask, space: SearchSpace) -> list[Parameter]:
    """The parameters that nothing but recipes uses, unless these depend on the problem size, of which one is looked at."""
    steps = [step for region in task.regions for step in region.recipe.steps]
    named = {name for step in steps for argument in step.arguments for name in names_in(argument.expression)}
    if any(size.name in named and len(size.values) > 1 for size in task.inputs.parameters):
        return []
    named -= used_beside_recipes(task)
    return [p for p in space.parameters if p.name in named and p.option is None and len(p.values) > 1]


@dataclass(slots=True)
class _Sample:
    """The outcomes of the configurations that were tried."""

    generator: VariantGenerator
    point: InputPoint
    legal: dict[Configuration, int] = field(default_factory=dict[Configuration, int])
    """What was not refused, with a digest of its code."""
    refused: dict[_Kind, list[Configuration]] = field(default_factory=dict[_Kind, list[Configuration]])
    first: dict[_Kind, Diagnostic] = field(default_factory=dict[_Kind, Diagnostic])

    @property
    def tried(self) -> int:
        return len(self.legal) + sum(map(len, self.refused.values()))

    def take(self, configuration: Configuration) -> bool:
        """Try a configuration; whether it brought the first legal one or a new kind of refusal."""
        problem = self._outcome(configuration)
        if isinstance(problem, int):
            self.legal[configuration] = problem
            return len(self.legal) == 1
        kind = _kind(problem)
        self.refused.setdefault(kind, []).append(configuration)
        return self.first.setdefault(kind, problem) is problem

    def idle(self, candidates: Sequence[Parameter], end: float) -> Iterator[IdleParameter]:
        """The candidates that changed the code of no legal configuration, as far as the time allows."""
        if not self.legal:
            return
        left = {parameter.name: self._pairs(parameter) for parameter in candidates}
        compared = dict.fromkeys(left, 0)
        finished: set[str] = set()
        while left and time.process_time() < end:
            for name, pairs in list(left.items()):
                pair = next(pairs, None) if compared[name] < MOST_PAIRS else None
                if pair is None:
                    finished.add(name)
                    del left[name]
                elif self._differ(*pair):
                    del compared[name], left[name]
                else:
                    compared[name] += 1
        for parameter in candidates:
            count = compared.get(parameter.name, 0)
            if count >= FEWEST_PAIRS or parameter.name in finished:
                yield IdleParameter(parameter, count)

    def _pairs(self, parameter: Parameter) -> Iterator[tuple[Configuration, Configuration]]:
        """Legal configurations with another value of a parameter, each legal one with its first such value before its next."""
        name = parameter.name
        for turn in range(len(parameter.values) - 1):
            for place, one in enumerate(self.legal):
                others = [value for value in parameter.values if value_key(value) != value_key(one[name])]
                yield one, Configuration({**one, name: others[(place + turn) % len(others)]})

    def _differ(self, one: Configuration, other: Configuration) -> bool:
        """Whether a configuration is refused, or has other code than a legal one."""
        known = self.legal.get(other)
        return self.legal[one] != (known if known is not None else self._outcome(other))

    def hints(self, values: Mapping[str, tuple[Value, ...]], end: float) -> dict[_Kind, str]:
        """Constraints that leave out the refused configurations and none of the legal ones, the most frequent kinds first."""
        found: dict[_Kind, str] = {}
        if not self.legal:
            return found
        with suppress(_OutOfTime):
            for kind, refused in sorted(self.refused.items(), key=lambda entry: -len(entry[1])):
                hint = self._neighbourhood(values, kind, end).hint(refused[0])
                if hint is not None and self._fits(hint, refused):
                    found[kind] = hint.text
        return found

    def _neighbourhood(
        self, values: Mapping[str, tuple[Value, ...]], kind: _Kind, end: float
    ) -> Neighbourhood:
        """The neighbourhood of the first legal configuration; asking it raises `_OutOfTime` from a time on."""

        def is_refused(chosen: Mapping[str, Value]) -> bool | None:
            if time.process_time() > end:
                raise _OutOfTime
            return self._has_kind(chosen, kind)

        return Neighbourhood(next(iter(self.legal)), values, is_refused)

    def _fits(self, hint: ConstraintHint, refused: list[Configuration]) -> bool:
        """Whether a hint keeps what is legal, and leaves out most of what is refused."""
        left_out = sum(not hint.holds(configuration) for configuration in refused)
        return all(map(hint.holds, self.legal)) and 2 * left_out > len(refused)

    def _has_kind(self, values: Mapping[str, Value], kind: _Kind) -> bool | None:
        """Whether a configuration is refused in one way; None if it is in another."""
        outcome = self._outcome(values)
        return _kind(outcome) == kind or None if isinstance(outcome, Diagnostic) else False

    def _outcome(self, values: Mapping[str, Value]) -> int | Diagnostic:
        """A digest of the code, or why it is refused."""
        try:
            parts = self.generator.parts(self.point, values)
        except DiagnosticError as problem:
            return problem.diagnostics[0]
        return hash((parts.codes, repr(parts.devices) if parts.devices else ""))


class _OutOfTime(Exception):
    """No more configurations are tried in search of a constraint."""


def _kind(problem: Diagnostic) -> _Kind:
    return problem.code, problem.position


def _percent(count: int, of: int) -> str:
    """A share that is neither 0 nor 100 % unless it is so."""
    share = 100 * count / of
    return "< 1 %" if 0 < share < 1 else "> 99 %" if 99 < share < 100 else f"{share:.0f} %"


def _reason(first: Diagnostic) -> str:
    """A kind of refusal in a line: its first message, code and line."""
    line = f", line {first.position.line}" if first.position is not None else ""
    return f"{first.message} [{first.code}{line}]"


def _some(space: SearchSpace) -> list[Configuration]:
    """The whole of a small space; of a larger one its first configuration and others, as chance has it."""
    sample = space.sample(CONFIGURATIONS_CHECKED, random.Random(0))
    simplest = space.first()
    if simplest is None:
        return sample
    return [simplest, *(each for each in sample if each != simplest)][:CONFIGURATIONS_CHECKED]
