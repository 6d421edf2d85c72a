"""How many blocks of a kernel are on a multiprocessor at a time, and what keeps more away.

The rules are those that NVIDIA publishes as C code (`cuda_occupancy.h` of the CUDA toolkit), for kernels without
thread block clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orio_py.core.units import Bytes
from orio_py.machine.device import GpuModel

_WARPS_AT_A_TIME = 4


class Limit(StrEnum):
    """A resource of a multiprocessor."""

    WARPS = "warps"
    BLOCKS = "blocks"
    REGISTERS = "registers"
    SHARED_MEMORY = "shared memory"


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The blocks and warps that are active on a multiprocessor.

    `share` is that of the warps that there could be, from 0 to 1.  `limits` are the resources that allow no further
    block.  `problem` says why there is no block at all.
    """

    blocks: int
    warps: int
    share: float
    limits: tuple[Limit, ...]
    problem: str | None = None


def occupancy(
    model: GpuModel,
    *,
    threads_per_block: int,
    registers_per_thread: int,
    shared_bytes_per_block: Bytes,
    shared_configuration_bytes: Bytes | None = None,
) -> Occupancy:
    """The occupancy of a kernel with these needs; `shared_bytes_per_block` is static and dynamic memory together.

    Without `shared_configuration_bytes` as much of the multiprocessor's memory is shared memory as possible.  With
    it, that much is, or what a block needs if that is more: the driver then takes the next larger configuration.
    """
    if threads_per_block < 1 or registers_per_thread < 0 or shared_bytes_per_block < 0:
        raise ValueError("a block has at least one thread, and no negative needs")
    problem = _problem(model, threads_per_block, registers_per_thread, shared_bytes_per_block)
    if problem is not None:
        return Occupancy(0, 0, 0.0, (problem[0],), problem[1])
    warps = -(-threads_per_block // model.warp_size)
    registers = _round_up(registers_per_thread * model.warp_size, model.register_unit_per_warp)
    shared = _round_up(shared_bytes_per_block + model.shared_reserved_bytes, model.shared_unit_bytes)
    allowed = {
        Limit.WARPS: model.max_warps_per_multiprocessor // warps,
        Limit.BLOCKS: model.max_blocks_per_multiprocessor,
    }
    if registers:
        allowed[Limit.REGISTERS] = _warps_by_registers(model, registers) // warps
    if shared:
        room = _shared_room(model, Bytes(shared), shared_configuration_bytes)
        allowed[Limit.SHARED_MEMORY] = room // shared
    blocks = min(allowed.values())
    return Occupancy(
        blocks,
        blocks * warps,
        blocks * warps / model.max_warps_per_multiprocessor,
        tuple(limit for limit, most in allowed.items() if most == blocks),
    )


def _problem(model: GpuModel, threads: int, registers: int, shared: int) -> tuple[Limit, str] | None:
    """Why no block with these threads, registers per thread and bytes of shared memory can be started.

    The hardware checks registers as if a block had a multiple of four warps: one for each of the parts of most register files.
    """
    if threads > model.max_threads_per_block:
        return Limit.WARPS, f"{threads} threads in a block, of at most {model.max_threads_per_block}"
    if registers > model.max_registers_per_thread:
        return (
            Limit.REGISTERS,
            f"{registers} registers in a thread, of at most {model.max_registers_per_thread}",
        )
    spread = _round_up(-(-threads // model.warp_size), _WARPS_AT_A_TIME)
    needed = spread * _round_up(registers * model.warp_size, model.register_unit_per_warp)
    if needed > model.registers_per_block:
        return Limit.REGISTERS, f"{needed} registers in a block, of at most {model.registers_per_block}"
    most = model.shared_bytes_per_block_opt_in
    if _round_up(shared, model.shared_unit_bytes) > most:
        return Limit.SHARED_MEMORY, f"{shared} bytes of shared memory in a block, of at most {most}"
    return None


def _warps_by_registers(model: GpuModel, registers_per_warp: int) -> int:
    """How many warps the register file holds: each lies in one of its parts."""
    per_partition = model.registers_per_multiprocessor // model.register_partitions
    return per_partition // registers_per_warp * model.register_partitions


def _shared_room(model: GpuModel, needed: Bytes, wanted: Bytes | None) -> Bytes:
    """How much of the multiprocessor's memory is shared memory."""
    if wanted is None:
        return model.shared_bytes_per_multiprocessor
    least = max(needed, wanted)
    return min(size for size in model.shared_configurations_bytes if size >= least)


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
