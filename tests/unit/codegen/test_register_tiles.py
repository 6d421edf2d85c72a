"""Iterations side by side: what is shared, what each has for itself, and what is refused."""

from __future__ import annotations

import pytest
from c_trees import context, parse

from orio_py.codegen.cuda.device import cuda_program
from orio_py.codegen.offload.jam import Copy, Jam, shared_indices
from orio_py.ctree.build import block, ident
from orio_py.ctree.emit import emit
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import Distribution
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Refusal
from orio_py.transformation.offload.cuda import CUDA
from orio_py.transformation.offload.opencl import OpenCL

DECLARATIONS = (
    "int i, j, k, n, m; double s, t; double *restrict x, *restrict y, *restrict A; double p[64][64];"
)


def jammed(code: str, varying: str, *, tested: bool = False) -> str:
    """Two copies of statements in which the names of `varying` differ."""
    (body,) = [parse(code)]
    names = frozenset(varying.split())
    items = list(body.block_items or [])
    copies = tuple(
        Copy({name: f"{name}_{number}" for name in names}, ident(f"in_{number}") if tested else None)
        for number in range(2)
    )
    return emit(block(*Jam(copies, shared_indices(items, names)).statements(items)))


def test_a_loop_with_one_header_runs_for_all() -> None:
    text = jammed("for (k = 0; k < n; k++) t += x[k] * y[i + k];", "t i")
    assert text.count("for (") == 1
    assert text.index("t_0 +=") < text.index("t_1 +=")


@pytest.mark.parametrize(
    "code",
    [
        "for (k = 0; k < i; k++) t += x[k];",
        "for (k = i; k < n; k++) t += x[k];",
        "for (k = 0; k < n; k++) if (x[k] > t) break;",
        "for (k = 0; k < n; k++) { t += x[k]; k++; }",
        "for (j = 0; j < i; j++) for (k = 0; k < j; k++) t += x[k];",
    ],
)
def test_loops_that_differ_run_one_after_the_other(code: str) -> None:
    text = jammed(code, "t i k j")
    first, second = text.index("t_0"), text.rindex("t_0")
    assert text.index("t_1") > second >= first
    assert text.count("for (") >= 2


def test_an_index_that_is_read_elsewhere_is_everyones_own() -> None:
    text = jammed("{ for (k = 0; k < n; k++) t += x[k]; y[i] = k; }", "t i k")
    assert text.count("for (") == 2
    assert "k_0 = 0" in text


def test_values_of_iterations_that_do_not_exist_are_not_computed() -> None:
    text = jammed("{ const double v = x[i]; y[i] = v; }", "i v", tested=True)
    assert "double v_0 = 0;" in text
    assert "if (in_0)" in text
    assert "v_0 = x[i_0];" in text


def test_initialised_arrays_stay_with_their_statements() -> None:
    text = jammed("{ double w[2] = {x[i], 1}; y[i] = w[0] + w[1]; }", "i w", tested=True)
    assert text.index("y[i_0]") < text.index("w_1[2]")


REFUSED = (
    (CUDA(registerTile=(2,), coarsen=2), "ORIO-T127"),
    (CUDA(registerTile=(2,), coarsen=2, spread=Distribution.BLOCKED), "ORIO-T127"),
    (CUDA(registerTile=(64,), vectorWidth=8), "ORIO-T011"),
    (CUDA(registerTile=(2, 2)), "ORIO-T127"),
    (CUDA(registerTile=(512,)), "ORIO-T011"),
    (CUDA(nd=2, registerTile=(2, 2), threadCount=(8, 8), cacheBlocks=True, localTile=(16, 8)), "ORIO-T127"),
    (OpenCL(registerTile=(2,), workItemsPerGroup=(0,)), "ORIO-T127"),
)


@pytest.mark.parametrize(("step", "code"), REFUSED)
def test_refusals(step: CUDA | OpenCL, code: str) -> None:
    nest = parse("for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[i * m + j] = x[j] + x[i];")
    around = context(DECLARATIONS, live="y", assumptions=Assumptions(True, True))
    with pytest.raises(Refusal) as found:
        step.apply(nest, around)
    assert found.value.diagnostics[0].code == code


def test_kernels_stay_of_a_size_that_compilers_can_take() -> None:
    nest = parse(f"for (i = 0; i < n; i++) {{ {'y[i] += x[i];' * 300} }}")
    around = context(DECLARATIONS, live="y", assumptions=Assumptions(True, True))
    with pytest.raises(Refusal) as found:
        CUDA(registerTile=(256,)).apply(nest, around)
    assert found.value.diagnostics[0].code == "ORIO-T050"


def test_sizes_that_tiles_divide_need_no_tests() -> None:
    def text(size: int) -> str:
        nest = parse(f"for (i = 0; i < {size}; i++) y[i] = x[i];")
        around = context(DECLARATIONS, live="y", assumptions=Assumptions(True, True), label="k")
        return cuda_program(kernel_plans(CUDA(threadCount=(32,), registerTile=(4,)).apply(nest, around)))

    assert "orio_whole" not in text(256)
    assert "orio_whole" in text(255)


def test_conditions_of_shared_scalars_are_tested_once() -> None:
    text = jammed(
        "if (m > 0) { t = x[i]; for (k = 0; k < n; k++) t += x[k]; y[i] = t; } else y[i] = 0;", "t i"
    )
    assert text.count("if (") == text.count("for (") == 1
    assert "y[i_0] = 0;" in text
    assert jammed("if (x[0] > 0) y[i] = t;", "t i").count("if (") == 2
