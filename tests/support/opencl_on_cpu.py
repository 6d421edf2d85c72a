"""Runs the text of OpenCL kernels by the host's C++ compiler: a second opinion where a driver's results are wrong.

The executor of CUDA kernels runs them (docs/reference/cuda-cpu.md), with `opencl_on_cpu.h` for OpenCL C.  Races,
addresses outside of a buffer and undefined behaviour are told, so that a text which is right by chance is not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from orio_py.build.compiler import Artifact
from orio_py.build.cuda_cpu import Check, cuda_on_cpu
from orio_py.measure.cuda_cpu import CudaLibrary

HEADER = Path(__file__).resolve().with_suffix(".h")

# A shared object of a name that is loaded already would not be loaded again.
_NUMBERS = count()

_VECTOR = re.compile(r"\((u?(?:char|short|int|long)|float|double)(2|4|8|16)\)\(")
_HINT = re.compile(
    r"__attribute__\(\((?:reqd_work_group_size|work_group_size_hint|vec_type_hint)\([^)]*\)\)\)"
)
_PRAGMA = re.compile(r"^#pragma OPENCL.*$", re.MULTILINE)


class HostKernels:
    """The kernels of a text, compiled for the processor; buffers are arrays of bytes."""

    name = "the host's compiler"

    def __init__(self, text: str, folder: Path, options: Sequence[str] = ()) -> None:
        """Build them.  Raises AssertionError with the compiler's log; `options` are a driver's and left out."""
        del options
        built = cuda_on_cpu(folder).build_library(
            as_cpp(text),
            folder / f"text{next(_NUMBERS)}.so",
            check=Check.ACCESSES,
            flags=("-include", str(HEADER), "-w"),
        )
        assert isinstance(built, Artifact), built.log
        self._library = CudaLibrary(built.path)

    def buffer(self, size: int) -> Any:
        """So many bytes."""
        return np.empty(size, np.uint8)

    def part(self, buffer: Any, first: int, size: int) -> Any:
        """A part of a buffer."""
        return buffer[first : first + size]

    def write(self, buffer: Any, array: Any) -> None:
        """From the host to the beginning of a buffer."""
        content = np.ascontiguousarray(array).view(np.uint8).ravel()
        buffer[: content.size] = content

    def read(self, array: Any, buffer: Any) -> None:
        """From the beginning of a buffer to the host."""
        target = array.view(np.uint8).reshape(-1)
        target[:] = buffer[: target.size]

    def launch(
        self, kernel: str, total: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]
    ) -> None:
        """Run a kernel with so many items and wait for it."""
        items = group if group is not None else (1,) * len(total)
        grid = tuple(a // b for a, b in zip(total, items, strict=True))
        ran = self._library.launch(kernel, grid, items, arguments)
        assert ran.ok, (ran.status, ran.problems)


def as_cpp(text: str) -> str:
    """The text with what no header can express: kernels' linkage and literals of vectors.

    >>> as_cpp("__kernel void f(__global int *x) { vstore2((int2)(1, f(2)), 0, x); }")
    'extern "C" __global__ void f(__global int *x) { vstore2(int2(1, f(2)), 0, x); }'
    """
    plain = _PRAGMA.sub("", _HINT.sub("", text))
    literals = [match for match in _VECTOR.finditer(plain) if _has_several(plain, match.end())]
    for match in reversed(literals):
        plain = f"{plain[: match.start()]}{match[1]}{match[2]}({plain[match.end() :]}"
    return plain.replace("__kernel", 'extern "C" __global__')


def _has_several(text: str, start: int) -> bool:
    """Whether there is a comma between the parentheses that open before `start`; casts have none."""
    depth = 1
    for character in text[start:]:
        depth += (character == "(") - (character == ")")
        if depth == 0 or (depth == 1 and character == ","):
            return depth == 1
    return False
