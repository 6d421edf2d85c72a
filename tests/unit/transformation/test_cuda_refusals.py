"""What CUDA refuses beyond what all kernels for devices do: limits of architectures, and its own arguments."""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.core.expr import Value
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import KernelPlan
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.offload.cuda import CUDA

DECLARATIONS = "int i, j, k, n; double s, t, a[64][64], b[64][64], *restrict x, *restrict y;"
LINE = "@for (i = 0; i < n; i++) y[i] = x[i];"
PLANE = "@for (i = 0; i < 64; i++) for (j = 0; j < 64; j++) a[i][j] = b[j][i];"
SUM = "@for (i = 0; i < n; i++) { s += x[i]; t += y[i]; }"
ROWS = "@for (i = 0; i < n; i++) { s = 0; for (j = 0; j < n; j++) s += b[i][j] * x[j]; y[i] = s; }"


def around() -> Context:
    return context(DECLARATIONS, live="a b x y t", assumptions=Assumptions(True, True))


CASES: tuple[tuple[CUDA, str, str, str], ...] = (
    (CUDA(threadCount=(2048,)), "ORIO-T143", LINE, "a block has 2048 threads, and 1024 is the most"),
    (CUDA(nd=2, threadCount=(64, 32)), "ORIO-T143", PLANE, "a block has 2048 threads (64 x 32)"),
    (CUDA(nd=2, blockCount=(1, 65536)), "ORIO-T143", PLANE, "65536 blocks along y, and 65535"),
    (CUDA(launchBounds=9), "ORIO-T143", LINE, "9 blocks of 128 threads on a multiprocessor have 36 warps"),
    (CUDA(threadCount=(32,), launchBounds=17), "ORIO-T143", LINE, "17 blocks, and 16"),
    (CUDA(arch="sm_90", launchBounds=17), "ORIO-T143", LINE, "68 warps, and 64"),
    (CUDA(maxRegisters=256), "ORIO-T143", LINE, "up to 256 registers, and 255"),
    (CUDA(cacheBlocks=True, localTile=(128, 8192)), "ORIO-T143", ROWS, "bytes of shared memory, and 49152"),
    (CUDA(launchBounds=2, maxRegisters=32), "ORIO-T144", LINE, "`launchBounds` and `maxRegisters`"),
    (CUDA(nd=2, domain=("i", "j")), "ORIO-T144", PLANE, "`domain` and `nd`"),
    (CUDA(domain=("j", "k")), "ORIO-T120", PLANE, "`nd` has to name the outermost loops"),
    (CUDA(threadCount=(8, 8)), "ORIO-T127", LINE, "`threadCount` gives 2 dimensions"),
    (CUDA(nd=2, blockCount=(8,)), "ORIO-T127", PLANE, "`blockCount` gives 1 dimensions"),
    (CUDA(cacheBlocks=True, localTile=(128,)), "ORIO-T130", LINE, "nothing to keep in shared memory"),
    (CUDA(localTile=(64,)), "ORIO-T127", LINE, "tiles in shared memory"),
    (CUDA(streamCount=33), "ORIO-T011", LINE, "at most 32"),
)


@pytest.mark.parametrize(("transformation", "code", "text", "message"), CASES)
def test_refused(transformation: CUDA, code: str, text: str, message: str) -> None:
    with pytest.raises(Refusal) as caught:
        transformation.apply(statement(text.replace("@", "")), around())
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code, diagnostic.headline()
    assert message in diagnostic.message
    assert diagnostic.position is not None
    assert (diagnostic.position.line, diagnostic.position.column) == (1, text.index("@") + 1)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"threadCount": 0}, "ORIO-T011"),
        ({"threadCount": "64"}, "ORIO-T010"),
        ({"threadCount": [8, 8, 8, 8]}, "ORIO-T010"),
        ({"blockCount": -1}, "ORIO-T011"),
        ({"preferL1Size": 24}, "ORIO-T010"),
        ({"preferL1Size": True}, "ORIO-T010"),
        ({"pinHostMem": 2}, "ORIO-T010"),
        ({"dataOnDevice": "yes"}, "ORIO-T010"),
        ({"cacheBlocks": 3}, "ORIO-T010"),
        ({"domain": "i + 1"}, "ORIO-T010"),
        ({"domain": "a, b, c, d"}, "ORIO-T010"),
        ({"domain": 3}, "ORIO-T010"),
        ({"unrollInner": 0}, "ORIO-T011"),
        ({"streamCount": 0}, "ORIO-T011"),
        ({"vectorWidth": 3}, "ORIO-T010"),
        ({"launchBounds": 0}, "ORIO-T011"),
        ({"maxRegisters": "all"}, "ORIO-T010"),
        ({"arch": "sm_91"}, "ORIO-T010"),
        ({"arch": 90}, "ORIO-T010"),
    ],
)
def test_wrong_values(arguments: dict[str, Value], code: str) -> None:
    with pytest.raises(Refusal) as caught:
        TRANSFORMATIONS["CUDA"].make(arguments)
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [code]


def plan_of(transformation: CUDA, text: str = LINE) -> KernelPlan:
    (plan,) = kernel_plans(transformation.apply(statement(text.replace("@", "")), around()))
    return plan


def test_later_architectures_allow_more() -> None:
    assert plan_of(CUDA(arch="sm_90", launchBounds=16)).options.cuda.least_blocks == 16
    assert plan_of(CUDA(arch="compute_90", threadCount=(32,), launchBounds=32)).launch.block_size == (32,)


def test_a_domain_is_another_form_of_nd() -> None:
    by_name = plan_of(TRANSFORMATIONS["CUDA"].make({"domain": "i, j"}), PLANE)
    assert [axis.index for axis in by_name.axes] == ["i", "j"]
    assert by_name.launch == plan_of(CUDA(nd=2), PLANE).launch


def test_without_numbers_a_block_is_four_warps() -> None:
    assert plan_of(CUDA()).launch.block_size == (128,)
    assert plan_of(CUDA(nd=2), PLANE).launch.block_size == (32, 4)


def test_sums_fit_beside_tiles() -> None:
    """Partial results take shared memory of their own: one value per warp, or per thread where it is no warp."""
    assert plan_of(CUDA(threadCount=(1024,)), SUM).launch.block_size == (1024,)
    assert plan_of(CUDA(threadCount=(1000,)), SUM).launch.block_size == (1000,)
