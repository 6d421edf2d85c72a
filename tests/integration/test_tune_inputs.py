"""Every way in which a kernel can be fed: parameters, globals, locals, macros, files, skeletons."""

import re
import subprocess
from pathlib import Path

import pytest

import orio_py

OPTIONS = orio_py.TuneOptions(trials=3, repeats=3, seed=5)


def tuned(tmp_path: Path, text: str, **options):
    """Tune a file and compile the result strictly; the report and the new text."""
    source = tmp_path / "k.c"
    source.write_text(text)
    chosen = orio_py.TuneOptions(**{"trials": 3, "repeats": 3, "seed": 5, **options})
    report = orio_py.tune(source, options=chosen)
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    region = report.regions[0]
    assert region.failures == {}, region.failures
    assert region.succeeded >= 1
    return report, (tmp_path / "_k.c").read_text()


def compiles(tmp_path: Path, name: str = "_k.c", *flags: str) -> None:
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-c", name, "-o", "k.o", *flags]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


HEAD = """/*@ begin PerfTuning (
  def performance_params { param U[] = [1, 2, 5]; }
  %s
) @*/
"""


def region(spec: str, loop: str, before: str = "") -> str:
    return (
        HEAD % spec
        + before
        + "\n/*@ begin Loop (transform Composite(unrolljam=(['i'],[U]))) @*/\n"
        + loop
        + "\n/*@ end @*/\n/*@ end @*/\n"
    )


CASES = {
    "parameters": (
        "void f(int n, float a, const float *restrict x, float y[])\n{\n  int i;\n%s}\n",
        "def input_params { param n[] = [500]; } def input_vars { decl float a = random;"
        " decl dynamic float x[n] = random; decl dynamic float y[n] = 1.5; }",
        "for (i = 0; i < n; i++) y[i] += a * x[i];",
    ),
    "variable-length arrays": (
        "void f(int n, int m, double a[n][m], double b[m])\n{\n%s}\n",
        "def input_params { param n[] = [20]; param m[] = [31]; } def input_vars {"
        " decl static double a[n][m] = random; decl static double b[m] = random; }",
        "for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) a[j][i] = a[j][i] * b[i];",
    ),
    "global arrays and a size macro": (
        "#define N 64\nstatic double a[N][N];\ndouble b[N];\nvoid f(void)\n{\n  int i, j;\n%s}\n",
        "def input_params { param N[] = [64]; } def input_vars { decl static double a[N][N] = random;"
        " decl static double b[N] = random; }",
        "for (j = 0; j < N; j++) for (i = N - 1; i >= 0; i -= 3) a[j][i] = b[i] / 2 + a[j][i];",
    ),
    "global pointers and scalars": (
        "double *a;\nint n;\nlong total = 7;\nvoid f(void)\n{\n  int i;\n%s}\n",
        "def input_params { param M[] = [300]; } def input_vars { decl int n = M;"
        " decl dynamic double a[M] = random; decl long total = 7; }",
        "for (i = 0; i < n; i++) { a[i] = 2.0 * a[i]; total += i; }",
    ),
    "a local accumulator": (
        "double f(int n, const double *x)\n{\n  double s = 0.0;\n  int i;\n%s  return s;\n}\n",
        "def input_params { param n[] = [777]; } def input_vars { decl dynamic double x[n] = random; }",
        "for (i = 0; i < n; i++) s = s + x[i];",
    ),
    "a local whose value only the specification knows": (
        "double g(void);\nvoid f(int n, double *x)\n{\n  double scale = g();\n%s}\n",
        "def input_params { param n[] = [100]; } def input_vars { decl double scale = 2.5;"
        " decl dynamic double x[n] = random; }",
        "for (int i = 0; i < n; i++) x[i] *= scale;",
    ),
    "a local array": (
        "void f(int n, double *x)\n{\n  double t[100];\n  int i, j;\n"
        "  for (j = 0; j < 100; j++) t[j] = j;\n%s}\n",
        "def input_params { param n[] = [100]; } def input_vars { decl static double t[100] = random;"
        " decl dynamic double x[n] = random; }",
        "for (i = 0; i < n; i++) x[i] += t[i];",
    ),
    "pointers to rows": (
        "void f(int n, double **a)\n{\n  int i, j;\n%s}\n",
        "def input_params { param n[] = [40]; } def input_vars { decl dynamic double a[n][n] = random; }",
        "for (j = 0; j < n; j++) for (i = 0; i < n; i++) a[i][j] = a[i][j] + 1.0;",
    ),
    "typedefs, helpers and macros": (
        "#include <math.h>\ntypedef double real;\n#define AT(i) a[(i)]\n"
        "static real twice(real v) { return 2 * v; }\nvoid f(int n, real *a)\n{\n  int i;\n%s}\n",
        "def input_params { param n[] = [64]; } def input_vars { decl dynamic double a[n] = random; }",
        "for (i = 0; i < n; i++) AT(i) = twice(AT(i)) + sqrt(a[i]);",
    ),
    "integers": (
        "void f(unsigned n, int *k, unsigned char *c)\n{\n  unsigned i;\n%s}\n",
        "def input_params { param n[] = [99]; } def input_vars { decl dynamic int k[n] = random;"
        " decl dynamic unsigned char c[n] = random; }",
        "for (i = 0; i < n; i++) { k[i] = k[i] / 2 + 7 / 2; c[i] = (unsigned char)(c[i] << 1); }",
    ),
    "a function without parameters for the size": (
        "enum { N = 50 };\nvoid f(double *x)\n{\n  const int n = N;\n%s}\n",
        "def input_vars { decl dynamic double x[50] = random; } def input_params { param dummy[] = [1]; }",
        "for (int i = 0; i < n; i++) x[i] = x[i] + i;",
    ),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_variable(tmp_path: Path, name: str) -> None:
    frame, spec, loop = CASES[name]
    report, text = tuned(tmp_path, frame % region(spec, loop))
    assert "/* orio_py: generated by" in text
    assert report.regions[0].baseline is not None
    compiles(tmp_path)


def test_arrays_of_another_file_are_restored_before_each_call(tmp_path: Path) -> None:
    spec = (
        "def performance_params { param U[] = [1, 2]; }"
        " def input_vars { decl static int k[64] = 3; decl static double y[64] = random; }"
    )
    loop = "for (i = 0; i < 64; i++) { y[k[i]] += 1.0; k[i] = 1 << 28; }"  # a second call would run wild
    text = (
        f"/*@ begin PerfTuning ({spec}) @*/\nextern int k[64];\nextern double y[64];\n"
        "void f(void)\n{\n  int i;\n/*@ begin Loop (transform Unroll(ufactor=U)) @*/\n"
        f"{loop}\n/*@ end @*/\n}}\n/*@ end @*/\n"
    )
    report, _ = tuned(tmp_path, text)
    assert "ORIO-M011" not in {d.code for d in report.diagnostics}


def test_a_fragment_in_the_habit_of_orio(tmp_path: Path) -> None:
    spec = (
        "def input_params { param N[] = [30]; } def input_vars { decl static double A[N][N] = random;"
        " decl dynamic double x[N] = random; decl double alpha = random; }"
    )
    text = HEAD % spec + (
        "int i, j;\n/*@ begin Loop (\n  transform Composite(unrolljam=(['j'],[U]))\n"
        "  for (i = 0; i <= N-1; i++)\n    for (j = 0; j <= N-1; j++)\n      A[i][j] = alpha*x[j] + A[i][j];\n"
        ") @*/\n/*@ end @*/\n/*@ end @*/\n"
    )
    tuned(tmp_path, text)


def test_two_regions_and_text_between_them(tmp_path: Path) -> None:
    loop = "/*@ begin Loop (transform Unroll(ufactor=U)) @*/\n%s\n/*@ end @*/\n"
    text = (
        "void f(int n, double *x, double *y)\n{\n"
        + HEAD
        % (
            "def input_params { param n[] = [70]; } def input_vars { decl dynamic double x[n] = random;"
            " decl dynamic double y[n] = random; }"
        )
        + loop % "for (int i = 0; i < n; i++) x[i] = 2 * x[i];"
        + "y[0] = x[n - 1];\n"
        + loop % "for (int k = 1; k < n; k++) y[k] = y[k - 1] + x[k];"
        + "/*@ end @*/\n}\n"
    )
    _, new = tuned(tmp_path, text)
    assert new.count("/* orio_py: generated by") == 2
    compiles(tmp_path)


def test_declaration_init_and_validation_files(tmp_path: Path) -> None:
    (tmp_path / "d.h").write_text("int n = 12;\ndouble a[12];\n")
    (tmp_path / "i.c").write_text("void init_input_vars() { for (int q = 0; q < n; q++) a[q] = q + 0.5; }\n")
    (tmp_path / "v.c").write_text("int isValid() { return a[0] == 1.0 && a[11] == 23.0; }\n")
    spec = (
        "def input_params { param dummy[] = [1]; } def input_vars { arg decl_file = 'd.h'; arg init_file = 'i.c'; }"
        " def validation { arg validation_file = 'v.c'; }"
    )
    frame = "int n = 12;\ndouble a[12];\nvoid f(void)\n{\n%s}\n"
    tuned(tmp_path, frame % region(spec, "for (int i = 0; i < n; i++) a[i] = 2 * a[i];"))
    (tmp_path / "v.c").write_text("int isValid() { return a[0] == 77.0; }\n")
    report = orio_py.tune(tmp_path / "k.c", options=OPTIONS)
    assert report.exit_code == 2
    assert "isValid" in report.diagnostics[0].message


def test_a_validation_file_sees_the_contents_that_orio_gives(tmp_path: Path) -> None:
    (tmp_path / "v.c").write_text(
        "int isValid(void)\n{\n  int i, j, good = 1;\n"
        "  for (i = 0; i < n; i++) for (j = 0; j < 3; j++) good = good && a[i][j] == 2 * ((i + j) % 5 + 1);\n"
        "  return good;\n}\n"
    )
    spec = (
        "def input_params { param n[] = [12]; } def input_vars { decl static double a[n][3] = random; }"
        " def validation { arg validation_file = 'v.c'; }"
    )
    frame = "void f(int n, double a[][3])\n{\n%s}\n"
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) a[i][j] = 2 * a[i][j];"
    tuned(tmp_path, frame % region(spec, loops))


def test_a_macro_that_is_defined_inside_the_tuning_block(tmp_path: Path) -> None:
    spec = "def input_params { param n[] = [50]; } def input_vars { decl dynamic double x[n] = random; }"
    text = "void f(int n, double *x)\n{\n%s}\n" % region(
        spec, "for (int i = 0; i < less(n, 30); i++) x[i] += 1;"
    )
    first, begin, rest = text.partition("/*@ begin Loop")
    tuned(tmp_path, f"{first}\n#define less(a, b) ((a) < (b) ? (a) : (b))\n{begin}{rest}")


def test_a_skeleton_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "skeleton.c").write_text(
        "#include <stdio.h>\n/*@ global @*/\nint main(int argc, char **argv)\n{\n  int r;\n"
        "  /*@ prologue @*/\n  for (r = 0; r < 12; r++) {\n    /*@ tested code @*/\n  }\n"
        "  printf(\"{'/*@ coordinate @*/' : 1.0}\\n\");\n  /*@ epilogue @*/\n  return argc + !argv - 1;\n}\n"
    )
    spec = (
        "def input_params { param n[] = [50]; } def input_vars { decl dynamic double x[n] = random; }"
        " def performance_test_code { arg skeleton_code_file = 'skeleton.c'; }"
    )
    report, _ = tuned(
        tmp_path,
        "void f(int n, double *x)\n{\n%s}\n" % region(spec, "for (int i = 0; i < n; i++) x[i] += 1;"),
    )
    assert report.regions[0].baseline is not None
    # Twelve calls a run: in the first run one is checked and two are not timed, in the later ones one is not.
    assert report.regions[0].baseline.repeats % 11 == 10


def test_command_line_parameters_reach_the_test_program(tmp_path: Path) -> None:
    (tmp_path / "skeleton.c").write_text(
        "#include <stdlib.h>\n#include <string.h>\n/*@ global @*/\nint main(int argc, char **argv)\n{\n"
        '  if (argc != 3 || strcmp(argv[1], "-x") || atoi(argv[2]) < 3) return 9;\n'
        "  /*@ prologue @*/\n  while (orio_more()) {\n    /*@ tested code @*/\n  }\n  /*@ epilogue @*/\n  return 0;\n}\n"
    )
    spec = (
        "def input_params { param n[] = [50]; } def input_vars { decl dynamic double x[n] = random; }"
        " def cmdline_params { option '-x' = [3, 4]; }"
        " def performance_test_code { arg skeleton_code_file = 'skeleton.c'; }"
    )
    report, _ = tuned(
        tmp_path,
        "void f(int n, double *x)\n{\n%s}\n" % region(spec, "for (int i = 0; i < n; i++) x[i] += 1;"),
        trials=6,
    )
    assert report.regions[0].space.valid == 6


def test_several_sizes_give_a_dispatch_with_the_original_last(tmp_path: Path) -> None:
    spec = "def input_params { param n[] = [30, 60]; } def input_vars { decl dynamic double x[n] = random; }"
    source = tmp_path / "k.c"
    source.write_text(
        "void f(int n, double *x)\n{\n%s}\n" % region(spec, "for (int i = 0; i < n; i++) x[i] += 1;")
    )
    report = orio_py.transform(source)
    assert report.exit_code == 0
    text = (tmp_path / "_k.c").read_text()
    compiles(tmp_path)
    tuned_report, _ = tuned(tmp_path, source.read_text())
    assert [r.inputs for r in tuned_report.regions] == [{"n": 30}, {"n": 60}]
    assert "#ifndef ORIO_ORIGINAL" in text


def test_specialised_sizes_are_constants_behind_their_dispatch(tmp_path: Path) -> None:
    spec = (
        "def input_params { param n[] = [30, 60]; arg specialize = True; }"
        " def input_vars { decl dynamic double x[n] = random; }"
    )
    source = tmp_path / "k.c"
    source.write_text(
        "void f(int n, double *x)\n{\n%s}\n" % region(spec, "for (int i = 0; i < n; i++) x[i] += 1;")
    )
    assert orio_py.transform(source).exit_code == 0
    text = (tmp_path / "_k.c").read_text()
    assert re.search(r"if \(n == 30\) \{\n\s+for \(int i = 0; i < 30; i\+\+\)", text)
    assert re.search(r"\} else if \(n == 60\) \{", text)
    assert re.search(r"\} else \{\nfor \(int i = 0; i < n; i\+\+\) x\[i\] \+= 1;\n\s*\}", text)
    compiles(tmp_path)
    tuned(tmp_path, source.read_text())


def test_a_postrun_command_sees_the_variant_and_its_configuration(tmp_path: Path) -> None:
    script = tmp_path / "after.sh"
    script.write_text('#!/bin/sh\necho "$2" >> after.txt\ntest -f "$1"\n')
    script.chmod(0o755)
    spec = (
        f"def build {{ arg build_command = 'gcc -O1'; arg postrun_command = '{script}'; }}"
        " def input_params { param n[] = [30]; } def input_vars { decl dynamic double x[n] = random; }"
    )
    tuned(
        tmp_path,
        "void f(int n, double *x)\n{\n%s}\n" % region(spec, "for (int i = 0; i < n; i++) x[i] += 1;"),
    )
    seen = (tmp_path / "after.txt").read_text().splitlines()
    assert {"U=1", "U=2", "U=5"} <= set(seen)


def test_random_inputs_depend_on_the_seed_alone(tmp_path: Path) -> None:
    spec = "def input_params { param n[] = [30]; } def input_vars { decl dynamic double x[n] = random; }"
    text = "void f(int n, double *x)\n{\n%s}\n" % region(spec, "for (int i = 0; i < n; i++) x[i] += 1;")
    seen = []
    for number, seed in enumerate((1, 1, 2)):
        keep = tmp_path / f"keep{number}"
        tuned(tmp_path, text, seed=seed, keep=keep)
        seen.append(next(keep.rglob("reference.bin")).read_bytes())
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.parametrize("frame", ["%s", "void f(void)\n{\n%s}\n"])
def test_indices_that_nothing_declares_are_locals_of_the_test(tmp_path: Path, frame: str) -> None:
    spec = "def input_params { param n[] = [50]; } def input_vars { decl static double x[n] = random; }"
    report, _ = tuned(tmp_path, frame % region(spec, "for (i = 0; i <= n - 1; i++) x[i] += 1;"))
    assert report.regions[0].best is not None


NAMED_LIKE_FUNCTIONS = """#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
struct cell { unsigned flag : 3; double *read; };
void names(int n, double *y0, double *gamma, double (*index)[3], struct cell *time)
{
  int i, exp = 3, abs = 1;
  double malloc = 2.0, memcpy = 1.0, memset = 0.5, snprintf = 1.0, free = 4.0;
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 2]; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [200]; }
    def input_vars {
      decl dynamic double y0[n] = random; decl dynamic double gamma[n] = random;
      decl dynamic double index[n][3] = random;
      decl dynamic struct cell time[1] = random; decl dynamic double time.read[n] = random;
      decl int exp = 3; decl int abs = 2; decl double malloc = 2; decl double memcpy = 2; decl double memset = 1;
      decl double snprintf = 1; decl double free = 3;
    }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    y0[i] = y0[i] * exp + gamma[i] * malloc * index[i][1] - memcpy * memset + snprintf * free + abs * time->read[i];
  /*@ end @*/
  /*@ end @*/
  time->flag = 1;
}
"""


def test_variables_may_have_the_names_of_library_functions(tmp_path: Path) -> None:
    source = tmp_path / "names.c"
    source.write_text(NAMED_LIKE_FUNCTIONS)
    report = orio_py.tune(source)
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    assert report.regions[0].failures == {}
