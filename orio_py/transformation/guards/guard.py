"""A condition at run time, and what is known where it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from orio_py.ctree.build import binary, block, flat_block, if_
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Comment, Compound, Node, c_ast
from orio_py.transformation.base import Context, KnownRange
from orio_py.transformation.guards.row_facts import Fact, strongest
from orio_py.transformation.guards.single_reads import SteadyMemory


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition at run time, and what is known where it holds."""

    runs: tuple[Node, ...] = ()
    """That loops run whose bodies follow pointers, which the other tests do, too."""
    headers: tuple[Node, ...] = ()
    """What has to hold for the loops to be those that the recipe sees."""
    facts: tuple[Fact, ...] = ()
    names: frozenset[str] = frozenset()
    """Arrays that share memory with nothing else."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The names that are compared for that."""
    apart: tuple[Node, ...] = ()
    """The comparisons of these."""
    preparation: tuple[Node, ...] = ()
    """The statements before the test: they find the ends of arrays that it mentions, and count iterations."""
    after: tuple[Node, ...] = ()
    """What follows the transformed version: last values of indices that it does not set."""

    steady: tuple[SteadyMemory, ...] = ()
    """What is read from memory and keeps its value."""

    ranges: Mapping[str, KnownRange] = field(default_factory=dict[str, KnownRange])
    """What the preparation finds out of arrays."""

    def and_(self, other: Guard) -> Guard:
        """The condition that both hold."""
        return Guard(
            runs=different(self.runs + other.runs),
            headers=self.headers + other.headers,
            facts=strongest(self.facts + other.facts),
            names=self.names | other.names,
            pairs=self.pairs + other.pairs,
            apart=self.apart + other.apart,
            preparation=self.preparation + other.preparation,
            ranges={**self.ranges, **other.ranges},
            after=self.after + other.after,
            steady=self.steady + other.steady,
        )

    def assumed(self, context: Context) -> Context:
        """The context where the condition holds."""
        given = context.assumptions
        known = given.noalias if isinstance(given.noalias, frozenset) else frozenset[str]()
        apart = replace(given, noalias=known | self.names) if self.names else given
        facts = context.facts + tuple(f.value for f in self.facts)
        taken = {name for found in self.ranges.values() for name in (found.first, found.last)}
        return replace(
            context,
            assumptions=apart,
            facts=facts,
            ranges={**context.ranges, **self.ranges},
            reserved=context.reserved | taken,
        )

    def around(self, transformed: Node, original: Node) -> Node:
        """Both versions of a statement, and which of them runs."""
        tests = (*self.runs, *self.headers, *self._facts_tested(), *self.apart)
        version = flat_block(transformed, *self.after) if self.after else transformed
        if not tests:
            return block(*self.preparation, version) if self.preparation else version
        test = reduce(lambda a, b: binary("&&", a, b), tests)
        chosen = if_(test, _in_block(version), _in_block(original))
        return block(Comment(f"/* {self._remark()} */"), *self.preparation, chosen)

    def _facts_tested(self) -> list[Node]:
        return [fact.test for fact in self.facts if fact.test is not None]

    def _remark(self) -> str:
        shown = (*self.headers, *self._facts_tested())
        tested = " and ".join(f"`{emit_expression(test)}`" for test in shown)
        listed = ", ".join(
            f"`{one}` and {'the pointers to it' if one == two else f'`{two}`'}" for one, two in self.pairs
        )
        if not tested:
            return f"Runs unless arrays overlap ({listed}); then the original code does."
        unless = f", unless arrays overlap ({listed})" if listed else ""
        return f"Runs where {tested}{unless}; else the original code does."


def different(tests: Sequence[Node]) -> tuple[Node, ...]:
    """The conditions among some, each once."""
    return tuple({_alternatives(test): test for test in reversed(tests)}.values())[::-1]


def _alternatives(test: Node) -> frozenset[str]:
    """What one of has to hold, in any order."""
    match test:
        case c_ast.BinaryOp(op="||", left=left, right=right):
            return _alternatives(left) | _alternatives(right)
        case _:
            return frozenset({emit_expression(test)})


def _in_block(statement: Node) -> Node:
    return statement if isinstance(statement, Compound) else block(statement)
