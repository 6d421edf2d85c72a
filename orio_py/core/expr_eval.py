"""Evaluation: an expression is turned once into nested functions, which then run on environments."""

from __future__ import annotations

import operator as op
from collections.abc import Callable, Mapping
from typing import Any, assert_never

from orio_py.core.diagnostics import fail
from orio_py.core.expr_functions import FUNCTIONS, arithmetic, brief, compare, kind, negate, subscript
from orio_py.core.expr_limits import DEFAULT_LIMITS, EvaluationMeter, Limits
from orio_py.core.expr_nodes import (
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
    TupleExpr,
    Unary,
    Value,
)
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position

Environment = Mapping[str, Value]


def _floor_divide(left: int, right: int) -> int:
    return left // right


Code = Callable[[Environment, EvaluationMeter], Value]

_SMALL = 1 << 64
_FAST: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": op.add,
    "-": op.sub,
    "*": op.mul,
    "//": _floor_divide,
    "%": op.mod,
    "==": op.eq,
    "!=": op.ne,
    "<": op.lt,
    "<=": op.le,
    ">": op.gt,
    ">=": op.ge,
}
"""What small integers need no checks for, except for a zero divisor."""


def evaluate(expr: Expr, environment: Environment, *, limits: Limits = DEFAULT_LIMITS) -> Value:
    """The value of an expression.  Raises ORIO-E002 to E009.

    >>> evaluate(Binary("**", Literal(2), Name("k")), {"k": 5})
    32
    """
    return _code(expr)(environment, EvaluationMeter(limits))


def compile_expr(expr: Expr, *, limits: Limits = DEFAULT_LIMITS) -> Callable[[Environment], Value]:
    """A function that evaluates the expression again and again, with the meaning of `evaluate`."""
    code = _code(expr)
    return lambda environment: code(environment, EvaluationMeter(limits))


def _code(expr: Expr) -> Code:
    match expr:
        case Literal(value):
            return lambda environment, meter: value
        case Name(name, position):
            return _name(name, position)
        case ListExpr(items, position) | TupleExpr(items, position):
            if all(isinstance(item, Literal) for item in items):
                return _constants([i.value for i in items if isinstance(i, Literal)], expr)
            return _items([_code(item) for item in items], isinstance(expr, TupleExpr), position)
        case Unary(operator, operand, position):
            return _unary(operator, _code(operand), position)
        case Binary(operator, left, right, position):
            return _binary(operator, _code(left), _code(right), position)
        case BoolOp(operator, operands):
            return _bool_op(operator == "and", [_code(operand) for operand in operands])
        case Compare(first, rest, position):
            return _compare(_code(first), [(symbol, _code(operand)) for symbol, operand in rest], position)
        case Conditional(condition, then, otherwise):
            return _conditional(_code(condition), _code(then), _code(otherwise))
        case Call(function, arguments, position):
            return _call(function, [_code(argument) for argument in arguments], position)
        case Subscript(value, index, position):
            return _subscript(_code(value), _code(index), position)
        case Comprehension(element, clauses, position):
            return _comprehension(_code(element), clauses, position)
        case _:
            assert_never(expr)


def _name(name: str, position: Position | None) -> Code:
    def run(environment: Environment, meter: EvaluationMeter) -> Value:
        try:
            return environment[name]
        except KeyError:
            fail("ORIO-E002", f"unknown name `{name}`", position, help=did_you_mean(name, environment))

    return run


def _constants(values: list[Value], expr: ListExpr | TupleExpr) -> Code:
    position = expr.position
    constant = tuple(values)
    as_tuple = isinstance(expr, TupleExpr)

    def run(environment: Environment, meter: EvaluationMeter) -> Value:
        meter.step(len(constant), position)
        return constant if as_tuple else list(constant)

    return run


def _items(codes: list[Code], as_tuple: bool, position: Position | None) -> Code:
    def run(environment: Environment, meter: EvaluationMeter) -> Value:
        meter.step(len(codes), position)
        values = [code(environment, meter) for code in codes]
        return tuple(values) if as_tuple else values

    return run


def _unary(operator: str, operand: Code, position: Position | None) -> Code:
    if operator == "not":
        return lambda environment, meter: not operand(environment, meter)
    return lambda environment, meter: negate(operator, operand(environment, meter), position)


def _binary(operator: str, left: Code, right: Code, position: Position | None) -> Code:
    fast = _FAST.get(operator)
    divides = operator in ("//", "%")

    def run(environment: Environment, meter: EvaluationMeter) -> Value:
        first, second = left(environment, meter), right(environment, meter)
        if (
            fast is not None
            and type(first) is int
            and type(second) is int
            and -_SMALL < first < _SMALL
            and -_SMALL < second < _SMALL
            and (second or not divides)
        ):
            return fast(first, second)
        return arithmetic(operator, first, second, meter, position)

    return run


def _bool_op(is_and: bool, operands: list[Code]) -> Code:
    def run(environment: Environment, meter: EvaluationMeter) -> Value:
        value: Value = is_and
        for operand in operands:
            value = operand(environment, meter)
            if bool(value) is not is_and:
                return value
        return value

    return run


def _compare(first: Code, rest: list[tuple[str, Code]], position: Position | None) -> Code:
    steps = [(operator, _FAST.get(operator), code) for operator, code in rest]

    def run(environment: Environment, meter: EvaluationMeter) -> Value:
        left = first(environment, meter)
        for operator, fast, code in steps:
            right = code(environment, meter)
            if fast is not None and type(left) is int and type(right) is int:
                if not fast(left, right):
                    return False
            elif not compare(operator, left, right, meter, position):
                return False
            left = right
        return True

    return run


def _conditional(condition: Code, then: Code, otherwise: Code) -> Code:
    return lambda environment, meter: (
        then(environment, meter) if condition(environment, meter) else otherwise(environment, meter)
    )


def _call(name: str, arguments: list[Code], position: Position | None) -> Code:
    if name not in FUNCTIONS:
        fail("ORIO-E003", f"unknown function `{name}`", position, help=did_you_mean(name, FUNCTIONS))
    fewest, most, function = FUNCTIONS[name]
    if len(arguments) < fewest or (most is not None and len(arguments) > most):
        wanted = f"{fewest}" if most == fewest else f"{fewest} to {most}" if most else f"at least {fewest}"
        fail("ORIO-E009", f"`{name}` takes {wanted} argument(s), not {len(arguments)}", position)

    def run(environment: Environment, meter: EvaluationMeter) -> Value:
        meter.step(1, position)
        return function([code(environment, meter) for code in arguments], meter, position)

    return run


def _subscript(value: Code, index: Code, position: Position | None) -> Code:
    return lambda environment, meter: subscript(
        value(environment, meter), index(environment, meter), position
    )


def _comprehension(element: Code, clauses: tuple[Clause, ...], position: Position | None) -> Code:
    parts = [
        (clause.targets, _code(clause.iterable), [_code(condition) for condition in clause.conditions])
        for clause in clauses
    ]

    def fill(level: int, scope: dict[str, Value], meter: EvaluationMeter, out: list[Value]) -> None:
        if level == len(parts):
            out.append(element(scope, meter))
            return
        targets, iterable, conditions = parts[level]
        values = iterable(scope, meter)
        if not isinstance(values, (list, tuple, str)):
            fail("ORIO-E004", f"`for … in` needs a list, not {kind(values)}", position)
        for value in values:
            meter.step(2, position)
            _bind(scope, targets, value, position)
            if all(condition(scope, meter) for condition in conditions):
                fill(level + 1, scope, meter, out)

    def run(environment: Environment, meter: EvaluationMeter) -> Value:
        out: list[Value] = []
        fill(0, dict(environment), meter, out)
        return out

    return run


def _bind(scope: dict[str, Value], targets: tuple[str, ...], value: Value, position: Position | None) -> None:
    if len(targets) == 1:
        scope[targets[0]] = value
        return
    if not isinstance(value, (list, tuple)) or len(value) != len(targets):
        fail("ORIO-E004", f"{brief(value)} cannot be taken apart into {len(targets)} variables", position)
    scope.update(zip(targets, value, strict=True))
