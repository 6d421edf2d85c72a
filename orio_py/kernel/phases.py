"""Statements of iterations that the items of a group do together: what C has no words for.

    SpreadLoop(j, 0, m, …)        each item runs every N-th iteration; sums have one value in all items afterwards,
                                  or in each iteration the value that they have there: a scan
    FirstItem(y[i] = s;)          one item runs the statement
    GroupWait()                   all items wait, and see what the others have written
    …                             all others are run by each item, with the same values

Source: The OpenCL Specification 1.2, sections 3.2.2 and 6.12.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from orio_py.ctree.nodes import Compound, Node
from orio_py.ctree.rewrite import walk
from orio_py.kernel.plan import Axis, ReductionPlan


class SpreadLoop(Node):
    """A loop whose iterations the items of a group share out; each of `reductions` is combined among them.

    With `value` it is a scan of the only reduction: these statements of an iteration are what changes the variable, and `stmt`
    begins with the value that it has from all iterations before; `scanned_name` has the one behind it.
    """

    __slots__ = (
        "__weakref__",
        "coord",
        "index",
        "kind",
        "reductions",
        "start",
        "stmt",
        "stride",
        "trips",
        "value",
    )
    attr_names = ("index", "kind", "stride")

    def __init__(
        self,
        axis: Axis,
        stmt: Compound,
        reductions: tuple[ReductionPlan, ...],
        value: Compound | None = None,
        coord: Any = None,
    ) -> None:
        self.index = axis.index
        self.kind = axis.type
        self.stride = axis.stride
        self.start = axis.start
        self.trips = axis.trips
        self.stmt = stmt
        self.reductions = reductions
        self.value = value
        self.coord = coord

    @property
    def axis(self) -> Axis:
        """What the index runs over."""
        return Axis(self.index, self.kind, self.start, self.trips, self.stride)

    def children(self) -> tuple[tuple[str, Node], ...]:
        """The first index, the number of iterations and the statements."""
        found = (("start", self.start), ("trips", self.trips), ("value", self.value), ("stmt", self.stmt))
        return tuple((name, node) for name, node in found if node is not None)

    def __iter__(self) -> Iterator[Node]:
        return (node for _, node in self.children())


class FirstItem(Node):
    """A statement that one item of a group runs."""

    __slots__ = ("__weakref__", "coord", "stmt")

    def __init__(self, stmt: Node, coord: Any = None) -> None:
        self.stmt = stmt
        self.coord = coord

    def children(self) -> tuple[tuple[str, Node], ...]:
        """The statement."""
        return (("stmt", self.stmt),)

    def __iter__(self) -> Iterator[Node]:
        yield self.stmt


class GroupWait(Node):
    """The statement at which all items of a group wait for each other, and behind which they see all that was written."""

    __slots__ = ("__weakref__", "coord")

    def __init__(self, coord: Any = None) -> None:
        self.coord = coord

    def children(self) -> tuple[tuple[str, Node], ...]:
        """No children."""
        return ()

    def __iter__(self) -> Iterator[Node]:
        return iter(())


def scanned_name(variable: str) -> str:
    """What an iteration of a scan calls the value that its own is in already."""
    return f"orio_scan_{variable}"


def spread_loops(body: Iterable[Node]) -> list[SpreadLoop]:
    """The loops that items share out, in the order of the source."""
    return [node for statement in body for node in walk(statement) if isinstance(node, SpreadLoop)]


def row_reductions(body: Iterable[Node]) -> tuple[ReductionPlan, ...]:
    """The scalars that the items of a group combine in an iteration, each once."""
    return tuple({r.name: r for loop in spread_loops(body) for r in loop.reductions}.values())
