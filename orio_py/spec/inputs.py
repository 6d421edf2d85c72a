"""What a variant is fed with: problem sizes, variables and where their contents come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.spec.parameter import Constraint, Parameter


class Storage(StrEnum):
    """How a variable lies in memory: a global array, or a pointer to memory that the test program or `init_file` allocates."""

    SCALAR = "scalar"
    STATIC = "static"
    DYNAMIC = "dynamic"
    MANAGED = "managed"
    GIVEN = "given"

    @property
    def is_allocated(self) -> bool:
        """Whether it is a pointer to memory of its own."""
        return self in {Storage.DYNAMIC, Storage.MANAGED, Storage.GIVEN}


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable of the kernel that the specification, or one of its files, declares.

    `dimensions` are C expressions over the input parameters, outermost first, empty for a scalar.
    `initialiser` is None (left to `init_file` or zero), `"random"`, or C text: an expression, or a
    `{…}` list for a static array.  `type_position` is where a type stands that the C file has to define, a
    structure or the name of a typedef; None for C's own types.
    """

    name: str
    type: str
    storage: Storage
    dimensions: tuple[str, ...] = ()
    initialiser: str | None = None
    position: Position | None = None
    type_position: Position | None = None

    def longer(self, rows: int) -> Declaration:
        """An array with more elements, or rows, at its end; a scalar as it is."""
        first, *others = self.dimensions or ("",)
        return replace(self, dimensions=(f"({first}) + {rows}", *others)) if first else self

    @property
    def is_random(self) -> bool:
        """Whether the contents are drawn from the seeded generator."""
        return self.initialiser == "random"


@dataclass(frozen=True, slots=True)
class ExternalFile:
    """A file that a specification names: the name as written, the path found, and its text (Latin-1).

    `structures` are the types of structures that its headers define.
    """

    written: str
    path: str
    text: str
    position: Position | None = None
    structures: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class InputSpec:
    """Problem sizes and variables.

    `parameters` and `constraints` span the input sizes.  `specialize` names the input parameters that
    become compile-time constants in the generated code.  `macros` are the texts of `decl macro`, `members` the
    declarations of members of structures, whose names are paths such as `A.val`.
    """

    parameters: tuple[Parameter, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    specialize: tuple[str, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    macros: tuple[str, ...] = ()
    members: tuple[Declaration, ...] = ()
    file_declarations: tuple[Declaration, ...] = ()
    """The variables that `decl_file` and `init_file` declare."""
    decl_file: ExternalFile | None = None
    init_file: ExternalFile | None = None
    seed: int = 1

    @property
    def all_declarations(self) -> tuple[Declaration, ...]:
        """The variables that files declare, and those of `decl`, which count where a name is among both."""
        return (*self.file_declarations, *self.declarations)

    def longer(self, rows: int) -> InputSpec:
        """The inputs; arrays of `decl` have more elements, or rows, at their end."""
        return replace(self, declarations=tuple(declared.longer(rows) for declared in self.declarations))


@dataclass(frozen=True, slots=True)
class InputPoint:
    """One problem size: input parameter name → value, in the order written."""

    values: tuple[tuple[str, Value], ...]

    def __getitem__(self, name: str) -> Value:
        return dict(self.values)[name]
