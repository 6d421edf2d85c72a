"""Values that some iteration leaves in variables: the one of the smallest or largest value, or the last that assigns them.

    for (i = 0; i < n; i++)             double best_own = best; long where_own = 0; …
      if (x[i] < best) {                #pragma omp parallel firstprivate(best_own, where_own, best_own_set, best_own_at)
        best = x[i];                    {
        where = i;                        #pragma omp for nowait schedule(static)
      }                                   for (i = 0; i < n; i++)
                                            if (x[i] < best_own) {
                                              best_own = x[i]; best_own_set = 1; best_own_at = i; where_own = i;
                                            }
                                          #pragma omp critical
                                          if (best_own_set && (!best_set || best_own < best ||
                                                               (best_own == best && best_own_at < best_at))) {
                                            best = best_own; where = where_own; best_at = best_own_at; best_set = 1;
                                          }
                                        }

Each thread looks in its own iterations, and the best of theirs is kept.  Among equal values C keeps the first one, with
`<=` and `>=` the last; a value that is no number is never kept.  So the result is the same whatever the number of threads
is, as long as each runs its iterations in the order of the loop.  Of `if (x[i] != 0) last = i;` the latest one is kept.

Source: for the operation, MPI 4.1, section 6.9.4 (MINLOC and MAXLOC), and OpenMP API 5.2, section 5.4.5 (conditional
lastprivate); sections 11.5.3 (schedules) and 15.2 (critical).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from orio_py.core.names import NameSupply
from orio_py.ctree.build import assign, binary, block, declare, ident, if_, statements, unary
from orio_py.ctree.ctype import CType, Rank, ctype
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.equal import equal
from orio_py.ctree.expression_effects import is_repeatable
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import MIRRORED, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import (
    Replacement,
    Rewriter,
    assigned_names,
    copy_with,
    declared_names,
    rename,
    substitute,
    used_names,
    walk,
    walk_statements,
)
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.overwriting import other_use
from orio_py.transformation.parallel.annotate import annotated
from orio_py.transformation.parallel.pragma_text import pragma_lines
from orio_py.transformation.types import index_type

_STRICT: Mapping[str, str] = {"<": "<", ">": ">", "<=": "<", ">=": ">"}
"""How a value compares with another that it is better than, by how it compares with the one that it takes the place of."""
_EXACT_BITS: Mapping[Rank, int] = {Rank.FLOAT: 24, Rank.DOUBLE: 53}
"""Bits of integers that a floating-point type holds (IEEE 754)."""
_UNSTEADY = frozenset({"volatile", "_Atomic"})


@dataclass(frozen=True, slots=True)
class KeptValues:
    """Variables that keep what one iteration assigns them: the last one that does, or that of the best `value`.

    A value takes another's place if it is `relation` than that: one of `<`, `<=`, `>` and `>=`.  The value is one of the
    variables, as in `best`, or is found by some, as in `x[where]`.
    """

    names: tuple[str, ...]
    value: Node | None = field(default=None, compare=False)
    relation: str = ""
    text: str = ""
    """The value as C text, by which statements that keep the same are told."""

    @property
    def compared(self) -> frozenset[str]:
        """The variables that the value is made of."""
        return frozenset() if self.value is None else used_names([self.value]) & frozenset(self.names)


def kept_values(view: CanonicalLoop, known: Set[str], context: Context) -> tuple[KeptValues, ...]:
    """What a loop keeps in variables that are nothing else to it; `known` are those that clauses are about already.

    Several statements may keep a value in the same way, as copies of a body do.
    """
    uses = Counter(part.name for part in walk(view.body) if isinstance(part, c_ast.ID))
    inside = declared_names(view.body)
    tests = (part for part in walk(view.body) if isinstance(part, c_ast.If) and part.iffalse is None)
    places = Counter(one for part in tests if (one := _extreme(part, view, known, context)) is not None)
    extremes = [
        one
        for one, count in places.items()
        if all(uses[name] == count * (1 + (name in one.compared)) for name in one.names)
    ]
    others = {*known, *(name for one in extremes for name in one.names)}
    found = (*extremes, *_last_ones(view.body, others, uses))
    return tuple(one for one in found if all(_may_be_kept(name, view, inside, context) for name in one.names))


def _last_ones(body: Node, known: Set[str], uses: Mapping[str, int]) -> Iterator[KeptValues]:
    """Variables that a body only assigns, those together that are always assigned together."""
    blocks = [part for part in walk_statements(body) if isinstance(part, Compound) and not _jumps(part)]
    together = {id(item): id(part) for part in blocks for item in statements(part)}
    places: dict[str, tuple[int, ...]] = {}
    for part in walk_statements(body):
        match part:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)) if name not in known:
                places[name] = (*places.get(name, ()), together.get(id(part), id(part)))
            case _:
                pass
    only = {name: at for name, at in places.items() if uses[name] == len(at)}
    for at in dict.fromkeys(only.values()):
        yield KeptValues(tuple(name for name, places in only.items() if places == at))


def _jumps(part: Node) -> bool:
    return any(
        isinstance(inner, (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Label)) for inner in walk(part)
    )


def _extreme(node: c_ast.If, view: CanonicalLoop, known: Set[str], context: Context) -> KeptValues | None:
    if _jumps(node.iftrue):
        return None
    assigned = {
        item.lvalue.name: item.rvalue
        for item in statements(node.iftrue)
        if isinstance(item, c_ast.Assignment) and item.op == "=" and isinstance(item.lvalue, c_ast.ID)
        if item.lvalue.name not in known
    }
    for condition in _conditions(node.cond):
        if not isinstance(condition, c_ast.BinaryOp) or condition.op not in _STRICT:
            continue
        left, right, op = condition.left, condition.right, condition.op
        for new, old, relation in ((left, right, op), (right, left, MIRRORED[op])):
            if _is_kept_by(assigned, new, old, context) and _stays(
                new, old, set(assigned), node, view, context
            ):
                compared = used_names([old])
                names = sorted(assigned, key=lambda name: (name not in compared, name))
                return KeptValues(tuple(names), old, relation, emit_expression(old))
    return None


def _is_kept_by(assigned: Mapping[str, Node], new: Node, old: Node, context: Context) -> bool:
    """Whether an expression has the value of another once the variables are assigned."""
    compared = used_names([old]) & assigned.keys()
    then = old
    for name in compared:
        kind = _kind(name, context)
        if kind is None or not _holds(kind, assigned[name], context):
            return False
        then = substitute(then, name, assigned[name])
    kind = expression_type(old, context)
    return bool(compared) and equal(then, new) and kind is not None and _holds(kind, new, context)


def _conditions(condition: Node) -> list[Node]:
    """The conditions that all hold where one does."""
    if isinstance(condition, c_ast.BinaryOp) and condition.op == "&&":
        return [*_conditions(condition.left), *_conditions(condition.right)]
    return [condition]


def _stays(
    new: Node, old: Node, assigned: Set[str], node: c_ast.If, view: CanonicalLoop, context: Context
) -> bool:
    """Whether the new value is still the same where the statement keeps it, and the old one depends on nothing else that changes."""
    branch, body = context.effects(node.iftrue), context.effects(view.body)
    if not (is_repeatable(new) and is_repeatable(old)) or branch.calls or branch.opaque:
        return False
    changed = {*assigned_names(node.iftrue), *declared_names(node.iftrue), *branch.writes}
    others = {*assigned_names(view.body), *declared_names(view.body), *body.writes} - assigned
    return used_names([new]).isdisjoint(changed) and (used_names([old]) - assigned).isdisjoint(others)


def _kind(name: str, context: Context) -> CType | None:
    declared = context.declarations.get(name)
    if declared is None or not declared.is_scalar or declared.qualifiers & _UNSTEADY:
        return None
    return ctype(context.types.get(declared.type, declared.type))


def _holds(own: CType, value: Node, context: Context) -> bool:
    """Whether a type has all values of an expression, so that they compare as what is kept of them does."""
    if not all(name in context.declarations for name in _variables(value)):
        return False
    kind = expression_type(value, context)
    if kind is None or kind == own:
        return kind is not None
    if own.is_floating:
        if kind.is_floating:
            return not own.alias and not kind.alias and kind.rank <= own.rank
        reach = kind.reach
        bits = _EXACT_BITS.get(own.rank, 0)
        return reach is not None and -(2**bits) <= reach[0] and reach[1] <= 2**bits
    outer, inner = own.limits, kind.reach
    return outer is not None and inner is not None and outer[0] <= inner[0] and inner[1] <= outer[1]


def _variables(value: Node) -> list[str]:
    functions = {id(part.name) for part in walk(value) if isinstance(part, c_ast.FuncCall)}
    return [part.name for part in walk(value) if isinstance(part, c_ast.ID) and id(part) not in functions]


def _may_be_kept(name: str, view: CanonicalLoop, inside: Set[str], context: Context) -> bool:
    """Whether threads may have a variable of their own in place of another."""
    is_own = name not in inside and name not in used_names([ident(view.index), view.start, view.bound])
    return is_own and _kind(name, context) is not None and other_use(view.body, name, context) is None


@dataclass(frozen=True, slots=True)
class _Names:
    """What threads have in place of variables, and what says whether and in which iteration these were assigned."""

    own: Mapping[str, str]
    is_set: str
    at: str
    own_set: str
    own_at: str


def in_a_team(
    loop: For,
    view: CanonicalLoop,
    kept: Sequence[KeptValues],
    words: tuple[str, str],
    context: Context,
) -> Node:
    """The loop, shared out to threads that keep values apart from each other.

    `words` are what the directive of the threads says, and that of the loop.
    """
    supply = context.names(loop)
    before: list[Node] = []
    behind: list[Node] = []
    own: list[str] = []
    for one in kept:
        names = _names(one, supply)
        body = rename(loop.stmt, names.own)
        loop = copy_with(loop, stmt=_Noting(names.own[one.names[0]], names, view.index).rewrite(body))
        before += _declared(one, names, view, context)
        behind.append(_kept(one, names, upward=view.upward))
        own += [*names.own.values(), names.own_set, names.own_at]
    team, shared_out = words
    return block(
        *before,
        *pragma_lines([f"{team} firstprivate({', '.join(own)})"]),
        block(
            *statements(annotated(pragma_lines([shared_out]), loop, context)),
            *pragma_lines(["omp critical"]),
            behind[0] if len(behind) == 1 else block(*behind),
        ),
    )


def _names(one: KeptValues, supply: NameSupply) -> _Names:
    own = {name: supply.fresh(f"{name}_own") for name in one.names}
    fresh = [supply.fresh(f"{one.names[0]}_{word}") for word in ("set", "at", "own_set", "own_at")]
    return _Names(own, *fresh)


def _declared(one: KeptValues, names: _Names, view: CanonicalLoop, context: Context) -> Iterator[Node]:
    for name, own in names.own.items():
        yield declare(context.declarations[name].type, own, ident(name) if name in one.compared else 0)
    for flag in (names.is_set, names.own_set):
        yield declare("int", flag, 0)
    for place in (names.at, names.own_at):
        yield declare(index_type(view, context), place, 0)


def _kept(one: KeptValues, names: _Names, *, upward: bool) -> Node:
    """What is kept of a thread's values where it has any."""
    is_better = _is_better(one, names, upward=upward)
    is_kept = binary("&&", ident(names.own_set), binary("||", unary("!", ident(names.is_set)), is_better))
    changes = [assign(name, ident(new)) for name, new in names.own.items()]
    return if_(is_kept, block(*changes, assign(names.at, ident(names.own_at)), assign(names.is_set, 1)))


def _is_better(one: KeptValues, names: _Names, *, upward: bool) -> Node:
    """Whether C keeps a thread's value and not another's: it is better, or is as good and comes first, or last."""
    is_first = one.relation in {"<", ">"}
    comes_first = binary("<" if is_first == upward else ">", ident(names.own_at), ident(names.at))
    if one.value is None:
        return comes_first
    own = rename(one.value, names.own)
    tie = binary("&&", binary("==", own, one.value), comes_first)
    return binary("||", binary(_STRICT[one.relation], own, one.value), tie)


class _Noting(Rewriter):
    """Notes where a variable is assigned that it was, and in which iteration."""

    def __init__(self, variable: str, names: _Names, index: str) -> None:
        self._variable = variable
        self._notes = [assign(names.own_set, 1), assign(names.own_at, ident(index))]

    def visit_Assignment(self, node: c_ast.Assignment) -> Replacement:
        is_it = isinstance(node.lvalue, c_ast.ID) and node.lvalue.name == self._variable
        return [node, *self._notes] if is_it else node
