"""What evaluates the variants of a task on this machine: C code, kernels on a device, or kernels that are only checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from orio_py.build.compiler import Compiler
from orio_py.build.detect import memory_bytes, processor_to_pin
from orio_py.core.expr import Value
from orio_py.core.units import Bytes
from orio_py.measure.base import RunLimits, VariantEvaluator
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.offload.measurer import device_measurer
from orio_py.spec.target import Target
from orio_py.spec.task import TuningTask
from orio_py.tuning.plan import Evaluation

MEMORY_SHARE = 0.8
"""Share of the main memory that one variant may take."""


def make_evaluator(evaluation: Evaluation, compiler: Compiler, folder: Path) -> VariantEvaluator:
    """The evaluator of the target, with its files in `folder`.

    Raises EnvironmentProblem where nothing here runs kernels of the target.
    """
    parallel = evaluation.target != Target.C or _starts_threads(evaluation.task, compiler)
    memory = Bytes(int(MEMORY_SHARE * memory_bytes()))
    pins = evaluation.pin if evaluation.pin is not None else not parallel
    cpu = processor_to_pin() if pins else None
    limits = RunLimits(
        evaluation.timeout,
        evaluation.repeats,
        memory,
        cpu,
        evaluation.original_limit,
        evaluation.patience,
    )
    evaluator = Evaluator(evaluation.task, evaluation.point, compiler, folder, limits, parallel)
    measurer = device_measurer(evaluation.target)
    time = evaluation.task.measurement.time
    return (
        evaluator if measurer is None else measurer.evaluator(evaluator, time, folder, evaluation.emulation)
    )


def command_line(task: TuningTask, values: Mapping[str, Value]) -> tuple[str, ...]:
    """Command-line options of the test program that are tuning parameters."""
    words: list[str] = []
    for parameter in task.parameters:
        if parameter.option is not None and parameter.name in values:
            words.extend((parameter.option, str(values[parameter.name])))
    return tuple(words)


def _starts_threads(task: TuningTask, compiler: Compiler) -> bool:
    """Whether the file's own code may run on several processors, whatever the recipe does."""
    words = " ".join(compiler.command)
    return ("openmp" in words and "pragma omp" in task.source.text) or "-pthread" in words
