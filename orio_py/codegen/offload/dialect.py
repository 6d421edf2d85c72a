"""What differs between device languages where only the spelling does: types, indices, barriers, functions.

    get_global_id(0)                    (long)blockIdx.x * 64 + threadIdx.x
    barrier(CLK_LOCAL_MEM_FENCE);       __syncthreads();
    vload4(0, &x[i])                    orio_load<4>(&x[i])

Inside the generator, types go by OpenCL C's names, each of which is one word (`uint`, `ulong`).

Sources: The OpenCL Specification 1.2, chapter 6; CUDA C++ Programming Guide, chapter 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from orio_py.codegen.offload.types import Types
from orio_py.ctree.nodes import Node
from orio_py.kernel.functions import DeviceFunction
from orio_py.kernel.plan import KernelPlan, LaunchShape


class Dialect(Protocol):
    """A device language's spelling.  `d` is a dimension of the launch, 0 the fastest."""

    @property
    def barrier(self) -> str:
        """The statement at which all items of a group wait for each other."""
        ...

    def local_id(self, d: int) -> str:
        """The number of an item in its group."""
        ...

    def group_id(self, d: int) -> str:
        """The number of a group."""
        ...

    def group_count(self, d: int) -> str:
        """The number of groups."""
        ...

    def global_id(self, d: int, launch: LaunchShape) -> str:
        """The number of an item among all."""
        ...

    def global_size(self, d: int, launch: LaunchShape, width: int = 1) -> str:
        """The number of all items times a width."""
        ...

    def item_number(self, launch: LaunchShape) -> str:
        """The number of an item in its group, counted over all dimensions, the first fastest."""
        ...

    def group_number(self, launch: LaunchShape) -> str:
        """The number of a group, counted likewise."""
        ...

    def type_name(self, kind: str) -> str:
        """A type."""
        ...

    def constant(self, name: str) -> str:
        """A macro of C's headers that is a number, such as `INT_MAX`; other names as they are."""
        ...

    def function(self, name: str, function: DeviceFunction) -> str:
        """A function of `math.h`, for scalars."""
        ...

    def lanes_function(self, name: str, function: DeviceFunction) -> str:
        """The same for vectors."""
        ...

    @property
    def select(self) -> str:
        """The function that takes the lanes of its second argument where its third, a mask, is set."""
        ...

    @property
    def absolute_is_unsigned(self) -> bool:
        """Whether `abs` of a whole number has an unsigned type."""
        ...

    @property
    def narrows_in_braces(self) -> bool:
        """Whether values in the braces of an initialiser are converted to narrower types without a cast."""
        ...

    def vector_type(self, kind: str, width: int) -> str:
        """A vector of so many elements."""
        ...

    def vector_of(self, kind: str, values: list[str]) -> str:
        """A vector with these elements."""
        ...

    def load(self, kind: str, width: int, address: Node) -> Node:
        """The neighbouring elements from an address on."""
        ...

    def store(self, width: int, value: Node, address: Node) -> Node:
        """The statement that writes a vector to neighbouring elements."""
        ...

    def converted(self, kind: str, width: int, value: Node) -> Node:
        """A vector with its elements converted."""
        ...

    def half(self, vector: str, width: int, *, upper: bool) -> str:
        """The lower or the upper half of a vector of so many elements; of two elements, the element."""
        ...

    def lane(self, vector: Node, number: int) -> Node:
        """One element of a vector."""
        ...


@dataclass(frozen=True, slots=True)
class Kernel:
    """A plan that is being written in a dialect; `types` are those of all names in the kernel."""

    plan: KernelPlan
    types: Types
    dialect: Dialect
