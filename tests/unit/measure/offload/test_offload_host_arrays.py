"""The timed code between two launches works on the arrays' contents: single elements, and loops that are compiled."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from device_calls import axpy_call, write_data

from orio_py.ctree.evaluate import NoValueError
from orio_py.measure.offload.arrays import HostArrays
from orio_py.measure.offload.compiled_loop import is_compiled
from orio_py.measure.offload.host import HostCode
from orio_py.measure.offload.host_state import HostState, parsed
from orio_py.measure.offload.variant import HostData


def data_of(folder: Path) -> HostData:
    """Scalars n = 10 and i, an array x of 30 numbers and a matrix y of 3 rows of n, and whole numbers k."""
    values = [
        ("n", "int", np.int32([10]), None),
        ("i", "int", np.int32([7]), None),
        ("a", "double", np.float64([2.5]), None),
        ("x", "double", np.arange(30.0), np.arange(30.0)),
        ("y", "double", np.arange(30.0), np.arange(30.0)),
        ("k", "short", np.int16(range(6)), np.int16(range(6))),
    ]
    found = HostData.read(write_data(folder, values))
    variables = tuple(v if v.name != "y" else replace(v, dimensions=("3", "n")) for v in found.variables)
    return replace(found, variables=variables, constants={"TWO": "ONE + 1", "ONE": "1"})


def ran(text: str, data: HostData) -> tuple[HostArrays, HostState]:
    arrays = HostArrays(data)
    state = HostState.of(data, arrays)
    HostCode.of(text, {"axpy": axpy_call()}, data.types).run(state, lambda launch, state: None)
    return arrays, state


def contents(arrays: HostArrays, name: str = "x", kind: type = np.float64) -> list[float]:
    return arrays.held[name].view(kind).tolist()


@pytest.mark.parametrize(
    ("text", "name", "place", "value"),
    [
        ("x[3] = 1;", "x", 3, 1.0),
        ("x[n + 1] = x[2] / 4;", "x", 11, 0.5),
        ("x[3] -= a; x[3] *= 2;", "x", 3, 1.0),
        ("x[4]++; --x[4]; ++x[4];", "x", 4, 5.0),
        ("y[1][2] = x[5] + TWO;", "y", 12, 7.0),
        ("x[0] = i > 29 && x[i + 30] > 0 ? 1 : 2;", "x", 0, 2.0),
        ("if (x[2] > 1.5) x[2] = sqrt(x[16]);", "x", 2, 4.0),
        ("while (n > 4) n--; x[n] = n;", "x", 4, 4.0),
        ("int m = x[9]; x[0] = m;", "x", 0, 9.0),
        ("{ short q[TWO + 1][n]; q[2][3] = x[7]; x[0] = q[2][3] + q[0][0]; }", "x", 0, 7.0),
    ],
)
def test_elements_are_assigned(tmp_path: Path, text: str, name: str, place: int, value: float) -> None:
    arrays, _ = ran(text, data_of(tmp_path))
    wanted = list(map(float, range(30)))
    wanted[place] = value
    assert contents(arrays, name) == wanted


def test_elements_have_the_types_of_their_arrays(tmp_path: Path) -> None:
    arrays, _ = ran("k[1] = 65537 + k[2]; k[3] += 1.75;", data_of(tmp_path))
    assert contents(arrays, "k", np.int16) == [0, 3, 2, 4, 4, 5]


def test_loops_run_on_the_contents(tmp_path: Path) -> None:
    text = """
    int r;
    for (r = 0; r < 3; r++)
      for (i = 0; i < n; i++) {
        if (x[i] > 7) continue;
        y[r][i] = fmax(x[r * TWO], y[r][i]) - r;
      }
    for (int q = 0; q < n; q++) x[q] = a;
    """
    arrays, state = ran(text, data_of(tmp_path))
    y = np.arange(30.0).reshape(3, 10)
    for r in range(3):
        y[r, :8] = np.maximum(y[r, :8], 2 * r) - r
    assert contents(arrays, "y") == y.reshape(-1).tolist()
    assert contents(arrays) == [2.5] * 10 + list(map(float, range(10, 30)))
    assert (state.scalars["i"].value, state.scalars["r"].value) == (10, 3)


def test_what_was_done_is_done_again_on_restored_inputs(tmp_path: Path) -> None:
    arrays, _ = ran("n = 3; for (i = 0; i < n; i++) x[i] += 1; x[0] *= 5; n = 20;", data_of(tmp_path))
    after = contents(arrays)
    assert after == [5.0, 2.0, *map(float, [3, *range(3, 30)])]
    changes = arrays.changes()
    assert arrays.changes() == []
    arrays.restore()
    assert contents(arrays) == list(map(float, range(30)))
    for change in changes:
        change()
    assert contents(arrays) == after


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x[30] = 1;", "`x[30]` lies outside of `x`"),
        ("x[-1] = 1;", "`x[-1]` lies outside of `x`"),
        ("a = x[30];", "`x[30]` lies outside of `x`"),
        ("y[1] = 1;", "`y[1]` is a row"),
        ("x[0] = other(a);", "the function `other` is not known"),
        ("for (i = 0; i < 3; i++) x[i] = unheard_of;", "does not compile: 'unheard_of' undeclared"),
    ],
)
def test_what_cannot_be_done_is_told(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(NoValueError) as caught:
        ran(text, data_of(tmp_path))
    assert reason in str(caught.value)


def test_without_contents_elements_and_loops_are_passed_over(tmp_path: Path) -> None:
    data, launches = data_of(tmp_path), []
    text = "x[0] = sqrt(x[1]); for (i = 0; i < n; i++) x[i] = 1; axpy(y[0], x, n, n, a, n);"
    state = HostState.of(data)
    HostCode.of(text, {"axpy": axpy_call()}, {}).run(state, lambda launch, _: launches.append(launch))
    assert len(launches) == 1
    with pytest.raises(NoValueError, match="the value of `i` is not known"):
        HostCode.of("n = i;", {}, {}).run(state, lambda launch, state: None)


@pytest.mark.parametrize(
    ("text", "compiled"),
    [
        ("for (i = 0; i < n; i++) x[i] = 1;", True),
        ("while (n) x[n--] = 0;", True),
        ("do { x[n] = sin(a); n--; } while (n);", True),
        ("for (i = 0; i < n; i++) a += x[i];", True),
        ("for (i = 0; i < n; i++) a += i;", False),
        ("for (i = 0; i < n; i++) { x[i] = 1; axpy(y, x, n, n, a, n); }", False),
        ("for (i = 0; i < n; i++) x[i] = min(i, n);", False),
        ("for (i = 0; i < g->n; i++) x[i] = 1;", False),
        ("for (i = 0; i < n; i++) { x[i] = 1; return; }", False),
        ("x[0] = 1;", False),
    ],
)
def test_loops_that_only_compute_are_compiled(text: str, compiled: bool) -> None:
    (statement,) = parsed(text, frozenset()).block_items or []
    assert is_compiled(statement) is compiled
