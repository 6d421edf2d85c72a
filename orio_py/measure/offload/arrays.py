"""The host's side of a variant's run: the arrays' bytes, what kernels are given of them, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from orio_py.codegen.device import ArgumentKind, KernelArgument
from orio_py.ctree.evaluate import Number, number_bytes, number_from, number_type
from orio_py.kernel.call import size_name
from orio_py.measure.job import DEFAULT_TOLERANCE
from orio_py.measure.offload.compiled_loop import CompiledLoop
from orio_py.measure.offload.host import Launch
from orio_py.measure.offload.host_state import HostState, Pointer
from orio_py.measure.offload.problem import VariantProblem
from orio_py.measure.offload.variant import Combining, HostData, HostVariable

NUMPY: Mapping[str, Any] = {
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
"""The types of kernels' arguments."""

_COMBINE: Mapping[str, Any] = {
    "+": np.add,
    "*": np.multiply,
    "min": np.fmin,
    "max": np.fmax,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}

_FLOATING: Mapping[str, Any] = {"float": np.float32, "double": np.float64, "long double": np.longdouble}


@dataclass(slots=True)
class HostArrays:
    """The arrays and structures of the timed code, as bytes by name, with their inputs."""

    data: HostData
    held: dict[str, Any] = field(init=False)
    _inputs: Any = field(init=False)
    _changes: list[Callable[[], object]] = field(init=False, default_factory=list[Callable[[], object]])

    def __post_init__(self) -> None:
        self._inputs = np.memmap(self.data.inputs, np.uint8, "r") if self._has_data else np.zeros(0, np.uint8)
        self.held = {}
        for v in self.data.variables:
            if v.is_array or v.members:
                self.held[v.name] = np.array(self._inputs[v.offset : v.offset + v.bytes])

    @property
    def _has_data(self) -> bool:
        return any(variable.bytes for variable in self.data.variables)

    def restore(self) -> None:
        """Put the inputs back into what the timed code writes."""
        for v in self.data.variables:
            if v.name in self.held and v.written:
                self.held[v.name][:] = self._inputs[v.offset : v.offset + v.bytes]

    def read(self, place: Pointer) -> bytes | None:
        """The bytes of the element at a place; None outside of the array."""
        element = self.held[place.name][max(0, place.offset) : place.offset + place.size]
        return element.tobytes() if place.offset >= 0 and len(element) == place.size else None

    def write(self, place: Pointer, element: bytes) -> bool:
        """Put an element at a place; whether the array has it."""
        held = self.held[place.name]
        if not 0 <= place.offset <= len(held) - len(element):
            return False
        part, new = held[place.offset : place.offset + len(element)], np.frombuffer(element, np.uint8)
        self._change(partial(np.copyto, part, new))
        return True

    def declare(self, variable: HostVariable) -> None:
        """Make room for a local array, if there is none."""
        self.held.setdefault(variable.name, np.zeros(variable.bytes, np.uint8))

    def run_loop(self, loop: CompiledLoop, scalars: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """Run a loop on the arrays; the scalars that it has changed.  Raises NoValueError."""
        arrays = [self.held[name] for name in loop.arrays]
        places = {name: np.frombuffer(bytearray(scalars[name]), np.uint8) for name in loop.scalars}

        def ran() -> None:
            for name, place in places.items():
                place[:] = np.frombuffer(scalars[name], np.uint8)
            loop.run(list(places.values()), arrays)

        self._change(ran)
        return {name: places[name].tobytes() for name in loop.changed}

    def changes(self) -> Sequence[Callable[[], object]]:
        """What was done to the arrays since this was asked for the last time, to be done again on restored inputs."""
        found, self._changes = self._changes, []
        return found

    def _change(self, change: Callable[[], object]) -> None:
        change()
        self._changes.append(change)

    def part(self, launch: Launch, argument: KernelArgument, size: int) -> Any:
        """The bytes of the host's array that a buffer of `size` bytes holds.

        Raises VariantProblem `bounds` for what lies outside of it, `reference` for structures of another length.
        """
        place = launch.pointers[argument.host]
        if (
            argument.structure_bytes
            and launch.numbers[size_name(argument.of)].value != argument.element_bytes
        ):
            raise VariantProblem(
                "reference", f"structures in `{argument.of}` are not as long as the device's"
            )
        return self.bytes_of(place.name, place.offset, size)

    def bytes_of(self, name: str, offset: int, size: int) -> Any:
        """Some bytes of the host's array.  Raises VariantProblem `bounds` for what lies outside of it."""
        part = self.held[name][max(0, offset) : offset + size]
        if offset < 0 or len(part) != size:
            raise VariantProblem("bounds", f"`{name}`")
        return part

    def combine(self, place: Pointer, combining: Combining, partials: Any, state: HostState) -> None:
        """Set what a reduction's pointer points to, a scalar or an element of an array."""
        if place.name not in self.held:
            state.scalars[place.name] = combined(combining.operator, state.lookup(place.name), partials)
            return
        size = partials.dtype.itemsize
        element = self.held[place.name][place.offset : place.offset + size]
        before = number_from(element.tobytes(), number_type(combining.type))
        after = number_bytes(combined(combining.operator, before, partials))
        element[:] = np.frombuffer(after, np.uint8)

    def differences(self, state: HostState) -> Iterator[tuple[str, str]]:
        """Variables that differ from the original's outputs, with `INDEX WANTED GOT` of the first element."""
        reference = np.memmap(self.data.reference, np.uint8, "r") if self._has_data else self._inputs
        for v in self.data.variables:
            if not v.compared or not v.written:
                continue
            wanted = reference[v.offset : v.offset + v.bytes].tobytes()
            if v.name in self.held:
                got = self.held[v.name].tobytes()
            elif v.name in state.scalars:
                got = number_bytes(state.scalars[v.name])
            else:
                continue
            found = difference(got, wanted, v, self.data.tolerance)
            if found is not None:
                yield found


def buffer_bytes(launch: Launch, argument: KernelArgument) -> int | None:
    """The size of an argument's buffer; None for values."""
    if argument.kind is ArgumentKind.BUFFER:
        return int(launch.numbers[f"orio_count_{argument.of}"].value) * argument.element_bytes
    if argument.kind is ArgumentKind.PARTIALS:
        return launch.call.partial_elements(launch.trips) * argument.element_bytes
    return None


def value_of(launch: Launch, argument: KernelArgument) -> Any:
    """What a kernel is passed by value; 0 for what each slice sets."""
    number = launch.numbers.get(argument.host)
    return NUMPY[argument.device_type](0 if number is None else number.value)


def partials_array(argument: KernelArgument, size: int) -> tuple[Any, Any]:
    """Room for the partial results of a reduction: its bytes, and its elements."""
    found = np.empty(size, np.uint8)
    return found, found.view(NUMPY[argument.device_type])


def by_columns(launch: Launch, argument: KernelArgument, part: Any, *, back: bool = False) -> Any:
    """The bytes of a host's array in the order in which the device holds them, or `back` in the host's."""
    if not argument.rows:
        return part
    rows, size = int(launch.numbers[argument.rows].value), argument.element_bytes
    shape = (-1, rows) if back else (rows, -1)
    elements = part.view(f"u{size}").reshape(shape)
    return np.ascontiguousarray(elements.T).reshape(-1).view(np.uint8)


def combined(operator: str, before: Number, partials: Any) -> Number:
    """The value before with the groups' results, in their order and in the scalar's own type."""
    if operator in ("&&", "||"):
        chosen = all if operator == "&&" else any
        return Number(before.type, int(chosen([before.value, *partials.tolist()])))
    first = np.frombuffer(number_bytes(before), partials.dtype)
    with np.errstate(all="ignore"):
        total = _COMBINE[operator].accumulate(np.concatenate([first, partials]), dtype=partials.dtype)[-1]
    return number_from(total.tobytes(), before.type)


def first_difference(
    got: bytes | memoryview,
    wanted: bytes | memoryview,
    type_name: str,
    element_bytes: int,
    tolerance: Mapping[str, tuple[float, float]],
) -> str | None:
    r"""`INDEX WANTED GOT` of the first element that differs too much, values `?` for integers; None if none.

    Elements are equal within a relative error of the larger of the two magnitudes, and of a thousandth of the
    array's largest finite element where both are small beside it, or within an absolute error; integers must
    be the same.  Reference: `orio_is_close` in `templates/c/harness.c.j2`.

    >>> first_difference(b"\x01\x02", b"\x01\x03", "char", 1, {})
    '1 ? ?'
    """
    if got == wanted:
        return None
    if type_name not in _FLOATING:
        differing = np.frombuffer(got, np.uint8) != np.frombuffer(wanted, np.uint8)
        return f"{int(np.argmax(differing)) // element_bytes} ? ?"
    kind = _FLOATING[type_name]
    relative, absolute = tolerance.get(type_name, DEFAULT_TOLERANCE[type_name])
    a = np.frombuffer(got, kind).astype(np.longdouble)
    b = np.frombuffer(wanted, kind).astype(np.longdouble)
    finite = np.abs(b[np.isfinite(b)])
    scale = finite.max(initial=np.longdouble(0.0))
    with np.errstate(all="ignore"):
        size = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.longdouble("1e-3") * scale)
        near = np.abs(a - b) <= absolute + relative * size
    close = (a == b) | (np.isnan(a) & np.isnan(b)) | (near & ~np.isinf(a) & ~np.isinf(b))
    if close.all():
        return None
    index = int(np.argmin(close))
    return f"{index} {float(b[index]):.17g} {float(a[index]):.17g}"


def difference(
    got: bytes, wanted: bytes, variable: HostVariable, tolerance: Mapping[str, tuple[float, float]]
) -> tuple[str, str] | None:
    """Name and `first_difference` of a variable, or of the first member of a structure that differs.

    A member goes by the names that C would give it, `p.x` or `p.v[2]`; what lies between members does not count.
    """
    if not variable.members:
        found = first_difference(got, wanted, variable.type, variable.element, tolerance)
        return None if found is None else (variable.name, found)
    rows = [np.frombuffer(data, np.uint8).reshape(-1, variable.element) for data in (got, wanted)]
    for member in variable.members:
        end = member.offset + member.size * member.count
        one, two = (np.ascontiguousarray(data[:, member.offset : end]).tobytes() for data in rows)
        found = first_difference(one, two, member.type, member.size, tolerance)
        if found is not None:
            number, _, values = found.partition(" ")
            element, place = divmod(int(number), member.count)
            subscript = f"[{place}]" if member.count > 1 else ""
            return f"{variable.name}.{member.name}{subscript}", f"{element} {values}"
    return None
