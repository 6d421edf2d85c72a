"""No module is too long to be read in one go."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "orio_py"
MOST_LINES = 400


def test_modules_are_short() -> None:
    paths = sorted(PACKAGE.rglob("*.py"))
    assert len(paths) > 100
    lengths = {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8").count("\n") for path in paths
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}
