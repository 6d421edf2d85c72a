"""Recipes by statement number: lists and commands, their places, and where a recipe comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.expr import Value, evaluate
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.annotations.modules.chill import read_statement_recipe
from orio_py.frontend.read import ReadResult, read
from orio_py.spec.recipe import MarkedRecipe, StatementRecipe

LOOP = "for (i = 0; i < n; i++)\n    x[i] += 1;"


def read_recipe(text: str) -> tuple[StatementRecipe, list[Diagnostic]]:
    source = SourceFile("r", text.encode("latin-1"))
    problems: list[Diagnostic] = []
    return read_statement_recipe(source, Span(0, len(source.text)), problems), problems


def recipe(text: str) -> StatementRecipe:
    return read_recipe(text)[0]


def problems_of(text: str) -> list[Diagnostic]:
    return read_recipe(text)[1]


def load(text: str, outside: StatementRecipe | None = None) -> ReadResult:
    return read(SourceFile("f.c", text.encode("latin-1")), directory=Path("."), recipe=outside)


def function(body: str) -> str:
    return f"void f(int n, double *x)\n{{\n  int i;\n{body}\n}}\n"


def region(text: str, code: str = LOOP) -> str:
    return f"  /*@ begin CHiLL(\n{text}\n  ) @*/\n  {code}\n  /*@ end @*/"


def tuned(parameters: str, *regions: str) -> str:
    return function(
        f"/*@ begin PerfTuning(def performance_params {{ {parameters} }}) @*/\n"
        + "\n".join(regions)
        + "\n/*@ end @*/"
    )


def values(text: str) -> list[tuple[str, list[tuple[str, Value]]]]:
    return [
        (step.name, [(a.name, evaluate(a.expression, {"UF0": 4})) for a in step.arguments])
        for step in recipe(text).steps
    ]


# --- commands and lists ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('permute(0, ("k", "i"))', [("permute", [("", 0), ("", ("k", "i"))])]),
        ("unroll(0, 'i', UF0 * 2);", [("unroll", [("", 0), ("", "i"), ("", 8)])]),
        ("fuse(0, 1,)\nfuse({1, 2}, 1)", [("fuse", [("", 0), ("", 1)]), ("fuse", [("", (1, 2)), ("", 1)])]),
        (
            'cuda(0, block={"e", "j"}, thread={"k"})',
            [("cuda", [("", 0), ("block", ("e", "j")), ("thread", ("k",))])],
        ),
        (
            "registers(0, 'a') registers(1, 'b')",
            [("registers", [("", n), ("", c)]) for n, c in enumerate("ab")],
        ),
        ("f()", [("f", [])]),
        ("f({})", [("f", [("", ())])]),
        ("f(1 if UF0 > 2 else 0)  # f(3)\n// f(4)\n;;", [("f", [("", 1)])]),
        ("f(1, # one\n  2)", [("f", [("", 1), ("", 2)])]),
        ("f(')', \"(\")", [("f", [("", ")"), ("", "(")])]),
        ("f(1, \\\n 2) \\\n g(3)", [("f", [("", 1), ("", 2)]), ("g", [("", 3)])]),
        (" \n # nothing\n", []),
    ],
)
def test_commands(text: str, expected: object) -> None:
    assert problems_of(text) == []
    assert values(text) == expected


def test_places_are_those_of_the_file() -> None:
    found = recipe('UF0[] = [1, 2];\n  unroll(0, "i",\n    UF0, force=True)')
    (step,) = found.steps
    assert str(step.position) == "r:2:3"
    assert [str(a.position) for a in step.arguments] == ["r:2:10", "r:2:13", "r:3:5", "r:3:10"]
    assert [str(p.position) for p in found.parameters] == ["r:1:1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("UF0[] = [1, 2, 5, 10];", {"UF0": (1, 2, 5, 10)}),
        ("A[] = [1]\nB[ ]=[2]", {"A": (1,), "B": (2,)}),
        ("A[] =\n  [2**k\n   for k in range(3)]\nf(A)", {"A": (1, 2, 4)}),
        (
            "A[] = range(1, 4); B[] = [('i', 'j'), ('j', 'i')]",
            {"A": (1, 2, 3), "B": (("i", "j"), ("j", "i"))},
        ),
        ("A[] = [1] + [n for n in range(2, 7) if 12 % n == 0]", {"A": (1, 2, 3, 4, 6)}),
        ("A[] = 1, 2", {"A": (1, 2)}),
    ],
)
def test_lists(text: str, expected: object) -> None:
    found, problems = read_recipe(text)
    assert problems == []
    assert {p.name: p.values for p in found.parameters} == expected


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("@foo", "ORIO-A020", "unexpected `foo`; expected a command"),
        ("@3 + 4", "ORIO-A020", "unexpected `3`"),
        ("@) f(1)", "ORIO-A020", "unexpected `)`"),
        ("permute@(0, ('a')", "ORIO-A020", "the `(` after `permute` is never closed; expected `)`"),
        ("f@({1, 2)", "ORIO-A020", "never closed"),
        ("A[@3] = [1]", "ORIO-A020", "the form is `A[] = [values];`"),
        ("A[@", "ORIO-A020", "the form is `A[] = [values];`"),
        ("f(1 @2)", "ORIO-E001", "unexpected `2`"),
        ("f(@, 1)", "ORIO-E001", "expected a value"),
        ("f({1@: 2})", "ORIO-E010", "dictionaries"),
        ("f(@'a)", "ORIO-E001", "never closed"),
        ("f(x@.y)", "ORIO-E010", "attributes and methods"),
        ("f(@g(1))", "ORIO-E003", "unknown function `g`"),
        ("f(a=1, @a=2)", "ORIO-A014", "`a` is given twice"),
        ("A[] = [1]\n@A[] = [2]", "ORIO-S008", "the list `A` is defined twice"),
        ("@in[] = [1]", "ORIO-S009", "reserved word"),
        ("@range[] = [1]", "ORIO-S009", "is a function"),
        ("@A[] = 3", "ORIO-S010", "needs a list of values"),
        ("@A[] = []", "ORIO-S010", "empty list"),
        ("@A[] = [1, 'x']", "ORIO-S010", "mix numbers and strings"),
        ("@A[] = [1, 1]", "ORIO-S011", "twice"),
        ("A[] = [@B]", "ORIO-E002", "unknown name `B`"),
    ],
)
def test_problems_have_their_place(text: str, code: str, words: str) -> None:
    at = text.index("@")
    plain = text.replace("@", "")
    problems = problems_of(plain)
    assert [d.code for d in problems] == [code]
    assert words in problems[0].message
    assert problems[0].position == SourceFile("r", plain.encode()).position(at)


def test_all_problems_are_found_and_the_rest_is_read() -> None:
    found, problems = read_recipe("f(1\ng(2)\nfoo\nA[] = [1, 2]\nh(A 3)\nk(A)\n")
    assert [d.code for d in problems] == ["ORIO-A020", "ORIO-A020", "ORIO-E001"]
    assert [step.name for step in found.steps] == ["g", "k"]
    assert [p.name for p in found.parameters] == ["A"]


def test_brackets_do_not_nest_without_end() -> None:
    assert [d.code for d in problems_of("f(" + "(" * 500 + ")" * 501)] == ["ORIO-E007"]


# --- regions ---


def test_a_region_has_its_commands_and_lists() -> None:
    result = load(function(region("UF0[] = [1, 2]; unroll(0, 'i', UF0)")))
    assert result.diagnostics == ()
    (task,) = result.tasks
    (found,) = task.regions
    assert isinstance(found.recipe, StatementRecipe)
    assert found.tree is found.reference
    assert [step.name for step in found.recipe.steps] == ["unroll"]
    assert [(p.name, p.values) for p in task.parameters] == [("UF0", (1, 2))]
    assert not task.has_spec
    assert found.reference_text.strip() == LOOP


def test_the_pragma_form_reads_the_same() -> None:
    text = function(f"#pragma Orio CHiLL(unroll(0, \\\n 'i', 2))\n  {LOOP}\n#pragma Oiro")
    result = load(text)
    assert result.diagnostics == ()
    assert [step.name for step in result.tasks[0].regions[0].recipe.steps] == ["unroll"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (region("unroll(0, 'i', 2)", ""), "ORIO-A015"),
        (region("unroll(0, 'i', 2"), "ORIO-A020"),
        (region("foo"), "ORIO-A020"),
        (region("unroll(0, 'i', 2)", "for (i = 0; i < n; i++"), "ORIO-C003"),
    ],
)
def test_bad_regions_give_no_task(text: str, code: str) -> None:
    result = load(function(text))
    assert [d.code for d in result.diagnostics] == [code]
    assert result.tasks == ()


def test_a_nested_region_warns() -> None:
    inner = f"/*@ begin CHiLL(f(1)) @*/ {LOOP} /*@ end @*/"
    result = load(function(region("unroll(0, 'i', 2)", inner)))
    assert [d.code for d in result.diagnostics] == ["ORIO-A017"]
    assert [step.name for step in result.tasks[0].regions[0].recipe.steps] == ["unroll"]


def test_lists_are_parameters_of_the_specification() -> None:
    result = load(tuned("param T[] = [1, 2];", region("UF0[] = [1, 2]; unroll(0, 'i', UF0 * T)")))
    assert result.diagnostics == ()
    (task,) = result.tasks
    assert task.has_spec
    assert [p.name for p in task.parameters] == ["T", "UF0"]


@pytest.mark.parametrize(
    "text",
    [
        tuned("param UF0[] = [1, 2];", region("UF0[] = [1, 2]; unroll(0, 'i', UF0)")),
        tuned("", region("UF0[] = [1, 2];\nunroll(0, 'i', UF0)"), region("UF0[] = [1, 2];")),
    ],
)
def test_a_list_that_exists_already_is_an_error(text: str) -> None:
    (problem,) = load(text).diagnostics
    assert (problem.code, problem.message) == ("ORIO-S008", "parameter `UF0` is defined twice")
    assert problem.notes[0].position is not None
    assert problem.position is not None
    assert problem.notes[0].position < problem.position


def test_an_input_parameter_is_no_name_for_a_list() -> None:
    text = function(
        "/*@ begin PerfTuning(def input_params { param n[] = [8]; }) @*/\n"
        + region("n[] = [1];")
        + "\n/*@ end @*/"
    )
    assert [d.code for d in load(text).diagnostics] == ["ORIO-S008"]


def test_two_lone_regions_may_use_the_same_name() -> None:
    text = region("UF[] = [1, 2]; unroll(0, 'i', UF)")
    result = load(function(text + "\n" + text))
    assert result.diagnostics == ()
    assert [p.name for task in result.tasks for p in task.parameters] == ["UF", "UF"]


# --- recipes from outside ---


def test_a_recipe_from_outside_serves_the_empty_regions() -> None:
    outside = recipe("UF0[] = [1, 2]; unroll(0, 'i', UF0)")
    texts = [region("# mine is elsewhere"), region("unroll(0, 'i', 3)"), region("")]
    result = load(tuned("", *texts), outside)
    assert result.diagnostics == ()
    (task,) = result.tasks
    first, second, third = (found.recipe.steps for found in task.regions)
    assert first == third == outside.steps
    assert [a.position.file for a in second[0].arguments] == ["f.c"] * 3
    assert [p.name for p in task.parameters] == ["UF0"]


def test_a_recipe_from_outside_leaves_loop_regions_alone() -> None:
    text = function(f"/*@ begin Loop() @*/\n  {LOOP}\n/*@ end @*/")
    (task,) = load(text, recipe("unroll(0, 'i', 2)")).tasks
    assert task.regions[0].recipe == MarkedRecipe()


def test_the_name_of_the_module_is_case_sensitive() -> None:
    (problem,) = load(function(region("f(1)").replace("CHiLL", "Chill"))).diagnostics
    assert problem.code == "ORIO-A003"
    assert problem.help == "did you mean `CHiLL`?"
