"""Every transformation of the catalog has its goldens, refusal tests, documentation and codes."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
from code_of import CodeOf

from orio_py.core.codes import CODES
from orio_py.transformation.catalog import NOT_YET, TRANSFORMATIONS
from orio_py.transformation.composite.composite import ORDER

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reference" / "transformations"
PAGE_OF = {name: PAGES / f"{name.lower()}.md" for name in TRANSFORMATIONS}
EXTRA_PAGES = {PAGES / name for name in ("openmp.md", "vector.md")}

REFUSALS = CodeOf.folder(ROOT / "tests" / "unit" / "transformation")
SEMANTICS = CodeOf.folder(ROOT / "tests" / "semantics", ROOT / "tests" / "support")
TRANSFORM_CODES = [code for name, code in CODES.items() if name.startswith("ORIO-T")]


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_has_golden_files(name: str) -> None:
    assert list((ROOT / "tests" / "golden" / name.lower()).glob("*/input.c"))


def test_golden_folders_belong_to_transformations() -> None:
    found = {path.name for path in (ROOT / "tests" / "golden").iterdir()}
    assert found == {name.lower() for name in TRANSFORMATIONS}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_has_refusal_and_same_result_tests(name: str) -> None:
    assert name in REFUSALS.calls
    assert name in SEMANTICS.calls


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_has_a_page_that_names_every_argument(name: str) -> None:
    text = PAGE_OF[name].read_text()
    for part in ("## Before and after", "## Arguments", "## When it is refused", "## Example"):
        assert part in text, part
    for argument in TRANSFORMATIONS[name].arguments:
        assert f"| `{argument.name}` |" in text, argument.name


def test_pages_belong_to_transformations() -> None:
    assert set(PAGES.glob("*.md")) == {*PAGE_OF.values(), *EXTRA_PAGES, PAGES / "index.md"}


@pytest.mark.parametrize("name", sorted(TRANSFORMATIONS.keys() - {"Composite"}))
def test_arguments_are_fields_and_force_is_among_them(name: str) -> None:
    entry = TRANSFORMATIONS[name]
    kind = entry.build if isinstance(entry.build, type) else get_type_hints(entry.build)["return"]
    held = {field.name: field for field in fields(kind)}
    assert {a.name for a in entry.arguments} <= held.keys()
    assert entry.argument("force") is not None
    assert held["force"].default is False


def test_every_key_of_composite_has_its_turn() -> None:
    assert {a.name for a in TRANSFORMATIONS["Composite"].arguments} == {key for key, _ in ORDER} | {"force"}


def test_no_transformation_is_both_here_and_not_yet() -> None:
    assert not NOT_YET & set(TRANSFORMATIONS)


def test_codes_are_all_used_documented_and_tested() -> None:
    used = {
        t for t in CodeOf.folder(ROOT / "orio_py" / "transformation").texts if re.fullmatch(r"ORIO-T\d{3}", t)
    }
    assert used == {code.name for code in TRANSFORM_CODES}
    assert used - REFUSALS.texts == set()


@pytest.mark.parametrize("code", TRANSFORM_CODES, ids=lambda code: code.name)
def test_explanations_say_something(code: object) -> None:
    text = getattr(code, "explanation", "")
    assert len(text) > 80
    assert all(len(line) <= 110 for line in text.splitlines())
