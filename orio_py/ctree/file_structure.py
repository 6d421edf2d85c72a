"""The top level of a C file by a lexical scan: directives, declarations and function definitions.

It copes with files that no C parser reads.  Where it cannot be sure of the brace structure, because the
branches of an `#if` open and close braces differently, it says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from orio_py.core.names import C_KEYWORDS
from orio_py.ctree.lexer import Token, TokenKind, directive_body, directive_name

_CONTROL_WORDS = frozenset({"if", "for", "while", "switch", "do", "else", "return"})
_ATTRIBUTES = frozenset({"__attribute__", "__attribute", "__declspec", "__asm__", "__asm", "asm"})
_STORAGE = frozenset({"static", "extern", "inline", "__inline", "__inline__", "const", "volatile"})
_CLOSERS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of the top level; `body` and `close` are the offsets of a function's braces."""

    kind: Literal["directive", "declaration", "function", "code"]
    start: int
    end: int
    tokens: tuple[Token, ...]
    name: str = ""
    body: int = -1
    close: int = -1

    @property
    def header(self) -> list[Token]:
        """The tokens before a function's body, without attributes."""
        return without_attributes(list(takewhile(lambda token: token.start < self.body, self.tokens)))


@dataclass(frozen=True, slots=True)
class Outline:
    """The items of a file, its active tokens, and whether the scan is unsure of its structure."""

    items: tuple[Item, ...]
    tokens: tuple[Token, ...]
    unsure: bool


def active(tokens: list[Token]) -> list[Token]:
    """The tokens without those that `#if 0` and `#ifdef __cplusplus` take out; directives all stay."""
    result: list[Token] = []
    skipping: list[bool] = []
    for token in tokens:
        if token.kind is TokenKind.DIRECTIVE:
            name = directive_name(token)
            if name in {"if", "ifdef", "ifndef"}:
                skipping.append(_is_never(name, directive_body(token)))
            elif name in {"else", "elif"} and skipping:
                skipping[-1] = False
            elif name == "endif" and skipping:
                skipping.pop()
            if name in {"if", "ifdef", "ifndef", "else", "elif", "endif"} or not any(skipping):
                result.append(token)
        elif not any(skipping):
            result.append(token)
    return result


def _is_never(name: str, condition: str) -> bool:
    if name == "ifdef":
        return condition == "__cplusplus"
    return (
        name == "if"
        and re.fullmatch(r"\(?\s*0\s*\)?|defined\s*\(?\s*__cplusplus\s*\)?", condition) is not None
    )


def outline(tokens: list[Token], length: int) -> Outline:
    """The top level of a file with these tokens, comments included or not, and `length` characters."""
    used = active(tokens)
    scanner = _Scanner()
    for token in used:
        if token.kind is TokenKind.DIRECTIVE:
            scanner.directive(token)
        elif token.kind is TokenKind.BAD:
            scanner.unsure = True
        elif token.kind is not TokenKind.COMMENT:
            scanner.token(token)
    scanner.finish(length)
    return Outline(tuple(scanner.items), tuple(used), scanner.unsure)


@dataclass(slots=True)
class _Conditional:
    """An `#if` that is open: the brackets before it, whether its present branch is followed, and those behind that one.

    `branch` is the number of the present branch.
    """

    before: tuple[str, ...]
    followed: bool
    behind: tuple[str, ...] | None = None
    branch: int = 0


@dataclass(slots=True)
class _Scanner:
    """Finds the items of a file.

    Where the branches of conditions open or close different brackets, the first branch is followed, and the branches
    of later conditions on the same macro that go with it.
    """

    items: list[Item] = field(default_factory=list[Item])
    current: list[Token] = field(default_factory=list[Token])
    stack: list[str] = field(default_factory=list[str])
    branches: list[_Conditional] = field(default_factory=list[_Conditional])
    assumed: dict[str, bool] = field(default_factory=dict[str, bool])
    began: list[int] = field(default_factory=list[int])
    """The branches, of the conditions that are open, in which the body began."""
    body: int = -1
    unsure: bool = False

    def directive(self, token: Token) -> None:
        name = directive_name(token)
        if name in {"if", "ifdef", "ifndef"}:
            self.branches.append(_Conditional(tuple(self.stack), self._holds(name, directive_body(token))))
        elif name in {"else", "elif"} and self.branches:
            opened = self.branches[-1]
            self._end_branch(opened)
            self.stack = list(opened.before)
            is_first = opened.behind is None
            opened.branch += 1
            opened.followed = is_first and (name == "else" or self._holds("if", directive_body(token)))
        elif name == "endif" and self.branches:
            opened = self.branches.pop()
            self._end_branch(opened)
            self.stack = list(opened.before if opened.behind is None else opened.behind)
            del self.began[len(self.branches) :]
        if not self.stack and not self.current:
            self.items.append(Item("directive", token.start, token.end, (token,)))
        elif self.body < 0 and name != "pragma" and self.stack[:1] != ["{"]:
            # A directive in the middle of a declaration or function header.
            self.unsure = True

    def _end_branch(self, opened: _Conditional) -> None:
        found = tuple(self.stack)
        self.unsure = self.unsure or found != opened.before
        if opened.followed:
            opened.behind = found

    def _holds(self, name: str, condition: str) -> bool:
        """Whether a condition is taken to hold: as an earlier one on the same macro; the first one does."""
        if _is_never(name, condition):
            return False
        tested = re.fullmatch(r"(!?)\s*defined\s*\(?\s*(\w+)\s*\)?", condition) if name == "if" else None
        key = condition if name != "if" else tested[2] if tested else f"if {condition}"
        wanted = name != "ifndef" and not (tested and tested[1])
        return self.assumed.setdefault(key, wanted) == wanted

    def token(self, token: Token) -> None:
        if token.is_operator("{") and not self.stack and self.body < 0 and self._heads_function():
            self.body = token.start
            self.began = [opened.branch for opened in self.branches]
        self.current.append(token)
        if token.is_operator("(", "[", "{"):
            self.stack.append(token.text)
        elif token.is_operator(")", "]", "}"):
            self._close(token.text)
            is_end = not self.stack and token.text == "}" and self.body >= 0
            if is_end and self._counts_here():
                self._function(token.start, token.end)
        elif token.is_operator(";") and not self.stack and not self._in_old_header():
            self._declaration(token.end)

    def _counts_here(self) -> bool:
        """Whether the function that is open ends where its body closes: in branches that are followed or that hold all of it."""
        began = [*self.began, *([-1] * len(self.branches))]
        return all(o.followed or o.branch == first for o, first in zip(self.branches, began, strict=False))

    def _close(self, closer: str) -> None:
        opener = _CLOSERS[closer]
        if self.stack[-1:] == [opener]:
            self.stack.pop()
            return
        self.unsure = True
        if closer == "}" and opener in self.stack:
            # A brace closes what was left open inside its block.
            while self.stack.pop() != opener:
                pass

    def finish(self, length: int) -> None:
        self.unsure = self.unsure or bool(self.branches)
        if self.body >= 0:
            self.unsure = True
            self._function(length, length)
        elif self.current:
            self._declaration(self.current[-1].end)

    def _heads_function(self) -> bool:
        """Whether the tokens so far are the header of a function (or of a statement outside of one)."""
        tokens = without_attributes(self.current)
        if not tokens or tokens[0].is_name("typedef") or not any(t.is_operator("(") for t in tokens):
            return bool(tokens) and tokens[-1].is_name("do", "else")
        if any(t.is_operator("=") for t in _outside_brackets(tokens)):
            return False
        tail = tokens[-2:]
        return not any(t.is_name("struct", "union", "enum") for t in tail)

    def _in_old_header(self) -> bool:
        """Whether the tokens so far are a K&R header: names in parentheses, and declarations of such names."""
        if len(self.current) < 2 or self.current[-2].is_operator("}"):
            return False
        tokens = without_attributes(self.current)
        found = _old_parameters(tokens)
        if found is None or self.body >= 0 or (found[0] == 1 and tokens[0].text.isupper()):
            return False  # `EXPORTED(f) double f();` looks the same, but for its letters
        names = {t.text for t in tokens[found[0] + 1 : found[1]] if t.kind is TokenKind.NAME}
        declared = tokens[found[1] + 1 :]
        last = next((i for i in range(len(declared) - 2, -1, -1) if declared[i].is_operator(";")), -1)
        return any(t.text in names for t in declared[last + 1 :])

    def _function(self, close: int, end: int) -> None:
        header = without_attributes([t for t in self.current if t.start < self.body])
        name = function_name(header)
        control = not name or name in _CONTROL_WORDS or header[0].is_name(*_CONTROL_WORDS)
        kind: Literal["function", "code"] = "code" if control else "function"
        start = self.current[0].start
        self.items.append(Item(kind, start, end, tuple(self.current), name, self.body, close))
        self.current, self.body = [], -1

    def _declaration(self, end: int) -> None:
        first = self.current[0]
        kind: Literal["declaration", "code"] = "code" if first.is_name(*_CONTROL_WORDS) else "declaration"
        self.items.append(Item(kind, first.start, end, tuple(self.current)))
        self.current, self.body = [], -1


def without_attributes(tokens: list[Token]) -> list[Token]:
    """The tokens without `__attribute__((…))` and the like."""
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        if tokens[index].is_name(*_ATTRIBUTES):
            index += 1
            if index < len(tokens) and tokens[index].is_operator("("):
                index = closing(tokens, index) + 1
        else:
            result.append(tokens[index])
            index += 1
    return result


def closing(tokens: Sequence[Token], index: int) -> int:
    """The index of the bracket that closes the one at `index`, or the last index."""
    depth = 0
    for position in range(index, len(tokens)):
        if tokens[position].is_operator("(", "[", "{"):
            depth += 1
        elif tokens[position].is_operator(")", "]", "}"):
            depth -= 1
            if depth == 0:
                return position
    return len(tokens) - 1


def _outside_brackets(tokens: list[Token]) -> list[Token]:
    found: list[Token] = []
    index = 0
    while index < len(tokens):
        found.append(tokens[index])
        index = closing(tokens, index) + 1 if tokens[index].is_operator("(", "[", "{") else index + 1
    return found


def parameter_list(header: list[Token]) -> tuple[int, int] | None:
    """The indices of the parentheses around the parameters in a function header."""
    return _old_parameters(header) or next(reversed(_named_parentheses(header)), None)


def _old_parameters(header: list[Token]) -> tuple[int, int] | None:
    """Those of a K&R header: around names alone, before declarations, whose pointers to functions have some, too."""
    first = next((i for i, t in enumerate(header) if t.is_operator(";")), -1)
    found = [
        (start, end)
        for start, end in _named_parentheses(header)
        if end + 1 < first
        and header[end + 1].kind is TokenKind.NAME
        and _holds_names(header[start + 1 : end])
    ]
    return found[-1] if found else None


def _holds_names(tokens: list[Token]) -> bool:
    names, commas = tokens[::2], tokens[1::2]
    is_list = len(tokens) % 2 == 1 and all(t.kind is TokenKind.NAME for t in names)
    return is_list and all(t.is_operator(",") for t in commas)


def _named_parentheses(header: list[Token]) -> list[tuple[int, int]]:
    """The outermost parentheses that stand behind a name."""
    found: list[tuple[int, int]] = []
    index = 0
    while index < len(header):
        if header[index].is_operator("(", "["):
            end = closing(header, index)
            if header[index].text == "(" and index and header[index - 1].kind is TokenKind.NAME:
                found.append((index, end))
            index = end
        index += 1
    return found


def macro_name(tokens: Sequence[Token], types: Set[str]) -> list[tuple[int, int]]:
    """The arguments of an unknown macro in place of a function's name, `int NAME(add)(int n) { … }`; none without.

    The parentheses in `number (add)(int n)` are those around a name: `number` is one of the `types`, or in small letters.
    """
    index, has_type = 0, False
    while index + 1 < len(tokens) and not tokens[index].is_operator("{", "=", ";"):
        token, behind = tokens[index], tokens[index + 1]
        if token.kind is TokenKind.NAME and behind.is_operator("("):
            end = closing(tokens, index + 1)
            is_single = end == index + 3 and tokens[index + 2].kind is TokenKind.NAME
            is_type = not has_type and (token.text in types or not token.text.isupper())
            is_declarator = (
                token.text in C_KEYWORDS or tokens[index + 2].is_operator("*", "(") or (is_single and is_type)
            )
            if not is_declarator and tokens[end + 1 : end + 2] and tokens[end + 1].is_operator("("):
                return [(behind.start, tokens[end].end)]
            index = end
        has_type = has_type or not token.is_name(*_STORAGE)
        index += 1
    return []


def function_name(header: list[Token]) -> str:
    """The name of the function that a header declares, or an empty text."""
    found = parameter_list(header)
    return header[found[0] - 1].text if found else ""
