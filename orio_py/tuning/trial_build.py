"""What `orio check --build` builds: the original, its test program, and one variant of each task."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from orio_py.build.compiler import Artifact, BuildFailure, resolve
from orio_py.build.detect import scratch_folder
from orio_py.build.scratch import Scratch
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import show
from orio_py.core.source import Position
from orio_py.measure.base import VariantEvaluator
from orio_py.measure.compiler_messages import compiler_problem
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.offload.evaluator import OffloadEvaluator
from orio_py.search_space.search_space import Configuration
from orio_py.spec.task import TuningTask
from orio_py.tuning.files.load import LoadedFile, LoadedTask
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.plan import make_plan
from orio_py.tuning.variants.evaluators import make_evaluator
from orio_py.tuning.variants.variant import VariantGenerator, VariantParts

MOST_TRIED = 50
"""Configurations of which the first legal one is built."""


def trial_build(file: LoadedFile, loaded: LoadedTask, options: TuneOptions) -> list[Diagnostic]:
    """What keeps a task from being built, at its first problem size: ORIO-B00x, B025, B026.

    Raises EnvironmentProblem where the machine lacks a compiler or a device.
    """
    plan = make_plan(loaded.task, loaded.points[0], loaded.spaces[0], options)
    compiler = resolve(plan.task.build, file.path.resolve().parent, override=options.cc)
    scratch = Scratch.make(scratch_folder())
    try:
        evaluator = make_evaluator(plan.evaluation, compiler, scratch.path / "build")
        try:
            return [*compiler.warnings, *_problems(loaded, evaluator, VariantGenerator.of(plan.task))]
        finally:
            evaluator.close()
    except DiagnosticError as problem:
        if any(d.code.startswith(("ORIO-B00", "ORIO-M00")) for d in problem.diagnostics):
            return list(problem.diagnostics)
        raise
    finally:
        scratch.remove()


def _problems(
    loaded: LoadedTask, evaluator: VariantEvaluator, generator: VariantGenerator
) -> Iterator[Diagnostic]:
    original = evaluator.original if isinstance(evaluator, OffloadEvaluator) else evaluator
    assert isinstance(original, Evaluator)
    values = loaded.spaces[0].first() or Configuration()
    _, built, warning = original.build_original(values)
    if warning is not None:
        yield warning
    if missing := original.unresolved(built, values):
        names = ", ".join(f"`{name}`" for name in missing)
        message = f"nothing that the test program is linked with defines {names}"
        help_text = "name the files or libraries that define it in `libs` of the `build` section"
        yield Diagnostic("ORIO-B025", message, _first_use(generator.task, missing[0]), help=help_text)
    if (found := _legal(loaded, generator)) is None:
        return
    configuration, parts = found
    variant = evaluator.build(evaluator.program(parts.codes, parts.devices), configuration, "variant")
    if isinstance(variant, BuildFailure):
        shown = ", ".join(f"{name} = {show(value)}" for name, value in configuration.items())
        message = f"the variant {shown or 'of this recipe'} does not compile"
        yield compiler_problem("ORIO-B026", message, variant, generator.task, _source_of(evaluator))
    else:
        assert isinstance(variant, Artifact)


def _first_use(task: TuningTask, name: str) -> Position:
    """Where the file first names something, as far as that can be told from its text."""
    found = re.search(rf"\b{re.escape(name)}\b", task.source.text[task.extent.start : task.extent.end])
    if found is not None:
        return task.source.position(task.extent.start + found.start())
    return task.position


def _source_of(evaluator: VariantEvaluator) -> Path:
    return evaluator.folder / "variant" / "variant.c"


def _legal(loaded: LoadedTask, generator: VariantGenerator) -> tuple[Configuration, VariantParts] | None:
    """The first configuration that the recipe does not refuse."""
    space, point = loaded.spaces[0], loaded.points[0]
    first = space.first()
    some = [*([] if first is None else [first]), *space.sample(MOST_TRIED, random.Random(0))]
    for configuration in some:
        try:
            return configuration, generator.parts(point, configuration)
        except DiagnosticError:
            continue
    return None
