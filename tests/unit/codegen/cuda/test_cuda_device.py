"""The CUDA text of kernels: the nests that OpenCL's goldens are of, and what only CUDA has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from c_trees import context, parse

from orio_py.codegen.cuda.device import cuda_program
from orio_py.codegen.cuda.dialect import _CONSTANTS
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.functions import device_function
from orio_py.kernel.plan import Distribution, KernelPlan, Layout
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.offload.cuda import CUDA
from orio_py.transformation.offload.names import CONSTANTS

GOLDEN = Path(__file__).resolve().parents[3] / "golden_cuda"
DECLARATIONS = """int i, j, k, n, m; unsigned u; double s, t, mx, alpha; int count, ok; long w; unsigned char *restrict bytes;
double *restrict x, *restrict y, *restrict A; float *restrict f; const int *restrict c; double p[64][64], q[64][64];
long counts[64]; float top[64]; struct cell { char kind; double x, v[3]; unsigned short new; } *restrict cells;"""
FOR_I = "for (i = 0; i < n; i++)"
STENCIL = (
    "for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)"
    " q[i][j] = p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1];"
)
SUMS = f"{FOR_I} {{ s += x[i] * y[i]; if (x[i] > mx) mx = x[i]; ok = c[i] && ok; count ^= c[i]; }}"

CASES: dict[str, tuple[str, CUDA]] = {
    "axpy": (f"{FOR_I} y[i] += alpha * x[i];", CUDA(threadCount=(64,), launchBounds=4)),
    "axpy_strided": (f"{FOR_I} y[i] += alpha * x[i];", CUDA(blockCount=(16,), maxRegisters=32)),
    "axpy_blocked": (
        "for (w = 0; w < n; w++) y[w] += x[w];",
        CUDA(coarsen=4, spread=Distribution.BLOCKED, unrollInner=4),
    ),
    "stencil_tile": (STENCIL, CUDA(nd=2, threadCount=(16, 4), cacheBlocks=True)),
    "stencil_streams": (STENCIL, CUDA(nd=2, threadCount=(32, 4), streamCount=3)),
    "product_tile": (
        f"{FOR_I} for (j = 0; j < m; j++) for (k = 0; k < n; k++) q[i][j] += p[i][k] * A[k * m + j];",
        CUDA(nd=2, threadCount=(16, 8), cacheBlocks=True, unrollInner=4),
    ),
    "product_registers": (
        f"{FOR_I} for (j = 0; j < m; j++) for (k = 0; k < n; k++) q[i][j] += p[i][k] * A[k * m + j];",
        CUDA(nd=2, threadCount=(16, 8), cacheBlocks=True, registerTile=(2, 2), localTile=(32, 16, 4)),
    ),
    "sums": (SUMS, CUDA(threadCount=(256,), blockCount=(8,))),
    "sums_warp": (f"{FOR_I} s += x[i];", CUDA(threadCount=(32,))),
    "sums_odd": (SUMS, CUDA(threadCount=(48,), blockCount=(8,))),
    "columns": (
        f"{FOR_I} {{ t = 0; for (j = 0; j < m; j++) t += p[i + 1][j] * x[j]; y[i] = t; }}",
        CUDA(layout=Layout.COLUMN),
    ),
    "structures": (
        f"{FOR_I} {{ cells[i].x += alpha * sqrt(cells[i].v[1]); cells[i].new = cells[i].kind + c[i];"
        " for (j = 0; j < 3; j++) cells[i].v[j] = cells[i].x / 2; }",
        CUDA(threadCount=(32,)),
    ),
    "updates": (
        f"{FOR_I} {{ counts[c[i]]++; p[c[i]][0] -= x[i]; if (f[i] > top[c[i]]) top[c[i]] = f[i]; }}",
        CUDA(),
    ),
    "rows": (
        f"{FOR_I} {{ t = x[i]; for (j = 0; j < m; j++) t += p[i][j] * y[j]; x[i] = t; if (t > 0) for (j = 0; j < m; j++) q[i][j] = x[i]; }}",
        CUDA(rowThreads=128),
    ),
    "vectors": (f"{FOR_I} y[i] = sqrt(x[i + 1]) * alpha;", CUDA(vectorWidth=4)),
    "translated": (
        f"{FOR_I} {{ long long v = 3LL; int u[2] = {{c[i], (int)f[i]}}; bytes[i] = (unsigned char)(v + u[0] + u[1]);"
        " f[i] = sqrtf(x[i]) + fmaxf(f[i], 2) + max(c[i], m) - abs(c[i]) + isnormal(f[i]) * M_PI * INT_MAX; }",
        CUDA(),
    ),
}  # fmt: skip


def plans_of(code: str, transformation: CUDA) -> tuple[KernelPlan, ...]:
    live = "x y A f p q s mx count ok bytes cells"
    around = context(DECLARATIONS, live=live, assumptions=Assumptions(True, True), label="k")
    return kernel_plans(transformation.apply(parse(code), around))


def text_of(code: str, transformation: CUDA) -> str:
    return cuda_program(plans_of(code, transformation))


@pytest.mark.parametrize("name", CASES)
def test_device_text(name: str, update_golden: bool) -> None:
    text = text_of(*CASES[name])
    path = GOLDEN / f"{name}.cu"
    if update_golden:
        path.write_text(text)
    assert text == path.read_text()


def test_no_golden_is_an_orphan() -> None:
    recipes = {path.name for path in GOLDEN.glob("recipe_*")}  # those of test_cuda_recipes_text.py
    assert {path.name for path in GOLDEN.iterdir()} - recipes == {f"{name}.cu" for name in CASES}


def test_every_constant_has_a_number() -> None:
    assert set(_CONSTANTS) == CONSTANTS


def test_limits_of_the_grid_make_loops_over_slow_axes() -> None:
    """A grid has 65535 blocks at most but along its fastest dimension."""
    plane = f"{FOR_I} for (j = 0; j < m; j++) q[i][j] = p[i][j];"
    (plan,) = plans_of(plane, CUDA(nd=2))
    assert plan.launch.most_groups == (2**31 - 1, 65535)
    assert "orio_i += gridDim.y * 4)" in text_of(plane, CUDA(nd=2))
    assert "orio_j +=" not in text_of(plane, CUDA(nd=2))


def test_axes_of_a_known_length_that_a_grid_covers_have_no_loops() -> None:
    def plane(rows: int, columns: int) -> str:
        copy = f"for (i = 0; i < {rows}; i++) for (j = 0; j < {columns}; j++) A[i * {columns} + j] = 1;"
        return text_of(copy, CUDA(nd=2))

    assert "for (" not in plane(262140, 8)
    assert "#pragma unroll 1\n  for (unsigned int orio_i" in plane(262141, 8)
    assert "if (orio_i < orio_trips_i && orio_j < orio_trips_j)" in plane(63, 65)
    assert "if (orio_j < orio_trips_j)" in plane(64, 65)
    assert "if (" not in plane(64, 64)


@pytest.mark.parametrize(
    ("line", "options", "kind"),
    [
        (f"{FOR_I} y[i] = x[i];", CUDA(), "unsigned int"),
        ("for (i = 3; i < n; i++) y[i] = x[i];", CUDA(), "unsigned int"),
        ("for (i = n; i > m; i -= 2) y[i] = x[i];", CUDA(), "unsigned int"),
        (f"{FOR_I} y[i] = x[i];", CUDA(coarsen=4), "unsigned int"),
        (f"{FOR_I} y[i] = x[i];", CUDA(blockCount=(2**24 - 1,)), "unsigned int"),
        (f"{FOR_I} y[i] = x[i];", CUDA(blockCount=(2**24,)), "long"),
        ("for (i = m; i < n; i++) y[i] = x[i];", CUDA(), "long"),
        ("for (i = n; i > m; i--) y[i] = x[i];", CUDA(), "long"),
        ("for (w = 1; w < n; w++) y[w] = x[w];", CUDA(), "long"),
        ("for (u = 0; u < n; u++) y[u] = x[u];", CUDA(), "long"),
        (f"{FOR_I} y[i] = x[i];", CUDA(coarsen=4, spread=Distribution.BLOCKED), "long"),
        (f"{FOR_I} y[i] = x[i];", CUDA(streamCount=2), "long"),
    ],
)
def test_iterations_are_counted_in_32_bits_where_their_number_is_known_to_fit(
    line: str, options: CUDA, kind: str
) -> None:
    """From -2^31 to 2^31 - 1 are more iterations than such numbers, with a whole block behind the last, could hold."""
    (name,) = set(re.findall(r"orio_trips_(\w)\b", text := text_of(line, options)))
    assert f"const {kind} orio_trips_{name}" in text


def test_one_kernel_has_one_way_to_limit_registers() -> None:
    line = f"{FOR_I} y[i] = x[i];"
    assert "__launch_bounds__(128) " in text_of(line, CUDA())
    assert "__launch_bounds__(128, 4) " in text_of(line, CUDA(launchBounds=4))
    assert "__maxnreg__(40) " in text_of(line, CUDA(maxRegisters=40))


def test_numbers_that_no_statement_uses_have_no_name() -> None:
    """Compilers warn of parameters that are not used."""
    text = text_of("for (i = m; i < n; i++) s += 1;", CUDA())
    assert "(const int, const long orio_trips_i, double *__restrict__ orio_partials_s)" in " ".join(
        text.split()
    )


def test_indices_that_no_statement_uses_are_not_declared() -> None:
    text = text_of(f"{FOR_I} for (j = 0; j < m; j++) s += x[0];", CUDA(nd=2, vectorWidth=4))
    assert "int i" not in text
    assert "int j" not in text


@pytest.mark.parametrize("name", ["sqrtf", "fmax", "abs", "ilogb", "ldexp", "isnan"])
def test_functions_keep_their_names(name: str) -> None:
    function = device_function(name)
    assert function is not None
    arguments = ", ".join("2" if kind == "int" else "x[i]" for kind in function.parameters)
    assert f"{name}(" in text_of(f"{FOR_I} y[i] = {name}({arguments});", CUDA())


def test_words_of_cpp_are_no_names_in_kernels() -> None:
    around = context("int i, n, new; double *restrict this, *restrict y;", live="y", label="k")
    (plan,) = kernel_plans(CUDA().apply(parse(f"{FOR_I} y[i] = this[i] + new;"), around))
    text = cuda_program([plan])
    assert "y[i] = this_[i] + new_;" in text
