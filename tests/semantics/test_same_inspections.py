"""Kernels and C loops whose gathers have to be looked at first compute what the loops do, and read nothing else.

Of `x` the elements from 3 to 40 exist alone, between pages that nobody may touch; some of the places in `idx` are below 0.
"""

from __future__ import annotations

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

BODIES = {
    "neighbours": "double s = 0; for (k = 0; k < 4; k++) { int j = idx[i * 4 + k]; if (j < 0) continue; s += x[j]; } y[i] = s;",
    "chosen": "y[i] = idx[i] >= 0 ? x[idx[i]] : -1;",
    "rows": "double s = 0; for (k = row[i]; k < row[i + 1]; k++) if (idx[k] >= 0) s += x[idx[k]]; y[i] = s;",
    "all_of_rows": "double s = 0; for (k = row[i]; k < row[i + 1]; k++) s += x[col[k]] * k; y[i] = s;",
    "scaled": "for (k = 0; k < 2; k++) y[2 * i + k] = x[col[i] / 2 * 2 + k] + x[col[i + 1] + 1 - k % 2];",
    "both": "int j = idx[i]; y[i] = 0; if (j >= 0 && x[j] > 2) y[i] = x[j];",
    "either": "int j = idx[i]; y[i] = j < 0 || x[j] > 2 ? 1 : 2;",
    "lists": "double s = 0; for (k = idx[i]; k >= 0; k = next[k]) s += x[k]; y[i] = s;",
    "while": "double s = 0; k = idx[i]; while (k >= 0) { s += x[k]; k = next[k]; } y[i] = s;",
    "stopped": "double s = 0; for (k = 0; k < 4; k++) { int j = idx[4 * i + k]; if (j < 0) break; s += x[j]; } y[i] = s;",
    "clamped": "int j = idx[i]; j = j < 3 ? 3 : j > 40 ? 40 : j; y[i] = x[j];",
    "twice": "y[i] = x[next[col[i]] < 0 ? 5 : next[col[i]]];",
    "downward": "double s = 0; for (k = row[i + 1] - 1; k >= row[i]; k--) s += x[col[k]]; y[i] = s;",
    "unsigned": "unsigned u = (unsigned)col[i] + 7u; y[i] = x[u - 7u];",
    "updated": "if (idx[i] >= 0) y[idx[i]] += 0.25;",
    "behind": "for (k = row[i] % 3; k < 20; k++) y[i] += x[k + 4]; y[i] += x[k] + x[k + 1];",
    "short": "unsigned char c = (unsigned char)(col[i] + 256); short d; d = col[i]; y[i] = x[c] + x[d];",
    "searched": "double s = 0; for (k = 0; k < 4; k++) { if (s > 6) break; s += 2; } y[i] = s + x[col[i]];",
}
SIGNATURE = "(int n, const int *{0} idx, const int *{0} col, const int *{0} row, const int *{0} next, const double *{0} x, double *{0} y)"

DRIVER = """\
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
{begin}
{declared}
{end}
typedef void nest{plain};
static int idx[1200], col[1200], row[301], next[64];
static double *window(int at_end)
{{
  char *pages = (char *)mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == (char *)MAP_FAILED || mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE)) return NULL;
  return (double *)(pages + 4096 + (at_end ? 4096 - 38 * sizeof(double) : 0)) - 3;
}}
static int differs(nest *one, nest *two, int n, const double *x)
{{
  static double first[700], second[700];
  int k;
  for (k = 0; k < 700; k++) first[k] = second[k] = k % 9 - 3;
  one(n, idx, col, row, next, x, first);
  two(n, idx, col, row, next, x, second);
  return memcmp(first, second, sizeof first) != 0;
}}
static int differs_overlapped(nest *one, nest *two)
{{
  static double first[1400], second[1400];
  int k;
  for (k = 0; k < 1400; k++) first[k] = second[k] = k % 9 - 3;
  one(30, idx, col, row, next, first + 10, first + 17);
  two(30, idx, col, row, next, second + 10, second + 17);
  return memcmp(first, second, sizeof first) != 0;
}}
int main(void)
{{
  static const int sizes[] = {{299, 65, 2, 1, 0}};
  int k, w, bad = 0, runs = 0;
  double *x[2];
  (void)differs_overlapped;
  for (k = 0; k < 1200; k++) idx[k] = k * 7 % 5 == 0 ? -1 - k % 3 : 3 + k * 13 % 38;
  for (k = 0; k < 1200; k++) col[k] = 4 + k * 11 % 36;
  for (k = 0; k < 64; k++) next[k] = k % 4 == 0 ? -1 : k < 7 ? -2 : k - 3;
  for (k = 0; k < 301; k++) row[k] = k / 3 * 9 + k % 2;
  for (k = 2; k < 301; k++) if (row[k] < row[k - 1]) row[k] = row[k - 1];
  for (w = 0; w < 2; w++) {{
    x[w] = window(w);
    if (x[w] == NULL) return 2;
    for (k = 3; k <= 40; k++) x[w][k] = k % 7 / 4.0;
  }}
#define RUN(number) \\
  for (k = 0; k < 5; k++) for (w = 0; w < 2; w++, runs++) \\
    if (differs(nest_##number, plain_##number, sizes[k], x[w])) {{ bad++; (void)printf("%d differs at %d\\n", number, sizes[k]); }}
#define RUN_OVERLAPPED(number) \\
  runs++; if (differs_overlapped(nest_##number, plain_##number)) {{ bad++; (void)printf("%d differs\\n", number); }}
{calls}
  (void)printf("%d runs, %d differ\\n", runs, bad);
  return bad != 0;
}}
"""


def bodies(recipe: str) -> list[str]:
    """The loops that a recipe takes: another order, and items that do several iterations at once, do not update elements."""
    without = "registerTile" in recipe or recipe == "Reverse()"
    return [code for name, code in BODIES.items() if name != "updated" or not without]


def source(recipe: str, qualifier: str) -> str:
    """A function for each body."""
    return "\n".join(
        f"""void nest_{number}{SIGNATURE.format(qualifier)}
{{
  int i, k = 0;
  (void)idx, (void)col, (void)row, (void)next, (void)x, (void)y, (void)k;
  /*@ begin Loop(transform {recipe}) @*/
  for (i = 0; i < n; i++)
    {{ {code} }}
  /*@ end @*/
}}
"""
        for number, code in enumerate(bodies(recipe))
    )


def driver(count: int, qualifier: str, cpp: bool) -> tuple[str, str]:
    """A program that runs both versions of so many functions, and what it prints."""
    plain = SIGNATURE.format("")
    declared = "\n".join(f"void {way}_{k}{plain};" for k in range(count) for way in ("nest", "plain"))
    calls = [f"  RUN({number})" for number in range(count)]
    overlapped = [] if qualifier else [f"  RUN_OVERLAPPED({number})" for number in range(count)]
    begin, end = ('extern "C" {', "}") if cpp else ("", "")
    text = DRIVER.format(
        begin=begin, end=end, plain=plain, declared=declared, calls="\n".join([*calls, *overlapped])
    )
    return text, f"{10 * len(calls) + len(overlapped)} runs, 0 differ\n"


def transformed(folder: Path, recipe: str, qualifier: str) -> str:
    """The host functions of `cases.c` in `out.c`."""
    (folder / "cases.c").write_text(source(recipe, qualifier))
    report = orio_py.transform(folder / "cases.c", output=folder / "out.c", assume=(Promise.REASSOCIATE,))
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    return (folder / "out.c").read_text()


@pytest.mark.parametrize("qualifier", ["restrict", ""])
@pytest.mark.parametrize(
    "recipe",
    [
        "CUDA(threadCount=32)",
        pytest.param("CUDA(threadCount=16, blockCount=3, unrollInner=2)", marks=pytest.mark.proof),
        pytest.param("CUDA(threadCount=16, registerTile=[2])", marks=pytest.mark.proof),
        pytest.param("HIP(threadCount=32)", marks=pytest.mark.proof),
    ],
)
def test_cuda_and_hip(tmp_path: Path, recipe: str, qualifier: str) -> None:
    text = transformed(tmp_path, recipe, qualifier)
    assert text.count("/* Which elements of ") >= len(BODIES) - 2
    host = "out_hip.hip" if "HIP" in recipe else "out_cuda.cu"
    program, expected = driver(len(bodies(recipe)), qualifier, True)
    built = build_cuda(cuda_on_cpu(tmp_path), tmp_path, program, host=host)
    assert run_cuda(built) == expected


@pytest.mark.parametrize("recipe", ["Reverse()", "Parallelize()"])
def test_c_loops(tmp_path: Path, recipe: str) -> None:
    text = transformed(tmp_path, recipe, "")
    assert text.count("/* Which elements of `x` the loops use. */") >= len(BODIES) - 2
    program, expected = driver(len(bodies(recipe)), "", cpp=False)
    (tmp_path / "main.c").write_text(program)
    names = [f"-Dnest_{number}=plain_{number}" for number in range(len(BODIES))]
    flags = ["-O1", "-D_DEFAULT_SOURCE", "-ffp-contract=off", *openmp()]
    for words in (
        ["-DORIO_ORIGINAL", *names, "-c", "out.c", "-o", "plain.o"],
        ["main.c", "out.c", "plain.o", "-o", "program"],
    ):
        subprocess.run(["gcc", *flags, *words], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True)
    assert done.stdout == expected


@pytest.mark.proof
@pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")
@pytest.mark.parametrize("qualifier", ["restrict", ""])
def test_opencl(tmp_path: Path, qualifier: str) -> None:
    transformed(tmp_path, "OpenCL(workItemsPerGroup=32)", qualifier)
    names = [f"-Dnest_{number}=plain_{number}" for number in range(len(BODIES))]
    words = ["-std=c99", "-DORIO_ORIGINAL", "-ffp-contract=off", *names, "-c", "out.c", "-o", "plain.o"]
    subprocess.run(["gcc", *words], cwd=tmp_path, check=True)
    program, expected = driver(len(BODIES), qualifier, False)
    (tmp_path / "main.c").write_text(program)
    flags = ["-D_DEFAULT_SOURCE"]
    built = build_opencl(tmp_path, ["main.c", "out.c", "out_opencl.c", "plain.o", str(loader())], *flags)
    environment = device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache")})
    assert run_opencl(built, environment=environment) == expected
