"""Which variables the code after a region may still read, by a scan of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.file_structure import closing
from orio_py.ctree.lexer import Token, TokenKind, code_tokens, directive_name, scan

_TRANSFERS = ("break", "continue", "goto")


def may_be_read(name: str, tokens: Sequence[Token]) -> bool | None:
    """What becomes of the value of `name` in the statements with these tokens.

    True if it may be read, False if every way through them assigns it first, None if they may be passed
    without either.
    """
    return _Scan(name, [t for t in tokens if t.kind is not TokenKind.COMMENT]).run()


def occurs(name: str, tokens: Sequence[Token]) -> bool:
    """Whether the identifier occurs in the code or in an annotation comment."""
    for token in tokens:
        if token.is_name(name):
            return True
        if token.kind is TokenKind.COMMENT and token.text.startswith("/*@"):
            inner = token.text[3:].removesuffix("*/")
            if any(t.is_name(name) for t in scan(inner)):
                return True
    return False


def address_taken(name: str, tokens: Sequence[Token]) -> bool:
    """Whether `&name` occurs as an address, not as the operator `&` between two numbers."""
    code = code_tokens(tokens)
    for index, token in enumerate(code):
        if token.is_name(name) and index and code[index - 1].is_operator("&"):
            before = code[index - 2] if index > 1 else None
            if before is None or before.is_name("return", "sizeof"):
                return True
            if before.kind not in {TokenKind.NAME, TokenKind.NUMBER} and not before.is_operator(")", "]"):
                return True
    return False


@dataclass(slots=True)
class _Scan:
    """`base` is the smallest brace depth so far: what is deeper, or conditional, may not be executed."""

    name: str
    tokens: list[Token]
    depth: int = 0
    base: int = 0
    conditional_at: int | None = None
    guards: int = 0
    transferred: bool = False

    def run(self) -> bool | None:
        index = -1
        while (index := index + 1) < len(self.tokens):
            token = self.tokens[index]
            if token.kind is TokenKind.DIRECTIVE:
                self._directive(token)
            elif token.is_operator("{"):
                self.depth += 1
            elif token.is_operator("}"):
                self._close()
            elif token.is_name(*_TRANSFERS):
                self.transferred = True
            elif token.is_name("case", "default") or self._is_label(index):
                # Other ways lead here, and past what stands before.
                self.conditional_at = self.base if self.conditional_at is None else self.conditional_at
            if token.is_name(self.name) and not self._is_member(index):
                if not self._is_assigned(index):
                    return True
                if self._is_read_in_value(index):
                    continue
                if self._is_certain(index):
                    return False
                if self._starts_for(index):
                    # Whatever the loop reads, its own header has assigned; whether it runs is open.
                    index = statement_end(self.tokens, index - 2)
        return None

    def _starts_for(self, index: int) -> bool:
        before = self._at(index - 1)
        return before is not None and before.is_operator("(") and self._is_for(index - 2)

    def _close(self) -> None:
        self.depth -= 1
        if self.depth < self.base:
            self.base = self.depth
            self.conditional_at = None

    def _directive(self, token: Token) -> None:
        word = directive_name(token)
        if word in {"if", "ifdef", "ifndef"}:
            self.guards += 1
        elif word == "endif":
            self.guards -= 1

    def _at(self, index: int) -> Token | None:
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def _is_label(self, index: int) -> bool:
        token, after, before = self.tokens[index], self._at(index + 1), self._at(index - 1)
        starts = before is None or before.is_operator(";", "{", "}")
        return token.kind is TokenKind.NAME and starts and after is not None and after.is_operator(":")

    def _is_member(self, index: int) -> bool:
        before = self._at(index - 1)
        return before is not None and before.is_operator(".", "->")

    def _is_assigned(self, index: int) -> bool:
        after, before = self._at(index + 1), self._at(index - 1)
        starts = (
            before is None
            or before.is_operator(";", "{", "}", ")", ":", "(", ",")
            or before.is_name("else", "do")
        )
        return starts and after is not None and after.is_operator("=")

    def _is_certain(self, index: int) -> bool:
        """Whether the assignment at `index` is executed whenever the code before it was passed."""
        if self.depth > self.base or self.guards > 0 or self.transferred or self.conditional_at is not None:
            return False
        before = self._at(index - 3 if self._starts_for(index) else index - 1)
        return before is None or before.is_operator(";", "}")

    def _is_for(self, index: int) -> bool:
        token = self._at(index)
        return token is not None and token.is_name("for")

    def _is_read_in_value(self, index: int) -> bool:
        """Whether the value assigned is computed from the variable itself."""
        depth = 0
        for token in self.tokens[index + 2 :]:
            if token.is_operator("(", "[", "{"):
                depth += 1
            elif token.is_operator(")", "]", "}"):
                depth -= 1
            if depth < 0 or (depth == 0 and token.is_operator(";")):
                return False
            if token.is_name(self.name):
                return True
        return False


def statement_end(tokens: Sequence[Token], start: int) -> int:
    """The index of the last token of the statement that begins at `start`; past the end if it is cut off.

    A `do` statement counts up to the `;` behind its condition, an `if` with its `else`.
    """
    at = start
    while at < len(tokens) and tokens[at].is_name("for", "while", "if", "switch"):
        head = tokens[at]
        at = closing(tokens, at + 1) + 1
        if head.is_name("if"):
            at = statement_end(tokens, at) + 1
            if at >= len(tokens) or not tokens[at].is_name("else"):
                return at - 1
            at += 1
    if at < len(tokens) and tokens[at].is_name("do"):
        at = statement_end(tokens, at + 1) + 1
    if at < len(tokens) and tokens[at].is_operator("{"):
        return closing(tokens, at)
    depth = 0
    while at < len(tokens) and (depth > 0 or not tokens[at].is_operator(";")):
        if tokens[at].is_operator("(", "[", "{"):
            depth += 1
        elif tokens[at].is_operator(")", "]", "}"):
            depth -= 1
        at += 1
    return at
