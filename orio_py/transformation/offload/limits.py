"""What a kernel may ask of the devices that it is generated for, looked at before anything is built.

Source: CUDA C++ Programming Guide, "Technical specifications per compute capability".
"""

from __future__ import annotations

from math import prod
from typing import NoReturn

from orio_py.ctree.nodes import Node
from orio_py.kernel.phases import row_reductions
from orio_py.kernel.plan import KernelPlan
from orio_py.kernel.types import element_bytes
from orio_py.machine.device import GpuModel
from orio_py.transformation.base import refuse

OLDEST = "sm_75"
"""The architecture whose limits hold where none is named; those of later ones are no smaller for a block."""

_SIDES = "xyz"


def shared_bytes(plan: KernelPlan, warp: int) -> int:
    """Bytes of shared memory that a group of a plan has: tiles, and partial results of reductions."""
    items = prod(plan.launch.block_size)
    # One value per warp where groups are made of whole warps; a single warp needs none.
    values = items if items % warp else (items // warp if items > warp else 0)
    tiles = sum(tile.elements * element_bytes(tile.type) for tile in plan.staged)
    # In iterations that a group does together even the items of one warp get a value through it.
    own = max(values, 1) * sum(element_bytes(reduction.type) for reduction in row_reductions(plan.body))
    own += sum(copy.elements * element_bytes(copy.type) for copy in plan.copies)
    return tiles + own + sum(values * element_bytes(reduction.type) for reduction in plan.reductions)


def require_limits(plan: KernelPlan, model: GpuModel | None, node: Node) -> None:
    """A plan keeps to a GPU's limits, where they are known.  Raises Refusal: ORIO-T143."""
    if model is None:
        return
    launch, cuda = plan.launch, plan.options.cuda
    threads = prod(launch.block_size)
    if threads > model.max_threads_per_block:
        _refuse(
            f"a block has {threads} threads"
            + (f" ({_times(launch.block_size)})" if len(launch.block_size) > 1 else ""),
            model.max_threads_per_block,
            node,
            "threadCount",
        )
    for side, size, most in zip(_SIDES, launch.block_size, model.max_block_dimensions, strict=False):
        if size > most:
            _refuse(f"a block has {size} threads along {side}", most, node, "threadCount")
    for side, size, most in zip(_SIDES, launch.grid_size or (), model.max_grid_dimensions, strict=False):
        if size > most:
            _refuse(f"a grid has {size} blocks along {side}", most, node, "blockCount")
    used = shared_bytes(plan, model.warp_size)
    if used > model.shared_bytes_per_block:
        message = f"tiles and partial results of a block take {used} bytes of shared memory"
        _refuse(
            message,
            model.shared_bytes_per_block,
            node,
            "cacheBlocks" if plan.staged else "cacheUpdates" if plan.copies else "threadCount",
        )
    if cuda.max_registers is not None and cuda.max_registers > model.max_registers_per_thread:
        message = f"a thread gets up to {cuda.max_registers} registers"
        _refuse(message, model.max_registers_per_thread, node, "maxRegisters")
    if cuda.least_blocks is not None:
        _require_resident(threads, cuda.least_blocks, model, node)


def _require_resident(threads: int, blocks: int, model: GpuModel, node: Node) -> None:
    """A multiprocessor can hold so many blocks.  Raises Refusal: ORIO-T143."""
    warps = -(-threads // model.warp_size) * blocks
    if warps > model.max_warps_per_multiprocessor:
        message = f"{blocks} blocks of {threads} threads on a multiprocessor have {warps} warps"
        _refuse(message, model.max_warps_per_multiprocessor, node, "launchBounds")
    if blocks > model.max_blocks_per_multiprocessor:
        message = f"a multiprocessor is to hold {blocks} blocks"
        _refuse(message, model.max_blocks_per_multiprocessor, node, "launchBounds")


def _refuse(found: str, most: int, node: Node, argument: str) -> NoReturn:
    refuse("ORIO-T143", f"{found}, and {most} is the most that the architecture has", node, argument=argument)


def _times(sizes: tuple[int, ...]) -> str:
    return " x ".join(str(size) for size in sizes)
