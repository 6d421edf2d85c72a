"""What the conformance tests look for is not satisfied by prose."""

from code_of import CodeOf


def test_comments_and_docstrings_do_not_count() -> None:
    found = CodeOf.of(
        ['"""Coalesce(1) \'ORIO-T001\'"""\n# Coalesce() "ORIO-T002"\nx = Tile(1, code="ORIO-T003")\n']
    )
    assert found.calls == {"Tile"}
    assert found.texts == {"ORIO-T003"}


def test_annotations_in_texts_do() -> None:
    assert CodeOf.of(["check('transform Tile(tsize=4)')"]).calls == {"check", "Tile"}
