"""The Lark parsers, each built on first use from its file in `grammars/`.

To build one takes a hundred times as long as to load its tables, so these are kept between processes.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from functools import cache
from io import BytesIO
from typing import Any, cast

import lark
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from orio_py.core.digest import digest
from orio_py.core.resources import directory, keep, kept

Parsed = Tree[Token]


_OPTIONS = {"parser": "lalr", "propagate_positions": True, "maybe_placeholders": False}


@cache
def _parser(grammar: str, start: str) -> Lark:
    folder = directory("grammars")
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.lark"))}
    made_by = [lark.__version__, platform.python_version()]
    name = f"{grammar}-{digest([texts, start, _OPTIONS, made_by])[:32]}.parser"
    if (content := kept(name)) is not None:
        return cast("Any", Lark).load(BytesIO(content))
    parser = cast("Any", Lark).open(str(folder / f"{grammar}.lark"), start=start, **_OPTIONS)
    tables = BytesIO()
    parser.save(tables)
    keep(name, tables.getvalue())
    return parser


def parse(grammar: str, start: str, text: str) -> Parsed:
    """The tree of `text`.  Raises lark.exceptions.UnexpectedInput."""
    return cast("Any", _parser(grammar, start)).parse(text)


def rule_name(tree: Parsed) -> str:
    """The name of the rule that made a node, without the prefix of an imported grammar."""
    return str(tree.data).rpartition("__")[2]


def terminal_name(terminal: str) -> str:
    """The name of a terminal without the prefix of an imported grammar."""
    return terminal.rpartition("__")[2]


def offset(tree: Parsed | Token) -> int:
    """Where a node or token starts in the parsed text."""
    if isinstance(tree, Token):
        return tree.start_pos or 0
    return 0 if tree.meta.empty else tree.meta.start_pos


def error_offset(error: UnexpectedInput, text: str) -> int:
    """Where in `text` the parser stopped: its end when the text is incomplete."""
    position = error.pos_in_stream
    token = getattr(error, "token", None)
    if isinstance(token, Token) and token.type == "$END":
        return len(text.rstrip())
    return len(text.rstrip()) if position is None or position < 0 else position


def expected_terminals(error: UnexpectedInput) -> frozenset[str]:
    """The terminals that could have stood where the parser stopped."""
    found: Iterable[str] = getattr(error, "accepts", None) or getattr(error, "expected", None) or ()
    allowed: Iterable[str] = getattr(error, "allowed", None) or ()
    return frozenset(terminal_name(name) for name in (*found, *allowed))
