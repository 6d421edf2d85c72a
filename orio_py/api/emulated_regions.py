"""The kernels of annotated C files, emulated as `tune` would launch them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orio_py.api.emulated_kernel import EmulationOptions, KernelEmulation
from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import CudaBinary, CudaCompiler, cuda_options
from orio_py.build.cuda_catalog import cuda_compiler
from orio_py.build.disassembler import find_nvdisasm
from orio_py.build.launch_emulation import emulated_gpu
from orio_py.codegen.extent import extent_text
from orio_py.core.diagnostics import Diagnostic, fail
from orio_py.core.expr import Value, show
from orio_py.core.units import Seconds
from orio_py.kernel.backends import cuda
from orio_py.machine.timing import GpuTiming
from orio_py.measure.cuda.client import DEFAULT_ARCHITECTURE
from orio_py.measure.cuda.emulated import LaunchEmulation
from orio_py.measure.cuda.variant import CudaVariant, wished_architecture
from orio_py.measure.offload.host import followed_launches
from orio_py.measure.offload.host_data import told_data
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask
from orio_py.tuning.files.load import Loaded
from orio_py.tuning.plan import resolve_target
from orio_py.tuning.variants.variant import VariantGenerator


@dataclass(frozen=True, slots=True)
class RepeatedKernel:
    """A kernel that a region launches `times` times with the same shape and arguments."""

    emulation: KernelEmulation
    times: int

    @property
    def seconds(self) -> Seconds:
        """The emulated time of all these launches."""
        return Seconds(self.times * self.emulation.prediction.seconds)


@dataclass(frozen=True, slots=True)
class RegionEmulation:
    """What was found of a region at one problem size and one configuration, kernel by kernel."""

    file: str
    line: int
    name: str
    inputs: Mapping[str, Value]
    configuration: Mapping[str, Value]
    kernels: tuple[RepeatedKernel, ...]

    @property
    def seconds(self) -> Seconds:
        """The emulated time of the region's kernels; copies between host and device are not part of it."""
        return Seconds(sum(kernel.seconds for kernel in self.kernels))

    def as_json(self) -> dict[str, object]:
        """The region with its kernels, as `emulate --json` has them."""
        return {
            "file": self.file,
            "line": self.line,
            "name": self.name,
            "inputs": dict(self.inputs),
            "configuration": dict(self.configuration),
            "obtained": "emulated",
            "seconds": self.seconds,
            "kernels": [{"times": one.times, **one.emulation.as_json()} for one in self.kernels],
        }


def emulate_regions(
    loaded: Loaded, gpu: str | None, options: EmulationOptions
) -> tuple[list[RegionEmulation], list[Diagnostic]]:
    """Every region of a loaded file at each problem size, at the first configuration that the pins allow.

    Raises DiagnosticError for regions that are not for CUDA, and as `LaunchEmulation.launches`.
    """
    found: list[RegionEmulation] = []
    notes: list[Diagnostic] = []
    compiler = cuda_compiler(options.compiler)
    for file in loaded.files:
        for one in file.tasks:
            resolve_target(one.task, cuda.BACKEND.name)
            for point, space in zip(one.points, one.spaces, strict=True):
                region, told = _emulated(_Wanted(one.task, point, space, file.path), gpu, options, compiler)
                found.append(region)
                notes += told
    return found, list(dict.fromkeys(notes))


@dataclass(frozen=True, slots=True)
class _Wanted:
    task: TuningTask
    point: InputPoint
    space: SearchSpace
    path: Path


def _emulated(
    wanted: _Wanted, gpu: str | None, options: EmulationOptions, compiler: CudaCompiler
) -> tuple[RegionEmulation, list[Diagnostic]]:
    task, point = wanted.task, wanted.point
    configuration = dict(wanted.space.first() or {})
    parts = VariantGenerator.of(task).parts(point, configuration)
    plans = [plan for program in parts.devices for plan in program.plans]
    wishes = {wished_architecture(plan, task.position) for plan in plans} - {""}
    timing = emulated_gpu(gpu or next(iter(sorted(wishes)), DEFAULT_ARCHITECTURE), task.position)
    if wishes - {timing.architecture}:
        wish = next(iter(wishes - {timing.architecture}))
        message = f"the recipe asks for `{wish}`, and {timing.name} is `{timing.architecture}`"
        fail(
            "ORIO-B041", message, task.position, help="leave `arch` out, or choose another GPU with `--arch`"
        )
    flags = plans[0].options.build_flags if plans else ""
    variant = CudaVariant.of(timing.architecture, flags, extent_text(task, parts.codes), parts.devices)
    binaries = _compiled(variant, timing, task, options, compiler)
    launches = followed_launches(variant.host, variant.calls, told_data(task, point), task.position)
    place = f"{task.position.file}:{task.position.line}"
    emulation = LaunchEmulation(
        timing, find_nvdisasm(options.nvdisasm), place, options.policy, has_lines=True
    )
    kernels: list[RepeatedKernel] = []
    notes: list[Diagnostic] = []
    for launch in emulation.launches(binaries, launches):
        kernel = KernelEmulation.of(launch.kernel, launch.usage, launch.emulator, options)
        kernels.append(RepeatedKernel(kernel, launch.times))
        notes += kernel.notes(f"{place}: `{launch.kernel}`", options.policy)
    inputs = dict(point.values)
    if not kernels:
        sizes = ", ".join(f"{name} = {show(value)}" for name, value in inputs.items())
        fail("ORIO-U058", f"no kernel is launched{f' at {sizes}' if sizes else ''}", task.position)
    position = task.position
    region = RegionEmulation(position.file, position.line, task.name, inputs, configuration, tuple(kernels))
    return region, notes


def _compiled(
    variant: CudaVariant,
    timing: GpuTiming,
    task: TuningTask,
    options: EmulationOptions,
    compiler: CudaCompiler,
) -> list[CudaBinary]:
    """The machine code of each device text, with the lines that instructions come from."""
    words = cuda_options(f"{variant.options} {options.options}", task.position)
    found: list[CudaBinary] = []
    for source in variant.sources:
        built = compiler.compile(source, timing.architecture, replace(words, line_info=True))
        if isinstance(built, BuildFailure):
            fail("ORIO-B063", f"the kernels do not compile: {built.reason}", task.position)
        found.append(built)
    return found
