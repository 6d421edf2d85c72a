"""OpenCL kernels on a device through PyOpenCL; loaded in processes of their own only, which drivers may take down."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from orio_py.measure.opencl.pocl import use_home

SCRATCH = tempfile.TemporaryDirectory(prefix="orio-pocl-")
os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
os.environ.setdefault("POCL_CACHE_DIR", SCRATCH.name)

import pyopencl as cl  # noqa: E402 - after the settings

use_home()


class DriverKernels:
    """The kernels of a text on the first device; buffers are those of PyOpenCL."""

    name = "the driver"

    def __init__(self, text: str, folder: Path, options: Sequence[str] = ()) -> None:
        """Build them.  Raises pyopencl.Error."""
        del folder
        program = cl.Program(_queue().context, text)
        with warnings.catch_warnings():
            # A compiler that cannot unroll a loop as a pragma asks says so, and leaves the loop as it is.
            warnings.simplefilter("ignore", cl.CompilerWarning)
            program.build(list(options))
        self._kernels = {kernel.function_name: kernel for kernel in program.all_kernels()}

    def buffer(self, size: int) -> Any:
        """So many bytes."""
        return cl.Buffer(_queue().context, cl.mem_flags.READ_WRITE, size)

    def part(self, buffer: Any, first: int, size: int) -> Any:
        """A part of a buffer."""
        return buffer.get_sub_region(first, size)

    def write(self, buffer: Any, array: Any) -> None:
        """From the host to the beginning of a buffer."""
        cl.enqueue_copy(_queue(), buffer, np.ascontiguousarray(array))

    def read(self, array: Any, buffer: Any) -> None:
        """From the beginning of a buffer to the host."""
        cl.enqueue_copy(_queue(), array, buffer)

    def launch(
        self, kernel: str, total: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]
    ) -> None:
        """Run a kernel with so many items and wait for it."""
        self._kernels[kernel](_queue(), tuple(total), group, *arguments)
        _queue().finish()


@cache
def _queue() -> Any:
    """A queue on the first device."""
    device = next(device for platform in cl.get_platforms() for device in platform.get_devices())
    return cl.CommandQueue(cl.Context([device]))
