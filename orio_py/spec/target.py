"""How variants are built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from orio_py.core.source import Position


class Target(StrEnum):
    """The programming models of C files; the other targets are device languages, by their backends' names."""

    C = "c"
    OPENMP = "openmp"
    OPENMP_TARGET = "openmp-target"
    OPENACC = "openacc"


DIRECTIVES: Mapping[str, Target] = {"OpenMPTarget": Target.OPENMP_TARGET, "OpenACC": Target.OPENACC}
"""The targets of transformations whose directives take loops to a device."""

COMPILER_OPTIONS: Mapping[Target, str] = {
    Target.OPENMP: "-fopenmp",
    Target.OPENMP_TARGET: "-fopenmp",
    Target.OPENACC: "-fopenacc",
}
"""What a compiler needs to heed directives."""


class DeviceTime(StrEnum):
    """What ranks variants that run on a device.

    The whole call, as the application pays for it; kernels alone, for data that stay on the device; or kernels and the
    transfers around them.
    """

    CALL = "call"
    KERNEL = "kernel"
    WITH_TRANSFERS = "kernel+transfer"


@dataclass(frozen=True, slots=True)
class BuildSpec:
    """Commands of the `build` section; `@NAME@` and `@CFLAGS` in them stand for parameter values.

    With `adds_openmp` the command asks for OpenMP where the user's does not: the original has none then.
    """

    command: str = "gcc -O3"
    libs: str = ""
    prebuild: str | None = None
    postbuild: str | None = None
    postrun: str | None = None
    position: Position | None = None
    is_default: bool = True
    adds_openmp: bool = False

    @property
    def options_of_the_original(self) -> tuple[str, ...]:
        """What takes back `-fopenmp`: the user's pragmas have no effect in the build that the user knows."""
        return ("-fno-openmp",) if self.adds_openmp else ()

    @property
    def has_openmp(self) -> bool:
        """Whether the user's own build acts on OpenMP pragmas."""
        return "openmp" in self.command and not self.adds_openmp
