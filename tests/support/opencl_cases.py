"""Regions over a fixed set of variables, run in C and on an OpenCL device, and compared bit by bit."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from c_trees import context, parse
from device_process import each_on_device
from opencl_runs import PROBLEMS, Device, library

from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import Node
from orio_py.ctree.verify import verify
from orio_py.kernel.call import kernel_plans
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Refusal
from orio_py.transformation.composite.composite import Composite
from orio_py.transformation.offload.opencl import OpenCL

SIDE = 12
DECLARATIONS = f"""int i, j, k, n, m; unsigned u; long w; double s, t, mx; int count, ok, bits;
double *x, *y, *z; float *f; int *c; double p[{SIDE}][{SIDE}], (*q)[{SIDE}];"""
SIGNATURE = f"""int n, int m, double *x, double *y, double *z, float *f, int *c, double (*p)[{SIDE}],
double (*q)[{SIDE}], double *out"""
SIZES = ((0, 3), (1, 1), (7, 5), (12, 9), (11, 12))
FOR_I = "for (i = 0; i < n; i++)"
FOR_J = "for (j = 0; j < m; j++)"


@dataclass(frozen=True)
class Case:
    """A region's code, what is made of it, and the indices that are read afterwards."""

    code: str
    transformation: OpenCL | Composite = field(default_factory=OpenCL)
    live: str = ""


def staged(code: str, *shapes: OpenCL) -> list[Case]:
    """A loop with tiles in local memory, in several launch shapes; items read single elements of these."""
    return [Case(code, replace(shape, cacheBlocks=True)) for shape in shapes if shape.vectorWidth == 1]


LINE = (
    OpenCL(),
    OpenCL(workItemsPerGroup=(4,)),
    OpenCL(workItemsPerGroup=(3,), workGroups=(2,), sizeHint=True),
    OpenCL(workItemsPerGroup=(2,), coarsen=2, unrollInner=2),
    OpenCL(workItemsPerGroup=(2,), localTile=(6,)),
    OpenCL(workItemsPerGroup=(2,), registerTile=(3,)),
    OpenCL(workItemsPerGroup=(2,), registerTile=(2,), vectorWidth=2),
)
PLANE = (
    OpenCL(nd=2),
    OpenCL(nd=("j", "i"), workItemsPerGroup=(2, 3)),
    OpenCL(nd=2, workItemsPerGroup=(3, 2), workGroups=(2, 1)),
    OpenCL(nd=2, workItemsPerGroup=(2, 2), coarsen=2),
    OpenCL(nd=2, workItemsPerGroup=(3, 2), localTile=(3, 4)),
    OpenCL(nd=2, workItemsPerGroup=(2, 1), localTile=(4, 3), coarsen=2),
    OpenCL(nd=2, workItemsPerGroup=(2, 1), registerTile=(4, 3)),
    OpenCL(nd=2, workItemsPerGroup=(1, 2), registerTile=(2, 2), vectorWidth=2),
)
CUBE = (
    OpenCL(nd=3, workItemsPerGroup=(2, 2, 1), localTile=(4, 2, 2)),
    OpenCL(nd=3),
    OpenCL(nd=3, workItemsPerGroup=(2, 3, 2), workGroups=(2, 1, 2)),
)


def transformed(case: Case, number: int) -> Node | None:
    """The region with its kernels; None where it is refused."""
    tree = parse(case.code)
    before = structure_digest(tree)
    live = f"x y z f c p q s mx count ok bits {case.live}"
    around = context(
        DECLARATIONS,
        live=live,
        assumptions=Assumptions(noalias=True, reassociate=True),
        label=f"case{number}",
    )
    try:
        result = case.transformation.apply(tree, around)
    except Refusal:
        return None
    finally:
        assert structure_digest(tree) == before, "the input was modified"
    assert verify(result) == []
    assert emit(case.transformation.apply(tree, around)) == emit(result)
    return result


def function(name: str, tree: Node, live: str) -> str:
    """A C function with the region."""
    return f"""void {name}({SIGNATURE}) {{
  int i = 77, j = 77, k = 77, count = 3, ok = 1, bits = 5; unsigned u = 7; long w = 7;
  double s = 11, t = 0, mx = 2;
  (void)i; (void)j; (void)k; (void)u; (void)w; (void)t; (void)n; (void)m; (void)x; (void)y; (void)z; (void)f;
  (void)c; (void)p; (void)q;
{emit(tree, indent="  ", braces=True)}
  out[0] = s; out[1] = mx; out[2] = count; out[3] = ok; out[4] = bits;
{"".join(f"  out[{5 + k}] = {index};" for k, index in enumerate(live.split()))}
}}
"""


class Data:
    """Equal inputs each time: small whole numbers."""

    def __init__(self, n: int, m: int) -> None:
        draw = np.random.default_rng(7)
        self.n, self.m = n, m
        self.doubles = [
            draw.integers(0, 9, size).astype(np.float64) for size in (n + m, n + m, n * m * (n + 1) + n + m)
        ]
        self.floats = draw.integers(0, 9, n + m).astype(np.float32)
        self.integers = draw.integers(0, 9, n + m).astype(np.int32)
        self.planes = [draw.integers(0, 9, (SIDE, SIDE)).astype(np.float64) for _ in range(2)]
        self.out = np.zeros(8)

    @property
    def arrays(self) -> list[np.ndarray]:
        return [*self.doubles, self.floats, self.integers, *self.planes]

    def arguments(self) -> list[object]:
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*self.arrays, self.out)]
        return [self.n, self.m, *pointers]


def assert_same(cases: Sequence[Case], folder: Path, *options: str) -> int:
    """Both compute the same for all sizes; the number of launches."""
    del folder
    return sum(each_on_device(_compare, cases, options))


def _compare(cases: Sequence[Case], options: Sequence[str]) -> int:
    """In a worker process: run all cases; the number of launches."""
    pairs = [(case, tree) for k, case in enumerate(cases) if (tree := transformed(case, k)) is not None]
    cases, trees = [case for case, _ in pairs], [tree for _, tree in pairs]
    plans = [plan for tree in trees for plan in kernel_plans(tree)]
    if not plans:
        return 0
    device = Device(plans, options)
    text = "\n".join(
        function(f"original_{k}", parse(case.code), case.live) + function(f"variant_{k}", tree, case.live)
        for k, (case, tree) in enumerate(zip(cases, trees, strict=True))
    )
    with TemporaryDirectory(prefix="orio-cases-") as folder:
        loaded = library(text, plans, device, Path(folder))
    for number, case in enumerate(cases):
        for n, m in SIZES:
            one, two = Data(n, m), Data(n, m)
            device.arrays = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in two.arrays]
            getattr(loaded, f"original_{number}")(*one.arguments())
            PROBLEMS.clear()
            getattr(loaded, f"variant_{number}")(*two.arguments())
            assert PROBLEMS == [], (PROBLEMS, case, n, m)
            for name, a, b in zip("xyzfcpqo", (*one.arrays, one.out), (*two.arrays, two.out), strict=True):
                assert np.array_equal(a, b), (case, n, m, name, a, b, emit(trees[number]))
    return device.launches
