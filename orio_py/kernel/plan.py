"""KernelPlan: what a loop nest becomes on a device, before any language is chosen.

The loops of the nest that are mapped become axes of the index space; what is left is the body of one
iteration.  Every array is a flat buffer and every subscript in the body is flat already, so that a renderer
only adds its language's spelling of indices, local memory and barriers.

Sources: N. Chaimov, B. Norris and A. Malony, "Toward Multi-target Autotuning for Accelerators" (sections III
and IV); The OpenCL Specification 1.2, section 3.2 (execution model); CUDA C++ Programming Guide, section 2.2
(thread hierarchy).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orio_py.ctree.nodes import Node
from orio_py.kernel.march import MarchPlan
from orio_py.kernel.records import RecordPlan


class Direction(StrEnum):
    """Which way a buffer is copied around the kernel."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


class Distribution(StrEnum):
    """How the iterations that one work item does are spread over an axis, if it does several.

    `STRIDED`: every `total items`-th (neighbouring items touch neighbouring elements); `BLOCKED`: a
    contiguous piece.
    """

    STRIDED = "strided"
    BLOCKED = "blocked"


class Layout(StrEnum):
    """How a device holds the elements of arrays.

    `ROW`: as C does; `COLUMN`: arrays of two dimensions column by column; `SOA`: arrays of structures member by
    member, a structure of arrays.
    """

    ROW = "row"
    COLUMN = "column"
    SOA = "soa"


@dataclass(frozen=True, slots=True)
class Layouts:
    """How a device holds each array: those in `named` as it says there, all others by `rest`."""

    rest: Layout = Layout.ROW
    named: tuple[tuple[str, Layout], ...] = ()

    @classmethod
    def given(cls, layout: Layout | Layouts) -> Layouts:
        """One layout for all arrays, or layouts as they are."""
        return layout if isinstance(layout, Layouts) else cls(layout)

    def of(self, array: str) -> Layout:
        """The layout of one array."""
        return dict(self.named).get(array, self.rest)


@dataclass(frozen=True, slots=True)
class Axis:
    """One mapped loop: `index` runs from `start` by `stride` for `trips` iterations.

    `start` and `trips` are C expressions over scalars that the nest does not change, for the host to
    evaluate; there is no iteration where `trips` is 0 or less.  `stride` is a non-zero number.
    """

    index: str
    type: str
    start: Node
    trips: Node
    stride: int = 1

    @property
    def upward(self) -> bool:
        """Whether the index grows."""
        return self.stride > 0


@dataclass(frozen=True, slots=True)
class SlicePlan:
    """What one iteration of the outermost axis touches of a buffer, in elements.

    Iteration number `t`, from 0 on, touches no others than the `reach` elements from number `low + step * t`
    of the buffer on; some of these may lie outside of it.  All three are C expressions for the host, in `long`.
    """

    step: Node
    low: Node
    reach: Node


@dataclass(frozen=True, slots=True)
class BufferPlan:
    """One array: `count` elements of `type` from the host's `address` on.

    `address` is the host's expression of the address of the first element that the buffer holds, `count` one
    over scalars; where it is 0 or less, nothing is accessed.  In the body the buffer goes by the array's own
    `name` with one flat subscript, 0 for `address`.  `out` says that the kernel writes every element and reads
    none, so that nothing has to be copied to the device.

    `rows` names a scalar of the kernel: the device then holds the elements of that many rows column by column,
    and the host transposes them as it copies.  `slices` is known only where it is needed, for launches in several
    queues.  The elements are structures where there is a `record`; `type` is then the structure's.
    """

    name: str
    type: str
    address: Node
    count: Node
    direction: Direction
    rows: str | None = None
    slices: SlicePlan | None = None
    record: RecordPlan | None = None


@dataclass(frozen=True, slots=True)
class ScalarPlan:
    """A scalar that the kernel reads under `name` and nobody changes meanwhile.

    `value` is the host's expression of it, `parameter` a name that a host function can give it: that of the
    variable, or a new one where a macro or no name at all stands for the value.
    """

    name: str
    type: str
    value: Node
    parameter: str


@dataclass(frozen=True, slots=True)
class ReductionPlan:
    """A scalar that all iterations combine with `operator`: + * min max && || & | ^.

    Each item starts at `identity` and runs the body as it stands; groups combine their items in a tree,
    the host combines the groups in their order and the scalar's value before the loop first, so that the
    result is the same in every run with the same launch.
    """

    name: str
    type: str
    operator: str
    identity: str


@dataclass(frozen=True, slots=True)
class StagedTile:
    """A piece of an array that a group copies to local memory before it works on it, or writes there first.

    In the body the piece goes by `name` with one flat subscript, which tells the item's place in its group
    along an axis by `orio_place_INDEX`.  `elements` is its number of elements; `load` are the statements by
    which the items of a group fill it together, with the number of the group's first iteration of an axis in
    `orio_begin_INDEX` and the item's own number in its group, over all dimensions, in `orio_item`.
    `block` is the place in `KernelPlan.blocks` of the loop for each of whose blocks it is filled, None where
    it is filled once in each step of the group.  `whole` are statements that do the same where no iteration of the
    step, or of the block, is missing, None where there are no better ones.  `store` are those by which the items
    write the piece to the array when all have done their iterations of a step.
    """

    name: str
    type: str
    array: str
    elements: int
    load: tuple[Node, ...]
    block: int | None = None
    whole: tuple[Node, ...] | None = None
    store: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """A loop inside an iteration that all items of a group run together, `size` iterations at a time.

    `axis` is the loop as its header has it; its start and number of iterations are steady in the kernel.  The
    statements from `begin` to before `end` of the plan's body run one block: `orio_length_INDEX` iterations
    from number `orio_begin_INDEX` on, which they count in `orio_place_INDEX`.
    """

    axis: Axis
    size: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class UpdateCopy:
    """A buffer of `elements` that items update, of which each group has a copy in local memory meanwhile.

    The copy begins with what changes nothing by `operator`, + * min max & | ^, and is combined with the buffer in the end.
    """

    name: str
    type: str
    operator: str
    elements: int


@dataclass(frozen=True, slots=True)
class LanePlan:
    """How the body does neighbouring iterations of the fastest axis at once, as the lanes of vectors.

    `varying` are the index and the scalars that have a value for each lane, sorted.  A subscript that names one
    of them stands for as many neighbouring elements as there are lanes, any other for one element.  Where
    `backwards`, the elements of later iterations lie before those of earlier ones.
    """

    varying: tuple[str, ...]
    backwards: bool = False


class Role(StrEnum):
    """What of a launch has one entry for each iteration of an axis: its grid of groups, or each group."""

    GROUPS = "groups"
    ITEMS = "items"


@dataclass(frozen=True, slots=True)
class AxisBinding:
    """A dimension of its own for an axis, of the grid or of each group; dimension 0 is the fastest."""

    role: Role
    dimension: int


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """How a kernel is launched: entry k of each tuple belongs to `KernelPlan.axes[-1 - k]`, the fastest axis first.

    So neighbouring items (threads) run neighbouring iterations of the innermost mapped loop.  With `bindings`, one
    for each axis of the plan in its order, an axis is not spread over the grid and its blocks alike: each of its
    iterations belongs to a block, or to an item of each block, which do several where there are more; `grid_size` and
    `tile` are None then and `vector` is 1.
    """

    block_size: tuple[int, ...]
    """Items of a work group (threads of a block), per axis; with `bindings` per dimension of the launch."""

    grid_size: tuple[int, ...] | None = None
    """Work groups (blocks) per axis; None: as many as cover the axis."""

    tile: tuple[int, ...] | None = None
    """Neighbouring iterations that a group does in one step, multiples of `block_size`; None: one for each item."""

    vector: int = 1
    """Neighbouring iterations of the fastest axis that an item does at once."""

    driver_chosen: bool = False
    """The device's driver puts the items into groups; `block_size` is 1 then, `grid_size` and `tile` are None."""

    most_groups: tuple[int, ...] | None = None
    """The largest grid that the language can launch, per axis; None where it has no limits.

    Groups then do several steps along all axes but the fastest, should it take more.
    """

    bindings: tuple[AxisBinding, ...] = ()

    register_tile: tuple[int, ...] | None = None
    """Iterations per axis that an item does at once, side by side: `tile` has as many for each item; None: one after
    the other."""

    @property
    def covers(self) -> bool:
        """Whether the host finds out how many groups cover the axes."""
        return self.grid_size is None and not self.bindings

    @property
    def step(self) -> tuple[int, ...]:
        """The iterations per axis that a group does in one step."""
        return self.tile or (self.block_size[0] * self.vector, *self.block_size[1:])


@dataclass(frozen=True, slots=True)
class CudaOptions:
    """What only CUDA has.

    `least_blocks` are the blocks that a multiprocessor should hold at least, `max_registers` the most registers of
    a thread; a kernel has one of the two.  `carveout` is the share of a multiprocessor's memory for shared memory,
    in percent; the rest is first-level cache.  `pins` says that copies go through pinned memory of the host.
    `architecture` is the one whose limits the plan keeps, '' where none was named.  Kernels of one `scope`, which the region runs one after the
    other, share their arrays on the device.
    """

    least_blocks: int | None = None
    max_registers: int | None = None
    carveout: int | None = None
    pins: bool = False
    architecture: str = ""
    scope: int | None = None


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """What a kernel asks of the device's compiler and queue; a renderer takes what its language has.

    `streams` is the number of queues over which slices of the outermost axis are spread; `platform` and
    `device` name or number the device, None for the first that serves.  `on_device` says that there is a function for
    arrays that are on the device already.
    """

    size_hint: bool = False
    vector_hint: int = 0
    build_flags: str = ""
    streams: int = 1
    platform: int | str | None = None
    device: int | str | None = None
    cuda: CudaOptions = CudaOptions()
    on_device: bool = False


@dataclass(frozen=True, slots=True)
class ResidentArray:
    """An array that stays on the device: from the first to the last element of all `pieces` that kernels use.

    `comes_in` and `goes_out` say whether it is copied to the device before, and back afterwards.
    """

    name: str
    pieces: tuple[BufferPlan, ...]
    comes_in: bool
    goes_out: bool


@dataclass(frozen=True, slots=True)
class DataPlan:
    """The arrays that stay on the device while code runs that calls some kernels."""

    arrays: tuple[ResidentArray, ...]


@dataclass(frozen=True, slots=True)
class SequencePlan:
    """The kernels that a region is, by name and one after the other, and the arrays that they use, in the function's order."""

    kernels: tuple[str, ...]
    arrays: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """One loop nest as a kernel named `name`.

    `axes` are the mapped loops, outermost first, at most three, or six with placements of their own; `body` the statements of one iteration, in
    C but for the flat subscripts; `private` the scalars that each item has for itself, as (name, type).
    `blocks` are loops in the body, in its order, before and behind which all items of a group wait.
    One item does `coarsen` iterations at least of the innermost axis, `spread` over it, or vectors of
    `launch.vector` iterations as `lanes` says; what is left at the end is done one by one.  `unroll` is the
    factor of the pragma before the loop over them, None for none.  `language` is the name of its backend.
    `atomics` are buffers that nothing but updates use, each of which is one step of the device:
    `a[k] OP= e`, `a[k] = e < a[k] ? e : a[k]`, or `a[k] = fmin(a[k], e)`; of those in `copies` each group has its own.
    With a `march` a group does its iterations of the slowest axis in their order; the tiles of its rings have no other loads.
    Where it is `in_rows` an iteration belongs to a group, whose items do it together: its statements are those of
    `kernel.phases`, too.
    `data` are the arrays that stay on the device around code whose first kernel this is, None where there are none;
    `sequence` are all kernels of a region that is nothing else, in the plan of the first of them.
    """

    name: str
    axes: tuple[Axis, ...]
    body: tuple[Node, ...]
    buffers: tuple[BufferPlan, ...]
    scalars: tuple[ScalarPlan, ...]
    private: tuple[tuple[str, str], ...]
    reductions: tuple[ReductionPlan, ...]
    launch: LaunchShape
    language: str
    staged: tuple[StagedTile, ...] = ()
    blocks: tuple[BlockPlan, ...] = ()
    spread: Distribution = Distribution.STRIDED
    coarsen: int = 1
    unroll: int | None = None
    options: DeviceOptions = DeviceOptions()
    lanes: LanePlan | None = None
    data: DataPlan | None = None
    sequence: SequencePlan | None = None
    atomics: tuple[str, ...] = ()
    copies: tuple[UpdateCopy, ...] = ()
    in_rows: bool = False
    march: MarchPlan | None = None
