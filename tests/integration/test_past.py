"""Trials of a region at one size guide its search at another."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from orio_py.cli.main import main

SOURCE = """void scale(int n, double factor, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'cc -O1'; }
    def performance_params { param U[] = range(1, 41); }
    def input_params { param n[] = [300, 600]; }
    def input_vars { decl double factor = 1.5; decl dynamic double x[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = factor * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def tune(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, dict[str, object]]:
    """What the command tells of the past, and the entry of its only region."""
    report = folder / "report.json"
    command = ["tune", str(folder / "scale.c"), "--db", str(folder / "results.db"), "--json", str(report)]
    assert main([*command, "--repeats", "1", "--search", "auto", *options]) == 0
    lines = [line.strip() for line in capsys.readouterr().err.splitlines()]
    (region,) = json.loads(report.read_text())["regions"]
    return next((line for line in lines if line.startswith("past: ")), ""), region


@pytest.mark.proof
def test_trials_at_another_size_guide_a_search_unless_it_is_a_fresh_one(tmp_path, capsys):
    (tmp_path / "scale.c").write_text(SOURCE)
    line, region = tune(tmp_path, capsys, "--trials", "8", "--set", "n=300")
    assert (line, region["past"]) == ("", None)
    other = ("--trials", "1", "--set", "n=600")
    line, region = tune(tmp_path, capsys, *other)
    assert line == "past: 8 trials guide the search (n = 300)"
    assert region["past"] == {"trials": 8, "circumstances": ["n = 300"]}
    assert tune(tmp_path, capsys, *other, "--fresh")[0] == ""
