"""Diagnostic codes: every one that is used has an entry, and every entry is used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from orio_py.core.codes import CODES, FOLDER, read_codes

PACKAGE = Path(__file__).resolve().parents[2] / "orio_py"
CODE = re.compile(r"ORIO-[A-Z]\d{3}")


def used_codes() -> dict[str, str]:
    """Codes that are whole string literals of the source, with one of the places."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
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


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.toml")), ids=lambda path: path.stem)
def test_a_file_holds_one_group_in_short_lines(path):
    text = path.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if len(line) > 110] == []
    letters = {name[:6] for name in tomllib.loads(text)}
    assert len(letters) == 1
    assert text.startswith(f"# Diagnostic codes {letters.pop()}…: ")


def test_a_code_in_two_files_is_refused(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text("[ORIO-X001]\ntitle = 'a'\nexplanation = 'b'\n")
    with pytest.raises(ValueError, match="duplicate diagnostic code 'ORIO-X001'"):
        read_codes(tmp_path)


@pytest.mark.parametrize("fields", ["title = 'a'", "title = 'a'\nexplanation = 'b'\nexplained = 'c'"])
def test_a_code_with_other_fields_is_refused(tmp_path, fields):
    (tmp_path / "group.toml").write_text(f"[ORIO-X001]\n{fields}\n")
    with pytest.raises(TypeError, match="expla"):
        read_codes(tmp_path)


def test_texts_are_read_when_they_are_asked_for():
    program = (
        "import orio_py.cli.main as _; from orio_py.core import codes; before = codes._all.cache_info().currsize;"
        "print(before, len(codes.CODES) > 0, codes._all.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "True", "1"]
