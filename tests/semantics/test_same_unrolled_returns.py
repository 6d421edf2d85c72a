"""Loops that may be left, unrolled: the function gives the same value and has done the same."""

import shutil
import subprocess
from pathlib import Path

import pytest

from orio_py.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

LOOPS = {
    "search": "for (i = 0; i < n; i++) { if (x[i] == wanted) return i; x[i]++; }",
    "downward": "for (i = n - 1; i >= 0; i--) { x[i] += 2; if (x[i] == wanted) return 10 * i; }",
    "strided": "for (i = 1; i <= n - 1; i += 3) { int t = x[i]; if (t >= wanted) return t + i; x[i] = i; }",
    "own_index": "for (int k = 0; k < n; k++) { switch (x[k]) { case 3: return k; default: x[k]--; } }",
    "always": "for (i = 0; i < n; i++) return x[i] + i;",
    "inner": "for (i = 0; i < n; i++) for (j = 0; j < 2; j++) { if (x[i] + j == wanted) return i + j; x[i] += j; }",
    "first_only": "for (i = 0; i < 5; i++) { if (i == wanted) return -i; if (i < n) x[i] = i; }",
    "break": "for (i = 0; i < n; i++) { if (x[i] == wanted) break; x[i]++; }",
    "break_down": "for (i = n - 1; i >= 0; i -= 2) { x[i] += 2; if (x[i] == wanted) { x[i] = 9; break; } }",
    "break_or_return": "for (i = 0; i < n; i++) { if (x[i] == 1) return i; if (x[i] == wanted) break; x[i] = 3; }",
    "break_of_seven": "for (i = 0; i < 7; i++) { if (i == wanted || i >= n) break; x[i] = i; }",
    "break_of_ten": "for (i = 0; i < 10; i++) { if (i == wanted || i >= n) break; x[i] = i; }",
    "break_static": "for (kept = 0; kept < n; kept++) { if (x[kept] == wanted) break; x[kept] = 1; }",
    "others_break": "for (i = 0; i < n; i++) { switch (x[i]) { case 1: break; default: x[i] = 5; } "
    "while (x[i] > 2) { if (x[i] == wanted) break; x[i]--; } if (x[i] == wanted) break; }",
    "goto": "for (i = 0; i < n; i++) { if (x[i] == wanted) goto end; x[i]++; }",
    "goto_far": "for (i = 0; i < n; i++) for (j = 0; j < 3; j++) { if (x[i] + j == wanted) goto end; x[i]++; }",
    "goto_next": "for (i = 0; i < n; i++) { for (j = 0; j < 3; j++) { if (x[i] + j == wanted) goto next; x[i]++; } "
    "x[i] *= 2; next: x[i]++; }",
    "goto_behind": "{ for (i = 0; i < n; i++) { if (x[i] == wanted) goto done; x[i]++; } done: ; }",
    "hidden": "for (i = 0; i < n; i++) { int i = 2; if (x[0] == i) break; }",
}
SEEN = {
    "seen_outside": "for (shared = 0; shared < n; shared++) if (x[shared] == wanted) return 1;",
    "kept": "for (kept = 0; kept < n; kept++) if (x[kept] == wanted) return 1;",
    "address_known": "for (known = 0; known < n; known++) if (x[known] == wanted) return 1;",
}
KERNEL = """
int shared, *address;
int f(int n, int *x, int wanted)
{
  int i = 0, j, known; static int kept;
  address = &known;
  /*@ begin Loop (transform %s) @*/
  %s
  /*@ end @*/
  i += 50;
end:
  return 100 + i + 7 * kept;
}
"""
PROGRAM = """
#include <stdio.h>
#include "out.c"
int main(void)
{
  int n, wanted, k, x[9];
  for (n = 0; n < 9; n++) for (wanted = 0; wanted < 12; wanted++) {
    for (k = 0; k < n; k++) x[k] = (k * 5 + 2) % 11;
    printf("%d:", f(n, x, wanted));
    for (k = 0; k < n; k++) printf(" %d", x[k]);
    puts("");
  }
  return 0;
}
"""


def transformed(folder: Path, loop: str, step: str) -> int:
    (folder / "k.c").write_text(KERNEL % (step, loop))
    return main(["transform", str(folder / "k.c"), "-o", str(folder / "out.c"), "--quiet"])


def output(folder: Path, name: str, *options: str) -> str:
    (folder / "main.c").write_text(PROGRAM)
    command = ["gcc", "-O1", "-Wall", "-Wno-unused", "-Werror", "-fsanitize=address,undefined", *options]
    subprocess.run([*command, "main.c", "-o", name], cwd=folder, check=True)
    return subprocess.run([str(folder / name)], capture_output=True, text=True, check=True).stdout


@pytest.mark.share(8)
@pytest.mark.parametrize("step", ["Unroll(ufactor=2)", "Unroll(ufactor=5)", "UnrollJam(ufactor=3)"])
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_a_loop_that_may_be_left(tmp_path: Path, loop: str, step: str) -> None:
    assert transformed(tmp_path, loop, step) == 0
    assert output(tmp_path, "original", "-DORIO_ORIGINAL") == output(tmp_path, "unrolled")


@pytest.mark.parametrize("loop", SEEN.values(), ids=SEEN)
def test_an_index_that_others_see_counts_each_iteration(tmp_path: Path, capsys, loop: str) -> None:
    assert transformed(tmp_path, loop, "Unroll(ufactor=2)") == 0
    assert "break;" in (tmp_path / "out.c").read_text()
    assert output(tmp_path, "original", "-DORIO_ORIGINAL") == output(tmp_path, "unrolled")
    assert transformed(tmp_path, loop, "UnrollJam(ufactor=2)") == 2
    error = capsys.readouterr().err
    assert "k.c:8:" in error
    assert "ORIO-T025" in error or "ORIO-T024" in error
