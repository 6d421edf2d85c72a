"""The arithmetic types of C as values, and the type that C computes an expression in.

    ctype("unsigned long int")                  CType(LONG, unsigned)
    common(ctype("int"), ctype("size_t"))       size_t
    type_of(n + 1u)                             unsigned, whatever the machine

An answer holds on every machine with an `int` of 32 bits.  Where it depends on which of two types is the wider one,
`long` beside `unsigned`, or `size_t` beside `long`, it is None: code that is written may be compiled elsewhere.
With `lp64` the questions are about code that runs here or on a device, where `long` has 64 bits, and always have an answer.
Source: ISO/IEC 9899:1999, sections 6.2.5, 6.3.1.1 (promotions), 6.3.1.8 (usual arithmetic conversions), 6.4.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from orio_py.ctree.nodes import Node, c_ast


class Rank(IntEnum):
    """The conversion rank of a type; floating types stand above all integers."""

    BOOL = 0
    CHAR = 1
    SHORT = 2
    INT = 3
    LONG = 4
    LONG_LONG = 5
    FLOAT = 6
    DOUBLE = 7
    LONG_DOUBLE = 8


_WORDS = {
    Rank.BOOL: "_Bool",
    Rank.CHAR: "signed char",
    Rank.SHORT: "short",
    Rank.INT: "int",
    Rank.LONG: "long",
    Rank.LONG_LONG: "long long",
    Rank.FLOAT: "float",
    Rank.DOUBLE: "double",
    Rank.LONG_DOUBLE: "long double",
}
_BITS = {Rank.BOOL: 1, Rank.CHAR: 8, Rank.SHORT: 16, Rank.INT: 32, Rank.LONG: 32, Rank.LONG_LONG: 64}
"""Bits that an integer type has at least."""
_BYTES = {
    Rank.BOOL: 1, Rank.CHAR: 1, Rank.SHORT: 2, Rank.INT: 4, Rank.LONG: 8, Rank.LONG_LONG: 8, Rank.FLOAT: 4,
    Rank.DOUBLE: 8, Rank.LONG_DOUBLE: 16,
}  # fmt: skip
"""Bytes of a type on LP64 systems."""


@dataclass(frozen=True, slots=True)
class CType:
    """A type of numbers."""

    rank: Rank
    """Of a type with a name of its own, the rank on LP64 systems."""

    unsigned: bool = False
    """Whether an integer type holds no negative values; a plain `char` counts as signed."""

    alias: str = ""
    """The name of a type such as `size_t` or `char`, whose rank or sign depends on the machine; else empty."""

    @property
    def is_floating(self) -> bool:
        """Whether the type is `float`, `double` or `long double`."""
        return self.rank >= Rank.FLOAT

    @property
    def words(self) -> str:
        """The type in its shortest words: `unsigned`, `unsigned long`, `size_t`."""
        if self.alias:
            return self.alias
        word = _WORDS[self.rank]
        if not self.unsigned or self.rank is Rank.BOOL:
            return word
        return "unsigned" if self.rank is Rank.INT else f"unsigned {word.removeprefix('signed ')}"

    @property
    def is_narrow(self) -> bool:
        """Whether its values have another type in expressions, `int`."""
        return self.rank < Rank.INT

    @property
    def promoted(self) -> CType:
        """The type that its values have in expressions (C99 6.3.1.1)."""
        return INT if self.rank < Rank.INT else self

    @property
    def limits(self) -> tuple[int, int] | None:
        """The values that an integer type has on every machine; None for floating types."""
        if self.is_floating:
            return None
        if self.alias == "char":
            return 0, 127
        return self._values(64 if self.alias in _SIXTY_FOUR else 32 if self.alias else _BITS[self.rank])

    @property
    def reach(self) -> tuple[int, int] | None:
        """The values that an integer type has on some machine; None for floating types."""
        if self.is_floating:
            return None
        if self.alias == "char":
            return -128, 255
        return self._values(64 if self.alias or self.rank >= Rank.LONG else _BITS[self.rank])

    def _values(self, bits: int) -> tuple[int, int]:
        if self.unsigned or self.rank is Rank.BOOL:
            return 0, 2**bits - 1
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

    @property
    def lp64(self) -> CType | None:
        """The type of C's own that it is on LP64 systems, `long` for `long long`.

        None where that is the library's choice: `wchar_t`, `int_fast16_t`, `double_t`.
        """
        if self.alias not in _ALWAYS_LONG | {"", "char"}:
            return None
        return CType(min(self.rank, Rank.LONG) if not self.is_floating else self.rank, self.unsigned)

    @property
    def bytes(self) -> int:
        """The size on LP64 systems, for types that `lp64` gives."""
        return _BYTES[self.rank]


INT = CType(Rank.INT)
UNSIGNED = CType(Rank.INT, unsigned=True)
DOUBLE = CType(Rank.DOUBLE)

_SIXTY_FOUR = frozenset({"int64_t", "uint64_t", "intmax_t", "uintmax_t"})
_UNSIGNED_NAMES = frozenset({"size_t", "uintptr_t", "uint64_t", "uintmax_t"})
_SIGNED_NAMES = frozenset({"ssize_t", "ptrdiff_t", "intptr_t", "int64_t", "intmax_t", "off_t"})
_ALWAYS_LONG = _UNSIGNED_NAMES | _SIGNED_NAMES
_EXACT = {8: Rank.CHAR, 16: Rank.SHORT, 32: Rank.INT}
_NAMED = {
    "bool": CType(Rank.BOOL),
    "wchar_t": CType(Rank.INT, alias="wchar_t"),
    "float_t": CType(Rank.FLOAT, alias="float_t"),
    "double_t": CType(Rank.DOUBLE, alias="double_t"),
    **{f"int{bits}_t": CType(rank) for bits, rank in _EXACT.items()},
    **{f"uint{bits}_t": CType(rank, unsigned=True) for bits, rank in _EXACT.items()},
    **{name: CType(Rank.LONG, name in _UNSIGNED_NAMES, name) for name in _ALWAYS_LONG},
    **{
        name: CType(Rank.LONG, sign == "u", name)
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
        for kind in ("least", "fast")
        for name in [f"{sign}int_{kind}{bits}_t"]
    },
}
_QUALIFIERS = frozenset({"const", "volatile", "register", "auto", "static", "extern", "restrict"})
_BASES = {
    "_Bool": Rank.BOOL,
    "char": Rank.CHAR,
    "short": Rank.SHORT,
    "float": Rank.FLOAT,
    "double": Rank.DOUBLE,
}

Lookup = Callable[[Node], CType | None]
"""The type of a variable, an element (`ArrayRef`, `StructRef`), a call or a cast to a type with a name of the user's;
None where it is not known."""

_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})


@cache
def ctype(text: str) -> CType | None:
    """The type of numbers that some words name, in any order; None for other types.

    >>> ctype("long unsigned int").words, ctype("const size_t").words, ctype("struct point")
    ('unsigned long', 'size_t', None)
    """
    words = [word for word in text.split() if word not in _QUALIFIERS]
    if len(words) == 1 and words[0] in _NAMED:
        return _NAMED[words[0]]
    longs = words.count("long")
    bases = [_BASES[word] for word in words if word in _BASES]
    others = set(words) - {"signed", "unsigned", "int", "long", *_BASES}
    if not words or others or len(bases) > 1 or longs > 2:
        return None
    if not bases:
        return CType((Rank.INT, Rank.LONG, Rank.LONG_LONG)[longs], "unsigned" in words)
    if words == ["char"]:
        return CType(Rank.CHAR, alias="char")
    if bases == [Rank.DOUBLE]:
        return CType(Rank.LONG_DOUBLE if longs else Rank.DOUBLE)
    return CType(bases[0], "unsigned" in words)


def common(first: CType | None, second: CType | None, *, lp64: bool = False) -> CType | None:
    """The type in which two operands are computed together (C99 6.3.1.8); None where that depends on the machine.

    >>> common(ctype("unsigned"), ctype("long long")).words, common(ctype("unsigned"), ctype("long"))
    ('long long', None)
    >>> common(ctype("unsigned"), ctype("long"), lp64=True).words
    'long'
    """
    if first is None or second is None:
        return None
    one, two = first.promoted, second.promoted
    if lp64:
        return max(one, two, key=lambda kind: (kind.rank, kind.unsigned))
    if one == two or one.is_floating or two.is_floating:
        return max(one, two, key=lambda kind: kind.rank)
    if one.alias or two.alias:
        named, other = (one, two) if one.alias else (two, one)
        # Nowhere is `size_t` narrower than `long`.
        is_size = named.alias in {"size_t", "uintptr_t"} and not other.alias and other.rank <= Rank.LONG
        return named if other == INT or is_size else None
    low, high = sorted((one, two), key=lambda kind: (kind.rank, kind.unsigned))
    if low.rank == high.rank or high.unsigned or not low.unsigned:
        return high
    # Whether a wider signed type holds every value of the unsigned one depends on the machine.
    return high if (low.rank, high.rank) == (Rank.INT, Rank.LONG_LONG) else None


def integer_value(text: str) -> int | None:
    """The value of an integer literal of any base, with or without a suffix; None for other texts.

    >>> [integer_value(text) for text in ("12UL", "0x1F", "010", "1.5")]
    [12, 31, 8, None]
    """
    digits = text.lower().rstrip("ul")
    base = (
        16
        if digits.startswith("0x")
        else 2
        if digits.startswith("0b")
        else 8
        if digits.startswith("0")
        else 10
    )
    try:
        return int(digits, base)
    except ValueError:
        return None


def literal_type(kind: str, text: str, *, lp64: bool = False) -> CType | None:
    """The type of a literal (C99 6.4.4): pycparser's word for its kind, and its text; None where it depends.

    >>> [literal_type("int", text) for text in ("0x80000000", "2147483648")] == [UNSIGNED, None]
    True
    """
    lower = text.lower()
    if kind == "char":
        return INT
    if kind == "string":
        return None
    is_hex = lower.startswith("0x")
    if "." in lower or "p" in lower or ("e" in lower and not is_hex):
        suffixes = {"f": CType(Rank.FLOAT), "l": CType(Rank.LONG_DOUBLE)}
        return suffixes.get(lower[-1], DOUBLE)
    digits = lower.rstrip("ul")
    suffix = lower[len(digits) :]
    if (value := integer_value(digits)) is None:
        return None
    is_decimal = digits == "0" or not digits.startswith("0")
    smallest = (Rank.INT, Rank.LONG, Rank.LONG if lp64 else Rank.LONG_LONG)[suffix.count("l")]
    signs = (True,) if "u" in suffix else (False,) if is_decimal else (False, True)
    for rank in (smallest, Rank.LONG):
        for candidate in (CType(rank, unsigned) for unsigned in signs):
            limits = candidate.reach if lp64 else candidate.limits
            if limits is not None and value <= limits[1]:
                return candidate
            if rank is not Rank.INT and not lp64:
                return None  # whether it fits depends on the width of `long`
    return None


def type_of(node: Node, lookup: Lookup, *, lp64: bool = False) -> CType | None:
    """The type of an expression; None where it is no number, depends on the machine or on what is not known.

    With `lp64`, `lookup` gives types as `CType.lp64` does.
    """

    def of(part: Node) -> CType | None:
        return type_of(part, lookup, lp64=lp64)

    match node:
        case c_ast.Constant(type=kind, value=text):
            return literal_type(kind, text, lp64=lp64)
        case c_ast.Cast(to_type=kind):
            found = named_type(kind) or lookup(node)
            return found.lp64 if lp64 and found is not None else found
        case c_ast.UnaryOp(op="sizeof"):
            return CType(Rank.LONG, unsigned=True) if lp64 else _NAMED["size_t"]
        case c_ast.UnaryOp(op="!"):
            return INT
        case c_ast.UnaryOp(op="-" | "+" | "~", expr=operand) | c_ast.BinaryOp(op="<<" | ">>", left=operand):
            found = of(operand)
            return None if found is None else found.promoted
        case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=operand) | c_ast.Assignment(lvalue=operand):
            return of(operand)
        case c_ast.BinaryOp(op=op) if op in _COMPARISONS:
            return INT
        case c_ast.BinaryOp(left=left, right=right) | c_ast.TernaryOp(iftrue=left, iffalse=right):
            return common(of(left), of(right), lp64=lp64)
        case c_ast.ExprList(exprs=[*_, last]):
            return of(last)
        case _:
            return lookup(node)


def named_type(node: Node | None) -> CType | None:
    """The type of numbers that a type name or a declarator stands for; None for pointers, arrays and others."""
    while isinstance(node, (c_ast.Typename, c_ast.TypeDecl, c_ast.Decl)):
        node = node.type
    return ctype(" ".join(node.names)) if isinstance(node, c_ast.IdentifierType) else None
