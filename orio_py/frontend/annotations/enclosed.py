"""The code around an opening annotation: what stands before it, what of the code behind it the user wrote."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from orio_py.core.diagnostics import fail
from orio_py.core.source import SourceFile, Span
from orio_py.ctree.lexer import Token, TokenKind, directive_body, directive_name, scan
from orio_py.ctree.unit.translation_unit import TranslationUnit
from orio_py.spec.generated import CLOSE, ELSE, GENERATED_MARK, OPEN

_SKIP = re.compile(r"(?:\s|/\*(?!@)(?:[^*]|\*(?!/))*\*/)*")
_OWN_COMMENT = re.compile(re.escape(GENERATED_MARK) + r"(?:[^*]|\*(?!/))*\*/")


def pragmas_before(text: str, offset: int, unit: TranslationUnit) -> tuple[str, ...]:
    """The pragmas that stand between an offset and the code before it, without `#pragma`, as they follow.

    Those are left out that stand in a branch of a condition which the compiler of the `unit` does not see, but for OpenMP's
    where the condition asks for OpenMP: what a region becomes is built with it, too.
    """
    lines = _between(text, offset)[1]
    pragmas = [line for line in lines if directive_name(line) == "pragma"]
    conditional = pragmas and any(directive_name(line) == "endif" for line in lines)
    hidden = unit.left_out(Span(0, offset)) if conditional else []
    return tuple(
        directive_body(line)
        for line in pragmas
        if not any(span.start <= line.start < span.end for span in hidden) or _is_with_openmp(text, line)
    )


def is_body(text: str, offset: int, statements: int) -> bool:
    """Whether C takes one statement at an offset: behind `if (…)`, the header of a loop, `else` or `do`.

    A label is said to be before one of the `statements` there if it is the only one.
    """
    last = _between(text, offset)[0]
    if last is None or last.is_operator(":"):
        return last is not None and statements == 1
    return last.is_operator(")") or last.is_name("else", "do")


def _is_with_openmp(text: str, pragma: Token) -> bool:
    """Whether a pragma is OpenMP's, and stands in a branch of a condition that asks for `_OPENMP`."""
    tokens, starts = _tokens(text)
    closed = 0
    for token in reversed(tokens[: bisect_left(starts, pragma.start)]):
        word = directive_name(token) if token.kind is TokenKind.DIRECTIVE else ""
        if word.startswith(("if", "elif")) and not closed and "_OPENMP" in directive_body(token):
            return directive_body(pragma).startswith("omp ")
        closed += (word == "endif") - (word.startswith("if") and closed > 0)
    return False


def _between(text: str, offset: int) -> tuple[Token | None, list[Token]]:
    """The last token of code before an offset, and the preprocessor lines behind that."""
    tokens, starts = _tokens(text)
    lines: list[Token] = []
    for token in reversed(tokens[: bisect_left(starts, offset)]):
        if token.kind is not TokenKind.DIRECTIVE:
            return token, lines[::-1]
        lines.append(token)
    return None, lines[::-1]


@lru_cache(maxsize=2)
def _tokens(text: str) -> tuple[list[Token], list[int]]:
    """The tokens of a file without comments, and where they start."""
    tokens = [token for token in scan(text) if token.kind is not TokenKind.COMMENT]
    return tokens, [token.start for token in tokens]


def original_span(source: SourceFile, content: Span) -> Span:
    """The part of a region's content that the user wrote.

    It is all of it, or what stands between the `#else` and the `#endif` of the generated block, or what
    follows a generated comment that says that the original code stayed.
    Raises ORIO-A016 where such a block is damaged.
    """
    text = source.text
    skipped = _SKIP.match(text, content.start, content.end)
    opening = skipped.end() if skipped else content.start
    if not text.startswith(OPEN, opening) or opening + len(OPEN) > content.end:
        return _behind_remark(text, content)
    middle = text.find(ELSE, opening, content.end)
    closing = text.rfind(CLOSE, opening, content.end)
    position = source.position(opening)
    if middle < 0 or closing < middle:
        wanted = ELSE if middle < 0 else CLOSE
        fail("ORIO-A016", f"the generated block that begins here is damaged; expected `{wanted}`", position)
    if text[closing + len(CLOSE) : content.end].strip():
        fail("ORIO-A016", "there is code behind the generated block of this region", position)
    start = text.find("\n", middle, closing) + 1
    end = text.rfind("\n", middle, closing) + 1
    return Span(start, max(start, end))


def _behind_remark(text: str, content: Span) -> Span:
    remark = re.compile(rf"\s*{_OWN_COMMENT.pattern}[ \t\r]*\n?").match(text, content.start, content.end)
    return Span(remark.end(), content.end) if remark else content


def blanked(source: SourceFile, span: Span, keep: Span, marks: Sequence[Span]) -> str:
    """The text of `span` with blanks for all but `keep`, and for the annotations inside that."""
    text = source.text
    kept = list(text[keep.start : keep.end])
    drop = [mark for mark in marks if keep.contains(mark)]
    drop.extend(Span(*found.span()) for found in _OWN_COMMENT.finditer(text, keep.start, keep.end))
    for mark in drop:
        for index in range(mark.start - keep.start, mark.end - keep.start):
            if kept[index] not in "\r\n":
                kept[index] = " "
    return blank(text[span.start : keep.start]) + "".join(kept) + blank(text[keep.end : span.end])


def blank(text: str) -> str:
    """Blanks of the same length; line ends stay."""
    return re.sub(r"[^\r\n]", " ", text)
