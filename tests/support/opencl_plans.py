"""Kernel plans written by hand, each with device text that does what the plan says."""

from __future__ import annotations

from dataclasses import replace

from orio_py.codegen.device import ArgumentKind, kernel_arguments
from orio_py.codegen.host_unit import HostKernel
from orio_py.ctree.build import binary, const, ident, index, unary
from orio_py.ctree.nodes import Node
from orio_py.kernel.plan import (
    Axis,
    BufferPlan,
    DeviceOptions,
    Direction,
    KernelPlan,
    LaunchShape,
    ReductionPlan,
    ScalarPlan,
    SlicePlan,
)

AXPY = """\
/* y += a * x */
__kernel void axpy(__global double *restrict y, __global const double *restrict x, const double a,
                   const long orio_trips_i)
{
  for (long i = get_global_id(0); i < orio_trips_i; i += get_global_size(0))
    y[i] = y[i] + a * x[i];
}
"""

ADD_2D = """\
__kernel void add(__global float *c, __global const float *a, __global const float *b, const long m,
                  const int orio_start_i, const long orio_trips_i, const long orio_trips_j)
{
  for (long p = get_global_id(1); p < orio_trips_i; p += get_global_size(1))
    for (long q = get_global_id(0); q < orio_trips_j; q += get_global_size(0)) {
      const long i = orio_start_i + 2 * p;
      c[i * m + q] = a[i * m + q] + b[i * m + q];
    }
}
"""

SQUARES = """\
__kernel void squares(__global const double *x, __global const int *k, const long orio_trips_i,
                      __global double *orio_partials_s, __global int *orio_partials_m)
{
  __local double sums[16];
  __local int least[16];
  double s = 0.0;
  int m = INT_MAX;
  for (long i = get_global_id(0); i < orio_trips_i; i += get_global_size(0)) {
    s += x[i] * x[i];
    m = k[i] < m ? k[i] : m;
  }
  sums[get_local_id(0)] = s;
  least[get_local_id(0)] = m;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    for (int p = 1; p < 16; p++) {
      s += sums[p];
      m = least[p] < m ? least[p] : m;
    }
    orio_partials_s[get_group_id(0)] = s;
    orio_partials_m[get_group_id(0)] = m;
  }
}
"""

TURN = """\
__kernel void turn(__global const short *a, __global double *b, __global short *c, const long orio_rows_a,
                   const long orio_trips_i, const long orio_trips_j)
{
  const long i = get_global_id(1), j = get_global_id(0);
  if (i < orio_trips_i && j < orio_trips_j) {
    b[j * orio_rows_a + i] = 2 * a[j * orio_rows_a + i];
    c[j * orio_rows_a + i] += 10 * i + j;
  }
}
"""


def _text(source: str, plan: KernelPlan) -> str:
    """The text of a kernel for its plan's types of trip counts; one in slices is told where its slice begins, and its first group."""
    for argument in kernel_arguments(plan):
        if argument.kind is ArgumentKind.TRIPS:
            source = source.replace(
                f"const long {argument.name}", f"const {argument.device_type} {argument.name}"
            )
    if plan.options.streams == 1:
        return source
    if "orio_partials" in source:
        told = "const long orio_trips_i, const long orio_from_i, const long orio_first_group,"
        source = source.replace("const long orio_trips_i,", told)
    else:
        source = source.replace(")\n{", ", const long orio_from_i)\n{", 1)
    source = source.replace("[get_group_id(0)]", "[orio_first_group + get_group_id(0)]")
    return source.replace("= get_global_id(", "= orio_from_i + get_global_id(", 1)


def axpy(**options: object) -> HostKernel:
    """`for (i = 0; i < n; i++) y[i] += a * x[i]`, as many groups of 8 as cover the loop."""
    chosen = replace(DeviceOptions(), **options)
    each = SlicePlan(const(1), const(0), const(1)) if chosen.streams > 1 else None
    plan = KernelPlan(
        name="axpy",
        axes=(Axis("i", "int", const(0), ident("n")),),
        body=(),
        buffers=(
            BufferPlan("y", "double", _first("y"), ident("n"), Direction.INOUT, slices=each),
            BufferPlan("x", "double", _first("x"), ident("n"), Direction.IN, slices=each),
        ),
        scalars=(_scalar("a", "double"),),
        private=(),
        reductions=(),
        language="opencl",
        launch=LaunchShape((8,)),
        options=chosen,
    )
    return HostKernel(plan, _text(AXPY, plan), "orio_opencl_test_axpy")


def add_2d(streams: int = 1) -> HostKernel:
    """Every other row of `c = a + b` from row `first` on; 4 by 2 items in 3 by as many groups as it takes."""
    count = binary("*", ident("n"), ident("m"))
    # More than an iteration touches, so that slices wait for each other.
    low, reach = binary("*", ident("first"), ident("m")), binary("*", const(3), ident("m"))
    rows = SlicePlan(binary("*", const(2), ident("m")), low, reach)
    slices = rows if streams > 1 else None
    plan = KernelPlan(
        name="add",
        axes=(Axis("i", "int", ident("first"), ident("rows"), 2), Axis("j", "int", const(0), ident("m"))),
        body=(),
        buffers=(
            BufferPlan("c", "float", _first("c"), count, Direction.INOUT, slices=slices),
            BufferPlan("a", "float", _first("a"), count, Direction.IN, slices=slices),
            BufferPlan("b", "float", _first("b"), count, Direction.IN, slices=slices),
        ),
        scalars=(_scalar("m", "long"),),
        private=(),
        reductions=(),
        language="opencl",
        launch=LaunchShape((4, 2)),
        options=DeviceOptions(streams=streams),
    )
    return HostKernel(plan, _text(ADD_2D, plan), "orio_opencl_test_add")


def squares(streams: int = 1) -> HostKernel:
    """`s += x[i] * x[i]; m = min(m, k[i])` in 3 groups of 16 for each queue, all of `x` and `k` first."""
    plan = KernelPlan(
        name="squares",
        axes=(Axis("i", "int", const(0), ident("n")),),
        body=(),
        buffers=(
            BufferPlan("x", "double", _first("x"), ident("n"), Direction.IN),
            BufferPlan("k", "int", _first("k"), ident("n"), Direction.IN),
        ),
        scalars=(),
        private=(),
        reductions=(ReductionPlan("s", "double", "+", "0.0"), ReductionPlan("m", "int", "min", "INT_MAX")),
        language="opencl",
        launch=LaunchShape((16,), (3,)),
        options=DeviceOptions(streams=streams),
    )
    return HostKernel(plan, _text(SQUARES, plan), "orio_opencl_test_squares")


def turn(streams: int = 1) -> HostKernel:
    """`b[i][j] = 2 * a[i][j]; c[i][j] += 10 * i + j;` for all `n` by `m` elements, held by columns."""
    count = binary("*", ident("n"), ident("m"))
    plan = KernelPlan(
        name="turn",
        axes=(Axis("i", "int", const(0), ident("n")), Axis("j", "int", const(0), ident("m"))),
        body=(),
        buffers=(
            BufferPlan("a", "short", _first("a"), count, Direction.IN, "orio_rows_a"),
            BufferPlan("b", "double", _first("b"), count, Direction.OUT, "orio_rows_a"),
            BufferPlan("c", "short", _first("c"), count, Direction.INOUT, "orio_rows_a"),
        ),
        scalars=(_scalar("orio_rows_a", "long"),),
        private=(),
        reductions=(),
        language="opencl",
        launch=LaunchShape((4, 2)),
        options=DeviceOptions(streams=streams),
    )
    return HostKernel(plan, _text(TURN, plan), "orio_opencl_test_turn")


def _first(name: str) -> Node:
    return unary("&", index(name, 0))


def _scalar(name: str, kind: str) -> ScalarPlan:
    return ScalarPlan(name, kind, ident(name), name)
