"""Results of a region under several build commands: told apart in the list; the fastest confirmed one is applied."""

import json
from pathlib import Path

import pytest

from orio_py.cli.main import main

SOURCE = """void total(int n, double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O2'; }
    def performance_params { param U[] = [1, 4]; }
    def input_params { param n[] = [20000]; }
    def input_vars { decl dynamic double x[n] = random; decl dynamic double y[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    y[i] = 2.0 * y[i] + x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.proof
def test_the_fastest_confirmed_build_is_applied(tmp_path: Path, capsys) -> None:
    source, database = tmp_path / "total.c", str(tmp_path / "r.db")
    source.write_text(SOURCE)
    for command in ("gcc", "gcc -O0"):  # the slow one last
        text = SOURCE if command == "gcc" else SOURCE.replace("gcc -O2", "gcc -O0")
        source.write_text(text)
        assert main(["tune", str(source), "--db", database, "-q", "-o", str(tmp_path / "t.c")]) == 0
    capsys.readouterr()
    assert main(["results", "list", "--db", database, "--json"]) == 0
    series = json.loads(capsys.readouterr().out)["series"]
    assert sorted(one["command"] for one in series) == ["gcc -O0", "gcc -O2"]
    assert main(["results", "list", "--db", database]) == 0
    shown = capsys.readouterr().out
    assert "gcc -O0" in shown
    assert "gcc -O2" in shown
    assert main(["results", "apply", str(source), "--db", database, "-o", str(tmp_path / "a.c")]) == 0
    told = capsys.readouterr().err
    assert "ORIO-D021" in told
    assert "the fastest confirmed one" in told
    assert "`gcc -O2`" in (tmp_path / "a.c").read_text()
