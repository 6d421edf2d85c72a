"""The memory accesses of a loop nest: what each touches, and in which iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.core.source import Position
from orio_py.ctree.dependence.affine import Polynomial, is_fixed
from orio_py.ctree.dependence.names import Names
from orio_py.ctree.dependence.scope import Alternatives, Constraint, Level, Scope
from orio_py.ctree.emit import emit_expression
from orio_py.ctree.nodes import Node
from orio_py.ctree.parse import position
from orio_py.ctree.symbols import CDeclaration


class Unanalysable(Exception):
    """The accesses of a tree cannot be bounded: why, and where; `called` is the function that is to blame."""

    def __init__(self, reason: str, node: Node | None, called: str | None = None) -> None:
        super().__init__(reason)
        self.called = called
        self.reason = reason
        self.position = None if node is None else position(node)


@dataclass(frozen=True, slots=True)
class Access:
    """One place of the code that reads or writes memory, for messages."""

    name: str
    text: str
    position: Position | None
    is_write: bool

    def __str__(self) -> str:
        place = "" if self.position is None else f" (line {self.position.line})"
        return f"`{self.text}`{place}"


@dataclass(frozen=True, slots=True)
class Instance:
    """An access in all its iterations.

    A subscript that is None may have any value.  `levels` are the loops around it, outermost first,
    `domain` their constraints and `cases` alternatives of which each holds, too; `path` is its place among
    the fusable loops; `why` is None if subscripts and domain are exact; `also_reads` marks a write that
    stands for a read of the same element too; `depth` is the number of subscripts in the text.
    """

    name: str
    node: Node
    is_write: bool
    subscripts: tuple[Polynomial | None, ...]
    levels: tuple[Level, ...]
    domain: tuple[Constraint, ...]
    path: tuple[int, ...]
    why: str | None
    also_reads: bool = False
    cases: tuple[Alternatives, ...] = ()
    depth: int = 0

    @property
    def access(self) -> Access:
        """The access as messages show it."""
        return Access(self.name, emit_expression(self.node), position(self.node), self.is_write)

    @property
    def domain_key(self) -> object:
        """Equal for accesses in the same iterations."""
        cases = tuple(tuple(tuple(c.key for c in part) for part in choice) for choice in self.cases)
        return tuple(constraint.key for constraint in self.domain), cases

    @property
    def is_scalar(self) -> bool:
        """Whether the access is to a plain variable."""
        return not self.subscripts and "." not in self.name


@dataclass(frozen=True, slots=True)
class Accesses:
    """The accesses of a nest to memory that it writes.

    `body` is the scope of the innermost loop of the band, `groups` are the statements at each path,
    `jump` says, if it is not None, which jump makes domains inexact, `names` are the facts about the names,
    and `dead` the branches that are never taken: `if` statements by identity, and which way.
    """

    instances: tuple[Instance, ...]
    body: Scope
    groups: Mapping[tuple[int, ...], tuple[Node, ...]]
    jump: str | None
    names: Names
    dead: frozenset[tuple[int, bool]]


def unsigned_factors(
    instances: Sequence[Instance], declarations: Mapping[str, CDeclaration]
) -> list[Constraint]:
    """That unsigned variables by which loops or subscripts multiply are at least 0."""
    parts = [part for i in instances for part in (*i.domain, *i.subscripts) if part is not None]
    factors = {s for part in parts for product in part.terms if len(product) > 1 for s in product}
    declared = ((s, declarations.get(s)) for s in sorted(factors) if is_fixed(s))
    return [Polynomial.symbol(s) for s, d in declared if d is not None and d.is_scalar and d.is_unsigned]
