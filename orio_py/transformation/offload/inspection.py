"""Elements whose places only a run tells: loops on the host find out, before the kernel, between which of them a nest stays.

    for (i = 0; i < n; i++)             long x_from = …, x_to = …;
      if (idx[i] >= 0)                  for (i = 0; i < n; i++)
        y[i] = x[idx[i]];                 if (idx[i] >= 0) {
                                            const long x_at = idx[i];
                                            if (x_at < x_from) x_from = x_at;
                                            if (x_at > x_to) x_to = x_at;
                                          }

They are a slice of the nest: its loops and conditions, what these and the subscripts are computed from, and nothing else.
So they read no element that the nest does not read, and come to the same places, as long as it writes nothing that they read.

Sources: for inspectors J. Saltz, R. Mirchandaney and K. Crowley, "Run-time parallelization and scheduling of loops", IEEE
Transactions on Computers 40 (5), 1991; for slices M. Weiser, "Program slicing", ICSE 1981.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orio_py.core.names import NameSupply
from orio_py.ctree.build import (
    as_long,
    block,
    declare,
    statements,
)
from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import (
    Comment,
    Node,
)
from orio_py.ctree.normalise import declare_in_headers
from orio_py.ctree.rewrite import rename
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context, KnownRange
from orio_py.transformation.offload.access_slice import AccessSlice, InspectedArray
from orio_py.transformation.offload.extents import inner_extents


def inspected_array(declared: CDeclaration, context: Context, supply: NameSupply) -> InspectedArray:
    """An array with names for the variables."""
    inner, scalars = inner_extents(declared, context)
    values = {scalar.name: scalar.value for scalar in scalars}
    extents = tuple(as_long(values.get(getattr(extent, "name", ""), extent)) for extent in inner)
    first, last, at = (supply.fresh(f"{declared.name}_{word}") for word in ("from", "to", "at"))
    return InspectedArray(len(extents) + 1, extents, first, last, at)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The loops that find out which elements of `arrays` a nest uses, and the variables that they set for themselves."""

    arrays: Mapping[str, InspectedArray]
    variables: tuple[tuple[str, str], ...]
    loops: Node

    @classmethod
    def of(cls, found: AccessSlice) -> Inspection:
        """Those of a slice of the nest.  Raises Uninspectable."""
        nest = found.nest()
        return cls(found.arrays, tuple(found.own(nest)), nest)

    @property
    def text(self) -> str:
        """The same for loops that do the same."""
        return emit(self.loops)

    def known(self, name: str) -> KnownRange:
        """What is known of an array behind the statements."""
        array = self.arrays[name]
        return KnownRange(array.first, array.last, array.at, self.text)

    def statements(self, supply: NameSupply) -> list[Node]:
        """The statements, with variables of their own: those of the function keep their values."""
        own = {name: supply.fresh(f"{name}_at") for name, _ in self.variables}
        begin = [part for array in self.arrays.values() for part in array.begin()]
        names = ", ".join(f"`{name}`" for name in self.arrays)
        remark = Comment(f"/* Which elements of {names} the loops use. */")
        declared = [declare(kind, own[name]) for name, kind in self.variables]
        inside = block(*declared, *statements(rename(self.loops, own)))
        declare_in_headers(inside)
        return [*begin, remark, inside, *(array.end() for array in self.arrays.values())]
