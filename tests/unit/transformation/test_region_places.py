"""Regions behind what takes one statement, and pragmas in and before regions."""

from __future__ import annotations

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.api.writing import transform
from orio_py.transformation.base import Refusal
from orio_py.transformation.parallel.pragma_text import takes_statement

FILE = """#include <stdio.h>
static double a[64], b[64];
static void f(int n)
{
  int i = 5, j = 0;
  %s
  %s
  /*@ begin Loop(transform %s) @*/
  %s
  /*@ end @*/
  %s
  (void)j;
}
int main(void)
{
  for (int n = -1; n < 8; n++) {
    f(n);
    for (int k = 0; k < 64; k++) printf("%%g ", a[k] += b[k] += k);
  }
  return 0;
}
"""
LOOP = "for (i = 0; i < n; i++) a[i] = b[i] + 1;"


def written(path, text: str) -> str:
    (path / "k.c").write_text(text)
    report = transform([path / "k.c"], output=path / "new.c")
    assert report.exit_code == 0, report.diagnostics
    return (path / "new.c").read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if (n > 3)", ""),
        ("if (n > 3) a[60]++; else", ""),
        ("if (n > 3)", "else a[61]++;"),
        ("for (j = 0; j < 2; j++)", ""),
        ("while (j++ < 3) /* twice */", ""),
        ("do", "while (j++ < 3);"),
        ("if (n > 3)\n#pragma omp parallel num_threads(1)\n", "else a[62]++;"),
        ("switch (n) case 3:", ""),
        ("switch (n) { case 3:", "}"),
        ("goto there; there:", ""),
    ],
)
@pytest.mark.parametrize("recipe", ["Unroll(ufactor=3)", "Parallelize()"])
def test_the_code_stays_the_body_of_what_stands_before_it(tmp_path, before, after, recipe) -> None:
    text = FILE % (before, "", recipe, LOOP, after)
    expected = compile_and_run(text, tmp_path, *checked(), *openmp())
    assert compile_and_run(written(tmp_path, text), tmp_path, *checked(), *openmp()) == expected


@pytest.mark.parametrize(
    ("pragma", "takes"),
    [
        ("omp parallel", True),
        ("omp single nowait", True),
        ("acc data copy(a)", True),
        ("omp barrier", False),
        ("omp target enter data map(to: a)", False),
        ("acc update host(a)", False),
        ("GCC diagnostic push", False),
        ("once", False),
    ],
)
def test_directives_that_stand_by_themselves_take_no_statement(pragma: str, takes: bool) -> None:
    assert takes_statement(pragma) == takes


def test_several_statements_behind_a_condition_are_refused(tmp_path) -> None:
    text = FILE % ("if (n > 3)", "", "Unroll(ufactor=2)", f"a[0] = 1; {LOOP}", "")
    (tmp_path / "k.c").write_text(text)
    report = transform([tmp_path / "k.c"], output=tmp_path / "new.c")
    assert report.exit_code == 2
    assert [(d.code, d.position.line) for d in report.diagnostics if d.position] == [("ORIO-A021", 8)]
    assert not (tmp_path / "new.c").exists()


@pytest.mark.parametrize("pragma", ["omp for", "omp parallel for private(j)", "GCC ivdep", "omp simd"])
def test_a_pragma_before_the_region_wants_its_loop(pragma: str) -> None:
    text = FILE % ("", f"#pragma {pragma}\n", "Unroll(ufactor=2)", LOOP, "")
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-T023"
    assert pragma in problem.message


def test_a_loop_that_stays_one_keeps_the_pragma_before_the_region(tmp_path) -> None:
    text = FILE % ("", "#pragma omp parallel for\n", "BoundReplace()", LOOP, "")
    new = written(tmp_path, text)
    expected = compile_and_run(text, tmp_path, *checked(), *openmp())
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == expected


NEST = "for (i = 0; i < 7; i++)\n#pragma %s\n    for (j = 0; j < 4; j++) a[8 * j + i] = b[8 * j + i];"


@pytest.mark.parametrize(
    "hint", ["ivdep", "GCC ivdep", "GCC unroll 4", "omp simd", "clang loop unroll(full)"]
)
@pytest.mark.parametrize(
    "recipe", ["UnrollJam(ufactor=2)", "Permut(seq=['j', 'i'])", "Tile(tsize=2, tindex='t')"]
)
def test_hints_that_are_in_the_way_are_left_out(tmp_path, hint: str, recipe: str) -> None:
    text = FILE % ("", "", recipe, NEST % hint, "")
    new = written(tmp_path, text)
    left_out, _, _ = new.partition("#else")
    assert f"#pragma {hint}\n" not in left_out or not recipe.startswith("UnrollJam")
    expected = compile_and_run(text, tmp_path, *checked(), *openmp())
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == expected


def test_pragmas_that_share_out_iterations_are_not_left_out() -> None:
    text = FILE % ("", "", "UnrollJam(ufactor=2)", NEST % "omp for", "")
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    assert caught.value.diagnostics[0].code == "ORIO-T023"


PARALLEL = """#include <stdio.h>
static double a[200], b[200];
static void f(int n, double *x, double *y)
{
  int i, j;
  double t;
#pragma omp parallel private(t) num_threads(3)
  {
    /*@ begin Loop(transform %s) @*/
#pragma omp for private(j) schedule(static, 1)
    for (i = 0; i < n; i++)
      for (j = 0; j < 4; j++) { t = x[i * 4 + j]; y[i * 4 + j] += t * t; }
    /*@ end @*/
  }
  /*@ begin Loop(transform %s) @*/
#pragma omp parallel for private(t, j) num_threads(3)
  for (i = 0; i < n; i++)
    for (j = 0; j < 4; j++) { t = x[i * 4 + j]; y[i * 4 + j] -= t * 3; }
  /*@ end @*/
}
int main(void)
{
  for (int n = -1; n < 14; n++) {
    for (int k = 0; k < 200; k++) a[k] = b[k] = k;
    f(n, b, a);
    for (int other = FROM; other < FROM + 9; other++) f(n, b + 40, b + other);
    for (int k = 0; k < 200; k++) printf("%%g %%g ", a[k], b[k]);
  }
  return 0;
}
"""


@pytest.mark.parametrize(
    "recipe",
    [
        "Unroll(ufactor=3)",
        "UnrollJam(ufactor=2)",
        "Tile(tsize=4, tindex='ii')",
        "Parallelize()",
        "Permut(seq=['i', 'j'])",
        "Composite(unrolljam=(['i'], [3]), parallelize=True)",
        "Composite(tile=[('i', 4, 'ii')], unrolljam=(['i', 'j'], [2, 2]))",
        "Composite(scalarreplace=(True, 'double'), vectorize=True)",
        "RegTile(loops=['i', 'j'], ufactors=[2, 2])",
    ],
)
def test_a_loop_stays_shared_out_among_the_users_threads(tmp_path, recipe: str) -> None:
    text = PARALLEL % (recipe, recipe)
    new = written(tmp_path, text)
    generated = "".join(part.partition("#else")[0] for part in new.split("#ifndef ORIO_ORIGINAL")[1:])
    assert "#pragma omp for private(j) schedule(static, 1)" in generated
    assert "#pragma omp parallel for private(t, j) num_threads(3)" in generated
    flags = (*checked(), *openmp(), "-DFROM=120")
    assert compile_and_run(new, tmp_path, *flags) == compile_and_run(text, tmp_path, *flags)


def test_without_threads_overlapping_arrays_run_the_original(tmp_path) -> None:
    text = PARALLEL % ("UnrollJam(ufactor=2)", "UnrollJam(ufactor=2)")
    flags = (*checked(), "-DFROM=36")
    new = written(tmp_path, text)
    assert compile_and_run(new, tmp_path, *flags) == compile_and_run(text, tmp_path, *flags)


@pytest.mark.parametrize("clause", ["ordered", "default(none) shared(n, x, y)", "simd"])
def test_pragmas_that_cannot_move_are_respected(clause: str) -> None:
    body = f"#pragma omp parallel for {clause}\nfor (i = 0; i < n; i++) a[i] = b[i] + 1;"
    with pytest.raises(Refusal) as caught:
        transformed_file(FILE % ("", "", "Unroll(ufactor=2)", body, ""), {})
    assert caught.value.diagnostics[0].code == "ORIO-T023"


def test_a_loop_with_a_dependence_does_not_get_the_pragma_back() -> None:
    body = "#pragma omp for private(j)\nfor (i = 1; i < n; i++) for (j = 0; j < 8; j++) a[i * 8 + j] = a[i * 8 + j] + a[i * 8 - 8 + j];"
    with pytest.raises(Refusal) as caught:
        transformed_file(FILE % ("", "", "Tile(tsize=2, tindex='t')", body, ""), {})
    assert caught.value.diagnostics[0].code == "ORIO-T040"


@pytest.mark.parametrize(
    ("condition", "refused"),
    [
        ("#ifdef NOWHERE", False),
        ("#ifndef NOWHERE", True),
        ("#if 0\n#else", True),
        ("#ifdef _OPENMP", True),
        ("#if defined(NOWHERE) && defined(_OPENMP)\n#if 1\n#endif", True),
        ("#ifndef _OPENMP\n#else", True),
        ("#ifdef _OPENMP\n#endif\n#ifdef NOWHERE", False),
    ],
)
def test_a_pragma_before_a_region_counts_where_it_is_compiled(condition: str, refused: bool) -> None:
    pragma = f"{condition}\n  n--;\n#pragma omp parallel for\n#endif"
    text = FILE % (pragma, "", "Unroll(ufactor=3)", LOOP, "")
    if refused:
        with pytest.raises(Refusal) as caught:
            transformed_file(text, {})
        assert caught.value.diagnostics[0].code == "ORIO-T023"
    else:
        assert "i += 3" in transformed_file(text, {})
