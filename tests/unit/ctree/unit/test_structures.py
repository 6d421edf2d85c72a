"""The structures that a text defines."""

from __future__ import annotations

import pytest

from orio_py.ctree.structures import Members, cannot_be_made, member_path, memory_location
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
        ("struct one { int x : 3, : 2; unsigned : 0; };", {"struct one": ["x", "", ""]}),
        ("struct one { struct { int b; } c; };", {"struct one": ["c"], "struct one.c": ["b"]}),
        (
            "typedef struct { union { float x; struct { int lo, hi; }; }; struct two { int y; } z[2], *p; } one;",
            {
                "one": ["", "z", "p"],
                "union one.0": ["x", ""],
                "struct one.0.1": ["lo", "hi"],
                "struct two": ["y"],
            },
        ),
        ("typedef union word { int n; float x; } word;", {"union word": ["n", "x"], "word": ["n", "x"]}),
        (
            'struct one { struct two { int y; }; _Static_assert(1, ""); int x; };',
            {"struct one": ["x"], "struct two": ["y"]},
        ),
        (
            "typedef struct one one; struct one { int x; }; typedef one other;",
            {name: ["x"] for name in ("struct one", "one", "other")},
        ),
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


def test_types_that_typedefs_give_to_arrays_have_their_extents() -> None:
    (members,) = structures(
        "typedef double real; typedef real vec[3]; typedef vec mat[2];"
        "struct s { vec at, *many, list[4]; mat m; vec **rows; double (*old)[3]; };"
    ).values()
    assert [(m.type, m.dimensions, m.pointers, m.points_to_array) for m in members] == [
        ("double", ("3",), 0, False),
        ("double", ("", "3"), 0, True),
        ("double", ("4", "3"), 0, False),
        ("double", ("2", "3"), 0, False),
        ("vec", (), 2, False),
        ("double", ("", "3"), 0, True),
    ]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("double x; unsigned char c[3][4]; long n; _Bool b;", None),
        ("int n; double *next, (*rows)[3];", None),
        ("const int n;", "its member `n` is constant"),
        ("struct inner in;", "its member `in` is of type `struct inner`"),
        ("enum color c;", "its member `c` is of type `enum color`"),
        ("int n; float tail[];", "its member `tail` has no extent"),
        ("struct { int n : 3, : 0; union { float x; int k; }; } in[2];", None),
        ("struct { const int n; } in;", "its member `in.n` is constant"),
        ("union { float x; struct { enum color c; }; } in;", "its member `in.c` is of type `enum color`"),
    ],
)
def test_which_structures_can_be_made(body: str, problem: str | None) -> None:
    assert cannot_be_made(structures(f"struct s {{ {body} }};"), "struct s") == problem


FLAGS = "struct s { int a : 3, b : 4; int c; int d : 2; int : 2; int e : 1; int : 0; int f : 3; struct { int g : 1; }; };"


@pytest.mark.parametrize(
    ("name", "first"), [*zip("abcdefg", ["a", "a", None, "d", "d", None, None], strict=True)]
)
def test_bit_fields_next_to_each_other_are_one_memory_location(name: str, first: str | None) -> None:
    known = structures(FLAGS)
    *_, member = member_path(known, "struct s", name)
    assert memory_location(known, "struct s", member) == first


def test_members_without_a_name_hold_members_of_the_structure_around() -> None:
    known = structures("struct s { int n; union { float x; struct { int lo, hi; }; }; };")
    assert [m.name for m in member_path(known, "struct s", "hi")] == ["", "", "hi"]
    assert member_path(known, "struct s", "none") == ()
