"""The translation unit of one variant: what the file declares, the timed function, its entry points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from orio_py.codegen.callee_state import with_statics_outside
from orio_py.codegen.extent import extent_text
from orio_py.codegen.program import Program
from orio_py.codegen.records import distinct
from orio_py.codegen.templates import render
from orio_py.codegen.variables import KernelInterface, KernelVariable, Passing
from orio_py.core.expr import Value
from orio_py.ctree.lexer import names_in, scan
from orio_py.spec.task import TuningTask

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(ifdef|ifndef|if|endif|include)\b[^\n]*\n?", re.MULTILINE)


def kernel_program(task: TuningTask, interface: KernelInterface, codes: Sequence[str]) -> Program:
    """The kernel with `codes[k]` as the code of region k, compilable to a shared object."""
    slots = list(enumerate(interface.variables))
    parameters: list[str] = []
    arguments: list[str] = []
    for index, variable in slots:
        for parameter, argument in _passed(index, variable):
            parameters.append(parameter)
            arguments.append(argument)
    position = task.source.position(task.extent.start)
    name = position.file.replace("\\", "\\\\").replace('"', '\\"')
    text = render(
        "c/kernel.c.j2",
        preamble=with_statics_outside(_preamble(task, interface.macros), interface.variables),
        globals=_globals(task, interface.variables),
        parameters=", ".join(parameters) or "void",
        arguments=", ".join(arguments),
        locals=[
            *(_local(v) for v in interface.variables if v.passing is Passing.LOCAL),
            *interface.temporaries,
        ],
        body=f'#line {position.line} "{_ascii(name)}"\n{extent_text(task, codes)}',
        outputs=[f"*orio_out_{v.name} = {v.name};" for v in interface.variables if _is_output(v)],
        before=[line for index, v in slots for line in _before(index, v)],
        after=[f"*({v.type} *)orio_argument[{i}] = {v.name};" for i, v in slots if _is_global_output(v)],
        layouts=_layouts(interface),
        shared=[_shared(index, v) for index, v in slots if is_shared(v)],
        postamble=with_statics_outside(
            task.surroundings.undone + task.surroundings.after, interface.variables
        ),
    )
    return Program(text)


def is_shared(variable: KernelVariable) -> bool:
    """Whether the test program reaches the variable in the shared object by its address."""
    if variable.passing is Passing.GLOBAL_ARRAY:
        return True
    return variable.passing is Passing.GLOBAL_SCALAR and not _is_assigned(variable)


def _is_assigned(variable: KernelVariable) -> bool:
    return variable.is_array or variable.source is not None or variable.known_value is not None


def _is_output(variable: KernelVariable) -> bool:
    by_copy = variable.passing in (Passing.VALUE, Passing.LOCAL)
    return by_copy and variable.written and variable.compared


def _is_global_output(variable: KernelVariable) -> bool:
    assigned = variable.passing is Passing.GLOBAL_SCALAR and _is_assigned(variable)
    return assigned and variable.written and not variable.is_array


def _passed(index: int, variable: KernelVariable) -> list[tuple[str, str]]:
    """The kernel parameters for one variable, each with its argument."""
    slot = f"orio_argument[{index}]"
    found: list[tuple[str, str]] = []
    if variable.passing is Passing.VALUE:
        found.append((variable.parameter, f"*({variable.type} *){slot}"))
    elif variable.passing is Passing.ARRAY:
        found.append((variable.parameter, slot))
    elif variable.passing is Passing.LOCAL and variable.live_in and variable.initialiser is None:
        found.append((f"{variable.type} orio_in_{variable.name}", f"*({variable.type} *){slot}"))
    if _is_output(variable):
        found.append((f"{variable.type} *orio_out_{variable.name}", slot))
    return found


def _local(variable: KernelVariable) -> str:
    if variable.initialiser is not None:
        return f"{variable.parameter} = {variable.initialiser};"
    if variable.live_in:
        return f"{variable.parameter} = orio_in_{variable.name};"
    return f"{variable.parameter};"


def _before(index: int, variable: KernelVariable) -> list[str]:
    if variable.passing is not Passing.GLOBAL_SCALAR or not _is_assigned(variable):
        return []
    if variable.is_array:
        return [f"{variable.name} = orio_argument[{index}];"]
    return [f"{variable.name} = *({variable.type} *)orio_argument[{index}];"]


def _shared(index: int, variable: KernelVariable) -> Mapping[str, object]:
    return {"index": index, "name": variable.name, "size": f"sizeof {variable.name}"}


def _layouts(interface: KernelInterface) -> list[str]:
    """What the test program takes for granted of the file's structures."""
    found = distinct([v.record for v in interface.variables if v.record is not None])
    return [line for number, record in enumerate(found) for line in record.same_layout(number)]


def _globals(task: TuningTask, variables: Sequence[KernelVariable]) -> list[str]:
    """Definitions of globals that the file only declares or leaves to its surroundings."""
    declared = {d.name: d for d in task.surroundings.globals}
    lines: list[str] = []
    for variable in variables:
        if variable.passing not in (Passing.GLOBAL_ARRAY, Passing.GLOBAL_SCALAR) or variable.keeps_value:
            continue
        found = declared.get(variable.name)
        if found is None:
            lines.append(f"{variable.parameter};")
        elif "extern" in found.storage:
            lines.append(f"{found.text};")
    return lines


def _preamble(task: TuningTask, macros: Mapping[str, Value]) -> str:
    """The file's own text before the function, with size macros set to the problem size.

    The function itself is there, too, where the rest of the file uses it.
    """
    text = _without_registers(task) + _own_function(task) + task.surroundings.defined
    head = [f"#define {macro}" for macro in task.inputs.macros]
    for name, value in macros.items():
        pattern = re.compile(
            rf"^([ \t]*#[ \t]*define[ \t]+{re.escape(name)}\b)(?:[^\n\\]|\\\r?\n|\\.)*", re.M
        )
        text, count = pattern.subn(rf"\g<1> {value}", text)
        if count == 0 and name in task.surroundings.macros:
            text = _redefined(text, name, value)
        elif count == 0:
            head.append(f"#define {name} {value}")
    return "\n".join([*head, text])


def _without_registers(task: TuningTask) -> str:
    """The file's own text before the function, where a fragment's variables are no longer in registers.

    Such a fragment stood in a function of Orio's; outside of one, C has no register variables (C99 6.9).
    """
    text = task.surroundings.before
    for declared in task.surroundings.globals:
        if "register" in declared.storage:
            text = re.sub(rf"\bregister\b(?=[^;{{}}()#]*\b{re.escape(declared.name)}\b)", "", text)
    return text


def _own_function(task: TuningTask) -> str:
    near = task.surroundings
    if near.function is None or near.function.name not in names_in(scan(near.before + near.after)):
        return ""
    own = task.source.text[near.function.span.start : near.function.span.end]
    return f"\n#define ORIO_ORIGINAL\n{own}\n#undef ORIO_ORIGINAL\n"


def _redefined(text: str, name: str, value: Value) -> str:
    """The text with a macro of its headers set anew, behind the last header that is always included."""
    before, rest = split_at_headers(text)
    newline = "" if before.endswith("\n") or not before else "\n"
    return f"{before}{newline}#undef {name}\n#define {name} {value}\n{rest}"


def split_at_headers(text: str) -> tuple[str, str]:
    """The text up to the last header that is always included, and the rest."""
    place, depth = 0, 0
    for found in _DIRECTIVE.finditer(text):
        if found[1].startswith("if"):
            depth += 1
        elif found[1] == "endif":
            depth -= 1
        elif depth == 0:
            place = found.end()
    return text[:place], text[place:]


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")
