"""Device trees: kernels in C's node types, and a few that say what C has no words for.

    y[i] += a * x[i];                      nodes of C
    WorkItem(GLOBAL_ID, 0, 64)             get_global_id(0)                    (long)blockIdx.x * 64 + threadIdx.x
    GroupBarrier()                              barrier(CLK_LOCAL_MEM_FENCE)        __syncthreads()
    GroupArray("double", "t", 64)          __local double t[64]                __shared__ double t[64]
    VectorOperation(LOAD, "float", 4, …)   vload4(0, &x[i])                    orio_load<4>(&x[i])

`lowering` makes the tree of a plan, passes make others of it, and `printer` writes it in a dialect.  Types go by
OpenCL C's names, each of which is one word (`uint`, `long4`); functions of `math.h` by those of C.

Sources: The OpenCL Specification 1.2, chapter 6; CUDA C++ Programming Guide, chapter 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from orio_py.ctree.build import expression
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.kernel.plan import KernelPlan


class Query(StrEnum):
    """What an item (thread) can ask of its place: numbers in its group (block), of its group, and among all items."""

    LOCAL_ID = "local_id"
    GROUP_ID = "group_id"
    GROUP_COUNT = "group_count"
    GLOBAL_ID = "global_id"
    GLOBAL_SIZE = "global_size"


class VectorOp(StrEnum):
    """What is done with vectors beside C's operators.

    `LOAD`, `STORE`: the neighbouring elements from an address on; `CONVERT`: each element; `SELECT`: the second
    operand where the third, a mask, is set, else the first; `VALUES`: a vector of its elements; `LOWER`, `UPPER`: a
    half, of two elements the element; `FIRST`: the first element; `CALL`: a function of `math.h` for each element.
    """

    LOAD = "load"
    STORE = "store"
    CONVERT = "convert"
    SELECT = "select"
    VALUES = "values"
    LOWER = "lower"
    UPPER = "upper"
    FIRST = "first"
    CALL = "call"


class AtomicOp(StrEnum):
    """What an update in one step does with an element and a value.

    `LEAST`, `GREATEST`: the value where it is smaller or larger; `FMIN`, `FMAX`: as these functions of `math.h`.
    """

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    AND = "and"
    OR = "or"
    XOR = "xor"
    LEAST = "least"
    GREATEST = "greatest"
    FMIN = "fmin"
    FMAX = "fmax"


class _Leaf(Node):
    __slots__ = ()

    def children(self) -> tuple[tuple[str, Node], ...]:
        return ()

    def __iter__(self) -> Iterator[Node]:
        return iter(())


class WorkItem(_Leaf):
    """A number that tells an item its place, along a dimension of the launch with so many items in each group.

    `is_narrow` says that 32 bits without a sign hold it.
    """

    __slots__ = ("__weakref__", "coord", "dimension", "is_narrow", "items", "query")
    attr_names = ("query", "dimension", "items", "is_narrow")

    def __init__(
        self, query: Query, dimension: int, items: int, is_narrow: bool = False, coord: Any = None
    ) -> None:
        self.query = query
        self.dimension = dimension
        self.items = items
        self.is_narrow = is_narrow
        self.coord = coord


class GroupBarrier(_Leaf):
    """The statement at which all items of a group wait for each other.

    Where it `is_global` they also see what the others have written to buffers.
    """

    __slots__ = ("__weakref__", "coord", "is_global")
    attr_names = ("is_global",)

    def __init__(self, *, is_global: bool = False, coord: Any = None) -> None:
        self.is_global = is_global
        self.coord = coord


class GroupArray(_Leaf):
    """The declaration of an array that the items of a group share (local memory, shared memory).

    Where it `is_aligned`, pieces of 16 bytes can be read at once.
    """

    __slots__ = ("__weakref__", "coord", "elements", "is_aligned", "name", "type")
    attr_names = ("type", "name", "elements", "is_aligned")

    def __init__(
        self, kind: str, name: str, elements: int, *, is_aligned: bool = False, coord: Any = None
    ) -> None:
        self.type = kind
        self.name = name
        self.elements = elements
        self.is_aligned = is_aligned
        self.coord = coord


class Shuffle(Node):
    """The value that the item so many places further on in the same warp, or `back`, has in a variable."""

    __slots__ = ("__weakref__", "back", "coord", "distance", "value")
    attr_names = ("back",)

    def __init__(self, value: Node, distance: Node, *, back: bool = False, coord: Any = None) -> None:
        self.value = value
        self.distance = distance
        self.back = back
        self.coord = coord

    def children(self) -> tuple[tuple[str, Node], ...]:
        """The variable and the distance."""
        return (("value", self.value), ("distance", self.distance))

    def __iter__(self) -> Iterator[Node]:
        yield self.value
        yield self.distance


class AtomicUpdate(Node):
    """An update of an element that no other item's update comes between, computed in a type: no value of its own.

    `element` is the type of the array's elements; where it `is_local` they are in the memory of the group.
    """

    __slots__ = ("__weakref__", "coord", "element", "is_local", "operation", "target", "type", "value")
    attr_names = ("operation", "type", "element", "is_local")

    def __init__(
        self,
        operation: AtomicOp,
        kind: str,
        target: Node,
        value: Node,
        *,
        element: str,
        is_local: bool = False,
        coord: Any = None,
    ) -> None:
        self.is_local = is_local
        self.operation = operation
        self.type = kind
        self.target = target
        self.value = value
        self.element = element
        self.coord = coord

    @property
    def seen(self) -> str:
        """The type that memory is seen as: that of the element, or one as wide in which integers do not overflow."""
        return self.element if self.element in {"float", "double"} else self.type

    def children(self) -> tuple[tuple[str, Node], ...]:
        """The element and the value."""
        return (("target", self.target), ("value", self.value))

    def __iter__(self) -> Iterator[Node]:
        yield self.target
        yield self.value


class VectorOperation(Node):
    """An operation on vectors of `width` elements of a type; `called` is the C function of a `CALL`."""

    __slots__ = ("__weakref__", "called", "coord", "operands", "operation", "type", "width")
    attr_names = ("operation", "type", "width", "called")

    def __init__(self, operation: VectorOp, kind: str, width: int, *operands: Node, called: str = "") -> None:
        self.operation = operation
        self.type = kind
        self.width = width
        self.operands = list(operands)
        self.called = called
        self.coord = None

    def children(self) -> tuple[tuple[str, Node], ...]:
        """The operands."""
        return tuple((f"operands[{k}]", operand) for k, operand in enumerate(self.operands))

    def __iter__(self) -> Iterator[Node]:
        yield from self.operands


@dataclass(frozen=True, slots=True)
class DeviceKernel:
    """The kernel of a plan as a device tree; `names` are those of the plan, which no macro can be meant by."""

    plan: KernelPlan
    body: Compound
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class DeviceFeatures:
    """What lowering asks of a language.

    `warp` is the number of items that exchange values in registers, 0 for none; `item` and `group` are words for
    comments; `divides_to_unroll` says that compilers unroll loops with strides known at run time
    unless they are told not to, for which each item divides.
    """

    warp: int
    item: str
    group: str
    divides_to_unroll: bool


def linear(first: Node, sizes: list[Node | int], numbers: list[Node]) -> Node:
    """The number of a place that is `first` along the slowest dimension, and `numbers` along others of these sizes.

    The dimensions come slowest first.
    """
    result = first
    for size, number in zip(sizes, numbers, strict=True):
        result = c_ast.BinaryOp("+", c_ast.BinaryOp("*", result, expression(size)), number)
    return result
