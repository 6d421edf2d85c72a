"""Code for several problem sizes and processors: a chain of tests with the original code last.

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define ORIO_CPU_HAS(feature) __builtin_cpu_supports(feature)
#else
#define ORIO_CPU_HAS(feature) 0
#endif
if (n <= 1000 && ORIO_CPU_HAS("avx2")) {
  … the winner at n = 1000, whose CFLAGS have -mavx2 …
} else if (n <= 2000) {
  … the winner at n = 2000 …
} else {
  … the original …
}
#undef ORIO_CPU_HAS

Code with kernels runs where a device can run them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent

from orio_py.core.expr import Value
from orio_py.spec.inputs import InputPoint
from orio_py.spec.region import Region
from orio_py.spec.task import TuningTask
from orio_py.tuning.files.host_functions import DeviceTest


@dataclass(frozen=True, slots=True)
class DispatchCase:
    """The code for one problem size, the processor's extensions that it was built for, and what is asked of a device."""

    point: InputPoint
    code: str
    features: tuple[str, ...] = ()
    test: DeviceTest | None = None


_CPU_TEST = """#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define ORIO_CPU_HAS(feature) __builtin_cpu_supports(feature)
#else
#define ORIO_CPU_HAS(feature) 0
#endif"""


def needs_dispatch(task: TuningTask, cases: Sequence[DispatchCase]) -> bool:
    """Whether the code may only run at certain sizes, on certain processors or devices, or differs between sizes."""
    return (
        bool(task.inputs.specialize)
        or len(cases) > 1
        or any(case.features or case.test is not None for case in cases)
    )


def dispatch(task: TuningTask, region: Region, cases: Sequence[DispatchCase], *, indent: str) -> str:
    """`if (N <= 1000) { … } else if (N <= 2000) { … } else { original }`.

    Sizes are tested from the smallest up; a size that the code is specialised for is tested for equality.
    A processor without an extension that a case was built for, or without a device, takes the next case that it
    can, at last the original; a case that may run always stands in its place.
    """
    ordered = sorted(cases, key=lambda case: [_key(value) for _, value in case.point.values])
    varying = _varying(task, ordered)
    asks = any(case.features for case in ordered)
    declarations = dict.fromkeys(
        line for case in ordered if case.test is not None for line in case.test.declarations
    )
    lines: list[str] = [_CPU_TEST] if asks else []
    outside = indent
    if declarations:
        lines.append(f"{outside}{{")
        indent = outside + region.step
        lines += [indent + line.replace("\n", f"\n{indent}") for line in declarations]
    extra = region.step if declarations else ""
    opening = f"{indent}if"
    last = region.reference_text.strip("\r\n").rstrip()
    if declarations:
        last = _inside(dedent(last), indent + region.step)
    for case in ordered:
        between = f" &&\n{' ' * (len(opening) + 2)}" if declarations else " && "
        condition = _condition(task, case, varying, between)
        code = _inside(case.code, extra + region.step)
        if not condition:
            last = code
            break
        lines.append(f"{opening} ({condition}) {{")
        lines.append(code)
        opening = f"{indent}}} else if"
    lines.append(f"{indent}}} else {{")
    lines.append(last)
    lines.append(f"{indent}}}")
    if declarations:
        lines.append(f"{outside}}}")
    if asks:
        lines.append("#undef ORIO_CPU_HAS")
    return "\n".join(lines) + "\n"


def _varying(task: TuningTask, cases: Sequence[DispatchCase]) -> list[str]:
    names = [name for name, _ in cases[0].point.values]
    several = [n for n in names if len({str(case.point[n]) for case in cases}) > 1]
    return [n for n in names if n in several or n in task.inputs.specialize]


def _condition(task: TuningTask, case: DispatchCase, names: Sequence[str], between: str) -> str:
    sizes = [f"{n} {'==' if n in task.inputs.specialize else '<='} {case.point[n]}" for n in names]
    asked = [f'ORIO_CPU_HAS("{feature}")' for feature in case.features]
    return between.join([*sizes, *asked, *(case.test.conditions if case.test is not None else ())])


def _inside(code: str, step: str) -> str:
    """The code one step further in; preprocessor lines and empty lines stay."""
    lines = code.rstrip("\n").split("\n")
    return "\n".join(step + line if line.strip() and not line.startswith("#") else line for line in lines)


def _key(value: Value) -> float | str:
    return float(value) if isinstance(value, int | float) else str(value)
