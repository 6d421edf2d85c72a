"""A function that the kernel's file only declares: named with its place, and taken from where the build section says."""

import shutil
from pathlib import Path

import pytest

from orio_py.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

KERNEL = """double squash(double), other(double);
double never(double x) { return other(x); }
void f(int n, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1'; arg libs = 'LIBS'; }
    def performance_params { param U[] = [1, 2]; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [100]; }
    def input_vars { decl dynamic double x[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = squash(x[i]);
  /*@ end @*/
  /*@ end @*/
}
"""


def tune(folder: Path, libs: str) -> int:
    (folder / "squash.c").write_text("double squash(double x) { return 1.0 / (1.0 + x); }\n")
    (folder / "k.c").write_text(KERNEL.replace("LIBS", libs))
    return main(["tune", str(folder / "k.c"), "-o", str(folder / "out.c"), "--quiet"])


def test_it_is_named(tmp_path: Path, capsys) -> None:
    assert tune(tmp_path, "-lm") == 2
    told = capsys.readouterr().err
    assert (
        "k.c:15:12: error[ORIO-M018]: `squash` is called, and neither the file nor a library defines it"
        in told
    )
    assert "arg libs = 'file.o'" in told


def test_a_file_of_the_application_gives_it(tmp_path: Path) -> None:
    assert tune(tmp_path, "squash.c") == 0
