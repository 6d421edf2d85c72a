"""Threads that add to one number in memory, or raise a flag, compute the same, also in unrolled loops, bit for bit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

PROGRAM = """#include <stddef.h>
#include <stdio.h>
typedef long number;
#define ANY 9
struct inner {{ long odd; }};
struct state {{ number total; unsigned char few; unsigned flags; int n; struct inner part; int bits : 4; long square[2][4]; }};
static struct state whole;
static struct spot {{ long *place; }} far;
static long own[2][4], *rows[2] = {{own[0], own[1]}};
static void work(int n, int m, struct state *{promise} s, long *{promise} out, int *{promise} count, const long *x, int at)
{{
  int i, j;
  (void)j, (void)m, (void)s, (void)out, (void)at, (void)count;
  {before}
  /*@ begin Loop(transform {recipe}) @*/
  {loops}
  /*@ end @*/
  {behind}
}}
int main(void)
{{
  static struct state s;
  static long memory[2500], *x = memory + 20;
  static int count[8];
  for (int n = 0; n < 2000; n = 3 * n + 1)
    for (int near = 0; near < 3; near++) {{
      for (int i = 0; i < 2500; i++) memory[i] = (i * 7919L + 13) % 101 - 50;
      far.place = x + 20 * (near + 1);
      work(n, 5, &s, near ? x + 30 * (near - 1) : memory, count, x, 2);
      printf("%ld %d %u %d %d ", s.total, s.few, s.flags, s.n, s.bits);
      for (int i = 0; i < 60; i++) printf("%ld ", memory[i]);
    }}
  for (int i = 0; i < 8; i++) printf("%d %ld %ld ", count[i], own[i / 4][i % 4], whole.square[i / 4][i % 4]);
  work(9, 5, NULL, NULL, count, x, 2);
  printf("%ld %d\\n", whole.total, whole.n);
  return 0;
}}
"""

ACCEPTED = {
    "behind a pointer": ("for (i = 0; i < n; i++) if (x[i] > 200) *out += x[i];", "out_sum"),
    "an element": ("for (i = 0; i < n; i++) { if (x[i] > 200) out[at] -= 3; if (x[i] > 300) out[at + 1] -= x[i]; }", "out_at_1"),
    "members": (
        "for (i = 0; i < n; i++) { if (x[i] > 1) { whole.total += x[i]; whole.n++; } whole.few += 3; whole.flags |= 1u << (x[i] & 7); }",
        "reduction(|: whole_flags)",
    ),
    "in a nest": ("for (i = 0; i < n; i++) for (j = 0; j < m; j++) whole.total = whole.total + x[i + j];", "whole_total"),
    "a flag": ("int seen = 3; @@ for (i = 0; i < n; i++) if (x[i] == 17) seen = -1; @@ whole.n += seen;", "seen_set"),
    "flags": (
        "_Bool odd = 0; @@ for (i = 0; i < n; i++) { if (x[i] & 1) { odd = 1; whole.flags = 5; } else if (x[i] > 300) whole.few = ANY; } @@ whole.n += odd;",
        "reduction(|: ",
    ),
    "a flag in memory": ("for (i = 0; i < n; i++) for (j = 0; j < m; j++) if (x[i] > 60 + j) *out = 1;", "out_set"),
    "behind a null pointer": ("for (i = 0; i < n; i++) if (x[i] > 200) s->total += x[i];", "s_total"),
}  # fmt: skip
IN_SUMS = {
    "an element of a row": ("for (i = 0; i < n; i++) rows[1][at] += x[i];", "rows_1_at"),
    "behind a member": ("for (i = 0; i < n; i++) if (x[i] & 2) far.place[at] -= x[i] * 3;", "far_place_at"),
    "of a matrix": ("for (i = 0; i < n; i++) whole.square[1][at] += x[i];", "whole_square_1_at"),
}
UNROLLED = "Composite(unrolljam=(['{}'], [3]), parallelize=True)"


def _text(loops: str, promise: str, *, unrolls: bool = False) -> str:
    inner = "j" if "(j = 0" in loops else "i"
    recipe = UNROLLED.format(inner) if unrolls else "Parallelize()"
    before, code, behind = loops.split("@@") if "@@" in loops else ("", loops, "")
    return PROGRAM.format(before=before, loops=code, behind=behind, promise=promise, recipe=recipe)


@pytest.mark.parametrize("unrolls", [False, True])
@pytest.mark.parametrize("promise", ["", "restrict"])
@pytest.mark.parametrize("name", [*ACCEPTED, *IN_SUMS])
def test_numbers_in_memory(tmp_path: Path, name: str, promise: str, *, unrolls: bool) -> None:
    loops, part = (ACCEPTED | IN_SUMS)[name]
    text = _text(loops, promise, unrolls=unrolls)
    if promise and "out" in loops:
        text = text.replace("near < 3", "near < 1")
    try:
        new = transformed_file(text, {})
    except Refusal:
        # No test follows pointers that the loop need not follow.
        assert not promise
        assert "s->" in loops
        return
    assert part in new
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == compile_and_run(
        text, tmp_path, *checked()
    )


SUMS = {name: ACCEPTED[name] for name in ("behind a pointer", "an element", "members")} | IN_SUMS


@pytest.mark.parametrize("recipe", ["UnrollReduction(ufactor=3)", "Vectorize()"])
@pytest.mark.parametrize("promise", ["", "restrict"])
@pytest.mark.parametrize("name", SUMS)
def test_numbers_in_memory_of_one_thread(tmp_path: Path, name: str, promise: str, recipe: str) -> None:
    loops, part = SUMS[name]
    text = _text(loops, promise).replace("Parallelize()", recipe)
    if promise and "out" in loops:
        text = text.replace("near < 3", "near < 1")
    new = transformed_file(text, {})
    assert part.removeprefix("reduction(|: ").rstrip(")") in new
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == compile_and_run(
        text, tmp_path, *checked()
    )


@pytest.mark.parametrize("unrolls", [False, True])
@pytest.mark.parametrize(
    "loops",
    [
        "for (i = 0; i < n; i++) count[x[i] & 7]++;",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) count[x[j] & 7]++;",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) count[j] += x[i] & 3;",
    ],
)
def test_elements_of_unrolled_loops_are_added_up_by_one_thread_at_a_time(
    tmp_path: Path, loops: str, *, unrolls: bool
) -> None:
    text = _text(loops, "restrict", unrolls=unrolls)
    new = transformed_file(text, {})
    assert "omp atomic" in new or "reduction(+: count[0:m])" in new
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == compile_and_run(
        text, tmp_path, *checked()
    )


@pytest.mark.parametrize(
    "loops",
    [
        # It is read, changed in two ways or otherwise, lies elsewhere in each iteration, or is no number of its own.
        "for (i = 0; i < n; i++) { whole.total += x[i]; out[i] = whole.total; }",
        "for (i = 0; i < n; i++) { whole.total += x[i]; whole.total *= 2; }",
        "for (i = 0; i < n; i++) { whole.total += 1; whole.total |= 1; }",
        "for (i = 0; i < n; i++) whole.total = x[i] - whole.total;",
        "for (i = 0; i < n; i++) { s->total += x[i]; if (x[i] > 0) s++; }",
        "for (i = 0; i < n; i++) { out[at] += x[i]; at = 3; }",
        "for (i = 0; i < n; i++) whole.bits += 1;",
        "for (i = 0; i < n; i++) if (x[i] > 3) whole.bits = 1;",
        # The flag gets two values, or one of the iteration, or is read.
        "for (i = 0; i < n; i++) { if (x[i] > 3) whole.n = 1; if (x[i] < 0) whole.n = 2; }",
        "for (i = 0; i < n; i++) if (x[i] > 3) whole.total = x[i];",
        "for (i = 0; i < n; i++) { if (x[i] > 3) whole.n = 1; out[i] = whole.n; }",
        "for (i = 0; i < n; i++) if (x[i] > 3) out[i + (whole.n = 1)] = 2;",
    ],
)
def test_other_numbers_are_refused(loops: str) -> None:
    with pytest.raises(Refusal) as caught:
        transformed_file(_text(loops, "restrict"), {})
    assert caught.value.diagnostics[0].code in {"ORIO-T040", "ORIO-T041"}


@pytest.mark.parametrize(
    "recipe", ["Parallelize()", "Composite(parallelize=True)", "Composite(openmp=(True, 'omp parallel for'))"]
)
def test_what_a_pointer_leads_to_is_not_made_private(recipe: str) -> None:
    loops = "unsigned short k, *p = &k; @@ for (i = 1; i > 0; i--) for (k = 1; k < n; k++) out[*p] = x[k]; @@"
    text = _text(loops, "restrict").replace("transform Parallelize()", f"transform {recipe}")
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    assert caught.value.diagnostics[0].code in {"ORIO-T034", "ORIO-T040"}
    assert "private(k)" in transformed_file(text.replace("out[*p]", "(void)p, out[k]"), {})
