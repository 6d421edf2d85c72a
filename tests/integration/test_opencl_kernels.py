"""Device text on an OpenCL device: the kernels of the OrCL paper and others, against numpy."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from c_trees import context, parse
from device_process import on_device
from opencl_runs import Device

from orio_py.codegen.device import host_parameters
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import KernelPlan
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.offload.opencl import OpenCL

DECLARATIONS = """int i, j, n, m; double s, mx, alpha; double *restrict x, *restrict y, *restrict A;
double *restrict p, *restrict q;"""
SHAPES = (
    OpenCL(),
    OpenCL(workItemsPerGroup=(100,), sizeHint=True, vecHint=4),
    OpenCL(workGroups=(7,), workItemsPerGroup=(32,)),
)


@dataclass(frozen=True)
class Launch:
    """A region's one kernel with values for what its host function is given: arrays, numbers, results of sums.

    Addresses are those of elements: `{"p": ("P", 1)}` passes that of the second element of array `P`.
    """

    code: str
    transformation: OpenCL
    values: Mapping[str, Any]
    live: str = "x y q s mx"
    addresses: Mapping[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])


def plan_of(launch: Launch) -> KernelPlan:
    around = context(DECLARATIONS, live=launch.live, assumptions=Assumptions(True, True))
    (plan,) = kernel_plans(launch.transformation.apply(parse(launch.code), around))
    return plan


def computed(launch: Launch, expected: Mapping[str, Any], rtol: float) -> Mapping[str, Any]:
    """In a worker process: what a kernel makes of the values.  Raises AssertionError where that is not expected."""
    plan, values = plan_of(launch), dict(launch.values)
    device = Device([plan])
    arrays = [value for value in values.values() if isinstance(value, np.ndarray)]
    device.arrays = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays]
    given = [_given(name, values, launch.addresses) for _, name in host_parameters(plan)]
    device.launch(plan.name, *given)
    found = {name: getattr(value, "value", value) for name, value in values.items()}
    for name, wanted in expected.items():
        np.testing.assert_allclose(found[name], wanted, rtol=rtol)
    return found


def run(launch: Launch, expected: Mapping[str, Any], rtol: float) -> Mapping[str, Any]:
    return on_device(computed, launch, expected, rtol)


def _given(name: str, values: Mapping[str, Any], addresses: Mapping[str, tuple[str, int]]) -> Any:
    array, first = addresses.get(name, (name, 0))
    found = values[array]
    if isinstance(found, ctypes._SimpleCData):
        return ctypes.addressof(found)
    return found.ctypes.data + first * found.itemsize if isinstance(found, np.ndarray) else found


def uniform(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape)


@pytest.mark.share(2)
@pytest.mark.parametrize("shape", SHAPES)
def test_axpy(shape: OpenCL) -> None:
    x, y = uniform(1000), uniform(1000)
    expected = y + 2.5 * x
    counts = {"orio_count_x": 1000, "orio_count_y": 1000, "orio_trips_i": 1000}
    values = {"x": x, "y": y, "alpha": 2.5, **counts}
    run(Launch("for (i = 0; i < n; i++) y[i] += alpha * x[i];", shape, values), {"y": expected}, 1e-14)


@pytest.mark.share(2)
@pytest.mark.parametrize("shape", SHAPES)
def test_matrix_times_vector(shape: OpenCL) -> None:
    matrix, x, y = uniform(90, 70), uniform(70), np.zeros(90)
    counts = {"orio_count_A": 6300, "orio_count_x": 70, "orio_count_y": 90, "orio_trips_i": 90}
    code = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[i] += A[i * m + j] * x[j];"
    run(Launch(code, shape, {"A": matrix, "x": x, "y": y, "m": 70, **counts}), {"y": matrix @ x}, 1e-13)


@pytest.mark.parametrize("nd", [1, 2])
def test_stencil(nd: int) -> None:
    n = 50
    p, q = uniform(n, n), np.zeros((n, n))
    code = """for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
    q[i * n + j] = p[(i - 1) * n + j] + p[(i + 1) * n + j] + p[i * n + j - 1] + p[i * n + j + 1];"""
    expected = np.zeros_like(p)
    expected[1:-1, 1:-1] = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    # The ranges: p without its first and last element, q without the first and last row and one more.
    values = {
        "p": p,
        "q": q,
        "orio_count_p": n * n - 2,
        "orio_count_q": n * n - 2 * n - 2,
        "n": n,
        "orio_first_q": n + 1,
        "orio_trips_i": n - 2,
        "orio_trips_j": n - 2,
    }
    launch = Launch(code, OpenCL(nd=nd), values, "q", {"p": ("p", 1), "q": ("q", n + 1)})
    assert [buffer.name for buffer in plan_of(launch).buffers] == ["p", "q"]
    run(launch, {"q": expected}, 1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_dot_product_keeps_the_value_from_before(shape: OpenCL) -> None:
    x, y, s = uniform(5001), uniform(5001), ctypes.c_double(3.0)
    counts = {"orio_count_x": 5001, "orio_count_y": 5001, "orio_trips_i": 5001}
    values = {"x": x, "y": y, "s": s, **counts}
    run(Launch("for (i = 0; i < n; i++) s += x[i] * y[i];", shape, values), {"s": 3.0 + float(x @ y)}, 1e-13)


def test_sums_are_the_same_in_every_run() -> None:
    x, found = uniform(9999), set[float]()
    for _ in range(5):
        s = ctypes.c_double(0.1)
        given = {"x": x, "s": s, "orio_count_x": 9999, "orio_trips_i": 9999}
        launch = Launch("for (i = 0; i < n; i++) s += x[i];", SHAPES[2], given)
        found.add(run(launch, {"s": 0.1 + float(x.sum())}, 1e-13)["s"])
    assert len(found) == 1


@pytest.mark.share(2)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("before", [-1.0, 9.0])
def test_maximum(shape: OpenCL, before: float) -> None:
    x, mx = uniform(777), ctypes.c_double(before)
    given = {"x": x, "mx": mx, "orio_count_x": 777, "orio_trips_i": 777}
    launch = Launch("for (i = 0; i < n; i++) if (x[i] > mx) mx = x[i];", shape, given)
    run(launch, {"mx": max(before, float(x.max()))}, 0.0)
