"""Forms in which counters are stepped by statements of their own, whatever limits them.

    y[count++] = x[i];                       y[count] = x[i]; count++;

    int at = count++;                        y[count] = x[i]; count++;
    y[at] = x[i];

    if (c && count < most)                   if (c) {
      { y[count] = x[i]; count++; }            if (count < most) y[count] = x[i];
                                               count++;
                                             }

In the last one the counter goes on where it stops in C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from orio_py.ctree.build import block, ident, if_, statements
from orio_py.ctree.loops import first_write
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, copy_with, substitute, used_names, walk
from orio_py.ctree.symbols import declaration_of
from orio_py.transformation.base import Context
from orio_py.transformation.types import same_signedness

JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Return)
PLAIN = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp)
"""What has one value as long as its variables do."""


def with_steps_apart(body: Node, context: Context) -> Node:
    """A loop's body with steps of variables as statements of their own; the same object where there are none."""
    return _StepsApart(context).part(body)


def past_limit(body: Node, counter: str, step: Node, changing: Set[str], context: Context) -> Node:
    """The body with a counter that goes on at its limit; the same object where it has none."""
    return _PastLimits(step, lambda test: limit_of(test, counter, changing, context) is not None).rewrite(
        body
    )


def limit_of(test: Node, counter: str, changing: Set[str], context: Context) -> Node | None:
    """What a test says that a counter is below; None where that is nothing, is one of the names that change, or has another sign."""
    match test:
        case c_ast.BinaryOp(op="<", left=c_ast.ID(name=name), right=limit) if name == counter:
            pass
        case c_ast.BinaryOp(op=">", left=limit, right=c_ast.ID(name=name)) if name == counter:
            pass
        case _:
            return None
    declared = context.declarations.get(counter)
    is_plain = all(isinstance(part, PLAIN) for part in walk(limit)) and not used_names([limit]) & changing
    if declared is None or not is_plain or not same_signedness(declared.type, context, limit):
        return None
    return limit


def replaced(node: Node, changes: Mapping[int, Node]) -> Node:
    """A tree with nodes in place of others, by identity."""
    return _Replacing(changes).rewrite(node)


class _StepsApart(Rewriter):
    """Steps of variables as statements of their own.

    `y[count++] = x[i];` becomes `y[count] = x[i]; count++;`, and `int at = count++; y[at] = x[i];` the same.
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    def visit_Compound(self, node: Compound) -> Node:
        before = statements(node)
        new = _in_steps([self.rewrite(item) for item in before], self._context)
        same = len(new) == len(before) and all(a is b for a, b in zip(new, before, strict=True))
        return node if same else block(*new)

    def visit_If(self, node: c_ast.If) -> Node:
        then = self.part(node.iftrue)
        other = None if node.iffalse is None else self.part(node.iffalse)
        cond = self.rewrite(node.cond)
        same = cond is node.cond and then is node.iftrue and other is node.iffalse
        return node if same else copy_with(node, cond=cond, iftrue=then, iffalse=other)

    def part(self, node: Node) -> Node:
        """A statement that may stand alone."""
        items = _in_steps([self.rewrite(node)], self._context)
        return items[0] if len(items) == 1 else block(*items)


def _in_steps(items: Sequence[Node], context: Context) -> list[Node]:
    new: list[Node] = []
    for number, item in enumerate(items):
        match item:
            case c_ast.Assignment(lvalue=target) if (found := _step_in(target)) is not None:
                step, counter = found
                plain = replaced(target, {id(step): counter})
                is_alone = uses(counter.name, item) == 1
                new += [copy_with(item, lvalue=plain), step] if is_alone else [item]
            case c_ast.Decl(name=str(at), init=c_ast.UnaryOp(op="p++", expr=c_ast.ID(name=counter)) as step):
                rest = block(*_in_steps(items[number + 1 :], context))
                declared = context.declarations.get(counter)
                own = declaration_of(item)
                is_copy = declared is not None and own.is_scalar and own.type == declared.type
                is_free = not uses(counter, rest) and first_write(at, rest) is None
                if is_copy and is_free and not any(isinstance(part, JUMPS) for part in walk(rest)):
                    return [*new, *statements(substitute(rest, at, ident(counter))), step]
                new.append(item)
            case _:
                new.append(item)
    return new


def _step_in(target: Node) -> tuple[Node, c_ast.ID] | None:
    """The only `i++` in what is assigned to, which is evaluated in any case, and its variable."""
    element = element_of(target)
    steps = [part for part in walk(target) if isinstance(part, c_ast.UnaryOp)]
    if element is None or len(steps) != 1:
        return None
    is_plain = all(isinstance(part, (*PLAIN, c_ast.UnaryOp, c_ast.ArrayRef)) for part in walk(element))
    match steps[0]:
        case c_ast.UnaryOp(op="p++", expr=c_ast.ID() as counter) if is_plain:
            return steps[0], counter
        case _:
            return None


class _PastLimits(Rewriter):
    """`if (c && count < most) { y[count] = x[i]; count++; }` as a condition for the write, and one for both."""

    def __init__(self, step: Node, is_limit: Callable[[Node], bool]) -> None:
        self._step = step
        self._is_limit = is_limit

    def visit_If(self, node: c_ast.If) -> Replacement:
        items = statements(node.iftrue)
        if node.iffalse is not None or not items or items[-1] is not self._step:
            return self.generic(node)
        match node.cond:
            case c_ast.BinaryOp(op="&&", left=rest, right=test) if self._is_limit(test):
                return copy_with(node, cond=rest, iftrue=block(if_(test, block(*items[:-1])), self._step))
            case test if self._is_limit(test):
                return [if_(test, block(*items[:-1])), self._step]
            case _:
                return node


def uses(name: str, *nodes: Node) -> int:
    """How often a name stands in trees."""
    return sum(1 for node in nodes for part in walk(node) if isinstance(part, c_ast.ID) and part.name == name)


def element_of(target: Node) -> c_ast.ArrayRef | None:
    """The element that an assignment changes, or a member of it."""
    while isinstance(target, c_ast.StructRef) and target.type == ".":
        target = target.name
    return target if isinstance(target, c_ast.ArrayRef) else None


class _Replacing(Rewriter):
    """Puts nodes in place of others, by identity."""

    def __init__(self, changes: Mapping[int, Node]) -> None:
        self._changes = changes

    def visit(self, node: Node) -> Replacement:
        found = self._changes.get(id(node))
        return super().visit(node) if found is None else found
