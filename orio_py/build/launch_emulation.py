"""A launch of compiled machine code as something that is emulated: code, threads, occupancy, and the GPU's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from orio_py.build.cubin import parameter_layouts
from orio_py.build.cuda import SOURCE_NAME
from orio_py.build.cuda_report import kernel_occupancy
from orio_py.build.disassembler import Disassembler
from orio_py.build.emulation_core import emulation_core
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.core.units import Bytes
from orio_py.emulation.launch import (
    USUAL_POLICY,
    DataPolicy,
    KernelLaunch,
    active_threads,
    launch_values,
    sample_blocks,
)
from orio_py.emulation.outcome import EmulatedKernel
from orio_py.emulation.prediction import Emulator
from orio_py.emulation.threads import EndlessKernel, follow
from orio_py.machine.occupancy import Occupancy
from orio_py.machine.timing import GpuTiming, gpu_timing, gpu_timings
from orio_py.record.cuda import KernelUsage, ParameterLayout
from orio_py.sass.instruction import SassFunction
from orio_py.sass.listing import parse_listing

OLDEST = 70
"""The first compute capability whose instructions tell the scheduler what they wait for."""


def emulated_gpu(name: str, position: Position | None = None) -> GpuTiming:
    """The product of this name, or the last one of an architecture.

    Raises DiagnosticError ORIO-U054 for one whose latencies are not known, or whose kernels cannot be emulated.
    """
    found = gpu_timing(name)
    known = ", ".join(f"{t.name} ({t.architecture})" for t in gpu_timings().values())
    if found is None:
        names = [*gpu_timings(), *(t.architecture for t in gpu_timings().values())]
        fail(
            "ORIO-U054",
            f"latencies and gaps of `{name}` are not known",
            position,
            help=did_you_mean(name, names) or f"known: {known}",
        )
    if int(found.architecture.removeprefix("sm_")) < OLDEST:
        message = f"kernels for {found.architecture} are not emulated: their instructions do not tell what they wait for"
        fail("ORIO-U054", message, position, help=f"an emulation needs sm_{OLDEST} or later")
    return found


@dataclass(frozen=True, slots=True)
class MachineCode:
    """The kernels of a cubin as they are emulated, for one product; `place` is what messages begin with."""

    functions: Mapping[str, SassFunction]
    layouts: Mapping[str, ParameterLayout]
    timing: GpuTiming
    place: str

    @classmethod
    def of(cls, cubin: bytes, timing: GpuTiming, disassembler: Disassembler, place: str) -> MachineCode:
        """The code of a cubin for the product's architecture.

        Raises as `Disassembler.listing`.
        """
        return cls._read(disassembler.listing(cubin), cubin, timing, place)

    @classmethod
    def without_lines(
        cls, cubins: Sequence[bytes], timing: GpuTiming, disassembler: Disassembler, place: str
    ) -> list[MachineCode]:
        """The code of several cubins, whose instructions have no lines of source: quicker than each by itself.

        Raises as `Disassembler.listing`.
        """
        listings = disassembler.code_listings(cubins)
        return [
            cls._read(listing, cubin, timing, place) for listing, cubin in zip(listings, cubins, strict=True)
        ]

    @classmethod
    def _read(cls, listing: str, cubin: bytes, timing: GpuTiming, place: str) -> MachineCode:
        functions = parse_listing(listing, (Path(place).name, SOURCE_NAME))
        return cls({f.name: f for f in functions}, parameter_layouts(cubin), timing, place)

    def emulator(
        self, usage: KernelUsage, launch: KernelLaunch, policy: DataPolicy = USUAL_POLICY
    ) -> Emulator:
        """What emulates a launch.

        Raises DiagnosticError ORIO-U050 for code that the listing lacks, U053 for a launch that cannot be, U055 for a
        kernel that was not followed to its end, EnvironmentProblem as `emulation_core`.
        """
        function = self.functions.get(usage.name)
        if function is None:
            self._fail("ORIO-U050", f"the machine code of `{usage.name}` is not in the listing")
        occupancy = self._occupancy(usage, launch)
        sample = sample_blocks(launch.grid)
        architecture = int(self.timing.architecture.removeprefix("sm_"))
        values = launch_values(launch, self.layouts[usage.name], architecture, sample.blocks)
        active = active_threads(launch, len(sample.blocks))
        try:
            trace = follow(function, values, active, launch.warps, policy)
        except EndlessKernel:
            self._fail(
                "ORIO-U055",
                f"`{usage.name}` was not followed to its end",
                "are the arguments those of a launch that ends?",
            )
        shared = Bytes(usage.shared_bytes + launch.dynamic_shared_bytes)
        kernel = EmulatedKernel(function, launch, sample, trace, occupancy, self.timing, shared)
        return Emulator(kernel, emulation_core())

    def _occupancy(self, usage: KernelUsage, launch: KernelLaunch) -> Occupancy:
        found = kernel_occupancy(usage, self.timing.architecture, launch.threads, launch.dynamic_shared_bytes)
        assert found is not None, self.timing.architecture
        model = self.timing.model
        for what, unit, shape, limits in (
            ("grid", "blocks", launch.grid, model.max_grid_dimensions),
            ("block", "threads", launch.block, model.max_block_dimensions),
        ):
            for axis, (wanted, most) in enumerate(zip(shape, limits, strict=True)):
                if wanted > most:
                    message = f"the {what} has {wanted} {unit} along {'xyz'[axis]}, of at most {most}"
                    raise DiagnosticError(Diagnostic("ORIO-U053", message))
        if found.problem is not None:
            message = f"`{usage.name}` cannot be launched on {self.timing.name}: {found.problem}"
            raise DiagnosticError(Diagnostic("ORIO-U053", message))
        return found

    def _fail(self, code: str, message: str, help_text: str | None = None) -> NoReturn:
        raise DiagnosticError(Diagnostic(code, f"{self.place}: {message}", help=help_text))
