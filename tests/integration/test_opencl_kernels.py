"""Device text on an OpenCL device: the kernels of the OrCL paper and others, against numpy."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from c_trees import context, parse
from opencl_runs import Device

from orio_py.codegen.device import host_parameters
from orio_py.spec.assumptions import Assumptions
from orio_py.transform.offload.call import kernel_plans
from orio_py.transform.offload.opencl import OpenCL

DECLARATIONS = """int i, j, n, m; double s, mx, alpha; double *restrict x, *restrict y, *restrict A;
double *restrict p, *restrict q;"""
SHAPES = (
    OpenCL(),
    OpenCL(workItemsPerGroup=(100,), sizeHint=True, vecHint=4),
    OpenCL(workGroups=(7,), workItemsPerGroup=(32,)),
)


def run(code: str, transformation: OpenCL, values: Mapping[str, Any]) -> None:
    """Run the one kernel of some code with values for what its host function is given."""
    around = context(DECLARATIONS, live="x y q s mx", assumptions=Assumptions(True, True))
    (plan,) = kernel_plans(transformation.apply(parse(code), around))
    device = Device([plan])
    arrays = [value for value in values.values() if isinstance(value, np.ndarray)]
    device.arrays = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays]
    given = [_given(name, values) for _, name in host_parameters(plan)]
    device.launch(plan.name, *given)


def _given(name: str, values: Mapping[str, Any]) -> Any:
    found = values[name]
    if isinstance(found, ctypes._SimpleCData):
        return ctypes.addressof(found)
    return found.ctypes.data if isinstance(found, np.ndarray) else found


def uniform(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_axpy(shape: OpenCL) -> None:
    x, y = uniform(1000), uniform(1000)
    expected = y + 2.5 * x
    counts = {"orio_count_x": 1000, "orio_count_y": 1000, "orio_trips_i": 1000}
    run("for (i = 0; i < n; i++) y[i] += alpha * x[i];", shape, {"x": x, "y": y, "alpha": 2.5, **counts})
    np.testing.assert_allclose(y, expected, rtol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_matrix_times_vector(shape: OpenCL) -> None:
    matrix, x, y = uniform(90, 70), uniform(70), np.zeros(90)
    counts = {"orio_count_A": 6300, "orio_count_x": 70, "orio_count_y": 90, "orio_trips_i": 90}
    code = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[i] += A[i * m + j] * x[j];"
    run(code, shape, {"A": matrix, "x": x, "y": y, "m": 70, **counts})
    np.testing.assert_allclose(y, matrix @ x, rtol=1e-13)


@pytest.mark.parametrize("nd", [1, 2])
def test_stencil(nd: int) -> None:
    n = 50
    p, q = uniform(n, n), np.zeros((n, n))
    code = """for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
    q[i * n + j] = p[(i - 1) * n + j] + p[(i + 1) * n + j] + p[i * n + j - 1] + p[i * n + j + 1];"""
    around = context(DECLARATIONS, live="q", assumptions=Assumptions(True, True))
    (plan,) = kernel_plans(OpenCL(nd=nd).apply(parse(code), around))
    assert [buffer.name for buffer in plan.buffers] == ["p", "q"]
    expected = np.zeros_like(p)
    expected[1:-1, 1:-1] = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    device = Device([plan])
    device.arrays = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in (p, q)]
    # The ranges: p without its first and last element, q without the first and last row and one more.
    values = {
        "p": p.ctypes.data + 8,
        "q": q.ctypes.data + 8 * (n + 1),
        "orio_count_p": n * n - 2,
        "orio_count_q": n * n - 2 * n - 2,
        "n": n,
        "orio_first_q": n + 1,
        "orio_trips_i": n - 2,
        "orio_trips_j": n - 2,
    }
    device.launch(plan.name, *(values[name] for _, name in host_parameters(plan)))
    np.testing.assert_allclose(q, expected, rtol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_dot_product_keeps_the_value_from_before(shape: OpenCL) -> None:
    x, y, s = uniform(5001), uniform(5001), ctypes.c_double(3.0)
    counts = {"orio_count_x": 5001, "orio_count_y": 5001, "orio_trips_i": 5001}
    run("for (i = 0; i < n; i++) s += x[i] * y[i];", shape, {"x": x, "y": y, "s": s, **counts})
    assert s.value == pytest.approx(3.0 + float(x @ y), rel=1e-13)


def test_sums_are_the_same_in_every_run() -> None:
    x, found = uniform(9999), set[float]()
    for _ in range(5):
        s = ctypes.c_double(0.1)
        given = {"x": x, "s": s, "orio_count_x": 9999, "orio_trips_i": 9999}
        run("for (i = 0; i < n; i++) s += x[i];", SHAPES[2], given)
        found.add(s.value)
    assert len(found) == 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("before", [-1.0, 9.0])
def test_maximum(shape: OpenCL, before: float) -> None:
    x, mx = uniform(777), ctypes.c_double(before)
    given = {"x": x, "mx": mx, "orio_count_x": 777, "orio_trips_i": 777}
    run("for (i = 0; i < n; i++) if (x[i] > mx) mx = x[i];", shape, given)
    assert mx.value == max(before, float(x.max()))
