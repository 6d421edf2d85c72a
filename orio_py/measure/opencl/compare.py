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
