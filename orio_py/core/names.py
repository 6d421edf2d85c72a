"""Names that C knows, and fresh C identifiers that never capture a user's name."""

from __future__ import annotations

from collections.abc import Iterable

C_KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "_Bool",
        "_Complex",
        "_Imaginary",
    ]
)

STDLIB_MACROS = frozenset(["NULL", "EXIT_FAILURE", "EXIT_SUCCESS", "RAND_MAX", "MB_CUR_MAX"])
"""The macros of `stdlib.h`."""
STDLIB_FUNCTIONS = frozenset([
    "atof", "atoi", "atol", "atoll", "strtod", "strtof", "strtold", "strtol", "strtoll", "strtoul", "strtoull",
    "rand", "srand", "calloc", "free", "malloc", "realloc", "abort", "atexit", "exit", "_Exit", "getenv", "system",
    "bsearch", "qsort", "abs", "labs", "llabs", "div", "ldiv", "lldiv", "mblen", "mbtowc", "wctomb", "mbstowcs",
    "wcstombs",
])  # fmt: skip
"""The functions of `stdlib.h` (C99 7.20)."""

TYPE_NAMES = frozenset(
    [
        "void",
        "char",
        "short",
        "int",
        "long",
        "float",
        "double",
        "size_t",
        "ssize_t",
        "ptrdiff_t",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "intptr_t",
        "uintptr_t",
    ]
)
_INTEGER_TYPES = ("char", "short", "short int", "int", "long", "long int", "long long", "long long int")
C_TYPES = (
    TYPE_NAMES
    | {f"{sign} {base}" for sign in ("unsigned", "signed") for base in _INTEGER_TYPES}
    | {"unsigned", "signed", "long double", "short int", "long int", "long long", "long long int"}
)
"""The types of numbers, and `void`, that C and its standard headers know, with single blanks between their words."""


class NameSupply:
    """Gives identifiers that are not yet used, the same ones for the same questions in the same order."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used) | C_KEYWORDS

    def fresh(self, wish: str) -> str:
        """`wish` if it is free, else `wish_2`, `wish_3` …; the name given is used from then on."""
        name, number = wish, 1
        while name in self._used:
            number += 1
            name = f"{wish}_{number}"
        self._used.add(name)
        return name
