"""The command `cuda` of recipes by statement number: what it makes of nests, and what it refuses where."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from c_trees import read_tasks

from orio_py.codegen.device import group_counts
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import Node
from orio_py.kernel.call import group_parameters, joined, kernel_groups, kernel_plans
from orio_py.kernel.plan import AxisBinding, KernelPlan, Role
from orio_py.transformation.recipe import apply_recipe, context_for, device_targets

HEAD = 8
"""Lines before the recipe."""

NEST = "for (i = 0; i < 6; i++) for (j = 0; j < N; j++) for (k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];"
TWICE = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i][j] += 1;
  for (i = 0; i < n; i++) for (j = 0; j < n; j++) b[i][j] += a[i][j];"""
PLAIN = 'cuda(0, block={"i"}, thread={"j"})'


def file_with(recipe: str, code: str) -> str:
    return f"""#define N 40
void f(int n, double a[restrict N][N], double b[restrict N][N], double c[restrict N][N],
       double *restrict x, double *y, double *z) {{
  int i, j, k;
  int m = n;


  /*@ begin CHiLL(
{recipe}
  ) @*/
  {code}
  /*@ end @*/
  x[0] = m;
}}
"""


def transformed(recipe: str, code: str, values: Mapping[str, Value] = {}) -> Node:
    (task,) = read_tasks(file_with(recipe, code))
    (region,) = task.regions
    before = structure_digest(region.tree)
    try:
        return apply_recipe(region, values, context_for(task, region))
    finally:
        assert structure_digest(region.tree) == before, "the input has changed"


def plans(recipe: str, code: str, values: Mapping[str, Value] = {}) -> tuple[KernelPlan, ...]:
    return kernel_plans(transformed(recipe, code, values))


def marked(recipe: str) -> tuple[str, Position]:
    """The recipe without the mark `@`, and its place in the file."""
    before, _, after = recipe.partition("@")
    column = len(before) - before.rfind("\n")
    return before + after, Position("code.c", HEAD + 1 + before.count("\n"), column)


def refusal(recipe: str, code: str) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        transformed(recipe, code)
    return caught.value.diagnostics[0]


# --- what becomes of a nest ---


def test_dimensions_are_named_x_first():
    (plan,) = plans(
        'cuda(0, block={"j"}, thread={"k", "i"})', NEST.replace("c[i][j]", "x[k + n * (j + N * i)]")
    )
    assert [axis.index for axis in plan.axes] == ["j", "i", "k"]
    assert plan.launch.bindings == (
        AxisBinding(Role.GROUPS, 0),
        AxisBinding(Role.ITEMS, 1),
        AxisBinding(Role.ITEMS, 0),
    )
    assert plan.name == "orio_cuda_f_0"


def test_threads_are_as_many_as_iterations():
    """Literals, macros and input parameters say how many; the kernel keeps to the number at run time."""
    (plan,) = plans('cuda(0, block={"i"}, thread={"j"})', NEST)
    assert plan.launch.block_size == (40,)
    assert group_counts(plan, (6, 40)) == (6,)
    long = "for (i = 0; i < n; i++) for (j = 1; j < 2 * n + 1; j += 3) a[i][j] = 1;"
    (plan,) = plans('cuda(0, block={"i"}, thread={"j"})', long, {"n": 15})
    assert plan.launch.block_size == (10,)
    (plan,) = plans('cuda(0, block={"j"}, thread={"i"})', TWICE.split("\n")[0])
    assert plan.launch.block_size == (128,)
    cube = (
        "for (i = 0; i < 30; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) x[(i * n + j) * n + k] = 1;"
    )
    (plan,) = plans('cuda(0, block={"j"}, thread={"i", "k"})', cube)
    assert plan.launch.block_size == (30, 34)


def test_blocks_are_within_the_limits_of_the_grid():
    (plan,) = plans(
        'cuda(0, block={"j", "i"}, thread={"k"})', NEST.replace("c[i][j]", "x[k + n * (j + N * i)]")
    )
    assert plan.launch.block_size == (128, 1)
    assert group_counts(plan, (70000, 100000, 5)) == (100000, 65535)
    assert group_counts(plan, (0, 0, 0)) == (1, 1)


def test_loops_that_are_not_named_run_inside_in_their_order():
    recipe = 'permute(0, ("k", "j", "i"))\ncuda(0, block={"i"}, thread={"j"})\nunroll(0, "k", 2)'
    (plan,) = plans(recipe, NEST)
    text = "".join(map(emit, plan.body))
    assert [axis.index for axis in plan.axes] == ["i", "j"]
    assert text.count("c[") == 3
    assert [b.name for b in plan.buffers] == ["a", "b", "c"]


def test_other_statements_get_loops_of_their_own():
    code = "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) a[i][j] = i; for (k = 0; k < n; k++) b[i][k] = i; }"
    text = emit(transformed('cuda(1, block={"i"}, thread={"k"})', code))
    assert text.index("a[i][j] = i") < text.index("orio_cuda_f_0(")
    assert "b[i]" not in text.replace("&b", "")


def test_statements_in_one_nest_become_one_kernel():
    both = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { a[i][j] = i; b[i][j] = j; }"
    assert len(plans(PLAIN, both)) == 1
    assert len(plans(f"{PLAIN}\nfuse(0, 1)", TWICE)) == 1
    assert len(plans(f"{PLAIN}\ncuda(1, block={{'i'}}, thread={{'j'}})\nfuse(0, 1)", TWICE)) == 1
    swapped = 'cuda(1, block={"j"}, thread={"i"})\nfuse(0, 1)'
    (plan,) = plans(swapped, TWICE)
    assert [axis.index for axis in plan.axes] == ["j", "i"]


def test_last_values_of_indices_are_assigned():
    text = emit(transformed(PLAIN, f"{NEST}\n  m += i + j;"))
    assert re.search(r"j = N > 0 \? N : 0;\s+i = 6;", text), text


def test_force_overrules_the_dependence_test():
    code = "for (i = 1; i < n; i++) for (j = 0; j < n; j++) a[i][j] = a[i - 1][j];"
    assert refusal(PLAIN, code).code == "ORIO-T040"
    assert len(plans(f"{PLAIN[:-1]}, force=True)", code)) == 1


def test_such_regions_are_for_cuda():
    for recipe, target in (
        (PLAIN, {"cuda"}),
        (PLAIN.replace("cuda", "cudaize"), {"cuda"}),
        ("unroll(0, 1, 2)", set()),
    ):
        (task,) = read_tasks(file_with(recipe, NEST))
        assert device_targets(task.regions[0]) == target


# --- arrays that kernels share ---

BOTH = 'cuda(0, block={"i"}, thread={"j"}) cuda(1, block={"i"}, thread={"j"})'


def groups_of(code: str, recipe: str = BOTH) -> list[int]:
    """The kernels of each call, after calls next to each other were joined."""
    tree = joined(transformed(recipe, code))
    groups = kernel_groups(tree)
    alone = len(kernel_plans(tree)) - sum(len(group.plans) for group in groups)
    return [*(len(group.plans) for group in groups), *([1] * alone)]


@pytest.mark.parametrize(
    ("code", "groups"),
    [
        (TWICE, [2]),
        # Other code between them.
        (TWICE.replace("\n", " while (m > 9) m--;\n"), [1, 1]),
        # Not from the same element on.
        (TWICE.replace("a[i][j] += 1", "x[i * n + j] += 1").replace("a[i][j]", "x[i * n + j + 1]"), [1, 1]),
        # What one writes may be what the other one reads, under another name.
        (TWICE.replace("a[i][j] += 1", "y[i * n + j] += 1").replace("a[i][j]", "z[i * n + j]"), [1, 1]),
        (TWICE.replace("a[i][j] += 1", "y[i * n + j] += 1").replace("a[i][j]", "x[i * n + j]"), [2]),
        # More of it.
        (TWICE.replace("n; j++) b", "m; j++) b"), [2]),
    ],
)
def test_calls_next_to_each_other_share_arrays_that_are_the_same(code: str, groups: list[int]):
    assert groups_of(code, BOTH.replace("cuda(1", "cuda(2") if "while" in code else BOTH) == groups


def test_three_kernels_are_one_group_and_others_begin_a_new_one():
    recipe = "\n".join(PLAIN.replace("0", str(n)) for n in range(3))
    third = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) {};"
    assert groups_of(f"{TWICE}\n{third.format('c[i][j] = b[i][j]')}", recipe) == [3]
    assert groups_of(f"{TWICE}\n{third.format('x[i * n + j] = b[0][0]')}", recipe) == [3]
    unknown = TWICE.replace("a[i][j]", "y[i * n + j]")
    assert groups_of(f"{unknown}\n{third.format('z[i * n + j] = i')}", recipe) == [2, 1]


def test_a_group_is_given_each_array_and_equal_numbers_once():
    (group,) = kernel_groups(joined(transformed(BOTH, TWICE.replace("n; j++) b", "m; j++) b"))))
    found = group_parameters(group)
    assert [f"{p.type}{p.name}" for p in found.parameters] == [
        "double *a",
        "double *b",
        "longorio_count_a",
        "intorio_N",
        "longorio_trips_i",
        "longorio_trips_j",
        "longorio_count_a_1",
        "longorio_count_b",
        "longorio_trips_j_1",
    ]
    assert [names["orio_trips_j"] for names in found.names] == ["orio_trips_j", "orio_trips_j_1"]
    assert group.name == "orio_cuda_f_0_to_1"


# --- what it refuses ---

OTHER = 'cuda(1, block={"j"}, thread={"i"})'
REFUSED = {
    "sum over threads": ('cuda(0, block={"i"}, @thread={"k"})', NEST, "ORIO-T040", "iterations of the loop `k`"),
    "sum over blocks": ('cuda(0, @block={"k"}, thread={"j"})', NEST, "ORIO-T040", "iterations of the loop `k`"),
    "overwritten": (
        'cuda(0, block={"i"}, @thread={"k"})',
        NEST.replace("+= a[i][k] * b[k][j]", "= k"),
        "ORIO-T040",
        "output dependence on `c`",
    ),
    "not known": (
        'cuda(0, @block={"i"}, thread={"j"})',
        NEST.replace("c[i]", "c[(int)x[i]]"),
        "ORIO-T041",
        "cannot be excluded",
    ),
    "one scalar": (f"@{PLAIN}", NEST.replace("c[i][j] += a[i][k] * b[k][j]", "m += i"), "ORIO-T105", "values of `m`"),
    "mapped twice": (f"{PLAIN}\ncuda(@0, block={{'j'}}, thread={{'i'}})", NEST, "ORIO-T105", "earlier `cuda`"),
    "mapped with it": (f"fuse(0, 1)\n{PLAIN}\n{OTHER.replace('1', '@1')}", TWICE, "ORIO-T105", "earlier `cuda`"),
    "fused apart": (f"{PLAIN}\n{OTHER}\nfuse(@0, 1)", TWICE, "ORIO-T105", "cannot become one kernel"),
    "other indices": (f"{PLAIN}\nfuse(@0, 1)", TWICE.replace("for (j = 0; j < n; j++) b[i][j] += a[i][j]", "for (k = 0; k < n; k++) b[i][k] += a[i][k]"), "ORIO-T105", "no loop `j`"),
    "outer loops only": (f"{PLAIN}\n@fuse({{0, 1}}, 1)", TWICE, "ORIO-T105", "belongs to `cuda`"),
    "fused and dependent": (
        f"{PLAIN}\n@fuse(0, 1)",
        "for (i = 1; i < n; i++) for (j = 0; j < n; j++) a[i][j] = 1;"
        " for (i = 1; i < n; i++) for (j = 0; j < n; j++) b[i][j] = a[i - 1][j];",
        "ORIO-T040",
        "iterations of the loop `i`",
    ),
    "unrolled": (f"{PLAIN}\n@unroll(0, 'j', 2)", NEST, "ORIO-T105", "the loop `j` around statement 0"),
    "unrolled before": (f"unroll(0, 'i', 4)\n{PLAIN.replace('block', '@block')}", NEST, "ORIO-T106", "unrolled"),
    "permuted": (f"{PLAIN}\n@permute(0, ('i', 'k', 'j'))", NEST, "ORIO-T105", "belongs to `cuda`"),
    "declaration": (
        f"@{PLAIN}",
        "for (i = 0; i < n; i++) { int t = i; for (j = 0; j < n; j++) a[i][j] = t; }",
        "ORIO-T030",
        "perfect nest down to the loop `j`",
    ),
    "not to be split": (
        f"@{PLAIN}",
        "for (i = 1; i < n; i++) { for (j = 0; j < n; j++) a[i][j] = b[i - 1][j]; b[i][0] = a[i][0]; }",
        "ORIO-T040",
        "distribute would change",
    ),
    "triangle": (f"@{PLAIN}", NEST.replace("j < N", "j <= i"), "ORIO-T120", "the bounds of the loop `j` use `i`"),
    "no step": (f"@{PLAIN}", NEST.replace("i++", "i *= 2"), "ORIO-T021", "does not add a constant"),
    "no extent": (f"@{PLAIN}", NEST.replace("b[k][j]", "x[(int)a[k][j]]"), "ORIO-T122", "which elements of `x`"),
    "too many threads": (
        'cuda(0, block={"i"}, @thread={"j"})',
        "for (i = 0; i < n; i++) for (j = 0; j < 1025; j++) x[i * 1025 + j] = 1;",
        "ORIO-T143",
        "a block has 1025 threads, and 1024 is the most",
    ),
    "too many in two dimensions": (
        'cuda(0, block={"i"}, @thread={"k", "j"})',
        "for (i = 0; i < n; i++) for (j = 0; j < N; j++) for (k = 0; k < 26; k++) x[(i * N + j) * 26 + k] = 1;",
        "ORIO-T143",
        "1040 threads (26 x 40)",
    ),
    "too many along z": (
        'cuda(0, block={"i"}, @thread={"k", "j", "m"})',
        "for (m = 0; m < 65; m++) for (i = 0; i < n; i++) for (j = 0; j < 2; j++) for (k = 0; k < 2; k++)"
        " x[((m * n + i) * 2 + j) * 2 + k] = 1;",
        "ORIO-T143",
        "65 threads along z",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_stand_at_the_command(name: str):
    recipe, code, expected, words = REFUSED[name]
    plain, place = marked(recipe)
    problem = refusal(plain, code)
    assert (problem.code, problem.position) == (expected, place), problem
    assert words in problem.message
    assert "nd=" not in (problem.help or "")
