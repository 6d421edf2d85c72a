"""What the application's build needs for a winner is said below the table, above its code, and in the JSON."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from c_programs import links

from orio_py.cli.main import main

SOURCE = """void axpy(int n, double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc @CFLAGS'; }
    def performance_params { param CFLAGS[] = ['-O0', '-O3 -funroll-loops']; }
    def input_params { param n[] = [3000000]; }
    def input_vars { decl dynamic double x[n] = random; decl dynamic double y[n] = random; }
  ) @*/
  /*@ begin Loop (transform RECIPE) @*/
  for (i = 0; i < n; i++)
    y[i] = 2.0 * y[i] + x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("recipe", "needed"),
    [
        ("Unroll(ufactor=2)", []),
        ("Pragma(pragma_str='omp simd')", ["-fopenmp-simd"]),
        ("Parallelize()", ["-fopenmp"]),
    ],
    ids=["parameters", "simd", "threads"],
)
def test_the_flags_that_a_winner_needs(tmp_path: Path, capsys, recipe: str, needed: list[str]) -> None:
    if "-fopenmp" in needed and not links("-fopenmp"):
        pytest.skip("the compiler's OpenMP library is not installed")
    source = tmp_path / "axpy.c"
    source.write_text(SOURCE.replace("RECIPE", recipe))
    # Written by `apply`, so that it does not depend on who is faster; tuning fills the database.
    database = str(tmp_path / "r.db")
    assert main(["tune", str(source), "--db", database, "--json", str(tmp_path / "r.json")]) == 0
    (region,) = json.loads((tmp_path / "r.json").read_text())["regions"]
    if region["kept_original"]:
        assert region["best"]["build_with"] == []
        pytest.skip("the original was as fast here")
    # Which options win is the machine's matter.
    flags = [*region["best"]["configuration"]["CFLAGS"].split(), *needed]
    assert region["best"]["build_with"] == flags
    told = f"build with: {' '.join(flags)}"
    assert told in " ".join(capsys.readouterr().out.split())
    text = (tmp_path / "_axpy.c").read_text()
    assert f"build with for n=3000000: {' '.join(flags)}\n" in text
    again = tmp_path / "again.c"
    assert main(["results", "apply", str(source), "--db", database, "-o", str(again), "-q"]) == 0
    assert f"build with for n=3000000: {' '.join(flags)}\n" in again.read_text()
    done = subprocess.run(["gcc", "-c", *flags, str(again), "-o", str(tmp_path / "a.o")], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("recipe", "flags"),
    [("Unroll(ufactor=2)", None), ("Parallelize()", "-fopenmp"), ("OpenCL()", "-lOpenCL")],
)
def test_transformed_files_say_it_of_their_pragmas_and_calls(tmp_path: Path, recipe: str, flags) -> None:
    source = tmp_path / "axpy.c"
    source.write_text(SOURCE.replace("RECIPE", recipe))
    assert main(["transform", str(source), "-q"]) == 0
    found = re.search(r"build with: (.*)", (tmp_path / "_axpy.c").read_text())
    assert (found and found[1].removesuffix(" */")) == flags
