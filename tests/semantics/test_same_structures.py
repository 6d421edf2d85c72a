"""Kernels over arrays of structures and arrays in structures compute what the loops compute."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from c_trees import context, parse
from device_process import each_on_device
from opencl_runs import PROBLEMS, Device, library

from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Node
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import Layout, Layouts
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.offload.opencl import OpenCL

TYPES = """struct point { double x, y, z; };
typedef struct { float v[3], w; } cell;
struct grid { double *u, *v; double own[40]; };
struct item { char kind; double x; int n; float w[3]; unsigned short local; };
struct rule { int n; float f[2]; double x; };
"""
DECLARATIONS = (
    "int i, j, n; double s; struct point *p, *q; cell *c; struct grid g, *h; struct point plane[3][13];"
    "struct item *a, box[4][13]; struct rule *r, one;"
)
PARAMETERS = (
    "int n, struct point *p, struct point *q, cell *c, double *result, struct grid *h, struct point (*plane)[13], "
    "struct item *a, struct item (*box)[13], struct rule *r"
)
FOR_I = "for (i = 0; i < n; i++)"
MOVE = f"{FOR_I} {{ p[i].x += 2 * p[i].y - q[i + 1].z; (q + i)->x = i; s += p[i].z; }}"
CELLS = f"{FOR_I} {{ c[i].w = 0; for (j = 0; j < 3; j++) c[i].w += c[i].v[j] * c[2].v[j] + q->y; }}"
GRID = "for (i = 1; i < n; i++) { h->u[i] = h->v[i - 1] + h->own[i] + g.v[i]; s += (*h).own[i]; }"
PLANE = f"{FOR_I} for (j = 0; j < 3; j++) plane[j][i].z = plane[j][i].x + p[i].y;"
ITEMS = f"""{FOR_I} {{ a[i].x += 2 * a[i].kind + plane[2][a[i].n & 3].x; (a + i)->n++; a[i].local = (a[i].kind + 200) / 3;
  for (j = 0; j < 3; j++) a[i].w[j] = a[i].w[2 - j] / 2 + a[i].n / 2;
  s += a[i].w[0] + a[i].x; }}"""
LATER = "for (i = 1; i < n; i++) a[i - 1].w[2] = a[i - 1].kind / 2 + a[i - 1].x;"
BOX = f"{FOR_I} for (j = 0; j < 3; j++) {{ box[j][i].x = box[j][i].n / 2; box[j][i].w[j] += box[3][i].w[1 + 1]; }}"
FIRST = f"{FOR_I} q[i].x = a->x + a[i].kind + p->z;"
PAIRS = (
    f"{FOR_I} {{ p[i].z = 0; for (j = 0; j < n; j++) {{ if (i == j) continue;"
    " p[i].z += (p[i].x - p[j].x) * p[j].y; } }"
)
RULES = "for (i = one.n - 2; i < n - r->n; i++) p[i].x = one.x * i + (*r).x - r->f[1] * one.n / 2 + r->n;"
CASES = (
    (MOVE, OpenCL(workItemsPerGroup=(4,))),
    (MOVE, OpenCL(layout=Layout.SOA, workItemsPerGroup=(4,))),
    (MOVE, OpenCL(layout=Layout.SOA, vectorWidth=4, workItemsPerGroup=(2,))),
    (MOVE, OpenCL(layout=Layouts(named=(("q", Layout.SOA), ("p", Layout.ROW))), workItemsPerGroup=(4,))),
    (MOVE, OpenCL(streamCount=3, workItemsPerGroup=(2,))),
    (MOVE, OpenCL(streamCount=2, layout=Layout.SOA, workItemsPerGroup=(4,))),
    (CELLS, OpenCL()),
    (CELLS, OpenCL(layout=Layout.SOA, vectorWidth=2)),
    (GRID, OpenCL(vectorWidth=2)),
    (PAIRS, OpenCL()),
    (PAIRS, OpenCL(workItemsPerGroup=(4,), workGroups=(2,))),
    (PLANE, OpenCL()),
    (ITEMS, OpenCL(workItemsPerGroup=(4,))),
    (ITEMS, OpenCL(workItemsPerGroup=(2,), streamCount=3)),
    (LATER, OpenCL(workItemsPerGroup=(4,), streamCount=2)),
    (BOX, OpenCL(nd=2, workItemsPerGroup=(2, 3))),
    (FIRST, OpenCL()),
    (RULES, OpenCL()),
    (RULES, OpenCL(vectorWidth=2, layout=Layout.SOA)),
)
SIZES = (0, 1, 2, 7, 12)


def function(name: str, code: str) -> str:
    return f"""void {name}({PARAMETERS}) {{
  int i = 0, j = 0; double s = *result; struct grid g = *h; struct rule one = *r;
  (void)p; (void)q; (void)c; (void)h; (void)i; (void)j; (void)g; (void)plane;
  (void)a; (void)box; (void)one;
{code}
  *result = s;
}}
"""


ITEM = np.dtype([("kind", "i1"), ("x", "f8"), ("n", "i4"), ("w", "f4", 3), ("local", "u2")], align=True)
RULE = np.dtype([("n", "i4"), ("f", "f4", 2), ("x", "f8")], align=True)


class Data:
    """Small whole numbers, and structures that point to them."""

    def __init__(self, n: int) -> None:
        draw = np.random.default_rng(3)
        self.n = n
        sizes = (3 * n + 6, 3 * n + 6, 4 * n + 12, 1, n + 1, n + 1, 40, 3 * 13 * 3)
        self.parts = [draw.integers(0, 9, size).astype(np.float64) for size in sizes]
        self.parts[2] = self.parts[2].astype(np.float32)
        pointers = np.array([part.ctypes.data for part in self.parts[4:6]], np.int64)
        self.structures = [np.zeros(size, ITEM) for size in (n + 2, 4 * 13)]
        for array in self.structures:
            for name in ITEM.names or ():
                array[name] = draw.integers(0, 9, array[name].shape)
        self.rule = np.zeros(1, RULE)
        self.rule[0] = (2, (3, 4), 5)
        self.grid = np.concatenate([pointers.view(np.float64), self.parts[6]])

    @property
    def arrays(self) -> list[np.ndarray]:
        return [*self.parts[:6], self.grid[2:], self.parts[7], *self.structures, self.rule]

    def call(self, called: object) -> None:
        p, q, c, s = (ctypes.c_void_p(part.ctypes.data) for part in self.parts[:4])
        assert callable(called)
        called(
            self.n,
            p,
            q,
            c,
            s,
            ctypes.c_void_p(self.grid.ctypes.data),
            ctypes.c_void_p(self.parts[7].ctypes.data),
            *(ctypes.c_void_p(array.ctypes.data) for array in (*self.structures, self.rule)),
        )


def test_structures_compute_the_same() -> None:
    held = [
        any(buffer.rows for buffer in plan.buffers)
        for number in range(len(CASES))
        for plan in kernel_plans(transformed(number))
    ]
    assert held == [transformation.layout is not Layout.ROW for _, transformation in CASES]
    assert sum(each_on_device(compare, range(len(CASES)))) >= 3 * len(CASES)


def transformed(number: int) -> Node:
    code, transformation = CASES[number]
    around = context(
        TYPES + DECLARATIONS,
        live="p q c g h s a box r",
        assumptions=Assumptions(True, True),
        label=f"s{number}",
    )
    return transformation.apply(parse(code), around)


def compare(numbers: Sequence[int]) -> int:
    """In a worker process: run some cases; the number of launches."""
    trees = {number: transformed(number) for number in numbers}
    plans = [plan for tree in trees.values() for plan in kernel_plans(tree)]
    device = Device(plans, ("-cl-opt-disable",))
    text = TYPES + "".join(
        function(f"original_{k}", CASES[k][0]) + function(f"variant_{k}", emit(tree, braces=True))
        for k, tree in trees.items()
    )
    with TemporaryDirectory(prefix="orio-structures-") as folder:
        loaded = library(text, plans, device, Path(folder))
    for number in numbers:
        for n in SIZES:
            one, two = Data(n), Data(n)
            device.arrays = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in two.arrays]
            one.call(loaded[f"original_{number}"])
            PROBLEMS.clear()
            two.call(loaded[f"variant_{number}"])
            assert PROBLEMS == [], (PROBLEMS, CASES[number], n)
            for a, b in zip(one.arrays, two.arrays, strict=True):
                assert a.tobytes() == b.tobytes(), (CASES[number], n, a, b)
    return device.launches
