"""PyCUDA, where somebody has built it against a CUDA toolkit; only worker processes import this.

PyCUDA's own automatic context is left alone: the device's primary context is used, as by `bindings`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pycuda.driver as cuda  # pyright: ignore[reportMissingModuleSource]

from orio_py.core.units import Bytes, Seconds
from orio_py.measure.cuda.drivers.base import Address, DriverProblem
from orio_py.measure.cuda.drivers.nvml import Clocks
from orio_py.measure.cuda.drivers.packing import one_buffer, place_of
from orio_py.measure.cuda.drivers.status import POISONS, version_words
from orio_py.record.cuda import CudaDevice

NAME = "pycuda"

_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING, which PyCUDA does not name
_LARGEST_STATUS = 999  # CUDA_ERROR_UNKNOWN


@dataclass(frozen=True, slots=True)
class PycudaKernel:
    """A kernel; PyCUDA keeps its module as long."""

    name: str
    function: Any


class PycudaDriver:
    """`CudaDriver` by PyCUDA.  Opening it raises DriverProblem without a driver or such a device."""

    def __init__(self, number: int = 0) -> None:
        _ask(cuda.init)
        self._handle = _ask(cuda.Device, number)
        self._device = _device(number, self._handle)
        self._context = _ask(self._handle.retain_primary_context)
        self._memory: dict[int, Any] = {}
        self._pinned: dict[int, Any] = {}
        self._held: list[Any] = []
        self._clocks: Clocks | None = None
        self._is_open = True
        try:
            _ask(self._context.push)
        except DriverProblem:
            self._is_open = False
            self._context.detach()
            raise

    @property
    def name(self) -> str:
        """As in `CudaDriver`."""
        return NAME

    @property
    def has_times(self) -> bool:
        """As in `CudaDriver`."""
        return True

    @property
    def device(self) -> CudaDevice:
        """As in `CudaDriver`."""
        return self._device

    def kernels(self, image: bytes, names: Sequence[str]) -> tuple[PycudaKernel, ...]:
        """As in `CudaDriver`; the module is unloaded with the last of its kernels."""
        module = _ask(cuda.module_from_buffer, image)
        return tuple(PycudaKernel(name, _ask(module.get_function, name)) for name in names)

    def allow_shared(self, kernel: PycudaKernel, dynamic_bytes: Bytes, carveout: int | None) -> None:
        """As in `CudaDriver`."""
        size = cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        _ask(kernel.function.set_attribute, size, dynamic_bytes)
        if carveout is not None:
            share = cuda.function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT
            _ask(kernel.function.set_attribute, share, carveout)

    def allocate(self, size: Bytes) -> Address:
        """As in `CudaDriver`; no bytes are one, as the driver refuses none."""
        memory = _ask(cuda.mem_alloc, max(size, 1))
        self._memory[int(memory)] = memory
        return Address(int(memory))

    def free(self, address: Address) -> None:
        """As in `CudaDriver`; PyCUDA does not tell of a failure of this."""
        memory = self._memory.pop(address.value, None)
        if memory is None:
            raise DriverProblem("cuMemFree", "CUDA_ERROR_INVALID_VALUE", "no memory begins there")
        _ask(memory.free)

    def fill(self, address: Address, byte: int, size: Bytes) -> None:
        """As in `CudaDriver`; it is done when this returns, for no stream waits for the default one."""
        if size:
            _ask(cuda.memset_d8, address.value, byte, size)
            _ask(self._context.synchronize)

    def copy_to_device(self, address: Address, data: Any, stream: Any = None) -> None:
        """As in `CudaDriver`; the array is kept until the device is waited for."""
        if place_of(data) and data.nbytes:
            _ask(cuda.memcpy_htod_async, address.value, data, stream)
            self._held.append(data)

    def copy_to_host(self, data: Any, address: Address, stream: Any = None) -> None:
        """As in `CudaDriver`; the array is kept until the device is waited for."""
        if place_of(data) and data.nbytes:
            _ask(cuda.memcpy_dtoh_async, data, address.value, stream)
            self._held.append(data)

    def pinned(self, size: Bytes) -> Any:
        """As in `CudaDriver`."""
        array = _ask(cuda.pagelocked_empty, max(size, 1), "uint8")
        self._pinned[array.ctypes.data] = array.base
        return array[:size]

    def release(self, data: Any) -> None:
        """As in `CudaDriver`; the array must not be used any more."""
        memory = self._pinned.pop(data.ctypes.data, None)
        if memory is None:
            raise DriverProblem("cuMemFreeHost", "CUDA_ERROR_INVALID_VALUE", "no pinned memory begins there")
        _ask(memory.free)

    def launch(
        self,
        kernel: PycudaKernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arguments: Sequence[Any],
        *,
        dynamic_bytes: Bytes = Bytes(0),
        stream: Any = None,
    ) -> None:
        """As in `CudaDriver`.  One array holds all arguments: PyCUDA would not align structures among them."""
        packed = one_buffer(arguments)
        words = (packed,) if packed.nbytes else ()
        _ask(kernel.function, *words, grid=grid, block=block, shared=int(dynamic_bytes), stream=stream)

    def new_stream(self) -> Any:
        """As in `CudaDriver`; PyCUDA gives it back when nobody holds it."""
        return _ask(cuda.Stream, _NON_BLOCKING)

    def new_event(self) -> Any:
        """As in `CudaDriver`; PyCUDA gives it back when nobody holds it."""
        return _ask(cuda.Event)

    def record(self, event: Any, stream: Any = None) -> None:
        """As in `CudaDriver`."""
        _ask(event.record, stream)

    def wait(self, stream: Any, event: Any) -> None:
        """As in `CudaDriver`; PyCUDA lets the default stream not wait, so that there this process does."""
        if stream is None:
            _ask(event.synchronize)
        else:
            _ask(stream.wait_for_event, event)

    def seconds(self, begin: Any, end: Any) -> Seconds:
        """As in `CudaDriver`; the driver counts in half microseconds."""
        return Seconds(1e-3 * _ask(end.time_since, begin))

    def synchronize(self, stream: Any = None) -> None:
        """As in `CudaDriver`."""
        if stream is None:
            _ask(self._context.synchronize)
            self._held.clear()
        else:
            _ask(stream.synchronize)

    def clocks(self) -> dict[str, str]:
        """As in `CudaDriver`."""
        if self._clocks is None:
            self._clocks = Clocks(_ask(self._handle.pci_bus_id))
        return self._clocks.read()

    def close(self) -> None:
        """As in `CudaDriver`; streams, events and modules go when nobody holds them."""
        if not self._is_open:
            return
        self._is_open = False
        with suppress(DriverProblem):
            _ask(self._context.synchronize)
        for things in (self._memory, self._pinned):
            for thing in things.values():
                with suppress(DriverProblem):
                    _ask(thing.free)
            things.clear()
        if self._clocks is not None:
            self._clocks.close()
        with suppress(DriverProblem):
            _ask(cuda.Context.pop)
            _ask(self._context.detach)


def devices() -> list[CudaDevice]:
    """The driver's devices, without a context on any.  Raises DriverProblem without a driver."""
    _ask(cuda.init)
    return [_device(number, _ask(cuda.Device, number)) for number in range(_ask(cuda.Device.count))]


def _ask(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a function of PyCUDA gives.  Raises DriverProblem for an error of the driver.

    PyCUDA's errors have no number, only `FUNCTION failed: TEXT`, with the driver's own text for it; the driver
    tells which status has that text.
    """
    try:
        return function(*arguments, **named)
    except cuda.Error as error:
        call, _, rest = str(error).partition(" failed: ")
        text, _, more = rest.partition(" - ")
        status = _statuses().get(text, "CUDA_ERROR_UNKNOWN")
        words = f"{text}: {more.rstrip(chr(0))}" if more.strip("\0 ") else text
        raise DriverProblem(call, status, words, poisons=status in POISONS) from None


def _statuses() -> dict[str, str]:
    """The driver's texts of errors, with their names.  They are asked for after a failure only."""
    driver = ctypes.CDLL("libcuda.so.1")
    found: dict[str, str] = {}
    for number in range(1, _LARGEST_STATUS + 1):
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        if driver.cuGetErrorName(number, ctypes.byref(name)) == 0 and name.value is not None:
            driver.cuGetErrorString(number, ctypes.byref(text))
            found[(text.value or b"").decode()] = name.value.decode()
    return found


def _device(number: int, device: Any) -> CudaDevice:
    attributes = cuda.device_attribute

    def known(attribute: Any) -> int | None:
        """Newer drivers do not tell clocks of some devices."""
        with suppress(DriverProblem):
            return int(_ask(device.get_attribute, attribute)) or None
        return None

    major, minor = _ask(device.compute_capability)
    return CudaDevice(
        number,
        _ask(device.name),
        f"sm_{major}{minor}",
        int(_ask(device.get_attribute, attributes.MULTIPROCESSOR_COUNT)),
        Bytes(int(_ask(device.total_memory))),
        version_words(int(_ask(cuda.get_driver_version))),
        NAME,
        known(attributes.CLOCK_RATE),
        known(attributes.MEMORY_CLOCK_RATE),
        known(attributes.GLOBAL_MEMORY_BUS_WIDTH),
    )
