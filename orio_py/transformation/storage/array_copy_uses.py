"""The uses of an array inside the loops of a tile, and whether each of its elements is used there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from orio_py.ctree.build import literal_value
from orio_py.ctree.dependence.reuse import Elements, MemoryObject, Place
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import declared_names, used_names
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
        """Tests after which every element that is copied is used, and without which none is.  Raises Refusal: ORIO-T068."""
        found: dict[str, Node] = {}
        for offsets in dict.fromkeys(references.values()):
            uses = [use for use in self.mine if references.get(use.ref) == offsets]
            for wanted in (uses, [use for use in uses if use.writes]) if offsets in written else (uses,):
                tests = self._tests(wanted, sides)
                found.update({emit_expression(test): test for test in tests})
        for use in self.mine if found else ():
            needs = {emit_expression(test) for test in self._loop_tests(use, sides) if test is not None}
            if use.ref in references and not found.keys() <= needs:
                self._refuse(
                    use, f"is reached where `{min(found.keys() - needs)}` fails, where others are not"
                )
        return list(found.values())

    def _tests(self, uses: Sequence[Use], sides: tuple[Side, ...]) -> list[Node]:
        """The fewest tests after which one of some uses is certain."""
        known = [tests for use in uses if (tests := self._tests_of(use, sides)) is not None]
        if not known:
            self._refuse(uses[0], "is not reached in every iteration")
        return min(known, key=len)

    def _refuse(self, use: Use, where: str) -> NoReturn:
        kind = "write" if use.writes else "read"
        message = f"ArrCopy would {kind} elements that the loops may leave alone: `{use.ref.text}` {where}"
        refuse("ORIO-T068", message, use.node)

    def _tests_of(self, use: Use, sides: tuple[Side, ...]) -> list[Node] | None:
        """The tests that decide whether the loops around a use run; None if it may be left out anyway."""
        if use.may_be_skipped:
            return None
        found = list(self._loop_tests(use, sides))
        tests = [test for test in found if test is not None]
        return tests if len(tests) == len(found) else None

    def _loop_tests(self, use: Use, sides: tuple[Side, ...]) -> Iterator[Node | None]:
        """The tests without which one of the loops around a use does not run; None where that is not known before them."""
        chain = use.loops
        for depth, loop in enumerate(chain):
            side = next((s for s in sides if s.loop.node is loop.node), None)
            if side is not None and not side.spread:
                continue  # The copying loop has the same header.
            test = test_at_start(loop, loop.node.cond, self.context)
            if test is None or never_holds(test, self.context):
                yield None
                continue
            elements, place = self._span.elements, self._span.inside(chain[:depth])
            if is_trusted((test,), loop.declared, self.context) and elements.holds(test, place):
                continue
            effects = self.context.effects(test)
            steady = effects.reads.isdisjoint(self._span.writes)
            steady = steady and used_names([test]).isdisjoint(declared_names(chain[0].node))
            yield (
                None
                if effects.writes or effects.opaque or effects.calls or effects.array_reads or not steady
                else test
            )


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
