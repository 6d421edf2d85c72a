"""OpenCL: run a loop nest as a kernel on a device, any device that an OpenCL driver offers.

    for (i = 0; i < n; i++)             {
      y[i] += a * x[i];                   void orio_opencl_axpy_0(double *y, const double *x, …);
                                          orio_opencl_axpy_0(y, x, n, n, a, n);
                                        }

The function that is called copies arrays to the device and back and starts the kernel; it is generated with
the kernel's text from the plan that the call carries.  Iterations of the mapped loops run at the same time, so
that they must not depend on each other; sums and the like are combined from partial results.

Source: N. Chaimov, B. Norris and A. Malony, "Toward Multi-target Autotuning for Accelerators", ICPADS 2014,
section III; for the parameters' names also Orio's CUDA generator: A. Mametjanov et al., "Autotuning stencil-based
computations on GPUs", CLUSTER 2012.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from orio_py.core.expr import Value, show
from orio_py.ctree.build import flat_block
from orio_py.ctree.loops import outermost_loops
from orio_py.ctree.nodes import Node
from orio_py.transform.arguments import boolean, positive_int, text, wrong
from orio_py.transform.base import Context, Refusal, refuse
from orio_py.transform.entry import FORCE, ArgumentSpec, Entry
from orio_py.transform.final_index import with_final_indices
from orio_py.transform.offload.call import call_of, kernel_prefix, numbered
from orio_py.transform.offload.headers import with_comparisons
from orio_py.transform.offload.offload import OffloadArguments, Offloaded, offloaded, require_any_order
from orio_py.transform.offload.plan import DeviceOptions, Layout, Layouts, Spread
from orio_py.transform.parallel.annotate import chosen_loops
from orio_py.transform.parallel.parallelize import optional_loop
from orio_py.transform.sites import Choice, rewrite_where

_WHAT = "OpenCL"
MOST_STREAMS = 32
"""Queues that a kernel can be spread over."""

_LAYOUTS = "'row', 'column', 'aos' or 'soa', or a list such as ['p:soa', 'A:column']"
_VECTORS = (0, 2, 4, 8, 16)
_WIDTHS = (1, 2, 4, 8, 16)


def never(node: Node) -> bool:
    """The choice of no loop."""
    del node
    return False


Counts = tuple[int, ...] | None
"""One number per dimension, fastest first; None for the default."""


@dataclass(frozen=True, slots=True)
class OpenCL:
    """Run the loops over `loop`, or the outermost ones, as kernels of a device.

    `nd` says how many loops of a nest become dimensions of the index space, or which.  `work_groups` and
    `work_items` are the launch shape; `threadCount` and `blockCount` are CUDA's names for them.  `trusted`
    leaves the dependence test out, for loops that passed it before they were unrolled.
    """

    loop: str | None = None
    nd: int | tuple[str, ...] = 1
    workGroups: Counts = None
    workItemsPerGroup: Counts = None
    blockCount: Counts = None
    threadCount: Counts = None
    coarsen: int = 1
    spread: Spread = Spread.STRIDED
    unrollInner: int | None = None
    sizeHint: bool = False
    vecHint: int = 0
    clFlags: str = ""
    platform: int | str | None = None
    device: int | str | None = None
    streamCount: int = 1
    cacheBlocks: bool = False
    localTile: Counts = None
    vectorWidth: int = 1
    layout: Layout | Layouts = Layout.ROW
    force: bool = False
    trusted: bool = False

    def check(self, node: Node, context: Context) -> None:
        """Raises Refusal: ORIO-T011, T015, T020 to T029, T040, T041, T090, T120 to T127,
        T129, T130, T140 to T142.
        """
        self.apply(node, context)

    def apply(self, node: Node, context: Context) -> Node:
        """A new tree; `node` is not modified.  Raises Refusal like `check`."""
        return self.apply_where(node, context, chosen_loops(node, self.loop, outermost_loops(node), _WHAT))

    def apply_where(self, node: Node, context: Context, chosen: Choice, is_left_over: Choice = never) -> Node:
        """The tree with kernels for the loops that `chosen` names.  Raises Refusal like `check`.

        Loops that `is_left_over` names are the iterations that unrolling has left over.  They get a kernel with
        the same arguments, or with a plain launch, or stay on the host.
        """
        arguments = self._arguments(node)
        result = self._rewritten(node, chosen, is_left_over, arguments, context)
        return numbered(result, kernel_prefix(context.label))

    def check_where(self, node: Node, context: Context, chosen: Choice) -> None:
        """The iterations of the loops that `chosen` names may run in any order.

        Raises Refusal: ORIO-T020 to T028, T040, T041, T090, T120.
        """
        arguments = self._arguments(node)

        def look(loop: Node, inner: Context) -> Node:
            require_any_order(with_comparisons(loop, inner), inner, arguments)
            return loop

        rewrite_where(node, chosen, look, context)

    def _kernel(
        self, loop: Node, context: Context, arguments: OffloadArguments, *, spare: bool
    ) -> Offloaded | None:
        """A loop as a kernel; None for a spare one that cannot be one."""
        if not spare:
            return offloaded(loop, context, arguments)
        options = replace(arguments.options, streams=1)
        plain = OffloadArguments(_WHAT, options=options, force=self.force, trusted=self.trusted)
        untiled = replace(arguments, stage=False, tile=None, block=None)
        for given in (arguments, untiled, plain):
            with suppress(Refusal):
                return offloaded(loop, context, given)
        return None

    def _rewritten(
        self,
        node: Node,
        chosen: Choice,
        is_left_over: Choice,
        arguments: OffloadArguments,
        context: Context,
    ) -> Node:
        def change(loop: Node, inner: Context) -> Node:
            found = self._kernel(with_comparisons(loop, inner), inner, arguments, spare=is_left_over(loop))
            if found is None:
                return loop
            call = call_of(found.plan)
            settled = with_final_indices(call, found.loops, _WHAT, found.plain.context)
            return call if settled is call else flat_block(found.plain.restored(settled))

        return rewrite_where(node, chosen, change, context)

    def _arguments(self, node: Node) -> OffloadArguments:
        """The arguments in `offload`'s terms.  Raises Refusal: ORIO-T011, T127, T129, T130."""
        self._require_counts(node)
        if self.localTile is not None and not self.cacheBlocks:
            refuse(
                "ORIO-T127",
                "`localTile` is the size of tiles in local memory: it needs `cacheBlocks=True`",
                node,
                argument="localTile",
            )
        if self.cacheBlocks and self.spread is Spread.BLOCKED:
            refuse(
                "ORIO-T130",
                "`cacheBlocks` needs groups whose items do neighbouring iterations: leave `spread` 'strided'",
                node,
                argument="cacheBlocks",
            )
        if self.cacheBlocks and self.vectorWidth > 1:
            refuse(
                "ORIO-T141",
                "`vectorWidth` does not go with `cacheBlocks`: items read single elements of tiles",
                node,
                argument="vectorWidth",
            )
        if self.spread is Spread.BLOCKED and self.coarsen == 1 and self._groups(node) is None:
            refuse(
                "ORIO-T127",
                "`spread='blocked'` needs items that do several iterations: give `coarsen` or `workGroups`",
                node,
                argument="spread",
            )
        tile, block = self._tile()
        options = DeviceOptions(
            self.sizeHint, self.vecHint, self.clFlags, self.streamCount, self.platform, self.device
        )
        return OffloadArguments(
            _WHAT,
            nd=self.nd,
            items=self._one("workItemsPerGroup", "threadCount", node),
            groups=self._groups(node),
            coarsen=self.coarsen,
            spread=self.spread,
            unroll=self.unrollInner,
            stage=self.cacheBlocks,
            tile=tile,
            block=block,
            vector=self.vectorWidth,
            layout=self.layout,
            options=options,
            force=self.force,
            trusted=self.trusted,
        )

    def _require_counts(self, node: Node) -> None:
        """Numbers that may be given in Python are within their limits.  Raises Refusal: ORIO-T011."""
        for name, value in (("coarsen", self.coarsen), ("streamCount", self.streamCount)):
            if value < 1:
                refuse("ORIO-T011", f"`{name}` is {value}; it must be at least 1", node, argument=name)
        if self.streamCount > MOST_STREAMS:
            message = f"`streamCount` is {self.streamCount}; it must be at most {MOST_STREAMS}"
            refuse("ORIO-T011", message, node, argument="streamCount")

    def _tile(self) -> tuple[Counts, int | None]:
        """The numbers of `localTile` for the mapped loops, and the one behind them for a loop inside."""
        dimensions = self.nd if isinstance(self.nd, int) else len(self.nd)
        if self.localTile is None or len(self.localTile) != dimensions + 1:
            return self.localTile, None
        return self.localTile[:-1], self.localTile[-1]

    def _groups(self, node: Node) -> Counts:
        return self._one("workGroups", "blockCount", node)

    def _one(self, name: str, other: str, node: Node) -> Counts:
        """The value of an argument that has two names.  Raises Refusal: ORIO-T129."""
        first: Counts = getattr(self, name)
        second: Counts = getattr(self, other)
        if first is not None and second is not None:
            refuse(
                "ORIO-T129",
                f"`{name}` and `{other}` are two names of one argument, and both are given",
                node,
                argument=other,
            )
        return first if second is None else second


def _counts(value: Value, name: str) -> Counts:
    """A number, or one per dimension.  Raises Refusal: ORIO-T010, T011."""
    return _listed(value, name, 3, "an integer, or a list of one for each of up to 3 dimensions")


def _tile_counts(value: Value, name: str) -> Counts:
    """A number, or one per dimension and one for a block.  Raises Refusal: ORIO-T010, T011."""
    wanted = "an integer, or a list of one for each of up to 3 dimensions and one for a loop inside"
    return _listed(value, name, 4, wanted)


def _listed(value: Value, name: str, most: int, wanted: str) -> Counts:
    if isinstance(value, (list, tuple)) and 1 <= len(value) <= most:
        return tuple(positive_int(item, name) for item in value)
    if isinstance(value, (list, tuple)):
        wrong(name, wanted, value)
    return (positive_int(value, name),)


def _as_needed(value: Value, name: str) -> Counts:
    """As `_counts`; 0 stands for as many as are needed, so that a tuning parameter can.  Raises as it does."""
    return None if value == 0 and not isinstance(value, bool) else _counts(value, name)


def _items(value: Value, name: str) -> Counts:
    """As `_counts`; 0 stands for what the driver likes.  Raises as it does."""
    return (0,) if value == 0 and not isinstance(value, bool) else _counts(value, name)


def _dimensions(value: Value, name: str) -> int | tuple[str, ...]:
    """A number of loops, or their indices.  Raises Refusal: ORIO-T010, T011."""
    if isinstance(value, (list, tuple)) and value:
        return tuple(text(item, name) for item in value)
    return positive_int(value, name)


def _spread(value: Value, name: str) -> Spread:
    """Raises Refusal: ORIO-T010."""
    words = text(value, name)
    if words not in tuple(Spread):
        wrong(name, "'strided' or 'blocked'", value)
    return Spread(words)


def _vector_length(value: Value, name: str) -> int:
    """Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or value not in _VECTORS:
        refuse(
            "ORIO-T010",
            f"`{name}` is {show(value)}; it must be 0, 2, 4, 8 or 16",
            None,
            argument=name,
        )
    assert isinstance(value, int)
    return value


def _vector_width(value: Value, name: str) -> int:
    """Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or not isinstance(value, int) or value not in _WIDTHS:
        wrong(name, "1, 2, 4, 8 or 16", value)
    return value


def _layout(value: Value, name: str) -> Layout | Layouts:
    """One layout for all arrays, or a list of `'array:layout'`.  Raises Refusal: ORIO-T010."""
    if isinstance(value, str) and ":" not in value:
        return _one_layout(value, value, name)
    entries = value if isinstance(value, (list, tuple)) else (value,)
    rest: list[Layout] = []
    named: dict[str, Layout] = {}
    for entry in entries:
        array, colon, words = entry.rpartition(":") if isinstance(entry, str) else ("", "", "")
        array = array.strip()
        if array in named or (colon and not array.isidentifier()) or (rest and not colon):
            wrong(name, _LAYOUTS, value)
        layout = _one_layout(words.strip(), value, name)
        if colon:
            named[array] = layout
        else:
            rest.append(layout)
    return Layouts(rest[0] if rest else Layout.ROW, tuple(named.items()))


def _one_layout(words: str, value: Value, name: str) -> Layout:
    if words == "aos":  # arrays of structures as C holds them
        return Layout.ROW
    if words not in tuple(Layout):
        wrong(name, _LAYOUTS, value)
    return Layout(words)


def _number_or_name(value: Value, name: str) -> int | str | None:
    """The number or a part of the name of a device or platform.  Raises Refusal: ORIO-T010."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        wrong(name, "a number from 0 on, or a part of the name", value)
    return value


def _optional_factor(value: Value, name: str) -> int | None:
    return None if value is None else positive_int(value, name)


_SHAPE = "integer, or list of one per dimension, fastest first"

ENTRY = Entry(
    "OpenCL",
    "run a loop nest as a kernel on an OpenCL device",
    (
        ArgumentSpec(
            "loop", "index of a loop", "the loop; by default the outermost ones", optional_loop, "''"
        ),
        ArgumentSpec(
            "nd",
            "1, 2 or 3, or a list of loop indices, slowest first",
            "which perfectly nested loops become dimensions of the index space",
            _dimensions,
            "1",
        ),
        ArgumentSpec(
            "workGroups",
            _SHAPE,
            "number of work groups; 0, the default: as many as are needed",
            _as_needed,
            "as needed",
        ),
        ArgumentSpec(
            "workItemsPerGroup", _SHAPE, "work items in a group; 0: as many as the driver likes", _items, "64"
        ),
        ArgumentSpec("blockCount", _SHAPE, "CUDA's name of `workGroups`", _as_needed, "as needed"),
        ArgumentSpec("threadCount", _SHAPE, "CUDA's name of `workItemsPerGroup`", _items, "64"),
        ArgumentSpec(
            "coarsen",
            "integer, at least 1",
            "iterations of the fastest dimension for each work item",
            positive_int,
            "1",
        ),
        ArgumentSpec(
            "spread",
            "'strided' or 'blocked'",
            "how an item's iterations lie: far apart, or next to each other",
            _spread,
            "'strided'",
        ),
        ArgumentSpec(
            "unrollInner",
            "integer, at least 1",
            "`#pragma unroll` before the kernel's innermost loops",
            _optional_factor,
            "off",
        ),
        ArgumentSpec("sizeHint", "True or False", "tell the compiler the group size", boolean, "False"),
        ArgumentSpec(
            "vecHint", "0, 2, 4, 8 or 16", "length for `vec_type_hint`; 0: none", _vector_length, "0"
        ),
        ArgumentSpec("clFlags", "string", "options for the device's compiler", text, "''"),
        ArgumentSpec(
            "platform",
            "number or part of the name",
            "the OpenCL platform",
            _number_or_name,
            "the first that serves",
        ),
        ArgumentSpec(
            "device",
            "number or part of the name",
            "the device of the platform",
            _number_or_name,
            "the first that serves",
        ),
        ArgumentSpec(
            "streamCount",
            "integer from 1 to 32",
            "number of queues, each with a slice of the outermost loop",
            positive_int,
            "1",
        ),
        ArgumentSpec(
            "cacheBlocks",
            "True or False",
            "keep what several items of a group read in local memory",
            boolean,
            "False",
        ),
        ArgumentSpec(
            "localTile",
            "integer, or list of one per dimension, fastest first, and one for a loop inside",
            "iterations for which a group fills its tiles at once, multiples of its items",
            _tile_counts,
            "one per item",
        ),
        ArgumentSpec(
            "vectorWidth",
            "1, 2, 4, 8 or 16",
            "iterations of the fastest dimension that an item does at once, in vectors",
            _vector_width,
            "1",
        ),
        ArgumentSpec(
            "layout",
            _LAYOUTS,
            "how the device holds matrices and arrays of structures; the host transposes them",
            _layout,
            "'row'",
        ),
        FORCE,
    ),
    OpenCL,
)
