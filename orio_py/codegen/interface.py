"""How a kernel meets its surroundings: every variable it uses, where it lives and how it is passed.

The timed function takes what the user's function has: its parameters in their order and with their own
declarations, globals where they are, locals as locals.  Sizes and scalars are run-time values unless the
file itself makes them constants.
"""

from __future__ import annotations

import re
from dataclasses import replace

from orio_py.codegen import ctypes
from orio_py.codegen.callee_state import callee_variables
from orio_py.codegen.extent import calls_of, extent_effects, loop_indices
from orio_py.codegen.members import record_of, with_members
from orio_py.codegen.variables import KernelInterface, KernelVariable, Passing
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.ctree.c89 import restrict_word
from orio_py.ctree.ctype import ctype
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.file_scope import live_after
from orio_py.ctree.structures import cannot_be_made
from orio_py.ctree.symbols import CDeclaration
from orio_py.ctree.unit.value_ranges import number_before
from orio_py.spec.inputs import Declaration, InputPoint, Storage
from orio_py.spec.task import TuningTask
from orio_py.spec.temporaries import is_temporary, table_text, tells_values

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"\b(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?)[uUlLfF]*|\.\d+[fFlL]?")
_ARITHMETIC = re.compile(r"[\w\s.+\-*/%()]*")


def build_interface(task: TuningTask, point: InputPoint) -> KernelInterface:
    """Decide how each name that the timed code uses is passed.

    Raises DiagnosticError ORIO-M001 (unknown variable), M002 (unknown value), M003 (type conflict).
    """
    found = _Builder(task, point).build()
    return replace(found, variables=with_members(task, found.variables))


class _Builder:
    """Collects what is known of each name, in the order: file, specification, input sizes."""

    def __init__(self, task: TuningTask, point: InputPoint) -> None:
        self.task, self.point = task, point
        near = task.surroundings
        self.locals = {d.name: d for d in near.locals}
        self.parameters = {d.name: d for d in near.function.parameters} if near.function else {}
        self.globals = {d.name: d for d in near.globals}
        self.declared = near.declared
        self.spec = {d.name: d for d in task.inputs.all_declarations}
        self.sizes = dict(point.values)
        self.effects = extent_effects(task)
        self.elsewhere = calls_of(task).variables - self.effects.reads - self.effects.writes
        self.live = live_after(near, self.effects.scalar_writes)
        self.constants = frozenset((*near.macros, *near.unit.enumerators))
        self.read_by_initialisers: set[str] = set()
        self.temporaries: list[str] = []
        self.problems: list[Diagnostic] = []

    def build(self) -> KernelInterface:
        names = self._needed()
        ordered = [n for n in self.parameters if n in names]
        places = {name: place for place, name in enumerate(self.locals)}
        rest = sorted(names.difference(ordered), key=lambda n: (bool(self._extents(n)), places.get(n, -1), n))
        found = [v for v in map(self._variable, [*ordered, *rest]) if v is not None]
        if self.problems:
            raise DiagnosticError(*self.problems)
        kept = (name for name in sorted(self.elsewhere - names) if not self._is_macro(name))
        found += callee_variables(self.task, [self.globals[name] for name in kept])
        macros = {n: v for n, v in self.sizes.items() if self._is_macro(n)}
        return KernelInterface(tuple(found), macros, self._definitions(), tuple(self.temporaries))

    def _needed(self) -> set[str]:
        """The names used, and those that the declarations of used arrays mention."""
        needed: set[str] = set()
        waiting = [*self.effects.reads, *self.effects.writes, *self.elsewhere & self.spec.keys()]
        while waiting:
            name = waiting.pop()
            if name in needed:
                continue
            needed.add(name)
            declared = self.declared.get(name)
            if declared is not None and (declared.dimensions or declared.pointers):
                waiting.extend(IDENTIFIER.findall(" ".join((*declared.dimensions, declared.text))))
            elif (initialiser := self._fixed_initialiser(name)) is not None:
                names = IDENTIFIER.findall(initialiser)
                self.read_by_initialisers.update(names)
                waiting.extend(names)
            elif name in self.spec and name not in self.parameters:
                waiting.extend(IDENTIFIER.findall(" ".join(self.spec[name].dimensions)))
        known = {*self.locals, *self.parameters, *self.globals, *self.spec, *self.sizes}
        return {n for n in needed if n in known or n in self.effects.writes}

    def _is_macro(self, name: str) -> bool:
        """Whether a size is a compile-time constant: a macro of the file, or the extent of a global
        array that the specification alone declares, which C requires to be constant.
        """
        if name in self.task.surroundings.macros:
            return True
        if self.declared.get(name) is not None:
            return False
        is_fragment = self.task.surroundings.function is None
        static = (
            d
            for d in self.spec.values()
            if d.storage is Storage.STATIC and (is_fragment or d.name not in self.declared)
        )
        return any(name in IDENTIFIER.findall(" ".join(d.dimensions)) for d in static)

    def _extents(self, name: str) -> tuple[str, ...]:
        if name in self.spec:
            return self.spec[name].dimensions
        declared = self.declared.get(name)
        return declared.dimensions if declared is not None else ()

    def _variable(self, name: str) -> KernelVariable | None:
        if self._is_macro(name) or (name in self.task.surroundings.macros and name not in self.spec):
            return None
        declared, spec = self.declared.get(name), self.spec.get(name)
        exposed = self.effects.exposed | self.effects.reads_before_write
        if declared is not None and is_temporary(self.task, name, exposed):
            self.temporaries.append(f"{_without_storage(declared.text)};")
            return None
        if (table := table_text(self.task, name)) is not None:
            self.temporaries.append(table)
            return None
        if declared is None and spec is None and name not in self.sizes:
            return self._undeclared_index(name)
        if (
            declared is not None
            and "const" in declared.qualifiers
            and declared.scope == "global"
            and spec is None
        ):
            return None
        type_name = self._element_type(name, declared, spec)
        if type_name is None:
            return None
        if declared is not None:
            return self._from_file(name, declared, spec, type_name)
        return self._from_spec(name, spec, type_name)

    def _undeclared_index(self, name: str) -> KernelVariable | None:
        """The index of loops that nothing declares: a local `int`, as in Orio's output and in code for devices."""
        is_set_first = name in self.effects.scalar_writes and name not in self.effects.reads_before_write
        if not is_set_first or name not in loop_indices(self.task):
            return None
        text, no = f"int {name}", False
        return KernelVariable(name, Passing.LOCAL, "int", text, (), no, True, no, no, source=None)

    def _element_type(self, name: str, declared: CDeclaration | None, spec: Declaration | None) -> str | None:
        in_file = self._number_type(declared.type) if declared is not None else None
        if declared is not None and in_file is None and declared.type in self.task.structures:
            return self._structure_type(name, declared, spec)
        if spec is None:
            if in_file is None and declared is not None:
                self._problem(
                    "ORIO-M001",
                    name,
                    f"`{name}` has type `{declared.type}`, which the test program cannot fill",
                )
                return None
            return in_file or ("double" if isinstance(self.sizes.get(name), float) else "int")
        same = in_file is None or in_file == spec.type or not spec.dimensions
        if (
            (not same or spec.type in self.task.structures)
            and in_file is not None
            and not _same_size(in_file, spec.type)
        ):
            self._problem(
                "ORIO-M003", name, f"`{name}` is `{in_file}` in the file but its decl says `{spec.type}`"
            )
        return spec.type

    def _structure_type(self, name: str, declared: CDeclaration, spec: Declaration | None) -> str | None:
        """The type as the file names it, if its members are numbers and those that the specification means."""
        members = self.task.structures[declared.type]
        if spec is not None and self.task.structures.get(spec.type) != members:
            message = f"`{name}` is `{declared.type}` in the file but its decl says `{spec.type}`"
            self._problem("ORIO-M003", name, message)
            return None
        if (problem := cannot_be_made(self.task.structures, declared.type)) is not None:
            message = f"`{name}` has type `{declared.type}`, which the test program cannot fill: {problem}"
            self._problem("ORIO-M001", name, message)
            return None
        return declared.type

    def _number_type(self, written: str) -> str | None:
        """The arithmetic type behind a type name, through the file's typedefs and those of its headers."""
        return self.task.types.get(written) or (written if ctypes.is_arithmetic(written) else None)

    def _from_file(
        self, name: str, declared: CDeclaration, spec: Declaration | None, type_name: str
    ) -> KernelVariable | None:
        is_array = declared.is_array_like or bool(spec is not None and spec.dimensions)
        extents = spec.dimensions if spec is not None and spec.dimensions else declared.dimensions
        if spec is not None and spec.storage is Storage.SCALAR and any(declared.dimensions):
            self._problem(
                "ORIO-M003", name, f"`{name}` is an array in the file but its decl gives no extents"
            )
            return None
        if spec is not None and not extents and is_array and type_name in self.task.structures:
            extents = ("1",)
        if is_array and declared.scope != "global" and (not extents or "" in extents):
            self._problem("ORIO-M002", name, f"the extent of `{name}` is not known")
            return None
        if declared.scope == "global":
            whole = bool(declared.dimensions) and not declared.pointers
            passing = Passing.GLOBAL_ARRAY if whole else Passing.GLOBAL_SCALAR
        elif is_array:
            passing = Passing.ARRAY
        else:
            local = declared.scope == "local" and name not in self._names_in_extents()
            passing = Passing.LOCAL if local else Passing.VALUE
        spine = is_array and declared.pointers >= 2 and len(extents) >= 2 and not declared.dimensions
        initialiser = self._fixed_initialiser(name) if passing is Passing.LOCAL else None
        read_first = name in self.effects.reads_before_write or name in self.read_by_initialisers
        return self._finish(
            KernelVariable(
                name,
                passing,
                type_name,
                _parameter_text(declared, passing, restrict_word(self.task.build.command)),
                extents,
                is_array,
                written=name in self.effects.writes | self.elsewhere
                and not (is_array and "const" in declared.qualifiers),
                compared=is_array or passing is Passing.GLOBAL_SCALAR or name in self.live,
                live_in=is_array or read_first,
                source=spec,
                spine=spine,
                initialiser=initialiser,
                known_value=self.sizes.get(name),
                keeps_value=spec is None and passing is Passing.GLOBAL_ARRAY and self._has_global_value(name),
            )
        )

    def _from_spec(self, name: str, spec: Declaration | None, type_name: str) -> KernelVariable | None:
        extents = spec.dimensions if spec is not None else ()
        dynamic = spec is not None and spec.storage.is_allocated
        if dynamic and not extents:
            self._problem("ORIO-M002", name, f"the extent of `{name}` is not known: no allocation says it")
            return None
        if extents and not dynamic:
            passing, text = Passing.GLOBAL_ARRAY, f"{type_name} {name}" + "".join(f"[{d}]" for d in extents)
        elif extents:
            passing, text = Passing.ARRAY, f"{type_name} {'*' * len(extents)}{name}"
        else:
            passing, text = Passing.VALUE, f"{type_name} {name}"
        written = name in self.effects.writes
        return self._finish(
            KernelVariable(
                name,
                passing,
                type_name,
                text,
                extents,
                bool(extents),
                written=written,
                compared=bool(extents) or written,
                live_in=True,
                source=spec,
                spine=len(extents) >= 2 and passing is Passing.ARRAY,
                known_value=self.sizes.get(name),
            )
        )

    def _finish(self, variable: KernelVariable) -> KernelVariable:
        """The variable with its members.  Report a scalar whose value before the region nobody knows."""
        known = (
            variable.is_array
            or not variable.live_in
            or variable.source is not None
            or variable.known_value is not None
            or variable.initialiser is not None
            or self._has_global_value(variable.name)
            or self.task.inputs.init_file is not None
        )
        if not known:
            self._problem(
                "ORIO-M002", variable.name, f"the value of `{variable.name}` before the region is not known"
            )
        if variable.type not in self.task.structures:
            return variable
        return replace(variable, record=record_of(self.task, variable.name, variable.type))

    def _has_global_value(self, name: str) -> bool:
        """Whether the file says with which value a variable begins: its initialiser, or 0 for what the timed code counts."""
        declared = self.globals.get(name)
        if declared is None or name in self.locals:
            return False
        counted = declared.is_scalar and "extern" not in declared.storage and name in self.effects.writes
        return tells_values(declared) or counted

    def _names_in_extents(self) -> set[str]:
        """Names that the extents of local arrays mention; those arrays become parameters."""
        texts = (" ".join((*d.dimensions, d.text)) for d in self.locals.values() if d.is_array_like)
        return {name for text in texts for name in IDENTIFIER.findall(text)}

    def _fixed_initialiser(self, name: str) -> str | None:
        """The value of a local where the region begins, if the file surely says it: its initialiser, or the last number assigned.

        An initialiser may combine numbers, constants of the file, parameters and other such locals; none of the
        variables may be assigned before the region.
        """
        declared, near = self.locals.get(name), self.task.surroundings
        if declared is None or name in self.spec or name in self.sizes:
            return None
        if near.flow is not None and declared.is_scalar and not declared.storage & {"static", "extern"}:
            number = number_before(near.flow, near.inside, name)
            if number is not None:
                return emit_expression(number)
        if declared.initialiser is None:
            return None
        text = declared.initialiser.strip()
        if not _ARITHMETIC.fullmatch(text) or self._is_assigned_before(name):
            return None
        for other in IDENTIFIER.findall(_NUMBER.sub(" ", text)):
            parameter = self.parameters.get(other)
            fixed = (
                other in self.constants
                or (
                    parameter is not None
                    and not parameter.is_array_like
                    and not self._is_assigned_before(other)
                )
                or (self._is_earlier(other, name) and self._fixed_initialiser(other) is not None)
            )
            if not fixed:
                return None
        return declared.initialiser

    def _is_earlier(self, name: str, other: str) -> bool:
        order = list(self.locals)
        return name in self.locals and order.index(name) < order.index(other)

    def _is_assigned_before(self, name: str) -> bool:
        """Whether the function assigns `name` (or takes its address) before the region, declarations aside."""
        near = self.task.surroundings
        if near.in_loop and name in self.effects.writes:
            return True
        return near.flow is None or near.flow.changes_before(name, near.inside)

    def _definitions(self) -> tuple[str, ...]:
        """Object-like macros and constants of the file that declarations mention."""
        near = self.task.surroundings
        numbers = {name: str(value) for name, value in near.unit.enumerators.items() if value is not None}
        known = {**numbers, **near.macros}
        specified = (*self.spec.values(), *self.task.inputs.members)
        texts = [" ".join((*d.dimensions, d.initialiser or "")) for d in specified]
        texts.extend(" ".join(d.dimensions) for d in (*self.parameters.values(), *self.locals.values()))
        structures = (d for d in self.globals.values() if d.type in self.task.structures)
        texts.extend(" ".join(d.dimensions) for d in structures)
        every = (m for members in self.task.structures.values() for m in members)
        texts.extend(" ".join((*m.dimensions, m.width)) for m in every)
        waiting, taken = IDENTIFIER.findall(" ".join(texts)), dict[str, str]()
        while waiting:
            name = waiting.pop()
            if name in known and name not in taken and name not in self.sizes:
                taken[name] = known[name]
                waiting.extend(IDENTIFIER.findall(known[name]))
        return tuple(f"#define {name} {body}" for name, body in taken.items())

    def _problem(self, code: str, name: str, message: str) -> None:
        declared = self.declared.get(name)
        is_known = declared is not None and (declared.type in self.task.structures or ctype(declared.type))
        kind = declared.type if declared is not None and is_known else "double"
        help_text = f"declare it in input_vars, for example `decl {kind} {name} = random;`"
        self.problems.append(Diagnostic(code, message, self.task.position, help=help_text))


def _parameter_text(declared: CDeclaration, passing: Passing, restrict: str) -> str:
    """The declaration as a parameter or local of the kernel, without storage class and initialiser."""
    if declared.scope != "local" or passing is not Passing.ARRAY:
        qualifiers = " ".join(q for q in sorted(declared.qualifiers) if q == "volatile")
        if passing is Passing.LOCAL:
            return f"{qualifiers} {declared.type} {'*' * declared.pointers}{declared.name}".strip()
        return declared.text
    if declared.dimensions and not declared.pointers:
        inner = "".join(f"[{d}]" for d in declared.dimensions[1:])
        name = f"(*{restrict} {declared.name})" if inner else f"*{restrict} {declared.name}"
        return f"{declared.type} {name}{inner}"
    return _without_storage(declared.text)


def _without_storage(text: str) -> str:
    return re.sub(r"\b(?:static|register|auto)\b\s*", "", text)


def _same_size(one: str, two: str) -> bool:
    """Whether two types are of one size and kind, on LP64 systems; signs do not count."""
    first, second = ctype(one), ctype(two)
    if first is None or second is None:
        return one == two
    return first.bytes == second.bytes and first.is_floating == second.is_floating
