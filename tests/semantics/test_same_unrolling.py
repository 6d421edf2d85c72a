"""Unrolling in all its forms keeps every result: register tiles, reductions, peeled iterations."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from c_programs import openmp
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from same_result import Case, assert_same_results

from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Transformation
from orio_py.transformation.unrolling.peel import Peel
from orio_py.transformation.unrolling.reg_tile import RegTile
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam as UnrollJam
from orio_py.transformation.unrolling.unroll_reduction import UnrollReduction

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BATCH = 24
# No shrinking: a failure names its one case, and each attempt costs a compilation.
quick = settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


def check(batch: list[Case], *flags: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return assert_same_results(batch, Path(folder), *flags)


@dataclass(frozen=True, slots=True)
class Promised(Case):
    """A case in which the order of additions is free; its numbers are such that sums are exact."""

    @property
    def context(self) -> Context:
        return replace(Case.context.fget(self), assumptions=Assumptions(reassociate=True))  # type: ignore[attr-defined]


# Register tiles over ranges of every shape.

BODIES = (
    "p[i][j] += q[j][i];",
    "p[i][j] = p[i][j] * 0.5 + q[i][j];",
    "{ double t = q[i][j]; p[i][j] = t * t; }",
    "if (c[j] > 4000) p[i][j] = 0; else r[i][j] += q[j][i];",
    "p[i + 1][j] = p[i][j + 1] + 1.0;",
    "p[i + 1][j + 1] = p[i][j] + 1.0;",
    "p[j][i] = q[i][j] + (i + 2 * j) * 2.0;",
    "c[j] = c[j] + 7 / 2;",
    "a[j] += q[i][j];",
)
INNERMOST = ("p[i][j] += q[i][k] * r[k][j];", "p[i][k] += q[j][k];", "p[i][j] += k; q[k][j] *= 0.5;")
STARTS = ("0", "s", "i", "i - 2", "s + 1", "2 * i", "m - i", "(i > 4 ? i - 4 : 0)", "i + 1", "3 - i", "-i")
BOUNDS = ("n", "m", "i", "i + 3", "2 * i + 1", "m - i", "n - 2", "(i + 5 < m ? i + 5 : m)", "i - 1", "m + i")
NATURAL_STARTS = ("0", "s", "i", "2 * i", "i + 1", "(i > 4 ? i - 4 : 0)", "s + 2")
NATURAL_BOUNDS = ("n", "m", "i + 3", "2 * i + 1", "(i + 5 < m ? i + 5 : m)", "i", "n + 1")
SIZES = ((0, 0, 0), (0, 1, 1), (0, 2, 5), (1, 5, 2), (0, 7, 5), (2, 11, 13), (0, 16, 17), (3, 13, 4))
"""Values of s, n and m: every remainder of small factors, and empty ranges."""


@st.composite
def headers(draw: st.DrawFn, index: str, low: str, high: str, strides: tuple[int, ...], sign: bool) -> str:
    """A loop header over the values between two expressions, upward or downward."""
    stride = draw(st.sampled_from(strides))
    upward, strict = draw(st.booleans()), draw(st.booleans())
    start, bound = (low, high) if upward else (high, low)
    if not (upward or sign):
        # An unsigned index must be able to fail the test.
        start, bound, strict = f"({start}) + 3", "2", True
    relation = ("<" if upward else ">") + ("" if strict else "=")
    kind = draw(st.sampled_from(["", "", "int "])) if sign else ""
    return f"{kind}{index} = {start}; {index} {relation} {bound}; {index} {'+' if upward else '-'}= {stride}"


def guarded(body: str, names: str, *, sign: bool) -> str:
    """A body that runs only where its subscripts lie inside the arrays."""
    tests = [f"{name} {test}" for name in names for test in (("< 22", ">= 0") if sign else ("< 22",))]
    return f"if ({' && '.join(tests)}) {{ {body} }}"


@st.composite
def nests(draw: st.DrawFn) -> tuple[str, str]:
    """A nest in which the range of an inner loop may depend on outer indices, and the type of its indices."""
    kind = draw(st.sampled_from(["int", "int", "long", "unsigned"]))
    sign = kind != "unsigned"
    starts, bounds = (STARTS, BOUNDS) if sign else (NATURAL_STARTS, NATURAL_BOUNDS)
    low, high = draw(st.sampled_from(["0", "s", "2"])), draw(st.sampled_from(["n", "m"]))
    outer = draw(headers("i", low, high, (1, 1, 2), sign))
    inner = draw(
        headers("j", draw(st.sampled_from(starts)), draw(st.sampled_from(bounds)), (1, 1, 1, 2), sign)
    )
    if draw(st.booleans()):
        start = draw(st.sampled_from([*starts, "j", "j"]))
        third = draw(headers("k", start, draw(st.sampled_from(["m", "n", "i", "j", "6"])), (1, 1, 2), sign))
        body = guarded(draw(st.sampled_from(INNERMOST)), "ijk", sign=sign)
        body = f"for ({third}) {body}"
        if draw(st.booleans()):
            body = f"{{ {guarded('p[i][j] = 0;', 'ij', sign=sign)} {body} }}"
    else:
        body = guarded(draw(st.sampled_from(BODIES)), "ij", sign=sign)
    nest = f"for ({inner}) {body}"
    if draw(st.sampled_from([False, False, True])):
        nest = f"{{ if (i < 90) a[i + 30] = 1; {nest} if (i < 90) b[i + 30] += 2; }}"
    return f"for ({outer}) {nest}", kind


def nest_cases(steps: st.SearchStrategy[Transformation], *, finals: bool) -> st.SearchStrategy[list[Case]]:
    one = st.builds(
        lambda nest, step, final: Case(
            nest[0],
            step,
            nest[1],
            SIZES,
            final and finals and "int " not in nest[0] and nest[1] != "unsigned",
        ),
        nests(),
        steps,
        st.sampled_from([False, False, True]),
    )
    return st.lists(one, min_size=BATCH, max_size=BATCH)


TILES = st.builds(
    lambda factors, canonical: RegTile(tuple("ijk"), factors, optional=True, canonical=canonical),
    st.tuples(st.integers(2, 4), st.integers(1, 3), st.integers(1, 2)),
    st.booleans(),
)


@pytest.mark.proof
@quick
@given(nest_cases(TILES, finals=True))
def test_register_tiles(batch: list[Case]) -> None:
    assert check(batch) >= 6


@pytest.mark.proof
@quick
@given(nest_cases(st.integers(2, 5).map(lambda factor: UnrollJam(factor)), finals=True))
def test_unroll_and_jam_of_any_ranges(batch: list[Case]) -> None:
    assert check(batch) >= 12


@pytest.mark.proof
@quick
@given(nest_cases(st.integers(2, 4).map(lambda factor: UnrollJam(factor, parallelize=True)), finals=False))
def test_unroll_and_jam_parallelized(batch: list[Case]) -> None:
    assert check(batch, *openmp()) >= 1


# Single loops.


@st.composite
def loops(
    draw: st.DrawFn, bodies: tuple[str, ...], *, most: int
) -> tuple[str, str, tuple[tuple[int, int, int], ...]]:
    """A loop with some of the bodies, its kind, and sizes; subscripts are `X`."""
    kind = draw(st.sampled_from(["int", "long", "short", "unsigned", "unsigned long"]))
    natural = kind.startswith("unsigned")
    lowest = 4 if natural else -9
    stride, upward, strict = draw(st.integers(1, 4)), draw(st.booleans()), draw(st.booleans())
    low = draw(st.sampled_from(["s", "s + 1", str(draw(st.integers(lowest, 12))), "4"]))
    high = draw(st.sampled_from(["n", "n - 1", str(draw(st.integers(4, 30)))]))
    start, bound = (low, high) if upward else (high, low)
    relation = ("<" if upward else ">") + ("" if strict else "=")
    step = f"i {'+' if upward else '-'}= {stride}"
    declared = draw(st.booleans())
    body = " ".join(draw(st.lists(st.sampled_from(bodies), min_size=1, max_size=most))).replace("X", "i + 40")
    code = f"for ({kind + ' ' if declared else ''}i = {start}; i {relation} {bound}; {step}) {{ {body} }}"
    number = st.integers(lowest, 30)
    sizes = tuple(draw(st.lists(st.tuples(number, number, number), min_size=4, max_size=6)))
    return code, kind, ((lowest, lowest, 1), (lowest + 1, lowest + 2, 1), *sizes)


EXACT = (
    "acc += c[X];",
    "acc = acc - c[X] * 2;",
    "count += c[X];",
    "count = count - c[X];",
    "count++;",
    "b[X] += acc2;",
    "count ^= c[X];",
    "if (c[X] % 2) count -= c[X]; a[X] = c[X];",
    "for (int t = 0; t < 3; t++) acc += c[X + t];",
    "{ double t = c[X]; acc += t; /* sum */ }",
)
EXTREMES = (
    "acc = acc < c[X] ? c[X] : acc;",
    "if (acc > a[X]) acc = a[X];",
    "count = c[X] > count ? c[X] : count;",
    "if (count >= c[X]) { count = c[X]; }",
    "acc = c[X] < acc ? c[X] : acc;",
)


@quick
@given(
    st.lists(
        st.builds(
            lambda loop, factor, final: Promised(
                loop[0].replace("acc2", "0.5"),
                UnrollReduction(factor),
                loop[1],
                loop[2],
                final and loop[0].startswith("for (i ="),
            ),
            st.one_of(loops(EXACT, most=3), loops(EXTREMES, most=1)),
            st.integers(1, 9),
            st.booleans(),
        ),
        min_size=BATCH,
        max_size=BATCH,
    )
)
def test_reductions(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 2


def test_integer_sums_do_not_overflow_where_the_original_does_not() -> None:
    sizes = ((0, 24, 0), (0, 7, 0), (0, 25, 0), (0, 0, 0))
    # With an even factor some accumulators get only positive terms, the others only negative ones.
    cases = [
        Case(f"for (i = 0; i < n; i++) count += (i % 2 == 0 ? {value} : -{value});", step, sizes=sizes)
        for value in (1000000000, 2000000000)
        for step in (UnrollReduction(2), UnrollReduction(4), UnrollReduction(5))
    ]
    assert check(cases) == len(cases)


BODIES_IN_ORDER = (
    "a[X] = a[X] * 2.0 + b[X] / 3;",
    "a[X] = a[X - 1] + 2.0 / (X);",
    "acc += a[X] * i; count = count * 3 % 1001 + c[X];",
    "{ double t = a[X] * 0.5; /* half */ acc = acc + t; b[X] = t; }",
    "if (i > 3) a[X] = a[X - 3] / i; else a[X] += 7 / 2 * 1.0;",
    "switch (c[X] % 3) { case 0: acc += 1; break; case 1: a[X] = 0; default: count++; }",
    "for (int t = i; t < i + 3; t++) { if (t == 2) break; a[t + 40] += t * 1e-1; }",
)


@quick
@given(
    st.lists(
        st.builds(
            lambda loop, first, last, final: Case(
                loop[0],
                Peel(first, last),
                loop[1],
                loop[2],
                final and loop[0].startswith("for (i ="),
            ),
            loops(BODIES_IN_ORDER, most=2),
            st.integers(0, 4),
            st.integers(0, 4),
            st.booleans(),
        ),
        min_size=BATCH,
        max_size=BATCH,
    )
)
def test_peeled_iterations(batch: list[Case]) -> None:
    assert check(batch) >= BATCH * 2 // 3


def test_peeling_and_reductions_near_the_ends_of_the_types() -> None:
    top, bottom = 2**31 - 1, -(2**31)
    sizes = tuple((top - low, top - high, 0) for low in (30, 9, 1) for high in (12, 5, 3))
    lowest = tuple((bottom + 1, bottom + 1 + width, 0) for width in (0, 1, 2, 9))
    up = (
        "for (i = s; i < n; i++) { count += i % 7; a[INT_MAX - i] += 1; }",
        "for (i = s; i <= n - 1; i += 3) { count += i % 7; a[INT_MAX - i] += 1; }",
        "for (i = n; i > s; i -= 2) { count += i % 7; a[INT_MAX - i] += 1; }",
        "for (i = INT_MAX - 9; i < n; i += 2) { count += i % 7; a[INT_MAX - i] += 1; }",
    )
    down = (
        "for (i = n; i > s; i--) { count += i % 7; a[i - s] += 1; }",
        "for (i = s; i < n; i += 2) { count += i % 7; a[i - s] += 1; }",
    )
    steps = (Peel(1), Peel(0, 1), Peel(2, 2), UnrollReduction(3))
    cases = [Case(code, step, sizes=sizes, final_indices=True) for code in up for step in steps]
    cases += [Case(code, step, sizes=lowest, final_indices=True) for code in down for step in steps]
    assert check(cases) == len(cases)


def test_unsigned_loops_near_zero() -> None:
    sizes = ((0, 0, 0), (0, 1, 1), (0, 2, 0), (3, 5, 0), (5, 3, 0), (0, 9, 0))
    codes = (
        "for (i = 0; i < n; i++) { a[i] += 1; count ^= i; }",
        "for (i = n; i > 0; i--) { a[i - 1] += i; count ^= i; }",
        "for (i = s; i <= n; i++) { a[i] += 1; count ^= i; }",
        "for (i = n; i > s; i--) { a[i] += i; count ^= i; }",
        "for (i = n; i >= 1; i--) { a[i] += i; count ^= i; }",
    )
    for kind in ("unsigned", "unsigned long", "size_t"):
        cases = [
            Case(code, step, kind, sizes, final_indices=True)
            for code in codes
            for step in (Peel(1), Peel(0, 1), Peel(2, 1), UnrollReduction(3))
        ]
        assert check(cases) == len(cases)
