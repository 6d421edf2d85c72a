"""What evaluates the variants of a task on this machine: C code, kernels on a device, or kernels that are only checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from orio_py.build.compiler import Compiler
from orio_py.build.cuda import CudaCompiler
from orio_py.build.cuda_catalog import cuda_compiler
from orio_py.build.cuda_cpu import cuda_on_cpu
from orio_py.build.detect import memory_bytes, processor_to_pin
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, Severity
from orio_py.core.expr import Value
from orio_py.core.units import Bytes
from orio_py.measure.base import RunLimits, VariantEvaluator
from orio_py.measure.cuda.client import CudaPlace, cuda_place
from orio_py.measure.cuda.evaluator import CudaEvaluator, CudaTools
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.opencl.evaluator import OpenCLEvaluator
from orio_py.measure.opencl.limits import no_device
from orio_py.measure.opencl.survey import survey
from orio_py.spec.target import DeviceTime, Target
from orio_py.spec.task import TuningTask
from orio_py.tuning.plan import Evaluation

MEMORY_SHARE = 0.8
"""Share of the main memory that one variant may take."""


def make_evaluator(evaluation: Evaluation, compiler: Compiler, folder: Path) -> VariantEvaluator:
    """The evaluator of the target, with its files in `folder`.

    Raises EnvironmentProblem ORIO-B010 without an OpenCL device; for CUDA B020 where there is a GPU and no compiler,
    B040 and B030 where there is neither a GPU nor a C++ compiler.
    """
    parallel = evaluation.target is not Target.C or _starts_threads(evaluation.task, compiler)
    memory = Bytes(int(MEMORY_SHARE * memory_bytes()))
    pins = evaluation.pin if evaluation.pin is not None else not parallel
    cpu = processor_to_pin() if pins else None
    limits = RunLimits(evaluation.timeout, evaluation.repeats, memory, cpu)
    evaluator = Evaluator(evaluation.task, evaluation.point, compiler, folder, limits, parallel)
    with_transfers = evaluation.task.measurement.time is DeviceTime.WITH_TRANSFERS
    match evaluation.target:
        case Target.OPENCL:
            if not survey().devices:
                raise EnvironmentProblem(no_device(survey()))
            return OpenCLEvaluator(evaluator, with_transfers, survey())
        case Target.CUDA:
            place = cuda_place()
            return CudaEvaluator(evaluator, with_transfers, place, cuda_tools(place, folder))
        case _:
            return evaluator


def cuda_tools(place: CudaPlace, folder: Path) -> CudaTools:
    """What builds CUDA variants for `place`, with a warning where nothing makes machine code.

    Raises EnvironmentProblem as `make_evaluator`.
    """
    compiler: CudaCompiler | None = None
    missing: tuple[Diagnostic, ...] = ()
    try:
        compiler = cuda_compiler()
    except EnvironmentProblem as problem:
        if place.has_times:
            raise
        missing = problem.diagnostics
    if place.runs_machine_code:
        return CudaTools(compiler, None)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        executor = cuda_on_cpu(folder)
    except EnvironmentProblem as problem:
        message = f"nothing here can run CUDA variants: {place.problem}"
        raise EnvironmentProblem(
            Diagnostic("ORIO-B040", message, help=place.advice), *problem.diagnostics
        ) from None
    reasons = "; ".join(diagnostic.message for diagnostic in missing)
    warning = Diagnostic(
        "ORIO-B020",
        f"registers, spilled registers and occupancy of variants are not known: {reasons}",
        severity=Severity.WARNING,
        help=missing[0].help if missing else None,
    )
    return CudaTools(compiler, executor, (warning,) if missing else ())


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
