"""The declarations that are visible at a place inside a function, by a scan of the tokens before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.names import C_KEYWORDS
from orio_py.core.source import SourceFile
from orio_py.ctree.file_structure import closing, without_attributes
from orio_py.ctree.lexer import Token, TokenKind, directive_name
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.typenames import SPELLINGS, discover

_STATEMENTS = frozenset({"break", "continue", "goto", "return", "sizeof"})
_LONGEST_INITIALISER = 2000
_REMEMBERED = 64


@dataclass(slots=True)
class _Frame:
    """An open block: its declarations so far, and where the body of the loop it belongs to starts."""

    declarations: list[list[Token]] = field(default_factory=list[list[Token]])
    loop: int | None = None
    body: int = 0


@dataclass(frozen=True, slots=True)
class Visible:
    """Declarations in force at the place, outermost first.

    `loops` holds for each loop around the place the offsets of its header and of its body.
    """

    declarations: tuple[list[Token], ...]
    loops: tuple[tuple[int, int], ...]


def visible(tokens: Sequence[Token], types: frozenset[str]) -> Visible:
    """What is visible behind `tokens`, the active tokens from a function's `{` (left out) to the place."""
    walker = _Walker(list(tokens), types, [_Frame()])
    walker.run()
    frames = [*walker.frames, walker.pending]
    return Visible(
        tuple(declaration for frame in frames for declaration in frame.declarations),
        tuple((frame.loop, frame.body) for frame in frames if frame.loop is not None),
    )


@dataclass(slots=True)
class _Walker:
    tokens: list[Token]
    types: frozenset[str]
    frames: list[_Frame]
    pending: _Frame = field(default_factory=_Frame)
    branches: list[list[_Frame]] = field(default_factory=list[list[_Frame]])
    index: int = 0

    def run(self) -> None:
        while self.index < len(self.tokens):
            token = self.tokens[self.index]
            if token.kind is TokenKind.DIRECTIVE:
                self._directive(token)
                self.index += 1
            elif token.is_name("for", "while", "if", "switch"):
                self._header(token)
            elif token.is_operator("{"):
                self.pending.body = token.end
                self._push()
            elif token.is_operator("}"):
                if len(self.frames) > 1:
                    self.frames.pop()
                self._next()
            elif token.is_operator(";"):
                self._next()
            elif token.is_name("else", "do"):
                if token.text == "do":
                    self._loop(token.start, token.end)
                self.index += 1
            elif not self._label(token):
                self._statement()

    def _next(self) -> None:
        self.pending = _Frame()
        self.index += 1

    def _push(self) -> None:
        self.frames.append(self.pending)
        self._next()

    def _loop(self, start: int, body: int) -> None:
        # A loop that is the whole body of another shares its frame.
        if self.pending.loop is None:
            self.pending.loop = start
        self.pending.body = body

    def _header(self, token: Token) -> None:
        opening = self.index + 1
        if opening >= len(self.tokens) or not self.tokens[opening].is_operator("("):
            self.index += 1
            return
        end = closing(self.tokens, opening)
        if token.text == "for":
            initial = self._until_semicolon(opening + 1)
            if self._declares(initial):
                self.pending.declarations.append(initial)
        if token.text in {"for", "while"}:
            self._loop(token.start, self.tokens[end].end)
        self.index = end + 1

    def _label(self, token: Token) -> bool:
        """Step over a label, if there is one."""
        if token.is_name("case", "default"):
            while self.index < len(self.tokens) and not self.tokens[self.index].is_operator(":"):
                self.index += 1
            self.index += 1
            return True
        following = self.tokens[self.index + 1 : self.index + 2]
        if token.kind is TokenKind.NAME and following and following[0].is_operator(":"):
            self.index += 2
            return True
        return False

    def _statement(self) -> None:
        start = self.index
        run = self._until_semicolon(start)
        self.index = start + len(run)
        ended = self.index < len(self.tokens)
        code = [t for t in run if t.kind is not TokenKind.DIRECTIVE]
        if ended and self._declares(code):
            self.frames[-1].declarations.append(code)
        if not run:
            self.index += 1

    def _until_semicolon(self, start: int) -> list[Token]:
        depth = 0
        for index in range(start, len(self.tokens)):
            token = self.tokens[index]
            if token.is_operator("(", "[", "{"):
                depth += 1
            elif token.is_operator(")", "]", "}"):
                depth -= 1
            if depth < 0 or (depth == 0 and token.is_operator(";")):
                return self.tokens[start:index]
        return self.tokens[start:]

    def _declares(self, run: list[Token]) -> bool:
        code = without_attributes(run)
        if len(code) < 2 or code[0].kind is not TokenKind.NAME:
            return False
        first = SPELLINGS.get(code[0].text, code[0].text)
        if first in C_KEYWORDS or first == "__extension__":
            return first not in _STATEMENTS
        if first in self.types:
            return code[1].kind is TokenKind.NAME or code[1].is_operator("*", "(")
        end = Token(TokenKind.OPERATOR, ";", code[-1].end, code[-1].end)
        return first in discover([*code, end])

    def _directive(self, token: Token) -> None:
        word = directive_name(token)
        if word in {"if", "ifdef", "ifndef"}:
            self.branches.append(_copied(self.frames))
        elif word in {"else", "elif"} and self.branches:
            before = self.branches[-1]
            self.branches[-1] = _copied(before)
            self.frames = _merged(before, self.frames)
        elif word == "endif" and self.branches:
            self.branches.pop()


def _copied(frames: list[_Frame]) -> list[_Frame]:
    return [replace(frame, declarations=list(frame.declarations)) for frame in frames]


def _merged(before: list[_Frame], after: list[_Frame]) -> list[_Frame]:
    """The blocks open before a branch, with the declarations that the branch added to them."""
    result: list[_Frame] = []
    for number, frame in enumerate(before):
        added = after[number].declarations if number < len(after) else frame.declarations
        result.append(replace(frame, declarations=list(added)))
    return result


def parse_declarations(pieces: Sequence[Sequence[Token]], types: frozenset[str]) -> tuple[Node, ...]:
    """The declarations that can be parsed among the pieces, each without its semicolon."""
    return parse_texts(tuple(text for text in map(declaration_text, pieces) if text), types)


@lru_cache(maxsize=_REMEMBERED)
def parse_texts(texts: tuple[str, ...], types: frozenset[str]) -> tuple[Node, ...]:
    """The declarations that can be parsed among the texts; regions of one file ask for the same ones."""
    whole = _parsed(" ".join(texts), types)
    if whole is not None:
        return tuple(whole)
    found: list[Node] = []
    known = types
    for text in texts:
        nodes = _parsed(text, known) or []
        found.extend(nodes)
        known |= {n.name for n in nodes if isinstance(n, c_ast.Typedef)}
    return tuple(found)


def declaration_text(piece: Sequence[Token]) -> str:
    """The tokens of a declaration as text, without attributes and with long initialisers cut."""
    tokens = [t for t in without_attributes(list(piece)) if t.kind is not TokenKind.DIRECTIVE]
    words: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        words.append(token.text)
        if token.is_operator("=") and index + 1 < len(tokens) and tokens[index + 1].is_operator("{"):
            end = closing(tokens, index + 1)
            if tokens[end].end - tokens[index + 1].start > _LONGEST_INITIALISER:
                words.append("{0}")
                index = end
        index += 1
    text = " ".join(words).removesuffix(";").strip()
    return text + ";" if text else ""


def _parsed(text: str, types: frozenset[str]) -> list[Node] | None:
    try:
        block = parse_statements(text, source=SourceFile("", text.encode("latin-1")), start=0, typedefs=types)
    except DiagnosticError:
        return None
    found: list[Node] = []
    for item in block.block_items or []:
        found.extend(item.decls if isinstance(item, c_ast.DeclList) else [item])
    return [item for item in found if isinstance(item, (c_ast.Decl, c_ast.Typedef))]
