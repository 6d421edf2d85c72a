"""A lexical scan of C text that never fails: tokens, comments and preprocessor lines with offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class TokenKind(StrEnum):
    """What a token is; BAD stands for an unterminated comment or literal, or a stray character."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    CHARACTER = "character"
    OPERATOR = "operator"
    COMMENT = "comment"
    DIRECTIVE = "directive"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the text, which is `text[start:end]`."""

    kind: TokenKind
    text: str
    start: int
    end: int

    def is_operator(self, *texts: str) -> bool:
        """Whether the token is one of these operators or brackets."""
        return self.kind is TokenKind.OPERATOR and self.text in texts

    def is_name(self, *texts: str) -> bool:
        """Whether the token is one of these words."""
        return self.kind is TokenKind.NAME and self.text in texts


_DIRECTIVE_BODY = (
    r"(?:/\*.*?\*/|//(?:\\\r?\n|[^\n])*|\\\r?\n|\\(?!\r?\n)|/(?![*/])"
    r'|"(?:[^"\\\n]|\\.)*"|[^\\\n/])*'
)
_MASTER = re.compile(
    rf"""
    (?P<newline>\n)
  | (?P<space>(?:[ \t\r\f\v]|\\\r?\n)+)
  | (?P<comment>/\*.*?\*/|//(?:\\\r?\n|[^\n])*)
  | (?P<directive>\#{_DIRECTIVE_BODY})
  | (?P<string>(?:L|u8|u|U)?"(?:[^"\\\n]|\\\r\n|\\.)*")
  | (?P<character>(?:L|u8|u|U)?'(?:[^'\\\n]|\\\r\n|\\.)*')
  | (?P<name>[A-Za-z_$\x80-\xff][A-Za-z_0-9$\x80-\xff]*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z_0-9.])*)
  | (?P<open>/\*.*|["'][^\n]*)
  | (?P<operator>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\#\#?|[-+*/%&|^~!<>=?:;,.(){{}}\[\]])
  | (?P<stray>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = {
    "comment": TokenKind.COMMENT,
    "directive": TokenKind.DIRECTIVE,
    "string": TokenKind.STRING,
    "character": TokenKind.CHARACTER,
    "name": TokenKind.NAME,
    "number": TokenKind.NUMBER,
    "operator": TokenKind.OPERATOR,
    "open": TokenKind.BAD,
    "stray": TokenKind.BAD,
}
_HASH = re.compile(r"\#\#?")


def scan(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of `text[start:end]`, comments and preprocessor lines included, white space not.

    A preprocessor line is one token with its continuation lines; a `#` elsewhere is an operator.
    """
    stop = len(text) if end is None else end
    tokens: list[Token] = []
    position, fresh_line = start, True
    while position < stop:
        match = _MASTER.match(text, position, stop)
        if match is None:  # cannot happen: `stray` takes any character
            break
        group = match.lastgroup or "stray"
        if group == "newline":
            fresh_line = True
        elif group != "space":
            if group == "directive" and not fresh_line:
                match, group = _HASH.match(text, position, stop) or match, "operator"
            tokens.append(Token(_KINDS[group], match.group(), position, match.end()))
            fresh_line = fresh_line and group == "comment"
        position = match.end()
    return tokens


def code_tokens(tokens: Iterable[Token]) -> list[Token]:
    """The tokens without comments and preprocessor lines."""
    return [t for t in tokens if t.kind is not TokenKind.COMMENT and t.kind is not TokenKind.DIRECTIVE]


def names_in(tokens: Iterable[Token]) -> frozenset[str]:
    """The names among tokens."""
    return frozenset(token.text for token in tokens if token.kind is TokenKind.NAME)


def directive_name(token: Token) -> str:
    """The word behind the `#` of a preprocessor line, or an empty text."""
    match = re.match(r"#(?:[ \t\f\v]|/\*.*?\*/|\\\r?\n)*([A-Za-z_]\w*)?", token.text, re.DOTALL)
    return (match.group(1) or "") if match else ""


def directive_body(token: Token) -> str:
    """What follows the word of a preprocessor line, on one line and without comments."""
    joined = re.sub(r"\s*\\\r?\n\s*", " ", token.text)
    pieces = _pieces(joined)
    parts = [" " if t.kind is TokenKind.COMMENT else t.text for t in pieces]
    text = "".join(parts).strip()
    if any(t.kind is TokenKind.COMMENT for t in pieces):
        text = re.sub(r"[ \t]{2,}", " ", text)
    return re.sub(r"^#\s*\w*\s*", "", text).strip()


def directive_comments(token: Token) -> list[Token]:
    """The comments inside a preprocessor line, with offsets of the whole text."""
    found = (piece for piece in _pieces(token.text) if piece.kind is TokenKind.COMMENT)
    return [Token(t.kind, t.text, token.start + t.start, token.start + t.end) for t in found]


def _pieces(text: str) -> list[Token]:
    pieces: list[Token] = []
    position = 0
    while position < len(text):
        match = _MASTER.match(text, position)
        if match is None:
            break
        group = match.lastgroup or "stray"
        if group == "directive":
            match = _HASH.match(text, position) or match
        kind = TokenKind.COMMENT if group == "comment" else TokenKind.OPERATOR
        pieces.append(Token(kind, match.group(), position, match.end()))
        position = match.end()
    return pieces


def blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """`text` with the given ranges turned into spaces; line ends stay where they are."""
    pieces: list[str] = []
    position = 0
    for start, end in sorted(spans):
        pieces.append(text[position:start])
        pieces.append(re.sub(r"[^\n]", " ", text[max(start, position) : end]))
        position = max(position, end)
    pieces.append(text[position:])
    return "".join(pieces)
