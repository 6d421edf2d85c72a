"""Annotation comments: finding them, nesting them, reading recipes out of them."""

from __future__ import annotations

import pytest

from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import Literal, Name
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.annotations.enclosed import blanked, original_span
from orio_py.frontend.annotations.modules.loop import read_recipe
from orio_py.frontend.annotations.regions import RegionNode, nest
from orio_py.frontend.annotations.scan import Scan, scan


def regions(text: str) -> tuple[list[RegionNode], Scan]:
    found = scan(SourceFile("f.c", text.encode("latin-1")))
    return nest(found), found


def problems(text: str) -> list[Diagnostic]:
    return regions(text)[1].problems


def body(text: str, node: RegionNode) -> str:
    return text[node.leader.body.start : node.leader.body.end]


def content(text: str, node: RegionNode) -> str:
    return text[node.content.start : node.content.end]


@pytest.mark.parametrize(
    ("text", "name", "inside", "between"),
    [
        ("/*@ begin Loop(x) @*/ a /*@ end @*/", "Loop", "x", " a "),
        ("/*@ Loop ( x ) @*/ a /*@ @*/", "Loop", " x ", " a "),
        ("/*@begin Loop(f(1) (2))@*/ a /*@ end */", "Loop", "f(1) (2)", " a "),
        ("/*@ begin\n  Loop\n(x\r\ny) \n @*/a/*@ end\n@*/", "Loop", "x\r\ny", "a"),
        ("/*@ begin Loop() @*//*@end@*/", "Loop", "", ""),
        ("#pragma Orio Loop(a b)\nc;\n#pragma Oiro\n", "Loop", "a b", "\nc;\n"),
        ("#pragma Orio Loop(a \\\n b)\nc;\n#pragma Orio end\n", "Loop", "a \\\n b", "\nc;\n"),
        ("  # pragma  Orio begin Loop( a )\r\nc;\r\n#pragma Oiro\r\n", "Loop", " a ", "\r\nc;\r\n"),
        ('#pragma orio loop begin "x"\nc;\n#pragma orio loop end\n', "Loop", "", "\nc;\n"),
    ],
)
def test_forms(text: str, name: str, inside: str, between: str) -> None:
    (node,), found = regions(text)
    assert found.problems == []
    assert (node.name, body(text, node), content(text, node)) == (name, inside, between)


@pytest.mark.parametrize(
    "text",
    [
        'char *s = "/*@ begin Loop(x) @*/";',
        "// /*@ begin Loop(x) @*/\n",
        "/* /*@ begin Loop(x) @*/",
        'int c = \'"\'; char *s = "\\"/*@ begin Loop(x) @*/";',
        "/*@ requires \\valid(p); */",
        "/*@ loop invariant 0 <= i; */",
        "#pragma omp parallel\n",
        "",
        "int x;\n",
    ],
)
def test_what_is_no_annotation(text: str) -> None:
    nodes, found = regions(text)
    assert nodes == []
    assert found.problems == []


def test_nested_and_several_regions() -> None:
    text = (
        "/*@ begin PerfTuning(s) @*/ /*@ begin Loop(a) @*/ /*@ end @*/ "
        "/*@ begin Loop(b) @*/ /*@ end @*/ /*@ end @*/ /*@ begin Loop(c) @*/ /*@ end @*/"
    )
    nodes, found = regions(text)
    assert found.problems == []
    assert [node.name for node in nodes] == ["PerfTuning", "Loop"]
    assert [body(text, child) for child in nodes[0].children] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "code", "line", "part", "hint"),
    [
        ("\n/*@ begin Loop(x) @*/", "ORIO-A001", 2, "never closed; expected `/*@ end @*/`", None),
        ("x\n#pragma orio loop begin\n", "ORIO-A001", 2, "expected `#pragma orio loop end`", None),
        ("\n\n/*@ end @*/", "ORIO-A002", 3, "no annotation is open", None),
        ("/*@ begin Loopy(x) @*//*@ end @*/", "ORIO-A003", 1, "`Loopy`", "did you mean `Loop`?"),
        ("/*@ begin loop(x) @*//*@ end @*/", "ORIO-A003", 1, "`loop`", "did you mean `Loop`?"),
        ("/*@ Lop(x) @*//*@ end @*/", "ORIO-A003", 1, "`Lop`", "did you mean `Loop`?"),
        ("/*@ begin Pluto(x) @*//*@ end @*/", "ORIO-A004", 1, "not available", "Loop` with a recipe"),
        ("/*@ begin Loops(x) @*//*@ end @*/", "ORIO-A004", 1, "not available", "use `Loop`"),
        ("/*@ begin Loop @*//*@ end @*/", "ORIO-A005", 1, "expected `( … )` after the name", None),
        ("/*@ begin Loop(x @*//*@ end @*/", "ORIO-A005", 1, "expected `)` before `@*/`", None),
        ("/*@ Loop(x @*//*@ end @*/", "ORIO-A005", 1, "expected `)` before `@*/`", None),
        ("/*@ begin @*//*@ end @*/", "ORIO-A005", 1, "without a module name", None),
        ("/*@ begin Loop(x) @*//*@ end of it @*/", "ORIO-A005", 1, "after `end`", None),
        ("#pragma Orio Loop\n", "ORIO-A005", 1, "incomplete", None),
        ("#pragma orio lop begin\n", "ORIO-A005", 1, "not known", None),
        ("/*@ begn Loop(x) @*//*@ end @*/", "ORIO-A007", 1, "`begn`", "did you mean `begin`?"),
        ("/*@ begin Loop(x) @*//*@ edn @*/", "ORIO-A007", 1, "`edn`", "did you mean `end`?"),
        ("!@ begin Loop(x) @!\n", "ORIO-A010", 1, "Fortran", "/*@ begin Name(…) @*/"),
        ("a\0/*@ begin Loop(x) @*/", "ORIO-A011", 1, "NUL", None),
        ("\n/*@ begin Loop(x", "ORIO-A012", 2, "never closed", None),
        ("/*@ begin Loop(\n/* a */ x) @*//*@ end @*/", "ORIO-A012", 2, "too early", "`//` or `#`"),
        ("/*@ begin Loop(x) */ /*@ end @*/", "ORIO-A012", 1, "expected `@*/`", None),
    ],
)
def test_errors(text: str, code: str, line: int, part: str, hint: str | None) -> None:
    (problem,) = problems(text)
    assert problem.code == code
    assert problem.position is not None
    assert problem.position.line == line
    assert part in problem.message
    assert hint is None or hint in (problem.help or "")


@pytest.mark.parametrize("text", ["/*@ note @*/", "/*@ see (below) @*/", "\n/*@ begining of it all @*/ "])
def test_stray_annotations_are_warned_of(text: str) -> None:
    (problem,) = problems(text)
    assert problem.code == "ORIO-A006"
    assert problem.severity == "warning"


def test_tuning_inside_loop_and_tuning_without_loop() -> None:
    inner = "/*@ begin PerfTuning(s) @*/ {} /*@ end @*/"
    assert [p.code for p in problems(inner.format(""))] == ["ORIO-A009"]
    loop = "/*@ begin Loop(x) @*/ /*@ end @*/"
    nested = inner.format(inner.format(loop))
    assert {p.code for p in problems(nested)} == {"ORIO-A008", "ORIO-A009"}


def test_transparent_modules_are_warned_of_and_their_children_kept() -> None:
    nodes, found = regions("/*@ begin Preserve(x) @*/ /*@ begin Loop(x) @*/ /*@ end @*/ /*@ end @*/")
    assert [node.name for node in nodes] == ["Loop"]
    assert [p.code for p in found.problems] == ["ORIO-A019"]


def test_deep_nesting_is_refused() -> None:
    assert "ORIO-A008" in [p.code for p in problems("/*@ begin Loop(x) @*/" * 5000)]


def recipe_of(text: str):
    source = SourceFile("f.c", text.encode("latin-1"))
    return read_recipe(source, Span(0, len(text)))


def test_recipe_is_cut_out_and_offsets_stay() -> None:
    text = "transform A(x=1, y='a)b',)\ntransform B()\nfor (;;) transform C(z=[U]) x = 1; // t\n"
    recipe = recipe_of(text)
    assert recipe.problems == []
    assert len(recipe.code) == len(text)
    assert recipe.code.split() == ["for", "(;;)", "x", "=", "1;", "//", "t"]
    assert [step.name for step in recipe.steps] == ["A", "B", "C"]
    assert [text[offset : offset + 11] for offset in recipe.marks] == [
        "transform A",
        "transform B",
        "transform C",
    ]
    first = recipe.steps[0].arguments
    assert [(a.name, a.expression) for a in first] == [("x", Literal(1)), ("y", Literal("a)b"))]
    assert str(recipe.steps[2].arguments[0].position) == "f.c:3:22"
    assert recipe.steps[2].arguments[0].expression.position is not None
    assert recipe.has_code


def test_bare_recipe_has_no_code() -> None:
    assert not recipe_of("transform A(x=1);\n # remark\n // another\n ;").has_code


def test_hash_lines_are_comments_but_pragmas_stay() -> None:
    recipe = recipe_of("# one\n#two\n#pragma omp parallel for\nfor (;;) ; # three\n")
    assert recipe.code == "//one\n    \n#pragma omp parallel for\nfor (;;) ; //three\n"


def test_transform_in_strings_and_comments_is_text() -> None:
    recipe = recipe_of('f("transform A(x=1)"); // transform B(x=1)\n int transform_x;')
    assert recipe.steps == []


@pytest.mark.parametrize(
    ("text", "code", "place", "part"),
    [
        ("transform A for", "ORIO-A013", "1:13", "expected `(` after `transform A`, found `for`"),
        ("transform A(x=1", "ORIO-A013", "1:12", "never closed; expected `)`"),
        ("transform A(4)", "ORIO-A013", "1:13", "expected an argument `name=value`, found `4`"),
        ("transform A(x=1,\n x=2)", "ORIO-A014", "2:2", "`x` is given twice"),
        ("transform A(x=)", "ORIO-E001", "1:15", "expected a value"),
        ("transform A(x)", "ORIO-E001", "1:14", "expected `=`"),
        ("transform A(x=1 y=2)", "ORIO-E001", "1:17", "unexpected `y`"),
        ("transform A(x=rnge(3))", "ORIO-E003", "1:15", "`rnge`"),
        ("transform A(x=os.system('x'))", "ORIO-E010", "1:17", "attributes"),
    ],
)
def test_recipe_errors(text: str, code: str, place: str, part: str) -> None:
    (problem,) = recipe_of(text).problems
    assert problem.code == code
    assert str(problem.position) == f"f.c:{place}"
    assert part in problem.message


def test_recipe_argument_names() -> None:
    recipe = recipe_of("transform A(x=U + 1)")
    expression = recipe.steps[0].arguments[0].expression
    assert Name("U") in (getattr(expression, "left", None),)


GENERATED = """
  /* orio_py: generated for n = 10 */
#ifndef ORIO_ORIGINAL
  fast();
#if X
#else
#endif
#else /* ORIO_ORIGINAL */
  slow();
#endif /* ORIO_ORIGINAL */
  """


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_original_part_of_generated_text(newline: str) -> None:
    text = GENERATED.replace("\n", newline)
    source = SourceFile("f.c", text.encode())
    whole = Span(0, len(text))
    keep = original_span(source, whole)
    assert text[keep.start : keep.end] == f"  slow();{newline}"
    shown = blanked(source, whole, keep, [])
    assert len(shown) == len(text)
    assert shown.split() == ["slow();"]
    assert shown.count("\n") == text.count("\n")


def test_text_without_generated_block_is_all_original() -> None:
    source = SourceFile("f.c", b" a(); /* orio_py: the original was faster */ b(); /*@ x @*/ ")
    whole = Span(0, len(source.text))
    assert original_span(source, whole) == whole
    at = source.text.index("/*@")
    assert blanked(source, whole, whole, [Span(at, at + 9)]).split() == ["a();", "b();"]


@pytest.mark.parametrize(
    "damage",
    [
        ("#else /* ORIO_ORIGINAL */", "#else"),
        ("#endif /* ORIO_ORIGINAL */", "#endif"),
        ("#endif /* ORIO_ORIGINAL */", "#endif /* ORIO_ORIGINAL */ more();"),
    ],
)
def test_damaged_generated_block(damage: tuple[str, str]) -> None:
    source = SourceFile("f.c", GENERATED.replace(*damage).encode())
    with pytest.raises(DiagnosticError) as caught:
        original_span(source, Span(0, len(source.text)))
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-A016"
    assert problem.position is not None
    assert problem.position.line == 3
