"""The uses of an array inside the loops of a tile, and whether each of its elements is used there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orio_py.ctree.build import literal_value
from orio_py.ctree.dependence.reuse import Elements, MemoryObject, Place
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.certain_conditions import never_holds
from orio_py.transformation.storage.array_uses.items import Ref, Use
from orio_py.transformation.storage.array_uses.live_ranges import Chain, Spans
from orio_py.transformation.storage.array_uses.loop_headers import is_trusted, test_at_start

Offsets = tuple[int, ...]
"""What the subscripts of a reference add to the variables of the tile."""


@dataclass(frozen=True, slots=True)
class Side:
    """One dimension of a tile: its loop, and the least and greatest offset."""

    loop: CanonicalLoop
    least: int
    greatest: int

    @property
    def spread(self) -> int:
        """How many elements more than the loop's range are used."""
        return self.greatest - self.least


class TileUses:
    """The uses of one array inside the loops of a tile."""

    def __init__(self, name: str, variables: tuple[str, ...], spans: Spans, context: Context) -> None:
        uses = spans.uses
        self.name, self.variables, self.context = name, variables, context
        self._spans, self._span = spans, spans.span(uses.root, 0, 0)
        self.mine = [use for use in self._span.uses if use.ref.name == name]
        self.calls = any(barrier.kind == "call" for barrier in uses.barriers)

    def references(self, head: Node) -> dict[Ref, Offsets]:
        """The references of the tile, with what they add to its variables.  Raises Refusal: ORIO-T063."""
        found: dict[Ref, Offsets] = {}
        for use in self.mine:
            offsets = _offsets(use.ref, self.variables)
            if offsets is not None:
                found[use.ref] = offsets
        if not found:
            wanted = self.name + "".join(f"[{v}]" for v in self.variables)
            refuse(
                "ORIO-T063",
                f"ArrCopy finds no reference such as `{wanted}` in the loop",
                head,
                argument="aref",
            )
        return found

    def others(self, *, written: bool) -> Iterator[MemoryObject]:
        """What may overlap the array through another name."""
        return self._span.others(self.mine[0].storage, written=written)

    def may_meet(self, first: Use, second: Use) -> bool:
        """Whether two uses can be of one element, in any iterations."""
        one, other = self._span.elements, self._span.new_elements("@other")
        left, right = self._inside(one, first.loops), self._inside(other, second.loops)
        a = one.subscripts(first.ref.subscripts, left)
        b = other.subscripts(second.ref.subscripts, right)
        return one.may_coincide(a, b, (*left.scope.domain, *right.scope.domain))

    def _inside(self, elements: Elements, chain: Chain) -> Place:
        place = elements.place
        for loop in chain:
            place = elements.inside(self._spans.header(loop), place)
        return place

    def guards(
        self, references: Mapping[Ref, Offsets], written: tuple[Offsets, ...], sides: tuple[Side, ...]
    ) -> list[Node]:
        """Tests after which every element that is copied is used.  Raises Refusal: ORIO-T068."""
        found: dict[str, Node] = {}
        for offsets in dict.fromkeys(references.values()):
            uses = [use for use in self.mine if references.get(use.ref) == offsets]
            for wanted in (uses, [use for use in uses if use.writes]) if offsets in written else (uses,):
                tests = self._tests(wanted, sides)
                found.update({emit_expression(test): test for test in tests})
        return list(found.values())

    def _tests(self, uses: Sequence[Use], sides: tuple[Side, ...]) -> list[Node]:
        best: list[Node] | None = None
        for use in uses:
            tests = self._tests_of(use, sides)
            if tests is not None and (best is None or len(tests) < len(best)):
                best = tests
        if best is None:
            use = uses[0]
            refuse(
                "ORIO-T068",
                f"ArrCopy would {'write' if use.writes else 'read'} elements that the loops may leave alone: "
                f"`{use.ref.text}` is not reached in every iteration",
                use.node,
            )
        return best

    def _tests_of(self, use: Use, sides: tuple[Side, ...]) -> list[Node] | None:
        """The tests that decide whether the loops around a use run; None if it may be left out anyway."""
        if use.may_be_skipped:
            return None
        chain = use.loops
        tests: list[Node] = []
        for depth, loop in enumerate(chain):
            side = next((s for s in sides if s.loop.node is loop.node), None)
            if side is not None and not side.spread:
                continue  # The copying loop has the same header.
            test = test_at_start(loop, loop.node.cond, self.context)
            if test is None or never_holds(test, self.context):
                return None
            elements, place = self._span.elements, self._span.inside(chain[:depth])
            if is_trusted((test,), loop.declared, self.context) and elements.holds(test, place):
                continue
            effects = self.context.effects(test)
            if effects.writes or effects.opaque or effects.calls or effects.array_reads:
                return None
            if not effects.reads.isdisjoint(self._span.writes):
                return None
            tests.append(test)
        return tests


def _offsets(ref: Ref, variables: tuple[str, ...]) -> Offsets | None:
    """What subscripts add to the variables; None if they are not of the form `variable + constant`."""
    if len(ref.subscripts) != len(variables):
        return None
    found = [_offset(s, v) for s, v in zip(ref.subscripts, variables, strict=True)]
    known = tuple(offset for offset in found if offset is not None)
    return known if len(known) == len(found) else None


def _offset(subscript: Node, variable: str) -> int | None:
    match subscript:
        case c_ast.ID(name=name):
            return 0 if name == variable else None
        case c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=name), right=amount) if name == variable:
            value = literal_value(amount)
            return value if value is None or op == "+" else -value
        case c_ast.BinaryOp(op="+", left=amount, right=c_ast.ID(name=name)) if name == variable:
            return literal_value(amount)
        case _:
            return None
