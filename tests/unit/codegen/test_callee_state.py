"""What functions called by a region keep, as variables of the kernel."""

from pathlib import Path

import pytest

from orio_py.codegen.interface import build_interface
from orio_py.codegen.kernel import kernel_program
from orio_py.codegen.variables import KernelVariable
from orio_py.tuning.files.load import load

SOURCE = """#define STEP 2
#define COUNTED (n_++)
static int hits, *where;
extern int others;
static struct { int n; } pair;
static _Thread_local int own;
static double mean[4];
static double half(double v)
{
  BODY
  return v / 2;
}
void kernel(int n, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def input_params { param n[] = [100]; }
    def input_vars { decl dynamic double x[n] = random; SPEC }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i <= n; i++)
    x[i] = half(x[i]);
  /*@ end @*/
  /*@ end @*/
}
"""


def made(tmp_path: Path, body: str, spec: str = "") -> tuple[dict[str, KernelVariable], str]:
    path = tmp_path / "k.c"
    path.write_text(SOURCE.replace("BODY", body).replace("SPEC", spec))
    result = load([path])
    assert not result.is_bad, [d.headline() for d in result.diagnostics]
    (task,) = result.tasks
    interface = build_interface(task.task, task.points[0])
    return {v.name: v for v in interface.variables}, kernel_program(task.task, interface, [""]).text


def test_variables_of_file_scope(tmp_path: Path) -> None:
    found, text = made(tmp_path, "hits++; mean[hits & 3] = v; others = 1; own = 2; where = &hits;")
    assert set(found) == {"n", "x", "i", "hits", "mean", "others"}
    assert all(found[name].keeps_value and found[name].written for name in ("hits", "mean", "others"))
    assert text.count("extern int others;") == 1
    assert "\nint others;" not in text


def test_what_the_specification_declares_has_its_values(tmp_path: Path) -> None:
    found, _ = made(tmp_path, "mean[1] += v;", "decl static double mean[4] = random;")
    assert (found["mean"].keeps_value, found["mean"].written) == (False, True)
    assert found["mean"].source is not None


def test_static_variables_of_functions(tmp_path: Path) -> None:
    body = "static int n = STEP, at[2]; static int *stays; (void)stays; n += pair.n; at[n & 1]++;"
    found, text = made(tmp_path, body)
    assert set(found) == {"n", "x", "i", "orio_half_n", "orio_half_at"}
    assert "static int orio_half_n = STEP , orio_half_at [ 2 ] ; static double half(double v)" in text
    assert "(void)stays; orio_half_n += pair.n; orio_half_at[orio_half_n & 1]++;" in text


@pytest.mark.parametrize(
    "body",
    [
        "static int *at; at = &hits;",
        "static int *at, n; at = &n; n++;",
        "static int n_; COUNTED;",
        "static int n; { int n = 1; hits += n; } n++;",
        "enum { SIZE = 2 }; static int n[SIZE]; n[1]++;",
        "static int n;\\n#ifdef STEP\\n  n++;\\n#endif\\n",
        "static const int n = 2; hits += n;",
    ],
)
def test_what_cannot_stand_outside_a_function_stays_in_it(tmp_path: Path, body: str) -> None:
    found, text = made(tmp_path, body.replace("\\n", "\n"))
    assert not any(name.startswith("orio_") for name in found)
    assert "orio_half_" not in text


@pytest.mark.parametrize("call", ["CALL(x[i])", "TWICE", "(FILL(y), x[i])"])
def test_functions_that_macros_call(tmp_path: Path, call: str) -> None:
    macros = "#define CALL(x) half(x)\n#define TWICE (2 * CALL(1.0))\n#define FILL(p) fill(3, p)\n"
    text = SOURCE.replace("#define STEP", f"{macros}#define STEP").replace("half(x[i])", call)
    text = text.replace(
        "static double half", "static void fill(int n, double *p) { p[n] = 0; }\nstatic double half"
    )
    text = text.replace("double *x)", "double *x, double *y)").replace("BODY", "hits++;")
    path = tmp_path / "k.c"
    path.write_text(text.replace("SPEC", "decl dynamic double y[n] = random;"))
    (task,) = load([path]).tasks
    found = {v.name: v for v in build_interface(task.task, task.points[0]).variables}
    assert found["y" if "FILL" in call else "hits"].written
