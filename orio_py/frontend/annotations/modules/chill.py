"""CHiLL: the leader, or a recipe file, holds lists of values and commands on the numbered statements behind it.

    UF0[] = [1, 2, 5, 10];
    permute(0, ("k", "i", "j"))
    registers(0, "j")
    unroll(0, "j", UF0)

Here the commands are only taken apart; what they mean is known to `transformation.statements`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lark import Tree
from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, fail
from orio_py.core.expr import Expr, TupleExpr, evaluate
from orio_py.core.source import Position, SourceFile, Span
from orio_py.frontend.annotations.module import Annotation, CodeModule, RegionParts
from orio_py.frontend.expressions import check_nesting, convert
from orio_py.frontend.grammars import Parsed, error_offset, offset, parse, rule_name
from orio_py.frontend.messages import expression_error, found
from orio_py.frontend.tuning.values import check_name, parameter_values
from orio_py.spec.parameter import Parameter
from orio_py.spec.recipe import Argument, RecipeStep, StatementRecipe

_BLANK = re.compile(r"(?:[\s;]|#[^\n]*|//[^\n]*|\\(?=\r?\n))*")
_HEAD = re.compile(r"([A-Za-z_]\w*)\s*([(\[])")
_LIST = re.compile(r"[A-Za-z_]\w*\s*\[\s*\]\s*=\s*")
_STRINGS = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|\\\r?\n"
_TOKEN = re.compile(_STRINGS + r"|[(\[{]|[)\]}]|[;\n]")
_FORMS = 'a command such as `unroll(0, "i", 4)` or a list such as `UF[] = [1, 2, 4];`'


def read_statement_recipe(source: SourceFile, span: Span, problems: list[Diagnostic]) -> StatementRecipe:
    """Read a recipe by statement number; its lists are the parameters.

    Adds to `problems`: ORIO-A020, ORIO-S008 to S011, and those of expressions.
    """
    reader = _Reader(source, problems)
    for item in _items(source.text, span):
        try:
            reader.take(item)
        except DiagnosticError as error:
            problems.extend(error.diagnostics)
    return StatementRecipe(tuple(reader.steps), tuple(reader.lists))


def _read(annotation: Annotation) -> RegionParts:
    """Problems: ORIO-A015, A016, C…, and those of `read_statement_recipe`."""
    recipe = read_statement_recipe(annotation.source, annotation.leader.body, annotation.problems)
    if recipe == StatementRecipe() and annotation.recipe is not None:
        recipe = annotation.recipe
    if not annotation.has_code:
        fail("ORIO-A015", "this CHiLL region has no code behind its annotation", annotation.position)
    return RegionParts(annotation.enclosed, recipe, annotation.enclosed)


MODULE = CodeModule("CHiLL", _read)


@dataclass(frozen=True, slots=True)
class _Item:
    """A stretch of the text: a `command`, a `definition`, or what is neither; `start` is an offset in the file."""

    kind: str
    text: str
    start: int


def _items(text: str, span: Span) -> Iterator[_Item]:
    at = span.start
    while True:
        blank = _BLANK.match(text, at, span.end)
        at = blank.end() if blank else at
        if at >= span.end:
            return
        head = _HEAD.match(text, at, span.end)
        if head is not None and head[2] == "(":
            kind, end = "command", _end_of_command(text, head.start(2), span.end)
        elif head is not None:
            kind, end = "definition", _end_of_line(text, at, span.end)
        else:
            kind, end = "", _end_of_line(text, at, span.end)
        yield _Item(kind, text[at:end], at)
        at = end


def _end_of_command(text: str, opening: int, stop: int) -> int:
    """Behind the bracket that closes a command; without one, the end of its line."""
    level = 0
    for token in _TOKEN.finditer(text, opening, stop):
        level += _deeper(token.group())
        if level == 0:
            return token.end()
    return _end_of_line(text, opening + 1, stop)


def _end_of_line(text: str, start: int, stop: int) -> int:
    """The next `;` or line end that stands in no bracket, and behind the `=` of a list."""
    level = 0
    head = _LIST.match(text, start, stop)
    for token in _TOKEN.finditer(text, head.end() if head else start, stop):
        level += _deeper(token.group())
        if level <= 0 and token.group() in (";", "\n"):
            return token.start()
    return stop


def _deeper(mark: str) -> int:
    return 1 if mark in "([{" else -1 if mark in ")]}" else 0


@dataclass(slots=True)
class _Reader:
    source: SourceFile
    problems: list[Diagnostic]
    steps: list[RecipeStep] = field(default_factory=list[RecipeStep])
    lists: list[Parameter] = field(default_factory=list[Parameter])

    def take(self, item: _Item) -> None:
        """Read one command or list.  Raises DiagnosticError."""

        def locate(at: int) -> Position:
            return self.source.position(item.start + at)

        if not item.kind:
            fail("ORIO-A020", f"unexpected {found(item.text, 0)}; expected {_FORMS}", locate(0))
        check_nesting(item.text, locate)
        text = re.sub(r"\\(?=\r?\n)", " ", item.text)
        try:
            tree = parse("chill", item.kind, text)
        except UnexpectedInput as error:
            raise self._error(error, item, text) from None
        if item.kind == "command":
            self.steps.append(_Command(item.start, self.source).step(tree))
        else:
            self._define(tree, item)

    def _error(self, error: UnexpectedInput, item: _Item, text: str) -> DiagnosticError:
        at = error_offset(error, text)

        def locate(inside: int) -> Position:
            return self.source.position(item.start + inside)

        head = _HEAD.match(text)
        opening = head.start(2) if head else 0
        name = head[1] if head else ""
        if item.kind == "command" and not _is_closed(text, opening):
            message = f"the `(` after `{name}` is never closed; expected `)`"
            return DiagnosticError(Diagnostic("ORIO-A020", message, locate(opening)))
        if item.kind == "definition" and _LIST.match(text) is None:
            message = f"unexpected {found(text, at)} in the list `{name}`; the form is `{name}[] = [values];`"
            return DiagnosticError(Diagnostic("ORIO-A020", message, locate(at)))
        return expression_error(error, text, locate)

    def _define(self, tree: Parsed, item: _Item) -> None:
        name, value = tree.children
        place = self.source.position(item.start)
        check_name(str(name), place)
        earlier = next((p for p in self.lists if p.name == str(name)), None)
        if earlier is not None:
            note = Note("the first one is here", earlier.position)
            message = f"the list `{name}` is defined twice"
            raise DiagnosticError(Diagnostic("ORIO-S008", message, place, notes=(note,)))
        expression = convert(value, lambda at: self.source.position(item.start + at))
        values = parameter_values(str(name), evaluate(expression, {}), True, place, self.problems)
        self.lists.append(Parameter(str(name), values, place))


def _is_closed(text: str, opening: int) -> bool:
    level = 0
    for token in _TOKEN.finditer(text, opening):
        level += _deeper(token.group())
        if level == 0:
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Command:
    """Turns the parse tree of a command that starts at `start` into a step."""

    start: int
    source: SourceFile

    def step(self, tree: Parsed) -> RecipeStep:
        name, *arguments = tree.children
        given = [self._argument(child) for child in arguments if isinstance(child, Tree)]
        seen: dict[str, Argument] = {}
        for argument in given:
            if argument.name and argument.name in seen:
                note = Note("the first one is here", seen[argument.name].position)
                message = f"argument `{argument.name}` is given twice"
                raise DiagnosticError(Diagnostic("ORIO-A014", message, argument.position, notes=(note,)))
            seen[argument.name] = argument
        return RecipeStep(str(name), tuple(given), self._locate(0))

    def _argument(self, tree: Parsed) -> Argument:
        *name, operand = tree.children
        assert isinstance(operand, Tree)
        return Argument(str(name[0]) if name else "", self._operand(operand), self._locate(offset(tree)))

    def _operand(self, tree: Parsed) -> Expr:
        if rule_name(tree) != "braces":
            return convert(tree, self._locate)
        items = tuple(convert(child, self._locate) for child in tree.children)
        return TupleExpr(items, self._locate(offset(tree)))

    def _locate(self, at: int) -> Position:
        return self.source.position(self.start + at)
