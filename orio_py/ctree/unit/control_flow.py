"""The control-flow graph of a function, and what follows from it for its variables.

A step is an expression, a declaration or a condition; an edge leads to each step that may be next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from orio_py.ctree.effects import Effects, EffectsMemory
from orio_py.ctree.known_functions import allocated_pointer
from orio_py.ctree.nodes import Node, c_ast

_PRIVATE = re.compile(r"\b(?:private|shared|default|schedule)\s*\([^()]*\)")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(slots=True)
class Step:
    """One step: what it does, and the segment of the file that it is in.

    `killed` are the scalars that it assigns whenever it is executed, `mentioned` names that it may read
    besides, `unclear` those that it may assign, too.  `declared` are the names declared in the function that are in force, each with its block: in
    another block the same name is another variable.
    """

    effects: Effects | None
    killed: frozenset[str]
    mentioned: frozenset[str]
    unclear: frozenset[str]
    declared: dict[str, int]
    segment: int
    allocated: str | None = None
    """The pointer that the step sets to memory of its own."""
    following: list[int] = field(default_factory=list[int])

    def may_read(self, name: str) -> bool:
        """Whether the step may use the value that the variable has before it."""
        found = self.effects
        read = found is not None and (name in found.reads_before_write or name in found.array_reads)
        return read or name in self.mentioned or name in self.unclear

    def sets(self, name: str) -> bool:
        """Whether the step may give the variable itself another value."""
        found = self.effects
        return name in self.unclear or (found is not None and name in found.scalar_writes)

    def addresses(self, name: str) -> bool:
        """Whether the step takes the address of the variable."""
        return self.effects is not None and name in self.effects.address_taken

    @property
    def changed(self) -> frozenset[str]:
        """The variables that the step may assign, and those whose address it takes."""
        found = self.effects
        return self.unclear if found is None else found.writes | found.address_taken | self.unclear


@dataclass(frozen=True)
class ControlFlow:
    """The steps of a function; the first one is its entry, the second its exit.

    What is asked of some code is asked of the segments `inside` which it is.
    """

    steps: tuple[Step, ...]

    def live_after(self, name: str, inside: range) -> bool:
        """Whether the value of `name` behind the code may be read before it is assigned."""
        own = self._own(inside)
        block = _declared_in(name, own)
        waiting = [n for step in own for n in step.following if self.steps[n].segment not in inside]
        seen: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            step = self.steps[number]
            is_it = step.declared.get(name) == block
            if is_it and step.may_read(name):
                return True
            if not (is_it and name in step.killed):
                waiting.extend(step.following)
        return False

    def takes_address(self, name: str) -> bool:
        """Whether the address of a variable of this name is taken anywhere."""
        return any(name in addressed for _, addressed in self._addressing)

    def addressed_before(self, inside: range) -> frozenset[str]:
        """The variables whose address is taken before the code, or may be when it comes again."""
        before = self._before(inside)
        return frozenset[str]().union(*(names for number, names in self._addressing if number in before))

    def changes(self, name: str, inside: range) -> bool:
        """Whether the variable that the code knows by a name is assigned or addressed in the function."""
        return self._changes(name, inside, self._changing.get(name, ()))

    def changes_before(self, name: str, inside: range) -> bool:
        """Whether that is so before the code."""
        before = self._before(inside)
        return self._changes(name, inside, [n for n in self._changing.get(name, ()) if n in before])

    def sets_pointer(self, name: str, inside: range) -> bool:
        """Whether a pointer is set anew before or in the code."""
        before = self._before(inside)
        return any(
            (number in before or self.steps[number].segment in inside) and self.steps[number].sets(name)
            for number in self._changing.get(name, ())
        )

    def is_allocated(self, name: str, inside: range) -> bool:
        """Whether all that sets a pointer before or in the code are allocations, so that its memory is its own."""
        before = self._before(inside)
        steps = (
            self.steps[number]
            for number in self._changing.get(name, ())
            if number in before or self.steps[number].segment in inside
        )
        setting = [step for step in steps if step.sets(name) or step.addresses(name)]
        return bool(setting) and all(step.allocated == name for step in setting)

    def _changes(self, name: str, inside: range, numbers: Iterable[int]) -> bool:
        block = _declared_in(name, self._own(inside))
        return any(self.steps[number].declared.get(name) == block for number in numbers)

    def _own(self, inside: range) -> list[Step]:
        return [self.steps[n] for segment in inside for n in self._by_segment.get(segment, ())]

    def _before(self, inside: range) -> frozenset[int]:
        """The steps that may be executed before those of the code; theirs are left out."""
        key = inside.start, inside.stop
        if key not in self._known_before:
            own = {n for segment in inside for n in self._by_segment.get(segment, ())}
            waiting, seen = list(own), set(own)
            while waiting:
                for number in self._preceding[waiting.pop()]:
                    if number not in seen:
                        seen.add(number)
                        waiting.append(number)
            self._known_before[key] = frozenset(seen - own)
        return self._known_before[key]

    @cached_property
    def _known_before(self) -> dict[tuple[int, int], frozenset[int]]:
        return {}

    @cached_property
    def _preceding(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.steps]
        for number, step in enumerate(self.steps):
            for following in step.following:
                found[following].append(number)
        return found

    @cached_property
    def _by_segment(self) -> Mapping[int, list[int]]:
        return _listed((step.segment, number) for number, step in enumerate(self.steps))

    @cached_property
    def _changing(self) -> Mapping[str, list[int]]:
        """The steps that may change each variable."""
        return _listed((name, number) for number, step in enumerate(self.steps) for name in step.changed)

    @cached_property
    def _addressing(self) -> list[tuple[int, frozenset[str]]]:
        """The steps that take addresses, and of what."""
        found = (
            (n, step.effects.address_taken) for n, step in enumerate(self.steps) if step.effects is not None
        )
        return [(number, names) for number, names in found if names]


_K = TypeVar("_K")


def _listed(pairs: Iterable[tuple[_K, int]]) -> dict[_K, list[int]]:
    """The numbers of each key."""
    found: dict[_K, list[int]] = {}
    for key, number in pairs:
        found.setdefault(key, []).append(number)
    return found


def _declared_in(name: str, steps: Sequence[Step]) -> int | None:
    """The block whose declaration of `name` is in force around all of the steps."""
    outermost = min(steps, key=lambda step: len(step.declared), default=None)
    return None if outermost is None else outermost.declared.get(name)


def control_flow(
    body: Node, segment_of: Callable[[Node], int | None], mentioned: Mapping[int, frozenset[str]]
) -> ControlFlow:
    """The graph of a function's body.

    `segment_of` says in which segment of the file a node begins (None if it does not know), `mentioned`
    which names stand in a segment without being part of its code.
    """
    builder = _Builder(segment_of, mentioned)
    builder.build(body)
    return ControlFlow(tuple(builder.steps))


_ENTRY, _EXIT = 0, 1


def _nothing() -> Step:
    return Step(None, frozenset(), frozenset(), frozenset(), {}, -1)


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
                None if node is None else allocated_pointer(node),
            )
        )
        number = len(self.steps) - 1
        self._link(self.ends, number)
        self.ends = [number]
        return number

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
        condition = self.step(node.cond)
        self.statement(node.iftrue)
        ends, self.ends = self.ends, [condition]
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
        self._open()
        self.statement(body)
        self.segment = segment
        self.ends.extend(self.continues.pop())
        self.step(update)
        self._link(self.ends, start)
        self.ends = [*([start] if condition is not None else []), *self.breaks.pop()]

    def _DoWhile(self, node: c_ast.DoWhile) -> None:
        segment = self.segment
        start = self.step(None)
        self._open()
        self.statement(node.stmt)
        self.segment = segment
        self.ends.extend(self.continues.pop())
        condition = self.step(node.cond)
        self._link([condition], start)
        self.ends = [condition, *self.breaks.pop()]

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
