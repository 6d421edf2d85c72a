"""Random small spaces against brute force: every combination evaluated with the plain evaluator."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.expr import (
    Binary,
    BoolOp,
    Call,
    Clause,
    Compare,
    Comprehension,
    Conditional,
    Expr,
    ListExpr,
    Literal,
    Name,
    Subscript,
    Unary,
    Value,
    evaluate,
    names_in,
    show,
)
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter

VALUES: dict[str, tuple[Value, ...]] = {
    "A": (1, 2, 3, 4),
    "B": (0, 1, 2, 5),
    "C": (-3, 1, 4),
    "D": (False, True),
    "E": (0.5, 1.0, 2.0),
    "F": ("x", "yy"),
    "G": (1, True, 2),
}
FIXED: dict[str, Value] = {"N": 12, "M": 0}
numbers = st.sampled_from([*VALUES, *"AABBCCNM"]).filter(lambda name: name != "F").map(Name)
literals = st.sampled_from([-1, 0, 1, 2, 3, 6, 10, 2.5, 4.0, True]).map(Literal)


def grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    arithmetic = st.sampled_from(["+", "+", "-", "*", "*", "*", "%", "//", "/"])
    relations = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    pairs = st.tuples(relations, inner)
    element = Binary("*", Name("k"), Name("A"))
    return st.one_of(
        st.builds(Binary, arithmetic, inner, inner),
        st.builds(Compare, inner, st.lists(pairs, min_size=1, max_size=2).map(tuple)),
        st.builds(BoolOp, st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Unary, st.sampled_from(["-", "not", "+"]), inner),
        st.builds(Conditional, inner, inner, inner),
        st.builds(lambda f, a, b: Call(f, (a, b)), st.sampled_from(["min", "max"]), inner, inner),
        st.builds(lambda a, b, i: Subscript(ListExpr((a, b)), i), inner, inner, inner),
        st.builds(lambda a: Call("sum", (Comprehension(element, (Clause(("k",), ListExpr((a,))),)),)), inner),
        st.just(Compare(Name("F"), (("==", Literal("x")),))),
    )


expressions = st.recursive(st.one_of(numbers, literals), grown, max_leaves=6)
conditions = st.one_of(
    expressions,
    st.builds(
        lambda left, op, right: Compare(left, ((op, right),)),
        expressions,
        st.sampled_from(["<", "<=", ">=", "=="]),
        expressions,
    ),
)


@dataclass
class Truth:
    valid: list[dict[str, Value]]
    fails: bool


def parts(expr: Expr) -> list[Expr]:
    if isinstance(expr, BoolOp) and expr.operator == "and":
        return [part for operand in expr.operands for part in parts(operand)]
    return [expr]


def outcome(expr: Expr, environment: dict[str, Value]) -> bool | None:
    try:
        value = evaluate(expr, environment)
    except DiagnosticError:
        return None
    return bool(value) if isinstance(value, (bool, int, float)) else None


def names_used(conditions: list[Expr]) -> set[str]:
    return {name for condition in conditions for name in names_in(condition)} & set(VALUES)


def brute_force(parameters: list[Parameter], constraints: list[Constraint]) -> Truth:
    pieces = [part for constraint in constraints for part in parts(constraint.expression)]
    truth = Truth([], False)
    for values in itertools.product(*(parameter.values for parameter in parameters)):
        point = dict(zip([p.name for p in parameters], values, strict=True))
        outcomes = [outcome(piece, {**FIXED, **point}) for piece in pieces]
        if all(outcomes):
            truth.valid.append(point)
        elif False not in outcomes:
            truth.fails = True
    return truth


@pytest.mark.proof
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.permutations(list(VALUES)), st.lists(conditions, max_size=3))
def test_random_spaces_equal_brute_force(names: list[str], conditions: list[Expr]) -> None:
    names = [name for name in names if name in names_used(conditions)] or ["A", "F"]
    parameters = [Parameter(name, VALUES[name]) for name in names]
    constraints = [Constraint(f"c{i}", condition) for i, condition in enumerate(conditions)]
    truth = brute_force(parameters, constraints)
    space = SearchSpace(parameters, constraints, FIXED)
    if truth.fails:
        with pytest.raises(DiagnosticError) as error:
            _ = space.size
        assert {d.code for d in error.value.diagnostics} <= {"ORIO-P004", "ORIO-P005"}
        return
    assert space.size == len(truth.valid)
    assert space.cartesian == math.prod(len(VALUES[name]) for name in names)
    expected = [Configuration(point) for point in truth.valid]
    assert space.order == space.names
    assert list(itertools.islice(space, 300)) == expected[:300], "written order is lexicographic order"
    assert space.first() == (expected[0] if expected else None)
    drawn = space.sample(50, random.Random(3))
    assert len(set(drawn)) == len(drawn) == min(50, space.size)
    for configuration in drawn:
        assert configuration in space
        assert space.at(space.rank(configuration)) == configuration
        assert list(configuration) == names, show(names)
    if expected:
        name = names[0]
        value = expected[-1][name]
        pinned = space.pin(name, value)
        same = [c for c in expected if (type(c[name]), c[name]) == (type(value), value)]
        assert pinned.size == len(same)
        assert list(itertools.islice(pinned, 50)) == same[:50]


def number(name: str) -> Expr:
    return Name(name)


tight = st.builds(
    lambda a, b, c, limit: Compare(
        Binary("+", Binary("*", number(a), number(b)), number(c)), (("<=", Literal(limit)),)
    ),
    *[st.sampled_from("ABC")] * 3,
    st.integers(-10, 30),
)


@settings(max_examples=100, deadline=None)
@given(st.permutations(list("ABCD")), st.lists(tight, min_size=1, max_size=3))
def test_membership_equals_the_constraints(names: list[str], conditions: list[Expr]) -> None:
    parameters = [Parameter(name, VALUES[name]) for name in names]
    constraints = [Constraint(f"c{i}", condition) for i, condition in enumerate(conditions)]
    space = SearchSpace(parameters, constraints, FIXED)
    valid = {Configuration(point) for point in brute_force(parameters, constraints).valid}
    for values in itertools.product(*(VALUES[name] for name in names)):
        point = Configuration(zip(names, values, strict=True))
        assert (point in space) == (point in valid)
        if point in valid:
            assert space.at(space.rank(point)) == point
        else:
            with pytest.raises(ValueError, match="not in the space"):
                space.rank(point)
