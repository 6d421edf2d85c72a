"""The structures that a C text defines, as far as their members are variables and arrays of such."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.names import C_KEYWORDS
from orio_py.core.source import SourceFile
from orio_py.ctree.nodes import c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.rewrite import walk
from orio_py.ctree.symbols import CDeclaration, declaration_of

Members = tuple[CDeclaration, ...]
"""The members of a structure, in their order."""

_FLOATING = frozenset({"float", "double", "long double"})
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_DEFINITION = re.compile(r"(\btypedef\s+)?\bstruct\s*(\w+)?\s*\{([^{}]*)\}\s*([\w\s,*\[\]]*);")
_ALIAS = re.compile(r"\btypedef\s+(struct\s+\w+)\s+(\w+)\s*;")
_WORD = re.compile(r"[A-Za-z_]\w*")


def structures(texts: Iterable[str]) -> Mapping[str, Members]:
    """The members by the names of types, `struct point` or that of a typedef, in the definition or apart from it.

    Conditions of the preprocessor are not evaluated: a name with two different definitions is left out, as are
    structures with others, with unions or with bit fields inside.

    >>> found = structures(["typedef struct { double x, y; } point;"])
    >>> [(member.name, member.type) for member in found["point"]]
    [('x', 'double'), ('y', 'double')]
    """
    return dict(_structures(tuple(texts)))


@lru_cache(maxsize=4)
def _structures(texts: tuple[str, ...]) -> dict[str, Members]:
    """The structures of texts, which are those of one file for all of its regions."""
    found: dict[str, Members | None] = {}
    plain = [_DIRECTIVE.sub(" ", _COMMENT.sub(" ", text)) for text in texts]
    for text in plain:
        for typedef, tag, body, names in _DEFINITION.findall(text):
            members = _members(body)
            for name in ([f"struct {tag}"] if tag else []) + ([names.strip()] if typedef else []):
                found[name] = members if found.setdefault(name, members) == members else None
    for text in plain:
        for words, name in _ALIAS.findall(text):
            if (members := found.get(" ".join(words.split()))) is not None:
                found[name] = members if found.setdefault(name, members) == members else None
    return {name: members for name, members in found.items() if members}


def not_numbers(members: Members) -> str | None:
    """Why the members are not all numbers and arrays of numbers that can be assigned; None if they are."""
    for member in members:
        if member.pointers:
            return f"its member `{member.name}` is a pointer"
        if "const" in member.qualifiers:
            return f"its member `{member.name}` is constant"
        if not (member.type in _FLOATING or (member.is_integer and not member.type.startswith("enum "))):
            return f"its member `{member.name}` is of type `{member.type}`"
        if "" in member.dimensions:
            return f"its member `{member.name}` has no extent"
    return None


def _members(body: str) -> Members | None:
    """The members in the text between the braces."""
    # A type that is not known here is some word at the beginning of a declaration.
    first = (_WORD.search(line) for line in body.split(";"))
    words = frozenset(word[0] for word in first if word is not None) - C_KEYWORDS
    source = SourceFile("structure", body.encode("latin-1", "replace"))
    try:
        tree = parse_statements(source.text, source=source, start=0, typedefs=words)
    except DiagnosticError:
        return None
    declared = [node for node in walk(tree) if isinstance(node, c_ast.Decl)]
    if any(node.name is None or node.bitsize is not None for node in declared):
        return None
    return tuple(declaration_of(node) for node in declared)
