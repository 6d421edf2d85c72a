"""`orio verify`: an application built and run with original and with tuned code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from orio_py.api.writing import transform
from orio_py.cli.main import main
from orio_py.tuning.program_outputs import LineRules, compare_runs

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
        (("", ""), ["--ignore", "(", "--", "./app"], "ORIO-U004", 2),
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
    found, unsteady = compare_runs("out", [one.encode()], [two.encode()], LineRules(tolerance))
    assert (None if found is None else found.line) == line
    assert unsteady is None


@pytest.mark.parametrize(
    ("originals", "tuned", "line", "skipped"),
    [
        (["x 1\ntime 2\n", "x 1\ntime 3\n"], ["x 1\ntime 4\n"] * 2, None, (1, 2, 2)),
        (["x 1\ntime 2\n", "x 1\ntime 3\n"], ["x 1\ntime 4\n", "x 2\ntime 4\n"], 1, (1, 2, 2)),
        (["x 1\ntime 2\n", "x 1\ntime 3\n"], ["x 1\n"] * 2, 2, (1, 2, 2)),
        (["x 1\ntime 2\n", "x 1\ntime 2\n"], ["x 1\ntime 3\n"] * 2, 2, None),
        (["x 1\n", "x 1\nmore\n"], ["x 1\nmore\n"] * 2, 2, None),
        (["a\n", "b\n"], ["c\n"] * 2, None, (1, 1, 1)),
        (["# 7\nx 1\n", "x 1\n"], ["x 1\n# 8\n# 9\n"] * 2, None, None),
        (["# 7\nx 1\n", "x 1\n"], ["# 8\nx 2\n"] * 2, 2, None),
    ],
)
def test_lines_that_the_original_does_not_repeat_do_not_count(
    originals: list[str], tuned: list[str], line: int | None, skipped: tuple[int, int, int] | None
) -> None:
    ours, theirs = ([text.encode() for text in texts] for texts in (originals, tuned))
    found, unsteady = compare_runs("out", ours, theirs, LineRules(ignored=[re.compile("^#")]))
    assert (None if found is None else found.line) == line
    assert skipped == (None if unsteady is None else (unsteady.count, unsteady.total, unsteady.line))


def test_programs_that_tell_times(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clock = (
        'printf("took %ld ns\\n", now.tv_nsec); if (argc > 2) printf("and %d\\n", a[7] > 1e9);\n  return 0;'
    )
    program = MAIN.replace("return 0;", clock).replace("double a", "struct timespec now;\n  double a")
    program = program.replace("scale(50, a);\n  FILE", "FILE").replace(
        "  scale(50, a);\n  for", "  scale(50, a);\n  timespec_get(&now, TIME_UTC);\n  for"
    )
    (project / "main.c").write_text("#include <time.h>\n" + program)
    tuned_in_place(project)
    assert main(["verify", "--", "./app"]) == 0
    shown = capsys.readouterr().out
    assert "outputs: equal" in shown
    assert (
        "not compared: 1 of 2 lines of standard output, as the original does not repeat them: line 2 `took"
        in shown
    )
    # Nothing is left to compare.
    assert main(["verify", "--", "./app", "quiet"]) == 2
    assert "nothing can be compared" in capsys.readouterr().err
    assert main(["verify", "--compare", "result.txt", "--", "./app", "quiet"]) == 0
    assert main(["verify", "--runs", "1", "--", "./app"]) == 4
    assert "--ignore REGEX" in capsys.readouterr().out
    assert main(["verify", "--runs", "1", "--ignore", "^took", "--json", "--", "./app"]) == 0
    assert json.loads(capsys.readouterr().out)["not_compared"] == []
