"""Loop headers as iteration domains.

A loop `for (i = L; i < U; i += s)` counts its iterations upward from 0 with a symbol `t`, so that
`i = L + s*t` and the order of time is the order of `t`, whatever the direction of the loop.  Where `L`
has no single affine value, as in `i = max(a, b)`, the symbol is `i` itself, or `-i` for a downward loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.names import NO_NAMES, resolve
from orio_py.ctree.dependence.scope import Constraint, Level, Scope, relation
from orio_py.ctree.dependence.terms import Terms
from orio_py.ctree.emit import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import NEGATED, For, c_ast
from orio_py.ctree.rewrite import walk, walk_statements


def enter(loop: CanonicalLoop, terms: Terms, scope: Scope, previous: CanonicalLoop | None = None) -> Scope:
    """The scope of the body of a loop.

    `previous` is the loop whose final index is the start of this one.
    """
    sign = 1 if loop.stride > 0 else -1
    starts, scope = _values(terms.extremes(loop.start, scope, smallest=sign < 0), terms, scope)
    symbol = terms.fresh()
    known = [start for start in starts if start is not None and start.linear() is not None]
    why, alternatives = None, None
    if len(starts) == len(known) == 1:
        value, scale = known[0] + symbol.scaled(loop.stride), 1
        constraints: list[Constraint] = [symbol]
    else:
        value, scale = symbol.scaled(sign), abs(loop.stride)
        constraints = [(value - start).scaled(sign) for start in starts if start is not None]
        if len(known) < len(starts):
            why = f"the start `{emit_expression(loop.start)}` of the loop `{loop.index}` is not affine"
        elif scale > 1:
            distinct = list({start.key: start for start in known}.values())
            trips = terms.fresh()
            first = distinct[0] if len(distinct) == 1 else terms.fresh()
            constraints = [trips, *relation(value, "==", first + trips.scaled(loop.stride))]
            if len(distinct) > 1:
                constraints.extend((first - start).scaled(sign) for start in distinct)
                alternatives = tuple(((start - first).scaled(sign),) for start in distinct)
    level = Level(symbol.leading()[0][0], loop.index, scale, loop.node)
    inner = replace(
        scope,
        values={**scope.values, loop.index: value},
        private={name: own for name, own in scope.private.items() if name != loop.index},
        levels=(*scope.levels, level),
    )
    inner = inner.restricted(constraints, why)
    if alternatives is not None:
        inner = inner.split(alternatives)
    if previous is not None:
        inner = _after(previous, value, terms, inner)
    return _bounded(loop, value, terms, inner)


def _bounded(loop: CanonicalLoop, value: Polynomial, terms: Terms, scope: Scope) -> Scope:
    bounds, scope = _values(terms.extremes(loop.bound, scope, smallest=loop.stride > 0), terms, scope)
    known = [bound for bound in bounds if bound is not None]
    constraints = [c for bound in known for c in relation(value, loop.relation, bound)]
    why = None
    if len(known) < len(bounds) or any(c.linear() is None for c in constraints):
        why = f"the bound `{emit_expression(loop.bound)}` of the loop `{loop.index}` is not affine"
    return scope.restricted(constraints, why)


def _values(nodes: list[Any], terms: Terms, scope: Scope) -> tuple[list[Polynomial | None], Scope]:
    values: list[Polynomial | None] = []
    for node in nodes:
        value, scope = terms.polynomial(node, scope)
        values.append(value)
    return values, scope


def _after(previous: CanonicalLoop, value: Polynomial, terms: Terms, scope: Scope) -> Scope:
    """The index continues where `previous` stopped: its test has failed."""
    bounds, scope = _values(terms.extremes(previous.bound, scope, previous.stride > 0), terms, scope)
    if len(bounds) != 1 or bounds[0] is None:
        return scope
    return scope.restricted(relation(value, NEGATED[previous.relation], bounds[0]), scope.why)


def continuation(node: For, previous: CanonicalLoop | None) -> CanonicalLoop | None:
    """A loop without a start, such as the rest of an unrolled loop, as one that starts where `previous` did.

    That is a superset of its iterations: the loop before it may have used some of them up.
    """
    header: Any = node
    if previous is None or previous.declared_type is not None or header.init is not None:
        return None
    if any(isinstance(part, c_ast.Break | c_ast.Goto) for part in walk_statements(previous.body)):
        return None
    start = c_ast.Assignment("=", c_ast.ID(previous.index), previous.start)
    loop = CanonicalLoop.match(For(start, header.cond, header.next, header.stmt, header.coord))
    if loop is None or loop.index != previous.index or loop.stride * previous.stride < 0:
        return None
    if previous.stride % loop.stride:
        return None
    return replace(loop, node=node)


def header_names(loop: CanonicalLoop) -> frozenset[str]:
    """The names in the start and the bound of a loop, with fields as in `p.n`."""
    found: set[str] = set()
    parts: list[Any] = [part for node in (loop.start, loop.bound) for part in walk(node)]
    for part in parts:
        if type(part).__name__ == "ID":
            found.add(part.name)
        elif (reference := resolve(part, NO_NAMES)) is not None:
            found.add(reference.name)
    return frozenset(found)
