"""The variables of timed code that is followed: as the original's run left them, or as far as the text tells them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from orio_py.codegen.interface import build_interface
from orio_py.codegen.variables import KernelInterface, KernelVariable
from orio_py.core.diagnostics import fail
from orio_py.core.expr import Value
from orio_py.ctree.evaluate import NoValueError, number_type
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.job import DEFAULT_TOLERANCE, MemberPlace
from orio_py.measure.offload.host_state import HostState, expression
from orio_py.measure.offload.variant import HostData, HostMember, HostVariable
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask

SOME_NUMBER = "0.5"
"""What stands for floating-point numbers of which the text does not tell the value: they decide no trip count."""


def measured_data(original: Evaluator) -> HostData:
    """The variables with their places in the files that the original's run left, and the constants of the source file."""
    places: dict[str, tuple[int, int, int]] = {}
    offset = 0
    for name, element, elements in original.variables:
        places[name] = (offset, element * elements, element)
        offset += element * elements
    task, interface = original.task, original.interface
    return HostData(
        str(original.inputs),
        str(original.reference),
        tuple(
            HostVariable(
                v.name,
                v.type,
                v.dimensions,
                *places[v.name],
                is_array=v.is_array,
                written=v.written,
                compared=v.compared,
                has_value=v.live_in and v.initialiser is None,
                initialiser=v.initialiser,
                members=_members(v, original.members),
            )
            for v in interface.variables
        ),
        _constants(task, original.point, interface),
        task.types,
        {name: task.measurement.tolerance.get(name, pair) for name, pair in DEFAULT_TOLERANCE.items()},
    )


def told_data(task: TuningTask, point: InputPoint) -> HostData:
    """The variables as file and specification tell them, without a run: arrays have extents, and no contents.

    Raises DiagnosticError ORIO-M00x as `build_interface`, ORIO-M017 for structures and for extents that nothing tells.
    """
    interface = build_interface(task, point)
    structure = next((v.name for v in interface.variables if v.record is not None), None)
    if structure is not None:
        fail("ORIO-M017", f"what is in the structure `{structure}` is known only when it runs", task.position)
    constants = _constants(task, point, interface)
    try:
        found = HostData(
            "", "", tuple(_told(v, task) for v in interface.variables), constants, task.types, {}
        )
        state = HostState.of(found)
        sized = [_sized(variable, state) for variable in found.variables]
    except NoValueError as problem:
        fail("ORIO-M017", f"the code around the kernels cannot be followed: {problem}", task.position)
    return replace(found, variables=tuple(sized))


def _told(variable: KernelVariable, task: TuningTask) -> HostVariable:
    """A variable with the bytes of one element alone."""
    kind = number_type(variable.type)
    text = variable.initialiser
    if variable.is_array:
        text = None
    elif text is None and variable.known_value is not None:
        text = _text(variable.known_value)
    elif text is None and variable.source is not None and not variable.source.is_random:
        text = variable.source.initialiser
    elif text is None and variable.source is None:
        declared = {d.name: d.initialiser for d in task.surroundings.globals}
        text = declared.get(variable.name)
    if text is None and not variable.is_array and kind.is_floating:
        text = SOME_NUMBER
    return HostVariable(
        variable.name,
        variable.type,
        variable.dimensions,
        0,
        kind.bytes,
        kind.bytes,
        is_array=variable.is_array,
        written=variable.written,
        compared=variable.compared,
        has_value=False,
        initialiser=text,
    )


def _sized(variable: HostVariable, state: HostState) -> HostVariable:
    extents = [int(state.number(expression(extent)).value) for extent in variable.dimensions]
    return replace(variable, bytes=variable.element * prod(extents))


def _constants(task: TuningTask, point: InputPoint, interface: KernelInterface) -> dict[str, str]:
    near = task.surroundings
    constants = {d.name: d.initialiser for d in near.globals if d.is_scalar and "const" in d.qualifiers}
    return {
        **{name: _text(value) for name, value in point.values},
        **{name: text for name, text in constants.items() if text is not None},
        **near.macros,
        **{name: _text(value) for name, value in interface.macros.items()},
    }


def _members(
    variable: KernelVariable, found: Mapping[str, Mapping[str, MemberPlace]]
) -> tuple[HostMember, ...]:
    """The members whose numbers stand one behind the other."""
    parts = variable.record.parts() if variable.record is not None else ()
    types = {part.name: part.type for part in parts}
    return tuple(
        HostMember(name, kind, place.offset, place.size, place.count)
        for name, place in found.get(variable.name, {}).items()
        if (kind := types.get(name.partition("@")[0])) is not None
    )


def _text(value: Value) -> str:
    return repr(value) if isinstance(value, float) else str(int(value) if isinstance(value, bool) else value)
