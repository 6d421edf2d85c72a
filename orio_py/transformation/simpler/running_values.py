"""Elements that are made of the element before are made of a variable that holds it.

    for (i = 1; i < n; i++)             double y_before = 1 < n ? y[0] : 0;
      y[i] = y[i - 1] + x[i];           for (i = 1; i < n; i++) {
                                          y_before = y_before + x[i];
                                          y[i] = y_before;
                                        }

So written the loop is a scan, which can be done in any order.

Source: for the idea, scalar replacement of a recurrence; D. Callahan, S. Carr and K. Kennedy, "Improving register allocation
for subscripted variables", PLDI 1990.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.ctree.build import assign, binary, block, declare, ident, index, ternary
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, body_statements, ends_iterations
from orio_py.ctree.nodes import For, Node, c_ast, reference_parts
from orio_py.ctree.rewrite import Rewriter, copy_with, substitute, targets, used_names, walk
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import as_stored, runs
from orio_py.transformation.forms import start_is_invariant
from orio_py.transformation.simpler.counted_steps import certain_parts
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.verdicts import aliases_in

_PLAIN = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.Cast)
_OPERATORS = frozenset({"=", "+=", "*=", "&=", "|=", "^="})


@dataclass(frozen=True, slots=True)
class _Recurrence:
    """The statement of a loop that makes an element of an array from the one `before`, and their type."""

    loop: CanonicalLoop
    step: c_ast.Assignment
    array: str
    before: Node
    kind: str


def with_running_values(tree: Node, context: Context) -> Node:
    """The tree with variables for elements from the iteration before; the same object where there are none."""

    def change(node: Node, inner: Context) -> Node:
        found = _recurrence(node, inner)
        return node if found is None else _in_variable(found, inner)

    return rewrite_where(tree, lambda node: isinstance(node, For), change, context)


def _recurrence(node: Node, context: Context) -> _Recurrence | None:
    loop = CanonicalLoop.match(node)
    if loop is None or ends_iterations(loop.body) or not start_is_invariant(loop, context):
        return None
    if as_stored(loop, context) is not loop:
        return None
    for step in body_statements(loop.body):
        if not isinstance(step, c_ast.Assignment) or step.op not in _OPERATORS:
            continue
        array, subscripts = reference_parts(step.lvalue)
        if not isinstance(array, c_ast.ID):
            continue
        declared = context.declarations.get(array.name)
        if declared is None or not _is_number(declared, len(subscripts)):
            continue
        # The first iteration reads the element before, too.
        before = next(
            (part for part in certain_parts(step.rvalue) if _is_before(part, step.lvalue, loop)), None
        )
        if before is not None and _is_kept(array.name, subscripts, loop, context):
            return _Recurrence(loop, step, array.name, before, declared.type)
    return None


def _is_number(declared: CDeclaration, subscripts: int) -> bool:
    """Whether an element that has so many subscripts is a number that a variable can hold."""
    depth = declared.pointers + len(declared.dimensions)
    is_plain = (declared.is_integer or declared.is_floating) and not declared.type.startswith("enum")
    return subscripts == depth > 0 and is_plain and not declared.qualifiers & {"volatile", "_Atomic"}


def _is_before(part: Node, written: Node, loop: CanonicalLoop) -> bool:
    """Whether a part of an expression is the element that the iteration before has written."""
    if not isinstance(part, c_ast.ArrayRef):
        return False
    (array, subscripts), (name, others) = reference_parts(part), reference_parts(written)
    if not equal(array, name) or len(subscripts) != len(others):
        return False
    earlier = binary("-" if loop.upward else "+", ident(loop.index), abs(loop.stride))
    return all(
        equal(simplify(subscript), simplify(substitute(other, loop.index, earlier)))
        for subscript, other in zip(subscripts, others, strict=True)
    )


def _is_kept(array: str, subscripts: list[Node], loop: CanonicalLoop, context: Context) -> bool:
    """Whether nothing else writes the element, and the subscripts mean the same in the next iteration."""
    inside = context.effects(loop.node)
    if inside.calls or inside.opaque or inside.escaping:
        return False
    if not all(isinstance(part, _PLAIN) for subscript in subscripts for part in walk(subscript)):
        return False
    if (used_names(subscripts) - {loop.index}) & inside.writes or loop.index in context.effects(
        loop.body
    ).writes:
        return False
    aliases, place = aliases_in(context), (array, len(subscripts))
    if any(aliases.may_overlap((name, 0), place) for name in used_names(subscripts)):
        return False
    written = [reference_parts(target) for target in targets(loop.body)]
    if sum(1 for base, _ in written if isinstance(base, c_ast.ID) and base.name == array) != 1:
        return False
    return not any(
        not isinstance(base, c_ast.ID)
        or (base.name != array and aliases.may_overlap(place, (base.name, len(others))))
        for base, others in written
    )


def _in_variable(found: _Recurrence, context: Context) -> Node:
    loop, step, target = found.loop, found.step, found.step.lvalue
    name = context.names(loop.node).fresh(f"{found.array}_before")
    array, subscripts = reference_parts(target)
    earlier = binary("-" if loop.upward else "+", loop.start, abs(loop.stride))
    first = index(array, *(simplify(substitute(s, loop.index, earlier)) for s in subscripts))
    value = _Replacing(found.before, ident(name)).rewrite(step.rvalue)
    if step.op != "=":
        value = binary(step.op.removesuffix("="), target, value)
    items = [
        part
        for statement in body_statements(loop.body)
        for part in (
            [copy_with(assign(name, value), coord=step.coord), assign(target, ident(name))]
            if statement is step
            else [statement]
        )
    ]
    return block(
        declare(found.kind, name, ternary(runs(loop), first, 0)),
        copy_with(loop.node, stmt=block(*items)),
    )


class _Replacing(Rewriter):
    """Puts a variable in place of each reference to an element."""

    def __init__(self, part: Node, new: Node) -> None:
        self._part = part
        self._new = new

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        return self._new if equal(node, self._part) else self.generic(node)
