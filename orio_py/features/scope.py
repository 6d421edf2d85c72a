"""What is known where a region begins: sizes of the problem, constants, and the shapes of arrays."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.core.expr import Value
from orio_py.ctree.nodes import Node
from orio_py.ctree.parse import parse_statement
from orio_py.ctree.rewrite import used_names
from orio_py.ctree.symbols import CDeclaration
from orio_py.features.expressions import ArrayShape, ExpressionWalk, WalkScope
from orio_py.features.linear import UNKNOWN, LinearValue
from orio_py.kernel.types import element_bytes
from orio_py.transformation.base import Context

_DEEPEST = 8
"""Constants that are defined by others, and these by others again, are followed so far."""


def scope_of(tree: Node, context: Context, sizes: Mapping[str, Value]) -> WalkScope:
    """What is known where `tree`, the region as the user wrote it, begins; `sizes` are those of the problem."""
    texts = _Texts(context, sizes)
    names = used_names([tree])
    values = {name: texts.value_of(name) for name in names}
    arrays = {
        name: ArrayShape(element_bytes(found.type), tuple(texts.value(text) for text in found.dimensions[1:]))
        for name in names
        if (found := context.declarations.get(name)) is not None and found.is_array_like
    }
    whole = {name for name, found in context.declarations.items() if found.is_scalar and found.is_integer}
    known = {name for name, value in values.items() if isinstance(value.value, int)}
    return WalkScope({n: v for n, v in values.items() if v.is_known}, arrays, frozenset(whole | known))


class _Texts:
    """Values of names and of expressions that are given as text."""

    def __init__(self, context: Context, sizes: Mapping[str, Value]) -> None:
        self._context = context
        self._known: dict[str, LinearValue] = {
            name: LinearValue(value) for name, value in context.enumerators.items()
        }
        for name, value in sizes.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._known[name] = LinearValue(value)
        self._depth = 0

    def value_of(self, name: str) -> LinearValue:
        """The value of a name: a size, a constant, or a scalar that has it from its declaration on."""
        if name in self._known:
            return self._known[name]
        declared = self._context.declarations.get(name)
        text = self._context.macros.get(name) or _initial(declared)
        self._known[name] = UNKNOWN  # for definitions that come back to themselves
        if text and self._depth < _DEEPEST:
            self._depth += 1
            self._known[name] = self.value(text)
            self._depth -= 1
        return self._known[name]

    def value(self, text: str) -> LinearValue:
        """The value of a C expression."""
        node = parse_statement(text, "expression") if text else None
        if node is None:
            return UNKNOWN
        values = {name: self.value_of(name) for name in used_names([node])}
        return ExpressionWalk(WalkScope(values)).index(node)


def _initial(declared: CDeclaration | None) -> str | None:
    return declared.initialiser if declared is not None and declared.is_scalar else None
