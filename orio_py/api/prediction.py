"""`predict`: variants ranked by their static features; nothing is compiled or run."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from orio_py.api.report import BAD_INPUT, ENVIRONMENT, OK, Paths, Report, given_paths, nothing_found
from orio_py.build.compiler import resolve
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem, fail, has_errors
from orio_py.core.expr import Value
from orio_py.model.speed.catalog import SpeedModel, load_speed_model
from orio_py.search.base import SearchContext
from orio_py.search.memory import Memory
from orio_py.search.ranking import PredictedRanking
from orio_py.tuning.files.load import LoadedFile, LoadedTask, load
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.result import PredictionUse
from orio_py.tuning.variants.static import LazyFeatures


@dataclass(frozen=True, slots=True)
class RankedVariant:
    """A configuration with its score: the higher, the faster it is predicted to be."""

    configuration: Mapping[str, Value]
    score: float


@dataclass(frozen=True, slots=True)
class RankedRegion:
    """The ranking of one task at one problem size, the best first; all numbers in it are predicted."""

    file: str
    line: int
    name: str
    inputs: Mapping[str, Value]
    size: int
    """Of the search space."""
    kind: str
    """That of the model."""
    use: PredictionUse
    variants: tuple[RankedVariant, ...]

    def as_json(self) -> dict[str, object]:
        """The entry of `predict --json`."""
        return {
            "file": self.file,
            "line": self.line,
            "name": self.name,
            "inputs": dict(self.inputs),
            "valid": self.size,
            "model": self.kind,
            "obtained": "predicted",
            "ranked": self.use.ranked,
            "refused": self.use.refused,
            "seconds": self.use.seconds,
            "variants": [{"configuration": dict(v.configuration), "score": v.score} for v in self.variants],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictReport(Report):
    """The outcome of `predict`."""

    regions: tuple[RankedRegion, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Diagnostics and rankings."""
        return {**Report.as_json(self), "regions": [region.as_json() for region in self.regions]}


@dataclass(frozen=True, slots=True)
class PredictOptions:
    """`model` is the file of a model of speed; without one that which comes with the program counts.

    `sample` random configurations of each space are ranked (all of a smaller one), and in `rounds` rounds what is near the best.
    """

    model: Path | None = None
    sample: int = 500
    rounds: int = 3
    seed: int = 1


def predict(
    paths: Paths, *, options: PredictOptions | None = None, tune_options: TuneOptions | None = None
) -> PredictReport:
    """Rank the variants of files.  Of `tune_options` count those that say what is tuned, and the compiler."""
    chosen = options or PredictOptions()
    tuned = tune_options or TuneOptions()
    loaded = load(
        given_paths(paths),
        spec=tuned.spec,
        pins=tuned.pins,
        compile_commands=tuned.compile_commands,
        assume=tuned.assume,
    )
    problems, found, lacks = list(loaded.diagnostics), list[RankedRegion](), False
    try:
        model = None if chosen.model is None else load_speed_model(chosen.model)
        for file in loaded.files if not loaded.is_bad else ():
            for task in file.tasks:
                found += _ranked(file, task, model, chosen, tuned)
    except DiagnosticError as problem:
        lacks = isinstance(problem, EnvironmentProblem)
        problems += problem.diagnostics
    problems.extend(nothing_found(loaded, problems))
    failing = ENVIRONMENT if lacks else BAD_INPUT
    return PredictReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=failing if has_errors(problems) else OK,
        regions=tuple(found),
    )


def _ranked(
    file: LoadedFile, task: LoadedTask, model: SpeedModel | None, options: PredictOptions, tuned: TuneOptions
) -> list[RankedRegion]:
    """The rankings of a task at all its sizes.  Raises DiagnosticError ORIO-P026."""
    found: list[RankedRegion] = []
    compiler = resolve(task.task.build, file.path.resolve().parent, override=tuned.cc)
    for point, space in zip(task.points, task.spaces, strict=True):
        source = LazyFeatures(task.task, point, compiler)
        memory = Memory(SearchContext(space, random.Random(options.seed)))
        ranking = PredictedRanking(memory, source, model)
        if not ranking.look(options.sample, options.rounds):
            _nothing_fits(task, source.use, given=options.model is not None)
        assert ranking.model is not None
        variants = [
            RankedVariant(dict(memory.encoding.configuration(place)), ranking.score(place))
            for place in ranking.ordered()
        ]
        position = task.task.position
        found.append(
            RankedRegion(
                position.file,
                position.line,
                task.task.name,
                dict(point.values),
                space.size,
                ranking.model.kind,
                source.use,
                tuple(variants),
            )
        )
    return found


def _nothing_fits(task: LoadedTask, use: PredictionUse, *, given: bool) -> NoReturn:
    message = f"no model of speed knows the features of `{task.task.name}`"
    help_text = (
        "`orio model train --kind forest` makes one of stored trials of the same kind; `--model` names it"
    )
    if not use.ranked:
        message, help_text = f"every variant of `{task.task.name}` that was looked at is refused", None
    elif given:
        message = f"the model does not know the features of `{task.task.name}`"
    fail("ORIO-P026", message, task.task.position, help=help_text)
