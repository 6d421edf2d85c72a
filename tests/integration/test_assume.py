"""Promises on the command line, for files whose regions have no specification."""

from pathlib import Path

import pytest

from orio_py.cli.main import main

SUM = """void f(int n, double *x, double s)
{
  int i;
  /*@ begin Loop(transform OpenCL(workGroups=2, workItemsPerGroup=32)) @*/
  for (i = 0; i < n; i++)
    s += x[i];
  /*@ end @*/
}
"""
COPY = """void f(int n, double *x, double *y)
{
  int i, j;
  /*@ begin Loop(transform ArrCopy(aref='x[j]', dimsizes=[16])) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < 16; j++)
      y[(int)y[i]] += x[j];
  /*@ end @*/
}
"""
CALL = """/*@ begin Loop(transform Permut(seq=['j', 'i'])) @*/
for (i = 0; i < n; i++)
  for (j = 0; j < m; j++)
    S(i, j);
/*@ end @*/
"""


@pytest.mark.parametrize(
    ("text", "promise", "code"),
    [(SUM, "reassociate", "T090"), (COPY, "noalias", "T041"), (CALL, "calls", "T041")],
)
def test_a_promise_makes_a_recipe_legal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, promise: str, code: str
) -> None:
    source, output = tmp_path / "k.c", tmp_path / "o.c"
    source.write_text(text)
    other = {"reassociate": "noalias", "noalias": "reassociate", "calls": "noalias"}[promise]
    for command in (["check", str(source)], ["transform", str(source), "-o", str(output)]):
        assert main([*command, "--assume", other]) == 2
        assert f"ORIO-{code}" in capsys.readouterr().err
        assert main([*command, "--assume", promise]) == 0
    assert output.exists()


def test_an_unknown_promise_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "k.c"), "--assume", "noallias"]) == 2
    problem = capsys.readouterr().err
    assert "ORIO-U004" in problem
    assert "did you mean `noalias`?" in problem


@pytest.mark.parametrize(
    ("before", "statement"),
    [
        ("", "x[i] = S(i, j);"),
        ("int s; void S(int i, int j) { s = 3 * s + i; }", "S(i, j);"),
        ("void T(int i, int j);", "{ S(i, j); k = T(i, j); }"),
    ],
    ids=["an expression", "a known body", "one of two"],
)
def test_only_statements_that_call_unknown_functions_are_promised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, statement: str
) -> None:
    source = tmp_path / "k.c"
    code = CALL.replace("S(i, j);", statement)
    source.write_text(f"{before}\nvoid f(int n, int m, int *x) {{\nint i, j, k;\n{code}}}\n")
    assert main(["check", str(source), "--assume", "calls"]) == 2
    assert "ORIO-T04" in capsys.readouterr().err


def test_calls_are_promised_in_a_specification(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, spec, output = tmp_path / "k.c", tmp_path / "k.spec", tmp_path / "o.c"
    source.write_text(CALL)
    spec.write_text(
        "spec k { def assumptions { arg calls = True; } def input_params { param n = 9; param m = 9; } }"
    )
    assert main(["transform", str(source), "--spec", str(spec), "-o", str(output)]) == 0
    assert "  for (i = 0; i < n; i++)\n    S(i, j);\n#else" in output.read_text()
    assert main(["check", str(source)]) == 2
    assert "or promise `calls` for such statements" in capsys.readouterr().err
