"""Finds the annotations of a file: leaders, trailers, and what looks like one but is none.

They stand in comments and pragma lines, which a lexical scan of the text gives (`_pieces`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from lark import Token
from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import Diagnostic, Severity
from orio_py.core.registry import nearest
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.annotations.module import Leader
from orio_py.frontend.annotations.modules import MODULES, available
from orio_py.frontend.grammars import offset, parse, rule_name

_START = re.compile(r"/\*|//|\"|'|^[ \t]*\#[ \t]*pragma[ \t]+(?:Orio|Oiro|orio)\b", re.MULTILINE)
_STRING = re.compile(r'"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"')
_CHARACTER = re.compile(r"'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'")
_LINE = re.compile(r"(?:[^\\\n]|\\\r?\n|\\)*")

_LABEL = re.compile(r"""loop\s+(begin|end)\b\s*("[^"\n]*")?\s*""")


@dataclass(frozen=True, slots=True)
class Trailer:
    """A closing annotation; `is_marker` is True for `#pragma orio loop end`."""

    span: Span
    is_marker: bool = False


@dataclass(slots=True)
class Scan:
    """The annotations of one file in order, and the problems met."""

    source: SourceFile
    marks: list[Leader | Trailer] = field(default_factory=list[Leader | Trailer])
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def broken(self, span: Span) -> None:
        """Remember where a leader that could not be read stands."""
        self.marks.append(Leader("", span, Span(span.end, span.end)))

    def report(self, code: str, message: str, at: int, *, help: str | None = None) -> None:
        """Add an error at an offset."""
        self.problems.append(Diagnostic(code, message, self.source.position(at), help=help))

    def warn(self, code: str, message: str, at: int, *, help: str | None = None) -> None:
        """Add a warning at an offset."""
        place = self.source.position(at)
        self.problems.append(Diagnostic(code, message, place, severity=Severity.WARNING, help=help))


def scan(source: SourceFile) -> Scan:
    """Find all annotations of a file.  Problems: ORIO-A005, A006, A007, A010, A011, A012."""
    result = Scan(source)
    if (zero := source.data.find(b"\0")) >= 0:
        result.report("ORIO-A011", "this is not a text file: it contains a NUL byte", zero)
        return result
    for piece in _pieces(source.text):
        if piece.kind == "pragma":
            _pragma(result, piece)
        elif not piece.closed:
            result.report("ORIO-A012", "this comment is never closed; expected `@*/`", piece.span.start)
        else:
            _comment(result, piece)
    if not result.marks and (old := re.search(r"^[ \t]*(!@\s*(?:begin|end)\b)", source.text, re.MULTILINE)):
        result.report(
            "ORIO-A010",
            "annotations in Fortran form (`!@ begin … @!`) are not supported",
            old.start(1),
            help="only C files can be tuned; annotations are written `/*@ begin Name(…) @*/`",
        )
    return result


def _comment(result: Scan, piece: _Piece) -> None:
    text, span = result.source.text, piece.span
    whole = text[span.start : span.end]
    terminated = whole.endswith("@*/") and len(whole) > 5
    inner = whole[3 : -3 if terminated else -2]
    word = re.match(r"\s*(\w*)", inner)
    first = word.group(1) if word else ""
    if not terminated and inner.strip() != "end":
        _unterminated(result, piece, inner, first)
        return
    try:
        tree = parse("annotation", "start", inner)
    except UnexpectedInput:
        _malformed(result, span, inner, first)
        return
    if rule_name(tree) == "trailer":
        result.marks.append(Trailer(span))
        return
    name, body = tree.children
    start = span.start + 3 + offset(body)
    length = len(str(body if isinstance(body, Token) else body.children[0]))
    _leader(result, Leader(str(name), span, Span(start + 1, start + length - 1)), first)


def _leader(result: Scan, leader: Leader, first: str) -> None:
    """Accept a leader.  `/*@ note (see below) @*/` is a remark unless its name resembles a module."""
    near = nearest(leader.name, (*MODULES, "begin"))
    if first != "begin" and leader.name not in MODULES and near is None:
        _stray(result, leader.span)
        return
    result.marks.append(leader)


def _unterminated(result: Scan, piece: _Piece, inner: str, first: str) -> None:
    """A `/*@ … */` comment: another tool's annotation, or one of ours that ends too early."""
    if first == "end":
        result.marks.append(Trailer(piece.span))
    opening = re.match(rf"\s*(?:begin\b|(?:{'|'.join(available())})\s*\()", inner)
    if opening is None and first != "end":
        return
    if opening is not None:
        result.broken(piece.span)
    end = piece.span.end - 2
    nested = inner.rfind("/*")
    if nested >= 0:
        result.report(
            "ORIO-A012",
            "the comment inside this annotation ends it too early",
            piece.span.start + 3 + nested,
            help="inside an annotation write comments with `//` or `#`",
        )
    else:
        result.report("ORIO-A012", "this annotation ends with `*/`; expected `@*/`", end)


def _malformed(result: Scan, span: Span, inner: str, first: str) -> None:
    begin = re.match(r"\s*begin\s+(\w+)\s*(\(?)", inner)
    misspelt = nearest(first, ("begin", "end")) if first else None
    if first == "end" or (misspelt == "end" and first not in MODULES):
        result.marks.append(Trailer(span))
    elif first == "begin" or misspelt == "begin" or (first in MODULES and "(" in inner):
        result.broken(span)
    if begin is not None:
        name, bracket = begin.groups()
        needed = "`)` before `@*/`" if bracket else "`( … )` after the name"
        result.report("ORIO-A005", f"annotation `begin {name}` is incomplete; expected {needed}", span.start)
    elif first == "begin":
        result.report("ORIO-A005", "`begin` without a module name; expected `begin Name( … )`", span.start)
    elif first == "end":
        result.report("ORIO-A005", "unexpected text after `end`; expected `/*@ end @*/`", span.start)
    elif first in MODULES and "(" in inner:
        result.report(
            "ORIO-A005", f"annotation `{first}` is incomplete; expected `)` before `@*/`", span.start
        )
    elif misspelt is not None and re.fullmatch(r"\s*\w+\s*(\w+\s*\([\s\S]*)?", inner):
        result.report(
            "ORIO-A007",
            f"unknown annotation `{first}`; expected `begin Name( … )` or `end`",
            span.start,
            help=f"did you mean `{misspelt}`?",
        )
    else:
        _stray(result, span)


def _stray(result: Scan, span: Span) -> None:
    result.warn(
        "ORIO-A006",
        "this comment looks like an annotation but is none; it is ignored",
        span.start,
        help="annotations are `/*@ begin Name( … ) @*/` and `/*@ end @*/`",
    )


def _pragma(result: Scan, piece: _Piece) -> None:
    text, span = result.source.text, piece.span
    line = text[span.start : span.end]
    head = re.match(r"#\s*pragma\s+(Orio|Oiro|orio)\b\s*", line)
    word = head.group(1) if head else ""
    at = head.end() if head else 0
    rest = line[at:].rstrip()
    if word == "orio":
        _marker(result, span, rest)
    elif word == "Oiro" or rest == "end":
        result.marks.append(Trailer(span))
    elif leader := re.fullmatch(r"(?:begin\s+)?([A-Za-z_]\w*)\s*\(([\s\S]*)\)", rest):
        body = Span(span.start + at + leader.start(2), span.start + at + leader.end(2))
        result.marks.append(Leader(leader.group(1), span, body))
    else:
        result.report(
            "ORIO-A005",
            "this Orio pragma is incomplete; expected `#pragma Orio Name( … )` or `#pragma Oiro`",
            span.start,
        )


def _marker(result: Scan, span: Span, rest: str) -> None:
    match = _LABEL.fullmatch(rest)
    if match is None:
        result.report(
            "ORIO-A005",
            'this orio pragma is not known; expected `#pragma orio loop begin "label"` or `… loop end`',
            span.start,
        )
    elif match.group(1) == "end":
        result.marks.append(Trailer(span, is_marker=True))
    else:
        result.marks.append(Leader("Loop", span, Span(span.end, span.end), is_marker=True))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A comment `/*@ …`, or a pragma line of Orio; `closed` is False for a comment without its end."""

    kind: Literal["comment", "pragma"]
    span: Span
    closed: bool = True


def _pieces(text: str) -> Iterator[_Piece]:
    """The annotation-like pieces of C text, in order; what stands in strings is no comment."""
    at = 0
    while (match := _START.search(text, at)) is not None:
        start, opening = match.start(), match.group()
        if opening == "/*":
            end = text.find("*/", start + 2)
            if end < 0:
                if text.startswith("/*@", start):
                    yield _Piece("comment", Span(start, len(text)), closed=False)
                return
            at = end + 2
            if text.startswith("/*@", start):
                yield _Piece("comment", Span(start, at))
        elif opening in ("//", '"', "'"):
            at = _skip(text, start, opening)
        else:
            at = _line_end(text, start)
            yield _Piece("pragma", Span(start + len(opening) - len(opening.lstrip()), at))


def _skip(text: str, start: int, opening: str) -> int:
    if opening == "//":
        return _line_end(text, start)
    literal = (_STRING if opening == '"' else _CHARACTER).match(text, start)
    return literal.end() if literal else start + 1


def _line_end(text: str, start: int) -> int:
    match = _LINE.match(text, start)
    end = match.end() if match else start
    return end - 1 if text[start:end].endswith("\r") else end
