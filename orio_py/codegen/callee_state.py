"""What functions called by the timed code keep from one call to the next: variables that it does not use itself.

The test program puts them back before each run, and compares them.  It reaches what is `static` in a function from
outside, so the kernel's file has that at file scope:

static int hits(void) { static int n; return n++; }

static int orio_hits_n; static int hits(void) {  return orio_hits_n++; }
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import pairwise

from orio_py.codegen import ctypes
from orio_py.codegen.extent import OF_THREADS, calls_of
from orio_py.codegen.members import record_of
from orio_py.codegen.variables import KernelVariable, Passing
from orio_py.ctree.file_scan import scan_file
from orio_py.ctree.lexer import Token, TokenKind, names_in, scan
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.ctree.structures import cannot_be_made, is_pointer, paths
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.spec.task import TuningTask

_TYPES = (c_ast.EnumeratorList, c_ast.Typedef)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def callee_variables(task: TuningTask, declared: Iterable[CDeclaration]) -> list[KernelVariable]:
    """The variables of file scope among those `declared` that can be put back, and those that are `static` in functions."""
    found = [_variable(task, d) for d in declared if _can_be_kept(task, d)]
    for function, variables in _static_locals(task).items():
        found += [_variable(task, d, function) for d in variables]
    return found


def _variable(task: TuningTask, declared: CDeclaration, owner: str = "") -> KernelVariable:
    is_array, yes = bool(declared.dimensions), True
    is_structure = declared.type in task.structures
    name = _outside(owner, declared.name) if owner else declared.name
    return KernelVariable(
        name,
        Passing.GLOBAL_ARRAY if is_array else Passing.GLOBAL_SCALAR,
        task.types.get(declared.type, declared.type),
        "",
        declared.dimensions,
        is_array,
        written=yes,
        compared=yes,
        live_in=yes,
        source=None,
        record=record_of(task, name, declared.type) if is_structure else None,
        keeps_value=yes,
        owner=owner,
    )


def _can_be_kept(task: TuningTask, declared: CDeclaration) -> bool:
    """Whether the test program knows how to compare a variable: it holds numbers, and no pointers."""
    if declared.pointers or declared.points_to_array or declared.qualifiers & {"const"}:
        return False
    kind, known = declared.type, task.structures
    if kind not in known:
        return kind in task.types or ctypes.is_arithmetic(kind)
    return cannot_be_made(known, kind) is None and not any(
        is_pointer(path[-1]) for path in paths(known, kind)
    )


def _static_locals(task: TuningTask) -> dict[str, tuple[CDeclaration, ...]]:
    """The `static` variables of the functions that the timed code calls, by function; those that can stand outside it."""
    near, found = task.surroundings, dict[str, tuple[CDeclaration, ...]]()
    for name in sorted(calls_of(task).functions):
        function = near.unit.functions[name].node
        every = [declaration_of(d) for d in walk(function.body) if isinstance(d, c_ast.Decl) and d.name]
        lasting = {d.name for d in every if "static" in d.storage}
        if not lasting or any(isinstance(part, _TYPES) for part in walk(function)):
            continue
        known = [*every, *(declaration_of(d) for d in near.unit.functions[name].parameters if _is_named(d))]
        moved = tuple(d for d in every if d.name in lasting and _can_stand_outside(task, d, known))
        names = {d.name for d in moved}
        edits = [_edits(text, name, names, lasting - names) for text in (near.before, near.after)]
        if [bool(each) for each in edits].count(True) == 1:
            found[name] = moved
    return found


def _is_named(node: Node) -> bool:
    return isinstance(node, c_ast.Decl) and node.name is not None


def _can_stand_outside(task: TuningTask, declared: CDeclaration, every: Sequence[CDeclaration]) -> bool:
    """Whether a variable of a function means the same at file scope; `every` are all that are declared in the function."""
    near = task.surroundings
    if declared.storage & OF_THREADS or not _can_be_kept(task, declared):
        return False
    fixed = near.macros.keys() | near.unit.enumerators.keys()
    mentioned = set(_NAME.findall(" ".join((*declared.dimensions, declared.initialiser or ""))))
    is_in_macro = any(declared.name in m.names for m in near.definitions.values() if not m.is_system)
    return mentioned <= fixed and not is_in_macro and [d.name for d in every].count(declared.name) == 1


def with_statics_outside(text: str, variables: Iterable[KernelVariable]) -> str:
    """The text with the variables that are `static` in functions at file scope; its lines stay where they are."""
    names: dict[str, set[str]] = {}
    for v in variables:
        if v.owner:
            names.setdefault(v.owner, set()).add(v.name.removeprefix(_outside(v.owner, "")))
    edits = [edit for function, own in names.items() for edit in _edits(text, function, own)]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _outside(function: str, name: str) -> str:
    """The name at file scope of what is `static` in a function."""
    return f"orio_{function}_{name}"


def _edits(
    text: str, function: str, names: Set[str], others: Set[str] = frozenset()
) -> list[tuple[int, int, str]]:
    """What brings `static` variables out of a function: offsets and new text; nothing if it is not there, or not so simple.

    It is not where they are declared together with `others`, which stay.
    """
    file = scan_file(text)
    found = [item for item in file.functions if item.name == function]
    tokens = list(scan(text, found[0].body, found[0].end)) if len(found) == 1 else []
    tokens = [t for t in tokens if t.kind is not TokenKind.COMMENT]
    if file.outline.unsure or any(t.kind in {TokenKind.DIRECTIVE, TokenKind.BAD} for t in tokens):
        return []
    statements = [s for s in _static_statements(tokens) if names_in(s) & names]
    declared = names_in(t for statement in statements for t in statement)
    if not statements or names - declared or others & declared:
        return []
    new = {t.start: _outside(function, t.text) for t in _uses(tokens, names)}
    moved = "".join(" ".join(new.get(t.start, t.text) for t in s) + " " for s in statements)
    spans = [(s[0].start, s[-1].end) for s in statements]
    edits = [(start, end, "\n" * text.count("\n", start, end)) for start, end in spans]
    renamed = (t for t in tokens if t.start in new and not any(a <= t.start < b for a, b in spans))
    return [
        (found[0].start, found[0].start, moved),
        *edits,
        *((t.start, t.end, new[t.start]) for t in renamed),
    ]


def _static_statements(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The declarations that begin with `static`, with their semicolons."""
    for at, (before, token) in enumerate(pairwise(tokens), 1):
        if token.is_name("static") and before.is_operator("{", "}", ";"):
            end = next((k for k in range(at, len(tokens)) if tokens[k].is_operator(";")), at)
            yield tokens[at : end + 1]


def _uses(tokens: Sequence[Token], names: Set[str]) -> Iterator[Token]:
    """The names where they are those of variables, and not of members."""
    for before, token in pairwise(tokens):
        if token.text in names and not before.is_operator(".", "->"):
            yield token
