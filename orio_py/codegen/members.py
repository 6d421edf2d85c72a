"""What pointers in structures point to, as variables of their own.

struct csr { int n; int *row; double *val; } *A;     A, with A.row and A.val beside it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.codegen.extent import extent_effects, parse_extent
from orio_py.codegen.variables import KernelVariable, Passing
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.ctree.dependence.names import names_of, references
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.ctree.structures import is_pointer
from orio_py.spec.inputs import Declaration
from orio_py.spec.members import member_at, owner_of, uses_of
from orio_py.spec.task import TuningTask


def with_members(task: TuningTask, variables: Sequence[KernelVariable]) -> tuple[KernelVariable, ...]:
    """The variables, with the values of their members, and behind them what pointers in structures point to.

    Raises DiagnosticError ORIO-M002 for a pointer that the timed code follows and nobody has declared.
    """
    found = {v.name: v for v in variables}
    if not any(v.members for v in variables):
        return tuple(variables)
    declared = {d.name: d for d in task.inputs.members}
    written = _written(task)
    if written is not None:
        for v in variables:
            if v.members:
                found[v.name] = replace(v, written=v.written and v.name in written)
    for spec in sorted(declared.values(), key=lambda d: d.name.count(".")):
        owner, member = found.get(owner_of(spec.name)), member_at(task, spec.name)
        if owner is None or member is None:
            continue
        if is_pointer(member):
            found[spec.name] = _pointed_to(task, owner, spec, written is None or spec.name in written)
        elif spec.initialiser is not None:
            value = (spec.name.rpartition(".")[2], spec.initialiser)
            found[owner.name] = replace(owner, values=(*owner.values, value))
    _check_followed(task, found)
    return tuple(found.values())


def _pointed_to(task: TuningTask, owner: KernelVariable, spec: Declaration, written: bool) -> KernelVariable:
    return KernelVariable(
        spec.name,
        Passing.MEMBER,
        spec.type,
        "",
        (*(extent for extent in owner.dimensions if extent != "1"), *spec.dimensions),
        is_array=True,
        written=written,
        compared=True,
        live_in=True,
        source=spec,
        members=task.structures.get(spec.type, ()),
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
        use.path if use.follows else owner_of(use.path) for use in uses_of(task, trees) if use.is_written
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
        if is_pointer(use.member) and owner_of(use.path) in found and use.path not in found:
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
            owner = variables[places[owner_of(v.name)]]
            number = len(found)
            setup = _setup(f"orio_links[{number}]", owner, v, v.source)
            is_given = task.inputs.init_file is not None and v.source.initialiser is None
            found.append(Link(places[owner.name], places[v.name], setup, is_given))
    return tuple(found)


def _setup(link: str, owner: KernelVariable, v: KernelVariable, spec: Declaration) -> tuple[str, ...]:
    name = v.name.rpartition(".")[2]
    member = next(m for m in owner.members if m.name == name)
    extents = spec.dimensions[len(member.dimensions) :]
    return (
        f"{link}.orio_offset = offsetof({owner.type}, {name});",
        f"{link}.orio_slots = sizeof((({owner.type} *)0)->{name}) / sizeof(void *);",
        f"{link}.orio_depth = {len(extents)};",
        *(f"{link}.orio_extents[{place}] = (size_t)({extent});" for place, extent in enumerate(extents)),
    )


def linked(variables: Sequence[KernelVariable], owner: KernelVariable) -> frozenset[str]:
    """The members of a structure that point to variables."""
    return frozenset(
        v.name.rpartition(".")[2]
        for v in variables
        if v.passing is Passing.MEMBER and owner_of(v.name) == owner.name
    )
