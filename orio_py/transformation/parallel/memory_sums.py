"""Numbers in memory to which iterations only add: threads add to a variable, which is added to the number behind the loop.

    for (i = 0; i < n; i++)             double s_total = 0;
      s->total += x[i];                 #pragma omp parallel for reduction(+: s_total)
                                        for (i = 0; i < n; i++)
                                          s_total += x[i];
                                        if (s_total != 0)
                                          s->total += s_total;

A clause can name neither a member of a structure nor `*p`.  Where nothing was added the number may not even be there.

Source: for the idea, scalar replacement of reductions; R. Allen, K. Kennedy, "Optimizing Compilers for Modern
Architectures", Morgan Kaufmann 2001, section 8.3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.core.names import NameSupply
from orio_py.ctree.build import assign, binary, declare, flat_block, ident, if_
from orio_py.ctree.ctype import CType, Rank, ctype
from orio_py.ctree.dependence.names import names_of, references
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, assigned_names, declared_names, used_names
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.forms import overwritten
from orio_py.transformation.parallel.reductions import (
    Accumulation,
    Update,
    accumulating_steps,
    combined,
    is_repeatable,
)

_NO_CHANGE = frozenset({"+", "|", "^"})
"""The operators to which 0 adds nothing."""


@dataclass(frozen=True, slots=True)
class MemorySum:
    """A number in memory, under the name that dependences have for it, and the variable that is added to in its place."""

    name: str
    target: Node
    variable: str
    kind: str
    operator: str


def within(loop: Node, sums: Sequence[MemorySum]) -> Node:
    """The loop with variables in place of the numbers."""
    for found in sums:
        loop = _Replacing(emit_expression(found.target), found.variable).rewrite(loop)
    return loop


def around(loop: Node, sums: Sequence[MemorySum]) -> Node:
    """The loop over variables, with what comes before and behind it."""
    before = [declare(found.kind, found.variable, 0) for found in sums]
    behind = [
        if_(
            binary("!=", ident(found.variable), 0),
            assign(found.target, ident(found.variable), f"{found.operator}="),
        )
        for found in sums
    ]
    return flat_block(*before, loop, *behind) if sums else loop


class _Replacing(Rewriter):
    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        return self._replaced(node)

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        return self._replaced(node)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        return self._replaced(node)

    def _replaced(self, node: Node) -> Node:
        return ident(self._name) if emit_expression(node) == self._text else self.generic(node)


def memory_sums(
    name: str, loops: Sequence[CanonicalLoop], context: Context
) -> tuple[tuple[Accumulation, ...], tuple[MemorySum, ...]] | None:
    """What iterations add to under a name, as variables; None where they do anything else with it, or it moves."""
    nest = loops[0]
    names = names_of(nest.node, context.declarations)
    uses = [id(node) for found, node, _ in references(nest.node, names) if found.name == name]
    steps = accumulating_steps(loops[-1].body, lambda target: id(target) in uses)
    if not steps or sum(step.uses for step in steps) != len(uses):
        return None
    places: dict[str, list[Update]] = {}
    for step in steps:
        places.setdefault(emit_expression(step.target), []).append(step)
    supply = context.names(nest.node)
    found: list[tuple[Accumulation, MemorySum]] = []
    for own in places.values():
        one = _sum(name, own, nest, context, supply)
        if one is None:
            return None
        found.append(one)
    if len({one.operator for one, _ in found}) > 1:
        return None
    return tuple(one for one, _ in found), tuple(two for _, two in found)


def _sum(
    name: str, steps: Sequence[Update], nest: CanonicalLoop, context: Context, supply: NameSupply
) -> tuple[Accumulation, MemorySum] | None:
    """The variable for one number."""
    target = steps[0].target
    kind = _number(target, context)
    if kind is None or not is_repeatable(target) or not _stays(target, nest, context):
        return None
    words = kind.words
    result = combined(steps, CDeclaration(name, words), context)
    if result is None or result[0] not in _NO_CHANGE:
        return None
    operator, exact = result
    variable = re.sub(r"\W+", "_", emit_expression(target)).strip("_")
    variable = supply.fresh(variable if isinstance(target, c_ast.StructRef) else f"{variable}_sum")
    added = Accumulation(
        name, operator, exact, certain=False, truth=False, place=steps[0].place, item=variable
    )
    return added, MemorySum(name, target, variable, words, operator)


def _number(target: Node, context: Context) -> CType | None:
    """The type of a number that a pointer points to, or that is a member of a single structure; None for others."""
    match target:
        case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=base)) | c_ast.ArrayRef(name=c_ast.ID(name=base)):
            found = context.declarations.get(base)
            if found is None or found.pointers + len(found.dimensions) != 1:
                return None
        case c_ast.StructRef(name=c_ast.ID(name=base), type=access, field=c_ast.ID(name=field)):
            outer = context.declarations.get(base)
            if outer is None or outer.dimensions or outer.pointers != int(access == "->"):
                return None
            found = next((m for m in context.structures.get(outer.type, ()) if m.name == field), None)
            if found is None or not found.is_scalar or found.overlaid or found.width:
                return None
            if outer.qualifiers & {"volatile", "_Atomic"}:
                return None
        case _:
            return None
    if "(" in found.type or found.qualifiers & {"volatile", "_Atomic"}:
        return None
    kind = ctype(context.types.get(found.type, found.type))
    return None if kind is None or kind.rank is Rank.BOOL else kind


def _stays(target: Node, nest: CanonicalLoop, context: Context) -> bool:
    """Whether a number is at the same place in all iterations."""
    used = used_names([target])
    if not used.isdisjoint({*assigned_names(nest.node), *declared_names(nest.node)}):
        return False
    match target:
        case c_ast.UnaryOp(expr=pointer) | c_ast.StructRef(type="->", name=pointer):
            parts = [pointer]
        case c_ast.ArrayRef(name=array, subscript=subscript):
            parts = [array, subscript]
        case _:
            parts = []
    return all(overwritten(part, nest, context) is None for part in parts)
