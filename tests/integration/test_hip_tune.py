"""HIP variants from annotation to verdict: checked on the processor, compiled where there is a hipcc."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from orio_py.build import hip
from orio_py.cli.main import main
from orio_py.measure.hip import evaluator

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("gcc", "g++")), reason="gcc or g++ is not installed"
)

AXPY = """\
void axpy(int n, double a, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param TC[] = [64]; }
    def input_params { param n[] = [100]; }
    def input_vars {
      decl double a = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }
  ) @*/
  /*@ begin Loop(transform HIP(threadCount=TC, arch='gfx1030')) @*/
  for (i = 0; i < n; i++)
    y[i] += a * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "axpy.c"
    path.write_text(AXPY)
    return path


def hipcc(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let the program find a compiler that does what a script says."""
    path = folder / "hipcc"
    path.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && echo 'HIP version: 6.0' && exit 0\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(evaluator, "hip_compiler", lambda: hip.HipCompiler(str(path), "HIP version: 6.0"))


def test_without_hipcc_variants_are_checked(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evaluator, "hip_compiler", lambda: None)
    assert main(["tune", "--no-db", str(file), "-o", str(file.with_name("o.c"))]) == 3
    told = capsys.readouterr()
    assert "1 of 1 variants of `axpy` are right, and nothing here times them" in told.err
    assert "warning[ORIO-B042]" in told.err


def test_hipcc_compiles_each_variant(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hipcc(tmp_path, monkeypatch, f'echo "$@" >> {tmp_path}/called')
    assert main(["tune", "--no-db", str(file), "-o", str(file.with_name("o.c"))]) == 3
    told = capsys.readouterr()
    assert "ORIO-B042" not in told.err
    assert "--genco --offload-arch=gfx1030 -O3 -std=c++17 kernels.hip" in (tmp_path / "called").read_text()


def test_what_hipcc_refuses_is_no_variant(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hipcc(tmp_path, monkeypatch, "echo 'kernels.hip:3:1: error: unknown type' >&2; exit 1")
    assert main(["tune", "--no-db", "-v", str(file), "-o", str(file.with_name("o.c"))]) == 4
    told = capsys.readouterr()
    assert "hipcc refuses the kernels: kernels.hip:3:1: error: unknown type" in told.out + told.err


def test_an_architecture_has_amds_form(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(AXPY.replace("gfx1030", "sm_90"))
    assert main(["check", str(file)]) == 2
    assert "axpy.c:13:" in (err := capsys.readouterr().err)
    assert "error[ORIO-T010]" in err


def test_the_compiler_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    path = tmp_path / "bin" / "hipcc"
    path.write_text("#!/bin/sh\necho 'HIP version: 6.1'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("HIP_PATH", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    hip.hip_compiler.cache_clear()
    found = hip.hip_compiler()
    hip.hip_compiler.cache_clear()
    assert found == hip.HipCompiler(str(path), "HIP version: 6.1")
