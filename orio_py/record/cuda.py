"""What CUDA compilers tell of kernels, and what a machine has of CUDA: pure data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from orio_py.core.units import Bytes


@dataclass(frozen=True, slots=True)
class KernelUsage:
    """What one kernel of a cubin uses.

    `registers` are per thread, of 32 bits.  `spill_store_bytes` and `spill_load_bytes` are the sizes of the
    instructions that move registers to local memory and back for want of registers, each counted once, with those of
    functions that the kernel calls (but not what these save for their caller), and of more than 8000 instructions an
    upper bound; None for machine code that is not
    understood (before compute capability 7.0).  `stack_bytes` are
    local memory per thread, None when a recursion makes it unbounded.  `shared_bytes` are static shared memory per
    block.  `constant_bytes` are the kernel's own constants: the driver's words, the parameters, and literals.
    `max_threads` is the largest block that `__launch_bounds__` allows, None without.
    """

    name: str
    registers: int
    spill_store_bytes: Bytes | None
    spill_load_bytes: Bytes | None
    stack_bytes: Bytes | None
    shared_bytes: Bytes
    constant_bytes: Bytes
    parameter_bytes: Bytes
    barriers: int
    max_threads: int | None

    @property
    def spills(self) -> bool:
        """Whether registers are known to be spilled."""
        return bool(self.spill_store_bytes or self.spill_load_bytes)


@dataclass(frozen=True, slots=True)
class ParameterLayout:
    """Where a kernel's parameters lie: in constant bank 0 from `base` on, each at an offset from there with a size in bytes."""

    base: int
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CudaCompilerInfo:
    """A compiler of CUDA text that was looked for.

    `architectures` are those that it makes machine code for (`sm_90`), `path` is where the program or library is,
    `is_from_wheels` whether that is one of the Python packages.  `reason` says why it cannot be used, `advice` what helps.
    """

    name: str
    version: str | None = None
    architectures: tuple[str, ...] = ()
    path: str | None = None
    is_from_wheels: bool = False
    reason: str | None = None
    advice: str | None = None

    @property
    def works(self) -> bool:
        """Whether it can be used."""
        return self.reason is None

    def as_json(self) -> dict[str, Any]:
        """All fields as JSON content, and whether it works."""
        return {**asdict(self), "architectures": list(self.architectures), "works": self.works}


@dataclass(frozen=True, slots=True)
class CudaLibraryInfo:
    """A Python library for NVIDIA's driver that was looked for.

    `reason` says why kernels cannot be run with it, `advice` what helps.
    """

    name: str
    version: str | None = None
    reason: str | None = None
    advice: str | None = None

    @property
    def works(self) -> bool:
        """Whether it can be used."""
        return self.reason is None

    def as_json(self) -> dict[str, Any]:
        """All fields as JSON content, and whether it works."""
        return {**asdict(self), "works": self.works}


@dataclass(frozen=True, slots=True)
class CudaSurvey:
    """What was found of CUDA on a machine.

    `driver` is the driver's version, None without one; `devices` the number of its devices.  `problem` says why no
    kernel can be run.  `libraries` are those that call the driver, `library` is the one that is used, `because` says
    why; `gpus` are the devices as it sees them.
    """

    compilers: tuple[CudaCompilerInfo, ...] = ()
    driver: str | None = None
    devices: int = 0
    problem: str | None = None
    libraries: tuple[CudaLibraryInfo, ...] = ()
    library: str | None = None
    because: str | None = None
    gpus: tuple[CudaDevice, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """All fields as JSON content."""
        return {
            **asdict(self),
            "compilers": [compiler.as_json() for compiler in self.compilers],
            "libraries": [library.as_json() for library in self.libraries],
            "gpus": [gpu.as_json() for gpu in self.gpus],
        }


ARCHITECTURE = "cuda_compiled_for"
"""Under which a trial's metadata has the architecture that its variant was compiled for."""

EMULATED_TIME = "emulated_time"
"""The counter that holds the emulated seconds of a variant's kernels where nothing is timed."""

CUDA_DEVICE_NAME = "cuda_name"
"""Under which a trial's metadata has the name of the GPU that timed it."""


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """A device that CUDA kernels run on.

    `architecture` is the compiler's name for it (`sm_90`), `memory` its global memory, `driver` the driver's
    version, `library` what calls it.  Clocks are in kHz, None where the driver does not tell.
    """

    number: int
    name: str
    architecture: str
    multiprocessors: int
    memory: Bytes
    driver: str
    library: str
    clock_khz: int | None = None
    memory_clock_khz: int | None = None
    memory_bus_bits: int | None = None

    def as_json(self) -> dict[str, Any]:
        """All fields as JSON content."""
        return asdict(self)

    @property
    def metadata(self) -> dict[str, str]:
        """What is stored with each trial, in words."""
        return {f"cuda_{name}": str(value) for name, value in asdict(self).items() if value is not None}
