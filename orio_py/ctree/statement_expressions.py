"""Macros that stand for statement expressions, as the expressions that they compute.

    #define least(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a < _b ? _a : _b; })      ((a)) < ((b)) ? ((a)) : ((b))

Arguments are evaluated as often as they stand there, so that calls have to be looked at: `may_be_repeated`.
Source: GCC, "Statements and Declarations in Expressions" and "Referring to a Type with typeof".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from orio_py.ctree.lexer import Token, TokenKind, scan

LONGEST = 20_000
"""Letters of an expression that arguments may grow to."""

_TYPEOF = ("typeof", "__typeof__", "__typeof")
_QUALIFIERS = ("const",)
_CHANGING = (
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--",
)  # fmt: skip


def as_expression(body: str) -> str | None:
    """What the body of a macro computes, without the variables that it declares; None if it is no statement expression, or has more in it."""
    tokens = [token for token in scan(body) if token.kind is not TokenKind.COMMENT]
    tokens = tokens[1:] if tokens and tokens[0].text == "__extension__" else tokens
    opening, closing = [t.text for t in tokens[:2]], [t.text for t in tokens[-3:]]
    if opening != ["(", "{"] or closing != [";", "}", ")"]:
        return None
    *before, last = _split(tokens[2:-3], ";")
    values: dict[str, str] = {}
    for statement in before:
        if [token.text for token in statement[:3]] == ["(", "void", ")"]:
            continue  # As in `(void)(&_a == &_b)`, which asks whether types are the same.
        declared = _declaration(statement)
        if declared is None or declared[0] in values:
            return None
        name, kind, value = declared
        values[name] = f"({kind}({_with_values(value, values)}))"
    is_value = bool(last) and _declaration(last) is None and _is_expression(last)
    return f"({_with_values(last, values)})" if is_value else None


def may_be_repeated(words: str) -> bool:
    """Whether an expression may be evaluated several times: it sets nothing, and calls nothing."""
    tokens = scan(words)
    if len(words) > LONGEST or any(token.is_operator(*_CHANGING, "{") for token in tokens):
        return False
    following = pairwise(tokens)
    return not any(
        one.kind is TokenKind.NAME and one.text != "sizeof" and two.is_operator("(") for one, two in following
    )


def _split(tokens: Sequence[Token], separator: str) -> Iterator[list[Token]]:
    """The parts between separators outside of brackets."""
    depth, part = 0, list[Token]()
    for token in tokens:
        depth += token.is_operator("(", "[", "{") - token.is_operator(")", "]", "}")
        if depth == 0 and token.is_operator(separator):
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _declaration(statement: Sequence[Token]) -> tuple[str, str, Sequence[Token]] | None:
    """The variable that a statement declares, a cast to its type where that may differ from its value's, and the value."""
    if len(list(_split(statement, ","))) > 1:
        return None
    left, *right = _split(statement, "=")
    if len(right) != 1 or len(left) < 2 or left[-1].kind is not TokenKind.NAME:
        return None
    words = [token for token in left[:-1] if token.text not in _QUALIFIERS]
    kind = [token.text for token in words]
    if kind[:1] and kind[0] in _TYPEOF:
        is_same = _without_brackets(kind[1:]) == _without_brackets([token.text for token in right[0]])
        return (left[-1].text, "", right[0]) if is_same else None
    if kind == ["__auto_type"]:
        return left[-1].text, "", right[0]
    if not words or not all(token.kind is TokenKind.NAME for token in words):
        return None
    return left[-1].text, f"({' '.join(kind)})", right[0]


def _without_brackets(words: list[str]) -> list[str]:
    while words[:1] == ["("] and words[-1:] == [")"]:
        words = words[1:-1]
    return words


def _is_expression(tokens: Sequence[Token]) -> bool:
    """Whether code has neither blocks nor jumps in it."""
    return not any(t.is_operator("{", "}", ";") or t.is_name("if", "return", "goto") for t in tokens)


def _with_values(tokens: Sequence[Token], values: Mapping[str, str]) -> str:
    return " ".join(values.get(token.text, token.text) for token in tokens)
