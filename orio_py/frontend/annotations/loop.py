"""Reads a Loop or CHiLL region: its recipe, the code to transform and the reference code.

The reference is the user's own code, also where a tuned file holds generated code beside it (`original_span`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Severity, fail
from orio_py.core.source import SourceFile, Span
from orio_py.ctree.emit import emit, indent_step
from orio_py.ctree.file_scope import FileScope, with_own_functions
from orio_py.ctree.nodes import Comment, Compound, Node, Transform, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.frontend.annotations.chill import StatementRecipe, read_statement_recipe
from orio_py.frontend.annotations.recipe import Recipe, marker_step, read_recipe
from orio_py.frontend.annotations.regions import RegionNode
from orio_py.spec.generated import CLOSE, ELSE, GENERATED_MARK, OPEN
from orio_py.spec.recipe import RecipeStep
from orio_py.spec.region import Region

_SKIP = re.compile(r"(?:\s|/\*(?!@)(?:[^*]|\*(?!/))*\*/)*")
_OWN_COMMENT = re.compile(re.escape(GENERATED_MARK) + r"(?:[^*]|\*(?!/))*\*/")


@dataclass(slots=True)
class LoopReader:
    """Reads the Loop and CHiLL regions of one file; `marks` are the spans of all its annotations.

    `outside` is the recipe for CHiLL regions that have none of their own, `sizes` are the input parameters: macros
    of these names are not expanded.
    """

    source: SourceFile
    marks: list[Span]
    outside: StatementRecipe | None = None
    sizes: frozenset[str] = frozenset()
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def read(self, node: RegionNode, near: FileScope, known: Collection[str] | None) -> Region | None:
        """The region, or None with its problems reported.

        `near` is what the region sees of its file.  `known` are the parameters of the specification (None: there is none), from which the recipe of
        a `#pragma orio loop` region is made up.  Problems: ORIO-A013 to A018, A020, C…, E…, S….
        """
        before = len(self.problems)
        try:
            region = self._read(node, near, known)
        except DiagnosticError as error:
            self.problems.extend(error.diagnostics)
            return None
        failed = any(p.severity is Severity.ERROR for p in self.problems[before:])
        return None if failed else region

    def _read(self, node: RegionNode, near: FileScope, known: Collection[str] | None) -> Region | None:
        for child in node.children:
            message = "the recipe of a nested region is not applied; its code belongs to the outer one"
            place = self.source.position(child.leader.span.start)
            self.problems.append(Diagnostic("ORIO-A017", message, place, severity=Severity.WARNING))
        if node.name == "CHiLL":
            return self._by_statement(node, near)
        recipe = read_recipe(self.source, node.leader.body)
        self.problems.extend(recipe.problems)
        keep = self._original(node)
        text = blanked(self.source, node.content, keep, [*self.marks, *near.unit.left_out(keep)])
        enclosed = self._parsed(text, node.content.start, near)
        written = _statements(enclosed)
        start = node.leader.body.start
        if recipe.has_code:
            tree = self._parsed(recipe.code, start, near, recipe.marks)
            plain = self._parsed(recipe.code, start, near)
            reference = enclosed if written else plain
        elif not written:
            self._error(
                "ORIO-A015", "this Loop region has no code, neither in its annotation nor behind it", node
            )
            return None
        else:
            if node.leader.is_marker:
                self._mark(recipe, node, enclosed, known)
            tree = _marked(enclosed, recipe.steps)
            reference = enclosed
        own = self.source.text[keep.start : keep.end] if written else emit(reference)
        return self._region(node, tree, tuple(recipe.steps), reference, own)

    def _by_statement(self, node: RegionNode, near: FileScope) -> Region | None:
        recipe = read_statement_recipe(self.source, node.leader.body)
        self.problems.extend(recipe.problems)
        if recipe.is_empty and self.outside is not None:
            recipe = self.outside
        keep = self._original(node)
        text = blanked(self.source, node.content, keep, [*self.marks, *near.unit.left_out(keep)])
        tree = self._parsed(text, node.content.start, near)
        if not _statements(tree):
            self._error("ORIO-A015", "this CHiLL region has no code behind its annotation", node)
            return None
        own = self.source.text[keep.start : keep.end]
        region = self._region(node, tree, tuple(recipe.steps), tree, own)
        return replace(region, by_statement=True, lists=tuple(recipe.lists))

    def _parsed(
        self, text: str, start: int, near: FileScope, marks: Mapping[int, int] | None = None
    ) -> Compound:
        found = parse_statements(
            text,
            source=self.source,
            start=start,
            typedefs=near.typedefs,
            marks=marks,
            macros={name: m for name, m in near.definitions.items() if name not in self.sizes},
        )
        return with_own_functions(found, near)

    def _original(self, node: RegionNode) -> Span:
        return original_span(self.source, node.content)

    def _mark(
        self, recipe: Recipe, node: RegionNode, enclosed: Compound, known: Collection[str] | None
    ) -> None:
        if known is None:
            return
        place = self.source.position(node.leader.span.start)
        step: RecipeStep = marker_step(enclosed, known, place)
        recipe.steps.append(step)

    def _region(
        self,
        node: RegionNode,
        tree: Compound,
        steps: tuple[RecipeStep, ...],
        reference: Compound,
        text: str,
    ) -> Region:
        start = node.leader.span.start
        line = self.source.text[self.source.text.rfind("\n", 0, start) + 1 : start]
        indent = re.match(r"[ \t]*", line)
        return Region(
            leader=node.leader.span,
            content=node.content,
            trailer=node.trailer,
            position=self.source.position(start),
            tree=tree,
            steps=steps,
            reference=reference,
            reference_text=text,
            indent=indent.group() if indent else "",
            step=indent_step(self.source.text),
        )

    def _error(self, code: str, message: str, node: RegionNode) -> None:
        place = self.source.position(node.leader.span.start)
        self.problems.append(Diagnostic(code, message, place))


def _is_statement(item: Node) -> bool:
    return not isinstance(item, (Comment, c_ast.EmptyStatement, c_ast.Pragma))


def _statements(tree: Compound) -> int:
    """How many statements a block has, without comments, pragmas and empty ones."""
    return sum(map(_is_statement, tree.block_items or []))


def _marked(tree: Compound, steps: Sequence[RecipeStep]) -> Compound:
    """The block with all steps on its statement; several statements become one block for that.

    Declarations at the beginning stay outside, so that they keep their scope.
    """
    items: list[Node] = list(tree.block_items or [])
    if not steps:
        return tree
    outside = (c_ast.Decl, c_ast.Typedef)
    first = next(
        (i for i, item in enumerate(items) if _is_statement(item) and not isinstance(item, outside)), 0
    )
    last = max(i for i, item in enumerate(items) if _is_statement(item))
    inner = items[first : last + 1]
    marked: Node = inner[0] if len(inner) == 1 else Compound(inner, coord=inner[0].coord)
    for index in range(len(steps) - 1, -1, -1):
        marked = Transform(index, marked, coord=steps[index].position)
    return Compound([*items[:first], marked, *items[last + 1 :]], coord=tree.coord)


def original_span(source: SourceFile, content: Span) -> Span:
    """The part of a region's content that the user wrote.

    It is all of it, or what stands between the `#else` and the `#endif` of the generated block, or what
    follows a generated comment that says that the original code stayed.
    Raises ORIO-A016 where such a block is damaged.
    """
    text = source.text
    skipped = _SKIP.match(text, content.start, content.end)
    opening = skipped.end() if skipped else content.start
    if not text.startswith(OPEN, opening) or opening + len(OPEN) > content.end:
        return _behind_remark(text, content)
    middle = text.find(ELSE, opening, content.end)
    closing = text.rfind(CLOSE, opening, content.end)
    position = source.position(opening)
    if middle < 0 or closing < middle:
        wanted = ELSE if middle < 0 else CLOSE
        fail("ORIO-A016", f"the generated block that begins here is damaged; expected `{wanted}`", position)
    if text[closing + len(CLOSE) : content.end].strip():
        fail("ORIO-A016", "there is code behind the generated block of this region", position)
    start = text.find("\n", middle, closing) + 1
    end = text.rfind("\n", middle, closing) + 1
    return Span(start, max(start, end))


def _behind_remark(text: str, content: Span) -> Span:
    remark = re.compile(rf"\s*{_OWN_COMMENT.pattern}[ \t\r]*\n?").match(text, content.start, content.end)
    return Span(remark.end(), content.end) if remark else content


def blanked(source: SourceFile, span: Span, keep: Span, marks: Sequence[Span]) -> str:
    """The text of `span` with blanks for all but `keep`, and for the annotations inside that."""
    text = source.text
    kept = list(text[keep.start : keep.end])
    drop = [mark for mark in marks if keep.contains(mark)]
    drop.extend(Span(*found.span()) for found in _OWN_COMMENT.finditer(text, keep.start, keep.end))
    for mark in drop:
        for index in range(mark.start - keep.start, mark.end - keep.start):
            if kept[index] not in "\r\n":
                kept[index] = " "
    return _blank(text[span.start : keep.start]) + "".join(kept) + _blank(text[keep.end : span.end])


def _blank(text: str) -> str:
    """Blanks of the same length; line ends stay."""
    return re.sub(r"[^\r\n]", " ", text)
