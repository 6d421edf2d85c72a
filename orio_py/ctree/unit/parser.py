"""pycparser for whole external declarations, with compilers' spellings of keywords."""

from __future__ import annotations

import re

from pycparser.c_parser import CParser, ParseError

from orio_py.ctree.nodes import Node
from orio_py.ctree.parse import KeywordLexer

_PLACE = re.compile(r"[^:]*:(\d+):(\d+): ")


class UnparsedError(Exception):
    """A text cannot be parsed; `line` and `column` are where that was noticed, counted from 1."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(line, column)
        self.line = line
        self.column = column


def parse_external(text: str) -> list[Node]:
    """The external declarations in a text.  Raises UnparsedError."""
    parser = CParser(lexer=KeywordLexer)
    try:
        return list(parser.parse(text, "").ext)
    except ParseError as error:
        match = _PLACE.match(str(error))
        last = getattr(parser.clex, "last", None)
        if match is not None:
            raise UnparsedError(int(match[1]), int(match[2])) from None
        raise UnparsedError(getattr(last, "lineno", 1), getattr(last, "column", 1)) from None
    except RecursionError:
        raise UnparsedError(1, 1) from None
