"""Loop: the recipe stands in C code, or before the code that follows the leader.

`read_recipe` takes the `transform` statements of an annotation out of the C code they stand in; `marker_step` makes up
the step of a `#pragma orio loop begin`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, fail
from orio_py.core.expr import Expr, ListExpr, Literal, Name, TupleExpr
from orio_py.core.source import Position, SourceFile, Span
from orio_py.ctree.nodes import Compound, For, Node, Transform, c_ast
from orio_py.frontend.annotations.enclosed import blank
from orio_py.frontend.annotations.module import Annotation, CodeModule, RegionParts, is_statement
from orio_py.frontend.expressions import check_nesting, convert
from orio_py.frontend.grammars import error_offset, offset, parse, rule_name
from orio_py.frontend.messages import expression_error, found
from orio_py.spec.recipe import Argument, MarkedRecipe, RecipeStep

_TILE_LEVELS = (1, 2)
_SWITCHES = (
    ("scalarreplace", "SCREP1", "double"),
    ("openmp", "OMP1", "omp parallel for"),
)

_TOKEN = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|#(?:[^\\\n]|\\\r?\n|\\)*"
    r"|\btransform\b(?=\s+[A-Za-z_])|\\(?=\r?\n)"
)
_DIRECTIVE = re.compile(
    r"#[ \t]*(?:pragma|if|ifdef|ifndef|elif|else|endif|define|undef|include|error|warning|line)\b"
)
_HEAD = re.compile(r"transform\s+([A-Za-z_]\w*)\s*")
_BRACKET = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()]")


def _read(annotation: Annotation) -> RegionParts:
    """Problems: ORIO-A013 to A016, A018, C…, E…."""
    body = annotation.leader.body
    text = read_recipe(annotation.source, body)
    annotation.problems.extend(text.problems)
    enclosed = annotation.enclosed
    steps = text.steps
    if text.has_code:
        tree = annotation.parsed(text.code, body.start, text.marks)
        return RegionParts(tree, MarkedRecipe(tuple(steps)), annotation.parsed(text.code, body.start))
    if annotation.leader.is_marker and annotation.known is not None and annotation.has_code:
        steps = [*steps, marker_step(enclosed, annotation.known, annotation.position)]
    return plain(annotation, steps)


def plain(annotation: Annotation, steps: Sequence[RecipeStep] = ()) -> RegionParts:
    """The code behind a leader, with steps on all of it.  Raises ORIO-A015, A016, C…."""
    if not annotation.has_code:
        name = annotation.leader.name
        message = f"this {name} region has no code, neither in its annotation nor behind it"
        fail("ORIO-A015", message, annotation.position)
    enclosed = annotation.enclosed
    return RegionParts(marked(enclosed, steps), MarkedRecipe(tuple(steps)), enclosed)


def marked(tree: Compound, steps: Sequence[RecipeStep], *, first: int = 0) -> Compound:
    """The block with all steps on its statement; several statements become one block for that.

    Declarations at the beginning stay outside, so that they keep their scope.  `first` is the index of the
    first step among those of the recipe.
    """
    items: list[Node] = list(tree.block_items or [])
    if not steps:
        return tree
    outside = (c_ast.Decl, c_ast.Typedef)
    begin = next(
        (i for i, item in enumerate(items) if is_statement(item) and not isinstance(item, outside)), 0
    )
    last = max(i for i, item in enumerate(items) if is_statement(item))
    inner = items[begin : last + 1]
    statement: Node = inner[0] if len(inner) == 1 else Compound(inner, coord=inner[0].coord)
    for index in range(len(steps) - 1, -1, -1):
        statement = Transform(first + index, statement, coord=steps[index].position)
    return Compound([*items[:begin], statement, *items[last + 1 :]], coord=tree.coord)


MODULE = CodeModule("Loop", _read)


@dataclass(slots=True)
class LoopText:
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


def read_recipe(source: SourceFile, body: Span) -> LoopText:
    """Split the text of a Loop annotation.  Problems: ORIO-A013, A014 and those of expressions."""
    text = source.text[body.start : body.end]
    recipe = LoopText(text)
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
            pieces.append(blank(text[match.start() : at]))
        elif first == "\\":
            pieces.append(" ")
        else:
            pieces.append(match.group())
    pieces.append(text[at:])
    recipe.code = "".join(pieces)
    return recipe


def _hash_line(text: str) -> str:
    """Directives stay; any other `# …` is a comment, kept as `//…` where that has the same length."""
    if _DIRECTIVE.match(text):
        return text
    return "//" + text[2:] if text[1:2] in (" ", "\t", "#") else blank(text)


def _transform(recipe: LoopText, source: SourceFile, base: int, start: int) -> int:
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


def marker_step(tree: Node, known: Collection[str], place: Position) -> RecipeStep:
    """The Composite step for the loops in `tree`, made up from the parameters that are defined (`known`).

    They have fixed names: `T1_I` and `T2_I` are the tile sizes of loop `i`, `U1_I` is its unroll factor, `SCREP1`,
    `VEC1` and `OMP1` switch scalar replacement, vectorisation and OpenMP on and off.
    Raises ORIO-A018 where no parameter is defined.
    """
    indices = list(dict.fromkeys(_indices(tree)))
    arguments: list[Argument] = []

    def add(name: str, value: Expr) -> None:
        arguments.append(Argument(name, value, place))

    tiles = [
        TupleExpr((Literal(outer), Name(f"T{level}_{index.upper()}", place), Literal(index * (level + 1))))
        for level in _TILE_LEVELS
        for index in indices
        for outer in (index * level,)
        if f"T{level}_{index.upper()}" in known
    ]
    if tiles:
        add("tile", ListExpr(tuple(tiles), place))
    unrolled = [index for index in indices if f"U1_{index.upper()}" in known]
    if unrolled:
        names = ListExpr(tuple(Literal(index) for index in unrolled), place)
        factors = ListExpr(tuple(Name(f"U1_{index.upper()}", place) for index in unrolled), place)
        add("unrolljam", TupleExpr((names, factors), place))
    for key, switch, text in _SWITCHES:
        if switch in known:
            add(key, TupleExpr((Name(switch, place), Literal(text)), place))
    if "VEC1" in known:
        pragmas = ListExpr((Literal("ivdep"), Literal("vector always")), place)
        add("vector", TupleExpr((Name("VEC1", place), pragmas), place))
    if not arguments:
        _nothing(indices, place)
    return RecipeStep("Composite", tuple(arguments), place)


def _nothing(indices: list[str], place: Position) -> None:
    wanted = [f"T1_{index.upper()}" for index in indices] + [f"U1_{index.upper()}" for index in indices]
    names = ", ".join([*wanted, "SCREP1", "VEC1", "OMP1"])
    fail(
        "ORIO-A018",
        "no parameter of the specification applies to this `#pragma orio loop` region",
        place,
        help=f"define some of {names} in `def performance_params`",
    )


def _indices(tree: Node) -> list[str]:
    """The index names of the loops in a tree, outermost first, found without recursion."""
    found: list[str] = []
    stack: list[Node] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, For) and (name := _index(node)) is not None:
            found.append(name)
        stack.extend(reversed([child for _, child in node.children()]))
    return found


def _index(loop: For) -> str | None:
    init = loop.init
    if isinstance(init, c_ast.DeclList):
        first = init.decls[0] if init.decls else None
        return str(first.name) if isinstance(first, c_ast.Decl) else None
    if isinstance(init, c_ast.Assignment) and isinstance(init.lvalue, c_ast.ID):
        return str(init.lvalue.name)
    return None
