"""The text of a Loop annotation: `transform` statements taken out of the C code they stand in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note
from orio_py.core.source import Position, SourceFile, Span
from orio_py.frontend.expressions import check_nesting, convert
from orio_py.frontend.grammars import error_offset, offset, parse, rule_name
from orio_py.frontend.messages import expression_error, found
from orio_py.spec.recipe import Argument, RecipeStep

_TOKEN = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|#(?:[^\\\n]|\\\r?\n|\\)*"
    r"|\btransform\b(?=\s+[A-Za-z_])|\\(?=\r?\n)"
)
_DIRECTIVE = re.compile(
    r"#[ \t]*(?:pragma|if|ifdef|ifndef|elif|else|endif|define|undef|include|error|warning|line)\b"
)
_HEAD = re.compile(r"transform\s+([A-Za-z_]\w*)\s*")
_BRACKET = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()]")


@dataclass(slots=True)
class Recipe:
    """The C code of an annotation with all else blanked, and its transformation steps.

    `marks` maps the offset of each `transform` in the file to its index in `steps`.
    """

    code: str
    steps: list[RecipeStep] = field(default_factory=list[RecipeStep])
    marks: dict[int, int] = field(default_factory=dict[int, int])
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])

    @property
    def has_code(self) -> bool:
        """Whether anything but comments and `;` is left beside the `transform` statements."""
        return re.sub(r"//[^\n]*|[\s;]+", "", self.code) != ""


def read_recipe(source: SourceFile, body: Span) -> Recipe:
    """Split the text of a Loop annotation.  Problems: ORIO-A013, A014 and those of expressions."""
    text = source.text[body.start : body.end]
    recipe = Recipe(text)
    pieces: list[str] = []
    at = 0
    while (match := _TOKEN.search(text, at)) is not None:
        pieces.append(text[at : match.start()])
        at = match.end()
        first = match.group()[0]
        if first == "#":
            pieces.append(_hash_line(match.group()))
        elif first == "t":
            at = _transform(recipe, source, body.start, match.start())
            pieces.append(_blank(text[match.start() : at]))
        elif first == "\\":
            pieces.append(" ")
        else:
            pieces.append(match.group())
    pieces.append(text[at:])
    recipe.code = "".join(pieces)
    return recipe


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def _hash_line(text: str) -> str:
    """Directives stay; any other `# …` is a comment, kept as `//…` where that has the same length."""
    if _DIRECTIVE.match(text):
        return text
    return "//" + text[2:] if text[1:2] in (" ", "\t", "#") else _blank(text)


def _transform(recipe: Recipe, source: SourceFile, base: int, start: int) -> int:
    """Read the statement at `start`; the result is the offset behind it."""
    text = recipe.code
    place = source.position(base + start)
    head = _HEAD.match(text, start)
    name, opening = (head.group(1), head.end()) if head else ("", start)
    if text[opening : opening + 1] != "(":
        here = found(text, opening)
        message = f"expected `(` after `transform {name}`, found {here}"
        recipe.problems.append(Diagnostic("ORIO-A013", message, source.position(base + opening)))
        return opening
    closing = _matching(text, opening)
    if closing is None:
        message = f"the `(` after `transform {name}` is never closed; expected `)`"
        recipe.problems.append(Diagnostic("ORIO-A013", message, source.position(base + opening)))
        return len(text)
    try:
        arguments = _arguments(source, text[opening + 1 : closing], base + opening + 1)
    except DiagnosticError as error:
        recipe.problems.extend(error.diagnostics)
        arguments = ()
    recipe.marks[base + start] = len(recipe.steps)
    recipe.steps.append(RecipeStep(name, arguments, place))
    separator = re.compile(r"\s*;").match(text, closing + 1)
    return separator.end() if separator else closing + 1


def _matching(text: str, opening: int) -> int | None:
    level = 0
    for match in _BRACKET.finditer(text, opening):
        level += {"(": 1, ")": -1}.get(match.group(), 0)
        if level == 0:
            return match.start()
    return None


def _arguments(source: SourceFile, text: str, start: int) -> tuple[Argument, ...]:
    """The `name=value` list.  Raises ORIO-A013, A014, and what expressions raise."""

    def locate(at: int) -> Position:
        return source.position(start + at)

    check_nesting(text, locate)
    blanked = re.sub(r"\\(?=\r?\n)", " ", text)
    try:
        tree = parse("loop_recipe", "arguments", blanked)
    except UnexpectedInput as error:
        at = error_offset(error, blanked)
        previous = blanked[:at].rstrip()[-1:]
        if previous in ("", ",") and not re.match(r"[A-Za-z_]", blanked[at:]):
            message = f"expected an argument `name=value`, found {found(blanked, at)}"
            raise DiagnosticError(Diagnostic("ORIO-A013", message, locate(at))) from None
        raise expression_error(error, blanked, locate) from None
    result: dict[str, Argument] = {}
    for child in tree.children:
        if isinstance(child, Token) or rule_name(child) != "argument":
            continue
        name, value = child.children
        if not isinstance(value, Tree):
            continue
        place = locate(offset(name))
        if str(name) in result:
            note = Note("the first one is here", result[str(name)].position)
            message = f"argument `{name}` is given twice"
            raise DiagnosticError(Diagnostic("ORIO-A014", message, place, notes=(note,)))
        result[str(name)] = Argument(str(name), convert(value, locate), place)
    return tuple(result.values())
