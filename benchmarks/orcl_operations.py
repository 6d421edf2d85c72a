"""The OrCL paper's linear algebra, ready to run: a tuned kernel, a plain one, and ViennaCL's operation.

All compute from the same inputs, so that results can be compared, and keep their data on the device while they are
timed.  Times are the host's, from the call until all is done; for sums they contain the way of the partial results
to the host.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import isqrt
from pathlib import Path
from typing import Protocol

import numpy as np
import pyopencl as cl

from orio_py.codegen.device import ArgumentKind, DeviceProgram, group_counts, kernel_arguments
from orio_py.core.expr import Value
from orio_py.tuning.files.load import load
from orio_py.tuning.variants.variant import VariantGenerator

HERE = Path(__file__).resolve().parent
PARTIALS = 1024
"""Items, and so partial results, of the plain sums."""
TOLERANCE = 1e-9
"""Relative to the largest element; sums are added up in other orders, which changes less."""

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One kernel of the paper: its arrays with the inputs they hold, its scalars, the body of a plain kernel.

    `output` is the array with the result, '' for a sum.
    """

    arrays: Mapping[str, int | str]
    output: str
    body: str
    scalars: Mapping[str, float] = field(default_factory=lambda: {"alpha": 0.999})

    @property
    def is_sum(self) -> bool:
        """Whether the result is one number."""
        return not self.output


_SUM = "double s = 0.0; for (long k = i; k < n; k += get_global_size(0)) s += {term}; partial[i] = s;"
_FOUR = {"alpha1": 0.999, "alpha2": 0.5, "alpha3": 0.25, "alpha4": 0.125}
_MAXPY = "y[i] = y[i] + alpha1 * x1[i] + alpha2 * x2[i] + alpha3 * x3[i] + alpha4 * x4[i];"
OPERATIONS: Mapping[str, Operation] = {
    "matvec": Operation(
        {"A": "matrix", "x": "row", "y": 0},
        "y",
        "double s = 0.0; for (long j = 0; j < n; j++) s += A[i * n + j] * x[j]; y[i] = s;",
    ),
    "vecaxpy": Operation({"x": 0, "y": 1}, "y", "y[i] = y[i] + alpha * x[i];"),
    "vecmaxpy": Operation({"x1": 0, "x2": 1, "x3": 2, "x4": 3, "y": 4}, "y", _MAXPY, _FOUR),
    "vecscale": Operation({"w": 0}, "w", "w[i] = alpha * w[i];"),
    "vecwaxpy": Operation({"x": 0, "y": 1, "w": 2}, "w", "w[i] = y[i] + alpha * x[i];"),
    "dot": Operation({"x": 0, "y": 1}, "", _SUM.format(term="x[k] * y[k]")),
    "norm": Operation({"x": 0}, "", _SUM.format(term="x[k] * x[k]")),
}
"""Arrays name a vector by its number in the inputs, the matrix, or the vector that it is multiplied with."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Five vectors of `n` numbers, a matrix of as many elements in all, and a vector as long as its rows."""

    vectors: Numbers
    matrix: Numbers
    row: Numbers

    @classmethod
    def of(cls, n: int) -> Inputs:
        """The same numbers in every run, between 0.5 and 1.5 so that sums do not cancel."""
        rng = np.random.default_rng(1)
        rows = isqrt(n)
        return cls(rng.random((5, n)) + 0.5, rng.random((rows, rows)) + 0.5, rng.random(rows) + 0.5)

    def array(self, place: int | str, n: int) -> Numbers:
        """What an array of an operation over `n` elements holds."""
        match place:
            case "matrix":
                return self.matrix
            case "row":
                return self.row
            case int():
                return self.vectors[place, :n]
            case _:
                raise ValueError(place)

    def expected(self, name: str) -> Numbers:
        """The result of an operation, by NumPy."""
        v, four = self.vectors, list(_FOUR.values())
        match name:
            case "matvec":
                return self.matrix @ self.row
            case "vecaxpy":
                return v[1] + 0.999 * v[0]
            case "vecmaxpy":
                return v[4] + sum(a * x for a, x in zip(four, v, strict=False))
            case "vecscale":
                return 0.999 * v[0]
            case "vecwaxpy":
                return v[1] + 0.999 * v[0]
            case "dot":
                return np.array([v[0] @ v[1]])
            case "norm":
                return np.array([np.sqrt(v[0] @ v[0])])
            case _:
                raise ValueError(name)

    def write(self, path: Path) -> None:
        """All numbers as ViennaCL's program reads them."""
        path.write_bytes(self.vectors.tobytes() + self.matrix.tobytes() + self.row.tobytes())


def difference(found: Numbers, expected: Numbers) -> float:
    """The largest difference, relative to the largest element expected."""
    if found.shape != expected.shape or not np.all(np.isfinite(found)):
        return float("inf")
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


class Runner(Protocol):
    """Something that does an operation."""

    def timed(self) -> float:
        """Do it once more, on whatever the arrays hold: seconds."""
        ...

    def result(self) -> Numbers:
        """Do it once on fresh inputs: what comes out."""
        ...


@dataclass(slots=True)
class Kernel:
    """A kernel with its arguments set; a sum has a buffer of partial results."""

    name: str
    inputs: Inputs
    queue: cl.CommandQueue
    arrays: Mapping[str, cl.Buffer]
    kernel: cl.Kernel
    items: tuple[int, ...]
    group: tuple[int, ...] | None
    n: int
    partial: cl.Buffer | None
    partials: Numbers

    def timed(self) -> float:
        """As `Runner.timed`."""
        self.queue.finish()
        began = time.perf_counter()
        self._run()
        return time.perf_counter() - began

    def result(self) -> Numbers:
        """As `Runner.result`."""
        operation = OPERATIONS[self.name]
        for array, place in operation.arrays.items():
            cl.enqueue_copy(
                self.queue, self.arrays[array], np.ascontiguousarray(self.inputs.array(place, self.n))
            )
        total = self._run()
        if operation.is_sum:
            return np.array([np.sqrt(total) if self.name == "norm" else total])
        found = np.empty(self.n)
        cl.enqueue_copy(self.queue, found, self.arrays[operation.output])
        return found

    def _run(self) -> float:
        cl.enqueue_nd_range_kernel(self.queue, self.kernel, self.items, self.group)
        total = 0.0
        if self.partial is not None:
            cl.enqueue_copy(self.queue, self.partials, self.partial)
            total = float(self.partials.sum())
        self.queue.finish()
        return total


_NUMBERS = {"int": np.int32, "uint": np.uint32, "long": np.int64}


def variant(source: Path, configuration: Mapping[str, Value]) -> DeviceProgram:
    """The kernel of an annotated file at a configuration."""
    (loaded,) = load([source]).tasks
    parts = VariantGenerator.of(loaded.task).parts(loaded.points[0], configuration)
    return parts.devices[0]


@dataclass(slots=True)
class Bench:
    """A device with the arrays of one kernel at one size; `n` is the extent of its vectors."""

    name: str
    inputs: Inputs
    context: cl.Context
    queue: cl.CommandQueue
    n: int
    arrays: dict[str, cl.Buffer]

    @classmethod
    def of(cls, device: cl.Device, name: str, inputs: Inputs) -> Bench:
        """New arrays."""
        n = len(inputs.row) if name == "matvec" else inputs.vectors.shape[1]
        context = cl.Context([device])
        arrays = {
            array: cl.Buffer(context, cl.mem_flags.READ_WRITE, inputs.array(place, n).nbytes)
            for array, place in OPERATIONS[name].arrays.items()
        }
        return cls(name, inputs, context, cl.CommandQueue(context), n, arrays)

    def plain(self) -> Runner:
        """One item per element, the group size left to the driver; a sum has fewer items."""
        operation = OPERATIONS[self.name]
        names = [*operation.arrays, *(["partial"] if operation.is_sum else [])]
        head = [f"__global double *restrict {array}" for array in names]
        head += [f"double {scalar}" for scalar in operation.scalars]
        text = f"const long i = get_global_id(0); {operation.body}"
        text = f"__kernel void plain({', '.join(head)}, long n) {{ {text} }}"
        kernel = cl.Kernel(cl.Program(self.context, text).build(), "plain")
        items = PARTIALS if operation.is_sum else self.n
        found = self._kernel(kernel, items, None, PARTIALS)
        values = map(np.float64, operation.scalars.values())
        partial = [found.partial] if found.partial is not None else []
        kernel.set_args(*self.arrays.values(), *partial, *values, np.int64(self.n))
        return found

    def tuned(self, program: DeviceProgram) -> Runner:
        """The kernel of a variant.  Raises KeyError for an argument that has no value here."""
        (plan,) = program.plans
        options = plan.options.build_flags.split()
        kernel = cl.Kernel(cl.Program(self.context, program.source).build(options=options), plan.name)
        (groups,), (items,) = group_counts(plan, (self.n,)), plan.launch.block_size
        found = self._kernel(kernel, groups * items, None if plan.launch.driver_chosen else (items,), groups)
        values: list[object] = []
        for argument in kernel_arguments(plan):
            if argument.kind is ArgumentKind.BUFFER:
                values.append(self.arrays[argument.of])
            elif argument.kind is ArgumentKind.PARTIALS:
                values.append(found.partial)
            elif argument.device_type == "double":
                values.append(np.float64(OPERATIONS[self.name].scalars[argument.of]))
            else:
                values.append(_NUMBERS[argument.device_type](self.n))
        kernel.set_args(*values)
        return found

    def _kernel(self, kernel: cl.Kernel, items: int, group: tuple[int, ...] | None, partials: int) -> Kernel:
        is_sum = OPERATIONS[self.name].is_sum
        partial = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, 8 * partials) if is_sum else None
        return Kernel(
            self.name,
            self.inputs,
            self.queue,
            self.arrays,
            kernel,
            (items,),
            group,
            self.n,
            partial,
            np.empty(partials),
        )


@dataclass(frozen=True, slots=True)
class ViennaCL:
    """A program that runs ViennaCL's operations, in their default configuration, on the same device."""

    process: subprocess.Popen[str]
    folder: Path

    def operation(self, name: str) -> Runner:
        """The operation that belongs to a kernel."""
        return _Operation(self, name)

    def ask(self, order: str) -> float:
        """The seconds that an order took."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


@dataclass(frozen=True, slots=True)
class _Operation:
    program: ViennaCL
    name: str

    def timed(self) -> float:
        return self.program.ask(f"time {self.name}")

    def result(self) -> Numbers:
        path = self.program.folder / "result"
        self.program.ask(f"result {self.name} {path}")
        return np.fromfile(path)


def vienna(device: cl.Device, inputs: Inputs, folder: Path, stack: ExitStack) -> ViennaCL | str:
    """ViennaCL's program, built and started for a device; why not, otherwise."""
    program, data = folder / "viennacl", folder / "inputs"
    command = ["g++", "-O2", "-w", str(HERE / "orcl_viennacl.cpp"), "-o", str(program), "-lOpenCL"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "there is no g++"
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line or "cannot find" in line]
        return f"it does not build: {errors[0] if errors else done.stderr[-200:]}"
    inputs.write(data)
    names = [device.platform.name, device.platform.version, device.name]
    words = [
        str(program),
        str(inputs.vectors.shape[1]),
        str(len(inputs.row)),
        str(data),
        *map(str.strip, names),
    ]
    with (folder / "viennacl.log").open("w") as log:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=_drivers(folder)
        )
    stack.callback(process.kill)
    assert process.stdout is not None
    if not process.stdout.readline().strip():
        return f"the system's OpenCL library does not know the device {names[2].strip()}"
    return ViennaCL(process, folder)


def _drivers(folder: Path) -> dict[str, str]:
    """The environment in which a system's OpenCL library finds the PoCL that comes with PyOpenCL, if there is one."""
    libraries = sorted((Path(cl.__file__).parent / ".libs").glob("libpocl*.so*"))
    if not libraries:
        return dict(os.environ)
    vendors = folder / "vendors"
    vendors.mkdir()
    for known in Path("/etc/OpenCL/vendors").glob("*.icd"):
        (vendors / known.name).write_bytes(known.read_bytes())
    (vendors / "pyopencl-pocl.icd").write_text(f"{libraries[0]}\n")
    return {**os.environ, "OCL_ICD_VENDORS": str(vendors)}
