"""An installed wheel works outside the checkout: grammars, templates and data travel with it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """\
void scale(int n, double factor, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 2, 4]; }
    def input_params { param n[] = [2000]; }
    def input_vars { decl double factor = 1.5; decl dynamic double x[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = factor * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        folder,
        ROOT,
        cwd=folder,
    )
    (built,) = folder.glob("orio_py-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The `bin` folder of a fresh environment with the wheel; dependencies are borrowed from this one."""
    folder = tmp_path_factory.mktemp("elsewhere") / "env"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
        cwd=folder.parent,
    )
    (site,) = folder.glob("lib/python*/site-packages")
    # A path in a `.pth` file is searched last, and `.pth` files found there (editable installs) are not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def test_the_wheel_holds_grammars_templates_data_and_types(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for folder, kind in (("grammars", ".lark"), ("templates", ".j2")):
        wanted = {p.relative_to(ROOT / folder) for p in (ROOT / folder).rglob("*") if p.suffix == kind}
        assert wanted
        assert {f"orio_py/_{folder}/{path.as_posix()}" for path in wanted} <= set(names)
    for folder in ("orio_py/machine/data", "orio_py/core/codes"):
        data = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.toml")}
        assert data
        assert data <= set(names)
    assert "orio_py/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in names)


def test_the_installed_package_is_the_one_that_runs(installed, tmp_path):
    done = run(installed / "python", "-c", "import orio_py; print(orio_py.__file__)", cwd=tmp_path)
    assert Path(done.stdout.strip()).is_relative_to(installed.parent)


def test_explain_check_space_and_tune_work_from_the_wheel(installed, tmp_path):
    (tmp_path / "scale.c").write_text(KERNEL)
    orio = installed / "orio"
    assert "ORIO-T003: " in run(orio, "explain", "T003", cwd=tmp_path).stdout
    assert "no errors" in run(orio, "check", "scale.c", cwd=tmp_path).stdout
    assert "U" in run(orio, "space", "scale.c", cwd=tmp_path).stdout
    run(orio, "transform", "scale.c", "--set", "U=4", "-o", "unrolled.c", cwd=tmp_path)
    assert "x[i + 3]" in (tmp_path / "unrolled.c").read_text()
    tuned = run(orio, "tune", "scale.c", "--repeats", "3", cwd=tmp_path)
    assert "scale.c:4 scale n=2000" in tuned.stdout
    assert (tmp_path / "_scale.c").read_text().count("/*@ end @*/") == 2
