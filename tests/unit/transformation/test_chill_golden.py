"""Golden files of recipes by statement number: annotated input, parameter values, transformed file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from c_programs import compile_strictly
from c_trees import read_tasks, recipe_problems, transformed_file

GOLDEN = Path(__file__).resolve().parents[2] / "golden_chill"
CASES = sorted(path.parent for path in GOLDEN.glob("*/input.c"))
NAMES = [case.name for case in CASES]


def values(case: Path) -> dict[str, Any]:
    config = tomllib.loads((case / "config.toml").read_text())
    assert set(config) == {"values"}
    return config["values"]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_golden(case: Path, update_golden: bool, tmp_path: Path) -> None:
    text = (case / "input.c").read_text()
    result = transformed_file(text, values(case))
    if update_golden:
        (case / "expected.c").write_text(result)
    assert result == (case / "expected.c").read_text()
    for name in ("input.c", "expected.c"):
        compile_strictly(case / name, tmp_path)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_recipes_are_free_of_mistakes(case: Path) -> None:
    text = (case / "input.c").read_text()
    lists = {p.name for task in read_tasks(text) for p in task.parameters}
    assert recipe_problems(text, " ".join(lists | set(values(case)))) == ()


def test_no_file_is_an_orphan() -> None:
    wanted = {case / name for case in CASES for name in ("input.c", "expected.c", "config.toml")}
    assert {path for path in GOLDEN.rglob("*") if path.is_file()} == wanted
