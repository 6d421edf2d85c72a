"""Contractions as annotated C, and the choices that are tuned."""

from __future__ import annotations

import pytest
from c_trees import read_tasks

from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.einsum import read_einsum
from orio_py.frontend.tensor.program import read_program
from orio_py.spec.check import check
from orio_py.tensors.annotated import annotated_file, shared_loops
from orio_py.tensors.contraction import TensorProgram
from orio_py.tensors.contraction_order import derivation, pairwise
from orio_py.tensors.nests import header, nest
from orio_py.tensors.tile_choices import flat_groups, tile_choices

TRIPLES = """sd_t memory: column pattern: strided define: n = 16
variables: t3: (n,n,n,n,n,n) t2: (n,n,n,n) v2: (n,n,n,n)
operations: {}"""
D1_1 = "t3:(h3,h2,h1,p6,p5,p4) -= t2:(h7,p4,p5,h1) * v2:(h3,h2,p6,h7)"
D1_6 = "t3:(h1,h3,h2,p5,p4,p6) -= t2:(h7,p4,p5,h1) * v2:(h3,h2,p6,h7)"
GRADIENT = """g memory: column pattern: strided define: n = 10 e = 20
variables: u: (n,n,n,e) d: (n,n) ur: (n,n,n,e) us: (n,n,n,e)
operations: ur:(k,j,i,e) += d:(k,m) * u:(m,j,i,e)  us:(k,j,i,e) += u:(k,m,i,e) * d:(m,j)"""
PRODUCT = "f {} variables: a: (3,4) b: (4,5) c: (3,5) operations: {}"


def program(text: str) -> TensorProgram:
    return read_program(SourceFile("f.tensor", text.encode()), Span(0, len(text)))


@pytest.mark.parametrize(
    ("options", "statement", "lines"),
    [
        (
            "",
            "c(i,j) += a(i,k) * b(k,j)",
            (
                "for (int i = 0; i < 3; i++)",
                "  for (int j = 0; j < 5; j++)",
                "    for (int k = 0; k < 4; k++)",
                "      c[j + 5 * i] += a[k + 4 * i] * b[j + 5 * k];",
            ),
        ),
        (
            "memory: column pattern: strided",
            "c(i,j) -= 2 * a(i,k) * b(k,j)",
            (
                "for (int j = 0; j < 5; j++)",
                "  for (int i = 0; i < 3; i++)",
                "    for (int k = 0; k < 4; k++)",
                "      c[i + 3 * j] -= 2 * a[i + 3 * k] * b[k + 4 * j];",
            ),
        ),
        (
            "access: multidimensional",
            "c(i,j) = a(i,k) * b(k,j)",
            (
                "for (int i = 0; i < 3; i++)",
                "  for (int j = 0; j < 5; j++) {",
                "    c[i][j] = 0;",
                "    for (int k = 0; k < 4; k++)",
                "      c[i][j] += a[i][k] * b[k][j];",
                "  }",
            ),
        ),
    ],
)
def test_statements_become_loops(options, statement, lines):
    found = program(PRODUCT.format(options, statement))
    assert nest(found.contractions[0], found).lines == lines


def test_a_sum_without_loops_around_begins_before_them():
    found = program("f variables: a: (3) s: 0 operations: s = a(i)")
    made = nest(found.contractions[0], found)
    assert (made.before, made.lines) == (("s[0] = 0;",), ("for (int i = 0; i < 3; i++)", "  s[0] += a[i];"))


def test_the_signature_is_that_of_the_arrays():
    assert header(program(PRODUCT.format("", "c(i,j) += a(i,k) * b(k,j)"))) == (
        "void f(double *restrict c, double *restrict a, double *restrict b)"
    )
    other = program(
        PRODUCT.format("access: multidimensional memory: column type: float", "c(i,j) += a(i,k) * b(k,j)")
    )
    assert header(other) == "void f(float c[restrict 5][3], float a[restrict 4][3], float b[restrict 5][4])"


def test_neighbours_in_all_tensors_become_one_loop():
    found = program(TRIPLES.format(D1_1))
    assert flat_groups(found.contractions[0], found) == (("h3", "h2"),)
    other = program(TRIPLES.format(D1_1.replace("v2:(h3,h2,", "v2:(h2,h3,")))
    assert flat_groups(other.contractions[0], other) == ()
    assert flat_groups(found.contractions[0], found, without=("h2",)) == ()


def test_operands_are_packed_where_columns_are_scattered():
    found = program(TRIPLES.format(D1_6))
    assert tile_choices(found.contractions[0], found).packs[0] == ("t2",)
    other = program(TRIPLES.format(D1_1))
    assert tile_choices(other.contractions[0], other).packs[0] == ()


def test_columns_have_unit_stride_and_fill_registers():
    found = program(TRIPLES.format(D1_1))
    choices = tile_choices(found.contractions[0], found)
    assert choices.columns[0] == ("h3", 16)
    assert {index for index, _ in choices.columns if index} == {"h3"}
    assert choices.rows[0] == ("h1", 8)
    assert all(16 % size == 0 or size == 6 for _, size in choices.rows)
    assert all(sorted(order) == sorted(choices.orders[0]) for order in choices.orders)


def test_tiles_have_as_many_rows_as_divide_the_loop():
    found = program("f variables: a: (9, 7) b: (7, 64) c: (9, 64) operations: c(i,j) += a(i,k) * b(k,j)")
    assert {size for _, size in tile_choices(found.contractions[0], found).rows} == {1, 3, 4, 6}


@pytest.mark.parametrize(
    "text",
    [
        TRIPLES.format(D1_1),
        GRADIENT,
        "f variables: a: (3) s: 0 operations: s += a(i)",
        "f variables: a: 0 s: 0 operations: s = 2 * a",
        "f type: float access: multidimensional variables: a: (3,4) b: (4,3) operations: b(j,i) = a(i,j)",
    ],
)
@pytest.mark.parametrize("threads", [False, True])
def test_files_are_free_of_mistakes(text, threads):
    for task in read_tasks(annotated_file(program(text), threads=threads)):
        assert check(task) == ()


def test_statements_share_the_loop_that_all_of_them_have():
    text = annotated_file(program(GRADIENT))
    assert text.count("begin PerfTuning") == 1
    assert text.count("for (int e = 0; e < 20; e++) {") == 2
    assert annotated_file(program(GRADIENT), threads=True).count("begin PerfTuning") == 2


@pytest.mark.parametrize(
    ("statements", "shared"),
    [
        ("b(e,i) += a(e,i)  c(e,i) += b(e,i)", ("e",)),
        ("b(e,i) += a(e,i)  c(e,i) += b(i,e)", ()),
        ("b(e,i) += a(e,i)  c(i,e) += b(i,e)", ()),
        ("b(e,i) += a(e,i)  c(e,i) += a(i,e)", ("e",)),
        ("b(e,i) += a(e,i)", ()),
    ],
)
def test_a_loop_is_shared_where_tensors_stay_in_their_part(statements, shared):
    found = program(f"f variables: a: (4,4) b: (4,4) c: (4,4) operations: {statements}")
    assert shared_loops(found) == shared


def test_products_of_several_tensors_are_taken_apart():
    found = read_einsum("lk,mj,ni,lmn->ijk", dict.fromkeys("ijklmn", 10))
    made = pairwise(found)
    assert [len(statement.extents) for statement in made.contractions] == [4, 4, 4]
    assert (found.operations, made.operations) == (4_000_000, 60_000)
    assert [tensor.is_temporary for tensor in made.tensors] == [False] * 5 + [True] * 2
    told = derivation(found, made)
    assert "O(n^6)" in told
    assert "with 60000 operations instead of 4000000" in told


def test_products_stay_whole_where_that_is_cheaper():
    found = read_einsum("i,i,i->i", {"i": 10})
    assert pairwise(found) == found
    assert derivation(found, pairwise(found)) == ""


@pytest.mark.parametrize(
    ("extent", "ranked", "columns"),
    [(12, True, {8, 12}), (12, False, {6, 8, 12}), (10, True, {8, 10}), (16, True, {8, 16}), (3, True, {3})],
)
def test_columns_that_do_not_fill_vectors_are_left_out(extent, ranked, columns):
    found = program(
        f"f variables: a: (4,6) b: (6,{extent}) c: (4,{extent}) operations: c(i,j) += a(i,k) * b(k,j)"
    )
    made = tile_choices(found.contractions[0], found, ranked=ranked)
    assert {size for _, size in made.columns} == columns


@pytest.mark.parametrize(
    ("shapes", "statement", "is_left_out"),
    [
        ("a: (4,6) b: (16,6) c: (4,16)", "c(i,j) += a(i,k) * b(j,k)", True),
        ("a: (4,6) b: (6,16) c: (4,16)", "c(i,j) += a(i,k) * b(k,j)", False),
        ("a: (6) b: (16,6) c: (16)", "c(j) += a(k) * b(j,k)", False),
        ("a: (4,600) b: (16,600) c: (4,16)", "c(i,j) += a(i,k) * b(j,k)", False),
        ("a: (4) b: (16,4) c: (4,16)", "c(i,j) += a(i) * b(j,i)", False),
    ],
)
def test_scattered_operands_are_packed_where_they_are_read_again(shapes, statement, is_left_out):
    found = program(f"f variables: {shapes} operations: {statement}")
    assert (() not in tile_choices(found.contractions[0], found).packs) is is_left_out
    assert () in tile_choices(found.contractions[0], found, ranked=False).packs


def test_the_loop_that_statements_share_may_be_looked_ahead_in():
    found = program(GRADIENT)
    assert tile_choices(found.contractions[0], found, shared_loops(found)).ahead[0] == ("e", 1)


def test_settings_that_hold_stand_in_the_file():
    found = program("f memory: column variables: a: (2,3) b: (2,3) row operations: b(i,j) = a(i,j)")
    told = " * with access: linearized, memory: column (b: row), pattern: contiguous, type: double"
    assert annotated_file(found).splitlines()[:3] == ["/* Tensor contractions:", " *   b(i,j) = a(i,j)", told]
