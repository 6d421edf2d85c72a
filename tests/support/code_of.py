"""What stands in the code of some files: not in their comments and docstrings, which prove nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CodeOf:
    """Names that are called, with what stands in tables of parameters, and texts that are values.

    Texts of annotations (`transform Tile(...)` in a string) count as calls: many tests are written in them.
    """

    calls: frozenset[str]
    texts: frozenset[str]

    @classmethod
    def folder(cls, *folders: Path) -> CodeOf:
        """Of all Python files below some folders."""
        return cls.of(path.read_text() for folder in folders for path in folder.rglob("*.py"))

    @classmethod
    def of(cls, sources: Iterable[str]) -> CodeOf:
        """Of some sources."""
        calls: set[str] = set()
        texts: set[str] = set()
        for source in sources:
            tree = ast.parse(source)
            prose = {id(statement.value) for statement in ast.walk(tree) if isinstance(statement, ast.Expr)}
            for node in ast.walk(tree):
                match node:
                    case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                        calls.add(name)
                    case ast.Constant(value=str(text)) if id(node) not in prose:
                        texts.add(text)
                        calls.update(word for word in text.replace("(", "( ").split() if word.endswith("("))
        return cls(frozenset(call.rstrip("(") for call in calls), frozenset(texts))
