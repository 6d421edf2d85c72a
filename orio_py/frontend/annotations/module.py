"""What an annotation module is, what it is given of a region, and what it makes of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.source import Position, SourceFile, Span
from orio_py.ctree.emit import emit, indent_step
from orio_py.ctree.file_scope import FileScope, with_file_names
from orio_py.ctree.lexer import scan
from orio_py.ctree.macros import Macro, definitions_in
from orio_py.ctree.nodes import Comment, Compound, Node, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.frontend.annotations.enclosed import blanked, is_body, original_span, pragmas_before
from orio_py.spec.recipe import Recipe, StatementRecipe
from orio_py.spec.region import Region


@dataclass(frozen=True, slots=True)
class Leader:
    """An opening annotation."""

    name: str
    """The module's."""
    span: Span
    """The whole comment or pragma."""
    body: Span
    """The text in parentheses, which is the module's own language."""
    is_marker: bool = False
    """Whether it is a `#pragma orio loop begin`, whose recipe is made up from the parameters."""

    @property
    def is_broken(self) -> bool:
        """Whether this stands for a leader that was reported already, to be closed by its trailer."""
        return not self.name


@dataclass(frozen=True)
class Annotation:
    """A leader with the code behind it, as a module reads it."""

    source: SourceFile
    leader: Leader
    trailer: Span
    """The closing annotation."""
    marks: Sequence[Span]
    """All annotations of the file: they are no code."""
    near: FileScope
    """What the region sees of its file: types, macros, functions."""
    known: Collection[str] | None = None
    """The parameters of the specification; None where there is no specification."""
    recipe: StatementRecipe | None = None
    """The recipe file that the caller gave, for regions without a recipe of their own."""
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    """Takes what is wrong and is not raised."""
    sizes: frozenset[str] = frozenset()
    """The input parameters: macros of these names are not expanded."""
    inner: Annotation | None = None
    """The Loop region between leader and trailer, for modules that go around one."""

    @property
    def position(self) -> Position:
        """Where the leader begins."""
        return self.source.position(self.leader.span.start)

    @property
    def content(self) -> Span:
        """What stands between the two comments."""
        return Span(self.leader.span.end, self.trailer.start)

    @cached_property
    def own(self) -> Span:
        """The part of the content that the user wrote.  Raises ORIO-A016."""
        return original_span(self.source, self.content)

    @cached_property
    def enclosed(self) -> Compound:
        """The user's code behind the leader.  Raises ORIO-A016, C…."""
        return self.parsed(self._compiled, self.content.start)

    @cached_property
    def _compiled(self) -> str:
        """The content as far as the user wrote it and it is compiled."""
        left_out = self.near.unit.left_out(self.own)
        return blanked(self.source, self.content, self.own, [*self.marks, *left_out])

    @cached_property
    def _macros(self) -> Mapping[str, Macro]:
        """The macros that are defined where the region begins."""
        unit = self.near.unit
        return unit.macros_at(unit.place_of(self.leader.span))

    @property
    def definitions(self) -> str:
        """The preprocessor lines for macros in the user's code."""
        return "".join(f"{line.text}\n" for _, line in definitions_in(scan(self._compiled)))

    @property
    def has_code(self) -> bool:
        """Whether the user wrote any statement behind the leader.  Raises as `enclosed`."""
        return any(map(is_statement, self.enclosed.block_items or []))

    def parsed(self, text: str, start: int, marks: Mapping[int, int] | None = None) -> Compound:
        """C code that stands at an offset of the file; `marks` as for `parse_statements`.  Raises ORIO-C…."""
        found = parse_statements(
            text,
            source=self.source,
            start=start,
            typedefs=self.near.typedefs,
            marks=marks or {},
            macros={name: m for name, m in self._macros.items() if name not in self.sizes},
        )
        return with_file_names(found, self.near)

    def region(self, parts: RegionParts) -> Region:
        """The region with the parts that its module has read."""
        start = self.leader.span.start
        indent = re.compile(r"[ \t]*").match(
            self.source.text, self.source.text.rfind("\n", 0, start) + 1, start
        )
        own = self.source.text[self.own.start : self.own.end]
        return Region(
            leader=self.leader.span,
            content=self.content,
            trailer=self.trailer,
            position=self.position,
            tree=parts.tree,
            recipe=parts.recipe,
            reference=self.enclosed if self.has_code else parts.reference,
            reference_text=own if self.has_code else emit(parts.reference),
            indent=indent.group() if indent else "",
            pragmas=pragmas_before(self.source.text, start, self.near.unit),
            is_body=is_body(self.source.text, start, sum(map(is_statement, self.enclosed.block_items or []))),
            step=indent_step(self.source.text),
            definitions=self.definitions,
        )


def is_statement(item: Node) -> bool:
    """Whether an item of a block is more than a comment, a pragma or a `;`."""
    return not isinstance(item, (Comment, c_ast.EmptyStatement, c_ast.Pragma))


@dataclass(frozen=True, slots=True)
class RegionParts:
    """What a module reads from an annotation."""

    tree: Compound
    """The code to transform."""
    recipe: Recipe
    """How it is transformed, with the parameters that the annotation defines."""
    reference: Compound
    """What the region has to compute, where no code stands behind the leader that says so."""


@dataclass(frozen=True, slots=True)
class CodeModule:
    """A module whose regions hold code to transform."""

    name: str
    read: Callable[[Annotation], RegionParts]
    """Raises DiagnosticError; problems that do not end the reading go to those of the annotation."""
    around: bool = False
    """Whether its regions may hold a Loop region, whose recipe is applied, too."""


@dataclass(frozen=True, slots=True)
class TuningModule:
    """A module whose regions hold a specification, and the regions with code that it is for."""

    name: str


@dataclass(frozen=True, slots=True)
class PlainModule:
    """A module without effect: the text in its regions is kept as it is."""

    name: str


@dataclass(frozen=True, slots=True)
class MissingModule:
    """A module that Orio once had and that is not available here."""

    name: str
    instead: str = ""
    """The module to use in its place, if there is one."""
    recipe: str = ""
    """What does the same there, if anything."""

    def advice(self, names: Sequence[str]) -> str:
        """What to use in its place; `names` are the modules there are."""
        if not self.instead:
            return f"available modules: {', '.join(names)}"
        return f"use `{self.instead}`" + (f" with a recipe such as `{self.recipe}`" if self.recipe else "")


Module = CodeModule | TuningModule | PlainModule | MissingModule
"""What the name in a leader can stand for."""
