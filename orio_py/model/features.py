"""Features of configurations as hardware and loops see them: sizes, powers of two, and products.

Beside its rank, an integer parameter tells a model how often it can be halved and whether it is a power of
two: alignment, vector lengths and remainder loops depend on that, and along the ranks it goes up and down.
Parameters that share a part of their names (`block_size_x` and `block_size_y`, `T1_I` and `T1_J`) tell the
logarithm of their product as well: threads of a block, iterations of a tile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log2

import numpy as np
import numpy.typing as npt

from orio_py.search_space.encoding import CubeAxis, Point

Array = npt.NDArray[np.float64]


class FeatureTable:
    """Turns points into rows of features in `[0, 1]`.

    `groups` has a number per column: columns with the same number share a length scale, as the columns of
    one category do.  Parameters with a single value have no column; there is always at least one column.
    """

    def __init__(self, axes: Sequence[CubeAxis]) -> None:
        self._tables = [(i, table) for i, a in enumerate(axes) for table in _tables_of(a)]
        logarithms = {
            i: np.array([log2(value) if value else -1.0 for value in numbers])
            for i, a in enumerate(axes)
            if (numbers := _whole_numbers(a))
        }
        self._products = [
            _scaled_sum(members, [logarithms[i] for i in members])
            for members in _shared_names(axes, list(logarithms))
        ]
        widths = [table.shape[1] for _, table in self._tables] + [1] * len(self._products)
        self.groups: npt.NDArray[np.intp] = np.repeat(np.arange(max(len(widths), 1)), widths or [1])
        self._is_round = [_roundness(a) for a in axes]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.groups)

    def rows(self, points: Sequence[Point]) -> Array:
        """One row per point."""
        if not points:
            return np.zeros((0, self.width))
        places = np.asarray(points, dtype=np.intp).reshape(len(points), -1)
        columns = [table[places[:, i]] for i, table in self._tables]
        for product in self._products:
            total = np.zeros((len(points), 1))
            for i, table in product:
                total += table[places[:, i], None]
            columns.append(total)
        return np.concatenate(columns, axis=1) if columns else np.zeros((len(points), 1))

    def unround(self, points: Sequence[Point]) -> Array:
        """Per point the number of integer parameters that are no power of two although they could be."""
        places = np.asarray(points, dtype=np.intp).reshape(len(points), -1)
        counts = np.zeros(len(points))
        for i, table in enumerate(self._is_round):
            if table is not None:
                counts += 1.0 - table[places[:, i]]
        return counts


def _tables_of(a: CubeAxis) -> list[Array]:
    """Per group of columns, what each place of an axis has in them."""
    if a.size < 2:
        return []
    if not a.is_ordered and a.size > 2:
        # Two different categories are as far apart as the ends of an ordered axis.
        return [np.eye(a.size) / np.sqrt(2)]
    found = [np.array([[a.coordinate(place)] for place in range(a.size)])]
    numbers = _whole_numbers(a)
    is_round = _roundness(a)
    if numbers is None or is_round is None:
        return found
    halvings = np.array([[float(_halvings(number))] for number in numbers])
    if halvings.max() > halvings.min():
        found.append((halvings - halvings.min()) / (halvings.max() - halvings.min()))
    return [*found, is_round[:, None]]


def _scaled_sum(members: Sequence[int], tables: Sequence[Array]) -> list[tuple[int, Array]]:
    """Tables of some axes, shifted and scaled alike: the sum of one value of each lies in `[0, 1]`."""
    width = float(sum(table.max() - table.min() for table in tables))
    return [(i, (table - table.min()) / width) for i, table in zip(members, tables, strict=True)]


def _whole_numbers(a: CubeAxis) -> list[int] | None:
    """The values of an axis of at least three integers from 0 on; None for any other."""
    numbers = [value for value in a.values if isinstance(value, int) and not isinstance(value, bool)]
    return numbers if len(numbers) == a.size > 2 and min(numbers) >= 0 else None


def _roundness(a: CubeAxis) -> Array | None:
    """Per place 1 for zero and powers of two, 0 for others; None where all are alike."""
    numbers = _whole_numbers(a)
    if numbers is None:
        return None
    found = np.array([float(number & (number - 1) == 0) for number in numbers])
    return found if found.min() < found.max() else None


def _halvings(number: int) -> int:
    """How often a number can be halved: the place of its lowest bit."""
    return (number & -number).bit_length() - 1 if number else 0


def _shared_names(axes: Sequence[CubeAxis], members: Sequence[int]) -> list[tuple[int, ...]]:
    """Groups of axes with the same name but for its last letter or digit, or with the same last word."""
    found: dict[tuple[int, ...], None] = {}
    for part in (_stem, _ending):
        groups: dict[str, list[int]] = {}
        for i in members:
            groups.setdefault(part(axes[i].name), []).append(i)
        found.update((tuple(group), None) for group in groups.values() if len(group) > 1)
    return list(found)


def _stem(name: str) -> str:
    return re.sub(r"_?[A-Za-z0-9]$", "", name)


def _ending(name: str) -> str:
    return name.rpartition("_")[2]
