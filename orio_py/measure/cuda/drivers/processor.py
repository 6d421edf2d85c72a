"""The executor on the processor as a driver of CUDA: it finds what kernels do wrong, and has no times."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orio_py.core.units import Bytes, Seconds
from orio_py.measure.cuda.drivers.base import Address, DriverProblem, Event, Stream
from orio_py.measure.cuda_cpu import CudaLibrary, cell
from orio_py.record.cuda import CudaDevice

NAME = "processor"

_SUCCESS = "cudaSuccess"
_TO_DEVICE, _TO_HOST = 1, 2  # cudaMemcpyKind
_NON_BLOCKING = 1  # cudaStreamNonBlocking
_OPTIONS = "order=forward loud=0 protect=0"


@dataclass(frozen=True, slots=True)
class ProcessorKernel:
    """A kernel of the shared object: its name, and size in bytes and kind of each parameter."""

    name: str
    parameters: tuple[tuple[int, str], ...]


class ProcessorDriver:
    """Runs the kernels of the shared object that was loaded last, which has memory and streams of its own.

    Addresses, streams and events of one that was loaded before are not to be used any more.  Whatever the executor
    finds wrong is a DriverProblem of the call after which it is known, with the executor's text.
    """

    def __init__(self, architecture: str, folder: Path) -> None:
        """`architecture` is told of the device; the limits are those that a shared object was built for.

        `folder` takes the shared object while it is loaded, in which the executor looks places up.
        """
        self._architecture = architecture
        self._folder = folder
        self._loaded: CudaLibrary | None = None
        self._file: Path | None = None

    @property
    def name(self) -> str:
        """`processor`."""
        return NAME

    @property
    def has_times(self) -> bool:
        """Never."""
        return False

    @property
    def device(self) -> CudaDevice:
        """The processor under the name of an architecture, without multiprocessors or memory of its own."""
        return CudaDevice(0, "executor on the processor", self._architecture, 0, Bytes(0), "none", NAME)

    def kernels(self, image: bytes, names: Sequence[str]) -> tuple[ProcessorKernel, ...]:
        """Load a shared object."""
        self.close()
        handle, place = tempfile.mkstemp(suffix=".so", dir=self._folder)
        self._file = Path(place)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(image)
            library = CudaLibrary(self._file)
            found = tuple(ProcessorKernel(name, library.parameters(name)) for name in names)
        except (OSError, ValueError) as error:
            raise DriverProblem("dlopen", "cudaErrorInvalidKernelImage", str(error)) from None
        number = (
            f" arch={library.functions.orio_cuda_architecture()}"
            if hasattr(library.functions, "orio_cuda_architecture")
            else ""
        )
        library.set_options(_OPTIONS + number)
        self._loaded = library
        return found

    def allow_shared(self, kernel: ProcessorKernel, dynamic_bytes: Bytes, carveout: int | None) -> None:
        """Allow dynamic shared memory; there is no cache to share it with."""
        del carveout
        self._call(f"orio_allow_{kernel.name}", int(dynamic_bytes))

    def allocate(self, size: Bytes) -> Address:
        """Memory that is uninitialised to the executor."""
        pointer = ctypes.c_void_p()
        self._call("cudaMalloc", ctypes.byref(pointer), ctypes.c_size_t(size))
        return Address(pointer.value or 0)

    def free(self, address: Address) -> None:
        """Give memory back."""
        self._call("cudaFree", ctypes.c_void_p(address.value))

    def fill(self, address: Address, byte: int, size: Bytes) -> None:
        """Set bytes."""
        self._call("cudaMemset", ctypes.c_void_p(address.value), byte, ctypes.c_size_t(size))

    def copy_to_device(self, address: Address, data: Any, stream: Stream = None) -> None:
        """Copy to the device; without a stream this waits for what was started before."""
        self._copy(ctypes.c_void_p(address.value), _place(data), data.nbytes, _TO_DEVICE, stream)

    def copy_to_host(self, data: Any, address: Address, stream: Stream = None) -> None:
        """Copy from the device; without a stream this waits for what was started before."""
        self._copy(_place(data), ctypes.c_void_p(address.value), data.nbytes, _TO_HOST, stream)

    def pinned(self, size: Bytes) -> Any:
        """Pinned memory of the executor."""
        pointer = ctypes.c_void_p()
        self._call("cudaMallocHost", ctypes.byref(pointer), ctypes.c_size_t(size))
        return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_uint8)), (size,))

    def release(self, data: Any) -> None:
        """Give pinned memory back."""
        self._call("cudaFreeHost", _place(data))

    def launch(
        self,
        kernel: ProcessorKernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arguments: Sequence[Any],
        *,
        dynamic_bytes: Bytes = Bytes(0),
        stream: Stream = None,
    ) -> None:
        """Start a kernel, which runs when it is waited for."""
        cells = [
            ctypes.c_void_p(value.value) if isinstance(value, Address) else cell(size, kind, value)
            for (size, kind), value in zip(kernel.parameters, arguments, strict=True)
        ]
        pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(one) for one in cells))
        extents = [(ctypes.c_uint * 3)(*extent) for extent in (grid, block)]
        self._call(f"orio_launch_{kernel.name}", *extents, pointers, ctypes.c_size_t(dynamic_bytes), stream)

    def new_stream(self) -> Stream:
        """A stream that does not wait for the default one."""
        stream = ctypes.c_void_p()
        self._call("cudaStreamCreateWithFlags", ctypes.byref(stream), _NON_BLOCKING)
        return stream

    def new_event(self) -> Event:
        """An event."""
        event = ctypes.c_void_p()
        self._call("cudaEventCreate", ctypes.byref(event))
        return event

    def record(self, event: Event, stream: Stream = None) -> None:
        """Let the event happen behind what is in the stream."""
        self._call("cudaEventRecord", event, stream)

    def wait(self, stream: Stream, event: Event) -> None:
        """Let a stream wait for an event."""
        self._call("cudaStreamWaitEvent", stream, event, 0)

    def seconds(self, begin: Event, end: Event) -> Seconds:
        """Always 0: there is no GPU whose time it could be."""
        del begin, end
        return Seconds(0.0)

    def synchronize(self, stream: Stream = None) -> None:
        """Run what waits in a stream, or everything."""
        if stream is None:
            self._call("cudaDeviceSynchronize")
        else:
            self._call("cudaStreamSynchronize", stream)

    def clocks(self) -> dict[str, str]:
        """Nothing: there is no GPU."""
        return {}

    def close(self) -> None:
        """Give the memory of the shared object back."""
        if self._loaded is not None:
            self._loaded.functions.cudaDeviceReset()
            self._loaded.functions.orio_cuda_cpu_clear()
            self._loaded = None
        if self._file is not None:
            self._file.unlink(missing_ok=True)
            self._file = None

    def _copy(
        self, to: ctypes.c_void_p, source: ctypes.c_void_p, size: int, kind: int, stream: Stream
    ) -> None:
        if stream is None:
            self._call("cudaMemcpy", to, source, ctypes.c_size_t(size), kind)
        else:
            self._call("cudaMemcpyAsync", to, source, ctypes.c_size_t(size), kind, stream)

    def _call(self, function: str, *arguments: Any) -> None:
        """Call the runtime.  Raises DriverProblem when that fails, or the executor has found something wrong."""
        if self._loaded is None:
            raise DriverProblem(function, "cudaErrorInitializationError", "no shared object was loaded")
        functions = self._loaded.functions
        status = str(functions.cudaGetErrorName(getattr(functions, function)(*arguments)).decode())
        count = functions.orio_cuda_cpu_problems()
        if status == _SUCCESS and count == 0:
            return
        told = functions.orio_cuda_cpu_report().decode("utf-8", "replace").strip()
        functions.orio_cuda_cpu_clear()
        raise DriverProblem(function, status, told, poisons=True)


def processor_driver(architecture: str) -> ProcessorDriver:
    """The executor, for shared objects of `build.cuda_cpu`; files go to the current folder."""
    return ProcessorDriver(architecture, Path.cwd())


def _place(data: Any) -> ctypes.c_void_p:
    return data.ctypes.data_as(ctypes.c_void_p)
