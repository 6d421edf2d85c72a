"""Parses single statements of a specification."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import Expr
from orio_py.core.source import Position, SourceFile
from orio_py.frontend.expressions import check_nesting, convert
from orio_py.frontend.grammars import Parsed, error_offset, expected_terminals, offset, parse, rule_name
from orio_py.frontend.messages import expected, expression_error, found
from orio_py.frontend.tuning.split import BLOCKS, STATEMENTS, SectionStatement


@dataclass(frozen=True, slots=True)
class Definition:
    """`let`, `arg`, `param`, `constraint` or `option`: a name and an expression.

    `is_list` is True for `param NAME[] = …`.
    """

    keyword: str
    name: str
    expression: Expr
    position: Position
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Decl:
    """`decl WORDS.member[extent]… = text`; extents and text are C."""

    words: tuple[str, ...]
    members: tuple[str, ...]
    extents: tuple[str, ...]
    text: str | None
    position: Position
    name_position: Position


@dataclass(frozen=True, slots=True)
class Import:
    """`import spec NAME`."""

    name: str
    position: Position


Parsable = Definition | Decl | Import


def parse_statement(statement: SectionStatement, source: SourceFile) -> Parsable:
    """The parsed statement.  Raises ORIO-S001, S003, and what expressions raise."""

    def locate(at: int) -> Position:
        return source.position(statement.start + at)

    check_nesting(statement.text, locate)
    try:
        tree = parse("tuning_spec", "statement", statement.text)
    except UnexpectedInput as error:
        raise _error(error, statement, source) from None
    position = locate(0)
    match rule_name(tree):
        case "declaration":
            return _decl(tree, position, source, statement.start)
        case "import_spec":
            return Import(str(tree.children[0]), position)
        case rule:
            name, value = tree.children
            text = str(name)[1:-1] if rule == "option" else str(name)
            expression = convert(value, locate)
            return Definition(
                statement.keyword, text, expression, locate(offset(name)), is_list=rule == "parameters"
            )


def _decl(tree: Parsed, position: Position, source: SourceFile, start: int) -> Decl:
    words: list[Token] = []
    members: list[str] = []
    extents: list[str] = []
    text: str | None = None
    for child in tree.children:
        if isinstance(child, Tree):
            extents.append(str(child.children[0]).strip())
        elif child.type.endswith("C_TEXT"):
            text = str(child).strip()
        elif child.type.endswith("MEMBER"):
            members.append(str(child).lstrip(".->").strip())
        else:
            words.append(child)
    name_position = source.position(start + offset(words[-1]))
    return Decl(tuple(map(str, words)), tuple(members), tuple(extents), text, position, name_position)


def _error(error: UnexpectedInput, statement: SectionStatement, source: SourceFile) -> DiagnosticError:
    at = error_offset(error, statement.text)
    text = statement.text
    head = re.match(r"(\w+)\s+([\w\"'-]+)", text)
    title = f"`{head.group(1)} {head.group(2)}`" if head else f"`{statement.keyword}`"
    word = re.match(r"[A-Za-z_]\w*", text[at:])
    equal = text.find("=")
    if word is not None and word.group() in (*STATEMENTS, *BLOCKS) and 0 <= equal < at:
        end = len(text[:at].rstrip())
        message = f"expected `;` after the value of {title}, found `{word.group()}`"
        return DiagnosticError(Diagnostic("ORIO-S001", message, source.position(statement.start + end)))
    if 0 <= equal < at and text[:at].rstrip()[-1:] != "" and statement.keyword != "decl":
        return expression_error(error, text, lambda o: source.position(statement.start + o))
    wanted = expected(expected_terminals(error))
    message = f"unexpected {found(text, at)} in {title}; expected {wanted}"
    return DiagnosticError(
        Diagnostic(
            "ORIO-S003", message, source.position(statement.start + at), help=_FORMS.get(statement.keyword)
        )
    )


_FORMS = {
    "let": "the form is `let NAME = value;`",
    "arg": "the form is `arg NAME = value;`",
    "param": "the form is `param NAME[] = [values];` or `param NAME = value;`",
    "constraint": "the form is `constraint NAME = condition;`",
    "option": 'the form is `option "-x" = [values];`',
    "decl": "the form is `decl [static|dynamic] TYPE NAME[extent]… = value;`, or `NAME.MEMBER` of a structure",
    "import": "the form is `import spec NAME;`",
}
