"""The Lark parsers, each built on first use from its file in `grammars/`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from orio_py.core.resources import directory

Parsed = Tree[Token]


@cache
def _parser(grammar: str, start: str) -> Lark:
    path = directory("grammars") / f"{grammar}.lark"
    return cast("Any", Lark).open(
        str(path), start=start, parser="lalr", propagate_positions=True, maybe_placeholders=False
    )


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
