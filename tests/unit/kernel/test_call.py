"""The call that stands for a kernel in a region."""

from __future__ import annotations

from c_trees import context, parse

from orio_py.ctree.build import add, ident
from orio_py.ctree.effects import effects
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import KernelCall, Node
from orio_py.ctree.rewrite import copy_with, substitute, walk
from orio_py.kernel.call import kernel_plans, numbered
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.offload.opencl import OpenCL

CODE = "for (i = 0; i < n; i++) { s += x[i]; y[i] = t; }  for (i = 0; i < n; i++) x[i] = 0;"


def tree_of(items: int) -> Node:
    around = context(
        "int i, n; double s, t, *restrict x, *restrict y;",
        live="s x y",
        assumptions=Assumptions(True, True),
        label="work",
    )
    return OpenCL(workItemsPerGroup=(items,)).apply(parse(CODE), around)


def calls(tree: Node) -> list[KernelCall]:
    return [node for node in walk(tree) if isinstance(node, KernelCall)]


def test_plans_come_in_the_order_of_the_calls() -> None:
    tree = tree_of(64)
    assert [plan.name for plan in kernel_plans(tree)] == ["orio_opencl_work_0", "orio_opencl_work_1"]
    assert [plan.name for plan in kernel_plans(numbered(tree, "k"))] == ["orio_opencl_k_0", "orio_opencl_k_1"]


def test_copies_of_a_call_have_one_plan() -> None:
    tree = tree_of(64)
    twice = copy_with(tree, block_items=[*(tree.block_items or []), *(tree.block_items or [])])  # type: ignore[attr-defined]
    assert len(calls(numbered(twice, "k"))) == 4
    assert [plan.name for plan in kernel_plans(numbered(twice, "k"))] == [
        "orio_opencl_k_0",
        "orio_opencl_k_1",
    ]


def test_changes_around_a_kernel_reach_its_arguments_alone() -> None:
    tree = tree_of(64)
    changed = substitute(tree, "t", add(ident("t"), 1))
    assert "t + 1" in emit(changed)
    assert [call.plan for call in calls(changed)] == [call.plan for call in calls(tree)]


def test_variants_with_other_kernels_differ() -> None:
    assert emit(tree_of(64)) == emit(tree_of(32))
    assert structure_digest(tree_of(64)) == structure_digest(tree_of(64))
    assert structure_digest(tree_of(64)) != structure_digest(tree_of(32))


def test_what_a_kernel_is_given_counts_as_changed() -> None:
    found = effects(calls(tree_of(64))[0])
    assert {"x", "y"} <= found.reads
    assert "s" in found.writes
    assert {"x", "y"} <= found.escaping
