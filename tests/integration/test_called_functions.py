"""What functions called by a region write is put back between runs of the test program, and compared."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from orio_py.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

SOURCE = """#include <string.h>
#ifndef MODE
#define MODE 0
#endif
enum { ROWS = 3 };
struct tally { int n; double most; };
static int hits;
static unsigned state = 7;
static double kept[ROWS][4], *nowhere;
static struct tally tally;
static double square(double x)
{
  static const double scale[1] = {1};
  static int calls = 1, most_of[2]; /* they
    stand here */
  calls += MODE == 7 ? 2 : 1;
  most_of[calls & 1] = MODE == 8;
  if (calls > 1000) __builtin_trap();
  hits += MODE == 1 && x > 0.5 ? 2 : 1;
  if (hits > 400) return 1.0 / (hits - 401);  /* reached unless what hits counts is put back */
  kept[hits % ROWS][1] += MODE == 2 ? x * (1 + 1e-7) : x;
  if (x > tally.most) tally.most = x;
  tally.n = MODE == 3;
  return x * x * scale[0];
}
static double drawn(void) { state = state * 1103515245u + 12345u + (MODE == 4); return state % 1000 * 1e-3; }
static void fill(double *row, int n)
{
  double *at = row;
  while (n-- > 0) *at++ += MODE == 5 ? 0.25 : 0.5;
}
static void through(int n, double *row) { fill(row + 1, n - 1); if (nowhere) *nowhere = n; }
void kernel(int n, double *x, double *y, double *z)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 @CFLAGS@'; }
    def performance_params { param CFLAGS[] = [MODES]; }
    def performance_counter { arg repetitions = 4; }
    def input_params { param n[] = [50]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = 1;
      decl dynamic double z[n] = random;
    }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++)
    x[i] = square(x[i]) + drawn() * 0;
  /*@ end @*/
  through(n, y);
  memset(z, MODE == 6, n * sizeof *z);
  /*@ end @*/
}
"""


EVERY = range(1, 9)


def tuned(folder: Path, modes: Iterable[int], text: str = SOURCE) -> dict:
    (folder / "k.c").write_text(text.replace("MODES", ", ".join(["''", *(f"'-DMODE={m}'" for m in modes)])))
    places = ["--json", str(folder / "r.json"), "--no-db"]
    assert main(["tune", str(folder / "k.c"), "--quiet", "--seed", "3", *places]) == 0
    return json.loads((folder / "r.json").read_text())["regions"][0]


def test_what_called_functions_write_is_compared(tmp_path: Path) -> None:
    report = tuned(tmp_path, EVERY)
    assert report["trials"] == 9
    assert report["failures"] == {"wrong result": 8}


@pytest.mark.share(4)
@pytest.mark.parametrize("mode", EVERY)
def test_each_such_variable_is_compared_by_itself(tmp_path: Path, mode: int) -> None:
    assert tuned(tmp_path, [mode])["failures"] == {"wrong result": 1}


def test_it_is_put_back_before_each_run(tmp_path: Path) -> None:
    text = SOURCE.replace("return 1.0 / (hits - 401);", "__builtin_trap();")
    report = tuned(tmp_path, [], text)
    assert (report["trials"], report["failures"]) == (1, {})
