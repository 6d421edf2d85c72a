"""Read-only views of `for` loops.

A *canonical* loop counts one index by a constant: `for (i = L; i < U; i++)`, with `int i = L` also
allowed, one of `<`, `<=`, `>`, `>=` as its test (either way round), and a step in the direction of the
test.  Whether the body leaves the index alone is not part of it; see `first_write` and `jumps_out`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeGuard, cast, get_args

from orio_py.ctree.build import literal_value
from orio_py.ctree.emit_expression import emit_expression, emit_type
from orio_py.ctree.equal import equal
from orio_py.ctree.nodes import (
    INCREMENTS,
    MIRRORED,
    WITH_STATEMENTS,
    Comment,
    Compound,
    For,
    GuardedPragma,
    Node,
    Transform,
    c_ast,
    substatements,
)
from orio_py.ctree.rewrite import walk, walk_statements

Relation = Literal["<", "<=", ">", ">="]

_LOOPS = (For, c_ast.While, c_ast.DoWhile)


@dataclass(frozen=True, slots=True)
class CanonicalLoop:
    """A loop `for (index = start; index relation bound; index += stride) body`.

    `declared_type` is the type of an index declared in the header.  `stride` is signed and not zero.
    """

    node: For
    index: str
    declared_type: str | None
    start: Node
    relation: Relation
    bound: Node
    stride: int
    body: Node

    @classmethod
    def match(cls, node: Node) -> CanonicalLoop | None:
        """The view of a canonical loop, None for any other statement."""
        result = _match(node)
        return result if isinstance(result, CanonicalLoop) else None

    @property
    def upward(self) -> bool:
        """Whether the index grows."""
        return self.stride > 0

    def trip_count(self) -> int | None:
        """The number of iterations if start and bound are literals, else None."""
        start, bound = literal_value(self.start), literal_value(self.bound)
        if start is None or bound is None:
            return None
        distance = bound - start if self.upward else start - bound
        if self.relation in {"<=", ">="}:
            distance += 1
        return max(0, -(-distance // abs(self.stride)))


def reasons(node: Node) -> str:
    """Why the statement is not a canonical loop, as the end of a sentence; empty if it is one."""
    result = _match(node)
    return result if isinstance(result, str) else ""


def _match(node: Node) -> CanonicalLoop | str:
    if not isinstance(node, For):
        return "it is not a `for` loop"
    start = _start(node.init)
    if isinstance(start, str):
        return start
    index, declared_type, first = start
    test = _test(node.cond, index)
    if isinstance(test, str):
        return test
    relation, bound = test
    stride = _stride(node.next, index)
    if isinstance(stride, str):
        return stride
    if (stride > 0) != (relation in {"<", "<="}):
        way = "up" if stride > 0 else "down"
        return f"its step counts {way} but its test is `{index} {relation} {emit_expression(bound)}`"
    return CanonicalLoop(node, index, declared_type, first, relation, bound, stride, node.stmt)


def _start(init: Node | None) -> tuple[str, str | None, Node] | str:
    match init:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
            return name, None, value
        case c_ast.DeclList(decls=[c_ast.Decl(name=str(name), type=c_ast.TypeDecl(), init=Node()) as decl]):
            return name, emit_type(decl.type.type), cast("Node", decl.init)
        case None:
            return "it does not set its index in the header"
        case c_ast.DeclList() | c_ast.ExprList():
            return "its header sets more than one variable"
        case _:
            return f"it does not begin with `index = value`, but with `{emit_expression(init)}`"


def _test(condition: Node | None, index: str) -> tuple[Relation, Node] | str:
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in get_args(Relation):
        shown = "nothing" if condition is None else f"`{emit_expression(condition)}`"
        return f"it tests {shown}; a comparison of `{index}` by `<`, `<=`, `>` or `>=` is needed"
    if _is(condition.left, index):
        relation, bound = condition.op, condition.right
    elif _is(condition.right, index):
        relation, bound = MIRRORED[condition.op], condition.left
    else:
        return f"its test `{emit_expression(condition)}` does not compare the index `{index}`"
    if not isinstance(bound, c_ast.Constant) and any(_is(item, index) for item in walk(bound)):
        return f"its bound `{emit_expression(bound)}` depends on the index `{index}`"
    return cast("Relation", relation), bound


def _stride(advance: Node | None, index: str) -> int | str:
    if advance is None:
        return f"it does not step its index `{index}`"
    value: int | None = None
    match advance:
        case c_ast.UnaryOp(op=op, expr=target) if op in INCREMENTS and _is(target, index):
            value = 1 if "+" in op else -1
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=target, rvalue=amount) if _is(target, index):
            value = _signed(op[0], amount)
        case c_ast.Assignment(op="=", lvalue=target, rvalue=c_ast.BinaryOp(op="+" | "-" as op) as total) if (
            _is(target, index)
        ):
            if _is(total.left, index):
                value = _signed(op, total.right)
            elif op == "+" and _is(total.right, index):
                value = _signed(op, total.left)
        case _:
            pass
    if not value:
        return f"its step `{emit_expression(advance)}` does not add a constant other than 0 to the index `{index}`"
    return value


def _signed(operator: str, amount: Node) -> int | None:
    value = literal_value(amount)
    return value if value is None or operator == "+" else -value


def _is(node: Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def body_statements(body: Node) -> list[Node]:
    """The statements of a loop body or block, without its comments."""
    items = (body.block_items or []) if isinstance(body, Compound) else [body]
    return [item for item in items if not isinstance(item, Comment)]


def sole_statement(body: Node) -> Node | None:
    """The only statement of a body, looking through blocks; None if there is not exactly one."""
    statements = body_statements(body)
    while len(statements) == 1 and isinstance(statements[0], Compound):
        statements = body_statements(statements[0])
    return statements[0] if len(statements) == 1 else None


def nest(loop: CanonicalLoop) -> list[CanonicalLoop]:
    """The maximal perfect nest of canonical loops that begins with `loop`, outermost first."""
    found = [loop]
    while True:
        inner = sole_statement(found[-1].body)
        view = CanonicalLoop.match(inner) if inner is not None else None
        if view is None:
            return found
        found.append(view)


def loops_in(node: Node) -> list[For]:
    """Every `for` loop in the tree, in the order of the source."""
    found: list[For] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, For):
            found.append(current)
        stack.extend(s for s in reversed(substatements(current)) if isinstance(s, WITH_STATEMENTS))
    return found


def find_loops(node: Node, index: str) -> list[For]:
    """The `for` loops whose header sets the variable `index`, in the order of the source."""
    return [loop for loop in loops_in(node) if header_index(loop) == index]


def header_index(loop: For) -> str | None:
    """The variable that the header of a loop sets, canonical or not; None if that is not one variable."""
    start = _start(loop.init)
    return None if isinstance(start, str) else start[0]


def innermost_loops(node: Node) -> list[For]:
    """The `for` loops without a `for` loop inside them."""
    found: list[For] = []
    stack: list[tuple[Node, int]] = [(node, 0)]
    order: list[tuple[For, int]] = []
    while stack:
        current, depth = stack.pop()
        if isinstance(current, For):
            order.append((current, depth))
            depth += 1
        inner = (s for s in reversed(substatements(current)) if isinstance(s, WITH_STATEMENTS))
        stack.extend((statement, depth) for statement in inner)
    for number, (loop, depth) in enumerate(order):
        # In the order of the source, a loop inside this one would be the next.
        if number + 1 == len(order) or order[number + 1][1] <= depth:
            found.append(loop)
    return found


def outermost_loops(node: Node) -> list[For]:
    """The `for` loops inside no other `for` loop of the tree."""
    found: list[For] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, For):
            found.append(current)
        else:
            stack.extend(s for s in reversed(substatements(current)) if isinstance(s, WITH_STATEMENTS))
    return found


def is_fusable(node: Node) -> TypeGuard[For]:
    """Whether unroll-and-jam fuses the copies of a statement, as a loop, or would if the loop began with a value of its own.

    The copies of loops that end by another condition run one after the other.
    """
    return isinstance(node, For) and (node.init is None or CanonicalLoop.match(node) is not None)


def first_write(name: str, node: Node) -> Node | None:
    """The first place in the tree that may change the variable `name`: an assignment, `++` or `--`, or
    taking its address.  A declaration of the same name in an inner scope is not looked through.
    """
    for item in walk(node):
        match item:
            case c_ast.Assignment(lvalue=target) if _is(target, name):
                return item
            case c_ast.UnaryOp(op=op, expr=target) if op in INCREMENTS | {"&"} and _is(target, name):
                return item
            case _:
                pass
    return None


def jumps_out(body: Node, harmless: tuple[type[Node], ...] = ()) -> Node | None:
    """The first statement that could leave the loop body or enter it from elsewhere, but those of `harmless` kinds."""
    return next((node for node in _jumps(body) if not isinstance(node, harmless)), None)


def ends_iterations(body: Node) -> bool:
    """Whether a `break` or `continue` of the loop around a body may leave what stands behind it undone."""
    return any(isinstance(node, (c_ast.Break, c_ast.Continue)) for node in _jumps(body))


def _jumps(body: Node) -> Iterator[Node]:
    """`break` and `continue` of the loop around a body, `return`, `goto` and labels, `case` of a `switch` outside among them.

    A `break` inside an inner loop or `switch` and a `continue` inside an inner loop are none.
    """
    stack: list[tuple[Node, bool, bool]] = [(body, False, False)]
    while stack:
        node, in_loop, in_switch = stack.pop()
        match node:
            case c_ast.Return() | c_ast.Goto() | c_ast.Label():
                yield node
            case c_ast.Case() | c_ast.Default() if not in_switch:
                yield node
            case c_ast.Break() if not (in_loop or in_switch):
                yield node
            case c_ast.Continue() if not in_loop:
                yield node
            case _:
                pass
        in_loop = in_loop or isinstance(node, _LOOPS)
        in_switch = in_switch or isinstance(node, c_ast.Switch)
        stack.extend((child, in_loop, in_switch) for child in reversed(substatements(node)))


def stray_case(node: Node) -> Node | None:
    """A `case` or `default` of a `switch` that the statement is inside of, where there is one."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, (c_ast.Case, c_ast.Default)):
            return current
        if not isinstance(current, c_ast.Switch):
            stack.extend(substatements(current))
    return None


def unmarked(node: Node) -> Node:
    """The statement below any transform marks."""
    while isinstance(node, Transform):
        node = node.stmt
    return node


def remainder_loops(node: Node) -> list[For]:
    """The loops over the iterations that an unrolled loop before them leaves."""
    found: list[For] = []
    for current in walk_statements(node):
        items = (current.block_items or []) if isinstance(current, Compound) else []
        loops = [item for item in items if not isinstance(item, (Comment, GuardedPragma))]
        for first, second in pairwise(loops):
            if isinstance(first, For) and isinstance(second, For) and _is_remainder(first, second):
                found.append(second)
    return found


def _is_remainder(main: For, rest: For) -> bool:
    first, second = CanonicalLoop.match(main), CanonicalLoop.match(rest)
    if first is None or second is None or first.index != second.index:
        return False
    grows = abs(first.stride) > abs(second.stride) and first.stride % second.stride == 0
    return grows and equal(first.bound, second.start)
