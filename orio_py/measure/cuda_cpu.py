"""Runs CUDA kernels that `build.cuda_cpu` built into a shared object, on arrays of numpy, and tells what is wrong.

For correctness only: nothing here takes a time.  A kernel that never ends keeps its process; who runs kernels
that nobody knows does so in a process of its own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_TO_DEVICE, _TO_HOST = 1, 2  # cudaMemcpyKind

_INTEGERS = {1: "b", 2: "h", 4: "i", 8: "q"}


class _Parameter(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_size_t), ("kind", ctypes.c_char))


@dataclass(frozen=True, slots=True)
class KernelRun:
    """How a launch went: CUDA's status by name, the problems told, each once, and how many there were."""

    status: str
    problems: tuple[str, ...]
    count: int

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return self.status == "cudaSuccess" and self.count == 0


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """How kernels are run.

    `orders`: of the threads of a block and of the blocks, `forward`, `backward` or `random`; with several each is
    run on the same inputs, and results that differ in a bit are a problem.  `fresh` numbers the arguments whose
    arrays are not copied to the device, so that a kernel which reads them is told.  `architecture` is one of
    75, 80, 86, 89, 90, 100 and 120.
    """

    orders: Sequence[str] = ("forward",)
    seed: int = 1
    fresh: Collection[int] = ()
    architecture: int = 90


class CudaLibrary:
    """The kernels of a shared object; `functions` are its entries, the calls of CUDA's runtime among them."""

    def __init__(self, path: Path) -> None:
        """Load it.  Raises OSError where that is not possible."""
        self.functions: Any = ctypes.CDLL(str(path))
        for name, result in (
            ("orio_cuda_cpu_report", ctypes.c_char_p),
            ("orio_cuda_cpu_problems", ctypes.c_long),
            ("cudaGetErrorName", ctypes.c_char_p),
        ):
            getattr(self.functions, name).restype = result

    def launch(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Any],
        *,
        shared_bytes: int = 0,
        options: LaunchOptions | None = None,
    ) -> KernelRun:
        """Launch a kernel and wait for it; arrays behind pointers that are not `const` are changed in place.

        `grid` and `block` have one to three extents.  An array stands for a pointer to its copy on the device,
        None for a null pointer, a number for a value of the parameter's type.  Raises ValueError for a kernel
        that is not there and for arguments that do not fit.
        """
        options = options or LaunchOptions()
        parameters = self.parameters(name)
        _check_arguments(name, parameters, arguments)
        inputs = _copies(arguments)
        status, told, count = "cudaSuccess", "", 0
        for order in options.orders:
            values = _copies(inputs)
            self.set_options(
                f"order={order} seed={options.seed} arch={options.architecture} loud=0 protect=0"
            )
            status = self._run(name, (grid, block), parameters, (values, options.fresh), shared_bytes)
            told += self.functions.orio_cuda_cpu_report().decode("utf-8", "replace")
            count += self.functions.orio_cuda_cpu_problems()
            self.functions.orio_cuda_cpu_clear()
            if status != "cudaSuccess":
                break
            if order == options.orders[0]:
                _put_back(values, arguments)
            elif (argument := _difference(values, arguments)) is not None:
                count += 1
                told += (
                    f"kernel {name}: argument {argument} differs between the orders {options.orders[0]} and "
                    f"{order} of its threads\n"
                )
        return KernelRun(status, tuple(told.splitlines()), count)

    def parameters(self, name: str) -> tuple[tuple[int, str], ...]:
        """Size in bytes and kind of each parameter of a kernel.  Raises ValueError for one that is not there."""
        if not name.isidentifier() or not hasattr(self.functions, f"orio_parameters_{name}"):
            raise ValueError(f"the shared object has no kernel `{name}`")
        function = getattr(self.functions, f"orio_parameters_{name}")
        function.restype = ctypes.POINTER(_Parameter)
        found = function()
        count = 0
        while found[count].bytes != 0:
            count += 1
        return tuple((found[k].bytes, found[k].kind.decode()) for k in range(count))

    def set_options(self, text: str) -> None:
        """Set options of the executor.  Raises ValueError for one that it does not know."""
        if self.functions.orio_cuda_cpu_options(text.encode()) != 0:
            raise ValueError(f"the executor does not know all of the options `{text}`")

    def _run(
        self,
        name: str,
        shape: tuple[Sequence[int], Sequence[int]],
        parameters: Sequence[tuple[int, str]],
        arguments: tuple[Sequence[Any], Collection[int]],
        shared_bytes: int,
    ) -> str:
        """One launch; the name of CUDA's first status that is not a success."""
        library = self.functions
        values, fresh = arguments
        cells: list[Any] = []
        buffers: list[tuple[int, ctypes.c_void_p, Any]] = []
        status = 0
        for k, ((size, kind), value) in enumerate(zip(parameters, values, strict=True)):
            if _is_array(value):
                pointer = ctypes.c_void_p()
                status = status or library.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(value.nbytes))
                if k not in fresh and status == 0:
                    status = _copy(library, pointer, value.ctypes.data_as(ctypes.c_void_p), value, _TO_DEVICE)
                buffers.append((k, pointer, value))
                cells.append(pointer)
            else:
                cells.append(cell(size, kind, value))
        pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(cell) for cell in cells))
        if shared_bytes > 48 * 1024:
            status = status or getattr(library, f"orio_allow_{name}")(shared_bytes)
        extents = [(ctypes.c_uint * 3)(*(*extent, 1, 1)[:3]) for extent in shape]
        launch = getattr(library, f"orio_launch_{name}")
        status = status or launch(*extents, pointers, ctypes.c_size_t(shared_bytes), None)
        status = status or library.cudaDeviceSynchronize()
        for k, pointer, value in buffers:
            if status == 0 and parameters[k][1] == "p":
                status = _copy(library, value.ctypes.data_as(ctypes.c_void_p), pointer, value, _TO_HOST)
        library.cudaDeviceReset()
        return str(library.cudaGetErrorName(status).decode())


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _copies(values: Sequence[Any]) -> list[Any]:
    return [value.copy() if _is_array(value) else value for value in values]


def _put_back(values: Sequence[Any], arrays: Sequence[Any]) -> None:
    for value, array in zip(values, arrays, strict=True):
        if _is_array(array):
            array[...] = value


def _difference(values: Sequence[Any], others: Sequence[Any]) -> int | None:
    """The first argument whose arrays differ in a bit."""
    for k, (value, other) in enumerate(zip(values, others, strict=True)):
        if _is_array(value) and value.tobytes() != other.tobytes():
            return k
    return None


def _copy(library: Any, to: ctypes.c_void_p, source: ctypes.c_void_p, value: Any, kind: int) -> int:
    return int(library.cudaMemcpy(to, source, ctypes.c_size_t(value.nbytes), kind))


def _check_arguments(name: str, parameters: Sequence[tuple[int, str]], arguments: Sequence[Any]) -> None:
    if len(parameters) != len(arguments):
        raise ValueError(f"kernel `{name}` has {len(parameters)} parameters, not {len(arguments)}")
    for k, ((_, kind), value) in enumerate(zip(parameters, arguments, strict=True)):
        if _is_array(value) and not value.flags.c_contiguous:
            raise ValueError(f"argument {k} of kernel `{name}` is an array with gaps")
        is_address = _is_array(value) or value is None
        if kind == "x" or is_address != (kind in "pc"):
            raise ValueError(f"argument {k} of kernel `{name}` does not fit its parameter (kind `{kind}`)")


def cell(size: int, kind: str, value: Any) -> Any:
    """Memory that holds a value of a parameter's type, with its size in bytes and its kind."""
    if kind in "pc":
        return ctypes.c_void_p(None)
    letter = (
        {4: "f", 8: "d"}[size] if kind == "f" else _INTEGERS[size].upper() if kind == "u" else _INTEGERS[size]
    )
    return (ctypes.c_char * size).from_buffer(bytearray(np.array(value).astype(letter).tobytes()))
