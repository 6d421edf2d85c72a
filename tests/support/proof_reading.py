"""Regions of random code with their contexts: through the front end, or by a shorter way.

Reading a file takes longer than all else, most of it for the code around the region.  That code is
the same in each case up to its declarations, so that its part of the context can be put together here.
Every tenth case goes both ways, and the two contexts must agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from c_trees import parse, read_tasks
from proof_program import annotated_file, declarations, globals_of, parameters
from random_code import GLOBAL, Code

from orio_py.core.source import Position, SourceFile, Span
from orio_py.ctree.macros import Macro
from orio_py.ctree.nodes import c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.rewrite import walk
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.frontend.annotations.modules.loop import read_recipe
from orio_py.spec.assumptions import Assumptions
from orio_py.spec.recipe import MarkedRecipe
from orio_py.spec.region import Region
from orio_py.spec.task import TuningTask
from orio_py.transformation.base import Context
from orio_py.transformation.recipe import context_for


def through_the_front_end(code: Code, recipe: str, body: str) -> tuple[Region, Context]:
    """The region of the annotated file, and its context, as a user gets them."""
    task = _task(code, recipe, body)
    (region,) = task.regions
    return region, replace(context_for(task, region), assumptions=_promises(code))


def _task(code: Code, recipe: str, body: str) -> TuningTask:
    (task,) = read_tasks(annotated_file(code, recipe, body))
    return task


def directly(code: Code, text: str) -> tuple[Region, Context]:
    """The region whose recipe and code is `text`, and the context of a function made for it."""
    source = SourceFile("code.c", text.encode())
    recipe = read_recipe(source, Span(0, len(text)))
    tree = parse_statements(recipe.code, source=source, start=0, marks=recipe.marks, macros=_around()[1])
    nowhere = Span(0, 0)
    place = Position("code.c", 1, 1)
    marked = MarkedRecipe(tuple(recipe.steps))
    region = Region(nowhere, nowhere, nowhere, place, tree, marked, tree, text, "")
    outside = _declared(declarations(code).split("(void)")[0])
    arrays = "".join(f"{array.element} {array.name}[{GLOBAL}];" for array in globals_of(code))
    declared: dict[str, CDeclaration] = {
        **{name: replace(each, scope="global") for name, each in _declared(arrays).items()},
        **{
            name: replace(each, is_parameter=True, scope="parameter")
            for name, each in _declared(parameters(code).replace(",", ";") + ";").items()
        },
        **outside,
        **{d.name: declaration_of(d) for d in walk(tree) if isinstance(d, c_ast.Decl) and d.name},
    }
    live = frozenset(code.live) | {array.name for array in code.arrays}
    context = replace(
        _around()[0],
        declarations=declared,
        live_after=live,
        exposed=frozenset(array.name for array in globals_of(code)),
        assumptions=_promises(code),
    )
    return region, context


def same_context(one: Context, other: Context, variables: frozenset[str]) -> str:
    """What differs between two contexts; empty if nothing does.  Liveness counts for `variables`."""
    if {n: _essence(d) for n, d in one.declarations.items()} != {
        n: _essence(d) for n, d in other.declarations.items()
    }:
        return f"declarations: {one.declarations}\n{other.declarations}"
    if one.live_after & variables != other.live_after & variables:
        return f"live_after: {one.live_after}, {other.live_after}"
    for name in ("macros", "reserved", "exposed", "assumptions", "pragmas"):
        if getattr(one, name) != getattr(other, name):
            return f"{name}: {getattr(one, name)}, {getattr(other, name)}"
    return ""


def _essence(declared: CDeclaration) -> CDeclaration:
    return replace(declared, text="", initialiser=None)


def _promises(code: Code) -> Assumptions:
    return Assumptions(noalias=code.noalias, reassociate=code.reassociate)


@cache
def _declared(text: str) -> Mapping[str, CDeclaration]:
    nodes = parse(text).block_items or []
    return {node.name: declaration_of(node) for node in nodes if isinstance(node, c_ast.Decl)}


@cache
def _around() -> tuple[Context, Mapping[str, Macro]]:
    """The part of the context that all cases share, constants and reserved names, and their macros."""
    empty = Code((), (), (), (), (), (), ())
    task = _task(empty, "transform Pragma(pragma_str='')\n", "  for (;;) ;\n")
    return context_for(task, task.regions[0]), task.surroundings.definitions
