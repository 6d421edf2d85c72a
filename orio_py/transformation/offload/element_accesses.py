"""The array references of a loop body: which elements each touches, and under what conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import index
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.names import resolve
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.loops import CanonicalLoop, ends_iterations, jumps_out
from orio_py.ctree.nodes import Node, array_of, c_ast, reference_parts
from orio_py.ctree.region_walk import RegionWalk
from orio_py.ctree.rewrite import assigned_names, assignments, declared_names
from orio_py.ctree.rewrite import walk as walk_nodes
from orio_py.kernel.types import device_type
from orio_py.transformation.offload.arithmetic import Arithmetic, ValueEnvironment, operands
from orio_py.transformation.offload.bounded_values import ComparedSum
from orio_py.transformation.offload.index_ranges import IndexRange, level_of
from orio_py.transformation.offload.range_conditions import restricted


@dataclass(frozen=True, slots=True)
class Branch:
    """A condition by identity and whether it holds, with what was known of the iterations before it."""

    condition: int
    truth: bool
    levels: tuple[IndexRange, ...]
    is_exact: bool
    guards: tuple[Polynomial, ...]


@dataclass(frozen=True, slots=True)
class ElementAccess:
    """One array reference, in one case of the conditions around it.

    `subscripts` are None where they are no polynomials; `levels` the loops around it, outermost first, as
    far as conditions leave them, `whole` the same without conditions; `always` says that it is made in all
    their iterations.  Where `is_exact` the conditions around it say no more of indices than the levels do; `guards`,
    polynomials of steady scalars, are at least 0 where it is made.  `path` are the conditions, outermost first, `sums`
    what they say of several indices together.
    """

    name: str
    node: Node
    subscripts: tuple[Polynomial | None, ...]
    levels: tuple[IndexRange, ...]
    reads: bool
    writes: bool
    always: bool
    is_exact: bool
    guards: tuple[Polynomial, ...]
    path: tuple[Branch, ...]
    whole: tuple[IndexRange, ...]
    sums: tuple[ComparedSum, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is; `known` are variables of the body whose value is a polynomial, or is not known."""

    levels: tuple[IndexRange, ...]
    whole: tuple[IndexRange, ...]
    known: ValueEnvironment
    always: bool = True
    is_exact: bool = True
    guards: tuple[Polynomial, ...] = ()
    path: tuple[Branch, ...] = ()
    sums: tuple[ComparedSum, ...] = ()

    def inside(self, condition: Node, truth: bool) -> tuple[Branch, ...]:
        """The conditions of what stands under one more."""
        return (*self.path, Branch(id(condition), truth, self.levels, self.is_exact, self.guards))


def collect_accesses(
    loops: Sequence[CanonicalLoop], arithmetic: Arithmetic
) -> tuple[tuple[IndexRange, ...], list[ElementAccess]]:
    """The levels of the mapped loops, and the array references in their body, in the order of the source."""
    body = loops[-1].body
    arithmetic.types.update(_declared_types(loops, body))
    walk = _Walk(arithmetic, body)
    known: dict[str, Polynomial | None] = dict.fromkeys(walk.changing)
    levels: list[IndexRange] = []
    for loop in loops:
        levels.append(level_of(loop, arithmetic, known, runs=True))
        known[loop.index] = Polynomial.symbol(loop.index)
    place = _Place(tuple(levels), tuple(levels), known)
    walk.statement(body, _doubtful(place, body) if _may_end_early(body) else place)
    return tuple(levels), walk.found


def accesses_in(node: Node, arithmetic: Arithmetic) -> list[ElementAccess]:
    """The array references of a statement, in the order of the source."""
    arithmetic.types.update(_declared_types((), node))
    walk = _Walk(arithmetic, node)
    walk.statement(node, _Place((), (), dict.fromkeys(walk.changing)))
    return walk.found


def _doubtful(place: _Place, node: Node) -> _Place:
    """The place inside a statement that does not say for which indices it runs."""
    return replace(place, always=False, is_exact=False, path=place.inside(node, True))


def _may_end_early(body: Node) -> bool:
    """Whether a loop may leave out iterations, or something else than the end of one by `continue`."""
    return jumps_out(body, (c_ast.Continue,)) is not None


@dataclass(frozen=True, slots=True)
class _Choice:
    """What a variable is where a condition holds, or does not."""

    condition: Node
    truth: bool
    value: Polynomial


class _Walk(RegionWalk[_Place]):
    def __init__(self, arithmetic: Arithmetic, body: Node) -> None:
        self.arithmetic = arithmetic
        self.found: list[ElementAccess] = []
        self.changing = frozenset(assigned_names(body)) | declared_names(body)
        self.once = _assigned_once(body)
        self.types = arithmetic.declared_types() | _types(body)
        self.choices: dict[str, tuple[_Choice, ...]] = {}
        self.extremes: dict[tuple[str, bool], tuple[Polynomial, ...]] = {}

    def declaration(self, node: c_ast.Decl, state: _Place) -> _Place:
        """Record what the first value of a variable uses."""
        if node.init is None or node.name is None:
            return state
        self.expression(node.init, state)
        return self._learned(node.name, node.init, state)

    def assigned(self, node: c_ast.Assignment, state: _Place) -> _Place:
        """The place behind an assignment: the value of a variable that has one alone is known."""
        match node:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                return self._learned(name, value, state)
            case _:
                return state

    def _learned(self, name: str, value: Node, place: _Place) -> _Place:
        if name not in self.once:
            return place
        if not self.arithmetic.keeps(self.types.get(name, ""), value):
            return replace(place, known={**place.known, name: None})
        known = self.arithmetic.polynomial(value, place.known)
        if known is None and self.arithmetic.names is not None and isinstance(value, c_ast.TernaryOp):
            known = self._chosen(name, value, place)
        return replace(place, known={**place.known, name: known})

    def _chosen(self, name: str, value: c_ast.TernaryOp, place: _Place) -> Polynomial | None:
        """A symbol for the value of `c ? a : b`, which each reference by it takes apart."""
        parts = ((value.iftrue, True), (value.iffalse, False))
        values = [(self.arithmetic.polynomial(part, place.known), truth) for part, truth in parts]
        found = tuple(_Choice(value.cond, truth, known) for known, truth in values if known is not None)
        if len(found) < len(values) or any(self.choices.keys() & choice.value.symbols for choice in found):
            return None
        self.choices[f"?{name}"] = found
        for smallest in (False, True):
            if len(operands(value, smallest=smallest)) == len(found):
                self.extremes[f"?{name}", smallest] = tuple(choice.value for choice in found)
        return Polynomial.symbol(f"?{name}")

    def counted(self, loop: CanonicalLoop, state: _Place) -> None:
        """Record a loop and what its index ranges over."""
        if loop.index in assigned_names(loop.body):
            self.uncounted(loop.node, state)
            return
        self.expression(loop.start, state)
        self.expression(loop.bound, state)
        level = self._without_choices(level_of(loop, self.arithmetic, state.known, runs=False))
        known = {**state.known, loop.index: Polynomial.symbol(loop.index)}
        levels, whole = (*state.levels, level), (*state.whole, level)
        sums = tuple(each for each in state.sums if loop.index not in each.value.symbols)
        inner = replace(state, levels=levels, whole=whole, known=known, sums=sums)
        self.statement(loop.body, _doubtful(inner, loop.node) if _may_end_early(loop.body) else inner)

    def statement(self, node: Node, state: _Place) -> _Place:
        """Follow a statement; what stands behind a `continue` in it is not known to be reached."""
        after = super().statement(node, state)
        return _doubtful(after, node) if ends_iterations(node) else after

    def _without_choices(self, level: IndexRange) -> IndexRange:
        """The range with both operands for an end that is the larger, or the smaller, of two values."""
        if not self.choices:
            return level
        lowers, uppers = (
            tuple(part for end in given for part in self._operands(end, smallest=upper))
            for given, upper in ((level.lowers, False), (level.uppers, True))
        )
        low, high = (
            tuple(part for end in given for part in self._operands(end, smallest=upper))
            for given, upper in ((level.limit[0], False), (level.limit[1], True))
        )
        if (lowers, uppers) == (level.lowers, level.uppers):
            return level
        return replace(level, lowers=lowers, uppers=uppers, limit=(low, high), trips=None)

    def _operands(self, end: Polynomial, *, smallest: bool) -> list[Polynomial]:
        """An end that a variable gives as all those of which it is the smallest (or largest); none for other choices."""
        name = next((name for name in self.choices if name in end.symbols), None)
        if name is None:
            return [end]
        known = self.extremes.get((name, smallest))
        if known is None or end.terms.get((name,)) != 1 or any(name in m and len(m) > 1 for m in end.terms):
            return []
        rest = end - Polynomial.symbol(name)
        return [part for value in known for part in self._operands(rest + value, smallest=smallest)]

    def repeated(self, node: Node, state: _Place) -> _Place:
        """A place that is not known to be reached."""
        return _doubtful(state, node)

    def under(self, condition: Node, truth: bool, state: _Place) -> list[_Place]:
        """The place where a condition holds, or does not, in each case of it."""
        cases = restricted(state.levels, condition, truth, self.arithmetic, state.known)
        return [
            replace(
                state,
                levels=case.levels,
                always=False,
                is_exact=state.is_exact and case.is_exact,
                guards=(*state.guards, *case.guards),
                path=state.inside(condition, truth),
                sums=(*state.sums, *case.sums),
            )
            for case in cases
        ]

    def reference(self, node: Node, state: _Place, *, reads: bool, writes: bool) -> None:
        """Record an element of an array, and those that its subscripts use."""
        element = self._element(node)
        if element is None:
            self.children(node, state)
            return
        base, subscripts = reference_parts(element)
        for subscript in subscripts:
            self.expression(subscript, state)
        if not isinstance(base, c_ast.ID):
            self.expression(base, state)
        else:
            values = tuple(self.arithmetic.polynomial(s, state.known) for s in subscripts)
            for place, parts in self._apart(values, state):
                self.found.append(
                    ElementAccess(
                        base.name,
                        node,
                        parts,
                        place.levels,
                        reads=reads,
                        writes=writes,
                        always=place.always,
                        is_exact=place.is_exact,
                        guards=place.guards,
                        path=place.path,
                        whole=place.whole,
                        sums=place.sums,
                    )
                )

    def _apart(
        self, values: tuple[Polynomial | None, ...], place: _Place
    ) -> Iterator[tuple[_Place, tuple[Polynomial | None, ...]]]:
        """The subscripts in each case of the choices that they depend on."""
        used = {symbol for value in values if value is not None for symbol in value.symbols}
        name = next((name for name in self.choices if name in used), None)
        if name is None:
            yield place, values
            return
        for choice in self.choices[name]:
            parts = tuple(None if v is None else v.substituted(name, choice.value) for v in values)
            for inner in self.under(choice.condition, choice.truth, place):
                yield from self._apart(parts, inner)

    def _element(self, node: Node) -> Node | None:
        """What is read as an element of an array: one, or `*(p + i)` or `(*p)[i]` where the arithmetic has names for it."""
        match node:
            case c_ast.ArrayRef() if not isinstance(array_of(node), c_ast.BinaryOp | c_ast.UnaryOp):
                return node
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*") if self.arithmetic.names is not None:
                found = resolve(node, self.arithmetic.names)
                return None if found is None or "." in found.name else index(found.name, *found.subscripts)
            case _:
                return None


def _declared_types(loops: Sequence[CanonicalLoop], body: Node) -> dict[str, str]:
    """The device types of the variables that headers and statements declare."""
    found = {loop.index: loop.declared_type for loop in loops if loop.declared_type is not None}
    return {name: device_type(kind) or "" for name, kind in (found | _types(body)).items()}


def _types(body: Node) -> dict[str, str]:
    """The types of the variables that statements declare."""
    return {
        node.name: emit_type(node.type.type)
        for node in walk_nodes(body)
        if isinstance(node, c_ast.Decl) and node.name is not None and isinstance(node.type, c_ast.TypeDecl)
    }


def _assigned_once(body: Node) -> frozenset[str]:
    """The variables that one declaration or assignment alone gives a value, or a declaration in each of several blocks."""
    assigned = Counter(name for name, _ in assignments(body))
    declared: dict[str, list[c_ast.Decl]] = {}
    for part in walk_nodes(body):
        if isinstance(part, c_ast.Decl) and part.name:
            declared.setdefault(part.name, []).append(part)
    stepped = {name for name, part in assignments(body) if getattr(part, "op", None) != "="}
    alone = {
        name
        for name, count in assigned.items()
        if count == 1 and not any(d.init for d in declared.get(name, ()))
    }
    alone |= {name for name, found in declared.items() if not assigned[name] and _are_alike(found)}
    return frozenset(alone) - stepped


def _are_alike(declarations: Sequence[c_ast.Decl]) -> bool:
    """Whether all declarations give a value, and a variable of the same type."""
    types = {emit_type(one.type) if isinstance(one.type, c_ast.TypeDecl) else "" for one in declarations}
    return all(one.init is not None for one in declarations) and len(types) == 1


def in_both_branches(
    uses: Sequence[ElementAccess], flats: Sequence[Polynomial | None]
) -> list[ElementAccess]:
    """The references to an array without conditions in whose other branch the same element is touched.

        if (mode == 1) y[i] = x[i]; else y[i] = 2 * x[i];       touches `x[i]` and `y[i]` in each iteration

    `flats` are their flat subscripts.  All cases of a condition and of its opposite together are the iterations
    before it, so that what is touched in both branches is touched in all of these.
    """
    found = list(uses)
    keys = [None if flat is None else flat.key for flat in flats]
    deepest = max((len(use.path) for use in uses), default=0)
    for depth in range(deepest, 0, -1):
        before = list(found)
        for place, use in enumerate(before):
            if len(use.path) == depth and any(
                keys[place] is not None and keys[place] == key and _is_other_branch(other, use)
                for other, key in zip(before, keys, strict=True)
            ):
                found[place] = _before_condition(use)
    return found


def _is_other_branch(other: ElementAccess, use: ElementAccess) -> bool:
    """Whether a reference stands where the innermost condition around another one is not as it is there."""
    if len(other.path) != len(use.path):
        return False
    *outer, last = use.path
    around = len(last.levels)
    return (
        [*other.path[:-1]] == outer
        and other.path[-1] == replace(last, truth=not last.truth)
        and other.levels[around:] == use.levels[around:]
    )


def _before_condition(use: ElementAccess) -> ElementAccess:
    *outer, last = use.path
    levels = (*last.levels, *use.levels[len(last.levels) :])
    return replace(use, levels=levels, is_exact=last.is_exact, guards=last.guards, path=tuple(outer))
