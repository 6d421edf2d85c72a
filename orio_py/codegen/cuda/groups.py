"""CUDA host code for kernels that share arrays on the device: one function that copies, runs them all, copies back.

    if (orio_open(orio_group, orio_arrays, 3, orio_places, orio_failure))       each array once
      return 1;
    …                                                                           the kernels, in their order
    return orio_close(orio_group, orio_arrays, 3, orio_failure);                each result once

Source: A. Rivera, "Using autotuning for accelerating tensor contraction on graphics processing units", thesis,
University of Utah, 2014, section 4.3; CUDA Runtime API, modules 3.1 to 3.11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.codegen.device import ArgumentKind, KernelArgument, kernel_arguments
from orio_py.codegen.host_unit import HostUnit
from orio_py.codegen.offload.declarations import for_cpp, parameter_texts, renamed, wrapped
from orio_py.codegen.offload.host import (
    HostLanguage,
    group_prototype,
    launch_text,
    value,
    variable,
)
from orio_py.ctree.build import literal_value
from orio_py.kernel.call import GroupParameters, KernelGroup, group_parameters, trips_name
from orio_py.kernel.plan import Direction, KernelPlan


@dataclass(frozen=True, slots=True)
class _Use:
    """What one kernel, by its number, does with an array: the parameter with its number of elements, and more."""

    kernel: int
    count: str
    direction: Direction
    is_certain: bool


@dataclass(frozen=True, slots=True)
class _Array:
    """An array of a group, with its uses in their order."""

    name: str
    uses: tuple[_Use, ...]

    @property
    def counts(self) -> tuple[str, ...]:
        """The different numbers of elements."""
        return tuple(dict.fromkeys(use.count for use in self.uses))

    @property
    def comes_in(self) -> bool:
        """Whether the device needs what the host's array holds: a kernel that may not run writes nothing."""
        first = self.uses[0]
        filled = first.direction is Direction.OUT and first.is_certain
        return not filled or len(self.counts) > 1

    @property
    def goes_out(self) -> bool:
        """Whether some kernel writes it."""
        return any(use.direction is not Direction.IN for use in self.uses)


def group_view(unit: HostUnit, number: int, host: HostLanguage) -> dict[str, object]:
    """What the template needs of one group; all texts are C++."""
    group = unit.groups[number]
    known = group_parameters(group)
    names = [parameter.name for parameter in known.parameters]
    given = [(parameter.type, parameter.name) for parameter in known.parameters]
    members = [index for index, kernel in enumerate(unit.kernels) if kernel.group == group.name]
    run = f"orio_run_group_{number}"
    parameters = ["struct orio_failure *orio_failure", *parameter_texts(given)]
    lines = [
        wrapped(f"static int {run}(", parameters, ")"),
        wrapped(f"      {run}(", ["&orio_failure", *names], "))"),
        group_prototype(group),
    ]
    header, test, declaration = ("\n".join(for_cpp(text.split("\n"), names)) for text in lines)
    return {
        "function": group.name,
        "declaration": declaration,
        "run_header": header,
        "run_test": test,
        "empty": " && ".join(dict.fromkeys(map(_is_empty, group.plans, known.names))),
        "body": for_cpp(_body(group, known, len(unit.kernels) + number, members, host), names),
    }


def _is_empty(plan: KernelPlan, names: Mapping[str, str]) -> str:
    """The test whether a kernel has nothing to do."""
    return "(" + " || ".join(f"{names[trips_name(axis)]} <= 0" for axis in plan.axes) + ")"


def _body(
    group: KernelGroup, known: GroupParameters, holder: int, members: Sequence[int], host: HostLanguage
) -> list[str]:
    arrays = _arrays(group, known)
    places = {array.name: place for place, array in enumerate(arrays)}
    empty = list(map(_is_empty, group.plans, known.names))
    # Where all have the same tests, the function has returned before if they are met.
    differ = len(set(empty)) > 1
    lines = [f"const int orio_runs_{k} = !{test};" for k, test in enumerate(empty) if differ]
    for array in arrays:
        lines += _elements(array, differ=differ)
    lines += [
        f"struct orio_kernel *orio_group = &orio_kernels[{holder}];",
        "const struct orio_argument orio_arrays[] = {",
        *(f"  {_argument(array, differ=differ)}," for array in arrays),
        "};",
        f"void *orio_places[{len(arrays)}];",
        f"if (orio_open(orio_group, orio_arrays, {len(arrays)}, orio_places, orio_failure))",
        "  return 1;",
    ]
    for k, (plan, names, index) in enumerate(zip(group.plans, known.names, members, strict=True)):
        started = renamed(_launch(plan, index, places, host), names)
        lines += [f"if (orio_runs_{k}) {{" if differ else "{", *(f"  {line}" for line in started), "}"]
    return [*lines, f"return orio_close(orio_group, orio_arrays, {len(arrays)}, orio_failure);"]


def _elements(array: _Array, *, differ: bool) -> list[str]:
    """The number of elements that the kernels that run touch together, where that is none of the parameters."""
    if len(array.counts) == 1 and not differ:
        return []
    name = f"orio_elements_{array.name}"
    lines = [f"long {name} = 0;"]
    for use in array.uses:
        test = f"orio_runs_{use.kernel} && " if differ else ""
        lines += [f"if ({test}{use.count} > {name})", f"  {name} = {use.count};"]
    return lines


def _launch(plan: KernelPlan, index: int, places: Mapping[str, int], host: HostLanguage) -> list[str]:
    """The statements that start one kernel, with the names of its own parameters."""
    arguments = kernel_arguments(plan)
    return [
        *(value(argument, host) for argument in arguments if argument.kind is not ArgumentKind.BUFFER),
        launch_text(plan),
        *wrapped("void *orio_values[] = {", [_place(a, places) for a in arguments], "};").split("\n"),
        f"if (orio_start(&orio_kernels[{index}], &orio_launch, orio_values, orio_streams[0], orio_failure))",
        "  return 1;",
    ]


def _place(argument: KernelArgument, places: Mapping[str, int]) -> str:
    if argument.kind is ArgumentKind.BUFFER:
        return f"orio_places[{places[argument.of]}]"
    return f"&{variable(argument)}"


def _arrays(group: KernelGroup, known: GroupParameters) -> list[_Array]:
    """The arrays in the order of the parameters."""
    found: dict[str, list[_Use]] = {}
    for number, (plan, names) in enumerate(zip(group.plans, known.names, strict=True)):
        certain = all((literal_value(axis.trips) or 0) > 0 for axis in plan.axes)
        for buffer in plan.buffers:
            use = _Use(number, names[f"orio_count_{buffer.name}"], buffer.direction, certain)
            found.setdefault(buffer.name, []).append(use)
    return [_Array(name, tuple(uses)) for name, uses in found.items()]


def _argument(array: _Array, *, differ: bool) -> str:
    source = array.name if array.comes_in else "NULL"
    target = array.name if array.goes_out else "NULL"
    count = f"orio_elements_{array.name}" if differ or len(array.counts) > 1 else array.uses[0].count
    if differ:
        # Nothing may be where only kernels that do not run would look.
        source, target = (
            f"{count} > 0 ? {name} : NULL" if name != "NULL" else name for name in (source, target)
        )
    return f"{{ORIO_BUFFER, {source}, {target}, orio_bytes({count}, sizeof *{array.name})}}"
