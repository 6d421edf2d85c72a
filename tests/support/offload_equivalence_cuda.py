"""Random kernels in CUDA, with their host code, on the processor beside the loops that they stand for."""

from __future__ import annotations

import ctypes
import mmap
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from offload_equivalence import Build, Memory, Reach, Variant, c_function, definitions
from random_kernel_parts import cuda_launch
from random_kernels import RandomKernel, random_kernel

from orio_py.build.compiler import Artifact
from orio_py.build.cuda_cpu import CudaOnCpu, cuda_on_cpu
from orio_py.codegen.cuda.host import host_header, host_source
from orio_py.codegen.device import host_parameters
from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.ctree.emit import emit
from orio_py.kernel.call import size_name, slice_names
from orio_py.kernel.plan import BufferPlan, Direction, KernelPlan

RUNS = (
    "order=random streams=random",
    "order=forward streams=lazy",
    "order=backward streams=eager",
    "order=random streams=lazy",
)
"""Options of the executor: in which order threads, blocks and streams run."""

_PAGE = mmap.PAGESIZE
_HEAD = """\
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include "batch_cuda.h"
extern int cudaMalloc(void **, size_t), cudaFree(void *), cudaMemcpy(void *, const void *, size_t, int);
extern int cudaDeviceSynchronize(void);
long launched;
int equivalence_release(void) { return orio_cuda_batch_release(); }
void *equivalence_on_error(void *handler) { return orio_cuda_batch_on_error((orio_cuda_batch_handler)handler); }
"""
_COUNTED = """\
extern "C" long launched;
#define cudaLaunchKernel launched++, cudaLaunchKernel
"""


def random_cuda_kernel(seed: int) -> RandomKernel:
    """The case of a seed, the same each time."""
    return random_kernel(seed, cuda_launch)


def cuda_build(options: Sequence[str] = RUNS[:1]) -> Build:
    """What builds kernels and host code that run with options of the executor."""
    return lambda variants, folder: _CudaRunner(variants, folder, options)


class _CudaRunner:
    def __init__(self, variants: Sequence[Variant], folder: Path, options: Sequence[str]) -> None:
        self._library = _library(variants, folder, cuda_on_cpu(folder))
        self._library.orio_cuda_cpu_report.restype = ctypes.c_char_p
        self._library.orio_cuda_cpu_problems.restype = ctypes.c_long
        words = f"{' '.join(options)} arch=75 loud=0 protect=0"
        assert self._library.orio_cuda_cpu_options(words.encode()) == 0, words
        self._failures: list[str] = []
        self._handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p)(self._failed)
        self._library.equivalence_on_error.argtypes = (ctypes.c_void_p,)
        self._library.equivalence_on_error(ctypes.cast(self._handler, ctypes.c_void_p))

    def _failed(self, status: int, message: bytes) -> None:
        self._failures.append(f"{message.decode()} ({status})")

    @property
    def launches(self) -> int:
        """Of kernels so far."""
        return ctypes.c_long.in_dll(self._library, "launched").value

    def ways(self, variant: Variant) -> Sequence[str]:
        """With copies, and for arrays on the device where there are functions for them."""
        name = f"variant_{variant.seed}"
        return (name, f"{name}_on_device") if _is_on_device(variant) else (name,)

    def call(self, name: str, memory: Memory, reach: Reach) -> str | None:
        """Run a function over arrays behind or before which memory ends; what went wrong."""
        self._failures.clear()
        with_end = len(name) % 2 == 0 or sum(memory.sizes) % 2 == 0
        copies = {part: _Guarded(memory.parts[part], reach[part], with_end=with_end) for part in memory.parts}
        memory.call(self._library[name], {part: copy.address for part, copy in copies.items()})
        for part, copy in copies.items():
            copy.put_back(memory.parts[part])
        if self._library.orio_cuda_cpu_problems():
            self._failures.append(self._library.orio_cuda_cpu_report().decode("utf-8", "replace"))
            self._library.orio_cuda_cpu_clear()
        problem = "; ".join(self._failures).replace("\n", "; ") or None
        if problem is not None:
            # An error of the device stays until it is reset, behind the back of the host code.
            self._library.equivalence_release()
            self._library.cudaDeviceReset()
            self._library.orio_cuda_cpu_clear()
        return problem


class _Guarded:
    """A copy of the bytes of an array that are reached, which ends, or begins, beside an inaccessible page."""

    def __init__(self, part: Any, reach: tuple[int, int], *, with_end: bool) -> None:
        self._reach = reach
        self._size = reach[1] - reach[0]
        inside = -(-self._size // _PAGE) * _PAGE
        self._pages = mmap.mmap(-1, inside + 2 * _PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))
        self._start = start + _PAGE + (inside - self._size if with_end else 0)
        ctypes.memmove(self._start, part.ctypes.data + reach[0], self._size)
        for page in (start, start + _PAGE + inside):
            assert _LIBRARY.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(_PAGE), 0) == 0

    @property
    def address(self) -> int:
        """Where the array would begin."""
        return self._start - self._reach[0]

    def put_back(self, part: Any) -> None:
        """The bytes into the array."""
        ctypes.memmove(part.ctypes.data + self._reach[0], self._start, self._size)


_LIBRARY = ctypes.CDLL(None)


def _is_on_device(variant: Variant) -> bool:
    """Whether all kernels have functions for arrays on the device, which take arrays as these lie."""
    plans = variant.plans
    turned = any(buffer.rows for plan in plans for buffer in plan.buffers)
    return all(plan.options.on_device for plan in plans) and not turned


def _library(variants: Sequence[Variant], folder: Path, toolkit: CudaOnCpu) -> ctypes.CDLL:
    """The functions of all cases with kernels and host code."""
    plans = [plan for variant in variants for plan in variant.plans]
    unit = HostUnit("batch", "batch_cuda", tuple(HostKernel(plan, "", plan.name) for plan in plans))
    (folder / "batch_cuda.cu").write_bytes(host_source(unit).data)
    (folder / "batch_cuda.h").write_bytes(host_header(unit).data)
    lines = [_HEAD, *definitions([variant.kernel for variant in variants])]
    lines += [_on_device(plan) for plan in plans if plan.options.on_device]
    for variant in variants:
        text = emit(variant.tree, braces=True)
        lines.append(c_function(variant.kernel, f"variant_{variant.seed}", text))
        if _is_on_device(variant):
            for plan in variant.plans:
                text = text.replace(f"{plan.name}(", f"device_{plan.name}(")
            lines.append(c_function(variant.kernel, f"variant_{variant.seed}_on_device", text))
    (folder / "regions.c").write_text("\n".join(lines))
    flags = ["-std=c99", "-O0", "-w", "-fPIC"]
    subprocess.run(["gcc", *flags, "-c", "regions.c", "-o", "regions.o"], cwd=folder, check=True, timeout=120)
    subprocess.run(["ar", "rcs", "libregions.a", "regions.o"], cwd=folder, check=True)
    link = f"-Wl,--whole-archive,{folder}/libregions.a,--no-whole-archive"
    (folder / "counted.h").write_text(_COUNTED)
    words = [
        "-O0",
        "-Wno-sign-compare",
        "-Wno-bool-compare",
        "-include",
        f"{folder}/counted.h",
        "-shared",
        link,
        "-lm",
    ]
    built = toolkit.build_program([folder / "batch_cuda.cu"], folder / "batch.so", flags=words)
    assert isinstance(built, Artifact), built.log
    return ctypes.CDLL(str(built.path))


def _on_device(plan: KernelPlan) -> str:
    """A function like the kernel's own that copies arrays to the device and back itself."""
    parameters = host_parameters(plan)
    listed = ", ".join(f"{kind} {name}" for kind, name in parameters)
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    left_out = {name for b in buffers for name in (f"orio_count_{b}", *slice_names(b))}
    given = ", ".join(
        f"device_{name}" if name in buffers else name for _, name in parameters if name not in left_out
    )
    empty = " || ".join(f"orio_trips_{axis.index} <= 0" for axis in plan.axes)
    lines = [f"void device_{plan.name}({listed}) {{", f"  if ({empty}) return;"]
    for name, buffer in buffers.items():
        size = _bytes(buffer)
        lines += [f"  void *device_{name}; cudaMalloc(&device_{name}, {size} > 0 ? {size} : 1);"]
        if buffer.direction is not Direction.OUT:
            lines += [f"  cudaMemcpy(device_{name}, {name}, {size}, 1);"]
    lines += [f"  {plan.name}_on_device({given}, NULL); cudaDeviceSynchronize();"]
    for name, buffer in buffers.items():
        if buffer.direction is not Direction.IN:
            lines += [f"  cudaMemcpy((void *){name}, device_{name}, {_bytes(buffer)}, 2);"]
        lines += [f"  cudaFree(device_{name});"]
    return "\n".join([*lines, "}"])


def _bytes(buffer: BufferPlan) -> str:
    count = f"orio_count_{buffer.name}"
    size = f"sizeof *{buffer.name}" if buffer.record is None else size_name(buffer.name)
    return f"({count} > 0 ? {count} * {size} : 0)"
