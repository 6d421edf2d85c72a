"""The registry of annotation modules: one that tests register has regions like any other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest

import orio_py
from orio_py.core.diagnostics import fail
from orio_py.core.expr import Name
from orio_py.frontend.annotations.module import (
    Annotation,
    CodeModule,
    MissingModule,
    Module,
    PlainModule,
    RegionParts,
)
from orio_py.frontend.annotations.modules import MODULES, available
from orio_py.spec.parameter import Parameter
from orio_py.spec.recipe import Argument, MarkedRecipe, RecipeStep

_FORM = re.compile(r"\s*(\w+) = (\w+) \+ (\w+) for (\w+) < (\w+), unrolled by (\w+)\s*")


def _sum(annotation: Annotation) -> RegionParts:
    """A sum of arrays, `y = a + b for i < n, unrolled by U`, with U in 1, 2, 4."""
    start = annotation.leader.body.start
    form = _FORM.fullmatch(annotation.source.text, start, annotation.leader.body.end)
    if form is None:
        fail("ORIO-A005", "expected `y = a + b for i < n, unrolled by U`", annotation.position)
    y, a, b, i, n, factor = form.groups()
    code = f"for ({i} = 0; {i} <= {n} - 1; {i}++) {y}[{i}] = {a}[{i}] + {b}[{i}];"
    place = annotation.source.position(form.start(6))
    unroll = RecipeStep("Unroll", (Argument("ufactor", Name(factor, place), place),), place)
    recipe = MarkedRecipe((unroll,), (Parameter(factor, (1, 2, 4), place),))
    return RegionParts(annotation.parsed(code, start, {start: 0}), recipe, annotation.parsed(code, start))


@pytest.fixture(autouse=True)
def sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast("dict[str, Module]", MODULES), "Sum", CodeModule("Sum", _sum))


def written(tmp_path: Path, leader: str, code: str = "") -> Path:
    path = tmp_path / "add.c"
    path.write_text(
        "void add(int n, double *restrict y, double *a, double *b)\n{\n  int i;\n"
        f"  /*@ begin {leader} @*/\n{code}  /*@ end @*/\n}}\n"
    )
    return path


SUM = "Sum(y = a + b for i < n, unrolled by U)"


def test_the_recipe_defines_parameters(tmp_path: Path) -> None:
    path = written(tmp_path, SUM)
    assert orio_py.check(path).diagnostics == ()
    (region,) = orio_py.space(path).regions
    assert (region.cartesian, region.valid) == (3, 3)


@pytest.mark.parametrize("factor", [1, 2, 4])
def test_the_leader_gives_the_code_to_transform(tmp_path: Path, factor: int) -> None:
    path = written(tmp_path, SUM)
    report = orio_py.transform(path, in_place=True, pins={"U": factor})
    assert report.diagnostics == ()
    text = path.read_text()
    body = text.split("\n#else", maxsplit=1)[0]
    assert body.count("y[i") == (factor + 1 if factor > 1 else 1)
    assert f"y[i + {factor - 1}] = a[i + {factor - 1}] + b[i + {factor - 1}];" in body or factor == 1
    again = orio_py.transform(path, in_place=True, pins={"U": factor})
    assert again.exit_code == 0
    assert path.read_text() == text


def test_code_behind_the_leader_is_the_reference(tmp_path: Path) -> None:
    mine = "  for (i = n - 1; i >= 0; i--)\n    y[i] = b[i] + a[i];\n"
    path = written(tmp_path, SUM, mine)
    assert orio_py.transform(path, in_place=True, pins={"U": 2}).exit_code == 0
    text = path.read_text()
    assert f"#else /* ORIO_ORIGINAL */\n{mine}#endif" in text
    assert "y[i + 1] = a[i + 1] + b[i + 1];" in text


def test_what_the_module_refuses_is_reported(tmp_path: Path) -> None:
    report = orio_py.check(written(tmp_path, "Sum(y = a * b)"))
    (problem,) = report.diagnostics
    assert (problem.code, str(problem.position).split(":", 1)[1]) == ("ORIO-A005", "4:3")
    assert report.exit_code != 0


def test_its_name_is_one_of_those_that_are_meant(tmp_path: Path) -> None:
    (problem,) = orio_py.check(written(tmp_path, SUM.replace("Sum", "Summ"))).diagnostics
    assert (problem.code, problem.help) == ("ORIO-A003", "did you mean `Sum`?")


def test_tuning_needs_a_region_of_any_module_with_code(tmp_path: Path) -> None:
    path = written(tmp_path, SUM)
    text = path.read_text()
    tuned = text.replace(f"/*@ begin {SUM}", f"/*@ begin PerfTuning(def build {{ }}) @*/ /*@ begin {SUM}")
    path.write_text(tuned.replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/"))
    assert "ORIO-A009" not in {problem.code for problem in orio_py.check(path).diagnostics}


def test_every_name_stands_for_its_own_module() -> None:
    assert all(module.name == name for name, module in MODULES.items())
    plain = {name for name, module in MODULES.items() if isinstance(module, PlainModule)}
    assert plain == {"Preserve", "SimplyRewrite"}
    missing = {name for name, module in MODULES.items() if isinstance(module, MissingModule)}
    assert (
        {*available()}
        == {*MODULES} - missing
        == {"PerfTuning", "Loop", "CHiLL", "Align", "SpMV", "Sum", "Tensor", *plain}
    )
    assert all(
        module.instead in ("", *available())
        for module in MODULES.values()
        if isinstance(module, MissingModule)
    )
