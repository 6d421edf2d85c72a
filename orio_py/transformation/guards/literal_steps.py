"""Steps that are constants by another name become numbers, behind the test that they are those numbers.

    for (i = 0; i < n; i += STEP)       if (STEP == 2)
      y[i] = x[i];                        for (i = 0; i < n; i += 2)
                                            y[i] = x[i];
                                        else
                                          for (i = 0; i < n; i += STEP) …

A name may have another value where the file is compiled with other options; compilers decide the test.
"""

from __future__ import annotations

from orio_py.ctree.build import binary, block, const, if_
from orio_py.ctree.ctype import INT
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.evaluate import NoValueError, Number, evaluate
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Comment, Compound, For, Node, Transform, c_ast
from orio_py.ctree.parse import parse_statement
from orio_py.ctree.rewrite import Rewriter, copy_with
from orio_py.transformation.base import Context
from orio_py.transformation.guards.runtime_guards import may_stand_twice, without_marks
from orio_py.transformation.parallel.pragma_text import is_about_loop
from orio_py.transformation.sites import outermost_marks, rewrite_where

_LARGEST = 2**31 - 1


def with_literal_steps(tree: Node, context: Context) -> Node:
    """The tree whose marked loops step by numbers where the file tells the values of constants.

    The same object where none does.
    """
    marks = {id(mark) for mark in outermost_marks(tree)}
    return rewrite_where(tree, lambda node: id(node) in marks, _tested, context)


def _tested(mark: Node, context: Context) -> Node:
    assert isinstance(mark, Transform)
    if not may_stand_twice(mark) or any(map(is_about_loop, context.pragmas)):
        return mark
    steps = _Steps(context)
    new = steps.rewrite(mark)
    if new is mark:
        return mark
    tests = list(steps.tests.values())
    test = tests[0]
    for other in tests[1:]:
        test = binary("&&", test, other)
    shown = " and ".join(f"`{emit_expression(each)}`" for each in tests)
    remark = Comment(f"/* Runs where {shown}; else the original code does. */")
    original = without_marks(mark)
    otherwise = original if isinstance(original, Compound) else block(original)
    return block(remark, if_(test, block(new), otherwise))


class _Steps(Rewriter):
    """Puts numbers in place of steps; `tests` compare each with its number."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.tests: dict[str, Node] = {}

    def visit_For(self, node: For) -> Node:
        new = self.generic(node)
        if CanonicalLoop.match(new) is not None:
            return new
        match new.next:
            case c_ast.Assignment(op="+=" | "-=", rvalue=amount):
                value = self._value(amount)
                step = copy_with(new.next, rvalue=const(value)) if value else None
            case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(op="+" | "-", right=amount) as total):
                value = self._value(amount)
                step = copy_with(new.next, rvalue=copy_with(total, right=const(value))) if value else None
            case _:
                return new
        if step is None or value is None or CanonicalLoop.match(copy_with(new, next=step)) is None:
            return new
        self.tests[emit_expression(amount)] = binary("==", amount, value)
        return copy_with(new, next=step)

    def _value(self, amount: Node) -> int | None:
        """The value of a constant expression, where it is a positive `int`."""
        try:
            value = evaluate(amount, self._lookup).value
        except (NoValueError, RecursionError):
            return None
        return value if isinstance(value, int) and 0 < value <= _LARGEST else None

    def _lookup(self, name: str) -> Number:
        if name in self._context.enumerators and name not in self._context.declarations:
            return Number(INT, self._context.enumerators[name])
        text = self._context.macros.get(name)
        meaning = None if text is None else parse_statement(text, name)
        if meaning is None:
            raise NoValueError(f"the value of `{name}` is not known")
        return evaluate(meaning, self._lookup)
