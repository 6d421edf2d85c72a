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
COPY = """void f(int n, double *x, double *y, int *k)
{
  int i, j;
  /*@ begin Loop(transform ArrCopy(aref='x[j]', dimsizes=[16])) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < 16; j++)
      y[k[i]] += x[j];
  /*@ end @*/
}
"""


@pytest.mark.parametrize(
    ("text", "promise", "code"), [(SUM, "reassociate", "T090"), (COPY, "noalias", "T041")]
)
def test_a_promise_makes_a_recipe_legal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, promise: str, code: str
) -> None:
    source, output = tmp_path / "k.c", tmp_path / "o.c"
    source.write_text(text)
    other = {"reassociate": "noalias", "noalias": "reassociate"}[promise]
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
