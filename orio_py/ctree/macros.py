"""The macros of a translation unit, and their expansion where a parser could not read the code otherwise."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from pycparser.c_parser import CParser, ParseError

from orio_py.core.names import C_KEYWORDS
from orio_py.ctree.lexer import Token, TokenKind, blank, directive_body, directive_name, names_in, scan
from orio_py.ctree.nodes import c_ast
from orio_py.ctree.statement_expressions import as_expression, may_be_repeated
from orio_py.ctree.typenames import STANDARD_TYPES

_DEFINITION = re.compile(r"([A-Za-z_]\w*)(\(([^)]*)\))?(.*)", re.DOTALL)
_BEFORE_VALUES = ("return", "else", "do", "case")
_SIMPLE = re.compile(r"#\s*(define|undef)\s+(?=[A-Za-z_])((?:[^\\/\n]|/(?![/*]))*)")


@dataclass(frozen=True)
class Macro:
    """A macro: what stands for it, and the names of its arguments (None for one that takes none).

    `is_system` says that a header of the system defines it, `is_passing` that the code around its calls defines it or
    ends its definition, so that its name cannot stay.
    """

    name: str
    body: str
    arguments: str | None
    is_system: bool = False
    is_passing: bool = False

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that its text mentions."""
        return names_in(scan(self.body))

    @cached_property
    def joins(self) -> bool:
        """Whether its text joins a string literal with a name, as that of `PRIu64` does."""
        pairs = pairwise(token.kind for token in scan(self.body))
        return any({*pair} == {TokenKind.STRING, TokenKind.NAME} for pair in pairs)

    @cached_property
    def expression(self) -> Macro | None:
        """The macro with an expression in place of a statement expression; None if it is none."""
        body = as_expression(self.body) if "{" in self.body else None
        return None if body is None else replace(self, body=body)

    @property
    def definition(self) -> str:
        """The text behind `#define`."""
        arguments = "" if self.arguments is None else f"({self.arguments})"
        return f"{self.name}{arguments} {self.body}"


@dataclass(frozen=True, slots=True)
class MacroChange:
    """A `#define` at an offset, or the `#undef` of a name."""

    start: int
    name: str
    macro: Macro | None

    @property
    def text(self) -> str:
        """The preprocessor lines that make it, whatever the name meant before."""
        definition = "" if self.macro is None else f"#define {self.macro.definition}\n"
        return f"#undef {self.name}\n{definition}"

    @classmethod
    def of(cls, token: Token, *, is_system: bool = False) -> MacroChange | None:
        """The change that a preprocessor line makes, if it makes one."""
        simple = _SIMPLE.fullmatch(token.text)
        word, text = simple.groups() if simple is not None else (directive_name(token), directive_body(token))
        match = _DEFINITION.match(text) if word in {"define", "undef"} else None
        if match is None:
            return None
        name, _, arguments, rest = match.groups()
        return cls(
            token.start, name, Macro(name, rest.strip(), arguments, is_system) if word == "define" else None
        )


def mentioned_names(names: Iterable[str], macros: Mapping[str, Macro]) -> frozenset[str]:
    """The names, and those that the texts of macros among them mention; macros of the system mention nothing of a file."""
    found, waiting = set[str](), set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        macro = macros.get(name)
        if macro is not None and not macro.is_system:
            waiting |= macro.names - found
    return frozenset(found)


def changes_between(changes: Sequence[MacroChange], start: int, end: int) -> tuple[MacroChange, ...]:
    """The changes from one offset on and before another."""
    first, last = (bisect_left(changes, at, key=lambda change: change.start) for at in (start, end))
    return tuple(changes[first:last])


def macros_at(changes: Sequence[MacroChange], offset: int) -> dict[str, Macro]:
    """The macros that are defined at an offset, in the order of their definitions."""
    found: dict[str, Macro] = {}
    add_changes(found, changes[: bisect_left(changes, offset, key=lambda change: change.start)])
    return found


def add_changes(macros: dict[str, Macro], changes: Iterable[MacroChange]) -> None:
    """Make changes in a dictionary of macros."""
    for change in changes:
        macros.pop(change.name, None)
        if change.macro is not None:
            macros[change.name] = change.macro


def hidden_names(names: Iterable[str], macros: Mapping[str, Macro]) -> frozenset[str]:
    """The names in the macros that are among `names`, and in the macros that those mention; arguments are left out."""
    waiting = [macros[name] for name in names if name in macros]
    seen: set[str] = set()
    found: set[str] = set()
    while waiting:
        macro = waiting.pop()
        if macro.name not in seen:
            seen.add(macro.name)
            found |= macro.names - names_in(scan(macro.arguments or ""))
            waiting.extend(macros[name] for name in macro.names if name in macros)
    return frozenset(found - macros.keys())


def expanded(text: str, macros: Mapping[str, Macro]) -> str:
    """The text with macros expanded, but for constants and for what the system's headers define as expressions.

    In place of one that would be expanded again stands what no parser takes.
    """
    found = Expansion.of(text, macros)
    for place in reversed(found.again):
        start, end = found.pieces[place][0], found.pieces[place + 1][0]
        found = replace(found, text=f"{found.text[:start]}@{found.text[end:]}")
    return found.text


@dataclass(frozen=True, slots=True)
class Expansion:
    """A text with macros expanded; `pieces` are where each run of text begins in it, and where in the original."""

    text: str
    pieces: tuple[tuple[int, int], ...] = ((0, 0),)
    replaced: frozenset[int] = frozenset()
    """The places, among `pieces`, of what macros stand for: all of such a piece is where the macro is called."""
    again: tuple[int, ...] = ()
    """Those of them whose text names its own macro, which a compiler would expand once more."""

    @classmethod
    def of(cls, text: str, macros: Mapping[str, Macro]) -> Expansion:
        """The expansion of a text; its comments stay, and its preprocessor lines but those for macros, which count."""
        found = scan(text)
        changes, current = definitions_in(found), dict(macros)
        if changes:
            passing = _mentioning({change.name for change, _ in changes}, macros)
            current = {n: replace(m, is_passing=True) if n in passing else m for n, m in macros.items()}
            text = blank(text, [(line.start, line.end) for _, line in changes])
        return cls._of(text, found, current, changes)

    @classmethod
    def _of(
        cls,
        text: str,
        found: Sequence[Token],
        macros: dict[str, Macro],
        changes: Sequence[tuple[MacroChange, Token]],
    ) -> Expansion:
        tokens = [t for t in found if t.kind not in {TokenKind.COMMENT, TokenKind.DIRECTIVE}]
        waiting = [change for change, _ in reversed(changes)]
        parts: list[str] = []
        pieces: list[tuple[int, int]] = [(0, 0)]
        replaced: set[int] = set()
        again: list[int] = []
        index = position = length = 0
        while index < len(tokens):
            token, behind = tokens[index], index + 1
            while waiting and waiting[-1].start < token.start:
                add_changes(macros, [_passing(waiting.pop())])
            if token.kind is TokenKind.NAME and token.text in macros:
                behind, words = _call(tokens, index, macros, joined=_is_joined(tokens, index, macros))
                if words is not None:
                    before = text[position : token.start]
                    pieces.append((length + len(before), token.start))
                    replaced.add(len(pieces) - 1)
                    again += [len(pieces) - 1] if _is_expanded_again(words, macros) else []
                    parts += [before, words]
                    length += len(before) + len(words)
                    position = tokens[behind - 1].end
                    pieces.append((length, position))
            index = behind
        return (
            cls("".join([*parts, text[position:]]), tuple(pieces), frozenset(replaced), tuple(again))
            if replaced
            else cls(text)
        )

    def original(self, offset: int) -> int:
        """Where in the original text an offset of this one comes from."""
        place = bisect_right(self.pieces, offset, key=_first) - 1
        start, origin = self.pieces[place]
        return origin if place in self.replaced else origin + offset - start

    def offset_of(self, original: int) -> int:
        """Where an offset of the original text is in this one; of one in a macro's call, where that begins."""
        place = bisect_right(self.pieces, original, key=_second) - 1
        start, origin = self.pieces[place]
        if place in self.replaced or (place and original == origin and self.pieces[place - 1][1] == origin):
            return start
        return start + original - origin


def definitions_in(tokens: Iterable[Token]) -> list[tuple[MacroChange, Token]]:
    """The changes of macros that preprocessor lines make, with these."""
    lines = (token for token in tokens if token.kind is TokenKind.DIRECTIVE)
    return [(change, line) for line in lines if (change := MacroChange.of(line)) is not None]


def _mentioning(names: set[str], macros: Mapping[str, Macro]) -> set[str]:
    """The names, and the macros whose texts mention some of them, through others too."""
    while more := {m.name for m in macros.values() if m.name not in names and not m.names.isdisjoint(names)}:
        names = names | more
    return names


def _passing(change: MacroChange) -> MacroChange:
    return change if change.macro is None else replace(change, macro=replace(change.macro, is_passing=True))


def _first(piece: tuple[int, int]) -> int:
    return piece[0]


def _second(piece: tuple[int, int]) -> int:
    return piece[1]


def _is_joined(tokens: Sequence[Token], index: int, macros: Mapping[str, Macro]) -> bool:
    """Whether the macro at a place stands for a part of a string: beside a literal, or beside other such macros."""

    def beside(step: int) -> bool:
        place = index + step
        while 0 <= place < len(tokens) and _is_plain(tokens[place], macros):
            place += step
        return 0 <= place < len(tokens) and tokens[place].kind is TokenKind.STRING

    if not _is_plain(tokens[index], macros):
        return False
    return macros[tokens[index].text].joins or beside(-1) or beside(1)


def _is_plain(token: Token, macros: Mapping[str, Macro]) -> bool:
    return token.kind is TokenKind.NAME and token.text in macros and macros[token.text].arguments is None


def _call(
    tokens: Sequence[Token], index: int, macros: Mapping[str, Macro], *, joined: bool
) -> tuple[int, str | None]:
    """The place behind the macro at a place, with its arguments, and what it stands for; None where it stays.

    Of one that is `joined` to string literals nothing stays.
    """
    name = tokens[index].text
    behind = _behind_arguments(tokens, index + 1) if macros[name].arguments is not None else index + 1
    if behind is None or not (joined or _is_expanded(macros[name], macros)):
        return index + 1, None
    while True:
        text = " ".join(token.text for token in tokens[index:behind])
        names = [name, *(t.text for t in tokens[index:behind])]
        words = _expand(text, _definitions(names, macros, whole=joined)).strip()
        if "({" in "".join(words.split()):
            plain = _expand(text, _definitions(names, _without_statements(macros), whole=joined)).strip()
            words = plain if may_be_repeated(plain) else words
        last = scan(words)[-1:]
        inner = macros.get(last[0].text) if last and last[0].kind is TokenKind.NAME else None
        # A macro may stand for the name of one with arguments, which are behind it.
        more = (
            _behind_arguments(tokens, behind) if inner is not None and inner.arguments is not None else None
        )
        if more is None:
            return behind, words if _is_declared(tokens, index, behind) else _called_by_address(words, macros)
        behind = more


def _is_declared(tokens: Sequence[Token], index: int, behind: int) -> bool:
    """Whether a name with what is in parentheses behind it declares a function."""
    before = tokens[index - 1] if index else None
    is_typed = before is not None and before.kind is TokenKind.NAME and not before.is_name(*_BEFORE_VALUES)
    return is_typed or (behind < len(tokens) and tokens[behind].is_operator("{"))


def _is_expanded_again(words: str, macros: Mapping[str, Macro]) -> bool:
    """Whether what a macro stands for names one without arguments that is expanded wherever it stands."""
    names = (token.text for token in scan(words) if token.kind is TokenKind.NAME)
    return any(
        name in macros and macros[name].arguments is None and _is_expanded(macros[name], macros)
        for name in names
    )


def _called_by_address(words: str, macros: Mapping[str, Macro]) -> str:
    """The words with `(*f)(x)` for the call of a function that a macro `f(x)` is named like: no compiler expands it again."""
    tokens = scan(words)
    named = [
        token
        for token, following in pairwise(tokens)
        if token.kind is TokenKind.NAME
        and following.is_operator("(")
        and token.text in macros
        and macros[token.text].arguments is not None
        and _is_expanded(macros[token.text], macros)
    ]
    for token in reversed(named):
        words = f"{words[: token.start]}(*{token.text}){words[token.end :]}"
    return words


def _without_statements(macros: Mapping[str, Macro]) -> dict[str, Macro]:
    """The macros, with expressions in place of statement expressions."""
    return {name: macro.expression or macro for name, macro in macros.items()}


def _behind_arguments(tokens: Sequence[Token], index: int) -> int | None:
    """The place behind the arguments in parentheses that begin at a place."""
    if index >= len(tokens) or not tokens[index].is_operator("("):
        return None
    depth = 0
    for place in range(index, len(tokens)):
        depth += tokens[place].is_operator("(") - tokens[place].is_operator(")")
        if depth == 0:
            return place + 1
    return None


def _definitions(names: Iterable[str], macros: Mapping[str, Macro], *, whole: bool) -> tuple[str, ...]:
    """The definitions of the macros among names that are expanded (all of them if `whole`), and of those that they mention."""
    waiting, known = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in known and name in macros and (whole or _is_expanded(macros[name], macros)):
            known.add(name)
            waiting.extend(macros[name].names)
    return tuple(sorted(macros[name].definition for name in known))


def _is_expanded(macro: Macro, macros: Mapping[str, Macro]) -> bool:
    """Whether what a macro stands for is put in its place: no constants, and no words of the language's own headers."""
    if macro.is_passing:
        return True
    if macro.arguments is not None:
        return not macro.is_system
    if macro.is_system:
        return not _is_operand(macro.body) and macro.name not in STANDARD_TYPES
    return not _is_operand(macro.body) or bool(hidden_names([macro.name], macros) - C_KEYWORDS)


@lru_cache(maxsize=4096)
def _is_operand(body: str) -> bool:
    """Whether a text can stand wherever a name can: `4`, `-1`, `(a + b)`, `f(x)`, but not `a + b`."""
    if body in STANDARD_TYPES:
        return False
    try:
        declared = next(iter(CParser().parse(f"int x = y * {body} * z;")))
    except (ParseError, RecursionError):
        return False
    match declared:
        case c_ast.Decl(init=c_ast.BinaryOp(op="*", left=c_ast.BinaryOp(op="*", left=c_ast.ID(name="y")))):
            return True
        case _:
            return False


@lru_cache(maxsize=4096)
def _expand(text: str, definitions: tuple[str, ...]) -> str:
    # Few files need this, which takes time to load.
    from pcpp import Preprocessor

    preprocessor = Preprocessor()
    for definition in definitions:
        preprocessor.define(definition)
    return "".join(token.value for token in preprocessor.expand_macros(preprocessor.tokenize(text)))
