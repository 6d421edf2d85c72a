"""Operators and functions of the expression language, with Python's meaning and checked operands."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from orio_py.core.diagnostics import fail
from orio_py.core.expr_limits import EvaluationMeter
from orio_py.core.expr_nodes import Value, show, weight
from orio_py.core.source import Position


def kind(value: Value) -> str:
    """The word for a value's type in messages."""
    match value:
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case tuple():
            return "a tuple"
        case None:
            return "None"


def brief(value: Value) -> str:
    """A value for a message, cut when it is long."""
    if isinstance(value, (list, tuple)):
        inner = ", ".join("…" if isinstance(item, (list, tuple)) else brief(item) for item in value[:8])
        text = f"[{inner}]" if isinstance(value, list) else f"({inner})"
    else:
        text = show(value[:40]) if isinstance(value, str) else show(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _mismatch(symbol: str, left: Value, right: Value, position: Position | None) -> NoReturn:
    fail("ORIO-E004", f"`{symbol}` cannot be applied to {kind(left)} and {kind(right)}", position)


def _finite(value: float, position: Position | None) -> float:
    if not math.isfinite(value):
        fail("ORIO-E006", "the result is too large for a floating-point number", position)
    return value


def _calculate(symbol: str, left: float, right: float) -> float | complex:
    match symbol:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case "//":
            return left // right
        case "%":
            return left % right
        case _:
            return left**right


def arithmetic(
    symbol: str, left: Value, right: Value, meter: EvaluationMeter, position: Position | None
) -> Value:
    """`left symbol right`.  Raises ORIO-E004, E005, E006."""
    if isinstance(left, (str, list, tuple)) or isinstance(right, (str, list, tuple)):
        return _sequences(symbol, left, right, meter, position)
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        _mismatch(symbol, left, right, position)
    if symbol in ("/", "//", "%") and right == 0:
        fail("ORIO-E005", f"division by zero: the right side of `{symbol}` is 0", position)
    if isinstance(left, int) and isinstance(right, int):
        _integer_size(symbol, left, right, meter, position)
    try:
        result = _calculate(symbol, left, right)
    except OverflowError:
        fail("ORIO-E006", "the result is too large for a floating-point number", position)
    except ZeroDivisionError:
        fail("ORIO-E005", "zero cannot be raised to a negative power", position)
    if isinstance(result, complex):
        fail("ORIO-E004", "a negative number cannot be raised to a fractional power", position)
    return _finite(result, position) if isinstance(result, float) else result


def _integer_size(
    symbol: str, left: int, right: int, meter: EvaluationMeter, position: Position | None
) -> None:
    if symbol == "**" and right >= 0:
        meter.integer(1 if abs(left) < 2 else left.bit_length() * right, position)
    elif symbol == "*":
        meter.integer(left.bit_length() + right.bit_length(), position)
    elif symbol in ("+", "-"):
        meter.integer(max(left.bit_length(), right.bit_length()), position)


def _sequences(
    symbol: str, left: Value, right: Value, meter: EvaluationMeter, position: Position | None
) -> Value:
    if symbol == "+":
        for sort in (str, list, tuple):
            if isinstance(left, sort) and isinstance(right, sort):
                meter.create(len(left) + len(right), kind(left), position)
                return left + right  # type: ignore[operator]  # both are of the same sort
    if symbol == "*":
        count, sequence = (left, right) if isinstance(left, int) else (right, left)
        if isinstance(count, int) and isinstance(sequence, (str, list, tuple)):
            meter.create(len(sequence) * max(count, 0), kind(sequence), position)
            return sequence * count
    _mismatch(symbol, left, right, position)


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(
    symbol: str, left: Value, right: Value, meter: EvaluationMeter, position: Position | None
) -> bool:
    """`left symbol right` as a boolean.  Raises ORIO-E004, E006."""
    if isinstance(right, (list, tuple)):
        most = meter.limits.steps
        nested = isinstance(left, (list, tuple))
        meter.step(weight(left, most) + weight(right, most) if nested else len(right), position)
    match symbol:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "in" | "not in":
            return _contains(left, right, position) is (symbol == "in")
        case _:
            if isinstance(left, (int, float)) and isinstance(right, (int, float)):
                return _ORDER[symbol](left, right)
            if type(left) is not type(right) or left is None:
                _mismatch(symbol, left, right, position)
            try:
                return _ORDER[symbol](left, right)
            except TypeError:
                fail("ORIO-E004", f"`{symbol}` cannot order these elements", position)


def _contains(item: Value, container: Value, position: Position | None) -> bool:
    if isinstance(container, (list, tuple)):
        return item in container
    if isinstance(container, str) and isinstance(item, str):
        return item in container
    fail("ORIO-E004", f"`in` needs a list, a tuple or strings, not {kind(container)}", position)


def negate(symbol: str, operand: Value, position: Position | None) -> Value:
    """`-operand` or `+operand`.  Raises ORIO-E004."""
    if not isinstance(operand, (int, float)):
        fail("ORIO-E004", f"`{symbol}` cannot be applied to {kind(operand)}", position)
    return -operand if symbol == "-" else +operand


def subscript(value: Value, index: Value, position: Position | None) -> Value:
    """`value[index]`.  Raises ORIO-E004, E008."""
    if not isinstance(value, (list, tuple, str)):
        fail("ORIO-E004", f"{kind(value)} cannot be subscripted", position)
    if not isinstance(index, int):
        fail("ORIO-E004", f"a subscript must be an integer, not {kind(index)}", position)
    if not -len(value) <= index < len(value):
        shown = str(index) if abs(index) < 10**18 else "a huge number"
        fail("ORIO-E008", f"subscript {shown} is outside {kind(value)} of {len(value)} elements", position)
    return value[index]


Function = Callable[[Sequence[Value], EvaluationMeter, Position | None], Value]


def _elements(name: str, value: Value, position: Position | None) -> Sequence[Value]:
    if not isinstance(value, (list, tuple, str)):
        fail("ORIO-E004", f"`{name}` needs a list, a tuple or a string, not {kind(value)}", position)
    return value


def _extreme(symbol: str, name: str) -> Function:
    def run(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
        values = _elements(name, arguments[0], position) if len(arguments) == 1 else arguments
        if not values:
            fail("ORIO-E004", f"`{name}` of an empty list", position)
        best = values[0]
        meter.step(len(values), position)
        for value in values[1:]:
            if compare(symbol, value, best, meter, position):
                best = value
        return best

    return run


def _abs(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    (value,) = arguments
    if not isinstance(value, (int, float)):
        fail("ORIO-E004", f"`abs` needs a number, not {kind(value)}", position)
    return abs(value)


def _len(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    return len(_elements("len", arguments[0], position))


def _int(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    (value,) = arguments
    if isinstance(value, (int, float)):
        return int(value)
    if isinstance(value, str):
        if len(value) * 4 > meter.limits.bits:
            meter.integer(len(value) * 4, position)
        try:
            return int(value)
        except ValueError:
            pass
    fail("ORIO-E004", f"`int` needs a number or its digits, not {brief(value)}", position)


def _float(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    (value,) = arguments
    if isinstance(value, (int, float, str)):
        try:
            return _finite(float(value), position)
        except OverflowError:
            fail("ORIO-E006", "the integer is too large for a floating-point number", position)
        except ValueError:
            pass
    fail("ORIO-E004", f"`float` needs a number or its digits, not {brief(value)}", position)


def _str(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    (value,) = arguments
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        fail("ORIO-E004", f"`str` needs a number, not {kind(value)}", position)
    text = show(value)
    meter.create(len(text), "a string", position)
    return text


def _bool(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    return bool(arguments[0])


def _list(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    values = _elements("list", arguments[0], position)
    meter.create(len(values), "the list", position)
    return list(values)


def _tuple(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    values = _elements("tuple", arguments[0], position)
    meter.create(len(values), "the tuple", position)
    return tuple(values)


def _sum(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    total: Value = 0
    values = _elements("sum", arguments[0], position)
    meter.step(len(values), position)
    for value in values:
        total = arithmetic("+", total, value, meter, position)
    return total


def _range(arguments: Sequence[Value], meter: EvaluationMeter, position: Position | None) -> Value:
    numbers: list[int] = []
    for value in arguments:
        if not isinstance(value, int):
            fail("ORIO-E004", f"`range` needs integers, not {kind(value)}", position)
        numbers.append(value)
    if len(numbers) == 3 and numbers[2] == 0:
        fail("ORIO-E005", "the step of `range` is 0", position)
    start, stop = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
    step = numbers[2] if len(numbers) == 3 else 1
    length = max(0, -(-(stop - start) // step))
    meter.create(length, "the range", position)
    return list(range(start, stop, step))


FUNCTIONS: Mapping[str, tuple[int, int | None, Function]] = {
    "abs": (1, 1, _abs),
    "bool": (1, 1, _bool),
    "float": (1, 1, _float),
    "int": (1, 1, _int),
    "len": (1, 1, _len),
    "list": (1, 1, _list),
    "max": (1, None, _extreme(">", "max")),
    "min": (1, None, _extreme("<", "min")),
    "range": (1, 3, _range),
    "str": (1, 1, _str),
    "sum": (1, 1, _sum),
    "tuple": (1, 1, _tuple),
}
"""Each function with the fewest and most arguments (None: any number) and its body."""
