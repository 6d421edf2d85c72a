"""Files with CUDA regions: what is written beside them, with OpenCL's beside it, and what targets do not fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import orio_py
from orio_py.cli.main import main
from orio_py.spec.generated import companion_mark

BOTH = """\
void axpy(int n, double a, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin Loop(transform CUDA(threadCount=64)) @*/
  for (i = 0; i < n; i++)
    y[i] += a * x[i];
  /*@ end @*/
}

void scale(int n, double a, double *restrict y)
{
  int i;
  /*@ begin Loop(transform OpenCL(workItemsPerGroup=64)) @*/
  for (i = 0; i < n; i++)
    y[i] *= a;
  /*@ end @*/
}
"""


END = "  /*@ end @*/\n"
SPECIFICATION = """\
  /*@ begin PerfTuning (
    def input_params { param n[] = [100]; }
    def input_vars {
      decl double a = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }
  ) @*/
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_each_language_has_its_companions(tmp_path):
    source = write(tmp_path / "vec.c", BOTH)
    orio_py.transform(source, in_place=True)
    assert names(tmp_path) == ["vec.c", "vec_cuda.cu", "vec_cuda.h", "vec_opencl.c", "vec_opencl.h"]
    kernels = (tmp_path / "vec_cuda.cu").read_text()
    assert kernels.startswith(companion_mark("CUDA"))
    assert "orio_cuda_axpy_0_kernel(" in kernels
    assert "scale" not in kernels
    assert "in the file beside this one that ends in _cuda.cu; compile that with nvcc" in source.read_text()
    assert "void orio_cuda_axpy_0(" in (tmp_path / "vec_cuda.h").read_text()


def test_companions_that_nothing_calls_are_removed(tmp_path):
    source = write(tmp_path / "vec.c", BOTH)
    orio_py.transform(source, in_place=True)
    source.write_text(BOTH.replace("CUDA(threadCount=64)", "Unroll(ufactor=2)"))
    orio_py.transform(source, in_place=True)
    assert names(tmp_path) == ["vec.c", "vec_opencl.c", "vec_opencl.h"]


def test_files_of_the_users_stay(tmp_path):
    source = write(tmp_path / "vec.c", BOTH)
    write(tmp_path / "vec_cuda.cu", "int mine;\n")
    report = orio_py.transform(source, in_place=True)
    assert [d.code for d in report.diagnostics] == ["ORIO-U035"]
    assert names(tmp_path) == ["vec.c", "vec_cuda.cu"]


def test_two_kernels_of_one_name_are_told_apart(tmp_path):
    """A CUDA file has one name space for the kernels of all regions."""
    region = BOTH.split("\n\n")[0]
    body = region[region.index("  /*@") : region.rindex("}")]
    twice = region.replace(body, body + body.replace("a * x[i]", "x[i]"))
    orio_py.transform(write(tmp_path / "vec.c", twice), in_place=True)
    text = (tmp_path / "vec_cuda.cu").read_text()
    kernels = re.findall(r"__global__ void .*? (\w+)\(", text)
    assert len(kernels) == len(set(kernels)) == 2


@pytest.mark.parametrize(
    ("recipe", "options", "code", "status"),
    [
        ("CUDA()", ("--target", "opencl"), "ORIO-U018", 2),
        ("OpenCL()", ("--target", "cuda"), "ORIO-U018", 2),
        ("Unroll(ufactor=2)", ("--target", "cuda"), "ORIO-U018", 2),
        ("Composite(cuda=True, opencl=True)", (), "ORIO-U018", 2),
    ],
)
def test_what_tuning_says(tmp_path, capsys, recipe: str, options: tuple[str, ...], code: str, status: int):
    region = BOTH.split("\n\n")[0].replace("CUDA(threadCount=64)", recipe)
    text = region.replace("  /*@ begin", f"{SPECIFICATION}  /*@ begin").replace(END, END + END)
    file = write(tmp_path / "vec.c", text)
    assert main(["tune", str(file), "-o", str(tmp_path / "out.c"), *options]) == status
    told = capsys.readouterr()
    assert code in told.out + told.err
    assert "out.c" not in names(tmp_path)
