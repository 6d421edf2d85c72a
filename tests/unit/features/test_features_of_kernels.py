"""The features of Table 1, on kernels whose counts are known."""

from __future__ import annotations

import pytest
from static_features import features

from orio_py.features.catalog import FAMILIES, PUBLISHED
from orio_py.features.warps import lines_of_warp

COPY = "for (i = 0; i <= n - 1; i++) y[i] = 2 * x[i];"


def test_there_are_fifteen_as_published(tmp_path):
    found = features(tmp_path, COPY, "transform OpenCL(workItemsPerGroup=64)", n=4096)
    assert len(PUBLISHED) == 15
    assert set(PUBLISHED) <= set(found)
    assert set(found) == {
        f.name for family in FAMILIES.values() if family.of_kernels for f in family.features
    }


def test_an_item_for_each_iteration(tmp_path):
    found = features(tmp_path, COPY, "transform OpenCL(workItemsPerGroup=64)", n=4096)
    assert [found[f"global_size_{d}"] for d in range(3)] == [4096, 1, 1]
    assert [found[f"local_size_{d}"] for d in range(3)] == [64, 1, 1]
    assert (found["global_loads"], found["global_stores"]) == (1, 1)
    assert (found["local_loads"], found["local_stores"], found["local_memory"]) == (0, 0, 0)
    assert (found["barriers"], found["loop_bodies"], found["lines_per_access"]) == (0, 0, 1)


@pytest.mark.parametrize(("spread", "lines"), [("strided", 1), ("blocked", 8)])
def test_how_iterations_are_spread_shows_in_the_lines_of_a_warp(tmp_path, spread, lines):
    """Section 4.2.3 with a factor of 8: 32 items 8 floats apart touch 8 lines of 32 floats."""
    recipe = f"transform OpenCL(workGroups=8, workItemsPerGroup=64, spread='{spread}')"
    found = features(tmp_path, COPY, recipe, n=4096)
    assert found["global_size_0"] == 512
    assert (found["global_loads"], found["loop_bodies"]) == (8, 8)
    assert found["lines_per_access"] == lines


def test_items_without_iterations_count(tmp_path):
    recipe = "transform OpenCL(workGroups=16, workItemsPerGroup=64)"
    found = features(tmp_path, COPY, recipe, n=256)
    assert found["global_size_0"] == 1024
    assert found["global_loads"] == pytest.approx(0.25)


def test_loops_inside_an_item(tmp_path):
    code = "for (i = 0; i <= n - 1; i++) for (j = 0; j <= 999; j++) y[i] += a[i][j] * x[j];"
    found = features(tmp_path, code, "transform OpenCL(workItemsPerGroup=32, nd=1)", n=1024)
    assert found["loop_bodies"] == 1000
    assert found["global_stores"] == 1000
    assert found["global_loads"] == 3000
    # `a` is 1000 floats further on for each item: 32 lines; `x` is the same for all, `y` next to each other.
    assert found["lines_per_access"] == pytest.approx((32 + 1 + 1 + 1) / 4)


def test_rows_of_two_dimensions_have_their_length(tmp_path):
    """The kernel is given the length of a row, which the host computes by `sizeof`."""
    code = "for (i = 0; i <= n - 1; i++) for (j = 0; j <= 999; j++) a[i][j] = 2 * a[i][j];"
    wide = features(tmp_path, code, "transform OpenCL(workItemsPerGroup=[32, 2], nd=2)", n=1024)
    tall = features(tmp_path, code, "transform OpenCL(workItemsPerGroup=[2, 32], nd=2)", n=1024)
    assert (wide["lines_per_access"], tall["lines_per_access"]) == (1, 16)


def test_tiles_in_local_memory(tmp_path):
    code = "for (i = 1; i <= n - 2; i++) y[i] = x[i - 1] + x[i] + x[i + 1];"
    plain = features(tmp_path, code, "transform OpenCL(workItemsPerGroup=64)", n=4098)
    staged = features(tmp_path, code, "transform OpenCL(workItemsPerGroup=64, cacheBlocks=True)", n=4098)
    assert plain["global_loads"] == 3
    assert staged["local_loads"] == 3
    assert staged["global_loads"] < 3
    assert staged["local_memory"] == 4 * 66
    assert staged["barriers"] >= 1


@pytest.mark.parametrize(
    ("slopes", "items", "lines"),
    [
        ((4.0,), (64,), 1),
        ((-4.0,), (64,), 2),
        ((4.0, 4000.0), (8, 8), 4),
        ((128.0,), (4,), 4),
        ((0.0,), (1,), 1),
    ],
)
def test_lines_of_a_warp(slopes, items, lines):
    assert lines_of_warp(slopes, items) == lines
