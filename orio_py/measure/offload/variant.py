"""What a worker process is told of kernels' calls and of the data that they work on, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

from orio_py.codegen.device import (
    ArgumentKind,
    DeviceProgram,
    KernelArgument,
    groups_of,
    host_parameters,
    kernel_arguments,
    slices_of,
)
from orio_py.kernel.plan import AxisBinding, Direction, KernelPlan, LaunchShape, Role


@dataclass(frozen=True, slots=True)
class Combining:
    """A reduction: the host function's `parameter` points to the scalar of C type `type`."""

    parameter: str
    type: str
    operator: str


@dataclass(frozen=True, slots=True)
class HeldArray:
    """An array that stays on the device: the pairs of pointer and bytes that the function that begins is given of it."""

    pieces: int
    comes_in: bool
    goes_out: bool


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A kernel, and how a call of its host function becomes a launch.

    `program` is the index of the kernel's text.  `parameters` are the host function's, as (C type, name);
    `arguments` the kernel's.  `trips` are the parameters that hold the axes' trip counts, outermost first.
    `items`, `groups`, `coarsen`, `tile`, `most_groups` and `placements` are those of the plan, fastest dimension first; `streams` the number
    of queues over which the outermost axis is spread.  `held` are the arrays that stay on the device around code whose
    first kernel this is.
    """

    function: str
    kernel: str
    program: int
    parameters: tuple[tuple[str, str], ...]
    arguments: tuple[KernelArgument, ...]
    trips: tuple[str, ...]
    reductions: tuple[Combining, ...]
    items: tuple[int, ...]
    groups: tuple[int, ...] | None
    coarsen: int
    tile: tuple[int, ...] | None = None
    streams: int = 1
    most_groups: tuple[int, ...] | None = None
    placements: tuple[AxisBinding, ...] = ()
    held: tuple[HeldArray, ...] = ()

    @classmethod
    def of(cls, plan: KernelPlan, program: int) -> HostFunction:
        """The call of a plan's kernel, whose text is the one numbered `program`."""
        parameters, arguments = host_parameters(plan), kernel_arguments(plan)
        pointers = parameters[len(parameters) - len(plan.reductions) :]
        combined = tuple(
            Combining(name, r.type, r.operator)
            for r, (_, name) in zip(plan.reductions, pointers, strict=True)
        )
        return cls(
            plan.name,
            plan.name,
            program,
            parameters,
            arguments,
            tuple(a.host for a in arguments if a.kind is ArgumentKind.TRIPS),
            combined,
            plan.launch.block_size,
            plan.launch.grid_size,
            plan.coarsen,
            plan.launch.step,
            plan.options.streams,
            plan.launch.most_groups,
            plan.launch.bindings,
            tuple(
                HeldArray(len(array.pieces), array.comes_in, array.goes_out)
                for array in (plan.data.arrays if plan.data is not None else ())
            ),
        )

    @classmethod
    def all_of(cls, programs: Sequence[DeviceProgram]) -> tuple[HostFunction, ...]:
        """The calls of all kernels of device programs, which are numbered in their order."""
        return tuple(
            cls.of(plan, number) for number, program in enumerate(programs) for plan in program.plans
        )

    def group_counts(self, trips: Sequence[int]) -> tuple[int, ...]:
        """The number of groups in each dimension, fastest first, for the axes' trip counts."""
        shape = LaunchShape(
            self.items, self.groups, self.tile, most_groups=self.most_groups, bindings=self.placements
        )
        return groups_of(shape, self.coarsen, trips)

    def partial_elements(self, trips: Sequence[int]) -> int:
        """The elements of each buffer of partial results: the groups of all slices."""
        slices = slices_of(self.streams, trips[0])
        return sum(prod(self.group_counts((end - begin, *trips[1:]))) for begin, end in slices)


@dataclass(frozen=True, slots=True)
class HostMember:
    """A member of a structure: `count` numbers of a C type, each of `size` bytes, from byte `offset` on."""

    name: str
    type: str
    offset: int
    size: int
    count: int


@dataclass(frozen=True, slots=True)
class HostVariable:
    """A variable of the timed code; `offset` and `bytes` are its place in the files of inputs and outputs,
    `element` the bytes of one element.

    `type` is the element's C type, `dimensions` the extents as C text.  `initialiser` is C text for a local
    whose value the file fixes; `has_value` tells whether the inputs hold its value.  `members` are those of a
    structure.
    """

    name: str
    type: str
    dimensions: tuple[str, ...]
    offset: int
    bytes: int
    element: int
    is_array: bool
    written: bool
    compared: bool
    has_value: bool
    initialiser: str | None = None
    members: tuple[HostMember, ...] = ()


@dataclass(frozen=True, slots=True)
class HostData:
    """The inputs and the original's outputs of a task at one problem size, in two files of one layout.

    `constants` maps macros and constants of the file to C text, `types` the file's type names to numbers.
    `tolerance` is the accepted relative and absolute error by element type.
    """

    inputs: str
    reference: str
    variables: tuple[HostVariable, ...]
    constants: Mapping[str, str]
    types: Mapping[str, str]
    tolerance: Mapping[str, tuple[float, float]]

    @property
    def text(self) -> str:
        """The description as the worker's file holds it."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, path: Path) -> HostData:
        """The description in a file."""
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        changed: dict[str, Any] = {
            "variables": tuple(map(_variable, content["variables"])),
            "tolerance": {name: (pair[0], pair[1]) for name, pair in content["tolerance"].items()},
        }
        return cls(**{**content, **changed})


def _variable(content: Mapping[str, Any]) -> HostVariable:
    changed: dict[str, Any] = {
        "dimensions": tuple(content["dimensions"]),
        "members": tuple(HostMember(**member) for member in content["members"]),
    }
    return HostVariable(**{**content, **changed})


def host_function(content: Mapping[str, Any]) -> HostFunction:
    """The call that JSON content describes."""
    groups, tile, most = content["groups"], content["tile"], content["most_groups"]
    fields: dict[str, Any] = {
        **content,
        "parameters": tuple((t, n) for t, n in content["parameters"]),
        "arguments": tuple(map(_argument, content["arguments"])),
        "trips": tuple(content["trips"]),
        "reductions": tuple(Combining(**r) for r in content["reductions"]),
        "items": tuple(content["items"]),
        "groups": tuple(groups) if groups is not None else None,
        "tile": tuple(tile) if tile is not None else None,
        "most_groups": tuple(most) if most is not None else None,
        "placements": tuple(AxisBinding(Role(p["role"]), p["dimension"]) for p in content["placements"]),
        "held": tuple(HeldArray(**held) for held in content["held"]),
    }
    return HostFunction(**fields)


def _argument(content: Mapping[str, Any]) -> KernelArgument:
    direction = content["direction"]
    changed: dict[str, Any] = {
        "kind": ArgumentKind(content["kind"]),
        "direction": Direction(direction) if direction is not None else None,
    }
    return KernelArgument(**{**content, **changed})
