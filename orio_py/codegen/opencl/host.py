"""OpenCL host code: plain C that an application keeps, for the kernels of one tuned file.

A tuned region holds a prototype and a call of each host function:

    void orio_opencl_axpy_0(double *y, const double *x, long orio_count_y, long orio_count_x, double a,
                            long orio_trips_i);
    orio_opencl_axpy_0(&y[0], &x[0], n, n, a, n);

The functions stand in `STEM_opencl.c`, with `STEM_opencl.h` for applications that set the error handler or
release what is kept.  Everything is C99 and OpenCL 1.2.

Source: The OpenCL Specification 1.2, sections 4 and 5.

The text of kernels (bytes as Latin-1) becomes string literals that every C99 compiler takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from typing import TypeVar

from orio_py.codegen.device import ArgumentKind, KernelArgument, host_parameters, kernel_arguments
from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.codegen.languages import Renderer
from orio_py.codegen.offload.declarations import cpp_name, for_cpp, wrapped
from orio_py.codegen.offload.host import (
    HostLanguage,
    data_count,
    data_views,
    host_body,
    host_mark,
    host_parameter_texts,
    host_prefix_of,
    prototype,
    same_size,
)
from orio_py.codegen.offload.on_device import (
    argument_table,
    on_device_view,
    sequence_views,
    started,
    whole_header,
)
from orio_py.codegen.offload.ready import ready_views
from orio_py.codegen.opencl.device import device_program
from orio_py.codegen.program import Program
from orio_py.codegen.templates import render
from orio_py.kernel.backends.opencl import BACKEND
from orio_py.kernel.call import trips_name
from orio_py.kernel.plan import KernelPlan

LONGEST_LITERAL = 4095
"""Characters in a string literal after concatenation that C99 promises (ISO/IEC 9899:1999, 5.2.4.1)."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "?": "\\?"}


def string_pieces(text: str, *, longest: int = LONGEST_LITERAL) -> list[list[str]]:
    r"""The text as pieces of at most `longest` characters, each a list of adjacent literals, one per line.

    The pieces are for an array of strings; a text that has nothing to say is one empty literal.

    >>> for piece in string_pieces('a "b"\nc', longest=6):
    ...     print(*piece)
    "a \"b\"\n"
    "c"
    """
    pieces: list[list[str]] = []
    used = longest
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), longest):
            part = line[start : start + longest]
            if used + len(part) > longest:
                pieces.append([])
                used = 0
            pieces[-1].append(f'"{escape(part)}"')
            used += len(part)
    return pieces or [['""']]


def escape(part: str) -> str:
    """The text as it stands in a literal; a question mark is escaped only where it could begin a trigraph."""
    found: list[str] = []
    for before, character in zip(" " + part, part, strict=False):
        if character == "?" and before != "?":
            found.append(character)
        elif character in _ESCAPES:
            found.append(_ESCAPES[character])
        elif " " <= character <= "~":
            found.append(character)
        else:
            found.extend(f"\\{byte:03o}" for byte in character.encode("latin-1", "replace"))
    return "".join(found)


__all__ = ["host_header", "host_source", "measured_source", "prototype"]

T = TypeVar("T")


def _run(count: int) -> list[str]:
    """Copies, one launch, and copies back."""
    return [
        f"if (orio_prepare(orio_kernel, orio_arguments, {count}, orio_failure))",
        "  return 1;",
        "if (orio_start(orio_kernel, 0, &orio_launch, orio_failure))",
        "  return 1;",
        f"if (orio_collect(orio_kernel, orio_arguments, {count}, orio_failure))",
        "  return 1;",
    ]


_HOST = HostLanguage(
    BACKEND,
    BACKEND.title,
    lambda kind: f"cl_{kind}",
    _run,
    "group",
    "item",
    "CL_INVALID_VALUE",
    "orio_queue",
    "void *",
)


def host_header(unit: HostUnit) -> Program:
    """The text of `STEM.h`: what C and C++ applications can call."""
    return whole_header(unit, _HOST)


def host_source(unit: HostUnit) -> Program:
    """The text of `STEM.c`.  Raises ValueError for a unit without kernels."""
    if not unit.kernels:
        raise ValueError("host code needs at least one kernel")
    kernels = unit.kernels
    doubles = {_choice(k.plan) for k in kernels if _needs_double(k)}
    devices = _numbered(_choice(k.plan) for k in kernels)
    sources = _numbered(k.source for k in kernels)
    built = _numbered(_build(k) for k in kernels)
    texts = [string_pieces(source) for source in sources]
    arguments = [kernel_arguments(k.plan) for k in kernels]
    programs = [
        f'{{orio_source_{sources[source]}, {len(texts[sources[source]])}, "{escape(flags)}", '
        f"&orio_devices[{devices[choice]}], NULL}}"
        for source, flags, choice in built
    ]
    text = render(
        "opencl/host.c.j2",
        mark=host_mark(unit, _HOST),
        header=f"{unit.stem}.h",
        prefix=host_prefix_of(unit, _HOST),
        devices=[
            f'{{"{escape(p)}", "{escape(d)}", {int((p, d) in doubles)}, NULL, NULL, {{NULL}}}}'
            for p, d in devices
        ],
        sources=[{"name": f"orio_source_{k}", "pieces": _lines(pieces)} for k, pieces in enumerate(texts)],
        programs=programs,
        queues=max(k.plan.options.streams for k in kernels),
        arguments=max(len(group) for group in arguments),
        checks=_checks([argument for group in arguments for argument in group]),
        kernels=[_view(index, kernel, built[_build(kernel)]) for index, kernel in enumerate(kernels)],
        transposes=any(argument.rows for group in arguments for argument in group),
        driver_groups=any(k.plan.launch.driver_chosen for k in kernels),
        divides=any(k.plan.launch.covers for k in kernels),
        has_buffers=any(a.kind is ArgumentKind.BUFFER for group in arguments for a in group),
        is_cut=any(k.plan.options.streams > 1 for k in kernels),
        is_whole=any(k.plan.options.streams == 1 for k in kernels),
        statuses=STATUSES,
        success="CL_SUCCESS",
        long_type="cl_long",
        invalid=_HOST.invalid,
        residents=data_views(unit),
        tests=ready_views(unit),
        resident_count=data_count(unit),
        enters=False,
        runs_on_device=any(k.plan.options.on_device for k in kernels),
        sequences=sequence_views(unit, _HOST),
    )
    return Program(text)


def measured_source(unit: HostUnit) -> Program:
    """What variants are measured with: a file that includes `STEM.c` and looks on, see its template."""
    arguments = [kernel_arguments(kernel.plan) for kernel in unit.kernels]
    most = max(map(len, arguments))
    buffers = sum(
        a.kind in (ArgumentKind.BUFFER, ArgumentKind.PARTIALS) for group in arguments for a in group
    )
    items = [1 if k.plan.launch.driver_chosen else prod(k.plan.launch.block_size) for k in unit.kernels]
    text = render(
        "opencl/measured.c.j2",
        source=f"{unit.stem}.c",
        prefix=host_prefix_of(unit, _HOST),
        buffers=max(1, buffers + data_count(unit)),
        kernels=[{"arrays": _array_names(group, most)} for group in arguments],
        items=f"{{{', '.join(map(str, items))}}}",
    )
    return Program(text)


def _array_names(arguments: Sequence[KernelArgument], most: int) -> str:
    """The names of a kernel's arrays and reductions in the order of its arguments, as C."""
    names = [f'"{a.of}"' for a in arguments]
    return f"{{{', '.join([*names, *['NULL'] * (most - len(names))])}}}"


def _view(index: int, kernel: HostKernel, program: int) -> dict[str, object]:
    """What the template needs of one kernel; all texts are C."""
    plan = kernel.plan
    run = f"orio_run_{index}"
    names = [name for _, name in host_parameters(plan)]
    parameters = for_cpp(host_parameter_texts(plan), names)
    return {
        "function": kernel.function,
        "declaration": wrapped(f"void {kernel.function}(", parameters, ")"),
        "entry": f'{{"{plan.name}", &orio_programs[{program}], NULL, {{{{NULL, 0, NULL, 0}}}}}}',
        "run_header": wrapped(f"static int {run}(", ["struct orio_failure *orio_failure", *parameters], ")"),
        "run_test": wrapped(f"  if ({run}(", ["&orio_failure", *map(cpp_name, names)], "))"),
        "empty": " || ".join(f"{trips_name(axis)} <= 0" for axis in plan.axes),
        "body": for_cpp(host_body(index, plan, _HOST), names),
        "on_device": on_device_view(index, kernel, _HOST, _on_device_body(index, plan))
        if plan.options.on_device
        else None,
    }


def _on_device_body(index: int, plan: KernelPlan) -> list[str]:
    """The statements of one launch for buffers of the caller's."""
    count = len(kernel_arguments(plan))
    return [
        *started(index, plan, _HOST),
        *(line for a in kernel_arguments(plan) if a.structure_bytes for line in same_size(a, _HOST)),
        *argument_table(plan),
        f"return orio_run_on_device(orio_kernel, orio_arguments, {count}, &orio_launch,",
        "                          (cl_command_queue)orio_queue, orio_failure);",
    ]


def _checks(arguments: Sequence[KernelArgument]) -> list[dict[str, str]]:
    """Types whose elements are copied as they are: they must be as large here as there."""
    pairs = dict.fromkeys(
        (a.type, f"cl_{a.device_type}")
        for a in arguments
        if a.kind in (ArgumentKind.BUFFER, ArgumentKind.PARTIALS) and not a.structure_bytes
    )
    return [
        {"name": f"orio_check_{k}", "host": host, "device": device} for k, (host, device) in enumerate(pairs)
    ]


def _choice(plan: KernelPlan) -> tuple[str, str]:
    options = plan.options
    return _given(options.platform), _given(options.device)


def _given(value: int | str | None) -> str:
    return "" if value is None else str(value)


def _needs_double(kernel: HostKernel) -> bool:
    return re.search(r"\bdouble\d*\b", kernel.source) is not None


def _build(kernel: HostKernel) -> tuple[str, str, tuple[str, str]]:
    """What makes a program of its own: text, options and device."""
    return kernel.source, kernel.plan.options.build_flags, _choice(kernel.plan)


def _numbered(items: Iterable[T]) -> dict[T, int]:
    """The different items in order, each with its number."""
    return {item: number for number, item in enumerate(dict.fromkeys(items))}


def _lines(pieces: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of a table of strings; every string but the last one ends with a comma."""
    return [[*piece[:-1], piece[-1] + ","] for piece in pieces[:-1]] + [list(pieces[-1])]


STATUSES = (
    "CL_DEVICE_NOT_FOUND",
    "CL_DEVICE_NOT_AVAILABLE",
    "CL_COMPILER_NOT_AVAILABLE",
    "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    "CL_OUT_OF_RESOURCES",
    "CL_OUT_OF_HOST_MEMORY",
    "CL_BUILD_PROGRAM_FAILURE",
    "CL_INVALID_VALUE",
    "CL_INVALID_PLATFORM",
    "CL_INVALID_DEVICE",
    "CL_INVALID_CONTEXT",
    "CL_INVALID_COMMAND_QUEUE",
    "CL_INVALID_MEM_OBJECT",
    "CL_INVALID_BINARY",
    "CL_INVALID_BUILD_OPTIONS",
    "CL_INVALID_PROGRAM",
    "CL_INVALID_PROGRAM_EXECUTABLE",
    "CL_INVALID_KERNEL_NAME",
    "CL_INVALID_KERNEL_DEFINITION",
    "CL_INVALID_KERNEL",
    "CL_INVALID_ARG_INDEX",
    "CL_INVALID_ARG_VALUE",
    "CL_INVALID_ARG_SIZE",
    "CL_INVALID_KERNEL_ARGS",
    "CL_INVALID_WORK_DIMENSION",
    "CL_INVALID_WORK_GROUP_SIZE",
    "CL_INVALID_WORK_ITEM_SIZE",
    "CL_INVALID_GLOBAL_OFFSET",
    "CL_INVALID_EVENT_WAIT_LIST",
    "CL_INVALID_EVENT",
    "CL_INVALID_OPERATION",
    "CL_INVALID_BUFFER_SIZE",
    "CL_INVALID_GLOBAL_WORK_SIZE",
    "CL_INVALID_PROPERTY",
)
"""The statuses whose names the host code can tell (OpenCL 1.2, table 4.x, and the calls' own lists)."""


RENDERER = Renderer(device_program, host_source, host_header)
"""What writes the texts of this language."""
