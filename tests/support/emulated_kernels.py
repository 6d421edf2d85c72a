"""The kernels of a CUDA text, compiled and read once, and emulated as often as a test wants."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from orio_py.build.compiler import BuildFailure
from orio_py.build.cubin import parameter_layouts, read_cubin
from orio_py.build.cuda import CudaBuildOptions
from orio_py.build.disassembler import find_nvdisasm
from orio_py.build.emulation_core import emulation_core
from orio_py.build.nvrtc import find_nvrtc
from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.emulation.launch import USUAL_POLICY, KernelLaunch, active_threads, launch_values, sample_blocks
from orio_py.emulation.outcome import EmulatedKernel, LaunchPrediction
from orio_py.emulation.prediction import Emulator
from orio_py.emulation.signature import bind_arguments, signatures
from orio_py.emulation.threads import follow
from orio_py.machine.occupancy import occupancy
from orio_py.machine.timing import gpu_timing
from orio_py.sass.listing import parse_listing


@dataclass(frozen=True)
class EmulatedKernels:
    text: str
    gpu: str

    @cached_property
    def timing(self):
        return gpu_timing(self.gpu)

    @cached_property
    def cubin(self) -> bytes:
        try:
            compiler, _ = find_nvrtc(), find_nvdisasm()
        except EnvironmentProblem as problem:
            pytest.skip(problem.diagnostics[0].message)
        built = compiler.compile(self.text, self.timing.architecture, CudaBuildOptions(line_info=True))
        assert not isinstance(built, BuildFailure), built.log
        return built.cubin

    @cached_property
    def functions(self):
        return {function.name: function for function in parse_listing(find_nvdisasm().listing(self.cubin))}

    @cached_property
    def usages(self):
        return {usage.name: usage for usage in read_cubin(self.cubin)}

    def emulator(self, name, grid, block, **arguments) -> Emulator:
        layout, usage = parameter_layouts(self.cubin)[name], self.usages[name]
        given = {key: str(value) for key, value in arguments.items()}
        bound = bind_arguments(name, signatures(self.text)[name], layout, given)
        launch = KernelLaunch((*grid, 1, 1)[:3], (*block, 1, 1)[:3], bound)
        sample = sample_blocks(launch.grid)
        architecture = int(self.timing.architecture[3:])
        values = launch_values(launch, layout, architecture, sample.blocks)
        threads = active_threads(launch, len(sample.blocks))
        trace = follow(self.functions[name], values, threads, launch.warps, USUAL_POLICY)
        found = occupancy(
            self.timing.model,
            threads_per_block=launch.threads,
            registers_per_thread=usage.registers,
            shared_bytes_per_block=usage.shared_bytes,
        )
        kernel = EmulatedKernel(
            self.functions[name], launch, sample, trace, found, self.timing, usage.shared_bytes
        )
        return Emulator(kernel, emulation_core())

    def predict(self, name, grid, block, **arguments) -> LaunchPrediction:
        return self.emulator(name, grid, block, **arguments).predict()


def kernels_of(path: Path, gpu: str) -> EmulatedKernels:
    return EmulatedKernels(path.read_text(), gpu)
