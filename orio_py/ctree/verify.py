"""A well-formedness check of trees, run after every transformation in tests."""

from __future__ import annotations

from typing import Any, cast

from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, Transform, c_ast
from orio_py.ctree.normalise import SUPPORTED
from orio_py.ctree.rewrite import fields

_OWN = frozenset({"Comment", "GuardedPragma", "KernelCall", "OwnFunction"})
_OPTIONAL = frozenset(
    {
        ("For", "init"), ("For", "cond"), ("For", "next"), ("If", "iffalse"), ("Return", "expr"),
        ("FuncCall", "args"), ("FuncDecl", "args"), ("ArrayDecl", "dim"), ("Decl", "init"), ("Decl", "name"),
        ("Decl", "bitsize"), ("Decl", "align"), ("TypeDecl", "declname"), ("TypeDecl", "align"),
        ("TypeDecl", "quals"), ("Typename", "name"), ("Typename", "align"), ("Typename", "quals"),
        ("Struct", "name"), ("Struct", "decls"), ("Union", "name"), ("Union", "decls"), ("Enum", "name"),
        ("Enum", "values"), ("Enum", "underlying_type"), ("Enumerator", "value"), ("StaticAssert", "message"),
        ("GenericAssociation", "type"), ("GuardedPragma", "guard"), ("GuardedPragma", "plan"), ("Compound", "block_items"),
        ("CompoundLiteral", "storage"), ("PtrDecl", "quals"), ("ArrayDecl", "dim_quals"),
    }
)  # fmt: skip
_BODIES = {
    "For": "stmt",
    "While": "stmt",
    "DoWhile": "stmt",
    "Switch": "stmt",
    "If": "iftrue",
    "Label": "stmt",
}
_ASSIGNABLE = (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef, c_ast.UnaryOp, c_ast.Cast, c_ast.CompoundLiteral)
_STATEMENTS = (
    Compound, For, c_ast.While, c_ast.DoWhile, c_ast.If, c_ast.Switch, c_ast.Case, c_ast.Default, c_ast.Label,
    c_ast.Break, c_ast.Continue, c_ast.Return, c_ast.Goto, c_ast.Pragma, Comment, GuardedPragma,
)  # fmt: skip
_LISTS_OF_STATEMENTS = frozenset({"block_items", "stmts"})
_STATEMENT_FIELDS = frozenset({"stmt", "iftrue", "iffalse"})


def verify(node: Node) -> list[str]:
    """What is wrong with a transformed tree, one sentence each; an empty list for a good one.

    A good tree holds known node types only, no transform marks, no missing parts and no statements in
    the place of expressions; every loop and branch has a body, and no node contains itself.
    """
    problems: list[str] = []
    path: set[int] = set()
    stack: list[tuple[Node, bool]] = [(node, True)]
    while stack:
        current, entering = stack.pop()
        if not entering:
            path.discard(id(current))
            continue
        if id(current) in path:
            problems.append(f"{type(current).__name__} contains itself")
            continue
        path.add(id(current))
        stack.append((current, False))
        problems.extend(_own_problems(current))
        stack.extend((child, True) for child in _children(current))
    return problems


def _children(node: Node) -> list[Node]:
    found: list[Node] = []
    for name in fields(node):
        value = getattr(node, name)
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        found.extend(item for item in items if isinstance(item, Node))
    return found


def _own_problems(node: Node) -> list[str]:
    kind = type(node).__name__
    if isinstance(node, Transform):
        return [f"the mark of recipe step {node.step} is left"]
    if kind not in SUPPORTED | _OWN:
        return [f"{kind} is no node of a region"]
    problems: list[str] = []
    for name in fields(node):
        value = getattr(node, name)
        if value is None and (kind, name) not in _OPTIONAL:
            problems.append(f"{kind} has no `{name}`")
        elif isinstance(value, list):
            problems.extend(_list_problems(kind, name, cast("list[Any]", value)))
        elif isinstance(value, _STATEMENTS) and name not in _STATEMENT_FIELDS:
            problems.append(f"{kind} has the statement {type(value).__name__} as its `{name}`")
        elif name in {"name", "declname"} and value == "":
            problems.append(f"{kind} has an empty name")
    return problems + _special_problems(node, kind)


def _list_problems(kind: str, name: str, items: list[Any]) -> list[str]:
    problems = [f"{kind} has None among its `{name}`" for item in items if item is None]
    if name not in _LISTS_OF_STATEMENTS:
        wrong = [item for item in items if isinstance(item, _STATEMENTS)]
        problems.extend(
            f"{kind} has the statement {type(item).__name__} among its `{name}`" for item in wrong
        )
    return problems


def _special_problems(node: Node, kind: str) -> list[str]:
    body = getattr(node, _BODIES[kind]) if kind in _BODIES else None
    if isinstance(body, (Comment, GuardedPragma, c_ast.Pragma, c_ast.Decl, c_ast.DeclList)):
        return [f"the body of {kind} is a {type(body).__name__}"]
    if isinstance(node, c_ast.Assignment) and not isinstance(node.lvalue, _ASSIGNABLE):
        return [f"{type(node.lvalue).__name__} is assigned"]
    if isinstance(node, c_ast.DeclList) and not node.decls:
        return ["DeclList is empty"]
    if isinstance(node, c_ast.Constant) and node.value.startswith("-"):
        return [f"the literal {node.value} carries a sign, which belongs to an operator"]
    return []
