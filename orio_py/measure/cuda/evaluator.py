"""Evaluates CUDA variants: compiled for an architecture, timed on a GPU, or checked on the processor without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from time import perf_counter

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.build.cuda import CudaBinary, CudaCompiler, check_architecture, cuda_options
from orio_py.build.cuda_catalog import cuda_compiler, cuda_title
from orio_py.build.cuda_cpu import CudaOnCpu, cuda_on_cpu
from orio_py.build.disassembler import Disassembler, find_nvdisasm
from orio_py.build.emulation_core import emulation_core
from orio_py.build.launch_emulation import emulated_gpu
from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.extent import extent_text
from orio_py.codegen.program import Program
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, Severity
from orio_py.core.digest import digest
from orio_py.core.expr import Value
from orio_py.core.resources import PACKAGE
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.kernel.plan import KernelPlan
from orio_py.machine.timing import GpuTiming, gpu_timing
from orio_py.measure.base import Baseline
from orio_py.measure.cuda.client import DEFAULT_ARCHITECTURE, CudaPlace, cuda_place, processor_place
from orio_py.measure.cuda.emulated import EmulatedVariant, LaunchEmulation
from orio_py.measure.cuda.usage import runs, usage_counters, used_kernel
from orio_py.measure.cuda.variant import BUILT, BuiltCuda, CudaVariant, UsedKernel, wished_architecture
from orio_py.measure.evaluator import MOST_SAMPLES, Evaluator
from orio_py.measure.job import EarlyStopping
from orio_py.measure.offload.client import DeviceWorker
from orio_py.measure.offload.evaluator import SUFFIX, OffloadEvaluator, agree
from orio_py.measure.offload.measurer import DeviceMeasurer, EmulationWish
from orio_py.record.cuda import ARCHITECTURE, CUDA_DEVICE_NAME, EMULATED_TIME
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.record.outcome import VariantFacts
from orio_py.record.trial import CounterSource, CounterValue
from orio_py.spec.target import DeviceTime

LIBRARY = "kernels.so"
"""The shared object of a variant for the executor on the processor."""

EXECUTOR_SLOWDOWN = 60
"""How much longer than others a variant on the executor may take, which looks at each access."""

NO_KERNELS = "it has no kernels, and what the processor does is not emulated"
"""What is told of C code where a GPU is emulated."""

CHECKED = "its results are right"
"""What is told of a variant that was run and not timed."""


@dataclass(frozen=True, slots=True)
class CudaTools:
    """What builds variants.

    `compiler` makes machine code, None where there is none.  `executor` builds for the processor, None where that does
    not run variants.  `disassembler` is what emulations need, None where there is none.  `warnings` tell what is missing.
    """

    compiler: CudaCompiler | None
    executor: CudaOnCpu | None
    warnings: tuple[Diagnostic, ...] = ()
    disassembler: Disassembler | None = None

    @property
    def title(self) -> str:
        """The compiler with its version; '' where there is none."""
        return f"{self.compiler.name} {self.compiler.version}" if self.compiler is not None else ""


@dataclass(slots=True)
class CudaEvaluator(OffloadEvaluator):
    """Evaluates variants at `place`; without a GPU there nothing is timed.

    With `emulated` variants have the time that is emulated for that GPU.  `bottlenecks` says whether counters tell what
    limits them by emulation.
    """

    place: CudaPlace
    tools: CudaTools
    emulated: GpuTiming | None = None
    bottlenecks: bool = False

    @property
    def clock(self) -> Clock:
        """What ranks variants: time on the wall, or the emulated one."""
        return Clock.WALL if self.emulated is None else Clock.EMULATED

    @property
    def untimed(self) -> str:
        """Why variants have no time: there is no GPU.  Also what they are compiled for."""
        if self.place.has_times or self.emulated is not None:
            return ""
        built = f"variants are compiled for {DEFAULT_ARCHITECTURE} where the recipe names no `arch`"
        return f"{self.place.problem}; {built if self.tools.compiler else 'nothing makes machine code of variants'}"

    def most_samples(self) -> int:
        """Timed repetitions at most: none without a GPU."""
        return max(self.limits.repeats, MOST_SAMPLES) if self.place.has_times else 0

    def run_timeout(self) -> Seconds:
        """How long a variant may take: longer on the executor, unless the user says how long."""
        if self.place.has_times or self.limits.timeout is not None:
            return self.original.timeout
        return Seconds(EXECUTOR_SLOWDOWN * self.original.timeout)

    def new_worker(self) -> DeviceWorker:
        """A worker for the place."""
        return self.place.worker(self.folder)

    def prepare(self, values: Mapping[str, Value], arguments: Sequence[str] = ()) -> Baseline:
        """As `OffloadEvaluator.prepare`; also the executor is made ready for the processes that build."""
        # Not `super()`: a class with slots is made anew, and this function would know the old one.
        baseline = OffloadEvaluator.prepare(self, values, arguments)
        if self.tools.executor is not None:
            self.tools.executor.warm()
        return replace(baseline, warnings=(*baseline.warnings, *self.tools.warnings))

    def program(self, codes: Sequence[str], devices: Sequence[DeviceProgram] = ()) -> Program:
        """The description of a variant, or C code where it has no kernels.

        Raises DiagnosticError ORIO-B016 for kernels that ask for different architectures or options, B021 for an
        architecture that the compiler does not know, B041 for one whose code the GPU does not run, M017 when the
        timed code holds statements that only a compiler can follow.
        """
        if not devices:
            return self.original.program(codes)
        task = self.original.task
        plans = [plan for program in devices for plan in program.plans]
        agree("build options", {plan.options.build_flags for plan in plans}, task.position)
        flags = plans[0].options.build_flags
        architecture = self.architecture_of(plans, task.position)
        variant = CudaVariant.of(architecture, flags, extent_text(task, codes), devices)
        self.require_followed(variant.host, variant.calls)
        return Program(variant.text, SUFFIX)

    def build_kernels(self, path: Path) -> Artifact | BuildFailure:
        """Compile the kernels; a variant fails here of which no block fits onto a multiprocessor."""
        began = perf_counter()
        variant, folder = CudaVariant.read(path), path.parent
        for number, source in enumerate(variant.sources):
            (folder / f"kernels{number or ''}.cu").write_text(source, encoding="latin-1")
        binaries = self.compiled(variant, folder)
        if isinstance(binaries, BuildFailure):
            return binaries
        kernels: list[UsedKernel] = []
        for call in variant.calls if binaries else ():
            found = used_kernel(binaries[call.program], call.kernel, prod(call.items))
            if isinstance(found, BuildFailure):
                return found
            kernels.append(found)
        modules: list[tuple[str, tuple[str, ...]]] = []
        for number, binary in enumerate(binaries):
            name = f"kernels{number or ''}.cubin"
            (folder / name).write_bytes(binary.cubin)
            modules.append((name, tuple(c.kernel for c in variant.calls if c.program == number)))
        if (executor := self.tools.executor) is not None:
            library = executor.build_library(
                variant.sources[0],
                folder / LIBRARY,
                more=variant.sources[1:],
                architecture=self.executor_architecture(variant),
            )
            if isinstance(library, BuildFailure):
                return library
            modules = [(LIBRARY, tuple(call.kernel for call in variant.calls))]
        emulated = self._emulated(variant, binaries)
        if isinstance(emulated, BuildFailure):
            return emulated
        seconds, limits = None, tuple[tuple[str, float], ...]()
        if emulated is not None:
            seconds, limits = float(emulated.seconds), tuple((c.name, c.value) for c in emulated.counters)
        built = BuiltCuda(tuple(modules), tuple(kernels), self.tools.title, seconds, limits)
        (folder / BUILT).write_text(built.text, encoding="utf-8")
        return Artifact(path, Seconds(perf_counter() - began))

    def executor_architecture(self, variant: CudaVariant) -> str:
        """The architecture whose limits the executor has."""
        return variant.architecture

    def measure(
        self,
        artifact: Artifact,
        arguments: Sequence[str] = (),
        *,
        coordinate: str = "",
        race: EarlyStopping | None = None,
        check: bool = True,
    ) -> Measurement:
        """Validate a variant, and time it on a GPU; without one a valid variant is a failure, `Stage.CHECKED`.

        Where a GPU is emulated its time is the emulated one, and variants without kernels have none.
        """
        found = OffloadEvaluator.measure(
            self, artifact, arguments, coordinate=coordinate, race=race, check=check
        )
        if self.place.has_times or not isinstance(found, Success):
            return found
        if artifact.path.suffix != SUFFIX:
            return found if self.emulated is None else Failure(Stage.CHECKED, NO_KERNELS)
        seconds = BuiltCuda.beside(artifact.path).emulated
        if self.emulated is None or seconds is None:
            return Failure(Stage.CHECKED, CHECKED)
        return Success((Sample(Seconds(seconds), Seconds(seconds)),), Clock.EMULATED)

    def facts(self, artifact: Artifact) -> VariantFacts:
        """What the kernels of a variant use, the architecture, and the GPU."""
        if artifact.path.suffix != SUFFIX or not artifact.path.exists():
            return VariantFacts()
        built = BuiltCuda.beside(artifact.path)
        metadata = {ARCHITECTURE: CudaVariant.read(artifact.path).architecture}
        if built.compiler:
            metadata["cuda_compiler"] = built.compiler
        if self.place.device is not None:
            metadata |= self.place.device.metadata
        else:
            metadata["cuda_library"] = self.place.name
        counters = usage_counters(built.kernels)
        if self.emulated is not None:
            metadata[CUDA_DEVICE_NAME] = f"{self.emulated.name} (emulated)"
        elif built.emulated is not None:
            counters = (CounterValue(EMULATED_TIME, built.emulated, "s", CounterSource.EMULATED), *counters)
        limits = (CounterValue(name, value, "", CounterSource.EMULATED) for name, value in built.bottleneck)
        counters = (*counters, *limits)
        return VariantFacts(counters, metadata)

    def _emulated(
        self, variant: CudaVariant, binaries: Sequence[CudaBinary]
    ) -> EmulatedVariant | BuildFailure | None:
        """A variant's kernels, emulated; None where that cannot be done, and nobody asked for it."""
        timing = self.emulated or gpu_timing(variant.architecture)
        if timing is None or not binaries or self.tools.disassembler is None:
            return None
        if timing.architecture != variant.architecture or (self.place.has_times and not self.bottlenecks):
            return None
        emulation = LaunchEmulation(timing, self.tools.disassembler, "the variant")
        try:
            launches = self.launches(variant.host, variant.calls)
            return emulation.variant(binaries, launches, bottlenecks=self.bottlenecks) if launches else None
        except DiagnosticError as problem:
            return BuildFailure(problem.diagnostics[0].message, "") if self.emulated is not None else None

    def compiled(self, variant: CudaVariant, folder: Path) -> list[CudaBinary] | BuildFailure:
        """The machine code of each text, which `folder` holds; none where there is no compiler."""
        del folder
        binaries: list[CudaBinary] = []
        options = cuda_options(variant.options, self.original.task.position)
        for source in variant.sources if self.tools.compiler is not None else ():
            assert self.tools.compiler is not None
            binary = self.tools.compiler.compile(source, variant.architecture, options)
            if isinstance(binary, BuildFailure):
                return binary
            binaries.append(binary)
        return binaries

    def architecture_of(self, plans: Sequence[KernelPlan], position: Position) -> str:
        """What the variant is compiled for: as the recipe says, else the GPU's own."""
        wishes = {wished_architecture(plan, position) for plan in plans} - {""}
        agree("architectures", wishes, position)
        own = self.place.device.architecture if self.place.device is not None else ""
        if self.emulated is not None:
            return self._emulated_architecture(wishes, self.emulated, position)
        found = next(iter(wishes), own or DEFAULT_ARCHITECTURE)
        if self.tools.compiler is not None:
            check_architecture(self.tools.compiler, found, position)
        if own and not runs(found, own):
            assert self.place.device is not None
            raise _not_run(found, self.place.device.name, own, position)
        return found

    def _emulated_architecture(self, wishes: set[str], gpu: GpuTiming, position: Position) -> str:
        """That of the emulated GPU: the tables are for machine code of its own."""
        for wish in wishes - {gpu.architecture}:
            raise _not_run(wish, gpu.name, gpu.architecture, position)
        if self.tools.compiler is not None:
            check_architecture(self.tools.compiler, gpu.architecture, position)
        return gpu.architecture


def _not_run(architecture: str, name: str, own: str, position: Position) -> DiagnosticError:
    message = f"machine code for `{architecture}` does not run on {name}, which is `{own}`"
    help_text = "leave `arch` out, or choose the GPU's own"
    return DiagnosticError(Diagnostic("ORIO-B041", message, position, help=help_text))


def cuda_tools(place: CudaPlace, folder: Path) -> CudaTools:
    """What builds CUDA variants for `place`, with a warning where nothing makes machine code.

    Raises EnvironmentProblem: ORIO-B020 where there is a GPU and no compiler, B040 and B030 where there is neither a GPU
    nor a C++ compiler.
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
    try:
        disassembler = find_nvdisasm()
    except EnvironmentProblem:
        disassembler = None
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
    return CudaTools(compiler, executor, (warning,) if missing else (), disassembler)


def _evaluator(original: Evaluator, time: DeviceTime, folder: Path, wish: EmulationWish) -> CudaEvaluator:
    """Raises EnvironmentProblem as `cuda_tools`, and where something is missing that an emulation needs."""
    if wish.gpu or wish.bottlenecks:
        cuda_compiler()
        emulation_core()
    place = processor_place(f"times of {wish.gpu} are emulated") if wish.gpu else cuda_place()
    tools = cuda_tools(place, folder)
    if wish.gpu or wish.bottlenecks:
        tools = replace(tools, disassembler=find_nvdisasm())
    if wish.gpu:  # copies are not emulated
        return CudaEvaluator(original, False, place, tools, emulated_gpu(wish.gpu), bottlenecks=True)
    with_transfers = time is not DeviceTime.KERNEL
    return CudaEvaluator(original, with_transfers, place, tools, bottlenecks=wish.bottlenecks)


def _devices(emulated: str) -> list[object]:
    if not emulated:
        return ["CUDA", list(cuda_place().identity)]
    # What an emulation gives depends on the table and on the emulation itself.
    paths = sorted(path for name in ("emulation", "sass") for path in (PACKAGE / name).rglob("*.[pct]*"))
    texts = [path.read_text(encoding="utf-8") for path in paths if path.suffix in (".py", ".c", ".toml")]
    return ["CUDA", "emulated", emulated, digest([repr(emulated_gpu(emulated)), *texts])]


def _emulates(gpu: str) -> str:
    return emulated_gpu(gpu).name


def _missing() -> str:
    place = cuda_place()
    return "" if place.has_times else place.problem


MEASURER = DeviceMeasurer(_evaluator, _devices, lambda: [cuda_title()], emulates=_emulates, missing=_missing)
"""What measures CUDA's variants, or builds and checks them, or emulates them."""
