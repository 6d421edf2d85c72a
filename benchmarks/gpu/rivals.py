"""What tuned kernels are compared with: the bandwidth of a copy, and cuBLAS through CuPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from orio_py.core.units import Bytes
from orio_py.measure.cuda.drivers.base import CudaDriver

COPY = Path(__file__).resolve().parent / "copy.cu"
THREADS = 256
WAYS = (2, 4, 8, 16, 32)
"""Blocks for each multiprocessor: the copy that is fastest counts."""
PAIR = 16
REPEATS = 21


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """What a copy reaches: bytes read and written in a second, the median of so many runs."""

    bytes_per_s: float
    blocks: int
    repeats: int


def copy_bandwidth(driver: CudaDriver, image: bytes, size: Bytes) -> Bandwidth:
    """The bandwidth of a copy of `size` bytes.  Raises DriverProblem, ValueError when the copy is not right."""
    (kernel,) = driver.kernels(image, ["copy"])
    pattern = np.arange(size // 8, dtype=np.float64).view(np.uint8)
    there, back = driver.allocate(size), driver.allocate(size)
    driver.copy_to_device(there, pattern)
    driver.fill(back, 0, size)
    driver.synchronize()
    begin, end = driver.new_event(), driver.new_event()
    found: dict[int, float] = {}
    for way in WAYS:
        blocks = way * driver.device.multiprocessors
        times: list[float] = []
        for _ in range(REPEATS + 1):
            driver.record(begin)
            driver.launch(kernel, (blocks, 1, 1), (THREADS, 1, 1), [there, back, np.int64(size // PAIR)])
            driver.record(end)
            driver.synchronize()
            times.append(driver.seconds(begin, end))
        found[blocks] = median(times[1:])  # the first loads the kernel
    result = np.empty_like(pattern)
    driver.copy_to_host(result, back)
    driver.synchronize()
    driver.free(there)
    driver.free(back)
    if not np.array_equal(result, pattern):
        raise ValueError("the copy is not right")
    best = min(found, key=lambda blocks: found[blocks])
    return Bandwidth(2 * size / found[best], best, REPEATS)


@dataclass(frozen=True, slots=True)
class Library:
    """cuBLAS as CuPy calls it; `reason` says why it is not there."""

    cupy: Any = None
    reason: str = ""

    @classmethod
    def find(cls) -> Library:
        """CuPy, if it is installed and works."""
        try:
            return cls(importlib.import_module("cupy"))
        except ImportError as error:
            return cls(
                reason=f"CuPy is not installed ({error}); `pip install cupy-cuda13x` brings it and cuBLAS"
            )

    def seconds(self, name: str, size: int) -> float | str | None:
        """The median time of cuBLAS's operation, events around it; why it failed; None where cuBLAS has none."""
        if self.cupy is None:
            return self.reason
        try:
            call = self._operation(name, size)
            return None if call is None else self._timed(call)
        except Exception as error:  # a library that is not ours must not end the table
            return f"{type(error).__name__}: {error}"

    def _operation(self, name: str, n: int) -> Callable[[], object] | None:
        cupy = self.cupy
        blas = importlib.import_module("cupy.cublas")

        def vector() -> Any:
            return cupy.random.random(n)

        if name in ("matvec", "matmul"):
            a = cupy.random.random((n, n))
            b = vector() if name == "matvec" else cupy.random.random((n, n))
            out = cupy.empty_like(b)
            return lambda: cupy.matmul(a, b, out=out)
        x, y, out = (vector() for _ in range(3)) if name not in ("ex14ff", "ex14fj") else (None,) * 3
        one = cupy.empty([], dtype=np.float64)
        calls: dict[str, Callable[[], object]] = {
            "vecaxpy": lambda: blas.axpy(0.999, x, y),
            "vecmaxpy": lambda: [blas.axpy(a, v, y) for a, v in ((0.9, x), (0.5, out), (0.2, x), (0.1, out))],
            "vecscale": lambda: blas.scal(0.999, x),
            "vecwaxpy": lambda: (cupy.copyto(out, y), blas.axpy(0.999, x, out)),
            "dot": lambda: blas.dot(x, y, out=one),
            "norm": lambda: blas.nrm2(x, out=one),
        }
        return calls.get(name)

    def _timed(self, call: Callable[[], object]) -> float:
        cupy = self.cupy
        times: list[float] = []
        for _ in range(REPEATS + 2):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            call()
            end.record()
            end.synchronize()
            times.append(1e-3 * cupy.cuda.get_elapsed_time(begin, end))
        return median(times[2:])
