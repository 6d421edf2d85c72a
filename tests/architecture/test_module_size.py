"""No module is too long to be read in one go, and none is so short that it belongs to the one that uses it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "orio_py"
MOST_LINES = 400
LEAST_LINES = 60


def modules() -> dict[str, str]:
    """The text of each module by its name."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        found[name] = path.read_text(encoding="utf-8")
    assert len(found) > 100
    return found


def imports(tree: ast.AST) -> Iterator[str]:
    """Names of modules that a module imports, or may: `a.b` and `a.b.c` for `from a.b import c`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def lines_of_single_clients(texts: dict[str, str]) -> dict[str, tuple[str, int]]:
    """The modules that exactly one other imports at its top: which one, and how long they are.

    Left out are members of registries, which a catalog or a package's `__init__` lists or which have an `ENTRY` of
    their own, commands, and programs that run in a process of their own.
    """
    trees = {name: ast.parse(text) for name, text in texts.items()}
    clients: dict[str, set[str]] = {name: set() for name in texts}
    late = {
        module
        for tree in trees.values()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for module in imports(function)
    }
    for name, tree in trees.items():
        for module in set(imports(tree)) & texts.keys():
            clients[module].add(name)
    packages = {name for name in texts if any(other.startswith(f"{name}.") for other in texts)}
    found: dict[str, tuple[str, int]] = {}
    for name, text in texts.items():
        (client, *others) = sorted(clients[name]) or ("",)
        defined = {part.targets[0].id for part in trees[name].body if isinstance(part, ast.Assign)
                   and isinstance(part.targets[0], ast.Name)}  # fmt: skip
        defined |= {part.name for part in trees[name].body if isinstance(part, ast.FunctionDef)}
        is_listed = client in packages or client.endswith(".catalog") or "ENTRY" in defined
        runs_alone = "main" in defined or name.startswith("orio_py.cli.")
        if client and not (others or is_listed or runs_alone or name in late or name in packages):
            found[name] = client, text.count("\n")
    return found


def test_modules_are_short() -> None:
    lengths = {name: text.count("\n") for name, text in modules().items()}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_short_modules_have_several_clients() -> None:
    found = lines_of_single_clients(modules())
    assert len(found) > 50
    assert {name: seen for name, seen in found.items() if seen[1] < LEAST_LINES} == {}


def test_what_counts_as_a_single_client() -> None:
    texts = {
        "p": "",
        "p.catalog": "from p.entry import A",
        "p.entry": "A = 1\n",
        "p.step": "ENTRY = 1\n",
        "p.user": "from p import alone\nfrom p.step import ENTRY\nfrom p.shared import b\n"
        "def f():\n    from p.late import c\n",
        "p.other": "from p.shared import b\n",
        "p.alone": "a = 1\n",
        "p.shared": "b = 1\n",
        "p.late": "c = 1\n",
    }
    assert lines_of_single_clients(texts) == {"p.alone": ("p.user", 1)}
