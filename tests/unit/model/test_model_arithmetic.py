"""Features: ranks, powers of two, products, categories."""

from __future__ import annotations

import numpy as np
import pytest

from orio_py.model.features import FeatureTable
from orio_py.search_space.encoding import axis


def test_integers_tell_rank_halvings_and_powers_of_two() -> None:
    table = FeatureTable([axis("U", (1, 2, 3, 4))])
    assert table.groups.tolist() == [0, 1, 2]
    thirds = [0.0, 1 / 3, 2 / 3, 1.0]
    assert (
        pytest.approx(np.array([thirds, [0, 0.5, 0, 1], [1, 1, 0, 1]]))
        == table.rows([(p,) for p in range(4)]).T
    )
    assert table.unround([(1,), (2,)]).tolist() == [0.0, 1.0]


def test_powers_of_two_alone_and_other_numbers_tell_their_rank() -> None:
    table = FeatureTable([axis("A", (8, 16, 32)), axis("B", (0.5, 1.5, 2.5)), axis("C", (-1, 0, 3))])
    assert table.groups.tolist() == [0, 1, 2]
    assert table.rows([(1, 1, 2)]).tolist() == [[0.5, 0.5, 1.0]]
    assert table.unround([(1, 1, 2)]).tolist() == [0.0]


def test_shared_names_tell_products() -> None:
    sizes = (1, 2, 4, 8)
    table = FeatureTable([axis(name, sizes) for name in ("block_x", "block_y", "tile_x", "other")])
    # block_x * block_y, and block_x * tile_x, after the four ranks.
    rows = table.rows([(3, 0, 0, 0), (0, 3, 0, 0), (3, 3, 3, 3)])
    assert rows[:, 4:].tolist() == [[0.5, 0.5], [0.5, 0.0], [1.0, 1.0]]


def test_zero_is_round_and_large_numbers_are_no_problem() -> None:
    table = FeatureTable([axis("T1_I", (0, 24, 10**400)), axis("T1_J", (0, 24, 32))])
    rows = table.rows([(0, 0), (1, 1), (2, 2)])
    assert np.isfinite(rows).all()
    assert (rows.min(), rows.max()) == (0.0, 1.0)
    assert table.unround([(0, 0), (1, 1), (2, 2)]).tolist() == [0.0, 2.0, 1.0]


def test_categories_share_a_scale_and_are_equally_far() -> None:
    table = FeatureTable([axis("F", ("-O1", "-O2", "-O3")), axis("B", (True, False)), axis("K", (7,))])
    assert table.groups.tolist() == [0, 0, 0, 1]
    rows = table.rows([(0, 0, 0), (1, 0, 0), (2, 0, 0)])
    apart = [np.square(rows[i] - rows[j]).sum() for i, j in ((0, 1), (0, 2), (1, 2))]
    assert apart == pytest.approx([1.0, 1.0, 1.0])


def test_a_space_without_choices_has_a_column() -> None:
    table = FeatureTable([axis("K", (7,))])
    assert table.width == 1
    assert table.rows([(0,)]).tolist() == [[0.0]]
    assert table.rows([]).shape == (0, 1)
