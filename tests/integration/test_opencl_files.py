"""Files with OpenCL regions: what is written beside them, what is left alone, and that it links and runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from opencl_build import build, device_environment, loader, run

import orio_py
from orio_py.spec.generated import companion_mark

AXPY = """\
void axpy(int n, double a, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin Loop(transform OpenCL(workItemsPerGroup=16)) @*/
  for (i = 0; i <= n - 1; i++)
    y[i] = y[i] + a * x[i];
  /*@ end @*/
  (void)i;
}

double norm(int n, const double *x, double s)
{
  int i;
  /*@ begin Loop(transform OpenCL(workItemsPerGroup=8, workGroups=4, force=True)) @*/
  for (i = 0; i <= n - 1; i++)
    s += x[i] * x[i];
  /*@ end @*/
  (void)i;
  return s;
}
"""

MAIN = """\
#include <stdio.h>
#include <stdlib.h>

void axpy(int n, double a, const double *restrict x, double *restrict y);
double norm(int n, const double *x, double s);

int main(void)
{
  static const int sizes[] = {100, 1000, 7, 0, 1};
  size_t k;
  int i;
  for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    int n = sizes[k];
    double *x = malloc(sizeof *x * (size_t)(n + 1));
    double *y = malloc(sizeof *y * (size_t)(n + 1));
    for (i = 0; i <= n; i++) {
      x[i] = 1.0 / (i + 1);
      y[i] = i;
    }
    axpy(n, 3.0, x, y);
    (void)printf("%.9g %.9g %.9g %.12g\\n", y[0], y[n / 2], y[n], norm(n, x, 5.0));
    free(x);
    free(y);
  }
  return 0;
}
"""

PLAIN = AXPY.replace("OpenCL(workItemsPerGroup=16)", "Unroll(ufactor=2)").replace(
    "OpenCL(workItemsPerGroup=8, workGroups=4, force=True)", "Unroll(ufactor=2)"
)


def write(path: Path, text: str = AXPY) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names(folder)}


@pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")
def test_the_output_links_with_its_companion_and_computes_the_same(tmp_path):
    source = write(tmp_path / "vec.c")
    report = orio_py.transform(source, output=tmp_path / "out.c")
    assert [p.name for p in report.outputs] == ["out.c", "out_opencl.c", "out_opencl.h"]
    write(tmp_path / "main.c", MAIN)
    plain = run(build(tmp_path, ["vec.c", "main.c"], "-Wno-unknown-pragmas"))
    program = build(tmp_path, ["out.c", "out_opencl.c", "main.c", str(loader())])
    environment = device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache")})
    assert run(program, environment=environment) == plain
    original = build(tmp_path, ["out.c", "main.c"], "-DORIO_ORIGINAL")
    assert run(original) == plain


def test_without_an_output_the_companions_stand_beside_the_new_file(tmp_path):
    orio_py.transform(write(tmp_path / "vec.c"))
    assert names(tmp_path) == ["_vec.c", "_vec_opencl.c", "_vec_opencl.h", "vec.c"]
    assert '#include "_vec_opencl.h"' in (tmp_path / "_vec_opencl.c").read_text()


def test_in_place_can_be_repeated(tmp_path):
    source = write(tmp_path / "vec.c")
    orio_py.transform(source, in_place=True)
    once = contents(tmp_path)
    assert sorted(once) == ["vec.c", "vec_opencl.c", "vec_opencl.h"]
    assert orio_py.transform(source, in_place=True).exit_code == 0
    assert contents(tmp_path) == once
    assert orio_py.transform(tmp_path, in_place=True).exit_code == 0
    assert contents(tmp_path) == once


def test_a_tree_is_mirrored_with_companions(tmp_path):
    write(tmp_path / "src" / "a" / "vec.c")
    write(tmp_path / "src" / "plain.c", "int x;\n")
    orio_py.transform(tmp_path / "src", output=tmp_path / "out")
    mirrored = ["a/vec.c", "a/vec_opencl.c", "a/vec_opencl.h", "plain.c"]
    assert names(tmp_path / "out") == mirrored
    assert orio_py.transform(tmp_path / "src", output=tmp_path / "out").exit_code == 0
    assert names(tmp_path / "out") == mirrored


def test_a_tree_that_holds_companions_of_its_own_gets_new_ones(tmp_path):
    source = write(tmp_path / "src" / "vec.c")
    orio_py.transform(source, in_place=True)
    source.write_text(source.read_text().replace("workItemsPerGroup=16", "workItemsPerGroup=32"))
    assert orio_py.transform(tmp_path / "src", output=tmp_path / "out").exit_code == 0
    assert b"{32}" in (tmp_path / "out" / "vec_opencl.c").read_bytes()
    assert b"{16}" in (tmp_path / "src" / "vec_opencl.c").read_bytes()


def test_stale_companions_are_removed_and_not_copied(tmp_path):
    source = write(tmp_path / "src" / "vec.c")
    orio_py.transform(source, in_place=True)
    orio_py.transform(tmp_path / "src", output=tmp_path / "out")
    source.write_text(PLAIN)
    assert orio_py.transform(tmp_path / "src", output=tmp_path / "out").exit_code == 0
    assert names(tmp_path / "out") == ["vec.c"]
    assert orio_py.transform(source, in_place=True).exit_code == 0
    assert names(tmp_path / "src") == ["vec.c"]


def test_the_users_own_files_stay(tmp_path):
    source = write(tmp_path / "src" / "vec.c", PLAIN)
    write(tmp_path / "src" / "vec_opencl.c", "int mine;\n")
    write(tmp_path / "src" / "vec_opencl.h", f"\n{companion_mark('OpenCL')} but not at its beginning */\n")
    assert orio_py.transform(source, in_place=True).exit_code == 0
    assert orio_py.transform(tmp_path / "src", output=tmp_path / "out").exit_code == 0
    assert names(tmp_path / "src") == names(tmp_path / "out") == ["vec.c", "vec_opencl.c", "vec_opencl.h"]


@pytest.mark.parametrize("ending", ["c", "h"])
@pytest.mark.parametrize("way", ["in place", "mirror", "file"])
def test_a_file_of_the_users_is_never_overwritten(tmp_path, ending, way):
    source = write(tmp_path / "src" / "vec.c")
    write(tmp_path / "src" / "other.c", PLAIN)
    name = "out" if way == "file" else "vec"
    write(tmp_path / "src" / f"{name}_opencl.{ending}", "int mine;\n")
    before = contents(tmp_path)
    match way:
        case "in place":
            report = orio_py.transform(tmp_path / "src", in_place=True)
        case "mirror":
            report = orio_py.transform(tmp_path / "src", output=tmp_path / "out")
        case _:
            report = orio_py.transform(source, output=tmp_path / "src" / "out.c")
    assert report.exit_code == 2
    (problem,) = report.diagnostics
    assert problem.code == "ORIO-U035"
    assert f"{name}_opencl.{ending}` is not generated" in problem.message.replace("`, which", "`")
    assert contents(tmp_path) == before


def test_an_input_that_would_be_replaced_is_refused(tmp_path):
    one = write(tmp_path / "a" / "vec.c")
    other = write(tmp_path / "b" / "vec_opencl.c", PLAIN)
    report = orio_py.transform([one, other], output=tmp_path / "out")
    assert [d.code for d in report.diagnostics] == ["ORIO-U035"]
    assert not (tmp_path / "out").exists()


def test_tuning_is_refused_before_anything_is_measured(tmp_path):
    source = write(tmp_path / "vec.c")
    write(tmp_path / "vec_opencl.h", "int mine;\n")
    report = orio_py.tune(source, in_place=True)
    assert report.exit_code == 2
    assert [d.code for d in report.diagnostics] == ["ORIO-U035"]


@pytest.mark.parametrize(("operand", "is_told"), [("x[i]", True), ("x[i + 1]", False)])
def test_tiles_that_would_be_of_no_use_are_told_above_the_code(tmp_path, operand, is_told):
    text = AXPY.replace("workItemsPerGroup=16", "cacheBlocks=True").replace(
        "y[i] + a * x[i]", f"{operand} + a * x[i]"
    )
    report = orio_py.transform(write(tmp_path / "vec.c", text), output=tmp_path / "out.c")
    assert report.exit_code == 0
    remark = "/* cacheBlocks=True changes nothing: OpenCL finds nothing to keep in local memory: no two items"
    assert (remark in (tmp_path / "out.c").read_text()) == is_told
