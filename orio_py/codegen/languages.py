"""The device languages: the text of kernels, and of host code, by the language of their plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from orio_py.codegen.cuda.device import cuda_program
from orio_py.codegen.cuda.host import host_header as cuda_header
from orio_py.codegen.cuda.host import host_source as cuda_source
from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.host_unit import HostUnit
from orio_py.codegen.opencl.device import device_program as opencl_program
from orio_py.codegen.opencl.host import host_header as opencl_header
from orio_py.codegen.opencl.host import host_source as opencl_source
from orio_py.codegen.program import Program
from orio_py.kernel.plan import KernelPlan, Language


@dataclass(frozen=True, slots=True)
class Renderer:
    """What writes the text of a language: of kernels together, and of host code with its header."""

    program: Callable[[Sequence[KernelPlan]], str]
    source: Callable[[HostUnit], Program]
    header: Callable[[HostUnit], Program]


RENDERERS: Mapping[Language, Renderer] = {
    Language.OPENCL: Renderer(opencl_program, opencl_source, opencl_header),
    Language.CUDA: Renderer(cuda_program, cuda_source, cuda_header),
}


def device_programs(plans: Sequence[KernelPlan]) -> tuple[DeviceProgram, ...]:
    """The device text of a region's kernels, one program for each language that they are in."""
    found: list[DeviceProgram] = []
    for language, renderer in RENDERERS.items():
        own = tuple(plan for plan in plans if plan.language is language)
        if own:
            found.append(DeviceProgram(renderer.program(own), own))
    return tuple(found)
