"""Members of structures as inputs: which of them code uses, and what the specification declares of them.

A member has a path, `A.val` for `A->val` and for `A.val`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orio_py.core.source import Position
from orio_py.ctree.dependence.names import names_of, references
from orio_py.ctree.nodes import Node
from orio_py.ctree.parse import position
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


def member_at(task: TuningTask, path: str) -> CDeclaration | None:
    """The member with a path; None where the structure has none by this name, or is not known."""
    variable, *names = path.split(".")
    kind, found = _type_of(task, variable), None
    for name in names:
        found = next((m for m in task.structures.get(kind, ()) if m.name == name), None)
        if found is None:
            return None
        kind = found.type
    return found


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
                    taken += len(member.dimensions)
                    follows = member.pointers > 0 and len(reference.subscripts) > taken
                    taken += member.pointers
                    last = end == len(parts)
                    yield MemberUse(path, member, is_written and last, follows, position(node))


def with_owners(task: TuningTask) -> InputSpec:
    """The inputs; a structure of which only members are declared is a single one, if the file says no extents."""
    inputs = task.inputs
    in_file = task.surroundings.declared.values()
    known = {d.name for d in (*inputs.all_declarations, *(d for d in in_file if any(d.dimensions)))}
    owners = {variable_of(d.name): d for d in inputs.members}
    added = tuple(
        Declaration(name, kind, Storage.SCALAR, position=member.position)
        for name, member in owners.items()
        if name not in known and (kind := structure_of(task, name)) is not None
    )
    return replace(inputs, declarations=(*inputs.declarations, *added)) if added else inputs
