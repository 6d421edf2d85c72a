"""Where the comments of a region stand among its statements.

A tree has room for comments only between the statements of a block.  A comment that stands there stays
in place; one between a loop header and `{` moves behind the brace; any other, such as one inside an
expression, moves before the statement of the enclosing block that it belongs to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from orio_py.ctree.lexer import Token, TokenKind, directive_comments

_HEADERS = frozenset({"if", "for", "while", "switch"})
_OPEN = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Placement:
    """A comment, the offset at which it joins the code, and whether it trails a statement."""

    offset: int
    text: str
    trailing: bool


@dataclass(slots=True)
class _Frame:
    """An open bracket: `anchor` is where the current statement of a block starts."""

    bracket: str
    is_block: bool
    before: Token | None
    anchor: int
    fresh: bool = True
    open_do: int = 0


@dataclass(slots=True)
class _Placer:
    text: str
    code: list[Token]
    frames: list[_Frame]
    placed: list[Placement] = field(default_factory=list[Placement])
    deferred: list[Token] = field(default_factory=list[Token])
    index: int = 0
    closed_header: bool = False

    def comment(self, token: Token) -> None:
        frame = self.frames[-1]
        if frame.is_block and frame.fresh:
            self.placed.append(Placement(token.start, self._dedented(token), self._trails(token)))
        elif frame.is_block and self._block_follows():
            self.deferred.append(token)
        else:
            anchor = next(f.anchor for f in reversed(self.frames) if f.is_block)
            self.placed.append(Placement(anchor, self._dedented(token), False))

    def directive(self, token: Token) -> None:
        frame = self.frames[-1]
        if frame.is_block and frame.fresh and frame.anchor < 0:
            frame.anchor = token.start

    def mark(self, offset: int) -> None:
        frame = self.frames[-1]
        if frame.is_block and frame.fresh and frame.anchor < 0:
            frame.anchor = offset

    def token(self, token: Token) -> None:
        previous = self.code[self.index - 1] if self.index else None
        self.index += 1
        frame = self.frames[-1]
        if token.is_operator("{"):
            self._enter(token, self._opens_block(frame, previous))
        elif token.is_operator("(", "["):
            self._start(frame, token)
            self.frames.append(_Frame(token.text, False, previous, -1))
        elif token.is_operator(")", "]", "}"):
            self._leave(token)
        else:
            self._start(frame, token)
            if token.is_name("do") and frame.is_block:
                frame.open_do += 1
            elif token.is_operator(";") and frame.is_block:
                self._complete(frame)

    def _start(self, frame: _Frame, token: Token) -> None:
        if frame.is_block and frame.fresh:
            frame.fresh = False
            frame.anchor = frame.anchor if frame.anchor >= 0 else token.start

    def _enter(self, token: Token, is_block: bool) -> None:
        self._start(self.frames[-1], token)
        self.frames.append(_Frame("{", is_block, None, -1))
        if is_block:
            for number, comment in enumerate(self.deferred):
                self.placed.append(Placement(token.end, self._dedented(comment), number == 0))
            self.deferred.clear()

    def _leave(self, token: Token) -> None:
        if len(self.frames) == 1:
            return
        closed = self.frames.pop()
        header = closed.before is not None and closed.before.is_name(*_HEADERS)
        self.closed_header = token.text == ")" and header
        if closed.is_block and self.frames[-1].is_block:
            self._complete(self.frames[-1])

    def _complete(self, frame: _Frame) -> None:
        """A statement ended; what follows may still be a part of an enclosing statement."""
        following = self.code[self.index] if self.index < len(self.code) else None
        if following is not None and following.is_name("else"):
            return
        if frame.open_do:
            frame.open_do -= 1
            return
        frame.fresh, frame.anchor = True, -1

    def _opens_block(self, frame: _Frame, previous: Token | None) -> bool:
        if not frame.is_block:
            return False
        if frame.fresh or previous is None or previous.is_operator(":") or previous.is_name("else", "do"):
            return True
        return previous.is_operator(")") and self.closed_header

    def _block_follows(self) -> bool:
        """Whether the next token opens a block that a comment here can move into."""
        following = self.code[self.index : self.index + 2]
        previous = self.code[self.index - 1] if self.index else None
        if following and following[0].is_operator("{"):
            return self._opens_block(self.frames[-1], previous)
        return len(following) == 2 and following[0].is_name("else") and following[1].is_operator("{")

    def _trails(self, token: Token) -> bool:
        if self.index == 0 or "\n" in self.text[self.code[self.index - 1].end : token.start]:
            return False
        if self.index == len(self.code) or self.code[self.index].is_operator("}"):
            return True
        return "\n" in self.text[token.end : self.code[self.index].start]

    def _dedented(self, token: Token) -> str:
        """The comment with the indentation of its line taken off its further lines."""
        return dedent_comment(token.text, self.text[self.text.rfind("\n", 0, token.start) + 1 : token.start])


def dedent_comment(text: str, line: str) -> str:
    """`text` with plain line ends and without the white space that its first line `line` begins with."""
    if text.startswith("//"):
        text = re.sub(r"[\\\s]+\Z", "", text)
    first, *rest = text.replace("\r", "").split("\n")
    margin = re.match(r"[ \t]*", line)
    prefix = margin.group() if margin else ""
    return "\n".join([first.rstrip(), *(_without(prefix, part).rstrip() for part in rest)])


def _without(prefix: str, line: str) -> str:
    length = 0
    while length < len(prefix) and length < len(line) and line[length] == prefix[length]:
        length += 1
    return line[length:]


def place_comments(text: str, tokens: list[Token], marks: list[int]) -> list[Placement]:
    """A place for every comment of `text`, in the order in which they join the code.

    `tokens` are those of `lexer.scan`, with balanced brackets; `marks` are offsets of transform marks.
    """
    code = [t for t in tokens if t.kind not in {TokenKind.COMMENT, TokenKind.DIRECTIVE}]
    placer = _Placer(text, code, [_Frame("{", True, None, -1)])
    pending = sorted(marks, reverse=True)
    for token in tokens:
        while pending and pending[-1] <= token.start:
            placer.mark(pending.pop())
        if token.kind is TokenKind.COMMENT:
            placer.comment(token)
        elif token.kind is TokenKind.DIRECTIVE:
            for comment in directive_comments(token):
                placer.comment(comment)
            placer.directive(token)
        else:
            placer.token(token)
    return sorted(placer.placed, key=lambda placement: placement.offset)


def unbalanced(tokens: list[Token]) -> tuple[Token, Token | None] | None:
    """The first bracket without its partner, and the one that it met instead; None when all match."""
    stack: list[Token] = []
    for token in tokens:
        if token.is_operator("(", "[", "{"):
            stack.append(token)
        elif token.is_operator(")", "]", "}"):
            if not stack or _OPEN[stack[-1].text] != token.text:
                return token, stack[-1] if stack else None
            stack.pop()
    return (stack[-1], None) if stack else None
