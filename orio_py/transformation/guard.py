"""A condition at run time around a statement: what it tests, and what is known where it holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from orio_py.ctree.build import binary, block, if_
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Comment, Compound, Node
from orio_py.transformation.base import Context
from orio_py.transformation.row_facts import Fact


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition at run time, and what is known where it holds."""

    runs: tuple[Node, ...] = ()
    """That loops run whose bodies follow pointers, which the other tests do, too."""
    facts: tuple[Fact, ...] = ()
    names: frozenset[str] = frozenset()
    """Arrays that share memory with nothing else."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The names that are compared for that."""
    apart: tuple[Node, ...] = ()
    """The comparisons of these."""
    preparation: tuple[Node, ...] = ()
    """The statements before the test: they find the ends of arrays that it mentions."""

    def and_(self, other: Guard) -> Guard:
        """The condition that both hold."""
        return Guard(
            self.runs + other.runs,
            tuple({fact.value.key: fact for fact in self.facts + other.facts}.values()),
            self.names | other.names,
            self.pairs + other.pairs,
            self.apart + other.apart,
            self.preparation + other.preparation,
        )

    def assumed(self, context: Context) -> Context:
        """The context where the condition holds."""
        given = context.assumptions
        known = given.noalias if isinstance(given.noalias, frozenset) else frozenset[str]()
        apart = replace(given, noalias=known | self.names) if self.names else given
        return replace(context, assumptions=apart, facts=context.facts + tuple(f.value for f in self.facts))

    def around(self, transformed: Node, original: Node) -> Node:
        """Both versions of a statement, and which of them runs."""
        tests = (*self.runs, *self._facts_tested(), *self.apart)
        if not tests:
            return transformed
        test = reduce(lambda a, b: binary("&&", a, b), tests)
        chosen = if_(test, _in_block(transformed), _in_block(original))
        return block(Comment(f"/* {self._remark()} */"), *self.preparation, chosen)

    def _facts_tested(self) -> list[Node]:
        return [fact.test for fact in self.facts if fact.test is not None]

    def _remark(self) -> str:
        tested = " and ".join(f"`{emit_expression(test)}`" for test in self._facts_tested())
        listed = ", ".join(f"`{one}` and `{two}`" for one, two in self.pairs)
        if not tested:
            return f"Runs unless arrays overlap ({listed}); then the original code does."
        unless = f", unless arrays overlap ({listed})" if listed else ""
        return f"Runs where {tested}{unless}; else the original code does."


def _in_block(statement: Node) -> Node:
    return statement if isinstance(statement, Compound) else block(statement)
