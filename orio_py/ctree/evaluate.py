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
from typing import Any

from orio_py.ctree.nodes import Node, c_ast

_INTEGERS: Mapping[str, tuple[int, bool]] = {
    "_Bool": (1, False),
    "char": (8, True),
    "signed char": (8, True),
    "unsigned char": (8, False),
    "short": (16, True),
    "unsigned short": (16, False),
    "int": (32, True),
    "unsigned int": (32, False),
    "long": (64, True),
    "unsigned long": (64, False),
}
"""Bits and sign of the integer types."""

_RANK = ("int", "unsigned int", "long", "unsigned long", "float", "double")
"""The types that arithmetic is done in: of two, the later one is taken."""

_ALIASES: Mapping[str, str] = {
    "bool": "_Bool",
    "size_t": "unsigned long",
    "uintptr_t": "unsigned long",
    "uintmax_t": "unsigned long",
    "ssize_t": "long",
    "ptrdiff_t": "long",
    "intptr_t": "long",
    "intmax_t": "long",
    **{f"int{bits}_t": name for bits, name in ((8, "signed char"), (16, "short"), (32, "int"), (64, "long"))},
    **{f"uint{b}_t": f"unsigned {n}" for b, n in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))},
}

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


class NoValueError(Exception):
    """Raised where an expression has no value that can be told; the text says of which part and why."""


@dataclass(frozen=True, slots=True)
class Number:
    """A value of an arithmetic type: `value` is an int for integer types and a float for floating ones."""

    type: str
    value: int | float

    @property
    def is_floating(self) -> bool:
        """Whether the type is `float` or `double`."""
        return self.type not in _INTEGERS


Lookup = Callable[[str], Number]


def canonical_type(words: str) -> str:
    """The one spelling of an arithmetic type.  Raises NoValueError for other types.

    >>> canonical_type("long unsigned int"), canonical_type("size_t"), canonical_type("unsigned")
    ('unsigned long', 'unsigned long', 'unsigned int')
    """
    parts = [w for w in words.split() if w not in ("const", "volatile", "register", "static", "restrict")]
    text = " ".join(parts)
    if text in ("float", "double"):
        return text
    if text in _ALIASES:
        return _ALIASES[text]
    signed = "unsigned" if "unsigned" in parts else ""
    base = next((w for w in ("char", "short", "long") if w in parts), "int")
    if base == "char" and "signed" in parts:
        signed = "signed"
    known = {"char", "short", "int", "long", "signed", "unsigned", "_Bool"}
    if not parts or not set(parts) <= known:
        raise NoValueError(f"the type `{words}` is no number")
    return "_Bool" if "_Bool" in parts else f"{signed} {base}".strip()


def convert(number: Number, type_name: str) -> Number:
    """The number as a value of another type (canonical), as an assignment converts it.

    >>> convert(Number("int", 300), "unsigned char")
    Number(type='unsigned char', value=44)
    """
    value = number.value
    if type_name == "double":
        return Number(type_name, float(value))
    if type_name == "float":
        return Number(type_name, _single(float(value)))
    if type_name == "_Bool":
        return Number(type_name, int(value != 0))
    if isinstance(value, float) and not math.isfinite(value):
        raise NoValueError(f"{value} has no value as `{type_name}`")
    bits, signed = _INTEGERS[type_name]
    wrapped = int(value) & ((1 << bits) - 1)
    return Number(type_name, wrapped - (1 << bits) if signed and wrapped >> (bits - 1) else wrapped)


def evaluate(node: Node, lookup: Lookup) -> Number:
    """The value of an expression without side effects; `lookup` gives the variables.

    Raises NoValueError for what is no number: subscripts, calls of unknown functions, divisions by zero.

    >>> from orio_py.ctree.build import add, const
    >>> evaluate(add(const(2), const(3)), lambda name: Number("int", 0))
    Number(type='int', value=5)
    """
    match node:
        case c_ast.Constant():
            return _constant(node.type, node.value)
        case c_ast.ID():
            return lookup(node.name)
        case c_ast.Cast():
            return convert(evaluate(node.expr, lookup), type_of(node.to_type))
        case c_ast.UnaryOp():
            return _unary(node, lookup)
        case c_ast.BinaryOp():
            return _binary(node, lookup)
        case c_ast.TernaryOp():
            left, right = node.iftrue, node.iffalse
            chosen = left if evaluate(node.cond, lookup).value else right
            found = evaluate(chosen, lookup)
            other = _type_or(right if chosen is left else left, lookup, found.type)
            return convert(found, _common(found.type, other))
        case c_ast.FuncCall():
            return _call(node, lookup)
        case _:
            raise NoValueError(f"a {type(node).__name__} has no value here")


def type_of(node: Any) -> str:
    """The arithmetic type of a type name or declarator.  Raises NoValueError for pointers and structs."""
    while isinstance(node, c_ast.Typename | c_ast.TypeDecl | c_ast.Decl):
        node = node.type
    if not isinstance(node, c_ast.IdentifierType):
        raise NoValueError("only numbers have values here")
    return canonical_type(" ".join(node.names))


def promoted(number: Number) -> Number:
    """The number in a type that arithmetic is done in."""
    return number if number.type in _RANK else convert(number, "int")


def _type_or(node: Node, lookup: Lookup, otherwise: str) -> str:
    """The type of an expression that may have no value, such as the division in `n ? m / n : 0`."""
    try:
        return evaluate(node, lookup).type
    except NoValueError:
        return otherwise


def _common(left: str, right: str) -> str:
    ranks = [_RANK.index(t) if t in _RANK else 0 for t in (left, right)]
    return _RANK[max(ranks)]


def _single(value: float) -> float:
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _constant(kind: str, text: str) -> Number:
    if "char" in kind:
        body = text.strip("'")
        if len(body) == 1:
            return Number("int", ord(body))
        raise NoValueError(f"the constant {text} is not understood")
    lower = text.lower()
    is_hex = lower.startswith("0x")
    if any(c in lower for c in (".", "p")) or ("e" in lower and not is_hex):
        digits = lower.rstrip("fl")
        value = float.fromhex(digits) if is_hex else float(digits)
        return convert(Number("double", value), "float" if lower.endswith("f") else "double")
    digits = lower.rstrip("ul")
    suffix = lower[len(digits) :]
    is_octal = len(digits) > 1 and digits[0] == "0" and not is_hex
    value = int(digits, 8 if is_octal else 16 if is_hex else 10)
    types = ["int", "unsigned int", "long", "unsigned long"]
    if "l" in suffix:
        types = types[2:]
    if "u" in suffix:
        types = [t for t in types if t.startswith("unsigned")]
    elif not is_hex and not is_octal:
        types = [t for t in types if not t.startswith("unsigned")]
    for name in types:
        bits, signed = _INTEGERS[name]
        if value < 1 << (bits - signed):
            return Number(name, value)
    raise NoValueError(f"the constant {text} is too large")


def _unary(node: c_ast.UnaryOp, lookup: Lookup) -> Number:
    if node.op == "sizeof":
        name = (
            type_of(node.expr) if isinstance(node.expr, c_ast.Typename) else evaluate(node.expr, lookup).type
        )
        return Number(
            "unsigned long", {"float": 4, "double": 8, "_Bool": 1}.get(name) or _INTEGERS[name][0] // 8
        )
    if node.op not in ("+", "-", "!", "~"):
        raise NoValueError(f"`{node.op}` has an effect beside its value, or gives no number")
    operand = promoted(evaluate(node.expr, lookup))
    if node.op == "!":
        return Number("int", int(not operand.value))
    if node.op == "~":
        if isinstance(operand.value, float):
            raise NoValueError("`~` takes integers")
        return convert(Number(operand.type, ~operand.value), operand.type)
    return convert(Number(operand.type, -operand.value), operand.type) if node.op == "-" else operand


def _binary(node: c_ast.BinaryOp, lookup: Lookup) -> Number:
    left = evaluate(node.left, lookup)
    if node.op in ("&&", "||"):
        if bool(left.value) is (node.op == "||"):
            return Number("int", int(node.op == "||"))
        return Number("int", int(bool(evaluate(node.right, lookup).value)))
    return combine(node.op, left, evaluate(node.right, lookup))


def combine(op: str, left: Number, right: Number) -> Number:
    """The value of `left op right`.  Raises NoValueError for operators that take other operands."""
    left, right = promoted(left), promoted(right)
    if op in ("<<", ">>"):
        return _shifted(op, left, right)
    name = _common(left.type, right.type)
    a, b = convert(left, name).value, convert(right, name).value
    compared = {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b, "==": a == b, "!=": a != b}
    if op in compared:
        return Number("int", int(compared[op]))
    if isinstance(a, float) or isinstance(b, float):
        return convert(Number("double", _floating(op, float(a), float(b))), name)
    return convert(Number(name, _integer(op, a, b)), name)


def _shifted(op: str, left: Number, right: Number) -> Number:
    a, b = left.value, right.value
    if isinstance(a, float) or isinstance(b, float) or not 0 <= b < _INTEGERS[left.type][0]:
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
    return convert(Number("double", found), "float" if is_single else "double")
