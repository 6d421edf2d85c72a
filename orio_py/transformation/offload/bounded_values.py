"""What is computed from indices and lies between bounds of its own: quotients, bytes, and sums that conditions compare.

    x[(i + shift) % n]                                        0 <= (i + shift) % n <= n - 1
    x[s[i]], x[code & 15]                                     0 <= s[i] <= 255, of type unsigned char
    if (y + d >= 0 && y + d < h) t = x[(y + d) * w];          0 <= y + d <= h - 1

Each counts as an integer of its own: for the range of a subscript it takes the place of the indices that it is made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from orio_py.ctree.build import binary, const, literal_value, ternary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.equal import equal
from orio_py.ctree.nodes import MIRRORED, Node, c_ast

_OWN = "?"
"""The first letter of the symbols of what is computed from indices, which no name in C has."""


def is_computed(symbol: str) -> bool:
    """Whether a symbol stands for something that indices change."""
    return symbol.startswith(_OWN)


@dataclass(frozen=True, slots=True)
class Quotient:
    """`value / by`, `value % by` or `value & by`, of which only the first operand changes; `divisor` is `by` in C.

    Of a shift to the right `by` is the power of 2 that it divides by.

    With `unsigned` C computes it so, and a value below 0 is another number.  A `place` tells apart what no polynomial says.
    """

    operator: str
    value: Polynomial
    by: Polynomial
    divisor: Node
    unsigned: bool
    place: str = ""

    @classmethod
    def up_to(cls, most: int, place: int) -> Quotient:
        """A value between 0 and a number, of which no more is known than where it is computed."""
        number = Polynomial.constant(most)
        return cls("&", number, number, const(most), unsigned=True, place=f"@{place}")

    @property
    def symbol(self) -> str:
        """The same for the same function of indices."""
        return f"{_OWN}{self.operator}{self.value.key}{self.by.key}{self.place}"

    @property
    def least(self) -> Polynomial:
        """What is at least 0 where the bounds hold."""
        return self.by if self.operator == "&" else self.by.shifted(-1)


@dataclass(frozen=True, slots=True)
class ComparedSum:
    """A sum that several `indices` change, and what it is at least and at most where conditions hold, by steady scalars."""

    value: Polynomial
    indices: frozenset[str]
    lowers: tuple[Polynomial, ...]
    uppers: tuple[Polynomial, ...]

    @classmethod
    def of(cls, distance: Polynomial, relation: str, varying: Collection[str]) -> ComparedSum | None:
        """What `distance relation 0` says of the part of it that `varying` symbols change; None for `!=`."""
        changing = {m: c for m, c in distance.terms.items() if not set(m).isdisjoint(varying)}
        value = Polynomial(changing)
        rest = distance - value
        if value.leading()[1] < 0:
            value, rest, relation = value.scaled(-1), rest.scaled(-1), MIRRORED[relation]
        end, indices = rest.scaled(-1), value.symbols.intersection(varying)
        match relation:
            case "<" | "<=":
                return cls(value, indices, (), (end.shifted(-1 if relation == "<" else 0),))
            case ">" | ">=":
                return cls(value, indices, (end.shifted(1 if relation == ">" else 0),), ())
            case "==":
                return cls(value, indices, (end,), (end,))
            case _:
                return None

    @property
    def symbol(self) -> str:
        """The same for the same sum."""
        return f"{_OWN}+{self.value.key}"

    def put_into(self, subscript: Polynomial, others: Collection[str]) -> Polynomial:
        """A subscript in which the sum has taken the place of one of its indices, rather one that is not among others.

        The same object where none stands alone in the sum and occurs in the subscript.
        """
        alone = {place[0]: factor for place, factor in self.value.terms.items() if len(place) == 1}
        usable = [
            name
            for name, factor in sorted(alone.items())
            if abs(factor) == 1
            and name in self.indices & subscript.symbols
            and sum(name in place for place in self.value.terms) == 1
        ]
        if not usable:
            return subscript
        name = min(usable, key=lambda each: each in others)
        rest = self.value - Polynomial.symbol(name).scaled(alone[name])
        return subscript.substituted(name, (Polynomial.symbol(self.symbol) - rest).scaled(alone[name]))


def with_sums(subscript: Polynomial, sums: Sequence[ComparedSum]) -> tuple[Polynomial, list[ComparedSum]]:
    """A subscript in terms of sums rather than of their indices, and these sums: all of them, else each that can."""
    for group in (sums, *([each] for each in sums)):
        found, used = subscript, list[ComparedSum]()
        for each in group:
            others = _indices(other for other in sums if other is not each)
            before, found = found, each.put_into(found, others)
            used += [each] if found is not before else []
        if used and found.symbols.isdisjoint(_indices(used)):
            found, more = with_sums(found, [each for each in sums if each not in used])
            return found, [*used, *more]
    return subscript, []


def _indices(sums: Iterable[ComparedSum]) -> frozenset[str]:
    return frozenset(name for each in sums for name in each.indices)


def together(sums: Iterable[ComparedSum]) -> list[ComparedSum]:
    """What conditions say of each sum."""
    found: dict[str, ComparedSum] = {}
    for each in sums:
        before = found.get(each.symbol)
        lowers, uppers = ((), ()) if before is None else (before.lowers, before.uppers)
        found[each.symbol] = ComparedSum(
            each.value, each.indices, (*lowers, *each.lowers), (*uppers, *each.uppers)
        )
    return list(found.values())


def positive(number: Node) -> Node:
    """A number where it is above 0, else 1: what C may divide by whatever the number is."""
    value = literal_value(number)
    return number if value is not None and value > 0 else ternary(binary(">", number, 0), number, 1)


def is_positive(number: Node) -> bool:
    """Whether an expression is one of `positive`."""
    match number:
        case c_ast.TernaryOp(
            cond=c_ast.BinaryOp(op=">", left=tested, right=least), iftrue=chosen, iffalse=other
        ):
            return equal(tested, chosen) and literal_value(least) == 0 and literal_value(other) == 1
        case _:
            return (literal_value(number) or 0) > 0
