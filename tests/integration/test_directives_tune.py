"""Directives for devices from annotation to verdict: tuned, told where no device is, written, and built again."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from c_programs import links

from orio_py.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

PRODUCT = """\
void product(int n, const double *restrict A, const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params { param W[] = [0, 2]; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [40]; }
    def input_vars {
      decl dynamic double A[n*n] = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }
  ) @*/
  /*@ begin Loop(transform %s) @*/
  for (i = 0; i < n; i++) {
    y[i] = 0;
    for (j = 0; j < n; j++)
      y[i] += A[i * n + j] * x[j];
  }
  /*@ end @*/
  /*@ end @*/
}
"""

STEPS = {"openacc": "OpenACC(vectorLength=W)", "openmp-target": "OpenMPTarget(threadCount=W)"}
FLAGS = {"openacc": "-fopenacc", "openmp-target": "-fopenmp"}


def written(folder: Path, target: str) -> Path:
    path = folder / "product.c"
    path.write_text(PRODUCT % STEPS[target])
    return path


@pytest.mark.share(2)
@pytest.mark.parametrize("target", STEPS)
def test_variants_run_and_the_option_is_named(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Threads that spin while they wait take longer than allowed where other tests have the processors.
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    if not links(FLAGS[target]):
        pytest.skip(f"gcc does not link {FLAGS[target]}")
    path, report = written(tmp_path, target), tmp_path / "report.json"
    arguments = ["tune", "--no-db", str(path), "-o", str(tmp_path / "o.c"), "--json", str(report)]
    assert main([*arguments, "--repeats", "1"]) == 0
    told = capsys.readouterr()
    assert ("ORIO-B008" in told.out + told.err) is not _has_device(target, tmp_path)
    (region,) = json.loads(report.read_text())["regions"]
    assert region["trials"] == 2
    assert region["failures"] == {}
    result = tmp_path / "t.c"
    assert main(["transform", str(path), "--set", "W=2", "-o", str(result)]) == 0
    assert f"build with: {FLAGS[target]}" in result.read_text()
    subprocess.run(["gcc", "-Werror", "-c", FLAGS[target], result, "-o", tmp_path / "t.o"], check=True)


def _has_device(target: str, folder: Path) -> bool:
    header, count = {
        "openacc": ("openacc.h", "acc_get_num_devices(acc_device_not_host)"),
        "openmp-target": ("omp.h", "omp_get_num_devices()"),
    }[target]
    (folder / "count.c").write_text(f"#include <{header}>\nint main(void) {{ return {count} > 0; }}\n")
    subprocess.run(["gcc", FLAGS[target], folder / "count.c", "-o", folder / "count"], check=True)
    return subprocess.run([folder / "count"]).returncode != 0


def test_a_compiler_without_openacc_tunes_plain_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiler = tmp_path / "plain-cc"
    compiler.write_text('#!/bin/sh\ncase " $* " in *" -fopenacc "*) exit 1;; esac\nexec gcc "$@"\n')
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    path = written(tmp_path, "openacc")
    arguments = ["tune", "--no-db", str(path), "-o", str(tmp_path / "o.c"), "--cc", f"{compiler} -O1"]
    assert main(arguments) == 0
    told = capsys.readouterr()
    assert "warning[ORIO-B006]: the compiler cannot build OpenACC programs" in told.out + told.err


@pytest.mark.parametrize("target", STEPS)
def test_a_target_needs_its_directives(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (other,) = STEPS.keys() - {target}
    path = written(tmp_path, other)
    assert main(["tune", "--no-db", "--target", target, str(path)]) == 2
    assert f"{path}:4:3: error[ORIO-U018]: the target is `{target}`" in capsys.readouterr().err
