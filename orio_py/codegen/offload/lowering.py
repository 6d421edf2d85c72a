"""Kernel plans → device trees.

A kernel that does several iterations at once does those that are left one by one:

if (orio_i + 4 <= orio_trips_i) {
  const int i = (int)orio_i;
  vstore4(alpha * vload4(0, &x[i]), 0, &y[i]);
} else {
  for (long orio_rest_i = orio_i; orio_rest_i < orio_trips_i; orio_rest_i++) {
    const int i = (int)orio_rest_i;
    y[i] = alpha * x[i];
  }
}
"""

from __future__ import annotations

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.blocks import blocked_iterations
from orio_py.codegen.offload.device_tree import (
    DeviceFeatures,
    DeviceKernel,
    GroupArray,
)
from orio_py.codegen.offload.loops import (
    counted,
    counter,
    counter_kind,
    declarations,
    index_declared,
    iterations,
)
from orio_py.codegen.offload.march import marched_iterations
from orio_py.codegen.offload.reductions import groups_merged, lanes_declared, lanes_merged, values_declared
from orio_py.codegen.offload.register_tiles import register_tiles
from orio_py.codegen.offload.rows import row_iterations
from orio_py.codegen.offload.statements import Kernel, device_kind, device_statement
from orio_py.codegen.offload.types import types_of
from orio_py.codegen.offload.update_copies import copies_begun, copies_merged
from orio_py.codegen.offload.vector_tiles import vector_tiles
from orio_py.codegen.offload.vectors import Vectors, index_lanes
from orio_py.ctree.build import binary, block, declare, ident, if_
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import used_names
from orio_py.kernel.call import trips_name
from orio_py.kernel.plan import KernelPlan
from orio_py.kernel.types import device_type


def lowered_kernel(plan: KernelPlan, features: DeviceFeatures) -> DeviceKernel:
    """The kernel of a plan as a tree."""
    kernel = Kernel(plan, types_of(plan), features)
    wide = plan.launch.register_tile is not None
    tiles = [
        GroupArray(device_type(t.type) or "int", t.name, t.elements, is_aligned=wide) for t in plan.staged
    ]
    body = [
        *tiles,
        *copies_begun(plan),
        *values_declared(plan),
        *_iterations(kernel),
        *copies_merged(plan),
        *groups_merged(plan, features),
    ]
    return DeviceKernel(plan, block(*body), frozenset(kernel.types))


def _iterations(kernel: Kernel) -> list[Node]:
    """The statements by which each item finds its iterations and runs them."""
    if kernel.plan.launch.register_tile is not None:
        return register_tiles(kernel) if kernel.plan.lanes is None else vector_tiles(kernel)
    if kernel.plan.in_rows:
        return row_iterations(kernel)
    if kernel.plan.march is not None:
        return marched_iterations(kernel, kernel.plan.march)
    if kernel.plan.blocks:
        return blocked_iterations(kernel)
    if kernel.plan.lanes is None:
        return iterations(kernel, [*declarations(kernel), *_statements(kernel)])
    return [*lanes_declared(kernel), *iterations(kernel, _lanes_body(kernel)), *lanes_merged(kernel)]


def _statements(kernel: Kernel) -> list[Node]:
    return [device_statement(node, kernel) for node in kernel.plan.body]


def _lanes_body(kernel: Kernel) -> list[Node]:
    """Iterations in the lanes of vectors where there are as many, otherwise one after the other."""
    plan, used = kernel.plan, used_names(kernel.plan.body)
    assert plan.lanes is not None
    axis, width = plan.axes[-1], plan.launch.vector
    number, trips, rest = (
        ident(counter(axis, plan)),
        ident(trips_name(axis)),
        ident(f"orio_rest_{axis.index}"),
    )
    # The first lane is the iteration whose elements stand first in memory.
    first = binary("+", number, width - 1) if plan.lanes.backwards else number
    vectors = Vectors(kernel)
    body = [vectors.statement(node) for node in plan.body]
    private = [name for name, _ in plan.private]
    has_index = axis.index in used
    together = [
        *([index_declared(axis, first)] if has_index else []),
        *([index_lanes(axis, plan)] if vectors.uses_index else []),
        *(declare(vectors.vector_type(device_name(name)), device_name(name)) for name in private),
        *body,
    ]
    single = [
        *([index_declared(axis, rest)] if has_index else []),
        *(declare(device_kind(kind), device_name(name)) for name, kind in plan.private),
        *_statements(kernel),
    ]
    left = counted(rest.name, number, trips, 1, kind=counter_kind(axis, plan))(single)
    others = used & {a.index for a in plan.axes[:-1]}
    enough = binary("<=", binary("+", number, width), trips)
    return [*declarations(kernel, others), if_(enough, block(*together), block(*left))]
