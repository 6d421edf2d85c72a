"""The golden recipes of tensor contractions: the text of their kernels and host code, and what compilers say of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from c_trees import read_tasks
from cuda_compilers import nvrtc_or_skip
from cuda_recipes import GOLDEN as RECIPES
from cuda_recipes import source

from orio_py.build.cuda import CudaBinary, cuda_options
from orio_py.codegen.cuda.device import cuda_program
from orio_py.codegen.cuda.host import host_source
from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.core.expr import Value
from orio_py.kernel.call import joined, kernel_groups, kernel_plans
from orio_py.kernel.plan import KernelPlan
from orio_py.transformation.recipe import apply_recipe, context_for

GOLDEN = Path(__file__).resolve().parents[3] / "golden_cuda"
FACTORS: dict[str, dict[str, Value]] = {"sd_t_d1_1": {"UF0": 8}, "local_grad3": {"UF0": 5, "UF2": 2}}


def plans(name: str, values: dict[str, Value]) -> tuple[KernelPlan, ...]:
    (task,) = read_tasks(source({name: RECIPES[name]}))
    (region,) = task.regions
    return kernel_plans(apply_recipe(region, values, context_for(task, region)))


def check(name: str, text: str, update_golden: bool) -> None:
    path = GOLDEN / f"recipe_{name}.cu"
    if update_golden:
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", RECIPES)
def test_device_text(name: str, update_golden: bool) -> None:
    check(name, cuda_program(plans(name, FACTORS[name])), update_golden)


def test_host_text_of_kernels_that_share_arrays(update_golden: bool) -> None:
    (task,) = read_tasks(source({"local_grad3": RECIPES["local_grad3"]}))
    (region,) = task.regions
    tree = joined(apply_recipe(region, FACTORS["local_grad3"], context_for(task, region)))
    (group,) = kernel_groups(tree)
    kernels = tuple(HostKernel(plan, "", plan.name, group.name) for plan in group.plans)
    text = host_source(HostUnit("local_grad3", "local_grad3_cuda", kernels)).text
    begin, end = text.index("static int orio_run_group_0("), text.index("int orio_cuda_local_grad3_release(")
    check("local_grad3_host", text[begin:end], update_golden)
    assert "static int orio_run(" not in text, "nothing would call it"


def test_no_golden_is_an_orphan() -> None:
    found = {path.name for path in GOLDEN.glob("recipe_*")}
    assert found == {f"recipe_{name}.cu" for name in (*RECIPES, "local_grad3_host")}


def test_blocks_have_the_thesis_shape() -> None:
    (plan,) = plans("sd_t_d1_1", FACTORS["sd_t_d1_1"])
    assert [axis.index for axis in plan.axes] == ["p6", "h2", "h1", "h3"]
    assert plan.launch.block_size == (16, 16)
    first, second = plans("local_grad3", FACTORS["local_grad3"])
    assert {b.name for b in first.buffers} == {"ur", "us", "D", "Dt", "u"}
    assert {b.name for b in second.buffers} == {"ut", "Dt", "u"}
    assert first.launch.block_size == second.launch.block_size == (10, 10)
    # By themselves: 8 allocations, and 11 copies.
    assert len(first.buffers) + len(second.buffers) == 8
    assert len(first.buffers) + len(second.buffers) + 3 == 11


@pytest.fixture(scope="module")
def kernels() -> list[KernelPlan]:
    """The kernels of some unroll factors, under names of their own."""
    found = [
        replace(plan, name=f"d1_{factor}")
        for factor in (1, 16)
        for plan in plans("sd_t_d1_1", {"UF0": factor})
    ]
    gradient = plans("local_grad3", {"UF0": 2, "UF2": 10})
    return [*found, *(replace(plan, name=f"gradient_{number}") for number, plan in enumerate(gradient))]


@pytest.mark.proof
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_kernels_compile(architecture: str, kernels: list[KernelPlan]) -> None:
    built = nvrtc_or_skip().compile(cuda_program(kernels), architecture, cuda_options(""))
    assert isinstance(built, CudaBinary), built
    for plan in kernels:
        assert built.kernel(plan.name).max_threads == (256 if plan.name.startswith("d1") else 100)
