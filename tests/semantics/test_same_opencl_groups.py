"""Kernels with blocks of inner loops, in several queues, and behind other transformations compute the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from c_trees import composite
from opencl_cases import CUBE, FOR_I, FOR_J, LINE, PLANE, Case, assert_same, staged, transformed

from orio_py.codegen.opencl.device import device_program
from orio_py.ctree.emit import emit
from orio_py.ctree.loops import loops_in
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import Distribution, Layout
from orio_py.transformation.offload.opencl import OpenCL

PRODUCT = (
    OpenCL(nd=2, workItemsPerGroup=(4, 4)),
    OpenCL(nd=2, workItemsPerGroup=(3, 2), localTile=(3, 2, 5), unrollInner=2, sizeHint=True),
    OpenCL(nd=("j", "i"), workItemsPerGroup=(2, 3), localTile=(2, 3, 4), workGroups=(2, 1)),
    OpenCL(workItemsPerGroup=(3,), localTile=(3, 7)),
)
WIDE = OpenCL(nd=2, workItemsPerGroup=(3, 1), localTile=(6, 4, 5), coarsen=2)
BLOCKED = (
    *staged(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) q[i][j] += p[i][k] * z[k * m + j];", *PRODUCT[:3], WIDE),
    *staged(f"{FOR_I} {FOR_J} {{ double v = 1; for (k = 1; k < n; k++) v += x[i] * p[i][k] * z[k * m + j]; q[i][j] = v; }}",
            *PRODUCT[:3]),
    *staged(f"{FOR_I} {FOR_J} {{ q[i][j] *= 2; for (k = n - 1; k >= 0; k -= 2) q[i][j] -= p[i][k] * z[k * m + j]; }}",
            PRODUCT[1], WIDE),
    *staged(f"{FOR_I} {{ t = 0; for (j = 0; j < m; j++) t += p[i][j] * x[j]; y[i] = t; s += t; }}", *LINE[:4], PRODUCT[3]),
    *staged("for (i = 2; i < n; i++) { t = x[i - 1] + x[i - 2]; for (j = 0; j < m; j++) { y[i] += p[i][j] * c[j] * t; }"
            " for (j = m - 1; j > 1; j--) y[i] += f[j] + x[i]; }", *LINE[1:3], PRODUCT[3]),
    *staged(f"{FOR_I} {FOR_J} {{ for (unsigned k = 3; k < n; k += 3) {{ if (p[i][k] > 4) s += z[k * m + j]; }}"
            " for (k = 0; k < m; k++) q[i][j] += p[j][k] * y[k]; }", *PRODUCT[:2], WIDE),
    *staged(f"{FOR_I} {FOR_J} for (k = 0; k < n - 1; k++) for (w = 0; w < 2; w++) s += p[i][k + w] * p[k][j] * p[k][i] * x[w];",
            PRODUCT[0]),
    *staged("for (i = 0; i + 1 < n; i += 2) for (j = 0; j < m; j++) for (k = 0; k < n; k++)"
            " { q[i][j] += p[i][k] * z[k * m + j]; q[i + 1][j] += p[i + 1][k] * z[k * m + j]; }".replace("i + 1 < n", "i < n - 1"),
            *PRODUCT[:2], WIDE),
)  # fmt: skip


def streamed(code: str, *shapes: OpenCL) -> list[Case]:
    """A loop in several queues, in several launch shapes."""
    return [Case(code, replace(shape, streamCount=3)) for shape in shapes]


STRIDES = (
    OpenCL(workItemsPerGroup=(3,)),
    OpenCL(workItemsPerGroup=(2,), workGroups=(2,)),
    OpenCL(workItemsPerGroup=(2,), coarsen=2, spread=Distribution.BLOCKED),
)
STREAMED = (
    *streamed(f"{FOR_I} {{ y[i] += 3 * x[i] + x[i + 1]; s += y[i]; }}",
              OpenCL(vectorWidth=4, workItemsPerGroup=(2,)),
              OpenCL(vectorWidth=2, workItemsPerGroup=(1,), workGroups=(2,), spread=Distribution.BLOCKED)),
    *streamed(f"{FOR_I} {FOR_J} {{ q[i][j] += p[i][j] * x[i]; s += p[j][i]; }}", OpenCL(layout=Layout.COLUMN),
              OpenCL(nd=2, layout=Layout.COLUMN, workItemsPerGroup=(2, 3))),
    *streamed(f"{FOR_I} {{ y[i] = 3 * x[i] + x[i + 1]; s += x[i]; if (c[i] > mx) mx = c[i]; }}", *STRIDES),
    *streamed("for (i = n - 1; i >= 1; i -= 2) { z[3 * i + 1] = x[i] - x[i - 1] + p[i][n - i] + y[n - 1]; count++; }",
              *STRIDES[:2]),
    *streamed(f"{FOR_I} {{ y[i] += p[i][j]; for (j = 0; j <= i; j++) q[i][j] += z[i * m + j] - z[j * m + i]; }}".replace("+= p[i][j]", "+= 1").replace("z[j * m + i]", "z[j]"),
              *STRIDES[1:]),
    *streamed(f"{FOR_I} {FOR_J} {{ q[i][j] += p[j][i] + x[i] + y[j]; s -= p[i][j]; }}", PLANE[0], PLANE[1], PLANE[2]),
    *streamed("for (i = 1; i < n - 1; i++) for (j = 0; j < m; j++) z[i * m + j] += p[i - 1][j] * p[i + 1][j];",
              PLANE[0], replace(PLANE[5], cacheBlocks=True)),
    *streamed(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) z[(i * m + j) * n + k] = x[i] + y[j] + c[k];", CUBE[2]),
    *streamed(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) q[i][j] += p[i][k] * z[k * m + j];",
              *(replace(shape, cacheBlocks=True) for shape in (PRODUCT[1], WIDE))),
)  # fmt: skip


def composed(code: str, **keys: object) -> Case:
    """A loop with several transformations."""
    return Case(code, composite(**keys))


SUM = f"{FOR_I} {FOR_J} y[i] += p[i][j] * x[j];"
PLANES = f"{FOR_I} {FOR_J} z[i * m + j] = x[i] * y[j] + p[i][j];"
MATRICES = f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) q[i][j] += p[i][k] * z[k * m + j];"
COMPOSED = (
    composed(SUM, unrolljam=[["i"], [4]], scalarreplace=[True, "double"], opencl=[True, ["workItemsPerGroup", 3]]),
    composed(SUM.replace("x[j]", "p[j][i]"), unrolljam=[["i", "j"], [2, 3]], opencl=[True, ["streamCount", 2]]),
    composed(f"{FOR_I} {FOR_J} s += p[i][j] * p[j][i];", unrolljam=[["j"], [4]], opencl=True),
    composed(PLANES, unrolljam=[["i"], [3]], opencl=[True, ["nd", 2], ["workItemsPerGroup", [3, 2]]]),
    composed(PLANES, unrolljam=[["i"], [3]], opencl=[True, ["coarsen", 2], ["workItemsPerGroup", 3]]),
    composed(MATRICES, unrolljam=[["i"], [2]], opencl=[True, ["nd", 2], ["cacheBlocks", True], ["workItemsPerGroup", [3, 2]]]),
    composed(MATRICES.replace("z[k * m + j]", "p[k][j]"), unrolljam=[["i", "k"], [2, 2]],
             opencl=[True, ["nd", 2], ["workItemsPerGroup", [3, 2]]]),
    composed(f"{FOR_I} {{ z[i] = x[i] + x[i + 1]; s += x[i]; }}", unrolljam=[["i"], [4]], opencl=[True, ["cacheBlocks", True]]),
)  # fmt: skip


@pytest.mark.proof
def test_blocks_of_inner_loops_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(BLOCKED):
        tree = transformed(case, number)
        assert tree is not None, case
        assert all(plan.blocks for plan in kernel_plans(tree)), case
    # Without optimisations kernels with barriers are built several times faster.
    assert assert_same(BLOCKED, tmp_path, "-cl-opt-disable") >= 3 * len(BLOCKED)


def test_slices_in_several_queues_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(STREAMED):
        tree = transformed(case, number)
        assert tree is not None, case
        assert all("orio_from_" in device_program([plan]) for plan in kernel_plans(tree))
    assert assert_same(STREAMED, tmp_path, "-cl-opt-disable") >= 3 * len(STREAMED)


def test_iterations_that_unrolling_leaves_over_run_on_the_device(tmp_path: Path) -> None:
    for number, case in enumerate(COMPOSED):
        tree = transformed(case, number)
        assert tree is not None, case
        assert loops_in(tree) == [], emit(tree)
        # Where the kernel maps what is unrolled, its items do several iterations side by side, and none is left over.
        assert len(kernel_plans(tree)) == 1 + ("coarsen" in repr(case) and "coarsen=1," not in repr(case)), (
            case
        )
    assert assert_same(COMPOSED, tmp_path, "-cl-opt-disable") >= 3 * len(COMPOSED)
