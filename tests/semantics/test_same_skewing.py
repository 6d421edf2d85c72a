"""Skewed, permuted and tiled nests with bounds that depend on each other run the iterations of the original."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from itertools import permutations as all_orders
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from same_result import Case, assert_same_results

from orio_py.ctree.nodes import Node
from orio_py.transformation.base import Context, Transformation
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.tiling.permute import Permut
from orio_py.transformation.tiling.skew import Skew
from orio_py.transformation.tiling.tile import Tile

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BATCH = 24
quick = settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

STARTS = {
    "i": ("0", "1", "s", "n - 1"),
    "j": ("0", "i", "i + 1", "i - 1", "n - i", "s", "2 * i", "(i < 3 ? 3 : i)"),
    "k": ("0", "j", "i", "j - i", "s", "i + 1", "n - j"),
}
BOUNDS = {
    "i": ("n", "m", "5", "n + s"),
    "j": ("m", "n", "i", "i + m", "n - i", "2 * i", "i + 3", "(i + 4 < m ? i + 4 : m)"),
    "k": ("m", "i", "j", "i + 2", "n - j", "i + j", "j + 2"),
}
# Sums of integers do not depend on the order of the iterations, so these show which ones are run.
COUNTS = (
    "c[(7 * i + 3 * j + 5 * k + 900) % 160] += 1; count += i * j + k;",
    "{ int t = i - j; c[t + 40] += 3; count += t * k + 1; }",
)
ORDERED = (
    "p[i + 9][j + 9] = p[i + 8][j + 9] * 0.5 + q[i + 9][j + 9];",
    "p[i + 9][j + 9] = p[i + 8][j + 10] + 1.0 / (j + 99);",
    "p[i + 9][j + 9] += p[i + 10][j + 8] / 3;",
    "p[i + 9][j + 9] = p[i + 9][j + 8] + p[i + 8][j + 9] + p[i + 10][j + 9] * 0.25;",
    "a[j + 20] = a[j + 19] * 0.5 + a[j + 20];",
    "a[j - i + 40] = a[j - i + 40] * 0.5 + b[j + 20];",
    "a[k + 30] = a[k + 29] * 0.5 + i + j;",
    "a[j + k + 40] = a[j + k + 40] * 0.5 + i;",
    "a[j + k + 40] = a[j + k + 39] * 0.5 + b[i + 20];",
    "p[i + 9][j + 9] = k * 0.5; acc = p[i + 9][j + 9];",
    "{ double t = q[i + 9][j + 9]; p[i + 9][j + 9] = t * t; b[i + 20] = j; }",
)


def names(*loops: str) -> tuple[LoopName, ...]:
    return tuple(LoopName((loop,)) for loop in loops)


@dataclass(frozen=True, slots=True)
class Steps:
    """One transformation after the other."""

    steps: tuple[Transformation, ...]

    def check(self, node: Node, context: Context) -> None:
        self.apply(node, context)

    def apply(self, node: Node, context: Context) -> Node:
        for step in self.steps:
            node = step.apply(node, context)
        return node


@st.composite
def headers(draw: st.DrawFn, index: str, *, strides: bool) -> str:
    start, bound = draw(st.sampled_from(STARTS[index])), draw(st.sampled_from(BOUNDS[index]))
    stride = draw(st.sampled_from([1, 1, 1, 1, 1, 2, 3])) if strides else 1
    upward, strict = draw(st.sampled_from([True, True, False])), draw(st.booleans())
    relation = ("<" if upward else ">") + ("" if strict else "=")
    if not upward:
        start, bound = bound, start
    declared = draw(st.sampled_from(["", "", "int "]))
    sign = "+" if upward else "-"
    step = f"{index}{sign}{sign}" if stride == 1 else f"{index} {sign}= {stride}"
    return f"for ({declared}{index} = {start}; {index} {relation} {bound}; {step})"


@st.composite
def nests(draw: st.DrawFn, *, ordered: bool, strides: bool = True) -> tuple[str, int, bool]:
    """A nest of two or three loops, its depth, and whether the indices may be read afterwards."""
    body = draw(st.sampled_from(ORDERED if ordered else COUNTS))
    deep = "k" in body and (not ordered or draw(st.booleans()))
    depth = 3 if deep or "k +" in body else 2
    loops = [draw(headers(index, strides=strides)) for index in "ijk"[:depth]]
    return f"{' '.join(loops)} {{ {body} }}", depth, not any("(int" in header for header in loops)


# Small enough for the matrices: `i` is at most 6 then, and `j` at most 12.
SIZES = st.lists(
    st.tuples(st.integers(-2, 2), st.integers(0, 4), st.integers(0, 5)), min_size=8, max_size=8
).map(lambda drawn: (*drawn, (0, 0, 0), (0, 4, 5), (1, 4, 4)))


@st.composite
def skews(draw: st.DrawFn, depth: int, most: int) -> tuple[Skew, ...]:
    pairs = [("j", "i"), ("k", "i"), ("k", "j")][: 1 if depth == 2 else 3]
    drawn = draw(st.lists(st.sampled_from(pairs), max_size=most))
    return tuple(Skew(loop, by, draw(st.sampled_from([1, 1, 2, -1, 0]))) for loop, by in drawn)


@st.composite
def permutations(draw: st.DrawFn, *, ordered: bool) -> Case:
    code, depth, shared = draw(nests(ordered=ordered))
    order = draw(st.permutations("ijk"[:depth]))
    steps = Steps((*draw(skews(depth, 1)), Permut(names(*order), force=not ordered)))
    finals = shared and len(steps.steps) == 1 and draw(st.booleans())
    kind = draw(st.sampled_from(["int", "int", "int", "long", "short"]))
    return Case(code, steps, kind, draw(SIZES), finals)


@st.composite
def tilings(draw: st.DrawFn, *, ordered: bool) -> Case:
    code, depth, shared = draw(nests(ordered=ordered))
    first, last = sorted(draw(st.sampled_from([(0, depth), (0, 2), (depth - 2, depth)])))
    band = "ijk"[first:last]
    sizes = tuple(draw(st.sampled_from([1, 2, 4, 6, 6, 12])) for _ in band)
    tile = Tile(sizes, tuple(index * 2 for index in band), names(*band), force=not ordered)
    steps = Steps((*draw(skews(depth, 2)), tile))
    finals = shared and len(steps.steps) == 1 and draw(st.booleans())
    kind = draw(st.sampled_from(["int", "int", "long"]))
    return Case(code, steps, kind, draw(SIZES), finals)


@st.composite
def skewed(draw: st.DrawFn) -> Case:
    code, depth, shared = draw(nests(ordered=draw(st.booleans())))
    steps = draw(skews(depth, 1)) or (Skew("j", "i", -3),)
    finals = shared and draw(st.booleans())
    return Case(code, Steps(steps), draw(st.sampled_from(["int", "long"])), draw(SIZES), finals)


@st.composite
def unsigned_cases(draw: st.DrawFn) -> Case:
    """Loops whose bounds stay above zero, so that they end in unsigned arithmetic too."""
    strict = draw(st.booleans())
    outer = f"for (i = {draw(st.sampled_from(['0', '1', 's']))}; i {'<' if strict else '<='} n; i++)"
    low = draw(st.sampled_from(["0", "i", "i + 1", "s", "2 * i", "n - i", "s + i"]))
    high = draw(st.sampled_from(["m", "n", "i", "i + m", "i + 3", "n + 1 - i", "2 * i"]))
    if draw(st.booleans()):
        inner = f"for (j = {low}; j {draw(st.sampled_from(['<', '<=']))} {high}; j++)"
    else:
        inner = f"for (j = {high}; j > {low}; j--)"
    order, skew = (
        draw(st.permutations("ij")),
        draw(st.sampled_from([(), (Skew("j", "i"),), (Skew("j", "i", 2),)])),
    )
    sizes = (draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([2, 4, 6])))
    last = draw(
        st.sampled_from([Permut(names(*order), force=True), Tile(sizes, ("ii", "jj"), names("i", "j"), True)])
    )
    kind = draw(st.sampled_from(["unsigned", "size_t", "unsigned short", "unsigned char"]))
    number = st.integers(0, 6)
    drawn = draw(st.lists(st.tuples(number, number, number), min_size=6, max_size=6))
    code = f"{outer} {inner} {{ c[(7 * i + 3 * j) % 160] += 1; count += (int)(i * j); }}"
    return Case(code, Steps((*skew, last)), kind, (*drawn, (0, 0, 0)), not skew and draw(st.booleans()))


def check(batch: list[Case]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return assert_same_results(batch, Path(folder))


def batches(cases: st.SearchStrategy[Case]) -> st.SearchStrategy[list[Case]]:
    return st.lists(cases, min_size=BATCH, max_size=BATCH)


KNOWN = (
    "for (i = 0; i < n; i++) for (j = 0; j <= i; j++)",
    "for (i = n - 1; i >= 0; i--) for (j = i; j < m; j++)",
    "for (i = s; i <= n; i++) for (j = i - m; j <= i + m; j++)",
    "for (i = 0; i < n; i++) for (j = 0; j < 2 * i; j++)",
    "for (i = s; i < n; i++) for (j = -m; j < 2 * i; j++)",
    "for (i = 0; i < n; i++) for (j = 3 * i + m; j > 3 * i; j--)",
    "for (i = 1; i < n; i++) for (j = 2 * i; j <= 2 * i + 1; j++)",
    "for (i = 0; i < n; i++) for (j = 0; j < m - i; j++) for (k = 0; k < m - i - j; k++)",
    "for (i = 0; i < n; i++) for (j = i; j < m; j++) for (k = i; k <= j; k++)",
    "for (i = 0; i < n; i++) for (j = 0; j <= i; j++) for (k = j - i; k < m; k++)",
    "for (k = 0; k < n; k += 4) for (i = k; i < (n - k < 4 ? n : k + 4); i++) for (j = 0; j <= i; j++)",
    "for (i = 0; i < n; i++) for (k = 0; k <= i; k += 3) for (j = k; j <= (i - k < 3 ? i : k + 2); j++)",
)
KNOWN_SIZES = tuple((s, n, m) for s in (-2, 1) for n in (0, 1, 4, 6) for m in (0, 1, 5))


def known_nests() -> list[tuple[str, list[str]]]:
    """The code of each known nest, and its indices, outermost first."""
    return [(f"{header} {{ {COUNTS[0]} }}", re.findall(r"for \((\w)", header)) for header in KNOWN]


def test_every_order_of_known_nests() -> None:
    cases = [
        Case(code, Permut(names(*order), force=True), "int", KNOWN_SIZES, len(indices) == 2)
        for code, indices in known_nests()
        for order in all_orders(indices)
    ]
    # In three orders of each of the last two nests, a loop over one tile would be outside that over tiles; and
    # the least `i` with `j < 2 * i` is a quotient of a number that may be negative.
    assert check(cases) == len(cases) - 7


@pytest.mark.proof
def test_known_bands_in_tiles() -> None:
    cases = [
        Case(
            code,
            Tile(sizes, tuple(x * 2 for x in band), names(*band), True),
            "int",
            KNOWN_SIZES,
            len(indices) == 2,
        )
        for code, indices in known_nests()
        for band in (tuple(indices), tuple(indices[:2]), tuple(indices[-2:]))
        for sizes in ((12, 12, 12)[: len(band)], (12, 4, 1)[-len(band) :])
    ]
    # The last nest has a loop in steps of 3, which the sizes 4 and 1 do not fit.
    assert check(cases) == len(cases) - 3


@quick
@given(batches(permutations(ordered=False)))
def test_permuted_nests_run_the_same_iterations(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 4


@quick
@given(batches(permutations(ordered=True)))
def test_permuted_nests_keep_dependences(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 8


@pytest.mark.proof
@quick
@given(batches(tilings(ordered=False)))
def test_tiled_bands_run_the_same_iterations(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 4


@pytest.mark.proof
@quick
@given(batches(tilings(ordered=True)))
def test_tiled_bands_keep_dependences(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 8


@quick
@given(batches(skewed()))
def test_skewed_nests(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 3


@quick
@given(batches(unsigned_cases()))
def test_unsigned_nests(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 8
