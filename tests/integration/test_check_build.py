"""`orio check --build`: what does not compile or link is told at its place in the user's file, and nothing is run."""

import json
from pathlib import Path

import pytest

from orio_py.cli.main import main

SOURCE = """#include <stdio.h>
HEAD
static double helper(double x) { return HELPER; }
void axpy(int n, double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 @CFLAGS'; arg libs = 'LIBS'; }
    def performance_params { param U[] = [1, 2]; param CFLAGS[] = ['CHOICE']; }
    def input_params { param n[] = [2000]; }
    def input_vars { decl dynamic double x[n] = random; decl dynamic double y[n] = INPUT; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    y[i] = 2.0 * y[i] + helper(x[i]) + BODY;
  /*@ end @*/
  /*@ end @*/
}
"""
GOOD = {"HEAD": "", "HELPER": "x", "BODY": "x[i]", "CHOICE": "", "INPUT": "random", "LIBS": ""}


def write(folder: Path, **parts: str) -> Path:
    text = SOURCE
    for name, part in {**GOOD, **parts}.items():
        text = text.replace(name, part)
    (folder / "axpy.c").write_text(text)
    return folder / "axpy.c"


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("parts", "code", "place", "words"),
    [
        ({"HEAD": '#include "nothere.h"'}, "ORIO-B004", (2, 10), "nothere.h"),
        ({"HELPER": "x * unknown"}, "ORIO-B004", (3, 45), "'unknown' undeclared"),
        ({"BODY": "unknown"}, "ORIO-B004", (15, 40), "'unknown' undeclared"),
        ({"BODY": "elsewhere(i)"}, "ORIO-B025", (15, 40), "`elsewhere`"),
        ({"LIBS": "-lnotthere"}, "ORIO-B004", (7, 3), "notthere"),
        ({"INPUT": "unknown_start"}, "ORIO-B005", None, "unknown_start"),
    ],
    ids=["header", "helper", "region", "link", "library", "inputs"],
)
def test_what_does_not_build_is_told_where_the_user_wrote_it(
    tmp_path: Path, capsys, parts: dict[str, str], code: str, place: tuple[int, int] | None, words: str
) -> None:
    source = write(tmp_path, **parts)
    assert main(["check", str(source), "-q"]) == 0
    capsys.readouterr()
    assert main(["check", str(source), "--build", "--json"]) == 2
    report = json.loads(capsys.readouterr().out)
    (found,) = [d for d in report["diagnostics"] if d["severity"] == "error"]
    assert found["code"] == code
    assert words in found["message"]
    assert str(tmp_path / "axpy.c") == found["file"]
    if place is not None:
        assert (found["line"], found["column"]) == place
    assert report["built"] == 0
    assert "/variant.c" not in found["message"]


def test_a_variant_that_does_not_compile(tmp_path: Path, capsys) -> None:
    text = "#ifdef FAST\n#error no fast version\n#endif"
    source = write(tmp_path, HEAD=text, CHOICE="', '-DFAST")
    # The first configuration is what is built: without the option.
    assert main(["check", str(source), "--build"]) == 0
    assert "1 built" in capsys.readouterr().out
    assert main(["check", str(source), "--build", "--set", "CFLAGS=-DFAST"]) == 2
    assert "axpy.c:3:2: error[ORIO-B004]: the original code does not compile" in capsys.readouterr().err


def test_clean_files_are_built_and_nothing_is_run(tmp_path: Path, capsys) -> None:
    source = write(tmp_path, HELPER='(fopen("ran", "w"), x)')
    assert main(["check", str(source), "--build", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["regions"], report["built"], report["diagnostics"]) == (1, 1, [])
    assert [path.name for path in tmp_path.iterdir()] == ["axpy.c"]
    assert main(["check", str(source), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["built"] is None


@pytest.mark.parametrize("device", ["CUDA(threadCount=T)", "OpenCL(workItemsPerGroup=T)"])
def test_kernels_are_built_before_there_are_inputs(tmp_path: Path, capsys, device: str) -> None:
    source = tmp_path / "axpy.c"
    text = SOURCE.replace("Unroll(ufactor=U)", device).replace("param U[] = [1, 2]", "param T[] = [32, 64]")
    for name, part in {**GOOD, "HELPER": "x", "BODY": "x[i]"}.items():
        text = text.replace(name, part)
    source.write_text(text.replace(" + helper(x[i])", ""))
    status = main(["check", str(source), "--build"])
    shown = capsys.readouterr()
    if status == 3:
        pytest.skip(shown.err)
    assert status == 0, shown.err
    assert "1 built" in shown.out


def test_without_a_compiler_it_is_the_environments_fault(tmp_path: Path, capsys, monkeypatch) -> None:
    source = write(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["check", str(source)]) == 0
    assert main(["check", str(source), "--build"]) == 3
    assert "ORIO-B001" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "transform", "tune"])
def test_recipes_that_nest_code_too_deeply_are_told(tmp_path: Path, capsys, command: str) -> None:
    source = tmp_path / "scale.c"
    steps = " ".join(["transform Unroll(ufactor=2)"] * 400)
    source.write_text(
        f"void scale(int n, double *a)\n{{\n  int i;\n  /*@ begin Loop ({steps}) @*/\n"
        "  for (i = 0; i < n; i++)\n    a[i] = 2.0 * a[i];\n  /*@ end @*/\n}\n"
    )
    assert main([command, str(source), "-q"]) == 2
    assert "scale.c:4:3: error[ORIO-C006]" in capsys.readouterr().err


OWN_MACROS = """void scale(int n, double *x)
{
#define REAL double
  {
    const REAL *from = x, *to = x + n;
    REAL w = 0.5;
    int i;
#define SCALED(v) (w * (v))
    if (from != to) {
      /*@ begin PerfTuning (
        def performance_params { param U[] = [1, 2]; }
        def input_vars { decl int n = 100; decl double w = 0.5; decl dynamic double x[200] = random; }
      ) @*/
      /*@ begin Loop (transform Unroll(ufactor=U)) @*/
#define MORE SCALED
      for (i = 0; i < n; i++) {
        REAL t = MORE(x[i]);
        x[i + 100] = t;
      }
#undef MORE
      /*@ end @*/
      /*@ end @*/
    }
  }
#undef REAL
#define REAL float
}
REAL scaled(REAL v) { return SCALED_BY(v); }
"""


def test_macros_that_the_function_defines_count_in_it_alone(tmp_path: Path, capsys) -> None:
    (tmp_path / "scale.c").write_text("#define SCALED_BY(v) (v)\n" + OWN_MACROS)
    assert main(["check", str(tmp_path / "scale.c"), "--build", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["built"], report["diagnostics"]) == (1, [])


def test_functions_in_the_other_branch_of_a_condition(tmp_path: Path, capsys) -> None:
    other = "#ifdef FIXED\nint other(void) { return 1; }\n#else\nint other(void) { return 2; }\n#endif"
    source = write(tmp_path, HEAD=other)
    assert main(["check", str(source), "--build"]) == 0
    assert "1 built" in capsys.readouterr().out
