"""The definition of a function: its control flow, and what places in it see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from orio_py.ctree.effects import copied_pointers, subscript_depths
from orio_py.ctree.nodes import Node, c_ast, substatements
from orio_py.ctree.unit.borrowed_pointers import Borrowed
from orio_py.ctree.unit.control_flow import ControlFlow
from orio_py.ctree.unit.external_declarations import Declared
from orio_py.ctree.unit.flow_building import control_flow


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """What a place inside a function sees: declarations outermost first, and whether a loop is around it."""

    declarations: tuple[Node, ...]
    in_loop: bool


@dataclass(frozen=True, eq=False)
class Function:
    """A function definition; `node` is a `FuncDef`."""

    node: c_ast.FuncDef
    declared: Declared
    mentioned: Mapping[int, frozenset[str]]
    borrowed: Callable[[], Borrowed] = dict
    """Which parameters functions of the unit only follow."""
    allocating: Callable[[], frozenset[str]] = frozenset
    """Which of them allocate what they give back."""

    @cached_property
    def flow(self) -> ControlFlow:
        """The control flow of the body."""
        return control_flow(
            self.node.body, self.declared.segment_of, self.mentioned, self.borrowed, self.allocating
        )

    @cached_property
    def copied_pointers(self) -> frozenset[str]:
        """The names that the body uses otherwise than for elements of what they point to."""
        return copied_pointers(self.node.body)

    @cached_property
    def subscript_depths(self) -> frozenset[tuple[str, int]]:
        """The names that the body has subscripts behind, each with how many."""
        return subscript_depths(self.node.body)

    @property
    def parameters(self) -> tuple[Node, ...]:
        """The declarations of the parameters, in their order; one that a K&R header only names is an `int`."""
        arguments: Node | None = self.node.decl.type.args
        found = list(arguments) if arguments is not None else []
        old_style = {d.name: d for d in self.node.param_decls or []}
        return tuple(old_style.get(p.name) or _named(p) if isinstance(p, c_ast.ID) else p for p in found)

    def site(self, inside: range) -> Site | None:
        """What the code of some segments sees; None if it is not found in the body."""
        return _Sites(self, inside).find(self.node.body, (), in_loop=False)

    def declared_in(self, inside: range) -> tuple[Node, ...]:
        """The declarations among the statements of some segments, those of inner blocks too."""
        return tuple(declared for declared, segment in self._declarations if segment in inside)

    @cached_property
    def _declarations(self) -> list[tuple[Node, int]]:
        """The declarations of the body, and the segment of each."""
        found = (declared for statement in self.ranges for declared in _declared_by(statement))
        own = ((declared, self.declared.segment_of(declared)) for declared in dict.fromkeys(found))
        return [(declared, segment) for declared, segment in own if segment is not None]

    @cached_property
    def ranges(self) -> dict[Node, tuple[int, int]]:
        """The first and the last segment of each statement."""
        found: dict[Node, tuple[int, int]] = {}
        self._range(self.node.body, found, 0)
        return found

    def _range(self, node: Node, found: dict[Node, tuple[int, int]], around: int) -> tuple[int, int]:
        own = self.declared.segment_of(node)
        first = last = around if own is None else own
        for child in (
            *substatements(node),
            *([node.init] if isinstance(node, c_ast.For) and node.init else ()),
        ):
            low, high = self._range(child, found, first)
            first, last = min(first, low), max(last, high)
        found[node] = (first, last)
        return first, last


@dataclass(slots=True)
class _Sites:
    function: Function
    inside: range

    def find(self, node: Node, seen: tuple[Node, ...], *, in_loop: bool) -> Site | None:
        """The first statement in the segments, below `node`."""
        first, last = self.function.ranges[node]
        if last < self.inside.start or first >= self.inside.stop:
            return None
        own = self.function.declared.segment_of(node)
        if own is not None and own in self.inside and node is not self.function.node.body:
            return Site(seen, in_loop)
        if isinstance(node, c_ast.For) and node.init is not None:
            seen = (*seen, *_declared_by(node.init))
        in_loop = in_loop or isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile))
        for child in substatements(node):
            found = self.find(child, seen, in_loop=in_loop)
            if found is not None:
                return found
            seen = (*seen, *_declared_by(child))
        return None


def _declared_by(statement: Node) -> tuple[Node, ...]:
    match statement:
        case c_ast.DeclList():
            return tuple(statement.decls)
        case c_ast.Decl() | c_ast.Typedef():
            return (statement,)
        case c_ast.Label() | c_ast.Case() | c_ast.Default():
            return tuple(d for inner in substatements(statement) for d in _declared_by(inner))
        case _:
            return ()


def _named(parameter: c_ast.ID) -> c_ast.Decl:
    """The declaration of an `int`."""
    name, place = parameter.name, parameter.coord
    kind = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["int"], place), place)
    return c_ast.Decl(name, [], [], [], [], kind, None, None, place)
