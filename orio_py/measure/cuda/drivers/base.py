"""The interface of what loads and runs CUDA kernels: a library for NVIDIA's driver, or the executor on the processor.

Only worker processes use it: a kernel that goes wrong makes the context of its process useless, and the process
is replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from orio_py.core.units import Bytes, Seconds
from orio_py.record.cuda import CudaDevice


class DriverProblem(Exception):
    """Raised when a call of the driver fails.

    `call` is the driver's function (`cuLaunchKernel`), `status` the name of its status
    (`CUDA_ERROR_ILLEGAL_ADDRESS`), `text` what else is known.  After one that `poisons` every further call in this
    process fails.
    """

    def __init__(self, call: str, status: str, text: str = "", *, poisons: bool = False) -> None:
        super().__init__(f"{call}: {status}{': ' if text else ''}{text}")
        self.call, self.status, self.text, self.poisons = call, status, text, poisons


@dataclass(frozen=True, slots=True)
class Address:
    """Memory of the device, as an argument of a kernel."""

    value: int


Stream = Any
"""A stream of a driver; None is the default one."""

Event = Any
"""An event of a driver."""

Kernel = Any
"""A kernel of a module that a driver loaded."""


class CudaDriver(Protocol):
    """One device, used by one process and one thread; calls are asynchronous where CUDA's are.

    Every method raises DriverProblem.
    """

    @property
    def name(self) -> str:
        """The library's name: `cuda-bindings`, `pycuda`, or `processor`."""
        ...

    @property
    def has_times(self) -> bool:
        """Whether events tell a GPU's times; the executor on the processor has none."""
        ...

    @property
    def device(self) -> CudaDevice:
        """What it runs on."""
        ...

    def kernels(self, image: bytes, names: Sequence[str]) -> tuple[Kernel, ...]:
        """Load a module (a cubin; for the processor a shared object) and give the kernels with these names."""
        ...

    def allow_shared(self, kernel: Kernel, dynamic_bytes: Bytes, carveout: int | None) -> None:
        """Allow `dynamic_bytes` of dynamic shared memory; `carveout` is the share in per cent preferred as shared."""
        ...

    def allocate(self, size: Bytes) -> Address:
        """Memory of the device, aligned for every type."""
        ...

    def free(self, address: Address) -> None:
        """Give memory back."""
        ...

    def fill(self, address: Address, byte: int, size: Bytes) -> None:
        """Set `size` bytes."""
        ...

    def copy_to_device(self, address: Address, data: Any, stream: Stream = None) -> None:
        """Copy a numpy array of bytes, which must live until the stream is waited for."""
        ...

    def copy_to_host(self, data: Any, address: Address, stream: Stream = None) -> None:
        """Copy into a numpy array of bytes."""
        ...

    def pinned(self, size: Bytes) -> Any:
        """A numpy array of bytes in pinned memory of the host, given back by `release`."""
        ...

    def release(self, data: Any) -> None:
        """Give pinned memory back."""
        ...

    def launch(
        self,
        kernel: Kernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arguments: Sequence[Any],
        *,
        dynamic_bytes: Bytes = Bytes(0),
        stream: Stream = None,
    ) -> None:
        """Start a kernel; `arguments` are numpy scalars of the parameters' types, and addresses."""
        ...

    def new_stream(self) -> Stream:
        """A stream that does not wait for the default one."""
        ...

    def new_event(self) -> Event:
        """An event that takes times."""
        ...

    def record(self, event: Event, stream: Stream = None) -> None:
        """Let the event happen when what was put into the stream before is done."""
        ...

    def wait(self, stream: Stream, event: Event) -> None:
        """Let what is put into the stream from now on wait for an event."""
        ...

    def seconds(self, begin: Event, end: Event) -> Seconds:
        """The seconds between two events, which both have happened."""
        ...

    def synchronize(self, stream: Stream = None) -> None:
        """Wait for a stream, or for the whole device."""
        ...

    def clocks(self) -> dict[str, str]:
        """What is known of the device's clocks and temperature now, in words; empty where nothing tells."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...
