"""The thesis' decisions: contiguous tensors, blocks and threads, and the recipes of its figure 3.9."""

from __future__ import annotations

import pytest

from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.program import read_program
from orio_py.tensors.contraction import TensorProgram
from orio_py.tensors.decomposition import Decomposition, contiguous_tensor, decompositions, mapped_loops
from orio_py.tensors.statement_recipe import group_decompositions, statement_recipe

TRIPLES = """{name}
memory: column
pattern: strided
define: n = {n}
variables: t3: (n,n,n,n,n,n)  t1: (n,n)  t2: (n,n,n,n)  v2: (n,n,n,n)
operations: {statement}
"""
D1_1 = "t3:(h3,h2,h1,p6,p5,p4) -= t2:(h7,p4,p5,h1) * v2:(h3,h2,p6,h7)"
D2_1 = "t3:(h3,h2,h1,p6,p5,p4) -= t2:(p7,p4,h1,h2) * v2:(p7,h3,p6,p5)"
S1_1 = "t3:(h3,h2,h1,p6,p5,p4) += t1:(p4,h1) * v2:(h3,h2,p6,p5)"
GRADIENT = """local_grad3
memory: column
pattern: strided
define:
  lx = {n}
  nelt = 1000
variables:
  u: (lx, lx, lx, nelt)
  D: (lx, lx)
  Dt: (lx, lx)
  ur: (lx, lx, lx, nelt)
  us: (lx, lx, lx, nelt)
  ut: (lx, lx, lx, nelt)
operations:
  ur: (k, j, i, e) += D: (k, m) *
      u: (m, j, i, e)
  us: (k, j, i, e) += u: (k, m, i, e) *
      Dt: (m, j)
  ut: (k, i, j, e) += u: (k, i, m, e) *
      Dt: (m, j)
"""


def program(text: str) -> TensorProgram:
    return read_program(SourceFile("f.tensor", text.encode()), Span(0, len(text)))


def triples(statement: str, n: int = 16) -> TensorProgram:
    return program(TRIPLES.format(name="sd_t", n=n, statement=statement))


def test_the_recipe_for_the_triples_is_that_of_the_thesis():
    assert statement_recipe(triples(D1_1)) == (
        "UF0[] = [1,2,4,8,16];\n"
        'permute(0, ("p5", "p4", "p6", "h1", "h2", "h3", "h7"))\n'
        'cuda(0, block={"h2", "p6"}, thread={"h3", "h1"})\n'
        'registers(0, "h7")\n'
        'unroll(0, "h7", UF0)\n'
    )


def test_the_recipe_for_the_gradient_is_that_of_the_thesis():
    assert statement_recipe(program(GRADIENT.format(n=10))) == (
        "UF0[] = [1,2,5,10];\n"
        "UF2[] = [1,2,5,10];\n"
        'cuda(0, block={"e", "j"}, thread={"k", "i"})\n'
        'cuda(2, block={"e", "j"}, thread={"k", "i"})\n'
        'registers(0, "m")\n'
        'registers(1, "m")\n'
        'registers(2, "m")\n'
        "fuse(0,1)\n"
        'unroll(0, "m", UF0)\n'
        'unroll(2, "m", UF2)\n'
    )


def test_an_outer_product_has_no_registers_and_no_unrolling():
    made = statement_recipe(triples(S1_1))
    assert 'cuda(0, block={"h2", "p6"}, thread={"h3", "p5"})' in made
    assert "registers" not in made
    assert "unroll" not in made


@pytest.mark.parametrize(("n", "factors"), [(8, "1,2,4,8"), (10, "1,2,5,10"), (12, "1,2,3,4,6,12")])
def test_unrolling_leaves_nothing_over(n, factors):
    assert f"UF0[] = [{factors}];" in statement_recipe(triples(D1_1, n))


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        (D1_1, "v2"),
        (S1_1, "v2"),
        (D2_1, "v2"),
        ("t3:(h3,h2,h1,p6,p5,p4) += v2:(h3,h2,p6,p5) * t1:(p4,h1)", "v2"),
    ],
)
def test_the_contiguous_tensor_follows_the_loops(statement, name):
    found = triples(statement)
    assert contiguous_tensor(found.contractions[0], found.pattern).tensor.name == name


def test_threads_follow_the_unit_stride_of_the_output():
    found = triples(D2_1)
    assert mapped_loops(found.contractions[0], found.pattern) == ("h3", "p6", "p5", "h2")


def test_all_legal_places_are_alternatives_and_the_rule_comes_first():
    found = triples(D1_1)
    made = decompositions(found.contractions[0], found.pattern)
    assert made[0] == Decomposition(("h2", "p6"), ("h3", "h1"))
    assert len(set(made)) == 6


def test_a_loop_too_long_for_a_block_takes_the_grid():
    first, second = group_decompositions(program(GRADIENT.format(n=10)))
    assert {made.block for made in first} == {("e", "j"), ("j", "e"), ("i", "e"), ("e", "i")}
    assert all("e" not in made.thread for made in (*first, *second))


def test_grids_are_not_longer_than_devices_allow():
    text = (
        "f variables: a: (100000, 100000, 2) b: (100000) c: (100000, 2) operations: c(j,k) += b(i) * c2(j,k)"
    )
    found = program(text.replace("a: (100000, 100000, 2)", "c2: (100000, 2)"))
    assert [made.block for made in decompositions(found.contractions[0], found.pattern)] == [("j",)]


@pytest.mark.parametrize(
    "text",
    ["f variables: a: (4) s: 0 operations: s += a(i)", "f variables: a: (4) b: (4) operations: b(i) += a(i)"],
)
def test_there_is_no_decomposition_without_two_loops(text):
    found = program(text)
    assert decompositions(found.contractions[0], found.pattern) == ()
    assert "cuda" not in statement_recipe(found)


@pytest.mark.parametrize(
    ("statements", "fused"),
    [
        ("b(i,j) += a(i,j)  c(i,j) += a(i,j)", True),
        ("b(i,j) += a(i,j)  b(i,j) += c(i,j)", True),
        ("b(i,j) += a(i,j)  b(i,j) += c(j,i)", True),
        ("b(i,j) += a(i,j)  c(j,i) += a(i,j)", False),
        ("b(i,j) += a(i,j)  c(i,j) += b(i,j)", False),
        ("b(i,j) += c(i,j)  c(i,j) += a(i,j)", False),
    ],
)
def test_statements_are_fused_where_nothing_passes_between_them(statements, fused):
    made = statement_recipe(program(f"f variables: a: (4,4) b: (4,4) c: (4,4) operations: {statements}"))
    assert ("fuse(0,1)" in made) == fused
