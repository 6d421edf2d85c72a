"""Values of C expressions over numbers: what the compiled code would compute, without compiling it.

The types are those of LP64 systems: `long` and `long long` have 64 bits.  Signed overflow, which C leaves
undefined, wraps.  Reference: ISO/IEC 9899:2011, sections 6.3.1.1 (promotion), 6.3.1.8 (usual arithmetic
conversions) and 6.5.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orio_py.ctree import ctype
from orio_py.ctree.ctype import DOUBLE, INT, CType, Rank, integer_value, named_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk

FLOAT = CType(Rank.FLOAT)

_ONE: Mapping[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "fabs": math.fabs,
    "floor": math.floor,
    "ceil": math.ceil,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
}
_TWO: Mapping[str, Callable[[float, float], float]] = {"fmin": min, "fmax": max, "pow": math.pow}

_FORMATS: Mapping[Rank, str] = {
    Rank.BOOL: "?",
    Rank.CHAR: "b",
    Rank.SHORT: "h",
    Rank.INT: "i",
    Rank.LONG: "q",
    Rank.FLOAT: "f",
    Rank.DOUBLE: "d",
}
"""Formats of `struct`; those of unsigned types are in capitals."""


class NoValueError(Exception):
    """Raised where an expression has no value that can be told; the text says of which part and why."""


@dataclass(frozen=True, slots=True)
class Number:
    """A value of an arithmetic type: `value` is an int for integer types and a float for floating ones."""

    type: CType
    value: int | float


Lookup = Callable[[str], Number]


def number_type(words: str) -> CType:
    """The type of numbers that some words name here.  Raises NoValueError for other types.

    >>> number_type("long unsigned int") == number_type("size_t"), number_type("long long").words
    (True, 'long')
    """
    return _own(ctype.ctype(words), f"the type `{words}` is no number")


def _own(found: CType | None, problem: str) -> CType:
    kind = None if found is None else found.lp64
    if kind is None or kind.rank is Rank.LONG_DOUBLE:
        raise NoValueError(problem)
    return kind


def convert(number: Number, kind: CType) -> Number:
    """The number as a value of another type, as an assignment converts it.

    >>> convert(Number(INT, 300), number_type("unsigned char")).value
    44
    """
    value = number.value
    if kind.is_floating:
        return Number(kind, _single(float(value)) if kind == FLOAT else float(value))
    if kind.rank is Rank.BOOL:
        return Number(kind, int(value != 0))
    if isinstance(value, float) and not math.isfinite(value):
        raise NoValueError(f"{value} has no value as `{kind.words}`")
    bits = 8 * kind.bytes
    wrapped = int(value) & ((1 << bits) - 1)
    is_negative = not kind.unsigned and wrapped >> (bits - 1)
    return Number(kind, wrapped - (1 << bits) if is_negative else wrapped)


def evaluate(node: Node, lookup: Lookup) -> Number:
    """The value of an expression without side effects; `lookup` gives the variables.

    Raises NoValueError for what is no number: subscripts, calls of unknown functions, divisions by zero.

    >>> from orio_py.ctree.build import add, const
    >>> evaluate(add(const(2), const(3)), lambda name: Number(INT, 0)).value
    5
    """
    match node:
        case c_ast.Constant():
            return _constant(node)
        case c_ast.ID():
            return lookup(node.name)
        case c_ast.Cast():
            return convert(evaluate(node.expr, lookup), _named(node.to_type))
        case c_ast.UnaryOp():
            return _unary(node, lookup)
        case c_ast.BinaryOp():
            return _binary(node, lookup)
        case c_ast.TernaryOp():
            chosen = evaluate(node.iftrue if evaluate(node.cond, lookup).value else node.iffalse, lookup)
            return convert(chosen, _type_of(node, lookup) or chosen.type)
        case c_ast.FuncCall():
            return _call(node, lookup)
        case _:
            raise NoValueError(f"a {type(node).__name__} has no value here")


def number_from(data: bytes, kind: CType) -> Number:
    """The number that is in memory as `data`."""
    (value,) = struct.unpack(_format(kind), data)
    return Number(kind, value)


def number_bytes(number: Number) -> bytes:
    """The number as it is in memory."""
    return struct.pack(_format(number.type), number.value)


def _format(kind: CType) -> str:
    found = _FORMATS[kind.rank]
    return "=" + (found.upper() if kind.unsigned else found)


def unknown_function(node: Node) -> str | None:
    """The first function that an expression calls and `evaluate` does not know."""
    known = {*_ONE, *_TWO}
    for call in walk(node):
        if isinstance(call, c_ast.FuncCall):
            name = call.name.name if isinstance(call.name, c_ast.ID) else "?"
            if name not in known and name.removesuffix("f") not in known:
                return name
    return None


def promoted(number: Number) -> Number:
    """The number in a type that arithmetic is done in."""
    return convert(number, number.type.promoted)


def _named(node: Node) -> CType:
    """The type that a type name stands for.  Raises NoValueError for pointers and structures."""
    return _own(named_type(node), "only numbers have values here")


def _type_of(node: Node, lookup: Lookup) -> CType | None:
    """The type of an expression that may have no value, such as the division in `n ? m / n : 0`."""

    def of_part(part: Node) -> CType | None:
        match part:
            case c_ast.ID() | c_ast.FuncCall():
                try:
                    return evaluate(part, lookup).type
                except NoValueError:
                    return None
            case _:
                return None

    return ctype.type_of(node, of_part, lp64=True)


def _single(value: float) -> float:
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _constant(node: c_ast.Constant) -> Number:
    kind, text = ctype.literal_type(node.type, node.value, lp64=True), node.value
    if node.type == "char" and (code := _character(text[1:-1])) is not None:
        return Number(INT, code)
    if kind is None or node.type == "char":
        raise NoValueError(f"the constant {text} is not understood")
    if not kind.is_floating:
        return Number(kind, integer_value(text) or 0)
    if kind.rank is Rank.LONG_DOUBLE:
        raise NoValueError(f"the constant {text} has more digits than are computed with here")
    lower = text.lower()
    value = float.fromhex(lower.rstrip("l")) if lower.startswith("0x") else float(lower.rstrip("fl"))
    return convert(Number(DOUBLE, value), kind)


def _character(text: str) -> int | None:
    r"""The value of a character of ASCII, `A` or `\n` or `\101`, between the quotes of a constant; None of others."""
    if len(text) == 1:
        return ord(text) if text.isascii() else None
    if text[:1] != "\\":
        return None
    if len(text) == 2 and text[1] in _ESCAPES:
        return _ESCAPES[text[1]]
    is_octal = len(text) <= 4 and all(digit in "01234567" for digit in text[1:])
    code = int(text[1:], 8) if is_octal else 128
    return code if code < 128 else None


_ESCAPES = dict(zip("abfnrtv'\"?\\", b"\a\b\f\n\r\t\v'\"?\\", strict=True))


def _unary(node: c_ast.UnaryOp, lookup: Lookup) -> Number:
    if node.op == "sizeof":
        of_type = isinstance(node.expr, c_ast.Typename)
        found = (
            _named(node.expr) if of_type else _own(_type_of(node.expr, lookup), "a size that is not known")
        )
        return Number(CType(Rank.LONG, unsigned=True), found.bytes)
    if node.op not in ("+", "-", "!", "~"):
        raise NoValueError(f"`{node.op}` has an effect beside its value, or gives no number")
    operand = promoted(evaluate(node.expr, lookup))
    if node.op == "!":
        return Number(INT, int(not operand.value))
    if node.op == "~":
        if isinstance(operand.value, float):
            raise NoValueError("`~` takes integers")
        return convert(Number(operand.type, ~operand.value), operand.type)
    return convert(Number(operand.type, -operand.value), operand.type) if node.op == "-" else operand


def _binary(node: c_ast.BinaryOp, lookup: Lookup) -> Number:
    left = evaluate(node.left, lookup)
    if node.op in ("&&", "||"):
        if bool(left.value) is (node.op == "||"):
            return Number(INT, int(node.op == "||"))
        return Number(INT, int(bool(evaluate(node.right, lookup).value)))
    return combine(node.op, left, evaluate(node.right, lookup))


def combine(op: str, left: Number, right: Number) -> Number:
    """The value of `left op right`.  Raises NoValueError for operators that take other operands."""
    left, right = promoted(left), promoted(right)
    if op in ("<<", ">>"):
        return _shifted(op, left, right)
    kind = ctype.common(left.type, right.type, lp64=True)
    assert kind is not None
    a, b = convert(left, kind).value, convert(right, kind).value
    compared = {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b, "==": a == b, "!=": a != b}
    if op in compared:
        return Number(INT, int(compared[op]))
    if isinstance(a, float) or isinstance(b, float):
        return convert(Number(DOUBLE, _floating(op, float(a), float(b))), kind)
    return convert(Number(kind, _integer(op, a, b)), kind)


def _shifted(op: str, left: Number, right: Number) -> Number:
    a, b = left.value, right.value
    if isinstance(a, float) or isinstance(b, float) or not 0 <= b < 8 * left.type.bytes:
        raise NoValueError(f"`{op}` by {b} is undefined")
    return convert(Number(left.type, a << b if op == "<<" else a >> b), left.type)


def _integer(op: str, a: int, b: int) -> int:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%":
            if b == 0:
                raise NoValueError("a division by zero")
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op == "/" else a - quotient * b
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case _:
            raise NoValueError(f"the operator `{op}` is not understood")


def _floating(op: str, a: float, b: float) -> float:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" if b != 0.0:
            return a / b
        case "/" if a == 0.0 or math.isnan(a):
            return math.nan
        case "/":
            return math.copysign(math.inf, a) * math.copysign(1.0, b)
        case _:
            raise NoValueError(f"the operator `{op}` takes integers")


def _call(node: c_ast.FuncCall, lookup: Lookup) -> Number:
    name = node.name.name if isinstance(node.name, c_ast.ID) else "?"
    given = node.args.exprs if isinstance(node.args, c_ast.ExprList) else []
    arguments = [evaluate(item, lookup) for item in given]
    is_single = name.endswith("f") and name[:-1] in {*_ONE, *_TWO}
    plain = name[:-1] if is_single else name
    values = [float(a.value) for a in arguments]
    try:
        if plain in _ONE and len(values) == 1:
            found = float(_ONE[plain](values[0]))
        elif plain in _TWO and len(values) == 2:
            found = float(_TWO[plain](*values))
        else:
            raise NoValueError(f"the function `{name}` is not known")
    except (ValueError, OverflowError):
        raise NoValueError(f"`{name}` has no value for these arguments") from None
    return convert(Number(DOUBLE, found), FLOAT if is_single else DOUBLE)
