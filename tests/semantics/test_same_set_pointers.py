"""Pointers in memory that one statement sets and another follows under a different name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
struct grid {{ int n; double *x, *y; double own[24]; }};
struct links {{ int n; struct grid *one, *two, in; }};
static struct grid field;
static double *line;
static void f(int n, double *restrict a, struct grid *g, struct grid *h, double *other)
{{
  struct grid held = {{5, other + 24, other + 48, {{0.5, 1.5}}}};
  struct links links = {{4, &held, &field, {{5, other + 24, other + 48, {{0.5, 1.5}}}}}};
  struct links *chain = &links;
  double **to_held = &held.x, **to_line = &line, *own = other + 24, **to_own = &own;
  int i;
  (void)g, (void)h, (void)chain, (void)to_held, (void)to_line, (void)to_own;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
int main(void)
{{
  double a[40], other[100];
  for (int same = 0; same < 2; same++)
    for (int n = 0; n < 20; n++) {{
      struct grid one = {{3, other, other + 24, {{1}}}}, two = {{3, other + 30, other + 24, {{2}}}};
      for (int i = 0; i < 40; i++) a[i] = i;
      for (int i = 0; i < 100; i++) other[i] = i * i % 37;
      field = one, line = other + 20;
      f(n, a, &one, same ? &one : &two, other);
      for (int i = 0; i < 40; i++) printf("%g ", a[i]);
      for (int i = 0; i < 100; i++) printf("%g ", other[i]);
      puts("");
    }}
  return 0;
}}
"""
FUSED = (
    "Fuse(loops=['i'])",
    "for (i = 1; i < n; i++) {{ if (i == 3) {set} }} for (i = 1; i < n; i++) a[i] = {read};",
)
PARTED = "Distribute()", "for (i = 1; i < n; i++) {{ a[i] = {read}; if (i == 3) {set} }}"
ONE = (
    ("links.one->x = other;", "chain->one->x[i]"),
    ("chain->one->x = other;", "held.x[i]"),
    ("held.x = other;", "links.one->x[i]"),
    ("g->x = other;", "h->x[i]"),
    ("h->x++;", "field.x[i]"),
    ("links.in.x = other;", "chain->in.x[i]"),
    ("chain->in.x = other;", "links.in.x[i]"),
    ("links.one = h;", "chain->one->x[i]"),
    ("chain->one = h;", "links.one->own[i]"),
    ("*to_held = other;", "chain->one->x[i]"),
    ("*to_line = other;", "line[i]"),
    ("*to_own = other;", "own[i]"),
)
"""What is set, and what may be read by way of it."""
APART = (
    ("g->x = other;", "held.x[i]"),
    ("held.x = other;", "g->x[i]"),
    ("links.in.x = other;", "field.x[i]"),
    ("g->x = other;", "links.in.own[i]"),
    ("links.one->n = 3;", "chain->one->x[i]"),
    ("links.one = h;", "links.in.x[i]"),
)


@pytest.mark.parametrize("how", [FUSED, PARTED])
@pytest.mark.parametrize(("set_", "read"), ONE)
def test_a_pointer_that_is_set_under_another_name_keeps_statements_in_order(
    set_: str, read: str, how: tuple[str, str]
) -> None:
    recipe, code = how
    with pytest.raises(Refusal, match=r"ORIO-T0(40|41|75)"):
        transformed_file(FILE.format(recipe=recipe, code=code.format(set=set_, read=read)), {})


@pytest.mark.parametrize(("set_", "read"), APART)
def test_pointers_of_other_objects_may_be_set(set_: str, read: str, tmp_path: Path) -> None:
    recipe, code = FUSED
    text = FILE.format(recipe=recipe, code=code.format(set=set_, read=read))
    new = transformed_file(text, {})
    assert compile_and_run(new, tmp_path, *checked()) == compile_and_run(text, tmp_path, *checked())
