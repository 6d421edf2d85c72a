"""The text of kernels and test programs."""

from pathlib import Path

import pytest

from orio_py.codegen.harness import fill_skeleton, harness_program
from orio_py.codegen.interface import build_interface
from orio_py.codegen.kernel import kernel_program
from orio_py.codegen.variables import Passing
from orio_py.core.diagnostics import DiagnosticError
from orio_py.tuning.files.load import load

SOURCE = """#include <math.h>
#define M 8
typedef float real;
static real table[M];
int unrelated(void) { return 1; }
static real half(real v) { return v / 2; }
real sum(int n, const real *x, int never_used)
{
  real s = 0.0f;
  const int last = n - 1;
  int i;
  /*@ begin PerfTuning (
    def input_params { param n[] = [100]; }
    def input_vars { decl dynamic float x[n] = random; decl static float table[M] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i <= last; i++)
    s += half(x[i]) * table[i % M];
  /*@ end @*/
  /*@ end @*/
  return s;
}
"""


def loaded(tmp_path: Path, text: str = SOURCE):
    path = tmp_path / "sum.c"
    path.write_text(text)
    result = load([path])
    assert not result.is_bad, [d.headline() for d in result.diagnostics]
    return result.tasks[0]


def test_each_variable_is_passed_as_the_file_has_it(tmp_path: Path) -> None:
    task = loaded(tmp_path)
    found = {v.name: v for v in build_interface(task.task, task.points[0]).variables}
    assert {name: v.passing for name, v in found.items()} == {
        "n": Passing.VALUE,
        "x": Passing.ARRAY,
        "table": Passing.GLOBAL_ARRAY,
        "i": Passing.LOCAL,
        "s": Passing.LOCAL,
        "last": Passing.LOCAL,
    }
    assert found["last"].initialiser == "n - 1"
    assert found["s"].initialiser == "0.0f"
    assert found["s"].compared
    assert not found["i"].compared
    assert found["x"].type == "float"
    assert not found["x"].written


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("s = -0.5;", "-0.5"),
        ("s = x[0]; s = 3;", "3"),
        ("if (n > 3) s = 1.0f; else s = 1.0f;", None),
        ("s = 1.0f; if (n > 3) s += 1;", None),
        ("s = 1.0f; { real *p = &s; *p = 2; }", None),
    ],
)
def test_the_last_number_assigned_is_the_value_of_a_local(
    tmp_path: Path, before: str, value: str | None
) -> None:
    text = SOURCE.replace("real s = 0.0f;", "real s;").replace("  int i;\n", f"  int i;\n  {before}\n")
    task = loaded(tmp_path, text)
    if value is None:
        with pytest.raises(DiagnosticError, match="the value of `s` before the region is not known"):
            build_interface(task.task, task.points[0])
    else:
        found = {v.name: v for v in build_interface(task.task, task.points[0]).variables}
        assert found["s"].initialiser == value


def test_what_only_an_initialiser_reads_needs_its_value(tmp_path: Path) -> None:
    text = SOURCE.replace("int n, const", "real gain, int n, const").replace("s += half", "s += scale * half")
    text = text.replace("  int i;\n", "  const real scale = gain * 2.0f;\n  int i;\n")
    unknown = loaded(tmp_path, text)
    with pytest.raises(DiagnosticError) as caught:
        build_interface(unknown.task, unknown.points[0])
    assert [(d.code, "`gain`" in d.message) for d in caught.value.diagnostics] == [("ORIO-M002", True)]
    known = loaded(tmp_path, text.replace("def input_vars {", "def input_vars { decl float gain = 0.5;"))
    found = {v.name: v for v in build_interface(known.task, known.points[0]).variables}
    assert found["gain"].live_in
    assert found["scale"].initialiser == "gain * 2.0f"


def test_the_kernel_holds_what_the_region_needs_and_no_more(tmp_path: Path) -> None:
    task = loaded(tmp_path)
    interface = build_interface(task.task, task.points[0])
    text = kernel_program(task.task, interface, ["\n  CODE;\n"]).text
    assert "#include <math.h>" in text
    assert "static real half(real v)" in text
    assert "unrelated" not in text
    assert "never_used" not in text
    assert "static void orio_kernel(int n, const real *x, float *orio_out_s)" in text
    assert "*orio_out_s = s;" in text
    assert "CODE;" in text
    assert "s += half" not in text


def test_variables_of_a_fragment_leave_their_registers(tmp_path: Path) -> None:
    text = """register int i, n;
/*@ begin PerfTuning (def input_params { param N = 9; } def input_vars { decl dynamic float x[N] = random; }) @*/
/*@ begin Loop (transform Unroll(ufactor=2)) @*/
for (i = 0; i < N; i++) { register float t = x[i]; x[i] = t * t; }
/*@ end @*/
/*@ end @*/
"""
    task = loaded(tmp_path, text)
    found = kernel_program(task.task, build_interface(task.task, task.points[0]), [""]).text
    assert "int i, n;" in found
    assert "register" not in found


def test_size_macros_take_the_problem_size(tmp_path: Path) -> None:
    task = loaded(tmp_path, SOURCE.replace("param n[] = [100]", "param n[] = [100]; param M[] = [16]"))
    interface = build_interface(task.task, task.points[0])
    text = kernel_program(task.task, interface, [""]).text
    assert "#define M 16" in text
    assert "#define M 8" not in text
    assert dict(interface.macros) == {"M": 16}


@pytest.mark.parametrize(
    ("old", "new", "code", "name"),
    [
        ("real s = 0.0f;", "real s = x[0];", "ORIO-M002", "s"),
        ("decl dynamic float x[n]", "decl dynamic double x[n]", "ORIO-M003", "x"),
        ("real s = 0.0f;", "struct t { int k; } *q; real s = 0.0f;", "", ""),
        ("typedef float real;", "typedef short real;", "ORIO-M003", "x"),
    ],
)
def test_what_cannot_be_fed_is_named(tmp_path: Path, old: str, new: str, code: str, name: str) -> None:
    task = loaded(tmp_path, SOURCE.replace(old, new))
    if not code:
        assert build_interface(task.task, task.points[0]).variables
        return
    with pytest.raises(DiagnosticError) as caught:
        build_interface(task.task, task.points[0])
    problem = caught.value.diagnostics[0]
    assert problem.code == code
    assert f"`{name}`" in problem.message
    assert problem.position == task.task.position


@pytest.mark.parametrize("kind", ["short", "unsigned short", "int16_t", "uint16_t"])
def test_types_of_one_size_and_kind_agree(tmp_path: Path, kind: str) -> None:
    text = SOURCE.replace("typedef float real;", "#include <stdint.h>\ntypedef int16_t real;")
    task = loaded(tmp_path, text.replace("float x[n]", f"{kind} x[n]").replace("float table", "short table"))
    found = {v.name: v for v in build_interface(task.task, task.points[0]).variables}
    assert found["x"].type == kind


def test_a_skeletons_tags_are_replaced_and_unknown_ones_dropped() -> None:
    text = "a /*@ global @*/ b /*@ begin inner measurement @*/ c /*@tested   code@*/ d"
    assert fill_skeleton(text, {"global": "G", "tested code": "T"}) == "a G b  c T d"


def test_the_test_program_defines_sizes_and_fills_variables(tmp_path: Path) -> None:
    task = loaded(tmp_path)
    interface = build_interface(task.task, task.points[0])
    text = harness_program(task.task, interface, task.points[0]).text
    assert "#define n 100" in text
    assert "float *x;" in text
    assert "float table[M];" in text
    assert "#define M 8" in text
    assert "/*@" not in text.split("int main", 1)[1]
