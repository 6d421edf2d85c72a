"""Functions, parameters and variables without a type, as C had them before 1999, go through all commands."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from orio_py.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

SOURCE = """#include <stdio.h>
static scale = 2;
helper(x) { register y = x + 2; return y; }
f(m, n, a, k) double *a; register k; {
  register i;
  auto j = 0;
  static t = 3;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -std=c89 -O1 -fsanitize=address,undefined'; }
    def performance_params { param U[] = [2, 3]; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [10, 1000]; }
    def input_vars { decl dynamic double a[n] = random; decl int m = 3; decl int k = 5; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++) {
    register twice = 2;
    a[i] = a[i] * m + k * t + scale * twice;
  }
  /*@ end @*/
  /*@ begin Loop (transform Vectorize()) @*/
  for (j = 0; j < n; j++)
    a[j] = a[j] * m + helper(j);
  /*@ end @*/
  /*@ end @*/
  return i + j;
}
main() {
  double a[1000];
  int i, sum;
  for (i = 0; i < 1000; i++) a[i] = i;
  sum = f(2, 1000, a, 7);
  printf("%d %g\\n", sum, a[7]);
  return 0;
}
"""
BUILD = "gcc -std=c89 -w k.c -o app"


def ran(folder: Path) -> str:
    subprocess.run(BUILD.split(), cwd=folder, check=True)
    return subprocess.run("./app", cwd=folder, check=True, capture_output=True, text=True).stdout


TILED = """void scale(n, a, b)
int n;
double *a, *b;
{
  double w[10];
  int i, j;
  for (i = 0; i < 10; i++) w[i] = i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -ansi -O1 -fsanitize=address,undefined'; }
    def performance_params { param U[] = [2, 3]; param T[] = [4, 16]; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [67]; }
    def input_vars { decl dynamic double a[n] = random; decl dynamic double b[n] = random; decl dynamic double w[10] = random; }
  ) @*/
  /*@ begin Loop (transform Composite(tile=[("i", T, "ii")], unrolljam=(["i"], [U]), restrict=(True, ["a", "b"]))) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < 10; j++)
      a[i] = a[i] + w[j] * b[i];
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.share(2)
def test_variants_and_written_code_are_c_of_before_1999_where_the_build_is(tmp_path: Path, capsys) -> None:
    source, tuned = tmp_path / "scale.c", tmp_path / "tuned.c"
    source.write_text(TILED)
    assert main(["tune", str(source), "--no-db", "--json", "-", "-o", str(tuned)]) == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["trials"] == 4
    assert region["failures"] == {}
    assert main(["transform", str(source), "--set", "U=2", "--set", "T=16", "-o", str(tuned)]) == 0
    assert "int ii;" in tuned.read_text()
    subprocess.run(["gcc", "-ansi", "-c", "tuned.c", "-o", "tuned.o"], cwd=tmp_path, check=True)


@pytest.mark.share(3)
def test_all_commands(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t").mkdir()
    Path("k.c").write_text(SOURCE)
    expected = ran(tmp_path)
    assert expected == "2000 87\n"
    assert main(["check", "k.c", "--build"]) == 0
    assert main(["transform", "k.c", "-o", "t/k.c", "--quiet"]) == 0
    assert ran(tmp_path / "t") == expected
    tuned = ["tune", "k.c", "--in-place", "--quiet", "--db", "r.db", "--json", "r.json", "--seed", "1"]
    assert main(tuned) == 0
    (report,) = {
        (r["failures"] == {}, r["trials"]) for r in json.loads(Path("r.json").read_text())["regions"]
    }
    assert report == (True, 2)
    assert ran(tmp_path) == expected
    capsys.readouterr()
    assert main(["verify", "--build", BUILD, "--db", "r.db", "--runs", "1", "--", "./app"]) == 0
    assert "outputs: equal" in capsys.readouterr().out
