"""Node types of C trees: pycparser's, and some of our own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pycparser import c_ast
from pycparser.c_ast import Compound, For, Node

__all__ = [
    "INCREMENTS",
    "MIRRORED",
    "NEGATED",
    "WITH_STATEMENTS",
    "Comment",
    "Compound",
    "For",
    "GuardedPragma",
    "KernelCall",
    "Node",
    "OwnFunction",
    "Transform",
    "array_of",
    "c_ast",
    "reference_parts",
    "substatements",
]

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""The comparison that says the same of the exchanged operands: `a < b` is `b > a`."""

NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
"""The comparison that holds exactly where the other does not, for integers."""

INCREMENTS = frozenset({"++", "--", "p++", "p--"})
"""The operators that change their operand by 1, as pycparser spells them; with `p` they stand behind it."""


class Comment(Node):
    """A comment among the statements of a block; `text` includes its delimiters.

    `trailing` is True for a comment that stood behind a statement on its line.
    """

    __slots__ = ("__weakref__", "coord", "text", "trailing")
    attr_names = ("text", "trailing")

    def __init__(self, text: str, trailing: bool = False, coord: Any = None) -> None:
        self.text = text
        self.trailing = trailing
        self.coord = coord

    def children(self) -> tuple[tuple[str, Node], ...]:
        """No children."""
        return ()

    def __iter__(self) -> Iterator[Node]:
        return iter(())


class GuardedPragma(Node):
    """A generated `#pragma` line that only the compilers meeting `guard` see (None: every compiler).

    `plan` is what a directive that takes a loop to a device was made from, None for other lines.
    """

    __slots__ = ("__weakref__", "coord", "guard", "plan", "string")
    attr_names = ("string", "guard")

    def __init__(self, string: str, guard: str | None = None, coord: Any = None, plan: object = None) -> None:
        self.string = string
        self.guard = guard
        self.coord = coord
        self.plan = plan

    def children(self) -> tuple[tuple[str, Node], ...]:
        """No children."""
        return ()

    def __iter__(self) -> Iterator[Node]:
        return iter(())


class KernelCall(c_ast.FuncCall):
    """The call of a generated function; `plan` is what that function is generated from."""

    __slots__ = ("args", "name", "plan")

    def __init__(self, name: Node, args: c_ast.ExprList | None, plan: object, coord: Any = None) -> None:
        super().__init__(name, args, coord)
        self.plan = plan


class OwnFunction(Node):
    """The name of a function of the file itself where it is called, which the C library may have for another one.

    `is_pure` says that a call computes a value from those of its arguments, and does nothing else.
    """

    __slots__ = ("__weakref__", "coord", "function", "is_pure")
    attr_names = ("function", "is_pure")

    def __init__(self, function: str, is_pure: bool = False, coord: Any = None) -> None:
        self.function = function
        self.is_pure = is_pure
        self.coord = coord

    def children(self) -> tuple[tuple[str, Node], ...]:
        """No children."""
        return ()

    def __iter__(self) -> Iterator[Node]:
        return iter(())


class Transform(Node):
    """A statement that a recipe step, named by its index, applies to."""

    __slots__ = ("__weakref__", "coord", "step", "stmt")
    attr_names = ("step",)

    def __init__(self, step: int, stmt: Node, coord: Any = None) -> None:
        self.step = step
        self.stmt = stmt
        self.coord = coord

    def children(self) -> tuple[tuple[str, Node], ...]:
        """The marked statement."""
        return (("stmt", self.stmt),)

    def __iter__(self) -> Iterator[Node]:
        yield self.stmt


def reference_parts(reference: Node) -> tuple[Node, list[Node]]:
    """What the subscripts of an expression stand behind, and the subscripts from left to right.

    `a[i][j]` gives `a` and `[i, j]`; an expression that is no subscripted one gives itself and no subscripts.
    """
    subscripts: list[Node] = []
    while isinstance(reference, c_ast.ArrayRef):
        subscripts.insert(0, reference.subscript)
        reference = reference.name
    return reference, subscripts


def array_of(reference: Node) -> Node:
    """What the subscripts of an expression stand behind: `a` of `a[i][j]`, the expression itself without any."""
    return reference_parts(reference)[0]


def substatements(node: Node) -> list[Node]:
    """The statements directly inside a statement; none for an expression."""
    if not isinstance(node, WITH_STATEMENTS):
        return []
    match node:
        case c_ast.Compound():
            return node.block_items or []
        case c_ast.If():
            return [part for part in (node.iftrue, node.iffalse) if part is not None]
        case c_ast.Case() | c_ast.Default():
            return node.stmts or []
        case _:
            return [node.stmt]


WITH_STATEMENTS = (
    Compound, For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch, c_ast.Label, c_ast.Case, c_ast.Default,
    Transform,
)  # fmt: skip
"""The kinds of statements that hold other statements."""
