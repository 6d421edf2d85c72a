"""Elements that several iterations update hold the same after the loop in C and after it on a device, in every language.

The values are whole numbers and quarters, whose sums and products are exact in any order.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from c_programs import links
from cuda_host_build import build as build_cuda
from cuda_host_build import run as run_cuda
from opencl_build import build as build_opencl
from opencl_build import device_environment, loader
from opencl_build import run as run_opencl

import orio_py
from orio_py.build.cuda_cpu import cuda_on_cpu
from orio_py.spec.assumptions import Promise

WHOLE = ("int", "unsigned", "long", "unsigned long")
FLOATING = ("float", "double")
EVERY = ("a[c[i]]++", "a[c[i]]--", "a[c[i]] += c[i] + 2", "a[c[i]] = a[c[i]] - c[i]", "a[c[i]] *= 1 + i % 2",
         "if (v[i] < a[c[i]]) a[c[i]] = v[i]", "a[c[i]] = a[c[i]] >= v[i] ? a[c[i]] : v[i]")  # fmt: skip
OF_WHOLE = (
    "a[c[i]] &= i * 7 | 3",
    "a[c[i]] = i | a[c[i]]",
    "a[c[i]] ^= i * 5",
    "a[c[i]] += i == 3 ? 2000000000 : 0",
)
OF_FLOATING = ("a[c[i]] += x[i]", "a[c[i]] = x[i] + a[c[i]]", "a[c[i]] -= 2 * x[i]", "a[c[i]] *= x[i] > 0 ? 2 : 0.5",
               "a[c[i]] += 0.25", "a[c[i]] = fmin(a[c[i]], x[i])", "a[c[i]] = fmax(x[i], a[c[i]])",
               "if (x[i] > a[c[i]]) a[c[i]] = x[i]", "if (i % 3) a[c[i]] += x[i]; else a[15 - c[i]] -= x[i]")  # fmt: skip
DIRECTIVES = {"OpenMPTarget": "-fopenmp", "OpenACC": "-fopenacc"}
_HEAD = "#include <math.h>\n"


def cases(*, extremes: bool = True) -> list[tuple[str, str]]:
    """Types of elements with statements; compilers with directives take no smallest and largest values."""
    found = [(kind, code) for kind in WHOLE for code in (*EVERY, *OF_WHOLE)]
    found += [(kind, code) for kind in FLOATING for code in (*EVERY, *OF_FLOATING)]
    # A sum without a sign wraps around; one with a sign must not, in C.
    found = [(k, s) for k, s in found if "2000000000" not in s or "unsigned" in k or k == "long"]
    return [(k, s) for k, s in found if extremes or not any(w in s for w in ("<", "> a", ">=", "fm"))]


def source(recipe: str, chosen: Sequence[tuple[str, str]]) -> str:
    """A function for each case."""
    return _HEAD + "\n".join(
        f"""void nest_{number}(int n, const int *restrict c, const double *restrict x, const {kind} *restrict v, {kind} a[restrict static 16])
{{
  int i;
  (void)x, (void)v;
  /*@ begin Loop(transform {recipe}) @*/
  for (i = 0; i < n; i++)
    {{ {code}; }}
  /*@ end @*/
}}
"""
        for number, (kind, code) in enumerate(chosen)
    )


def driver(chosen: Sequence[tuple[str, str]], cpp: bool) -> str:
    """A program that runs both versions of each case at several sizes, and tells where they differ."""
    parameters = "(int, const int *, const double *, const {0} *, {0} *);"
    declared = "\n".join(
        f"void {way}_{number}{parameters.format(kind)}"
        for number, (kind, _) in enumerate(chosen)
        for way in ("nest", "plain")
    )
    calls = "\n".join(f"  RUN({number}, {kind})" for number, (kind, _) in enumerate(chosen))
    return f"""\
#include <stdio.h>
#include <string.h>
{'extern "C" {' if cpp else ""}
{declared}
{"}" if cpp else ""}
static int c[300];
static double x[300];
static int bad, runs;
#define RUN(number, kind) \\
  for (k = 0; k < 4; k++) {{ \\
    kind one[16], two[16], v[300]; \\
    for (j = 0; j < 300; j++) v[j] = (kind)(j * 7 % 40); \\
    for (j = 0; j < 16; j++) one[j] = two[j] = (kind)(j % 5 + 1); \\
    plain_##number(sizes[k], c, x, v, one); \\
    nest_##number(sizes[k], c, x, v, two); \\
    runs++; \\
    if (memcmp(one, two, sizeof one)) {{ bad++; (void)printf("%d differs at %d\\n", number, sizes[k]); }} \\
  }}
int main(void)
{{
  static const int sizes[] = {{300, 65, 1, 0}};
  int j, k;
  for (k = 0; k < 300; k++) {{ c[k] = (k * 37 + k / 7) % 16; x[k] = (k * 29 % 41 - 20) / 4.0; }}
{calls}
  (void)printf("%d runs, %d differ\\n", runs, bad);
  return bad != 0;
}}
"""


def transformed(folder: Path, recipe: str, chosen: Sequence[tuple[str, str]]) -> list[str]:
    """Write the functions to `cases.c`, transform them to `out.c`, and what was written."""
    (folder / "cases.c").write_text(source(recipe, chosen))
    report = orio_py.transform(folder / "cases.c", output=folder / "out.c", assume=(Promise.REASSOCIATE,))
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    return [path.name for path in report.outputs]


def plain(folder: Path) -> None:
    """Compile the functions as they were to `plain.o`."""
    names = [f"-Dnest_{number}=plain_{number}" for number in range(len(cases()))]
    words = ["-std=c99", "-DORIO_ORIGINAL", "-ffp-contract=off", *names, "-c", "out.c", "-o", "plain.o"]
    subprocess.run(["gcc", *words], cwd=folder, check=True)


@pytest.mark.parametrize(
    "recipe",
    ["CUDA(threadCount=32)", "HIP(threadCount=32)", "CUDA(threadCount=24, blockCount=2, cacheUpdates=True)"],
)
def test_cuda_and_hip(tmp_path: Path, recipe: str) -> None:
    chosen = cases()
    host = "out_hip.hip" if "HIP" in recipe else "out_cuda.cu"
    assert host in transformed(tmp_path, recipe, chosen)
    assert (tmp_path / host).read_text().count("atomic") > len(chosen)
    program = build_cuda(cuda_on_cpu(tmp_path), tmp_path, driver(chosen, True), host=host)
    assert run_cuda(program) == f"{4 * len(chosen)} runs, 0 differ\n"


@pytest.mark.proof
@pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")
@pytest.mark.parametrize("more", ["", ", cacheUpdates=True"])
def test_opencl(tmp_path: Path, more: str) -> None:
    chosen = cases()
    assert "out_opencl.c" in transformed(tmp_path, f"OpenCL(workItemsPerGroup=32{more})", chosen)
    plain(tmp_path)
    (tmp_path / "main.c").write_text(driver(chosen, False))
    program = build_opencl(tmp_path, ["main.c", "out.c", "out_opencl.c", "plain.o", str(loader())])
    environment = device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache")})
    assert run_opencl(program, environment=environment) == f"{4 * len(chosen)} runs, 0 differ\n"


@pytest.mark.parametrize("language", [*DIRECTIVES])
def test_directives(tmp_path: Path, language: str) -> None:
    chosen = cases(extremes=False)
    transformed(tmp_path, f"{language}()", chosen)
    text = (tmp_path / "out.c").read_text()
    word = "acc" if language == "OpenACC" else "omp"
    assert text.count(f"#pragma {word} atomic") >= len(chosen)
    flags = (DIRECTIVES[language],) if links(DIRECTIVES[language]) else ()
    plain(tmp_path)
    (tmp_path / "main.c").write_text(driver(chosen, False))
    words = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", *flags]
    subprocess.run([*words, "main.c", "out.c", "plain.o", "-o", "program", "-lm"], cwd=tmp_path, check=True)
    assert run_opencl(tmp_path / "program") == f"{4 * len(chosen)} runs, 0 differ\n"
