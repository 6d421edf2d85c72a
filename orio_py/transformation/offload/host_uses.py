"""What the host does between kernels, and which arrays that keeps from staying on the device meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from orio_py.ctree.effects import Effects, copied_pointers
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Comment, Compound, Node, c_ast
from orio_py.ctree.rewrite import declared_names, walk
from orio_py.kernel.call import called_plan
from orio_py.transformation.base import Context
from orio_py.transformation.parallel.annotate import at_least_once
from orio_py.transformation.verdicts import aliases_in

_HARMLESS = frozenset({"printf", "fprintf", "puts", "putchar", "fflush", "clock", "time"})
"""Functions that touch no array of the region's but those that they are given."""


@dataclass(frozen=True, slots=True)
class HostUses:
    """What code does besides its kernels.

    `given` are the arrays whose elements say what kernels are given or how long they run, `copied` pointers that are used
    otherwise than to follow them, `inside` the names that the code declares, and scalars that kernels combine.
    """

    effects: Effects
    given: frozenset[str]
    copied: frozenset[str]
    inside: frozenset[str]
    context: Context

    @classmethod
    def of(
        cls, code: Node, rest: Node, values: Iterable[Node], results: Iterable[str], context: Context
    ) -> HostUses:
        """Those of `code`, of which `rest` is left without kernels.

        The host computes `values` for kernels, which combine `results`.
        """
        given = frozenset[str]().union(*(context.effects(value).array_reads for value in values))
        inside = frozenset(declared_names(code)) | frozenset(results)
        return cls(context.effects(rest), given, copied_pointers(rest), inside, context)

    def problem(self, name: str, bounds: Iterable[Node], others: Iterable[str]) -> str | None:
        """Why an array cannot stay, of which kernels use what `bounds` say; None where it can.

        `others` are the arrays that kernels use.
        """
        return self.changing(bounds) or self._touched(name) or self._overlapped(name, others)

    def is_there(self, name: str) -> bool:
        """Whether an array has its elements, even where no kernel runs: its declaration or the user says so."""
        declared = self.context.declarations.get(name)
        if declared is None:
            return False
        is_object = bool(declared.dimensions) and not declared.is_parameter and declared.dimensions[0] != ""
        return is_object or declared.promised or declared.allocated

    def changing(self, bounds: Iterable[Node]) -> str | None:
        """Why the host cannot say before which elements kernels use; None where it can."""
        changed: Set[str] = self.effects.scalar_writes | self.inside
        used = {n.name for part in bounds for n in walk(part) if isinstance(n, c_ast.ID)}
        if not used & changed:
            return None
        return f"as what a kernel uses of it depends on `{min(used & changed)}`, which changes meanwhile"

    def _touched(self, name: str) -> str | None:
        host = self.effects
        if name in host.reads | host.writes | host.address_taken | host.escaping | self.copied | self.given:
            return "as code between the kernels uses it"
        declared = self.context.declarations.get(name)
        is_local = declared is not None and declared.scope == "local" and bool(declared.dimensions)
        calls = host.calls - _HARMLESS
        if (calls or host.opaque) and not (is_local and name not in self.context.exposed):
            return f"as `{min(calls)}` may use it" if calls else "as code between the kernels may use it"
        return None

    def _overlapped(self, name: str, others: Iterable[str]) -> str | None:
        aliases = aliases_in(self.context)
        touched = sorted(self.effects.array_reads | self.effects.array_writes | self.given)
        for other in dict.fromkeys((*others, *touched)):
            if other != name and aliases.may_overlap(self._key(name), self._key(other)):
                return f"as it may overlap `{other}`"
        return None

    def _key(self, name: str) -> tuple[str, int]:
        declared = self.context.declarations.get(name)
        return name, max(1, len(declared.dimensions)) if declared is not None else 1


@dataclass(frozen=True, slots=True)
class CertainPart:
    """The statements that run, in their order, if some code does; of a loop alone those of its body where it runs.

    `loop` is that loop.
    """

    statements: tuple[Node, ...]
    loop: CanonicalLoop | None = None

    @classmethod
    def of(cls, code: Node) -> CertainPart:
        """That of some code."""
        statements = [s for s in in_order(code) if not isinstance(s, (c_ast.EmptyStatement, Comment))]
        loop = CanonicalLoop.match(statements[0]) if len(statements) == 1 else None
        if loop is None:
            return cls(tuple(statements))
        found: list[Node] = []
        for statement in in_order(loop.body):
            if any(isinstance(part, (c_ast.Break, c_ast.Continue)) for part in walk(statement)):
                break
            found.append(statement)
        return cls(tuple(found), loop)

    def guarded(self, statement: Node, context: Context) -> Node:
        """A statement behind the condition that the loop runs."""
        return statement if self.loop is None else at_least_once(statement, [self.loop], context)


def in_order(code: Node) -> Iterator[Node]:
    """The statements of blocks in blocks, each of which runs once; a block that calls a kernel is one."""
    if not isinstance(code, Compound) or called_plan(code) is not None:
        yield code
        return
    for item in code.block_items or []:
        yield from in_order(item)
