"""From expressions to terms, and from terms to smaller terms as parameters get values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import count

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.expr import (
    Binary,
    BoolOp,
    Call,
    Compare,
    Conditional,
    Expr,
    ListExpr,
    Literal,
    Name,
    Subscript,
    TupleExpr,
    Unary,
    Value,
    children,
    compile_expr,
    names_in,
)
from orio_py.search_space import polynomial as poly
from orio_py.search_space.terms import (
    FAILED,
    FALSE,
    TRUE,
    Applied,
    ConditionalTerm,
    ConstantTerm,
    Failed,
    Free,
    Junction,
    Negation,
    Operation,
    PolynomialRelation,
    Term,
    Whole,
    is_total,
    known,
)

MOST_MONOMIALS = 64
MOST_BITS = 2000
"""Polynomials beyond these stay unexpanded, so that expressions cannot blow up or exceed the
evaluator's own limit on integers unnoticed."""


class Variable:
    """A parameter as the algebra sees it.

    `range` holds the least and the largest value, None unless all are integers or booleans; `is_plain`
    says that all are integers.
    """

    def __init__(self, index: int, name: str, values: tuple[Value, ...]) -> None:
        self.index = index
        self.name = name
        self.values = values
        whole = [int(value) for value in values if isinstance(value, int)]
        self.range = (min(whole), max(whole)) if whole and len(whole) == len(values) else None
        self.is_plain = all(type(value) is int for value in values)

    @cached_property
    def terms(self) -> tuple[ConstantTerm, ...]:
        """The values as terms."""
        return tuple(known(value) for value in self.values)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The values of a variable that has a range."""
        return tuple(value for value in self.values if isinstance(value, int))


class Algebra:
    """Translates and folds terms over a fixed list of variables and named constants."""

    def __init__(self, variables: Sequence[Variable], fixed: Mapping[str, Value]) -> None:
        self._variables = {variable.name: variable for variable in variables}
        self._fixed = fixed
        self._ranges = [variable.range or (0, 0) for variable in variables]
        self._serial = count()

    def condition(self, expr: Expr) -> Term:
        """The expression as a condition: a term of which only the truth matters."""
        match expr:
            case BoolOp(operator, operands):
                return _junction(operator, [self.condition(operand) for operand in operands])
            case Unary("not", operand):
                return _negation(self.condition(operand))
            case Conditional(condition, then, otherwise):
                branches = self.condition(then), self.condition(otherwise)
                return _choice(self.condition(condition), *branches)
            case _:
                return self._value(expr)

    def bind(self, term: Term, index: int, value: ConstantTerm) -> Term:
        """The term with one parameter given a value, folded as far as possible."""
        if not term.mask >> index & 1:
            return term
        match term:
            case PolynomialRelation(operator, polynomial):
                return self._relation(operator, poly.substitute(polynomial, index, _number(value)))
            case Whole(polynomial):
                return _whole(poly.substitute(polynomial, index, _number(value)))
            case Junction(operator, operands):
                return _junction(operator, (self.bind(operand, index, value) for operand in operands))
            case Applied(operation, arguments):
                return _apply(operation, tuple(self.bind(argument, index, value) for argument in arguments))
            case Negation(operand):
                return _negation(self.bind(operand, index, value))
            case ConditionalTerm(condition, then, otherwise):
                branches = self.bind(then, index, value), self.bind(otherwise, index, value)
                return _choice(self.bind(condition, index, value), *branches)
            case Free():
                return value
            case ConstantTerm() | Failed():
                return term

    def bind_all(self, term: Term, variable: Variable) -> tuple[Term, ...]:
        """The term bound to each value of a variable in turn."""
        match term:
            case PolynomialRelation(operator, polynomial, mask) if mask == 1 << variable.index:
                values = poly.evaluate_all(polynomial, variable.numbers)
                return tuple([_decide(operator, value, value) or FALSE for value in values])
            case PolynomialRelation(operator, polynomial, mask):
                rest = mask & ~(1 << variable.index)
                results = poly.substitute_all(polynomial, variable.index, variable.numbers, self._ranges)
                return tuple([_relation(operator, left, low, high, rest) for left, low, high in results])
            case _:
                return tuple([self.bind(term, variable.index, value) for value in variable.terms])

    def _value(self, expr: Expr) -> Term:
        match expr:
            case Literal(value):
                return known(value)
            case Name(name):
                return self._name(name)
            case Unary("not", operand):
                return _negation(self.condition(operand))
            case Unary("-", operand) if (number := _polynomial(self._value(operand))) is not None:
                return _whole(poly.add(poly.ZERO, number, -1))
            case Binary(operator, left, right):
                return self._binary(expr, operator, self._value(left), self._value(right))
            case Compare(first, rest):
                return self._comparisons(first, rest)
            case Conditional(condition, then, otherwise):
                return _choice(self.condition(condition), self._value(then), self._value(otherwise))
            case Unary() | Call() | Subscript() | ListExpr() | TupleExpr():
                return self._operation(expr, tuple(self._value(child) for child in children(expr)))
            case _:
                return self._opaque(expr)

    def _name(self, name: str) -> Term:
        if (variable := self._variables.get(name)) is None:
            return known(self._fixed[name])
        if not variable.is_plain:
            return Free(variable.index, variable.range is not None, 1 << variable.index)
        return Whole(poly.variable(variable.index), 1 << variable.index)

    def _binary(self, expr: Expr, operator: str, left: Term, right: Term) -> Term:
        first, second = _polynomial(left), _polynomial(right)
        if first is not None and second is not None and operator in ("+", "-", "*"):
            if operator == "*":
                fits = len(first) * len(second) <= MOST_MONOMIALS
                result = poly.multiply(first, second) if fits else None
            else:
                result = poly.add(first, second, 1 if operator == "+" else -1)
            if result is not None and self._is_moderate(result):
                return _whole(result)
        return self._operation(expr, (left, right))

    def _is_moderate(self, polynomial: poly.Polynomial) -> bool:
        low, high = poly.bounds(polynomial, self._ranges)
        return len(polynomial) <= MOST_MONOMIALS and max(-low, high).bit_length() <= MOST_BITS

    def _comparisons(self, first: Expr, rest: tuple[tuple[str, Expr], ...]) -> Term:
        left = self._value(first)
        relations: list[Term] = []
        for operator, operand in rest:
            right = self._value(operand)
            relations.append(self._compare(operator, left, right))
            left = right
        return _junction("and", relations)

    def _compare(self, operator: str, left: Term, right: Term) -> Term:
        if isinstance(left, ConstantTerm) and isinstance(left.value, float):
            mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
            if isinstance(right, (Whole, Free)):
                return self._compare(mirrored, right, left)
        first, second = _polynomial(left), _polynomial(right)
        if first is not None and second is None and isinstance(right, ConstantTerm):
            operator, second = _rounded(operator, right.value)
        if first is not None and second is not None and operator in ("<", "<=", ">", ">=", "==", "!="):
            return self._order(operator, first, second)
        template = Compare(Name("0"), ((operator, Name("1")),))
        return self._operation(template, (left, right))

    def _order(self, operator: str, left: poly.Polynomial, right: poly.Polynomial) -> Term:
        if operator in (">", ">="):
            left, right = right, left
        difference = poly.add(left, right, -1)
        if operator in ("<=", ">="):
            difference = poly.add(difference, poly.constant(-1))
        return self._relation(operator if operator in ("==", "!=") else "<", difference)

    def _relation(self, operator: str, polynomial: poly.Polynomial) -> Term:
        low, high = poly.bounds(polynomial, self._ranges)
        return _relation(operator, polynomial, low, high, poly.indices(polynomial))

    def _operation(self, expr: Expr, arguments: tuple[Term, ...]) -> Term:
        names = tuple(str(position) for position in range(len(arguments)))
        template = _template(expr, names)
        return _apply(Operation(next(self._serial), names, compile_expr(template)), arguments)

    def _opaque(self, expr: Expr) -> Term:
        names = tuple(sorted(names_in(expr)))
        arguments = tuple(self._name(name) for name in names)
        return _apply(Operation(next(self._serial), names, compile_expr(expr)), arguments)


def _template(expr: Expr, names: tuple[str, ...]) -> Expr:
    """The expression's outermost operation, applied to placeholder names."""
    slots = tuple(Name(name) for name in names)
    match expr:
        case Unary(operator, position=position):
            return Unary(operator, slots[0], position)
        case Binary(operator, position=position):
            return Binary(operator, slots[0], slots[1], position)
        case Subscript(position=position):
            return Subscript(slots[0], slots[1], position)
        case Call(function, position=position):
            return Call(function, slots, position)
        case ListExpr(position=position):
            return ListExpr(slots, position)
        case TupleExpr(position=position):
            return TupleExpr(slots, position)
        case _:
            return expr


def _decide(operator: str, low: int, high: int) -> ConstantTerm | None:
    """The truth of `x < 0`, `x == 0` or `x != 0` for every x from `low` to `high`; None if it varies."""
    if operator == "<":
        return TRUE if high < 0 else FALSE if low >= 0 else None
    if low > 0 or high < 0:
        return FALSE if operator == "==" else TRUE
    if low == high:
        return TRUE if operator == "==" else FALSE
    return None


def _relation(operator: str, polynomial: poly.Polynomial, low: int, high: int, mask: int) -> Term:
    """The relation with the smallest coefficients that means the same for integers."""
    if (decided := _decide(operator, low, high)) is not None:
        return decided
    if (divisor := poly.content(polynomial)) > 1:
        if operator != "<" and polynomial[0][0] == () and polynomial[0][1] % divisor:
            return FALSE if operator == "==" else TRUE
        polynomial = poly.divide(polynomial, divisor)
    return PolynomialRelation(operator, polynomial, mask)


def _number(value: ConstantTerm) -> int:
    assert isinstance(value.value, int), "polynomials are made of integer parameters only"
    return value.value


def _polynomial(term: Term) -> poly.Polynomial | None:
    if isinstance(term, Whole):
        return term.polynomial
    if isinstance(term, Free) and term.is_whole:
        return poly.variable(term.index)
    if (
        isinstance(term, ConstantTerm)
        and isinstance(term.value, int)
        and term.value.bit_length() <= MOST_BITS
    ):
        return poly.constant(int(term.value))
    return None


def _whole(polynomial: poly.Polynomial) -> Term:
    value = poly.constant_value(polynomial)
    return Whole(polynomial, poly.indices(polynomial)) if value is None else known(value)


def _rounded(operator: str, value: Value) -> tuple[str, poly.Polynomial | None]:
    """The integer bound that means the same as a floating one for an integer on the left."""
    if not isinstance(value, float) or not math.isfinite(value) or operator not in ("<", "<=", ">", ">="):
        return operator, None
    return operator, poly.constant(math.ceil(value) if operator in ("<", ">=") else math.floor(value))


def _junction(operator: str, operands: Iterable[Term]) -> Term:
    stop = operator == "or"
    kept: list[Term] = []
    for operand in operands:
        if isinstance(operand, ConstantTerm):
            if bool(operand.value) is not stop:
                continue
            if all(is_total(term) for term in kept):
                return TRUE if stop else FALSE
            kept.append(TRUE if stop else FALSE)
            break
        kept.append(operand)
        if isinstance(operand, Failed):
            break
    if not kept:
        return FALSE if stop else TRUE
    if len(kept) == 1:
        return kept[0]
    mask = 0
    for term in kept:
        mask |= term.mask
    return Junction(operator, tuple(kept), mask)


def _negation(operand: Term) -> Term:
    match operand:
        case ConstantTerm(value=value):
            return FALSE if value else TRUE
        case Failed():
            return FAILED
        case PolynomialRelation("<", polynomial, mask):
            flipped = poly.add(poly.constant(-1), polynomial, -1)
            return PolynomialRelation("<", flipped, mask)
        case PolynomialRelation(operator, polynomial, mask):
            return PolynomialRelation("!=" if operator == "==" else "==", polynomial, mask)
        case Negation() | Free() | Whole() | Applied() | Junction() | ConditionalTerm():
            return Negation(operand, operand.mask)


def _choice(condition: Term, then: Term, otherwise: Term) -> Term:
    match condition:
        case ConstantTerm(value=value):
            return then if value else otherwise
        case Failed():
            return FAILED
        case _:
            return ConditionalTerm(condition, then, otherwise, condition.mask | then.mask | otherwise.mask)


def _apply(operation: Operation, arguments: tuple[Term, ...]) -> Term:
    mask = 0
    values: list[Value] = []
    for argument in arguments:
        if isinstance(argument, Failed):
            return FAILED
        if isinstance(argument, ConstantTerm):
            values.append(argument.value)
        mask |= argument.mask
    if len(values) < len(arguments):
        return Applied(operation, arguments, mask)
    try:
        return known(operation.run(dict(zip(operation.names, values, strict=True))))
    except DiagnosticError:
        return FAILED
