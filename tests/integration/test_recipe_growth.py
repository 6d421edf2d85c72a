"""Recipes of many steps and nests of many statements: work that does not explode, and limits that say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.cli.main import main
from orio_py.ctree.dependence.nest import Nest


def checked(tmp_path: Path, capsys: pytest.CaptureFixture[str], recipe: str, code: str) -> tuple[int, str]:
    source = tmp_path / "k.c"
    declared = "int n, double a[restrict n][n], double b[restrict n][n], double *restrict x"
    source.write_text(
        f"void f({declared}) {{ int i, j;\n/*@ begin Loop({recipe}) @*/\n{code}\n/*@ end @*/\n}}\n"
    )
    status = main(["check", str(source)])
    return status, capsys.readouterr().err


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        pytest.param(
            "transform Composite(peel=[%s])" % ", ".join(["('i',1,1)"] * 16),
            "k.c:3:17: error[ORIO-T050]: the recipe makes 4096 loops; the limit is 4000",
            id="each step doubles the loops",
        ),
        pytest.param(
            "transform Composite(tile=[%s])" % ", ".join(f"('i',2,'i{k}')" for k in range(300)),
            "error[ORIO-T050]: the recipe makes a bound of `i` of more than 2000 operands and operators",
            id="each step doubles the bound",
        ),
        pytest.param(
            " ".join(f"transform Tile(tsize=2, tindex='i{k}', loops=['i'])" for k in range(2)),
            "",
            id="a few steps are fine",
        ),
    ],
)
def test_steps_that_double_the_code_are_refused_early(tmp_path, capsys, recipe, told):
    status, errors = checked(tmp_path, capsys, recipe, "for (i = 0; i < n; i++) x[i] = 1;")
    assert told in errors
    assert status == (2 if told else 0), errors


def questions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many accesses each question of a dependence looks at, as they are asked."""
    asked: list[int] = []
    clash = Nest.clash

    def counting(self, relate, ignored, depth=None, *, among=None):
        asked.append(len(self.instances if among is None else among))
        return clash(self, relate, ignored, depth, among=among)

    monkeypatch.setattr(Nest, "clash", counting)
    return asked


def test_statements_in_a_cycle_are_asked_of_their_neighbours_alone(tmp_path, capsys, monkeypatch):
    asked = questions(monkeypatch)
    lines = "\n".join(f"a[i][j] += {k} + b[j][i]; b[i][j] = a[j][i] + a[i-1][j];" for k in range(20))
    code = f"for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) {{\n{lines}\n}}"
    status, errors = checked(tmp_path, capsys, "transform Distribute()", code)
    assert status == 2
    assert "ORIO-T075" in errors
    of_two = [count for count in asked if count <= 12]
    assert len(of_two) < 5 * 40, "far fewer than the 40 * 39 pairs"
    assert len(asked) - len(of_two) <= 2


def test_what_is_distributed_stays_the_same(tmp_path, capsys):
    independent = "\n".join(f"a[i][{k}] = b[i][{k}] * {k};" for k in range(60))
    status, errors = checked(
        tmp_path, capsys, "transform Distribute()", f"for (i = 0; i < n; i++) {{\n{independent}\n}}"
    )
    assert status == 0, errors
    output = tmp_path / "out.c"
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(output)]) == 0
    made = output.read_text().partition("#else /* ORIO_ORIGINAL")[0]
    assert made.count("for (i = 0; i < n; i++)") == 60
