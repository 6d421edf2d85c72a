"""The test program of a task at one problem size: the user's skeleton or ours, with its tags filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from orio_py.codegen.kernel import is_shared, split_at_headers
from orio_py.codegen.members import linked, links, record_of
from orio_py.codegen.program import Program
from orio_py.codegen.records import RANDOM, Record, RecordPart, distinct
from orio_py.codegen.templates import read, render
from orio_py.codegen.variables import KernelInterface, KernelVariable, Passing
from orio_py.core.expr import Value
from orio_py.ctree.ctype import ctype
from orio_py.ctree.unit.translation_unit import translation_unit
from orio_py.spec.counters import TAU_TIMER
from orio_py.spec.inputs import Declaration, InputPoint, Storage
from orio_py.spec.task import TuningTask

TAG = re.compile(r"/\*@\s*([a-z ]+?)\s*@\*/")
"""A place in a skeleton file that the test program's parts go to."""


@dataclass(frozen=True, slots=True)
class HarnessVariable:
    """One row of the test program's table of variables; all texts are C.

    `value` is what a scalar number is set to before arrays are allocated, '' for nothing; `fill` are the
    statements that fill element `orio_i` of others.
    """

    index: int
    name: str
    type: str
    parts: tuple[RecordPart, ...]
    count: str
    allocation: str
    bindings: tuple[str, ...]
    value: str
    fill: tuple[str, ...]
    argument: str
    is_array: bool
    written: int
    compared: int
    shared: int = 0
    imaged: int = 0

    @property
    def is_pointer(self) -> bool:
        """Whether the specification's own code reaches it through a pointer, which that code can set anew."""
        return self.bindings == (_binding(self.index, self.name),)


def harness_program(task: TuningTask, interface: KernelInterface, point: InputPoint) -> Program:
    """The test program; every variant of the task at this problem size is loaded by the same one."""
    inputs = task.inputs
    variables = _variables(task, interface)
    used = {v.name for v in interface.variables}
    from_decl_file = inputs.decl_file.text if inputs.decl_file is not None else ""
    includes, code = _user_code(task)
    found = links(task, interface.variables)
    parts = {
        "global": render(
            "c/harness.c.j2",
            name=task.name,
            variables=variables,
            renamed=_renamed(task),
            definitions=[
                *_definitions(task, point),
                *interface.definitions,
                *_structures(task, interface),
            ],
            levels=max((len(part.levels) for v in variables for part in v.parts), default=0),
            declarations="\n".join([includes, *_declared(task), from_decl_file]),
            user_code=code,
            links=found,
            seed=inputs.seed,
            has_init=inputs.init_file is not None,
            looks_at_library=any(v.allocation == "library" for v in variables),
            has_validation=task.measurement.validation_file is not None,
            methods=task.measurement.methods,
            tau_timer=_tau_timer(task),
        ),
        "prologue": "orio_setup();",
        "tested code": "orio_call();",
        "epilogue": "orio_finish();",
        "coordinate": "[" + ", ".join(f"{n}={v}" for n, v in point.values if n in used) + "]",
    }
    skeleton = task.measurement.skeleton_file
    return Program(fill_skeleton(skeleton.text if skeleton is not None else read("c/skeleton.c"), parts))


def _tau_timer(task: TuningTask) -> str:
    """The name of TAU's timer around the kernel, with file and line as TAU writes them; safe in a C string."""
    where = f"[{{{task.position.file}}} {{{task.position.line},0}}]"
    name = "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\' else "_" for c in f"{task.name} {where}"
    )
    return TAU_TIMER + name.replace("=>", "->").replace("?", "_")


def fill_skeleton(skeleton: str, parts: Mapping[str, str]) -> str:
    """A skeleton with its tags replaced; tags without a part become empty."""
    return TAG.sub(lambda match: parts.get(" ".join(match[1].split()), ""), skeleton)


@dataclass(frozen=True, slots=True)
class _Contents:
    """Where the first contents of variables come from.

    With `is_sequence` the elements of `= random` arrays are the sums of their indices, modulo 5, plus 1: those with
    which Orio fills them, for which the numbers in its users' validation files hold.
    """

    has_init: bool
    is_sequence: bool

    @classmethod
    def of(cls, task: TuningTask) -> _Contents:
        return cls(task.inputs.init_file is not None, task.measurement.validation_file is not None)


def _variables(task: TuningTask, interface: KernelInterface) -> list[HarnessVariable]:
    contents = _Contents.of(task)
    every = interface.variables
    rows = [_row(i, v, contents, linked(task, every, v)) for i, v in enumerate(every)]
    used = {v.name for v in interface.variables} | set(interface.macros)
    for spec in task.inputs.declarations:
        if spec.name not in used:
            record = record_of(task, spec.name, spec.type) if spec.type in task.structures else None
            rows.append(_unused_row(len(rows), spec, record, contents))
    return rows


def _row(
    index: int, variable: KernelVariable, contents: _Contents, pointers: frozenset[str]
) -> HarnessVariable:
    """The row of a variable; `pointers` are its members that point to others."""
    table = f"orio_table[{index}]"
    argument = f"{table}.orio_work"
    if variable.spine:
        argument = _spine(f"{table}.orio_work", variable.type, variable.dimensions)
    fill, expression = _fill(variable, contents)
    allocation = _allocation(variable, contents)
    return HarnessVariable(
        index,
        variable.name,
        variable.type,
        _record(variable).parts(pointers),
        "0" if allocation == "library" else _count(variable.dimensions),
        allocation,
        _bindings(index, variable),
        *_filling(table, variable, (fill, expression)),
        argument,
        variable.is_array,
        int(variable.written),
        int(variable.compared),
        int(is_shared(variable)),
        int(variable.source is None and is_shared(variable) and fill == "none"),
    )


def _record(variable: KernelVariable) -> Record:
    return variable.record or Record(variable.type, {})


def _unused_row(index: int, spec: Declaration, record: Record | None, contents: _Contents) -> HarnessVariable:
    """A variable that only the specification's own code may use."""
    table, is_array = f"orio_table[{index}]", bool(spec.dimensions)
    variable = KernelVariable(
        spec.name,
        Passing.ARRAY if is_array else Passing.VALUE,
        spec.type,
        "",
        spec.dimensions,
        is_array,
        written=False,
        compared=False,
        live_in=True,
        source=spec,
        record=record,
    )
    return HarnessVariable(
        index,
        spec.name,
        spec.type,
        _record(variable).parts(),
        _count(spec.dimensions),
        "dynamic" if spec.storage.is_allocated else "static",
        _bindings(index, variable),
        *_filling(table, variable, _spec_fill(spec, contents)),
        "NULL",
        is_array,
        0,
        0,
    )


def _filling(table: str, variable: KernelVariable, filled: tuple[str, str]) -> tuple[str, tuple[str, ...]]:
    """The value of a scalar number, and the statements that fill an element of anything else."""
    fill, expression = filled
    if fill == "expression" and not variable.is_array and not variable.record:
        return expression, ()
    values = {name: RANDOM if text == "random" else text for name, text in variable.values}
    if fill != "none":
        values[""] = expression if fill == "expression" else RANDOM
    if not values:
        return "", ()
    element = f"(({variable.type} *){table}.orio_image)[orio_i]"
    return "", _record(variable).assignments(element, values)


def _allocation(variable: KernelVariable, contents: _Contents) -> str:
    if variable.passing is Passing.MEMBER:
        is_given = contents.has_init and variable.source is not None and variable.source.initialiser is None
        return "linked" if is_given else "dynamic"
    if variable.source is None:
        return "library" if is_shared(variable) else "dynamic"
    if variable.source.storage is Storage.GIVEN:
        return "given"
    return "dynamic" if variable.source.storage.is_allocated else "static"


def _bindings(index: int, variable: KernelVariable) -> tuple[str, ...]:
    """Makes the specification's own name of a dynamic array refer to its memory."""
    spec = variable.source if variable.passing is not Passing.MEMBER else None
    if spec is None or spec.storage is Storage.GIVEN or not spec.storage.is_allocated:
        return ()
    if len(spec.dimensions) >= 2:
        return (f"{spec.name} = {_spine(_image(index), spec.type, spec.dimensions)};",)
    return (_binding(index, spec.name),)


def _binding(index: int, name: str) -> str:
    return f"{name} = {_image(index)};"


def _image(index: int) -> str:
    return f"orio_table[{index}].orio_image"


def _spine(data: str, type_name: str, dimensions: tuple[str, ...]) -> str:
    extents = ", ".join(f"(size_t)({d})" for d in dimensions)
    return f"orio_spine({data}, sizeof({type_name}), (const size_t[]){{{extents}}}, {len(dimensions)})"


def _fill(variable: KernelVariable, contents: _Contents) -> tuple[str, str]:
    """How the inputs of a variable come about: `random`, `expression` with its C text, or `none`."""
    if variable.keeps_value:
        return "none", ""
    if variable.known_value is not None:
        return "expression", _literal(variable.known_value)
    if variable.source is not None:
        return _spec_fill(variable.source, contents)
    return ("random", "") if variable.is_array and not contents.has_init else ("none", "")


def _spec_fill(spec: Declaration, contents: _Contents) -> tuple[str, str]:
    """As declared; arrays that nothing fills are random, for zeros would hide wrong results."""
    if spec.is_random:
        sequence = contents.is_sequence and spec.dimensions and ctype(spec.type) is not None
        return ("expression", _sequence(spec.dimensions)) if sequence else ("random", "")
    if spec.initialiser is None:
        return ("none", "") if contents.has_init or not spec.dimensions else ("random", "")
    if spec.initialiser.lstrip().startswith("{"):
        return "none", ""
    return "expression", spec.initialiser


def _sequence(dimensions: tuple[str, ...]) -> str:
    """The value of element `orio_i` of an array: the sum of its indices, modulo 5, plus 1."""
    indices = [
        f"orio_i / ({_count(dimensions[place + 1 :])}) % (size_t)({extent})"
        for place, extent in enumerate(dimensions)
    ]
    return f"({' + '.join(indices)}) % 5 + 1"


def _count(dimensions: tuple[str, ...]) -> str:
    return " * ".join(f"(size_t)({d})" for d in dimensions) or "(size_t)1"


def _definitions(task: TuningTask, point: InputPoint) -> list[str]:
    declared = {d.name for d in task.inputs.declarations}
    members = {member.name for found in task.structures.values() for member in found}
    sizes = [
        # A macro would stand in for members of the same name, too.
        f"enum {{ {name} = {value} }};"
        if name in members and isinstance(value, int)
        else f"#define {name} {_literal(value)}"
        for name, value in point.values
        if name not in declared
    ]
    return [*(f"#define {macro}" for macro in task.inputs.macros), *sizes]


def _renamed(task: TuningTask) -> list[str]:
    """The variables that have names of their own in the test program, whatever its headers have by theirs.

    Code of the specification's files sees the names that it has, as does what the kernel's file declares `extern`.
    """
    if task.files:
        return []
    linked = {d.name for d in task.surroundings.globals if "extern" in d.storage}
    return [d.name for d in task.inputs.declarations if d.name not in linked]


def _structures(task: TuningTask, interface: KernelInterface) -> list[str]:
    """The structures of variables, but for those that the specification's own files define."""
    used = [v.record for v in interface.variables if v.record is not None]
    used += [Record(d.type, task.structures) for d in task.inputs.declarations]
    known = {n for f in task.files for n in (*translation_unit(f.text).structures, *f.structures)}
    return [record.definition() for record in distinct(used) if record.name not in known]


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def _declared(task: TuningTask) -> list[str]:
    """The specification's variables under their own names, for init and validation files."""
    lines: list[str] = []
    for spec in task.inputs.declarations:
        if spec.storage.is_allocated:
            lines.append(f"{spec.type} {'*' * len(spec.dimensions)}{spec.name};")
            continue
        extents = "".join(f"[{d}]" for d in spec.dimensions)
        values = f" = {spec.initialiser}" if (spec.initialiser or "").lstrip().startswith("{") else ""
        lines.append(f"{spec.type} {spec.name}{extents}{values};")
    return lines


def _user_code(task: TuningTask) -> tuple[str, str]:
    """The specification's files: up to the last header that is always included, and the rest.

    Headers come before the variables, whose types they may define.
    """
    files = (task.inputs.init_file, task.measurement.validation_file)
    texts = [split_at_headers(file.text) for file in files if file is not None]
    return "\n".join(head for head, _ in texts), "\n".join(rest for _, rest in texts)
