"""What `offload` makes of loop nests: axes, buffers, scalars, reductions."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from c_programs import compile_and_run
from c_trees import context, statement

from orio_py.ctree.emit import emit, emit_expression
from orio_py.kernel.backends import BACKENDS
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import BufferPlan, DeviceOptions, Direction, KernelPlan, LaunchShape, StagedTile
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.offload import offload

DECLARATIONS = """int i, j, k, n, m; unsigned u, v; long w; double s, t, mx; int count, ok;
double *restrict x, *restrict y, a[9][8]; float *restrict f; const int *restrict c; double (*restrict q)[8];
double g[N][M];"""
FOR_I = "for (i = 0; i < n; i++)"
NEST = f"{FOR_I} for (j = 0; j < m; j++)"


def plan_of(code: str, *, nd: int | tuple[str, ...] = 1, live: str = "x y f a q s mx count ok") -> KernelPlan:
    around = context(
        DECLARATIONS, live=live, assumptions=Assumptions(True, True), macros={"N": "20", "M": "(2 * N)"}
    )
    return offload(statement(code), around, OffloadArguments("Test", BACKENDS["opencl"], nd=nd))


def buffers(plan: KernelPlan) -> dict[str, tuple[str, str, str]]:
    return {
        b.name: (emit_expression(b.address), emit_expression(b.count), b.direction.value)
        for b in plan.buffers
    }


def evaluated(text: str, **values: int) -> int:
    """A C expression over some `int` variables."""
    declared = "".join(f"int {name} = {value}; " for name, value in values.items())
    unused = "".join(f"(void){name}; " for name in values)
    with tempfile.TemporaryDirectory() as folder:
        program = f'#include <stdio.h>\nint main(void) {{ {declared}{unused}printf("%ld", (long)({text})); }}'
        return int(compile_and_run(program, Path(folder)))


def buffer(code: str, name: str, **options: int) -> BufferPlan:
    return next(b for b in plan_of(code, **options).buffers if b.name == name)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"{FOR_I} y[i] = x[i];", ("y", "n", "out")),
        (f"{FOR_I} y[i] += x[i];", ("y", "n", "inout")),
        (f"{FOR_I} y[n - 1 - i] = 0;", ("y", "n", "out")),
        (f"{FOR_I} y[2 * i] = 0;", ("y", "(long)n * 2 - 1", "inout")),
        (f"{FOR_I} if (x[i] > 0) y[i] = 0;", ("y", "n", "inout")),
        (f"{FOR_I} {{ if (i > 0) y[i] = 0; }}", ("&y[1]", "n - 1", "inout")),
        (f"{FOR_I} {{ if (i != 0 && i < n - 1) y[i] = x[i]; }}", ("&y[1]", "n - 2", "inout")),
        (f"{FOR_I} {{ if (i == 0) y[i] = 0; else y[n - i] = x[i]; }}", ("y", "n", "inout")),
        ("for (i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1];", ("&y[1]", "n - 2", "out")),
        ("for (i = n; i >= 1; i--) y[i] = 0;", ("&y[1]", "n", "out")),
        ("for (i = 0; i < 100; i += 8) y[i] = 0;", ("y", "97", "inout")),
        ("for (i = 0; i <= n - 4; i += 4) y[i + 3] = 0;", ("&y[3]", "(long)(n - 4) / 4 * 4 + 1", "inout")),
        (f"{NEST} y[i * m + j] = 0;", ("y", "(long)m * n", "out")),
        (f"{NEST} y[j * n + i] = 0;", ("y", "(long)m * n", "out")),
        (f"{NEST} y[i] = x[j];", ("y", "m > 0 ? n : 0", "inout")),
        (f"{FOR_I} {{ int p = 2 * i + 1; y[p] = 0; }}", ("&y[1]", "(long)n * 2 - 1", "inout")),
        (f"{FOR_I} {{ y[i] = i % 2 ? x[i] : 0; x[i] = i % 3 ? y[i] : 1; }}", ("y", "n", "inout")),
        (f"{FOR_I} *(y + i) = 0;", ("y", "n", "out")),
        ("for (u = 0; u < v; u++) y[u] = 0;", ("y", "(long)v", "out")),
        (
            f"{FOR_I} for (j = i; j < (n < i + 4 ? n : i + 4); j++) y[j] += 1 + 0 * x[i];",
            ("y", "n", "inout"),
        ),
    ],
)
def test_ranges_and_directions_of_pointers(code: str, expected: tuple[str, str, str]) -> None:
    force = "(n < i + 4" in code  # those iterations overlap; the range is what counts here
    around = context(DECLARATIONS, live="x y", assumptions=Assumptions(True, True))
    plan = offload(statement(code), around, OffloadArguments("Test", BACKENDS["opencl"], force=force))
    assert buffers(plan)["y"] == expected


@pytest.mark.parametrize(
    ("code", "address", "values", "empty"),
    [
        # The inner loop has no iteration for m = 1 or m = 0: what is copied must lie inside, or be nothing.
        (
            "for (i = 0; i < n; i += 2) for (j = 1; j <= m - 2; j++) y[j * n + i] = 0;",
            "&y[n]",
            (4, 1, 9),
            True,
        ),
        (f"{FOR_I} for (j = 0; j < m; j++) y[j * k + i] = 0;", None, (4, 0, 9), False),
        (f"{FOR_I} for (j = m - 1; j >= 0; j -= 3) y[i * 8 + j] = 0;", None, (4, 0, 9), False),
        (f"{FOR_I} for (j = 2; j < m; j += 3) y[i * 2 + j] = 0;", "&y[2]", (1, 0, 9), True),
    ],
)
def test_buffers_stay_inside_where_an_inner_loop_does_not_run(
    code: str, address: str | None, values: tuple[int, int, int], empty: bool
) -> None:
    around = context(DECLARATIONS, live="y", assumptions=Assumptions(True, True))
    plan = offload(statement(code), around, OffloadArguments("Test", BACKENDS["opencl"], force=True))
    (found,) = plan.buffers
    n, m, k = values
    text = emit_expression(found.address)
    assert address is None or text == address
    first = 0 if text == "y" else evaluated(text.removeprefix("&y[").removesuffix("]"), n=n, m=m, k=k)
    count = evaluated(emit_expression(found.count), n=n, m=m, k=k)
    assert first >= 0
    assert (count <= 0) if empty else (first + count <= n * max(m, 8))


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        (f"{NEST} a[i][j] = 0;", "a", ("&a[0][0]", "72", "inout")),
        ("for (i = 0; i < 9; i++) for (j = 0; j < 8; j++) a[i][j] = 0;", "a", ("&a[0][0]", "72", "out")),
        (
            f"{NEST} q[i][j] = 0;",
            "q",
            ("&q[0][0]", "m > 0 ? (long)m + (long)n * 8 - 8 : 0", "inout"),
        ),
        (f"{FOR_I} for (j = 0; j < 8; j++) q[i][j] = 0;", "q", ("&q[0][0]", "(long)n * 8", "out")),
        (f"{NEST} y[i * m + j] = g[i][j];", "g", ("&g[0][0]", "(long)M * N", "in")),
    ],
)
def test_arrays_of_several_dimensions(code: str, name: str, expected: tuple[str, str, str]) -> None:
    assert buffers(plan_of(code))[name] == expected


def test_subscripts_become_flat() -> None:
    plan = plan_of("for (i = 1; i < n; i++) for (j = 0; j < m; j++) a[i][j] = g[i - 1][j + 1] + y[i];")
    assert emit(plan.body[0]) == (
        "for (j = 0; j < m; j++)\n  a[i * 8 + j] = g[(long)(i - 1) * M + j + 1] + y[i - 1];\n"
    )
    assert [(s.name, s.type, s.parameter) for s in plan.scalars] == [
        ("m", "int", "m"),
        ("M", "int", "orio_M"),
    ]


def test_axes_count_iterations() -> None:
    plan = plan_of("for (i = 2; i <= n; i += 3) for (j = m; j > 0; j--) y[i * m + j - 1] = 0;", nd=2)
    shown = [
        (a.index, a.type, emit_expression(a.start), emit_expression(a.trips), a.stride) for a in plan.axes
    ]
    assert shown == [("i", "int", "2", "((long)n + 1) / 3", 3), ("j", "int", "m", "m", -1)]
    assert plan.launch == LaunchShape((16, 4))


def test_loops_can_be_named_in_any_order() -> None:
    assert [axis.index for axis in plan_of(f"{NEST} a[i][j] = 0;", nd=("j", "i")).axes] == ["j", "i"]


def test_unsigned_loops_that_do_not_run_have_no_iterations() -> None:
    plan = plan_of("for (u = v; u < n + 1u; u++) y[u] = 0;")
    assert "?" in emit_expression(plan.axes[0].trips)


def test_scalars_of_all_kinds() -> None:
    code = f"{FOR_I} {{ t = 2 * x[i]; s += t; count++; if (t > mx) mx = t; ok = c[i] && ok; }}"
    plan = plan_of(code)
    assert plan.private == (("t", "double"),)
    found = [(r.name, r.type, r.operator, r.identity) for r in plan.reductions]
    assert found == [
        ("s", "double", "+", "0"),
        ("count", "int", "+", "0"),
        ("mx", "double", "max", "-INFINITY"),
        ("ok", "int", "&&", "1"),
    ]
    assert [b.direction for b in plan.buffers] == [Direction.IN, Direction.IN]


def test_inner_indices_are_private() -> None:
    assert plan_of(f"{NEST} a[i][j] = 0;").private == (("j", "int"),)


def test_typedefs_and_qualified_types_are_resolved() -> None:
    around = context(
        "int i, n; real *restrict x; real h;",
        live="x",
        assumptions=Assumptions(True),
        types={"real": "float"},
    )
    code = f"{FOR_I} {{ real z = h; x[i] = (real)z; }}"
    plan = offload(statement(code), around, OffloadArguments("Test", BACKENDS["opencl"]))
    assert (plan.buffers[0].type, plan.scalars[0].type) == ("float", "float")
    assert emit(plan.body[0]) + emit(plan.body[1]) == "float z = h;\nx[i] = (float)z;\n"


def staged(code: str, items: tuple[int, ...]) -> KernelPlan:
    around = context(
        f"{DECLARATIONS} double r[n][m];",
        live="x y f a q s count",
        assumptions=Assumptions(True, True),
        macros={"N": "20", "M": "(2 * N)"},
    )
    return offload(
        statement(code),
        around,
        OffloadArguments("Test", BACKENDS["opencl"], nd=len(items), items=items, stage=True),
    )


@pytest.mark.parametrize(
    ("code", "items", "tiles"),
    [
        ("for (i = 1; i < n; i++) y[i] = x[i] - x[i - 1];", (32,), {"x": 33}),
        ("for (i = n; i >= 1; i--) y[i] = x[i] - x[i - 3];", (32,), {"x": 35}),
        ("for (i = 2; i < n; i += 2) y[i] = x[i] - x[i - 2];", (8,), {"x": 17}),
        ("for (i = 2; i < n; i++) y[i] = x[i] * f[i] + c[i] - c[i - 2];", (8,), {"c": 10}),
        (f"{NEST} q[i][j] = a[i][j] + a[i + 1][j + 2];", (16, 4), {"a": 18 * 5}),
        (f"{NEST} q[i][j] = g[i][j] + g[i + 1][j + 2];", (16, 4), {"g": 18 * 5}),
        (f"{NEST} q[i][j] = r[i][j] + r[i + 1][j + 2];", (16, 4), {"r": 18 * 5}),
        (f"{NEST} q[i][j] = x[i * m + j] + x[(i + 1) * m + j - 2];", (16, 4), {"x": 18 * 5}),
        (f"{NEST} q[i][j] = x[j * n + i] + x[(j + 1) * n + i];", (16, 4), {"x": 17 * 4}),
        (f"{NEST} q[i][j] = x[i] * f[j] + c[0];", (16, 4), {"x": 4, "f": 16}),
        (f"{NEST} q[i][j] = x[j * n + i];", (16, 4), {"x": 64}),
        (f"{NEST} x[j * n + i] = y[j * n + i];", (16, 4), {"y": 64, "x": 64}),
        (f"{NEST} q[i][j] = x[i] * f[j];", (16, 1), {"x": 1}),
        (f"{FOR_I} for (j = 0; j < 8; j++) q[i][j] = x[i] + x[i + 1] * a[i][j];", (9,), {"x": 10}),
        ("for (i = 0; i < n; i++) y[i] = x[n + i] + x[n + i + 1] + f[n] * f[n + 1];", (9,), {"x": 10}),
    ],
)
def test_tiles_have_the_halo(code: str, items: tuple[int, ...], tiles: dict[str, int]) -> None:
    plan = staged(code, items)
    assert {tile.array: tile.elements for tile in plan.staged} == tiles
    text = "".join(emit(node) for node in plan.body)
    kinds = {buffer.name: buffer.type for buffer in plan.buffers}
    for tile in plan.staged:
        assert (tile.name, tile.type) == (f"orio_tile_{tile.array}", kinds[tile.array])
        assert f"{tile.name}[" in text
        assert f" {tile.array}[" not in text


def test_tiles_of_variable_length_arrays_know_the_extent_and_the_end() -> None:
    plan = staged(f"{NEST} q[i][j] = r[i][j] + r[i][j + 1];", (16, 4))
    (load,) = plan.staged[0].load
    assert "(long)i * orio_extent_r_1 + j" in emit(load)
    assert "orio_element < orio_elements_r" in emit(load)
    assert {"orio_extent_r_1", "orio_elements_r"} <= {scalar.name for scalar in plan.scalars}


def test_only_what_each_iteration_writes_for_itself_is_stored_from_tiles() -> None:
    (stored,) = staged(f"{NEST} x[j * n + i] = y[i * m + j];", (16, 4)).staged
    assert (stored.array, stored.load, len(stored.store)) == ("x", (), 1)
    assert "orio_begin_i + orio_cell % 4 < orio_trips_i" in emit(stored.store[0])
    (both,) = staged(f"{NEST} x[j * n + i] += y[i * m + j];", (16, 4)).staged
    assert "orio_begin_i + orio_cell % 4 < orio_trips_i" in emit(both.load[0])
    for code in (
        "if (y[i * m + j] > 0) x[j * n + i] = 1;",  # the rest of the tile would be stored, too
        "x[i * m + j] = 1;",  # neighbouring items write neighbouring elements
        "x[j * n + i] = 1; if (y[0] > 0) x[j * n + i] = x[j * n + i + y[0]];",  # other elements are read
        "x[2 * (j * n + i)] = 1;",  # no elements are neighbours
    ):
        assert not any(tile.store for tile in staged_or_none(f"{NEST} {{ {code} }}"))


def staged_or_none(code: str) -> tuple[StagedTile, ...]:
    try:
        return staged(code, (16, 4)).staged
    except Refusal:
        return ()


def test_inner_loops_run_in_blocks_with_tiles_of_their_own() -> None:
    inner = "for (k = 0; k < m; k++) q[i][j] += a[i][k] * x[k * m + j] + a[j][k];"
    plan = staged(f"{NEST} {{ q[i][j] = 0; {inner} }}", (16, 4))
    (block,) = plan.blocks
    assert (block.axis.index, block.size, block.begin, block.end) == ("k", 16, 1, 2)
    found = {tile.name: (tile.elements, tile.block) for tile in plan.staged}
    assert found == {"orio_tile_a": (64, 0), "orio_tile_x": (256, 0), "orio_tile_a_2": (256, 0)}
    assert "k" not in dict(plan.private)


def test_what_is_the_same_in_all_blocks_is_staged_once() -> None:
    plan = staged(
        "for (i = 1; i < n; i++) { double v = x[i] - x[i - 1]; for (k = 0; k < m; k++) y[i] += v * f[k]; }",
        (8,),
    )
    assert {tile.array: tile.block for tile in plan.staged} == {"x": None, "f": 0}
    assert ("v", "double") in plan.private


def test_references_that_fit_nowhere_are_left_in_the_array() -> None:
    plan = staged(
        "for (i = 2; i < n; i++) y[i] = x[i] - x[i - 2] + x[c[i]] * x[2 * i];".replace("x[c[i]] * ", ""), (8,)
    )
    assert [tile.elements for tile in plan.staged] == [10]
    assert "x[2 * i" in "".join(emit(node) for node in plan.body)


def touched(code: str, *, nd: int = 1, stage: bool = False) -> dict[str, tuple[str, str, str] | None]:
    around = context(DECLARATIONS, live="x y a q s count", assumptions=Assumptions(True, True))
    arguments = OffloadArguments(
        "Test", BACKENDS["opencl"], nd=nd, stage=stage, options=DeviceOptions(streams=2)
    )
    return {
        buffer.name: None
        if (found := buffer.slices) is None
        else (emit_expression(found.step), emit_expression(found.low), emit_expression(found.reach))
        for buffer in offload(statement(code), around, arguments).buffers
    }


def test_what_an_iteration_touches_is_known_where_it_moves_on_evenly() -> None:
    assert touched("for (i = 0; i < n; i++) y[i] = x[i] + x[i + 2] + f[5];") == {
        "x": ("1", "0", "3"),
        "f": None,
        "y": ("1", "0", "1"),
    }
    assert touched("for (i = n - 1; i > 0; i -= 2) y[2 * i] = x[i - 1];") == {
        "x": ("-2", "((long)(n - 1) - 1) / 2 * 2", "1"),
        "y": ("-4", "(long)(((long)(n - 1) - 1) / 2 * 2) * 2", "1"),
    }
    found = touched(f"{NEST} y[i * m + j] = x[i] + f[j] + a[i][j] + a[j][i];", nd=2)
    assert found == {"x": ("1", "0", "1"), "f": None, "a": None, "y": ("m", "0", "m")}


def test_what_tiles_are_made_of_is_copied_in_one_piece() -> None:
    code = "for (i = 1; i < n; i++) y[i] = x[i] - x[i - 1];"
    assert touched(code, stage=True)["x"] is None
    assert touched(code)["x"] == ("1", "0", "2")


def test_one_queue_needs_no_slices() -> None:
    assert all(buffer.slices is None for buffer in plan_of("for (i = 0; i < n; i++) y[i] = x[i];").buffers)


def test_without_staging_there_are_no_tiles() -> None:
    assert plan_of("for (i = 1; i < n; i++) y[i] = x[i] - x[i - 1];").staged == ()


def test_unroll_puts_a_pragma_before_innermost_loops() -> None:
    around = context(DECLARATIONS, live="a", assumptions=Assumptions(True))
    plan = offload(
        statement(f"{NEST} a[i][j] = 0;"), around, OffloadArguments("Test", BACKENDS["opencl"], unroll=4)
    )
    assert "".join(emit(node) for node in plan.body).startswith("#pragma unroll 4\nfor (j = 0;")
    assert plan.unroll is None


def test_unroll_is_left_to_the_loop_over_iterations_where_there_is_no_other() -> None:
    around = context(DECLARATIONS, live="a", assumptions=Assumptions(True))
    plan = offload(
        statement(f"{NEST} a[i][j] = 0;"),
        around,
        OffloadArguments("Test", BACKENDS["opencl"], nd=2, unroll=4),
    )
    assert "".join(emit(node) for node in plan.body) == "a[i * 8 + j] = 0;\n"
    assert plan.unroll == 4


ROWS = "for (i = 0; i < m * m; i++) { if (i % m == 0 || i < m || i >= m * m - m) z[i] = x[i]; else z[i] = x[i - 1] + x[i + m]; }"


def promising(declarations: str) -> Context:
    found = context(declarations, assumptions=Assumptions(True, True))
    x = replace(found.declarations["x"], is_parameter=True, scope="parameter")
    return replace(found, declarations={**found.declarations, "x": x})


def test_a_promised_extent_serves_where_subscripts_do_not_tell() -> None:
    declared = "int i, m; double *restrict z; const double x[restrict static m * m];"
    plan = offload(statement(ROWS), promising(declared), OffloadArguments("Test", BACKENDS["opencl"]))
    assert buffers(plan) == {"x": ("x", "(long)m * m", "in"), "z": ("z", "(long)m * m", "inout")}


def test_a_promised_extent_counts_rows_as_they_were_declared() -> None:
    declared = "int i, m; double *restrict z; const double x[restrict static 4][9];"
    code = "for (i = 0; i < m; i++) z[i] = i * i < m ? x[i][m] : 0;"
    plan = offload(statement(code), promising(declared), OffloadArguments("Test", BACKENDS["opencl"]))
    assert buffers(plan)["x"] == ("&x[0][0]", "36", "in")


def test_subscripts_that_tell_more_than_a_promise_count() -> None:
    declared = "int i, m; double *restrict z; const double x[restrict static 2 * m];"
    plan = offload(
        statement(f"{FOR_I.replace('n', 'm')} z[i] = x[i];"),
        promising(declared),
        OffloadArguments("Test", BACKENDS["opencl"]),
    )
    assert buffers(plan)["x"] == ("x", "m", "in")


def test_borders_of_a_grid_leave_plain_extents() -> None:
    code = """for (i = 0; i < m; i++) for (j = 0; j < m; j++)
      if (i == 0 || j == 0 || i == m - 1 || j == m - 1) y[i * m + j] = x[i * m + j];
      else y[i * m + j] = x[i * m + j - 1] + x[i * m + j + 1] + x[(i - 1) * m + j] + x[(i + 1) * m + j];"""
    expected = {"x": ("x", "(long)m * m", "in"), "y": ("y", "(long)m * m", "inout")}
    assert buffers(plan_of(code, nd=2)) == expected


def test_where_a_kernel_runs() -> None:
    """Devices and platforms go by number or by a part of their name, which no kernel shows."""
    made = TRANSFORMATIONS["OpenCL"].make({"device": 3, "platform": "pocl"})
    call = made.apply(statement(f"{FOR_I} x[i] = 0;"), context(DECLARATIONS, live="x"))
    (plan,) = kernel_plans(call)
    assert plan.options == DeviceOptions(device=3, platform="pocl")


def test_an_index_that_nothing_declares_is_an_int_of_the_kernel() -> None:
    """Files of Orio leave indices of loops undeclared."""
    plan = plan_of(f"{FOR_I} {{ t = 0; for (e = 0; e < m; e++) t += y[e]; x[i] = t; }}")
    assert dict(plan.private) == {"t": "double", "e": "int"}
