"""Scalars that pass values between the loops that Distribute makes: arrays hold their values, a strip of iterations at a time.

    for (i = 0; i < n; i++) {           for (int i_strip = 0; i_strip < n; i_strip += 256) {
      double t = a[i] * 2;                double t_x[256];
      b[i] = t;                           for (i = i_strip; i < (n - i_strip < 256 ? n : i_strip + 256); i++)
      c[i] = t + 1;                         t_x[i - i_strip] = a[i] * 2;
    }                                     for (i = i_strip; …; i++)
                                            b[i] = t_x[i - i_strip];
                                          for (i = i_strip; …; i++)
                                            c[i] = t_x[i - i_strip] + 1;
                                        }

Source: scalar expansion with strip mining; R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures", Morgan
Kaufmann 2001, section 5.3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from orio_py.core.names import NameSupply
from orio_py.ctree.bounds import with_header
from orio_py.ctree.build import assign, binary, block, declare, ident, index, sub
from orio_py.ctree.ctype import ctype
from orio_py.ctree.dependence.fusion import Groups, loop_groups, may_distribute
from orio_py.ctree.dependence.scalars import scalar_flow
from orio_py.ctree.dependence.verdict import Legal, Unknown
from orio_py.ctree.loops import CanonicalLoop, header_index, loops_in
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import copy_with, declared_names, substitute, walk
from orio_py.ctree.symbols import declaration_of
from orio_py.transformation.base import Context
from orio_py.transformation.final_index import with_final_indices
from orio_py.transformation.forms import has_size_taken, names_in_pragmas
from orio_py.transformation.tiling.tile_band import BlockedLoop
from orio_py.transformation.verdicts import dependence_context

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class StripSplit:
    """A split in strips that arrays make possible: `groups` of statements, and what each statement becomes, with what follows it."""

    groups: Groups
    statements: tuple[tuple[Node, ...], ...]
    loops: Sequence[CanonicalLoop]
    strip: BlockedLoop
    arrays: tuple[Node, ...]

    def nest(self, bodies: Sequence[Node], what: str, context: Context) -> Node:
        """The loops around the strips, and in each strip a loop over each of some bodies."""
        inner, index_of_strip = self.strip.view, ident(self.strip.name)
        end = self.strip.end(context)
        loops = [with_header(_with_body(inner, body), index_of_strip, inner.relation, end) for body in bodies]
        over = self.strip.over_blocks(inner.start, inner.bound, block(*self.arrays, *loops), context)
        return with_final_indices(over, [inner], what, context)


@dataclass(frozen=True, slots=True)
class _Scalar:
    """A scalar that some statements write, by their numbers, and others behind them read."""

    name: str
    kind: str
    writers: tuple[int, ...]
    readers: tuple[int, ...]
    array: str


def expanded(
    loops: Sequence[CanonicalLoop],
    statements: Sequence[Node],
    groups: Groups,
    together: Pairs,
    strip: int,
    context: Context,
) -> StripSplit | None:
    """How the innermost loop of a nest may be split in strips; None where arrays do not make that possible.

    Without `groups` each statement gets a loop of its own as far as dependences allow; `together` are pairs that share
    a declaration.
    """
    inner = loops[-1]
    supply = context.names(loops[0].node)
    scalars = _scalars(statements, inner, supply, context)
    if not scalars:
        return None
    around = replace(
        context,
        declarations={**context.declarations, **{s.array: declaration_of(_declared(s, 1)) for s in scalars}},
        surrounding=(*context.surrounding, *loops[:-1]),
    )
    question = _Question(inner, tuple(statements), around)
    groups = groups or question.most(scalars, together)
    chosen = [found for s in scalars if (found := _passed_on(s, groups)) is not None]
    if not chosen or not _keeps_scopes(groups, together, chosen) or not question.may_split(groups, chosen):
        return None
    blocks = BlockedLoop(inner, strip * abs(inner.stride), supply.fresh(f"{inner.index}_strip"))
    first, here = ident(blocks.name), ident(inner.index)
    distance = sub(here, first) if inner.upward else sub(first, here)
    place = distance if abs(inner.stride) == 1 else binary("/", distance, abs(inner.stride))
    arrays = tuple(_declared(scalar, strip) for scalar in chosen)
    return StripSplit(groups, question.written(chosen, place), loops, blocks, arrays)


@dataclass(frozen=True, slots=True)
class _Question:
    """The innermost loop and its statements, as the dependence test is asked about them."""

    loop: CanonicalLoop
    statements: tuple[Node, ...]
    context: Context

    def written(self, scalars: Sequence[_Scalar], place: Node) -> tuple[tuple[Node, ...], ...]:
        """Each statement with elements for the scalars that it reads, and behind it what keeps those that it writes."""
        result: list[tuple[Node, ...]] = []
        for number, statement in enumerate(self.statements):
            kept: list[Node] = []
            for scalar in scalars:
                element = index(scalar.array, place)
                if number in scalar.readers:
                    statement = substitute(statement, scalar.name, element)
                elif (
                    number == scalar.writers[-1]
                    and (value := self._only_value(scalar, statement)) is not None
                ):
                    statement = copy_with(assign(element, value), coord=statement.coord)
                elif number == scalar.writers[-1]:
                    kept.append(assign(element, ident(scalar.name)))
            result.append((statement, *kept))
        return tuple(result)

    def _only_value(self, scalar: _Scalar, writer: Node) -> Node | None:
        """The value that a statement declares a scalar with, where nothing but the elements needs it; None of others.

        A variable of the function stays in use: compilers warn of one that is not.
        """
        others = [s for n, s in enumerate(self.statements) if n not in (*scalar.writers, *scalar.readers)]
        if not isinstance(writer, c_ast.Decl) or len(scalar.writers) > 1:
            return None
        return None if any(_uses(part, scalar.name) for part in others) else writer.init

    def may_split(self, groups: Groups, scalars: Sequence[_Scalar]) -> bool:
        """Whether dependences allow the groups, one after the other."""
        loop, nodes, origins = self._flat(scalars)
        numbers = tuple(tuple(n for n, origin in enumerate(origins) if origin in group) for group in groups)
        return may_distribute([loop], nodes, numbers, dependence_context(self.context)) == Legal()

    def most(self, scalars: Sequence[_Scalar], together: Pairs) -> Groups:
        """The most groups that dependences allow, the statements that write one scalar together."""
        loop, nodes, origins = self._flat(scalars)
        passed = {(w, r) for s in scalars for w in s.writers for r in s.readers}
        same = [pair for pair in together if pair not in passed]
        same += [(s.writers[0], other) for s in scalars for other in s.writers[1:]]
        pairs = [(origins.index(one), origins.index(two)) for one, two in same]
        pairs += [(n, n + 1) for n in range(len(origins) - 1) if origins[n] == origins[n + 1]]
        found = loop_groups([loop], nodes, pairs, dependence_context(self.context))
        if isinstance(found, Unknown):
            return ()
        return tuple(tuple(sorted({origins[number] for number in group})) for group in found)

    def _flat(self, scalars: Sequence[_Scalar]) -> tuple[CanonicalLoop, list[Node], list[int]]:
        """The loop over the statements with elements in place of scalars, these statements, and their first numbers."""
        written = self.written(scalars, ident(self.loop.index))
        nodes = [node for nodes in written for node in nodes]
        origins = [number for number, nodes in enumerate(written) for _ in nodes]
        return _with_body(self.loop, block(*nodes)), nodes, origins


def _with_body(loop: CanonicalLoop, body: Node) -> CanonicalLoop:
    view = CanonicalLoop.match(copy_with(loop.node, stmt=body))
    assert view is not None
    return view


def _declared(scalar: _Scalar, length: int) -> c_ast.Decl:
    return declare(scalar.kind, scalar.array, dimensions=[length])


def _passed_on(scalar: _Scalar, groups: Groups) -> _Scalar | None:
    """The scalar with the readers in other groups than that of its writers; None where there are none, or several write it."""
    home = next((group for group in groups if scalar.writers[0] in group), ())
    others = tuple(reader for reader in scalar.readers if reader not in home)
    return replace(scalar, readers=others) if others and set(scalar.writers) <= set(home) else None


def _keeps_scopes(groups: Groups, together: Pairs, scalars: Sequence[_Scalar]) -> bool:
    """Whether statements in different groups share declarations of these scalars only."""
    home = {number: place for place, group in enumerate(groups) for number in group}
    passed = {(w, r) for s in scalars for w in s.writers for r in s.readers}
    return all(home[one] == home[two] or (one, two) in passed for one, two in together)


def _scalars(
    statements: Sequence[Node], loop: CanonicalLoop, supply: NameSupply, context: Context
) -> list[_Scalar]:
    """The numbers that a statement assigns in each iteration and statements behind it read."""
    whole = block(*statements)
    inside = context.effects(whole)
    indices = {header_index(inner) for inner in loops_in(whole)}
    own = {s.name: s for s in statements if isinstance(s, c_ast.Decl) and s.name}
    names = [*own, *sorted(inside.scalar_writes - own.keys())]
    unfit = inside.address_taken | context.exposed | indices | names_in_pragmas(whole) | {loop.index}
    found: list[_Scalar] = []
    for name in names:
        kind = _kind(name, own, context)
        writers = tuple(
            n for n, s in enumerate(statements) if s is own.get(name) or _writes(s, name, context)
        )
        readers = tuple(n for n, s in enumerate(statements) if n not in writers and _uses(s, name))
        if kind is None or name in unfit or not readers or not writers or writers[-1] > readers[0]:
            continue
        reading = [statements[number] for number in readers]
        if any(has_size_taken(s, name) or name in declared_names(s) for s in reading):
            continue
        if _is_assigned(name, [statements[number] for number in writers]):
            found.append(_Scalar(name, kind, writers, readers, supply.fresh(f"{name}_x")))
    return found


def _kind(name: str, own: Mapping[str, c_ast.Decl], context: Context) -> str | None:
    """The type of a scalar that an array may hold; None for others."""
    declared = declaration_of(own[name]) if name in own else context.declarations.get(name)
    if declared is None or not declared.is_scalar or not declared.type:
        return None
    numeric = ctype(context.types.get(declared.type, declared.type)) is not None
    bound = declared.qualifiers & {"volatile", "_Atomic"} or declared.storage & {"static", "extern"}
    return None if bound or not numeric or declared.scope == "global" else declared.type


def _writes(statement: Node, name: str, context: Context) -> bool:
    return name in context.effects(block(statement)).scalar_writes


def _uses(node: Node, name: str) -> bool:
    return any(isinstance(part, c_ast.ID) and part.name == name for part in walk(node))


def _is_assigned(name: str, writers: Collection[Node]) -> bool:
    """Whether statements surely give a scalar a value."""
    if any(isinstance(s, c_ast.Decl) and s.name == name and s.init is not None for s in writers):
        return True
    return name in scalar_flow([s for s in writers if not isinstance(s, c_ast.Decl)]).assigned
