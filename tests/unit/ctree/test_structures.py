"""The structures that a text defines."""

from __future__ import annotations

import pytest

from orio_py.ctree.structures import structures


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("struct one { double x, y; };", {"struct one": ["x", "y"]}),
        (
            "typedef struct one { float v[3]; /* of { */ float w; } one;",
            {"struct one": ["v", "w"], "one": ["v", "w"]},
        ),
        ("struct one { uint32_t n; size_t *p; } a, b[4];", {"struct one": ["n", "p"]}),
        (
            "#define S struct one { int x; };\nstruct two { int y; }; // struct three { int z; };",
            {"struct two": ["y"]},
        ),
        ("struct one { int x : 3; };", {}),
        ("struct one { struct { int b; } c; };", {}),
        ("struct one { };", {}),
        ("struct one;", {}),
        ("struct one { int x; }; struct one { int x; };", {"struct one": ["x"]}),
        ("struct one { int x; }; struct one { long x; };", {}),
    ],
)
def test_names_and_members(text: str, found: dict[str, list[str]]) -> None:
    named = {name: [member.name for member in members] for name, members in structures([text]).items()}
    assert named == found


def test_members_have_types_and_extents() -> None:
    (members,) = structures(["typedef struct { const float v[3]; unsigned long n, *p; } cell;"]).values()
    assert [(m.type, m.dimensions, m.pointers) for m in members] == [
        ("float", ("3",), 0),
        ("unsigned long", (), 0),
        ("unsigned long", (), 1),
    ]
