"""Runs CUDA variants through a driver; only worker processes import this.

Kernels and transfers are timed by events in their stream (CUDA Driver API, section 6.19), which the GPU itself
passes: what the host needs to start a kernel is not part of its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from orio_py.codegen.device import ArgumentKind, KernelArgument
from orio_py.core.units import Bytes
from orio_py.kernel.plan import Direction
from orio_py.measure.cuda.buffers import Buffer, ResidentBuffers, Transfers
from orio_py.measure.cuda.drivers.base import CudaDriver, DriverProblem, Event, Kernel, Stream
from orio_py.measure.cuda.streams import EventPool, Streams, Timed
from orio_py.measure.cuda.variant import BuiltCuda, CudaVariant
from orio_py.measure.offload.arrays import HostArrays, buffer_bytes, by_columns, partials_array, value_of
from orio_py.measure.offload.host import DataBegin, DataEnd, HostCode, Launch
from orio_py.measure.offload.host_state import HostState
from orio_py.measure.offload.problem import Spent, VariantProblem
from orio_py.measure.offload.slices import BufferPart, busy_seconds, run_slices
from orio_py.measure.offload.variant import HostData

_MEMORY = ("CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation")
_LOADING = ("cuModuleLoadData", "cuModuleLoadDataEx", "cuModuleGetFunction", "dlopen")


@dataclass(frozen=True, slots=True)
class LoadedCuda:
    """The kernels of a variant in a driver, by name."""

    variant: CudaVariant
    kernels: Mapping[str, Kernel]
    seconds: float
    log: str = ""


@dataclass(slots=True)
class CudaRuntime:
    """The CUDA side of a worker process: one driver with one device."""

    driver: CudaDriver

    def build(self, path: Path) -> LoadedCuda:
        """Load what was built of the variant in a file.  Raises VariantProblem `load`."""
        variant, built = CudaVariant.read(path), BuiltCuda.beside(path)
        began = perf_counter()
        kernels: dict[str, Kernel] = {}
        try:
            for name, names in built.modules:
                loaded = self.driver.kernels((path.parent / name).read_bytes(), names)
                kernels.update(zip(names, loaded, strict=True))
            for name, carveout in variant.carveouts.items():
                self.driver.allow_shared(kernels[name], Bytes(0), carveout)
        except DriverProblem as problem:
            raise as_variant_problem(problem) from None
        return LoadedCuda(variant, kernels, perf_counter() - began)

    def run(self, built: LoadedCuda, data: HostData) -> CudaRun:
        """A run of a variant with its data."""
        return CudaRun(self.driver, built, data)


def as_variant_problem(problem: DriverProblem) -> VariantProblem:
    """What a failed call of the driver means for the variant.

    Statuses of the driver are called `CUDA_ERROR_…`; others are the executor's, whose text says what it found.
    """
    if problem.status in _MEMORY:
        keyword = "memory"
    elif problem.call in _LOADING:
        keyword = "load"
    else:
        keyword = "crash" if problem.status.startswith("CUDA_") else "sanitizer"
    text = problem.text.splitlines()[0] if keyword == "sanitizer" and problem.text else str(problem)
    return VariantProblem(keyword, text, poisons=problem.poisons)


@dataclass(slots=True)
class _Launched:
    """A launch with its buffers."""

    launch: Launch
    buffers: list[tuple[KernelArgument, Buffer]] = field(default_factory=list[tuple[KernelArgument, Buffer]])


@dataclass(frozen=True, slots=True)
class _HostCode:
    """What the code between launches and transfers does to the host's arrays."""

    changes: Sequence[Callable[[], object]]

    def again(self) -> None:
        """Do it once more."""
        for change in self.changes:
            change()


_Step = _Launched | Transfers | _HostCode


@dataclass(slots=True)
class CudaRun:
    """One variant with its data: the first run follows the timed code, later ones repeat its launches."""

    driver: CudaDriver
    built: LoadedCuda
    data: HostData
    arrays: HostArrays = field(init=False)
    _events: EventPool = field(init=False)
    _residents: ResidentBuffers = field(init=False)
    _streams: list[Stream] = field(default_factory=list[Stream])
    _steps: list[_Step] = field(default_factory=list[_Step])

    def __post_init__(self) -> None:
        self.arrays = HostArrays(self.data)
        self._events = EventPool(self.driver)
        self._residents = ResidentBuffers(self.driver)

    def first(self) -> HostState:
        """Follow the timed code once; the state is that behind it.

        Raises NoValueError, VariantProblem `bounds` when a kernel wrote outside its buffers, `crash` or `sanitizer`
        when the driver fails, `memory` when the buffers do not fit.
        """
        variant = self.built.variant
        calls = {call.function: call for call in variant.calls}
        code = HostCode.of(variant.host, calls, self.data.types)
        state = HostState.of(self.data, self.arrays)
        try:
            code.run(state, self._record, self._keep)
            for launched in self._launched:
                for argument, buffer in launched.buffers:
                    buffer.check_guards(self.driver, argument.of)
            self._residents.check_guards()
        except DriverProblem as problem:
            raise as_variant_problem(problem) from None
        return state

    def again(self) -> Spent:
        """Repeat the launches on restored inputs."""
        if not self.driver.has_times:
            raise VariantProblem("reference", "nothing here has the times of a GPU")
        self.arrays.restore()
        spent = Spent()
        try:
            for step in self._steps:
                match step:
                    case _HostCode():
                        step.again()
                    case Transfers():
                        spent += self._copy(step)
                    case _Launched():
                        spent += self._execute(step)[0]
        except DriverProblem as problem:
            raise as_variant_problem(problem) from None
        return spent

    def differences(self, state: HostState) -> Iterator[tuple[str, str]]:
        """Variables that differ from the original's outputs, with `INDEX WANTED GOT` of the first element."""
        return self.arrays.differences(state)

    def conditions(self) -> Mapping[str, str]:
        """The GPU's clocks and temperature, as its driver tells them."""
        return self.driver.clocks()

    def release(self) -> None:
        """Give the buffers back to the device."""
        for launched in self._launched:
            for _, buffer in launched.buffers:
                buffer.free(self.driver)
        self._residents.release()
        self._steps.clear()

    @property
    def _launched(self) -> list[_Launched]:
        return [step for step in self._steps if isinstance(step, _Launched)]

    def _keep(self, change: DataBegin | DataEnd) -> None:
        self._record_host_code()
        copies = self._residents.change(change)
        self._steps.append(copies)
        self._copy(copies)

    def _record_host_code(self) -> None:
        """Remember what the code since the last step did to the arrays."""
        if changes := self.arrays.changes():
            self._steps.append(_HostCode(changes))

    def _copy(self, copies: Transfers) -> Spent:
        """Bring arrays to the device, or back from it."""
        self._events.reuse()
        transfers: list[Timed] = []
        for copy in copies.copies:
            part = self.arrays.bytes_of(copy.span.name, copy.span.offset, copy.span.size)
            with self._events.timed() as timed:
                if copies.back:
                    self.driver.copy_to_host(part, copy.buffer.data)
                else:
                    self.driver.copy_to_device(copy.buffer.data, part)
            transfers.append(timed)
        self.driver.synchronize()
        return Spent(transfer=sum(self.driver.seconds(*timed.ends) for timed in transfers))

    def _record(self, launch: Launch, state: HostState) -> None:
        if launch.is_empty:
            return
        self._record_host_code()
        launched = _Launched(launch)
        self._steps.append(launched)
        for argument in launch.call.arguments:
            if (size := buffer_bytes(launch, argument)) is not None:
                is_host = argument.kind is ArgumentKind.BUFFER and size > 0
                stays = self._residents.view(launch.pointers[argument.host], size) if is_host else None
                launched.buffers.append((argument, stays or Buffer.new(self.driver, size)))
        _, partials = self._execute(launched)
        for combining, values in zip(launch.call.reductions, partials, strict=True):
            self.arrays.combine(launch.pointers[combining.parameter], combining, values, state)

    def _execute(self, launched: _Launched) -> tuple[Spent, list[Any]]:
        """One launch with its transfers: seconds, and the partial results of each reduction."""
        self._events.reuse()
        if launched.launch.call.streams > 1:
            return self._in_streams(launched)
        launch, driver = launched.launch, self.driver
        transfers: list[Timed] = []
        turning = 0.0
        for argument, buffer in launched.buffers:
            if argument.kind is ArgumentKind.BUFFER and not buffer.view:
                part = self.arrays.part(launch, argument, buffer.size)
                if argument.direction is not Direction.OUT:
                    began = perf_counter()
                    given = by_columns(launch, argument, part)
                    turning += perf_counter() - began if argument.rows else 0.0
                    with self._events.timed() as timed:
                        driver.copy_to_device(buffer.data, given)
                    transfers.append(timed)
        spent = self._launch(launch, self._values(launched))
        partials: list[Any] = []
        for argument, buffer in launched.buffers:
            if argument.kind is ArgumentKind.PARTIALS:
                found, elements = partials_array(argument, buffer.size)
                partials.append(elements)
            elif argument.direction is not Direction.IN and not buffer.view:
                part = self.arrays.part(launch, argument, buffer.size)
                found = np.empty_like(part) if argument.rows else part
            else:
                continue
            with self._events.timed() as timed:
                driver.copy_to_host(found, buffer.data)
            transfers.append(timed)
            if argument.rows:
                driver.synchronize()
                began = perf_counter()
                self.arrays.part(launch, argument, buffer.size)[:] = by_columns(
                    launch, argument, found, back=True
                )
                turning += perf_counter() - began
        driver.synchronize()
        seconds = turning + sum(driver.seconds(*timed.ends) for timed in transfers)
        return spent + Spent(transfer=seconds), partials

    def _values(self, launched: _Launched) -> list[Any]:
        """The kernel's arguments in order."""
        buffers = {(argument.kind, argument.of): buffer.data for argument, buffer in launched.buffers}
        return [
            buffers[argument.kind, argument.of]
            if (argument.kind, argument.of) in buffers
            else value_of(launched.launch, argument)
            for argument in launched.launch.call.arguments
        ]

    def _launch(self, launch: Launch, values: Sequence[Any]) -> Spent:
        call, driver = launch.call, self.driver
        driver.synchronize()
        cpu, began = process_time(), perf_counter()
        with self._events.timed() as timed:
            grid, block = extents(call.group_counts(launch.trips)), extents(call.items)
            driver.launch(self.built.kernels[call.kernel], grid, block, values)
        driver.synchronize()
        host = perf_counter() - began
        return Spent(kernel=driver.seconds(*timed.ends), host=host, cpu=process_time() - cpu)

    def _in_streams(self, launched: _Launched) -> tuple[Spent, list[Any]]:
        """A launch for each slice of the outermost axis, in a stream of its own with its transfers."""
        launch, call, driver = launched.launch, launched.launch.call, self.driver
        began = perf_counter()
        parts = [
            (argument, buffer, by_columns(launch, argument, self.arrays.part(launch, argument, buffer.size)))
            for argument, buffer in launched.buffers
            if argument.kind is ArgumentKind.BUFFER
        ]
        has_columns = any(argument.rows for argument, _, _ in parts)
        turning = perf_counter() - began if has_columns else 0.0
        while len(self._streams) < call.streams:
            self._streams.append(driver.new_stream())
        sliced = [BufferPart.of(launch, a, buffer.data, buffer.size, held) for a, buffer, held in parts]
        base: Event = self._events.new()
        driver.record(base)
        driver.synchronize()
        cpu, began = process_time(), perf_counter()
        streams = Streams(
            driver, self._events, self._streams, self.built.kernels[call.kernel], extents(call.items)
        )
        ran = run_slices(streams, launch, sliced, self._values(launched))
        host, cpu = perf_counter() - began, process_time() - cpu
        partials: list[Any] = []
        copies = list(ran.copies)
        for argument, buffer in launched.buffers:
            if argument.kind is ArgumentKind.PARTIALS:
                found, elements = partials_array(argument, buffer.size)
                with self._events.timed() as timed:
                    driver.copy_to_host(found, buffer.data)
                copies.append(timed)
                partials.append(elements)
        driver.synchronize()
        kernel, transfer = busy_seconds(
            [timed.interval(driver, base) for timed in ran.kernels],
            [timed.interval(driver, base) for timed in copies],
        )
        began = perf_counter()
        for argument, buffer, held in parts:
            if argument.rows and argument.direction is not Direction.IN:
                part = self.arrays.part(launch, argument, buffer.size)
                part[:] = by_columns(launch, argument, held, back=True)
        turning += perf_counter() - began if has_columns else 0.0
        return Spent(kernel, transfer + turning, max(0.0, host - transfer), cpu), partials


def extents(sizes: Sequence[int]) -> tuple[int, int, int]:
    """Three extents, fastest first, as CUDA wants them."""
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
