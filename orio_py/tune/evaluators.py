"""What evaluates the variants of a task, on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from orio_py.build.compiler import Compiler
from orio_py.build.detect import memory_bytes, processor_to_pin
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.core.expr import Value
from orio_py.core.units import Bytes
from orio_py.measure.base import RunLimits, VariantEvaluator
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.opencl.client import survey
from orio_py.measure.opencl.evaluator import OpenCLEvaluator
from orio_py.measure.opencl.limits import no_device
from orio_py.spec.target import DeviceTime, Target
from orio_py.spec.task import TuningTask
from orio_py.tune.plan import Evaluation

MEMORY_SHARE = 0.8
"""Share of the main memory that one variant may take."""


def make_evaluator(evaluation: Evaluation, compiler: Compiler, folder: Path) -> VariantEvaluator:
    """The evaluator of the target, with its files in `folder`.

    Raises EnvironmentProblem ORIO-B010, B040 without a device.
    """
    if evaluation.target is Target.CUDA:
        message = "variants for CUDA can be generated, but nothing here can run and time them yet"
        raise EnvironmentProblem(Diagnostic("ORIO-B040", message, help="write one with `orio transform`"))
    on_device = evaluation.target is Target.OPENCL
    parallel = evaluation.target is not Target.C or _starts_threads(evaluation.task, compiler)
    memory = Bytes(int(MEMORY_SHARE * memory_bytes()))
    pins = evaluation.pin if evaluation.pin is not None else not parallel
    cpu = processor_to_pin() if pins else None
    limits = RunLimits(evaluation.timeout, evaluation.repeats, memory, cpu)
    evaluator = Evaluator(evaluation.task, evaluation.point, compiler, folder, limits, parallel)
    if not on_device:
        return evaluator
    if not survey().devices:
        raise EnvironmentProblem(no_device(survey()))
    with_transfers = evaluation.task.measurement.time is DeviceTime.WITH_TRANSFERS
    return OpenCLEvaluator(evaluator, survey(), with_transfers)


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
