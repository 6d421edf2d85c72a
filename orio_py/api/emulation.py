"""`emulate`: what a CUDA kernel takes on a GPU that need not be there, and what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orio_py.api.report import BAD_INPUT, ENVIRONMENT, OK, Report
from orio_py.build.compiler import BuildFailure
from orio_py.build.cubin import cubin_architecture, parameter_layouts, read_cubin
from orio_py.build.cuda import CudaBuildOptions, CudaCompiler, cuda_options
from orio_py.build.cuda_catalog import cuda_compiler
from orio_py.build.cuda_report import kernel_occupancy
from orio_py.build.device_text import without_host_code
from orio_py.build.disassembler import find_nvdisasm
from orio_py.build.emulation_core import emulation_core
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, Severity, fail
from orio_py.core.registry import did_you_mean
from orio_py.core.units import Bytes
from orio_py.emulation.launch import (
    USUAL_POLICY,
    DataPolicy,
    KernelLaunch,
    Shape,
    active_threads,
    launch_values,
    sample_blocks,
)
from orio_py.emulation.outcome import EmulatedKernel, IssuedInstruction, LaunchPrediction
from orio_py.emulation.prediction import Emulator
from orio_py.emulation.sensitivity import SensitivityReport, sensitivity
from orio_py.emulation.signature import KernelParameter, bind_arguments, signatures
from orio_py.emulation.summary import KernelSummary, summarize
from orio_py.emulation.threads import EndlessKernel, follow
from orio_py.machine.occupancy import Occupancy
from orio_py.machine.timing import GpuTiming, gpu_timing, gpu_timings
from orio_py.record.cuda import KernelUsage
from orio_py.sass.listing import parse_listing
from orio_py.store.emulation_plots import plot_issues

OLDEST = 70
"""The first compute capability whose instructions tell the scheduler what they wait for."""

_MOST_ISSUED = 20_000
"""Instructions that a picture shows."""

_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class EmulationOptions:
    """How a kernel is compiled and followed.

    `kernel` is its name, where the file has several.  `options` are those of the compiler.  `iterations` and
    `takes_branches` say what happens where data decide.  `sensitivities` can be left out, which saves most of the time; a `timeline` is
    what pictures show.
    """

    kernel: str | None = None
    options: str = ""
    compiler: str | None = None
    nvdisasm: str | None = None
    shared_bytes: Bytes = Bytes(0)
    iterations: int = USUAL_POLICY.iterations
    takes_branches: bool = False
    sensitivities: bool = True
    timeline: bool = False


@dataclass(frozen=True, slots=True)
class KernelEmulation:
    """What was found of one launch of the kernel `name`; every time in it is emulated, none is measured."""

    name: str
    usage: KernelUsage
    prediction: LaunchPrediction
    summary: KernelSummary
    sensitivity: SensitivityReport | None
    timeline: tuple[IssuedInstruction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulationReport(Report):
    """The outcome of `emulate`."""

    file: str = ""
    emulation: KernelEmulation | None = None

    def as_json(self) -> dict[str, object]:
        """The kernel, the launch, the GPU, the prediction, and what it is made of."""
        found = self.emulation
        return {
            **Report.as_json(self),
            "file": self.file,
            "emulation": None if found is None else _json(found),
        }


def emulate(
    path: Path | str,
    *,
    gpu: str,
    grid: Shape,
    block: Shape,
    arguments: Mapping[str, str] | None = None,
    options: EmulationOptions | None = None,
) -> EmulationReport:
    """Predict a launch of a kernel from its CUDA text or cubin, for a GPU (`H200 SXM`) or the last one of an architecture."""
    place = Path(path)
    try:
        found, notes = _emulate(place, gpu, grid, block, arguments or {}, options or EmulationOptions())
    except EnvironmentProblem as problem:
        return EmulationReport(file=str(place), diagnostics=problem.diagnostics, exit_code=ENVIRONMENT)
    except DiagnosticError as problem:
        return EmulationReport(file=str(place), diagnostics=problem.diagnostics, exit_code=BAD_INPUT)
    return EmulationReport(file=str(place), diagnostics=tuple(notes), exit_code=OK, emulation=found)


def plot_emulation(found: KernelEmulation, path: Path) -> None:
    """Write a picture of issue and utilization, from an emulation with a timeline.

    Raises DiagnosticError ORIO-D016, ORIO-U009, EnvironmentProblem ORIO-D015 without matplotlib.
    """
    plot_issues(found.name, found.prediction, found.timeline, path)


def _emulate(
    path: Path, gpu: str, grid: Shape, block: Shape, arguments: Mapping[str, str], options: EmulationOptions
) -> tuple[KernelEmulation, list[Diagnostic]]:
    content = _read(path)
    timing = _timing(gpu)
    text = "" if content.startswith(_ELF) else content.decode("utf-8", "replace")
    cubin = content if content.startswith(_ELF) else _compiled(path, text, timing.architecture, options)
    timing = _of_cubin(cubin, timing, path)
    usage, name, parameters = _kernel(cubin, text, path, options.kernel)
    layout = parameter_layouts(cubin)[usage.name]
    bound = bind_arguments(name, parameters, layout, arguments)
    launch = KernelLaunch(grid, block, bound, options.shared_bytes)
    occupancy = _occupancy(usage, timing, launch)
    listing = find_nvdisasm(options.nvdisasm).listing(cubin)
    function = next((f for f in parse_listing(listing) if f.name == usage.name), None)
    if function is None:
        fail("ORIO-U050", f"{path}: the machine code of `{usage.name}` is not in the listing")
    sample = sample_blocks(grid)
    architecture = int(timing.architecture.removeprefix("sm_"))
    values = launch_values(launch, layout, architecture, sample.blocks)
    policy = DataPolicy(options.iterations, options.takes_branches)
    try:
        trace = follow(function, values, active_threads(launch, len(sample.blocks)), launch.warps, policy)
    except EndlessKernel:
        fail(
            "ORIO-U055",
            f"{path}: `{usage.name}` was not followed to its end",
            help="are the arguments those of a launch that ends?",
        )
    shared = Bytes(usage.shared_bytes + options.shared_bytes)
    core = emulation_core()
    emulator = Emulator(EmulatedKernel(function, launch, sample, trace, occupancy, timing, shared), core)
    prediction = emulator.predict()
    summary = summarize(emulator)
    report = sensitivity(emulator, prediction, core) if options.sensitivities else None
    timeline = emulator.timeline(_MOST_ISSUED) if options.timeline else ()
    return KernelEmulation(name, usage, prediction, summary, report, timeline), _notes(path, summary, policy)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        fail("ORIO-U006", f"`{path}` does not exist")
    except OSError as error:
        fail("ORIO-U008", f"`{path}` cannot be read: {error.strerror}")


def _timing(gpu: str) -> GpuTiming:
    found = gpu_timing(gpu)
    names = [*gpu_timings(), *(t.architecture for t in gpu_timings().values())]
    if found is None:
        listed = ", ".join(f"{t.name} ({t.architecture})" for t in gpu_timings().values())
        fail(
            "ORIO-U054",
            f"latencies and gaps of `{gpu}` are not known",
            help=did_you_mean(gpu, names) or f"known: {listed}",
        )
    if int(found.architecture.removeprefix("sm_")) < OLDEST:
        message = f"kernels for {found.architecture} are not emulated: their instructions do not tell what they wait for"
        fail("ORIO-U054", message, help=f"an emulation needs sm_{OLDEST} or later")
    return found


def _compiled(path: Path, text: str, architecture: str, options: EmulationOptions) -> bytes:
    compiler: CudaCompiler = cuda_compiler(options.compiler)
    given = cuda_options(options.options)
    chosen = CudaBuildOptions(
        architecture, given.max_registers, given.fast_math, True, given.ptxas,
        (*given.flags, f"-I{path.resolve().parent}"),
    )  # fmt: skip
    place = f'#line 1 "{path}"\n'
    built = compiler.compile(place + text, architecture, chosen)
    if isinstance(built, BuildFailure) and (kernels := without_host_code(text)) != text:
        # What headers declare for the host counts as the device's; nothing calls it any more.
        default = replace(chosen, flags=(*chosen.flags, "-default-device"))
        alone = compiler.compile(place + kernels, architecture, default)
        built = built if isinstance(alone, BuildFailure) else alone
    if isinstance(built, BuildFailure):
        fail(
            "ORIO-B063",
            f"{path} does not compile: {built.reason}",
            help="`--options` has those of the compiler, `-I` and `-D` among them; host code needs `--compiler nvcc`",
        )
    return built.cubin


def _of_cubin(cubin: bytes, timing: GpuTiming, path: Path) -> GpuTiming:
    try:
        architecture = cubin_architecture(cubin)
    except ValueError as error:
        fail("ORIO-U056", f"{path}: {error}")
    if architecture != timing.architecture:
        fail(
            "ORIO-U056",
            f"{path} has machine code for {architecture}, and {timing.name} is {timing.architecture}",
            help=f"`--arch {architecture}`, or a CUDA text, which is compiled for any of them",
        )
    return timing


def _kernel(
    cubin: bytes, text: str, path: Path, name: str | None
) -> tuple[KernelUsage, str, tuple[KernelParameter, ...]]:
    """The kernel of this name, or the only one, with its name in the text, and its parameters where that has them."""
    kernels = {kernel.name: kernel for kernel in read_cubin(cubin)}
    known = signatures(text)
    if not kernels:
        fail("ORIO-U050", f"{path} has no kernel")
    if name is None and len(kernels) > 1:
        listed = ", ".join(f"`{_plain(kernel, known)}`" for kernel in kernels)
        fail("ORIO-U050", f"{path} has {len(kernels)} kernels: {listed}", help="`--kernel NAME` chooses one")
    wanted = next(iter(kernels)) if name is None else name
    chosen = kernels.get(wanted) or next((k for n, k in kernels.items() if _plain(n, known) == wanted), None)
    if chosen is None:
        names = [_plain(kernel, known) for kernel in kernels]
        fail("ORIO-U050", f"{path} has no kernel `{wanted}`", help=did_you_mean(wanted, names))
    plain = _plain(chosen.name, known)
    return chosen, plain, known.get(plain, ())


def _plain(name: str, known: Mapping[str, object]) -> str:
    """The name in the text of a kernel whose name the compiler has made longer: `_Z5scaleif` is `scale`."""
    if not name.startswith("_Z"):
        return name
    if (found := next((plain for plain in known if f"{len(plain)}{plain}" in name), None)) is not None:
        return found
    digits = name[2:].partition(name[2:].lstrip("0123456789"))[
        0
    ]  # of a kernel in a file that the text includes
    return name[2 + len(digits) :][: int(digits)] if digits else name


def _occupancy(usage: KernelUsage, timing: GpuTiming, launch: KernelLaunch) -> Occupancy:
    found = kernel_occupancy(usage, timing.architecture, launch.threads, launch.dynamic_shared_bytes)
    assert found is not None, timing.architecture
    model = timing.model
    for axis, (wanted, most) in enumerate(zip(launch.grid, model.max_grid_dimensions, strict=True)):
        if wanted > most:
            fail("ORIO-U053", f"the grid has {wanted} blocks along {'xyz'[axis]}, of at most {most}")
    for axis, (wanted, most) in enumerate(zip(launch.block, model.max_block_dimensions, strict=True)):
        if wanted > most:
            fail("ORIO-U053", f"the block has {wanted} threads along {'xyz'[axis]}, of at most {most}")
    if found.problem is not None:
        fail("ORIO-U053", f"`{usage.name}` cannot be launched on {timing.name}: {found.problem}")
    return found


def _notes(path: Path, summary: KernelSummary, policy: DataPolicy) -> list[Diagnostic]:
    """What was assumed where the code alone does not tell."""
    notes: list[str] = []
    if summary.unknown_opcodes:
        listed = ", ".join(f"{name} ({count}x)" for name, count in summary.unknown_opcodes.items())
        notes.append(f"opcodes that are not known are taken for integer instructions: {listed}")
    if summary.data_branches:
        lines = ", ".join(f"{line}" for line in sorted(summary.data_branches) if line) or "not known"
        ways = "are taken" if policy.takes_branches else "are not taken"
        notes.append(
            f"data decide branches (lines {lines}): forward ones {ways}, loops have {policy.iterations} iterations"
        )
    if summary.unknown_addresses:
        notes.append(
            f"data decide the addresses of {summary.unknown_addresses} accesses: each thread is taken to touch memory apart"
        )
    return [Diagnostic("ORIO-U057", f"{path}: {note}", severity=Severity.WARNING) for note in notes]


def _json(found: KernelEmulation) -> dict[str, object]:
    prediction, kernel = found.prediction, found.prediction.kernel
    occupancy = kernel.occupancy
    return {
        "kernel": found.name,
        "obtained": "emulated",
        "gpu": kernel.timing.name,
        "architecture": kernel.timing.architecture,
        "grid": list(kernel.launch.grid),
        "block": list(kernel.launch.block),
        "seconds": prediction.seconds,
        "cycles": prediction.cycles,
        "error": prediction.error,
        "registers": found.usage.registers,
        "shared_bytes": kernel.shared_bytes,
        "occupancy": {
            "blocks": occupancy.blocks,
            "warps": occupancy.warps,
            "share": occupancy.share,
            "limits": [str(limit) for limit in occupancy.limits],
        },
        "instructions_per_warp": found.summary.instructions,
        "issue_share": prediction.issue_share,
        "utilization": {str(r): share for r, share in prediction.utilization.items()},
        "instructions": {str(r): count for r, count in found.summary.by_resource.items()},
        "opcodes": dict(found.summary.by_opcode),
        "memory": [
            {
                "line": site.line, "opcode": site.opcode, "space": site.space, "requests": site.requests,
                "sectors": site.sectors, "least_sectors": site.least, "passes": site.passes, "l1_share": site.l1_share,
                "l2_share": site.l2_share, "dram_bytes": site.dram_bytes, "is_known": site.is_known,
            }
            for site in found.summary.memory
        ],
        "regions": [
            {
                "loop": region.header, "lines": list(region.lines), "instructions": region.instructions,
                "wait_share": region.wait_share,
            }
            for region in prediction.regions
        ],
        "sensitivity": None if found.sensitivity is None else _sensitivity_json(found.sensitivity),
        "unknown_opcodes": dict(found.summary.unknown_opcodes),
        "data_branches": {str(line): count for line, count in found.summary.data_branches.items()},
        "uncertain": list(kernel.timing.uncertain),
    }  # fmt: skip


def _sensitivity_json(report: SensitivityReport) -> dict[str, object]:
    first = report.bottleneck.sensitivity
    return {
        "bottleneck": None if first is None else {"resource": str(first.resource), "bound": str(first.bound)},
        "utilization": report.bottleneck.utilization,
        "regions": {"outside" if k is None else str(k): v for k, v in report.bottleneck.regions.items()},
        "resources": [
            {"resource": str(s.resource), "bound": str(s.bound), "value": s.value, "halved": s.halved}
            for s in report.sensitivities
        ],
        "twice_issued": report.twice_issued,
    }
