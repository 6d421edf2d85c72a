"""A winner whose options use extensions of the processor: what runs on processors without them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from orio_py.cli.main import main

SOURCE = """#include <stdio.h>
#define N 300
static double a[N][N], b[N][N];
void scale(int n)
{
  int i, j;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc @CFLAGS@'; }
    def performance_params {
      param U[] = [1, 4];
      param CFLAGS[] = %s;
      %s
    }
    def input_params { param n[] = [300]; }
    def input_vars { decl static double a[300][300] = random; decl static double b[300][300] = random; }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Composite(permut=[(['i', 'j'])], unrolljam=(['i'], [U]))) @*/
  for (j = 0; j < n; j++)
    for (i = 0; i < n; i++)
      a[i][j] = a[i][j] * 0.5 + b[i][j] * (a[i][j] + 0.25);
  /*@ end @*/
  /*@ end @*/
}
int main(void)
{
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = i - j, b[i][j] = 1.0 / (1 + i + j);
  scale(N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += a[i][j] * (i + 2 * j);
  printf("%%.17g", sum);
  return 0;
}
"""
FAST = "-O2 -ftree-vectorize -mavx2"

pytestmark = pytest.mark.skipif(
    "avx2" not in Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else True,
    reason="the processor has no AVX2",
)


def tuned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], constraint: str
) -> tuple[dict, str]:
    """The region's report and the text of the tuned file."""
    source, output = tmp_path / "k.c", tmp_path / "out.c"
    source.write_text(SOURCE % (flags, constraint))
    command = ["tune", str(source), "-o", str(output), "--db", str(tmp_path / "r.db"), "--json", "-"]
    assert main([*command, "--quiet"]) == 0
    told = capsys.readouterr().out
    (region,) = json.loads(told)["regions"]
    return region, output.read_text()


def printed(tmp_path: Path, *options: str) -> str:
    command = ["gcc", "-std=gnu99", "-Wall", "-Werror", "-Wno-unknown-pragmas", *options, "out.c", "-o", "p"]
    subprocess.run(command, cwd=tmp_path, check=True)
    return subprocess.run([tmp_path / "p"], capture_output=True, text=True, check=True).stdout


@pytest.mark.proof
def test_the_best_trial_without_them_runs_where_they_are_missing(tmp_path, capsys):
    constraint = "constraint one = (U == 4) == (CFLAGS == '-O1');"
    region, text = tuned(tmp_path, capsys, ["-O1", FAST], constraint)
    best = region["best"]
    assert (best["configuration"], best["features"]) == ({"U": 1, "CFLAGS": FAST}, ["avx2"])
    assert best["fallback"] == {"U": 4, "CFLAGS": "-O1"}
    assert "   without avx2: configuration U=4, CFLAGS='-O1'\n" in text
    written = text.partition("#ifndef ORIO_ORIGINAL")[2].partition("#else /* ORIO_ORIGINAL */")[0]
    winner, portable = written.split("} else {")
    assert 'if (ORIO_CPU_HAS("avx2")) {' in winner
    assert "i + 3" in portable
    assert "i + 3" not in winner
    original = printed(tmp_path, "-DORIO_ORIGINAL")
    assert printed(tmp_path, "-D__builtin_cpu_supports(x)=1") == original
    assert printed(tmp_path, "-D__builtin_cpu_supports(x)=0") == original
    # A finished run is answered with the same text, and stored results are written in the same way.
    again, same = tuned(tmp_path, capsys, ["-O1", FAST], constraint)
    assert (again["cached"], same) == (again["trials"], text)
    assert (
        main(
            [
                "results",
                "apply",
                str(tmp_path / "k.c"),
                "-o",
                str(tmp_path / "a.c"),
                "--db",
                str(tmp_path / "r.db"),
            ]
        )
        == 0
    )
    assert (tmp_path / "a.c").read_text() == text


@pytest.mark.share(2)
@pytest.mark.parametrize("flags", [[FAST], ["-O1", FAST]], ids=["nothing without", "the same without"])
def test_its_own_code_stands_alone_where_it_is_the_best_known(tmp_path, capsys, flags):
    region, text = tuned(tmp_path, capsys, flags, "constraint one = U == 1;")
    best = region["best"]
    assert best["features"] == ["avx2"]
    assert best["fallback"] == {"U": 1, "CFLAGS": flags[0]}
    assert "ORIO_CPU_HAS" not in text
    assert printed(tmp_path) == printed(tmp_path, "-DORIO_ORIGINAL")
