"""The last step of parsing: places, comments and marks come into the tree, oddities go out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from orio_py.core.diagnostics import fail
from orio_py.core.source import Position
from orio_py.ctree.emit import ambiguous_else
from orio_py.ctree.loops import ends_iterations
from orio_py.ctree.nodes import Comment, Compound, For, Node, Transform, c_ast
from orio_py.ctree.rewrite import fields, walk

MAX_DEPTH = 200
"""Deepest tree that is accepted, statements counting twice: it keeps recursion over a tree, at three
frames a level, inside the interpreter's default limit of 1000."""

_SUPPORTED_NAMES = """Alignas ArrayDecl ArrayDesignator ArrayRef Assignment BinaryOp Break Case Cast Compound
    CompoundLiteral Constant Continue Decl DeclList Default DoWhile EllipsisParam EmptyStatement Enum
    Enumerator EnumeratorList ExprList For FuncCall FuncDecl GenericAssociation GenericSelection Goto ID
    IdentifierType If InitList Label NamedInitializer ParamList Pragma PtrDecl Return StaticAssert Struct
    StructRef Switch TernaryOp TypeDecl Typedef Typename UnaryOp Union While"""
SUPPORTED = frozenset(_SUPPORTED_NAMES.split())
"""The node types that a parsed tree can hold, besides `Comment` and `Transform`."""


_NESTING = (Compound, c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch, c_ast.Label)


@dataclass(frozen=True, slots=True)
class Inserted:
    """What a `#pragma` line of the wrapped text stands for: a node, or a recipe step index."""

    content: Comment | c_ast.Pragma | int
    place: Position | None = None


Locate = Callable[[int, int], Position]
"""Leads from a line and column of the wrapped text to the user's place."""


def finish(body: Compound, inserted: Mapping[int, Inserted], locate: Locate, end: Position) -> Compound:
    """`body`, fresh from pycparser and owned by the caller, made into a tree of the project.

    `inserted` maps lines of the wrapped text to what was put there.
    Raises DiagnosticError: ORIO-C006, ORIO-C007, ORIO-C008.
    """
    finisher = _Finisher(inserted, locate, end)
    blocks: list[Compound] = []
    stack: list[tuple[Node, int]] = [(body, 1)]
    while stack:
        node, depth = stack.pop()
        finisher.node(node)
        if isinstance(node, Compound) and node is not body:
            blocks.append(node)
        if depth > MAX_DEPTH:
            place = node.coord if isinstance(node.coord, Position) else None
            fail("ORIO-C006", f"the code is nested more than {MAX_DEPTH} levels deep", place)
        below = depth + (2 if isinstance(node, _NESTING) else 1)
        stack.extend((child, below) for child in node)
    for block in blocks:
        declare_in_headers(block)
    return body


@dataclass(frozen=True, slots=True)
class _Finisher:
    inserted: Mapping[int, Inserted]
    locate: Locate
    end: Position

    def node(self, node: Node) -> None:
        """Finish one node; its children come later."""
        self._place(node)
        if isinstance(node, (Comment, Transform)):
            return
        if type(node).__name__ not in SUPPORTED:
            self._unsupported(node)
        if isinstance(node, Compound) and node.block_items is None:
            node.block_items = []
        for name in fields(node):
            value = getattr(node, name)
            if isinstance(value, Compound) and self._is_synthetic(value):
                items = self._statements(value.block_items or [])
                self._place(value)
                value.block_items = items
                setattr(node, name, items[0] if len(items) == 1 else value)
            elif isinstance(value, Compound) and name not in {"stmt", "iftrue", "iffalse", "body"}:
                self._unsupported(value)
            elif isinstance(value, list) and name in {"block_items", "stmts"}:
                setattr(node, name, self._statements(cast("list[Node]", value)))
            elif isinstance(value, list) and name in {"exprs", "decls", "enumerators"}:
                self._no_statements(cast("list[Any]", value))
                if isinstance(node, (c_ast.Struct, c_ast.Union)):
                    node.decls = _grouped(cast("list[Node]", value))
        if isinstance(node, c_ast.If) and ambiguous_else(node):
            node.iftrue = Compound([node.iftrue], node.iftrue.coord)

    def _place(self, node: Node) -> None:
        coord = node.coord
        if coord is None or isinstance(coord, Position):
            return
        line, column = getattr(coord, "line", None), getattr(coord, "column", None)
        node.coord = self.locate(line, column) if isinstance(line, int) and isinstance(column, int) else None

    def _unsupported(self, node: Node) -> None:
        self._place(node)
        kind = "a statement inside an expression" if isinstance(node, Compound) else type(node).__name__
        place = node.coord if isinstance(node.coord, Position) else None
        fail("ORIO-C007", f"found {kind}; a region takes C99 without compiler extensions", place)

    def _no_statements(self, items: list[Any]) -> None:
        for item in items:
            if isinstance(item, Compound) or (isinstance(item, c_ast.Pragma) and self._inserted(item)):
                self._unsupported(item)

    def _inserted(self, node: Node) -> Inserted | None:
        line = getattr(node.coord, "line", None)
        if isinstance(node.coord, Position) or not isinstance(line, int):
            return None
        return self.inserted.get(line)

    def _is_synthetic(self, block: Compound) -> bool:
        """Whether pycparser made the block to hold an inserted line before a single statement."""
        return self._inserted(block) is not None

    def _statements(self, items: list[Node]) -> list[Node]:
        """A list of statements with comments, pragmas and marks in place."""
        result: list[Node] = []
        steps: list[Inserted] = []
        for item in self._spliced(items):
            found = self._inserted(item) if isinstance(item, c_ast.Pragma) else None
            if found is not None and isinstance(found.content, int):
                steps.append(found)
            elif found is not None:
                result.append(cast("Node", found.content))
            elif isinstance(item, (Comment, c_ast.Pragma)):
                result.append(item)
            else:
                result.append(self._marked(_run_once(item), steps))
                steps = []
        if steps:
            fail("ORIO-C008", "this transform has no statement behind it", steps[0].place)
        return _grouped(result)

    def _spliced(self, items: list[Node]) -> Iterator[Node]:
        for item in items:
            if isinstance(item, Compound) and self._is_synthetic(item):
                yield from item.block_items or []
            else:
                yield item

    def _marked(self, statement: Node, steps: list[Inserted]) -> Node:
        if steps and isinstance(statement, (c_ast.Decl, c_ast.Typedef, c_ast.StaticAssert)):
            fail("ORIO-C008", "a transform needs a statement, not a declaration", steps[0].place)
        for step in reversed(steps):
            statement = Transform(cast("int", step.content), statement, step.place)
        return statement


def _run_once(statement: Node) -> Node:
    """The block of a `do { … } while (0)`, as macros with several statements have it; other statements as they are."""
    match statement:
        case c_ast.DoWhile(cond=c_ast.Constant(type="int", value="0"), stmt=Compound() as body):
            return statement if ends_iterations(body) else body
        case _:
            return statement


def declare_in_headers(block: Compound) -> None:
    """`{ int j; for (j = 0; …) … }` as `{ for (int j = 0; …) … }`: a declaration between two loops ends no nest.

    The block holds plain declarations and one loop, and each variable is the index of loops in it and nothing else, so that
    nothing reads a first value such as that of `int j = 0;`.
    """
    items = block.block_items or []
    declarations = [decl for item in items[:-1] if (decl := _bare(item)) is not None]
    if not declarations or len(declarations) < len(items) - 1 or not isinstance(loop := items[-1], For):
        return
    kept: list[Node] = []
    for decl in declarations:
        heads = _loops_over(loop, decl.name or "")
        if heads is None:
            kept.append(decl)
            continue
        for head in heads:
            start = cast("c_ast.Assignment", head.init)
            own = c_ast.Decl(decl.name, [], [], [], [], decl.type, start.rvalue, None, start.coord)
            head.init = c_ast.DeclList([own], start.coord)
    block.block_items = [*kept, loop]


def _bare(item: Node) -> c_ast.Decl | None:
    """The declaration of a number, without any other word, that computes no value; None for others."""
    if not isinstance(item, c_ast.Decl) or not isinstance(item.type, c_ast.TypeDecl) or item.name is None:
        return None
    computes_nothing = item.init is None or isinstance(item.init, (c_ast.Constant, c_ast.ID))
    plain = computes_nothing and not (item.storage or item.quals or item.align)
    return item if plain else None


def _loops_over(root: For, name: str) -> list[For] | None:
    """The loops that set a variable to its first value, where nothing outside of them uses it; None elsewhere."""
    found: list[For] = []
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        match node:
            case For(init=c_ast.Assignment(op="=", lvalue=c_ast.ID(name=index), rvalue=start)) if (
                index == name
            ):
                if any(isinstance(part, c_ast.ID) and part.name == name for part in walk(start)):
                    return None
                found.append(node)
            case c_ast.ID(name=used) if used == name:
                return None
            case _:
                stack.extend(node)
    return found or None


def _definition(item: Node) -> Node | None:
    """The struct, union or enum body that a declaration defines."""
    kind = cast("Any", item).type if isinstance(item, (c_ast.Decl, c_ast.Typedef)) else None
    while isinstance(kind, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
        kind = kind.type
    if isinstance(kind, (c_ast.Struct, c_ast.Union)) and kind.decls is not None:
        return kind
    return kind if isinstance(kind, c_ast.Enum) and kind.values is not None else None


def _grouped(items: list[Node]) -> list[Node]:
    """`items` with the declarators of one struct definition (`struct {…} x, *y;`) in one DeclList."""
    result: list[Node] = []
    last: Node | None = None
    for item in items:
        definition = _definition(item)
        if definition is not None and definition is last:
            previous = result[-1]
            if isinstance(previous, c_ast.DeclList):
                previous.decls.append(item)
            else:
                result[-1] = c_ast.DeclList([previous, item], previous.coord)
        else:
            result.append(item)
        last = definition
    return result
