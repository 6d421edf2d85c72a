"""The small mistakes that mutation testing makes: one change to one file of the transformations or of what they ask."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGES = ("orio_py/transformation", "orio_py/ctree")

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
ORDERED = frozenset(["sub", "binary", "ternary", "range", "assign", "block", "declare", "substitute", "zip"])
"""Calls whose last two arguments could be exchanged by mistake."""

SILENT = frozenset(
    [
        "refuse",
        "note",
        "Note",
        "Diagnostic",
        "Refusal",
        "ArgumentSpec",
        "Entry",
        "AssertionError",
        "_refuse",
        "wrong",
    ]
)
"""Calls whose arguments are words for the reader."""


Where = tuple[tuple[str, int | None], ...]
"""The path to a node: names of fields, and places in lists."""

Change = Callable[[Any], "ast.AST | None"]
"""Changes a node in place, or gives back another to stand there."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: the module, the line, what changes into what; the change is the `number`th of a node."""

    module: str
    line: int
    before: str
    after: str
    where: Where = ()
    number: int = 0
    lines: range = range(0)
    """The lines of which one has to run for the change to matter."""

    def __str__(self) -> str:
        return f"{path_of(self.module)}:{self.line}: {self.before}  ->  {self.after}"

    def source(self, text: str) -> str:
        """The changed source of the module with this text."""
        tree = ast.parse(text)
        node = _at(tree, self.where)
        new = list(_changes(node))[self.number](node)
        if new is not None:
            _replace(tree, self.where, new)
        return ast.unparse(ast.fix_missing_locations(tree))


def modules_in(tree: Path) -> dict[str, Path]:
    """The modules of the packages in a copy of the project, by their names."""
    found = [path for package in PACKAGES for path in (tree / package).rglob("*.py")]
    paths = sorted(path for path in found if path.stem != "__init__")
    return {".".join(path.relative_to(tree).with_suffix("").parts): path for path in paths}


def path_of(module: str) -> Path:
    """Where a module stands in the project."""
    return Path(*module.split(".")).with_suffix(".py")


def mutants_of(module: str, path: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    tree = ast.parse(path.read_text())
    for where in list(_places(tree, ())):
        node = _at(tree, where)
        for number, change in enumerate(list(_changes(node))):
            new = change(target := copy.deepcopy(node)) or target
            after = "left out" if isinstance(new, ast.Pass) else _short(ast.unparse(new))
            lines = _lines(tree, where)
            yield Mutant(module, lines.start, _short(ast.unparse(node)), after, where, number, lines)


def _lines(tree: ast.AST, where: Where) -> range:
    """The lines of the node; in a statement without a body, all of the statement's."""
    around = [_at(tree, where[:length]) for length in range(1, len(where) + 1)]
    node, statement = around[-1], next(n for n in reversed(around) if isinstance(n, ast.stmt))
    if not hasattr(statement, "body") or not hasattr(node, "lineno"):
        node = statement
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else text[:87] + "..."


def _places(node: ast.AST, where: Where) -> Iterator[Where]:
    """The paths of all nodes whose meaning the tests could depend on."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
            continue
        children: list[Any] = value if isinstance(value, list) else [value]
        for number, child in enumerate(children):
            if not isinstance(child, ast.AST) or _is_words(child):
                continue
            path = (*where, (name, number if isinstance(value, list) else None))
            yield path
            yield from _places(child, path)


def _is_words(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in SILENT:
            return True
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr() | ast.Raise():
            return True
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.keyword(arg="help" | "notes" | "argument"):
            return True
        case ast.keyword(arg="strict"):  # of `zip`: an assertion
            return True
        case ast.AnnAssign(simple=1, value=None):
            return True
        case ast.Assign(targets=[ast.Name(id="_WHAT" | "ENTRY" | "__all__")]):
            return True
        case _:
            return False


def _at(tree: ast.AST, where: Where) -> Any:
    node: Any = tree
    for name, number in where:
        node = getattr(node, name) if number is None else getattr(node, name)[number]
    return node


def _replace(tree: ast.AST, where: Where, new: ast.AST) -> None:
    *above, (name, number) = where
    parent = _at(tree, tuple(above))
    if number is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[number] = new


def _changes(node: ast.AST) -> Iterator[Change]:
    """The changes that one node admits."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield lambda n: _set(n, "ops", [COMPARISONS[type(n.ops[0])]()])
        case ast.BinOp(op=op) if type(op) in OPERATORS and not _is_text(node):
            yield lambda n: _set(n, "op", OPERATORS[type(n.op)]())
        case ast.BoolOp():
            yield lambda n: _set(n, "op", ast.Or() if isinstance(n.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield lambda n: n.operand
        case ast.UnaryOp(op=ast.USub()):
            yield lambda n: n.operand
        case ast.Constant(value=bool()):
            yield lambda n: ast.Constant(not n.value)
        case ast.Constant(value=int()):
            yield lambda n: ast.Constant(n.value + 1)
            if node.value == 1:
                yield lambda n: ast.Constant(0)
        case ast.IfExp():
            yield lambda n: _negate(n)
        case ast.comprehension(ifs=[_, *_]):
            yield lambda n: _set(n, "ifs", [])
        case ast.Call(func=ast.Name(id=name), args=[*others, first, second]) if name in ORDERED:
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                count = len(others)
                yield lambda n: _set(n, "args", [*n.args[:count], n.args[-1], n.args[-2]])
        case _:
            yield from _statement_changes(node)


def _statement_changes(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If() | ast.While():
            yield lambda n: _negate(n)
        case ast.Return(value=ast.AST() as value) if not (
            # Where False is expected, None is as good.
            isinstance(value, ast.Constant) and (value.value is None or value.value is False)
        ):
            yield lambda n: ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()):
            yield lambda _: ast.Pass()
        case ast.Match(cases=cases) if len(cases) > 1:
            for number in range(len(cases)):
                if not _is_wildcard(cases[number]):
                    yield lambda n, number=number: _set(
                        n, "cases", [*n.cases[:number], *n.cases[number + 1 :]]
                    )
        case ast.match_case(guard=ast.AST()):
            yield lambda n: _set(n, "guard", None)
        case ast.AugAssign(op=op) if type(op) in OPERATORS:
            yield lambda n: _set(n, "op", OPERATORS[type(n.op)]())
        case ast.Continue():
            yield lambda _: ast.Pass()
        case ast.Break():
            yield lambda _: ast.Continue()
        case _:
            return


def _is_wildcard(case: ast.match_case) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(s, ast.JoinedStr) or (isinstance(s, ast.Constant) and isinstance(s.value, str))
        for s in sides
    )


def _set(node: Any, name: str, value: object) -> None:
    setattr(node, name, value)


def _negate(node: Any) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)
