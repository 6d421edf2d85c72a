"""Scalars that each iteration writes before it reads them are declared in the loop's body.

    double t;                           for (i = 0; i < n; i++)
    for (i = 0; i < n; i++)               for (j = 0; j < n; j++) {
      for (j = 0; j < n; j++) {             double t = 0;
        t = 0;                              for (k = 0; k < n; k++)
        for (k = 0; k < n; k++)               t += a[i][k] * b[k][j];
          t += a[i][k] * b[k][j];           c[i][j] = t;
        c[i][j] = t;                      }
      }

So written, copies and threads have one each, and no dependence leads from one iteration to another.  A branch that sets
such a scalar anew, for itself alone, has another variable: its live ranges are apart, and each has one value.

Source: for the ideas, scalar privatisation; R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures",
Morgan Kaufmann 2001, section 5.3; live ranges, A. V. Aho, M. S. Lam, R. Sethi, J. D. Ullman, "Compilers", 2nd edition, 9.2.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orio_py.core.names import NameSupply
from orio_py.ctree.build import block, declare, ident, statements
from orio_py.ctree.loops import header_index, loops_in
from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, substitute, used_names, walk_statements
from orio_py.transformation.base import Context
from orio_py.transformation.forms import names_in_pragmas
from orio_py.transformation.sites import rewrite_where


def with_private_scalars(tree: Node, context: Context) -> Node:
    """The tree with declarations in the bodies of the innermost loops to which scalars are private."""
    if any(isinstance(part, (c_ast.Label, c_ast.Goto)) for part in walk_statements(tree)):
        return tree
    return rewrite_where(tree, lambda node: isinstance(node, For), _declaring, context)


def _declaring(loop: Node, context: Context) -> Node:
    assert isinstance(loop, For)
    inside = context.effects(loop.stmt)
    header = {
        name for part in (loop.cond, loop.next) if part is not None for name in context.effects(part).reads
    }
    indices = {header_index(inner) for inner in loops_in(loop.stmt)}  # those stand in headers of their own
    names = (
        inside.scalar_writes - inside.reads_before_write - inside.address_taken - header - context.live_after
    )
    names = (names - indices) & inside.reads  # without the others: compilers warn of what nothing reads
    types = {name: kind for name in sorted(names) if (kind := _type(name, context)) is not None}
    if not types:
        return loop
    body = statements(loop.stmt)
    supply = context.names(loop)
    for name in types.keys() - names_in_pragmas(loop.stmt):
        ranges = _LiveRanges(name, supply, context)
        body = ranges.apart(body)
        types |= dict.fromkeys(ranges.names, types[name])
    read = context.effects(block(*body)).reads
    types = {name: kind for name, kind in types.items() if name in read}
    return copy_with(loop, stmt=block(*with_declarations(types, body)))


@dataclass(slots=True)
class _LiveRanges:
    """Gives a scalar another name, one of `names`, in each branch that sets it anew for itself alone."""

    name: str
    supply: NameSupply
    context: Context
    names: list[str] = field(default_factory=list[str])

    def apart(self, items: Sequence[Node], is_live: bool = False, is_set: bool = False) -> list[Node]:
        """Statements of a block; whether something reads the scalar behind them, and whether it is set before them."""
        found: list[Node] = []
        for place, item in enumerate(items):
            if self.name in self.context.effects(item).scalar_writes:
                behind = is_live or self._reads_first(block(*items[place + 1 :]))
                found.append(self._inside(item, behind, is_set))
                is_set = True
            else:
                found.append(item)
        return found

    def _inside(self, item: Node, is_live: bool, is_set: bool) -> Node:
        match item:
            case c_ast.If():
                then = self._branch(item.iftrue, is_live, is_set)
                return copy_with(item, iftrue=then, iffalse=self._branch(item.iffalse, is_live, is_set))
            case For() | c_ast.While() | c_ast.DoWhile():
                parts = (item.cond, getattr(item, "next", None), item.stmt)
                again = any(part is not None and self._reads_first(part) for part in parts)
                return copy_with(item, stmt=self._inside(item.stmt, is_live or again, is_set))
            case Compound():
                return copy_with(item, block_items=self.apart(item.block_items or [], is_live, is_set))
            case _:
                return item

    def _branch(self, branch: Node | None, is_live: bool, is_set: bool) -> Node | None:
        if branch is None or self.name not in self.context.effects(branch).scalar_writes:
            return branch
        is_used = self.name in self.context.effects(branch).reads  # Compilers warn of what nothing reads.
        if is_set and is_used and not is_live and not self._reads_first(branch):
            self.names.append(self.supply.fresh(self.name))
            return substitute(branch, self.name, ident(self.names[-1]))
        return self._inside(branch, is_live, is_set)

    def _reads_first(self, part: Node) -> bool:
        return self.name in self.context.effects(part).reads_before_write


def with_declarations(types: Mapping[str, str], body: Sequence[Node]) -> list[Node]:
    """The statements with a declaration of each name: where it is assigned first, else before all.

    What is used in the branches of a condition alone is declared in each of them that uses it.
    """
    waiting, found = dict(types), list[Node]()
    for place, statement in enumerate(body):
        used = used_names([statement])
        match statement:
            case c_ast.If() if inner := (used & waiting.keys()) - used_names(
                [statement.cond, *body[place + 1 :]]
            ):
                own = {name: waiting.pop(name) for name in sorted(inner)}
                found[:0] = [declare(waiting.pop(name), name) for name in sorted(used & waiting.keys())]
                then, other = (_branch(part, own) for part in (statement.iftrue, statement.iffalse))
                found.append(copy_with(statement, iftrue=then, iffalse=other))
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value) if name in waiting and (
                name not in used_names([value])
            ):
                found.append(declare(waiting.pop(name), name, value))
            case _:
                found[:0] = [declare(waiting.pop(name), name) for name in sorted(used & waiting.keys())]
                found.append(statement)
    return found


def _branch(branch: Node | None, types: Mapping[str, str]) -> Node | None:
    """A branch of a condition with declarations of what it uses; `else if` stays what it is."""
    used = used_names([branch]) if branch is not None else frozenset[str]()
    own = {name: kind for name, kind in types.items() if name in used}
    if branch is None or not own:
        return branch
    inside = with_declarations(own, statements(branch))
    return inside[0] if len(inside) == 1 and isinstance(inside[0], c_ast.If) else block(*inside)


def _type(name: str, context: Context) -> str | None:
    """The type with which a scalar may be declared once more; None if it has to be the variable that it is."""
    declared = context.declarations.get(name)
    if declared is None or not declared.is_scalar or not declared.type or declared.scope == "global":
        return None
    bound = declared.qualifiers & {"volatile", "const", "_Atomic"} or declared.storage & {"static", "extern"}
    return None if bound or name in context.exposed else declared.type
