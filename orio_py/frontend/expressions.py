"""Parsing of expressions: text to `core.expr` trees whose nodes know their places."""

from __future__ import annotations

import re
from collections.abc import Callable

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import DiagnosticError, fail
from orio_py.core.expr import (
    FUNCTIONS,
    Binary,
    BoolOp,
    Call,
    Clause,
    Compare,
    Comprehension,
    Conditional,
    Expr,
    ListExpr,
    Literal,
    Name,
    Subscript,
    TupleExpr,
    Unary,
    Value,
    evaluate,
)
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.frontend.grammars import Parsed, offset, parse, rule_name
from orio_py.frontend.messages import expression_error

Locate = Callable[[int], Position | None]
"""Turns an offset in the parsed text into a place in the user's file."""

MAX_DEPTH = 120
MAX_DIGITS = 3900
MAX_LENGTH = 200_000
_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


_BARE = re.compile(r"-{0,2}[A-Za-z_][^()\[\]{}'\"]*")


def parse_expression(text: str, *, locate: Locate | None = None, position: Position | None = None) -> Expr:
    """Parse one right-hand side; `a, b` is a tuple.

    `locate` gives the place of each node; without it every node stands at `position`.
    Raises ORIO-E001, E003, E006, E007, E010.
    """
    where: Locate = locate if locate is not None else lambda _: position
    check_nesting(text, where)
    try:
        tree = parse("expression", "value", text)
    except UnexpectedInput as error:
        raise expression_error(error, text, where) from None
    return convert(tree, where)


def parse_value(text: str) -> Value:
    """Evaluate an expression without names.  Raises DiagnosticError: ORIO-E…."""
    return evaluate(parse_expression(text), {})


def parse_setting(text: str) -> Value:
    """The right side of `--set NAME=VALUE`: an expression without names, or bare text such as `-O3 -g` or `gpu`.

    Bare text begins with a letter, or with a minus sign and a letter, and has no brackets and no quotation
    marks.  Raises DiagnosticError: ORIO-E….

    >>> parse_setting("4"), parse_setting("True"), parse_setting("'4'"), parse_setting("-O3 -funroll-loops")
    (4, True, '4', '-O3 -funroll-loops')
    """
    try:
        return parse_value(text)
    except DiagnosticError:
        if _BARE.fullmatch(text):
            return text
        raise


def check_nesting(text: str, locate: Locate) -> None:
    """Refuse text whose brackets nest too deep to be worth parsing.  Raises ORIO-E006, E007."""
    if len(text) > MAX_LENGTH:
        fail(
            "ORIO-E006",
            f"the text is {len(text)} characters long; at most {MAX_LENGTH} are allowed",
            locate(0),
        )
    level = 0
    for match in re.finditer(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|[(\[{]|[)\]}]", text):
        first = match.group()[0]
        level += 1 if first in "([{" else -1 if first in ")]}" else 0
        if level > MAX_DEPTH:
            fail("ORIO-E007", f"brackets are nested more than {MAX_DEPTH} deep", locate(match.start()))


def convert(tree: Parsed | Token, locate: Locate) -> Expr:
    """The expression of a parse tree.  Raises ORIO-E003, E006, E007."""
    _check_depth(tree, locate)
    return _Converter(locate).expression(tree)


def _check_depth(tree: Parsed | Token, locate: Locate) -> None:
    stack: list[tuple[Parsed | Token, int]] = [(tree, 1)]
    while stack:
        node, level = stack.pop()
        if isinstance(node, Token):
            continue
        chained = len(node.children) // 2 if rule_name(node) == "arithmetic" else 0
        if level + chained > MAX_DEPTH + 30:
            fail("ORIO-E007", f"the expression is nested more than {MAX_DEPTH} deep", locate(offset(node)))
        stack.extend((child, level + 1 + chained) for child in node.children)


class _Converter:
    """Turns parse trees into expressions, with places from `locate`."""

    def __init__(self, locate: Locate) -> None:
        self.locate = locate

    def expression(self, node: Parsed | Token) -> Expr:
        if isinstance(node, Token):
            raise TypeError(f"a bare token {node!r} is no expression")
        place = self.locate(offset(node))
        rule = rule_name(node)
        match rule:
            case "number" | "string" | "true" | "false" | "none" | "name":
                return self._atom(rule, [str(token) for token in node.children], place)
            case "arithmetic":
                return self._arithmetic(node)
            case "comparison":
                return self._comparison(node, place)
            case "call":
                return self._call(node, place)
            case "comprehension":
                element, *clauses = _trees(node)
                return Comprehension(
                    self.expression(element), tuple(self._clause(clause) for clause in clauses), place
                )
            case "sign":
                sign, operand = node.children
                return Unary(str(sign), self.expression(operand), place)
            case _:
                return self._composed(rule, tuple(self.expression(child) for child in _trees(node)), place)

    def _composed(self, rule: str, parts: tuple[Expr, ...], place: Position | None) -> Expr:
        match rule:
            case "value":
                return parts[0]
            case "tuple":
                return TupleExpr(parts, place)
            case "list":
                return ListExpr(parts, place)
            case "or_chain" | "and_chain":
                return BoolOp(rule.removesuffix("_chain"), parts, place)
            case "negation":
                return Unary("not", parts[0], place)
            case "conditional":
                return Conditional(parts[1], parts[0], parts[2], place)
            case "subscript":
                return Subscript(parts[0], parts[1], place)
            case _:
                raise TypeError(f"rule {rule} has no meaning")

    def _atom(self, rule: str, tokens: list[str], place: Position | None) -> Expr:
        match rule:
            case "name":
                return Name(tokens[0], place)
            case "number":
                return Literal(_number(tokens[0], place), place)
            case "string":
                return Literal("".join(_string(token) for token in tokens), place)
            case _:
                return Literal({"true": True, "false": False, "none": None}[rule], place)

    def _arithmetic(self, node: Parsed) -> Expr:
        left = self.expression(node.children[0])
        for operator, right in zip(node.children[1::2], node.children[2::2], strict=True):
            left = Binary(str(operator), left, self.expression(right), self.locate(offset(operator)))
        return left

    def _comparison(self, node: Parsed, place: Position | None) -> Expr:
        first, *others = _trees(node)
        rest: list[tuple[str, Expr]] = []
        for operator, operand in zip(others[::2], others[1::2], strict=True):
            rest.append((_comparison_operator(operator), self.expression(operand)))
        return Compare(self.expression(first), tuple(rest), place)

    def _call(self, node: Parsed, place: Position | None) -> Expr:
        name = str(node.children[0])
        if name not in FUNCTIONS:
            fail("ORIO-E003", f"unknown function `{name}`", place, help=did_you_mean(name, FUNCTIONS))
        return Call(name, tuple(self.expression(child) for child in node.children[1:]), place)

    def _clause(self, node: Parsed) -> Clause:
        targets, iterable, *conditions = _trees(node)
        names = tuple(str(token) for token in targets.children)
        return Clause(names, self.expression(iterable), tuple(self.expression(c) for c in conditions))


def _trees(node: Parsed) -> list[Parsed]:
    return [child for child in node.children if isinstance(child, Tree)]


def _comparison_operator(node: Parsed) -> str:
    match rule_name(node):
        case "in_operator":
            return "in"
        case "not_in_operator":
            return "not in"
        case _:
            return str(node.children[0])


def _number(text: str, place: Position | None) -> int | float:
    if len(text) > MAX_DIGITS:
        fail("ORIO-E006", f"the number has {len(text)} digits; at most {MAX_DIGITS} are allowed", place)
    try:
        if re.fullmatch(r"0[xXbBoO].*|[\d_]+", text):
            return int(text, 10 if text.strip("0_") == "" or text[0] != "0" else 0)
        value = float(text)
    except ValueError:
        fail("ORIO-E001", f"`{text}` is not a number", place, help="integers have no leading zeros")
    if value in (float("inf"), float("-inf")):
        fail("ORIO-E006", f"`{text}` is too large for a floating-point number", place)
    return value


def _string(token: str) -> str:
    return re.sub(r"\\(x[0-9a-fA-F]{2}|[\s\S])", _escape, token[1:-1])


def _escape(match: re.Match[str]) -> str:
    body = match.group(1)
    if body[0] == "x" and len(body) == 3:
        return chr(int(body[1:], 16))
    if body in ("\\", "'", '"'):
        return body
    if body == "\n":
        return ""
    return _SIMPLE_ESCAPES.get(body, "\\" + body)
