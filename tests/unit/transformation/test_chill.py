"""Recipes by statement number: numbering, commands, and refusals with their places."""

from __future__ import annotations

import re

import pytest
from c_trees import context, parse, read_tasks, recipe_problems

from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.transformation.recipe import apply_recipe, context_for
from orio_py.transformation.statements.numbering import NumberedProgram

MATMUL = """for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];"""

TWO = """for (i = 1; i < n; i++) {
    x[i] = 2;
    y[i] = x[i - 1];
  }
  for (j = 1; j < n; j++)
    x[j] = y[j] * x[j];"""

SHARED = """for (i = 0; i < n; i++) {
    x[i] = 0;
    for (j = 0; j < n; j++)
      x[i] += a[i][j];
  }"""

PARTS = """for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {
      a[i][j] = 1;
      b[i][j] = 2;
      c[i][j] = 3;
    }"""

HEAD = 8
"""Lines before the recipe."""


def file_with(recipe: str, code: str = MATMUL) -> str:
    return f"""#define N 100
void f(int n, double a[restrict N][N], double b[restrict N][N], double c[restrict N][N],
       double *restrict x, double *restrict y) {{
  int i, j, k;
  int m = n;


  /*@ begin CHiLL(
{recipe}
  ) @*/
  {code}
  /*@ end @*/
}}
"""


def marked(recipe: str) -> tuple[str, Position | None]:
    """The recipe without its `@`, and the place of that in the file."""
    before, at, after = recipe.partition("@")
    if not at:
        return recipe, None
    lines = before.split("\n")
    return before + after, Position("code.c", HEAD + len(lines), len(lines[-1]) + 1)


def problems(recipe: str, code: str = MATMUL, known: str = "F n UF") -> tuple[Diagnostic, ...]:
    return recipe_problems(file_with(recipe, code), known)


def result(recipe: str, code: str = MATMUL, values: dict[str, Value] | None = None) -> str:
    """The code after the recipe, without line breaks and repeated blanks; the input stays as it was."""
    ((task,), before) = read_tasks(file_with(recipe, code)), structure_digest(parse(code))
    (region,) = task.regions
    tree = apply_recipe(region, values or {}, context_for(task, region))
    assert structure_digest(region.tree) == before
    return flat(emit(tree))


def flat(code: str) -> str:
    return " ".join(code.split())


def refusal(recipe: str, code: str = MATMUL) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        result(recipe, code)
    (problem,) = caught.value.diagnostics
    return problem


# --- numbers ---


@pytest.mark.parametrize(
    ("code", "count"),
    [
        (MATMUL, 1),
        (TWO, 3),
        (SHARED, 2),
        ("x[0] = 1; ; { y[0] = 2; } f(x); i++;", 4),
        ("int t = 0; double d; t = 1;", 1),
        ("if (n) { x[0] = 1; x[1] = 2; } else x[2] = 3; x[3] = 4;", 2),
        ("switch (n) { case 1: x[0] = 1; default: x[1] = 2; }", 1),
        ("while (n > 0) { n--; x[n] = 1; } do n++; while (n < 3);", 3),
        ("again: x[0] = 1; goto again;", 2),
        ("/* note */\n#pragma omp parallel for\nfor (i = 0; i < n; i++) { x[i] = 1; // tail\n }", 1),
        ("i = 0, j = 1; x; (x[0]) = 1; *x = 2; (*x)++; ++i;", 6),
        (";", 0),
    ],
)
def test_statements_are_counted_in_the_order_of_the_text(code: str, count: int) -> None:
    program = NumberedProgram.of(parse(code), context())
    assert len(program.places) == count
    assert list(program.places) == sorted(program.places)
    assert [found.number for found in program.occurrences()] == list(range(count))


def test_statements_know_the_loops_around_them() -> None:
    program = NumberedProgram.of(parse(SHARED + MATMUL), context())
    assert [found.indices for found in program.occurrences()] == [("i",), ("i", "j"), ("i", "j", "k")]


def test_copies_have_the_number_of_their_original() -> None:
    (task,) = read_tasks(file_with("unroll(1, 'i', 3)", TWO))
    (region,) = task.regions
    tree = apply_recipe(region, {}, context_for(task, region))
    after = NumberedProgram(tree, NumberedProgram.of(region.tree, context()).places, context())
    assert [found.number for found in after.occurrences()] == [0, 1, 0, 1, 0, 1, 0, 1, 2]


# --- commands ---


def test_an_empty_recipe_changes_nothing() -> None:
    (task,) = read_tasks(file_with("# later"))
    (region,) = task.regions
    assert apply_recipe(region, {}, context_for(task, region)) is region.tree


@pytest.mark.parametrize(
    "recipe",
    [
        "permute(0, ('i', 'j', 'k'))",
        "unroll(0, 'k', 1)",
        "unroll(0, 1, 1)",
        "distribute({0}, 1)",
        "fuse(0)",
        "fuse({0}, 3)",
    ],
)
def test_identities_give_the_same_tree(recipe: str) -> None:
    (task,) = read_tasks(file_with(recipe))
    (region,) = task.regions
    assert apply_recipe(region, {}, context_for(task, region)) is region.tree


def test_permute() -> None:
    assert re.findall(r"for \((\w)", result("permute(0, ('k', 'i', 'j'))")) == ["k", "i", "j"]
    assert re.findall(r"for \((\w)", result("permute_loops(0, ['j', 'i', 'k'])")) == ["j", "i", "k"]


def test_permute_leaves_outer_and_inner_loops_alone() -> None:
    nest = """for (k = 0; k < n; k++) {
        x[k] = 0;
        for (i = 0; i < n; i++)
          for (j = 0; j < n; j++) {
            y[j] = 0;
            for (m = 0; m < n; m++)
              a[i][j] += b[m][i];
          }
      }"""
    found = result("permute(2, ('k', 'j', 'i', 'm'))", nest)
    assert re.findall(r"for \((\w)", found) == ["k", "j", "i", "m"]
    assert "y[j] = 0; for (m" in found


@pytest.mark.parametrize("loop", ["'k'", "3"])
def test_unroll_an_innermost_loop(loop: str) -> None:
    found = result(f"unroll(0, {loop}, 2)")
    assert "c[i][j] += a[i][k] * b[k][j]; c[i][j] += a[i][k + 1] * b[k + 1][j];" in found
    assert found.count("for (i") == 1


def test_unroll_an_outer_loop_fuses_the_copies() -> None:
    found = result("unroll(0, 'i', 2)")
    assert "c[i][j] += a[i][k] * b[k][j]; c[i + 1][j] += a[i + 1][k] * b[k][j];" in found


def test_unroll_inside_an_unrolled_loop() -> None:
    found = result("unroll(0, 'i', 2)\nunroll(0, 'k', 4)")
    assert found.count("b[k + 3][j]") == 3  # two copies in the main loop over i, one in the remainder


def test_inner_loops_are_unrolled_last() -> None:
    problem = refusal("unroll(0, 'k', 2)\nunroll(0, 'i', 2)")
    assert (problem.code, problem.help) == ("ORIO-T021", "unroll the outer loops first")


def test_a_loop_is_unrolled_once() -> None:
    problem = refusal("unroll(0, 'k', 2)\nunroll(0, 'k', 3)")
    assert (problem.code, str(problem.position)) == ("ORIO-T106", "code.c:10:11")
    assert problem.message == "an earlier command has unrolled the loop `k` around statement 0"


def test_registers() -> None:
    expected = (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { double s0_1 = c[i][j]; "
        "for (k = 0; k < n; k++) s0_1 += a[i][k] * b[k][j]; c[i][j] = s0_1; }"
    )
    for recipe in ("registers(0, 'k')", "registers(0, 3)", "copy_to_registers(0, 'k', 'c')"):
        assert result(recipe) == expected


def test_registers_takes_the_statements_element_only() -> None:
    code = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { x[i] += a[i][j]; y[i] += b[i][j] * a[i][j]; }"
    found = result("registers(1, 'j')", code)
    assert "double s1_1 = y[i];" in found
    assert "x[i] += a[i][j]; s1_1 += b[i][j] * a[i][j];" in found


def test_registers_of_several_copies() -> None:
    found = result("unroll(0, 'j', 2)\nregisters(0, 'k')\nunroll(0, 'k', 2)")
    assert "double s0_1 = c[i][j]; double s0_2 = c[i][j + 1];" in found
    assert found.count("double s0_1 = c[i][j];") == 2
    assert found.count("s0_2 += ") == 3


def test_registers_then_fuse_shares_the_loop() -> None:
    code = """for (i = 0; i < n; i++)
      for (k = 0; k < n; k++)
        x[i] += a[i][k];
    for (i = 0; i < n; i++)
      for (k = 0; k < n; k++)
        y[i] += b[i][k];"""
    assert result("registers(0, 'k')\nregisters(1, 'k')\nfuse(0, 1)", code) == (
        "for (i = 0; i < n; i++) { double s0_1 = x[i]; double s1_1 = y[i]; "
        "for (k = 0; k < n; k++) { s0_1 += a[i][k]; s1_1 += b[i][k]; } x[i] = s0_1; y[i] = s1_1; }"
    )


def test_fuse_stops_where_something_is_in_the_way() -> None:
    code = """for (i = 0; i < n; i++) {
      x[i] = 0;
      for (k = 0; k < n; k++)
        x[i] += a[i][k];
    }
    for (i = 0; i < n; i++) {
      y[i] = x[i];
      for (k = 0; k < n; k++)
        y[i] += b[i][k];
    }"""
    found = result("fuse(1, 3)", code)
    assert found.count("for (i") == 1
    assert found.count("for (k") == 2
    assert refusal("fuse({1, 3}, 2)", code).code == "ORIO-T072"


@pytest.mark.parametrize(
    ("recipe", "code", "words"),
    [
        ("registers(0, @'j')", MATMUL, "changes with `j` while the loop runs"),
        ("registers(0, 'k', @'a')", MATMUL, "assigns an element of `c`, not of `a`"),
        ("registers(@0, 'i')", "for (i = 0; i < n; i++) m += i;", "does not assign an element of an array"),
        ("registers(@0, 'i')", "for (i = 0; i < n; i++) { if (x[0]) x[0] = i; }", "does not assign"),
        ("@registers(0, 'j')", "for (i = 1; i < n; i++) for (j = 0; j < n; j++) x[i] += x[j];", "touch it"),
        (
            "@registers(0, 'j')",
            "for (i = 1; i < n; i++) for (j = 0; j < n; j++) x[(int)y[i]] += x[j];",
            "kept",
        ),
    ],
)
def test_what_is_not_kept_in_a_register(recipe: str, code: str, words: str) -> None:
    plain, place = marked(recipe)
    problem = refusal(plain, code)
    assert (problem.code, problem.position) == ("ORIO-T108", place)
    assert words in problem.message
    assert problem.notes


def test_fuse() -> None:
    code = """for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)
        a[i][j] = 1;
    /* and */
    for (i = 0; i < n; i++)
      for (k = 0; k < n; k++)
        b[i][k] = a[i][k];"""
    deep = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { a[i][j] = 1; /* and */ b[i][j] = a[i][j]; } (void)k;"
    flat_one = (
        "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) a[i][j] = 1; "
        "/* and */ for (k = 0; k < n; k++) b[i][k] = a[i][k]; }"
    )
    assert result("fuse(0, 1)", code) == deep
    assert result("fuse({0, 1}, 2)", code) == deep
    assert result("fuse({1, 0}, 1)", code) == flat_one
    assert result("fuse({0, 1}, 1)\nfuse({0, 1}, 1)\nfuse(0, 1)", code) == deep


def test_fuse_down_to_a_level_inside_a_shared_loop() -> None:
    inner = "for (j = 0; j < n; j++) for (k = 0; k < n; k++)"
    code = f"for (i = 0; i < n; i++) {{ {inner} a[i][k] += j; {inner} b[i][k] += j; }}"
    one = "for (k = 0; k < n; k++) a[i][k] += j; for (k = 0; k < n; k++) b[i][k] += j;"
    assert result("fuse({0, 1}, 1)", code) == flat(code).replace("{ for", "{ for")
    assert one in result("fuse({0, 1}, 2)", code)
    for recipe in ("fuse({0, 1}, 3)", "fuse(0, 1)"):
        assert "for (k = 0; k < n; k++) { a[i][k] += j; b[i][k] += j; }" in result(recipe, code)


def test_fuse_ends_where_a_statement_has_no_further_loop() -> None:
    code = "for (i = 0; i < n; i++) x[i] = 0; for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i][j] = 1;"
    joined = "for (i = 0; i < n; i++) { x[i] = 0; for (j = 0; j < n; j++) a[i][j] = 1; }"
    assert result("fuse(0, 1)", code) == joined
    assert result("fuse({0, 1}, 1)", code) == joined
    assert refusal("fuse({0, 1}, 2)", code).code == "ORIO-T107"


def test_fused_statements_have_the_first_ones_indices() -> None:
    code = "for (i = 0; i < n; i++) x[i] = 1; for (j = 0; j < n; j++) y[j] = 2;"
    assert "y[i + 1] = 2;" in result("fuse(0, 1)\nunroll(1, 'i', 2)", code)
    assert problems("fuse(0, 1)\nunroll(1, 'i', 2)", code) == ()
    assert refusal("fuse(0, 1)\nunroll(1, 'j', 2)", code).code == "ORIO-T103"


def test_statements_beside_a_fused_one_have_its_indices_too() -> None:
    code = "for (i = 0; i < n; i++) x[i] = 1; for (j = 0; j < n; j++) { y[j] = 2; y[j] += j; }"
    recipe = "fuse({1, 0})\ndistribute({0, 2}, 1)\nunroll(2, 'i', 2)"
    assert problems(recipe, code) == ()
    assert result(recipe, code).count("for (i") == 3
    (problem,) = problems("fuse({1, 0})\nunroll(0, 'j', 2)", code)
    assert problem.code == "ORIO-T103"


def test_fuse_moves_what_stands_between() -> None:
    code = "for (i = 0; i < n; i++) x[i] = 1; c[0][0] = 5; for (i = 0; i < n; i++) y[i] = x[i];"
    found = result("fuse(0, 2)", code)
    assert "for (i = 0; i < n; i++) { x[i] = 1; y[i] = x[i]; }" in found
    assert found.count("c[0][0] = 5;") == 1


def test_fuse_several() -> None:
    code = "for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < n; i++) y[i] = 1; for (i = 0; i < n; i++) x[i] += y[i];"
    expected = "for (i = 0; i < n; i++) { x[i] = 1; y[i] = 1; x[i] += y[i]; }"
    assert result("fuse(0, 1, 2)", code) == expected
    assert result("fuse({2, 0, 1})", code) == expected


def test_distribute() -> None:
    inner = "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) "
    assert result("distribute({0, 1}, 1)", PARTS).count("for (i") == 3
    assert result("distribute({0}, 1)", PARTS).count("for (i") == 2
    assert result("distribute({1}, 1)", PARTS).count("for (i") == 3
    assert result("distribute({0, 1, 2}, 2)", PARTS).startswith(inner + "a[i][j] = 1; for (j")


def test_distribute_separates_statements_that_stand_deeper() -> None:
    code = """for (i = 0; i < n; i++) {
      for (j = 0; j < n; j++) { a[i][j] = 1; b[i][j] = 2; }
      x[i] = 3;
    }"""
    found = result("distribute({1}, 1)", code)
    assert found == (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i][j] = 1; "
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) b[i][j] = 2; "
        "for (i = 0; i < n; i++) x[i] = 3;"
    )


def test_commands_run_in_the_order_written() -> None:
    found = result("distribute({0, 1}, 1)\npermute(1, ('j', 'i'))", SHARED)
    assert found.endswith("for (j = 0; j < n; j++) for (i = 0; i < n; i++) x[i] += a[i][j];")
    assert refusal("permute(1, ('j', 'i'))\ndistribute({0, 1}, 1)", SHARED).code == "ORIO-T030"


def test_values_of_parameters() -> None:
    found = result("unroll(0, LOOP, 2 * F)", values={"F": 2, "LOOP": "k"})
    assert "k + 3" in found
    orders = result("permute(0, ORDER)", values={"ORDER": ("j", "k", "i")})
    assert re.findall(r"for \((\w)", orders) == ["j", "k", "i"]


def test_indices_keep_the_values_that_are_read_later() -> None:
    nest = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[i][j] = 1;"
    pair = "for (i = 0; i < n; i++) x[i] = 1; for (j = 0; j < n; j++) y[j] = 1;"
    assert "j = m > 0 ? m : 0;" in result("permute(0, ('j', 'i'))", f"{nest} y[0] = i + j;")
    assert "?" not in result("permute(0, ('j', 'i'))", nest)
    assert "j = n > 0 ? n : 0;" in result("fuse(0, 1)", f"{pair} y[0] = j;")
    assert "?" not in result("fuse(0, 1)", pair)


# --- what is wrong whatever the values ---

STATIC = [
    ("@permut(0, ('j', 'i', 'k'))", "ORIO-T100", "there is no command `permut`", "did you mean `permute`?"),
    ("@Unroll(0, 'k', 2)", "ORIO-T100", "no command `Unroll`", "did you mean `unroll`?"),
    ("@unroll(0, 'k')", "ORIO-T101", "needs the argument `factor`", None),
    ("@permute()", "ORIO-T101", "needs the argument `stmt`", None),
    ("@fuse()", "ORIO-T101", "written `fuse(stmt, stmt, …)`", None),
    ("@distribute({0})", "ORIO-T101", "needs the argument `level`", None),
    ("@cuda(0, block={'i'})", "ORIO-T101", "needs the argument `thread`", None),
    ("unroll(0, 'k', 2, @3)", "ORIO-T101", "too many arguments; it is written `unroll(", None),
    ("unroll(0, 'k', 2, @3, 4)", "ORIO-T101", "too many arguments; it is written `unroll(", None),
    ("fuse({0}, 1, @2)", "ORIO-T101", "too many arguments", None),
    ("unroll(0, 'k', 2, @forse=True)", "ORIO-T101", "has no argument `forse`", "did you mean `force`?"),
    ("unroll(0, 'k', 2, @factor=2)", "ORIO-T101", "is given twice", None),
    ("unroll(0, 'k', @UFF)", "ORIO-T007", "`UFF` is neither", "did you mean `UF`?"),
    ("unroll(@'k', 'k', 2)", "ORIO-T010", "`stmt` is 'k'", None),
    ("unroll(@True, 'k', 2)", "ORIO-T010", "`stmt` is True", None),
    ("unroll(0, 'k', @'2')", "ORIO-T010", "`factor` is '2'", None),
    ("unroll(0, @None, 2)", "ORIO-T010", "`loop` is None", None),
    ("permute(0, @'ijk')", "ORIO-T010", "the loops in their new order", None),
    ("permute(0, @(1, 2, 3))", "ORIO-T010", "a string", None),
    ("fuse(@0, 0)", "ORIO-T010", "different numbers", None),
    ("fuse(@{0, 'a'})", "ORIO-T010", "number of a statement", None),
    ("fuse({}, 1)".replace("{", "@{"), "ORIO-T010", "numbers of statements", None),
    ("registers(0, 'k', @1)", "ORIO-T010", "`array` is 1", None),
    ("unroll(0, 'k', 2, @force=2)", "ORIO-T010", "`force` is 2", None),
    ("cuda(0, @block={'i', 'j', 'k', 'l'}, thread={'j'})", "ORIO-T010", "one to three loops", None),
    ("cuda(0, @block={}, thread={'j'})", "ORIO-T010", "one to three loops", None),
    ("unroll(0, 'k', @0)", "ORIO-T011", "at least 1", None),
    ("unroll(0, @0, 2)", "ORIO-T011", "at least 1", None),
    ("distribute({0}, @0)", "ORIO-T011", "at least 1", None),
    ("cuda(0, @block={'i', 'i'}, thread={'j'})", "ORIO-T016", "named twice", None),
    ("cuda(0, block={'i'}, @thread={'i', 'j'})", "ORIO-T016", "over blocks and over threads", None),
    ("unroll(@1, 'k', 2)", "ORIO-T102", "the only statement here is 0", None),
    ("unroll(@-1, 'k', 2)", "ORIO-T102", "no statement -1", None),
    ("fuse(@0, 1)", "ORIO-T102", "no statement 1", None),
    ("unroll(0, @'kk', 2)", "ORIO-T103", "loops around it are `i`, `j`, `k`", "did you mean `k`?"),
    ("unroll(0, @4, 2)", "ORIO-T103", "no loop of level 4", None),
    ("registers(0, @'m')", "ORIO-T103", "no loop `m`", None),
    ("distribute({0}, @4)", "ORIO-T103", "no loop of level 4", None),
    ("cuda(0, block={'i'}, @thread={'kk'})", "ORIO-T103", "no loop `kk`", "did you mean `k`?"),
    ("permute(0, @('k', 'i'))", "ORIO-T104", "`j` is missing", "the loops are `i`, `j`, `k`"),
    ("permute(0, @('k', 'i', 'x', 'j'))", "ORIO-T104", "no `x` among them", "the loops are"),
    ("permute(0, @('k', 'i', 'j', 'i'))", "ORIO-T104", "`i` is named twice", None),
    ("@cuda(0, block={'i'})", "ORIO-T101", "needs the argument `thread`", None),
    ("@cudaize(0, thread={'i'})", "ORIO-T101", "needs the argument `block`", None),
]


@pytest.mark.parametrize(("recipe", "code", "words", "help_text"), STATIC)
def test_static_problems(recipe: str, code: str, words: str, help_text: str | None) -> None:
    plain, place = marked(recipe)
    (problem,) = problems(plain)
    assert (problem.code, problem.position) == (code, place)
    assert words in problem.message
    assert help_text is None or help_text in (problem.help or "")
    with pytest.raises(DiagnosticError) as caught:
        result(plain, values={"F": 1, "n": 4, "UF": 1})
    assert code in {d.code for d in caught.value.diagnostics} | {"ORIO-T007"}


def test_all_static_problems_are_reported() -> None:
    found = problems("unroll(7, 'k', 0)\npermut(0)\nfuse(0)\nunroll(0, 'kk', 2)\nunroll(0, X, Y)")
    assert [d.code for d in found] == [
        "ORIO-T011",
        "ORIO-T100",
        "ORIO-T103",
        "ORIO-T007",
        "ORIO-T007",
    ]


def test_every_value_of_a_list_is_checked() -> None:
    (problem,) = problems("L[] = [1, 0];\nunroll(0, 'k', L)", known="L")
    assert (problem.code, str(problem.position)) == ("ORIO-T011", "code.c:10:16")
    (problem,) = problems("L[] = ['k', 'z'];\nunroll(0, L, 2)\nunroll(1, L, 2)", known="L")
    assert problem.code == "ORIO-T102"


@pytest.mark.parametrize(
    "recipe",
    ["unroll(0, 'k', F)", "unroll(0, F, 2)", "permute(F, F)", "unroll(0, 'k' if F > 1 else 'i', n)"],
)
def test_what_depends_on_parameters_is_checked_later(recipe: str) -> None:
    assert problems(recipe) == ()


def test_a_region_without_statements() -> None:
    (problem,) = problems("unroll(0, 'k', 2)", "int t = 3;")
    assert (problem.code, problem.message) == (
        "ORIO-T102",
        "there is no statement 0; this region has no statement",
    )


def test_a_statement_without_loops() -> None:
    for recipe, code in (
        ("unroll(0, 'i', 2)", "ORIO-T103"),
        ("permute(0, ('i', 'j'))", "ORIO-T104"),
        ("fuse(0, 1)", "ORIO-T107"),
        ("distribute({0}, 1)", "ORIO-T103"),
    ):
        (problem,) = problems(recipe, "x[0] = 1; y[0] = 2;")
        assert problem.code == code


# --- what a command refuses ---


def test_a_dependence_refuses_at_the_command() -> None:
    code = "for (i = 1; i < n; i++) for (j = 0; j < n - 1; j++) a[i][j] = a[i - 1][j + 1];"
    problem = refusal("  permute(0, ('j', 'i'))", code)
    assert (problem.code, str(problem.position)) == ("ORIO-T040", "code.c:9:3")
    assert [note.message for note in problem.notes] == ["writes `a[i][j]`", "reads `a[i - 1][j + 1]`"]
    assert all(note.position is not None and note.position.line == 11 for note in problem.notes)
    assert "for (j" in result("permute(0, ('j', 'i'), force=True)", code)[:8]


def test_an_undecided_dependence_refuses() -> None:
    code = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[(int)y[i]] += a[i][j];"
    problem = refusal("permute(0, ('j', 'i'))", code)
    assert (problem.code, str(problem.position)) == ("ORIO-T041", "code.c:9:1")
    assert "force=True" in (problem.help or "")


def test_an_imperfect_nest_refuses_with_advice() -> None:
    problem = refusal("permute(1, @('j', 'i'))".replace("@", ""), SHARED)
    assert (problem.code, str(problem.position)) == ("ORIO-T030", "code.c:9:12")
    assert problem.help == "`distribute({0, 1}, 1)` before it gives each statement loops of its own"


def test_unrolled_statements_stand_in_several_nests() -> None:
    for command in ("permute(0, ('j', 'i', 'k'))", "fuse(0)", "distribute({0}, 1)"):
        problem = refusal(f"unroll(0, 'i', 2)\n{command}")
        assert (problem.code, problem.position and problem.position.line) == ("ORIO-T106", 10)
        assert command.partition("(")[0] in (problem.help or "")


@pytest.mark.parametrize(
    ("recipe", "code", "words"),
    [
        (
            "fuse(@0, 1)",
            "for (i = 0; i < n; i++) { x[i] = 1; for (j = 0; j < n; j++) a[i][j] = 1; }",
            "no loop of its own",
        ),
        (
            "fuse(@0, 1)",
            "for (i = 0; i < n; i++) x[i] = 1; if (n) for (i = 0; i < n; i++) y[i] = 1;",
            "is in no loop",
        ),
        (
            "fuse(@0, 1)",
            "for (i = 0; i < n; i++) x[i] = 1; while (m--) for (i = 0; i < n; i++) y[i] = 1;",
            "in one block",
        ),
        (
            "distribute({0, 1}, @1)",
            "for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < n; i++) y[i] = 1;",
            "not in one loop",
        ),
        (
            "distribute(@{0}, 1)",
            "for (i = 0; i < n; i++) { { x[i] = 1; y[i] = 2; } x[i] = 3; }",
            "cannot be separated",
        ),
    ],
)
def test_groups_that_share_too_little_or_too_much(recipe: str, code: str, words: str) -> None:
    plain, place = marked(recipe)
    problem = refusal(plain, code)
    assert (problem.code, problem.position) == ("ORIO-T107", place)
    assert words in problem.message


@pytest.mark.parametrize(
    ("recipe", "code", "name"),
    [
        ("fuse(0, 1)", "for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < m; i++) y[i] = 1;", "ORIO-T070"),
        (
            "fuse(0, 1)",
            "for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < n; i++) y[i] = x[i + 1];",
            "ORIO-T040",
        ),
        ("distribute({0, 1}, 1)", "for (i = 1; i < n; i++) { x[i] = y[i - 1]; y[i] = x[i]; }", "ORIO-T040"),
        (
            "unroll(0, 'i', 2)",
            "for (i = 0; i < n; i++) { int i = 1; if (x[i] < 0) break; x[i] = 1; }",
            "ORIO-T025",
        ),
    ],
)
def test_refusals_of_the_transformations_stand_at_the_command(recipe: str, code: str, name: str) -> None:
    problem = refusal(recipe, code)
    assert (problem.code, str(problem.position)) == (name, "code.c:9:1")
    assert problem.notes


def test_force_is_noted() -> None:
    code = "for (i = 1; i < n; i++) for (j = 0; j < n - 1; j++) a[i][j] = a[i - 1][j + 1];"
    (task,) = read_tasks(file_with("permute(0, ('j', 'i'), force=True)", code))
    (region,) = task.regions
    around = context_for(task, region)
    apply_recipe(region, {}, around)
    assert around.overruled.texts
