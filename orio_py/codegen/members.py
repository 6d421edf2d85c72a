"""What pointers in structures point to, as variables of their own.

struct csr { int n; int *row; double *val; } *A;     A, with A.row and A.val beside it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.codegen.extent import extent_effects, parse_extent
from orio_py.codegen.records import Record, levels_of, place_of, shown
from orio_py.codegen.variables import KernelVariable, Passing
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.ctree.dependence.names import names_of, references
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.ctree.structures import Members, is_pointer
from orio_py.spec.inputs import Declaration
from orio_py.spec.members import holder_of, path_of, uses_of
from orio_py.spec.task import TuningTask


def with_members(task: TuningTask, variables: Sequence[KernelVariable]) -> tuple[KernelVariable, ...]:
    """The variables, with the values of their members, and behind them what pointers in structures point to.

    Raises DiagnosticError ORIO-M002 for a pointer that the timed code follows and nobody has declared.
    """
    found = {v.name: v for v in variables}
    if not any(v.record for v in variables):
        return tuple(variables)
    declared = {d.name: d for d in task.inputs.members}
    written = _written(task)
    if written is not None:
        for v in variables:
            if v.record:
                found[v.name] = replace(v, written=v.written and v.name in written)
    for spec in sorted(declared.values(), key=lambda d: d.name.count(".")):
        holder, path = found.get(holder_of(task, spec.name)), path_of(task, spec.name)
        if holder is None or not path:
            continue
        if is_pointer(path[-1]):
            found[spec.name] = _pointed_to(task, holder, spec, written is None or spec.name in written)
        elif spec.initialiser is not None:
            value = (spec.name.removeprefix(f"{holder.name}."), spec.initialiser)
            found[holder.name] = replace(holder, values=(*holder.values, value))
    _check_followed(task, found)
    return tuple(found.values())


def record_of(task: TuningTask, name: str, kind: str) -> Record:
    """The structure that a variable is, or points to; what the specification declares of unions is what they hold."""
    chosen: set[Members] = set()
    for spec in task.inputs.members:
        if spec.name.startswith(f"{name}.") and holder_of(task, spec.name) == name:
            path = path_in(task, name, spec.name)
            chosen.update(path[:end] for end, member in enumerate(path, 1) if member.overlaid)
    return Record(kind, task.structures, frozenset(chosen))


def path_in(task: TuningTask, holder: str, path: str) -> Members:
    """The members on a path behind its holder."""
    return path_of(task, path)[len(path_of(task, holder)) :]


def _pointed_to(task: TuningTask, holder: KernelVariable, spec: Declaration, written: bool) -> KernelVariable:
    around = path_in(task, holder.name, spec.name)[:-1]
    return KernelVariable(
        spec.name,
        Passing.MEMBER,
        spec.type,
        "",
        (
            *(extent for extent in holder.dimensions if extent != "1"),
            *(extent for member in around for extent in member.dimensions),
            *spec.dimensions,
        ),
        is_array=True,
        written=written,
        compared=True,
        live_in=True,
        source=spec,
        record=record_of(task, spec.name, spec.type) if spec.type in task.structures else None,
    )


def _timed(task: TuningTask) -> list[Node]:
    whole = parse_extent(task)
    trees: list[Node] = [region.tree for region in task.regions]
    return [*trees, *([whole] if whole is not None else (region.reference for region in task.regions))]


def _written(task: TuningTask) -> frozenset[str] | None:
    """The structures that the timed code writes, and the members to which it writes by following them.

    None where it may write through copies of pointers.
    """
    trees, effects = _timed(task), extent_effects(task)
    declared = task.surroundings.declared
    sets = any(n in declared and declared[n].pointers for n in effects.scalar_writes)
    if sets or effects.opaque or effects.calls or effects.address_taken or any(map(_has_pointers, trees)):
        return None
    uses = frozenset(
        use.path if use.follows else holder_of(task, use.path)
        for use in uses_of(task, trees)
        if use.is_written
    )
    wholes = (
        found.name
        for tree in trees
        for found, _, is_written in references(tree, names_of(tree, declared))
        if is_written and "." not in found.name
    )
    return uses.union(wholes)


def _has_pointers(tree: Node) -> bool:
    """Whether a tree declares pointers."""
    return any(
        isinstance(part, c_ast.Decl) and any(isinstance(p, c_ast.PtrDecl) for p in walk(part.type))
        for part in walk(tree)
    )


def _check_followed(task: TuningTask, found: dict[str, KernelVariable]) -> None:
    """Report pointers that are followed and lead nowhere."""
    problems: dict[str, Diagnostic] = {}
    for use in uses_of(task, _timed(task)):
        if is_pointer(use.member) and holder_of(task, use.path) in found and use.path not in found:
            message = f"the extent of `{use.path}` is not known"
            help_text = f"declare it in input_vars: `{example(use.path, use.member.type)}`"
            problems.setdefault(use.path, Diagnostic("ORIO-M002", message, use.position, help=help_text))
    if problems:
        raise DiagnosticError(*problems.values())


def example(path: str, kind: str) -> str:
    """A declaration of what a pointer in a structure points to."""
    return f"decl {kind} {path}[N] = random;"


@dataclass(frozen=True, slots=True)
class Link:
    """A pointer in each of the structures `owner`, numbers in the test program's table as `member` is.

    `setup` are the statements that describe it; `is_given` says that `init_input_vars()` allocates what it points to.
    """

    owner: int
    member: int
    setup: tuple[str, ...]
    is_given: bool


def links(task: TuningTask, variables: Sequence[KernelVariable]) -> tuple[Link, ...]:
    """The pointers in structures, outer ones first."""
    places = {v.name: place for place, v in enumerate(variables)}
    found: list[Link] = []
    for v in variables:
        if v.passing is Passing.MEMBER and v.source is not None:
            holder = variables[places[holder_of(task, v.name)]]
            number = len(found)
            path = path_in(task, holder.name, v.name)
            setup = _setup(f"orio_links[{number}]", holder, path, v.source)
            is_given = task.inputs.init_file is not None and v.source.initialiser is None
            found.append(Link(places[holder.name], places[v.name], setup, is_given))
    return tuple(found)


def _setup(link: str, holder: KernelVariable, path: Members, spec: Declaration) -> tuple[str, ...]:
    member = path[-1]
    own = 0 if member.points_to_array else len(member.dimensions)
    extents = spec.dimensions[own:]
    if member.points_to_array:
        extents = (" * ".join(f"(size_t)({extent})" for extent in extents),)
    levels = levels_of(holder.type, path, "sizeof(void *)")
    slots = " * ".join(count for count, _ in levels)
    return (
        f"{link}.orio_offset = {place_of(holder.type, path)};",
        f"{link}.orio_slots = {slots or 1};",
        f"{link}.orio_depth = {len(extents)};",
        *(f"{link}.orio_extents[{place}] = (size_t)({extent});" for place, extent in enumerate(extents)),
        *(
            f"{link}.orio_levels[{place}][{side}] = {text};"
            for place, level in enumerate(levels)
            for side, text in enumerate(level)
        ),
        f"{link}.orio_level_count = {len(levels)};",
    )


def linked(task: TuningTask, variables: Sequence[KernelVariable], holder: KernelVariable) -> frozenset[str]:
    """The members of a structure that point to variables, by their paths in it."""
    return frozenset(
        shown(path_in(task, holder.name, v.name))
        for v in variables
        if v.passing is Passing.MEMBER and holder_of(task, v.name) == holder.name
    )
