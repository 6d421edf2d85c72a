"""The comparison of outputs: the same rule as in the C test program."""

import numpy as np
import pytest

from orio_py.measure.offload.arrays import difference, first_difference
from orio_py.measure.offload.variant import HostMember, HostVariable

NAN, INF = float("nan"), float("inf")


def compared(got: list[float], wanted: list[float], kind: str = "double", **tolerance) -> str | None:
    numbers = np.float32 if kind == "float" else np.float64
    a, b = np.array(got, numbers), np.array(wanted, numbers)
    return first_difference(a.tobytes(), b.tobytes(), kind, a.itemsize, tolerance)


@pytest.mark.parametrize(
    ("got", "wanted", "kind"),
    [
        ([1.0, 2.0], [1.0, 2.0], "double"),
        ([1.0 + 1e-10], [1.0], "double"),
        ([1.00009], [1.0], "float"),
        ([NAN, INF, -INF], [NAN, INF, -INF], "double"),
        ([0.0], [-0.0], "double"),
        ([9e-10, 1000.0], [0.0, 1000.0], "double"),
    ],
)
def test_near_enough(got: list[float], wanted: list[float], kind: str) -> None:
    """The last case: a difference below a thousandth of the largest element, times the tolerance."""
    assert compared(got, wanted, kind) is None


@pytest.mark.parametrize(
    ("got", "wanted", "kind", "place"),
    [
        ([1.0, 2.0 + 1e-8], [1.0, 2.0], "double", "1 2 2.0000000099999999"),
        ([1.0002], [1.0], "float", "0 1 1.000200033"),
        ([NAN], [1.0], "double", "0 1 nan"),
        ([1.0], [NAN], "double", "0 nan 1"),
        ([INF], [1e300], "double", "0 1.0000000000000001e+300 inf"),
        ([-INF], [INF], "double", "0 inf -inf"),
        ([2e-9, INF, 1000.0], [0.0, INF, 1000.0], "double", "0 0 2.0000000000000001e-09"),
    ],
)
def test_too_far(got: list[float], wanted: list[float], kind: str, place: str) -> None:
    assert (compared(got, wanted, kind) or "").startswith(place)


def test_the_tolerance_is_the_specifications() -> None:
    assert compared([1.1], [1.0]) is not None
    assert compared([1.1], [1.0], double=(0.1, 0.0)) is None
    assert compared([1.1], [1.0], double=(0.0, 0.11)) is None


def test_integers_are_compared_exactly() -> None:
    got, wanted = np.int32([1, 2, 3]), np.int32([1, 2, 4])
    assert first_difference(got.tobytes(), wanted.tobytes(), "int", 4, {"int": (1.0, 1.0)}) == "2 ? ?"


@pytest.mark.parametrize(
    ("place", "value", "found"),
    [
        ((1, "x"), 1.5, ("p.x", "1 1 1.5")),
        ((1, "x"), 1 + 1e-12, None),
        ((2, "w"), [1, 1, 1.0009765625], ("p.w[2]", "2 1 1.0009765625")),
        ((2, "w"), [1, 1 + 1e-6, 1], None),
        ((0, "k"), 2, ("p.k", "0 ? ?")),
        ((0, "gap"), 7, None),
    ],
)
def test_members_are_compared_by_their_types(
    place: tuple[int, str], value: object, found: tuple[str, str] | None
) -> None:
    kind = np.dtype([("k", "i2"), ("gap", "i2"), ("w", "f4", 3), ("x", "f8")])
    wanted = np.ones(3, kind)
    got = wanted.copy()
    element, member = place
    got[member][element] = value
    members = (
        HostMember("k", "short", 0, 2, 1),
        HostMember("w", "float", 4, 4, 3),
        HostMember("x", "double", 16, 8, 1),
    )
    variable = HostVariable(
        "p",
        "struct s",
        ("3",),
        0,
        72,
        24,
        is_array=True,
        written=True,
        compared=True,
        has_value=True,
        members=members,
    )
    assert difference(got.tobytes(), wanted.tobytes(), variable, {}) == found
