"""Evaluates OpenCL variants: C code with its host code, as an application has it, built and timed like any other."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.build.process import Completed, run
from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.codegen.opencl.host import host_header, host_source, measured_source
from orio_py.codegen.program import Program
from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.core.expr import Value
from orio_py.core.resources import directory
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.kernel.plan import KernelPlan
from orio_py.measure.base import Baseline
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.job import EarlyStopping, Job, ResultLines
from orio_py.measure.offload.evaluator import agree
from orio_py.measure.offload.measurer import DeviceMeasurer, EmulationWish
from orio_py.measure.opencl.client import program_environment
from orio_py.measure.opencl.limits import check_device, choose_device, fault_warning, no_device, no_library
from orio_py.measure.opencl.survey import survey
from orio_py.record.device import OpenCLDevice, OpenCLSurvey
from orio_py.record.measurement import Measurement
from orio_py.record.outcome import VariantFacts
from orio_py.record.trial import CounterSource, CounterValue
from orio_py.spec.target import DeviceTime

LIBRARY = "kernels.so"
"""The shared object of a variant with kernels."""

DEVICE = "device.json"
"""The file beside it that describes the device."""

BUILD_TIMEOUT = Seconds(120.0)
"""For the device's compiler."""

_BUILD = """
import ctypes, os, sys
library, text = ctypes.CDLL(sys.argv[1]), ctypes.create_string_buffer(1 << 16)
status = library.orio_device_build(text, ctypes.c_size_t(len(text)))
with open(sys.argv[2], "wb") as log:
    log.write(text.value)
os._exit(1 if status else 0)
"""
"""Builds the kernels of a variant in a process that its driver may take down."""

_COUNTERS = (
    ("kernel_time", "s", CounterSource.DEVICE),
    ("transfer_time", "s", CounterSource.DEVICE),
    ("launches", "", CounterSource.DERIVED),
    ("transfer_bytes", "B", CounterSource.DERIVED),
)
"""Counters of a variant, in the order of the test program's lines behind the time of the call."""


@dataclass(slots=True)
class OpenCLEvaluator(Evaluator):
    """Evaluates variants on the devices of `survey`; `time` says which part of a call ranks them."""

    time: DeviceTime = DeviceTime.CALL
    survey: OpenCLSurvey = field(default_factory=OpenCLSurvey)
    _counters: dict[Path, tuple[CounterValue, ...]] = field(
        default_factory=dict[Path, tuple[CounterValue, ...]]
    )

    # Not `super()` below: a class with slots is made anew, and these functions would know the old one.

    def prepare(self, values: Mapping[str, Value], arguments: Sequence[str] = ()) -> Baseline:
        """As `Evaluator.prepare`; what the driver is not asked for is a warning."""
        baseline = Evaluator.prepare(self, values, arguments)
        warning = fault_warning(choose_device(self.survey, None, None))
        return replace(baseline, warnings=(*baseline.warnings, *([warning] if warning is not None else [])))

    def program(self, codes: Sequence[str], devices: Sequence[DeviceProgram] = ()) -> Program:
        """The translation unit with its host code beside it.

        Raises DiagnosticError ORIO-B011 to B017 for what no device here can do.
        """
        program = Evaluator.program(self, codes)
        if not devices:
            return program
        place = self.task.position
        platform, number = _agreed([plan for one in devices for plan in one.plans], place)
        device = choose_device(self.survey, platform, number, place)
        check_device(device, devices, place)
        return replace(program, companions=_companions(devices, device))

    def build(
        self, program: Program, values: Mapping[str, Value], name: str | None = None
    ) -> Artifact | BuildFailure:
        """Compile a variant and its host code to a shared object, then its kernels, which fills the driver's cache."""
        if not program.companions:
            return Evaluator.build(self, program, values, name)
        folder = self.folder / (name or f"code_{next(self._numbers)}")
        folder.mkdir(exist_ok=True)
        for file, text in {"variant.c": program.text, **program.companions}.items():
            (folder / file).write_text(text, encoding="latin-1")
        built = self.compiler.build_shared(
            folder / "variant.c",
            folder / LIBRARY,
            values,
            # Behind all others, so that the system's own headers come first.
            ("-pthread", "-idirafter", str(directory("templates") / "opencl" / "include")),
            beside=folder / "measured_opencl.c",
            libs=linked(self.survey),
        )
        return built if isinstance(built, BuildFailure) else self._with_kernels(built)

    def measure(
        self,
        artifact: Artifact,
        arguments: Sequence[str] = (),
        *,
        coordinate: str = "",
        race: EarlyStopping | None = None,
        check: bool = True,
    ) -> Measurement:
        """As `Evaluator.measure`; what the device took is known afterwards."""
        found = Evaluator.measure(self, artifact, arguments, coordinate=coordinate, race=race, check=check)
        self._counters[artifact.path] = _counted(ResultLines.read(self._results))
        return found

    def facts(self, artifact: Artifact) -> VariantFacts:
        """The device of a variant with kernels."""
        described = artifact.path.with_name(DEVICE)
        if artifact.path.name != LIBRARY or not described.exists():
            return VariantFacts()
        return VariantFacts((), json.loads(described.read_text(encoding="latin-1")))

    def run_facts(self, artifact: Artifact) -> VariantFacts:
        """What the device took in the last measurement."""
        return VariantFacts(self._counters.get(artifact.path, ()))

    def _with_kernels(self, built: Artifact) -> Artifact | BuildFailure:
        """The variant with its kernels built, each in full, by a process of its own."""
        log = built.path.with_name("build.log")
        words = [sys.executable, "-I", "-S", "-c", _BUILD, str(built.path), str(log)]
        done = run(
            words,
            timeout=BUILD_TIMEOUT,
            directory=self.compiler.directory,
            environment=self._environment(),
            running=self.compiler.running,
        )
        if done.timed_out:
            reason = f"the device's compiler gave no result after {done.seconds:.1f} s"
            return BuildFailure(reason, done.stderr, timed_out=True)
        text = log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else ""
        if done.returncode == 1 and text:
            return BuildFailure(_reason(text), text)
        if not done.ok:
            return BuildFailure(f"the device's compiler ended by {_end(done)}", done.stderr)
        return Artifact(built.path, Seconds(built.seconds + done.seconds))

    def _job(self, artifact: Artifact, **options: Any) -> Job:
        job = Evaluator._job(self, artifact, **options)
        if artifact.path.name != LIBRARY:
            return job
        # Drivers reserve more addresses than there is memory, and a call is long beside a clock's steps.
        return replace(job, inner=1, memory=None, time=self.time)

    def _allowed(self, artifact: Artifact) -> Seconds:
        """How long a run may take; the first call builds the kernels once more where the driver keeps none."""
        own = artifact.seconds if artifact.path.name == LIBRARY else 0.0
        return Seconds(Evaluator._allowed(self, artifact) + own)

    def _environment(self) -> Mapping[str, str]:
        return {**Evaluator._environment(self), **program_environment(self.survey, self.folder)}


def linked(found: OpenCLSurvey) -> tuple[str, ...]:
    """The library through which programs reach the drivers of a survey, for the linker."""
    if found.loader is not None:
        return (found.loader, f"-Wl,-rpath,{Path(found.loader).parent}")
    return ("-framework", "OpenCL") if sys.platform == "darwin" else ("-lOpenCL",)


def _companions(programs: Sequence[DeviceProgram], device: OpenCLDevice) -> Mapping[str, str]:
    """The files beside a variant: its host code for one device as an application has it, and what looks on."""
    place = {"platform": device.platform_number, "device": device.number}
    kernels = tuple(
        HostKernel(replace(plan, options=replace(plan.options, **place)), program.source, plan.name)
        for program in programs
        for plan in program.plans
    )
    unit = HostUnit("variant", "variant_opencl", kernels, ("for a variant that is measured",))
    return {
        "variant_opencl.h": host_header(unit).text,
        "variant_opencl.c": host_source(unit).text,
        "measured_opencl.c": measured_source(unit).text,
        "kernels.cl": "\n".join(program.source for program in programs),
        DEVICE: json.dumps(device.metadata, indent=1),
    }


def _agreed(plans: Sequence[KernelPlan], position: Position) -> tuple[int | str | None, int | str | None]:
    """The platform and device of all plans.  Raises DiagnosticError ORIO-B016 when they differ."""
    agree("devices", {(plan.options.platform, plan.options.device) for plan in plans}, position)
    agree("build options", {plan.options.build_flags for plan in plans}, position)
    return plans[0].options.platform, plans[0].options.device


def _counted(report: ResultLines) -> tuple[CounterValue, ...]:
    """The medians of the samples' parts."""
    rows = [tuple(map(float, rest.split()))[1:] for word, rest in report.lines if word == "spent"]
    return tuple(
        CounterValue(name, median(row[place] for row in rows), unit, source)
        for place, (name, unit, source) in enumerate(_COUNTERS)
        if rows
    )


def _reason(text: str) -> str:
    """The first line that tells of an error, else the first one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0])


def _end(done: Completed) -> str:
    return done.signal_name or f"exit status {done.returncode}"


def _evaluator(original: Evaluator, time: DeviceTime, _: Path, __: EmulationWish) -> OpenCLEvaluator:
    """Raises EnvironmentProblem ORIO-B010 without a device, or without a library to link host code with."""
    found = survey()
    if not found.devices:
        raise EnvironmentProblem(no_device(found))
    if linked(found) == ("-lOpenCL",) and not original.compiler.has_library("OpenCL"):
        raise EnvironmentProblem(no_library())
    return OpenCLEvaluator(
        original.task,
        original.point,
        original.compiler,
        original.folder,
        original.limits,
        original.is_parallel,
        time=time,
        survey=found,
    )


def _devices(_: str) -> list[object]:
    found = survey()
    setting = [] if found.setting is None else [found.setting]
    return [[list(device.identity) for device in found.devices], *setting]


MEASURER = DeviceMeasurer(_evaluator, _devices, list, most_jobs=4)
"""What measures OpenCL's variants.  Each process that builds them loads the driver, and takes memory of the device."""
