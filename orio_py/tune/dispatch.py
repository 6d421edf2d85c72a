"""Code for several problem sizes: a chain of tests over the sizes with the original code last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.spec.inputs import InputPoint
from orio_py.spec.region import Region
from orio_py.spec.task import TuningTask


@dataclass(frozen=True, slots=True)
class Case:
    """The code for one problem size."""

    point: InputPoint
    code: str


def needs_dispatch(task: TuningTask, cases: Sequence[Case]) -> bool:
    """Whether the code may only run at certain sizes, or differs between them."""
    return bool(task.inputs.specialize) or len(cases) > 1


def dispatch(task: TuningTask, region: Region, cases: Sequence[Case], *, indent: str) -> str:
    """`if (N <= 1000) { … } else if (N <= 2000) { … } else { original }`.

    Sizes are tested from the smallest up; a size that the code is specialised for is tested for equality.
    """
    ordered = sorted(cases, key=lambda case: [_key(value) for _, value in case.point.values])
    varying = _varying(task, ordered)
    lines: list[str] = []
    opening = f"{indent}if"
    for case in ordered:
        lines.append(f"{opening} ({_condition(task, case.point, varying)}) {{")
        lines.append(_inside(case.code, region.step))
        opening = f"{indent}}} else if"
    lines.append(f"{indent}}} else {{")
    lines.append(region.reference_text.strip("\r\n").rstrip())
    lines.append(f"{indent}}}")
    return "\n".join(lines) + "\n"


def _varying(task: TuningTask, cases: Sequence[Case]) -> list[str]:
    names = [name for name, _ in cases[0].point.values]
    several = [n for n in names if len({str(case.point[n]) for case in cases}) > 1]
    return [n for n in names if n in several or n in task.inputs.specialize]


def _condition(task: TuningTask, point: InputPoint, names: Sequence[str]) -> str:
    tests = [f"{n} {'==' if n in task.inputs.specialize else '<='} {point[n]}" for n in names]
    return " && ".join(tests)


def _inside(code: str, step: str) -> str:
    """The code one step further in; preprocessor lines and empty lines stay."""
    lines = code.rstrip("\n").split("\n")
    return "\n".join(step + line if line.strip() and not line.startswith("#") else line for line in lines)


def _key(value: Value) -> float | str:
    return float(value) if isinstance(value, int | float) else str(value)
