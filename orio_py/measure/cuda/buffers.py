"""Memory of the device for variants: buffers between guards, and arrays that stay there between launches.

The latter are kept as the generated host code keeps them (`templates/offload/resident.c.j2`): kernels work on a copy apart
from the host's memory, which is filled and brought back only where the code says it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from orio_py.core.units import Bytes
from orio_py.measure.cuda.drivers.base import Address, CudaDriver
from orio_py.measure.cuda.drivers.processor import NAME
from orio_py.measure.offload.host import DataBegin, DataEnd, HeldBytes
from orio_py.measure.offload.host_state import Pointer
from orio_py.measure.offload.problem import VariantProblem

GUARD = 256
"""Bytes before and behind each buffer that no kernel may change; the executor on the processor needs none."""

GUARD_BYTE = 0xA5

STALE_BYTE = 0x7F
"""Fills arrays that stay on a GPU and are not copied to it: large numbers of every type."""


@dataclass(slots=True)
class Buffer:
    """A buffer between two guards; `data` is the part that the kernel sees.

    One that is only a `view` is inside of another, which stays on the device.
    """

    whole: Address
    data: Address
    guard: int
    size: int
    view: bool = False

    @classmethod
    def new(cls, driver: CudaDriver, size: int) -> Buffer:
        """Memory for `size` bytes.  Raises VariantProblem `bounds` where it has none, DriverProblem."""
        if size <= 0:
            raise VariantProblem("bounds", "a buffer without elements")
        # The executor sees each access; in guards it would find nothing wrong.
        guard = 0 if driver.name == NAME else GUARD
        whole = driver.allocate(Bytes(size + 2 * guard))
        if guard:
            driver.fill(whole, GUARD_BYTE, Bytes(size + 2 * guard))
        return cls(whole, Address(whole.value + guard), guard, size)

    def check_guards(self, driver: CudaDriver, name: str) -> None:
        """Raises VariantProblem `bounds` where a kernel wrote beside it."""
        for place in (0, self.guard + self.size) if self.guard and not self.view else ():
            found = np.empty(self.guard, np.uint8)
            driver.copy_to_host(found, Address(self.whole.value + place))
            driver.synchronize()
            if (found != GUARD_BYTE).any():
                raise VariantProblem("bounds", f"`{name}`")

    def free(self, driver: CudaDriver) -> None:
        """Give the memory back."""
        if not self.view:
            driver.free(self.whole)


@dataclass(frozen=True, slots=True)
class ArrayTransfer:
    """Bytes of an array that go to a buffer of the device, or come back from it."""

    span: HeldBytes
    buffer: Buffer


@dataclass(frozen=True, slots=True)
class Transfers:
    """What is copied where arrays begin to stay on the device, or end it: all to the device, or all back."""

    copies: tuple[ArrayTransfer, ...]
    back: bool


_Place = tuple[str, int]
"""A kernel's host function, and the place of an array in `held`."""


@dataclass(slots=True)
class ResidentBuffers:
    """The arrays that stay on the device while the timed code is followed."""

    driver: CudaDriver
    _made: dict[_Place, list[Buffer]] = field(default_factory=dict[_Place, list[Buffer]])
    _held: dict[_Place, tuple[HeldBytes, Buffer]] = field(
        default_factory=dict[_Place, tuple[HeldBytes, Buffer]]
    )

    def change(self, change: DataBegin | DataEnd) -> Transfers:
        """Let arrays stay, or end it, and tell what is copied then.

        Raises VariantProblem `crash` for arrays that stay already, as host code does, DriverProblem.
        """
        return self._begin(change) if isinstance(change, DataBegin) else self._end(change)

    def view(self, place: Pointer, size: int) -> Buffer | None:
        """The part of an array that stays and holds `size` bytes from a place on; None where none does."""
        for span, buffer in self._held.values():
            if span.holds(place, size):
                at = Address(buffer.data.value + place.offset - span.offset)
                return Buffer(at, at, 0, size, view=True)
        return None

    def check_guards(self) -> None:
        """Raises VariantProblem `bounds` where a kernel wrote beside an array."""
        for (function, slot), buffers in self._made.items():
            for buffer in buffers:
                buffer.check_guards(self.driver, f"{function}: array {slot}")

    def release(self) -> None:
        """Give the memory back."""
        for buffer in (one for buffers in self._made.values() for one in buffers):
            buffer.free(self.driver)
        self._made.clear()
        self._held.clear()

    def _begin(self, begin: DataBegin) -> Transfers:
        copies: list[ArrayTransfer] = []
        for slot, (span, held) in enumerate(zip(begin.spans, begin.call.held, strict=True)):
            place = (begin.call.function, slot)
            if place in self._held:
                raise VariantProblem("crash", "arrays are kept on the device already")
            if span is None or self.view(Pointer(span.name, span.offset), span.size) is not None:
                continue
            buffer = self._room(place, span.size)
            self._held[place] = span, buffer
            if held.comes_in:
                copies.append(ArrayTransfer(span, buffer))
            elif self.driver.has_times:
                self.driver.fill(buffer.data, STALE_BYTE, Bytes(span.size))
        return Transfers(tuple(copies), False)

    def _end(self, end: DataEnd) -> Transfers:
        places = [(end.call.function, slot) for slot in range(len(end.call.held))]
        found = [
            ArrayTransfer(*self._held[place])
            for place, held in zip(places, end.call.held, strict=True)
            if place in self._held and held.goes_out
        ]
        for place in places:
            self._held.pop(place, None)
        return Transfers(tuple(found), True)

    def _room(self, place: _Place, size: int) -> Buffer:
        """Memory that nothing is known of: the executor has to see it as new; launches on a GPU are repeated in theirs."""
        made = self._made.setdefault(place, [])
        if not self.driver.has_times:
            self._free(made)
        fitting = next((buffer for buffer in made if buffer.size == size), None)
        if fitting is None:
            made.append(fitting := Buffer.new(self.driver, size))
        return fitting

    def _free(self, buffers: list[Buffer]) -> None:
        for buffer in buffers:
            buffer.free(self.driver)
        buffers.clear()
