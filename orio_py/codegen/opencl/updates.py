"""Updates of elements in one step, in OpenCL C 1.2: its own functions, and loops for what it does not have.

    atomic_add(&count[c[i]], 1);                  integers of 32 bits
    atom_add(&total[c[i]], x[i]);                 of 64 bits, with cl_khr_int64_base_atomics
    orio_atomic_add_float(&y[c[i]], x[i]);        the value is stored where nothing else has been meanwhile

Source: The OpenCL Specification 1.2, sections 6.12.11 (atomic functions) and 9.7 (those for 64 bits).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orio_py.codegen.offload.device_tree import AtomicOp, AtomicUpdate

_FUNCTIONS: Mapping[AtomicOp, str] = {
    AtomicOp.ADD: "add",
    AtomicOp.SUBTRACT: "sub",
    AtomicOp.AND: "and",
    AtomicOp.OR: "or",
    AtomicOp.XOR: "xor",
    AtomicOp.LEAST: "min",
    AtomicOp.GREATEST: "max",
}
_WIDE_FUNCTIONS = frozenset({AtomicOp.ADD, AtomicOp.SUBTRACT})
_CHANGES: Mapping[AtomicOp, str] = {
    AtomicOp.ADD: "before.value + value",
    AtomicOp.MULTIPLY: "before.value * value",
    AtomicOp.AND: "before.value & value",
    AtomicOp.OR: "before.value | value",
    AtomicOp.XOR: "before.value ^ value",
    AtomicOp.LEAST: "value < before.value ? value : before.value",
    AtomicOp.GREATEST: "value > before.value ? value : before.value",
    AtomicOp.FMIN: "fmin(({kind})before.value, value)",
    AtomicOp.FMAX: "fmax(({kind})before.value, value)",
}
_WIDE = frozenset({"long", "ulong", "double"})


@dataclass(frozen=True, slots=True)
class UpdateFunction:
    """A function that updates an element: where it is, the types of the element, of the word there and of the value, and the
    change.
    """

    name: str
    space: str
    element: str
    word: str
    kind: str
    exchange: str
    change: str


def native_update(update: AtomicUpdate) -> str | None:
    """OpenCL C's own function, None where it has none."""
    if update.type in {"int", "uint"} and update.operation in _FUNCTIONS:
        return f"atomic_{_FUNCTIONS[update.operation]}"
    if update.type in {"long", "ulong"} and update.operation in _WIDE_FUNCTIONS:
        return f"atom_{_FUNCTIONS[update.operation]}"
    return None


def is_wide(update: AtomicUpdate) -> bool:
    """Whether an update is of 64 bits, which is an extension."""
    return update.element in _WIDE


def update_function(update: AtomicUpdate) -> UpdateFunction:
    """The function for an update that OpenCL C has none for."""
    seen, kind = update.seen, update.type
    name = f"orio_atomic_{update.operation}_{seen}{f'_{kind}' if kind != seen else ''}"
    space = "__local" if update.is_local else "__global"
    name += "_local" if update.is_local else ""
    word, exchange = ("ulong", "atom_cmpxchg") if is_wide(update) else ("uint", "atomic_cmpxchg")
    return UpdateFunction(
        name, space, seen, word, kind, exchange, _CHANGES[update.operation].format(kind=kind)
    )


def update_functions(updates: Iterable[AtomicUpdate]) -> list[UpdateFunction]:
    """The functions that updates need, in the order of their names."""
    found = {update_function(update) for update in updates if native_update(update) is None}
    return sorted(found, key=lambda function: function.name)
