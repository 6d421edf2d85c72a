"""Which arrays stay on the device, which do not and why, and how often each is copied."""

from __future__ import annotations

import pytest
from c_trees import context, statement, transformed_file

from orio_py.core.expr import Value
from orio_py.ctree.nodes import Node
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import DataPlan
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.offload.device_data import DeviceData
from orio_py.transformation.offload.opencl import OpenCL

DECLARATIONS = """int i, k, n, m, t, e[9]; double s, a[99], b[99], c[9][9], *restrict x, *restrict y, *restrict z, *other, *pointer;"""
PLAIN = DeviceData()
FIRST, SECOND = "for (i = 0; i < n; i++) x[i] += y[i];", "for (i = 0; i < n; i++) y[i] = x[i];"


def around(live: str = "a b c x y z other") -> Context:
    return context(DECLARATIONS, live=live)


def with_kernels(code: str, inner: Context, **arguments: object) -> Node:
    return OpenCL(loop="i", **arguments).apply(statement(code), inner)  # type: ignore[arg-type]


def kept(
    code: str, step: DeviceData = PLAIN, *, live: str = "a b c x y z other", **arguments: object
) -> dict[str, str]:
    """What is copied of each array that stays: `in`, `out`, both or nothing."""
    inner = around(live)
    (data,) = [
        p.data
        for p in kernel_plans(step.apply(with_kernels(code, inner, **arguments), inner))
        if p.data is not None
    ]
    assert isinstance(data, DataPlan)
    return {a.name: " ".join(["in"] * a.comes_in + ["out"] * a.goes_out) for a in data.arrays}


def test_arrays_of_kernels_alone_stay() -> None:
    assert kept(f"for (t = 0; t < m; t++) {{ {FIRST} {SECOND} }}") == {"x": "in out", "y": "in out"}


def test_what_is_only_read_does_not_come_back() -> None:
    assert kept(f"for (t = 0; t < m; t++) {FIRST}") == {"x": "in out", "y": "in"}


def test_a_local_array_that_nothing_reads_does_not_come_back() -> None:
    code = "for (t = 0; t < m; t++) for (i = 0; i < 99; i++) b[i] = a[i] + t;"
    assert kept(code, live="a") == {"b": "in", "a": "in"}
    assert kept(code) == {"b": "in out", "a": "in"}


def test_what_a_kernel_fills_first_does_not_come_in() -> None:
    fill, inside = "for (i = 0; i < n; i++) x[i] = y[i];", "for (i = 1; i < n; i++) y[i] += x[i];"
    assert kept(f"{{ {fill} {FIRST} }}") == {"y": "in", "x": "out"}
    assert kept(f"{{ {FIRST} {fill} }}") == {"y": "in", "x": "in out"}
    assert kept(f"{{ {fill} {inside} }}")["x"] == "in out"
    assert kept(f"for (t = 0; t < m; t++) {{ {fill} {FIRST} }}") == {"y": "in", "x": "in out"}
    assert kept(f"{{ if (n > m) {{ {fill} }} {FIRST} }}") == {"y": "in", "x": "in out"}


@pytest.mark.parametrize("step", ["OpenCL", "CUDA", "HIP"])
def test_regions_keep_what_several_launches_use(step: str) -> None:
    text = """void f(int n, int m, double *restrict x, double *restrict y, double *restrict z) {
  /*@ begin Loop(
    transform @()
  ) @*/
  for (int i = 0; i < n; i++) x[i] = y[i];
  for (int i = 0; i < n; i++) z[i] = x[i] * 2;
  /*@ end @*/
}
"""
    result = transformed_file(text.replace("@()", f"{step}()"), {})
    assert "_0_data_begin(x, (long)n * (long) sizeof(x[0]));" in result
    assert "_0_data_end();" in result
    alone = transformed_file(text.replace("@()", f"{step}()").replace("z[i] = x[i] * 2", "z[i] = 2"), {})
    assert "_data_begin" not in alone


def test_what_the_user_says_of_copies_holds() -> None:
    step = DeviceData(skipIn=("x",), skipOut=("x", "y"))
    assert kept(f"for (t = 0; t < m; t++) {{ {FIRST} {SECOND} }}", step) == {"x": "", "y": "in"}


@pytest.mark.parametrize(
    "between",
    ["s = y[0];", "y[n] = 0;", "pointer = y;", "pointer = &y[1];"],
)
def test_what_the_host_may_touch_does_not_stay(between: str) -> None:
    assert kept(f"for (t = 0; t < m; t++) {{ {FIRST} {between} }}") == {"x": "in out"}


def test_what_says_how_long_a_kernel_runs_does_not_stay() -> None:
    code = (
        "for (t = 0; t < m; t++) { for (i = 0; i < 9; i++) e[i] += 1; for (i = 0; i < e[0]; i++) a[i] += 1; }"
    )
    assert "e" not in kept(code)


def test_scalars_and_conditions_of_the_host_do_no_harm() -> None:
    code = f'for (t = 0; t < m; t++) {{ {FIRST} if (s > t) break; s = 2 * s; printf("%d", t); {SECOND} }}'
    assert kept(code) == {"x": "in out", "y": "in out"}


CASES: tuple[tuple[DeviceData, str, str, str], ...] = (
    (DeviceData(), "s = 0;", "ORIO-T131", "there are none here"),
    (DeviceData(), f"for (t = 0; t < m; t++) {{ {FIRST} return; }}", "ORIO-T131", "left at its end"),
    (DeviceData(("y",)), f"for (t = 0; t < m; t++) {{ {FIRST} s = y[0]; }}", "ORIO-T131", "code between the kernels uses it"),
    (DeviceData(("z",)), FIRST, "ORIO-T015", "no kernel here uses an array `z`; they use `y`, `x`"),
    (DeviceData(skipIn=("z",)), FIRST, "ORIO-T015", "`z`"),
    (
        DeviceData(("x",)),
        "for (t = 0; t < m; t++) for (i = 0; i < n; i++) x[t * n + i] = y[i];",
        "ORIO-T131",
        "depends on `t`, which changes meanwhile",
    ),
    (DeviceData(("x",)), f"for (t = 0; t < m; t++) {{ {FIRST} work(); }}", "ORIO-T131", "`work` may use it"),
    (DeviceData(("x",)), f"for (t = 0; t < m; t++) {{ {FIRST} other[t] = 1; }}", "ORIO-T131", "may overlap `other`"),
)  # fmt: skip


@pytest.mark.parametrize(("step", "code", "name", "words"), CASES)
def test_refused(step: DeviceData, code: str, name: str, words: str) -> None:
    inner = around()
    node = statement(code) if code == "s = 0;" else with_kernels(code, inner, force=True)
    with pytest.raises(Refusal) as caught:
        step.apply(node, inner)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == name
    assert words in diagnostic.message
    assert diagnostic.position is not None or name == "ORIO-T015" or "ORIO-T131" in name


@pytest.mark.parametrize(
    ("arguments", "why"), [({"streamCount": 2}, "slices"), ({"layout": "column"}, "column by column")]
)
def test_what_kernels_copy_in_another_form_does_not_stay(arguments: dict[str, Value], why: str) -> None:
    inner = around()
    code = "for (i = 0; i < 9; i++) for (k = 0; k < 9; k++) c[i][k] = 2 * c[i][k];"
    step = TRANSFORMATIONS["OpenCL"].make(arguments)
    with pytest.raises(Refusal, match="ORIO-T131") as caught:
        DeviceData().apply(step.apply(statement(code), inner), inner)
    assert why in caught.value.diagnostics[0].message


def test_force_takes_the_users_word() -> None:
    inner = around()
    code = f"for (t = 0; t < m; t++) {{ {FIRST} s = y[0]; }}"
    result = DeviceData(("x", "y"), force=True).apply(with_kernels(code, inner), inner)
    assert sum(len(p.data.arrays) for p in kernel_plans(result) if p.data is not None) == 2
    assert inner.overruled.texts == (
        "DeviceData: `y` cannot stay on the device, as code between the kernels uses it",
    )


def test_kernels_whose_arrays_stay_already() -> None:
    inner = around()
    once = DeviceData().apply(with_kernels(FIRST, inner), inner)
    with pytest.raises(Refusal, match="stay on the device already"):
        DeviceData().apply(once, inner)


def test_arguments_have_types() -> None:
    with pytest.raises(Refusal, match="ORIO-T010"):
        TRANSFORMATIONS["DeviceData"].make({"arrays": 3})
    assert TRANSFORMATIONS["DeviceData"].make({"arrays": "x", "skipIn": ["y"]}) == DeviceData(("x",), ("y",))
