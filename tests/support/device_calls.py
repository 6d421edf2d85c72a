"""Calls of kernels and data written by hand, for tests of what follows and runs them."""

from pathlib import Path

import numpy as np

from orio_py.codegen.device import ArgumentKind, KernelArgument
from orio_py.kernel.plan import Direction
from orio_py.measure.offload.variant import Combining, HostData, HostFunction, HostVariable


def axpy_call(*, items: int = 64, groups: int | None = 4) -> HostFunction:
    """`y[i] += a * x[i]` as `axpy(y, x, count_y, count_x, a, trips)`."""
    return HostFunction(
        "axpy",
        "axpy",
        0,
        (
            ("double *", "y"),
            ("const double *", "x"),
            ("long", "orio_count_y"),
            ("long", "orio_count_x"),
            ("double", "a"),
            ("long", "orio_trips_i"),
        ),
        (
            KernelArgument(ArgumentKind.BUFFER, "y", "y", "double", "double", Direction.INOUT, "y"),
            KernelArgument(ArgumentKind.BUFFER, "x", "x", "double", "double", Direction.IN, "x"),
            KernelArgument(ArgumentKind.SCALAR, "a", "a", "double", "double", host="a"),
            KernelArgument(ArgumentKind.TRIPS, "trips", "i", "long", "long", host="orio_trips_i"),
        ),
        ("orio_trips_i",),
        (),
        (items,),
        (groups,) if groups is not None else None,
        1,
    )


def sum_call(groups: int = 3) -> HostFunction:
    """`s += x[i]` as `total(x, count_x, trips, &s)`."""
    return HostFunction(
        "total",
        "total",
        0,
        (("const double *", "x"), ("long", "orio_count_x"), ("long", "orio_trips_i"), ("double *", "s")),
        (
            KernelArgument(ArgumentKind.BUFFER, "x", "x", "double", "double", Direction.IN, "x"),
            KernelArgument(ArgumentKind.TRIPS, "trips", "i", "long", "long", host="orio_trips_i"),
            KernelArgument(ArgumentKind.PARTIALS, "partial", "s", "double", "double"),
        ),
        ("orio_trips_i",),
        (Combining("s", "double", "+"),),
        (8,),
        (groups,),
        1,
    )


def axpy_data(folder: Path, n: int = 1000, *, name: str = "data.json") -> Path:
    """Inputs n, a, x and y with `y + a*x` as the original's outputs; the path of the description."""
    x, y = np.arange(n) / 7.0, np.arange(n) * 0.5
    return write_data(
        folder,
        [
            ("n", "int", np.int32([n]), None),
            ("a", "double", np.float64([2.5]), None),
            ("x", "double", x, None),
            ("y", "double", y, y + 2.5 * x),
        ],
        name=name,
    )


def write_data(
    folder: Path, variables: list[tuple[str, str, np.ndarray, np.ndarray | None]], *, name: str = "data.json"
) -> Path:
    """Files of variables, each with name, C type, input and, if it is written, wanted output."""
    offset, found = 0, []
    for label, kind, values, wanted in variables:
        found.append(
            HostVariable(
                label,
                kind,
                (str(len(values)),) if len(values) > 1 else (),
                offset,
                values.nbytes,
                values.itemsize,
                len(values) > 1,
                wanted is not None,
                wanted is not None,
                True,
            )
        )
        offset += values.nbytes
    inputs, reference = folder / "inputs.bin", folder / "reference.bin"
    inputs.write_bytes(b"".join(v.tobytes() for _, _, v, _ in variables))
    reference.write_bytes(b"".join((v if w is None else w).tobytes() for _, _, v, w in variables))
    data = HostData(str(inputs), str(reference), tuple(found), {}, {}, {})
    path = folder / name
    path.write_text(data.text)
    return path
