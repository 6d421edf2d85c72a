"""Builds the counting structure of a cluster, or says why that is not possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.expr import Value, compile_expr, evaluate, names_in, show
from orio_py.search_space.algebra import Algebra, Variable
from orio_py.search_space.counting import CountNode, FailingCombinationError, count_combinations, nodes_below
from orio_py.search_space.diagram import FAIL, Diagrams, Effort, ResidueCache, StructureTooLargeError, leaf
from orio_py.search_space.groups import Conjunct, ConnectedVariables
from orio_py.search_space.ordering import orders


@dataclass(frozen=True, slots=True)
class Structure:
    """The counted combinations of a cluster; `order` is the order in which the tree reads them."""

    cluster: ConnectedVariables
    order: tuple[Variable, ...]
    root: CountNode

    @property
    def nodes(self) -> int:
        """How many nodes the structure has."""
        return nodes_below(self.root)


def build_structure(
    cluster: ConnectedVariables, algebra: Algebra, example: Mapping[str, Value], *, limit: int
) -> Structure:
    """The structure of a cluster, in written order unless another order is much smaller.

    `example` has a value for every name; messages take those that folding made irrelevant from it.
    Raises ORIO-P004, P005 (a constraint has no truth value for a combination that all others allow),
    P006 (more than `limit` steps).
    """
    builder = _Builder(cluster, algebra, example)
    for order in orders(cluster):
        if (root := builder.attempt(order, limit)) is not None:
            return Structure(cluster, order, root)
    written = cluster.variables
    names = ", ".join(variable.name for variable in written)
    constraints = list(dict.fromkeys(conjunct.constraint for conjunct in cluster.conjuncts))
    fail(
        "ORIO-P006",
        f"the constraints connect {len(written)} parameters ({names}) in a way that needs more than "
        f"{limit} steps to count; fewer connected parameters or shorter lists are needed",
        constraints[0].position if constraints else None,
        help="pin a parameter, shorten the value lists, or write long conditions as several constraints",
    )


class _Builder:
    """Attempts at the structure of one cluster."""

    def __init__(self, cluster: ConnectedVariables, algebra: Algebra, example: Mapping[str, Value]) -> None:
        self._conjuncts = cluster.conjuncts
        self._algebra = algebra
        self._example = example
        self._known: ResidueCache = {}
        self._tables = {
            conjunct: (members[0], self._leaves(conjunct, members[0]))
            for conjunct in cluster.conjuncts
            if len(members := [v for v in cluster.variables if conjunct.term.mask >> v.index & 1]) == 1
        }

    def attempt(self, order: Sequence[Variable], limit: int) -> CountNode | None:
        """The structure in one order, None if it is too large.  Raises ORIO-P004, P005."""
        effort = Effort(limit)
        diagrams = Diagrams(self._algebra, order, effort, self._known)
        try:
            roots = [self._root(conjunct, diagrams) for conjunct in self._conjuncts]
            return count_combinations(roots, [len(variable.values) for variable in order], diagrams, effort)
        except StructureTooLargeError:
            return None
        except FailingCombinationError as combination:
            chosen = zip(order, combination.choices, strict=True)
            values = {variable.name: variable.values[choice] for variable, choice in chosen}
            problems = explain_failure(self._conjuncts, {**self._example, **values})
            raise DiagnosticError(*problems) from None

    def _root(self, conjunct: Conjunct, diagrams: Diagrams) -> int:
        if (table := self._tables.get(conjunct)) is not None:
            return diagrams.table(*table)
        return diagrams.build(conjunct.term)

    def _leaves(self, conjunct: Conjunct, variable: Variable) -> tuple[int, ...]:
        """The outcome of a condition on one variable for each value; the quick way for long lists."""
        test = compile_expr(conjunct.expression)
        environment = dict(self._example)
        leaves: list[int] = []
        for value in variable.values:
            environment[variable.name] = value
            try:
                leaves.append(leaf(test(environment)))
            except DiagnosticError:
                leaves.append(FAIL)
        return tuple(leaves)


def explain_failure(
    conjuncts: Sequence[Conjunct], environment: Mapping[str, Value]
) -> tuple[Diagnostic, ...]:
    """What is wrong with the conjuncts that have no truth value where names have these values."""
    found: dict[str, Diagnostic] = {}
    for conjunct in conjuncts:
        if (problem := _failure(conjunct, environment)) is not None:
            found.setdefault(conjunct.constraint.name, problem)
    return tuple(found.values())


def _failure(conjunct: Conjunct, environment: Mapping[str, Value]) -> Diagnostic | None:
    constraint, names = conjunct.constraint, sorted(names_in(conjunct.expression))
    shown = ", ".join(f"{name}={show(environment[name])}" for name in names)
    place = f" for {shown}" if shown else ""
    try:
        value = evaluate(conjunct.expression, environment)
    except DiagnosticError as error:
        reason = error.diagnostics[0]
        return Diagnostic(
            "ORIO-P004",
            f"constraint `{constraint.name}` cannot be evaluated{place}: {reason.message}",
            reason.position or constraint.position,
            help="exclude the values in a constraint of their own, or guard the expression with `and`",
        )
    if isinstance(value, (bool, int, float)):
        return None
    return Diagnostic(
        "ORIO-P005",
        f"constraint `{constraint.name}` is {show(value)}{place}; it has to be true or false",
        constraint.position,
        help="compare the value with something",
    )
