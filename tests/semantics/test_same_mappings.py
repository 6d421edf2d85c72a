"""Random nests whose groups march, or go through tiles of what lies apart, compute the same in C and as CUDA kernels."""

from __future__ import annotations

from random import Random

import pytest
from cuda_host_build import build, run, transformed
from cuda_nests import Nest, driver, source

from orio_py.build.cuda_cpu import cuda_on_cpu

_COUNT = 24


def _cube(draw: Random) -> Nest:
    """A stencil in three dimensions of 9 by 8 elements each plane, in any order of the loops."""

    def element() -> str:
        i, j, k = (draw.choice(("", "", " - 1", " + 1")) for _ in range(3))
        far = draw.choice((i, i, " + 2"))
        return f"x[((i{far}) * 9 + j{j}) * 8 + k{k}]"

    parts = [
        draw.choice("+-") + draw.choice((" 2 * ", " ", " a * ")) + element()
        for _ in range(draw.randint(2, 7))
    ]
    # Some would have nothing to keep: each also reads along all loops.
    own = "x[(i * 9 + j) * 8 + k] + x[((i - 1) * 9 + j) * 8 + k] + x[(i * 9 + j - 1) * 8 + k] - x[(i * 9 + j) * 8 + k - 1]"
    at = "y[(i * 9 + j) * 8 + k]"
    end = draw.choice((f"{at} = t;", f"if (f[i] > 0) {at} = t; else {at} = i - t;"))
    order = ["i", *draw.sample(["j", "k"], 2)] if draw.random() < 0.6 else draw.sample(["i", "j", "k"], 3)
    groups = f", blockCount=[{draw.randint(1, 2)}, 1, {draw.randint(1, 3)}]" if draw.random() < 0.3 else ""
    threads = f"[{draw.choice((2, 4, 8, 32))}, {draw.choice((1, 2, 5))}, 1]"
    march, stage = draw.choice((1, 2, 3, 7, 50)), draw.random() < 0.8
    return Nest(
        f"CUDA(nd={order}, threadCount={threads}, march={march}, cacheBlocks={stage}{groups})",
        "for (i = 1; i < n / 5; i++) for (j = 1; j < 8; j++) for (k = 1; k < 7; k++)"
        f" {{ t = {own} {' '.join(parts)}; {end} }}",
    )


def _turned(draw: Random) -> Nest:
    """A nest in which some array is read or written across its rows."""
    plus = draw.choice(("", " + 1"))
    read = draw.choice((f"P[j][i{plus}]", f"P[i][j] + P[j][i{plus}]", f"x[j * n + i] * P[i][j{plus}]"))
    write = draw.choice(("y[j * n + i]", "Q[j][i]", "Q[i][j]", f"y[j * n + i{plus}]"))
    how = draw.choice(("=", "+=", "-="))
    more = draw.choice(("", f" if ({write} > a) z[i * m + j] = {write};", " z[j * n + i] = P[i][j];"))
    nd = draw.choice(("2", "['j', 'i']"))
    wide, high = draw.choice(((8, 2), (16, 4), (4, 4), (32, 8)))
    tile = f", localTile=[{wide}, {wide}]" if wide % high == 0 and draw.random() < 0.6 else ""
    groups = f", blockCount=[{draw.randint(1, 3)}, {draw.randint(1, 2)}]" if draw.random() < 0.3 else ""
    first = draw.choice((0, 0, 2))
    heads = f"for (i = {first}; i < n; i++) for (j = 0; j < m; j++)"
    # An array with something to keep, so that `localTile` is never refused.
    keep = " g[i * m + j] = f[j * n + i];"
    recipe = f"CUDA(nd={nd}, threadCount=[{wide}, {high}], cacheBlocks=True{tile}{groups})"
    return Nest(recipe, f"{heads} {{ {write} {how} {read};{more}{keep} }}")


@pytest.mark.proof
def test_random_mappings_compute_the_same(tmp_path):
    draw = Random(21)
    nests = {f"cube_{k}": _cube(draw) for k in range(_COUNT)}
    nests |= {f"turned_{k}": _turned(draw) for k in range(_COUNT)}
    assert transformed(tmp_path, source(nests)) == ["out.c", "out_cuda.cu", "out_cuda.h"]
    text = (tmp_path / "out_cuda.cu").read_text()
    assert all(
        text.count(word) > _COUNT
        for word in ("orio_queue_x_1", "orio_slot_tile_x_0", "orio_tile_y", "orio_tile_f")
    )
    program = build(cuda_on_cpu(tmp_path), tmp_path, driver(nests))
    assert run(program) == f"{6 * len(nests)} runs, 0 differ\n"
