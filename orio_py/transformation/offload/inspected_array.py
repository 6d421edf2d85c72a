"""Variables in which the host finds out between which places elements of an array are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.build import (
    as_long,
    assign,
    binary,
    block,
    cast_to,
    declare,
    ident,
    if_,
    unary,
)
from orio_py.ctree.nodes import (
    Node,
    c_ast,
)


@dataclass(frozen=True, slots=True)
class InspectedArray:
    """An array: how many subscripts make the place, the `extents` of all dimensions but the first, and the variables
    that come to hold the first and the last place, which lies before the first where there is none.
    """

    depth: int
    extents: tuple[Node, ...]
    first: str
    last: str
    at: str

    def begin(self) -> list[Node]:
        """The variables, before any element is used."""
        every = unary("~", c_ast.Constant("unsigned long int", "0UL"))
        largest = cast_to("long", binary(">>", every, 1))
        return [
            declare("long", self.first, largest),
            declare("long", self.last, unary("-", ident(self.first))),
        ]

    def note(self, subscripts: Sequence[Node]) -> Node:
        """The statement that takes down an element."""
        place: Node = as_long(subscripts[0])
        for extent, subscript in zip(self.extents, subscripts[1:], strict=False):
            place = binary("+", binary("*", place, extent), subscript)
        at, first, last = ident(self.at), ident(self.first), ident(self.last)
        return block(
            declare("const long", self.at, place),
            if_(binary("<", at, first), assign(first, at)),
            if_(binary(">", at, last), assign(last, at)),
        )

    def end(self) -> Node:
        """What makes the range begin with 0 where no element is used."""
        first, last = ident(self.first), ident(self.last)
        return if_(binary("<", last, first), block(assign(first, 0), assign(last, -1)))
