"""The host functions that the regions of one file call, under names that differ where their kernels do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from orio_py.codegen.host_unit import HostKernel
from orio_py.kernel.backend import Backend
from orio_py.kernel.backends import BACKENDS
from orio_py.kernel.call import KernelGroup
from orio_py.kernel.plan import KernelPlan


@dataclass(frozen=True, slots=True)
class DeviceTest:
    """What is asked before the code of a region whether its kernels can run: declarations, and what has to be true, in C."""

    declarations: tuple[str, ...]
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostedCode:
    """The code of a region at one problem size, the kernels that it calls, and what is asked before.

    The kernels of each of the `groups` are run by one function.
    """

    code: str
    plans: tuple[KernelPlan, ...] = ()
    groups: tuple[KernelGroup, ...] = ()
    test: DeviceTest | None = None


@dataclass(slots=True)
class HostFunctions:
    """Collects the kernels of a file's regions at all problem sizes.

    Two sizes, or two regions of one function, may have different kernels of one name; all but the first get
    a number, in the kernels and in the code that calls them.
    """

    kernels: list[HostKernel] = field(default_factory=list[HostKernel])

    def add(self, hosted: HostedCode) -> HostedCode:
        """The code of a region at one problem size, with its calls renamed where that is needed."""
        if not hosted.plans:
            return hosted
        from orio_py.codegen.languages import device_programs  # takes time to load, and few files need it

        found = {
            plan.name: HostKernel(plan, program.source, plan.name)
            for program in device_programs(hosted.plans)
            for plan in program.plans
        }
        names: dict[str, str] = {}
        for group in hosted.groups:
            names[group.name] = self._group(group.name, [found.pop(plan.name) for plan in group.plans])
        names |= {name: self._function(kernel) for name, kernel in found.items()}
        # Also the functions that begin and end the time in which arrays stay are named after a kernel.
        pattern = re.compile(
            "|".join(
                rf"\b{re.escape(name)}(?=(?:_ready|_data_end|_data_begin(?:_ready)?)?\b)" for name in names
            )
        )

        def renamed(text: str) -> str:
            return pattern.sub(lambda match: names[match[0]], text)

        test = hosted.test
        if test is not None:
            test = DeviceTest(tuple(map(renamed, test.declarations)), tuple(map(renamed, test.conditions)))
        return replace(hosted, code=renamed(hosted.code), test=test)

    def _function(self, kernel: HostKernel) -> str:
        """The name of the kernel's host function: one that is there already, or a new one."""
        looks = _looks(kernel)
        same = [k for k in self.kernels if k.plan.name == kernel.plan.name and k.group is None]
        for known in same:
            if _looks(known) == looks:
                return known.function
        name = self._free(kernel.function)
        self.kernels.append(HostKernel(kernel.plan, kernel.source, name))
        return name

    def _group(self, function: str, kernels: Sequence[HostKernel]) -> str:
        """The name of the function that runs kernels which nothing else calls: one that is there, or a new one."""
        looks = [_looks(kernel) for kernel in kernels]
        for name in dict.fromkeys(k.group for k in self.kernels if k.group is not None):
            if [_looks(k) for k in self.kernels if k.group == name] == looks:
                return name
        name = self._free(function)
        for kernel in kernels:
            self.kernels.append(HostKernel(kernel.plan, kernel.source, self._free(kernel.function), name))
        return name

    def _free(self, function: str) -> str:
        """The name, with a number where it is taken."""
        taken = {k.function for k in self.kernels} | {k.group for k in self.kernels}
        name, number = function, 0
        while name in taken:
            number += 1
            name = f"{function}_v{number}"
        return name


def _looks(kernel: HostKernel) -> str:
    """All that the host code depends on.  Trees are compared by what they show."""
    return f"{kernel.plan!r}\n{kernel.source}"


def calls_host_functions(code: str) -> bool:
    """Whether code, such as an earlier run's, calls host functions.

    >>> calls_host_functions("orio_opencl_axpy_0(y, n);"), calls_host_functions("axpy(y, n);")
    (True, False)
    """
    return bool(called_backends(code))


def called_backends(code: str) -> tuple[Backend, ...]:
    """The device languages whose host functions code calls.

    >>> [backend.name for backend in called_backends("orio_cuda_axpy_0(y, n);")]
    ['cuda']
    """
    return tuple(b for b in BACKENDS.values() if re.search(rf"\b{b.host_prefix}\w+\s*\(", code) is not None)
