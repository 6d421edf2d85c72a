"""`orio verify`: an application built and run with original and with tuned code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orio_py.api.writing import transform
from orio_py.cli.main import main
from orio_py.tuning.verify import first_difference

KERNEL = """void scale(int n, double *restrict a)
{
  int i;
  /*@ begin Loop(transform Unroll(ufactor=4)) @*/
  for (i = 0; i < n; i++) a[i] = a[i] * 3 + i;
  /*@ end @*/
}
"""
MAIN = """#include <stdio.h>
void scale(int n, double *a);
int main(int argc, char **argv)
{
  double a[50] = {0};
  FILE *out = fopen("result.txt", "w");
  (void)argv;
  scale(50, a);
  scale(50, a);
  for (int i = 0; i < 50; i++) fprintf(out, "%d: %.17g\\n", i, a[i]);
  fclose(out);
  if (argc == 1) printf("sum %.17g\\n", a[7] + a[49]);
  return 0;
}
"""
MAKEFILE = "app: $(wildcard *.c)\n\t$(CC) -O1 $^ -o $@\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kernel.c").write_text(KERNEL)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tuned_in_place(project: Path, change: tuple[str, str] = ("", "")) -> None:
    """The kernel with generated code, in which something is replaced."""
    assert transform([project / "kernel.c"], in_place=True).exit_code == 0
    generated, mark, original = (project / "kernel.c").read_text().partition("\n#else")
    (project / "kernel.c").write_text(generated.replace(*change) + mark + original)


@pytest.mark.parametrize("in_place", [True, False])
def test_equal_programs(project: Path, capsys: pytest.CaptureFixture[str], in_place: bool) -> None:
    if in_place:
        tuned_in_place(project)
    else:
        assert transform([project / "kernel.c"]).exit_code == 0
    before = {path.name: path.read_bytes() for path in project.iterdir()}
    assert main(["verify", "--compare", "result.txt", "--json", "--runs", "2", "--", "./app"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equal"]
    assert found["sources"] == ["kernel.c"]
    assert len(found["original_s"]) == len(found["tuned_s"]) == 2
    assert found["speedup"] > 0
    assert {path.name: path.read_bytes() for path in project.iterdir()} == before


def test_different_outputs_are_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tuned_in_place(project, ("* 3 +", "* 3.0000001 +"))
    assert main(["verify", "--runs", "1", "--", "./app"]) == 4
    shown = capsys.readouterr().out
    assert "outputs: DIFFERENT, standard output, line 1" in shown
    assert "original: sum 224" in shown
    assert main(["verify", "--runs", "1", "--rel", "1e-6", "--", "./app"]) == 0
    assert main(["verify", "--runs", "1", "--rel", "1e-12", "--", "./app"]) == 4


def test_files_are_compared(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tuned_in_place(project, ("* 3 +", "* 2 +"))
    assert main(["verify", "--runs", "1", "--", "./app", "quiet"]) == 0
    assert main(["verify", "--runs", "1", "--compare", "result.txt", "--", "./app", "quiet"]) == 4
    assert "result.txt, line 2" in capsys.readouterr().out
    assert main(["verify", "--runs", "1", "--compare", "other.txt", "--", "./app", "quiet"]) == 2
    assert "ORIO-U038" in capsys.readouterr().err


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("change", "arguments", "code", "status"),
    [
        (("* 3 +", "* nothing +"), ["--", "./app"], "ORIO-U037", 4),
        (("a[i] = a", "*(volatile int *)0 = 1; a[i] = a"), ["--", "./app"], "ORIO-U038", 4),
        (("", ""), ["--", "./missing"], "ORIO-U038", 2),
        (("", ""), ["--build", "exit 3", "--", "./app"], "ORIO-U037", 2),
        (("", ""), ["--timeout", "4s", "--", "sleep", "60"], "ORIO-U038", 2),
        (("", ""), ["--compare", "/tmp/result.txt", "--", "./app"], "ORIO-U038", 2),
        (("", ""), ["--compare", "../result.txt", "--", "./app"], "ORIO-U038", 2),
        (("", ""), [], "ORIO-U003", 2),
        (("", ""), ["--rel", "2", "--", "./app"], "ORIO-U004", 2),
        (("", ""), ["--tree", "nowhere", "--", "./app"], "ORIO-U006", 2),
    ],
)
def test_what_goes_wrong_is_told(
    project: Path, capsys: pytest.CaptureFixture[str], change, arguments, code, status
) -> None:
    tuned_in_place(project, change)
    assert main(["verify", *arguments]) == status
    assert f"error[{code}]" in capsys.readouterr().err


def test_a_tree_without_tuned_sources(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--db", str(project / "none.db"), "--", "./app"]) == 2
    assert "error[ORIO-U039]" in capsys.readouterr().err


def test_a_tree_that_says_nothing_of_its_build(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "Makefile").unlink()
    tuned_in_place(project)
    assert main(["verify", "--", "./app"]) == 2
    assert "--build" in capsys.readouterr().err
    assert main(["verify", "--runs", "1", "--build", "cc *.c -o app", "--", "./app"]) == 0


@pytest.mark.parametrize(
    ("one", "two", "tolerance", "line"),
    [
        ("a 1.0 b\n", "a 1.0 b\n", 0.0, None),
        ("x 1.0\ny 2\n", "x 1.0\ny 3\n", 0.0, 2),
        ("x 1.000001e+3,-5\n", "x 1.000002e+3,-5\n", 1e-5, None),
        ("x 1.000001e+3,-5\n", "x 1.000002e+3,5\n", 1e-5, 1),
        ("x nan inf\n", "x NaN inf\n", 1e-5, None),
        ("x 1\n", "y 1\n", 1e-5, 1),
        ("x 1 2\n", "x 1\n", 1e-5, 1),
        ("x\n", "x\nmore\n", 1e-5, 2),
        ("0\n", "1e-30\n", 1e-5, 1),
    ],
)
def test_outputs_are_compared_by_numbers(one: str, two: str, tolerance: float, line: int | None) -> None:
    found = first_difference("out", one.encode(), two.encode(), tolerance)
    assert (None if found is None else found.line) == line
