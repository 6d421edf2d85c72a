"""Several problem sizes: what each costs is told first, and one that fails costs no other."""

import json
from pathlib import Path

import pytest

from orio_py.cli.main import main
from orio_py.core.units import Seconds
from orio_py.tuning import plan as plans

SIZES = """#include <math.h>
#include <unistd.h>
void smooth(int n, double *a, double *b)
{
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1'; }
    def performance_params { param U[] = [1, 2]; }
    def input_params { param n[] = [100, 1000, 2000]; }
    def input_vars { decl dynamic double a[n] = random; decl dynamic double b[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (int i = 0; i < n; i++)
    b[i] = a[i] + (i == 999 ? CALL : 0);
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("call", "code", "word"),
    [("*(volatile int *)0", "ORIO-M010", "SIGSEGV"), ("usleep(2000000)", "ORIO-M025", "more than 1 s")],
    ids=["crash", "too slow"],
)
def test_problem_sizes_that_fail_cost_no_other(
    tmp_path: Path, capsys, monkeypatch, call: str, code: str, word: str
) -> None:
    monkeypatch.setattr(plans, "ORIGINAL_LIMIT", Seconds(1.0))
    source = tmp_path / "smooth.c"
    source.write_text(SIZES.replace("CALL", call))
    assert main(["tune", str(source), "--no-db", "--json", str(tmp_path / "r.json")]) == 2
    report = json.loads((tmp_path / "r.json").read_text())
    told = report["diagnostics"]
    assert [d["code"] for d in told] == [code] * 2
    assert all(word in d["message"] for d in told)
    found = [(r["inputs"]["n"], r["best"] is not None) for r in report["regions"]]
    assert found == [(100, True), (1000, False), (2000, False)]
    assert "original for n=1000: the original" in (tmp_path / "_smooth.c").read_text()
    shown = capsys.readouterr().err
    assert "at n = 1000" in shown
    assert "at n = 2000" in shown
    # Told before any size is tuned.
    assert shown.index(word) < shown.index("2 trials planned")


@pytest.mark.proof
def test_the_cost_of_each_size_is_told_before_the_search(tmp_path: Path, capsys) -> None:
    source = tmp_path / "smooth.c"
    source.write_text(SIZES.replace("CALL", "usleep(1100000)").replace("1000, 2000", "1000"))
    assert main(["tune", str(source), "--no-db", "--trials", "2"]) == 0
    shown = capsys.readouterr().err
    costs = [line for line in shown.splitlines() if "a call of the original at n = " in line]
    assert len(costs) == 2
    assert "at n = 1000 takes 1.1" in costs[1]
    assert shown.index(costs[1]) < shown.index("trials planned")


@pytest.mark.proof
def test_the_sizes_of_a_region_share_its_time(tmp_path: Path) -> None:
    source = tmp_path / "smooth.c"
    source.write_text(SIZES.replace("CALL", "cbrt(a[i])").replace("[1, 2]", "range(1, 400)"))
    arguments = ["tune", str(source), "--no-db", "--time", "6s", "--search", "random"]
    assert main([*arguments, "--json", str(tmp_path / "r.json")]) == 0
    for region in json.loads((tmp_path / "r.json").read_text())["regions"]:
        searched = region["seconds"]["total"] - region["cost"]["finals"]
        assert searched < 4.0
        assert region["trials"] >= 1


@pytest.mark.proof
def test_the_original_may_take_longer_than_a_variant(tmp_path: Path) -> None:
    source = tmp_path / "smooth.c"
    text = SIZES.replace("[100, 1000, 2000]", "[1000]").replace("gcc -O1", "gcc -O1 @SPEED")
    text = text.replace("param U[] = [1, 2]", "param U[] = [1]; param SPEED[] = ['', '-DFAST']")
    text = text.replace("void smooth", "#ifdef FAST\n#define usleep(t) 0\n#endif\nvoid smooth")
    source.write_text(text.replace("CALL", "usleep(1200000)"))
    arguments = ["tune", str(source), "--no-db", "--timeout", "0.4s", "--json", str(tmp_path / "r.json")]
    assert main(arguments) == 0
    report = json.loads((tmp_path / "r.json").read_text())
    (region,) = report["regions"]
    assert region["failures"] == {"timeout": 1}
    assert region["best"]["configuration"]["SPEED"] == "-DFAST"
    assert [d["code"] for d in report["diagnostics"]] == ["ORIO-S020", "ORIO-M026"]
