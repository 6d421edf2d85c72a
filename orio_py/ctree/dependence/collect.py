"""Collects the memory accesses of a loop nest.

The walk over the tree is exact where C allows it and otherwise says in `Instance.why` what makes an
access look larger than it is.  What cannot be bounded at all (a call of an unknown function, a jump, an
address taken) raises `Unanalysable`.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import Any, NoReturn

from orio_py.ctree.build import statements
from orio_py.ctree.dependence.access import Accesses, Instance, Unanalysable
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.alias import Aliases
from orio_py.ctree.dependence.names import AccessKey, Names, Reference, names_of, own_subscripts, resolve
from orio_py.ctree.dependence.pointers import followed_names, told_apart
from orio_py.ctree.dependence.schedule import continuation, enter
from orio_py.ctree.dependence.scope import NEVER, Level, Scope
from orio_py.ctree.dependence.terms import Proof, Terms, is_wide_integer
from orio_py.ctree.emit import emit_expression
from orio_py.ctree.known_functions import MAXIMUM_NAMES, MINIMUM_NAMES, called_name, is_pure
from orio_py.ctree.loops import CanonicalLoop, is_fusable, unmarked
from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.region_walk import SILENT, RegionWalk
from orio_py.ctree.rewrite import walk_statements
from orio_py.ctree.symbols import holds_constants

_EXTREMES = MINIMUM_NAMES | MAXIMUM_NAMES
_MAY_RUN = "the access is made only under a condition"


def collect(
    loops: Sequence[CanonicalLoop],
    aliases: Aliases,
    proof: Proof,
    surrounding: Sequence[CanonicalLoop] = (),
) -> Accesses:
    """The accesses of the perfect nest `loops`, outermost first, inside the loops `surrounding`.

    Raises Unanalysable.
    """
    for outer, inner in pairwise(loops):
        if not _holds_only(outer.body, inner.node):
            reason = f"the loop `{outer.index}` holds more than the loop `{inner.index}`"
            raise Unanalysable(reason, outer.node)
    names = names_of(loops[0].node, aliases.declarations, aliases.may_overlap, aliases.types)
    collector = _Collector(loops[0].node, names, proof, aliases)
    scope = _inside(surrounding, aliases, proof)
    for loop in loops:
        scope = collector.header(loop, scope, None)
    collector.sequence(statements(loops[-1].body), scope)
    groups = {path: tuple(nodes) for path, nodes in collector.groups.items()}
    dead = frozenset(collector.dead - collector.taken)
    return Accesses(told_apart(collector.finished(), aliases), scope, groups, collector.jumps, names, dead)


def _inside(surrounding: Sequence[CanonicalLoop], aliases: Aliases, proof: Proof) -> Scope:
    """What the loops around a nest say about their indices, which are fixed while the nest runs."""
    scope = Scope()
    if not surrounding:
        return scope
    inside = list(walk_statements(surrounding[0].body))
    declared = frozenset(part.name for part in inside if isinstance(part, c_ast.Decl) and part.name)
    terms = Terms(Names(aliases.declarations, {}, frozenset(), declared, types=aliases.types), proof, "@@")
    for loop in surrounding:
        scope = enter(loop, terms, scope)
    return Scope(values=scope.values, outer=scope.domain, fixed=frozenset(scope.values))


class _Collector(RegionWalk[Scope]):
    """Walks statements in the order of the source and records accesses."""

    def __init__(self, node: Node, names: Names, proof: Proof, aliases: Aliases) -> None:
        self.names = names
        self.aliases = aliases
        self.terms = Terms(names, proof)
        self.proof = proof
        self.overlapped = set(names.overlapped)
        self.instances: list[Instance] = []
        self.index_writes: list[Instance] = []
        self.groups: dict[tuple[int, ...], list[Node]] = {}
        self.jumps: str | None = None
        self.dead: set[tuple[int, bool]] = set()
        self.taken: set[tuple[int, bool]] = set()
        self.depth = 0
        self.followed = followed_names(node, names, aliases)
        self.changing = {
            name.partition(".")[0] for name in (*names.writes, *names.overlapped)
        } | names.indices

    def finished(self) -> tuple[Instance, ...]:
        """The accesses to names that are written, with what is known only at the end."""
        touched = {(instance.name, instance.depth) for instance in self.instances}
        found = self.instances + [write for write in self.index_writes if self._is_seen(write.name, touched)]
        found = [instance for instance in found if not self._is_kept_address(instance, touched)]
        written = {instance.name for instance in found if instance.is_write}
        self._check_parts(found, written)
        seen = written | self.overlapped | self.followed
        kept = [instance for instance in found if instance.name in seen]
        if self.jumps is not None:
            kept = [replace(instance, why=instance.why or self.jumps) for instance in kept]
        return tuple(kept)

    def _is_seen(self, index: str, touched: Set[AccessKey]) -> bool:
        """Whether the body has an access to an index, by its name or through a pointer to it."""
        return any(key[0] == index or self.aliases.may_overlap((index, 0), key) for key in touched)

    def _is_kept_address(self, read: Instance, touched: Set[AccessKey]) -> bool:
        """Whether an access reads the address that a pointer of the function holds throughout: `if (p != NULL)`.

        Parameters with an extent are pointers, too.
        """
        declared = self.names.declarations.get(read.name)
        if (
            declared is None
            or declared.scope == "global"
            or bool(declared.pointers) == bool(declared.dimensions)
        ):
            return False
        spot = (read.name, read.depth)
        is_set = any(one.is_write and (one.name, one.depth) == spot for one in self.instances)
        return (
            read.depth == 0
            and not is_set
            and not any(self.aliases.may_overlap(spot, other) for other in touched if other != spot)
        )

    def _check_parts(self, found: list[Instance], written: set[str]) -> None:
        """Refuse to compare a variable as a whole with its fields or with what it points to."""
        depths: dict[str, set[int]] = {}
        for instance in found:
            depths.setdefault(instance.name, set()).add(len(instance.subscripts))
        for instance in found:
            name = instance.name
            if name in written and 0 in depths[name] and len(depths[name]) > 1:
                self._fail(f"`{name}` is used both as a whole and by elements", instance.node)
            for end, letter in enumerate(name):
                whole = name[:end]
                if letter == "." and whole in depths and not written.isdisjoint({name, whole}):
                    self._fail(f"`{whole}` is used both as a whole and by fields", instance.node)

    # Statements

    def header(self, loop: CanonicalLoop, scope: Scope, previous: CanonicalLoop | None) -> Scope:
        """Record what the header of a loop reads; the scope of its body."""
        if any(level.index == loop.index for level in scope.levels) and loop.declared_type is None:
            self._fail(f"the index `{loop.index}` of the outer loop is used by an inner loop", loop.node)
        if loop.index in self.names.overlapped and loop.declared_type is None:
            self._fail(f"a write through a pointer may change the loop index `{loop.index}`", loop.node)
        self.expression(loop.start, scope)
        self.expression(loop.bound, replace(scope, private={**scope.private, loop.index: 0}))
        if loop.declared_type is None:
            index = c_ast.ID(loop.index, loop.node.coord)
            self.index_writes.append(self._instance(Reference(loop.index, ()), index, True, scope))
        return enter(loop, self.terms, scope, previous)

    def sequence(self, items: Sequence[Node], state: Scope) -> None:
        """Record the statements of a block; where they are fused with those of other copies, in groups."""
        base, place, in_run = state.path, 0, False
        previous: CanonicalLoop | None = None
        for wrapped in items:
            item = unmarked(wrapped)
            if isinstance(item, SILENT):
                continue
            is_loop = is_fusable(item)
            if state.fusable and (is_loop or not in_run):
                place += 1
            in_run = not is_loop
            here = state
            if state.fusable:
                here = replace(state, path=(*base, place), fusable=is_loop)
                self.groups.setdefault(here.path, []).append(item)
            if isinstance(item, For):
                previous = self._for(item, here, previous)
            else:
                previous = None
                after = self.statement(item, here)
                if after is not here:
                    state = replace(after, path=base, fusable=state.fusable)

    def loop(self, node: For, state: Scope) -> None:
        """Record a loop that no other one comes before."""
        self._for(node, state, None)

    def _for(self, node: For, scope: Scope, previous: CanonicalLoop | None) -> CanonicalLoop | None:
        loop = CanonicalLoop.match(node)
        before = None
        if loop is None and (loop := continuation(node, previous)) is not None:
            before = previous
        if loop is None:
            self.uncounted(node, scope)
            return None
        inner = self.header(loop, scope, before)
        self.depth += 1
        self.sequence(statements(loop.body), inner)
        self.depth -= 1
        return loop

    def uncounted(self, node: Any, state: Scope) -> None:
        """Record a loop that counts nothing known."""
        self.depth += 1
        super().uncounted(node, replace(state, fusable=False))
        self.depth -= 1

    def repeated(self, node: Node, state: Scope) -> Scope:
        """The scope in a loop without a known range."""
        symbol = self.terms.fresh()
        level = Level(symbol.leading()[0][0], "", 1, node)
        why = state.why or "its loop has no known range"
        return replace(state, levels=(*state.levels, level), why=why).restricted((symbol,), None)

    def switch(self, node: c_ast.Switch, state: Scope) -> None:
        """Record the body of a `switch`, each statement of which may run."""
        self.depth += 1
        self.statement(node.stmt, replace(state, why=state.why or _MAY_RUN))
        self.depth -= 1

    def branch(self, node: c_ast.If, part: Node | None, truth: bool, state: Scope) -> None:
        """Record a branch, and whether it is never taken."""
        inner = self.terms.condition(node.cond, state, truth)
        never = len(inner.domain) > len(state.domain) and self.proof(NEVER, inner.known)
        # Copies of a statement may share a node that is dead in one place only.
        (self.dead if never else self.taken).add((id(node), truth))
        if part is not None:
            self.statement(part, inner)

    def under(self, condition: Node, truth: bool, state: Scope) -> tuple[Scope]:
        """The scope where a condition holds, or does not."""
        return (self.terms.condition(condition, state, truth),)

    def jump(self, node: Node, state: Scope) -> None:
        """A `break` or `continue` makes domains inexact; nothing is known of other jumps."""
        if not isinstance(node, (c_ast.Break, c_ast.Continue)):
            self._fail("a `return`, `goto` or label lets the loop end in its midst", node)
        word = type(node).__name__.lower()
        if self.depth == 0 and word == "break":
            self._fail("`break` leaves the loop", node)
        self.jumps = f"`{word}` skips iterations"

    def declaration(self, node: c_ast.Decl, state: Scope) -> Scope:
        """Record a declaration, whose variable is private from there on and may have a known value."""
        if node.name is None or isinstance(node.type, c_ast.FuncDecl):
            return state
        if {"static", "extern"} & set(node.storage) and not holds_constants(node):
            self._fail(f"`{node.name}` is declared {node.storage[0]} inside the loop", node)
        extent = node.type
        while isinstance(extent, c_ast.ArrayDecl):
            if extent.dim is not None:
                self.expression(extent.dim, state)
            extent = extent.type
        values = {name: value for name, value in state.values.items() if name != node.name}
        if node.init is not None:
            self.expression(node.init, state)
            if not self.names.writes.get(node.name) and is_wide_integer(node.type, self.names.types):
                value, state = self.terms.polynomial(node.init, state)
                if value is not None:
                    values[node.name] = value
        unset = state.unset - {node.name}
        if node.init is None and is_wide_integer(node.type, self.names.types):
            unset |= {node.name}
        private = {**state.private, node.name: own_subscripts(node)}
        return replace(state, values=values, private=private, unset=unset)

    def assigned(self, node: c_ast.Assignment, state: Scope) -> Scope:
        """A scalar that is assigned once has a known value in the statements behind."""
        if not isinstance(node.lvalue, c_ast.ID) or node.op != "=":
            return state
        name = node.lvalue.name
        declaration = self.names.declarations.get(name)
        known = declaration is not None and declaration.is_scalar and declaration.holds_any_index
        if name in self.names.local:
            known = name in state.unset
        once = self.names.writes.get(name) == 1
        if not known or not once or name in self.names.indices | self.names.overlapped:
            return state
        value, state = self.terms.polynomial(node.rvalue, state)
        return state if value is None else replace(state, values={**state.values, name: value})

    # Expressions

    def address(self, node: c_ast.UnaryOp, state: Scope) -> None:
        """The address of an element is a sum; what others are used for is not followed."""
        if not isinstance(node.expr, c_ast.ArrayRef):
            self._fail("the address of a variable is taken", node)
        self.children(node.expr, state)

    def call(self, node: c_ast.FuncCall, state: Scope) -> None:
        """Record the arguments of a function that only computes a value."""
        if not is_pure(node) and getattr(node.name, "name", None) not in _EXTREMES:
            reason = f"it calls `{emit_expression(node.name)}`, whose effects are not known"
            raise Unanalysable(reason, node, called_name(node))
        super().call(node, state)

    def other(self, node: Node, state: Scope) -> None:
        """An expression that has no affine form."""
        del state
        self._fail(f"this {type(node).__name__} cannot be analysed", node)

    def reference(self, node: Node, state: Scope, *, reads: bool, writes: bool) -> None:
        """Record an access, and those of its subscripts."""
        reference = resolve(node, self.names)
        if reference is None:
            self._fail(f"`{emit_expression(node)}` is not an element of a named array", node)
        for subscript in reference.subscripts:
            self.expression(subscript, state)
        if reference.variable in state.private:
            if len(reference.subscripts) > state.private[reference.variable]:
                self._fail(f"`{reference.variable}` is a pointer that is set inside the loop", node)
            return
        if any(level.index == reference.name for level in state.levels):
            if writes:
                self._fail(f"the body assigns the loop index `{reference.name}`", node)
            return
        self._check_declaration(reference, node)
        if reference.name in self.followed:
            self._follow(reference, node, state)
        if reference.variable not in self.changing:
            return
        reference = self._located(reference, node)
        if reads:
            self.instances.append(self._instance(reference, node, False, state))
        if writes:
            self.instances.append(self._instance(reference, node, True, state))

    def _follow(self, reference: Reference, node: Node, state: Scope) -> None:
        """Record the pointers that an access reads on its way, which the nest may set under another name."""
        for pointer in self.aliases.followed(reference):
            self.instances.append(self._instance(pointer, node, False, state))

    def _located(self, reference: Reference, node: Node) -> Reference:
        """The reference to the object that holds what is referred to, of which no part is an object of its own."""
        located = self.aliases.located(reference)
        if located is None:
            self._fail(f"`{emit_expression(node)}` follows a pointer in a union", node)
        if reference.name in self.overlapped:
            self.overlapped.add(located.name)
        return located

    def _check_declaration(self, reference: Reference, node: Node) -> None:
        declaration = self.names.declarations.get(reference.variable)
        if declaration is None:
            return
        if "volatile" in declaration.qualifiers:
            self._fail(f"`{reference.variable}` is volatile", node)
        is_unknown = declaration.type not in self.aliases.structures
        if "const" in declaration.qualifiers and not declaration.pointers:
            return  # Whatever the members share, nothing changes it.
        if declaration.type.startswith("union") and is_unknown and "." in reference.name:
            self._fail(f"`{reference.variable}` is a union", node)

    def _instance(self, reference: Reference, node: Node, is_write: bool, scope: Scope) -> Instance:
        subscripts: list[Polynomial | None] = []
        why = scope.why
        for subscript in reference.subscripts:
            value, scope = self.terms.polynomial(subscript, scope)
            if value is None and why is None:
                why = f"the subscript `{emit_expression(subscript)}` is not affine"
            subscripts.append(value)
        return Instance(
            name=reference.name,
            node=node,
            is_write=is_write,
            subscripts=tuple(subscripts),
            levels=scope.levels,
            domain=scope.domain,
            path=scope.path,
            why=why or scope.why,
            cases=scope.cases,
            depth=len(reference.subscripts),
        )

    def _fail(self, reason: str, node: Node) -> NoReturn:
        raise Unanalysable(reason, node)


def _holds_only(body: Node, node: Node) -> bool:
    """Whether a body is one statement, besides what does nothing."""
    items = [body]
    while len(items) == 1 and isinstance(items[0], Compound):
        items = [item for item in items[0].block_items or [] if not isinstance(item, SILENT)]
    return len(items) == 1 and unmarked(items[0]) is node
