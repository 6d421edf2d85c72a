"""Where results go when nothing was annotated, or when another file stands there; a searcher that nobody knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.api.checking import check
from orio_py.api.tuning import tune
from orio_py.api.writing import transform

REGION = """void f(int n, double *restrict a) {
  int i;
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++) a[i] = 0;
  /*@ end @*/
}
"""


@pytest.mark.parametrize("command", [transform, tune])
def test_an_input_without_regions_is_copied_to_the_output(tmp_path: Path, command) -> None:
    source, output = tmp_path / "k.c", tmp_path / "out.c"
    source.write_bytes(b"int x; // \xe9\r\n")
    source.chmod(0o640)
    report = command([source], output=output)
    assert [d.code for d in report.diagnostics] == ["ORIO-U014"]
    assert report.exit_code == 0
    assert output.read_bytes() == source.read_bytes()
    assert output.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("command", [transform, tune])
def test_a_file_that_nobody_generated_is_not_replaced(tmp_path: Path, command) -> None:
    (tmp_path / "k.c").write_text(REGION)
    (tmp_path / "_k.c").write_text("int mine;\n")
    report = command([tmp_path / "k.c"])
    assert [d.code for d in report.diagnostics] == ["ORIO-U010"]
    assert report.exit_code == 2
    assert (tmp_path / "_k.c").read_text() == "int mine;\n"


def test_what_was_generated_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(REGION)
    assert transform([tmp_path / "k.c"]).exit_code == 0
    first = (tmp_path / "_k.c").read_text()
    (tmp_path / "k.c").write_text(REGION.replace("= 0;", "= 1;"))
    assert transform([tmp_path / "k.c"]).exit_code == 0
    assert (tmp_path / "_k.c").read_text() != first


def test_check_reports_a_searcher_that_nobody_knows(tmp_path: Path) -> None:
    inputs = "def input_params { param n[] = [9]; } def input_vars { decl dynamic double a[n] = 0; }"
    spec = f"/*@ begin PerfTuning(\n def search {{ arg algorithm = 'Randm'; }}\n{inputs}) @*/\n"
    loop = REGION.replace("  /*@ begin Loop", f"  {spec}  /*@ begin Loop").replace(
        "end @*/", "end @*/ /*@ end @*/"
    )
    (tmp_path / "k.c").write_text(loop)
    report = check([tmp_path / "k.c"])
    (problem,) = [d for d in report.diagnostics if d.code == "ORIO-P020"]
    assert (problem.position.line, report.exit_code) == (4, 2) if problem.position else False
    assert "random" in str(problem.help)
