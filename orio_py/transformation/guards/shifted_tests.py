"""Loops that compare a number more than their index with a bound, as those do that take several elements at a time.

    for (j = 0; j + 7 < n; j += 8)      if (n >= 7 && n + 7 >= n)
      …                                   for (j = 0; j < n - 7; j += 8) …

Of a signed sum C says that it does not overflow; an unsigned one is tested not to wrap, neither where the loop
begins nor behind its last iteration (ISO/IEC 9899:1999, 6.5 paragraph 5 and 6.2.5 paragraph 9).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.ctree.build import binary, ident, literal_value, sub
from orio_py.ctree.ctype import CType, common
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import MIRRORED, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, used_names
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import constant_value, expression_type
from orio_py.transformation.forms import bound_is_invariant, has_stable_index
from orio_py.transformation.simpler.counted_steps import SteppedLoop

_LARGEST = 2**15


@dataclass(frozen=True, slots=True)
class ShiftedTest:
    """A loop with its index alone in its test, and what has to hold for it to be the user's."""

    stepped: SteppedLoop
    tests: tuple[Node, ...]

    @classmethod
    def match(cls, node: Node, context: Context) -> ShiftedTest | None:
        """The view of such a loop, None for any other statement."""
        if not isinstance(node, For) or not isinstance(test := node.cond, c_ast.BinaryOp):
            return None
        total, relation, bound = test.left, test.op, test.right
        if relation in {">", ">="}:
            total, relation, bound = bound, MIRRORED[relation], total
        if relation not in {"<", "<="} or not isinstance(total, c_ast.BinaryOp):
            return None
        found = next(
            (each for name in sorted(used_names([total])) if (each := _over(total, name, context))), None
        )
        if found is None:
            return None
        index, more, constants = found
        plain = copy_with(node, cond=copy_with(test, op=relation, left=ident(index), right=sub(bound, more)))
        stepped = SteppedLoop.match(plain)
        if stepped is None or (step := constant_value(stepped.step, context)) is None:
            return None
        loop = stepped.loop
        if loop.index != index or not loop.upward or not 0 < step <= _LARGEST or index in used_names([bound]):
            return None
        inside = _with_index(loop, context)
        kind = expression_type(total, inside)
        if kind is None or kind.is_floating or _promoted(bound, context) != kind:
            return None
        if not has_stable_index(loop, context) or not bound_is_invariant(loop, context):
            return None
        return (
            cls(stepped, (*constants, *_tests(loop, step, bound, more, kind)))
            if _begins(loop, kind, context)
            else None
        )


def _over(total: Node, name: str, context: Context) -> tuple[str, int, tuple[Node, ...]] | None:
    """The variable, the number that a sum adds to it, which no part of the sum is below, and that names stand for that."""
    match total:
        case c_ast.ID(name=found) if found == name:
            return name, 0, ()
        case c_ast.BinaryOp(op="+", left=left, right=right) if name in used_names([right]):
            inner, amount = right, left
        case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
            inner, amount = left, right
        case _:
            return None
    number, before = constant_value(amount, context), _over(inner, name, context)
    if number is None or before is None or not 0 <= number <= _LARGEST:
        return None
    more = before[1] + (number if total.op == "+" else -number)
    named = (binary("==", amount, number),) if used_names([amount]) else ()
    return (name, more, (*before[2], *named)) if 0 <= more <= _LARGEST else None


def _with_index(loop: CanonicalLoop, context: Context) -> Context:
    """What is known in the loop, whose header may declare its index."""
    if loop.declared_type is None:
        return context
    declared = CDeclaration(loop.index, loop.declared_type)
    return replace(context, declarations={**context.declarations, loop.index: declared})


def _promoted(value: Node, context: Context) -> CType | None:
    kind = expression_type(value, context)
    return None if kind is None else kind.promoted


def _begins(loop: CanonicalLoop, kind: CType, context: Context) -> bool:
    """Whether the index begins with the value of its start."""
    number = literal_value(loop.start)
    if number is not None:
        return 0 <= number <= _LARGEST
    own = _promoted(loop.start, context)
    return not kind.unsigned or (own is not None and own.unsigned and common(kind, own) == kind)


def _tests(loop: CanonicalLoop, step: int, bound: Node, more: int, kind: CType) -> tuple[Node, ...]:
    """That the bound less the number is what it is for whole numbers, and that no sum wraps."""
    if not kind.unsigned:
        return (binary(">=", bound, 0),)
    beyond = step - (1 if loop.relation == "<" else 0)
    tests = [binary(">=", bound, more)]
    tests += [binary(">=", binary("+", bound, beyond), bound)] if beyond else []
    if literal_value(loop.start) is None:
        tests.append(binary(">=", binary("+", loop.start, more), loop.start))
    return tuple(tests)
