"""What a region can see of its file, found without parsing the file.

A lexical scan, aware of comments, strings and preprocessor branches, finds the enclosing function and
the declarations before the region; only single declarations are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.declarations_in_scope import Visible, parse_declarations, parse_texts, visible
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.file_scan import FileScan, MacroChange, names_in, scan_file
from orio_py.ctree.file_structure import Item, closing, parameter_list
from orio_py.ctree.lexer import Token, TokenKind, blank, code_tokens, scan
from orio_py.ctree.liveness import address_taken, may_be_read, occurs
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.symbols import CDeclaration, Scope, declaration_of
from orio_py.ctree.typenames import STANDARD_TYPES

__all__ = ["FileScope", "FunctionHeader", "live_after", "surroundings"]


@dataclass(frozen=True, slots=True)
class FunctionHeader:
    """The function around a region; `text` ends before its `{`, `span` reaches to its closing brace."""

    name: str
    parameters: tuple[CDeclaration, ...]
    return_type: str
    text: str
    span: Span
    static: bool


@dataclass(frozen=True, slots=True)
class FileScope:
    """The part of a file around a region.

    `before` and `after` are the text outside the enclosing function (outside the region, if there is no
    function) without the functions that the region does not need; all of it where the scan is `unsure`.
    `loop_texts` are, for a region in a loop, the text from the outermost loop to the body of the
    innermost one, and from there to the region.
    """

    function: FunctionHeader | None
    locals: tuple[CDeclaration, ...]
    globals: tuple[CDeclaration, ...]
    macros: Mapping[str, str]
    function_macros: frozenset[str]
    typedefs: frozenset[str]
    before: str
    after: str
    text_before_in_function: str
    text_after_in_function: str
    in_loop: bool
    extent_text: str = ""
    loop_texts: tuple[str, str] = ("", "")
    unsure: bool = False


def surroundings(source: SourceFile, extent: Span, *, ignore: Sequence[Span] = ()) -> FileScope:
    """The surroundings of the text `extent`; the text of the spans in `ignore` is left out of account."""
    text = blank(source.text, [(span.start, span.end) for span in ignore])
    return _Finder(scan_file(text), extent).find()


def live_after(surroundings: FileScope, names: Iterable[str]) -> frozenset[str]:
    """The names whose value after the region may be read before it is assigned again.

    Globals, statics, pointer and array parameters and variables whose address is taken always count.
    Without an enclosing function, names that are not declared do not.
    """
    scanned = _Scanned.of(surroundings)
    return frozenset(name for name in names if scanned.is_live(name))


@dataclass(frozen=True, slots=True)
class _Scanned:
    """The tokens around a region, scanned once for all names."""

    near: FileScope
    before: list[Token]
    extent: list[Token]
    after: list[Token]
    outer: list[Token]
    inner: list[Token]

    @classmethod
    def of(cls, near: FileScope) -> _Scanned:
        texts = (
            near.text_before_in_function,
            near.extent_text,
            near.text_after_in_function,
            *near.loop_texts,
        )
        return cls(near, *(scan(text) for text in texts))

    def is_live(self, name: str) -> bool:
        near = self.near
        parameters = near.function.parameters if near.function else ()
        declared = next((d for d in (*near.locals, *parameters, *near.globals) if d.name == name), None)
        if declared is None:
            return near.function is not None and name not in near.macros
        if declared.scope == "global" or declared.storage & {"static", "extern"}:
            return True
        if declared.scope == "parameter" and declared.is_array_like:
            return True
        if any(address_taken(name, part) for part in (self.before, self.extent, self.after)):
            return True
        return may_be_read(name, self.after) is True or (near.in_loop and self.comes_back(name))

    def comes_back(self, name: str) -> bool:
        """Whether a further iteration of a loop around the region may read the value."""
        if may_be_read(name, self.outer) is True:
            return True
        verdict = may_be_read(name, self.inner)
        if verdict is None:
            verdict = may_be_read(name, self.extent)
        if verdict is not None:
            return verdict
        # An iteration passes without reading it; code that only an annotation holds is not scanned.
        return not code_tokens(self.extent) and occurs(name, self.extent)


@dataclass(slots=True)
class _Finder:
    file: FileScan
    extent: Span
    types: frozenset[str] = STANDARD_TYPES

    def find(self) -> FileScope:
        text = self.file.text
        inside = self.file.function_around(self.extent.start)
        start, end = (inside.start, inside.end) if inside else (self.extent.start, self.extent.end)
        declared = parse_texts(self.file.declarations_before(start), self.types)
        typedefs = frozenset(d.name for d in declared if isinstance(d, c_ast.Typedef))
        self.types |= typedefs
        seen = self._visible(inside)
        local_nodes = parse_declarations(seen.declarations, self.types) if seen else ()
        typedefs |= {d.name for d in local_nodes if isinstance(d, c_ast.Typedef)}
        macros = self.file.macros_before(self.extent.start)
        kept = self._kept(inside, seen, macros)
        body = inside.body + 1 if inside else self.extent.start
        close = inside.close if inside else self.extent.end
        return FileScope(
            function=self._function(inside) if inside else None,
            locals=_variables(local_nodes, "local"),
            globals=_variables(declared, "global"),
            macros={m.name: m.body or "" for m in macros.values() if not m.takes_arguments},
            function_macros=frozenset(m.name for m in macros.values() if m.takes_arguments),
            typedefs=typedefs,
            before=self._reduced(0, start, kept),
            after=self._reduced(end, len(text), kept),
            text_before_in_function=text[body : self.extent.start],
            text_after_in_function=text[self.extent.end : max(close, self.extent.end)],
            in_loop=bool(seen and seen.loops),
            extent_text=text[self.extent.start : self.extent.end],
            loop_texts=self._loop_texts(seen),
            unsure=self.file.outline.unsure,
        )

    def _visible(self, inside: Item | None) -> Visible | None:
        if inside is None:
            return None
        tokens = self.file.tokens(inside.body + 1, self.extent.start)
        return visible([t for t in tokens if t.kind is not TokenKind.COMMENT], self.types)

    def _loop_texts(self, seen: Visible | None) -> tuple[str, str]:
        if not seen or not seen.loops:
            return ("", "")
        outermost, innermost = seen.loops[0][0], seen.loops[-1][1]
        text = self.file.text
        return text[outermost:innermost], text[innermost : self.extent.start]

    def _kept(
        self, inside: Item | None, seen: Visible | None, macros: Mapping[str, MacroChange]
    ) -> frozenset[str]:
        """The functions that the region reaches, through other functions and through macros."""
        waiting = list(self._mentioned(inside, seen))
        reached: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting.extend(self.file.names.get(name, ()))
                waiting.extend(macros[name].names if name in macros else ())
        return frozenset(reached)

    def _mentioned(self, inside: Item | None, seen: Visible | None) -> set[str]:
        names: set[str] = set()
        for token in scan(self.file.text[self.extent.start : self.extent.end]):
            names |= names_in((token,))
            if token.kind is TokenKind.COMMENT and token.text.startswith("/*@"):
                names |= names_in(scan(token.text[3:].removesuffix("*/")))
        for declaration in seen.declarations if seen else ():
            names |= names_in(declaration)
        if inside is not None:
            names |= names_in(inside.header)
        names |= self.file.initialised
        return names - ({inside.name} if inside else set())

    def _reduced(self, start: int, end: int, kept: frozenset[str]) -> str:
        """The text between two offsets without functions and loose code that are not needed."""
        text = self.file.text
        if self.file.outline.unsure:
            return text[start:end]
        pieces: list[str] = []
        position = start
        for item in self.file.outline.items:
            needless = item.kind == "code" or (item.kind == "function" and item.name not in kept)
            if needless and start <= item.start and item.end <= end:
                pieces.append(text[position : item.start])
                position = item.end
        pieces.append(text[position:end])
        return "".join(pieces)

    def _function(self, item: Item) -> FunctionHeader:
        header = item.header
        nodes = parse_declarations([header], self.types)
        declared = nodes[0] if len(nodes) == 1 else None
        parameters, return_type = _parsed_header(declared)
        if declared is None:
            parameters = self._parameters_one_by_one(header)
            found = parameter_list(header)
            before_name = header[: found[0] - 1] if found else header
            words = [t.text for t in before_name if not t.is_name("static", "inline", "extern")]
            return_type = " ".join(words)
        return FunctionHeader(
            name=item.name,
            parameters=parameters,
            return_type=return_type,
            text=self.file.text[item.start : item.body].strip(),
            span=Span(item.start, item.end),
            static=any(t.is_name("static") for t in header),
        )

    def _parameters_one_by_one(self, header: list[Token]) -> tuple[CDeclaration, ...]:
        found = parameter_list(header)
        if found is None:
            return ()
        pieces: list[list[Token]] = [[]]
        index = found[0] + 1
        while index < found[1]:
            end = closing(header, index) if header[index].is_operator("(", "[", "{") else index
            if header[index].is_operator(","):
                pieces.append([])
            else:
                pieces[-1].extend(header[index : end + 1])
            index = end + 1
        return _variables(parse_declarations(pieces, self.types), "parameter")


def _parsed_header(declared: Node | None) -> tuple[tuple[CDeclaration, ...], str]:
    if not isinstance(declared, c_ast.Decl) or not isinstance(declared.type, c_ast.FuncDecl):
        return (), ""
    arguments = declared.type.args
    parameters = _variables(list(arguments) if arguments is not None else [], "parameter")
    result = emit_type(declared.type.type)
    return parameters, re.sub(rf"\s*\b{re.escape(declared.name or '')}\b", "", result).strip()


def _variables(nodes: Iterable[Node], scope: Scope) -> tuple[CDeclaration, ...]:
    """The variables that declarations declare; of two of one name, the last, which hides the first."""
    found: dict[str, CDeclaration] = {}
    for node in nodes:
        if (
            isinstance(node, c_ast.Decl)
            and node.name is not None
            and not isinstance(node.type, c_ast.FuncDecl)
        ):
            found.pop(node.name, None)
            found[node.name] = declaration_of(node, scope=scope)
    return tuple(found.values())
