"""Structural equality and digests of trees; pycparser itself compares nodes by identity."""

from __future__ import annotations

import hashlib
from typing import Any, cast

from orio_py.ctree.nodes import GuardedPragma, Node
from orio_py.ctree.rewrite import fields

_LAYOUT = frozenset({"trailing"})


def equal(a: Node, b: Node) -> bool:
    """Whether two trees are the same code; places and the layout of comments do not matter."""
    stack: list[tuple[Any, Any]] = [(a, b)]
    while stack:
        left, right = stack.pop()
        if left is right:
            continue
        if isinstance(left, Node) and type(left) is type(right):
            names = _compared(left)
            stack.extend((_plain(getattr(left, name)), _plain(getattr(right, name))) for name in names)
        elif isinstance(left, list) and isinstance(right, list):
            ours, theirs = cast("list[Any]", left), cast("list[Any]", right)
            if len(ours) != len(theirs):
                return False
            stack.extend(zip(ours, theirs, strict=True))
        elif isinstance(left, Node) or isinstance(right, Node) or left != right:
            return False
    return True


def structure_digest(node: Node) -> str:
    """A digest (64 hexadecimal digits) that two trees share exactly when they are `equal`."""
    state = hashlib.sha256()
    stack: list[Any] = [node]
    while stack:
        item = _plain(stack.pop())
        if isinstance(item, Node):
            names = _compared(item)
            state.update(f"({type(item).__name__} {len(names)} ".encode())
            stack.extend(getattr(item, name) for name in reversed(names))
        elif isinstance(item, list):
            items = cast("list[Any]", item)
            state.update(f"[{len(items)} ".encode())
            stack.extend(reversed(items))
        else:
            state.update(f"{item!r} ".encode())
    return state.hexdigest()


def _compared(node: Node) -> list[str]:
    """The fields that make a node the same code: what a pragma was made from stands in its text."""
    left_out = _LAYOUT | {"plan"} if isinstance(node, GuardedPragma) else _LAYOUT
    return [name for name in fields(node) if name not in left_out]


def _plain(value: Any) -> Any:
    # An absent list and an empty one mean the same, except for the members of a struct, which the
    # parser never leaves empty.
    return [] if value is None else value
