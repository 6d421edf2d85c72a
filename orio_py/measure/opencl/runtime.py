"""Builds and runs variants through PyOpenCL; only worker processes import this.

Kernels and transfers are timed by profiling events (The OpenCL Specification 1.2, section 5.12).  On
processors an event does not contain what it takes to hand out the groups, so that there a kernel shorter
than `SHORT` counts with a share of its host time: all of it for an empty kernel, none of it at `SHORT`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyopencl as cl

from orio_py.codegen.device import ArgumentKind, KernelArgument
from orio_py.kernel.plan import Direction
from orio_py.measure.offload.arrays import HostArrays, buffer_bytes, by_columns, partials_array, value_of
from orio_py.measure.offload.host import HostCode, Launch
from orio_py.measure.offload.host_state import HostState
from orio_py.measure.offload.problem import Spent, VariantProblem
from orio_py.measure.offload.slices import BufferPart, busy_seconds, run_slices
from orio_py.measure.offload.variant import HostData
from orio_py.measure.opencl.slices import CommandQueues, interval
from orio_py.measure.opencl.variant import DeviceVariant

SHORT = 50e-6
"""Kernels shorter than so many seconds are not timed by events alone on processors."""

GUARD = 256
"""Bytes at least before and behind each buffer that no kernel may change."""

GUARD_BYTE = 0xA5

KEPT_PROGRAMS = 32
"""Built programs that a worker keeps."""


@dataclass(frozen=True, slots=True)
class Built:
    """The kernels of a variant on a device, by name."""

    variant: DeviceVariant
    context: cl.Context
    device: cl.Device
    kernels: Mapping[str, cl.Kernel]
    seconds: float
    log: str


@dataclass(slots=True)
class Runtime:
    """The OpenCL side of a worker process; contexts and programs are kept from job to job."""

    _contexts: dict[tuple[int, int], tuple[cl.Context, cl.Device]] = field(
        default_factory=dict[tuple[int, int], tuple[cl.Context, cl.Device]]
    )
    _built: dict[Path, Built] = field(default_factory=dict[Path, Built])

    def build(self, path: Path) -> Built:
        """The kernels of the variant in a file.  Raises VariantProblem `compile` with the compiler's log."""
        if path in self._built:
            return self._built[path]
        variant = DeviceVariant.read(path)
        context, device = self._context(variant.platform, variant.device)
        started = perf_counter()
        kernels: dict[str, cl.Kernel] = {}
        logs: list[str] = []
        for number, (source, flags) in enumerate(zip(variant.sources, variant.flags, strict=True)):
            program = cl.Program(context, source)
            try:
                program.build(options=flags.split(), devices=[device])
                names = [call.kernel for call in variant.calls if call.program == number]
                kernels.update({name: cl.Kernel(program, name) for name in names})
            except cl.Error as error:
                raise VariantProblem("compile", _log(program, device) or str(error)) from None
            logs.append(_log(program, device))
        seconds = perf_counter() - started
        built = Built(variant, context, device, kernels, seconds, "\n".join(filter(None, logs)))
        _check_kernels(built)
        while len(self._built) >= KEPT_PROGRAMS:
            del self._built[next(iter(self._built))]
        self._built[path] = built
        return built

    def run(self, built: Built, data: HostData) -> Run:
        """A run of a variant with its data."""
        return Run(built, data)

    def _context(self, platform: int, number: int) -> tuple[cl.Context, cl.Device]:
        if (platform, number) not in self._contexts:
            device = cl.get_platforms()[platform].get_devices()[number]
            self._contexts[platform, number] = (cl.Context([device]), device)
        return self._contexts[platform, number]


@dataclass(slots=True)
class _Buffer:
    """A buffer between two guards; `data` is the part that the kernel sees."""

    whole: cl.Buffer
    data: cl.Buffer
    guard: int
    size: int


@dataclass(slots=True)
class _Launched:
    """A launch with its buffers; `arrays` are host arrays' bytes by parameter."""

    launch: Launch
    buffers: list[tuple[KernelArgument, _Buffer]] = field(
        default_factory=list[tuple[KernelArgument, "_Buffer"]]
    )


@dataclass(slots=True)
class Run:
    """One variant with its data: the first run follows the timed code, later ones repeat its launches."""

    built: Built
    data: HostData
    arrays: HostArrays = field(init=False)
    _queue: cl.CommandQueue = field(init=False)
    _queues: list[cl.CommandQueue] = field(default_factory=list[cl.CommandQueue])
    _launched: list[_Launched] = field(default_factory=list[_Launched])
    _is_processor: bool = field(init=False)

    def __post_init__(self) -> None:
        self._queue = self._new_queue()
        self._is_processor = bool(self.built.device.type & cl.device_type.CPU)
        self.arrays = HostArrays(self.data)

    def _new_queue(self) -> cl.CommandQueue:
        profiled = cl.command_queue_properties.PROFILING_ENABLE
        return cl.CommandQueue(self.built.context, self.built.device, properties=profiled)

    def first(self) -> HostState:
        """Follow the timed code once; the state is that behind it.

        Raises NoValueError, VariantProblem `bounds` when a kernel wrote outside its buffers.
        """
        variant = self.built.variant
        calls = {call.function: call for call in variant.calls}
        code = HostCode.of(variant.host, calls, self.data.types)
        state = HostState.of(self.data)
        code.run(state, self._record)
        for launched in self._launched:
            self._check_guards(launched)
        return state

    def again(self) -> Spent:
        """Repeat the launches on restored inputs."""
        self.arrays.restore()
        spent = Spent()
        for launched in self._launched:
            spent += self._execute(launched)[0]
        return spent

    def differences(self, state: HostState) -> Iterator[tuple[str, str]]:
        """Variables that differ from the original's outputs, with `INDEX WANTED GOT` of the first element."""
        return self.arrays.differences(state)

    def conditions(self) -> Mapping[str, str]:
        """Nothing: OpenCL tells neither clocks nor temperatures."""
        return {}

    def release(self) -> None:
        """Give the buffers back to the device."""
        for launched in self._launched:
            for _, buffer in launched.buffers:
                buffer.data.release()
                buffer.whole.release()
        self._launched.clear()

    def _record(self, launch: Launch, state: HostState) -> None:
        if launch.is_empty:
            return
        launched = _Launched(launch)
        for argument in launch.call.arguments:
            if (size := buffer_bytes(launch, argument)) is not None:
                launched.buffers.append((argument, self._buffer(size)))
        self._launched.append(launched)
        _, partials = self._execute(launched)
        for combining, values in zip(launch.call.reductions, partials, strict=True):
            self.arrays.combine(launch.pointers[combining.parameter], combining, values, state)

    def _buffer(self, size: int) -> _Buffer:
        flags = cl.mem_flags
        if size <= 0:
            raise VariantProblem("bounds", "a buffer without elements")
        unit = max(GUARD, int(self.built.device.mem_base_addr_align) // 8)
        whole = cl.Buffer(self.built.context, flags.READ_WRITE, 2 * unit + size)
        cl.enqueue_fill_buffer(self._queue, whole, np.uint8(GUARD_BYTE), 0, 2 * unit + size)
        return _Buffer(whole, whole.get_sub_region(unit, size), unit, size)

    def _check_guards(self, launched: _Launched) -> None:
        for argument, buffer in launched.buffers:
            for place in (0, buffer.guard + buffer.size):
                found = np.empty(buffer.guard, np.uint8)
                cl.enqueue_copy(self._queue, found, buffer.whole, src_offset=place)
                if (found != GUARD_BYTE).any():
                    raise VariantProblem("bounds", f"`{argument.of}`")

    def _execute(self, launched: _Launched) -> tuple[Spent, list[Any]]:
        """One launch with its transfers: seconds, and the partial results of each reduction."""
        if launched.launch.call.streams > 1:
            return self._in_queues(launched)
        launch, arguments, buffers = launched.launch, launched.launch.call.arguments, iter(launched.buffers)
        values: list[Any] = []
        transfers: list[cl.Event] = []
        turning = 0.0
        for argument in arguments:
            match argument.kind:
                case ArgumentKind.BUFFER:
                    buffer = next(buffers)[1]
                    part = self.arrays.part(launch, argument, buffer.size)
                    if argument.direction is not Direction.OUT:
                        began = perf_counter()
                        given = by_columns(launch, argument, part)
                        turning += perf_counter() - began if argument.rows else 0.0
                        transfers.append(cl.enqueue_copy(self._queue, buffer.data, given))
                    values.append(buffer.data)
                case ArgumentKind.PARTIALS:
                    values.append(next(buffers)[1].data)
                case _:
                    values.append(value_of(launch, argument))
        spent = self._launch(launch, values)
        partials: list[Any] = []
        for argument, buffer in launched.buffers:
            if argument.kind is ArgumentKind.PARTIALS:
                found, elements = partials_array(argument, buffer.size)
                transfers.append(cl.enqueue_copy(self._queue, found, buffer.data))
                partials.append(elements)
            elif argument.direction is not Direction.IN:
                part = self.arrays.part(launch, argument, buffer.size)
                found = np.empty_like(part) if argument.rows else part
                transfers.append(cl.enqueue_copy(self._queue, found, buffer.data))
                if argument.rows:
                    began = perf_counter()
                    part[:] = by_columns(launch, argument, found, back=True)
                    turning += perf_counter() - began
        seconds = turning + sum(_seconds(event) for event in transfers)
        return spent + Spent(transfer=seconds), partials

    def _launch(self, launch: Launch, values: Sequence[Any]) -> Spent:
        call = launch.call
        kernel = self.built.kernels[call.kernel]
        groups = call.group_counts(launch.trips)
        size = tuple(g * n for g, n in zip(groups, call.items, strict=True))
        kernel.set_args(*values)
        self._queue.finish()
        cpu, began = process_time(), perf_counter()
        event = cl.enqueue_nd_range_kernel(self._queue, kernel, size, call.group_size)
        event.wait()
        host = perf_counter() - began
        seconds = _seconds(event)
        return Spent(kernel=self._corrected(seconds, host), host=host, cpu=process_time() - cpu)

    def _in_queues(self, launched: _Launched) -> tuple[Spent, list[Any]]:
        """A launch for each slice of the outermost axis, in a queue of its own with its transfers."""
        launch, call = launched.launch, launched.launch.call
        began = perf_counter()
        parts = [
            (argument, buffer, by_columns(launch, argument, self.arrays.part(launch, argument, buffer.size)))
            for argument, buffer in launched.buffers
            if argument.kind is ArgumentKind.BUFFER
        ]
        has_columns = any(argument.rows for argument, _, _ in parts)
        turning = perf_counter() - began if has_columns else 0.0
        while len(self._queues) < call.streams:
            self._queues.append(self._new_queue())
        sliced = [BufferPart.of(launch, a, buffer.data, buffer.size, held) for a, buffer, held in parts]
        buffers = {(argument.kind, argument.of): buffer.data for argument, buffer in launched.buffers}
        for queue in (self._queue, *self._queues):
            queue.finish()
        cpu, began = process_time(), perf_counter()
        ran = run_slices(
            CommandQueues(self._queues, self.built.kernels[call.kernel], call),
            launch,
            sliced,
            [_argument(launch, argument, buffers) for argument in call.arguments],
        )
        host, cpu = perf_counter() - began, process_time() - cpu
        partials: list[Any] = []
        copies = list(ran.copies)
        for argument, buffer in launched.buffers:
            if argument.kind is ArgumentKind.PARTIALS:
                found, elements = partials_array(argument, buffer.size)
                copies.append(cl.enqueue_copy(self._queue, found, buffer.data))
                partials.append(elements)
        kernel, transfer = busy_seconds([*map(interval, ran.kernels)], [*map(interval, copies)])
        host = max(0.0, host - transfer)
        began = perf_counter()
        for argument, buffer, held in parts:
            if argument.rows and argument.direction is not Direction.IN:
                self.arrays.part(launch, argument, buffer.size)[:] = by_columns(
                    launch, argument, held, back=True
                )
        turning += perf_counter() - began if has_columns else 0.0
        return Spent(self._corrected(kernel, host), transfer + turning, host, cpu), partials

    def _corrected(self, seconds: float, host: float) -> float:
        """The seconds of events, with a share of the host's on processors."""
        if self._is_processor and seconds < SHORT:
            seconds += max(0.0, host - seconds) * (1.0 - seconds / SHORT)
        return seconds


def _argument(
    launch: Launch, argument: KernelArgument, buffers: Mapping[tuple[ArgumentKind, str], Any]
) -> Any:
    """What a kernel is passed; 0 for what each slice sets."""
    if (argument.kind, argument.of) in buffers:
        return buffers[argument.kind, argument.of]
    return value_of(launch, argument)


def _check_kernels(built: Built) -> None:
    """What the compiler made of a kernel may need more than its plan says."""
    info = cl.kernel_work_group_info
    for call in built.variant.calls:
        kernel = built.kernels[call.kernel]
        local = int(kernel.get_work_group_info(info.LOCAL_MEM_SIZE, built.device))
        if local > built.device.local_mem_size:
            text = f"kernel `{call.kernel}` needs {local} bytes of local memory, a group has {built.device.local_mem_size}"
            raise VariantProblem("compile", text)
        most = int(kernel.get_work_group_info(info.WORK_GROUP_SIZE, built.device))
        if prod(call.items) > most:
            text = f"kernel `{call.kernel}` can have {most} items per group, not {prod(call.items)}"
            raise VariantProblem("compile", text)


def _seconds(event: cl.Event) -> float:
    event.wait()
    return 1e-9 * (event.profile.end - event.profile.start)


def _log(program: cl.Program, device: cl.Device) -> str:
    try:
        return str(program.get_build_info(device, cl.program_build_info.LOG)).strip()
    except cl.Error:
        return ""
