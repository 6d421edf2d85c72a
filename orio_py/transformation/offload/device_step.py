"""What transformations that make kernels have in common, whatever the language: arguments, and how they are used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NoReturn

from orio_py.core.expr import Value, show
from orio_py.ctree.build import flat_block
from orio_py.ctree.loops import outermost_loops
from orio_py.ctree.nodes import Node
from orio_py.kernel.backend import Backend
from orio_py.kernel.call import call_of, numbered
from orio_py.kernel.plan import Distribution, Layout, Layouts
from orio_py.transformation.arguments import boolean, optional_text, positive_int, text, wrong
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.entry import ArgumentSpec
from orio_py.transformation.final_index import with_final_indices
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.device_nest import require_any_order
from orio_py.transformation.offload.offload import Offloaded, offloaded
from orio_py.transformation.offload.register_tile import offloaded_in_registers, require_register_tile
from orio_py.transformation.parallel.annotate import chosen_loops
from orio_py.transformation.simpler.comparisons import with_comparisons
from orio_py.transformation.sites import Choice, rewrite_where

MOST_STREAMS = 32
"""Queues that a kernel can be spread over."""

_LAYOUTS = "'row', 'column', 'aos' or 'soa', or a list such as ['p:soa', 'A:column']"
_WIDTHS = (1, 2, 4, 8, 16)


def never(node: Node) -> bool:
    """The choice of no loop."""
    del node
    return False


Counts = tuple[int, ...] | None
"""One number per dimension, fastest first; None for the default."""


@dataclass(frozen=True, slots=True)
class DeviceStep(ABC):
    """Run the loops over `loop`, or the outermost ones, as kernels of a device.

    `nd` says how many loops of a nest become dimensions of the index space, or which.  `trusted` leaves the
    dependence test out, for loops that passed it before they were unrolled.
    """

    loop: str | None = None
    nd: int | tuple[str, ...] = 1
    coarsen: int = 1
    spread: Distribution = Distribution.STRIDED
    unrollInner: int | None = None
    streamCount: int = 1
    cacheBlocks: bool = False
    localTile: Counts = None
    registerTile: Counts = None
    vectorWidth: int = 1
    layout: Layout | Layouts = Layout.ROW
    force: bool = False
    trusted: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """A new tree; `node` is not modified.

        Raises Refusal: ORIO-T011, T015, T020 to T029, T040, T041, T090, T120 to T127, T129, T130, T140 to T144.
        """
        what = self.language_arguments(node).what
        return self.apply_where(node, context, chosen_loops(node, self.loop, outermost_loops(node), what))

    def apply_where(self, node: Node, context: Context, chosen: Choice, is_left_over: Choice = never) -> Node:
        """The tree with kernels for the loops that `chosen` names.  Raises Refusal like `apply`.

        Loops that `is_left_over` names are the iterations that unrolling has left over.  They get a kernel with
        the same arguments, or with a plain launch, or stay on the host.
        """
        result = _with_kernels(node, chosen, is_left_over, self.arguments(node), context)
        return numbered(result, context.label)

    def check_where(self, node: Node, context: Context, chosen: Choice) -> None:
        """The iterations of the loops that `chosen` names may run in any order.

        Raises Refusal: ORIO-T020 to T028, T040, T041, T090, T120.
        """
        arguments = self.arguments(node)

        def look(loop: Node, inner: Context) -> Node:
            require_any_order(with_comparisons(loop, inner), inner, arguments.question)
            return loop

        rewrite_where(node, chosen, look, context)

    @property
    def takes_register_tiles(self) -> bool:
        """Whether items can do iterations side by side: nothing else says which ones they do."""
        others = self.coarsen > 1 or self.vectorWidth > 1 or self.spread is Distribution.BLOCKED
        return self.registerTile is None and self.localTile is None and self.knows_groups and not others

    @property
    def knows_groups(self) -> bool:
        """Whether the size of groups is known."""
        return True

    @property
    @abstractmethod
    def backend(self) -> Backend:
        """The language of the kernels."""

    @abstractmethod
    def language_arguments(self, node: Node) -> OffloadArguments:
        """What the language adds: its name, the launch shape, options.  Raises Refusal."""

    def arguments(self, node: Node) -> OffloadArguments:
        """The arguments in `offload`'s terms.  Raises Refusal: ORIO-T011, T127, T129, T130, T141."""
        tile, block = self._tile()
        arguments = self.language_arguments(node)
        arguments = replace(
            arguments,
            # A language may have another name for the dimensions.
            nd=self.nd if arguments.nd == 1 else arguments.nd,
            coarsen=self.coarsen,
            spread=self.spread,
            unroll=self.unrollInner,
            stage=self.cacheBlocks,
            tile=tile,
            block=block,
            registers=self.registerTile,
            vector=self.vectorWidth,
            layout=self.layout,
            options=replace(arguments.options, streams=self.streamCount),
            force=self.force,
            trusted=self.trusted,
        )
        self._require_counts(node)
        _require_compatible(arguments, node)
        return arguments

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


def _require_compatible(arguments: OffloadArguments, node: Node) -> None:
    """Arguments go with each other.  Raises Refusal: ORIO-T127, T130, T141."""
    words = arguments.words
    require_register_tile(arguments, node)
    if (arguments.tile or arguments.block) and not arguments.stage:
        refuse(
            "ORIO-T127",
            f"`localTile` is the size of tiles in {words.memory}: it needs `cacheBlocks=True`",
            node,
            argument="localTile",
        )
    if arguments.stage and arguments.spread is Distribution.BLOCKED:
        refuse(
            "ORIO-T130",
            "`cacheBlocks` needs groups whose items do neighbouring iterations: leave `spread` 'strided'",
            node,
            argument="cacheBlocks",
        )
    if arguments.stage and arguments.vector > 1:
        refuse(
            "ORIO-T141",
            "`vectorWidth` does not go with `cacheBlocks`: items read single elements of tiles",
            node,
            argument="vectorWidth",
        )
    if arguments.spread is Distribution.BLOCKED and arguments.coarsen == 1 and arguments.groups is None:
        refuse(
            "ORIO-T127",
            f"`spread='blocked'` needs items that do several iterations: give `coarsen` or `{words.groups}`",
            node,
            argument="spread",
        )


def _kernel(loop: Node, context: Context, arguments: OffloadArguments, *, spare: bool) -> Offloaded | None:
    """A loop as a kernel; None for a spare one that cannot be one."""
    if not spare:
        return offloaded_in_registers(loop, context, arguments)
    options = replace(arguments.options, streams=1)
    plain = OffloadArguments(
        arguments.what,
        arguments.backend,
        options=options,
        force=arguments.force,
        trusted=arguments.trusted,
        model=arguments.model,
    )
    untiled = replace(arguments, stage=False, tile=None, block=None, registers=None)
    for given in (arguments, untiled, plain):
        with suppress(Refusal):
            return offloaded(loop, context, given)
    return None


def _with_kernels(
    node: Node, chosen: Choice, is_left_over: Choice, arguments: OffloadArguments, context: Context
) -> Node:
    def change(loop: Node, inner: Context) -> Node:
        found = _kernel(with_comparisons(loop, inner), inner, arguments, spare=is_left_over(loop))
        return loop if found is None else _called(found, arguments)

    return rewrite_where(node, chosen, change, context)


def with_kernel(loop: Node, context: Context, arguments: OffloadArguments) -> Node:
    """The call of the kernel that a loop nest becomes.  Raises Refusal as `offload` does."""
    return _called(offloaded_in_registers(with_comparisons(loop, context), context, arguments), arguments)


def _called(found: Offloaded, arguments: OffloadArguments) -> Node:
    """The call of a kernel, and assignments of the indices' last values where they are read later."""
    call = call_of(found.plan)
    settled = with_final_indices(call, found.loops, arguments.what, found.plain.context)
    return call if settled is call else flat_block(found.plain.restored(settled))


def counts(value: Value, name: str) -> Counts:
    """A number, or one per dimension.  Raises Refusal: ORIO-T010, T011."""
    return _listed(value, name, 3, "an integer, or a list of one for each of up to 3 dimensions")


def as_needed(value: Value, name: str) -> Counts:
    """As `counts`; 0 stands for as many as are needed, so that a tuning parameter can.  Raises as it does."""
    return None if value == 0 and not isinstance(value, bool) else counts(value, name)


def optional_factor(value: Value, name: str) -> int | None:
    """A number from 1 on, or none.  Raises Refusal: ORIO-T010, T011."""
    return None if value is None else positive_int(value, name)


def one_of(value: Value, name: str, allowed: tuple[int, ...], wanted: str) -> int:
    """One of some numbers.  Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        refuse("ORIO-T010", f"`{name}` is {show(value)}; it must be {wanted}", None, argument=name)
    return value


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


def _dimensions(value: Value, name: str) -> int | tuple[str, ...]:
    """A number of loops, or their indices.  Raises Refusal: ORIO-T010, T011."""
    if isinstance(value, (list, tuple)) and value:
        return tuple(text(item, name) for item in value)
    return positive_int(value, name)


def _spread(value: Value, name: str) -> Distribution:
    """Raises Refusal: ORIO-T010."""
    words = text(value, name)
    if words not in tuple(Distribution):
        wrong(name, "'strided' or 'blocked'", value)
    return Distribution(words)


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


def excluded(one: str, two: str, why: str, node: Node) -> NoReturn:
    """Raises Refusal: ORIO-T144."""
    refuse("ORIO-T144", f"`{one}` and `{two}` are both given, and {why}", node, argument=two)


SHAPE = "integer, or list of one per dimension, fastest first"

LOOP = ArgumentSpec("loop", "index of a loop", "the loop; by default the outermost ones", optional_text, "''")
ND = ArgumentSpec(
    "nd",
    "1, 2 or 3, or a list of loop indices, slowest first",
    "which perfectly nested loops become dimensions of the index space",
    _dimensions,
    "1",
)
SPREAD = ArgumentSpec(
    "spread",
    "'strided' or 'blocked'",
    "how an item's iterations lie: far apart, or next to each other",
    _spread,
    "'strided'",
)
UNROLL = ArgumentSpec(
    "unrollInner",
    "integer, at least 1",
    "`#pragma unroll` before the kernel's innermost loops",
    optional_factor,
    "off",
)
STREAMS = ArgumentSpec(
    "streamCount",
    "integer from 1 to 32",
    "number of queues, each with a slice of the outermost loop",
    positive_int,
    "1",
)
TILE = ArgumentSpec(
    "localTile",
    "integer, or list of one per dimension, fastest first, and one for a loop inside",
    "iterations for which a group fills its tiles at once, multiples of its items",
    _tile_counts,
    "one per item",
)
REGISTERS = ArgumentSpec(
    "registerTile",
    SHAPE,
    "iterations that an item does side by side, with their values in registers",
    as_needed,
    "0, for one",
)
VECTOR = ArgumentSpec(
    "vectorWidth",
    "1, 2, 4, 8 or 16",
    "iterations of the fastest dimension that an item does at once, in vectors",
    _vector_width,
    "1",
)
LAYOUT = ArgumentSpec(
    "layout",
    _LAYOUTS,
    "how the device holds matrices and arrays of structures; the host transposes them",
    _layout,
    "'row'",
)


def coarsen_spec(item: str) -> ArgumentSpec:
    """`coarsen`, in the language's word for an item."""
    what = f"iterations of the fastest dimension for each {item}"
    return ArgumentSpec("coarsen", "integer, at least 1", what, positive_int, "1")


def stage_spec(items: str, group: str, memory: str) -> ArgumentSpec:
    """`cacheBlocks`, in the language's words."""
    what = f"keep what several {items} of a {group} read in {memory}"
    return ArgumentSpec("cacheBlocks", "True or False", what, boolean, "False")
