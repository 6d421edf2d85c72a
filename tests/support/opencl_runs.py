"""Runs regions whose kernels stand in OpenCL: the C around them compiled, the kernels by a driver or by the host's compiler.

The functions that a region calls forward to Python, which does what a host function does: copy buffers, launch,
copy back, combine partial results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from c_programs import run
from opencl_on_cpu import HostKernels

from orio_py.codegen.device import (
    ArgumentKind,
    KernelArgument,
    Reach,
    group_counts,
    host_parameters,
    kernel_arguments,
    partial_elements,
    slices_of,
)
from orio_py.codegen.opencl.device import device_program
from orio_py.codegen.opencl.self_test import uses_feature
from orio_py.ctree.build import literal_value
from orio_py.kernel.call import size_name, slice_names
from orio_py.kernel.plan import Direction, KernelPlan
from orio_py.kernel.types import device_type

NUMBERS: Mapping[str, Any] = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "min": min,
    "max": max,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
}


GUARD = 4096
"""Bytes before and behind each buffer; a multiple of what devices ask of the origin of a part of a buffer."""

FILL = 0x5A


class Kernels(Protocol):
    """The kernels of a text on something that runs them: a driver, or the host's compiler."""

    def buffer(self, size: int) -> Any: ...
    def part(self, buffer: Any, first: int, size: int) -> Any: ...
    def write(self, buffer: Any, array: Any) -> None: ...
    def read(self, array: Any, buffer: Any) -> None: ...
    def launch(
        self, kernel: str, total: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]
    ) -> None: ...


@dataclass(frozen=True)
class Place:
    """Where kernels of this process run: by the `driver`, or as a second opinion by the host's compiler.

    `folder` takes the texts; what the driver is known to fail at (`faults`) is not asked for.
    """

    folder: Path
    is_driver: bool = True
    faults: tuple[str, ...] = ()


PLACES: list[Place] = []
"""The place of this process, set by `device_process`; none in the process of the tests."""


class KnownFaultError(Exception):
    """Kernels ask for what the driver fails at in its self-test."""


def _built(text: str, options: Sequence[str]) -> Kernels:
    assert PLACES, "OpenCL runs in processes of its own: use device_process"
    place = PLACES[-1]
    (place.folder / "kernels.cl").write_text(text)
    if not place.is_driver:
        return HostKernels(text, place.folder)
    for feature in place.faults:
        if uses_feature(text, feature):
            raise KnownFaultError(f"`{feature}` fails in the driver's self-test")
    from opencl_driver import DriverKernels  # loads the drivers

    return DriverKernels(text, place.folder, options)


class Device:
    """The kernels of some regions, built; `arrays` are the pieces of memory that they may reach."""

    def __init__(self, plans: Sequence[KernelPlan], options: Sequence[str] = ()) -> None:
        self.plans = {plan.name: plan for plan in plans}
        self.arrays: list[tuple[int, int]] = []
        self.launches = 0
        self._kernels = _built(device_program(tuple(self.plans.values())), options)

    def _guarded_buffer(self, size: int) -> tuple[Any, Any]:
        """A buffer that is filled with a pattern, and the part of it between the guards."""
        whole = self._kernels.buffer(size + 2 * GUARD)
        self._kernels.write(whole, np.full(size + 2 * GUARD, FILL, np.uint8))
        return whole, self._kernels.part(whole, GUARD, size)

    def launch(self, name: str, *values: Any) -> None:
        """What the host function of a plan does with the values of its parameters."""
        plan = self.plans[name]
        given = dict(zip((parameter for _, parameter in host_parameters(plan)), values, strict=True))
        trips = [given[f"orio_trips_{axis.index}"] for axis in plan.axes]
        if min(trips) <= 0:
            return
        self.launches += 1
        self._run(plan, given, trips)

    def _run(self, plan: KernelPlan, given: Mapping[str, Any], trips: Sequence[int]) -> None:
        kernels = self._kernels
        arguments: list[Any] = []
        back: list[tuple[Any, Any, int | None]] = []
        partials: list[tuple[str, Any, Any]] = []
        guards: list[tuple[str, Any, int]] = []
        for argument in kernel_arguments(plan):
            if argument.kind is ArgumentKind.BUFFER:
                memory = self._elements(argument, given)
                whole, buffer = self._guarded_buffer(max(memory.nbytes, 8))
                guards.append((argument.name, whole, max(memory.nbytes, 8)))
                if argument.direction is Direction.OUT:
                    # What the kernel does not write must not be right by chance.
                    kernels.write(buffer, np.full(max(memory.nbytes, 8), FILL, np.uint8))
                elif memory.nbytes and plan.options.streams == 1:
                    kernels.write(buffer, _turned(memory, given.get(argument.rows)))
                if argument.direction is not Direction.IN and memory.nbytes and plan.options.streams == 1:
                    back.append((memory, buffer, given.get(argument.rows)))
                arguments.append(buffer)
            elif argument.kind is ArgumentKind.PARTIALS:
                found = np.zeros(partial_elements(plan, trips), NUMBERS[argument.device_type])
                buffer = kernels.buffer(found.nbytes)
                partials.append((argument.of, found, buffer))
                arguments.append(buffer)
            else:
                arguments.append(NUMBERS[argument.device_type](given.get(argument.host, 0)))
        if plan.options.streams > 1:
            self._run_slices(plan, arguments, given, trips)
        else:
            self._start(plan, arguments, trips)
        for name, whole, size in guards:
            found = np.empty(size + 2 * GUARD, np.uint8)
            kernels.read(found, whole)
            around = np.concatenate((found[:GUARD], found[GUARD + size :]))
            assert (around == FILL).all(), f"the kernel writes beside {name}"
        for memory, buffer, rows in back:
            held = np.empty_like(memory)
            kernels.read(held, buffer)
            memory[:] = _turned(held, rows and memory.size // rows)
        for name, found, buffer in partials:
            kernels.read(found, buffer)
            reduction = next(r for r in plan.reductions if r.name == name)
            scalar = self._memory(given[name], 1, found.dtype.type, known=False)
            with np.errstate(over="ignore"):  # unsigned integers wrap, as they do in C
                for value in found:
                    scalar[0] = OPERATIONS[reduction.operator](scalar[0], value)

    def _start(self, plan: KernelPlan, arguments: Sequence[Any], trips: Sequence[int]) -> int:
        """Launch a kernel; the number of its groups."""
        groups = group_counts(plan, trips)
        total = tuple(a * b for a, b in zip(groups, plan.launch.block_size, strict=True))
        group = None if plan.launch.driver_chosen else plan.launch.block_size
        self._kernels.launch(plan.name, total, group, arguments)
        return int(np.prod(groups))

    def _run_slices(
        self, plan: KernelPlan, arguments: list[Any], given: Mapping[str, Any], trips: Sequence[int]
    ) -> None:
        """Launch one slice after the other.

        A slice finds no more in its buffers than what it says that it touches, so that what a host would copy
        too late is noticed.
        """
        described = kernel_arguments(plan)
        outer = plan.axes[0].index
        places = {(a.kind, a.of): k for k, a in enumerate(described)}
        parts = [
            _Part(
                argument,
                arguments[k],
                self._elements(argument, given),
                given,
                self._kernels,
            )
            for k, argument in enumerate(described)
            if argument.kind is ArgumentKind.BUFFER
        ]
        first_group = 0
        for begin, end in slices_of(plan.options.streams, trips[0]):
            arguments[places[ArgumentKind.FROM, outer]] = np.int64(begin)
            arguments[places[ArgumentKind.TRIPS, outer]] = np.int64(end)
            if plan.reductions:
                arguments[places[ArgumentKind.GROUP, ""]] = np.int64(first_group)
            for part in parts:
                part.copy_in(begin, end)
            first_group += self._start(plan, arguments, (end - begin, *trips[1:]))
        for part in parts:
            part.copy_out()

    def _elements(self, argument: KernelArgument, given: Mapping[str, Any]) -> Any:
        """What a buffer holds, structures as bytes."""
        address, count = given[argument.host], given[f"orio_count_{argument.of}"]
        if not argument.structure_bytes:
            own = argument.of.endswith(
                ("_totals", "_last", "_wide")
            )  # what takes the place of a loop declares these arrays itself
            return self._memory(address, count, NUMBERS[argument.device_type], known=not own)
        assert given[size_name(argument.of)] == argument.structure_bytes, "the device's structures are others"
        return self._memory(address, count * argument.structure_bytes, np.uint8)

    def _memory(self, address: int, count: int, kind: Any, *, known: bool = True) -> Any:
        size = max(count, 0) * np.dtype(kind).itemsize
        if known and size:
            inside = any(begin <= address and address + size <= end for begin, end in self.arrays)
            assert inside, "a buffer reaches beyond its array"
        return (
            np.frombuffer((ctypes.c_char * size).from_address(address or 1), kind)
            if size
            else np.empty(0, kind)
        )


class _Part:
    """A buffer of which each slice copies what it touches and no other slice has copied."""

    def __init__(
        self, argument: KernelArgument, buffer: Any, memory: Any, given: Mapping[str, Any], kernels: Kernels
    ) -> None:
        self.kernels = kernels
        self.direction, self.buffer, self.memory = argument.direction, buffer, memory
        self.rows = given.get(argument.rows) if memory.size else None
        self.held = _turned(memory, self.rows)
        self.bytes = self.held.view(np.uint8)
        scaled = [given.get(name, 0) * argument.element_bytes for name in slice_names(argument.of)]
        self.reach = Reach(memory.nbytes, *scaled)
        self.touched = np.zeros(memory.nbytes, bool)

    def copy_in(self, begin: int, end: int) -> None:
        """Before the slice of these iterations."""
        low, high = self.reach.touched(begin, end)
        if low >= high:
            return
        now = np.full_like(self.bytes, FILL)
        if self.direction is not Direction.IN:
            self.kernels.read(now, self.buffer)
        if self.direction is not Direction.OUT:
            new = ~self.touched[low:high] | (self.direction is Direction.IN)
            now[low:high][new] = self.bytes[low:high][new]
        self.touched[low:high] = True
        self.kernels.write(self.buffer, now)

    def copy_out(self) -> None:
        """Behind all slices."""
        if self.direction is not Direction.IN and self.touched.any():
            found = np.empty_like(self.bytes)
            self.kernels.read(found, self.buffer)
            self.bytes[self.touched] = found[self.touched]
        if self.rows:
            self.memory[:] = _turned(self.held, self.memory.size // self.rows)


def _turned(memory: Any, rows: int | None) -> Any:
    """A matrix of so many rows column by column."""
    return memory if rows is None else np.ascontiguousarray(memory.reshape(rows, -1).T).ravel()


STRICT = ("-Wall", "-Wextra", "-Werror", "-Wno-sign-compare")


def library(
    text: str, plans: Sequence[KernelPlan], device: Device, folder: Path, warnings: Sequence[str] = STRICT
) -> ctypes.CDLL:
    """C functions that call kernels, compiled and connected with the device."""
    hooks = "\n".join(_hook(plan) for plan in plans)
    source, target = folder / "regions.c", folder / "regions.so"
    source.write_text(f"#include <stdlib.h>\n#include <stdint.h>\n#include <math.h>\n{hooks}\n{text}")
    flags = ["-std=c99", "-O1", *warnings, "-fPIC", "-shared"]
    run(["gcc", *flags, str(source), "-o", str(target), "-lm"])
    loaded = ctypes.CDLL(str(target))
    for plan in plans:
        kinds = [_ctype(kind) for kind, _ in host_parameters(plan)]
        callback = ctypes.CFUNCTYPE(None, *kinds)(_guarded(device, plan.name))
        _KEPT.append(callback)
        getattr(loaded, f"set_{plan.name}")(callback)
    return loaded


_KEPT: list[Any] = []
PROBLEMS: list[BaseException] = []
"""What went wrong inside callbacks, where exceptions cannot pass through C."""


def _guarded(device: Device, name: str) -> Callable[..., None]:
    def call(*values: Any) -> None:
        try:
            device.launch(name, *values)
        except BaseException as problem:
            PROBLEMS.append(problem)

    return call


def _hook(plan: KernelPlan) -> str:
    parameters = host_parameters(plan)
    listed = ", ".join(f"{kind} {name}" for kind, name in parameters)
    names = ", ".join(name for _, name in parameters)
    return f"""typedef void hook_{plan.name}({listed});
static hook_{plan.name} *the_{plan.name};
void set_{plan.name}(hook_{plan.name} *hook) {{ the_{plan.name} = hook; }}
void {plan.name}({listed}) {{ the_{plan.name}({names}); }}
"""


def _ctype(kind: str) -> Any:
    if kind.endswith("*"):
        return ctypes.c_void_p
    device = device_type(kind)
    assert device is not None, kind
    return ctypes.c_bool if device == "bool" else np.ctypeslib.as_ctypes_type(NUMBERS[device])


def is_literal(node: Any) -> bool:
    """Whether an axis's start stands in the kernel's text."""
    return literal_value(node) is not None
