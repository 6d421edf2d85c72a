"""Static features of C code: what is counted, and that it is right."""

from __future__ import annotations

import pytest
from static_features import features

from orio_py.features.catalog import FAMILIES, FEATURES

ROWS = "for (i = 0; i <= n - 1; i++) for (j = 0; j <= 999; j++)"


def test_loops_and_operations_are_counted(tmp_path):
    found = features(
        tmp_path, f"{ROWS} y[i] += a[i][j] * x[j];", "transform Composite(unrolljam=(['j'], [1]))"
    )
    assert found["operations"] == 2 * 1000 * 1000
    assert found["loop_iterations"] == pytest.approx((1000 * 1000 + 1000) / 2e6)
    assert found["loop_entries"] == pytest.approx(1001 / 2e6)
    assert found["depth"] == 2
    assert found["inner_trips"] == pytest.approx(9.97, abs=0.01)
    assert (found["optimization"], found["fast_math"], found["native"]) == (2, 1, 0)


def test_the_order_of_loops_shows_in_strides_and_traffic(tmp_path):
    code, order = f"{ROWS} a[i][j] = 2 * a[i][j];", "transform Composite(permut=[['%s', '%s']])"
    along = features(tmp_path, code, order % ("i", "j"))
    across = features(tmp_path, code, order % ("j", "i"))
    assert (along["unit_stride"], along["strided"], along["vectorizable"]) == (1, 0, 1)
    assert (across["unit_stride"], across["strided"], across["vectorizable"]) == (0, 1, 0)
    # Each element has 4 bytes; down the columns every one costs a line of 64, as 1000 lines do not fit into 32 KiB.
    assert along["cache_1_bytes"] == pytest.approx(4, rel=0.01)
    assert across["cache_1_bytes"] == pytest.approx(64, rel=0.01)
    assert across["cache_2_bytes"] == pytest.approx(4, rel=0.1)


def test_tiles_keep_what_fits(tmp_path):
    code = "for (i = 0; i <= n - 1; i++) for (j = 0; j <= n - 1; j++) y[i] += x[j];"
    plain = features(tmp_path, code, "transform Composite(unrolljam=(['j'], [1]))", n=100000)
    tiled = features(
        tmp_path,
        code,
        "transform Composite(tile=[('j', 1000, 'jj')], permut=[[['jj'], 'i', 'j']])",
        n=100000,
    )
    assert plain["cache_1_bytes"] == pytest.approx(4, rel=0.01)
    assert tiled["cache_1_bytes"] < 0.01
    assert tiled["inner_trips"] == pytest.approx(9.97, abs=0.01)


def test_unrolled_bodies_touch_more_and_add_to_more(tmp_path):
    code = f"{ROWS} y[i] += a[i][j] * x[j];"
    plain = features(tmp_path, code, "transform Composite(unrolljam=(['i'], [1]))")
    jammed = features(tmp_path, code, "transform Composite(unrolljam=(['i'], [4]))")
    assert (plain["sums"], jammed["sums"]) == (1, 4)
    assert jammed["loads"] < plain["loads"]
    assert jammed["body_operations"] == pytest.approx(4 * plain["body_operations"], rel=0.01)
    assert jammed["statements"] > plain["statements"]
    assert plain["operations"] == pytest.approx(jammed["operations"], rel=1e-6)


def test_triangles_have_their_mean(tmp_path):
    found = features(
        tmp_path,
        "for (i = 0; i <= n - 1; i++) for (j = 0; j <= i; j++) y[i] += x[j];",
        "transform Composite(unrolljam=(['j'], [1]))",
    )
    assert found["operations"] == pytest.approx(1000 * 1001 / 2, rel=0.01)


def test_threads_share_out_the_outer_loop(tmp_path):
    code = "for (i = 0; i <= n - 1; i++) y[i] = 2 * x[i];"
    found = features(
        tmp_path, code, "transform Composite(openmp=(True, 'omp parallel for private(i)'))", n=10
    )
    assert (found["parallel_share"], found["parallel_entries"]) == (1, 1)
    assert found["parallel_grain"] == pytest.approx(10 / 4)
    assert found["balance"] == pytest.approx(10 / 12)


def test_each_feature_belongs_to_one_family(tmp_path):
    names = [feature.name for family in FAMILIES.values() for feature in family.features]
    assert len(names) == len(set(names)) == len(FEATURES)
    code = "for (i = 0; i <= n - 1; i++) y[i] = 2 * x[i];"
    found = features(tmp_path, code, "transform Composite(unrolljam=(['i'], [2]))")
    declared = {f.name for family in FAMILIES.values() if not family.of_kernels for f in family.features}
    assert set(found) == declared


def test_elements_side_by_side_show_where_loops_stride(tmp_path):
    code = f"{ROWS} y[i] += a[i][j] * x[j];"
    recipe = "transform Composite(unrolljam=(['j'], [4]), permut=[['j', 'i']])"
    plain = features(tmp_path, code, "transform Composite(permut=[['j', 'i']])")
    jammed = features(tmp_path, code, recipe)
    assert plain["adjacent"] == 1
    assert jammed["adjacent"] > 2
    copied = f"{ROWS} a[i][j] = x[j];"
    stores = [
        features(tmp_path, copied, f"transform Composite(permut=[{o}])") for o in (["i", "j"], ["j", "i"])
    ]
    assert [found["strided_stores"] for found in stores] == [0, 1]


def test_code_without_known_bounds_has_features_all_the_same(tmp_path):
    code = "for (i = 0; i <= n - 1; i++) for (j = 0; j <= (int)x[i]; j += 1 + (int)y[0]) y[i] += 1e300 * 1e300 / (n - n);"
    found = features(tmp_path, code, "transform Composite(unrolljam=(['i'], [1]))")
    assert found["operations"] > 0
    assert found["inner_trips"] == 6  # the 64 iterations that are guessed
