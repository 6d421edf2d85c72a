"""Kernels of which one is beyond doubt faster: the emulation agrees, on several GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated_kernels import kernels_of

from orio_py.sass.resources import unknown_opcodes

TEXT = Path(__file__).with_name("pairs.cu")
MANY = (4096,), (256,)
PLANE = (64, 64), (32, 8)
N = 1 << 20
# The faster launch, the slower one, and how many times slower it is at least: name, grid, block, arguments.
PAIRS = {
    "tiled before naive": (("mm_tiled", (64, 64), (32, 32), {"n": 2048}), ("mm_naive", (64, 64), (32, 32), {"n": 2048}), 1.05),
    "registers before tiled": (("mm_registers", (32, 32), (16, 16), {"n": 2048}), ("mm_tiled", (64, 64), (32, 32), {"n": 2048}), 1.3),
    "coalesced before strided": (("copy", *MANY, {"n": N}), ("copy_strided", *MANY, {"n": N}), 4.0),
    "aligned before shifted": (("copy", *MANY, {"n": N}), ("copy_shifted", *MANY, {"n": N}), 1.0),
    "wide before narrow copies": (("copy_four", (1024,), (256,), {"n": N // 4}), ("copy", *MANY, {"n": N}), 0.95),
    "arrays of members before members of arrays": (("members_apart", *MANY, {"n": N}), ("members_together", *MANY, {"n": N}), 2.0),
    "tiled before naive transposition": (("transpose_padded", *PLANE, {"n": 2048}), ("transpose_naive", *PLANE, {"n": 2048}), 1.2),
    "padded before conflicting tiles": (("transpose_padded", *PLANE, {"n": 2048}), ("transpose_conflicts", *PLANE, {"n": 2048}), 1.1),
    "columns before rows": (("by_columns", (64,), (256,), {"n": 512}), ("by_rows", (64,), (256,), {"n": 512}), 1.5),
    "no spills before spills": (("registers_enough", (264,), (1024,), {"n": 200}), ("registers_spilled", (264,), (1024,), {"n": 200}), 1.1),
    "no division in the loop": (("multiply", (1056,), (256,), {"n": 500, "m": 3}), ("divide", (1056,), (256,), {"n": 500, "m": 3}), 3.0),
    "no division of floats": (("float_multiply", (1056,), (256,), {"n": 500}), ("float_divide", (1056,), (256,), {"n": 500}), 2.0),
    "no special functions": (("float_multiply", (1056,), (256,), {"n": 500}), ("sine", (1056,), (256,), {"n": 500}), 2.0),
    "floats before doubles": (("floats", (1056,), (256,), {"n": 512}), ("doubles", (1056,), (256,), {"n": 512}), 1.4),
    "four chains before one": (("four_chains", (132,), (32,), {"n": 4096}), ("one_chain", (132,), (32,), {"n": 4096}), 1.5),
    "unrolled before rolled": (("unrolled", (1056,), (256,), {"n": 1000}), ("rolled", (1056,), (256,), {"n": 1000}), 1.05),
    "one way before two": (("together", (1056,), (256,), {"n": 512}), ("divergent", (1056,), (256,), {"n": 512}), 1.4),
    "no conflicts before few": (("banks_1", (264,), (256,), {"n": 1000}), ("banks_8", (264,), (256,), {"n": 1000}), 1.1),
    "few conflicts before many": (("banks_8", (264,), (256,), {"n": 1000}), ("banks_32", (264,), (256,), {"n": 1000}), 3.0),
    "no barriers in the loop": (("meets_not", (1056,), (256,), {"n": 500}), ("meets", (1056,), (256,), {"n": 500}), 1.1),
    "many blocks before one": (("stream", (1056,), (256,), {"n": N}), ("stream", (1,), (256,), {"n": N}), 20.0),
    "a small table before a large one": (
        ("table", (1056,), (256,), {"n": 256, "size": 1024}), ("table", (1056,), (256,), {"n": 256, "size": 1 << 27}), 1.5,
    ),
    "many warps before few": (("roomy", (16384,), (256,), {"n": 4 * N}), ("crowded", (16384,), (256,), {"n": 4 * N}), 1.05),
}  # fmt: skip

pytestmark = pytest.mark.nvrtc


@pytest.fixture(scope="module")
def hopper():
    return kernels_of(TEXT, "H200 SXM")


@pytest.fixture(scope="module")
def turing():
    return kernels_of(TEXT, "T4")


def ratio(kernels, pair):
    (fast, slow, least) = PAIRS[pair]
    times = [
        kernels.predict(name, grid, block, **arguments).seconds
        for name, grid, block, arguments in (fast, slow)
    ]
    return times[1] / times[0], least


@pytest.mark.share(3)
@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_on_hopper(hopper, pair):
    found, least = ratio(hopper, pair)
    assert found >= least


@pytest.mark.proof
@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_on_turing(turing, pair):
    """The order alone: by how much depends on the GPU."""
    found, least = ratio(turing, pair)
    assert found >= min(1.0, least) * 0.98


def test_a_gpu_with_more_bandwidth_is_faster(hopper, turing):
    times = [kernels.predict("copy", (1 << 16,), (256,), n=1 << 24).seconds for kernels in (hopper, turing)]
    assert 10 < times[1] / times[0] < 25  # 3.89 and 0.22 TB/s


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "gpu", ["T4", "A100", "GeForce RTX 3090", "GeForce RTX 4090", "H200 SXM", "B200", "GeForce RTX 5090"]
)
def test_every_opcode_is_known(gpu):
    kernels = kernels_of(TEXT, gpu)
    found = {name: dict(unknown_opcodes(f.instructions)) for name, f in kernels.functions.items()}
    assert {name: opcodes for name, opcodes in found.items() if opcodes} == {}
    assert len(found) > 35
