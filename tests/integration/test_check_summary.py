"""What `orio check` says of a whole space: the share that is refused, and parameters that change nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orio_py.cli.main import main

SOURCE = """void scale(int n, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc @CFLAGS@'; }
    def performance_params {
      param U[] = %s;
      param V[] = [2, 3, 4];
      param ON[] = %s;
      param CFLAGS[] = ['-O1', '-O2'];
      %s
    }
    def input_params { param n[] = %s; }
    def input_vars { decl dynamic double x[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U * (%s if ON else 1))) @*/
  for (i = 0; i < n; i++)
    x[i] = 2.0 * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


def checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *parts: str
) -> tuple[int, dict, list[str], str]:
    """Status, JSON, lines on stdout and text on stderr of `orio check`."""
    source = tmp_path / "scale.c"
    source.write_text(SOURCE % parts)
    status = main(["check", str(source)])
    told = capsys.readouterr()
    assert main(["check", "--json", str(source)]) == status
    return status, json.loads(capsys.readouterr().out), told.out.splitlines(), told.err


@pytest.mark.parametrize(
    ("parts", "pairs"),
    [
        pytest.param(("[1, 2]", "[False]", "", "[100]", "V"), 8 + 16, id="the whole of a small space"),
        pytest.param(("range(1, 400)", "[False, False]", "", "[100]", "V"), 40, id="a part of a large one"),
        pytest.param(("[1, 2]", "[False, True]", "", "[100]", "V*0+1"), 40, id="whatever the switch"),
    ],
)
def test_a_parameter_that_changes_nothing_is_told(tmp_path, capsys, parts, pairs):
    status, report, lines, errors = checked(tmp_path, capsys, *parts)
    assert status == 0
    (problem,) = [d for d in report["diagnostics"] if "`V`" in d["message"]]
    assert (problem["code"], problem["severity"], problem["line"]) == ("ORIO-P025", "warning", 8)
    assert (
        f"scale.c:8:13: warning[ORIO-P025]: parameter `V` changes nothing: the code was the same in all {pairs}"
        in errors
    )
    assert {"parameter": "V", "pairs": pairs} in report["legality"][0]["idle"]
    assert not [d for d in report["diagnostics"] if "`U`" in d["message"] or "`CFLAGS`" in d["message"]]
    assert lines[-1].startswith("1 region: no errors, ")


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(("[1, 2]", "[False, True]", "", "[100]", "V"), id="it matters at one switch"),
        pytest.param(("range(1, 400)", "[False, False, True]", "", "[100]", "V"), id="in a large space, too"),
        pytest.param(("[1, 2]", "[False]", "constraint c = V > 1;", "[100]", "V"), id="a constraint uses it"),
        pytest.param(
            ("[1, 2]", "[False]", "", "[10, 100]", "(V if n > 50 else 1)"), id="it may at another size"
        ),
        pytest.param(("[1, 2]", "[True]", "", "[100]", "(V - 2)"), id="some of its values are refused"),
    ],
)
def test_a_parameter_that_may_matter_is_not(tmp_path, capsys, parts):
    status, report, _, _ = checked(tmp_path, capsys, *parts)
    assert status == 0
    assert "ORIO-P025" not in {d["code"] for d in report["diagnostics"] if "`V`" in d["message"]}


def test_without_time_nothing_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("orio_py.tuning.variants.legality.HINT_SECONDS", 0.0)
    _, report, _, _ = checked(tmp_path, capsys, "[1, 2]", "[False]", "", "[100]", "V")
    assert report["legality"][0]["idle"] == []


def test_what_is_refused_is_summed_up(tmp_path, capsys):
    place = f"{tmp_path / 'scale.c'}:4:3"
    zero = "`ufactor` is 0; it must be at least 1 [ORIO-T011, line 16]"
    _, report, lines, _ = checked(tmp_path, capsys, "range(0, 3)", "[True]", "", "[100]", "V")
    assert lines == [f"{place}: 33 % of all 18 are refused: {zero}", "1 region: no errors, 1 warning"]
    assert [r["count"] for r in report["legality"][0]["refused"]] == [6]
    status, _, lines, _ = checked(tmp_path, capsys, "[0] + [0]", "[True]", "", "[100]", "V")
    assert status == 2
    assert lines[0] == f"{place}: 100 % of all 6 are refused: {zero}"
    _, _, lines, _ = checked(tmp_path, capsys, "range(0, 200)", "[True]", "", "[100]", "V")
    assert f"{place}: " in lines[0]
    assert " drawn are refused: " in lines[0]


def test_each_reason_has_its_share(tmp_path, capsys):
    _, _, lines, _ = checked(
        tmp_path, capsys, "[0, 1, 2]", "[True]", "", "[100]", "(1 if V < 4 else 'x' if U > 0 else 0)"
    )
    assert ": 56 % of all 18 are refused: 33 % `ufactor` is 0; " in lines[0]
    assert "; 22 % " in lines[0]
