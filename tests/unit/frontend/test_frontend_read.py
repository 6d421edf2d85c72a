"""From files to tasks: regions, references, extents and tuned files."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.core.source import SourceFile
from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Comment, Compound, For, Transform, c_ast
from orio_py.frontend.read import ReadResult, read

LOOP = "for (i = 0; i < n; i++)\n    x[i] = 0;"


def load(text: str, encoding: str = "latin-1") -> ReadResult:
    return read(SourceFile("f.c", text.encode(encoding)), directory=Path("."))


def function(body: str, name: str = "f") -> str:
    return f"void {name}(int n, double *x)\n{{\n  int i;\n{body}\n}}\n"


def codes(result: ReadResult) -> list[str]:
    return [d.code for d in result.diagnostics]


def test_annotation_code_and_reference() -> None:
    text = function(
        f"  /*@ begin Loop( transform Unroll(ufactor=2)\n  {LOOP}\n) @*/\n  n = n;\n  /*@ end @*/"
    )
    result = load(text)
    assert codes(result) == []
    (task,) = result.tasks
    (region,) = task.regions
    assert emit(region.reference) == "n = n;\n"
    assert region.reference_text.strip() == "n = n;"
    (mark,) = region.tree.block_items or []
    assert isinstance(mark, Transform)
    assert isinstance(mark.stmt, For)
    assert region.indent == "  "
    assert text[region.leader.start : region.leader.end].startswith("/*@ begin")
    assert text[region.content.start : region.content.end].strip() == "n = n;"
    assert text[region.trailer.start : region.trailer.end] == "/*@ end @*/"
    assert str(region.position) == "f.c:4:3"
    assert (task.name, task.has_spec) == ("f", False)


def test_annotation_code_is_the_reference_where_nothing_follows() -> None:
    result = load(function(f"/*@ begin Loop( transform Unroll(ufactor=2) {LOOP} ) @*/ /*@ end @*/"))
    (region,) = result.tasks[0].regions
    assert emit(region.reference) == region.reference_text
    assert isinstance((region.reference.block_items or [])[0], For)


def test_bare_transform_takes_the_enclosed_code() -> None:
    result = load(function(f"/*@ begin Loop( transform A(x=1) transform B(x=2) ) @*/\n  {LOOP}\n/*@ end @*/"))
    (region,) = result.tasks[0].regions
    (outer,) = region.tree.block_items or []
    assert isinstance(outer, Transform)
    assert isinstance(outer.stmt, Transform)
    assert (outer.step, outer.stmt.step) == (0, 1)
    assert isinstance(outer.stmt.stmt, For)
    assert outer.stmt.stmt is (region.reference.block_items or [])[0]


def test_bare_transform_of_several_statements_keeps_declarations_outside() -> None:
    body = f"/*@ begin Loop(transform A(x=1)) @*/ int k = 0; /* c */ {LOOP} k++; /*@ end @*/"
    (region,) = load(function(body)).tasks[0].regions
    items = [item for item in region.tree.block_items or [] if not isinstance(item, Comment)]
    assert isinstance(items[0], c_ast.Decl)
    assert isinstance(items[1], Transform)
    assert isinstance(items[1].stmt, Compound)
    assert len(items[1].stmt.block_items or []) == 2


def test_empty_recipe_leaves_the_code_as_it_is() -> None:
    (region,) = load(function(f"/*@ begin Loop() @*/ {LOOP} /*@ end @*/")).tasks[0].regions
    assert region.tree is region.reference
    assert region.recipe.steps == ()


def test_region_without_code() -> None:
    assert codes(load(function("/*@ begin Loop(transform A(x=1)) @*/ ; /* c */ /*@ end @*/"))) == [
        "ORIO-A015"
    ]


def test_tuned_file_is_read_again() -> None:
    body = f"""  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  /* orio_py: generated */
#ifndef ORIO_ORIGINAL
  syntax error here (
#else /* ORIO_ORIGINAL */
  {LOOP}
#endif /* ORIO_ORIGINAL */
  /*@ end @*/"""
    result = load(function(body))
    assert codes(result) == []
    (region,) = result.tasks[0].regions
    assert region.reference_text == f"  {LOOP}\n"
    assert isinstance((region.tree.block_items or [])[0], Transform)
    assert "#ifndef" in result.tasks[0].source.text[region.content.start : region.content.end]


def test_damaged_generated_block_is_reported() -> None:
    body = f"/*@ begin Loop() @*/\n#ifndef ORIO_ORIGINAL\n{LOOP}\n#endif\n/*@ end @*/"
    assert codes(load(function(body))) == ["ORIO-A016"]


def test_nested_region_is_part_of_the_outer_code() -> None:
    inner = f"/*@ begin Loop(transform B(x=1)) @*/ {LOOP} /*@ end @*/"
    result = load(function(f"/*@ begin Loop(transform A(x=1)) @*/ {inner} /*@ end @*/"))
    assert codes(result) == ["ORIO-A017"]
    (region,) = result.tasks[0].regions
    assert [step.name for step in region.recipe.steps] == ["A"]
    assert "/*@" not in emit(region.tree)


SPEC = "def performance_params { param U[] = [1, 2]; }"


def test_extent_inside_a_function() -> None:
    text = function(
        f"/*@ begin PerfTuning({SPEC}) @*/ int k = 2; /*@ begin Loop(transform Unroll(ufactor=U)) @*/ {LOOP} "
        "/*@ end @*/ k++; /*@ end @*/"
    )
    (task,) = load(text).tasks
    inside = text[task.extent.start : task.extent.end]
    assert inside.startswith(" int k = 2;")
    assert inside.endswith(" k++; ")
    assert str(task.position) == "f.c:4:1"
    assert task.has_spec


def test_specification_around_whole_functions() -> None:
    loop = f"/*@ begin Loop(transform Unroll(ufactor=U)) @*/ {LOOP} /*@ end @*/"
    text = f"/*@ begin PerfTuning({SPEC}) @*/\n{function(loop, 'f')}{function(loop + loop, 'g')}/*@ end @*/\n"
    result = load(text)
    assert codes(result) == []
    first, second = result.tasks
    assert (first.name, second.name) == ("f", "g")
    assert (len(first.regions), len(second.regions)) == (1, 2)
    assert text[first.extent.start : first.extent.end] == loop
    assert text[second.extent.start : second.extent.end] == loop + loop


def test_all_errors_are_reported() -> None:
    text = function(
        "/*@ begin PerfTuning( def biuld { } def performance_params { param U = ; } ) @*/\n"
        "/*@ begin Loop( transform Unroll(ufactor=rnge(3)) for (;; x ) @*/ /*@ end @*/\n"
        "/*@ begin Loop( transform Unroll(4) ) @*/ x[0] = ; /*@ end @*/\n"
        "/*@ end @*/ /*@ end @*/"
    )
    found = codes(load(text))
    assert {"ORIO-S004", "ORIO-E001", "ORIO-E003", "ORIO-A013", "ORIO-A002"} <= set(found)
    assert any(code.startswith("ORIO-C") for code in found)


def test_task_with_errors_is_left_out_but_others_stay() -> None:
    good = function(f"/*@ begin Loop(transform Unroll(ufactor=2)) @*/ {LOOP} /*@ end @*/", "good")
    bad = function(f"/*@ begin Loop(transform Unroll(ufactor=)) @*/ {LOOP} /*@ end @*/", "bad")
    result = load(bad + good)
    assert [task.name for task in result.tasks] == ["good"]
    assert codes(result) == ["ORIO-E001"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "cp1252"])
def test_any_encoding(encoding: str) -> None:
    text = function(
        f'/* Größe */ char *s = "é"; /*@ begin Loop(transform A(t="ü")) @*/ /* ß */ {LOOP} /*@ end @*/'
    )
    result = load(text, encoding)
    assert codes(result) == []
    (region,) = result.tasks[0].regions
    start = text.index("/*@ begin")
    assert str(region.position) == f"f.c:4:{start - text.rindex(chr(10), 0, start)}"


def test_empty_file_and_file_without_annotation() -> None:
    for text in ("", "int x;\n", "\n\n", "/* only a comment"):
        result = load(text)
        assert (result.tasks, result.diagnostics) == ((), ())


def test_typedefs_of_the_file_are_known() -> None:
    text = "typedef double real;\n" + function(
        f"/*@ begin Loop(transform A(x=1)) @*/ real t = 0; real *p = x; {LOOP} /*@ end @*/"
    )
    assert codes(load(text)) == []


def test_loop_pragma_without_parameters() -> None:
    text = function(
        f"/*@ begin PerfTuning({SPEC}) @*/\n#pragma orio loop begin\n{LOOP}\n#pragma orio loop end\n/*@ end @*/"
    )
    (problem,) = load(text).diagnostics
    assert problem.code == "ORIO-A018"
    assert problem.help is not None
    assert "T1_I" in problem.help
    assert str(problem.position) == "f.c:5:1"
