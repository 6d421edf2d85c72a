"""Lexical scan of a C file for the comments and pragma lines that can hold annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orio_py.core.source import Span

_START = re.compile(r"/\*|//|\"|'|^[ \t]*\#[ \t]*pragma[ \t]+(?:Orio|Oiro|orio)\b", re.MULTILINE)
_STRING = re.compile(r'"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"')
_CHARACTER = re.compile(r"'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'")
_LINE = re.compile(r"(?:[^\\\n]|\\\r?\n|\\)*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A comment `/*@ …`, or a pragma line of Orio; `closed` is False for a comment without its end."""

    kind: Literal["comment", "pragma"]
    span: Span
    closed: bool = True


def pieces(text: str) -> Iterator[Piece]:
    """The annotation-like pieces of C text, in order; what stands in strings is no comment."""
    at = 0
    while (match := _START.search(text, at)) is not None:
        start, opening = match.start(), match.group()
        if opening == "/*":
            end = text.find("*/", start + 2)
            if end < 0:
                if text.startswith("/*@", start):
                    yield Piece("comment", Span(start, len(text)), closed=False)
                return
            at = end + 2
            if text.startswith("/*@", start):
                yield Piece("comment", Span(start, at))
        elif opening in ("//", '"', "'"):
            at = _skip(text, start, opening)
        else:
            at = _line_end(text, start)
            yield Piece("pragma", Span(start + len(opening) - len(opening.lstrip()), at))


def _skip(text: str, start: int, opening: str) -> int:
    if opening == "//":
        return _line_end(text, start)
    literal = (_STRING if opening == '"' else _CHARACTER).match(text, start)
    return literal.end() if literal else start + 1


def _line_end(text: str, start: int) -> int:
    match = _LINE.match(text, start)
    end = match.end() if match else start
    return end - 1 if text[start:end].endswith("\r") else end
