"""What transformations that make kernels have in common, whatever the language: arguments, and how they are used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace

from orio_py.ctree.build import block, flat_block
from orio_py.ctree.loops import nest as perfect_nest
from orio_py.ctree.loops import outermost_loops
from orio_py.ctree.nodes import Node
from orio_py.kernel.backend import Backend
from orio_py.kernel.call import call_of, numbered
from orio_py.kernel.plan import Distribution, Layout, Layouts
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.final_index import with_final_indices
from orio_py.transformation.forms import loop_view
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.device_nest import require_any_order
from orio_py.transformation.offload.offload import Offloaded, offloaded
from orio_py.transformation.offload.register_tile import offloaded_in_registers, require_register_tile
from orio_py.transformation.offload.rows import require_row
from orio_py.transformation.offload.scan import in_tiles, scan_kernels
from orio_py.transformation.offload.step_arguments import Counts
from orio_py.transformation.offload.wide_updates import wide_updates
from orio_py.transformation.parallel.annotate import chosen_loops
from orio_py.transformation.simpler.comparisons import with_comparisons
from orio_py.transformation.sites import Choice, rewrite_where
from orio_py.transformation.tiling.permute import Permut

MOST_STREAMS = 32
"""Queues that a kernel can be spread over."""


def never(node: Node) -> bool:
    """The choice of no loop."""
    del node
    return False


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
    rowThreads: int = 1
    march: int = 0
    cacheUpdates: bool = False
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

    def check_where(self, node: Node, context: Context, chosen: Choice) -> bool:
        """The iterations of the loops that `chosen` names may run in any order; whether they update elements in single steps.

        Raises Refusal: ORIO-T020 to T028, T040, T041, T090, T120.
        """
        question = self.arguments(node).question
        found: list[bool] = []

        def look(loop: Node, inner: Context) -> Node:
            found.append(require_any_order(with_comparisons(loop, inner), inner, question, with_updates=True))
            return loop

        rewrite_where(node, chosen, look, context)
        return any(found)

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
            row=self.rowThreads if self.rowThreads > 1 else None,
            march=self.march or None,
            copies=self.cacheUpdates,
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
        for name, value in (
            ("coarsen", self.coarsen),
            ("streamCount", self.streamCount),
            ("rowThreads", self.rowThreads),
        ):
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
    require_row(arguments, node)
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
        return _kernel_of_any_loop(loop, context, arguments)
    options = replace(arguments.options, streams=1)
    plain = OffloadArguments(
        arguments.what,
        arguments.backend,
        options=options,
        force=arguments.force,
        trusted=arguments.trusted,
        model=arguments.model,
    )
    untiled = replace(arguments, stage=False, tile=None, block=None, registers=None, march=None)
    for given in (arguments, untiled, plain):
        with suppress(Refusal):
            return offloaded(loop, context, given)
    return None


def _kernel_of_any_loop(loop: Node, context: Context, arguments: OffloadArguments) -> Offloaded:
    """The kernel of a nest; where iterations of its outermost loop depend on each other, that of the nest with an inner loop
    outermost whose iterations do not, which is told.

        for (i = 1; i < n; i++)             for (j = 0; j < m; j++)
          for (j = 0; j < m; j++)             for (i = 1; i < n; i++)
            a[i][j] += a[i - 1][j];             a[i][j] += a[i - 1][j];

    Raises Refusal as `offload` does.
    """
    try:
        return offloaded_in_registers(loop, context, arguments)
    except Refusal as refusal:
        if refusal.diagnostics[0].code != "ORIO-T040" or arguments.nd != 1:
            raise
        outer, *inner = (one.index for one in perfect_nest(loop_view(loop, arguments.what, context)))
        for place, index in enumerate(inner):
            order = (index, outer, *inner[:place])
            with suppress(Refusal):
                turned = Permut(tuple(LoopName((name,)) for name in order)).apply(loop, context)
                found = offloaded_in_registers(turned, context, arguments)
                context.idle.add(
                    f"{arguments.what} shares out the iterations of {index}; those of {outer} depend on each other"
                )
                return found
        raise


def _with_kernels(
    node: Node, chosen: Choice, is_left_over: Choice, arguments: OffloadArguments, context: Context
) -> Node:
    def change(loop: Node, inner: Context) -> Node:
        compared, spare = with_comparisons(loop, inner), is_left_over(loop)
        scan = None if spare else scan_kernels(compared, inner, arguments)
        if scan is not None:
            tiled, kernels = scan
            calls = [_called(kernel, arguments) for kernel in kernels]
            return in_tiles(tiled, calls, loop, arguments.what)
        try:
            found = _kernel(compared, inner, arguments, spare=spare)
        except Refusal as refusal:
            return _with_wide_updates(loop, compared, inner, arguments, refusal)
        return loop if found is None else _called(found, arguments)

    return rewrite_where(node, chosen, change, context)


def _with_wide_updates(
    loop: Node, compared: Node, context: Context, arguments: OffloadArguments, refusal: Refusal
) -> Node:
    """The call of the kernel of a loop that was refused, with wide elements for short ones.  Raises Refusal: the given one."""
    wide = wide_updates(compared, context, arguments)
    if wide is None:
        raise refusal
    try:
        kernel = _kernel_of_any_loop(wide.loop, wide.context, arguments)
    except Refusal:
        raise refusal from None
    return wide.around(_called(kernel, arguments), loop)


def with_kernel(loop: Node, context: Context, arguments: OffloadArguments) -> Node:
    """The call of the kernel that a loop nest becomes.  Raises Refusal as `offload` does."""
    return _called(offloaded_in_registers(with_comparisons(loop, context), context, arguments), arguments)


def _called(found: Offloaded, arguments: OffloadArguments) -> Node:
    """The call of a kernel, behind what finds out which elements it uses, and assignments of the indices' last values where
    they are read later.
    """
    call = call_of(found.plan)
    settled = with_final_indices(call, found.loops, arguments.what, found.plain.context)
    if not found.before:
        return call if settled is call else flat_block(found.plain.restored(settled))
    rest = call if settled is call else found.plain.restored(settled)
    return block(block(*found.before, rest))
