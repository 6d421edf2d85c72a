"""The device languages: the text of kernels, and of host code, by the language of their plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.host_unit import HostUnit
from orio_py.codegen.program import Program
from orio_py.kernel.backend import Backend
from orio_py.kernel.backends import BACKENDS
from orio_py.kernel.plan import KernelPlan


@dataclass(frozen=True, slots=True)
class Renderer:
    """What writes the text of a language: of kernels together, and of host code with its header."""

    program: Callable[[Sequence[KernelPlan]], str]
    source: Callable[[HostUnit], Program]
    header: Callable[[HostUnit], Program]


def renderer_of(backend: Backend) -> Renderer:
    """What writes the text of a language."""
    renderer = backend.load(backend.renderer)
    assert isinstance(renderer, Renderer)
    return renderer


def device_programs(plans: Sequence[KernelPlan]) -> tuple[DeviceProgram, ...]:
    """The device text of a region's kernels, one program for each language that they are in."""
    found: list[DeviceProgram] = []
    for backend in BACKENDS.values():
        own = tuple(plan for plan in plans if plan.language == backend.name)
        if own:
            found.append(DeviceProgram(renderer_of(backend).program(own), own))
    return tuple(found)
