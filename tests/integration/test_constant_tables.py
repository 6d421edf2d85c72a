"""Tables that a file defines have its values when a region is tuned, and counters without a value begin at 0."""

import json
import shutil
from pathlib import Path

import pytest

from orio_py.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

SOURCE = """#define HALF 0.5
enum { ROWS = 2, FOUR = 2 * ROWS };
static int order[] = {3, 1, 0, 2};
static double zeros[FOUR] = {0.0};
static double mixed[ROWS][2] = {{1, 2}, {3, HALF}};
static int hits;
static double total;
void kernel(int n, double *x, double *y)
{
  int i, k;
  const double weight[FOUR] = {0.25, HALF, 0.25, 1.0};
  static const int back[] = {1, 0, FOUR - 1, 2};
  double sums[FOUR] = {0};
  @BEFORE@
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 2]; }
    def input_vars {
      decl int n = 400;
      decl dynamic double x[404] = random;
      decl dynamic double y[404] = random;
    }
  ) @*/
  /*@ begin Loop(transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++) {
    if (@WRONG@) __builtin_trap();
    for (k = 0; k < FOUR; k++) { y[i] += weight[k] * x[i + order[k]]; sums[back[k]] += mixed[1][0]; }
    hits++;
    total += y[i];
  }
  /*@ end @*/
  /*@ end @*/
  for (k = 0; k < FOUR; k++) y[k] += sums[k];
}
"""
WRONG = (
    "order[0] != 3",
    "mixed[1][1] != HALF",
    "weight[1] != HALF",
    "back[2] != FOUR - 1",
    "hits > 400 || total < 0",
)


def tuned(folder: Path, before: str, wrong: str) -> int:
    path = folder / "kernel.c"
    path.write_text(SOURCE.replace("@BEFORE@", before).replace("@WRONG@", wrong))
    options = ["--trials", "2", "-q", "--json", str(folder / "report.json"), "-o", str(folder / "out.c")]
    return main(["tune", *options, str(path)])


def test_tables_hold_what_the_file_says(tmp_path: Path) -> None:
    assert tuned(tmp_path, "", " || ".join(WRONG)) == 0
    (region,) = json.loads((tmp_path / "report.json").read_text())["regions"]
    assert region["failed"] == 0
    assert region["trials"] == 2


@pytest.mark.parametrize(
    "wrong", ["order[0] == 3", "mixed[1][1] == HALF", "weight[1] == HALF", "back[2] == 3"]
)
def test_the_trap_is_reached(tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    assert tuned(tmp_path, "", wrong) == 2
    assert "ORIO-M010" in capsys.readouterr().err


def test_a_table_that_the_function_changes_is_an_input(tmp_path: Path) -> None:
    changing = "double *p; p = (double *)weight; p[1] = 7;"
    assert tuned(tmp_path, changing, "0") == 0
    assert tuned(tmp_path, changing, "weight[0] == 0.25 && weight[1] == HALF && weight[3] == 1.0") == 0
