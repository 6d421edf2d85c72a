"""The counters of GPU kernels under the names of both generations of profilers, brought to common units.

J. Filipovič, J. Hozzová, A. Nezarat, J. Oľha and F. Petrovič, "Using hardware performance counters to speed up
autotuning convergence on GPUs", Journal of Parallel and Distributed Computing 160, 2021 (here: the paper), table 1.
The profilers' counters were renamed with the Volta generation (compute capability 7.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class GpuCounter(StrEnum):
    """The abbreviations of table 1, and below them what a kernel's launch and its compilation add."""

    DRAM_RT = "DRAM_RT"
    DRAM_WT = "DRAM_WT"
    L2_RT = "L2_RT"
    L2_WT = "L2_WT"
    TEX_RWT = "TEX_RWT"
    LOC_O = "LOC_O"
    SHR_LT = "SHR_LT"
    SHR_WT = "SHR_WT"
    INST_F32 = "INST_F32"
    INST_F64 = "INST_F64"
    INST_INT = "INST_INT"
    INST_MISC = "INST_MISC"
    INST_LDST = "INST_LDST"
    INST_CONT = "INST_CONT"
    INST_BCONV = "INST_BCONV"
    INST_EXE = "INST_EXE"
    INST_ISSUE_U = "INST_ISSUE_U"
    DRAM_U = "DRAM_U"
    L2_U = "L2_U"
    TEX_U = "TEX_U"
    SHR_U = "SHR_U"
    SM_E = "SM_E"
    WARP_E = "WARP_E"
    WARP_NP_E = "WARP_NP_E"
    THREADS = "THREADS"
    BLOCK = "BLOCK"
    OCCUPANCY = "OCCUPANCY"


class CounterKind(StrEnum):
    """What a counter is of (paper, section 3.1): work done or resources used, or how hard a part is worked."""

    OPERATIONS = "operations"
    STRESS = "stress"


class Generation(StrEnum):
    """The two sets of names."""

    BEFORE_VOLTA = "before Volta"
    FROM_VOLTA = "Volta and newer"


CounterValues: TypeAlias = "Mapping[GpuCounter, float]"
"""Counters of one kernel, in the units of the table."""


@dataclass(frozen=True, slots=True)
class CounterRow:
    """A counter: its names in both generations (empty where it has none), kind and common unit.

    A value under the name before Volta is multiplied by `old_factor`, one under the newer name by `new_factor`,
    to be in the common unit.
    """

    counter: GpuCounter
    before_volta: str
    from_volta: str
    kind: CounterKind
    unit: str
    old_factor: float = 1.0
    new_factor: float = 1.0


_OPS, _STRESS = CounterKind.OPERATIONS, CounterKind.STRESS
_SECTORS, _THREADS, _TENTHS = "32 B", "instructions of threads", "0 to 10"
_C = GpuCounter

TABLE: tuple[CounterRow, ...] = (
    CounterRow(_C.DRAM_RT, "dram_read_transactions", "dram__sectors_read.sum", _OPS, _SECTORS),
    CounterRow(_C.DRAM_WT, "dram_write_transactions", "dram__sectors_write.sum", _OPS, _SECTORS),
    CounterRow(_C.L2_RT, "l2_read_transactions", "lts__t_sectors_op_read.sum", _OPS, _SECTORS),
    CounterRow(_C.L2_WT, "l2_write_transactions", "lts__t_sectors_op_write.sum", _OPS, _SECTORS),
    CounterRow(
        _C.TEX_RWT,
        "tex_cache_transactions",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        _OPS,
        "requests",
    ),
    # Newer profilers count the sectors instead of the overhead: `read_profile` makes that of them.
    CounterRow(_C.LOC_O, "local_memory_overhead", "", _OPS, "%"),
    CounterRow(
        _C.SHR_LT,
        "shared_load_transactions",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        _OPS,
        "wavefronts",
    ),
    CounterRow(
        _C.SHR_WT,
        "shared_store_transactions",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        _OPS,
        "wavefronts",
    ),
    CounterRow(
        _C.INST_F32, "inst_fp_32", "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", _OPS, _THREADS
    ),
    CounterRow(
        _C.INST_F64, "inst_fp_64", "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum", _OPS, _THREADS
    ),
    CounterRow(
        _C.INST_INT, "inst_integer", "smsp__sass_thread_inst_executed_op_integer_pred_on.sum", _OPS, _THREADS
    ),
    CounterRow(
        _C.INST_MISC, "inst_misc", "smsp__sass_thread_inst_executed_op_misc_pred_on.sum", _OPS, _THREADS
    ),
    CounterRow(
        _C.INST_LDST,
        "inst_compute_ld_st",
        "smsp__sass_thread_inst_executed_op_memory_pred_on.sum",
        _OPS,
        _THREADS,
    ),
    CounterRow(
        _C.INST_CONT, "inst_control", "smsp__sass_thread_inst_executed_op_control_pred_on.sum", _OPS, _THREADS
    ),
    CounterRow(
        _C.INST_BCONV,
        "inst_bit_convert",
        "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum",
        _OPS,
        _THREADS,
    ),
    CounterRow(_C.INST_EXE, "inst_executed", "smsp__inst_executed.sum", _OPS, "instructions of warps"),
    # The paper counts it among the operations: it tells of cycles that cannot issue.
    CounterRow(
        _C.INST_ISSUE_U,
        "issue_slot_utilization",
        "smsp__issue_active.avg.pct_of_peak_sustained_active",
        _OPS,
        "%",
    ),
    CounterRow(
        _C.DRAM_U,
        "dram_utilization",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        _STRESS,
        _TENTHS,
        new_factor=0.1,
    ),
    # Table 1 tells no factor here, but equation 8 divides both generations by 10.
    CounterRow(
        _C.L2_U,
        "l2_utilization",
        "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
        _STRESS,
        _TENTHS,
        new_factor=0.1,
    ),
    CounterRow(
        _C.TEX_U,
        "tex_utilization",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.avg.pct_of_peak_sustained_active",
        _STRESS,
        _TENTHS,
        new_factor=0.1,
    ),
    CounterRow(
        _C.SHR_U,
        "shared_utilization",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
        _STRESS,
        _TENTHS,
        new_factor=0.1,
    ),
    CounterRow(
        _C.SM_E, "sm_efficiency", "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", _STRESS, "%"
    ),
    CounterRow(
        _C.WARP_E,
        "warp_execution_efficiency",
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        _STRESS,
        "%",
        new_factor=100 / 32,
    ),
    CounterRow(
        _C.WARP_NP_E,
        "warp_nonpred_execution_efficiency",
        "smsp__thread_inst_executed_per_inst_executed.pct",
        _STRESS,
        "%",
    ),
    # Not in table 1.  The paper has the number of threads as Δpc_global (section 3.5.2).
    CounterRow(_C.THREADS, "launched_threads", "launched_threads", _OPS, "threads"),
    CounterRow(_C.BLOCK, "threads_per_block", "threads_per_block", _OPS, "threads"),
    CounterRow(
        _C.OCCUPANCY,
        "achieved_occupancy",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        _STRESS,
        "%",
        old_factor=100.0,
    ),
)
"""Table 1 of the paper; the text of the units is for people."""

LOCAL_SECTORS = (
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
)
"""What newer profilers count of local memory: sectors that were read, and written."""

PREDICTED: tuple[GpuCounter, ...] = (
    *(row.counter for row in TABLE if row.kind is CounterKind.OPERATIONS and row.unit != "%"),
    _C.LOC_O,
    _C.OCCUPANCY,
)
"""What models learn: work and resources, which depend on the kernel more than on the device.

Occupancy is measured as stress, but is a matter of the resources that a kernel needs.
"""

_OLD = {row.before_volta: row for row in TABLE}
_NEW = {row.from_volta: row for row in TABLE if row.from_volta}
_ONLY_OLD = _OLD.keys() - _NEW.keys()
_ONLY_NEW = (_NEW.keys() - _OLD.keys()) | set(LOCAL_SECTORS)


def generation_of(names: Mapping[str, float]) -> Generation | None:
    """Which generation counters are of, by their names; None where none of them is in the table."""
    if any(name in _ONLY_NEW for name in names):
        return Generation.FROM_VOLTA
    return Generation.BEFORE_VOLTA if any(name in _ONLY_OLD for name in names) else None


def read_profile(counted: Mapping[str, float]) -> dict[GpuCounter, float]:
    """The counters that a profiler gave under its own names, in the units of the table; unknown ones are left out.

    Local memory is counted by newer profilers in sectors of 32 bytes.  The overhead of older ones is the share of
    that traffic in the traffic between the first and the second level of cache, and so it is here.
    """
    names = _OLD if generation_of(counted) is Generation.BEFORE_VOLTA else _NEW
    found: dict[GpuCounter, float] = {}
    for name, value in counted.items():
        if (row := names.get(name)) is not None:
            found[row.counter] = value * (row.old_factor if names is _OLD else row.new_factor)
    if any(name in counted for name in LOCAL_SECTORS):
        local = sum(counted.get(name, 0.0) for name in LOCAL_SECTORS)
        traffic = found.get(_C.L2_RT, 0.0) + found.get(_C.L2_WT, 0.0)
        found[_C.LOC_O] = min(100.0, 100.0 * local / traffic) if traffic > 0 else 0.0
    return found


def metrics() -> str:
    """What Nsight Compute is asked for (`--metrics`), so that all of the table can be read."""
    own = [row.from_volta for row in TABLE if "." in row.from_volta]
    return ",".join(
        [*own, *LOCAL_SECTORS, "gpu__time_duration.sum", "launch__thread_count", "launch__block_size"]
    )
