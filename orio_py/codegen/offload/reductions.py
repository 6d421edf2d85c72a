"""How the items of a group, and the lanes of an item, combine their values of a reduction."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.dialect import Dialect, Kernel
from orio_py.codegen.offload.vectors import lanes_name
from orio_py.kernel.plan import ReductionPlan
from orio_py.kernel.types import device_type

_COMBINED = {"+": "+=", "*": "*=", "&": "&=", "|": "|=", "^": "^="}
_BITWISE = {"&&": "&", "||": "|"}


@dataclass(frozen=True, slots=True)
class DeviceReduction:
    """A reduction as the template wants it: `combine` merges the values at `orio_item` and beyond."""

    name: str
    type: str
    identity: str
    local: str
    partials: str
    combine: str


def device_reduction(reduction: ReductionPlan, dialect: Dialect) -> DeviceReduction:
    """The texts that belong to one reduction."""
    local = f"orio_local_{reduction.name}"
    mine, other = f"{local}[orio_item]", f"{local}[orio_item + orio_half]"
    partials = f"orio_partials_{reduction.name}"
    return DeviceReduction(
        device_name(reduction.name),
        dialect.type_name(_kind(reduction)),
        _identity(reduction, dialect),
        local,
        partials,
        merged(reduction, mine, other),
    )


def _identity(reduction: ReductionPlan, dialect: Dialect) -> str:
    sign, name = ("-", reduction.identity[1:]) if reduction.identity[0] == "-" else ("", reduction.identity)
    return f"{sign}{dialect.constant(name)}"


def lanes_declared(kernel: Kernel) -> list[str]:
    """The vectors in which the lanes of an item collect their values."""
    dialect, width = kernel.dialect, kernel.plan.launch.vector
    kinds = [(r, dialect.vector_type(_kind(r), width)) for r in kernel.plan.reductions]
    return [
        f"  {kind} {lanes_name(device_name(r.name))} = ({kind})({_identity(r, dialect)});"
        for r, kind in kinds
    ]


def lanes_merged(kernel: Kernel) -> list[str]:
    """The item's value with those of its lanes, halves of the vector first."""
    plan, dialect = kernel.plan, kernel.dialect
    lines: list[str] = []
    for reduction in plan.reductions:
        value, width = lanes_name(device_name(reduction.name)), plan.launch.vector
        while width > 2:
            width //= 2
            half = f"{lanes_name(device_name(reduction.name))}_{width}"
            parts = [dialect.half(value, 2 * width, upper=upper) for upper in (False, True)]
            kind = dialect.vector_type(_kind(reduction), width)
            lines.append(f"  const {kind} {half} = {_joined(reduction, *parts)};")
            value = half
        lines += [
            f"  {merged(reduction, device_name(reduction.name), dialect.half(value, 2, upper=upper))}"
            for upper in (False, True)
        ]
    return lines


def merged(reduction: ReductionPlan, mine: str, other: str) -> str:
    """The statement that takes another value into one."""
    if reduction.operator in _COMBINED:
        return f"{mine} {_COMBINED[reduction.operator]} {other};"
    if reduction.operator in _BITWISE:
        return f"{mine} = {mine} {reduction.operator} {other};"
    return f"{mine} = {_joined(reduction, mine, other)};"


def _joined(reduction: ReductionPlan, one: str, two: str) -> str:
    """Two vectors in one; truth values are 0 or 1 in each lane."""
    operator = reduction.operator
    if operator in {"min", "max"}:
        function = f"f{operator}" if _kind(reduction) in {"float", "double"} else operator
        return f"{function}({one}, {two})"
    return f"{one} {_BITWISE.get(operator, operator)} {two}"


def _kind(reduction: ReductionPlan) -> str:
    return device_type(reduction.type) or "int"
