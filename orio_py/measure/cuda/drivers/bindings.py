"""NVIDIA's own bindings to its driver (`cuda-bindings`, of the extra `cuda`); only worker processes import this.

Every function is that of the CUDA Driver API with the same name.  The device's primary context is used, which other
libraries of the process share.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from cuda.bindings import driver as cu

from orio_py.core.units import Bytes, Seconds
from orio_py.measure.cuda.drivers.base import Address, DriverProblem
from orio_py.measure.cuda.drivers.nvml import Clocks
from orio_py.measure.cuda.drivers.packing import Packed, place_of
from orio_py.measure.cuda.drivers.status import POISONS, version_words
from orio_py.record.cuda import CudaDevice

NAME = "cuda-bindings"

_NAME_LENGTH = 256
_ATTRIBUTES = cu.CUdevice_attribute
_FUNCTION = cu.CUfunction_attribute


class _Owned:
    """A module, stream or event of the driver, given back when nobody holds it any more."""

    def __init__(self, handle: Any, give_back: Callable[[Any], None]) -> None:
        self.handle = handle
        self._end = weakref.finalize(self, give_back, handle)
        self._end.atexit = False  # the context is gone by then

    def end(self) -> None:
        """Give it back now."""
        self._end()


@dataclass(frozen=True, slots=True)
class BindingsKernel:
    """A kernel, which keeps its module."""

    name: str
    function: Any
    module: _Owned


class BindingsDriver:
    """`CudaDriver` by `cuda-bindings`.  Opening it raises DriverProblem without a driver or such a device."""

    def __init__(self, number: int = 0) -> None:
        ask(cu.cuInit, 0)
        self._handle = ask(cu.cuDeviceGet, number)
        self._device = _device(number)
        context = ask(cu.cuDevicePrimaryCtxRetain, self._handle)
        self._is_open = True
        self._owned: weakref.WeakSet[_Owned] = weakref.WeakSet()
        self._memory: set[int] = set()
        self._pinned: dict[int, Any] = {}
        self._held: list[Any] = []
        self._clocks: Clocks | None = None
        try:
            ask(cu.cuCtxSetCurrent, context)
        except DriverProblem:
            self.close()
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

    def kernels(self, image: bytes, names: Sequence[str]) -> tuple[BindingsKernel, ...]:
        """As in `CudaDriver`; the module is unloaded with the last of its kernels."""
        module = self._own(ask(cu.cuModuleLoadData, image), _unload)
        found = [(name, ask(cu.cuModuleGetFunction, module.handle, name.encode())) for name in names]
        return tuple(BindingsKernel(name, function, module) for name, function in found)

    def allow_shared(self, kernel: BindingsKernel, dynamic_bytes: Bytes, carveout: int | None) -> None:
        """As in `CudaDriver`."""
        size = _FUNCTION.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        ask(cu.cuFuncSetAttribute, kernel.function, size, dynamic_bytes)
        if carveout is not None:
            share = _FUNCTION.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
            ask(cu.cuFuncSetAttribute, kernel.function, share, carveout)

    def allocate(self, size: Bytes) -> Address:
        """As in `CudaDriver`; no bytes are one, as the driver refuses none."""
        address = int(ask(cu.cuMemAlloc, max(size, 1)))
        self._memory.add(address)
        return Address(address)

    def free(self, address: Address) -> None:
        """As in `CudaDriver`."""
        ask(cu.cuMemFree, address.value)
        self._memory.discard(address.value)

    def fill(self, address: Address, byte: int, size: Bytes) -> None:
        """As in `CudaDriver`; it is done when this returns, for no stream waits for the default one."""
        if size:
            ask(cu.cuMemsetD8, address.value, byte, size)
            ask(cu.cuStreamSynchronize, 0)

    def copy_to_device(self, address: Address, data: Any, stream: Any = None) -> None:
        """As in `CudaDriver`; the array is kept until the device is waited for."""
        if data.nbytes:
            ask(cu.cuMemcpyHtoDAsync, address.value, place_of(data), data.nbytes, _stream(stream))
            self._held.append(data)

    def copy_to_host(self, data: Any, address: Address, stream: Any = None) -> None:
        """As in `CudaDriver`; the array is kept until the device is waited for."""
        if data.nbytes:
            ask(cu.cuMemcpyDtoHAsync, place_of(data), address.value, data.nbytes, _stream(stream))
            self._held.append(data)

    def pinned(self, size: Bytes) -> Any:
        """As in `CudaDriver`."""
        place = int(ask(cu.cuMemHostAlloc, max(size, 1), 0))
        memory = memoryview((ctypes.c_ubyte * max(size, 1)).from_address(place))
        self._pinned[place] = memory
        return np.frombuffer(memory, np.uint8)[:size]

    def release(self, data: Any) -> None:
        """As in `CudaDriver`; the array must not be used any more."""
        place = data.ctypes.data
        ask(cu.cuMemFreeHost, place)
        self._pinned.pop(place, None)

    def launch(
        self,
        kernel: BindingsKernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arguments: Sequence[Any],
        *,
        dynamic_bytes: Bytes = Bytes(0),
        stream: Any = None,
    ) -> None:
        """As in `CudaDriver`."""
        packed = Packed(arguments)
        where = _stream(stream)
        ask(cu.cuLaunchKernel, kernel.function, *grid, *block, dynamic_bytes, where, packed.address, 0)

    def new_stream(self) -> Any:
        """As in `CudaDriver`."""
        return self._own(ask(cu.cuStreamCreate, cu.CUstream_flags.CU_STREAM_NON_BLOCKING), _destroy_stream)

    def new_event(self) -> Any:
        """As in `CudaDriver`."""
        return self._own(ask(cu.cuEventCreate, cu.CUevent_flags.CU_EVENT_DEFAULT), _destroy_event)

    def record(self, event: Any, stream: Any = None) -> None:
        """As in `CudaDriver`."""
        ask(cu.cuEventRecord, event.handle, _stream(stream))

    def wait(self, stream: Any, event: Any) -> None:
        """As in `CudaDriver`."""
        ask(cu.cuStreamWaitEvent, _stream(stream), event.handle, 0)

    def seconds(self, begin: Any, end: Any) -> Seconds:
        """As in `CudaDriver`; the driver counts in half microseconds."""
        return Seconds(1e-3 * ask(cu.cuEventElapsedTime, begin.handle, end.handle))

    def synchronize(self, stream: Any = None) -> None:
        """As in `CudaDriver`."""
        if stream is None:
            ask(cu.cuCtxSynchronize)
            self._held.clear()
        else:
            ask(cu.cuStreamSynchronize, stream.handle)

    def clocks(self) -> dict[str, str]:
        """As in `CudaDriver`."""
        if self._clocks is None:
            self._clocks = Clocks(_text(ask(cu.cuDeviceGetPCIBusId, _NAME_LENGTH, self._handle)))
        return self._clocks.read()

    def close(self) -> None:
        """As in `CudaDriver`; what a context that went wrong does not take back is left to the end of the process."""
        if not self._is_open:
            return
        self._is_open = False
        with suppress(DriverProblem):
            ask(cu.cuCtxSynchronize)
        for thing in list(self._owned):
            thing.end()
        for give_back, things in ((cu.cuMemFree, self._memory), (cu.cuMemFreeHost, self._pinned)):
            for thing in things:
                with suppress(DriverProblem):
                    ask(give_back, thing)
            things.clear()
        if self._clocks is not None:
            self._clocks.close()
        with suppress(DriverProblem):
            ask(cu.cuDevicePrimaryCtxRelease, self._handle)

    def _own(self, handle: Any, give_back: Callable[[Any], None]) -> _Owned:
        thing = _Owned(handle, give_back)
        self._owned.add(thing)
        return thing


def devices() -> list[CudaDevice]:
    """The driver's devices, without a context on any.  Raises DriverProblem without a driver."""
    ask(cu.cuInit, 0)
    return [_device(number) for number in range(ask(cu.cuDeviceGetCount))]


def ask(function: Callable[..., tuple[Any, ...]], *arguments: Any) -> Any:
    """What a function of the driver gives beside its status.  Raises DriverProblem when that is an error.

    A driver that is missing, or too old to have the function, is told in the same way.
    """
    name: str = function.__name__
    try:
        status, *results = function(*arguments)
    except RuntimeError as error:  # the first call loads the driver
        if function is cu.cuInit:
            raise DriverProblem(name, "no driver", "libcuda.so.1 is not found, or does not load") from None
        raise DriverProblem(name, "not in this driver", str(error).splitlines()[0]) from None
    if status != cu.CUresult.CUDA_SUCCESS:
        told, text = cu.cuGetErrorString(status)
        words = _text(text) if told == cu.CUresult.CUDA_SUCCESS and text else ""
        raise DriverProblem(name, status.name, words, poisons=status.name in POISONS)
    return results[0] if results else None


def _unload(handle: Any) -> None:
    """What still runs of a module ends before it goes.  Without a context it is gone already."""
    with suppress(DriverProblem):
        ask(cu.cuCtxSynchronize)
        ask(cu.cuModuleUnload, handle)


def _destroy_stream(handle: Any) -> None:
    """What it has to do is done all the same (`cuStreamDestroy`)."""
    with suppress(DriverProblem):
        ask(cu.cuStreamDestroy, handle)


def _destroy_event(handle: Any) -> None:
    """It may be one that has not happened yet (`cuEventDestroy`)."""
    with suppress(DriverProblem):
        ask(cu.cuEventDestroy, handle)


def _device(number: int) -> CudaDevice:
    handle = ask(cu.cuDeviceGet, number)

    def attribute(name: str) -> int:
        return int(ask(cu.cuDeviceGetAttribute, getattr(_ATTRIBUTES, f"CU_DEVICE_ATTRIBUTE_{name}"), handle))

    def known(name: str) -> int | None:
        """Newer drivers do not tell clocks of some devices."""
        with suppress(DriverProblem):
            return attribute(name) or None
        return None

    major, minor = attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR")
    return CudaDevice(
        number,
        _text(ask(cu.cuDeviceGetName, _NAME_LENGTH, handle)),
        f"sm_{major}{minor}",
        attribute("MULTIPROCESSOR_COUNT"),
        Bytes(int(ask(cu.cuDeviceTotalMem, handle))),
        version_words(int(ask(cu.cuDriverGetVersion))),
        NAME,
        known("CLOCK_RATE"),
        known("MEMORY_CLOCK_RATE"),
        known("GLOBAL_MEMORY_BUS_WIDTH"),
    )


def _stream(stream: _Owned | None) -> Any:
    return 0 if stream is None else stream.handle


def _text(content: bytes) -> str:
    return content.partition(b"\0")[0].decode(errors="replace")
