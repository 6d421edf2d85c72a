"""What host code is made of, as values."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.kernel.call import KernelGroup
from orio_py.kernel.plan import KernelPlan


@dataclass(frozen=True, slots=True)
class HostKernel:
    """One host function: the kernel, the device text that holds it, and the function's own name.

    Kernels with a `group`, the name of another function, have none of their own: that one runs them all, one after
    the other.
    """

    plan: KernelPlan
    source: str
    function: str
    group: str | None = None


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

    @property
    def groups(self) -> tuple[KernelGroup, ...]:
        """The functions that run several kernels."""
        members: dict[str, list[KernelPlan]] = {}
        for kernel in self.kernels:
            if kernel.group is not None:
                members.setdefault(kernel.group, []).append(kernel.plan)
        return tuple(KernelGroup(name, tuple(plans)) for name, plans in members.items())
