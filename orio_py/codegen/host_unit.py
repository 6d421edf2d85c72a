"""What host code is made of, as values."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.transform.offload.plan import KernelPlan, Language


def host_prefix(language: Language) -> str:
    """How every host function's name begins."""
    return f"orio_{language}_"


@dataclass(frozen=True, slots=True)
class HostKernel:
    """One host function: the kernel, the device text that holds it, and the function's own name."""

    plan: KernelPlan
    source: str
    function: str


@dataclass(frozen=True, slots=True)
class HostUnit:
    """The host code beside one output file.

    `name` is a C identifier that the names of the functions for all kernels begin with
    (`orio_opencl_NAME_release`); `stem` is the files' common name without ending; `remarks` are lines for
    the comment at their top.
    """

    name: str
    stem: str
    kernels: tuple[HostKernel, ...]
    remarks: tuple[str, ...] = ()
