"""Diagnostic codes: every one that is used has an entry, and every entry is used."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from orio_py.core.codes import CODES

PACKAGE = Path(__file__).resolve().parents[2] / "orio_py"
CODE = re.compile(r"ORIO-[A-Z]\d{3}")


def used_codes() -> dict[str, str]:
    """Codes that are whole string literals of the source, with one of the places."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.parent.name == "codes":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                found[node.value] = f"{path.relative_to(PACKAGE)}:{node.lineno}"
    return found


def test_codes_are_found_at_all():
    assert len(used_codes()) > 50


def test_every_code_that_is_used_has_an_entry():
    assert {code: place for code, place in used_codes().items() if code not in CODES} == {}


def test_every_entry_is_used():
    assert sorted(set(CODES) - set(used_codes())) == []


@pytest.mark.parametrize("name", sorted(CODES))
def test_an_entry_is_complete(name):
    entry = CODES[name]
    assert CODE.fullmatch(name)
    assert 0 < len(entry.title) <= 70
    assert not entry.title.endswith(".")
    assert len(entry.explanation.split()) >= 8
    assert set(CODE.findall(entry.explanation)) <= set(CODES)
