"""Numbers that pointers point to, such as `*count` in bounds and subscripts, as values that a condition at run time may use.

A pointer may be followed before a nest only where the nest itself follows it for certain: in the header of its first
loop, and in what the first iteration of loops comes to that run at least once.  That they run is a test of its own, which
stands before the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from orio_py.ctree.build import binary, literal_value, statements
from orio_py.ctree.ctype import CType, ctype
from orio_py.ctree.dependence.names import NO_NAMES, AccessKey, Reference, names_of, references
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.expression_effects import is_repeatable
from orio_py.ctree.followed import elements_used, followed, members_followed
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Comment, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import declared_names, substitute, walk
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import is_always_true
from orio_py.transformation.context import with_inner_declarations
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.forms import has_stable_index
from orio_py.transformation.verdicts import aliases_in

_ANY_TYPE = 127


@dataclass(frozen=True, slots=True)
class PointedBounds:
    """Pointers to integers that bounds and subscripts of a nest follow, and the tests that it does so."""

    names: frozenset[str] = frozenset()
    tests: tuple[Node, ...] = ()

    @classmethod
    def of(
        cls, statement: Node, changing: frozenset[str], written: Collection[AccessKey], context: Context
    ) -> PointedBounds:
        """Those of a statement that calls nothing and writes through none of them under its own name."""
        if context.effects(statement).calls:
            return cls()
        unfit = changing | {name for name, _ in written}
        found = frozenset[str]().union(*map(pointers_followed, _counting_parts(statement)))
        names = frozenset(n for n in found if n not in unfit and _points_to_integer(n, context))
        first = _FirstIterations(statement, context, names - context.followed)
        loop = CanonicalLoop.match(_first(statement))
        if loop is not None:
            first.enter(loop)
        return cls(names - first.left, tuple(first.tests))


def _counting_parts(statement: Node) -> Iterator[Node]:
    """The headers of a statement's loops, its subscripts, and what its declarations compute."""
    for part in walk(statement):
        match part:
            case For(init=init, cond=cond):
                yield from (each for each in (init, cond) if each is not None)
            case c_ast.ArrayRef(subscript=subscript):
                yield subscript
            case c_ast.Decl(init=Node() as value):
                yield value
            case _:
                pass


def pointers_followed(node: Node) -> set[str]:
    """The names of the pointers in `*p` anywhere in an expression."""
    return {name for part in walk(node) if (name := pointer_of(part)) is not None}


def pointer_of(node: Node) -> str | None:
    """The name of the pointer if an expression is `*p`."""
    match node:
        case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)):
            return name
        case _:
            return None


def _first(statement: Node) -> Node:
    while isinstance(statement, Compound) and statement.block_items:
        statement = statement.block_items[0]
    return statement


def _points_to_integer(name: str, context: Context) -> bool:
    declared = context.declarations.get(name)
    if declared is None or "volatile" in declared.qualifiers:
        return False
    return declared.is_integer and declared.pointers + len(declared.dimensions) == 1


def tests_before_following(
    statement: Node, pointers: Collection[str], context: Context
) -> tuple[Node, ...] | None:
    """The tests that hold only where a nest follows all of some pointers to structures; None where nobody knows.

    Headers of loops are evaluated in any case, bodies where loops run.  What was followed before needs no test.  Members that
    lead on, and elements of arrays that the nest has to read, may stand among the pointers by their text.
    """
    inside = with_inner_declarations(statement, context)
    first = _FirstIterations(statement, inside, frozenset(pointers) - context.followed)
    loop = CanonicalLoop.match(_first(statement))
    if loop is not None:
        first.enter(loop)
    return None if first.left else tuple(first.tests)


def evaluated_at_entry(statement: Node) -> frozenset[str]:
    """The expressions, by their text, that the header of a statement's first loop evaluates in any case."""
    loop = CanonicalLoop.match(_first(statement))
    waiting = [] if loop is None else [loop.start, loop.bound]
    found: set[str] = set()
    while waiting:
        part = waiting.pop()
        found.add(emit_expression(part))
        if isinstance(part, c_ast.TernaryOp):
            waiting.append(part.cond)
        elif isinstance(part, c_ast.BinaryOp) and part.op in {"&&", "||"}:
            waiting.append(part.left)
        elif not isinstance(part, c_ast.UnaryOp) or part.op != "sizeof":
            waiting += [each for _, each in part.children() if isinstance(each, _EXPRESSIONS)]
    return frozenset(found)


class _FirstIterations:
    """What a nest does in the first iteration of its loops, and their conditions as they can be tested before it.

    `left` are the pointers that were not seen to be followed where the `tests` hold.
    """

    def __init__(self, statement: Node, context: Context, pointers: frozenset[str]) -> None:
        self.left = pointers
        self.tests: list[Node] = []
        self._context = context
        self._statement = statement
        self._around: list[CanonicalLoop] = []
        self._local = declared_names(statement)
        self._names = names_of(statement, context.declarations)
        self._written: list[Reference] = []
        self._values: dict[str, Node] = {}
        self._is_open = False
        """Whether anything may have been changed."""

    def enter(self, loop: CanonicalLoop) -> None:
        """Go through the first iteration of a loop; where it has none at first, through that in the last iteration around it."""
        self._see(loop.start, loop.bound)
        test = self._runs(loop) if self.left else None
        if test is not None and _never_holds(test):
            test = self._runs_last(loop, self._around[-1]) if self._around else None
        if test is None:
            return
        missing, tested = self.left, len(self.tests)
        if not _always_holds(test) and not is_always_true(test, self._context):
            self.tests.append(test)
        self._around.append(loop)
        self._pass_through(loop.body)
        self._around.pop()
        if self.left == missing:
            del self.tests[tested:]
        self._values.pop(loop.index, None)

    def _pass_through(self, body: Node) -> None:
        for item in _reached(body):
            if self._may_end(item):
                self._is_open = True
            if not self.left or self._is_open:
                break
            inner = CanonicalLoop.match(item)
            if inner is not None:
                self.enter(inner)
            elif not isinstance(item, For):
                self._see(item)
            self._pass(item)

    def _may_end(self, item: Node) -> bool:
        """Whether a statement calls what may do anything, or end the program."""
        done = self._context.effects(item)
        return bool(done.calls) or done.opaque

    def _runs_last(self, loop: CanonicalLoop, around: CanonicalLoop) -> Node | None:
        """The condition that a loop runs in the last iteration of the one around it, which no other iteration keeps from running."""
        self._pass(self._statement)  # Whatever the iterations before change is changed then.
        last = around.bound if around.relation == "<=" else binary("-", around.bound, 1)
        kind = expression_type(last, self._context)
        is_same = kind is not None and kind == self._index_type(around)
        is_simple = (
            around.relation in {"<", "<="} and around.stride == 1 and has_stable_index(around, self._context)
        )
        if not (is_same and is_simple) or any(isinstance(part, _LEAVING) for part in walk(around.body)):
            return None
        self._values[around.index] = last
        return self._runs(loop)

    def _see(self, *items: Node) -> None:
        """Items are evaluated."""
        for item in items:
            self.left -= followed(item) | elements_used(item) | members_followed(item)

    def _pass(self, item: Node) -> None:
        """A statement comes before what is looked at next."""
        found = references(item, self._names)
        self._written += [reference for reference, _, is_written in found if is_written]
        self._is_open = self._is_open or self._may_end(item)

    def _runs(self, loop: CanonicalLoop) -> Node | None:
        """The condition that a loop runs, which is inside of those that were entered before; None if it is not known."""
        start = self._before(loop.start)
        if start is None or loop.node.cond is None:
            return None
        kind = expression_type(start, self._context)
        is_same = kind is not None and kind == self._index_type(loop)
        value = literal_value(start)
        # Any type of index holds small numbers as they are, so that the test is that of the loop.
        if not is_same and (value is None or not 0 <= value <= _ANY_TYPE):
            return None
        test = self._before(substitute(loop.node.cond, loop.index, start))
        if is_same:
            self._values[loop.index] = start
        self._written.append(Reference(loop.index, ()))
        return test

    def _index_type(self, loop: CanonicalLoop) -> CType | None:
        own = self._context.declarations.get(loop.index)
        declared = loop.declared_type or (own.type if own is not None and own.is_scalar else "")
        return ctype(self._context.types.get(declared, declared))

    def _before(self, node: Node) -> Node | None:
        """An expression of the first iteration as it is before the nest; None where that changes what it reads, or it changes anything itself."""
        for index, value in self._values.items():
            node = substitute(node, index, value)
        read = [found for found, _, _ in references(node, NO_NAMES)]
        calls = any(isinstance(part, c_ast.FuncCall) for part in walk(node))
        if (
            calls
            or not is_repeatable(node)
            or self._is_open
            or not self._local.isdisjoint(found.variable for found in read)
        ):
            return None
        aliases = aliases_in(self._context)
        changed = any(
            one.name == two.name or aliases.may_overlap(one.spot, two.spot)
            for one in read
            for two in self._written
        )
        return None if changed else node


def _reached(body: Node) -> Iterator[Node]:
    """The statements that each iteration comes to: loops, conditions and simple ones, up to the first that may lead elsewhere."""
    waiting = list(statements(body))[::-1]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Compound):
            waiting.extend(statements(item)[::-1])
            continue
        if not isinstance(item, _SIMPLE):
            return
        yield item
        leaving = _JUMPS if isinstance(item, For) else _LEAVING
        if isinstance(item, (For, c_ast.If)) and any(isinstance(part, leaving) for part in walk(item)):
            return


def _always_holds(test: Node) -> bool:
    """Whether a condition compares two numbers of which it holds."""
    return _of_numbers(test) is True


def _never_holds(test: Node) -> bool:
    """Whether a condition compares two numbers of which it does not hold."""
    return _of_numbers(test) is False


def _of_numbers(test: Node) -> bool | None:
    match test:
        case c_ast.BinaryOp(op="<" | "<=" | ">" | ">=" as op, left=left, right=right):
            one, two = literal_value(left), literal_value(right)
            if one is None or two is None:
                return None
            return {"<": one < two, "<=": one <= two, ">": one > two, ">=": one >= two}[op]
        case _:
            return None


_EXPRESSIONS = (c_ast.BinaryOp, c_ast.UnaryOp, c_ast.TernaryOp, c_ast.Cast, c_ast.ArrayRef, c_ast.StructRef)
_JUMPS = (c_ast.Return, c_ast.Goto)
_LEAVING = (*_JUMPS, c_ast.Break, c_ast.Continue)
_SIMPLE = (For, Comment, c_ast.If, c_ast.Assignment, c_ast.Decl, c_ast.UnaryOp, c_ast.EmptyStatement)
