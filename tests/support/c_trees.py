"""Trees, contexts and annotated regions from C text, as tests want them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from orio_py.core.diagnostics import Diagnostic, has_errors
from orio_py.core.expr import Value
from orio_py.core.source import SourceFile
from orio_py.ctree.emit import emit
from orio_py.ctree.macros import Macro
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.symbols import declaration_of
from orio_py.ctree.unit.translation_unit import translation_unit
from orio_py.frontend.read import read
from orio_py.spec.task import TuningTask
from orio_py.transformation.base import Context
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.composite.composite import Composite
from orio_py.transformation.recipe import apply_recipe, check_recipe, context_for


def parse(text: str, macros: Mapping[str, Macro] | None = None) -> Compound:
    """The statements of `text` as a block; places are in the file `code.c`."""
    source = SourceFile("code.c", text.encode("latin-1"))
    return parse_statements(source.text, source=source, start=0, macros=macros)


def statement(text: str) -> Node:
    """The one statement of `text`."""
    items = parse(text).block_items
    assert items is not None
    assert len(items) == 1
    return items[0]


def context(declarations: str = "", *, live: str = "", **fields: object) -> Context:
    """A context with C declarations and a list of names that are read afterwards."""
    declared = {
        node.name: declaration_of(node)
        for node in parse(declarations).block_items or []
        if isinstance(node, c_ast.Decl) and node.name is not None
    }
    fields.setdefault("structures", translation_unit(declarations).structures)
    return Context(declarations=declared, live_after=frozenset(live.split()), **fields)  # type: ignore[arg-type]


def composite(**keys: object) -> Composite:
    """Composite with the values of its keys, as a recipe gives them."""
    made = TRANSFORMATIONS["Composite"].make(cast("dict[str, Value]", keys))
    assert isinstance(made, Composite)
    return made


def read_tasks(text: str, directory: Path = Path()) -> tuple[TuningTask, ...]:
    """The tasks of an annotated file without errors."""
    result = read(SourceFile("code.c", text.encode("latin-1")), directory=directory)
    assert not has_errors(result.diagnostics), [d.headline() for d in result.diagnostics]
    return result.tasks


def recipe_problems(text: str, known: str = "") -> tuple[Diagnostic, ...]:
    """What `check_recipe` says of every region of an annotated file."""
    tasks = read_tasks(text)
    names = frozenset(known.split())
    return tuple(d for task in tasks for region in task.regions for d in check_recipe(region, names))


def transformed_trees(text: str, values: Mapping[str, Value]) -> list[tuple[Compound, Compound]]:
    """Of each region of an annotated file: the user's code, and what the recipe makes of it."""
    return [
        (region.reference, apply_recipe(region, values, context_for(task, region)))
        for task in read_tasks(text)
        for region in task.regions
    ]


def transformed_file(text: str, values: Mapping[str, Value]) -> str:
    """An annotated file with the transformed code in place of each region's content."""
    for task in reversed(read_tasks(text)):
        for region in reversed(task.regions):
            tree = apply_recipe(region, values, context_for(task, region))
            code = emit(tree, indent=region.indent, step=region.step) + region.definitions
            text = text[: region.content.start] + "\n" + code + region.indent + text[region.content.end :]
    return text
