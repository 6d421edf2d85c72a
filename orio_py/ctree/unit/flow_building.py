"""From a function's body to its control-flow graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager

from orio_py.ctree.build import is_number
from orio_py.ctree.effects import EffectsMemory
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.unit.borrowed_pointers import Borrowed
from orio_py.ctree.unit.control_flow import ControlFlow, Step

_PRIVATE = re.compile(r"\b(?:private|shared|default|schedule)\s*\([^()]*\)")
_NAME = re.compile(r"[A-Za-z_]\w*")


def control_flow(
    body: Node,
    segment_of: Callable[[Node], int | None],
    mentioned: Mapping[int, frozenset[str]],
    borrowed: Callable[[], Borrowed] = dict,
    allocating: Callable[[], frozenset[str]] = frozenset,
) -> ControlFlow:
    """The graph of a function's body.

    `segment_of` says in which segment of the file a node begins (None if it does not know), `mentioned`
    which names stand in a segment without being part of its code, `borrowed` which parameters functions only follow, and
    `allocating` which functions of the file allocate what they give back.
    """
    builder = _Builder(segment_of, mentioned)
    builder.build(body)
    return ControlFlow(tuple(builder.steps), borrowed, allocating)


_ENTRY, _EXIT = 0, 1


def _nothing() -> Step:
    return Step(None, frozenset(), frozenset(), frozenset(), {}, -1)


def _equality(node: Node | None) -> tuple[Node, bool] | None:
    """`n == 100` for the steps `n = 100` and `int n = 100`; `sum == 0.0`, too."""
    match node:
        case c_ast.Decl(name=str(name), type=c_ast.TypeDecl(), init=Node() as value):
            target = c_ast.ID(name)
        case c_ast.Assignment(op="=", lvalue=c_ast.ID() as target, rvalue=value):
            pass
        case _:
            return None
    return (c_ast.BinaryOp("==", target, value), True) if is_number(value) else None


class _Builder:
    """Adds steps in the order of the text; `ends` are the steps whose next one is still open."""

    def __init__(
        self, segment_of: Callable[[Node], int | None], mentioned: Mapping[int, frozenset[str]]
    ) -> None:
        self.segment_of, self.mentioned = segment_of, mentioned
        self.memory = EffectsMemory()
        self.segment = 0
        self.steps: list[Step] = []
        self.ends: list[int] = []
        self.breaks: list[list[int]] = []
        self.continues: list[list[int]] = []
        self.selections: list[int] = []
        self.complete: set[int] = set()
        self.labels: dict[str, int] = {}
        self.jumps: list[tuple[int, str]] = []
        self.declared: dict[str, int] = {}
        self.block = 0
        self.blocks = 0

    def build(self, body: Node) -> None:
        self.steps = [_nothing(), _nothing()]
        self.ends = [_ENTRY]
        self.statement(body)
        self._link(self.ends, _EXIT)
        for number, label in self.jumps:
            # A label that is not there may be anywhere.
            targets = [self.labels[label]] if label in self.labels else range(2, len(self.steps))
            self.steps[number].following.extend(targets)

    def step(self, node: Node | None) -> int:
        """A step for what `node` does by itself, behind the open ends."""
        found = None if node is None else self.memory.part(node, node)
        pragma = _PRIVATE.sub(" ", node.string) if isinstance(node, c_ast.Pragma) else ""
        self.steps.append(
            Step(
                None if node is None else self.memory.of(node),
                frozenset() if found is None else found.written,
                frozenset(_NAME.findall(pragma)),
                self.mentioned.get(self.segment, frozenset()),
                dict(self.declared),
                self.segment,
                _equality(node),
                node,
            )
        )
        number = len(self.steps) - 1
        self._link(self.ends, number)
        self.ends = [number]
        return number

    def _know(self, condition: Node | None, truth: bool) -> None:
        """A step behind which a condition holds, or does not."""
        if condition is not None:
            self.steps[self.step(None)].known = condition, truth

    def _link(self, ends: Iterable[int], number: int) -> None:
        for end in ends:
            self.steps[end].following.append(number)

    def statement(self, node: Node | None) -> None:
        if node is None:
            return
        self.segment = self._segment(node)
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            self.step(node)
        else:
            method(node)

    def _segment(self, node: Node) -> int:
        found = self.segment_of(node)
        return self.segment if found is None else found

    @contextmanager
    def _scope(self) -> Generator[None]:
        outside, block = dict(self.declared), self.block
        self.blocks += 1
        self.block = self.blocks
        yield
        self.declared, self.block = outside, block

    def _Compound(self, node: c_ast.Compound) -> None:
        with self._scope():
            for item in node.block_items or []:
                self.statement(item)

    def _DeclList(self, node: c_ast.DeclList) -> None:
        for declaration in node.decls:
            self.statement(declaration)

    def _Decl(self, node: c_ast.Decl) -> None:
        if node.name is None:
            return
        self.declared[node.name] = self.block
        made = self.steps[self.step(node)]
        if not {"static", "extern"} & set(node.storage):
            made.killed |= {node.name}

    def _Typedef(self, node: c_ast.Typedef) -> None:
        self.declared[node.name] = self.block

    def _If(self, node: c_ast.If) -> None:
        segment, condition = self.segment, self.step(node.cond)
        self._know(node.cond, True)
        self.statement(node.iftrue)
        ends, self.ends = self.ends, [condition]
        self.segment = segment
        self._know(node.cond, False)
        self.statement(node.iffalse)
        self.ends = [*ends, *self.ends]

    def _For(self, node: c_ast.For) -> None:
        with self._scope():
            self.statement(node.init)
            self.segment = self._segment(node)
            self._loop(node.cond, node.stmt, node.next)

    def _While(self, node: c_ast.While) -> None:
        self._loop(node.cond, node.stmt, None)

    def _loop(self, condition: Node | None, body: Node | None, update: Node | None) -> None:
        segment = self.segment
        start = self.step(condition)
        self._know(condition, True)
        self._open()
        self.statement(body)
        self.segment = segment
        self.ends.extend(self.continues.pop())
        self.step(update)
        self._link(self.ends, start)
        self.ends = [start] if condition is not None else []
        self._know(condition, False)
        self.ends += self.breaks.pop()

    def _DoWhile(self, node: c_ast.DoWhile) -> None:
        segment = self.segment
        start = self.step(None)
        self._open()
        self.statement(node.stmt)
        self.segment = segment
        self.ends.extend(self.continues.pop())
        condition = self.step(node.cond)
        self._link([condition], start)
        self._know(node.cond, False)
        self.ends += self.breaks.pop()

    def _open(self) -> None:
        self.breaks.append([])
        self.continues.append([])

    def _Switch(self, node: c_ast.Switch) -> None:
        selection = self.step(node.cond)
        self.selections.append(selection)
        self.breaks.append([])
        self.ends = []
        self.statement(node.stmt)
        self.selections.pop()
        none_chosen = [] if selection in self.complete else [selection]
        self.ends = [*self.ends, *none_chosen, *self.breaks.pop()]

    def _Case(self, node: c_ast.Case) -> None:
        self._alternative(node.stmts or [])

    def _Default(self, node: c_ast.Default) -> None:
        self.complete.update(self.selections[-1:])
        self._alternative(node.stmts or [])

    def _alternative(self, statements: Iterable[Node]) -> None:
        self.ends.extend(self.selections[-1:])
        for statement in statements:
            self.statement(statement)

    def _Label(self, node: c_ast.Label) -> None:
        self.labels[node.name] = self.step(None)
        self.statement(node.stmt)

    def _Goto(self, node: c_ast.Goto) -> None:
        self.jumps.append((self.step(None), node.name))
        self.ends = []

    def _Break(self, _: c_ast.Break) -> None:
        self._leave(self.breaks)

    def _Continue(self, _: c_ast.Continue) -> None:
        self._leave(self.continues)

    def _leave(self, targets: list[list[int]]) -> None:
        number = self.step(None)
        if targets:
            targets[-1].append(number)
        self.ends = []

    def _Return(self, node: c_ast.Return) -> None:
        self._link([self.step(node.expr)], _EXIT)
        self.ends = []
