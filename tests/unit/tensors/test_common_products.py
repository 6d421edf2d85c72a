"""Products that stand in several places of a program are computed once, where nothing in between changes them."""

from __future__ import annotations

import pytest

from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.program import read_program
from orio_py.tensors.common_products import with_common_products
from orio_py.tensors.contraction import TensorProgram
from orio_py.tensors.contraction_order import derivation, pairwise

PROGRAM = """f diagonal: allowed define: n = {size}
variables: a: (n,n) b: (n,n) c: (n,n) v: (n,n) w: (n,n) x: (n,n) y: (n,n,n,n)
operations: {statements}"""


def program(*statements: str, size: int = 16) -> TensorProgram:
    text = PROGRAM.format(size=size, statements="\n".join(statements))
    return read_program(SourceFile("f.tensor", text.encode()), Span(0, len(text)))


def statements(made: TensorProgram) -> list[str]:
    return list(map(str, made.contractions))


def test_indices_and_operands_may_have_other_names_and_orders():
    made = with_common_products(program("v(i,j) += a(i,k) * b(k,j)", "w(m,n) -= 2 * b(k,m) * a(n,k)"))
    assert statements(made) == [
        "common(i,j) = a(i,k) * b(k,j)",
        "v(i,j) += common(i,j)",
        "w(m,n) -= 2 * common(n,m)",
    ]
    assert [tensor.name for tensor in made.tensors if tensor.is_temporary] == ["common"]


def test_a_part_of_a_larger_product_is_found():
    made = with_common_products(
        program("v(i,j) += a(i,k) * b(k,l) * c(l,j)", "w(i,j) -= c(l,j) * b(k,l) * a(i,k)")
    )
    assert [len(statement.operands) for statement in made.contractions].count(1) == 2
    assert (
        pairwise(made).operations < pairwise(program("v(i,j) += a(i,k) * b(k,l) * c(l,j)")).operations * 1.2
    )


def test_a_statement_may_have_a_product_twice():
    made = with_common_products(program("y(i,j,k,l) = a(i,m) * b(m,j) * a(k,o) * b(o,l)"))
    assert statements(made) == ["common(i,j) = a(i,m) * b(m,j)", "y(i,j,k,l) = common(i,j) * common(k,l)"]


def test_an_output_that_is_the_product_is_used():
    made = with_common_products(
        program("v(i,j) = a(i,k) * b(k,j)", "w(i,j) += a(j,k) * b(k,i)", "x(i,j) -= 3 * b(l,j) * a(i,l)")
    )
    assert statements(made) == ["v(i,j) = a(i,k) * b(k,j)", "w(i,j) += v(j,i)", "x(i,j) -= 3 * v(i,j)"]


@pytest.mark.parametrize(
    "between",
    ["a(i,j) += c(i,j)", "b(i,j) = 2 * c(j,i)", "a(i,j) += c(i,j)\n  w(i,j) = c(j,i)"],
)
def test_a_write_to_an_operand_comes_between(between):
    found = program("v(i,j) += a(i,k) * b(k,j)", between, "x(i,j) -= a(i,k) * b(k,j)")
    assert with_common_products(found) is found


@pytest.mark.parametrize(
    "other",
    [
        "w(i,j) += a(i,k) * b(j,k)",
        "w(i,j) += a(k,i) * b(k,j)",
        "w(i,i2) += a(i,k) * c(k,i2)",
        "y(i,j,k,l) += a(i,k) * b(k,j) * c(l,l)",
        "w(i,j) += a(i,k) * b(k,j) * c(k,j)",
    ],
)
def test_products_that_differ_stay(other):
    found = program("v(i,j) += a(i,k) * b(k,j)", other)
    assert not any(statement.startswith("common") for statement in statements(with_common_products(found)))


def test_an_output_that_is_written_again_is_not_used():
    made = with_common_products(
        program("v(i,j) = a(i,k) * b(k,j)", "v(i,j) += c(i,j)", "w(i,j) += a(i,k) * b(k,j)")
    )
    assert statements(made)[-1] == "w(i,j) += common(i,j)"
    again = with_common_products(program("v(i,j) = a(i,k) * b(k,j)", "v(i,j) += a(j,k) * b(k,i)"))
    assert statements(again) == [
        "common(i,j) = a(i,k) * b(k,j)",
        "v(i,j) = common(i,j)",
        "v(i,j) += common(j,i)",
    ]


def test_products_that_cost_less_than_their_memory_stay():
    found = program("v(i,j) += a(i,k) * b(k,j)", "w(i,j) -= a(i,k) * b(k,j)", size=3)
    assert with_common_products(found) is found


def test_the_derivation_tells_of_it():
    found = program("v(i,j) += a(i,k) * b(k,j)", "w(i,j) -= a(i,k) * b(k,j)")
    told = derivation(found, with_common_products(found))
    assert "common(i,j) = a(i,k) * b(k,j)    O(n^3), once for 2 products" in told
    assert "with 9216 operations instead of 16384" in told
