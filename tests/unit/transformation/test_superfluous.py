"""Variables of the region's own blocks: dead where the block ends, gone where nothing uses them any more."""

from __future__ import annotations

import pytest
from c_trees import transformed_trees

from orio_py.ctree.emit import emit

I_LOOP = "for (i = 0; i < n; i++) a[i] = 2;"
J_LOOP = "for (j = 0; j < n; j++) b[j] = 2;"


def variant(code: str) -> str:
    around = "int f(int n, double *restrict a, double *restrict b)"
    text = (
        f"#define KEPT (j + 1)\n{around} {{\n/*@ begin Loop(\n{code}\n) @*/\n/*@ end @*/\n  return j;\n}}\n"
    )
    ((_, tree),) = transformed_trees(text, {})
    return " ".join(emit(tree).split())


@pytest.mark.parametrize(
    ("code", "declared"),
    [
        (f"transform Fuse() {{ int i, j; {I_LOOP} {J_LOOP} }}", "int i; for"),
        (f"{{ int i, j; transform Fuse() {{ {I_LOOP} {J_LOOP} }} }}", "int i; for"),
        (f"{{ int i, j = 4; transform Fuse() {{ {I_LOOP} {J_LOOP} }} }}", "int i; for"),
        (f"{{ int i, j = g(n); transform Fuse() {{ {I_LOOP} {J_LOOP} }} }}", "int i; int j = g(n); for"),
        (f"{{ int i, j; transform Fuse() {{ {I_LOOP} {J_LOOP} }} a[9] = j; }}", "int i; int j; for"),
        (f"{{ int i, j; transform Fuse() {{ {I_LOOP} {J_LOOP} }} a[9] = KEPT; }}", "int i; int j; for"),
        (
            f"{{ int i, j; static int k; transform Fuse() {{ {I_LOOP} {J_LOOP} }} }}",
            "int i; static int k; for",
        ),
        (f"{{ int i, j, idle; transform Fuse() {{ {I_LOOP} {J_LOOP} }} }}", "int i; int idle; for"),
        (f"int i, j; transform Fuse() {{ {I_LOOP} {J_LOOP} }}", "int i; int j; for"),
        ("{ int i; transform Peel(first=2) for (i = 0; i < 2; i++) a[i] = 2; }", "{ a[0] = 2;"),
    ],
)
def test_declarations_that_are_left(code: str, declared: str) -> None:
    assert declared in variant(code)


def test_a_variable_ends_with_its_block() -> None:
    tile = f"transform Tile(tsize=4, tindex='jj') {J_LOOP}"
    assert "j = n > 0 ? n : 0;" in variant(f"int j; {tile}")
    assert "j = n" not in variant(f"{{ int j; {tile} }}")
    assert "j = n" in variant(f"{{ static int j; {tile} }}")
    assert "j = n" in variant(f"{{ static int j; b[0] = j; {tile} }}")


@pytest.mark.parametrize(
    ("declared", "behind", "mentions"),
    [
        ("int i, j;", "", ["(void)j;"]),
        ("int i, j = 0;", "", ["(void)j;"]),
        ("int i, j;", "j = 0; b[0] = j;", []),
        ("int i, j;", "b[0] = j = 0;", []),
        ("int i, j; (void)j;", "", []),
        ("int i, j;\n#if 0\n  j = 0;\n#endif\n", "", []),
    ],
)
def test_variables_that_only_the_original_needs_are_named(
    declared: str, behind: str, mentions: list[str]
) -> None:
    fused = f"transform Fuse() {{ {I_LOOP} {J_LOOP} }}"
    around = "void f(int n, double *restrict a, double *restrict b)"
    text = f"{around} {{\n {declared}\n/*@ begin Loop(\n{fused}\n) @*/\n/*@ end @*/\n  {behind}\n}}\n"
    ((_, tree),) = transformed_trees(text, {})
    lines = [line.strip() for line in emit(tree).splitlines()]
    assert [line for line in lines if line.startswith("(void)")] == mentions


def test_nothing_follows_the_loop_that_a_pragma_is_about() -> None:
    code = "for (i = 0; i < n; i++) transform Peel(first=2) for (j = 0; j < 2; j++) a[i] += b[i];"
    around = "void f(int n, double *restrict a, double *restrict b)"
    region = f"/*@ begin Loop(\n{code}\n) @*/\n/*@ end @*/"
    for pragma, is_named in (("", True), ("#pragma omp parallel for\n", False)):
        ((_, tree),) = transformed_trees(f"{around} {{\n int i, j;\n{pragma}{region}\n}}\n", {})
        assert ("(void)j;" in emit(tree)) == is_named


def test_a_variable_of_several_originals_is_named_in_each() -> None:
    loop = "/*@ begin Loop(transform Parallelize()) @*/ for (p = x; p < e; p++) *p {} 2; /*@ end @*/"
    text = f"void f(double *x, double *e) {{ double *p; {loop.format('=')} {loop.format('*=')} }}\n"
    for _, tree in transformed_trees(text, {}):
        assert emit(tree).split("(void)")[1:] == ["p;\n"]
