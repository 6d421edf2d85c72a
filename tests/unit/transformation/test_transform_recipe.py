"""Recipes: static checks, evaluated arguments, places in the annotation, and nested marks."""

from __future__ import annotations

import pytest
from c_trees import read_tasks, recipe_problems, transformed_trees

from orio_py.core.diagnostics import DiagnosticError, Severity
from orio_py.core.expr import Value
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.kernel.call import kernel_plans
from orio_py.transformation.recipe import apply_recipe, context_for, device_targets, uses_openmp

LOOP = "for (i = 0; i < n; i++) a[i] = b[i];"
NEST = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) c[i][j] = c[i][j] + 1;"


def file_with(recipe: str, code: str = LOOP) -> str:
    """An annotated function; the recipe stands alone on line 4."""
    return f"""void f(int n, double *restrict a, double *restrict b, double c[][100]) {{
  int i, j;
  /*@ begin Loop(
{recipe}
  {code}
  ) @*/
  /*@ end @*/
}}
"""


STATIC = [
    ("@transform Unrol(ufactor=4)", "ORIO-T001", "did you mean `Unroll`?"),
    ("transform Unroll(@ufactr=4, ufactor=2)", "ORIO-T002", "did you mean `ufactor`?"),
    ("transform Composite(@permute=[['i']])", "ORIO-T002", "did you mean `permut`?"),
    ("@transform Tile(tsize=4)", "ORIO-T003", "add `tindex=…`"),
    ("transform Unroll(ufactor=@UFX)", "ORIO-T007", "did you mean `UF`?"),
    ("transform Composite(tile=[('i', 2 * @TX, 'ii')])", "ORIO-T007", "did you mean `T`?"),
    ("@transform MPIOverlap(communication=1)", "ORIO-T008", None),
    ("transform Composite(@regtile=(['i', 'j'], [2]))", "ORIO-T010", None),
    ("transform Composite(@scalarreplace=(True, 7))", "ORIO-T010", None),
    ("transform Composite(@peel=[('i', -1)])", "ORIO-T011", None),
    ("transform Composite(@skew=[('j',)])", "ORIO-T010", None),
    ("transform Composite(@interchange=[('i', 'j', 'k')])", "ORIO-T010", None),
    ("transform Composite(@fuse=['i'])", "ORIO-T010", None),
    ("transform Composite(@restrict=7)", "ORIO-T010", None),
    ("transform Composite(@cuda=(32, False))", "ORIO-T010", None),
    ("transform Composite(@cuda=(True, ('threads', 32)))", "ORIO-T010", None),
    ("transform Composite(@cuda=(32, 7, False, 1))", "ORIO-T010", None),
    ("transform Unroll(@ufactor='4')", "ORIO-T010", None),
    ("transform Unroll(@ufactor=True)", "ORIO-T010", None),
    ("transform Unroll(@ufactor=2.0)", "ORIO-T010", None),
    ("transform Unroll(ufactor=2, @parallelize=2)", "ORIO-T010", None),
    ("transform Tile(tsize=4, @tindex=4)", "ORIO-T010", None),
    ("transform Permut(@seq='ij')", "ORIO-T010", None),
    ("transform Pragma(@pragma_str=[1])", "ORIO-T010", None),
    ("transform Composite(@tile=('i', 4, 'ii'))", "ORIO-T010", None),
    ("transform Composite(@tile=[('i', 4)])", "ORIO-T010", None),
    ("transform Composite(@permut=['i', 'j'])", "ORIO-T010", None),
    ("transform Composite(@unrolljam=[('i', 4)])", "ORIO-T010", None),
    ("transform Composite(@unrolljam=(['i', 'j'], [4]))", "ORIO-T010", None),
    ("transform Composite(@openmp='omp parallel for')", "ORIO-T010", None),
    ("transform Composite(@vector=(True,))", "ORIO-T010", None),
    ("transform Unroll(@ufactor=0)", "ORIO-T011", None),
    ("transform Unroll(@ufactor=-1)", "ORIO-T011", None),
    ("transform Tile(@tsize=0, tindex='ii')", "ORIO-T011", None),
    ("transform Tile(tsize=4, @tindex='2i')", "ORIO-T013", None),
    ("transform Composite(@unrolljam=(['i', 'i'], [4, 2]))", "ORIO-T016", None),
]


@pytest.mark.parametrize(("recipe", "code", "help_text"), STATIC)
def test_static_problem(recipe: str, code: str, help_text: str | None) -> None:
    column = recipe.index("@") + 1
    problems = recipe_problems(file_with(recipe.replace("@", "")), "UF T n")
    (problem,) = [p for p in problems if p.severity is Severity.ERROR]
    assert problem.code == code
    assert problem.position is not None
    start = column + len("transform ") if recipe.startswith("@") else column
    assert (problem.position.line, problem.position.column) in {(4, column), (4, start)}, problem.headline()
    if help_text is not None:
        assert problem.help == help_text


def test_all_static_problems_are_reported() -> None:
    recipe = "transform Unroll(ufactor=0, force=3, what=1)\n transform Tile(tsize=X, tindex='ii')"
    codes = [p.code for p in recipe_problems(file_with(recipe))]
    assert sorted(codes) == ["ORIO-T002", "ORIO-T007", "ORIO-T010", "ORIO-T011"]


@pytest.mark.parametrize(
    "recipe",
    [
        "transform Composite(scalarreplace=(False, 'double'), boundreplace=False, regtile=([], []))",
        "transform Composite(regtile=(['i', 'j'], [1, 1]), arrcopy=[(False, 'a[i]', [4])])",
        "transform Composite(arrcopy=[(False, 'a[i]', 1/0)], openmp=(False, 1/0))",
        "transform Composite(arrcopy=[(0, 'a[i]', 1/0)], openmp=(0, 1/0))",
    ],
)
def test_keys_that_are_switched_off(recipe: str) -> None:
    text = file_with(recipe)
    assert recipe_problems(text) == ()
    ((original, variant),) = transformed_trees(text, {})
    assert structure_digest(original) == structure_digest(variant)


def test_key_that_a_parameter_switches() -> None:
    text = file_with("transform Composite(cuda=(SCR, ('threadCount', 32)))")
    assert recipe_problems(text, "SCR") == ()
    off, on = ({"SCR": False}, {"SCR": True})
    ((_, plain),) = transformed_trees(text, off)
    ((_, kernels),) = transformed_trees(text, on)
    assert kernel_plans(plain) == ()
    (plan,) = kernel_plans(kernels)
    assert (plan.language, plan.launch.block_size) == ("cuda", (32,))


def test_cuda_of_composite_takes_four_values_by_position() -> None:
    text = file_with("transform Composite(cuda=(N, False, True, 2))")
    ((_, kernels),) = transformed_trees(text, {"N": 96})
    (plan,) = kernel_plans(kernels)
    assert (plan.launch.block_size, plan.options.streams, plan.options.cuda.pins) == ((96,), 2, True)
    ((_, plain),) = transformed_trees(text, {"N": 0})
    assert kernel_plans(plain) == ()


EVALUATED: list[tuple[str, dict[str, Value], str, str]] = [
    ("transform Unroll(@ufactor=UF)", {"UF": 0}, "ORIO-T011", LOOP),
    ("transform Unroll(@ufactor=UF)", {"UF": "x"}, "ORIO-T010", LOOP),
    ("transform Tile(tsize=4, @tindex='i')", {}, "ORIO-T013", LOOP),
    ("transform Tile(tsize=4, @tindex='n')", {}, "ORIO-T013", LOOP),
    ("transform Tile(@tsize=T, tindex='ii')", {"T": 6}, "ORIO-T014", LOOP.replace("i++", "i += 4")),
    ("transform Composite(@tile=[('k', 4, 'kk')])", {}, "ORIO-T015", NEST),
    ("transform Composite(@permut=[['i', 'x']])", {}, "ORIO-T015", NEST),
    ("transform Composite(@pragma=[('k', 'ivdep')])", {}, "ORIO-T015", NEST),
    ("transform Permut(@seq=['j', 'i'])", {}, "ORIO-T031", NEST.replace("j < n; j++", "j < i * i; j++")),
]


@pytest.mark.parametrize(("recipe", "values", "code", "body"), EVALUATED)
def test_evaluated_problem_is_located_at_its_argument(
    recipe: str, values: dict[str, Value], code: str, body: str
) -> None:
    column = recipe.index("@") + 1
    with pytest.raises(DiagnosticError) as caught:
        transformed_trees(file_with(recipe.replace("@", ""), body), values)
    (problem,) = caught.value.diagnostics
    assert problem.code == code
    assert problem.position is not None
    assert (problem.position.line, problem.position.column) == (4, column), problem.headline()


def test_unknown_loop_names_the_loops_that_exist() -> None:
    with pytest.raises(DiagnosticError, match=r"no loop `k`; the loops here are `i`, `j`"):
        transformed_trees(file_with("transform Composite(tile=[('k', 4, 'kk')])", NEST), {})


def test_second_level_tile_may_name_the_index_of_a_first_level_that_is_off() -> None:
    recipe = "transform Composite(tile=[('i', T1, 'ii'), (('ii', 'i'), T2, 'iii')])"
    text = file_with(recipe)
    for first, second in ((1, 1), (1, 8), (8, 1), (8, 64)):
        ((_, variant),) = transformed_trees(text, {"T1": first, "T2": second})
        assert emit(variant).count("for (") == 1 + (first > 1) + (second > 1)


def test_marks_apply_innermost_first() -> None:
    recipe = "transform Unroll(ufactor=2)\n  transform Tile(tsize=8, tindex='ii')"
    ((_, variant),) = transformed_trees(file_with(recipe), {})
    assert emit(variant).startswith("{\n  int ii;\n  for (ii = 0; n > 8 && ii < n - 8; ii += 16) {")


def test_bare_transform_takes_the_enclosed_code() -> None:
    text = f"""void f(int n, double *a, double *b) {{
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  /* first */
  int i;
  {LOOP}
  /*@ end @*/
}}
"""
    ((_, variant),) = transformed_trees(text, {})
    assert emit(variant).splitlines()[:3] == [
        "/* first */",
        "int i;",
        "for (i = 0; n > 1 && i < n - 1; i += 2) {",
    ]


def test_bare_loop_transformation_refuses_several_statements() -> None:
    text = f"""void f(int n, double *a, double *b) {{
  int i;
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  {LOOP}
  {LOOP}
  /*@ end @*/
}}
"""
    with pytest.raises(DiagnosticError) as caught:
        transformed_trees(text, {})
    assert [d.code for d in caught.value.diagnostics] == ["ORIO-T020"]


def test_bare_composite_takes_all_statements() -> None:
    text = file_with("").replace(f"\n\n  {LOOP}\n", "transform Composite(unrolljam=(['i'], [2]))")
    text = text.replace("/*@ end", f"{LOOP}\n  {LOOP}\n  /*@ end")
    ((_, variant),) = transformed_trees(text, {})
    assert emit(variant).count("i += 2") == 2
    assert not emit(variant).startswith("{")


def test_index_read_after_the_region_is_found() -> None:
    text = file_with("transform Tile(tsize=4, tindex='ii')")
    ((_, unread),) = transformed_trees(text, {})
    ((_, variant),) = transformed_trees(text.replace("@*/\n}", "@*/\n  a[0] = i;\n}"), {})
    assert emit(variant) == emit(unread) + "i = n > 0 ? n : 0;\n"


def test_generated_names_keep_clear_of_the_users() -> None:
    code = "for (i = 0; i < n; i++) a[i] = b[i] + i_last;"
    recipe = "transform Composite(unrolljam=(['i'], [2]), openmp=(True, 'omp parallel for'))"
    text = file_with(recipe, code).replace("int i, j;", "int i, i_last = 2;")
    ((_, variant),) = transformed_trees(text, {})
    assert "int i_last_2 = 0;" in emit(variant)


def test_tile_index_keeps_clear_of_macros() -> None:
    text = "#define ii 7\n" + file_with("transform Tile(tsize=4, tindex='ii')")
    with pytest.raises(DiagnosticError) as caught:
        transformed_trees(text, {})
    assert [d.code for d in caught.value.diagnostics] == ["ORIO-T013"]


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("transform Unroll(ufactor=2)", False),
        ("transform Unroll(ufactor=2, parallelize=False)", False),
        ("transform Unroll(ufactor=2, parallelize=P)", True),
        ("transform Composite(openmp=(P, 'omp parallel for'))", True),
        ("transform Composite(vector=(True, 'ivdep'))", False),
        ("transform Composite(vector=(True, ['ivdep', 'omp simd']))", True),
        ("transform Composite(pragma=[('i', 'ompx')])", False),
        ("transform Composite(vectorize=V)", True),
        ("transform Composite(vectorize=False)", False),
        ("transform Parallelize()", True),
        ("transform Vectorize()", True),
        ("transform Specialize(aligned=['a'])", True),
        ("transform Specialize(on='n', values=[4])", False),
        ("transform Unroll(ufactor=2) transform Vectorize()", True),
        ("", False),
    ],
)
def test_uses_openmp(recipe: str, expected: bool) -> None:
    ((region,),) = [task.regions for task in read_tasks(file_with(recipe))]
    assert uses_openmp(region) is expected
    assert not device_targets(region)


def test_pragma_of_the_user_uses_openmp() -> None:
    for pragma, expected in (("omp parallel for", True), ("GCC ivdep", False), ("", False)):
        code = f"{{\n#pragma {pragma}\n{LOOP} }}"
        ((region,),) = [task.regions for task in read_tasks(file_with("", code))]
        assert uses_openmp(region) is expected


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("transform OpenCL()", {"opencl"}),
        ("transform Unroll(ufactor=2) transform OpenCL()", {"opencl"}),
        ("transform CUDA()", {"cuda"}),
        ("transform Unroll(ufactor=2)", set()),
        ("transform Composite(opencl=True)", {"opencl"}),
        ("transform Composite(opencl=False, cuda=(32, False, False, 1))", {"cuda"}),
        ("transform Composite(opencl=P)", {"opencl"}),
        ("transform Composite(opencl=P, cuda=P)", {"opencl", "cuda"}),
        ("transform Composite(unrolljam=(['i'], [2]))", set()),
    ],
)
def test_device_targets(recipe: str, expected: set[str]) -> None:
    ((region,),) = [task.regions for task in read_tasks(file_with(recipe))]
    assert device_targets(region) == expected


def test_inputs_are_not_modified() -> None:
    recipe = (
        "transform Composite(tile=[('i', 4, 'ii')], unrolljam=(['i', 'j'], [2, 2]), openmp=(True, 'omp for'))"
    )
    (task,) = read_tasks(file_with(recipe, NEST))
    (region,) = task.regions
    before = structure_digest(region.tree)
    apply_recipe(region, {}, context_for(task, region))
    assert structure_digest(region.tree) == before
