"""Rules of the house that neither the linter nor the type checker knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST_FUNCTION = 60


@dataclass(frozen=True)
class Source:
    name: str
    text: str
    nodes: tuple[ast.AST, ...]

    def calls(self) -> Iterator[tuple[str, int]]:
        """Names that are called directly, without an object before them."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id, node.lineno

    def functions(self) -> Iterator[ast.FunctionDef]:
        return (node for node in self.nodes if isinstance(node, ast.FunctionDef))


@pytest.fixture(scope="module")
def sources() -> list[Source]:
    paths = sorted((ROOT / "orio_py").rglob("*.py"))
    assert len(paths) > 100
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
    return [Source(name, text, tuple(ast.walk(ast.parse(text)))) for name, text in texts.items()]


def test_nothing_is_evaluated(sources):
    forbidden = {"eval", "exec", "compile", "__import__"}
    assert [(s.name, line) for s in sources for name, line in s.calls() if name in forbidden] == []


def test_only_the_command_line_prints(sources):
    elsewhere = [s for s in sources if not s.name.startswith("orio_py/cli/")]
    assert [(s.name, line) for s in elsewhere for name, line in s.calls() if name == "print"] == []


def test_exceptions_are_caught_by_name(sources):
    swallowed = [
        (s.name, node.lineno)
        for s in sources
        for node in s.nodes
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and ast.unparse(node.body[-1]) != "raise"
    ]
    # `orio cc` is a boundary of its own: a fault of the tuner must not break a build.  So are worker processes.
    boundaries = {"orio_py/cli/main.py", "orio_py/cli/cc.py", "orio_py/build/pool.py"}
    boundaries.add("orio_py/measure/offload/worker.py")
    assert {name for name, _ in swallowed} <= boundaries
    assert len(swallowed) <= 4


def test_the_environment_is_read_in_two_places(sources):
    readers = {s.name for s in sources if re.search(r"\bos\.(environ|getenv)\b", s.text)}
    assert [name for name in readers if not name.startswith(("orio_py/cli/", "orio_py/build/"))] == []


def test_functions_are_short(sources):
    # A command's parameters are its options: these have as many as the contract gives them.
    commands = {("orio_py/cli/tune.py", "tune"), ("orio_py/cli/tensor.py", "tensor")}
    long = {
        f"{s.name}:{f.name}": f.end_lineno - f.lineno + 1
        for s in sources
        for f in s.functions()
        if f.end_lineno - f.lineno >= LONGEST_FUNCTION and (s.name, f.name) not in commands
    }
    assert long == {}


def test_imports_stand_at_the_top(sources):
    """But for those that a comment on the line, or above it, says take time to load."""
    inside = [
        (s.name, node.lineno)
        for s in sources
        for function in s.functions()
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and not any("time to load" in line for line in s.text.splitlines()[node.lineno - 3 : node.lineno])
    ]
    assert inside == []


def test_no_function_changes_a_module(sources):
    assert [(s.name, n.lineno) for s in sources for n in s.nodes if isinstance(n, ast.Global)] == []


def test_no_unexplained_ignores(sources):
    bare = re.compile(r"#\s*(type|pyright):\s*ignore(?!\[)")
    assert [s.name for s in sources if bare.search(s.text)] == []


def test_texts_name_no_machine():
    kinds = {".py", ".md", ".lark", ".j2", ".toml", ".c", ".yml", ".yaml", ".spec"}
    folders = (
        "orio_py",
        "docs",
        "grammars",
        "templates",
        "benchmarks",
        "changelog.d",
        ".github",
        "tests/golden",
    )
    files = [p for folder in folders for p in (ROOT / folder).rglob("*") if p.suffix in kinds]
    files += [
        ROOT / name for name in ("README.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml", ".ci/run")
    ]
    named = re.compile(rb"/(work|root|home)/\w")
    assert [str(p.relative_to(ROOT)) for p in files if named.search(p.read_bytes())] == []
