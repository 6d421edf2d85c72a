"""Two tuned files in one translation unit, or linked together, with names that C++ has words for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from opencl_build import STRICT, device_environment, headers, loader

import orio_py

FILE = """\
static void scale(int n, double class, double *restrict new)
{
  int i;
  /*@ begin Loop(transform @()) @*/
  for (i = 0; i < n; i++)
    new[i] *= class;
  /*@ end @*/
}
void one(int n, double *x);
void one(int n, double *x) { scale(n, 2, x); }
"""
BOTH = """\
#include "one.c"
#include "one_opencl.c"
#define scale other_scale
#include "two.c"
#include "two_opencl.c"
"""
MAIN = """\
#include <stdio.h>
void one(int n, double *x);
void two(int n, double *x);
int main(void)
{
  double x[3] = {1, 2, 3};
  one(3, x);
  two(3, x);
  (void)printf("%g %g %g\\n", x[0], x[1], x[2]);
  return 0;
}
"""


def write(folder: Path, step: str) -> None:
    """Two tuned files with a static function of one name."""
    for name, text in (("one", FILE), ("two", FILE.replace("one(", "two("))):
        (folder / f"{name}.c").write_text(text.replace("@(", f"{step}("))
        assert orio_py.transform(folder / f"{name}.c", in_place=True).exit_code == 0


@pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")
def test_files_stand_beside_each_other(tmp_path: Path) -> None:
    write(tmp_path, "OpenCL")
    (tmp_path / "both.c").write_text(BOTH)
    (tmp_path / "main.c").write_text(MAIN)
    apart = [f"{name}{ending}.c" for name in ("one", "two") for ending in ("", "_opencl")]
    environment = device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache"), "ORIO_OPENCL_DEVICE": ""})
    for sources in (["both.c"], apart):
        words = ["gcc", *STRICT, *headers(), "main.c", *sources, str(loader()), "-pthread", "-o", "program"]
        subprocess.run(words, cwd=tmp_path, check=True)
        done = subprocess.run(["./program"], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("4 8 12\n", "")
    words = [
        "g++",
        "-std=c++11",
        "-Wall",
        "-Wextra",
        "-Werror",
        *headers(),
        "-c",
        "-x",
        "c++",
        "one_opencl.c",
    ]
    subprocess.run([*words, "-o", "one.o"], cwd=tmp_path, check=True)


def test_what_applications_call_keeps_its_name(tmp_path: Path) -> None:
    write(tmp_path, "CUDA")
    text = (tmp_path / "one_cuda.cu").read_text()
    assert "static int orio_wait_of_one(" in text
    assert "int orio_cuda_one_release(void)" in text
    assert "void orio_cuda_one_scale_0(" in text
