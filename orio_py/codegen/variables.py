"""The variables of a kernel, and how each is passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from orio_py.codegen.records import Record
from orio_py.core.expr import Value
from orio_py.spec.inputs import Declaration


class Passing(StrEnum):
    """How a variable reaches the kernel."""

    VALUE = "scalar parameter"
    ARRAY = "pointer or array parameter"
    LOCAL = "local scalar"
    GLOBAL_ARRAY = "global array"
    GLOBAL_SCALAR = "global scalar or pointer"
    MEMBER = "what a pointer in a structure points to"


@dataclass(frozen=True, slots=True)
class KernelVariable:
    """One variable of a kernel.

    `type` is the element type in the test program, `parameter` the C text of the kernel's parameter or
    local, `dimensions` C extents (empty for a scalar), `source` the specification's declaration.
    `spine` marks an array held as pointers to rows.  `initialiser` is C text for a local whose value the
    file fixes.  `record` tells what a structure holds; there is none where the elements are numbers.  `values` are
    the C texts that the specification gives to some of its members, by their paths in it.
    `keeps_value` says that it begins with what the file gives it: a table, or what only functions use that are called;
    `owner` is the function in which it is `static`.
    """

    name: str
    passing: Passing
    type: str
    parameter: str
    dimensions: tuple[str, ...]
    is_array: bool
    written: bool
    compared: bool
    live_in: bool
    source: Declaration | None
    spine: bool = False
    initialiser: str | None = None
    known_value: Value = None
    record: Record | None = None
    values: tuple[tuple[str, str], ...] = ()
    keeps_value: bool = False
    owner: str = ""


@dataclass(frozen=True, slots=True)
class KernelInterface:
    """All variables of a kernel, and the size names that are macros in its translation unit.

    `temporaries` are declarations of what the timed code uses for itself.
    """

    variables: tuple[KernelVariable, ...]
    macros: Mapping[str, Value]
    definitions: tuple[str, ...]
    temporaries: tuple[str, ...] = ()
