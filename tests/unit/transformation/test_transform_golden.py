"""Golden files: annotated input, the file with the transformed code, and the parameter values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from c_programs import compile_strictly
from c_trees import transformed_file, transformed_trees

from orio_py.ctree.equal import structure_digest

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
CASES = sorted(path.parent for path in GOLDEN.glob("*/*/input.c"))
NAMES = [f"{case.parent.name}/{case.name}" for case in CASES]
SETTINGS = {"values", "flags", "unchanged"}


def settings(case: Path) -> Mapping[str, Any]:
    return tomllib.loads((case / "config.toml").read_text())


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_golden(case: Path, update_golden: bool, tmp_path: Path) -> None:
    config = settings(case)
    assert set(config) <= SETTINGS
    text = (case / "input.c").read_text()
    result = transformed_file(text, config["values"])
    if update_golden:
        (case / "expected.c").write_text(result)
    assert result == (case / "expected.c").read_text()
    for name in ("input.c", "expected.c"):
        compile_strictly(case / name, tmp_path)
        if "flags" in config:
            compile_strictly(case / name, tmp_path, *config["flags"])


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_only_declared_cases_change_nothing(case: Path) -> None:
    text = (case / "input.c").read_text()
    ((original, variant),) = transformed_trees(text, settings(case)["values"])
    unchanged = structure_digest(variant) == structure_digest(original)
    assert unchanged == settings(case).get("unchanged", False)


def test_no_file_is_an_orphan() -> None:
    wanted = {case / name for case in CASES for name in ("input.c", "expected.c", "config.toml")}
    found = {path for path in GOLDEN.rglob("*") if path.is_file()}
    assert found == wanted
