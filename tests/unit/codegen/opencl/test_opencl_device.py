"""The device text of kernels, and the description of their arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_trees import context, parse

from orio_py.codegen.device import (
    ArgumentKind,
    DeviceProgram,
    group_counts,
    host_parameters,
    kernel_arguments,
    partial_elements,
)
from orio_py.codegen.device_names import device_name
from orio_py.codegen.opencl.device import device_program
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import Direction, Distribution, KernelPlan, Layout
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.offload.opencl import OpenCL

GOLDEN = Path(__file__).resolve().parents[3] / "golden_device"
DECLARATIONS = """int i, j, k, n, m, local; double s, t, mx, alpha; int count, ok; long w; unsigned char *restrict bytes;
double *restrict x, *restrict y, *restrict A; float *restrict f; const int *restrict c; double p[64][64], q[64][64];
size_t z; long long big; int counts[64]; float top[64]; struct cell { char kind; double x; unsigned int n, half; float v[3]; } *restrict cells; struct rule { int n; double dt; } rule;"""
FOR_I = "for (i = 0; i < n; i++)"
STENCIL = (
    "for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)"
    " q[i][j] = p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1];"
)

CASES: dict[str, tuple[str, OpenCL]] = {
    "updates_copies": (f"{FOR_I} {{ counts[c[i]]++; if (f[i] > top[c[i]]) top[c[i]] = f[i]; }}", OpenCL(coarsen=4, cacheUpdates=True)),
    "rows": (
        f"{FOR_I} {{ t = x[i]; for (j = 0; j < m; j++) t += p[i][j] * y[j]; x[i] = t; if (t > 0) for (j = 0; j < m; j++) q[i][j] = x[i]; }}",
        OpenCL(rowThreads=32),
    ),
    "updates": (
        f"{FOR_I} {{ counts[c[i]]++; p[c[i]][0] += x[i]; if (f[i] > top[c[i]]) top[c[i]] = f[i]; }}",
        OpenCL(),
    ),
    "axpy": (f"{FOR_I} y[i] += alpha * x[i];", OpenCL()),
    "axpy_strided": (f"{FOR_I} y[i] += alpha * x[i];", OpenCL(workGroups=(16,), sizeHint=True, vecHint=4)),
    "plane_unrolled": (
        f"{FOR_I} for (j = 0; j < n; j++) q[i][j] = p[i][j];",
        OpenCL(nd=2, workItemsPerGroup=(8, 8), workGroups=(2, 4), unrollInner=4),
    ),
    "axpy_driver": (f"{FOR_I} y[i] += alpha * x[i];", OpenCL(workItemsPerGroup=(0,))),
    "axpy_blocked": ("for (w = 0; w < n; w++) y[w] += x[w];", OpenCL(coarsen=4, spread=Distribution.BLOCKED, unrollInner=4)),
    "matvec": (
        f"{FOR_I} {{ t = 0; for (j = 0; j < m; j++) t += A[i * m + j] * x[j]; y[i] = t; }}",
        OpenCL(unrollInner=8),
    ),
    "stencil": (STENCIL, OpenCL(nd=2, workItemsPerGroup=(16, 4))),
    "stencil_tile": (STENCIL, OpenCL(nd=2, workItemsPerGroup=(16, 4), cacheBlocks=True)),
    "stencil_tile_steps": (
        "for (i = n - m; i > 0; i -= 2) { y[i] = x[i - 2] + x[i + 2] + bytes[i - 1]; s += x[i]; }",
        OpenCL(workItemsPerGroup=(32,), workGroups=(8,), cacheBlocks=True),
    ),
    "stencil_tile_wide": (STENCIL, OpenCL(nd=2, workItemsPerGroup=(16, 2), cacheBlocks=True, localTile=(16, 8), unrollInner=2)),
    "product_tile": (
        f"{FOR_I} for (j = 0; j < m; j++) for (k = 0; k < n; k++) q[i][j] += p[i][k] * A[k * m + j];",
        OpenCL(nd=2, workItemsPerGroup=(16, 8), cacheBlocks=True, unrollInner=4),
    ),
    "product_tile_wide": (
        f"{FOR_I} for (j = 0; j < m; j++) {{ q[i][j] = 0;"
        " for (k = n - 1; k >= count; k -= 2) q[i][j] += p[i][k] * A[k * m + j]; q[i][j] *= alpha; }",
        OpenCL(nd=2, workItemsPerGroup=(16, 2), workGroups=(4, 4), cacheBlocks=True, localTile=(16, 8, 32)),
    ),
    "matvec_tile": (
        f"{FOR_I} {{ t = 0; for (j = 0; j < m; j++) t += A[i * m + j] * x[j]; y[i] = t; }}",
        OpenCL(cacheBlocks=True),
    ),
    "sums_streams": (
        "for (i = n - 1; i >= 0; i--) { s += x[i] * y[i]; if (x[i] > mx) mx = x[i]; }",
        OpenCL(workItemsPerGroup=(32,), coarsen=4, spread=Distribution.BLOCKED, streamCount=2),
    ),
    "stencil_streams": (
        STENCIL,
        OpenCL(nd=2, workItemsPerGroup=(16, 4), workGroups=(2, 2), cacheBlocks=True, streamCount=3),
    ),
    "sums": (
        f"{FOR_I} {{ s += x[i] * y[i]; if (x[i] > mx) mx = x[i]; ok = c[i] && ok; count ^= c[i]; }}",
        OpenCL(workItemsPerGroup=(48,), workGroups=(8,)),
    ),
    "plane_sum": (f"{FOR_I} for (j = 0; j < n; j++) s += p[i][j];", OpenCL(nd=2, workItemsPerGroup=(8, 8))),
    "columns": (
        f"{FOR_I} {{ t = 0; for (j = 0; j < m; j++) t += p[i + 1][j] * x[j]; y[i] = t; }}",
        OpenCL(layout=Layout.COLUMN, vectorWidth=2),
    ),
    "columns_tile": (STENCIL, OpenCL(nd=("j", "i"), layout=Layout.COLUMN, cacheBlocks=True)),
    "structures": (
        f"{FOR_I} {{ cells[i].x += rule.dt * sqrt(cells[i].v[1]); for (j = 0; j < 3; j++) cells[i].v[j] = abs(c[i]) + cells[i].half;"
        " cells[i].n = pow(cells[i].n, rule.n) + fmaxf(cells[i].v[2], y[i]); }",
        OpenCL(workItemsPerGroup=(32,)),
    ),
    "vectors": (f"{FOR_I} y[i] += alpha * x[i + 1];", OpenCL(vectorWidth=4)),
    "vectors_blocked": (
        "for (i = n - 1; i >= 0; i--) y[i] = c[i] ? x[i] * i : -x[i];",
        OpenCL(vectorWidth=2, workGroups=(8,), spread=Distribution.BLOCKED),
    ),
    "vectors_plane": (
        f"{FOR_I} for (j = 0; j < m; j++) for (k = 0; k < n; k++) q[i][j] += p[i][k] * p[k][j];",
        OpenCL(nd=2, vectorWidth=8, workItemsPerGroup=(4, 16), unrollInner=4),
    ),
    "vectors_tile": (
        f"{FOR_I} for (j = 0; j < m; j++) for (k = 0; k < n; k++) q[i][j] += p[i][k] * p[k][j] + j;",
        OpenCL(nd=2, vectorWidth=4, workItemsPerGroup=(1, 1), registerTile=(2, 2)),
    ),
    "vectors_sums": (
        f"{FOR_I} {{ s += x[i] * y[i]; if (x[i] > mx) mx = x[i]; ok = c[i] && ok; count ^= c[i]; }}",
        OpenCL(workItemsPerGroup=(32,), workGroups=(8,), vectorWidth=4),
    ),
    "vectors_translated": (
        f"{FOR_I} {{ int local = i + 1; if (c[i] > 3) {{ t = x[local]; y[i] = 1 / t; }} else y[i]++;"
        " f[i] = sqrtf(x[i]) + fmaxf(f[i], 2) + max(c[i], 3) - abs(c[i]) + pow(f[i], 2.0);"
        " bytes[i] = (unsigned char)(z + big); }",
        OpenCL(vectorWidth=16),
    ),
    "translated": (
        f"{FOR_I} {{ long long int v = 3LL; bytes[i] = (unsigned char)(sizeof(int) + z + v + big);"
        " f[i] = sqrtf(x[i]) + fmaxf(f[i], 2) + max(c[i], local) - abs(c[i]) + pow(f[i], 2.0); }",
        OpenCL(),
    ),
}  # fmt: skip


def plans_of(code: str, transformation: OpenCL) -> tuple[KernelPlan, ...]:
    live = "x y A f p q s mx count ok bytes"
    around = context(DECLARATIONS, live=live, assumptions=Assumptions(True, True), label="k")
    return kernel_plans(transformation.apply(parse(code), around))


def plan_of(code: str, transformation: OpenCL | None = None) -> KernelPlan:
    (plan,) = plans_of(code, transformation or OpenCL())
    return plan


@pytest.mark.parametrize("name", CASES)
def test_device_text(name: str, update_golden: bool) -> None:
    text = device_program(plans_of(*CASES[name]))
    path = GOLDEN / f"{name}.cl"
    if update_golden:
        path.write_text(text)
    assert text == path.read_text()


def test_no_device_golden_is_an_orphan() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}.cl" for name in CASES}


def test_double_precision_is_switched_on_only_where_it_is_used() -> None:
    def text(code: str) -> str:
        return device_program(plans_of(code, OpenCL()))

    assert "cl_khr_fp64" not in text(f"{FOR_I} f[i] = 0.5f * f[i] + c[i];")
    assert "cl_khr_fp64" in text(f"{FOR_I} f[i] = 0.5 * f[i];")
    assert "cl_khr_fp64" in text(f"{FOR_I} f[i] = (double)f[i];")


def test_kernels_of_a_region_share_one_program() -> None:
    plans = plans_of(f"{FOR_I} y[i] = x[i]; for (j = 0; j < n; j++) x[j] = y[j];", OpenCL())
    program = DeviceProgram(device_program(plans), plans)
    assert [plan.name for plan in program.plans] == ["orio_opencl_k_0", "orio_opencl_k_1"]
    assert program.source.count("__kernel void") == 2


def test_arguments_in_order() -> None:
    plan = plan_of("for (i = m; i < n; i++) { y[i] = alpha * x[i]; s += y[i]; }")
    found = [(a.kind, a.name, a.device_type, a.host) for a in kernel_arguments(plan)]
    assert found == [
        (ArgumentKind.BUFFER, "x", "double", "x"),
        (ArgumentKind.BUFFER, "y", "double", "y"),
        (ArgumentKind.SCALAR, "alpha", "double", "alpha"),
        (ArgumentKind.SCALAR, "orio_first_x", "long", "orio_first_x"),
        (ArgumentKind.SCALAR, "orio_first_y", "long", "orio_first_y"),
        (ArgumentKind.START, "orio_start_i", "int", "orio_start_i"),
        (ArgumentKind.TRIPS, "orio_trips_i", "long", "orio_trips_i"),
        (ArgumentKind.PARTIALS, "orio_partials_s", "double", ""),
    ]
    assert [a.direction for a in kernel_arguments(plan)[:2]] == [Direction.IN, Direction.INOUT]
    assert host_parameters(plan) == (
        ("const double *", "x"),
        ("double *", "y"),
        ("long", "orio_count_x"),
        ("long", "orio_count_y"),
        ("double", "alpha"),
        ("long", "orio_first_x"),
        ("long", "orio_first_y"),
        ("int", "orio_start_i"),
        ("long", "orio_trips_i"),
        ("double *", "s"),
    )


@pytest.mark.parametrize(
    ("transformation", "trips", "expected"),
    [
        (OpenCL(), [1000], (16,)),
        (OpenCL(coarsen=10), [1000], (2,)),
        (OpenCL(workGroups=(5,)), [1000], (5,)),
        (OpenCL(), [1], (1,)),
    ],
)
def test_group_counts(transformation: OpenCL, trips: list[int], expected: tuple[int, ...]) -> None:
    assert group_counts(plan_of(f"{FOR_I} y[i] = 0;", transformation), trips) == expected


def test_groups_of_two_dimensions_begin_with_the_fastest() -> None:
    plan = plan_of(STENCIL, OpenCL(nd=2, workItemsPerGroup=(16, 4)))
    assert group_counts(plan, [10, 100]) == (7, 3)
    assert partial_elements(plan, [10, 100]) == 21


@pytest.mark.parametrize(("name", "expected"), [("x", "x"), ("global", "global_"), ("float4", "float4_")])
def test_words_of_the_language_get_other_names(name: str, expected: str) -> None:
    assert device_name(name) == expected
