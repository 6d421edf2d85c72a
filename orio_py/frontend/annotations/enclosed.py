"""The code behind an opening annotation: which of it the user wrote, and its text without annotations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orio_py.core.diagnostics import fail
from orio_py.core.source import SourceFile, Span
from orio_py.spec.generated import CLOSE, ELSE, GENERATED_MARK, OPEN

_SKIP = re.compile(r"(?:\s|/\*(?!@)(?:[^*]|\*(?!/))*\*/)*")
_OWN_COMMENT = re.compile(re.escape(GENERATED_MARK) + r"(?:[^*]|\*(?!/))*\*/")


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
    return _blank(text[span.start : keep.start]) + "".join(kept) + _blank(text[keep.end : span.end])


def _blank(text: str) -> str:
    """Blanks of the same length; line ends stay."""
    return re.sub(r"[^\r\n]", " ", text)
