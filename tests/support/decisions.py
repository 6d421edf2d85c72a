"""Tables of what transformations make of small pieces of C: files of cases, each with its expected result.

A file begins with the declarations that its cases see.  Each case is

    --- ScalarReplace {'dtype': 'double'} | {'live': 'x y'}
    for (i = 0; i < n; i++) s += x[0];
    --->
    the C text that comes of it

with the arguments of the transformation and what is known around the code, as Python dictionaries.  In the
place of a C text stands `unchanged` where the code itself comes back, and a refusal is its code with line
and column, and the argument that it blames in brackets.  Kernels stand behind the code of the
host.  Lines that begin with `note:` are what `force` has overruled.  `pragma_problems` as the name
stands for that function, whose findings are written as refusals are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from c_trees import context, parse

from orio_py.codegen.cuda.device import cuda_program
from orio_py.codegen.opencl.device import device_program
from orio_py.core.diagnostics import Diagnostic
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.macros import Macro
from orio_py.ctree.nodes import Node
from orio_py.kernel.call import kernel_plans
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Refusal, Transformation
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.user_pragmas import pragma_problems
from orio_py.transformation.parallel.vector import Vector

FOLDER = Path(__file__).resolve().parent.parent / "decisions"
_HEAD, _RESULT = "--- ", "--->"
_KEYS: Mapping[str, Callable[..., Transformation]] = {"OpenMP": OpenMP, "Vector": Vector}
"""Keys of Composite that are no transformations of their own."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case: the line that begins it, the code, and what is expected of it."""

    head: str
    code: str
    expected: str


@dataclass(frozen=True, slots=True)
class Table:
    """A file of cases."""

    declarations: str
    cases: tuple[Case, ...]

    @property
    def text(self) -> str:
        """The file."""
        parts = [self.declarations]
        parts.extend(f"{_HEAD}{c.head}\n{c.code}\n{_RESULT}\n{c.expected}\n" for c in self.cases)
        return "\n".join(parts)


def table(path: Path) -> Table:
    """The cases of a file."""
    declarations: list[str] = []
    cases: list[tuple[str, list[str], list[str]]] = []
    lines = declarations
    for line in path.read_text().splitlines():
        if line == _RESULT:
            lines = cases[-1][2]
        elif line.startswith(_HEAD):
            cases.append((line.removeprefix(_HEAD), lines := [], []))
        else:
            lines.append(line)
    read = tuple(Case(head, _joined(code), _joined(expected)) for head, code, expected in cases)
    return Table(_joined(declarations) + "\n", read)


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n")


def result_of(case: Case, declarations: str) -> str:
    """What the transformation of a case makes of its code."""
    first, _, known = case.head.partition(" | ")
    fields = ast.literal_eval(known.strip() or "{}")
    node = _code(case.code, fields.get("macros", {}))
    around = _context(declarations, fields)
    before = structure_digest(node)
    if first.strip() == "pragma_problems":
        return _places(pragma_problems(node, around))
    try:
        step = _step(first)
    except Refusal as refusal:  # of an argument
        return _refusal(refusal)
    try:
        new = step.apply(node, around)
        found = "unchanged" if new is node else emit(new).rstrip("\n")
    except Refusal as refusal:
        found = _refusal(refusal)
    else:
        found += _kernels(new)
    assert structure_digest(node) == before, "the original has been modified"
    return "\n".join([found, *(f"note: {text}" for text in around.overruled.texts)])


def _kernels(result: Node) -> str:
    """The kernels of a result, after what the host copies for each."""
    plans = kernel_plans(result)
    copied = [", ".join(f"{b.name} {b.direction.value}" for b in plan.buffers) for plan in plans]
    is_cuda = bool(plans) and plans[0].language == "cuda"
    text = "" if not plans else cuda_program(plans) if is_cuda else device_program(plans)
    return "".join(f"\ncopied: {line}" for line in copied) + (f"\n{text.rstrip()}" if text else "")


def _places(diagnostics: Sequence[Diagnostic]) -> str:
    lines = [f"{d.code} {d.position.line}:{d.position.column}" if d.position else d.code for d in diagnostics]
    return "\n".join(lines) or "nothing"


def _refusal(refusal: Refusal) -> str:
    """The codes and places of a refusal, and the argument that it blames."""
    return _places(refusal.diagnostics) + (f" [{refusal.argument}]" if refusal.argument else "")


def _step(text: str) -> Transformation:
    name, _, arguments = text.strip().partition(" ")
    values: dict[str, Any] = ast.literal_eval(arguments or "{}")
    return _KEYS[name](**values) if name in _KEYS else TRANSFORMATIONS[name].make(values)


def _code(text: str, macros: Mapping[str, str] | None = None) -> Node:
    """The only statement of a text, or a block; macros are expanded as they are in a region."""
    block = parse(text, macros={name: Macro(name, body, None) for name, body in (macros or {}).items()})
    items = block.block_items or []
    return items[0] if len(items) == 1 else block


def _context(declarations: str, known: Mapping[str, Any]) -> Context:
    fields = dict(known)
    promises = {name: fields.pop(name) for name in ("noalias", "reassociate") if name in fields}
    loops = (CanonicalLoop.match(_code(text)) for text in fields.pop("surrounding", ()))
    for name in fields.keys() & {"exposed", "reserved"}:
        fields[name] = frozenset(fields[name])
    return context(
        declarations + fields.pop("declare", ""),
        live=fields.pop("live", ""),
        assumptions=Assumptions(**promises),
        surrounding=tuple(loop for loop in loops if loop is not None),
        **fields,
    )
