"""Which identifiers of a piece of C text are type names, found without its headers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from orio_py.core.names import C_KEYWORDS
from orio_py.ctree.lexer import Token, TokenKind

_STANDARD_NAMES = """size_t ssize_t ptrdiff_t wchar_t max_align_t int8_t int16_t int32_t int64_t uint8_t uint16_t
    uint32_t uint64_t int_least8_t int_least16_t int_least32_t int_least64_t uint_least8_t uint_least16_t
    uint_least32_t uint_least64_t int_fast8_t int_fast16_t int_fast32_t int_fast64_t uint_fast8_t
    uint_fast16_t uint_fast32_t uint_fast64_t intptr_t uintptr_t intmax_t uintmax_t bool FILE va_list
    clock_t time_t off_t float_t double_t fpos_t div_t ldiv_t lldiv_t sig_atomic_t"""
STANDARD_TYPES = frozenset(_STANDARD_NAMES.split())
"""Type names of the C99 standard library and POSIX (ISO C 9899:1999, 7.17, 7.18, 7.19)."""

SPELLINGS = {
    "__restrict": "restrict",
    "__restrict__": "restrict",
    "__inline": "inline",
    "__inline__": "inline",
    "__const": "const",
    "__const__": "const",
    "__volatile": "volatile",
    "__volatile__": "volatile",
    "__thread": "_Thread_local",
    "__signed": "signed",
    "__signed__": "signed",
    "complex": "_Complex",
    "__complex__": "_Complex",
    "_complex": "_Complex",
}
"""Compiler and header spellings of C keywords; `complex` comes from <complex.h>."""

_SPECIFIERS = frozenset({"const", "volatile", "static", "register", "extern", "inline", "restrict", "auto"})
_BASE_WORDS = "void char short int long float double signed unsigned _Bool _Complex struct union enum"
_BASE_TYPES = frozenset(_BASE_WORDS.split())


def discover(tokens: Sequence[Token]) -> frozenset[str]:
    """Names used as types in the code tokens of a text, by patterns that no expression has.

    `foo x`, `foo *p = …` at the start of a statement, `(foo *)`, `(foo) x`, `const foo *p`.
    """
    found: set[str] = set()
    for index, token in enumerate(tokens):
        if not _is_plain(token) or token.text in found:
            continue
        before = tokens[index - 1] if index else None
        if before is not None and before.is_name("struct", "union", "enum", "goto", "typedef"):
            continue
        if before is not None and before.is_operator(".", "->"):
            continue
        if _is_type(tokens, index, before):
            found.add(token.text)
    return frozenset(found)


def _is_type(tokens: Sequence[Token], index: int, before: Token | None) -> bool:
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if after is None:
        return False
    if _is_plain(after):
        return not _after_type(before)
    if before is not None and before.is_operator("(") and _is_cast(tokens, index):
        return True
    behind_specifier = before is not None and _spelling(before) in _SPECIFIERS
    if behind_specifier and after.is_operator("*"):
        # `static` between brackets stands before an expression.
        return index < 2 or not (_after_type(tokens[index - 2]) or tokens[index - 2].is_operator("["))
    if _spelling(after) in _SPECIFIERS and not _after_type(before):
        return True
    starts = (
        before is None
        or before.is_operator(";", "{", "}")
        or before.is_name("else", "do")
        or (before.is_operator(":") and not _is_conditional(tokens, index - 1))
    )
    in_header = (
        before is not None and before.is_operator("(") and index > 1 and tokens[index - 2].is_name("for")
    )
    return (starts or in_header) and _is_pointer_declaration(tokens, index + 1)


def _is_conditional(tokens: Sequence[Token], index: int) -> bool:
    """Whether the `:` at `index` belongs to a `?` in the same statement."""
    while index >= 0 and not tokens[index].is_operator(";", "{", "}"):
        if tokens[index].is_operator("?"):
            return True
        index -= 1
    return False


def _is_pointer_declaration(tokens: Sequence[Token], index: int) -> bool:
    """Whether `* name =`, `* name;` and the like stand at `index`."""
    start = index
    while index < len(tokens) and (tokens[index].is_operator("*") or _spelling(tokens[index]) in _SPECIFIERS):
        index += 1
    if index == start or index + 1 >= len(tokens) or not _is_plain(tokens[index]):
        return False
    return tokens[index + 1].is_operator("=", ";", ",", "[")


def _is_cast(tokens: Sequence[Token], index: int) -> bool:
    """Whether `(name` at `index - 1` begins a cast that cannot be an expression in parentheses."""
    end = index + 1
    while end < len(tokens) and (tokens[end].is_operator("*") or _spelling(tokens[end]) in _SPECIFIERS):
        end += 1
    if end + 1 >= len(tokens) or not tokens[end].is_operator(")"):
        return False
    if end > index + 1:
        return True
    called = index >= 2 and (
        tokens[index - 2].kind is TokenKind.NAME or tokens[index - 2].is_operator(")", "]")
    )
    if called:
        return False
    follower = tokens[end + 1]
    if follower.kind in {TokenKind.NUMBER, TokenKind.STRING, TokenKind.CHARACTER} or _is_plain(follower):
        return True
    if follower.is_operator("("):
        name = tokens[index].text
        return not any(t.is_name(name) and following.is_operator("(") for t, following in pairwise(tokens))
    return tokens[index].text.endswith("_t") and follower.is_operator("-", "+", "*", "&", "~", "!")


def _is_plain(token: Token) -> bool:
    return token.kind is TokenKind.NAME and token.text not in C_KEYWORDS and token.text not in SPELLINGS


def _spelling(token: Token) -> str:
    return SPELLINGS.get(token.text, token.text) if token.kind is TokenKind.NAME else ""


def _after_type(before: Token | None) -> bool:
    return before is not None and _spelling(before) in _BASE_TYPES
