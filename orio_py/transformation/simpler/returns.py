"""The statements of a function as statements that set a variable, with `if` and `else` for its `return`.

if (x < 0) return 0;                if (x < 0) {
y = f(x);                             value = 0;
return y * 2;                       } else {
y = f(x);
value = y * 2;
}

What a function gives back has a variable then, which stands for further calls: `a > f(b) ? a : f(b)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.ctree.build import assign, block, ident, if_
from orio_py.ctree.effects import effects
from orio_py.ctree.equal import equal
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, walk
from orio_py.transformation.simpler.skipping import negated


def without_returns(items: list[Node], value: str | None) -> list[Node] | None:
    """The statements with assignments for `return`; None where one stands in a loop, or two ways join behind one."""
    for place, item in enumerate(items):
        rest = items[place + 1 :]
        match item:
            case c_ast.Return(expr=result):
                if (result is None) != (value is None):
                    return None
                return [*items[:place], *([assign(value, result)] if value and result is not None else [])]
            case c_ast.If(cond=condition, iftrue=then, iffalse=otherwise) if _returns(item):
                ways = ([then], [otherwise] if otherwise is not None else [])
                always = [any(map(_always_returns, way)) for way in ways]
                if not any(always):
                    return None
                branches = [
                    without_returns(_items(way) if ends else [*way, *rest], value)
                    for way, ends in zip(ways, always, strict=True)
                ]
                if branches[0] is None or branches[1] is None:
                    return None
                return [*items[:place], *_branches(condition, branches[0], branches[1])]
            case Compound():
                if _returns(item):
                    if not _always_returns(item):
                        return None
                    inner = without_returns(_items([item]), value)
                    return None if inner is None else [*items[:place], block(*inner)]
            case _ if _returns(item):
                return None
            case _:
                pass
    return items


def _branches(condition: Node, then: list[Node], otherwise: list[Node]) -> list[Node]:
    """An `if`, whose ways may be empty."""
    if then or not otherwise:
        return [if_(condition, block(*then), block(*otherwise) if otherwise else None)]
    return [if_(negated(condition), block(*otherwise))]


def _items(way: Sequence[Node]) -> list[Node]:
    """The statements of a branch."""
    return [
        part for item in way for part in (item.block_items or [] if isinstance(item, Compound) else [item])
    ]


def _returns(node: Node) -> bool:
    return any(isinstance(part, c_ast.Return) for part in walk(node))


def _always_returns(node: Node) -> bool:
    """Whether no way leads behind a statement."""
    match node:
        case c_ast.Return():
            return True
        case Compound():
            return any(map(_always_returns, node.block_items or []))
        case c_ast.If(iftrue=then, iffalse=otherwise):
            return otherwise is not None and _always_returns(then) and _always_returns(otherwise)
        case _:
            return False


def chosen_with(choice: c_ast.TernaryOp, condition: Node, known: Sequence[tuple[Node, str]]) -> Node:
    """A choice by a condition some calls of which have given values already, which its operands call for again.

    Macros such as `MAX(a, f(b))` do so: `a > f(b) ? a : f(b)`.
    """
    used = effects(condition)
    ways = (choice.iftrue, choice.iffalse)
    if not used.writes | used.calls and not used.opaque:
        ways = (_WithKnown(known).rewrite(choice.iftrue), _WithKnown(known).rewrite(choice.iffalse))
    return copy_with(choice, cond=condition, iftrue=ways[0], iffalse=ways[1])


class _WithKnown(Rewriter):
    """Writes the values of calls that are known for these calls."""

    def __init__(self, known: Sequence[tuple[Node, str]]) -> None:
        self._known = known

    def visit_FuncCall(self, node: c_ast.FuncCall) -> Node:
        name = next((name for call, name in self._known if equal(call, node)), None)
        return self.generic(node) if name is None else ident(name)
