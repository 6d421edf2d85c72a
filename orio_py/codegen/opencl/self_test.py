"""Small kernels whose results are known, one for each feature of OpenCL C that generated kernels use.

    __kernel void lanes(__global const double *x_double, __global double *y_double, __global double *sums_double)
    {
      const double8 v = vload8(item, x_double);
      ...

A driver that fails one of them is not asked for that feature: `measure.opencl.self_test` runs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from orio_py.codegen.templates import render

TYPES = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double")
"""The element types of generated kernels, by OpenCL C's names."""

WIDTHS = (1, 2, 4, 8, 16)
"""Lanes of a vector; 1 is a scalar."""

ITEMS, REPEATS, GROUPS = 48, 3, 4
"""Items of a group (no power of two, as reductions have to cope with), rounds of the loops, groups."""

LANES = "lanes"
"""The kernel of vectors, which takes three arrays for each case of its program."""

GROUP_FEATURES = {
    "local_memory": "local memory",
    "barrier_in_loop": "barriers in loops",
    "reduction": "reductions",
}
"""Kernels of groups with the feature that each stands for."""

_REALS = ("float", "double")
_USES = {
    "local memory": re.compile(r"\b__local\b"),
    "barriers in loops": re.compile(r"\b(?:for|while) \([^{]*\{(?:[^}]|\}(?=\s*else))*\bbarrier\("),
    "reductions": re.compile(r"\borio_width\b"),
}


@dataclass(frozen=True, slots=True)
class SelfTestCase:
    """One kernel of the self-test: vectors of `width` lanes of `element`, or a kernel of groups.

    `feature` is what a message calls it: `double8`, `local memory`.
    """

    feature: str
    kernel: str
    element: str
    width: int

    @property
    def is_group(self) -> bool:
        """Whether the items of a group work together."""
        return self.kernel in GROUP_FEATURES


def self_test_cases(*, doubles: bool) -> tuple[SelfTestCase, ...]:
    """All cases for a device, those of one width next to each other; `doubles`: it has double precision."""
    real = _real(doubles)
    lanes = [
        SelfTestCase(f"{kind}{width if width > 1 else ''}", LANES, kind, width)
        for width in WIDTHS
        for kind in TYPES
        if doubles or kind != "double"
    ]
    groups = [SelfTestCase(feature, name, real, 1) for name, feature in GROUP_FEATURES.items()]
    return (*lanes, *groups)


def self_test_batches(cases: Sequence[SelfTestCase]) -> list[list[SelfTestCase]]:
    """The cases that can share a kernel, together."""
    return [list(batch) for _, batch in groupby(cases, lambda case: (case.kernel, case.width))]


def self_test_text(cases: Sequence[SelfTestCase], *, doubles: bool) -> str:
    """The kernels of some cases in OpenCL C; vectors are all of one width, and share one kernel."""
    return render(
        "opencl/self_test.cl.j2",
        doubles=doubles,
        real=_real(doubles),
        items=ITEMS,
        repeats=REPEATS,
        lanes=[_lanes(case) for case in cases if not case.is_group],
        groups=[{"name": case.kernel} for case in cases if case.is_group],
    )


def sum_type(element: str) -> str:
    """The type of a lane sum: wide enough for what the inputs add up to."""
    return element if element in _REALS else "long"


def uses_feature(text: str, feature: str) -> bool:
    """Whether the text of a kernel asks for a feature of the self-test.

    >>> uses_feature("const double8 v = vload8(0, &x[i]);", "double8")
    True
    >>> uses_feature("__kernel void f(__global double *x)", "double8")
    False
    """
    pattern = _USES.get(feature)
    return (
        re.search(rf"\b(?:convert_)?{feature}\b", text) is not None
        if pattern is None
        else bool(pattern.search(text))
    )


def _lanes(case: SelfTestCase) -> dict[str, str]:
    element, width = case.element, case.width
    vector = f"{element}{width}" if width > 1 else element
    wide = "double" if element == "double" else "float"
    total = sum_type(element)
    return {
        "element": element,
        "sum": total,
        "vector": vector,
        "load": f"vload{width}(item, x_{element})" if width > 1 else f"x_{element}[item]",
        "store": f"vstore{width}(w, item, y_{element})" if width > 1 else f"y_{element}[item] = w",
        "select": f"select(w, v, w > ({vector})(7))" if width > 1 else "w > 7 ? v : w",
        "converted": f"convert_{vector}(convert_{wide}{width if width > 1 else ''}(w))",
        "lanes_sum": " + ".join(f"({total}){lane}" for lane in _lane_names(width)),
    }


def _lane_names(width: int) -> Iterator[str]:
    if width == 1:
        yield "total"
    else:
        yield from (f"total.s{number:x}" for number in range(width))


def _real(doubles: bool) -> str:
    return "double" if doubles else "float"
