"""C statements → tree, with the user's places on every node.

pycparser reads whole files without comments.  The statements are therefore wrapped in a function;
comments and transform marks join the text as `#pragma` lines between the statements, and a table leads
from each line of the wrapped text back to the offset in the user's file.

Whole external declarations are parsed as they are, with compilers' spellings of keywords.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from pycparser.c_lexer import CLexer
from pycparser.c_lexer import Token as CToken
from pycparser.c_parser import CParser, ParseError

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.source import Position, SourceFile
from orio_py.ctree.comments import Placement, place_comments, unbalanced
from orio_py.ctree.lexer import (
    Token,
    TokenKind,
    blank,
    code_tokens,
    directive_body,
    directive_name,
    scan,
)
from orio_py.ctree.macros import Expansion, Macro
from orio_py.ctree.nodes import Comment, Compound, Node, c_ast
from orio_py.ctree.normalise import MAX_DEPTH, Inserted, finish
from orio_py.ctree.rewrite import walk
from orio_py.ctree.typenames import SPELLINGS, STANDARD_TYPES, discover

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_EXTENSION_WORDS = """__attribute__ __attribute asm __asm __asm__ __declspec __typeof__ __typeof typeof __auto_type
    __label__"""
_EXTENSIONS = frozenset(_EXTENSION_WORDS.split())
_MARK = re.compile(r"orio_transform\s+(\d+)")
_PLACE = re.compile(r"^[^:]*:(\d+):(\d+): ?(.*)$", re.DOTALL)


def parse_statements(
    text: str,
    *,
    source: SourceFile,
    start: int,
    typedefs: frozenset[str] = frozenset(),
    marks: Mapping[int, int] | None = None,
    macros: Mapping[str, Macro] | None = None,
) -> Compound:
    """The statements in `text`, which stand at offset `start` of `source`, as one block.

    `typedefs` are type names known from the surroundings, `macros` are expanded unless they are constants.
    `marks` maps offsets in the file to recipe step indices: the statement that follows such a place is
    wrapped in a `Transform`.

    Raises DiagnosticError: ORIO-C001 to ORIO-C008.
    """
    return _Fragment.read(text, source, start, dict(marks or {}), macros or {}).parse(typedefs)


def parse_statement(text: str, name: str) -> Node | None:
    """The statement that an argument `name` holds, without its semicolon; None where it is not one statement."""
    source = SourceFile(name, f"{text};".encode("latin-1", "replace"))
    try:
        items = parse_statements(source.text, source=source, start=0).block_items or []
    except DiagnosticError:
        return None
    return items[0] if len(items) == 1 else None


def position(node: Node) -> Position | None:
    """The place of the node, or of the first thing below it that has one."""
    for item in walk(node):
        if isinstance(item.coord, Position):
            return item.coord
    return None


_OWN_COMPLEX = re.compile(r"(?:\}|\btypedef\b[^;(){}]*\s)\s*complex\s*[;,]")


class KeywordLexer(CLexer):
    """pycparser's lexer, with compiler spellings of keywords, that remembers what it read last."""

    last: CToken | None = None
    own: frozenset[str] = frozenset()
    """Spellings that the text declares as types of its own: `typedef struct { float re, im; } complex;`."""

    def input(self, text: str, filename: str = "") -> None:
        """Begin with a text."""
        super().input(text, filename)
        self.own = frozenset({"complex"}) if _OWN_COMPLEX.search(text) else frozenset()

    def token(self) -> CToken | None:
        """The next token; None behind the last one."""
        found = super().token()
        while found is not None and found.value == "__extension__":
            found = super().token()
        if (
            found is not None
            and found.type == "ID"
            and found.value in SPELLINGS
            and found.value not in self.own
        ):
            found.type = SPELLINGS[found.value].upper()
        if found is not None:
            self.last = found
        return found


class ImplicitIntParser(CParser):
    """pycparser's parser; a declaration without a type declares an `int`, as in C before 1999 (C89 6.5.2)."""

    def _fix_decl_name_type(self, decl: Node, typename: list[Node]) -> Node:
        is_implicit = not typename and isinstance(decl, c_ast.Decl)
        return super()._fix_decl_name_type(
            decl, [c_ast.IdentifierType(["int"], decl.coord)] if is_implicit else typename
        )


@dataclass(frozen=True, slots=True)
class _Fragment:
    """The text to parse, its tokens, and the transform marks by their offset in the text."""

    expansion: Expansion
    source: SourceFile
    start: int
    tokens: list[Token]
    marks: dict[int, int]

    @classmethod
    def read(
        cls, text: str, source: SourceFile, start: int, marks: dict[int, int], macros: Mapping[str, Macro]
    ) -> _Fragment:
        """Scan the text and report what no C parser needs to see."""
        if (bad := _CONTROL.search(text)) is not None:
            message = f"found the control character \\x{ord(bad.group()):02x}; C code is plain text"
            fail("ORIO-C005", message, source.position(start + bad.start()))
        expansion = Expansion.of(text, macros) if macros or "#" in text else Expansion(text)
        local = {expansion.offset_of(offset - start): step for offset, step in marks.items()}
        fragment = cls(expansion, source, start, scan(expansion.text), local)
        problems = [*fragment._lexical_problems(), *fragment._directive_problems()]
        problems = problems or fragment._bracket_problems()
        if problems:
            raise DiagnosticError(*problems)
        for token in fragment.tokens:
            match = _MARK.fullmatch(directive_body(token)) if _is_pragma(token) else None
            if match is not None:
                local[token.start] = int(match.group(1))
        return fragment

    @property
    def text(self) -> str:
        return self.expansion.text

    def place(self, offset: int) -> Position:
        return self.source.position(self.start + self.expansion.original(offset))

    def _lexical_problems(self) -> list[Diagnostic]:
        problems: list[Diagnostic] = []
        for token in self.tokens:
            if token.kind is TokenKind.BAD:
                code, message = _bad_token(token)
            elif token.is_name(*_EXTENSIONS):
                code = "ORIO-C007"
                message = f"found `{token.text}`; a region takes C99 without this compiler extension"
            elif token.is_operator("#", "##"):
                code, message = "ORIO-C001", f"found a stray `{token.text}` inside a line of code"
            else:
                continue
            problems.append(Diagnostic(code, message, self.place(token.start)))
        for piece in self.expansion.again:
            place = self.source.position(self.start + self.expansion.pieces[piece][1])
            message = "found a macro whose text names it again, which has no other spelling"
            problems.append(Diagnostic("ORIO-C007", message, place))
        return problems

    def _directive_problems(self) -> list[Diagnostic]:
        return [
            Diagnostic(
                "ORIO-C002",
                f"found the preprocessor line `{_first_line(token.text)}`; only `#pragma`, conditions and definitions of macros can stand here",
                self.place(token.start),
                help="move the line out of the annotated code",
            )
            for token in self.tokens
            if token.kind is TokenKind.DIRECTIVE and not _is_pragma(token)
        ]

    def _bracket_problems(self) -> list[Diagnostic]:
        found = unbalanced(self.tokens)
        if found is None:
            return []
        token, opener = found
        if token.text in "([{":
            message = f"this `{token.text}` is never closed"
        elif opener is None:
            message = f"found `{token.text}` without an opening bracket before it in the annotated code"
        else:
            where = self.place(opener.start)
            message = f"found `{token.text}` where `{opener.text}` of line {where.line} is still open"
        return [Diagnostic("ORIO-C003", message, self.place(token.start))]

    def parse(self, typedefs: frozenset[str]) -> Compound:
        code = code_tokens(self.tokens)
        wrapped = _wrap(self, self._insertions(), self._type_names(code, typedefs))
        parser = ImplicitIntParser(lexer=KeywordLexer)
        try:
            tree = parser.parse(wrapped.text, "")
        except RecursionError:
            self._too_deep()
        except ParseError as error:
            self._syntax_error(code, wrapped, str(error), parser.clex)
        function: Any = list(tree)[-1]
        if len(wrapped.definitions) + 1 != len(list(tree)):
            raise AssertionError("the brackets were checked, so the wrapper cannot be left")
        body: Compound = function.body
        body.coord = None
        tree = finish(body, wrapped.inserted, wrapped.position, self.place(len(self.text)))
        tree.coord = self.place(0)
        return tree

    def _too_deep(self) -> NoReturn:
        fail("ORIO-C006", f"the code is nested more than {MAX_DEPTH} levels deep", self.place(0))

    def _type_names(self, code: list[Token], typedefs: frozenset[str]) -> list[str]:
        # The names in use only: a short prefix, and no clash with the region's own variables.
        used = {t.text for t in code if t.kind is TokenKind.NAME}
        return sorted((used & (STANDARD_TYPES | typedefs)) | discover(code))

    def _insertions(self) -> list[tuple[int, Inserted]]:
        """Comments, pragmas and marks with their offsets in the text, in order."""
        comments = place_comments(self.text, self.tokens, list(self.marks))
        found = [(p.offset, 1, _comment(p, self.place(p.offset))) for p in comments]
        for token in self.tokens:
            if _is_pragma(token) and token.start not in self.marks:
                pragma = c_ast.Pragma(directive_body(token), self.place(token.start))
                found.append((token.start, 2, Inserted(pragma)))
        for offset, step in self.marks.items():
            found.append((offset, 2, Inserted(step, self.place(offset))))
        found.sort(key=lambda item: item[:2])
        return [(offset, inserted) for offset, _, inserted in found]

    def _syntax_error(self, code: list[Token], wrapped: _Wrapped, message: str, lexer: Any) -> NoReturn:
        match = _PLACE.match(message)
        if match is not None:
            offset, inserted = wrapped.locate(int(match.group(1)), int(match.group(2)))
            reason = match.group(3)
        else:
            last: CToken | None = lexer.last
            offset, inserted = wrapped.locate(last.lineno, last.column) if last else (0, None)
            reason = message.removeprefix(": ")
        if inserted is not None and isinstance(inserted.content, int):
            message = "a transform can only stand before a statement"
            fail("ORIO-C008", message, self.place(offset))
        if inserted is not None and isinstance(inserted.content, c_ast.Pragma):
            fail("ORIO-C001", "a `#pragma` line can only stand before a statement", self.place(offset))
        index = next((i for i, t in enumerate(code) if t.end > offset), len(code))
        found = code[index] if index < len(code) else None
        before = code[index - 1] if index else None
        offset = (before.end if before else 0) if found is None else found.start
        fail("ORIO-C001", _explain(found, before, reason), self.place(offset))


@dataclass(frozen=True, slots=True)
class _Wrapped:
    """The text for pycparser; `bases` holds for each of its lines the offset that column 1 stands for."""

    text: str
    bases: list[int]
    inserted: dict[int, Inserted]
    definitions: list[str]
    fragment: _Fragment

    def locate(self, line: int, column: int) -> tuple[int, Inserted | None]:
        """The offset in the fragment of a place in the wrapped text, and what was inserted there."""
        base = self.bases[min(line, len(self.bases)) - 1]
        inserted = self.inserted.get(line)
        return (base, inserted) if inserted is not None else (base + column - 1, None)

    def position(self, line: int, column: int) -> Position:
        """The place in the user's file of a place in the wrapped text."""
        return self.fragment.place(self.locate(line, column)[0])


def _wrap(fragment: _Fragment, insertions: list[tuple[int, Inserted]], types: list[str]) -> _Wrapped:
    skipped = (TokenKind.COMMENT, TokenKind.DIRECTIVE)
    text = blank(fragment.text, [(t.start, t.end) for t in fragment.tokens if t.kind in skipped])
    text = re.sub(r"\\(?=\r?\n)|\r", " ", text)
    lines: list[str] = [f"typedef int {name};" for name in types]
    lines.append("void orio_region(void) {")
    bases = [0] * len(lines)
    inserted: dict[int, Inserted] = {}
    done = 0
    for offset, item in [*insertions, (len(text), None)]:
        position = done
        for line in text[done:offset].split("\n"):
            lines.append(line)
            bases.append(position)
            position += len(line) + 1
        done = offset
        if item is not None:
            lines.append("#pragma inserted")
            bases.append(offset)
            inserted[len(lines)] = item
    lines.append("}")
    bases.append(len(text))
    return _Wrapped("\n".join(lines), bases, inserted, types, fragment)


def _comment(placement: Placement, place: Position) -> Inserted:
    return Inserted(Comment(placement.text, placement.trailing, place))


def _is_pragma(token: Token) -> bool:
    return token.kind is TokenKind.DIRECTIVE and directive_name(token) == "pragma"


def _first_line(text: str) -> str:
    line = text.split("\n")[0].strip()
    return line if len(line) <= 60 else line[:57] + "..."


def _bad_token(token: Token) -> tuple[str, str]:
    if token.text.startswith("/*"):
        return "ORIO-C004", "this comment is never closed"
    if token.text[0] in "\"'":
        return (
            "ORIO-C004",
            f"this {'string' if token.text[0] == chr(34) else 'character'} is not closed on its line",
        )
    return "ORIO-C001", f"found `{token.text}`, which is no C token"


def _explain(found: Token | None, before: Token | None, reason: str) -> str:
    """What was found and what is needed, from the tokens on both sides of the place."""
    what = f"`{_first_line(found.text)}`" if found else "the end of the code"
    behind = f" behind `{_first_line(before.text)}`" if before else ""
    if found is not None and found.is_name("else"):
        return "found `else` without an `if` statement before it"
    if found is not None and found.is_operator("{") and before is not None and before.is_operator(")"):
        return "found the body of a function; a region can hold statements only"
    if reason and not reason.startswith(("before:", "Invalid expression", "At end of input")):
        return f"found {what}{behind}: {reason[0].lower()}{reason[1:]}"
    if before is None or (
        before.kind is TokenKind.OPERATOR and not before.is_operator(")", "]", "}", ";", "{")
    ):
        return f"found {what}{behind}; an expression is needed there"
    if before.is_operator(";", "{", "}"):
        return f"found {what}{behind}; a statement is needed there"
    if found is None or found.is_operator("}") or found.kind is not TokenKind.OPERATOR:
        return f"found {what}{behind}; an operator or `;` is needed there"
    return f"found {what}{behind}, which does not fit there"


_NOTICED = re.compile(r"[^:]*:(\d+):(\d+): ")


class UnparsedError(Exception):
    """A text cannot be parsed; `line` and `column` are where that was noticed, counted from 1."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(line, column)
        self.line = line
        self.column = column


def parse_external(text: str) -> list[Node]:
    """The external declarations in a text.  Raises UnparsedError."""
    parser = ImplicitIntParser(lexer=KeywordLexer)
    try:
        return list(parser.parse(text, "").ext)
    except ParseError as error:
        match = _NOTICED.match(str(error))
        last = getattr(parser.clex, "last", None)
        if match is not None:
            raise UnparsedError(int(match[1]), int(match[2])) from None
        raise UnparsedError(getattr(last, "lineno", 1), getattr(last, "column", 1)) from None
    except RecursionError:
        raise UnparsedError(1, 1) from None
