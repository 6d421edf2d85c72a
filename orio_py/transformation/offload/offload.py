"""A loop nest as a kernel for a device: `offload` decides everything that no language has a say in.

    for (i = 0; i < n; i++) {           axis      i from 0, n iterations
      t = a * x[i];                     buffers   x: n doubles, in;  y: n doubles, inout
      y[i] += t;                        scalars   a
      s += t;                           private   t;   reduction  s by +
    }

Source: N. Chaimov, B. Norris and A. Malony, "Toward Multi-target Autotuning for Accelerators", ICPADS 2014,
sections III and IV; for the scalars Z. Li, "Array privatization for parallel execution of loops", ICS 1992.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from orio_py.ctree.loops import CanonicalLoop, innermost_loops
from orio_py.ctree.nodes import Node
from orio_py.kernel.plan import (
    Axis,
    BufferPlan,
    KernelPlan,
    LanePlan,
    LaunchShape,
    ReductionPlan,
)
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.offload.arguments import OffloadArguments, launch_shape
from orio_py.transformation.offload.atomics import in_one_form, require_single_updates, update_copies
from orio_py.transformation.offload.axis_mapping import axis
from orio_py.transformation.offload.blocks import in_blocks
from orio_py.transformation.offload.body import (
    body_items,
    flattened,
)
from orio_py.transformation.offload.buffers import Array
from orio_py.transformation.offload.device_nest import DeviceNest, device_nest
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.offload.kernel_arrays import KernelArrays
from orio_py.transformation.offload.limits import require_limits
from orio_py.transformation.offload.marching import require_march
from orio_py.transformation.offload.rows import in_rows
from orio_py.transformation.offload.scalars import scalars
from orio_py.transformation.offload.staging import StagedNest
from orio_py.transformation.offload.structures import Flattened
from orio_py.transformation.offload.vectors import lanes


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A plan, and the perfect nest that it stands for: its axes slowest first, and all its loops.

    The loops are those of the code without structures, `plain`.  The statements `before` find out what the plan's buffers
    hold, in the region's terms.
    """

    plan: KernelPlan
    axes: tuple[CanonicalLoop, ...]
    loops: tuple[CanonicalLoop, ...]
    plain: Flattened
    before: tuple[Node, ...] = ()


def offload(node: Node, context: Context, arguments: OffloadArguments) -> KernelPlan:
    """The kernel that a loop nest becomes, named `kernel`.

    Raises Refusal: ORIO-T020 to T028 (form of the nest), T040, T041 (dependences), T090 (rounding),
    T120 to T127, T130, T140 to T142.
    """
    return offloaded(node, context, arguments).plan


def offloaded(node: Node, context: Context, arguments: OffloadArguments) -> Offloaded:
    """The kernel with the loops that it stands for.  Raises Refusal like `offload`."""
    what = arguments.what
    nest = device_nest(node, context, arguments.question)
    plain_arrays, mapped, arithmetic = nest.plain, nest.mapped, nest.arithmetic
    node, context, body = plain_arrays.node, plain_arrays.context, nest.body
    launch = launch_shape(len(mapped), node, arguments)
    require_march(arguments, launch, node)
    _require_neighbours(nest.uses, plain_arrays, arguments)
    require_single_updates(nest.shared, arguments)
    kernel_arrays = KernelArrays.of(nest, arguments)
    arrays = kernel_arrays.found
    extents = tuple(scalar for found in arrays.values() for scalar in found.scalars)
    kept = scalars(nest.shared, nest.outer, nest.every, flattened(body, arrays), extents, what, context)
    dimensions = tuple(axis(loop, arithmetic, context) for loop in mapped)
    _require_known_groups(launch, kept.reductions, arguments, node)
    atomics = tuple(found.name for found in nest.shared.atomic)
    stage = StagedNest(
        body,
        kernel_arrays.evenly_used(nest),
        arrays,
        dimensions,
        launch,
        arithmetic,
        node,
        frozenset(atomics),
    )
    tiles = stage.tiles([name for name, _ in kept.private], context, arguments)

    def flat(part: Node) -> Node:
        return in_one_form(flattened(part, arrays, tiles.references), {*atomics})

    new = flat(body)
    blocked = in_blocks(body_items(new), tiles.loops, kept.private, arguments.unroll)
    rows = None if arguments.row is None else in_rows(nest, flat, kept.private, arguments.question)
    vectors = _vectors(nest, dimensions[-1], arrays, kept.reductions, arguments)
    plan = KernelPlan(
        name="kernel",
        axes=tuple(plain_arrays.along(dimension) for dimension in dimensions),
        body=blocked.items if rows is None else rows.items,
        buffers=_buffers(nest, arrays, {*atomics, *(tile.array for tile in tiles.tiles)}),
        scalars=tuple(plain_arrays.given(scalar) for scalar in (*kept.given, *tiles.scalars)),
        private=blocked.private if rows is None else rows.private,
        reductions=kept.reductions,
        launch=launch,
        staged=tiles.tiles,
        blocks=blocked.blocks,
        spread=arguments.spread,
        coarsen=arguments.coarsen,
        unroll=None if rows is None and innermost_loops(new) else arguments.unroll,
        options=arguments.options,
        lanes=vectors,
        atomics=atomics,
        copies=update_copies(nest.shared, [found.plan for found in arrays.values()], arguments, node),
        in_rows=rows is not None,
        march=tiles.march,
        language=arguments.backend.name,
    )
    require_limits(plan, arguments.model, node)
    return Offloaded(plan, mapped, nest.every, plain_arrays, kernel_arrays.before)


def _vectors(
    nest: DeviceNest,
    axis: Axis,
    arrays: Mapping[str, Array],
    reductions: Sequence[ReductionPlan],
    arguments: OffloadArguments,
) -> LanePlan | None:
    """The lanes of vectors, where there are some.  Raises Refusal: ORIO-T140, T141."""
    if arguments.vector == 1:
        return None
    combined = {reduction.name for reduction in reductions}
    return lanes(nest.body, axis, nest.uses, arrays, combined, arguments.what, nest.plain.context)


def _require_known_groups(
    launch: LaunchShape, reductions: Sequence[ReductionPlan], arguments: OffloadArguments, node: Node
) -> None:
    """No group of unknown size combines anything, nor one of loops with own dimensions.

    Raises Refusal: ORIO-T105, T127.
    """
    if launch.bindings and reductions and arguments.row is None:
        refuse(
            "ORIO-T105",
            f"the iterations of the loops that `cuda` names combine their values of `{reductions[0].name}`",
            node,
            help="combine them in an array, or in a loop inside the kernel",
        )
    if launch.driver_chosen and reductions:
        refuse(
            "ORIO-T127",
            f"`{reductions[0].name}` is combined by groups, whose size has to be known",
            node,
            help="give `workItemsPerGroup` another value than 0",
            argument="workItemsPerGroup",
        )


def _buffers(nest: DeviceNest, arrays: Mapping[str, Array], whole: Set[str]) -> tuple[BufferPlan, ...]:
    """The buffers as the region says them; those of `whole` are used beyond what the iterations of a slice touch alone.

    Tiles are loaded with what no iteration of a slice touches, and several slices update an element in steps.
    """
    found = (replace(a.plan, slices=None) if n in whole else a.plan for n, a in arrays.items())
    return tuple(nest.tests.counted(nest.plain.in_region(buffer)) for buffer in found)


def _require_neighbours(
    uses: dict[str, list[ElementAccess]], plain: Flattened, arguments: OffloadArguments
) -> None:
    """Vectors are loaded from arrays of numbers.  Raises Refusal: ORIO-T141."""
    name = next((name for name in uses if name in plain.mixed), None)
    if arguments.vector == 1 or name is None:
        return
    refuse(
        "ORIO-T141",
        f"{arguments.what} cannot load the members of neighbouring elements of `{name}` as vectors: they are of several types, "
        "and lie apart",
        uses[name][0].node,
        help="leave `vectorWidth` 1",
        argument="vectorWidth",
    )
