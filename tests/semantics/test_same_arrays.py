"""Threads that add up in arrays, or use an array for each iteration, compute the same, bit for bit.

All sums are of whole numbers, so that their order shows in no bit.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

HEAD = """#include <stdio.h>
#include <stdlib.h>
#define SIZE 6
enum { PLACES = 40 };
static long shared[SIZE][SIZE];
static unsigned short table[PLACES];
static long cell[4] = {9, 8, 7, 6};
static const long *kept[64];
static long mix(long x) { return (x * 7919 + 13) % 101 - 50; }
"""

# What stands in front of the loops, and the loops; `h` and `x` hold 64 numbers.
ACCEPTED = {
    "rows": ("", "for (i = 0; i < n; i++) for (j = 0; j < m; j++) h[j] += x[i * m + j];", "h[0:m]"),
    "in blocks": (
        "",
        "for (i = 0; i < n; i++) { shared[0][0] += 1; for (j = 0; j < m; j++) { h[j] += x[i + j]; } }",
        "h[0:m]",
    ),
    "left out": (
        "",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { if (x[j] > i) continue; h[j] += 3; }",
        "omp atomic",
    ),
    "from": ("", "for (i = 0; i < n; i++) for (j = 2; j <= m; j++) h[j] -= x[i + j];", "h[2:"),
    "shifted": ("", "for (i = 0; i < n; i++) for (j = 0; j < m; j++) h[j + m] += x[i + j];", "h[m:m]"),
    "deep": (
        "",
        "for (i = 0; i < n; i++) for (k = 0; k < m - 2; k++) for (j = 0; j < 5; j++) h[j] ^= x[i + j + k];",
        "h[0:5]",
    ),
    "whole": ("", "for (i = 0; i < n; i++) for (j = 0; j < i; j++) shared[j % 6][i % 5] += x[j];", "shared)"),
    "named": ("", "for (i = 0; i < n; i++) table[(i * i) % PLACES] += x[i];", "table)"),
    "local": (
        "long sums[3] = {1, 2, 3};",
        "for (i = 0; i < n; i++) { sums[i % 3] += x[i]; sums[2] += 1; }",
        "sums)",
    ),
    "largest": (
        "long most[4] = {0};",
        "for (i = 0; i < n; i++) if (x[i] > most[i & 3]) most[i & 3] = x[i];",
        "max: most",
    ),
    "atomic": ("", "for (i = 0; i < n; i++) h[(x[i] + 50) % 60]++;", "omp atomic"),
    "under a condition": (
        "",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) if (x[j] > i) h[j] += 3;",
        "omp atomic",
    ),
    "spelt out": ("", "for (i = 0; i < n; i++) h[x[i] & 31] = h[x[i] & 31] + x[i];", "omp atomic"),
    "triangle": ("", "for (i = 0; i < n; i++) for (j = 0; j < i; j++) h[j] += x[i + j];", "omp atomic"),
    "both": (
        "",
        "for (i = 0; i < n; i++) { h[x[i] & 15] += 1; for (j = 0; j < m; j++) table[j] += x[j]; }",
        "table",
    ),
    "own": (
        "long t[5];",
        "for (i = 0; i < n; i++) { for (j = 0; j < 5; j++) t[j] = x[i + j]; h[i] = t[0] * t[4] - t[i % 5]; }",
        "private(j, t)",
    ),
    "own rows": (
        "long t[4][4];",
        "for (i = 0; i < n; i++) {"
        " for (j = 0; j < 4; j++) for (k = 0; k < 4; k++) t[j][k] = x[i + j] + k;"
        " for (j = 0; j < 3; j++) t[j][0] += t[j + 1][3];"
        " h[i] = t[0][0] + t[2][0] + t[3][1]; }",
        "private(j, k, t)",
    ),
    "own under conditions": (
        "long t[SIZE];",
        "for (i = 0; i < n; i++) { for (j = 0; j < SIZE; j++) { if (j < m) t[j] = x[j + i]; else t[j] = i; }"
        " for (j = 0; j < SIZE; j++) h[i] += t[SIZE - 1 - j]; }",
        "private(j, t)",
    ),
    "own of a size": (
        "long t[64];",
        "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) t[j] = x[j + i];"
        " for (j = 0; j < m; j++) h[i] += t[m - 1 - j]; }",
        "private(j, t)",
    ),
    "left behind": (
        "long t[5] = {1, 2, 3, 4, 5};",
        "for (i = 0; i < n; i++) { for (j = 1; j < 4; j++) t[j] = x[i + j]; h[i] = t[1] * t[3]; }",
        "firstprivate(t) lastprivate(t)",
    ),
    "left behind by both": (
        "long t[4][4] = {{1, 2}, {3}, {4}, {5}};",
        "for (i = 0; i < n; i++) for (k = 0; k < 3; k++) {"
        " for (j = 0; j < 4; j++) t[k][j] = x[i + j + k]; h[i] += t[k][0] * t[k][3]; }",
        "lastprivate(t)",
    ),
    "of the file": (
        "",
        "for (i = 0; i < n; i++) { for (j = 0; j < 3; j++) cell[j] = x[i + j]; h[i] = cell[0] * cell[2]; }",
        "lastprivate(cell)",
    ),
    "read in part": (
        "long t[5] = {1, 2, 3, 4, 5};",
        "for (i = 0; i < n; i++) { for (j = 0; j < 5; j++) t[j] = x[i + j]; h[i] = t[0] - t[4]; } t[0] = 1;",
        "lastprivate(t)",
    ),
    "another pointer to it": (
        "long t[5]; long *p = t + 2; t[2] = 7;",
        "for (i = 0; i < n; i++) { t[0] = x[i]; t[1] = 3; h[i] = t[0] + t[1] * p[0]; }",
        "firstprivate(t) lastprivate(t)",
    ),
    "addresses of elements": (
        "",
        "for (i = 0; i < n; i++) { kept[i] = &x[2 * i + 1]; h[i] = x[i]; }",
        "omp parallel for",
    ),
    "read by another pointer": (
        "long t[5] = {1, 2, 3, 4, 5}; const long *p = t;",
        "for (i = 0; i < n; i++) { for (j = 0; j < 4; j++) t[j] = x[i + j]; h[i] = t[0] - t[3]; }",
        "firstprivate(t) lastprivate(t)",
    ),
}
SIZES = ((0, 5), (1, 0), (7, 1), (13, 6), (24, 30))


def program(bodies: dict[str, tuple[str, str, str]]) -> str:
    """A program with a function for each body, which prints what all of them leave."""
    functions: list[str] = []
    for number, (before, loops, _) in enumerate(bodies.values()):
        functions.append(
            f"static void f{number}(int n, int m, long *restrict h, const long *restrict x)\n"
            f"{{\n  int i, j, k; long seen = 0;\n  {before}\n"
            "  (void)i; (void)j; (void)k; (void)m;\n"
            f"  /*@ begin Loop(transform Parallelize()) @*/\n  {loops}\n  /*@ end @*/\n"
            f"  {_reads(before)}\n"
            "  h[63] += seen;\n}\n"
        )
    calls = "\n".join(f"    f{number}(sizes[s][0], sizes[s][1], h, x);" for number in range(len(bodies)))
    sizes = ", ".join(f"{{{n}, {m}}}" for n, m in SIZES)
    return f"""{HEAD}
{"".join(functions)}
int main(void)
{{
  static const int sizes[][2] = {{{sizes}}};
  long h[64], x[1024];
  for (int i = 0; i < 1024; i++) x[i] = mix(i);
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {{
    for (int i = 0; i < 64; i++) h[i] = i;
{calls}
    for (int i = 0; i < 64; i++) printf("%ld ", h[i]);
  }}
  for (int i = 0; i < SIZE * SIZE; i++) printf("%ld ", shared[i / SIZE][i % SIZE]);
  for (int i = 0; i < 4; i++) printf("%ld ", cell[i]);
  for (int i = 0; i < PLACES; i++) printf("%d %d ", table[i], kept[i] ? (int)(kept[i] - x) : -1);
  return 0;
}}
"""


def _reads(before: str) -> str:
    """What reads a function's own sums afterwards."""
    if "const long *p" in before:
        return "for (i = 0; i < 5; i++) seen += p[i];"
    name = before.partition("[")[0].split()[-1] if "= {" in before else ""
    rest = "[0]" if "][" in before else ""
    return (
        f"for (i = 0; i < (int)(sizeof {name} / sizeof *{name}); i++) seen += {name}[i]{rest};"
        if name
        else ""
    )


def test_arrays_in_clauses_and_atomic_statements(tmp_path: Path) -> None:
    text = program(ACCEPTED)
    new = transformed_file(text, {})
    regions = new.split("static void f")[1:]
    missing = [
        name for (name, (_, _, part)), r in zip(ACCEPTED.items(), regions, strict=True) if part not in r
    ]
    assert not missing, new
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == compile_and_run(
        text, tmp_path, *checked()
    )


@pytest.mark.parametrize(
    ("before", "loops"),
    [
        # The sum is read in the loop, combined in two ways, or its place changes with it.
        ("", "for (i = 0; i < n; i++) { h[x[i] & 7] += 1; h[i] = h[0]; }"),
        ("", "for (i = 0; i < n; i++) { h[x[i] & 7] += 1; h[x[i] & 7] *= 3; }"),
        ("", "for (i = 0; i < n; i++) h[h[i] & 7] += 1;"),
        ("", "for (i = 0; i < n; i++) seen += h[x[i] & 7]++;"),
        ("", "for (i = 0; i < n; i++) h[x[i] & 7] = x[i] - h[x[i] & 7];"),
        ("", "for (i = 0; i < n; i++) if (x[i] > h[x[i] & 7]) h[x[i] & 7] = x[i];"),
        # What was left by an earlier iteration may be read, or is read afterwards.
        ("long t[5] = {0};", "for (i = 0; i < n; i++) { for (j = 0; j < 4; j++) t[j] = x[i + j]; h[i] = t[4]; }"),
        ("long t[5] = {0};", "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) t[j] = x[j]; h[i] = t[0]; }"),
        ("long t[5] = {0};", "for (i = 0; i < n; i++) { if (x[i]) t[0] = x[i]; h[i] = t[0]; }"),
        ("long t[5] = {0};", "for (i = 0; i < n; i++) { h[i] = t[0]; t[0] = x[i]; }"),
        ("long t[5] = {0};", "for (i = 0; i < n; i++) { for (j = 0; j < 5; j++) { t[j] = x[j]; if (x[j]) break; } h[i] = t[4]; }"),
        ("long t[5] = {0};", "for (i = 0; i < n; i++) { t[0] = x[i]; t[1] = t[0] + t[1]; h[i] = t[1]; }"),
        # The last iteration does not leave all that is read afterwards.
        ("long t[64] = {0};", "for (i = 0; i < n; i++) { for (j = 0; j < i; j++) t[j] = x[j]; for (j = 0; j < i; j++) h[i] += t[j]; }"),
        ("long t[64] = {0};", "for (i = 0; i < n; i++) { t[i] = x[i]; t[3] = x[i + 1]; h[i] = t[i] + t[3]; }"),
        ("static long t[5];", "for (i = 0; i < n; i++) { for (j = 0; j < (i == 1); j++) t[j] = x[i]; t[1] = 3; h[i] = t[1]; }"),
        ("long t[20000] = {0};", "for (i = 0; i < n; i++) { t[0] = x[i]; h[i] = t[0]; }"),
        # A thread's own array would be gone where its address is followed.
        ("long t[5];", "for (i = 0; i < n; i++) { for (j = 0; j < 5; j++) t[j] = x[i + j]; h[i] = t[0]; kept[i] = &t[1]; }"),
        ("long t[5];", "for (i = 0; i < n; i++) { for (j = 0; j < 5; j++) t[j] = x[i + j]; h[i] = t[0]; kept[i] = t + 1; }"),
    ],
)  # fmt: skip
def test_other_arrays_are_refused(before: str, loops: str) -> None:
    with pytest.raises(Refusal) as caught:
        transformed_file(program({"one": (before, loops, "")}), {})
    assert caught.value.diagnostics[0].code in {"ORIO-T040", "ORIO-T041"}


def test_fractions_are_added_in_another_order_where_that_is_promised() -> None:
    text = """void f(int n, double *restrict h, const double *restrict x, const int *restrict to)
{
  /*@ begin Loop(transform Parallelize()) @*/
  for (int i = 0; i < n; i++) h[to[i]] += x[i];
  /*@ end @*/
}
"""
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "ORIO-T090"
    assert "`h`" in diagnostic.message
