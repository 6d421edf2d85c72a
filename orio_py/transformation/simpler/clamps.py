"""A variable that a condition keeps below or above a bound gets its value at once, whose bounds are then known.

    hi = i + b;                         hi = i + b > n ? n : i + b;
    if (hi > n) hi = n;                 for (k = i; k < hi; k++)
    for (k = i; k < hi; k++)              y[i] += x[k];
      y[i] += x[k];

The condition may stand further behind, where nothing between uses the variable.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.ctree.build import literal_value, statements
from orio_py.ctree.ctype import INT, CType, ctype
from orio_py.ctree.effects import effects
from orio_py.ctree.nodes import MIRRORED, Compound, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, substitute, used_names, walk
from orio_py.ctree.symbols import declaration_of
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type

_PLAIN = (c_ast.Assignment, c_ast.Decl, c_ast.If)
_LARGEST = 24
"""Nodes of a value that is written three times."""


def with_clamped_values(tree: Node, context: Context) -> Node:
    """The tree with `c ? a : b` where a variable is set and a condition about it sets it again; the same object where there is none."""
    return _Clamping(context).rewrite(tree)


@dataclass(frozen=True, slots=True)
class _Setting:
    """A statement that sets a variable of the function, and that does nothing else."""

    name: str
    value: Node
    type: CType | None


class _Clamping(Rewriter):
    def __init__(self, context: Context) -> None:
        self._context = context

    def visit_Compound(self, node: Compound) -> Node:
        """A block, with pairs of statements made one."""
        old = list(node.block_items or [])
        items: list[Node] = []
        for item in old:
            place = self._place(items, item)
            joined = None if place is None else self._joined(items[place], item)
            if place is None or joined is None:
                items.append(item)
            else:
                items[place] = joined
        return self.generic(node if len(items) == len(old) else copy_with(node, block_items=items))

    def _place(self, items: list[Node], second: Node) -> int | None:
        """Which statement before one that clamps a variable is the last to use it, if the latter can stand behind that."""
        match second:
            case c_ast.If(cond=c_ast.BinaryOp(), iftrue=c_ast.Compound() | c_ast.Assignment(), iffalse=None):
                setting = self._setting(statements(second.iftrue)[0]) if statements(second.iftrue) else None
            case _:
                return None
        if setting is None:
            return None
        read = used_names([second])
        for place in range(len(items) - 1, -1, -1):
            local = declared_names(items[place])
            if setting.name in used_names([items[place]]) | local:
                return place
            done = effects(items[place])
            changed = done.writes | local
            if done.calls or done.opaque or not isinstance(items[place], _PLAIN) or changed & read:
                return None
        return None

    def _joined(self, first: Node, second: Node) -> Node | None:
        """One statement for one that sets a variable and one that keeps it within a bound."""
        setting = self._setting(first)
        match second:
            case c_ast.If(cond=c_ast.BinaryOp(op=relation) as condition, iftrue=then, iffalse=None) if (
                setting is not None and relation in MIRRORED and len(statements(then)) == 1
            ):
                again = self._setting(statements(then)[0])
            case _:
                return None
        if again is None or isinstance(statements(then)[0], c_ast.Decl) or again.name != setting.name:
            return None
        name, value, bound = setting.name, setting.value, again.value
        if not self._is_bound(condition, name, bound) or not self._are_alike(setting, bound):
            return None
        chosen = c_ast.TernaryOp(substitute(condition, name, value), bound, value, second.coord)
        if isinstance(first, c_ast.Decl):
            return copy_with(first, init=chosen)
        return copy_with(first, rvalue=chosen)

    def _setting(self, node: Node) -> _Setting | None:
        match node:
            case c_ast.Decl(name=str(name), type=c_ast.TypeDecl(), init=Node() as value) if not node.storage:
                declared = declaration_of(node)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                known = self._context.declarations.get(name)
                if known is None or not known.is_scalar or known.scope == "global":
                    return None
                declared = known
            case _:
                return None
        bound = declared.qualifiers & {"volatile", "const", "_Atomic"} or declared.storage - {
            "register",
            "auto",
        }
        if bound or name in self._context.exposed:
            return None
        return _Setting(name, value, ctype(self._context.types.get(declared.type, declared.type)))

    def _is_bound(self, condition: c_ast.BinaryOp, name: str, bound: Node) -> bool:
        """Whether a condition compares a variable, and both sides and the bound do nothing else and read no part of it."""
        sides = (condition.left, condition.right)
        other = [side for side in sides if not (isinstance(side, c_ast.ID) and side.name == name)]
        if len(other) != 1 or condition.op in {"==", "!="}:
            return False
        return name not in used_names([bound, *other]) and _is_simple(bound) and _is_simple(other[0])

    def _are_alike(self, setting: _Setting, bound: Node) -> bool:
        """Whether the value, the bound and the variable are of one type, so that no conversion gets lost."""
        kinds = {self._type(part) for part in (setting.value, bound)}
        return setting.type is not None and kinds == {setting.type} and _is_simple(setting.value)

    def _type(self, node: Node) -> CType | None:
        return INT if literal_value(node) is not None else expression_type(node, self._context)


def _is_simple(node: Node) -> bool:
    """Whether an expression may be evaluated more often, and in another order with what sets a variable."""
    found = effects(node)
    parts = list(walk(node))
    plain = all(isinstance(part, (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp)) for part in parts)
    return plain and len(parts) <= _LARGEST and not (found.writes or found.calls or found.array_reads)
