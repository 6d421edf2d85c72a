"""Which memory a statement touches, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from orio_py.ctree.dependence.alias import Aliases
from orio_py.ctree.dependence.names import AccessKey, names_of, references
from orio_py.ctree.nodes import Node, array_of, c_ast
from orio_py.ctree.structures import lie_inside
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.guards.row_ranges import row_subscripts
from orio_py.transformation.verdicts import aliases_in


@dataclass(frozen=True, slots=True)
class Spots:
    """What a statement touches of memory that it does not declare itself: by name with fields, and what it writes.

    `nodes` are the places in the tree, by identity; `addresses` are pointers of the function whose own values are
    read, too, as in `if (p != NULL)`: they may be null.
    """

    found: Mapping[str, frozenset[AccessKey]]
    written: frozenset[AccessKey]
    nodes: Mapping[str, frozenset[int]]
    addresses: frozenset[str]

    @classmethod
    def of(cls, statement: Node, context: Context) -> Spots:
        """The spots of a statement, scalars only where others may reach them."""
        names = names_of(statement, context.declarations)
        done = context.effects(statement)
        escape = done.calls or done.opaque
        addresses: set[str] = set()
        spots: dict[str, set[AccessKey]] = {}
        nodes: dict[str, set[int]] = {}
        written: set[AccessKey] = set()
        for found, node, is_written in references(statement, names):
            if found.variable in names.local or not (found.subscripts or found.variable in context.exposed):
                declared = context.declarations.get(found.variable)
                if declared is None or not declared.is_array_like or found.variable in names.local:
                    continue
                is_array = bool(declared.dimensions) and declared.scope != "parameter"
                if not (escape or is_written or found.subscripts or is_array):
                    addresses.add(found.name)
                    continue
            spots.setdefault(found.name, set()).add(found.spot)
            nodes.setdefault(found.name, set()).add(id(_element(node, found.name, context)))
            written.update([found.spot] if is_written else ())
        return cls(
            {name: frozenset(keys) for name, keys in spots.items()},
            frozenset(written),
            {name: frozenset(keys) for name, keys in nodes.items()},
            frozenset(addresses),
        )

    def doubtful_pairs(self, context: Context) -> list[tuple[str, str]]:
        """The names that may touch the same memory, of which one is written at least."""
        aliases = aliases_in(context)
        return [
            (one, two)
            for one, two in combinations(sorted(self.found), 2)
            if any(
                aliases.may_overlap(first, second)
                for first in self.found[one]
                for second in self.found[two]
                if first in self.written or second in self.written
            )
        ]

    def threats(self, name: str, members: Sequence[CDeclaration], context: Context) -> frozenset[str] | None:
        """What is written and may be the pointer itself, where the name is that of a member, or the pointers to its rows.

        `members` are the declarations of what stands for a member and for those that lead to it, which nothing sets.  None
        where no test tells.
        """
        aliases = aliases_in(context)
        declared = context.declarations.get(name.partition(".")[0])
        if not members:
            if "." in name:
                return None
            return frozenset() if declared is None else self._threats_to_rows(name, declared, 0, aliases)
        *leading, member = members
        depth = sum(outer.pointers for outer in leading) + (0 if declared is None else declared.pointers)
        pointer = name, depth
        if member.dimensions and not member.pointers and not member.points_to_array:
            return frozenset()  # It lies in the structure.
        if name in self.found and all(spot == pointer for spot in self.found[name]):
            return frozenset()
        if pointer in self.written:
            return None
        found = frozenset(spot[0] for spot in self.written if aliases.may_overlap(pointer, spot))
        if not leading and any(
            spot[0] == name and spot[1] > depth and aliases.may_hold_pointers(spot) for spot in self.written
        ):
            found |= {name}  # As bytes of its own elements.
        to_rows = self._threats_to_rows(name, member, depth, aliases)
        if to_rows is None or (leading and (found or to_rows)):
            return None
        return found | to_rows

    def _threats_to_rows(
        self, name: str, declared: CDeclaration, depth: int, aliases: Aliases
    ) -> frozenset[str] | None:
        """What is written and may be pointers to rows, which have more subscripts than `depth`."""
        last = depth + row_subscripts(declared)
        rows = [(name, taken) for taken in range(depth + 1, last + 1)]
        if not rows:
            return frozenset()
        own = {name} if aliases.may_hold_pointers((name, last + 1)) else set[str]()
        if not self.written.isdisjoint(rows):
            return None
        found = (
            s[0] for s in self.written if s[0] in own or any(aliases.may_overlap(row, s) for row in rows)
        )
        return frozenset(found)


def _element(node: Node, name: str, context: Context) -> Node:
    """The element of an array whose members hold what is named, as numbers or in arrays of their own."""
    variable, *members = name.split(".")
    declared = context.declarations.get(variable)
    while members:
        member = array_of(node)
        if not isinstance(member, c_ast.StructRef) or member.type != "." or isinstance(member.name, c_ast.ID):
            break
        is_array = member is not node
        if is_array and (declared is None or not lie_inside(context.structures, declared.type, members)):
            break
        node = member.name
        members.pop()
    return node
