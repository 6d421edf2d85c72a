"""A CUDA variant, as a worker process is told of it: what it is, and what was built of it, two JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orio_py.build.cuda import cuda_options
from orio_py.codegen.device import DeviceProgram
from orio_py.core.source import Position
from orio_py.kernel.plan import KernelPlan
from orio_py.measure.offload.variant import HostFunction, host_function

BUILT = "built.json"
"""The file beside a variant's that tells what was built."""


@dataclass(frozen=True, slots=True)
class CudaVariant:
    """A variant for an architecture: device texts with build options, the timed code in C, and its kernels.

    In the timed code the kernels are calls of their host functions.  `carveouts` are the shares in per cent of a
    multiprocessor's memory that kernels prefer as shared memory, by name.
    """

    architecture: str
    options: str
    sources: tuple[str, ...]
    host: str
    calls: tuple[HostFunction, ...]
    carveouts: Mapping[str, int]

    @classmethod
    def of(cls, architecture: str, options: str, host: str, programs: Sequence[DeviceProgram]) -> CudaVariant:
        """The variant with these device programs."""
        plans = [plan for program in programs for plan in program.plans]
        shares = {plan.name: plan.options.cuda.carveout for plan in plans}
        return cls(
            architecture,
            options,
            tuple(program.source for program in programs),
            host,
            HostFunction.all_of(programs),
            {name: share for name, share in shares.items() if share is not None},
        )

    @property
    def text(self) -> str:
        """The variant as the worker's file holds it."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, path: Path) -> CudaVariant:
        """The variant in a file."""
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        changed: dict[str, Any] = {
            "sources": tuple(content["sources"]),
            "calls": tuple(map(host_function, content["calls"])),
        }
        return cls(**{**content, **changed})


def wished_architecture(plan: KernelPlan, position: Position) -> str:
    """What a recipe wants its kernel compiled for, by compiler options or `arch`; '' where it says nothing."""
    flags = cuda_options(plan.options.build_flags, position)
    return flags.architecture or plan.options.cuda.architecture


@dataclass(frozen=True, slots=True)
class UsedKernel:
    """What a kernel of a variant uses: registers per thread, bytes, and the share of the warps that are active.

    Spills and stack are None where they are not known or have no bound, `occupancy` where the architecture's limits
    are not known.
    """

    name: str
    registers: int
    spill_store_bytes: int | None
    spill_load_bytes: int | None
    stack_bytes: int | None
    shared_bytes: int
    occupancy: float | None


@dataclass(frozen=True, slots=True)
class BuiltCuda:
    """What was built of a variant: modules by file name with their kernels, and what these use.

    `compiler` is the one that made the machine code, '' where there was none, so that nothing is known of kernels.
    `emulated` are the seconds that the kernels of a call take on a GPU that is not there, None where nobody emulated it;
    `bottleneck` are counters of what limits them.
    """

    modules: tuple[tuple[str, tuple[str, ...]], ...]
    kernels: tuple[UsedKernel, ...] = ()
    compiler: str = ""
    emulated: float | None = None
    bottleneck: tuple[tuple[str, float], ...] = ()

    @property
    def text(self) -> str:
        """The description as its file holds it."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def beside(cls, variant: Path) -> BuiltCuda:
        """What was built of the variant in a file.  Raises OSError where nothing was."""
        content: dict[str, Any] = json.loads((variant.parent / BUILT).read_text(encoding="utf-8"))
        return cls(
            tuple((name, tuple(kernels)) for name, kernels in content["modules"]),
            tuple(UsedKernel(**kernel) for kernel in content["kernels"]),
            content["compiler"],
            content["emulated"],
            tuple((name, value) for name, value in content["bottleneck"]),
        )
