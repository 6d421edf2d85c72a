"""The structures that a text defines."""

from __future__ import annotations

import pytest

from orio_py.ctree.structures import Members, not_numbers
from orio_py.ctree.unit.translation_unit import translation_unit


def structures(text: str) -> dict[str, Members]:
    return dict(translation_unit(text).structures)


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
        (
            "typedef struct  one first;\nstruct one { int x; }; typedef struct two second;",
            {"struct one": ["x"], "first": ["x"]},
        ),
    ],
)
def test_names_and_members(text: str, found: dict[str, list[str]]) -> None:
    named = {name: [member.name for member in members] for name, members in structures(text).items()}
    assert named == found


def test_members_have_types_and_extents() -> None:
    (members,) = structures("typedef struct { const float v[3]; unsigned long n, *p; } cell;").values()
    assert [(m.type, m.dimensions, m.pointers) for m in members] == [
        ("float", ("3",), 0),
        ("unsigned long", (), 0),
        ("unsigned long", (), 1),
    ]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("double x; unsigned char c[3][4]; long n; _Bool b;", None),
        ("int n; double *next;", "its member `next` is a pointer"),
        ("const int n;", "its member `n` is constant"),
        ("struct inner in;", "its member `in` is of type `struct inner`"),
        ("enum color c;", "its member `c` is of type `enum color`"),
        ("int n; float tail[];", "its member `tail` has no extent"),
    ],
)
def test_which_members_are_numbers(body: str, problem: str | None) -> None:
    (members,) = structures(f"struct s {{ {body} }};").values()
    assert not_numbers(members) == problem
