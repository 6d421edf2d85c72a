"""A file cut at its annotations, so that what a preprocessor writes leads back to places in the file.

The text that is preprocessed has line markers (`# 12 "orio:3"`) where segments begin.  The names in its code
can be masked, so that only directives are followed and macros in code stay as the user wrote them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from orio_py.core.names import C_KEYWORDS
from orio_py.core.source import Span
from orio_py.ctree.lexer import Token, TokenKind, directive_name, scan

MASK = "orio_masked_"
_FILE = "orio:"
_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"((?:\s+\d)*)')
_PRAGMA = re.compile(r"#\s*pragma\s+Orio\b")
_BEGIN = re.compile(r"(?:/\*@|#\s*pragma\s+Orio)\s*begin\b")
_END = re.compile(r"(?:/\*@|#\s*pragma\s+Orio)\s*end\b")
_CONTINUED = re.compile(r"\\(?=\r?\n)|\r")
_OPENS = frozenset({"if", "ifdef", "ifndef"})
_CONTINUES = frozenset({"else", "elif", "elifdef", "elifndef"})
_CLOSES = frozenset({*_CONTINUES, "endif"})
_INCLUDES = frozenset({"include", "include_next", "import"})
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|import)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LineMarker:
    """What a line marker says of the lines behind it, of which the first is `line`; `segment` is None outside the file itself."""

    segment: int | None
    is_system: bool
    line: int = 1

    @classmethod
    def of(cls, directive: str, project: set[str]) -> LineMarker | None:
        """The marker that a preprocessor line is, if it is one.

        `project` gets the files that begin as ones of the project.  They stay so where they say of themselves to be
        the system's (`#pragma GCC system_header`), as headers do so that compilers warn less.
        """
        match = _MARKER.match(directive)
        if match is None:
            return None
        file, flags = match[2], match[3].split()
        own = file.startswith(_FILE)
        is_system = "3" in flags or file == "<built-in>"
        project |= set() if is_system else {file}
        return cls(
            int(file.removeprefix(_FILE)) if own else None,
            is_system and file not in project,
            int(match[1]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """A text and the offsets where its segments start, the first one being 0.

    `codes` holds the code of segments whose annotations alone have it, `mentioned` the names in such annotations
    whose code is not known.
    """

    text: str
    starts: tuple[int, ...]
    tokens: tuple[Token, ...]
    codes: Mapping[int, str]
    mentioned: Mapping[int, frozenset[str]]

    @classmethod
    def of(
        cls, text: str, boundaries: Iterable[int] = (), codes: Mapping[int, str] | None = None
    ) -> Segments:
        """The segments of a text: between its annotations, and from each of the `boundaries` on.

        `codes` is C code, by the offsets where it counts as standing.
        """
        tokens = tuple(scan(text))
        annotations = [token for token in tokens if _is_annotation(token)]
        edges = {edge for token in annotations for edge in (token.start, token.end)}
        starts = tuple(sorted({0, *edges, *boundaries}))
        known = {bisect_right(starts, offset) - 1: code for offset, code in (codes or {}).items()}
        mentioned: dict[int, frozenset[str]] = {}
        for begin, end in pairwise(annotations):
            is_region = _BEGIN.match(begin.text) and _END.match(end.text)
            if is_region and not text[begin.end : end.start].strip():
                names = (t.text for t in scan(begin.text[3:]) if t.kind is TokenKind.NAME)
                segment = bisect_right(starts, begin.end) - 1
                mentioned[segment] = frozenset() if segment in known else frozenset(names)
        return cls(text, starts, tokens, known, mentioned)

    @property
    def needs_preprocessor(self) -> bool:
        """Whether the text includes others, or has parts that depend on conditions."""
        words = {directive_name(t) for t in self.tokens if t.kind is TokenKind.DIRECTIVE}
        return not words.isdisjoint(_INCLUDES | _OPENS)

    @property
    def may_include(self) -> bool:
        """Whether the text may include others."""
        return _INCLUDE.search(self.text) is not None

    def within(self, extent: Span) -> range:
        """The segments that start in an extent."""
        last = max(extent.end, extent.start + 1)
        return range(bisect_left(self.starts, extent.start), bisect_left(self.starts, last))

    def conditional(self, extent: Span) -> list[list[tuple[Token, int]]]:
        """The conditional groups in an extent: their lines from `#if` to `#endif`, each with its line number."""
        line = self.text.count("\n", 0, extent.start) + 1
        groups: list[list[tuple[Token, int]]] = []
        opened: list[list[tuple[Token, int]]] = []
        text = self.text[extent.start : extent.end]
        for token in scan(text):
            word = directive_name(token) if token.kind is TokenKind.DIRECTIVE else ""
            if word in _OPENS:
                opened.append([])
                groups.append(opened[-1])
            if word in _OPENS | _CLOSES and opened:
                place = Token(token.kind, token.text, token.start + extent.start, token.end + extent.start)
                opened[-1].append((place, line + text.count("\n", 0, token.start)))
            if word == "endif" and opened:
                opened.pop()
        return [group for group in groups if directive_name(group[-1][0]) == "endif"]

    def marked(self, *, masked: bool = False) -> str:
        """The text with a line marker at each segment and without comments."""
        return "".join(_Writer(self, masked, _taken(self)).pieces())


def _taken(segments: Segments) -> dict[int, str]:
    """Conditions by the offsets of their lines, decided so that what is annotated counts as compiled.

    A condition that decides between annotated branches stays as it is, as do those of other groups.
    """
    found: dict[int, str] = {}
    groups: list[list[tuple[Token, bool]]] = []
    edges = segments.starts[1:]
    for token in segments.tokens:
        word = directive_name(token) if token.kind is TokenKind.DIRECTIVE else ""
        if word in _OPENS:
            groups.append([(token, False)])
        elif word in _CLOSES and groups:
            branch = groups[-1][-1][0]
            has_edge = bisect_left(edges, branch.end) < bisect_left(edges, token.start)
            groups[-1][-1] = (branch, has_edge)
            if word in _CONTINUES:
                groups[-1].append((token, False))
            else:
                found |= _decided(groups.pop())
    return found


def _decided(group: list[tuple[Token, bool]]) -> dict[int, str]:
    if sum(is_annotated for _, is_annotated in group) != 1:
        return {}
    conditions = [(token, is_annotated) for token, is_annotated in group if directive_name(token) != "else"]
    words = ["if", *(["elif"] * (len(conditions) - 1))]
    return {
        token.start: f"#{word} {int(is_annotated)}"
        for word, (token, is_annotated) in zip(words, conditions, strict=True)
    }


@dataclass(slots=True)
class _Writer:
    segments: Segments
    masked: bool
    taken: Mapping[int, str]
    line: int = 1
    segment: int = -1

    def pieces(self) -> Iterable[str]:
        position, text = 0, self.segments.text
        for token in self.segments.tokens:
            yield from self._gap(position, token.start)
            yield from self._token(token)
            self.line += token.text.count("\n")
            position = token.end
        yield from self._gap(position, len(text))
        yield "\n"

    def _gap(self, start: int, end: int) -> Iterable[str]:
        """The white space between two tokens, with the markers of the segments that start there."""
        text, starts = self.segments.text, self.segments.starts
        while self.segment + 1 < len(starts) and starts[self.segment + 1] <= end:
            self.segment += 1
            place = max(starts[self.segment], start)
            yield _joined(text[start:place])
            self.line += text.count("\n", start, place)
            start = place
            yield self._marker()
            if self.segment in self.segments.codes:
                yield from self._code(self.segments.codes[self.segment])
            elif self.segment in self.segments.mentioned:
                yield ";"
        yield _joined(text[start:end])
        self.line += text.count("\n", start, end)

    def _code(self, text: str) -> Iterable[str]:
        """Code that an annotation holds, on lines of its own."""
        for token in scan(text):
            is_name = self.masked and token.kind is TokenKind.NAME and token.text not in C_KEYWORDS
            yield (
                f"\n{token.text}\n"
                if token.kind is TokenKind.DIRECTIVE
                else MASK * is_name + token.text + " "
            )
        yield self._marker()

    def _marker(self) -> str:
        return f'\n# {self.line} "{_FILE}{self.segment}"\n'

    def _token(self, token: Token) -> Iterable[str]:
        if token.kind is TokenKind.COMMENT or _is_annotation(token):
            yield " " + "\n" * token.text.count("\n")
        elif token.kind is TokenKind.DIRECTIVE:
            yield self.taken.get(token.start, token.text)
            if directive_name(token) in _OPENS | _CLOSES | _INCLUDES:
                # Text may have been left out with its markers, or that of a header stands before.
                following = self.line + token.text.count("\n") + 1
                yield f'\n# {following} "{_FILE}{self.segment}"'
        elif self.masked and token.kind is TokenKind.NAME and token.text not in C_KEYWORDS:
            yield MASK + token.text
        else:
            yield _joined(token.text)


def _is_annotation(token: Token) -> bool:
    if token.kind is TokenKind.COMMENT:
        return token.text.startswith("/*@")
    return token.kind is TokenKind.DIRECTIVE and _PRAGMA.match(token.text) is not None


def _joined(text: str) -> str:
    """Text outside directives with white space for line continuations."""
    return _CONTINUED.sub(" ", text) if "\\" in text or "\r" in text else text
