"""Code after a transformed nest reads the indices that the original nest leaves."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from same_result import Case, assert_same_results

from orio_py.ctree.build import assign, block
from orio_py.ctree.loops import nest
from orio_py.ctree.nodes import Compound, For, Node
from orio_py.transformation.base import Context
from orio_py.transformation.final_index import with_final_indices
from orio_py.transformation.forms import loop_view
from orio_py.transformation.sites import rewrite_where

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BATCH = 24
quick = settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


@dataclass(frozen=True, slots=True)
class Clobber:
    """Leaves the nest as it is, spoils its indices, and asks for their final values."""

    def apply(self, node: Node, context: Context) -> Node:
        target = (
            next(n for n in [node, *(node.block_items or [])] if isinstance(n, For))
            if isinstance(node, Compound)
            else node
        )
        return rewrite_where(node, lambda n: n is target, self._spoilt, context)

    def _spoilt(self, node: Node, context: Context) -> Node:
        loops = nest(loop_view(node, "Clobber", context))
        spoilt = [assign(loop.index, 99) for loop in loops if loop.declared_type is None]
        return with_final_indices(block(node, *spoilt), loops, "Clobber", context)


STARTS = {
    "i": ("0", "s", "3", "n - 1", "s + 1"),
    "j": ("0", "i", "s", "2", "m - i"),
    "k": ("0", "j", "i + 1", "n"),
}
BOUNDS = {
    "i": ("n", "n - 1", "9", "0", "m"),
    "j": ("m", "i", "n - i", "7", "i + 2"),
    "k": ("n", "i", "m - j", "4"),
}
KINDS = ("int", "long", "short", "signed char")
INDEX_KINDS = ("int", "long", "short", "unsigned", "size_t", "unsigned char")


@st.composite
def headers(draw: st.DrawFn, index: str) -> str:
    start, bound = draw(st.sampled_from(STARTS[index])), draw(st.sampled_from(BOUNDS[index]))
    stride = draw(st.sampled_from([1, 1, 1, 2, 3, 4]))
    upward, strict = draw(st.booleans()), draw(st.booleans())
    relation = ("<" if upward else ">") + ("" if strict else "=")
    if not upward and draw(st.booleans()):
        start, bound = bound, start
    kind = draw(st.sampled_from(["", "", "", "", "int "]))
    sign = "+" if upward else "-"
    step = f"{index}{sign}{sign}" if stride == 1 else f"{index} {sign}= {stride}"
    return f"for ({kind}{index} = {start}; {index} {relation} {bound}; {step})"


@st.composite
def cases(draw: st.DrawFn) -> Case:
    depth = draw(st.integers(1, 3))
    loops = [draw(headers(index)) for index in "ijk"[:depth]]
    live = [x for x, h in zip("ijk", loops, strict=False) if f"({x} =" in h and draw(st.booleans())]
    reads = " ".join(f"b[{number}] = {x};" for number, x in enumerate(live))
    number = st.integers(-4, 12)
    sizes = tuple(draw(st.lists(st.tuples(number, number, number), min_size=8, max_size=8)))
    code = f"{' '.join(loops)} count++; acc = 2; {reads}"
    return Case(code, Clobber(), draw(st.sampled_from(KINDS)), sizes)


@st.composite
def typed_cases(draw: st.DrawFn) -> Case:
    """Indices of other types than the bounds, in loops that end whatever the types make of the values."""
    depth = draw(st.integers(1, 3))
    code, reads, declared = "", "", ""
    for number, index in enumerate("ijk"[:depth]):
        kind, stride = draw(st.sampled_from(INDEX_KINDS)), draw(st.integers(1, 4))
        outer = draw(st.sampled_from(["n", *"ij"[:number]]))
        low, high = (
            draw(st.sampled_from(["0", "s", "s + 1", outer])),
            draw(st.sampled_from(["n + 3", "m + 2", "8"])),
        )
        strict = draw(st.sampled_from(["", "="]))
        if draw(st.booleans()):
            header = f"{index} = {low}; {index} <{strict} {high}; {index} += {stride}"
        else:
            header = f"{index} = {high} + 1; {index} >{strict} {low} + 4; {index} -= {stride}"
        declared += f"{kind} {index} = 5; "
        code += f"for ({header}) "
        reads += f"c[{number}] = (int){index}; " * draw(st.booleans())
    number = st.integers(0, 12)
    sizes = tuple(draw(st.lists(st.tuples(number, number, number), min_size=8, max_size=8)))
    kind = draw(st.sampled_from([*KINDS, "unsigned", "size_t"]))
    return Case(f"{{ {declared} {code} count++; acc = 2; {reads} }}", Clobber(), kind, sizes)


@quick
@given(st.lists(cases(), min_size=BATCH, max_size=BATCH))
def test_nests(batch: list[Case]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert assert_same_results(batch, Path(folder)) >= BATCH // 3


@quick
@given(st.lists(typed_cases(), min_size=BATCH, max_size=BATCH))
def test_indices_of_other_types(batch: list[Case]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert assert_same_results(batch, Path(folder)) >= BATCH // 4
