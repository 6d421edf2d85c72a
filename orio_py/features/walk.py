"""One walk over a tree that takes down its loops, accesses and operations, with numbers for all that is known.

Loops are entered once, at the iteration in their middle: of triangular nests that gives the mean number of iterations,
of tiles a whole one.  What cannot be told is guessed: `UNKNOWN_TRIPS` iterations, half of the runs for each branch of a
condition on data, and the first branch for a condition on sizes and addresses (such as a guard before a fast version).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import ceil, inf, isfinite

from orio_py.codegen.offload.device_tree import GroupArray, GroupBarrier, WorkItem
from orio_py.ctree.ctype import ctype
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.nodes import (
    INCREMENTS,
    MIRRORED,
    Comment,
    GuardedPragma,
    KernelCall,
    Node,
    Transform,
    c_ast,
)
from orio_py.ctree.rewrite import used_names
from orio_py.features.expressions import ArrayShape, ExpressionWalk, WalkScope
from orio_py.features.linear import UNKNOWN, LinearValue, plus, times
from orio_py.features.profile import LoopExecution, Space, WorkProfile
from orio_py.kernel.types import element_bytes

UNKNOWN_TRIPS = 64
"""Iterations of a loop whose bounds are not known."""

UNDECIDED = 0.5
"""The share of the runs that each branch of a condition on data gets."""

_VECTOR_WORDS = ("ivdep", "simd", "vector always", "vectorize(enable)")

KernelVisit = Callable[["TreeWalk", KernelCall], None]
"""What is to be done where a region calls a kernel."""


class TreeWalk(ExpressionWalk):
    """The walk; `place` gives the value of an item's numbers, `kernel` is called for calls of kernels."""

    def __init__(
        self,
        scope: WalkScope,
        place: Callable[[WorkItem], LinearValue] | None = None,
        kernel: KernelVisit | None = None,
    ) -> None:
        super().__init__(scope, place)
        self._kernel = kernel
        self._pragmas: list[str] = []

    def profile(self) -> WorkProfile:
        """What was taken down."""
        return WorkProfile(tuple(self.loops), tuple(self.accesses))

    @property
    def runs(self) -> float:
        """How often the statement is executed that is being looked at."""
        return self.here.iterations * self.share

    def statement(self, node: Node | None) -> None:
        """Take down a statement."""
        if node is None or isinstance(node, Comment):
            return
        if isinstance(node, (c_ast.Pragma, GuardedPragma)):
            self._pragmas.append(node.string)
            return
        pragmas, self._pragmas = " ".join(self._pragmas), []
        match node:
            case c_ast.Compound():
                for item in node.block_items or ():
                    self.statement(item)
                return
            case c_ast.For():
                self._loop(node, pragmas)
            case c_ast.While() | c_ast.DoWhile():
                with self._entered(UNKNOWN_TRIPS):
                    self.value(node.cond)
                    self.statement(node.stmt)
            case c_ast.If():
                self._branches(node)
            case c_ast.Decl():
                self._declared(node)
            case c_ast.DeclList():
                for one in node.decls:
                    self.statement(one)
            case GroupArray():
                self.arrays[node.name] = ArrayShape(element_bytes(node.type), (), Space.LOCAL)
            case GroupBarrier():
                self.here.barriers += self.share
            case KernelCall():
                if self._kernel is not None:
                    self._kernel(self, node)
            case Transform() | c_ast.Label():
                self.statement(node.stmt)
            case c_ast.Switch():
                self.here.branches += self.share
                self.value(node.cond)
                self._half(node.stmt)
            case c_ast.Case() | c_ast.Default():
                for item in node.stmts or ():
                    self.statement(item)
            case _:
                self.value(node)
        self.here.statements += 1

    def _declared(self, node: c_ast.Decl) -> None:
        name = node.name
        if name is None or isinstance(node.type, (c_ast.FuncDecl, c_ast.PtrDecl)):
            return
        if isinstance(node.type, c_ast.ArrayDecl):
            self.arrays[name] = self._shape(node.type)
            return
        kind = ctype(emit_type(node.type.type)) if isinstance(node.type, c_ast.TypeDecl) else None
        if kind is not None and not kind.is_floating:
            self.integers.add(name)
        self.values[name] = UNKNOWN
        if node.init is not None:
            self.values[name] = self.index(node.init) if name in self.integers else self.value(node.init)

    def _shape(self, node: c_ast.ArrayDecl) -> ArrayShape:
        extents: list[LinearValue] = []
        kind: Node = node
        while isinstance(kind, c_ast.ArrayDecl):
            extents.append(UNKNOWN if kind.dim is None else self.index(kind.dim))
            kind = kind.type
        size = element_bytes(emit_type(kind.type)) if isinstance(kind, c_ast.TypeDecl) else 8
        return ArrayShape(size, tuple(extents[1:]), Space.PRIVATE)

    # --- loops ---

    @contextmanager
    def _entered(self, trips: float, pragmas: str = "") -> Generator[LoopExecution]:
        loop = LoopExecution(len(self.loops), self.here.number, trips, self.runs)
        loop.is_parallel = "parallel" in pragmas
        loop.is_vector = any(word in pragmas for word in _VECTOR_WORDS)
        self.loops.append(loop)
        outside, self.here = (self.here, self.share), loop
        self.share = 1.0
        yield loop
        self.here, self.share = outside

    def _loop(self, node: c_ast.For, pragmas: str) -> None:
        header = self._header(node)
        if header is None:
            with self._entered(UNKNOWN_TRIPS, pragmas):
                self.statement(node.stmt)
            return
        name, start, step = header
        self.integers.add(name)
        trips = self._trips(node.cond, name, start, step)
        trips = trips if isfinite(trips) else UNKNOWN_TRIPS
        with self._entered(trips, pragmas) as loop:
            if trips > 0:
                middle = LinearValue((int(trips) - 1) // 2, {loop.number: 1})
                self.values[name] = plus(start, times(middle, step))
                self.statement(node.stmt)
        self.values[name] = plus(start, times(LinearValue(int(trips)), step))

    def _header(self, node: c_ast.For) -> tuple[str, LinearValue, LinearValue] | None:
        """The index of a counted loop, its start and step; None for other loops."""
        if node.init is not None:
            for part in node.init.decls if isinstance(node.init, c_ast.DeclList) else (node.init,):
                if isinstance(part, c_ast.Decl):
                    self._declared(part)
                else:
                    self.index(part)
        match node.next:
            case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=name)) if op in INCREMENTS:
                step = LinearValue(1 if "+" in op else -1)
            case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=name), rvalue=by):
                step = self.index(by)
                step = step if op == "+=" else plus(LinearValue(0), step, -1)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=following):
                step = plus(self.index(following), self.values.get(name, UNKNOWN), -1)
            case _:
                return None
        return name, self.values.get(name, UNKNOWN), step

    def _trips(self, condition: Node | None, name: str, start: LinearValue, step: LinearValue) -> float:
        match condition:
            case c_ast.BinaryOp(op=op, left=c_ast.ID(name=left), right=bound) if left == name:
                return _steps(plus(self.index(bound), start, -1), step, op)
            case c_ast.BinaryOp(op=op, left=bound, right=c_ast.ID(name=right)) if right == name:
                return _steps(plus(self.index(bound), start, -1), step, MIRRORED.get(op, op))
            case c_ast.BinaryOp(op="&&", left=left, right=right):
                return min(self._trips(part, name, start, step) for part in (left, right))
            case c_ast.BinaryOp() if name not in used_names([condition]):
                holds = self.index(condition)
                return 0 if holds.is_known and not holds.value else inf
            case c_ast.BinaryOp(op=op, left=left, right=bound) if op in MIRRORED:
                return _steps(plus(self.index(bound), self.index(left), -1), step, op)
            case _:
                return UNKNOWN_TRIPS

    # --- conditions ---

    def _branches(self, node: c_ast.If) -> None:
        self.here.branches += self.share
        before = len(self.accesses)
        holds = self.value(node.cond)
        if holds.is_known:
            self.statement(node.iftrue if holds.value else node.iffalse)
        elif len(self.accesses) == before:
            self.statement(node.iftrue)
        else:
            self._half(node.iftrue)
            self._half(node.iffalse)

    def _half(self, node: Node | None) -> None:
        self.share *= UNDECIDED
        self.statement(node)
        self.share /= UNDECIDED


def _steps(distance: LinearValue, step: LinearValue, op: str) -> float:
    """How many steps cover a distance, the end included for `<=` and `>=`."""
    if not distance.is_known or not step.is_known or not step.value:
        return UNKNOWN_TRIPS
    length = distance.value / step.value
    if op in ("<=", ">="):
        return max(0, int(length // 1) + 1)
    return max(0, ceil(length)) if length < inf else UNKNOWN_TRIPS
