"""Regions that are tuned on a device: host code beside the output where a kernel won, else nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from opencl_build import build, device_environment, loader, run
from opencl_devices import skip_without_device

import orio_py
from orio_py.tuning.options import TuneOptions

pytestmark = pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")

HEAVY = """\
void heavy(int n, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning(
    def performance_params { param WI[] = [32, 64]; constraint c = (n < 50000 or WI > 32); }
    def input_params { param n[] = [20000, 100000]; }
    def input_vars { decl dynamic double x[n] = random; decl dynamic double y[n] = random; }
    def build { arg build_command = 'gcc -O0'; }
  ) @*/
  /*@ begin Loop(transform OpenCL(workItemsPerGroup=WI)) @*/
  for (i = 0; i < n; i++)
    y[i] = (x[i] * x[i] + 1.0) * (x[i] + 2.0) + (x[i] - 3.0) * (x[i] * 4.0 + x[i] * x[i]);
  /*@ end @*/
  /*@ end @*/
  (void)i;
}
"""

MAIN = """\
#include <stdio.h>

void heavy(int n, const double *restrict x, double *restrict y);

int main(void)
{
  static double x[30001], y[30001];
  int i, n;
  for (i = 0; i <= 30000; i++)
    x[i] = i % 100;
  for (n = 10; n <= 30000; n += 29990) {
    heavy(n, x, y);
    for (i = 0; i < n; i++)
      if (y[i] != (x[i] * x[i] + 1.0) * (x[i] + 2.0) + (x[i] - 3.0) * (x[i] * 4.0 + x[i] * x[i]))
        return 1;
  }
  (void)printf("right\\n");
  return 0;
}
"""


@pytest.mark.proof
def test_what_won_is_written_and_links(tmp_path: Path):
    skip_without_device()
    source = tmp_path / "heavy.c"
    source.write_text(HEAVY)
    (tmp_path / "main.c").write_text(MAIN)
    report = orio_py.tune(source, output=tmp_path / "out.c", options=TuneOptions(trials=2))
    assert [d.headline() for d in report.diagnostics if d.code.startswith("ORIO-B")] == []
    assert report.exit_code == 0
    # Which of the two is faster is the machine's matter; what is written follows from it.
    won = [region for region in report.regions if not region.kept_original]
    files = ["out.c", "out_opencl.c", "out_opencl.h"] if won else ["out.c"]
    assert [path.name for path in report.outputs] == files
    sources = ["main.c", *(name for name in files if name.endswith(".c"))]
    program = build(tmp_path, [*sources, str(loader())])
    environment = device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache")})
    assert run(program, environment=environment) == "right\n"
