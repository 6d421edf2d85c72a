"""Variables that a region uses for itself need no declaration in the specification, whatever their type."""

import json
import shutil
from pathlib import Path

import pytest

from orio_py.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

KERNEL = """#include <complex.h>
struct point { double x, y; };
union word { int whole; float part; };
double f(int n, double *x)
{
  int i;
  double complex z;
  struct point q;
  union word w;
  struct { double re, im; } pair;
  double buffer[4], *row;
  double later[2];
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 -fsanitize=address,undefined @CFLAGS@'; }
    def performance_params { param CFLAGS[] = ['', '-DBAD']; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [100]; }
    def input_vars { decl dynamic double x[n] = random; MORE }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=3)) @*/
  for (i = 0; i < n; i++) {
    z = x[i] + 2.0 * I;
    q.x = creal(z * z); q.y = cimag(z);
    w.whole = 3;
    pair.re = q.x + w.whole; pair.im = q.y;
    buffer[0] = pair.re; buffer[1] = pair.im;
    row = x + i;
    row[0] = buffer[0] + buffer[1];
    USE
  }
  /*@ end @*/
#ifdef BAD
  x[7] = 0;
#endif
  /*@ end @*/
  return AFTER;
}
"""


def tune(folder: Path, use: str, after: str, more: str = "") -> int:
    text = KERNEL.replace("USE", use).replace("AFTER", after).replace("MORE", more)
    (folder / "k.c").write_text(text)
    return main(
        [
            "tune",
            str(folder / "k.c"),
            "-o",
            str(folder / "out.c"),
            "--quiet",
            "--json",
            str(folder / "r.json"),
        ]
    )


@pytest.mark.proof
def test_they_are_variables_of_the_kernel(tmp_path: Path) -> None:
    assert tune(tmp_path, "", "x[0]") == 0
    [region] = json.loads((tmp_path / "r.json").read_text())["regions"]
    assert region["failures"] == {"wrong result": 1}


@pytest.mark.share(2)
@pytest.mark.parametrize(("use", "after"), [("row[0] += later[1];", "later[1]"), ("q.x = 1;", "q.x")])
def test_what_is_read_afterwards_is_none(tmp_path: Path, capsys, use: str, after: str) -> None:
    status = tune(tmp_path, use, after)
    told = capsys.readouterr().err
    assert status == (2 if "q" in after else 0), told
