"""Polynomials over iterations and parameters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.sets import Solver

NAMES = ("@1", "@2", "m", "n")
monomials = st.lists(st.sampled_from(NAMES), max_size=3).map(lambda names: tuple(sorted(names)))
polynomials = st.lists(st.tuples(monomials, st.integers(-5, 5)), max_size=5).map(Polynomial.total)
points = st.fixed_dictionaries({name: st.integers(-4, 4) for name in NAMES})


def value(polynomial: Polynomial, point: dict[str, int]) -> int:
    total = 0
    for monomial, coefficient in polynomial.terms.items():
        for name in monomial:
            coefficient *= point[name]
        total += coefficient
    return total


@given(polynomials, polynomials, points)
def test_arithmetic_is_that_of_the_values(a: Polynomial, b: Polynomial, point: dict[str, int]) -> None:
    assert value(a + b, point) == value(a, point) + value(b, point)
    assert value(a - b, point) == value(a, point) - value(b, point)
    assert value(a * b, point) == value(a, point) * value(b, point)
    assert (a - a).terms == {}
    assert (a + b).key == (b + a).key


@given(polynomials, polynomials)
def test_division_gives_back_the_dividend(a: Polynomial, b: Polynomial) -> None:
    if b.value is None:
        quotient, rest = a.divided(b)
        assert (quotient * b + rest).key == a.key


@given(polynomials)
def test_iteration_coefficients_rebuild_the_polynomial(a: Polynomial) -> None:
    parts = a.iteration_coefficients()
    if parts is not None:
        total = parts[1]
        for symbol, coefficient in parts[0].items():
            total += Polynomial.symbol(symbol) * coefficient
        assert total.key == a.key


def test_affine_forms() -> None:
    i, n, m = Polynomial.symbol("@1"), Polynomial.symbol("n"), Polynomial.symbol("m")
    assert (i.scaled(2) + n * m).shifted(3).linear() == {"@1": 2, "m*n": 1, "": 3}
    assert (i * n).linear() is None
    assert Polynomial.constant(0).value == 0
    assert (n * m).is_parametric
    assert not (i + n).is_parametric


@given(polynomials)
def test_summands_are_the_terms(a: Polynomial) -> None:
    assert sorted(a.summands()) == sorted(a.terms.items())


def test_summands_begin_with_differences() -> None:
    s, m, n = (Polynomial.symbol(name) for name in "smn")
    assert (n - s).shifted(80).summands() == [(("n",), 1), (("s",), -1), ((), 80)]
    assert (n.scaled(2) + m - s).summands() == [(("m",), 1), (("s",), -1), (("n",), 2)]
    assert (n * m - s - n).summands() == [(("m", "n"), 1), (("n",), -1), (("s",), -1)]


def test_a_remembered_answer_is_that_of_the_same_constraints() -> None:
    solver, n = Solver(), Polynomial.symbol("n")
    for _ in range(3):  # new constraints, which may stand where old ones stood
        assert solver.is_nonnegative(n, [n.shifted(-1)])
        assert not solver.is_nonnegative(n, [n.shifted(1)])
        assert not solver.is_nonnegative(n, [])
        assert solver.is_nonnegative(n.shifted(1), [n.shifted(1)])


@given(polynomials)
def test_coefficients_of_iterations_make_up_the_polynomial(a: Polynomial) -> None:
    parts = a.iteration_coefficients()
    if parts is None:
        return
    whole = parts[1]
    for symbol, coefficient in parts[0].items():
        assert coefficient.terms
        whole = whole + Polynomial.symbol(symbol) * coefficient
    assert whole.key == a.key
