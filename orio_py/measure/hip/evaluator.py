"""Evaluates HIP variants: their kernels are compiled by hipcc, if there is one, and run by the executor of CUDA's.

The executor knows HIP's words (`templates/cuda/cpu/hip`), and checks every access.  Nothing is timed: this program runs
no kernels on AMD's GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.build.cuda import CudaBinary
from orio_py.build.cuda_cpu import CudaOnCpu, cuda_on_cpu
from orio_py.build.hip import HipCompiler, hip_compiler, hip_title
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, Severity
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.kernel.plan import KernelPlan
from orio_py.measure.base import Baseline
from orio_py.measure.cuda.client import DEFAULT_ARCHITECTURE, CudaPlace, processor_place
from orio_py.measure.cuda.evaluator import CudaEvaluator, CudaTools
from orio_py.measure.cuda.variant import CudaVariant
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.offload.evaluator import SUFFIX, agree
from orio_py.measure.offload.measurer import DeviceMeasurer, EmulationWish
from orio_py.record.outcome import VariantFacts
from orio_py.spec.target import DeviceTime

DEFAULT = "gfx90a"
"""What variants are compiled for where the recipe does not say it."""

_PROBLEM = "kernels are not run on AMD's GPUs"


@dataclass(slots=True)
class HipEvaluator(CudaEvaluator):
    """Evaluates variants on the processor; `hipcc` compiles them before, None where there is none."""

    hipcc: HipCompiler | None = None

    @property
    def untimed(self) -> str:
        """Why variants are not timed."""
        built = f"hipcc compiles them for {DEFAULT} where the recipe names no `arch`"
        return f"{self.place.problem}; {built if self.hipcc is not None else 'there is no hipcc that compiles them'}"

    def prepare(self, values: Mapping[str, Value], arguments: Sequence[str] = ()) -> Baseline:
        """As `CudaEvaluator.prepare`, with a warning where no compiler for AMD's GPUs sees the variants."""
        baseline = CudaEvaluator.prepare(self, values, arguments)
        if self.hipcc is not None:
            return baseline
        message = "no compiler for AMD's GPUs sees the variants: hipcc was not found"
        warning = Diagnostic(
            "ORIO-B042", message, severity=Severity.WARNING, help="install ROCm, or put its hipcc on the PATH"
        )
        return replace(baseline, warnings=(*baseline.warnings, warning))

    def compiled(self, variant: CudaVariant, folder: Path) -> list[CudaBinary] | BuildFailure:
        """No machine code that is looked into; a failure where hipcc refuses a text."""
        for number, source in enumerate(variant.sources if self.hipcc is not None else ()):
            assert self.hipcc is not None
            path = folder / f"kernels{number or ''}.hip"
            path.write_text(source, encoding="latin-1")
            problem = self.hipcc.compile(path, variant.architecture)
            if problem is not None:
                return problem
        return []

    def executor_architecture(self, variant: CudaVariant) -> str:
        """The executor has the limits of one of CUDA's."""
        del variant
        return DEFAULT_ARCHITECTURE

    def architecture_of(self, plans: Sequence[KernelPlan], position: Position) -> str:
        """What hipcc compiles for.  Raises DiagnosticError: ORIO-B016."""
        wishes = {plan.options.cuda.architecture for plan in plans} - {""}
        agree("architectures", wishes, position)
        return next(iter(wishes), DEFAULT)

    def facts(self, artifact: Artifact) -> VariantFacts:
        """The architecture, and hipcc's version."""
        if artifact.path.suffix != SUFFIX or not artifact.path.exists():
            return VariantFacts()
        metadata = {"hip_architecture": CudaVariant.read(artifact.path).architecture}
        if self.hipcc is not None:
            metadata["hip_compiler"] = self.hipcc.version
        return VariantFacts((), metadata)


def _executor(folder: Path) -> CudaOnCpu:
    """Raises EnvironmentProblem: ORIO-B040 and B030 without a C++ compiler."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return cuda_on_cpu(folder)
    except EnvironmentProblem as problem:
        message = f"nothing here can check HIP variants: {_PROBLEM}, and"
        first = replace(problem.diagnostics[0], message=f"{message} {problem.diagnostics[0].message}")
        raise EnvironmentProblem(first, *problem.diagnostics[1:]) from None


def _evaluator(original: Evaluator, time: DeviceTime, folder: Path, _: EmulationWish) -> HipEvaluator:
    """Raises EnvironmentProblem as `_executor`."""
    place = _place()
    tools = CudaTools(None, _executor(folder))
    return HipEvaluator(original, time is not DeviceTime.KERNEL, place, tools, hipcc=hip_compiler())


def _place() -> CudaPlace:
    return processor_place(_PROBLEM)


def _devices(_: str) -> list[object]:
    return ["HIP", list(_place().identity)]


MEASURER = DeviceMeasurer(_evaluator, _devices, lambda: [hip_title()])
"""What compiles and checks HIP's variants."""
