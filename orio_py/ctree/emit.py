"""Statement trees → C text: deterministic, laid out as a person would write it.

Lines are collected in a list, so long flat code costs linear time; depth is bounded by the parser.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any

from orio_py.ctree.emit_expression import (
    emit_argument,
    emit_condition,
    emit_declaration,
    emit_expression,
)
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, Transform, c_ast

__all__ = ["DEFAULT_STEP", "ambiguous_else", "emit", "emit_expression", "indent_step"]

DEFAULT_STEP = "  "
"""One level of indentation where the file does not show another."""

_OPENS = re.compile(r"(\{|\)|\belse|\bdo)\s*$")
_MARGIN = re.compile(r"[ \t]*")

_LINES = (Comment, c_ast.Pragma, GuardedPragma)


def emit(
    node: Node, *, indent: str = "", step: str = DEFAULT_STEP, newline: str = "\n", braces: bool = False
) -> str:
    """The C text of a statement.

    Every line starts with `indent` and ends with `newline`; `step` is one level of indentation.  The
    statements of a block come without its outer braces unless `braces` is True.
    Raises TypeError for nodes that are no part of a statement.
    """
    emitter = _Emitter(indent, step)
    if isinstance(node, Compound) and not braces:
        emitter.statements(node.block_items or [], 0)
    else:
        emitter.statement(node, 0)
    return "".join(line + newline for line in emitter.lines)


def ambiguous_else(node: c_ast.If) -> bool:
    """Whether the first branch needs braces to keep an `else` with its `if`, to C or to a reader."""
    inner: Node | None = node.iftrue
    while inner is not None:
        match inner:
            case c_ast.If(iftrue=then, iffalse=otherwise):
                # With an outer `else`, an inner `if` without one would take it; without an outer one,
                # compilers warn of an inner `else` (-Wdangling-else).
                if (otherwise is None) == (node.iffalse is not None):
                    return True
                inner = then if otherwise is None else otherwise
            case For() | c_ast.While() | c_ast.Label() | c_ast.Switch() | Transform():
                inner = inner.stmt
            case c_ast.Case() | c_ast.Default():
                inner = inner.stmts[-1] if inner.stmts else None
            case _:
                return False
    return False


class _Emitter:
    def __init__(self, indent: str, step: str) -> None:
        self.indent = indent
        self.step = step
        self.lines: list[str] = []
        self.commented = 0  # how many lines there were when the last one ended in a `//` comment

    def line(self, text: str, level: int) -> None:
        self.lines.append(self.indent + self.step * level + text)

    def statements(self, items: list[Node], level: int) -> None:
        for item in items:
            self.statement(item, level)

    def statement(self, node: Node, level: int) -> None:
        match node:
            case c_ast.Assignment():
                self.line(emit_expression(node) + ";", level)
            case Compound():
                self.line("{", level)
                self.statements(node.block_items or [], level + 1)
                self.line("}", level)
            case For() | c_ast.While() | c_ast.Switch():
                self.headed(_header(node), node.stmt, level)
            case c_ast.If():
                self.branch(node, level)
            case c_ast.DoWhile():
                self.do_while(node, level)
            case c_ast.Case() | c_ast.Default() | c_ast.Label():
                self.labelled(node, level)
            case Comment():
                self.comment(node, level)
            case c_ast.Pragma() | GuardedPragma():
                self.pragma(node, level)
            case Transform():
                self.line(f"#pragma orio_transform {node.step}", level)
                self.statement(node.stmt, level)
            case _:
                self.line(_simple(node), level)

    def headed(self, header: str, body: Node, level: int, *, close: str | None = None) -> None:
        """A header with its body; `close` is what follows a block's brace on the same line."""
        if isinstance(body, _LINES):
            body = Compound([body])
        if isinstance(body, Compound):
            self.line(header + " {", level)
            # A switch carries its labels one step to the left of its statements.
            self.statements(body.block_items or [], level + 1)
            self.line("}" if close is None else "} " + close, level)
        else:
            self.line(header, level)
            self.statement(body, level + 1)
            if close is not None:
                self.line(close, level)

    def branch(self, node: c_ast.If, level: int) -> None:
        header = ""
        current: Node | None = node
        while isinstance(current, c_ast.If):
            then = Compound([current.iftrue]) if ambiguous_else(current) else current.iftrue
            self.continued(header + f"if ({emit_condition(current.cond)})", then, level)
            header = "else "
            current = current.iffalse
        if current is not None:
            self.continued("else", current, level)

    def continued(self, header: str, body: Node, level: int) -> None:
        """One branch of an `if`; an `else` joins the closing brace before it."""
        joins = header.startswith("else") and self.lines[-1] == self.indent + self.step * level + "}"
        if joins:
            self.lines.pop()
        self.headed("} " + header if joins else header, body, level)

    def do_while(self, node: c_ast.DoWhile, level: int) -> None:
        self.headed("do", node.stmt, level, close=f"while ({emit_condition(node.cond)});")

    def labelled(self, node: Any, level: int) -> None:
        outer = max(level - 1, 0)
        if isinstance(node, c_ast.Label):
            self.line(f"{node.name}:", outer)
            self.statement(node.stmt, level)
            return
        label = f"case {emit_expression(node.expr)}:" if isinstance(node, c_ast.Case) else "default:"
        self.line(label, outer)
        self.statements(node.stmts, level)

    def comment(self, node: Comment, level: int) -> None:
        first, *rest = node.text.split("\n")
        last = self.lines[-1].lstrip() if self.lines else ""
        if node.trailing and last and not last.startswith("#") and self.commented != len(self.lines):
            margin = self.lines[-1][: len(self.lines[-1]) - len(last)]
            self.lines[-1] += " " + first
        else:
            margin = self.indent + self.step * level
            self.lines.append(margin + first)
        self.lines.extend(margin + line if line else "" for line in rest)
        if node.text.startswith("//"):
            self.commented = len(self.lines)

    def pragma(self, node: c_ast.Pragma | GuardedPragma, level: int) -> None:
        if isinstance(node.string, c_ast.Constant):
            self.line(f"_Pragma({node.string.value})", level)
            return
        guard = node.guard if isinstance(node, GuardedPragma) else None
        if guard is not None:
            self.line(f"#if {guard}", level)
        self.line(f"#pragma {node.string}".rstrip(), level)
        if guard is not None:
            self.line("#endif", level)


def _header(node: For | c_ast.While | c_ast.Switch) -> str:
    if not isinstance(node, For):
        word = "while" if isinstance(node, c_ast.While) else "switch"
        return f"{word} ({emit_condition(node.cond)})"
    init = _simple(node.init) if node.init is not None else ";"
    condition = f" {emit_condition(node.cond)}" if node.cond is not None else ""
    advance = f" {emit_expression(node.next)}" if node.next is not None else ""
    return f"for ({init}{condition};{advance})"


def _simple(node: Node) -> str:
    """A statement without parts that are statements, with its semicolon."""
    match node:
        case c_ast.Decl() | c_ast.Typedef() | c_ast.DeclList():
            return emit_declaration(node) + ";"
        case c_ast.Return(expr=value):
            return "return;" if value is None else f"return {emit_expression(value)};"
        case c_ast.Break():
            return "break;"
        case c_ast.Continue():
            return "continue;"
        case c_ast.Goto():
            return f"goto {node.name};"
        case c_ast.EmptyStatement():
            return ";"
        case c_ast.StaticAssert(cond=condition, message=message):
            text = emit_argument(condition)
            return (
                f"_Static_assert({text});"
                if message is None
                else (f"_Static_assert({text}, {emit_expression(message)});")
            )
        case _:
            return emit_expression(node) + ";"


@lru_cache(maxsize=4)
def indent_step(text: str) -> str:
    """One level of indentation in a C file, as its author writes it.

    It is what the lines after an opening brace or a loop header have more than that line.

    The most frequent difference counts; a tab is a step of its own.  Two blanks where nothing is nested.
    """
    found: Counter[str] = Counter()
    opening: str | None = None
    for line in text.splitlines():
        code = line.partition("//")[0].rstrip()
        if not code.strip() or code.lstrip().startswith(("#", "*")):
            continue
        margin = _margin(line)
        if opening is not None and margin.startswith(opening) and len(margin) > len(opening):
            step = margin[len(opening) :]
            if step == "\t" or (not step.strip(" ") and len(step) <= 8):
                found[step] += 1
        opening = margin if _OPENS.search(code) else None
    return found.most_common(1)[0][0] if found else DEFAULT_STEP


def _margin(line: str) -> str:
    match = _MARGIN.match(line)
    return match.group() if match else ""
