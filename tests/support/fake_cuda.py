"""A GPU for tests: kernels run on the executor, and events tell times that are made up.

Only tests name its factory, in the process that tunes; nothing of the package knows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orio_py.core.units import Bytes, Seconds
from orio_py.measure.cuda import client
from orio_py.measure.cuda.drivers.base import DriverProblem
from orio_py.measure.cuda.drivers.processor import ProcessorDriver
from orio_py.record.cuda import CudaDevice

CRASHING = 96
"""The size of blocks whose kernels fail, after which nothing more can be run."""

COPY_RATE = 1e10
"""Bytes that are copied in a second."""


class MadeUp(ProcessorDriver):
    """Larger blocks are faster, to the square root; a clock goes on with each operation."""

    def __init__(self, architecture: str, folder: Path) -> None:
        super().__init__(architecture, folder)
        self.clock = 0.0
        self.happened: dict[int, float] = {}

    @property
    def has_times(self) -> bool:
        return True

    @property
    def device(self) -> CudaDevice:
        return CudaDevice(0, "Made-up GPU", "sm_90", 4, Bytes(1 << 30), "1.0", "tests")

    def launch(
        self,
        kernel: Any,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arguments: Sequence[Any],
        *,
        dynamic_bytes: Bytes = Bytes(0),
        stream: Any = None,
    ) -> None:
        threads = block[0] * block[1] * block[2]
        if threads == CRASHING:
            raise DriverProblem("cuLaunchKernel", "CUDA_ERROR_ILLEGAL_ADDRESS", poisons=True)
        super().launch(kernel, grid, block, arguments, dynamic_bytes=dynamic_bytes, stream=stream)
        self.clock += 2e-7 / threads**0.5

    def copy_to_device(self, address: Any, data: Any, stream: Any = None) -> None:
        super().copy_to_device(address, data, stream)
        self.clock += data.nbytes / COPY_RATE

    def copy_to_host(self, data: Any, address: Any, stream: Any = None) -> None:
        super().copy_to_host(data, address, stream)
        self.clock += data.nbytes / COPY_RATE

    def record(self, event: Any, stream: Any = None) -> None:
        super().record(event, stream)
        self.happened[event.value] = self.clock

    def clocks(self) -> dict[str, str]:
        return {"cuda_clock": "made up"}

    def seconds(self, begin: Any, end: Any) -> Seconds:
        return Seconds(self.happened[end.value] - self.happened[begin.value])


def gpu(number: int) -> MadeUp:
    """The factory."""
    assert number == 0
    return MadeUp("sm_90", Path.cwd())


@contextmanager
def made_up_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let CUDA variants run on the made-up GPU."""
    with monkeypatch.context() as patch:
        patch.setattr(client, "GPU", "fake_cuda:gpu")
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        client.cuda_place.cache_clear()
        yield
    client.cuda_place.cache_clear()
