"""Loops that keep the place of a smallest or largest value find the same one in any order, ties included."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from c_programs import openmp
from cuda_host_build import build as build_cuda
from cuda_host_build import run as run_cuda
from opencl_build import build as build_opencl
from opencl_build import device_environment, loader
from opencl_build import run as run_opencl

import orio_py
from orio_py.build.cuda_cpu import cuda_on_cpu
from orio_py.spec.assumptions import Promise

UP, DOWN, STEPS = "for (i = 0; i < n; i++)", "for (i = n - 1; i >= 0; i--)", "for (i = 1; i <= n - 2; i += 3)"
CASES = (
    ("int", UP, "if (x[i] > best) { best = x[i]; at = i; }"),
    ("double", UP, "if (x[i] >= best) { at = i; best = x[i]; }"),
    ("float", UP, "if (best > x[i]) { best = x[i]; at = i; more = y[i] + 1; }"),
    ("long", DOWN, "if (x[i] <= best) { best = x[i]; at = i; }"),
    ("double", DOWN, "if (best < -x[i]) { best = -x[i]; at = 2 * i; }"),
    ("int", STEPS, "if (x[i] * 3 - y[i] < best) { best = x[i] * 3 - y[i]; at = i + 100; more = i; }"),
    ("float", STEPS, "if (x[i] >= best) { best = x[i]; at = i; }"),
    ("unsigned", UP, "if (best <= x[i]) { best = x[i]; at = i; }"),
)
"""Types of values, loops, and what they do."""

_HEAD = "#include <math.h>\n"
_ARGUMENTS = "int n, {0} start, const {0} *restrict x, const int y[restrict static 200], long *restrict out"
_PARAMETERS = re.sub(r"restrict (static )?", "", _ARGUMENTS)


def function(number: int, recipe: str, *, in_rows: bool) -> str:
    """The function of a case; `in_rows` has a loop over rows of 16 elements around, which the recipe is about."""
    kind, loop, body = CASES[number]
    inside = f"{loop} {body}"
    if in_rows:
        inside = inside.replace("x[i]", "x[r * 16 + i]").replace("y[i]", "y[r * 16 + i]")
        results = "out[3 * r] = at; out[3 * r + 1] = more; out[3 * r + 2] = (long)(4 * best);"
        inside = f"for (r = 0; r < 12; r++) {{ best = start; at = -1; more = -2; {inside} {results} }}"
    return f"""void nest_{number}({_ARGUMENTS.format(kind)})
{{
  int i, r; {kind} best = start; long at = -1, more = -2;
  (void)r, (void)y;
  /*@ begin Loop(transform {recipe}) @*/
  {inside}
  /*@ end @*/
  {"" if in_rows else "out[0] = at; out[1] = more; out[2] = (long)(4 * best);"}
}}
"""


def driver(*, cpp: bool) -> str:
    """A program that runs both versions of each case, with ties, from starts that are never and always passed."""
    declared = "\n".join(
        f"void {way}_{number}({_ARGUMENTS.format(kind).replace('restrict static ', '').replace('restrict ', '')});"
        for number, (kind, *_) in enumerate(CASES)
        for way in ("nest", "plain")
    )
    calls = "\n".join(f"  RUN({number}, {kind})" for number, (kind, *_) in enumerate(CASES))
    return f"""\
#include <stdio.h>
#include <string.h>
{'extern "C" {' if cpp else ""}
{declared}
{"}" if cpp else ""}
static int y[200];
static long one[36], two[36];
static int bad, runs;
#define RUN(number, kind) \\
  for (k = 0; k < 5; k++) for (s = 0; s < 4; s++) {{ \\
    kind x[200]; \\
    for (j = 0; j < 200; j++) x[j] = (kind)(20 + (j * 37 + s * j / 5) % 13); \\
    memset(one, 0, sizeof one); memset(two, 0, sizeof two); \\
    plain_##number(sizes[k], (kind)starts[s], x, y, one); \\
    nest_##number(sizes[k], (kind)starts[s], x, y, two); \\
    runs++; \\
    if (memcmp(one, two, sizeof one)) {{ bad++; (void)printf("%d differs at %d, %d\\n", number, sizes[k], starts[s]); }} \\
  }}
int main(void)
{{
  static const int sizes[] = {{SIZES}}, starts[] = {{0, 26, 32, 100}};
  int j, k, s;
  for (k = 0; k < 200; k++) y[k] = k % 7;
{calls}
  (void)printf("%d runs, %d differ\\n", runs, bad);
  return bad != 0;
}}
"""


def write(folder: Path, recipe: str, *, in_rows: bool = False) -> None:
    """Write the functions to `cases.c` and transform them to `out.c`."""
    text = _HEAD + "\n".join(function(number, recipe, in_rows=in_rows) for number in range(len(CASES)))
    (folder / "cases.c").write_text(text)
    report = orio_py.transform(folder / "cases.c", output=folder / "out.c", assume=(Promise.REASSOCIATE,))
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    names = [f"-Dnest_{number}=plain_{number}" for number in range(len(CASES))]
    words = ["-std=c99", "-DORIO_ORIGINAL", "-Wno-unknown-pragmas", *names, "-c", "out.c", "-o", "plain.o"]
    subprocess.run(["gcc", *words], cwd=folder, check=True)


def text(*, cpp: bool, in_rows: bool = False) -> str:
    """The driver; rows have 16 elements at most."""
    return driver(cpp=cpp).replace("SIZES", "16, 7, 3, 1, 0" if in_rows else "200, 65, 3, 1, 0")


EXPECTED = f"{20 * len(CASES)} runs, 0 differ\n"


def test_threads(tmp_path: Path) -> None:
    write(tmp_path, "Parallelize()")
    assert (tmp_path / "out.c").read_text().count("#pragma omp critical") == len(CASES)
    (tmp_path / "main.c").write_text(text(cpp=False))
    words = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", *openmp()]
    subprocess.run([*words, "main.c", "out.c", "plain.o", "-o", "program", "-lm"], cwd=tmp_path, check=True)
    assert run_opencl(tmp_path / "program") == EXPECTED


@pytest.mark.parametrize(
    ("recipe", "in_rows"),
    [("CUDA(threadCount=32)", False), ("CUDA(rowThreads=32)", True), ("HIP(rowThreads=64)", True)],
)
def test_cuda_and_hip(tmp_path: Path, recipe: str, in_rows: bool) -> None:
    write(tmp_path, recipe, in_rows=in_rows)
    host = "out_hip.hip" if "HIP" in recipe else "out_cuda.cu"
    program = build_cuda(cuda_on_cpu(tmp_path), tmp_path, text(cpp=True, in_rows=in_rows), host=host)
    assert run_cuda(program) == EXPECTED


@pytest.mark.proof
@pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")
@pytest.mark.parametrize(("recipe", "in_rows"), [("OpenCL()", False), ("OpenCL(rowThreads=4)", True)])
def test_opencl(tmp_path: Path, recipe: str, in_rows: bool) -> None:
    write(tmp_path, recipe, in_rows=in_rows)
    (tmp_path / "main.c").write_text(text(cpp=False, in_rows=in_rows))
    program = build_opencl(tmp_path, ["main.c", "out.c", "out_opencl.c", "plain.o", str(loader())])
    environment = device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache")})
    assert run_opencl(program, environment=environment) == EXPECTED
