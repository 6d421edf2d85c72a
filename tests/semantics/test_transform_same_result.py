"""Original and variant compute the same, bit for bit, under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from c_programs import openmp
from c_trees import composite
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from same_result import Case, assert_same_results

from orio_py.transformation.base import Transformation
from orio_py.transformation.composite.composite import Composite
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.pragma import Pragma
from orio_py.transformation.tiling.permute import Permut
from orio_py.transformation.tiling.tile import Tile
from orio_py.transformation.unrolling.unroll import Unroll
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BATCH = 24
# No shrinking: a failure names its one case, and each attempt costs a compilation.
quick = settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

SIGNED = ("int", "long", "short")
UNSIGNED = ("unsigned", "unsigned long")

BODIES = (
    "a[X] = a[X] * 2.0 + b[X] / 3;",
    "a[X] = a[X - 1] + 2.0 / (X);",
    "acc += a[X]; count = count * 3 % 1001 + c[X];",
    "{ double t = a[X] * 0.5; /* half */ acc = acc + t; b[X] = t; }",
    "if (c[X] % 2) count += 7 / 2; else a[X] += 7 / 2 * 1.0;",
    "{ c[X] = (int)(X) / 2; count -= c[X]; }",
    "for (int t = 0; t < 3; t++) { if (t == 2) break; a[X + t] += t * 1e-1; }",
    "switch (c[X] % 3) { case 0: acc += 1; break; case 1: a[X] = 0; default: count++; }",
)


@st.composite
def loops(draw: st.DrawFn) -> tuple[str, str, tuple[tuple[int, int, int], ...]]:
    """A single loop, the type of its index, and sizes for which it ends and stays inside the arrays."""
    kind = draw(st.sampled_from(SIGNED + UNSIGNED))
    stride = draw(st.integers(1, 4))
    upward = draw(st.booleans())
    strict = draw(st.booleans())
    natural = kind in UNSIGNED
    lowest = 0 if natural else -9
    near = str(draw(st.integers(4 if natural else lowest, 12)))
    far = str(draw(st.integers(4, 30)))
    low = draw(st.sampled_from(["s", "s + 1", near, "0" if upward or not natural else "4"]))
    high = draw(st.sampled_from(["n", "n - 1", far, "c[3] % 16 + 9"]))
    mirrored = draw(st.booleans())
    start, bound = (low, high) if upward else (high, low)
    relation = ("<" if upward else ">") + ("" if strict else "=")
    flipped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[relation]
    test = f"{bound} {flipped} i" if mirrored else f"i {relation} {bound}"
    sign = "+" if upward else "-"
    step = draw(st.sampled_from([f"i {sign}= {stride}", f"i = i {sign} {stride}"]))
    if stride == 1 and draw(st.booleans()):
        step = f"i{sign}{sign}"
    declared = draw(st.booleans())
    body = "\n".join(draw(st.lists(st.sampled_from(BODIES), min_size=1, max_size=3)))
    body = body.replace("X", "i + 40").replace("i + 40 - 1", "i + 39")
    if "c[" in bound:
        body = body.replace("c[i + 40] =", "b[i + 40] =")
    code = f"for ({kind + ' ' if declared else ''}i = {start}; {test}; {step}) {{ {body} }}"
    first = 4 if natural else lowest
    number = st.integers(first, 30)
    sizes = tuple(draw(st.lists(st.tuples(number, number, number), min_size=3, max_size=5)))
    return code, kind, ((first, first, 1), (first + 1, first + 2, 1), *sizes)


def check(batch: list[Case], *flags: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return assert_same_results(batch, Path(folder), *flags)


def cases_of(make: Callable[[int], Transformation], *, finals: bool) -> st.SearchStrategy[list[Case]]:
    one = st.builds(
        lambda loop, factor, final: Case(
            loop[0], make(factor), loop[1], loop[2], final and finals and loop[0].startswith("for (i =")
        ),
        loops(),
        st.integers(1, 9),
        st.booleans(),
    )
    return st.lists(one, min_size=BATCH, max_size=BATCH)


@quick
@given(cases_of(lambda factor: Unroll(factor), finals=True))
def test_unroll(batch: list[Case]) -> None:
    assert check(batch) == BATCH


@quick
@given(cases_of(lambda factor: Unroll(factor, canonical=True), finals=True))
def test_unroll_with_a_plain_main_loop(batch: list[Case]) -> None:
    assert check(batch) == BATCH


@quick
@given(cases_of(lambda factor: Tile(12 * ((factor + 1) // 2), "ii"), finals=False))
def test_tile(batch: list[Case]) -> None:
    assert check(batch) == BATCH


@quick
@given(cases_of(lambda factor: Unroll(factor, parallelize=True), finals=False))
def test_unroll_parallelized(batch: list[Case]) -> None:
    check(batch, *openmp())


@quick
@given(cases_of(lambda factor: Pragma(("GCC ivdep",) * (factor % 2)), finals=True))
def test_pragma(batch: list[Case]) -> None:
    batch = [case for case in batch if "a[i + 39]" not in case.code]
    assert check(batch) == len(batch)


NEST_BODIES = (
    "p[i][j] += q[i][k] * r[k][j];",
    "p[i][j] = p[i][j] * 0.5 + q[j][i];",
    "p[i + 1][j] = p[i][j + 1] + 1.0;",
    "p[i + 1][j + 1] = p[i][j] + 1.0 / 3;",
    "acc += p[i][j];",
    "c[j] = c[j] + 7 / 2;",
    "p[j][i] = q[i][j] + (k + 1) * 2.0;",
    "{ double t = q[i][j]; p[i][j] = t * t; }",
    "if (c[j] > 4000) p[i][j] = 0; else r[i][j] += q[j][i];",
)
HEADERS = {
    "i": ("i = 0; i < n; i++", "i = n - 1; i >= 0; i--", "i = 1; i <= n - 1; i += 2"),
    "j": ("j = 0; j < m; j++", "j = 0; j <= i; j++", "j = i; j < m; j += 3", "j = m - 1; j >= 0; j--"),
    "k": ("k = 0; k < n; k++", "k = 0; k < 6; k++", "int k = m - 1; k > 0; k -= 2"),
}
NEST_SIZES = ((0, 0, 0), (0, 1, 1), (0, 0, 5), (0, 7, 5), (0, 13, 12), (0, 16, 17))


@st.composite
def nests(draw: st.DrawFn) -> tuple[str, bool]:
    """A nest of two or three loops, perfect or not, and whether the index `k` is used."""
    header = {name: draw(st.sampled_from(choices)) for name, choices in HEADERS.items()}
    body = draw(st.sampled_from(NEST_BODIES))
    deep = "k" in body
    inner = f"for ({header['k']}) {{ {body} }}" if deep else body
    if deep and draw(st.booleans()):
        inner = f"{{ p[i][j] = 0; {inner} }}"
    middle = f"for ({header['j']}) /* row */ {inner}"
    if draw(st.sampled_from([False, False, True])):
        middle = f"{{ a[i] = 1; {middle} b[i] += p[i][0]; }}"
    return f"for ({header['i']}) {middle}", deep


def order(*names: str) -> tuple[LoopName, ...]:
    return tuple(LoopName((name,)) for name in names)


def maybe(*names: str) -> tuple[LoopName, ...]:
    return tuple(LoopName((name,), optional=True) for name in names)


@st.composite
def composites(draw: st.DrawFn) -> Composite:
    size = st.sampled_from([1, 2, 6, 12])
    factor = st.integers(1, 4)
    tiled = draw(st.lists(st.sampled_from("ijk"), unique=True))
    tiles: list[tuple[object, int, str]] = [([name], draw(size), name * 2) for name in tiled]
    if draw(st.booleans()):
        tiles.append((("ii", "i"), draw(size), "iii"))
    names = draw(st.permutations(["ii", "jj", "kk", "i", "j", "k"]))
    permut = [[[name] for name in names]] if draw(st.booleans()) else []
    unroll = draw(st.lists(st.tuples(st.sampled_from("ijk"), factor), unique_by=lambda pair: pair[0]))
    return composite(
        tile=tiles,
        permut=permut,
        unrolljam=([name for name, _ in unroll], [number for _, number in unroll]),
        pragma=draw(st.sampled_from([[], [("i", "GCC unroll 2")]])),
        openmp=(draw(st.booleans()), ("omp parallel for",)),
        vector=(draw(st.booleans()), (draw(st.sampled_from(["ivdep", "omp simd", "vector always"])),)),
    )


def nest_cases(transformations: st.SearchStrategy[Transformation]) -> st.SearchStrategy[list[Case]]:
    one = st.builds(
        lambda nest, transformation: Case(nest[0], transformation, sizes=NEST_SIZES), nests(), transformations
    )
    return st.lists(one, min_size=BATCH, max_size=BATCH)


@quick
@given(nest_cases(st.permutations(["i", "j", "k"]).map(lambda names: Permut(maybe(*names)))))
def test_permut(batch: list[Case]) -> None:
    check(batch)


@quick
@given(nest_cases(st.integers(1, 5).map(lambda factor: UnrollAndJam(factor))))
def test_unroll_and_jam(batch: list[Case]) -> None:
    check(batch)


@quick
@given(nest_cases(st.just(OpenMP(True, ("omp parallel for",)))))
def test_openmp(batch: list[Case]) -> None:
    check(batch, *openmp())


@pytest.mark.proof
@settings(quick, max_examples=3)
@given(nest_cases(composites()))
def test_composite(batch: list[Case]) -> None:
    check(batch, *openmp())


EDGES = (
    "for (i = INT_MAX - 9; i < n; i += 2) { count += i % 7; a[INT_MAX - i] += 1; }",
    "for (i = s; i < n; i++) { count += i % 7; a[INT_MAX - i] += 1; }",
    "for (i = s; i <= n - 1; i += 3) { count += i % 7; a[INT_MAX - i] += 1; }",
    "for (i = n; i > s; i -= 2) { count += i % 7; a[INT_MAX - i] += 1; }",
    "for (i = s; i < INT_MAX; i++) { count += i % 7; a[INT_MAX - i] += 1; }",
)
TOP = 2**31 - 1


@pytest.mark.proof
def test_unroll_at_the_end_of_the_type() -> None:
    sizes = tuple((TOP - low, TOP - high, 0) for low in (30, 9, 1) for high in (12, 5, 3))
    lowest = tuple((-(2**31) + 1, -(2**31) + 1 + width, 0) for width in (0, 1, 2, 9))
    down = "for (i = n; i > s; i--) { count += i % 7; a[i - s] += 1; }"
    up = "for (i = s; i < n; i += 2) { count += i % 7; a[i - s] += 1; }"
    for canonical in (False, True):
        cases = [
            Case(code, Unroll(factor, canonical=canonical), sizes=sizes, final_indices=True)
            for code in EDGES
            for factor in (2, 4, 7)
        ]
        cases += [
            Case(code, Unroll(f, canonical=canonical), sizes=lowest) for code in (up, down) for f in (2, 5)
        ]
        assert check(cases) == len(cases)


@pytest.mark.proof
def test_unsigned_loops_near_zero() -> None:
    sizes = ((0, 0, 0), (0, 1, 1), (0, 2, 0), (3, 5, 0), (5, 3, 0), (0, 9, 0))
    codes = (
        "for (i = 0; i < n; i++) a[i] += 1;",
        "for (i = n; i > 0; i--) a[i - 1] += i;",
        "for (i = s; i < n; i++) a[i] += 1;",
        "for (i = n; i > s; i--) a[i] += i;",
        "for (i = n; i >= 1; i--) a[i] += i;",
    )
    for kind in ("unsigned", "unsigned long", "unsigned char", "size_t"):
        cases = [
            Case(code, transformation, kind, sizes)
            for code in codes
            for transformation in (Unroll(3), Unroll(4, canonical=True), Tile(4, "ii"), Tile(2, "ii"))
        ]
        assert check(cases) == len(cases)


def test_a_chosen_bound_below_zero_of_a_short_unsigned_index() -> None:
    sizes = ((0, 0, 1), (1, 0, 3), (3, 5, 0), (9, 12, 4), (12, 9, 4))
    code = "for (k = 2; k <= (n > m ? m : n - s); k++) a[k] += k;"
    kinds = ("unsigned char", "unsigned short")
    cases = [Case(code, Unroll(factor), kind, sizes) for kind in kinds for factor in (2, 5)]
    assert check(cases) == len(cases)
