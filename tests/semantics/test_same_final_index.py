"""Code after a transformed nest reads the indices that the original nest leaves."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file
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


MEMBERS = """#include <stdio.h>
#include <stddef.h>
struct box {{ size_t z; long l; unsigned long long u; short s; double *x; }};
{functions}
int main(void)
{{
  static double x[80];
  for (int n = 0; n < 20; n++) {{
    struct box p = {{n, n, n, n, x}};
    {calls}
    for (int i = 0; i < 80; i++) printf("%g ", x[i]);
    puts("");
  }}
  return 0;
}}
"""
FUNCTION = """static int work_{number}(struct box *p, size_t *limit)
{{
  {kind} i = 7;
  (void)limit;
  /*@ begin Loop(transform {recipe}) @*/
  for (i = {start}; i < {bound}; i++)
    p->x[i] += i;
  /*@ end @*/
  return (int)i;
}}
"""


def test_bounds_that_are_members_of_any_integer_type(tmp_path: Path) -> None:
    """The index has the value that the loop leaves, however wide its bound in memory is."""
    kinds = [("int", "p->l"), ("long", "p->l"), ("short", "p->s"), ("long", "p->s"), ("size_t", "p->z")]
    kinds += [("size_t", "p->u"), ("unsigned", "p->z"), ("size_t", "*limit")]
    jammed = "Composite(unrolljam=(['i'],[2]), vectorize=True)"
    functions = [
        FUNCTION.format(number="{}", kind=kind, recipe=recipe, start=start, bound=bound.format(member))
        for kind, member in kinds
        for recipe in ("Vectorize()", jammed, "Parallelize()")
        for start, bound in (("0", "{}"), ("1", "{} + 1"), ("0", "{} >> 1"))
    ]
    calls = [f'printf("%d ", work_{k}(&p, &p.z));' for k in range(len(functions))]
    numbered = [text.replace("work_{}", f"work_{k}") for k, text in enumerate(functions)]
    source = MEMBERS.format(functions="\n".join(numbered), calls="\n".join(calls))
    programs = (transformed_file(source, {}), source)
    outputs = [compile_and_run(program, tmp_path, "-w", *checked(), *openmp()) for program in programs]
    assert outputs[0] == outputs[1]
