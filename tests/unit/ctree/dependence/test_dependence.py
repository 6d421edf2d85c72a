"""Verdicts on classic loop nests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest

from orio_py.core.source import SourceFile
from orio_py.ctree.dependence.legality import (
    DependenceContext,
    Illegal,
    Legal,
    Unknown,
    Verdict,
    may_jam,
    may_parallelise,
    may_reorder,
    may_vectorise,
)
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.symbols import CDeclaration

DECLARATIONS = {
    name: CDeclaration(name, kind, text=f"{kind} {name}", scope="local")
    for kind, names in (("int", "m t lo hi base"), ("double", "s x alpha"))
    for name in names.split()
}
DECLARATIONS["n"] = CDeclaration("n", "int", text="int n", scope="parameter", is_parameter=True)
DECLARATIONS["p"] = CDeclaration("p", "double", pointers=1, text="double *p")


def loops_of(text: str) -> list[CanonicalLoop]:
    source = SourceFile("k.c", text.encode())
    tree = parse_statements(source.text, source=source, start=0)
    found = [CanonicalLoop.match(loop) for loop in loops_in(tree)]
    return [loop for loop in found if loop is not None]


def context(*live: str) -> DependenceContext:
    return DependenceContext(DECLARATIONS, frozenset(live))


def reorder(text: str, *order: int, live: Sequence[str] = ()) -> Verdict:
    return may_reorder(loops_of(text)[: len(order)], order, context(*live))


def parallel(
    text: str,
    index: str,
    private: Sequence[str] = (),
    reductions: Sequence[str] = (),
    live: Sequence[str] = (),
) -> Verdict:
    loop = next(loop for loop in loops_of(text) if loop.index == index)
    names, sums = frozenset(private), frozenset(reductions)
    return may_parallelise(loop, context(*live), private=names, reductions=sums)


def vector(text: str, index: str) -> Verdict:
    return may_vectorise(next(loop for loop in loops_of(text) if loop.index == index), context())


def jam(text: str, factor: int = 2) -> Verdict:
    return may_jam(loops_of(text)[0], factor, context())


def nest(body: str, *headers: str) -> str:
    return "\n".join([*headers, "{", body, "}"])


def count(index: str, start: str = "0", bound: str = "n") -> str:
    return f"for ({index} = {start}; {index} < {bound}; {index}++)"


IJ = (count("i"), count("j"))
IJK = (*IJ, count("k"))
INSIDE = (count("i", "1", "n - 1"), count("j", "1", "n - 1"))


def tiled(body: str, indices: str, size: int = 32) -> str:
    headers: list[str] = []
    for i in indices:
        headers.append(f"for ({i}{i} = 0; {i}{i} <= n - 1; {i}{i} += {size})")
        stop = f"({i}{i} + {size - 1} < n - 1 ? {i}{i} + {size - 1} : n - 1)"
        headers.append(f"for ({i} = {i}{i}; {i} <= {stop}; {i}++)")
    return nest(body, *headers)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_matrix_product_may_be_permuted_in_any_way(order: tuple[int, ...]) -> None:
    assert reorder(nest("C[i][j] += A[i][k] * B[k][j];", *IJK), *order) == Legal()


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_linearised_matrix_product_may_be_permuted_in_any_way(order: tuple[int, ...]) -> None:
    body = "C[i*n + j] = C[i*n + j] + A[i*n + k] * B[k*n + j];"
    assert reorder(nest(body, *IJK), *order) == Legal()


@pytest.mark.parametrize(
    "body",
    [
        "C[i][j] += A[i][k] * B[k][j];",
        "C[i*n + j] += A[i*n + k] * B[k*n + j];",
    ],
)
def test_tiled_matrix_product(body: str) -> None:
    assert reorder(tiled(body, "ijk"), 0, 2, 4, 1, 3, 5) == Legal()
    assert reorder(tiled(body, "ijk"), 4, 2, 0, 5, 3, 1) == Legal()


def test_two_levels_of_tiles() -> None:
    headers = (
        "for (iii = 0; iii < n; iii += 64)",
        "for (ii = iii; ii <= min(n - 1, iii + 56); ii += 8)",
        "for (i = ii; i <= min(n - 1, ii + 7); i++)",
        count("j"),
    )
    assert reorder(nest("A[i][j] = B[j][i];", *headers), 3, 0, 1, 2) == Legal()
    assert isinstance(reorder(nest("A[j] = A[j - 1] + i;", *headers), 3, 0, 1, 2), Illegal)


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        ("ii", "n - ii < 32 ? n : ii + 32"),
        ("ii", "ii + 32 > n ? n : ii + 32"),
        ("ii", "min(n, ii + 32)"),
        ("ii", "n - 1 - ii < 32 ? n : ii + 32"),
        ("ii", "n - ii <= 32 ? n : ii + 32"),
        ("ii", "n - ii <= 31 ? n : ii + 32"),
        ("ii", "n - ii > 32 ? ii + 32 : n"),
        ("ii", "n - ii >= 33 ? ii + 32 : n"),
        ("max(ii, 0)", "MIN(ii + 32, n)"),
        ("ii < 0 ? 0 : ii", "n < ii + 32 ? n : ii + 32"),
    ],
)
def test_ways_to_write_a_tile(start: str, stop: str) -> None:
    headers = ("for (ii = 0; ii < n; ii += 32)", f"for (i = {start}; i < ({stop}); i++)")
    text = nest("A[i] = 0;", *headers)
    assert parallel(text, "ii") == Legal()
    assert isinstance(parallel(nest("A[i] = A[i - 1];", *headers), "ii"), Illegal)


def test_a_choice_that_is_no_extreme() -> None:
    header = "for (i = 0; i < (n - m < 3 ? n : m + 5); i++)"
    assert vector(nest("A[i] = A[i + n];", header), "i") != Legal()
    assert vector(nest("A[i < 5 ? 0 : i] = 0;", count("i", "5")), "i") == Legal()
    assert isinstance(vector(nest("A[i < 5 ? 0 : i] = 0;", count("i")), "i"), Illegal)


def test_strip_mined_pair_stays_in_order() -> None:
    verdict = reorder(tiled("A[i] = 0;", "i"), 1, 0)
    assert isinstance(verdict, Illegal)
    assert "`i`" in verdict.message
    assert "`ii`" in verdict.message


def test_seidel_must_not_be_interchanged() -> None:
    verdict = reorder(nest("A[i][j] = A[i - 1][j + 1] + A[i][j];", *INSIDE), 1, 0)
    assert isinstance(verdict, Illegal)
    assert verdict.name == "A"
    assert verdict.direction == ("<", ">")
    assert "`A[i][j]` (line 4)" in verdict.message
    assert "`A[i - 1][j + 1]` (line 4)" in verdict.message
    assert "flow dependence on `A`" in verdict.message
    assert "(<, >) over (i, j), distance (1, -1)" in verdict.message
    assert verdict.distance == (1, -1)
    assert verdict.source is not None
    assert verdict.source.is_write
    assert verdict.sink is not None
    assert not verdict.sink.is_write


def test_seidel_with_orthogonal_neighbours_may_be_interchanged_and_tiled() -> None:
    body = "A[i][j] = A[i - 1][j] + A[i][j - 1] + A[i + 1][j] + A[i][j + 1];"
    assert reorder(nest(body, *INSIDE), 1, 0) == Legal()


def test_seidel_in_time_must_not_be_tiled() -> None:
    text = nest("A[i] = A[i - 1] + A[i] + A[i + 1];", count("t", "0", "m"), count("i", "1", "n - 1"))
    assert isinstance(reorder(text, 1, 0), Illegal)


def test_jacobi_sweep() -> None:
    body = "B[i][j] = A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];"
    text = nest(body, *INSIDE)
    assert reorder(text, 1, 0) == Legal()
    assert parallel(text, "i") == Legal()
    assert vector(text, "j") == Legal()


def test_triangular_loop_keeps_its_order() -> None:
    text = nest("A[i][j] = 0;", count("i"), count("j", "i + 1"))
    verdict = reorder(text, 1, 0)
    assert isinstance(verdict, Illegal)
    assert verdict.message.startswith("the bounds of the loop `j` depend on the index of the loop `i`")
    assert parallel(text, "i") == Legal()


LU = """for (k = 0; k < n; k++) {
  for (j = k + 1; j < n; j++)
    A[k][j] = A[k][j] / A[k][k];
  for (i = k + 1; i < n; i++)
    for (j = k + 1; j < n; j++)
      A[i][j] = A[i][j] - A[i][k] * A[k][j];
}"""


@pytest.mark.parametrize("linear", [False, True])
def test_lu(linear: bool) -> None:
    text = LU
    if linear:
        for name in ("k][j", "k][k", "i][j", "i][k"):
            text = text.replace(f"A[{name}]", f"A[{name.replace('][', '*n + ')}]")
    loops = loops_of(text)
    assert [loop.index for loop in loops] == ["k", "j", "i", "j"]
    assert isinstance(may_parallelise(loops[0], context()), Illegal)
    inside = DependenceContext(DECLARATIONS, surrounding=(loops[0],))
    assert all(may_parallelise(loop, inside) == Legal() for loop in loops[1:3])
    assert may_reorder(loops[2:], (1, 0), inside) == Legal()
    innermost = DependenceContext(DECLARATIONS, surrounding=(loops[0], loops[2]))
    assert may_vectorise(loops[3], innermost) == Legal()
    alone = may_vectorise(loops[3], context())
    assert isinstance(alone, Unknown if linear else Legal)


def test_downward_loops() -> None:
    down = "for (i = n - 1; i >= 1; i--)"
    assert isinstance(vector(nest("A[i] = A[i + 1];", down), "i"), Illegal)
    verdict = vector(nest("A[i] = A[i - 1];", down), "i")
    assert isinstance(verdict, Illegal)
    assert verdict.message.startswith("anti")
    text = nest("A[i][j] = A[i + 1][j - 1];", down, count("j", "1"))
    assert reorder(text, 1, 0) == Legal()
    text = nest("A[i][j] = A[i + 1][j + 1];", down, count("j", "1"))
    assert isinstance(reorder(text, 1, 0), Illegal)


def test_strides_separate_accesses() -> None:
    assert vector(nest("A[i] = A[i - 1];", "for (i = 1; i < n; i += 2)"), "i") == Legal()
    assert isinstance(vector(nest("A[i] = A[i - 2];", "for (i = 1; i < n; i += 2)"), "i"), Illegal)
    assert vector(nest("A[2*i] = A[2*i + 1];", count("i")), "i") == Legal()
    assert vector(nest("A[i] = A[i - 4];", "for (i = 8; i < 12; i++)"), "i") == Legal()


def test_distance_beyond_the_range_is_no_dependence() -> None:
    assert vector(nest("A[i] = A[i + n];", count("i")), "i") == Legal()
    assert isinstance(vector(nest("A[i] = A[i + m];", count("i")), "i"), Illegal)


def test_reductions_are_named() -> None:
    text = nest("s += A[i][j];", *IJ)
    verdict = reorder(text, 1, 0)
    assert isinstance(verdict, Illegal)
    assert "`s` (line 4) is a reduction with `+`" in verdict.message
    verdict = parallel(text, "i")
    assert isinstance(verdict, Illegal)
    assert "reduction(+: s)" in verdict.message
    assert parallel(text, "i", reductions=["s"]) == Legal()
    assert vector(text, "j") == Legal()


def test_reductions_may_be_formed_in_another_order_if_that_is_allowed() -> None:
    text = nest("s += A[i][j];", *IJ)
    verdict = reorder(text, 1, 0, live=["s"])
    assert isinstance(verdict, Illegal)
    assert verdict.help is not None
    assert "arg reassociate = True;" in verdict.help
    allowed = DependenceContext(DECLARATIONS, frozenset({"s"}), reassociate=True)
    assert may_reorder(loops_of(text), (1, 0), allowed) == Legal()
    assert may_jam(loops_of(text)[0], 2, allowed) == Legal()
    mixed = nest("s += A[i][j]; s *= 2;", *IJ)
    assert isinstance(may_reorder(loops_of(mixed), (1, 0), allowed), Illegal)


@pytest.mark.parametrize(
    ("body", "may_be_moved"),
    [
        ("if (A[i][j] > 0) t++;", True),
        ("if (A[i][j] > 0) t = 2 * t + m;", True),
        ("t |= c[i][j];", True),
        ("if (A[i][j] > 0) t += i;", False),
        ("if (t < 5) t++;", False),
        ("t++; t--;", False),
        ("t += c[i][j];", False),
        ("t ^= c[i][j];", False),
    ],
)
def test_changes_whose_order_is_nothing(body: str, may_be_moved: bool) -> None:
    assert (reorder(nest(body, *IJ), 1, 0, live=["t"]) == Legal()) is may_be_moved
    assert parallel(nest(body, *IJ), "i") != Legal()


def test_advice_for_a_scalar_under_a_condition() -> None:
    verdict = parallel(nest("if (A[i] > 0) t++;", count("i")), "i")
    assert isinstance(verdict, Unknown)
    assert "list it in reduction(+: t)" in verdict.reason
    assert "the condition `A[i] > 0` is not affine" in verdict.reason


def test_the_inner_loop_is_offered_where_the_outer_one_carries_a_dependence() -> None:
    verdict = parallel(nest("A[i][j] = A[i - 1][j];", *INSIDE), "i")
    assert isinstance(verdict, Illegal)
    assert verdict.help == "the inner loop `j` carries no dependence"
    verdict = parallel(nest("A[i][j] = A[i - 1][j] + A[i][j - 1];", *INSIDE), "i")
    assert isinstance(verdict, Illegal)
    assert verdict.help is None


def test_distances() -> None:
    carried = parallel(nest("A[i] = A[i - 3];", count("i", "3")), "i")
    assert isinstance(carried, Illegal)
    assert carried.distance == (3,)
    downward = parallel(nest("A[i] = A[i + 3];", "for (i = n; i >= 0; i--)"), "i")
    assert isinstance(downward, Illegal)
    assert downward.distance == (3,)
    strided = parallel(nest("A[i] = A[i - 4];", "for (i = 4; i < n; i += 2)"), "i")
    assert isinstance(strided, Illegal)
    assert strided.distance == (2,)
    varying = parallel(nest("A[i] = A[2 * i];", count("i")), "i")
    assert isinstance(varying, Illegal)
    assert varying.distance is None
    assert "distance" not in varying.message


def test_loops_with_something_between_them_are_no_nest() -> None:
    text = "for (i = 0; i < n; i++) { B[i] = 0; for (j = 0; j < n; j++) A[i][j] = 0; }"
    verdict = reorder(text, 1, 0)
    assert isinstance(verdict, Unknown)
    assert "the loop `i` holds more than the loop `j`" in verdict.reason


def test_memory_reductions_are_carried() -> None:
    text = nest("y[i] += A[i][j] * x[j];", *IJ)
    assert parallel(text, "i") == Legal()
    assert isinstance(parallel(text, "j"), Illegal)
    assert isinstance(vector(text, "j"), Illegal)


def test_temporary_scalars() -> None:
    text = nest("t = A[i][j]; B[i][j] = t * t;", *IJ)
    assert reorder(text, 1, 0) == Legal()
    assert reorder(text, 1, 0, live=["t"]) == Legal()
    assert vector(text, "j") == Legal()
    verdict = parallel(text, "i")
    assert isinstance(verdict, Illegal)
    assert "`t` is shared between iterations" in verdict.message
    assert "private(t)" in verdict.message
    assert parallel(text, "i", private=["t"]) == Legal()
    verdict = parallel(text, "i", private=["t"], live=["t"])
    assert isinstance(verdict, Illegal)
    assert "read after the loop" in verdict.message


def test_live_scalar_needs_the_same_last_iteration() -> None:
    tile = tiled("t = i + j; A[i][j] = t;", "ij")
    assert reorder(tile, 0, 2, 1, 3, live=["t"]) == Legal()
    text = nest("if (i + j < n) t = i;", *IJ)
    assert isinstance(reorder(text, 1, 0, live=["t"]), Illegal)
    assert reorder(text, 1, 0) == Legal()


def test_private_scalar_must_be_written_first() -> None:
    text = nest("A[i] = t; t = i;", count("i"))
    verdict = parallel(text, "i", private=["t"])
    assert isinstance(verdict, Illegal)
    assert "may read it before writing it" in verdict.message


def test_branches_that_are_never_or_always_taken() -> None:
    assert parallel(nest("if (i >= 0) t = i; A[i] = t;", count("i")), "i", private=["t"]) == Legal()
    assert parallel(nest("if (i < 0) A[i] = t; else t = i;", count("i")), "i", private=["t"]) == Legal()
    text = nest("if (i != 3) t = i; if (3 * i != 2) A[i] = t;", count("i"))
    assert isinstance(parallel(text, "i", private=["t"]), Illegal)


def test_declared_inside_is_private() -> None:
    text = nest("double u = A[i][j], w[4]; w[0] = u; w[1] = w[0]; B[i][j] = w[1];", *IJ)
    assert reorder(text, 1, 0) == Legal()
    assert parallel(text, "i") == Legal()


def test_index_computed_in_the_body() -> None:
    assert reorder(nest("int at = i * n + j; A[at] = A[at] + 1;", *IJ), 1, 0) == Legal()
    assert reorder(nest("base = i * n; A[base + j] = 1;", *IJ), 1, 0) == Legal()
    assert isinstance(reorder(nest("base = base + 1; A[base] = 1;", *IJ), 1, 0), Illegal | Unknown)


CSR = """for (i = 0; i < n; i++)
  for (j = ptr[i]; j < ptr[i + 1]; j++)
    y[i] += val[j] * x[col[j]];"""


def test_sparse_matrix_vector_product() -> None:
    assert parallel(CSR, "i") == Legal()
    assert isinstance(parallel(CSR, "j"), Illegal)
    assert isinstance(reorder(CSR, 1, 0), Illegal)


def test_indirect_writes_are_unknown() -> None:
    verdict = parallel(nest("y[col[i]] += x[i];", count("i")), "i")
    assert isinstance(verdict, Unknown)
    assert "subscript `col[i]` is not affine" in verdict.reason
    assert verdict.position is not None
    assert verdict.position.line == 3


def test_linearised_subscripts_need_a_proof() -> None:
    verdict = reorder(nest("A[i*m + j] = A[i*m + j] + 1;", *IJ), 1, 0)
    assert isinstance(verdict, Unknown)
    assert "linearised" in verdict.reason
    assert reorder(nest("A[i*n + j] = A[(i - 1)*n + j];", count("i", "1"), count("j")), 1, 0) == Legal()
    shifted = nest("A[i*n + j] = A[(i - 1)*n + j + 1];", count("i", "1"), count("j", "0", "n - 1"))
    assert isinstance(reorder(shifted, 1, 0), Illegal)


def test_linearised_with_three_dimensions_and_padding() -> None:
    headers = (count("i"), count("j", "0", "m"), count("k", "0", "hi"))
    assert reorder(nest("A[(i*m + j)*hi + k] += 1;", *headers), 2, 1, 0) == Legal()
    assert reorder(nest("A[i*m*hi + j*hi + k] += B[k];", *headers), 1, 2, 0) == Legal()
    padded = nest("A[(i + 1)*(n + 2) + j + 1] += 1;", *IJ)
    assert reorder(padded, 1, 0) == Legal()


def test_linearised_boundary() -> None:
    inner = "for (j = 0; j < n; j++) { A[i*n] += 1; A[i*n + n - 1] += j; }"
    assert parallel(nest(inner, count("i", "0", "m")), "i") == Legal()  # n is at least 1 inside
    assert isinstance(parallel(nest("A[i*n] = 0;", count("i", "0", "m")), "i"), Unknown)  # and may be 0 here
    assert parallel(nest("A[i*n] = 0; A[i*n + n] = 1;", count("i", "0", "m")), "i") != Legal()


def test_linearised_rows_may_begin_at_1() -> None:
    from_1 = (count("i", "1", "n + 1"), count("j", "1", "n + 1"))
    assert parallel(nest("A[i*n + j] -= b[j];", *from_1), "i") == Legal()
    assert parallel(nest("A[i*n + j] += A[j*n + i]; ", *from_1), "i") != Legal()
    # The element behind a row is the first one of the next row.
    assert parallel(nest("A[i*n + j] = 1; A[i*n] = 2;", *from_1), "i") != Legal()
    far = (count("i", "1", "n + 1"), count("j", "1", "n + 2"))
    assert parallel(nest("A[i*n + j] -= b[j];", *far), "i") != Legal()
    moved = nest("A[i*n + j] = A[(i + 1)*n + j];", *from_1)
    assert isinstance(reorder(moved, 1, 0), Legal)
    assert isinstance(parallel(moved, "i"), Illegal)


def test_quotients() -> None:
    assert isinstance(vector(nest("A[i / 2] = i;", count("i")), "i"), Illegal)
    assert vector(nest("A[2*(i / 2) + i % 2] = i;", count("i")), "i") == Legal()
    # C division truncates: -1 / 2 and 0 / 2 are both 0, -1 >> 1 is -1.
    around_zero = nest("A[i / 2] = i;", "for (i = -1; i < 1; i++)")
    assert isinstance(vector(around_zero, "i"), Illegal)
    assert vector(around_zero.replace("/ 2", ">> 1"), "i") == Legal()
    assert vector(nest("A[i + n / 2] = A[i];", count("i", "0", "n / 2")), "i") == Legal()
    assert vector(nest("A[i] = A[n - 1 - i];", count("i", "0", "n / 2")), "i") == Legal()


def test_affine_conditions_restrict() -> None:
    assert vector(nest("if (i < m) A[i] = A[i + m];", count("i")), "i") == Legal()
    assert vector(nest("A[i] = i >= m ? 0 : A[i + m];", count("i", "0", "m")), "i") == Legal()
    assert vector(nest("if (i != 5) A[i] = A[5];", count("i")), "i") == Legal()
    assert vector(nest("if (i < 5 || i > 9) A[i] = A[7];", count("i")), "i") == Legal()
    assert vector(nest("if (i >= 5 && i <= 9) B[i] = 0; else A[i] = A[7];", count("i")), "i") == Legal()
    assert vector(nest("if (!(i < 5)) A[i] = A[i - 5];", "for (i = 0; i < 10; i++)"), "i") == Legal()
    assert isinstance(vector(nest("if (i != 5) A[i] = A[4];", count("i")), "i"), Illegal)
    assert vector(nest("if (i < 0) A[0] = i; A[i] = 0;", count("i")), "i") == Legal()
    verdict = vector(nest("if (x > 0) A[i] = A[i + m];", count("i")), "i")
    assert isinstance(verdict, Unknown)
    assert "condition `x > 0`" in verdict.reason


def test_extremes_and_choices_in_subscripts() -> None:
    assert vector(nest("A[i] = A[min(i, n - 1)];", count("i")), "i") == Legal()
    assert isinstance(vector(nest("A[min(i, 5)] = 0;", count("i")), "i"), Illegal)
    assert vector(nest("A[max(i, 5)] = 0;", count("i", "5")), "i") == Legal()
    assert vector(nest("A[i < 5 ? i : i + n] = 0;", count("i")), "i") == Legal()
    assert isinstance(vector(nest("A[i < 5 ? i : 9 - i] = 0;", count("i")), "i"), Illegal)
    header = "for (i = max(lo, hi); i < n; i += 3)"
    assert vector(nest("A[i] = A[i + 1];", header), "i") == Legal()
    assert isinstance(vector(nest("A[i] = A[i + 3];", header), "i"), Illegal)
    assert vector(nest("A[i] = A[i + n - lo];", "for (i = min(lo, n); i < n; i++)"), "i") == Legal()


def test_pointers() -> None:
    assert vector(nest("*(p + i) = *(p + i) + 1;", count("i")), "i") == Legal()
    assert isinstance(vector(nest("*p = i;", count("i")), "i"), Illegal)
    assert isinstance(vector(nest("*p++ = i;", count("i")), "i"), Unknown)
    assert isinstance(vector(nest("double *q = p + i; q[0] = 1;", count("i")), "i"), Unknown)


def test_struct_fields_are_different_memory() -> None:
    assert vector(nest("g.a[i] = g.b[i + 1];", count("i")), "i") == Legal()
    assert vector(nest("g[i].a = g[i + 1].b;", count("i")), "i") == Legal()
    assert isinstance(vector(nest("h->a[i] = h->a[i + 1];", count("i", "0", "h->n")), "i"), Illegal)
    assert isinstance(vector(nest("g[i].a = 1; g[i + 1] = g[0];", count("i")), "i"), Unknown)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("A[i] = f(i);", "calls `f`"),
        ("g(&s);", "calls `g`"),
        ("p = &t;", "address"),
        ("if (A[i] > 0) break;", "`break` leaves the loop"),
        ("if (A[i] > 0) return;", "`return`"),
        ("again: A[i] = 0;", "label"),
        ("static int c; c++; A[i] = c;", "static"),
        ("i = i + 1; A[i] = 0;", "assigns the loop index `i`"),
        ("n = n - 1; A[i] = 0;", "which the loops change"),
    ],
)
def test_what_cannot_be_analysed(body: str, reason: str) -> None:
    verdict = parallel(nest(body, count("i")), "i")
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reason
    assert verdict.position is not None


def test_pure_functions_are_harmless() -> None:
    assert parallel(nest("B[i] = sqrt(A[i]) + max(A[i], 0) + exp(x);", count("i")), "i") == Legal()


def test_while_loops_run_any_number_of_times() -> None:
    text = nest("double v = A[i]; while (v > 1) { v = v / 2; B[i] = v; }", count("i"))
    assert parallel(text, "i") == Legal()
    text = nest("while (B[i] > 1) { B[i + 1] = 0; }", count("i"))
    assert isinstance(parallel(text, "i"), Unknown)


def test_rest_of_an_unrolled_loop() -> None:
    text = """for (j = 0; j < n; j++) {
      for (i = 0; i <= n - 4; i += 4) { A[j][i] = 0; A[j][i + 1] = 0; A[j][i + 2] = 0; A[j][i + 3] = 0; }
      for (; i < n; i++) A[j][i] = 0;
    }"""
    assert parallel(text, "j") == Legal()
    linear = text.replace("[j][", "[j*n + ")
    assert parallel(linear, "j") == Legal()
    assert vector(linear, "i") == Legal()


def test_index_read_after_its_loop() -> None:
    text = nest("A[i] = j; for (j = 0; j < n; j++) B[i][j] = 0;", count("i"))
    assert isinstance(parallel(text, "i"), Illegal)
    text = nest("for (j = 0; j < n; j++) B[i][j] = 0;", count("i"))
    assert parallel(text, "i") == Legal()


def test_jamming() -> None:
    assert jam(nest("C[i][j] += A[i][k] * B[k][j];", *IJK), 4) == Legal()
    assert isinstance(jam(nest("A[i][j] = A[i - 1][j + 1];", *INSIDE)), Illegal)
    assert jam(nest("A[i][j] = A[i - 1][j];", *INSIDE)) == Legal()
    assert jam(nest("A[i][j] = A[i - 4][j + 1];", *INSIDE), 4) == Legal()
    assert isinstance(jam(nest("A[i][j] = A[i - 4][j + 1];", *INSIDE), 5), Illegal)
    assert isinstance(jam(nest("A[i][j] = 0;", count("i"), count("j", "i"))), Illegal)
    assert jam("for (i = 0; i < n; i++) { y[i] = 0; for (j = 0; j < n; j++) y[i] += A[i][j]; }") == Legal()
    verdict = jam("for (i = 0; i < n; i++) { s = 0; for (j = 0; j < n; j++) s += A[i][j]; y[i] = s; }")
    assert isinstance(verdict, Illegal)
    assert "declare it inside the loop body" in verdict.message
    assert jam(nest("t = A[i][j]; B[i][j] = t;", *IJ)) == Legal()
    groups = "t = C[i]; B[i] = t; for (j = 0; j < n; j++) { t = A[i][j]; D[i][j] = t; } t = C[i]; E[i] = t;"
    assert jam(nest(groups, count("i"))) == Legal()


def test_the_same_order_needs_no_analysis() -> None:
    assert reorder(nest("f(i, j);", *IJ), 0, 1) == Legal()
    assert jam(nest("f(i, j);", *IJ), 1) == Legal()


def test_wrong_order_is_an_error() -> None:
    with pytest.raises(ValueError, match="no order of 2 loops"):
        may_reorder(loops_of(nest("A[i][j] = 0;", *IJ)), (0, 0), context())


def test_volatile_and_unions_are_unknown() -> None:
    special = {
        "v": CDeclaration("v", "int", qualifiers=frozenset({"volatile"}), text="volatile int v"),
        "u": CDeclaration("u", "union both", text="union both u"),
    }
    for body in ("A[i] = v;", "u.a[i] = u.b[i];"):
        loop = loops_of(nest(body, count("i")))[0]
        assert isinstance(may_parallelise(loop, DependenceContext(special)), Unknown)


def test_huge_numbers_are_refused_quietly() -> None:
    text = nest(
        "A[9223372036854775807 * i] = A[9223372036854775807 * i + 9223372036854775807 * n];", count("i")
    )
    assert isinstance(vector(text, "i"), Legal | Illegal | Unknown)
