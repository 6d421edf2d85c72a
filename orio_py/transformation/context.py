"""What the file around a region says that transformations need to know."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.dependence.scope import Constraint
from orio_py.ctree.effects import EffectsMemory, copied_pointers, subscript_depths
from orio_py.ctree.file_scope import (
    FileScope,
    FunctionHeader,
    callees_at,
    live_after,
    obstacles_at,
    surroundings,
)
from orio_py.ctree.known_functions import ALLOCATES_BY_ADDRESS, ALLOCATORS
from orio_py.ctree.lexer import TokenKind, scan
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import used_names, walk
from orio_py.ctree.structures import Structures
from orio_py.ctree.symbols import CDeclaration, Effects, declaration_of, effects
from orio_py.ctree.unit.callees import Callee
from orio_py.ctree.unit.value_ranges import facts_before
from orio_py.spec.inputs import Declaration
from orio_py.spec.parameter import Parameter
from orio_py.spec.region import Region
from orio_py.spec.task import TuningTask
from orio_py.transformation.base import Context
from orio_py.transformation.parallel.pragma_text import is_about_loop

_LOOP_REGION = re.compile(r"/\*@\s*begin\s+Loop\b")
_REGION_EDGE = re.compile(r"/\*@\s*(begin|end)\b")
_ALLOCATION = re.compile(rf"\s*(?:\([^()]*\)\s*)?(?:{'|'.join(sorted(ALLOCATORS))})\s*\(")
_INT_MAX = 2**31 - 1
_NAME = re.compile(r"[A-Za-z_]\w*")

_Uses = tuple[frozenset[str], frozenset[tuple[str, int]]]
"""The pointers that code copies, and how many subscripts it has behind which names."""


def context_for(task: TuningTask, region: Region) -> Context:
    """The context of a region's code: declarations, macros, and what is read after it."""
    extent = Span(region.leader.start, region.trailer.end)
    around = surroundings(task.source, extent, task.surroundings.unit)
    parameters = around.function.parameters if around.function is not None else ()
    inside = effects(region.tree)
    mentioned = _mentioned_sizes(task, around, used_names([region.tree]) - inside.writes)
    only = _only_values(task, around, mentioned)
    specified = {d.name: _from_specification(d, only) for d in task.inputs.all_declarations}
    # Of a parameter's memory the application decides, where sizes may differ that only the test program knows.
    inputs = (d for d in task.inputs.all_declarations if d.name not in _followed(region.tree))
    given = {d.name: _from_specification(d, {}) for d in inputs}
    outside = [_allocated_there(d, around, task.source.text) for d in around.globals]
    declared = specified | {d.name: _rebound(d, around, inside) for d in (*outside, *parameters)}
    copied = copied_pointers(region.tree), subscript_depths(region.tree)
    declared |= {d.name: _as_local(d, around, copied) for d in around.locals}
    kept = mentioned | frozenset(
        d.name
        for d in parameters
        if d.is_scalar and d.is_integer and d.name not in inside.writes | inside.address_taken
        if around.flow is not None and not around.flow.changes(d.name, around.inside)
    )
    for name in (d.name for d in parameters):
        promising = _promising(declared[name], kept)
        extended = _promising(_with_extent(promising, given.get(name)), kept)
        declared[name] = extended if extended.promised else promising
        declared[name] = replace(declared[name], copied=_copied(declared[name], around, copied))
    own = {d.name: declaration_of(d) for d in walk(region.tree) if isinstance(d, c_ast.Decl) and d.name}
    lasting = {name for name, d in own.items() if d.storage & {"static", "extern"}}
    # What blocks of the region hide stays known: `shadowing` gives the hiding variables names of their own.
    used = inside.reads | inside.writes | inside.address_taken
    declared |= {name: d for name, d in own.items() if name not in used or name not in declared}
    declared = {name: _with_type(d, task.types) for name, d in declared.items()}
    for name in around.unit.thread_private & declared.keys():
        declared[name] = replace(declared[name], storage=declared[name].storage | {"_Thread_local"})
    macro_names = frozenset({*around.macros, *around.function_macros})
    functions = callees_at(around, used_names([region.tree]))
    named = used_names([region.tree, *(function.body for function in functions.values())])
    return Context(
        declarations=declared,
        pragmas=tuple(filter(is_about_loop, region.pragmas)),
        live_after=live_after(around, named) | lasting,
        macros=around.macros,
        sizes=_undeclared_sizes(task, macro_names | declared.keys()),
        reserved=macro_names | around.typedefs,
        assumptions=task.assumptions,
        exposed=_addressed(around, declared) | {d.name for d in around.globals},
        has_openmp=task.build.has_openmp,
        only_here=_only_here(around, task.source.text, extent, functions),
        types=task.types,
        pointers=around.unit.named_types.pointers,
        structures=_structures(task),
        facts=_facts(around, inside, task.types),
        followed=_followed_before(around, inside),
        enumerators={name: value for name, value in around.unit.enumerators.items() if value is not None},
        functions=functions,
        obstacles=obstacles_at(around, used_names([region.tree]), functions),
        label=_label(around.function, task.source, region.leader.start),
        memory=_memory(declared),
    )


def _memory(declared: Mapping[str, CDeclaration]) -> EffectsMemory:
    """What remembers effects, and knows that `i` is no pointer in `*(p + i)` where that is declared."""
    return EffectsMemory(integers=frozenset(n for n, d in declared.items() if d.is_scalar and d.is_integer))


def _structures(task: TuningTask) -> Structures:
    """The members of structures, with extents as numbers."""
    macros = task.surroundings.macros
    return {
        name: tuple(_with_numbers(m, macros) for m in members) for name, members in task.structures.items()
    }


def _only_here(around: FileScope, text: str, region: Span, functions: Mapping[str, Callee]) -> frozenset[str]:
    """The function's local variables that it names outside of regions where it declares them, and nowhere else.

    With the internal functions that nothing but regions calls.
    """
    if around.function is None:
        return frozenset()
    everywhere, here = _mentions(text, around.function.span), _mentions(text, region)
    elsewhere = _mentions_in_regions(text, around.function.span).copy()
    for own in _regions(text, around.function.span):
        if region.start <= own.start < region.end:
            elsewhere.subtract(_mentions(text, own))
    inside = {d.name: here[d.name] + elsewhere[d.name] for d in around.locals}
    own = frozenset(name for name, count in inside.items() if everywhere[name] - count == 1)
    return own | _only_in_regions(functions, text)


def _only_in_regions(functions: Mapping[str, Callee], text: str) -> frozenset[str]:
    """The internal functions that a file names nowhere outside of regions, but where it defines them."""
    internal = {name for name, function in functions.items() if function.is_internal}
    if not internal:
        return frozenset()
    whole = Span(0, len(text))
    everywhere, inside = _mentions(text, whole), _mentions_in_regions(text, whole)
    return frozenset(name for name in internal if everywhere[name] - inside[name] <= 1)


@lru_cache(maxsize=8)
def _mentions_in_regions(text: str, function: Span) -> Counter[str]:
    """How often each name stands in the regions of a function."""
    found: Counter[str] = Counter()
    for region in _regions(text, function):
        found.update(_mentions(text, region))
    return found


@lru_cache(maxsize=8)
def _regions(text: str, function: Span) -> tuple[Span, ...]:
    """The outermost regions in a function."""
    found: list[Span] = []
    depth = start = 0
    for edge in _REGION_EDGE.finditer(text, function.start, function.end):
        begins = edge[1] == "begin"
        start = edge.start() if begins and depth == 0 else start
        depth += 1 if begins else -1
        if depth == 0:
            found.append(Span(start, edge.end()))
    return tuple(found)


@lru_cache(maxsize=4096)
def _mentions(text: str, span: Span) -> Counter[str]:
    """How often each name stands in a part of the file, preprocessor lines included."""
    tokens = scan(text, span.start, span.end)
    lines = (token.text for token in tokens if token.kind is TokenKind.DIRECTIVE)
    names = (token.text for token in tokens if token.kind is TokenKind.NAME)
    return Counter([*names, *(name for line in lines for name in _NAME.findall(line))])


def _undeclared_sizes(task: TuningTask, taken: frozenset[str]) -> Mapping[str, str]:
    """The input parameters whose names are not taken, with the types of their values."""
    return {p.name: _size_type(p) for p in task.inputs.parameters if p.name not in taken}


def _mentioned_sizes(task: TuningTask, around: FileScope, used: frozenset[str]) -> frozenset[str]:
    """The input parameters that nothing declares and that the code itself uses, so that it can be compiled with them alone."""
    initialisers = (local.initialiser or "" for local in around.locals)
    mentioned = {*used, *(name for text in initialisers for name in _NAME.findall(text))}
    return frozenset(
        p.name
        for p in task.inputs.parameters
        if p.name in mentioned and p.name not in around.declared
        if around.flow is None or not around.flow.changes(p.name, around.inside)
    )


def _only_values(task: TuningTask, around: FileScope, mentioned: frozenset[str]) -> Mapping[str, str]:
    """The input parameters of one value that the file knows nothing of: their names would mean nothing in its code."""
    known = {*mentioned, *around.declared, *around.macros}
    return {
        p.name: str(p.values[0])
        for p in task.inputs.parameters
        if p.name not in known and len(p.values) == 1 and type(p.values[0]) is int and p.values[0] > 0
    }


def _facts(around: FileScope, inside: Effects, types: Mapping[str, str]) -> tuple[Constraint, ...]:
    """What is known of variables of the function throughout the region, which does not change them."""
    parameters = around.function.parameters if around.function is not None else ()
    changed = inside.writes | inside.address_taken
    kept = {d.name: _with_type(d, types) for d in (*parameters, *around.locals) if d.name not in changed}
    return facts_before(around.flow, around.inside, kept) if around.flow is not None else ()


def _followed_before(around: FileScope, inside: Effects) -> frozenset[str]:
    """The pointers to structures that every way to the region follows, and that still point to these throughout the region."""
    if around.flow is None or inside.calls or inside.opaque:
        return frozenset()
    parameters = around.function.parameters if around.function is not None else ()
    changed = inside.scalar_writes | inside.address_taken
    return frozenset(
        d.name
        for d in (*parameters, *around.locals)
        if d.name not in changed and d.pointers == 1 and not d.dimensions
        if not d.storage & {"static", "extern"} and not around.flow.is_addressed(d.name, around.inside)
    ) & around.flow.followed_before(around.inside)


def with_inner_declarations(node: Node, context: Context) -> Context:
    """The context with what a statement declares; what is declared in two ways is of no known type."""
    declared: dict[str, CDeclaration] = {}
    others: set[str] = set()
    found = context.effects(node)
    outside = found.reads | found.writes | found.address_taken
    for part in walk(node):
        if isinstance(part, c_ast.Decl) and part.name is not None:
            here = declaration_of(part)
            outer = context.declarations.get(part.name) if part.name in outside else None
            other = declared.get(part.name, outer)
            same = other is None or other.type == here.type
            declared[part.name] = here if same else replace(here, type="void")
            is_mixed = part.name in outside and (outer is None or not _is_whole_number(outer))
            if is_mixed or not _is_whole_number(here):
                others.add(part.name)
    memory, numbers = context.memory, frozenset(declared.keys() - others)
    if not numbers <= memory.integers:
        memory = EffectsMemory(memory.dead, memory.integers | numbers)
    return replace(context, declarations={**context.declarations, **declared}, memory=memory)


def _is_whole_number(declared: CDeclaration) -> bool:
    return declared.is_scalar and declared.is_integer


def _size_type(size: Parameter) -> str:
    """The C type that an input parameter has in the test program."""
    if any(isinstance(value, float) for value in size.values):
        return "double"
    return "long" if any(isinstance(value, int) and value > _INT_MAX for value in size.values) else "int"


def _label(function: FunctionHeader | None, source: SourceFile, start: int) -> str:
    """A name for a region: its function's, with a number where others stand before it in the function.

    Other files may have static functions of one name.
    """
    if function is None:
        return "region"
    number = len(_LOOP_REGION.findall(source.text, function.span.start, start))
    stem = re.sub(r"\W", "_", Path(source.name).stem, flags=re.ASCII)
    name = f"{stem}_{function.name}" if function.static else function.name
    return f"{name}_r{number}" if number else name


def _with_type(declared: CDeclaration, types: Mapping[str, str]) -> CDeclaration:
    """The declaration with the type that a typedef's name stands for."""
    return replace(declared, type=types[declared.type]) if declared.type in types else declared


def _with_numbers(member: CDeclaration, macros: Mapping[str, str]) -> CDeclaration:
    """The member with extents as numbers where macros say them."""
    if not member.dimensions:
        return member
    numbers = [macros.get(extent, extent).strip() for extent in member.dimensions]
    extents = zip(member.dimensions, numbers, strict=True)
    return replace(member, dimensions=tuple(n if n.isdigit() else extent for extent, n in extents))


def _from_specification(declared: Declaration, sizes: Mapping[str, str]) -> CDeclaration:
    """What the specification declares; memory that it allocates has its elements, and no size of its own.

    `sizes` are names in its extents that stand for numbers.
    """
    is_allocated = declared.storage.is_allocated
    return CDeclaration(
        declared.name,
        declared.type,
        dimensions=tuple(_NAME.sub(lambda name: sizes.get(name[0], name[0]), d) for d in declared.dimensions),
        pointers=1 if is_allocated and not declared.dimensions else 0,
        scope="global",
        promised=is_allocated and bool(declared.dimensions),
    )


def _followed(code: Node) -> frozenset[str]:
    """The pointers to single structures: those in `x->member`, whatever the type is called."""
    arrows = (part for part in walk(code) if isinstance(part, c_ast.StructRef) and part.type == "->")
    return frozenset(part.name.name for part in arrows if isinstance(part.name, c_ast.ID))


def _with_extent(declared: CDeclaration, specified: CDeclaration | None) -> CDeclaration:
    """A parameter `T *x` or `T x[m]` as `T x[static n]`, where the specification says that it has n elements.

    Pointers to structures stay what they are: `x->member` is of a pointer.
    """
    if "struct" in declared.type.split():
        return declared
    # What stands in the brackets of a parameter promises nothing (C99 6.7.5.3p7).
    is_open = not declared.promised and declared.pointers + len(declared.dimensions) == 1
    if specified is None or not is_open or len(specified.dimensions) != 1 or not specified.dimensions[0]:
        return declared
    return replace(declared, dimensions=specified.dimensions, pointers=0, promised=True)


def _addressed(around: FileScope, declared: Mapping[str, CDeclaration]) -> frozenset[str]:
    """The variables whose address something may have; all of them in a function that nobody could read."""
    if around.flow is not None:
        pointers = {
            d.name
            for d in declared.values()
            if d.is_array_like and (d.scope == "parameter" or (d.pointers and not d.dimensions))
        }
        return around.flow.exposed_before(around.inside, pointers)
    return frozenset(declared) if around.function is not None else frozenset()


def _promising(declared: CDeclaration, kept: frozenset[str]) -> CDeclaration:
    """The declaration; its outermost extent counts only if it says the same where the region stands.

    What it is computed from has to be among the parameters that the function does not change, `kept`, and the
    parameter itself must still point where it did.
    """
    if not declared.promised:
        return declared
    names = set(_NAME.findall(declared.dimensions[0]))
    return replace(declared, promised=names <= kept and declared.scope == "parameter")


def _as_local(declared: CDeclaration, around: FileScope, inside: _Uses) -> CDeclaration:
    """The local variable, with what its function does to it: an array is told to be copied or not."""
    found = _allocated(declared, around)
    return replace(found, copied=_copied(found, around, inside)) if found.dimensions else found


def _allocated(declared: CDeclaration, around: FileScope) -> CDeclaration:
    """The local variable, marked if it is a pointer that nothing but allocations has set."""
    flow = around.flow
    if flow is None or declared.pointers == 0 or declared.dimensions or "static" in declared.storage:
        return declared
    is_known = around.unit.own_functions.isdisjoint({*ALLOCATORS, ALLOCATES_BY_ADDRESS})
    return replace(declared, allocated=is_known and flow.is_allocated(declared.name, around.inside))


def _allocated_there(declared: CDeclaration, around: FileScope, text: str) -> CDeclaration:
    """A pointer of a fragment without a function, marked if its declaration allocates and nothing else in the file sets it."""
    is_allocation = _ALLOCATION.match(declared.initialiser or "")
    if around.function is not None or declared.pointers != 1 or declared.dimensions or not is_allocation:
        return declared
    name, is_known = re.escape(declared.name), around.unit.own_functions.isdisjoint(ALLOCATORS)
    sets = rf"&\s*{name}\b|\b{name}\s*(?:[-+]?=(?!=)|\+\+|--)|(?:\+\+|--)\s*{name}\b"
    return replace(declared, allocated=is_known and len(re.findall(sets, text)) == 1)


def _copied(declared: CDeclaration, around: FileScope, inside: _Uses) -> bool:
    """Whether the function may copy the address that a `restrict` pointer to numbers holds, or that of an array or a row."""
    function = around.unit.functions.get(around.function.name) if around.function is not None else None
    depth = declared.pointers + len(declared.dimensions)
    if function is None or depth == 0 or declared.pointers > int(not declared.dimensions):
        return True
    copied, depths = inside
    rows = {(declared.name, number) for number in range(1, depth)}
    return declared.name in function.copied_pointers | copied or bool(
        rows & (function.subscript_depths | depths)
    )


def _rebound(declared: CDeclaration, around: FileScope, inside: Effects) -> CDeclaration:
    """The declaration; a pointer that the function sets anew counts as one of its own.

    It may point to where another one points by then, even a `restrict` one (C99 6.7.3.1).
    """
    if declared.scope == "local" or not declared.is_array_like:
        return declared
    flow = around.flow
    is_set = around.function is not None if flow is None else flow.sets_pointer(declared.name, around.inside)
    return replace(declared, scope="local") if is_set or declared.name in inside.scalar_writes else declared
