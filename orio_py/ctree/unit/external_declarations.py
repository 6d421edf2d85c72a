"""The external declarations of preprocessed text, each parsed by itself, so that one that no parser reads costs no other."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from orio_py.core.names import C_KEYWORDS
from orio_py.ctree.file_structure import Item, closing, function_name, macro_name, outline, parameter_list
from orio_py.ctree.lexer import Token, TokenKind, blank, code_tokens, directive_name, names_in, scan
from orio_py.ctree.macros import Macro, MacroChange, add_changes, changes_between, expanded, macros_at
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.parse import UnparsedError, parse_external
from orio_py.ctree.typenames import SPELLINGS, STANDARD_TYPES, discover
from orio_py.ctree.unit.named_types import has_other_types, with_unknown_types
from orio_py.ctree.unit.segments import MASK, LineMarker

OPAQUE = "orio_opaque"
"""Called where a statement stood that no parser reads, with the names in it."""

_UNKNOWN_TYPE = "orio_unknown_type"
_GNU_TYPES = (
    "__builtin_va_list __int128 _Float16 _Float32 _Float64 _Float128 _Float32x _Float64x __fp16 __bf16"
)
ASM = frozenset({"__asm__", "__asm", "asm"})
_EXTENSIONS = ASM | {"__attribute__", "__attribute", "__declspec", "__extension__"}
_TYPEOF = frozenset({"__typeof__", "__typeof", "typeof"})
_MOST_OPAQUE = 20
_LONGEST_INITIALISER = 2000
_THREAD_PRIVATE = re.compile(r"#\s*pragma\s+omp\s+threadprivate\s*\(([^)]*)\)")


@dataclass(frozen=True, slots=True)
class Declared:
    """One external declaration: its nodes, the place of the text it comes from, and its lines by segment.

    `name` is that of a function.  `lines` are the first lines of the parts that were parsed, each with the segment that it belongs to.
    """

    nodes: tuple[Node, ...]
    name: str
    start: int
    end: int
    lines: tuple[tuple[int, int | None], ...] = ()
    is_system: bool = False
    """Whether a header of the system declares it."""

    def segment_of(self, node: Node) -> int | None:
        """The segment of the file that a node begins in; None if nobody knows."""
        line = getattr(node.coord, "line", None)
        if line is None or not self.lines:
            return None
        place = bisect_right(self.lines, line, key=lambda part: part[0]) - 1
        return self.lines[place][1] if place >= 0 else None


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """Preprocessed text, its pieces, what its line markers say, and where its macros change."""

    text: str
    items: tuple[Item, ...]
    markers: tuple[tuple[int, LineMarker], ...]
    directives: tuple[Token, ...]
    changes: tuple[MacroChange, ...]

    @classmethod
    def of(cls, text: str) -> Preprocessed:
        """Take apart what a preprocessor wrote."""
        text = text.replace(MASK, "")
        tokens = scan(text)
        directives = tuple(t for t in tokens if t.kind is TokenKind.DIRECTIVE)
        markers: list[tuple[int, LineMarker]] = [(0, LineMarker(None, False))]
        changes: list[MacroChange] = []
        project: set[str] = set()
        for token in directives:
            if (marker := LineMarker.of(token.text, project)) is not None:
                markers.append((token.start, marker))
            elif (change := MacroChange.of(token, is_system=markers[-1][1].is_system)) is not None:
                changes.append(change)
        found = outline([t for t in tokens if t.kind is not TokenKind.DIRECTIVE], len(text))
        return cls(text, found.items, tuple(markers), directives, tuple(changes))

    def changes_between(self, start: int, end: int) -> tuple[MacroChange, ...]:
        """The changes of macros from one offset on and before another."""
        return changes_between(self.changes, start, end)

    def marker_at(self, offset: int) -> LineMarker:
        """What the last line marker before an offset says."""
        return self.markers[bisect_right(self.markers, offset, key=_offset) - 1][1]

    def is_annotated(self, item: Item) -> bool:
        """Whether segments of the file begin inside an item."""
        first, last = (bisect_right(self.markers, at, key=_offset) for at in (item.start, item.end))
        around = self.markers[first - 1][1].segment
        return any(m.segment is not None and m.segment != around for _, m in self.markers[first:last])

    @property
    def thread_private(self) -> frozenset[str]:
        """The variables of which OpenMP gives each thread its own, by `#pragma omp threadprivate`."""
        texts = (_THREAD_PRIVATE.match(token.text) for token in self.directives)
        return frozenset(name.strip() for match in texts if match for name in match[1].split(","))

    @property
    def lines(self) -> frozenset[int]:
        """The lines of the file that line markers name."""
        return frozenset(marker.line for _, marker in self.markers if marker.segment is not None)

    @property
    def places(self) -> Mapping[int, int]:
        """Where each segment of the file begins."""
        markers = reversed(self.markers)
        return {marker.segment: offset for offset, marker in markers if marker.segment is not None}


def _start(piece: Token | MacroChange) -> int:
    return piece.start


def _offset(marker: tuple[int, LineMarker]) -> int:
    return marker[0]


def needed_items(unit: Preprocessed) -> Iterable[Item]:
    """The items of the file itself, and those of headers whose names they mention, in their order."""
    own = [item for item in unit.items if unit.marker_at(item.start).segment is not None]
    others = [item for item in unit.items if unit.marker_at(item.start).segment is None]
    declaring: dict[str, list[Item]] = {}
    for item in others:
        for name in declared_names(item):
            declaring.setdefault(name, []).append(item)
    macros = macros_at(unit.changes, len(unit.text) + 1)
    kept: set[int] = {item.start for item in own}
    waiting = [names_in(item.tokens) for item in own]
    seen: set[str] = set()
    while waiting:
        for name in waiting.pop() - seen:
            seen.add(name)
            if name in macros:
                waiting.append(macros[name].names)
            for item in declaring.get(name, ()):
                if item.start not in kept:
                    kept.add(item.start)
                    waiting.append(names_in(item.tokens))
    return [item for item in unit.items if item.start in kept and item.kind in {"declaration", "function"}]


def declared_names(item: Item) -> frozenset[str]:
    """The names that an item may declare: of variables, functions, types, tags and enumerators."""
    if item.kind == "function":
        return frozenset({item.name})
    found: set[str] = set()
    tokens, depth = item.tokens, 0
    for index, token in enumerate(tokens):
        if token.is_operator("(", "["):
            depth += 1
        elif token.is_operator(")", "]"):
            depth -= 1
        elif token.kind is TokenKind.NAME and token.text not in C_KEYWORDS:
            after = tokens[index + 1] if index + 1 < len(tokens) else None
            before = tokens[index - 1] if index else None
            behind_star = before is not None and before.is_operator("*") and depth == 1
            if after is not None and (depth == 0 or behind_star) and after.is_operator(*";,=[(){}:"):
                found.add(token.text)
    return frozenset(found)


def parse_items(unit: Preprocessed, has_body: Callable[[Item], bool]) -> Iterable[Declared]:
    """The needed items, parsed; functions keep their bodies where `has_body` says so."""
    types = {*STANDARD_TYPES, *_GNU_TYPES.split(), _UNKNOWN_TYPE}
    macros: dict[str, Macro] = {}
    place = 0
    for item in needed_items(unit):
        add_changes(
            macros, unit.changes[place : (place := bisect_left(unit.changes, item.start, place, key=_start))]
        )
        declared = _Item(unit, item, frozenset(types), macros, has_body(item)).parse()
        types.update(node.name for node in declared.nodes if isinstance(node, c_ast.Typedef))
        yield declared


@dataclass(slots=True)
class _Item:
    unit: Preprocessed
    item: Item
    types: frozenset[str]
    macros: Mapping[str, Macro]
    has_body: bool
    lines: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, int | None]])

    def parse(self) -> Declared:
        item = self.item
        own = self.unit.marker_at(item.start).segment is not None
        end = item.end if self.has_body or item.kind != "function" else item.body
        text = self._with_lines(item.start, end, self.macros if own else {})
        is_other = has_other_types(text)
        text = _plain(text, keeps_pragmas=item.kind == "function")
        if item.kind == "function":
            header = code_tokens(scan(text.partition("{")[0]))
            text = blank(text, macro_name(header, self.types))
        if item.kind == "function" and item.tokens[0].is_name(item.name):
            # The parser adds it by itself for functions without K&R declarations alone.
            text = f"int {text}"
        if end == item.body:
            text = _prototype(text)
        nodes = self._nodes(text)
        nodes = with_unknown_types(nodes, _UNKNOWN_TYPE) if is_other else nodes
        is_system = self.unit.marker_at(item.start).is_system
        return Declared(tuple(nodes), item.name, item.start, item.end, tuple(self.lines), is_system)

    def _with_lines(self, start: int, end: int, macros: Mapping[str, Macro]) -> str:
        """The text without line markers and definitions, macros expanded; notes the lines of its segments.

        Macros that are defined inside the item count from there on.
        """
        unit = self.unit
        first, last = (bisect_left(unit.directives, at, key=_start) for at in (start, end))
        inner = [t for t in unit.directives[first:last] if directive_name(t) != "pragma"]
        edges = [start, *(edge for t in inner for edge in (t.start, t.end)), end]
        pieces: list[str] = []
        line = 2  # type names stand on the first one
        is_own, current, place = unit.marker_at(start).segment is not None, dict(macros), start
        for left, right in zip(edges[::2], edges[1::2], strict=True):
            piece = unit.text[left:right]
            add_changes(current, unit.changes_between(place, left) if is_own else ())
            place = left
            piece = expanded(piece, current) if current else piece
            segment = unit.marker_at(left).segment
            self.lines.append((line, segment))
            pieces.append(piece + "\n")
            line += piece.count("\n") + 1
        return "".join(pieces)

    def _nodes(self, text: str) -> list[Node]:
        tokens = code_tokens(scan(text))
        known = self.types & names_in(tokens)
        found = discover(tokens) | _parameter_types(tokens)
        guessed = found - self._typedef_names(tokens) - known
        types = [known | guessed, known] if guessed else [known]
        attempts = [(text, names) for names in types]
        attempts += [(header, known) for header in _plain_header(self.item, tokens)]
        for number, (attempt, names) in enumerate(attempts, 1):
            nodes = self._parsed(attempt, names, mends=self.has_body and number == len(types))
            if nodes is not None:
                return nodes
        return []

    def _parsed(self, text: str, types: frozenset[str], *, mends: bool) -> list[Node] | None:
        """The nodes of a text; statements that cannot be parsed are taken out where it `mends` them."""
        prefix = " ".join(f"typedef int {name};" for name in sorted(types)) + "\n"
        for _ in range(_MOST_OPAQUE):
            try:
                return parse_external(prefix + text)[len(types) :]
            except UnparsedError as error:
                shorter = _without_statement(text, error.line - 1, error.column) if mends else None
            if shorter is None:
                return None
            text = shorter
        return None

    @staticmethod
    def _typedef_names(tokens: Sequence[Token]) -> frozenset[str]:
        is_typedef = bool(tokens) and tokens[0].is_name("typedef")
        last = tokens[-3:] if is_typedef else ()
        return frozenset(token.text for token in last if token.kind is TokenKind.NAME)


def _parameter_types(tokens: Sequence[Token]) -> frozenset[str]:
    """The names at the beginning of parameters, which can only be types: `(foo *x, foo y)`."""
    header = list(takewhile(lambda token: not token.is_operator("{"), tokens))
    found = parameter_list(header)
    inner = header[found[0] : found[1] + 1] if found is not None else []
    return frozenset(
        token.text
        for before, token, after in zip(inner, inner[1:], inner[2:], strict=False)
        if before.is_operator("(", ",") and token.kind is TokenKind.NAME and token.text not in C_KEYWORDS
        if after.is_operator("*") or after.kind is TokenKind.NAME
    )


def _plain(text: str, *, keeps_pragmas: bool) -> str:
    """The text without extensions that the parser does not know, and with long initialisers cut."""
    tokens = scan(text)
    spans: list[tuple[int, int]] = []
    words: list[tuple[int, str]] = []
    index = 0
    while index < len(tokens):
        token, after = tokens[index], tokens[index + 1 : index + 2]
        is_called = bool(after) and after[0].is_operator("(", "{")
        if token.is_name(*_EXTENSIONS, *_TYPEOF):
            end = closing(tokens, index + 1) if is_called else index
            spans.append((token.start, tokens[end].end))
            if token.text in _TYPEOF:
                words.append((token.start, _UNKNOWN_TYPE))
            index = end
        elif token.kind is TokenKind.DIRECTIVE and not keeps_pragmas:
            spans.append((token.start, token.end))
        elif token.is_operator("=") and bool(after) and after[0].is_operator("{"):
            end = closing(tokens, index + 1)
            if tokens[end].end - after[0].end > _LONGEST_INITIALISER:
                spans.append((after[0].end, tokens[end].start))
                words.append((after[0].end, "0"))
                index = end
        index += 1
    text = blank(text, spans)
    for start, word in reversed(words):
        # What stands there is white space and at least as long, or a line end that must stay.
        room = len(word) if "\n" not in text[start : start + len(word)] else 0
        text = text[:start] + word + text[start + room :]
    return text


def _prototype(header: str) -> str:
    """The declaration of a function by the text before its body."""
    tokens = code_tokens(scan(header))
    found = parameter_list(tokens)
    if found is not None and found[1] + 1 < len(tokens):  # K&R: declarations follow the names
        return header[: tokens[found[0]].end] + ");"
    return header + ";"


def _plain_header(item: Item, tokens: Sequence[Token]) -> tuple[str, ...]:
    """A function with `int` for what stands before its name, and without its body."""
    body = next((i for i, t in enumerate(tokens) if t.is_operator("{")), len(tokens))
    header = list(tokens[:body])
    found, name = parameter_list(header), function_name(header)
    if item.kind != "function" or found is None or not name:
        return ()
    parameters = " ".join(t.text for t in header[found[0] : found[1] + 1])
    return (f"int {name} {parameters} {{ }}",)


def _without_statement(text: str, line: int, column: int) -> str | None:
    """The text with a call in place of the statement where parsing failed; None if there is none."""
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return None
    offset = sum(len(part) + 1 for part in lines[: line - 1]) + column - 1
    tokens = code_tokens(scan(text))
    body = next((i for i, t in enumerate(tokens) if t.is_operator("{")), len(tokens))
    place = next((i for i, t in enumerate(tokens) if t.end > offset), len(tokens) - 1)
    start = _statement_start(tokens, body, place)
    if not body < start < len(tokens) or tokens[start].is_name(OPAQUE) or tokens[start].is_operator("}"):
        return None
    end = min(max(_statement_end(tokens, start), place), len(tokens) - 2)
    names = sorted(names_in(tokens[start : end + 1]) - C_KEYWORDS - SPELLINGS.keys())
    first, last = tokens[start].start, tokens[end].end
    call = f"{OPAQUE}({', '.join(names)});"
    return text[:first] + call + re.sub(r"[^\n]", "", text[first:last]) + text[last:]


def _statement_start(tokens: Sequence[Token], body: int, place: int) -> int:
    """The index behind the last `;`, `{` or `}` before a place in a body that stands in no parentheses."""
    start, depth = body + 1, 0
    for index in range(body, place):
        depth += tokens[index].is_operator("(") - tokens[index].is_operator(")")
        if depth == 0 and tokens[index].is_operator(";", "{", "}"):
            start = index + 1
    return start


def _statement_end(tokens: Sequence[Token], start: int) -> int:
    """The index of the `;` or `}` that ends what begins at `start`, whatever it is."""
    at = start
    while at < len(tokens) and not tokens[at].is_operator(";"):
        if tokens[at].is_operator("(", "[", "{"):
            end = closing(tokens, at)
            follows = tokens[end + 1].is_operator(";", ",", ")") if end + 1 < len(tokens) else False
            if tokens[at].is_operator("{") and not follows:
                return end
            at = end
        at += 1
    return at


def constant(node: Any, known: Mapping[str, int]) -> int | None:
    """The value of a constant expression of integers, such as an enumerator has; None if it is not evident."""
    match node:
        case c_ast.Constant(type=kind, value=value) if "int" in kind:
            is_octal = value.startswith("0") and value[1:2] not in "xX"
            return int(value.rstrip("uUlL"), 8 if is_octal else 0)
        case c_ast.ID(name=name):
            return known.get(name)
        case c_ast.UnaryOp(op="-", expr=operand):
            inner = constant(operand, known)
            return None if inner is None else -inner
        case c_ast.BinaryOp(op="+" | "-" | "*" | "<<" as op, left=left, right=right):
            first, second = constant(left, known), constant(right, known)
            if first is None or second is None:
                return None
            return {"+": first + second, "-": first - second, "*": first * second}.get(
                op, first << max(second, 0)
            )
        case _:
            return None
