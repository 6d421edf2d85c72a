"""Regions on an OpenCL device compute what they compute in C: arrays, scalars and indices, bit by bit.

The data are small whole numbers, so that sums are exact in any order and with or without fused operations.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from opencl_cases import CUBE, FOR_I, FOR_J, LINE, PLANE, SIDE, Case, assert_same, staged, transformed
from random_offloads import random_offload, random_stencil

from orio_py.kernel.call import kernel_plans
from orio_py.kernel.phases import spread_loops
from orio_py.kernel.plan import Direction, Distribution, Layout
from orio_py.transformation.offload.opencl import OpenCL


def shapes(code: str) -> list[Case]:
    """A loop in several launch shapes."""
    return [
        Case(code),
        Case(code, OpenCL(workItemsPerGroup=(3,), unrollInner=4)),
        Case(code, OpenCL(workGroups=(2,), workItemsPerGroup=(2,), sizeHint=True, vecHint=4)),
        Case(code, OpenCL(workGroups=(3,), workItemsPerGroup=(1,), spread=Distribution.BLOCKED)),
        Case(code, OpenCL(coarsen=3, workItemsPerGroup=(2,))),
    ]


def drivers(code: str) -> list[Case]:
    """A loop whose items the driver puts into groups."""
    return [
        Case(code, OpenCL(workItemsPerGroup=(0,))),
        Case(code, OpenCL(workItemsPerGroup=(0,), coarsen=3, unrollInner=2)),
        Case(code, OpenCL(workItemsPerGroup=(0,), streamCount=2)),
    ]


def planes(code: str) -> list[Case]:
    """A nest of two loops, on one and two dimensions."""
    return [
        Case(code),
        Case(code, OpenCL(nd=2)),
        Case(code, OpenCL(nd=("j", "i"), workItemsPerGroup=(2, 3))),
        Case(code, OpenCL(nd=2, workGroups=(2, 1), workItemsPerGroup=(3, 2), spread=Distribution.BLOCKED)),
        Case(code, OpenCL(nd=2, coarsen=2, workItemsPerGroup=(2, 2))),
    ]


CASES = (
    *shapes(f"{FOR_I} y[i] += 3 * x[i];"),
    *shapes(f"{FOR_I} {{ t = x[i] + 1; y[i] = t * t; s += t; count++; }}"),
    *shapes(f"{FOR_I} {{ if (x[i] > mx) mx = x[i]; s -= y[i]; bits ^= c[i]; }}"),
    *shapes("for (i = n - 1; i >= 0; i -= 2) { y[i] = x[i]; ok = c[i] > 1 && ok; }"),
    *shapes("for (i = 1; i < n - 1; i++) z[i] = x[i - 1] + x[i + 1];"),
    *shapes(f"{FOR_I} {{ if (i > 0 && i < n - 1) z[i] = x[i - 1] + x[i + 1]; else z[i] = 0; }}"),
    *shapes(f"{FOR_I} {FOR_J} y[i] += p[i][j] * x[j];"),
    *shapes(f"{FOR_I} for (j = 0; j <= i; j++) s += p[i][j] * q[j][i];"),
    *shapes("for (u = 0; u < n; u++) f[u] = fmaxf(f[u], 2) + sqrtf(4) + abs(-3);"),
    *shapes("for (w = 2; w <= n - 2; w += 3) { c[w] = 2 * c[w]; c[w + 1] = 0; }"),
    *shapes(f"{FOR_I} {{ int j; double v = 0; for (j = 0; j < m; j++) {{ v += x[j]; }} y[i] = v; }}"),
    *shapes("for (int e = 0; e < n; e++) y[e] = e % 2 ? x[e] : -x[e];"),
    *shapes(f"{FOR_I} {{ int e; double v = x[i]; for (e = 0; e < m; e++) {{ if (v > 9) break; v += 2; }} y[i] = v; }}"),
    *shapes(f"{FOR_I} {{ double v = x[i]; for (int e = 0; e < m; e++) {{ if (e == 1) continue; v += e; }} y[i] = v; }}"),
    *shapes(f"{FOR_I} {{ bits &= c[i]; count |= c[i]; ok = c[i] > 5 || ok; t = 2 * c[i]; *(y + i) = t; }}"),
    *drivers(f"{FOR_I} {{ t = x[i] + 1; y[i] = t * c[i]; }}"),
    *drivers("for (i = n - 1; i > 0; i -= 2) z[i] = x[i] + x[i - 1];"),
    Case(f"{FOR_I} y[i] = x[i] + 1;", OpenCL(workItemsPerGroup=(0,), vectorWidth=4)),
    Case(f"{FOR_I} {FOR_J} q[i][j] = p[i][j] + x[j];", OpenCL(nd=2, workItemsPerGroup=(0,))),
    *planes(f"{FOR_I} {FOR_J} q[i][j] = p[i][j] + x[j];"),
    *planes(f"{FOR_I} {FOR_J} z[i * m + j] = x[i] * y[j];"),
    *planes(f"{FOR_I} {FOR_J} {{ s += p[i][j]; if (p[i][j] < mx) mx = p[i][j]; }}"),
    *planes("for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++)"
            " q[i][j] = p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1] - 4 * p[i][j];"),
    Case(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) z[(i * m + j) * n + k] = x[i] + y[j] + c[k];", OpenCL(nd=3)),
    Case(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) s += x[i] + y[j] + c[k];",
         OpenCL(nd=3, workGroups=(1, 2, 1), workItemsPerGroup=(2, 1, 3))),
    Case(f"{FOR_I} x[i] = i; {FOR_J} y[j] = x[0];"),
    Case(f"{FOR_I} {FOR_J} y[i] += p[i][j];", live="i j"),
    Case(f"{FOR_I} {FOR_J} q[i][j] = p[i][j];", OpenCL(nd=2), live="i j"),
    Case("for (i = 1; i <= n - 1; i += 3) y[i] = x[i];", live="i"),
    Case("for (i = 0; i != n; i++) { for (j = m; j != 0; j--) y[i] += p[i][j - 1]; s += y[i]; }", live="i"),
    Case("for (u = 0; u != n; u++) for (i = 0; i != m; i++) q[u][i] = p[u][i];", OpenCL(nd=2), live="i u"),
    Case("for (i = 9; i != -1; i -= 2) if (i < 6) q[2][i] = p[i][1];", live="i"),
)  # fmt: skip


INSIDE = "for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++)"
STAGED = (
    *staged("for (i = 1; i < n - 1; i++) z[i] = x[i - 1] + 2 * x[i] + x[i + 1];", *LINE),
    *staged("for (i = n - 2; i > 0; i--) { z[i] = x[i - 1] - x[i + 1]; s += x[i] * c[i]; }", *LINE),
    *staged("for (i = 1; i < n - 1; i += 2) y[i] = x[i - 1] - x[i + 1];", *LINE[1:]),
    *staged("for (i = n; i >= 3; i -= 3) y[i] = x[i - 3] - x[i] + f[i - 1] * f[i + 2];", *LINE[1:3]),
    *staged(f"{FOR_I} {{ if (i > 0 && i < n - 1) z[i] = x[i - 1] + x[i + 1]; else z[i] = 0; }}", *LINE[:2]),
    *staged("for (u = 1; u < n; u++) f[u] = c[u] - c[u - 1];", *LINE[1:3]),
    *staged("for (w = 0; w < n; w++) y[w] = x[w] * x[w + 1];", *LINE[1:3]),
    *staged(f"{FOR_I} {{ int e = i + 1; t = x[e]; y[i] = t * x[i]; mx = t > mx ? t : mx; }}", *LINE[1:3]),
    *staged(f"{FOR_I} for (j = 0; j < m; j++) {{ if (j > 2) q[i][j] = p[i][j] + x[i + j] * c[i + 1] - c[i]; }}",
            *LINE[1:3]),
    *staged(f"{INSIDE} q[i][j] = p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1] - 4 * p[i][j];", *PLANE),
    *staged(f"{INSIDE} q[i][j] = z[(i - 1) * m + j] + z[(i + 1) * m + j] + z[i * m + j - 1] + z[i * m + j + 1];",
            *PLANE),
    *staged(f"{INSIDE} if (p[i - 1][j - 1] > p[i + 1][j + 1]) q[i][j] = p[i + 1][j - 1]; else s += p[i][j];", *PLANE[:3]),
    *staged(f"{FOR_I} {FOR_J} q[i][j] = x[i] * y[j] + p[i][j];", *PLANE[:3]),
    *staged("for (i = 1; i < n; i++) for (j = m - 1; j >= 0; j -= 2) q[i][j] = p[i][j] - p[i - 1][j];", *PLANE[1:3]),
    *staged(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) z[(i * m + j) * n + k] = x[i] + y[j] + c[k] + c[k + 1];", *CUBE),
    *staged("for (i = 0; i < n - 1; i++) for (j = 1; j < m; j++) for (k = 1; k < n - 1; k++)"
            " s += z[(i * m + j) * n + k - 1] - 2 * z[((i + 1) * m + j) * n + k] + 3 * z[(i * m + j - 1) * n + k + 1];",
            *CUBE),
)  # fmt: skip
TURNED = (
    *staged(f"{FOR_I} {FOR_J} q[i][j] += p[j][i];", *PLANE),
    *staged(f"{FOR_I} {FOR_J} z[j * n + i] = p[i][j] * i - j;", *PLANE),
    *staged(f"{FOR_I} {FOR_J} {{ z[j * n + i] -= p[i][j]; if (z[j * n + i] > 2) q[i][j] = z[j * n + i]; }}", *PLANE),
    *staged("for (i = 2; i < n; i++) for (j = 1; j <= m - 2; j++) { q[j][i] = p[i][j]; s += q[j][i]; }", *PLANE),
    *staged(f"{FOR_I} for (j = m - 1; j >= 0; j--) {{ q[j][i] = p[j][i] + p[j][i + 1]; }}", *PLANE),
    *staged(f"{FOR_I} {FOR_J} if (p[i][j] > 3) q[j][i] = p[i][j];", *PLANE[:3]),
    *staged(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) z[(j * n + k) * n + i] = p[k][i] + x[j];", *CUBE),
    *staged(f"{FOR_I} {FOR_J} {{ t = x[i]; for (k = 0; k < n; k++) t += p[k][j] * p[i][k]; q[j][i] = t; }}", *PLANE),
)  # fmt: skip
MARCHES = (
    OpenCL(nd=3, workItemsPerGroup=(2, 3, 1), march=4, cacheBlocks=True),
    OpenCL(nd=3, workItemsPerGroup=(3, 2, 1), march=3, workGroups=(2, 1, 2), cacheBlocks=True, sizeHint=True),
    OpenCL(nd=("j", "i", "k"), workItemsPerGroup=(4, 1, 1), march=9, unrollInner=2, cacheBlocks=True),
    OpenCL(nd=3, march=2, workItemsPerGroup=(4, 2, 1)),
)
PLANES = "for (i = 1; i < n - 2; i++) for (j = 1; j < m - 1; j++) for (k = 1; k < n - 1; k++)"
MARCHED = tuple(
    Case(code, shape)
    for code, shapes in (
        (f"{PLANES} s += (i + 2 * j + 3 * k) * (z[((i - 1) * m + j) * n + k] + 2 * z[((i + 2) * m + j) * n + k]"
         " - z[(i * m + j - 1) * n + k] - z[(i * m + j + 1) * n + k] + z[(i * m + j) * n + k + 1]);", MARCHES),
        (f"{PLANES} {{ t = z[((i + 1) * m + j) * n + k + 1] - z[((i - 1) * m + j - 1) * n + k] + c[k] + c[k + 1];"
         " if (t > i) s += t * p[i][j]; else count += i; }", MARCHES[:3]),
        (f"{PLANES} s += z[(i * m + j) * n + k] * z[((i + 1) * m + j) * n + k] - z[((i + 1) * m + j) * n + k + 1];", MARCHES),
        (f"{INSIDE} q[i][j] = p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1] - 4 * p[i][j];",
         (OpenCL(nd=2, workItemsPerGroup=(4, 1), march=3, cacheBlocks=True),
          OpenCL(nd=("j", "i"), workItemsPerGroup=(3, 1), march=20, workGroups=(1, 1), cacheBlocks=True),
          OpenCL(nd=2, workItemsPerGroup=(4, 1), march=5))),
        ("for (i = 1; i < n - 1; i++) for (j = m - 2; j > 0; j -= 2) q[i][j] = p[i - 1][j + 1] + p[i][j] - p[i][j - 1];",
         (OpenCL(nd=2, workItemsPerGroup=(3, 1), march=4, cacheBlocks=True),)),
    )
    for shape in shapes
)  # fmt: skip


def in_vectors(code: str, *shapes: OpenCL) -> list[Case]:
    """A loop whose items do several iterations at once, in several launch shapes."""
    return [Case(code, shape) for shape in shapes]


WIDE = (
    OpenCL(vectorWidth=2, workItemsPerGroup=(2,)),
    OpenCL(vectorWidth=4, workItemsPerGroup=(2,), workGroups=(1,), sizeHint=True, vecHint=4),
    OpenCL(vectorWidth=4, workItemsPerGroup=(1,), workGroups=(2,), spread=Distribution.BLOCKED),
    OpenCL(vectorWidth=2, workItemsPerGroup=(2,), coarsen=2, unrollInner=2),
    OpenCL(vectorWidth=8),
)
WIDE_PLANE = (
    OpenCL(nd=2, vectorWidth=4, workItemsPerGroup=(2, 3)),
    OpenCL(nd=2, vectorWidth=2, workGroups=(2, 1), workItemsPerGroup=(1, 2), spread=Distribution.BLOCKED),
)
VECTORS = (
    *in_vectors(f"{FOR_I} y[i] += 3 * x[i];", *WIDE),
    *in_vectors(f"{FOR_I} {{ t = x[i] + 1; y[i] = t * t; s += t; count++; }}", *WIDE[:2]),
    *in_vectors(f"{FOR_I} {{ if (x[i] > mx) mx = x[i]; s -= y[i]; bits ^= c[i]; ok = c[i] > 1 && ok; }}", *WIDE),
    *in_vectors("for (i = n - 1; i >= 0; i--) { y[i] = x[i] - i; ok = c[i] || ok; }", *WIDE[2:]),
    *in_vectors("for (i = 2; i < n - 1; i++) z[n - i] = i % 3 * y[n - i + 1];", *WIDE[1:3]),
    *in_vectors("for (i = 1; i < n - 1; i++) z[i] = x[i - 1] + c[i] * f[i + 1] - (int)y[i] / 2;", *WIDE[1:3]),
    *in_vectors("for (u = 0; u < n; u++) f[u] = fmaxf(f[u], 2) + sqrtf(4) + abs(c[u] - 4) + u;", *WIDE[1:3]),
    *in_vectors("for (w = 2; w < n; w++) c[w] = (2 * c[w] << w % 3) + !c[w] - ~c[w] + (w > 4);", *WIDE[1:3]),
    *in_vectors(f"{FOR_I} y[i] = c[i] > 3 && x[i] < 7 ? x[i] : x[i] != 2 ? -x[i] : isnan(x[i]) + 1;", *WIDE[1:3]),
    *in_vectors(f"{FOR_I} {{ if (c[i] > 6) y[i] = x[i] / 2; else if (c[i] > 2) {{ double v = x[i]; v++; y[i] = v; }} }}",
                *WIDE[1:3]),
    *in_vectors(f"{FOR_I} {{ int e = i + 1; for (j = 0; j < m; j++) {{ if (j == 2) continue; s += p[1][e - 1] * p[2][j]; }} }}",
                *WIDE[1:3]),
    *in_vectors(f"{FOR_J} q[3][j] = p[2][j] * (n > 7 ? x[j] : 2);", *WIDE[1:3]),
    *in_vectors(f"{FOR_I} {FOR_J} q[i][j] = p[i][j] + x[j] * y[i];", *WIDE_PLANE),
    *in_vectors(f"{FOR_I} {FOR_J} {{ s += p[i][j]; if (p[i][j] < mx) mx = p[i][j]; }}", *WIDE_PLANE),
    *in_vectors(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) q[i][j] += p[i][k] * p[k][j];", *WIDE_PLANE),
    Case(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) z[(i * m + j) * n + k] = x[i] + y[j] + c[k];",
         OpenCL(nd=3, vectorWidth=4, workItemsPerGroup=(2, 1, 2))),
)  # fmt: skip


BY_COLUMNS = (
    OpenCL(layout=Layout.COLUMN),
    OpenCL(layout=Layout.COLUMN, vectorWidth=4, workItemsPerGroup=(2,)),
)
COLUMNS = (
    *in_vectors(f"{FOR_I} {FOR_J} y[i] += p[i][j] * q[j][i];", *BY_COLUMNS[:1]),
    *in_vectors(f"{FOR_I} {{ t = 0; {FOR_J} t += p[i][j] * x[j]; y[i] = t; }}", *BY_COLUMNS),
    *in_vectors("for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++)"
                " q[i][j] = p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1] - 4 * q[i][j];",
                *BY_COLUMNS, OpenCL(nd=2, layout=Layout.COLUMN),
                OpenCL(nd=("j", "i"), layout=Layout.COLUMN, workItemsPerGroup=(2, 3), cacheBlocks=True)),
    *in_vectors(f"for (i = n - 1; i >= 0; i -= 2) for (j = 0; j < {SIDE}; j++) q[i][j] = i - p[2][j];", *BY_COLUMNS[:1]),
    *in_vectors(f"for (i = 0; i < {SIDE}; i++) for (j = 0; j < {SIDE}; j++) {{ q[i][j] = i; s += p[i][j]; }}",
                *BY_COLUMNS, OpenCL(nd=2, layout=Layout.COLUMN)),
)  # fmt: skip


def updates(code: str) -> list[Case]:
    """A loop that updates elements in steps, in several launch shapes."""
    return [
        Case(code),
        Case(code, OpenCL(workItemsPerGroup=(3,), workGroups=(2,), unrollInner=2)),
        Case(code, OpenCL(workItemsPerGroup=(0,))),
        Case(code, OpenCL(coarsen=2, workItemsPerGroup=(4,), streamCount=2)),
    ]


UPDATES = (
    *updates(f"{FOR_I} p[c[i]][1] += x[i];"),
    *updates(f"{FOR_I} {{ p[c[i] + 1][2]--; if (x[i] > 4) p[c[i]][2] = p[c[i]][2] - y[i]; }}"),
    *updates(f"{FOR_I} {{ y[i] = x[i] + i; {FOR_J} z[j] = x[i] * c[i] + z[j]; }}"),
    *updates(f"{FOR_I} {FOR_J} {{ f[j] += x[i] * 2; f[j] += 0.5; }}"),
    *updates(f"{FOR_I} {FOR_J} {{ c[j]++; c[j] -= x[i] > 4; c[j] = i + c[j]; }}"),
    *updates(f"{FOR_I} {FOR_J} c[j] ^= i * 3;"),
    *updates(f"{FOR_I} {FOR_J} c[j] *= x[i] > 3 ? -1 : 1;"),
    *updates(f"{FOR_I} {FOR_J} if (i * j % 7 > c[j]) c[j] = i * j % 7;"),
    *updates(f"{FOR_I} {FOR_J} {{ if (x[i] < z[j]) z[j] = x[i]; f[j] = f[j] > y[i] ? f[j] : y[i]; }}"),
    *updates(f"{FOR_I} {FOR_J} {{ f[j] = fminf(x[i], f[j]); z[j] = fmax(z[j], y[i]); }}"),
    *planes(f"{FOR_I} {FOR_J} z[j] += p[i][j];"),
    *planes(f"{FOR_I} {FOR_J} {{ c[i] |= j; z[i + j] *= p[i][j] > 5 ? 2 : 1; }}"),
    *staged("for (i = 1; i < n - 1; i++) p[c[i]][3] += x[i - 1] + 2 * x[i] + x[i + 1];", *LINE[:4]),
)  # fmt: skip
"""Sums of small whole numbers are exact, whatever their order."""


def rows(code: str) -> list[Case]:
    """A loop over rows, each done by several items together."""
    return [
        Case(code, OpenCL(rowThreads=2)),
        Case(code, OpenCL(rowThreads=5, sizeHint=True)),
        Case(code, OpenCL(rowThreads=16, unrollInner=2)),
    ]


ROWS = (
    *rows(f"{FOR_I} {{ t = 0; {FOR_J} t += p[i][j] * x[j]; y[i] = t; }}"),
    *rows(f"{FOR_I} {FOR_J} y[i] += p[i][j] * x[j];"),
    *rows(f"{FOR_I} {{ double v = 3; {FOR_J} {{ q[i][j] = p[i][j] - v; v = p[i][j] > v ? p[i][j] : v; }} y[i] = v; }}"),
    *rows(f"{FOR_I} {{ double top = p[i][0], v = 0; for (j = 1; j < m; j++) if (p[i][j] > top) top = p[i][j];"
          f" {FOR_J} {{ q[i][j] = p[i][j] - top; v += q[i][j]; }} y[i] = v; {FOR_J} q[i][j] += v * j; }}"),
    *rows(f"{FOR_I} {{ {FOR_J} q[i][j] = p[i][j] + 1; y[i] = q[i][0]; {FOR_J} z[i * m + j] = q[i][m - 1 - j] + y[i]; }}"),
    *rows(f"{FOR_I} {{ int low = 9; for (j = m - 1; j >= 1; j -= 2) low = c[j] < low ? c[j] : low; f[i] = low; }}"),
    *rows(f"{FOR_I} {{ int from = i / 2, to = i + c[i] % 2; t = 0; for (j = from; j < to; j++) t += p[2][j]; y[i] = t; }}"),
    *rows(f"{FOR_I} {{ {FOR_J} z[j] += x[i]; p[c[i]][0] += 1; }}"),
    Case(f"{FOR_I} {FOR_J} {{ t = 0; for (k = 0; k < n; k++) t += p[i][k] * p[k][j]; q[i][j] = t; }}", OpenCL(nd=2, rowThreads=8)),
    Case(f"{FOR_I} {FOR_J} for (k = 0; k < n; k++) q[i][j] += p[i][k] * p[k][j];", OpenCL(nd=("j", "i"), rowThreads=4)),
)  # fmt: skip


def scans(code: str) -> list[Case]:
    """A loop with a running value, in tiles of several sizes."""
    return [
        Case(code, OpenCL(workItemsPerGroup=(2,), workGroups=(3,))),
        Case(code, OpenCL(workItemsPerGroup=(5,), workGroups=(2,), sizeHint=True)),
    ]


SCANS = (
    *scans(f"{FOR_I} {{ s += x[i]; y[i] = s; }}"),
    *scans(f"{FOR_I} {{ z[i] = s; s += x[i] - 1; }}"),
    *scans("for (i = n - 1; i >= 0; i -= 2) { if (x[i] > mx) mx = x[i]; y[i] = mx - x[i]; }"),
    *scans("for (u = 1; u < n; u++) { t = x[u]; if (t > 2) { t -= 1; count += 2; } z[u] = t + count; }"),
    *scans(f"{FOR_I} {{ t = 0; {FOR_J} {{ if (p[i][j] > 3) break; t += 2; }} z[i] = s; s += t; }}"),
    *scans(f"{FOR_I} {{ bits ^= c[i]; c[i] = bits; }}"),
    *scans(f"{FOR_I} {{ {FOR_J} s += p[i][j]; y[i] = s; }}"),
    *scans(f"{FOR_I} {{ {FOR_J} {{ q[i][j] = count; if (p[i][j] > 1) count++; }} }}"),
    *scans("for (int e = 2; e <= n - 1; e++) { count = 2 + count; c[e] = count; }"),
)  # fmt: skip


COMPACTED = (
    *scans(f"{FOR_I} if (x[i] > 3) {{ z[count - 3 + n / 2] = x[i] + i; count++; }}"),
    *scans(f"{FOR_I} {{ t = x[i]; if (t > 2) {{ y[ok] = t; z[ok++] = i; }} }}"),
    *(
        Case(code, OpenCL(workItemsPerGroup=(2,), workGroups=(3,)))
        for code in (
            f"{FOR_I} if (c[i] > 20) z[count++] = 1;",
            "for (i = n - 1; i >= 0; i--) { if (c[i] > 1) { if (c[i] < 8) z[count++] = c[i]; } y[i] = count; }",
            "for (u = 0; u < n; u++) { if (x[u] > 4) { int at = ok++; f[at] = x[u]; y[at] = at; } }",
            f"{FOR_I} {{ t = 0; {FOR_J} t += p[i][j]; if (t < 30) {{ y[ok] = t; ok += 1; }} }}",
            f"{FOR_I} if (x[i] > 1 && ok < m + 1) y[ok++] = x[i];",
            f"{FOR_I} {{ if (x[i] > 1) {{ if (m > ok) y[ok] = x[i]; ok++; }} z[i] = ok; }}",
            f"{FOR_I} if (x[i] > 1) {{ {FOR_J} z[(ok - 1) * m + j] = p[i][j]; ok++; }}",
        )
    ),
)  # fmt: skip


SHORT = (
    Case(f"unsigned char own[4] = {{9}}; {FOR_I} own[c[i] & 3] += x[i] - 4 ? 2 : c[i] ? 3 : 4; s += own[1];", OpenCL(loop="i")),
    Case(f"unsigned char own[8] = {{250, 7}}; {FOR_I} own[c[i] & 7] += 100 + i; for (k = 0; k < 8; k++) s += own[k];", OpenCL(loop="i")),
    Case(
        f"signed char own[2][4] = {{{{100}}}}; {FOR_I} {{ own[c[i] & 1][2] -= i * 77; own[1][i & 3]--; }} s += own[0][2] - 3 * own[1][1];",
        OpenCL(loop="i", workItemsPerGroup=(3,), cacheUpdates=True),
    ),
    Case(f"short own[n + 1]; own[n] = 4; {FOR_I} own[n] *= 2 * c[i] + 1; bits = own[n];", OpenCL(loop="i")),
)  # fmt: skip


FAST = "-cl-opt-disable"
"""The device's optimiser takes most of the time of a test, and is not what is tested."""


@pytest.mark.proof
def test_kernels_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(CASES):
        assert transformed(case, number) is not None, case
    assert assert_same(CASES, tmp_path) >= 3 * len(CASES)


@pytest.mark.proof
def test_updates_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(UPDATES):
        tree = transformed(case, number)
        assert tree is not None, case
        assert any(plan.atomics for plan in kernel_plans(tree)), case
    assert assert_same(UPDATES, tmp_path, FAST) >= 3 * len(UPDATES)


def test_updates_of_short_elements_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(SHORT):
        tree = transformed(case, number)
        assert tree is not None, case
        assert any(plan.atomics for plan in kernel_plans(tree)), case
    assert assert_same(SHORT, tmp_path, FAST) >= 3 * len(SHORT)


@pytest.mark.proof
def test_rows_of_groups_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(ROWS):
        assert transformed(case, number) is not None, case
    assert assert_same(ROWS, tmp_path, FAST) >= 3 * len(ROWS)


def test_scans_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(SCANS):
        tree = transformed(case, number)
        assert tree is not None, case
        plans = kernel_plans(tree)
        assert len(plans) == 2, case
        assert any(loop.value is not None for loop in spread_loops(plans[1].body)), case
    assert assert_same(SCANS, tmp_path, FAST) >= 3 * len(SCANS)


def test_what_is_kept_side_by_side_is_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(COMPACTED):
        tree = transformed(case, number)
        assert tree is not None, case
        totals, values = kernel_plans(tree)
        assert not totals.reductions
        # How many elements rows have is known only where there are any.
        written = [buffer for buffer in values.buffers if buffer.direction is not Direction.IN]
        assert all(b.direction is Direction.OUT for b in written) or "z[(ok - 1) * m + j]" in case.code, case
    assert assert_same(COMPACTED, tmp_path, FAST) >= 3 * len(COMPACTED)


@pytest.mark.proof
def test_tiles_in_local_memory_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(STAGED):
        tree = transformed(case, number)
        assert tree is not None, case
        assert all(plan.staged for plan in kernel_plans(tree)), case
    assert assert_same(STAGED, tmp_path) >= 3 * len(STAGED)


def test_vectors_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(VECTORS):
        tree = transformed(case, number)
        assert tree is not None, case
        assert all(plan.lanes for plan in kernel_plans(tree)), case
    assert assert_same(VECTORS, tmp_path, FAST) >= 3 * len(VECTORS)


def test_arrays_by_columns_compute_the_same(tmp_path: Path) -> None:
    for number, case in enumerate(COLUMNS):
        tree = transformed(case, number)
        assert tree is not None, case
        assert any(buffer.rows for plan in kernel_plans(tree) for buffer in plan.buffers), case
    assert assert_same(COLUMNS, tmp_path, FAST) >= 3 * len(COLUMNS)


def test_marching_computes_the_same(tmp_path: Path) -> None:
    plans = []
    for number, case in enumerate(MARCHED):
        tree = transformed(case, number)
        assert tree is not None, case
        plans += kernel_plans(tree)
    marches = [plan.march for plan in plans if plan.march is not None]
    assert len(marches) == len(MARCHED)
    assert {len(march.rings) for march in marches} == {0, 1, 2}
    assert {ring.planes for march in marches for ring in march.rings} >= {1, 2, 3}
    assert {queue.length for march in marches for queue in march.queues} >= {2, 3, 4}
    assert assert_same(MARCHED, tmp_path, FAST) >= 3 * len(MARCHED)


def test_tiles_of_what_lies_apart_compute_the_same(tmp_path: Path) -> None:
    trees = [transformed(case, number) for number, case in enumerate(TURNED)]
    assert None not in trees
    tiles = [
        tile for tree in trees if tree is not None for plan in kernel_plans(tree) for tile in plan.staged
    ]
    assert {"p", "q", "x", "z"} == {tile.array for tile in tiles}
    assert {"q", "z"} == {tile.array for tile in tiles if tile.store}
    assert any(tile.store and tile.load for tile in tiles)
    assert any(tile.store and not tile.load for tile in tiles)
    assert assert_same(TURNED, tmp_path, FAST) >= 3 * len(TURNED)


@pytest.mark.proof
def test_random_stencils_compute_the_same(tmp_path: Path) -> None:
    draw = Random(6)
    cases = [Case(*random_stencil(draw)) for _ in range(36)]
    trees = [tree for number, case in enumerate(cases) if (tree := transformed(case, number)) is not None]
    assert sum(all(plan.staged for plan in kernel_plans(tree)) for tree in trees) >= 10
    assert assert_same(cases, tmp_path) >= 10


@pytest.mark.proof
def test_random_nests_compute_the_same(tmp_path: Path) -> None:
    draw = Random(5)
    cases = [Case(*random_offload(draw)) for _ in range(40)]
    assert assert_same(cases, tmp_path) >= 20
