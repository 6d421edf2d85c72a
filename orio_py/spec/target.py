"""How variants are built."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orio_py.core.source import Position


class Target(StrEnum):
    """The programming models for the host; the other targets are device languages, by their backends' names."""

    C = "c"
    OPENMP = "openmp"


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
    """Commands of the `build` section; `@NAME@` and `@CFLAGS` in them stand for parameter values."""

    command: str = "gcc -O3"
    libs: str = ""
    prebuild: str | None = None
    postbuild: str | None = None
    postrun: str | None = None
    position: Position | None = None
    is_default: bool = True
