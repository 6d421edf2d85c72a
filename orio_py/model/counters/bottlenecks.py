"""From a kernel's counters to its bottlenecks, each between 0 (idle) and 1 (at its peak).

The formulas are those of section 3.5.1 of the paper (see `orio_py.model.counters.table`), whose equations are named
at each function.  Counters that a profiler does not give count as 0.
"""

from __future__ import annotations

from enum import StrEnum

from orio_py.model.counters.table import CounterValues, Generation, GpuCounter

WARP = 32
"""Threads of a warp."""
THREADS_PER_CORE = 5
"""So many threads per core, and parallelism is no bottleneck (paper, equation 14; found by trial)."""

_C = GpuCounter


class Bottleneck(StrEnum):
    """The parts of a GPU that a kernel may wait for, in the order in which reports list them."""

    DRAM_READ = "reads of global memory"
    DRAM_WRITE = "writes of global memory"
    L2_READ = "reads of the L2 cache"
    L2_WRITE = "writes of the L2 cache"
    SHARED_READ = "reads of shared memory"
    SHARED_WRITE = "writes of shared memory"
    TEXTURE = "the texture and data cache"
    LOCAL = "local memory"
    FP32 = "single-precision arithmetic"
    FP64 = "double-precision arithmetic"
    INTEGER = "integer arithmetic"
    MISC = "other instructions"
    LOAD_STORE = "load and store instructions"
    CONTROL = "control flow"
    CONVERSION = "conversions"
    ISSUE = "issue of instructions"
    IDLE_PROCESSORS = "idle multiprocessors"
    FEW_THREADS = "too few threads"


INSTRUCTIONS: tuple[tuple[Bottleneck, GpuCounter], ...] = (
    (Bottleneck.FP32, _C.INST_F32),
    (Bottleneck.FP64, _C.INST_F64),
    (Bottleneck.INTEGER, _C.INST_INT),
    (Bottleneck.MISC, _C.INST_MISC),
    (Bottleneck.LOAD_STORE, _C.INST_LDST),
    (Bottleneck.CONTROL, _C.INST_CONT),
    (Bottleneck.CONVERSION, _C.INST_BCONV),
)
"""The kinds of instructions, and what counts them."""

_MEMORIES = (
    (Bottleneck.DRAM_READ, Bottleneck.DRAM_WRITE, _C.DRAM_RT, _C.DRAM_WT, _C.DRAM_U),
    (Bottleneck.L2_READ, Bottleneck.L2_WRITE, _C.L2_RT, _C.L2_WT, _C.L2_U),
    (Bottleneck.SHARED_READ, Bottleneck.SHARED_WRITE, _C.SHR_LT, _C.SHR_WT, _C.SHR_U),
)


def memory_read(reads: float, writes: float, utilisation: float) -> float:
    """Equation 6: the share of reads in the transactions, times the utilisation (0 to 10)."""
    return 0.0 if reads + writes <= 0 else reads / (reads + writes) * utilisation / 10


def memory_write(reads: float, writes: float, utilisation: float) -> float:
    """Equation 7: the share of writes in the transactions, times the utilisation (0 to 10)."""
    return memory_read(writes, reads, utilisation)


def texture(utilisation: float) -> float:
    """The texture and data cache, which is only read (text below equation 7); utilisation from 0 to 10."""
    return utilisation / 10


def local_memory(counters: CounterValues) -> float:
    """Equation 8: the overhead of local memory counts as far as a memory that serves it is used."""
    utilised = max(counters.get(name, 0.0) for name in (_C.DRAM_U, _C.L2_U, _C.TEX_U))
    return counters.get(_C.LOC_O, 0.0) / 100 * utilised / 10


def fitted_instructions(counters: CounterValues) -> float:
    """Equation 9: instructions of threads, corrected by how many threads of a warp do useful work."""
    efficiency = counters.get(_C.WARP_E, 100.0) / 100 * counters.get(_C.WARP_NP_E, 100.0) / 100
    return 0.0 if efficiency <= 0 else WARP * counters.get(_C.INST_EXE, 0.0) / efficiency


def instruction_utilisation(issue: float, generation: Generation) -> float:
    """ins_util (text below equation 9): issue slots in use, of which newer GPUs fill half with one kind alone."""
    return issue / 100 if generation is Generation.BEFORE_VOLTA else min(1.0, issue / 50)


def instruction(count: float, fitted: float, utilisation: float) -> float:
    """Equation 10: the share of a kind of instructions, times the utilisation of the issue slots."""
    return 0.0 if fitted <= 0 else count / fitted * utilisation


def most_used(counters: CounterValues) -> float:
    """Equation 11: the largest share that a kind of instructions has."""
    fitted = fitted_instructions(counters)
    return max(instruction(counters.get(name, 0.0), fitted, 1.0) for _, name in INSTRUCTIONS)


def issue(counters: CounterValues) -> float:
    """Equation 12: slots that issue nothing, weighted by the largest share."""
    return most_used(counters) * (100 - counters.get(_C.INST_ISSUE_U, 0.0)) / 100


def idle_processors(efficiency: float) -> float:
    """Equation 13: multiprocessors without work, from the efficiency in percent."""
    return (100 - efficiency) / 100


def few_threads(threads: float, cores: int) -> float:
    """Equation 14: how far there are fewer than five threads per core."""
    wanted = cores * THREADS_PER_CORE
    return 0.0 if wanted <= 0 else max(0.0, (wanted - threads) / wanted)


def bottlenecks(
    counters: CounterValues, generation: Generation, cores: int | None = None
) -> dict[Bottleneck, float]:
    """All bottlenecks of a profiled kernel, from 0 to 1; `cores` are the arithmetic units of the device.

    Without `cores`, or where the threads are not counted, too few threads are not told of.
    """
    found: dict[Bottleneck, float] = {}
    for reading, writing, reads, writes, utilisation in _MEMORIES:
        values = tuple(counters.get(name, 0.0) for name in (reads, writes, utilisation))
        found[reading], found[writing] = memory_read(*values), memory_write(*values)
    found[Bottleneck.TEXTURE] = texture(counters.get(_C.TEX_U, 0.0))
    found[Bottleneck.LOCAL] = local_memory(counters)
    fitted = fitted_instructions(counters)
    utilised = instruction_utilisation(counters.get(_C.INST_ISSUE_U, 0.0), generation)
    for bottleneck, name in INSTRUCTIONS:
        found[bottleneck] = instruction(counters.get(name, 0.0), fitted, utilised)
    found[Bottleneck.ISSUE] = issue(counters)
    found[Bottleneck.IDLE_PROCESSORS] = idle_processors(counters.get(_C.SM_E, 100.0))
    if cores is not None and _C.THREADS in counters:
        found[Bottleneck.FEW_THREADS] = few_threads(counters[_C.THREADS], cores)
    return {name: min(1.0, max(0.0, value)) for name, value in found.items()}
