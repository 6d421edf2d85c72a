"""Kernels whose groups go along the slowest axis plane by plane.

    double orio_queue_p_0 = 0, …;             what an item keeps of its own column
    int orio_slot_tile_p_0 = 0, …;            where the planes in local memory begin
    …                                         all but the last of both are loaded
    for (int orio_place_k = 0; orio_place_k < orio_length_k; orio_place_k++) {
      …                                       load the last plane
      barrier(CLK_LOCAL_MEM_FENCE);
      if (orio_inside) {
        …                                     load the last element of the column, the body
        orio_queue_p_0 = orio_queue_p_1; …
      }
      …                                       the slot of the oldest plane is that of the next one
    }

There is room for one plane more than are read, so that no item overwrites what another one still reads.

Source: P. Micikevicius, "3D finite difference computation on GPUs using CUDA", GPGPU-2 2009, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from orio_py.codegen.offload.device_tree import GroupBarrier
from orio_py.codegen.offload.loops import (
    counted,
    counter,
    counters,
    declarations,
    guarded,
    inside_of,
    nested,
    steps_of,
    unrolled,
)
from orio_py.codegen.offload.statements import Kernel, device_kind, device_statement
from orio_py.ctree.build import add, assign, binary, block, call, cast_to, const, declare, ident, statements
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import rename, used_names
from orio_py.kernel.call import begin_name, length_name, place_name, trips_name
from orio_py.kernel.march import PLANE, MarchPlan, PlaneRing, ValueQueue, queue_name, slot_name

_INSIDE = "orio_inside"


def marched_iterations(kernel: Kernel, march: MarchPlan) -> list[Node]:
    """The steps of a group, each of which goes along the slowest axis."""
    plan, steps = kernel.plan, steps_of(kernel)
    slowest, others = plan.axes[0], plan.axes[1:]
    test = inside_of(plan, others)
    names = used_names([*plan.body, *(queue.load for queue in march.queues)])
    rest = binary("-", ident(trips_name(slowest)), ident(begin_name(slowest)))
    length = call("min", c_ast.Constant("long int", f"{plan.launch.step[len(others)]}L"), rest)
    along = counted(place_name(slowest), const(0), ident(length_name(slowest)), 1, kind="int")
    items = [
        *steps.loads,
        *counters(plan)[1:],
        *([] if test is None else [declare("const int", _INSIDE, test)]),
        *declarations(kernel, names & {axis.index for axis in others}),
        declare("const int", length_name(slowest), cast_to("int", length)),
        *_before(kernel, march, test),
        *unrolled(plan.unroll, along)(_iteration(kernel, march, test)),
        *([GroupBarrier()] if steps.is_looped and plan.staged else []),
    ]
    return nested(steps.layers, items)


def _before(kernel: Kernel, march: MarchPlan, test: Node | None) -> list[Node]:
    """The declarations of what is kept, and the loads of all but the last of each."""
    begin = begin_name(kernel.plan.axes[0])
    planes = [_loaded(kernel, r, number, begin) for r in march.rings for number in range(r.planes - 1)]
    values = [_loaded(kernel, q, number, begin) for q in march.queues for number in range(q.length - 1)]
    return [
        *(node for ring in march.rings for node in _slots(ring)),
        *(device_statement(node, kernel) for ring in march.rings for node in ring.before),
        *(node for queue in march.queues for node in _values(queue)),
        *planes,
        *_inside(test, values),
    ]


def _iteration(kernel: Kernel, march: MarchPlan, test: Node | None) -> list[Node]:
    """One iteration of the slowest axis: the last of what is kept is loaded, the body, and all move on."""
    plan = kernel.plan
    slowest = plan.axes[0]
    number = counter(slowest, plan)
    own = {name for name, _ in plan.private} | {slowest.index}
    body = [
        *(_loaded(kernel, queue, queue.length - 1, number) for queue in march.queues),
        *declarations(kernel, own & used_names(plan.body)),
        *(device_statement(node, kernel) for node in plan.body),
        *(node for queue in march.queues for node in _moved(queue)),
    ]
    return [
        counters(plan)[0],
        *(_loaded(kernel, ring, ring.planes - 1, number) for ring in march.rings),
        *([GroupBarrier()] if march.rings else []),
        *_inside(test, body),
        *(_turned(ring) for ring in march.rings),
    ]


def _inside(test: Node | None, body: Sequence[Node]) -> list[Node]:
    """Statements of the items that have iterations; names that they declare end with them."""
    if not body:
        return []
    return [block(*body)] if test is None else nested([guarded(ident(_INSIDE))], body)


def _loaded(kernel: Kernel, kept: PlaneRing | ValueQueue, number: int, iteration: str) -> Node:
    """The statement that loads a plane, or an element, as seen from an iteration."""
    plane = declare("const long", PLANE, add(ident(iteration), kept.low + number))
    if isinstance(kept, PlaneRing):
        names = {slot_name(kept.tile, kept.planes - 1): slot_name(kept.tile, number)}
    else:
        names = {queue_name(kept.name, kept.length - 1): queue_name(kept.name, number)}
    load = rename(device_statement(kept.load, kernel), names)
    return block(plane, *statements(load))


def _slots(ring: PlaneRing) -> list[Node]:
    return [declare("int", slot_name(ring.tile, k), const(k * ring.size)) for k in range(ring.planes + 1)]


def _values(queue: ValueQueue) -> list[Node]:
    kind = device_kind(queue.type)
    return [declare(kind, queue_name(queue.name, k), const(0)) for k in range(queue.length)]


def _moved(queue: ValueQueue) -> list[Node]:
    """Each element is that of the iteration before it, seen from the next one."""
    names = [queue_name(queue.name, k) for k in range(queue.length)]
    return [assign(one, ident(two)) for one, two in pairwise(names)]


def _turned(ring: PlaneRing) -> Node:
    """Each plane is that of the iteration before it, and the oldest one makes room."""
    names = [slot_name(ring.tile, k) for k in range(ring.planes + 1)]
    oldest = "orio_oldest"
    moved = [assign(one, ident(two)) for one, two in pairwise(names)]
    return block(declare("const int", oldest, ident(names[0])), *moved, assign(names[-1], ident(oldest)))
