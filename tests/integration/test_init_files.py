"""Inputs that an `init_file` declares and allocates, with what its compiler needs; skeletons that do not compile."""

import shutil
import subprocess
from pathlib import Path

import pytest

import orio_py
from orio_py.build.compiler import Artifact, resolve
from orio_py.spec.target import BuildSpec

SPEC = """/*@ begin PerfTuning (
  def build { arg build_command = '%s'; arg libs = '%s'; }
  def performance_params { param U[] = [1, 4]; }
  def input_params { param N[] = [40]; }
  def input_vars { %s arg init_file = 'init.c'; }
  %s
) @*/
"""

KERNEL = """int i;
/*@ begin Loop (
  transform Unroll(ufactor=U)
  for (i = 0; i <= N - 1; i++)
    y[i] = y[i] + 2.0 * x[i];
) @*/
/*@ end @*/
/*@ end @*/
"""


def tuned(
    tmp_path: Path,
    init: str,
    *,
    command: str = "gcc -O1",
    libs: str = "",
    variables: str = "",
    rest: str = "",
) -> orio_py.TuneReport:
    (tmp_path / "init.c").write_text(init)
    source = tmp_path / "k.c"
    source.write_text(SPEC % (command, libs, variables, rest) + KERNEL)
    return orio_py.tune(source, options=orio_py.TuneOptions(trials=2, repeats=2, seed=1))


def assert_all_variants_are_right(report: orio_py.TuneReport) -> None:
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    assert report.regions[0].failures == {}
    assert report.regions[0].succeeded == 2


ALLOCATED = """#include <stdlib.h>
#ifdef ALLOCATED
double *x, *y;
void init_input_vars()
{
  int i;
  x = (double *) malloc((N) * sizeof(double));
  y = calloc(%s, sizeof *y);
  for (i = 0; i < N; i++) { x[i] = i; y[i] = N - i; }
}
#endif
"""


def test_what_the_init_file_allocates_is_an_input(tmp_path: Path) -> None:
    report = tuned(tmp_path, ALLOCATED % "N", command="gcc -O1 -DALLOCATED")
    assert_all_variants_are_right(report)
    assert "ORIO-M011" not in {d.code for d in report.diagnostics}  # `y` is seen to change


def test_too_little_memory_of_the_init_file_is_a_write_outside(tmp_path: Path) -> None:
    report = tuned(tmp_path, (ALLOCATED % "N - 9").replace("y[i] = N - i", ""), command="gcc -O1 -DALLOCATED")
    assert report.exit_code == 2
    (problem,) = (d for d in report.diagnostics if d.code == "ORIO-M010")
    assert "y" in problem.message


def test_a_pointer_that_the_init_file_leaves_null_is_told(tmp_path: Path) -> None:
    init = "#include <stdlib.h>\ndouble *x, *y;\nvoid init_input_vars()\n{\n  x = malloc(N * sizeof *x);\n"
    init += "  if (N < 4) y = malloc(N * sizeof *y);\n}\n"
    report = tuned(tmp_path, init)
    assert report.exit_code == 2
    assert "leaves `y` null" in report.diagnostics[0].message


def test_a_pointer_that_the_init_file_sets_anew_is_followed(tmp_path: Path) -> None:
    init = "#include <math.h>\n#include <stdlib.h>\n" \
        "void init_input_vars(void) { x = calloc(N, sizeof *x); x[3] = HUGE_VAL; }\n"  # fmt: skip
    declared = "decl dynamic double x[N] = random; decl dynamic double y[N] = random;"
    report = tuned(tmp_path, init, variables=declared)
    assert_all_variants_are_right(report)
    assert [d.code for d in report.diagnostics] == ["ORIO-M012"]  # an infinity, which random numbers have not
    told = tuned(tmp_path, "void init_input_vars(void) { x = 0; }\n", variables=declared)
    assert "init_input_vars() leaves `x` null" in told.diagnostics[-1].message


def test_a_pointer_without_a_visible_allocation_is_refused(tmp_path: Path) -> None:
    init = "extern double *get(int);\ndouble *x, *y;\nvoid init_input_vars() { x = get(N); y = get(N); }\n"
    report = tuned(tmp_path, init)
    assert report.exit_code == 2
    assert [d.code for d in report.diagnostics] == ["ORIO-M002", "ORIO-M002"]


def test_headers_macros_and_libraries_of_the_build_command(tmp_path: Path) -> None:
    cc = shutil.which("gcc")
    assert cc is not None
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "start.h").write_text("double start(int i);\n#define HALF 0.5\n")
    (tmp_path / "start.c").write_text("double start(int i) { return i + 0.25; }\n")
    subprocess.run([cc, "-c", "start.c", "-o", "start.o"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rc", "libstart.a", "start.o"], cwd=tmp_path, check=True)
    init = "#include <start.h>\nvoid init_input_vars()\n{\n  int i;\n"
    init += "  for (i = 0; i < N; i++) { x[i] = start(i) * FACTOR; y[i] = HALF; }\n}\n"
    variables = "decl static double x[N]; decl static double y[N];"
    command = "gcc -O1 -Iinc -DFACTOR=3.0"
    report = tuned(tmp_path, init, command=command, libs="-L. -lstart", variables=variables)
    assert_all_variants_are_right(report)
    missing = tuned(tmp_path, init, command=command, variables=variables)
    assert missing.exit_code == 2
    assert "nothing that is linked defines `start`" in missing.diagnostics[0].message


def test_a_skeleton_that_does_not_compile_is_left_out_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "skeleton.c").write_text(
        "#include <TAU_that_nobody_has.h>\n/*@ global @*/\nint main(void)\n{\n  /*@ prologue @*/\n"
        "  /*@ tested code @*/\n  /*@ epilogue @*/\n  return 0;\n}\n"
    )
    init = "void init_input_vars() { int i; for (i = 0; i < N; i++) x[i] = y[i] = i; }\n"
    variables = "decl static double x[N]; decl static double y[N];"
    rest = "def performance_test_code { arg skeleton_code_file = 'skeleton.c'; }"
    report = tuned(tmp_path, init, variables=variables, rest=rest)
    assert_all_variants_are_right(report)
    (warning,) = (d for d in report.diagnostics if d.code == "ORIO-B018")
    assert "TAU_that_nobody_has.h" in warning.message
    wrong = tuned(tmp_path, init + "int wrong = ;\n", variables=variables, rest=rest)
    assert wrong.exit_code == 2
    assert [d.code for d in wrong.diagnostics][-1] == "ORIO-B005"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc's memory models")
def test_more_than_two_gigabytes_of_arrays_link(tmp_path: Path) -> None:
    source = tmp_path / "h.c"
    source.write_text(
        "static double a[300000000];\nstatic int b;\nint main(int n, char **v)\n"
        "{\n  a[n] = 3.0;\n  b = n;\n  return a[n] == 3.0 && b == n && v ? 0 : 1;\n}\n"
    )
    compiler = resolve(BuildSpec("gcc -O3"), tmp_path)
    built = compiler.build_executable(source, tmp_path / "h", {})
    assert isinstance(built, Artifact), built
    assert subprocess.run([str(built.path)]).returncode == 0
