"""Distribute: split a loop into several loops, each over some of its statements (loop fission).

    for (i = 1; i < n; i++) {           for (i = 1; i < n; i++)
      a[i] = a[i - 1] + b[i];             a[i] = a[i - 1] + b[i];
      c[i] = a[i] * d[i];               for (i = 1; i < n; i++)
    }                                     c[i] = a[i] * d[i];

Statements that depend on each other in a cycle stay together.  Source: K. Kennedy, K. McKinley, "Loop
distribution with arbitrary control flow", Supercomputing 1990; R. Allen, K. Kennedy, "Automatic translation
of Fortran programs to vector form", ACM TOPLAS 9(4), 1987.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from orio_py.core.expr import Value
from orio_py.ctree.build import block, statements
from orio_py.ctree.dependence.fusion import Groups, connected, loop_groups, may_distribute
from orio_py.ctree.dependence.verdict import Illegal, Unknown
from orio_py.ctree.loops import CanonicalLoop, find_loops, nest
from orio_py.ctree.nodes import Comment, For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import declared_names, used_names, walk
from orio_py.transformation.arguments import text, wrong
from orio_py.transformation.base import Context, Refusal, note, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.forms import loop_view
from orio_py.transformation.loop_names import LoopName, first_present, show_loops
from orio_py.transformation.restructuring.loop_matching import nested, require_steady
from orio_py.transformation.restructuring.scalar_expansion import expanded
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.verdicts import dependence_context, require_legal

_LONGEST = 65536
"""Elements of an array on the stack."""


@dataclass(frozen=True, slots=True)
class Distribute:
    """Split a loop, and with it the loops around its statements, into one loop for each of `groups`.

    `groups` hold the statements of the body by number, from 0; without any, each statement gets a loop of
    its own as far as dependences allow.  `loop` names the loop to split: it and all below it.  `strip` is the number of
    iterations for which arrays hold the values of scalars that else would keep statements together, 0 for none.
    """

    groups: Groups = ()
    loop: str | None = None
    strip: int = 256
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The loops in place of the loop, in a block; `node` is not modified.

        Raises Refusal: ORIO-T015, T020 to T028, T040, T041, T074 to T076.
        """
        if self.loop is None:
            return self._split(node, context)
        first_present(LoopName((self.loop,)), show_loops(node), node, "loop")
        chosen = {id(found) for found in find_loops(node, self.loop)}
        return rewrite_where(node, lambda n: id(n) in chosen, self._split, context)

    def _split(self, loop: Node, context: Context) -> Node:
        result = distribute_loop(loop, self.groups, context, strip=self.strip, force=self.force)
        return result[0] if len(result) == 1 else block(*result)


def distribute_loop(
    loop: Node,
    groups: Groups,
    context: Context,
    *,
    what: str = "Distribute",
    strip: int = 0,
    force: bool = False,
) -> list[Node]:
    """The loops that a loop is split into; the loop itself for one group.

    `groups` and `strip` are as in `Distribute`.  Raises Refusal: ORIO-T020 to T028, T040, T041, T074 to T076.
    """
    loops = nest(loop_view(loop, what, context))
    for inner in loops[1:]:
        loop_view(inner.node, what, replace(context, pragmas=()))
    parts = _parts(loops[-1].body)
    if groups:
        _check_numbers(groups, len(parts), what, loop)
    if len(groups) == 1:
        return [loop]
    require_steady(loops, what, context, force=force)
    bare = nested(loops, block(*(part.statement for part in parts)), comments=False)
    apart = nest(_match(bare))[: len(loops)]
    question = _Question(apart, tuple(statements(apart[-1].body)), _together(parts, context), context)
    try:
        groups = _groups_of(question, groups, loop, parts, what, force=force and not strip)
    except Refusal:
        found = _in_strips(question, groups, parts, strip, what) if strip else None
        if found is not None:
            return [nested(loops[:-1], found) if loops[1:] else found]
        if not (strip and force):
            raise
        groups = _groups_of(question, groups, loop, parts, what, force=True)
    return [
        nested(loops, _body([parts[number] for number in sorted(group)]), comments=place == 0)
        for place, group in enumerate(groups)
    ]


def _groups_of(
    question: _Question, groups: Groups, loop: Node, parts: Sequence[_Part], what: str, *, force: bool
) -> Groups:
    """The groups, where they are legal; without any, as many as possible.  Raises Refusal: ORIO-T040, T041, T075, T076."""
    if not groups:
        return _most(question, loop, what, force=force)
    _check_scopes(groups, question, parts, what)
    context = question.context
    verdict = may_distribute(question.loops, question.statements, groups, dependence_context(context))
    require_legal(verdict, what, loop, context, force=force)
    return groups


def _in_strips(
    question: _Question, groups: Groups, parts: Sequence[_Part], strip: int, what: str
) -> Node | None:
    """The loop over strips in which arrays hold scalars; None where they do not make the split possible."""
    context = question.context
    found = expanded(question.loops, question.statements, groups, question.together, strip, context)
    if found is None:
        return None
    new = [
        replace(part, statement=first, after=(*part.after, *kept))
        for part, (first, *kept) in zip(parts, found.statements, strict=True)
    ]
    bodies = [_body([new[number] for number in sorted(group)]) for group in found.groups]
    return found.nest(bodies, what, context)


@dataclass(frozen=True, slots=True)
class _Part:
    """A statement of a body with the comments and pragmas that belong to it."""

    before: tuple[Node, ...]
    statement: Node
    after: tuple[Node, ...] = ()

    @property
    def lines(self) -> tuple[Node, ...]:
        return (*self.before, self.statement, *self.after)


@dataclass(frozen=True, slots=True)
class _Question:
    """A nest as the dependence test sees it, its statements, and pairs of them that share a declaration."""

    loops: Sequence[CanonicalLoop]
    statements: tuple[Node, ...]
    together: tuple[tuple[int, int], ...]
    context: Context


def _match(loop: For) -> CanonicalLoop:
    view = CanonicalLoop.match(loop)
    assert view is not None
    return view


def _parts(body: Node) -> list[_Part]:
    parts: list[_Part] = []
    waiting: list[Node] = []
    for item in statements(body):
        if isinstance(item, Comment) and item.trailing and parts and not waiting:
            parts[-1] = replace(parts[-1], after=(*parts[-1].after, item))
        elif isinstance(item, (Comment, GuardedPragma, c_ast.Pragma)):
            waiting.append(item)
        else:
            parts.append(_Part(tuple(waiting), item))
            waiting = []
    if waiting and parts:
        parts[-1] = replace(parts[-1], after=(*parts[-1].after, *waiting))
    return parts


def _together(parts: Sequence[_Part], context: Context) -> tuple[tuple[int, int], ...]:
    """The pairs of statements of which one uses what the other declares."""
    kinds = (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)
    declared = [
        _declared(part.statement) if isinstance(part.statement, kinds) else frozenset[str]() for part in parts
    ]
    used = [used_names([part.statement]) for part in parts]
    pairs = combinations(range(len(parts)), 2)
    return tuple((a, b) for a, b in pairs if declared[a] & used[b] or declared[b] & used[a])


def _declared(statement: Node) -> frozenset[str]:
    """The names that a declaration introduces, tags of structures among them."""
    kinds = (c_ast.Struct, c_ast.Union, c_ast.Enum)
    tags = {item.name for item in walk(statement) if isinstance(item, kinds) and item.name}
    return declared_names(statement) | tags


def _check_numbers(groups: Groups, count: int, what: str, loop: Node) -> None:
    numbers = [number for group in groups for number in group]
    if sorted(numbers) != list(range(count)):
        last = f"0 to {count - 1}" if count > 1 else "just 0"
        refuse(
            "ORIO-T074",
            f"{what} needs each statement of the body in one group: they are {last}, and the groups hold "
            + ", ".join(map(str, numbers)),
            loop,
            argument="groups",
        )


def _check_scopes(groups: Groups, question: _Question, parts: Sequence[_Part], what: str) -> None:
    """No group uses what another one declares.  Raises Refusal: ORIO-T076."""
    place = {number: place for place, group in enumerate(groups) for number in group}
    for first, second in question.together:
        if place[first] != place[second]:
            refuse(
                "ORIO-T076",
                f"{what} would take this declaration away from a statement that uses it",
                parts[first].statement,
                notes=[note("used here", parts[second].statement)],
                help=f"put the statements {first} and {second} into one group",
                argument="groups",
            )


def _most(question: _Question, loop: Node, what: str, *, force: bool) -> Groups:
    """As many loops as the dependences allow.  Raises Refusal: ORIO-T041, T075."""
    context = dependence_context(question.context)
    groups = loop_groups(question.loops, question.statements, question.together, context)
    if isinstance(groups, Unknown):
        require_legal(groups, what, loop, question.context, force=force)
        both = [pair for a, b in question.together for pair in ((a, b), (b, a))]
        groups = connected(len(question.statements), both)
    if len(groups) > 1:
        return groups
    single = tuple((number,) for number in range(len(question.statements)))
    reason = may_distribute(question.loops, question.statements, single, context)
    if len(single) < 2:
        refuse("ORIO-T075", f"{what} needs a loop over several statements; this one has {len(single)}", loop)
    found = [a for a in (reason.source, reason.sink) if a] if isinstance(reason, Illegal) else []
    refuse(
        "ORIO-T075",
        f"{what} finds no two statements that could have loops of their own"
        + (f": {reason.message}" if isinstance(reason, Illegal) else ""),
        loop,
        notes=[note(f"{'writes' if a.is_write else 'reads'} `{a.text}`", a.position) for a in found],
    )


def _body(parts: Sequence[_Part]) -> Node:
    lines = [line for part in parts for line in part.lines]
    alone = len(lines) == 1 and not isinstance(lines[0], (c_ast.Decl, c_ast.DeclList, c_ast.Typedef))
    return lines[0] if alone else block(*lines)


def _length(value: Value, name: str) -> int:
    """The length of a strip: up to 65536.  Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LONGEST:
        wrong(name, f"an integer from 0 to {_LONGEST}", value)
    return value


def _groups(value: Value, name: str) -> Groups:
    kind = "a list of lists of statement numbers, such as [[0, 2], [1]]"
    if not isinstance(value, (list, tuple)):
        wrong(name, kind, value)
    found: list[tuple[int, ...]] = []
    for group in value:
        if not isinstance(group, (list, tuple)) or not group:
            wrong(name, kind, value)
        numbers = [n for n in group if isinstance(n, int) and not isinstance(n, bool) and n >= 0]
        if len(numbers) != len(group):
            wrong(name, kind, value)
        found.append(tuple(numbers))
    return tuple(found)


ENTRY = Entry(
    "Distribute",
    "split a loop into several loops over parts of its body",
    (
        ArgumentSpec(
            "groups",
            "list of lists of statement numbers, such as [[0, 2], [1]]",
            "the statements of each new loop; as many loops as possible where it is empty",
            _groups,
            default="[]",
        ),
        ArgumentSpec("loop", "index of a loop", "the loop to split; the one given without it", text, "None"),
        ArgumentSpec(
            "strip",
            "integer, at least 0",
            "iterations for which arrays hold scalars that keep statements together, where nothing else splits the loop; "
            "0 for none",
            _length,
            default="256",
        ),
        FORCE,
    ),
    Distribute,
)
