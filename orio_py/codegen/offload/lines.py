"""The lines of a kernel between its declarations and its partial results.

A kernel that does several iterations at once does those that are left one by one:

if (orio_i + 4 <= orio_trips_i) {
  const int i = (int)orio_i;
  vstore4(alpha * vload4(0, &x[i]), 0, &y[i]);
} else {
  for (long orio_rest_i = orio_i; orio_rest_i < orio_trips_i; orio_rest_i++) {
    const int i = (int)orio_rest_i;
    y[i] = alpha * x[i];
  }
}
"""

from __future__ import annotations

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.blocks import kernel_with_blocks
from orio_py.codegen.offload.body import device_statement
from orio_py.codegen.offload.dialect import Kernel
from orio_py.codegen.offload.loops import blocks_around, counter, index_declared, type_text
from orio_py.codegen.offload.reductions import lanes_declared, lanes_merged
from orio_py.codegen.offload.vectors import Vectors, lanes_name
from orio_py.ctree.emit import emit
from orio_py.ctree.rewrite import used_names
from orio_py.kernel.call import trips_name
from orio_py.kernel.plan import Axis
from orio_py.kernel.types import device_type


def plain_body(kernel: Kernel, indent: str) -> str:
    """One iteration, with the declarations that it needs."""
    plan, used = kernel.plan, used_names(kernel.plan.body)
    lines = [
        f"{indent}{index_declared(axis, counter(axis, plan), kernel)}\n"
        for axis in plan.axes
        if counter(axis, plan) != device_name(axis.index) and axis.index in used
    ]
    return "".join([*lines, _scalar_body(kernel, indent)])


def _scalar_body(kernel: Kernel, indent: str) -> str:
    plan = kernel.plan
    lines = [f"{indent}{type_text(kind, kernel)} {device_name(name)};\n" for name, kind in plan.private]
    lines += [emit(device_statement(node, kernel), indent=indent, braces=True) for node in plan.body]
    return "".join(lines)


def lanes_body(kernel: Kernel, indent: str) -> str:
    """Iterations in the lanes of vectors where there are as many, otherwise one after the other."""
    plan, used = kernel.plan, used_names(kernel.plan.body)
    assert plan.lanes is not None
    axis, width = plan.axes[-1], plan.launch.vector
    number, trips, rest = counter(axis, plan), trips_name(axis), f"orio_rest_{axis.index}"
    inner = f"{indent}  "
    others = [a for a in plan.axes[:-1] if counter(a, plan) != device_name(a.index) and a.index in used]
    # The first lane is the iteration whose elements stand first in memory.
    first = f"({number} + {width - 1})" if plan.lanes.backwards else number
    vectors = Vectors(kernel)
    body = "".join(emit(vectors.statement(node), indent=inner, braces=True) for node in plan.body)
    names = [(vectors.vector_type(device_name(name)), device_name(name)) for name, _ in plan.private]
    lines = [f"{indent}{index_declared(a, counter(a, plan), kernel)}" for a in others]
    lines.append(f"{indent}if ({number} + {width} <= {trips}) {{")
    if axis.index in used:
        lines.append(f"{inner}{index_declared(axis, first, kernel)}")
    if vectors.uses_index:
        lines.append(f"{inner}{_index_lanes(axis, kernel)}")
    lines += [f"{inner}{kind} {name};" for kind, name in names]
    last = [
        f"{indent}}} else {{",
        f"{inner}for (long {rest} = {number}; {rest} < {trips}; {rest}++) {{",
        *([f"{inner}  {index_declared(axis, rest, kernel)}"] if axis.index in used else []),
    ]
    left = _scalar_body(kernel, f"{inner}  ")
    return "\n".join([*lines, body + "\n".join([*last, f"{left}{inner}}}", f"{indent}}}", ""])])


def _index_lanes(axis: Axis, kernel: Kernel) -> str:
    """The index of each lane's iteration."""
    plan, element = kernel.plan, device_type(axis.type)
    assert plan.lanes is not None
    assert element is not None
    kind = kernel.dialect.vector_type(element, plan.launch.vector)
    step = -axis.stride if plan.lanes.backwards else axis.stride
    offsets = kernel.dialect.vector_of(element, [str(step * place) for place in range(plan.launch.vector)])
    name = device_name(axis.index)
    return f"const {kind} {lanes_name(name)} = ({kind}){name} + {offsets};"


def kernel_lines(kernel: Kernel) -> list[str]:
    """The lines by which each item finds its iterations and runs them."""
    if kernel.plan.blocks:
        return kernel_with_blocks(kernel)
    has_lanes = kernel.plan.lanes is not None
    around = blocks_around(kernel)
    write = lanes_body if has_lanes else plain_body
    opening = [*(lanes_declared(kernel) if has_lanes else ()), *around.opening]
    body = write(kernel, "  " * (around.depth + 1)).splitlines()
    return [*opening, *body, *around.closing, *(lanes_merged(kernel) if has_lanes else ())]


def wrapped_head(first: str, parameters: list[str], width: int) -> str:
    """`first` and the parameters up to `)`, in lines of at most `width` characters where they can be broken."""
    lines: list[str] = []
    line = first
    for number, parameter in enumerate(parameters):
        piece = parameter + (")" if number + 1 == len(parameters) else ",")
        if len(line) + len(piece) + 1 > width and line.strip():
            lines.append(line.rstrip())
            line = "    "
        line += piece if line.endswith("(") or not line.strip() else f" {piece}"
    return "\n".join([*lines, line])
