"""Loops that use a running sum: scans, or prefix sums.

    for (i = 0; i < n; i++) {
      s += x[i];                          s has in each iteration what all iterations before it have added:
      y[i] = s;                           nothing else passes from one to the next
    }

What an iteration adds does not depend on the sum, so that sums of pieces can be found before the sums inside of them.

Source: G. Blelloch, "Prefix sums and their applications", in: Synthesis of Parallel Algorithms, 1993.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from orio_py.ctree.build import assign, block, statements
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.rewrite import assignments, copy_with, declared_names, walk, walk_statements
from orio_py.ctree.updates import Update, accumulating_steps
from orio_py.transformation.base import Context
from orio_py.transformation.overwriting import other_use
from orio_py.transformation.parallel.data_sharing import Sharing, assigned_scalars, sharing
from orio_py.transformation.parallel.reductions import Accumulation, combined

_JUMPS = (c_ast.Break, c_ast.Continue)


@dataclass(frozen=True, slots=True)
class PrefixScan:
    """The running value of an `accumulation` in a `body`, whose `steps` change it.

    `value` is the body without all that these do not need.
    """

    accumulation: Accumulation
    body: Node
    steps: tuple[Node, ...]
    value: Compound

    @property
    def name(self) -> str:
        """The variable."""
        return self.accumulation.name

    @property
    def operator(self) -> str:
        """What combines the values."""
        return self.accumulation.operator

    def behind_step(self, value: Node) -> Node:
        """The body with `value` assigned where its only step stands; as it is where the step is not certain, or one of several."""
        items = statements(self.body)
        first = self.steps[0]
        if len(self.steps) > 1 or not any(item is first for item in items):
            return self.body
        return block(*(assign(self.name, value) if item is first else item for item in items))


def scan_of(loop: CanonicalLoop, context: Context) -> tuple[PrefixScan, Sharing] | None:
    """The only running value that the iterations of a loop use, and what else they share; None where there is none, or several.

    That they depend on each other in no other way is for the dependence test to say, for which the variable is combined.
    """
    shared = sharing([loop], context)
    kept = {*shared.names, loop.index}
    names = [name for name in assigned_scalars(loop.body, context) if name not in kept]
    if len(names) != 1 or shared.reductions or other_use(loop.body, names[0], context) is not None:
        return None
    name = names[0]
    if any(isinstance(part, (c_ast.Goto, c_ast.Label, c_ast.Switch)) for part in walk_statements(loop.body)):
        return None
    declared = context.declarations.get(name)
    if declared is None or not declared.is_scalar or name in declared_names(loop.body):
        return None
    steps = accumulating_steps(loop.body, lambda target: isinstance(target, c_ast.ID) and target.name == name)
    found = combined(steps, declared, context) if _are_all(steps, name, loop.body) else None
    if found is None or found[0] in {"&&", "||"}:
        return None
    value = _value(loop.body, [step.place for step in steps], name, context)
    if value is None:
        return None
    operator, exact = found
    places = tuple(step.place for step in steps)
    scan = PrefixScan(Accumulation(name, operator, exact, False, False, places[0]), loop.body, places, value)
    return scan, replace(shared, reductions=(scan.accumulation,))


def _are_all(steps: Sequence[Update], name: str, body: Node) -> bool:
    """Whether nothing else changes the variable, and what steps add does not depend on it."""
    if sum(1 for changed, _ in assignments(body) if changed == name) != len(steps):
        return False
    return bool(steps) and all(
        sum(1 for part in walk(step.place) if isinstance(part, c_ast.ID) and part.name == name) == step.uses
        for step in steps
    )


def _value(body: Node, places: Sequence[Node], name: str, context: Context) -> Compound | None:
    """The statements that the steps need; None where they depend on elements that the iteration writes, or on the variable."""
    steps = {id(place) for place in places}
    items = statements(body)
    last = max(n for n, item in enumerate(items) if any(id(part) in steps for part in walk(item)))
    items = items[: last + 1]
    needed = _Needed(steps, declared_names(body), context)
    while (kept := needed.parts(items)) and needed.grows(kept, name):
        pass
    own, all_ = context.effects(block(*kept)), context.effects(block(*items))
    if name in needed.names or own.array_writes or own.calls or own.opaque:
        return None
    return None if own.reads & all_.array_writes else block(*kept)


class _Needed:
    """The part of an iteration that some statements need: `names` are what they read, by way of others, too.

    An array of the iteration's own counts as a variable that is written.
    """

    def __init__(self, steps: Set[int], local: Set[str], context: Context) -> None:
        self.names: frozenset[str] = frozenset()
        self._steps = steps
        self._local = local
        self._context = context

    def grows(self, kept: Sequence[Node], name: str) -> bool:
        """Take in what kept statements read, steps all but the variable; whether that was anything new."""
        before = self.names
        for node in kept:
            self.names |= self._read(node, name)
        return self.names != before

    def _read(self, node: Node, name: str) -> frozenset[str]:
        if id(node) in self._steps:
            return self._context.effects(node).reads - {name}
        inside = _statements_in(node)
        if not inside:
            return self._context.effects(node).reads
        parts = {id(part) for part in inside}
        own = [self._context.effects(part).reads for part in node if id(part) not in parts]
        return frozenset[str]().union(*own, *(self._read(part, name) for part in inside))

    def parts(self, items: Sequence[Node]) -> list[Node]:
        """The statements that are needed, of others that hold them the needed parts."""
        return [self._part(item) for item in items if self._is_needed(item)]

    def _is_needed(self, node: Node) -> bool:
        if any(id(part) in self._steps or isinstance(part, _JUMPS) for part in walk(node)):
            return True  # What jumps pass over is not reached.
        found = self._context.effects(node)
        written = found.scalar_writes | (found.array_writes & self._local) | declared_names(node)
        return bool(written & self.names)

    def _part(self, node: Node) -> Node:
        if id(node) in self._steps:
            return node
        match node:
            case Compound():
                return block(*self.parts(statements(node)))
            case c_ast.If():
                other = None if node.iffalse is None else block(*self.parts(statements(node.iffalse)))
                return copy_with(node, iftrue=block(*self.parts(statements(node.iftrue))), iffalse=other)
            case For() | c_ast.While() | c_ast.DoWhile():
                return copy_with(node, stmt=block(*self.parts(statements(node.stmt))))
            case _:
                return node


def _statements_in(node: Node) -> list[Node]:
    """The statements that a statement holds."""
    match node:
        case Compound():
            return statements(node)
        case c_ast.If():
            return [part for part in (node.iftrue, node.iffalse) if part is not None]
        case For() | c_ast.While() | c_ast.DoWhile():
            return [node.stmt]
        case _:
            return []
