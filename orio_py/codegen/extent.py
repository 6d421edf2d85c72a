"""The timed part of a file: its text with other code in the regions, and what it reads and writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.source import SourceFile
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.rewrite import used_names, walk
from orio_py.ctree.symbols import CDeclaration, Effects, effects
from orio_py.ctree.unit.stores import Calls, calls_in, stores_of, with_macros
from orio_py.spec.task import TuningTask

OF_THREADS = frozenset({"_Thread_local", "__thread"})
"""The words for variables of which each thread has one."""

_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)


def extent_text(task: TuningTask, codes: Sequence[str]) -> str:
    """The file's text over the task's extent with `codes[k]` between the comments of region k."""
    pieces: list[str] = []
    at = task.extent.start
    for region, code in zip(task.regions, codes, strict=True):
        pieces.append(task.source.text[at : region.leader.end])
        pieces.append(code)
        at = region.trailer.start
    pieces.append(task.source.text[at : task.extent.end])
    return "".join(pieces)


def original_text(task: TuningTask) -> str:
    """The extent as the user wrote it: the reference code in every region."""
    return extent_text(task, [f"\n{region.reference_text}\n" for region in task.regions])


def original_codes(task: TuningTask) -> list[str]:
    """The reference code of every region, so that compilers name the lines that it has in the user's file."""
    name = _ascii(task.source.name.replace("\\", "\\\\").replace('"', '\\"'))
    codes: list[str] = []
    for region in task.regions:
        text = region.reference_text
        place = task.source.text.find(text, region.content.start) if text.strip() else -1
        if 0 <= place < region.trailer.start:
            first, last = (task.source.position(at).line for at in (place, region.trailer.start))
            text = f'#line {first} "{name}"\n{text}\n#line {last} "{name}"'
        codes.append(f"\n{text}\n")
    return codes


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")


def parse_extent(task: TuningTask) -> Compound | None:
    """The extent's original code as a tree, or None where it is more than statements."""
    text = _PREPROCESSOR.sub(_blank, original_text(task))
    source = SourceFile(task.source.name, text.encode("latin-1"))
    try:
        return parse_statements(text, source=source, start=0, typedefs=task.surroundings.typedefs)
    except DiagnosticError:
        return None


def extent_effects(task: TuningTask) -> Effects:
    """What the timed code reads, writes and calls, the annotations' own code included.

    Arrays that it hands to functions of the file count as written where these store to them, and so do its variables
    of file scope that such functions write.
    """
    trees, whole = _trees(task)
    found = effects(Compound(trees))
    if whole is not None:
        found = without(found, frozenset(_declared(whole)))
    calls = _calls_in(task, trees)
    near, specified = task.surroundings.declared, {d.name for d in task.inputs.declarations if d.dimensions}
    written = calls.variables & (found.reads | found.writes)
    arrays = {
        n for n in written | (calls.handed & found.escaping) if n in specified or _is_array(near.get(n))
    }
    return replace(found, writes=found.writes | written | arrays, array_writes=found.array_writes | arrays)


def calls_of(task: TuningTask) -> Calls:
    """What the calls in the timed code may change, as far as the bodies of the functions are known."""
    return _calls_in(task, _trees(task)[0])


def _calls_in(task: TuningTask, trees: Sequence[Node]) -> Calls:
    """What calls change; of variables those that have a name there, and of which threads have not one each."""
    near = task.surroundings
    found = calls_in(trees, with_macros(stores_of(near.unit), near.definitions, used_names(trees)))
    shared = {n for n, d in near.declared.items() if d.scope == "global" and not d.storage & OF_THREADS}
    return replace(found, variables=found.variables & (shared - near.unit.thread_private))


def _is_array(declared: CDeclaration | None) -> bool:
    return declared is not None and declared.is_array_like


def _trees(task: TuningTask) -> tuple[list[Node], Compound | None]:
    """The timed code: that of the annotations, and the whole extent as the user wrote it, where that is statements."""
    whole = parse_extent(task)
    rest = [whole] if whole is not None else [region.reference for region in task.regions]
    return [*(region.tree for region in task.regions), *rest], whole


def loop_indices(task: TuningTask) -> frozenset[str]:
    """The variables that the headers of the regions' loops assign."""
    trees = (tree for region in task.regions for tree in (region.tree, region.reference))
    starts = (node.init for tree in trees for node in walk(tree) if isinstance(node, c_ast.For))
    return frozenset(
        start.lvalue.name
        for start in starts
        if isinstance(start, c_ast.Assignment) and isinstance(start.lvalue, c_ast.ID)
    )


def without(found: Effects, names: frozenset[str]) -> Effects:
    """The effects less those on `names`."""
    return replace(
        found,
        reads=found.reads - names,
        writes=found.writes - names,
        array_reads=found.array_reads - names,
        array_writes=found.array_writes - names,
        scalar_reads=found.scalar_reads - names,
        scalar_writes=found.scalar_writes - names,
        address_taken=found.address_taken - names,
        reads_before_write=found.reads_before_write - names,
    )


def _declared(block: Compound) -> list[str]:
    from_items = [
        getattr(item, "name", None) for item in block.block_items or [] if type(item).__name__ == "Decl"
    ]
    return [name for name in from_items if isinstance(name, str)]


def _blank(match: re.Match[str]) -> str:
    if match[0].lstrip().startswith("#pragma"):
        return match[0]
    return re.sub(r"[^\n\r]", " ", match[0])
