"""Rows that are written and may hold the numbers that loops over them end at: the same results, and nothing more is read.

Pointers to rows end where nobody may read.  Where a row holds the number of rows, the loops themselves stop before that.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
#include <sys/mman.h>
typedef struct {{ int before[6], rows, columns, after[6]; int **at; }} picture;
{counted}
static void work(picture *p, int value)
{{
  int x, y;
  (void)x;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
int main(void)
{{
  char *pages = (char *)mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int memory[60], turn, place, k, value;
  if (pages == (char *)MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE)) return 2;
  for (turn = 0; turn < 5; turn++)
    for (value = -9; value < -4; value += 4)
      for (place = 0; place < 10; place++) {{
        picture p = {{{{0}}, 4, 1 + (turn + place) % 5, {{0}}, NULL}};
        /* Behind a row that takes the place of a number there need not be another one. */
        int stops = turn < 4 && place <= 7 && place + p.columns > 6;
        p.at = (int **)(void *)(pages + 4096) - (stops ? turn + 1 : 4);
        for (k = 0; k < 60; k++) memory[k] = 1;
        for (k = 0; k < (stops ? turn + 1 : 4); k++) p.at[k] = k == turn ? (int *)&p + place : memory + 5 + 6 * k;
        work(&p, value);
        for (k = 0; k < 60; k++) printf("%d ", memory[k]);
        for (k = 0; k < 6; k++) printf("%d %d ", p.before[k], p.after[k]);
        printf("%d %d\\n", p.rows, p.columns);
      }}
  return 0;
}}
"""
KERNELS = {
    "rows": "for (y = 0; y < p->rows; y++) for (x = 0; x < p->columns; x++) p->at[y][x] = value;",
    "rows that are changed": (
        "for (y = 0; y < p->rows; y++) for (x = 0; x < p->columns; x++) if (p->at[y][x] > 0) p->at[y][x] = value;"
    ),
    "rows to the last one": "for (y = 0; y <= p->rows - 1; y++) for (x = 0; x < p->columns; x++) p->at[y][x] += value;",
}


def program(recipe: str, code: str, counted: str = "") -> str:
    return FILE.format(recipe=recipe, code=code, counted=counted)


@pytest.mark.parametrize("recipe", ["Reverse()", "Parallelize()"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_same_is_computed_wherever_rows_lie(tmp_path: Path, name: str, recipe: str) -> None:
    source = program(recipe, KERNELS[name])
    result = transformed_file(source, {})
    assert "Runs unless arrays overlap" in result
    assert "break;" in result
    flags = ("-w", "-D_DEFAULT_SOURCE", "-fno-strict-aliasing", *checked(), *openmp())
    outputs = [compile_and_run(text, tmp_path, *flags) for text in (result, source)]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "code",
    [
        # Other names may change how many rows there are.
        "for (y = 0; y < p->rows; y++) { for (x = 0; x < p->columns; x++) p->at[y][x] = value; other[y] = 0; }",
        # Two loops would read pointers.
        "for (y = 0; y < p->rows; y++) for (x = 0; x < p->columns; x++) p->at[y][x] = p->at[y + 1][x];",
    ],
)
def test_rows_that_need_not_be_read(code: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(program("Reverse()", code, "static int *other;"), {})


PLANES = """#include <stdio.h>
#include <stdlib.h>
typedef struct {{ int before[4], count, after[4]; {kind} *at[3]; }} planes;
typedef struct {{ planes *inside; int other; }} outer;
static void work(planes *p, outer *o)
{{
  int i;
  (void)o;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
int main(void)
{{
  int place, row, k, n;
  for (n = 0; n < 4; n++)
    for (row = 0; row < 3; row++)
      for (place = -1; place < 7; place++) {{
        planes *p = malloc(sizeof *p);
        outer o = {{p, 3}};
        {kind} *rows = malloc(24 * sizeof *rows);
        *p = (planes){{{{1, 2, 1, 2}}, n, {{1, 1, 2, 1}}, {{rows, rows + 8, rows + 16}}}};
        for (k = 0; k < 24; k++) rows[k] = k % 3;
        if (place >= 0) p->at[row] = ({kind} *)(p->before + place);
        work(p, &o);
        for (k = 0; k < 24; k++) printf("%d ", rows[k]);
        for (k = 0; k < 4; k++) printf("%d %d ", p->before[k], p->after[k]);
        printf("%d\\n", p->count);
        free(rows);
        free(p);
      }}
  return 0;
}}
"""


@pytest.mark.parametrize(
    ("recipe", "kind", "code"),
    [
        (
            "Parallelize()",
            "int",
            "for (i = 0; i < p->count; i++) p->at[1][i] = p->at[0][i] + p->at[2][i] % 2;",
        ),
        (
            "Reverse()",
            "int",
            "for (i = 0; i < o->inside->count; i++) o->inside->at[2][i] = o->inside->at[0][i];",
        ),
        ("Reverse()", "unsigned char", "for (i = 0; i < p->count; i++) p->at[1][i] = p->at[0][i] & 1;"),
    ],
)
def test_a_structure_of_rows_and_their_length(tmp_path: Path, recipe: str, kind: str, code: str) -> None:
    source = PLANES.format(recipe=recipe, kind=kind, code=code)
    result = transformed_file(source, {})
    assert "Runs unless arrays overlap" in result
    flags = ("-w", "-fno-strict-aliasing", *checked(), *openmp())
    outputs = [compile_and_run(text, tmp_path, *flags) for text in (result, source)]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "code",
    [
        # As bytes they may be the pointer that leads to the structure.
        "for (i = 0; i < o->inside->count; i++) o->inside->at[2][i] = o->inside->at[0][i];",
        # The pointers change.
        "for (i = 0; i < p->count; i++) { p->at[1][i] = 0; p->at[1] = p->at[2]; }",
    ],
)
def test_structures_of_rows_that_no_test_tells_apart(code: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(PLANES.format(recipe="Reverse()", kind="unsigned char", code=code), {})
