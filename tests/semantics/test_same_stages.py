"""Stages of one recipe, each over what the one inside it wrote: every pair is accepted and computes the same."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

OUTER = (
    "Parallelize()",
    "Vectorize()",
    "Composite(unrolljam=(['i'], [2]))",
    "Composite(tile=[('i', 4, 'ii')])",
    "UnrollJam(ufactor=3)",
    "Peel(first=1)",
)
INNER = (
    "Unroll(ufactor=3)",
    "UnrollJam(ufactor=2)",
    "RegTile(loops=['j'], ufactors=[2])",
    "Peel(last=1)",
    "Tile(tsize=4, tindex='jj')",
    "StripMine(tsize=4, tindex='jj')",
    "BoundReplace()",
    "ScalarReplace()",
)

ORIGINAL = """
void KERNEL(int n, double (*restrict p)[24], double (*restrict q)[24]) {
  int i, j;
  /*@ begin Loop(
    transform OUTER
    for (i = 0; i < n; i++)
      transform INNER
      for (j = 0; j <= n - 1; j++)
        p[i][j] = p[i][j] * 0.5 + q[j][i];
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j <= n - 1; j++)
      p[i][j] = p[i][j] * 0.5 + q[j][i];
  /*@ end @*/
}
"""

MAIN = """
#include <stdio.h>
#include <string.h>
typedef void Kernel(int, double (*restrict)[24], double (*restrict)[24]);
static double p[24][24], q[24][24], expected[24][24];
static void fill(void) {
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 24; j++) { p[i][j] = i * 31 + j; q[i][j] = i - j * 0.25; }
}
static int differs(Kernel *kernel) {
  for (int n = 0; n <= 24; n++) {
    fill(); original(n, p, q); memcpy(expected, p, sizeof p);
    fill(); kernel(n, p, q);
    if (memcmp(expected, p, sizeof p)) return n;
  }
  return -1;
}
"""


def test_every_pair_of_stages_computes_the_same(tmp_path: Path) -> None:
    parts, checks = [ORIGINAL.replace("KERNEL", "original"), MAIN], []
    for number, (outer, inner) in enumerate(product(OUTER, INNER)):
        text = ORIGINAL.replace("KERNEL", f"kernel{number}").replace("OUTER", outer).replace("INNER", inner)
        parts.append(transformed_file(text, {}))
        checks.append(f'printf("%d {outer} {inner}\\n", differs(kernel{number}));')
    program = "".join(parts) + f"int main(void) {{ {' '.join(checks)} return 0; }}\n"
    output = compile_and_run(
        program, tmp_path, "-Wall", "-Werror", "-Wno-unknown-pragmas", *checked(), *openmp()
    )
    lines = output.splitlines()
    assert len(lines) == len(OUTER) * len(INNER)
    assert [line for line in lines if not line.startswith("-1 ")] == []
