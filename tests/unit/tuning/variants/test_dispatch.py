"""Code that picks by size and processor, compiled and run."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from orio_py.spec.inputs import InputPoint
from orio_py.tuning.files.load import load
from orio_py.tuning.variants.dispatch import DispatchCase, dispatch, needs_dispatch

SOURCE = """void f(int n, int *x)
{
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 2]; }
    def input_params { param n[] = [10, 20]; }
    def input_vars { decl static int x[n] = 0; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (int i = 0; i < n; i++)
    x[0] = 3;
  /*@ end @*/
  /*@ end @*/
}
"""

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#ifdef OTHER_PROCESSOR
#undef __x86_64__
#undef __i386__
#endif
int main(int argc, char **argv)
{
  int x[1] = {0}, n = atoi(argv[1]);
  (void)n;
%s
  printf("%%d", x[0]);
  return argc > 2;
}
"""


@pytest.fixture
def task(tmp_path: Path):
    file = tmp_path / "k.c"
    file.write_text(SOURCE)
    (found,) = load([file]).tasks
    return found.task


def cases(*features: tuple[str, ...]) -> list[DispatchCase]:
    return [
        DispatchCase(InputPoint((("n", 10 * k),)), f"x[0] = {k};\n", needed)
        for k, needed in enumerate(features, 1)
    ]


def ran(tmp_path: Path, text: str, size: int, *options: str) -> int:
    (tmp_path / "p.c").write_text(PROGRAM % text)
    command = ["gcc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", *options, "p.c", "-o", "p"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return int(subprocess.run([tmp_path / "p", str(size)], capture_output=True, text=True).stdout)


def test_sizes_alone_ask_for_no_processor(tmp_path, task):
    text = dispatch(task, task.regions[0], cases((), ()), indent="  ")
    assert "ORIO_CPU_HAS" not in text
    assert [ran(tmp_path, text, n) for n in (1, 10, 11, 20, 21)] == [1, 1, 2, 2, 3]


@pytest.mark.parametrize(
    ("has", "expected"), [("1", [1, 1, 2, 2, 3]), ("0", [2, 2, 2, 2, 3])], ids=["able", "unable"]
)
def test_a_processor_without_the_extension_takes_the_next_case(tmp_path, task, has, expected):
    text = dispatch(task, task.regions[0], cases(("avx2", "fma"), ()), indent="  ")
    assert 'n <= 10 && ORIO_CPU_HAS("avx2") && ORIO_CPU_HAS("fma")' in text
    option = f"-D__builtin_cpu_supports(x)={has}"
    assert [ran(tmp_path, text, n, option) for n in (1, 10, 11, 20, 21)] == expected


def test_one_size_with_an_extension_keeps_the_original_as_fallback(tmp_path, task):
    only = cases(("avx512f",))
    assert needs_dispatch(task, only)
    assert not needs_dispatch(task, cases(()))
    text = dispatch(task, task.regions[0], only, indent="  ")
    assert "n <=" not in text
    assert ran(tmp_path, text, 99, "-D__builtin_cpu_supports(x)=1") == 1
    assert ran(tmp_path, text, 99, "-D__builtin_cpu_supports(x)=0") == 3


def test_a_case_that_may_always_run_takes_the_place_of_the_original(tmp_path, task):
    able, plain = DispatchCase(InputPoint((("n", 10),)), "x[0] = 1;\n", ("avx2",)), cases(())[0]
    text = dispatch(task, task.regions[0], [able, replace(plain, code="x[0] = 2;\n")], indent="  ")
    assert [ran(tmp_path, text, 9, f"-D__builtin_cpu_supports(x)={has}") for has in (1, 0)] == [1, 2]
    assert "x[0] = 3" not in text
    sizes = [able, replace(plain, code="x[0] = 2;\n"), *cases((), ())[1:]]
    text = dispatch(task, task.regions[0], sizes, indent="  ")
    unable = [ran(tmp_path, text, n, "-D__builtin_cpu_supports(x)=0") for n in (9, 10, 11, 20, 21)]
    assert unable == [2, 2, 2, 2, 3]


def test_another_compiler_takes_the_original(tmp_path, task):
    text = dispatch(task, task.regions[0], cases(("avx2",)), indent="  ")
    assert ran(tmp_path, text, 5, "-DOTHER_PROCESSOR") == 3
