"""Loops whose steps are no numbers count their iterations instead.

    for (i = lo; i < n; i += s)         for (i = 0; i < i_trips; i++)
      y[i] = x[i];                        y[lo + i * s] = x[lo + i * s];

The index keeps its name, by which recipes name the loop.  What has to hold for that, and the number of iterations,
is the caller's business.

Source: for the idea, loop normalisation; R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures", Morgan
Kaufmann 2001, section 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from orio_py.ctree.build import (
    add,
    assign,
    binary,
    const,
    declare,
    for_,
    ident,
    literal_value,
    mul,
    sub,
    unary,
)
from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.equal import equal
from orio_py.ctree.known_functions import CHECKS
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import INCREMENTS, For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, substitute, used_names, walk
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.forms import (
    bound_is_invariant,
    has_size_taken,
    has_stable_index,
    names_in_pragmas,
)


@dataclass(frozen=True, slots=True)
class SteppedLoop:
    """A loop `for (i = L; i < U; i += step)`, or downwards by `i -= step`, with any expression as its step.

    `loop` is the same with a step of 1 and with `<` or `>` for `!=`; `unequal` says that it has `!=`.  A step that is no
    number is taken to be positive.
    """

    node: For
    loop: CanonicalLoop
    step: Node
    unequal: bool = False

    @classmethod
    def match(cls, node: Node) -> SteppedLoop | None:
        """The view of such a loop, None for any other statement."""
        if not isinstance(node, For) or (step := step_of(node.next)) is None:
            return None
        index, amount, upward = step
        unequal = isinstance(node.cond, c_ast.BinaryOp) and node.cond.op == "!="
        test = _as_long_as(node.cond, amount, upward=upward)
        if unequal and isinstance(node.cond, c_ast.BinaryOp):
            on_left = isinstance(node.cond.left, c_ast.ID) and node.cond.left.name == index
            test = copy_with(node.cond, op="<" if upward is on_left else ">")
        advance = unary("p++" if upward else "p--", ident(index))
        loop = CanonicalLoop.match(copy_with(node, cond=test, next=advance))
        if loop is None:
            return None
        if loop.relation == ">" and literal_value(loop.bound) == -1 and not unequal:
            loop = replace(loop, relation=">=", bound=const(0))
        return cls(node, loop, amount, unequal)

    @property
    def distance(self) -> Node:
        """How far the bound is from the start."""
        loop = self.loop
        near, far = (loop.start, loop.bound) if loop.upward else (loop.bound, loop.start)
        return far if literal_value(near) == 0 else sub(far, near)

    @property
    def may_meet(self) -> bool:
        """Whether the index may take the value of its bound, as far as numbers tell."""
        distance, step = literal_value(simplify(self.distance)), literal_value(self.step)
        return distance is None or (distance >= 0 and (step is None or distance % step == 0))

    def with_step(self, value: int) -> For:
        """The loop with a number as its step."""
        match self.node.next:
            case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(left=left) as total) as advance:
                side = "left" if left is self.step else "right"
                return copy_with(
                    self.node, next=copy_with(advance, rvalue=copy_with(total, **{side: const(value)}))
                )
            case c_ast.Assignment() as advance:
                return copy_with(self.node, next=copy_with(advance, rvalue=const(value)))
            case _:
                return self.node

    def advanced(self, name: str) -> Node:
        """The step of another index by as much."""
        if literal_value(self.step) == 1:
            return unary("p++" if self.loop.upward else "p--", ident(name))
        return assign(name, self.step, "+=" if self.loop.upward else "-=")

    def compared(self) -> For:
        """The loop with `<` or `>` for `!=`."""
        return copy_with(self.node, cond=self.loop.node.cond)

    def value(self, count: Node) -> Node:
        """The index after some iterations."""
        start, gone = self.loop.start, mul(count, self.step)
        if literal_value(start) == 0 and self.loop.upward:
            return gone
        return (add if self.loop.upward else sub)(start, gone)

    def counted(self, trips: Node, kind: str | None) -> For:
        """The loop that counts its iterations from 0; `kind` is the type with which its header declares the index."""
        name = self.loop.index
        init: Node = assign(name, 0) if kind is None else declare(kind, name, 0)
        test, advance = binary("<", ident(name), trips), unary("p++", ident(name))
        body = substitute(self.node.stmt, name, self.value(ident(name)))
        new = for_(init, test, advance, body)
        return copy_with(new, coord=self.node.coord)


def with_constant_steps(tree: Node, context: Context) -> Node:
    """The tree with numbers for the steps of loops that are constants of the function, as after `const int block = 8;`."""
    return _ConstantSteps(context).rewrite(tree)


class _ConstantSteps(Rewriter):
    def __init__(self, context: Context) -> None:
        self._context = context

    def visit_For(self, node: For) -> Node:
        node = self.generic(node)
        assert isinstance(node, For)
        stepped = SteppedLoop.match(node)
        if stepped is None or not isinstance(stepped.step, c_ast.ID):
            return node
        value = _constant(self._context.declarations.get(stepped.step.name))
        return node if value is None else stepped.with_step(value)


def _constant(declared: CDeclaration | None) -> int | None:
    """The positive number that a `const` variable has, of a type that holds it."""
    if declared is None or "const" not in declared.qualifiers or not declared.is_scalar:
        return None
    kind, value = ctype(declared.type), (declared.initialiser or "").strip()
    is_number = value.isdigit() and not value.startswith("0") and int(value) < 2**31
    is_wide = kind is not None and Rank.INT <= kind.rank <= Rank.LONG_LONG
    return int(value) if is_number and is_wide else None


def _as_long_as(test: Node | None, step: Node, *, upward: bool) -> Node | None:
    """The test of a loop whose step is positive: `i <= n` of `s < 0 ? i >= n : i <= n`, as from Fortran."""
    match test:
        case c_ast.TernaryOp(
            cond=c_ast.BinaryOp(op="<", left=way, right=zero),
            iftrue=c_ast.BinaryOp(op=">=", left=left, right=right),
            iffalse=c_ast.BinaryOp(op="<=") as going,
        ) if upward and literal_value(zero) == 0 and equal(way, step):
            return going if equal(left, going.left) and equal(right, going.right) else test
        case _:
            return test


def step_of(advance: Node | None) -> tuple[str, Node, bool] | None:
    """The variable that an expression does nothing but step, by how much, and whether upwards."""
    match advance:
        case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=name)) if op in INCREMENTS:
            return name, const(1), "+" in op
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=name), rvalue=amount):
            found = name, amount, op == "+="
        case c_ast.Assignment(
            op="=",
            lvalue=c_ast.ID(name=name),
            rvalue=c_ast.BinaryOp(op="+" | "-" as op, left=left, right=right),
        ):
            if isinstance(left, c_ast.ID) and left.name == name:
                found = name, right, op == "+"
            elif op == "+" and isinstance(right, c_ast.ID) and right.name == name:
                found = name, left, True
            else:
                return None
        case _:
            return None
    value = literal_value(found[1])
    usable = found[0] not in used_names([found[1]]) and (value is None or value > 0)
    return found if usable else None


def may_count(stepped: SteppedLoop, context: Context) -> bool:
    """Whether the body leaves alone what the index is computed from, and uses no more of the index than its value."""
    loop = stepped.loop
    parts = (loop.start, loop.bound, stepped.step)
    names = used_names([loop.start, stepped.step])
    return (
        has_stable_index(loop, context)
        and all(bound_is_invariant(replace(loop, bound=part), context) for part in parts)
        and names.isdisjoint(declared_names(loop.body))
        and not has_size_taken(loop.body, loop.index)
        and loop.index not in names_in_pragmas(loop.body)
    )


def incremented(node: Node) -> str | None:
    """The variable that an expression is `v++`, `--v` or the like of."""
    match node:
        case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=name)) if op in INCREMENTS:
            return name
        case _:
            return None


def with_steps_apart(items: Sequence[Node], name: str) -> Iterator[Node]:
    """The statements with `p++` behind the one in which it stood, or `++p` before it; `i++, p++` are two of them."""
    for item in (part for each in items for part in _spread(each)):
        uses = [part for part in walk(item) if isinstance(part, c_ast.ID) and part.name == name]
        steps = [part for part in certain_parts(item) if incremented(part) == name]
        if len(uses) != 1 or len(steps) != 1 or steps[0] is item:
            yield item
            continue
        without = _Without(steps[0]).rewrite(item)
        assert isinstance(steps[0], c_ast.UnaryOp)
        behind = steps[0].op.startswith("p")
        alone = copy_with(steps[0], op=f"p{steps[0].op.lstrip('p')}")
        yield from (without, alone) if behind else (alone, without)


def _spread(item: Node) -> list[Node]:
    """A statement, or the parts of one that only lists steps."""
    match item:
        case c_ast.ExprList(exprs=parts) if all(step_of(part) is not None for part in parts):
            return list(parts)
        case _:
            return [item]


def certain_parts(item: Node) -> Iterator[Node]:
    """The parts of an expression, a declaration or the condition of an `if` that are evaluated in any case."""
    match item:
        case c_ast.BinaryOp(op="&&" | "||", left=first) | c_ast.TernaryOp(cond=first) | c_ast.If(cond=first):
            yield from certain_parts(first)
        case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in CHECKS:
            pass
        case c_ast.FuncCall(args=c_ast.ExprList(exprs=arguments)):
            yield item
            for argument in arguments:
                yield from certain_parts(argument)
        case c_ast.UnaryOp(op="sizeof"):
            pass
        case _ if isinstance(item, _EVALUATED):
            yield item
            for child in item:
                yield from certain_parts(child)
        case _:
            pass


_EVALUATED = (
    c_ast.ArrayRef, c_ast.Assignment, c_ast.BinaryOp, c_ast.Cast, c_ast.Decl, c_ast.ID, c_ast.StructRef, c_ast.UnaryOp,
)  # fmt: skip


class _Without(Rewriter):
    """Puts the variable alone in place of its increment."""

    def __init__(self, increment: Node) -> None:
        self._increment = increment

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        return node.expr if node is self._increment else self.generic(node)


def is_total(part: Node, followed: Set[str] = frozenset()) -> bool:
    """Whether an expression may be evaluated where the code does not: nothing is divided or read through pointers.

    But through those to structures that are `followed` in any case.
    """
    return all(
        isinstance(each, _TOTAL)
        or (isinstance(each, c_ast.BinaryOp) and (each.op not in _PARTIAL or _divides_by_number(each)))
        or (isinstance(each, c_ast.UnaryOp) and each.op in {"+", "-", "!", "~"})
        or (isinstance(each, c_ast.StructRef) and (each.type == "." or _leads_through(each, followed)))
        for each in walk(part)
    )


def _leads_through(part: c_ast.StructRef, pointers: Set[str]) -> bool:
    return isinstance(part.name, c_ast.ID) and part.name.name in pointers


def _divides_by_number(part: c_ast.BinaryOp) -> bool:
    return part.op in {"/", "%"} and (literal_value(part.right) or 0) > 0


_PARTIAL = frozenset({"/", "%", "<<", ">>"})
_TYPES = (c_ast.Cast, c_ast.Typename, c_ast.TypeDecl, c_ast.IdentifierType)
_TOTAL = (c_ast.ID, c_ast.Constant, c_ast.TernaryOp, *_TYPES)
