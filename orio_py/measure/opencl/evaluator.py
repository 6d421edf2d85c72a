"""Evaluates variants on OpenCL devices; the original is built and measured as C code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.build.process import Completed
from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.extent import extent_text
from orio_py.codegen.program import Program
from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.kernel.plan import KernelPlan
from orio_py.measure.base import Baseline
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.offload.client import DeviceWorker, Ended
from orio_py.measure.offload.evaluator import SUFFIX, OffloadEvaluator, agree
from orio_py.measure.offload.measurer import DeviceMeasurer
from orio_py.measure.opencl.client import opencl_worker
from orio_py.measure.opencl.limits import check_device, choose_device, fault_warning, no_device
from orio_py.measure.opencl.survey import survey
from orio_py.measure.opencl.variant import DeviceVariant
from orio_py.record.device import OpenCLSurvey
from orio_py.record.outcome import VariantFacts


@dataclass(slots=True)
class OpenCLEvaluator(OffloadEvaluator):
    """Evaluates variants on the devices of `survey`."""

    survey: OpenCLSurvey

    def new_worker(self) -> DeviceWorker:
        """A worker for OpenCL's devices."""
        return opencl_worker(self.folder, self.survey.environment)

    def prepare(self, values: Mapping[str, Value], arguments: Sequence[str] = ()) -> Baseline:
        """As `OffloadEvaluator.prepare`; what the driver is not asked for is a warning."""
        # Not `super()`: a class with slots is made anew, and this function would know the old one.
        baseline = OffloadEvaluator.prepare(self, values, arguments)
        warning = fault_warning(choose_device(self.survey, None, None))
        return replace(baseline, warnings=(*baseline.warnings, *([warning] if warning is not None else [])))

    def program(self, codes: Sequence[str], devices: Sequence[DeviceProgram] = ()) -> Program:
        """The description of a variant, or C code where it has no kernels.

        Raises DiagnosticError ORIO-B011 to B017 for what no device here can do, M017 when the timed code
        holds statements that only a compiler can follow.
        """
        if not devices:
            return self.original.program(codes)
        task = self.original.task
        platform, number = _agreed([p for program in devices for p in program.plans], task.position)
        device = choose_device(self.survey, platform, number, task.position)
        variant = DeviceVariant.of(device, extent_text(task, codes), devices)
        launches = self.launches(variant.host, variant.calls)
        check_device(device, variant.sources, launches, task.position)
        return Program(variant.text, SUFFIX)

    def build_kernels(self, path: Path) -> Artifact | BuildFailure:
        """Build a variant with this process's worker, which fills the cache of the others."""
        variant, folder = DeviceVariant.read(path), path.parent
        for number, source in enumerate(variant.sources):
            (folder / f"kernels{number or ''}.cl").write_text(source, encoding="latin-1")
        try:
            answer = self.worker().build(path)
        except OSError as error:
            return BuildFailure(str(error), "")
        if isinstance(answer, Ended):
            done = answer.completed
            how = f"gave no result after {done.seconds:.1f} s" if done.timed_out else f"ended by {_end(done)}"
            return BuildFailure(f"the device's compiler {how}", "", done.timed_out)
        (folder / "build.log").write_text(answer.log, encoding="utf-8")
        if answer.problem is not None:
            return BuildFailure(answer.problem[1], answer.log)
        return Artifact(path, answer.seconds)

    def facts(self, artifact: Artifact) -> VariantFacts:
        """The device of a variant with kernels."""
        if artifact.path.suffix != SUFFIX or not artifact.path.exists():
            return VariantFacts()
        variant = DeviceVariant.read(artifact.path)
        place = (variant.platform, variant.device)
        found = (d for d in self.survey.devices if (d.platform_number, d.number) == place)
        device = next(found, None)
        return VariantFacts((), device.metadata if device is not None else {})


def _agreed(plans: Sequence[KernelPlan], position: Position) -> tuple[int | str | None, int | str | None]:
    """The platform and device of all plans.  Raises DiagnosticError ORIO-B016 when they differ."""
    agree("devices", {(plan.options.platform, plan.options.device) for plan in plans}, position)
    agree("build options", {plan.options.build_flags for plan in plans}, position)
    return plans[0].options.platform, plans[0].options.device


def _end(done: Completed) -> str:
    return done.signal_name or f"exit status {done.returncode}"


def _evaluator(original: Evaluator, with_transfers: bool, _: Path) -> OpenCLEvaluator:
    """Raises EnvironmentProblem ORIO-B010 without a device."""
    if not survey().devices:
        raise EnvironmentProblem(no_device(survey()))
    return OpenCLEvaluator(original, with_transfers, survey())


def _devices() -> list[object]:
    found = survey()
    setting = [] if found.setting is None else [found.setting]
    return [[list(device.identity) for device in found.devices], *setting]


MEASURER = DeviceMeasurer(_evaluator, _devices, list, most_jobs=4)
"""What measures OpenCL's variants.  Each process that builds them loads the driver, and takes memory of the device."""
