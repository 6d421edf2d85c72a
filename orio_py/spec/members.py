"""Members of structures as inputs: which of them code uses, and what the specification declares of them.

A member has a path, `A.val` for `A->val` and for `A.val`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orio_py.core.source import Position
from orio_py.ctree.build import literal_value
from orio_py.ctree.dependence.names import names_of, references
from orio_py.ctree.nodes import Node
from orio_py.ctree.parse import position
from orio_py.ctree.structures import Members, is_pointer, member_path
from orio_py.ctree.symbols import CDeclaration
from orio_py.spec.inputs import Declaration, InputSpec, Storage
from orio_py.spec.task import TuningTask


@dataclass(frozen=True, slots=True)
class MemberUse:
    """A member that code reads or writes; `follows` says that it goes on to what a pointer points to."""

    path: str
    member: CDeclaration
    is_written: bool
    follows: bool
    position: Position | None


def owner_of(path: str) -> str:
    """The path of the structure that a member belongs to.

    >>> owner_of("mesh.matrix.val")
    'mesh.matrix'
    """
    return path.rpartition(".")[0]


def variable_of(path: str) -> str:
    """The variable at the beginning of a path."""
    return path.partition(".")[0]


def path_of(task: TuningTask, path: str) -> Members:
    """The members on a path, those without a name too; nothing where a structure has none by a name, or is not known."""
    variable, *names = path.split(".")
    kind, found = _type_of(task, variable), list[CDeclaration]()
    for name in names:
        inner = member_path(task.structures, kind, name)
        if not inner:
            return ()
        found.extend(inner)
        kind = inner[-1].type
    return tuple(found)


def member_at(task: TuningTask, path: str) -> CDeclaration | None:
    """The member with a path; None where the structure has none by this name, or is not known."""
    found = path_of(task, path)
    return found[-1] if found else None


def holder_of(task: TuningTask, path: str) -> str:
    """The variable, or the pointer in a structure, through which a member is reached: `g.mesh` of `g.mesh->x.lo`."""
    owner = owner_of(path)
    while "." in owner and (member := member_at(task, owner)) is not None and not is_pointer(member):
        owner = owner_of(owner)
    return owner


def structure_of(task: TuningTask, path: str) -> str | None:
    """The type of the structure that a variable or member is, or points to; None for anything else."""
    member = member_at(task, path) if "." in path else None
    kind = member.type if member is not None else _type_of(task, path)
    return kind if kind in task.structures else None


def _type_of(task: TuningTask, variable: str) -> str:
    declared = task.surroundings.declared.get(variable)
    if declared is not None:
        return declared.type
    return next((d.type for d in task.inputs.declarations if d.name == variable), "")


def uses_of(task: TuningTask, trees: Sequence[Node]) -> Iterator[MemberUse]:
    """The members of structures that trees use, each use once."""
    for tree in trees:
        names = names_of(tree, task.surroundings.declared)
        for reference, node, is_written in references(tree, names):
            if "." not in reference.name or reference.variable in names.local:
                continue
            parts = reference.name.split(".")
            variable = task.surroundings.declared.get(reference.variable)
            taken = 0 if variable is None else len(variable.dimensions) + variable.pointers
            for end in range(2, len(parts) + 1):
                path = ".".join(parts[:end])
                member = member_at(task, path)
                if member is not None:
                    own = 0 if member.points_to_array else len(member.dimensions)
                    follows = is_pointer(member) and len(reference.subscripts) > taken + own
                    taken += len(member.dimensions) + member.pointers
                    last = end == len(parts)
                    yield MemberUse(path, member, is_written and last, follows, position(node))


def with_owners(task: TuningTask) -> InputSpec:
    """The inputs; a structure of which only members are declared is a single one, if the file says no extents.

    So is one that a pointer in a structure points to, where the code goes to the first one alone.
    """
    inputs = task.inputs
    in_file = task.surroundings.declared.values()
    known = {*(d.name for d in inputs.all_declarations), *(d.name for d in in_file if any(d.dimensions))}
    owners = {variable_of(d.name): d for d in inputs.members}
    added = tuple(
        Declaration(name, kind, Storage.SCALAR, position=member.position)
        for name, member in owners.items()
        if name not in known and (kind := structure_of(task, name)) is not None
    )
    inner = {path: member for member in inputs.members for path in _pointers_to(task, member.name)}
    missing = inner.keys() - {d.name for d in inputs.members}
    single = missing - _with_subscripts(task) if missing else missing
    pointed_to = tuple(
        Declaration(path, kind, Storage.DYNAMIC, ("1",), position=inner[path].position)
        for path in sorted(single)
        if (kind := structure_of(task, path)) is not None
    )
    return replace(
        inputs,
        declarations=(*inputs.declarations, *added),
        members=(*inputs.members, *pointed_to),
    )


def _pointers_to(task: TuningTask, path: str) -> Iterator[str]:
    """The members with one star on the way to another one."""
    while "." in (path := owner_of(path)):
        member = member_at(task, path)
        if member is not None and member.pointers == 1 and not member.dimensions:
            yield path


def _with_subscripts(task: TuningTask) -> frozenset[str]:
    """The pointers in structures that code follows to other elements than the first."""
    found: set[str] = set()
    for tree in (tree for region in task.regions for tree in (region.tree, region.reference)):
        names = names_of(tree, task.surroundings.declared)
        for reference, _, _ in references(tree, names):
            variable, *fields = reference.name.split(".")
            declared = task.surroundings.declared.get(variable)
            taken = 0 if declared is None else len(declared.dimensions) + declared.pointers
            path = variable
            for member in path_of(task, reference.name) if fields else ():
                path = f"{path}.{member.name}" if member.name else path
                end = taken + len(member.dimensions) + member.pointers
                if any(literal_value(place) != 0 for place in reference.subscripts[taken:end]):
                    found.add(path)
                taken = end
    return frozenset(found)
