"""What machine code needs of a GPU: which one runs it, and what its kernels use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import CudaBinary
from orio_py.build.cuda_report import kernel_occupancy
from orio_py.core.units import Bytes
from orio_py.measure.cuda.variant import UsedKernel
from orio_py.record.trial import CounterSource, CounterValue


def runs(architecture: str, device: str) -> bool:
    """Whether a device runs machine code for an architecture: of its own major number, and no later minor one.

    Source: CUDA C++ Programming Guide, section 3.1.2 (binary compatibility).

    >>> runs("sm_80", "sm_86"), runs("sm_90", "sm_86"), runs("sm_90a", "sm_90"), runs("sm_100a", "sm_103")
    (True, False, True, False)
    """
    code, own = (int("".join(c for c in name if c.isdigit())) for name in (architecture, device))
    if architecture[-1] in "af":
        return code == own
    return code // 10 == own // 10 and code <= own


def usage_counters(kernels: Sequence[UsedKernel]) -> tuple[CounterValue, ...]:
    """What the kernels of a variant use: the most of registers and memory, the sum of spills, the least occupancy."""
    kinds: tuple[tuple[str, str, Callable[[Sequence[float]], float]], ...] = (
        ("registers", "", max),
        ("spill_store_bytes", "B", sum),
        ("spill_load_bytes", "B", sum),
        ("stack_bytes", "B", max),
        ("shared_bytes", "B", max),
        ("occupancy", "", min),
    )
    found: list[CounterValue] = []
    for name, unit, combine in kinds:
        values = [getattr(kernel, name) for kernel in kernels]
        if values and all(value is not None for value in values):
            source = CounterSource.DERIVED if name == "occupancy" else CounterSource.COMPILER
            found.append(CounterValue(name, float(combine(values)), unit, source))
    return tuple(found)


def used_kernel(binary: CudaBinary, name: str, threads: int) -> UsedKernel | BuildFailure:
    """What a kernel uses in blocks of so many threads; a failure when no block fits."""
    usage = binary.kernel(name)
    found = kernel_occupancy(usage, binary.architecture, threads, Bytes(0))
    if found is not None and found.blocks == 0:
        reason = f"kernel `{name}` cannot be started on {binary.architecture}: {found.problem}"
        return BuildFailure(reason, binary.log)
    return UsedKernel(
        name,
        usage.registers,
        usage.spill_store_bytes,
        usage.spill_load_bytes,
        usage.stack_bytes,
        usage.shared_bytes,
        found.share if found is not None else None,
    )
