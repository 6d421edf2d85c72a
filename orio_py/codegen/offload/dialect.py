"""What a device language spells in its own way: each node of device trees that C does not have, as text that C's
printer can write, and the head of a kernel.

    get_global_id(0)                    (long)blockIdx.x * 64 + threadIdx.x
    barrier(CLK_LOCAL_MEM_FENCE);       __syncthreads();
    vload4(0, &x[i])                    orio_load<4>(&x[i])

Sources: The OpenCL Specification 1.2, chapter 6; CUDA C++ Programming Guide, chapter 7.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from orio_py.codegen.offload.device_tree import (
    AtomicUpdate,
    DeviceFeatures,
    VectorOperation,
    WorkItem,
)
from orio_py.ctree.nodes import Node
from orio_py.kernel.functions import DeviceFunction
from orio_py.kernel.plan import KernelPlan


class Dialect(Protocol):
    """A device language's spelling; types are given by OpenCL C's names."""

    @property
    def features(self) -> DeviceFeatures:
        """What lowering has to know of the language."""
        ...

    @property
    def group_memory(self) -> str:
        """The qualifier of arrays that the items of a group share."""
        ...

    @property
    def alignment(self) -> str:
        """What says that such an array begins at a multiple of 16 bytes."""
        ...

    @property
    def absolute_is_unsigned(self) -> bool:
        """Whether `abs` of a whole number has an unsigned type."""
        ...

    @property
    def narrows_in_braces(self) -> bool:
        """Whether values in the braces of an initialiser are converted to narrower types without a cast."""
        ...

    @property
    def ids_are_long(self) -> bool:
        """Whether numbers among all items are of type `long` as they are spelled."""
        ...

    def work_item(self, node: WorkItem) -> Node:
        """An item's place."""
        ...

    def barrier(self, *, is_global: bool) -> Node:
        """The call that waits for the group; `is_global` as in `GroupBarrier`."""
        ...

    def shuffle(self, value: Node, distance: Node, *, back: bool) -> Node:
        """The value of an item further on, or `back`, where `features.warp` says that there is such a thing."""
        ...

    def atomic(self, node: AtomicUpdate) -> Node:
        """An update in one step."""
        ...

    def vector(self, node: VectorOperation) -> Node:
        """An operation on vectors."""
        ...

    def type_name(self, kind: str) -> str:
        """A type."""
        ...

    def vector_type(self, kind: str, width: int) -> str:
        """A vector of so many elements."""
        ...

    def constant(self, name: str) -> str:
        """A macro of C's headers that is a number, such as `INT_MAX`; other names as they are."""
        ...

    def function(self, name: str, function: DeviceFunction) -> str:
        """A function of `math.h`, for scalars."""
        ...

    def head(self, plan: KernelPlan, used: Set[str]) -> str:
        """The attributes, the name and the parameters of a kernel whose statements use these names."""
        ...


def wrapped_head(first: str, parameters: Sequence[str], width: int) -> str:
    """`first` and the parameters up to `)`, in lines of at most `width` characters where they can be broken."""
    lines: list[str] = []
    line = first
    for number, parameter in enumerate(parameters):
        piece = parameter + (")" if number + 1 == len(parameters) else ",")
        if len(line) + len(piece) + 1 > width and line.strip():
            lines.append(line.rstrip())
            line = "    "
        line += piece if line.endswith("(") or not line.strip() else f" {piece}"
    return "\n".join([*lines, line])
