"""What transformations make of small pieces of C, each of which settles one of their decisions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from decisions import FOLDER, result_of, table

FILES = sorted(FOLDER.glob("*.txt"))
TABLES = {path: table(path) for path in FILES}
CASES = [(path, number) for path in FILES for number in range(len(TABLES[path].cases))]


@pytest.mark.parametrize(("path", "number"), CASES, ids=[f"{path.stem}-{n}" for path, n in CASES])
def test_decision(path: Path, number: int) -> None:
    case = TABLES[path].cases[number]
    assert result_of(case, TABLES[path].declarations) == case.expected, f"{case.head}\n{case.code}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_table(path: Path, update_golden: bool) -> None:
    """The file is written as `--update-golden` writes it, and no case stands in it twice."""
    found = TABLES[path]
    if update_golden:
        new = [replace(case, expected=result_of(case, found.declarations)) for case in found.cases]
        path.write_text(replace(found, cases=tuple(new)).text)
    assert path.read_text() == found.text
    assert len({(case.head, case.code) for case in found.cases}) == len(found.cases)
