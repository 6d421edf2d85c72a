"""`GpuModel`: the limits of a compute capability.  `GpuProduct`: a board that has it."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.units import Bytes


@dataclass(frozen=True, slots=True)
class GpuProduct:
    """A GPU that is sold under a name, and how many multiprocessors it has."""

    name: str
    multiprocessors: int


@dataclass(frozen=True, slots=True)
class GpuModel:
    """What all GPUs of one compute capability allow, per thread, block and multiprocessor.

    `architecture` is the compiler's name for it, `sm_90`.  Sizes of memory are in bytes, registers have 32 bits.
    A warp gets registers in units of `register_unit_per_warp`, from one of `register_partitions` equal parts of the
    register file.  A block gets shared memory in units of `shared_unit_bytes`, after `shared_reserved_bytes` have
    been added that the driver keeps for itself.  `shared_bytes_per_block` is what any kernel may use,
    `shared_bytes_per_block_opt_in` what one may use that asks for more at run time.
    `shared_configurations_bytes` are the shares of the multiprocessor's memory that can be shared memory, the rest
    being cache.
    """

    architecture: str
    generation: str
    warp_size: int
    max_threads_per_block: int
    max_block_dimensions: tuple[int, int, int]
    max_grid_dimensions: tuple[int, int, int]
    max_warps_per_multiprocessor: int
    max_blocks_per_multiprocessor: int
    registers_per_multiprocessor: int
    registers_per_block: int
    max_registers_per_thread: int
    register_unit_per_warp: int
    register_partitions: int
    shared_bytes_per_multiprocessor: Bytes
    shared_bytes_per_block: Bytes
    shared_bytes_per_block_opt_in: Bytes
    shared_unit_bytes: Bytes
    shared_reserved_bytes: Bytes
    shared_configurations_bytes: tuple[Bytes, ...]
    constant_bytes: Bytes
    products: tuple[GpuProduct, ...] = ()

    @property
    def max_threads_per_multiprocessor(self) -> int:
        """How many threads are resident on a multiprocessor at most."""
        return self.max_warps_per_multiprocessor * self.warp_size

    def product(self, name: str) -> GpuProduct | None:
        """The product whose name this is, in any case; None when it is not listed."""
        return next((p for p in self.products if p.name.lower() == name.lower()), None)
