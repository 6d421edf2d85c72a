"""What HIP refuses beyond what all kernels do, and what its arguments become."""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.core.expr import Value
from orio_py.kernel.call import kernel_plans
from orio_py.transformation.base import Refusal
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.offload.hip import HIP

AROUND = context("int i, j, n; double *restrict x, *restrict y;", live="y")
LOOP = "for (i = 0; i < n; i++) y[i] = x[i];"


@pytest.mark.parametrize(
    "arguments",
    [{"arch": "sm_90"}, {"arch": "gfx"}, {"arch": 90}, {"threadCount": "many"}, {"pinHostMem": 2}],
)
def test_arguments_have_types(arguments: dict[str, Value]) -> None:
    with pytest.raises(Refusal, match="ORIO-T010"):
        TRANSFORMATIONS["HIP"].make(arguments)


@pytest.mark.parametrize(
    ("step", "code"), [(HIP(threadCount=(2048,)), "ORIO-T143"), (HIP(nd=2), "ORIO-T120")]
)
def test_refused(step: HIP, code: str) -> None:
    with pytest.raises(Refusal, match=code):
        step.apply(statement(LOOP), AROUND)


def test_the_plan_is_hips() -> None:
    step = TRANSFORMATIONS["HIP"].make({"arch": "gfx1100", "pinHostMem": True})
    (plan,) = kernel_plans(step.apply(statement(LOOP), AROUND))
    assert (plan.language, plan.name, plan.launch.block_size) == ("hip", "orio_hip_region_0", (256,))
    assert (plan.options.cuda.architecture, plan.options.cuda.pins) == ("gfx1100", True)
