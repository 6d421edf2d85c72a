"""The control-flow graph of a function, and what follows from it for its variables.

A step is an expression, a declaration or a condition; an edge leads to each step that may be next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from typing import TypeVar

from orio_py.ctree.effects import Effects
from orio_py.ctree.followed import followed, followed_where
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import used_names
from orio_py.ctree.unit.allocations import allocated_pointer
from orio_py.ctree.unit.borrowed_pointers import Borrowed, kept_addresses

_K = TypeVar("_K")


@dataclass(slots=True)
class Step:
    """One step: what it does, and the segment of the file that it is in.

    `killed` are the scalars that it assigns whenever it is executed, `mentioned` names that it may read
    besides, `unclear` those that it may assign, too.  `declared` are the names declared in the function that are in force, each with its block: in
    another block the same name is another variable.
    """

    effects: Effects | None
    killed: frozenset[str]
    mentioned: frozenset[str]
    unclear: frozenset[str]
    declared: dict[str, int]
    segment: int
    known: tuple[Node, bool] | None = None
    """A condition, and whether it holds behind the step."""
    node: Node | None = None
    """What the step does by itself."""
    following: list[int] = field(default_factory=list[int])

    def may_read(self, name: str) -> bool:
        """Whether the step, or what gets the address from it, may use the value that the variable has before it."""
        found = self.effects
        read = found is not None and (name in found.reads_before_write or name in found.array_reads)
        return read or name in self.unseen or self.addresses(name)

    @property
    def unseen(self) -> frozenset[str]:
        """The variables that the step may read without being code that is seen."""
        return self.mentioned | self.unclear

    def sets(self, name: str) -> bool:
        """Whether the step may give the variable itself another value."""
        found = self.effects
        return name in self.unclear or (found is not None and name in found.scalar_writes)

    def addresses(self, name: str) -> bool:
        """Whether the step takes the address of the variable."""
        return self.effects is not None and name in self.effects.address_taken

    @property
    def follows(self) -> frozenset[str]:
        """The pointers to structures that the step follows, or that were followed where its condition holds."""
        if self.known is not None:
            return followed_where(*self.known)
        return frozenset() if self.node is None else followed(self.node)

    @property
    def may_free_memory(self) -> bool:
        """Whether the step calls what is not known to compute a value alone, or is not seen."""
        found = self.effects
        return bool(self.unseen) or (found is not None and (bool(found.calls) or found.opaque))

    @property
    def changed(self) -> frozenset[str]:
        """The variables that the step may assign, and those whose address it takes."""
        found = self.effects
        return self.unclear if found is None else found.writes | found.address_taken | self.unclear


@dataclass(frozen=True)
class ControlFlow:
    """The steps of a function; the first one is its entry, the second its exit.

    What is asked of some code is asked of the segments `inside` which it is.
    """

    steps: tuple[Step, ...]
    borrowed: Callable[[], Borrowed] = dict
    """Which parameters functions of the file only follow."""
    allocating: Callable[[], frozenset[str]] = frozenset
    """The functions of the file that allocate what they give back."""

    def live_after(self, name: str, inside: range) -> bool:
        """Whether the value of `name` behind the code may be read before it is assigned; of a structure that of a member."""
        if not self._is_live(name, name, inside):
            return False
        parts = self._member_uses.get(name)
        return parts is None or any(self._is_live(name, part, inside) for part in {f"{name}.", *parts})

    def _is_live(self, name: str, part: str, inside: range) -> bool:
        """Whether that is so for a member, `v.m`; `v.` stands for what uses the structure otherwise than by members."""
        own = self.own(inside)
        block = declared_in(name, own)
        waiting = [n for step in own for n in step.following if self.steps[n].segment not in inside]
        seen: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            step, uses = self.steps[number], self._uses[number]
            is_it = step.declared.get(name) == block
            is_read = step.may_read(name) if part == name else part in uses.read or name in step.unseen
            if is_it and is_read:
                return True
            if not (is_it and (name in step.killed or part == uses.set)):
                waiting.extend(step.following)
        return False

    @cached_property
    def _uses(self) -> list[_MemberUses]:
        """What each step does to members of structures."""
        return [_MemberUses.of(step.node) for step in self.steps]

    @cached_property
    def _member_uses(self) -> Mapping[str, frozenset[str]]:
        """What the function uses of each structure, named as in `_uses`."""
        found: dict[str, set[str]] = {}
        for use in {use for uses in self._uses for use in (*uses.read, uses.set) if use}:
            found.setdefault(use.partition(".")[0], set()).add(use)
        return {name: frozenset(parts) for name, parts in found.items()}

    def addressed_before(self, inside: range) -> frozenset[str]:
        """The variables whose address is taken before the code, or may be when it comes again."""
        return self._names_before(inside, self._addressing)

    def exposed_before(self, inside: range, pointers: Set[str] = frozenset()) -> frozenset[str]:
        """Those among them that something may point to in the code; of `pointers` the address of an element is none."""
        own = self._names_before(inside, self._exposing_pointers)
        return own | (self._names_before(inside, self._exposing) - pointers)

    def _names_before(self, inside: range, found: Iterable[tuple[int, frozenset[str]]]) -> frozenset[str]:
        before = self._before(inside)
        return frozenset[str]().union(*(names for number, names in found if number in before))

    def is_addressed(self, name: str, inside: range) -> bool:
        """Whether the address of a variable of this name may have been taken when the code ends."""
        return name in self.addressed_before(inside) or any(step.addresses(name) for step in self.own(inside))

    def is_exposed(self, name: str, inside: range) -> bool:
        """Whether something may point to a variable of this name when the code ends."""
        exposing = ((self.steps[number].segment, names) for number, names in self._exposing)
        own = any(segment in inside and name in names for segment, names in exposing)
        return own or name in self.exposed_before(inside)

    def changes(self, name: str, inside: range) -> bool:
        """Whether the variable that the code knows by a name is assigned or addressed in the function."""
        return self._changes(name, inside, self._changing.get(name, ()))

    def changes_before(self, name: str, inside: range) -> bool:
        """Whether that is so before the code."""
        before = self._before(inside)
        return self._changes(name, inside, [n for n in self._changing.get(name, ()) if n in before])

    def sets_pointer(self, name: str, inside: range) -> bool:
        """Whether a pointer is set anew before or in the code."""
        return any(step.sets(name) for step in self._touching(name, inside))

    def is_allocated(self, name: str, inside: range) -> bool:
        """Whether all that sets a pointer before or in the code are allocations, so that its memory is its own."""
        setting = [s for s in self._touching(name, inside) if s.sets(name) or s.addresses(name)]
        return bool(setting) and all(
            step.node is not None
            and allocated_pointer(step.node, self.allocating() - step.declared.keys()) == name
            for step in setting
        )

    def certain_before(self, inside: range) -> list[Step]:
        """The steps that tell a condition, which every way to the code goes through and whose variables keep their values."""
        own = {n for segment in inside for n in self._by_segment.get(segment, ())}
        entries = {number for n in own for number in self.preceding[n]} - own
        return [self.steps[n] for n in sorted(_on_all([self._available[n] for n in entries]))] if own else []

    def followed_before(self, inside: range) -> frozenset[str]:
        """The pointers to structures that every way to the code follows, behind all that might set them or free memory."""
        own = {n for segment in inside for n in self._by_segment.get(segment, ())}
        entries = {number for n in own for number in self.preceding[n]} - own
        found = _on_all([self._followed[n] for n in entries]) if own else frozenset[tuple[str, int | None]]()
        steps = self.own(inside)
        return frozenset(name for name, block in found if block == declared_in(name, steps))

    @cached_property
    def _followed(self) -> list[frozenset[tuple[str, int | None]] | None]:
        """The pointers followed behind each step, with the blocks of their declarations."""

        def behind(
            step: Step, before: frozenset[tuple[str, int | None]]
        ) -> frozenset[tuple[str, int | None]]:
            if step.may_free_memory:
                return frozenset()
            now = before | {(name, step.declared.get(name)) for name in step.follows}
            changed = step.changed | step.killed
            return frozenset(pointer for pointer in now if pointer[0] not in changed)

        return self._behind(behind)

    @cached_property
    def _available(self) -> list[frozenset[int] | None]:
        """The steps whose conditions hold behind each step; None behind those that are never executed."""
        names = {
            n: used_names([step.known[0]]) for n, step in enumerate(self.steps) if step.known is not None
        }
        numbers = {id(self.steps[n]): frozenset({n}) for n in names}
        every = frozenset[str]().union(*names.values())

        def behind(step: Step, before: frozenset[int]) -> frozenset[int]:
            changed = (step.changed | step.killed) & every
            kept = frozenset(n for n in before if changed.isdisjoint(names[n])) if changed else before
            own = numbers.get(id(step))
            return kept if own is None or own <= kept else kept | own

        return self._behind(behind) if names else [None] * len(self.steps)

    def _behind(self, change: Callable[[Step, frozenset[_K]], frozenset[_K]]) -> list[frozenset[_K] | None]:
        """What holds behind each step on all ways to it, by what a step makes of that; None where none leads."""
        behind: list[frozenset[_K] | None] = [None] * len(self.steps)
        waiting, ranks = [(0, 0)], self._ranks
        while waiting:
            _, number = heappop(waiting)
            before = _on_all([behind[n] for n in self.preceding[number]] if number else [])
            now = change(self.steps[number], before)
            if behind[number] != now:
                behind[number] = now
                for following in self.steps[number].following:
                    if (ranks[following], following) not in waiting:
                        heappush(waiting, (ranks[following], following))
        return behind

    @cached_property
    def _ranks(self) -> Mapping[int, int]:
        """Places of the steps that the entry leads to in an order in which each comes behind those before it, but for loops.

        The reverse postorder of a depth-first search, in which facts settle after few visits (Kam and Ullman 1976).
        """
        found: list[int] = []
        open_steps, seen = [(0, iter(self.steps[0].following))], {0}
        while open_steps:
            number, following = open_steps[-1]
            new = next((n for n in following if n not in seen), None)
            if new is None:
                found.append(number)
                open_steps.pop()
            else:
                seen.add(new)
                open_steps.append((new, iter(self.steps[new].following)))
        return {number: rank for rank, number in enumerate(reversed(found))}

    def _touching(self, name: str, inside: range) -> list[Step]:
        """The steps before and in the code that may change a variable of this name."""
        before = self._before(inside)
        changing = ((n, self.steps[n]) for n in self._changing.get(name, ()))
        return [step for n, step in changing if n in before or step.segment in inside]

    def _changes(self, name: str, inside: range, numbers: Iterable[int]) -> bool:
        block = declared_in(name, self.own(inside))
        return any(self.steps[number].declared.get(name) == block for number in numbers)

    def own(self, inside: range) -> list[Step]:
        """The steps of the code."""
        return [self.steps[n] for segment in inside for n in self._by_segment.get(segment, ())]

    def _before(self, inside: range) -> frozenset[int]:
        """The steps that may be executed before those of the code; theirs are left out."""
        key = inside.start, inside.stop
        if key not in self._known_before:
            own = {n for segment in inside for n in self._by_segment.get(segment, ())}
            waiting, seen = list(own), set(own)
            while waiting:
                for number in self.preceding[waiting.pop()]:
                    if number not in seen:
                        seen.add(number)
                        waiting.append(number)
            self._known_before[key] = frozenset(seen - own)
        return self._known_before[key]

    @cached_property
    def _known_before(self) -> dict[tuple[int, int], frozenset[int]]:
        return {}

    @cached_property
    def preceding(self) -> list[list[int]]:
        """The steps before each one."""
        found: list[list[int]] = [[] for _ in self.steps]
        for number, step in enumerate(self.steps):
            for following in step.following:
                found[following].append(number)
        return found

    @cached_property
    def _by_segment(self) -> Mapping[int, list[int]]:
        return _listed((step.segment, number) for number, step in enumerate(self.steps))

    @cached_property
    def _changing(self) -> Mapping[str, list[int]]:
        """The steps that may change each variable."""
        return _listed((name, number) for number, step in enumerate(self.steps) for name in step.changed)

    @cached_property
    def _addressing(self) -> list[tuple[int, frozenset[str]]]:
        """The steps that take addresses, and of what."""
        found = (
            (n, step.effects.address_taken) for n, step in enumerate(self.steps) if step.effects is not None
        )
        return [(number, names) for number, names in found if names]

    @cached_property
    def _exposing(self) -> list[tuple[int, frozenset[str]]]:
        """The steps behind which something may point to variables, and to which."""
        return self._kept(as_pointers=False)

    @cached_property
    def _exposing_pointers(self) -> list[tuple[int, frozenset[str]]]:
        """The same for variables that are pointers."""
        return self._kept(as_pointers=True)

    def _kept(self, *, as_pointers: bool) -> list[tuple[int, frozenset[str]]]:
        found = (
            (n, kept_addresses(self.steps[n].node, names, self._borrowed_at(n), as_pointers=as_pointers))
            for n, names in self._addressing
        )
        return [(number, names) for number, names in found if names]

    def _borrowed_at(self, number: int) -> Borrowed:
        """What is borrowed by functions whose names no variable hides at a step."""
        hidden = self.steps[number].declared
        return {name: places for name, places in self.borrowed().items() if name not in hidden}


@dataclass(frozen=True, slots=True)
class _MemberUses:
    """The members that a step may read, as `v.m`, with `v.` for each name that it uses otherwise, and the one that it sets."""

    read: frozenset[str] = frozenset()
    set: str = ""

    @classmethod
    def of(cls, node: Node | None) -> _MemberUses:
        match node:
            case None:
                return cls()
            case c_ast.Assignment(
                op="=",
                lvalue=c_ast.StructRef(name=c_ast.ID(name=name), type=".", field=c_ast.ID(name=member)),
                rvalue=value,
            ):
                return cls(frozenset(_members_read(value)), f"{name}.{member}")
            case _:
                return cls(frozenset(_members_read(node)))


def _members_read(node: Node) -> Iterator[str]:
    match node:
        case c_ast.StructRef(name=c_ast.ID(name=name), type=".", field=c_ast.ID(name=member)):
            yield f"{name}.{member}"
        case c_ast.StructRef(name=outer):
            yield from _members_read(outer)
        case c_ast.ID(name=name):
            yield f"{name}."
        case _:
            for child in node:
                yield from _members_read(child)


def _listed(pairs: Iterable[tuple[_K, int]]) -> dict[_K, list[int]]:
    """The numbers of each key."""
    found: dict[_K, list[int]] = {}
    for key, number in pairs:
        found.setdefault(key, []).append(number)
    return found


def declared_in(name: str, steps: Sequence[Step]) -> int | None:
    """The block whose declaration of `name` is in force around all of the steps."""
    outermost = min(steps, key=lambda step: len(step.declared), default=None)
    return None if outermost is None else outermost.declared.get(name)


def _on_all(ways: Sequence[frozenset[_K] | None]) -> frozenset[_K]:
    """What holds on all ways that may be taken."""
    taken = [way for way in ways if way is not None]
    if len(taken) == 1:
        return taken[0]
    return taken[0].intersection(*taken[1:]) if taken else frozenset()
