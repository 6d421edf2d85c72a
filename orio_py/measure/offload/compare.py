"""Compares outputs of a variant with the original's, by the rule of the C test program.

Elements are equal within a relative error of the larger of the two magnitudes, and of a thousandth of the
array's largest finite element where both are small beside it, or within an absolute error; integers must
be the same.  Reference: `orio_is_close` in `templates/c/harness.c.j2`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from orio_py.measure.job import DEFAULT_TOLERANCE
from orio_py.measure.offload.variant import HostVariable

_FLOATING: Mapping[str, Any] = {"float": np.float32, "double": np.float64, "long double": np.longdouble}


def first_difference(
    got: bytes | memoryview,
    wanted: bytes | memoryview,
    type_name: str,
    element_bytes: int,
    tolerance: Mapping[str, tuple[float, float]],
) -> str | None:
    r"""`INDEX WANTED GOT` of the first element that differs too much, values `?` for integers; None if none.

    >>> first_difference(b"\x01\x02", b"\x01\x03", "char", 1, {})
    '1 ? ?'
    """
    if got == wanted:
        return None
    if type_name not in _FLOATING:
        differing = np.frombuffer(got, np.uint8) != np.frombuffer(wanted, np.uint8)
        return f"{int(np.argmax(differing)) // element_bytes} ? ?"
    kind = _FLOATING[type_name]
    relative, absolute = tolerance.get(type_name, DEFAULT_TOLERANCE[type_name])
    a = np.frombuffer(got, kind).astype(np.longdouble)
    b = np.frombuffer(wanted, kind).astype(np.longdouble)
    finite = np.abs(b[np.isfinite(b)])
    scale = finite.max(initial=np.longdouble(0.0))
    with np.errstate(all="ignore"):
        size = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.longdouble("1e-3") * scale)
        near = np.abs(a - b) <= absolute + relative * size
    close = (a == b) | (np.isnan(a) & np.isnan(b)) | (near & ~np.isinf(a) & ~np.isinf(b))
    if close.all():
        return None
    index = int(np.argmin(close))
    return f"{index} {float(b[index]):.17g} {float(a[index]):.17g}"


def difference(
    got: bytes, wanted: bytes, variable: HostVariable, tolerance: Mapping[str, tuple[float, float]]
) -> tuple[str, str] | None:
    """Name and `first_difference` of a variable, or of the first member of a structure that differs.

    A member goes by the names that C would give it, `p.x` or `p.v[2]`; what lies between members does not count.
    """
    if not variable.members:
        found = first_difference(got, wanted, variable.type, variable.element, tolerance)
        return None if found is None else (variable.name, found)
    rows = [np.frombuffer(data, np.uint8).reshape(-1, variable.element) for data in (got, wanted)]
    for member in variable.members:
        end = member.offset + member.size * member.count
        one, two = (np.ascontiguousarray(data[:, member.offset : end]).tobytes() for data in rows)
        found = first_difference(one, two, member.type, member.size, tolerance)
        if found is not None:
            number, _, values = found.partition(" ")
            element, place = divmod(int(number), member.count)
            subscript = f"[{place}]" if member.count > 1 else ""
            return f"{variable.name}.{member.name}{subscript}", f"{element} {values}"
    return None
