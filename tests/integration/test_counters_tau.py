"""Variants under `tau_exec`: profiled apart from the timed run, read back, stored and exported."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tau_double
from tau_profiles import read_profile

import orio_py
from orio_py.cli.main import main
from orio_py.record.trial import CounterSource
from orio_py.results import Selection, show_trials
from orio_py.tuning.options import TuneOptions

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="the double of TAU is preloaded as on Linux"),
]

SOURCE = """void axpy(int n, double a, double *x, double *y)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1'; }
    def performance_counter { %s arg repetitions = 3; }
    def performance_params { param U[] = [1, 4]; }
    def input_params { param n[] = [20000]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
      decl double a = random;
    }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    y[i] = y[i] + a * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""

READ_WITH_HATCHET = """
import sys
import hatchet
frame = hatchet.GraphFrame.from_tau(sys.argv[1])
print(sorted(str(name) for name in frame.dataframe["name"]))
"""


def tune(folder: Path, counter: str, **options):
    path = folder / "axpy.c"
    path.write_text(SOURCE % counter)
    chosen = TuneOptions(db=folder / "results.db", seed=1, full_samples=True, **options)
    return orio_py.tune(path, output=folder / "out.c", options=chosen)


@pytest.fixture
def tau(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script = tau_double.install(tmp_path / "tau")
    monkeypatch.setenv("PATH", tau_double.path_with(script.parent))
    return script


@pytest.mark.share(2)
@pytest.mark.parametrize("method", ["tau", "TAU"])
def test_each_valid_variant_is_profiled_once_and_its_profile_kept(
    tmp_path: Path, tau: Path, method: str
) -> None:
    report = tune(tmp_path, f"arg method = '{method}';")
    assert report.exit_code == 0, report.diagnostics
    assert not [d for d in report.diagnostics if d.code == "ORIO-M014"]
    runs = (tau.parent / "runs.txt").read_text().splitlines()
    assert len(runs) == 3  # the original and two variants; no timed run is under TAU
    trials = show_trials(tmp_path / "results.db", Selection())
    assert len(trials) == 2
    for trial in trials:
        (profile,) = trial.profiles
        assert (profile.method, profile.path) == ("tau", "profile.0.0.0")
        timer = next(t for n, t in read_profile(profile.text).timers.items() if n.startswith("orio kernel"))
        assert timer.calls >= 3
        found = {c.name: c for c in trial.counters}
        assert found["tau_time"].value == pytest.approx(1e-6 * timer.inclusive / timer.calls)
        assert (found["tau_time"].unit, found["tau_time"].source) == ("s", CounterSource.TAU)
        assert 0 < found["tau_exclusive_time"].value <= found["tau_time"].value


@pytest.mark.proof
def test_profiles_are_exported_beside_ours(tmp_path: Path, tau: Path) -> None:
    pytest.importorskip("hatchet", reason="llnl-hatchet is not installed")
    assert tune(tmp_path, "arg method = 'tau';").exit_code == 0
    out = tmp_path / "exported"
    arguments = ["results", "export", "--db", str(tmp_path / "results.db"), "--format", "tau", "-o", str(out)]
    assert main(arguments) == 0
    numbered = ["trial_00001", "trial_00002"]
    assert sorted(p.name for p in out.iterdir()) == sorted([*numbered, *(f"{name}-tau" for name in numbered)])
    for folder in (out / name for name in numbered):
        ours = read_profile((folder / "profile.0.0.0").read_text())
        assert "tau_time (s)" in ours.events
        for place, name in ((folder, "axpy"), (out / f"{folder.name}-tau", "orio kernel axpy")):
            # In a process of its own: Hatchet's plotting libraries give warnings, which are errors here.
            command = [sys.executable, "-c", READ_WITH_HATCHET, str(place)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            assert name in done.stdout


def test_taus_time_can_be_the_objective(tmp_path: Path, tau: Path) -> None:
    report = tune(tmp_path, "arg objective = 'tau_time';")
    assert report.exit_code == 0, report.diagnostics
    (region,) = report.as_json()["regions"]
    assert region["objective"]["expression"] == "tau_time"
    assert region["objective"]["baseline"] > 0


def test_a_tau_that_does_not_work_is_a_warning(tmp_path: Path, tau: Path) -> None:
    tau.write_text("#!/bin/sh\necho 'no TAU library was built for serial' >&2\nexit 1\n")
    report = tune(tmp_path, "arg method = 'tau';")
    assert report.exit_code == 0
    messages = [d.message for d in report.diagnostics if d.code == "ORIO-M016"]
    assert len(messages) == 1
    assert "method 'tau'" in messages[0]
    assert "exit code 1: no TAU library was built for serial" in messages[0]


def test_without_tau_the_method_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = tmp_path / "bin"
    folders.mkdir()
    for name in ("gcc", "as", "ld", "cc1"):
        if (found := shutil.which(name)) is not None:
            (folders / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folders))
    report = tune(tmp_path, "arg method = 'tau';")
    assert report.exit_code == 0, report.diagnostics
    messages = [d.message for d in report.diagnostics if d.code == "ORIO-M014"]
    assert ["tau_exec is not on the PATH (install TAU" in m for m in messages] == [True]
    assert main(["devices"]) == 0
    assert "tau_exec" in capsys.readouterr().out
