"""What a region sees of its file: the function around it, declarations, macros, and what is read after it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.file_scan import FileScan, scan_file
from orio_py.ctree.file_structure import Item
from orio_py.ctree.known_functions import CHECKS, MAXIMUM_NAMES, MINIMUM_NAMES, PURE_FUNCTIONS
from orio_py.ctree.lexer import TokenKind, names_in, scan
from orio_py.ctree.macros import Macro
from orio_py.ctree.nodes import Compound, Node, OwnFunction, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, used_names, walk_statements
from orio_py.ctree.symbols import CDeclaration, Scope, declaration_of
from orio_py.ctree.unit.callees import Callee, callees, obstacles
from orio_py.ctree.unit.control_flow import ControlFlow
from orio_py.ctree.unit.external_declarations import OPAQUE
from orio_py.ctree.unit.function import Function
from orio_py.ctree.unit.translation_unit import TranslationUnit, translation_unit

__all__ = [
    "FileScope",
    "FunctionHeader",
    "callees_at",
    "live_after",
    "surroundings",
    "with_file_names",
    "with_independent_calls",
]


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
    `defined` and `undone` are the preprocessor's lines for macros that the enclosing function changes before the
    region and behind it.
    `typedefs` are the type names that no variable hides, `inside` the region's segments of the `unit`, `own` the
    variables that its own statements declare; `flow` is the control flow of the function around it, if that could be parsed.
    """

    function: FunctionHeader | None
    locals: tuple[CDeclaration, ...]
    globals: tuple[CDeclaration, ...]
    definitions: Mapping[str, Macro]
    typedefs: frozenset[str]
    before: str
    after: str
    defined: str
    undone: str
    unit: TranslationUnit
    inside: range
    own: tuple[CDeclaration, ...]
    flow: ControlFlow | None
    in_loop: bool
    unsure: bool = False

    @property
    def macros(self) -> Mapping[str, str]:
        """The macros without arguments that are defined at the region."""
        return {m.name: m.body for m in self.definitions.values() if m.arguments is None}

    @property
    def function_macros(self) -> frozenset[str]:
        """The macros with arguments."""
        return frozenset(m.name for m in self.definitions.values() if m.arguments is not None)

    @property
    def declared(self) -> Mapping[str, CDeclaration]:
        """The variables that the region sees, by their names."""
        parameters = self.function.parameters if self.function is not None else ()
        return {d.name: d for d in (*self.globals, *parameters, *self.locals)}


def surroundings(source: SourceFile, extent: Span, unit: TranslationUnit | None = None) -> FileScope:
    """What the text `extent` sees of its file; `unit` is what its compiler sees of it."""
    if unit is None:
        unit = translation_unit(source.text, boundaries=_edges(extent, source.text))
    return _Finder(scan_file(source.text), extent, unit).find()


def _edges(extent: Span, text: str) -> tuple[int, ...]:
    """The ends of an extent, where they are not those of annotations."""
    at_annotations = text.startswith("/*@", extent.start) and text.endswith("*/", 0, extent.end)
    return () if at_annotations else (extent.start, extent.end)


def live_after(scope: FileScope, names: Iterable[str]) -> frozenset[str]:
    """The names whose value after the region may be read before it is assigned again.

    Globals, statics, pointer and array parameters and variables whose address something may keep by then always count.
    Names that are not declared count in functions of files that include others, which may declare them.
    """
    return frozenset(name for name in names if _is_live(scope, name))


def _is_live(near: FileScope, name: str) -> bool:
    declared = near.declared.get(name)
    if declared is None:
        if near.function is None or name in near.macros:
            return False
        if near.unit.segments.may_include:
            return True
    elif (
        declared.scope == "global"
        or declared.storage & {"static", "extern"}
        or (declared.scope == "parameter" and declared.is_array_like)
    ):
        return True
    flow = near.flow
    return flow is None or flow.is_exposed(name, near.inside) or flow.live_after(name, near.inside)


@dataclass(slots=True)
class _Finder:
    file: FileScan
    extent: Span
    unit: TranslationUnit

    def find(self) -> FileScope:
        text, unit = self.file.text, self.unit
        item = self.file.function_around(self.extent.start)
        start, end = (item.start, item.end) if item else (self.extent.start, self.extent.end)
        inside = unit.segments.within(self.extent)
        place = unit.place_of(self.extent)
        function = unit.function_at(place) if item else None
        site = function.site(inside) if function is not None else None
        top = function.declared.start if function is not None else place
        macros = unit.macros_in(self.extent)
        header = self._header(item, function) if item else None
        local = self._variables(site.declarations if site else (), "local")
        variables = {d.name for d in (*(header.parameters if header is not None else ()), *local)}
        kept = self._kept(item, site.declarations if site is not None else (), macros)
        defined, undone = (
            "".join(f"\n{change.text}" for change in changes) for changes in unit.changes_around(self.extent)
        )
        return FileScope(
            function=header,
            locals=local,
            globals=self._variables(unit.variables(top), "global"),
            definitions=macros,
            typedefs=frozenset(unit.typedefs) - variables,
            before=self._reduced(0, start, kept),
            after=self._reduced(end, len(text), kept),
            defined=defined,
            undone=undone,
            unit=unit,
            inside=inside,
            own=self._variables((function or unit).declared_in(inside), "local"),
            flow=function.flow if function is not None and site is not None else None,
            in_loop=bool(site and site.in_loop),
            unsure=self.file.outline.unsure,
        )

    def _variables(self, nodes: Iterable[Node], scope: Scope) -> tuple[CDeclaration, ...]:
        return tuple(map(self.unit.named_types.of, _variables(nodes, scope)))

    def _kept(
        self, inside: Item | None, declared: Sequence[Node], macros: Mapping[str, Macro]
    ) -> frozenset[str]:
        """The functions that the region reaches, through other functions and through macros."""
        waiting = [*self._mentioned(inside), *used_names(declared)]
        reached: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting.extend(self.file.names.get(name, ()))
                waiting.extend(macros[name].names if name in macros else ())
        return frozenset(reached)

    def _mentioned(self, inside: Item | None) -> set[str]:
        names: set[str] = set()
        for token in scan(self.file.text[self.extent.start : self.extent.end]):
            names |= names_in((token,))
            if token.kind is TokenKind.COMMENT and token.text.startswith("/*@"):
                names |= names_in(scan(token.text[3:].removesuffix("*/")))
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

    def _header(self, item: Item, function: Function | None) -> FunctionHeader:
        result = ""
        if function is not None:
            shown = emit_type(function.node.decl.type.type)
            result = re.sub(rf"\s*\b{re.escape(item.name)}\b", "", shown).strip()
        return FunctionHeader(
            name=item.name,
            parameters=self._variables(function.parameters if function is not None else (), "parameter"),
            return_type=result,
            text=self.file.text[item.start : item.body].strip(),
            span=Span(item.start, item.end),
            static=any(t.is_name("static") for t in item.header),
        )


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
            found[node.name] = declaration_of(_readable(node), scope=scope)
    return tuple(found.values())


def _readable(node: Node) -> Node:
    """The declaration; a name nobody knows stands for an initial value or an extent with statements in it (GNU C)."""
    return _StatementsNamed().rewrite(node)


class _StatementsNamed(Rewriter):
    def visit_Compound(self, node: Node) -> Node:
        """The name."""
        return c_ast.ID(OPAQUE, node.coord)


def with_file_names(tree: Compound, near: FileScope) -> Compound:
    """The code of a region; what it names of the file's own is told from what others mean by the names.

    Calls of functions which the file defines, and of variables that point to functions, are told from those of the C
    library.  Variables of a type that is the name of an array are declared with its extents.
    """
    known = PURE_FUNCTIONS | CHECKS | MINIMUM_NAMES | MAXIMUM_NAMES
    own = near.unit.own_functions | near.declared.keys()
    pure = near.unit.pure_functions - near.declared.keys()
    found = _Calls((own & known) | pure, pure).rewrite(tree)
    found = _ArrayTypes(near.unit).rewrite(found) if near.unit.named_types.arrays else found
    assert isinstance(found, Compound)
    return found


def with_independent_calls(tree: Compound, near: FileScope) -> Compound:
    """The code of a region where statements that call a function without a known body do nothing that it can see."""
    found = _CallStatements(tree, near.unit.functions.keys()).rewrite(tree)
    assert isinstance(found, Compound)
    return found


def callees_at(near: FileScope, called: Iterable[str]) -> Mapping[str, Callee]:
    """The functions among those called whose bodies mean the same at the region, with their calls told apart as its own."""
    parameters = near.function.parameters if near.function is not None else ()
    hidden = frozenset(d.name for d in (*parameters, *near.locals, *near.own))
    found = callees(near.unit, called, (d.name for d in near.globals), hidden, near.definitions)
    return {name: replace(callee, body=with_file_names(callee.body, near)) for name, callee in found.items()}


def obstacles_at(near: FileScope, called: Iterable[str], found: Mapping[str, Callee]) -> Mapping[str, str]:
    """Why the bodies of functions that the region calls cannot stand in place of their calls, as far as they say so."""
    return obstacles(near.unit, frozenset(called) & near.unit.own_functions - near.declared.keys(), found)


class _ArrayTypes(Rewriter):
    """`real3 x, *p;` as `real_t x[3], (*p)[3];`."""

    def __init__(self, unit: TranslationUnit) -> None:
        self._unit = unit

    def visit_Decl(self, node: c_ast.Decl) -> Node:
        node = self.generic(node)
        kind = self._with_extents(node.type, node.name)
        return node if kind is node.type else copy_with(node, type=kind)

    def _with_extents(self, kind: Node, name: str | None) -> Node:
        match kind:
            case c_ast.ArrayDecl() | c_ast.PtrDecl():
                inner = self._with_extents(kind.type, name)
                return kind if inner is kind.type else copy_with(kind, type=inner)
            case c_ast.TypeDecl(type=c_ast.IdentifierType(names=[word])) if (
                word in self._unit.named_types.arrays
            ):
                return self._with_extents(_named(self._unit.typedefs[word].type, name, kind), name)
            case _:
                return kind


def _named(kind: Node, name: str | None, place: c_ast.TypeDecl) -> Node:
    """The type of a typedef as that of a variable, with the qualifiers of the latter."""
    match kind:
        case c_ast.ArrayDecl():
            return copy_with(kind, type=_named(kind.type, name, place), coord=place.coord)
        case c_ast.TypeDecl():
            return copy_with(kind, declname=name, quals=[*kind.quals, *place.quals], coord=place.coord)
        case _:
            return kind


class _CallStatements(Rewriter):
    """`S(i, j);` as a statement of its own, where `S` has no body among those that are `known`."""

    def __init__(self, tree: Compound, known: Collection[str]) -> None:
        self._statements = {id(node) for node in walk_statements(tree)}
        self._known = known

    def visit_FuncCall(self, node: c_ast.FuncCall) -> Node:
        match node.name:
            case c_ast.ID(name=name, coord=coord) | OwnFunction(function=name, coord=coord) if (
                id(node) in self._statements and name not in self._known
            ):
                return copy_with(node, name=OwnFunction(name, is_pure=True, coord=coord))
            case _:
                return self.generic(node)


class _Calls(Rewriter):
    def __init__(self, own: frozenset[str], pure: frozenset[str]) -> None:
        self.own = own
        self.pure = pure

    def visit_FuncCall(self, node: c_ast.FuncCall) -> Node:
        node = self.generic(node)
        match node.name:
            case c_ast.ID(name=name, coord=coord) if name in self.own:
                return copy_with(node, name=OwnFunction(name, name in self.pure, coord))
            case _:
                return node
