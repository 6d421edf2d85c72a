"""Variables of threads in place of numbers in memory to which iterations only add, and of flags that they only raise.

    for (i = 0; i < n; i++) {           double s_total = 0; int wrong_set = 0;
      s->total += x[i];                 #pragma omp parallel for reduction(+: s_total) reduction(|: wrong_set)
      if (x[i] < 0) wrong = 1;          for (i = 0; i < n; i++) {
    }                                     s_total += x[i];
                                          if (x[i] < 0) wrong_set = 1;
                                        }
                                        if (s_total != 0) s->total += s_total;
                                        if (wrong_set) wrong = 1;

A clause can name neither a member of a structure nor `*p`, and none says that all threads assign the same.  Where nothing
was added or assigned the number may not even be there.

Source: for the idea, scalar replacement of reductions; R. Allen, K. Kennedy, "Optimizing Compilers for Modern
Architectures", Morgan Kaufmann 2001, section 8.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orio_py.core.names import NameSupply
from orio_py.ctree.build import assign, binary, declare, flat_block, ident, if_
from orio_py.ctree.ctype import CType, Rank, ctype
from orio_py.ctree.dependence.names import names_of, references
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.equal import equal
from orio_py.ctree.expression_effects import is_repeatable
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast, reference_parts
from orio_py.ctree.rewrite import (
    Rewriter,
    assigned_names,
    declared_names,
    used_names,
    walk,
    walk_statements,
)
from orio_py.ctree.symbols import CDeclaration
from orio_py.ctree.updates import Update, accumulating_steps
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import constant_value, single_member
from orio_py.transformation.overwriting import overwritten
from orio_py.transformation.parallel.reductions import Accumulation, combined

_NO_CHANGE = frozenset({"+", "|", "^"})
"""The operators to which 0 adds nothing."""

_UNSTEADY = frozenset({"volatile", "_Atomic"})


@dataclass(frozen=True, slots=True)
class ReductionVariable:
    """A variable that threads combine values in, and what stands for, under the name that dependences have for it.

    `value` is what a flag is set to; None for a sum.
    """

    name: str
    target: Node
    variable: str
    kind: str
    operator: str
    value: Node | None = None

    @property
    def behind(self) -> Node:
        """What gives the target its value behind the loop."""
        if self.value is not None:
            return if_(ident(self.variable), assign(self.target, self.value))
        back = assign(self.target, ident(self.variable), f"{self.operator}=")
        return if_(binary("!=", ident(self.variable), 0), back)


def within(loop: Node, variables: Sequence[ReductionVariable]) -> Node:
    """The loop with variables in place of what they stand for."""
    for found in variables:
        loop = _Replacing(found).rewrite(loop)
    return loop


def around(loop: Node, variables: Sequence[ReductionVariable]) -> Node:
    """The loop over variables, with what comes before and behind it."""
    before = [declare(found.kind, found.variable, 0) for found in variables]
    return flat_block(*before, loop, *(found.behind for found in variables)) if variables else loop


class _Replacing(Rewriter):
    def __init__(self, found: ReductionVariable) -> None:
        self._text = emit_expression(found.target)
        self._variable = ident(found.variable)
        self._is_flag = found.value is not None

    def visit_Assignment(self, node: c_ast.Assignment) -> Node:
        if self._is_flag and emit_expression(node.lvalue) == self._text:
            return assign(self._variable, 1)
        return self.generic(node)

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        return self._replaced(node)

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        return self._replaced(node)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        return self._replaced(node)

    def _replaced(self, node: Node) -> Node:
        return self._variable if emit_expression(node) == self._text else self.generic(node)


Found = tuple[tuple[Accumulation, ...], tuple[ReductionVariable, ...]]


def reduction_variables(name: str, loops: Sequence[CanonicalLoop], context: Context) -> Found | None:
    """The variables for what iterations only add to under a name, or all set to the same; None where they do anything else."""
    return _sums(name, loops, context) or _flag(name, loops, context)


def _flag(name: str, loops: Sequence[CanonicalLoop], context: Context) -> Found | None:
    """The variable for a number to which all assignments give the same value, and that nothing reads meanwhile."""
    nest = loops[0]
    names = names_of(nest.node, context.declarations)
    uses = [id(node) for found, node, _ in references(nest.node, names) if found.name == name]
    sets = [
        part
        for part in walk(loops[-1].body)
        if isinstance(part, c_ast.Assignment) and part.op == "=" and id(part.lvalue) in uses
    ]
    if not sets or len(sets) != len(uses) or not all(equal(part, sets[0]) for part in sets):
        return None
    target, value = sets[0].lvalue, sets[0].rvalue
    statements = {id(part) for part in walk_statements(loops[-1].body)}
    if not all(id(part) in statements for part in sets) or constant_value(value, context) is None:
        return None
    if _number(target, context) is None or not is_repeatable(target) or not _stays(target, nest, context):
        return None
    variable = context.names(nest.node).fresh(f"{_words(target)}_set")
    raised = Accumulation(name, "|", True, certain=False, truth=False, place=sets[0], item=variable)
    return (raised,), (ReductionVariable(name, target, variable, "int", "|", value),)


def _words(target: Node) -> str:
    return re.sub(r"\W+", "_", emit_expression(target)).strip("_")


def _sums(name: str, loops: Sequence[CanonicalLoop], context: Context) -> Found | None:
    """The variables for what iterations add to; None where they do anything else with it, or it moves."""
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
    found: list[tuple[Accumulation, ReductionVariable]] = []
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
) -> tuple[Accumulation, ReductionVariable] | None:
    """The variable for one number."""
    target = steps[0].target
    kind = _number(target, context)
    if (
        kind is None
        or kind.rank is Rank.BOOL
        or not is_repeatable(target)
        or not _stays(target, nest, context)
    ):
        return None
    words = kind.words
    result = combined(steps, CDeclaration(name, words), context)
    if result is None or result[0] not in _NO_CHANGE:
        return None
    operator, exact = result
    variable = _words(target)
    variable = supply.fresh(variable if isinstance(target, c_ast.StructRef) else f"{variable}_sum")
    added = Accumulation(
        name, operator, exact, certain=False, truth=False, place=steps[0].place, item=variable
    )
    return added, ReductionVariable(name, target, variable, words, operator)


def _number(target: Node, context: Context) -> CType | None:
    """The type of a variable, or of a number that is an element of an array or a member of a single structure; None for others."""
    if isinstance(target, c_ast.UnaryOp) and target.op == "*":
        base, depth = target.expr, 1
    else:
        base, subscripts = reference_parts(target)
        depth = len(subscripts)
    match base:
        case c_ast.ID(name=name):
            found = context.declarations.get(name)
            if found is None or found.storage & {"_Thread_local", "__thread"}:
                return None
        case c_ast.StructRef():
            found = single_member(base, context.declarations, context)
            if found is None or found.overlaid or found.width or not _is_ordinary(base.name, context):
                return None
        case _:
            return None
    if "(" in found.type or found.qualifiers & _UNSTEADY or found.pointers + len(found.dimensions) != depth:
        return None
    return ctype(context.types.get(found.type, found.type))


def _is_ordinary(structure: Node, context: Context) -> bool:
    """Whether neither a structure nor those around it are volatile, atomic or unions."""
    match structure:
        case c_ast.ID(name=name):
            return not context.declarations[name].qualifiers & _UNSTEADY
        case c_ast.StructRef(name=outer):
            member = single_member(structure, context.declarations, context)
            if member is None or member.overlaid or member.qualifiers & _UNSTEADY:
                return False
            return _is_ordinary(outer, context)
        case _:
            return False


def _stays(target: Node, nest: CanonicalLoop, context: Context) -> bool:
    """Whether a number is at the same place in all iterations."""
    if isinstance(target, c_ast.ID):
        return target.name not in declared_names(nest.node)
    used = used_names([target])
    if not used.isdisjoint({*assigned_names(nest.node), *declared_names(nest.node)}):
        return False
    return all(overwritten(part, nest, context) is None for part in _read_for(target))


def _read_for(target: Node) -> Iterator[Node]:
    """What is read to find the place of a number: pointers, and subscripts."""
    match target:
        case c_ast.UnaryOp(expr=pointer) | c_ast.StructRef(type="->", name=pointer):
            yield pointer
        case c_ast.StructRef(name=structure):
            yield from _read_for(structure)
        case c_ast.ArrayRef(name=array, subscript=subscript):
            yield array
            yield subscript
        case _:
            pass
