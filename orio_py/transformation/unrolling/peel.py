"""Peel: run the first and the last iterations of a loop outside of it, as straight-line code.

    for (i = 0; i < n; i++)             if (n > 1) {
      y[i] = a * x[i];                    y[0] = a * x[0];
                                          for (i = 1; i < n - 1; i++)
                                            y[i] = a * x[i];
                                          y[n - 1] = a * x[n - 1];
                                        } else
                                          for (i = 0; i < n; i++)
                                            y[i] = a * x[i];

A loop with too few iterations runs as it was.  The iterations keep their order, so no dependence is in the
way.  Source: D. Bacon, S. Graham, O. Sharp, "Compiler transformations for high-performance computing", ACM
Computing Surveys 26(4), 1994, section 6.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from orio_py.core.expr import Value
from orio_py.ctree.build import (
    add,
    assign,
    binary,
    block,
    const,
    declare,
    ident,
    if_,
    literal_value,
    mul,
    statements,
    sub,
)
from orio_py.ctree.ctype import ctype
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import declared_names, substitute, used_names, walk
from orio_py.ctree.simplify import simplify
from orio_py.transformation.arguments import wrong
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.certain_conditions import is_always_true
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.expression_types import constant_value
from orio_py.transformation.final_index import is_live
from orio_py.transformation.forms import has_size_taken, start_is_invariant
from orio_py.transformation.types import index_type, is_natural, same_signedness
from orio_py.transformation.unrolling import unroll_rewrite
from orio_py.transformation.unrolling.body_copies import without_comments
from orio_py.transformation.unrolling.jam_rewrite import with_header
from orio_py.transformation.unrolling.unroll import unrollable

_DECLARATIONS = (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)
_SMALL = 2**15 - 1
"""The largest number that has one value on all machines."""


@dataclass(frozen=True, slots=True)
class Peel:
    """Run `first` iterations before the loop and `last` after it (both 0 = unchanged)."""

    first: int = 0
    last: int = 0
    force: bool = False

    def matched(self, node: Node, context: Context) -> CanonicalLoop:
        """The loop as `apply` needs it.  Raises Refusal: ORIO-T011, T020 to T028, T050, T052."""
        for name, value in (("first", self.first), ("last", self.last)):
            if value < 0:
                refuse("ORIO-T011", f"`{name}` is {value}; it must be at least 0", node, argument=name)
        view = _with_numbers(unrollable(node, "Peel", context, force=self.force), context)
        size = (self.first + self.last) * unroll_rewrite.count_statements(view.body)
        unroll_rewrite.require_size(size, "Peel", node, "first" if self.first >= self.last else "last")
        if self.first + self.last and _trips(view) is None:
            kind = index_type(view, context)
            if not start_is_invariant(view, context):
                refuse("ORIO-T027", "Peel needs a start that keeps its value while the loop runs", view.start)
            if not same_signedness(kind, context, view.start, view.bound):
                refuse(
                    "ORIO-T052",
                    "Peel has to count the iterations, and the index, its start and its bound are not of one "
                    "known signedness",
                    node,
                    help="give start and bound the type of the index",
                )
        return view

    def apply(self, node: Node, context: Context) -> Node:
        """The peeled iterations and the loop between them; `node` is not modified."""
        view = self.matched(node, context)
        if self.first + self.last == 0:
            return node
        trips = _trips(view)
        if trips == 0:
            return node
        maker = _Peeling(view, context)
        if trips is not None and trips <= self.first + self.last:
            return maker.straight(trips)
        peeled = maker.peeled(self.first, self.last)
        if trips is not None:
            return peeled
        tests = [t for t in maker.enough(self.first + self.last) if not is_always_true(t, context)]
        if not tests:
            return peeled
        return if_(reduce(lambda a, b: binary("&&", a, b), tests), peeled, self._short(view, context))

    def _short(self, view: CanonicalLoop, context: Context) -> Node | None:
        """What runs where there are too few iterations."""
        if self.first + self.last > 1:
            return without_comments(view.node)
        return assign(view.index, view.start) if is_live(view, context) else None


def _with_numbers(view: CanonicalLoop, context: Context) -> CanonicalLoop:
    """The loop with the small numbers that a start and a bound without names are, as `(unsigned)0` and `(signed char)3`."""
    names = (part for end in (view.start, view.bound) for part in walk(end) if isinstance(part, c_ast.ID))
    if view.trip_count() is not None or any(names):
        return view
    start, bound = (constant_value(part, context) for part in (view.start, view.bound))
    if start is None or bound is None or not (0 <= start <= _SMALL and 0 <= bound <= _SMALL):
        return view
    return replace(view, start=const(start), bound=const(bound))


def _trips(view: CanonicalLoop) -> int | None:
    """The number of iterations where it is known; `for (i = k; i < k; i++)` has none."""
    return int(view.relation in {"<=", ">="}) if equal(view.start, view.bound) else view.trip_count()


class _Peeling:
    """Makes the parts of a peeled loop that has enough iterations."""

    def __init__(self, view: CanonicalLoop, context: Context) -> None:
        self._view = view
        self._context = context
        self._kind = index_type(view, context)
        self._names = context.names(view.node)
        self._bare = statements(without_comments(view.body))
        self._scoped = any(isinstance(s, _DECLARATIONS) for s in self._bare)
        self._hidden = declared_names(block(*self._bare))
        self._has_size = has_size_taken(view.body, view.index)
        self._shadow = view.index in self._hidden or self._has_size
        self._used = used_names(self._bare)
        self._declarations: list[Node] = []

    def enough(self, iterations: int) -> list[Node]:
        """The conditions that there are so many iterations, at least one."""
        view, span = self._view, (iterations - 1) * abs(self._view.stride)
        near, far = (view.start, view.bound) if view.upward else (view.bound, view.start)
        test = ">" if view.relation in {"<", ">"} else ">="
        lowest = literal_value(near)
        if lowest is not None or span == 0:
            return [binary(test, far, const(lowest + span) if lowest is not None else near)]
        return [binary(test, far, near), binary(test, sub(far, near), span)]

    def straight(self, trips: int) -> Node:
        """All iterations one after the other."""
        start = self._start()
        items = [item for number in range(trips) for item in self._copy(self._shifted(start, number))]
        return block(*self._declarations, *items, *self._final(self._shifted(start, trips)))

    def peeled(self, first: int, last: int) -> Node:
        """The first iterations, the loop over those between, and the last ones."""
        start = self._start()
        before = [item for number in range(first) for item in self._copy(self._shifted(start, number))]
        test, after = self._view.node.cond, list[Node]()
        if last:
            end = self._end()
            ends = [self._shifted(end, number - last + 1) for number in range(last)]
            after = [item for place in ends for item in self._copy(place)]
            after += self._final(self._shifted(end, 1))
            test = binary("<" if self._view.upward else ">", ident(self._view.index), ends[0])
        assert test is not None
        middle = with_header(self._view.node, self._shifted(start, first), test, self._view.body)
        return block(*self._declarations, *before, middle, *after)

    def _start(self) -> Node:
        return self._plain(self._view.start, "first")

    def _end(self) -> Node:
        """The index in the last iteration."""
        view = self._view
        trips, start = view.trip_count(), literal_value(view.start)
        if trips is not None and start is not None:
            return self._plain(const(start + (trips - 1) * view.stride), "last")
        strict, step = view.relation in {"<", ">"}, abs(view.stride)
        if step == 1:
            return self._plain(simplify(sub(view.bound, view.stride)) if strict else view.bound, "last")
        near, far = (view.start, view.bound) if view.upward else (view.bound, view.start)
        natural = is_natural(near, self._context) and literal_value(near) == 0
        room = far if natural else sub(far, near)
        away = mul(binary("/", sub(room, 1) if strict else room, step), step)
        value = add(view.start, away) if view.upward else sub(view.start, away)
        return self._plain(away if natural and view.upward else simplify(value), "last")

    def _plain(self, value: Node, word: str) -> Node:
        """A value that may stand for the index in an expression; a constant of its own where it may not."""
        shape = simplify(value)
        if self._kind == "int" and literal_value(shape) is not None:
            return shape
        if self._view.index not in self._used and not is_live(self._view, self._context):
            return shape
        match shape:
            case c_ast.ID(name=name):
                inside = self._has_type(name)
            case c_ast.BinaryOp(op="+" | "-", left=c_ast.ID(name=name), right=right):
                inside = self._has_type(name) and literal_value(right) is not None
            case _:
                inside = False
        if inside:
            return shape
        own = self._names.fresh(f"{self._view.index}_{word}")
        known = ctype(self._kind)
        # Where C computes in `int` anyway, compilers have nothing to say about the few values of the type.
        plain = (
            known is not None and known.is_narrow and literal_value(shape) is not None and not self._has_size
        )
        self._declarations.append(declare(f"const {'int' if plain else self._kind}", own, shape))
        return ident(own)

    def _has_type(self, name: str) -> bool:
        """Whether a variable has the type of the index, and keeps its value in the loop."""
        declared = self._context.declarations.get(name)
        kind = "int" if declared is None else declared.type
        known = declared is not None or name not in self._context.macros
        kept = name not in self._context.effects(self._view.body).writes | self._hidden
        return known and kind == self._kind and kept

    def _shifted(self, place: Node, iterations: int) -> Node:
        return simplify(add(place, iterations * self._view.stride))

    def _copy(self, place: Node) -> list[Node]:
        """The body with the index replaced."""
        index = self._view.index
        replaced = [substitute(s, index, place) for s in self._bare]
        copy = [simplify(s) for s in replaced]
        kept = {id(part) for old in self._bare for part in walk(old)}
        changed = (part for new in copy for part in walk(new) if id(part) not in kept)
        odd = index in self._used and any(map(_looks_odd, changed))
        # A body may declare a variable of the same name and never use the index.
        needed = any(new is not old for new, old in zip(replaced, self._bare, strict=True))
        if (self._shadow and (needed or self._has_size)) or odd:
            return [block(declare(f"const {self._kind}", index, place), *self._inner())]
        return [block(*copy)] if self._scoped else copy

    def _inner(self) -> list[Node]:
        return [block(*self._bare)] if self._view.index in self._hidden else self._bare

    def _final(self, place: Node) -> list[Node]:
        return [assign(self._view.index, place)] if is_live(self._view, self._context) else []


def _looks_odd(node: Node) -> bool:
    """Code that compilers warn of, because a literal or a bound now stands where the index stood."""
    match node:
        case c_ast.BinaryOp(op="/" | "%", right=right):
            return literal_value(right) == 0
        case c_ast.BinaryOp(op="<<" | ">>", right=right) | c_ast.ArrayRef(subscript=right):
            return (literal_value(right) or 0) < 0
        case c_ast.BinaryOp(op="<" | "<=" | ">" | ">=" | "==" | "!=" as op, left=left, right=right):
            below = op in {"<", ">="} and literal_value(right) == 0
            return equal(left, right) or literal_value(left) is not None or below
        case c_ast.Assignment(op="=", lvalue=left, rvalue=right):
            return equal(left, right)
        case _:
            return False


def count(value: Value, name: str) -> int:
    """An integer of at least 0.  Raises Refusal: ORIO-T010, T011."""
    if isinstance(value, bool) or not isinstance(value, int):
        wrong(name, "an integer", value)
    if value < 0:
        refuse("ORIO-T011", f"`{name}` is {value}; it must be at least 0", None, argument=name)
    return value


ENTRY = Entry(
    "Peel",
    "run the first and last iterations of a loop outside of it",
    (
        ArgumentSpec("first", "integer, at least 0", "iterations before the loop", count, default="0"),
        ArgumentSpec("last", "integer, at least 0", "iterations after the loop", count, default="0"),
        FORCE,
    ),
    Peel,
)
