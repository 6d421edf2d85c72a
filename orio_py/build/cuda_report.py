"""CUDA text compiled for several architectures: how long that takes, and what its kernels use there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import CudaBuildOptions, CudaCompiler
from orio_py.core.units import Bytes, Seconds
from orio_py.machine.catalog import gpu_model
from orio_py.machine.occupancy import Limit, Occupancy, occupancy
from orio_py.record.cuda import KernelUsage


@dataclass(frozen=True, slots=True)
class KernelReport:
    """What a kernel uses on an architecture, and its occupancy there.

    `occupancy` is None where the architecture's limits are not known.
    """

    usage: KernelUsage
    occupancy: Occupancy | None


@dataclass(frozen=True, slots=True)
class ArchitectureReport:
    """The outcome for one architecture: how long the compiler took, and its kernels or why there are none."""

    architecture: str
    seconds: Seconds
    kernels: tuple[KernelReport, ...]
    failure: BuildFailure | None = None


def build_report(
    source: str,
    architectures: Sequence[str],
    *,
    compiler: CudaCompiler,
    threads_per_block: int,
    options: CudaBuildOptions = CudaBuildOptions(),
    dynamic_shared_bytes: Bytes = Bytes(0),
) -> tuple[ArchitectureReport, ...]:
    """Compile `source` for each architecture; occupancy is that of blocks of `threads_per_block` threads.

    `dynamic_shared_bytes` are added to the shared memory that the text declares.  Raises DiagnosticError ORIO-B021
    for an architecture that the compiler does not know.
    """
    reports: list[ArchitectureReport] = []
    for architecture in architectures:
        built = compiler.compile(source, architecture, options)
        if isinstance(built, BuildFailure):
            reports.append(ArchitectureReport(architecture, Seconds(0.0), (), built))
            continue
        kernels = tuple(
            KernelReport(k, kernel_occupancy(k, architecture, threads_per_block, dynamic_shared_bytes))
            for k in built.kernels
        )
        reports.append(ArchitectureReport(architecture, built.seconds, kernels))
    return tuple(reports)


def kernel_occupancy(
    usage: KernelUsage, architecture: str, threads_per_block: int, dynamic_shared_bytes: Bytes
) -> Occupancy | None:
    """The occupancy of a compiled kernel; None where the architecture's limits are not known."""
    if (model := gpu_model(architecture)) is None:
        return None
    if usage.max_threads is not None and threads_per_block > usage.max_threads:
        message = (
            f"{threads_per_block} threads in a block, of at most {usage.max_threads} by its launch bounds"
        )
        return Occupancy(0, 0, 0.0, (Limit.WARPS,), message)
    return occupancy(
        model,
        threads_per_block=threads_per_block,
        registers_per_thread=usage.registers,
        shared_bytes_per_block=Bytes(usage.shared_bytes + dynamic_shared_bytes),
    )
