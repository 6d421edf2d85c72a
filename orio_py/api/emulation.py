"""`emulate`: what a CUDA kernel takes on a GPU that need not be there, and what limits it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orio_py.api.emulated_kernel import EmulationOptions, KernelEmulation
from orio_py.api.emulated_regions import RegionEmulation, emulate_regions
from orio_py.api.report import BAD_INPUT, ENVIRONMENT, OK, Report, nothing_found
from orio_py.build.compiler import BuildFailure
from orio_py.build.cubin import cubin_architecture, parameter_layouts, read_cubin
from orio_py.build.cuda import CudaBuildOptions, CudaCompiler, cuda_options
from orio_py.build.cuda_catalog import cuda_compiler
from orio_py.build.device_text import TEXTURE_REFERENCES, without_host_code
from orio_py.build.disassembler import find_nvdisasm
from orio_py.build.launch_emulation import MachineCode, emulated_gpu
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, fail, has_errors
from orio_py.core.expr import Value
from orio_py.core.registry import did_you_mean
from orio_py.emulation.launch import KernelLaunch, Shape
from orio_py.emulation.signature import KernelParameter, bind_arguments, signatures
from orio_py.machine.timing import GpuTiming
from orio_py.record.cuda import KernelUsage
from orio_py.store.emulation_plots import plot_issues
from orio_py.tuning.files.load import load
from orio_py.tuning.files.marks import may_be_annotated

__all__ = ["EmulationOptions", "EmulationReport", "KernelEmulation", "emulate", "plot_emulation"]

DEFAULT_GPU = "sm_90"
"""What is emulated where nothing else is said."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)

_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulationReport(Report):
    """The outcome of `emulate`: of a kernel, or of the regions of an annotated file."""

    file: str = ""
    emulation: KernelEmulation | None = None
    regions: tuple[RegionEmulation, ...] = ()

    def only_kernel(self) -> KernelEmulation:
        """The kernel that a picture is of.  Raises DiagnosticError ORIO-U059 where there are several, or none."""
        kernels = [one.emulation for region in self.regions for one in region.kernels]
        if self.emulation is not None:
            kernels.append(self.emulation)
        if len(kernels) != 1:
            message = f"a picture is of one launch, and {self.file} has {len(kernels)}"
            fail("ORIO-U059", message, help="`--set NAME=VALUE` chooses one problem size")
        return kernels[0]

    def as_json(self) -> dict[str, object]:
        """The kernel, the launch, the GPU, the prediction, and what it is made of; of a file with annotations, all regions."""
        found = self.emulation
        return {
            **Report.as_json(self),
            "file": self.file,
            "emulation": None if found is None else found.as_json(),
            "regions": [region.as_json() for region in self.regions],
        }


def emulate(
    path: Path | str,
    *,
    gpu: str | None = None,
    grid: Shape | None = None,
    block: Shape | None = None,
    arguments: Mapping[str, str] | None = None,
    pins: Mapping[str, Value] | None = None,
    options: EmulationOptions | None = None,
) -> EmulationReport:
    """Predict kernels for a GPU (`H200 SXM`) or the last one of an architecture; nothing is run.

    Of a CUDA text or a cubin, a launch of one kernel with `grid`, `block` and `arguments`.  Of a C file with annotations,
    the kernels that its regions have at each problem size and one configuration: `pins` fixes parameters and sizes, the
    rest of the configuration is the first possible one.  Launch shapes and arguments are those of recipe and specification,
    and so is the architecture where the recipe names one.
    """
    place, chosen = Path(path), options or EmulationOptions()
    try:
        content = _read(place)
        if not content.startswith(_ELF) and place.suffix != ".cu" and may_be_annotated(content):
            if grid is not None or block is not None or arguments:
                message = f"{place} has annotations, and its recipes say how kernels are launched"
                fail("ORIO-U059", message, help="`--set NAME=VALUE` chooses sizes and parameters")
            return _annotated(place, gpu, pins or {}, chosen)
        if grid is None or block is None or pins:
            what = "takes no `--set`" if pins else "needs `--grid` and `--block`"
            message = f"{place} has no annotations: the launch of a kernel {what}"
            fail("ORIO-U059", message, help="for example `--grid 128,128 --block 16,16 --arg n=2048`")
        launch = (grid, block, arguments or {})
        found, notes = _emulate(place, content, emulated_gpu(gpu or DEFAULT_GPU), launch, chosen)
    except EnvironmentProblem as problem:
        return EmulationReport(file=str(place), diagnostics=problem.diagnostics, exit_code=ENVIRONMENT)
    except DiagnosticError as problem:
        return EmulationReport(file=str(place), diagnostics=problem.diagnostics, exit_code=BAD_INPUT)
    return EmulationReport(file=str(place), diagnostics=tuple(notes), exit_code=OK, emulation=found)


def _annotated(
    place: Path, gpu: str | None, pins: Mapping[str, Value], options: EmulationOptions
) -> EmulationReport:
    loaded = load([place], pins=pins)
    found: list[RegionEmulation] = []
    problems, status = list(loaded.diagnostics), BAD_INPUT
    try:
        if not has_errors(problems):
            found, notes = emulate_regions(loaded, gpu, options)
            problems += [*notes, *nothing_found(loaded, problems)]
            status = OK
    except EnvironmentProblem as problem:
        problems += problem.diagnostics
        status = ENVIRONMENT
    except DiagnosticError as problem:
        problems += problem.diagnostics
    return EmulationReport(
        file=str(place),
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=status,
        regions=tuple(found),
    )


def plot_emulation(found: KernelEmulation, path: Path) -> None:
    """Write a picture of issue and utilization, from an emulation with a timeline.

    Raises DiagnosticError ORIO-D016, ORIO-U009, EnvironmentProblem ORIO-D015 without matplotlib.
    """
    plot_issues(found.name, found.prediction, found.timeline, path)


def _emulate(
    path: Path,
    content: bytes,
    timing: GpuTiming,
    launch: tuple[Shape, Shape, Mapping[str, str]],
    options: EmulationOptions,
) -> tuple[KernelEmulation, list[Diagnostic]]:
    text = "" if content.startswith(_ELF) else content.decode("utf-8", "replace")
    cubin = content if content.startswith(_ELF) else _compiled(path, text, timing.architecture, options)
    timing = _of_cubin(cubin, timing, path)
    usage, name, parameters = _kernel(cubin, text, path, options.kernel)
    layout = parameter_layouts(cubin)[usage.name]
    grid, block, arguments = launch
    bound = bind_arguments(name, parameters, layout, arguments)
    launched = KernelLaunch(grid, block, bound, options.shared_bytes)
    code = MachineCode.of(cubin, timing, find_nvdisasm(options.nvdisasm), str(path))
    found = KernelEmulation.of(name, usage, code.emulator(usage, launched, options.policy), options)
    return found, found.notes(str(path), options.policy)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        fail("ORIO-U006", f"`{path}` does not exist")
    except OSError as error:
        fail("ORIO-U008", f"`{path}` cannot be read: {error.strerror}")


def _compiled(path: Path, text: str, architecture: str, options: EmulationOptions) -> bytes:
    compiler: CudaCompiler = cuda_compiler(options.compiler)
    given = cuda_options(options.options)
    chosen = CudaBuildOptions(
        architecture, given.max_registers, given.fast_math, True, given.ptxas,
        (*given.flags, f"-I{path.resolve().parent}"),
    )  # fmt: skip
    place = f'#line 1 "{path}"\n'
    built = compiler.compile(place + text, architecture, chosen)
    if isinstance(built, BuildFailure):
        kernels = without_host_code(text)
        # What headers declare for the host counts as the device's; nothing calls it any more.
        default = replace(chosen, flags=(*chosen.flags, "-default-device"))
        alone = compiler.compile(place + kernels, architecture, default)
        if isinstance(alone, BuildFailure) and "texture" in alone.log:
            alone = compiler.compile(TEXTURE_REFERENCES + place + kernels, architecture, default)
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
    known = signatures(_with_included(text, path.resolve().parent))
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


def _with_included(text: str, folder: Path, seen: frozenset[Path] = frozenset()) -> str:
    """The text with those behind it that it includes from its own folder, and that they include."""
    found = [text]
    for name in _INCLUDE.findall(text):
        place = (folder / name).resolve()
        if place in seen or not place.is_file():
            continue
        seen |= {place}
        found.append(_with_included(place.read_text(encoding="utf-8", errors="replace"), place.parent, seen))
    return "\n".join(found)


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
