"""The statements of a function as statements that set a variable, with `if` and `else` for its `return`.

if (x < 0) return 0;                if (x < 0) {
y = f(x);                             value = 0;
return y * 2;                       } else {
y = f(x);
value = y * 2;
}
"""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.ctree.build import assign, block, if_
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import walk
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
