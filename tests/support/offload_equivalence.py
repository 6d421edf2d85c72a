"""Random kernels beside the loops that they stand for: the same values afterwards, for many sizes.

The originals tell which elements they reach, so that a kernel's host code is given arrays that end there.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from c_trees import context, parse
from opencl_runs import NUMBERS
from random_kernel_parts import FLOATING, SIDE
from random_kernels import RandomKernel

from orio_py.ctree.build import call
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, walk
from orio_py.ctree.verify import verify
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import KernelPlan
from orio_py.kernel.types import device_type
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Refusal

SIZES = ((0, 3, 2), (1, 1, 1), (2, 0, 5), (7, 5, 3), (11, 12, 4), (12, 9, 12))
LARGE = ((0, 3, 2), (1, 1, 1), (7, 5, 3), (64, 3, 2), (129, 11, 3))
"""Values of n, m and l; the large ones for code of one dimension without matrices."""

BEFORE = {"s": 11, "mx": 2, "mn": 5, "pr": 2, "an": 13, "of": 4, "xo": 5, "la": 1, "lo": 0}
"""The values of reductions' scalars before the loop; `la` is 0 in some cases, `lo` 1."""

TRAPS = ("-fsanitize=undefined,float-cast-overflow", "-fsanitize-undefined-trap-on-error")
"""The original stops where it does something undefined: such a case counts as invalid."""


@dataclass(frozen=True)
class Variant:
    """A case with what became of it, under the number that its functions have."""

    seed: int
    kernel: RandomKernel
    tree: Node
    plans: tuple[KernelPlan, ...]


def offloaded(seed: int, kernel: RandomKernel) -> Variant:
    """The case with its kernels.  Raises Refusal."""
    tree = parse(kernel.code)
    before = structure_digest(tree)
    around = context(
        declarations(kernel),
        live=" ".join((*kernel.arrays, *kernel.scalars, *kernel.live)),
        assumptions=Assumptions(noalias=True, reassociate=True),
        label=f"case{seed}",
    )
    try:
        result = kernel.transformation.apply(tree, around)
    finally:
        assert structure_digest(tree) == before, "the input was modified"
    assert verify(result) == []
    return Variant(seed, kernel, result, kernel_plans(result))


def declarations(kernel: RandomKernel) -> str:
    """The variables of a case, as the region sees them."""
    lines = ["int w;", *definitions([kernel])]
    for names in (kernel.bounds, kernel.indices, kernel.scalars):
        lines += [f"{kind} {name};" for name, kind in names.items()]
    return " ".join([*lines, *(f"{_array(kernel, name)};" for name in kernel.arrays)])


def definitions(kernels: Sequence[RandomKernel]) -> list[str]:
    """The structures of some cases, each once."""
    kinds = sorted({kernel.arrays[name] for kernel in kernels for name in kernel.records})
    return [f"struct {_tag(kind)} {{ {kind} m0, m1, m2; }};" for kind in kinds]


def _tag(kind: str) -> str:
    return f"of_{kind.replace(' ', '_')}"


def _array(kernel: RandomKernel, name: str) -> str:
    kind, side = kernel.arrays[name], kernel.side
    if name in kernel.records:
        return f"struct {_tag(kind)} *{name}"
    inner = {"p": 1, "q": 1, "b": 2, "d": 2}.get(name, 0) * f"[{side}]"
    if inner:
        pointer = name in {"q", "d"} or side == "w"
        return f"{kind} (*{name}){inner}" if pointer else f"{kind} {name}[{SIDE}]{inner}"
    return f"{kind} *{name}"


def c_function(kernel: RandomKernel, name: str, code: str, *, qualifier: str = "") -> str:
    """A C function over `memory`: the arrays, the reductions' scalars, the indices that are live.

    `qualifier` is one of the arrays' elements.
    """
    lines = [f"void {name}(int w, long n_, long m_, long l_, void **memory) {{"]
    lines += [f"  {kind} {bound} = ({kind}){bound}_;" for bound, kind in kernel.bounds.items()]
    lines += [f"  {kind} {index} = 7;" for index, kind in kernel.indices.items()]
    for number, array in enumerate(kernel.arrays):
        # The pointer of the parameter that an array would be.
        text = _array(kernel, array)
        if "(*" not in text and "[" in text:
            text = re.sub(rf"{array}\[\d+\]", f"(*{array})", text)
        lines.append(f"  {qualifier} {text} = memory[{number}];")
    first = len(kernel.arrays)
    for number, (scalar, kind) in enumerate(kernel.scalars.items()):
        lines.append(f"  {kind} {scalar} = *({kind} *)memory[{first + number}];")
    lines.append(code)
    for number, (scalar, kind) in enumerate(kernel.scalars.items()):
        lines.append(f"  *({kind} *)memory[{first + number}] = {scalar};")
    first += len(kernel.scalars)
    for number, index in enumerate(kernel.live):
        lines.append(f"  *({kernel.indices[index]} *)memory[{first + number}] = {index};")
    return "\n".join([*lines, "}", ""])


class Memory:
    """Equal inputs each time for equal sizes: whole numbers from 0 to 8, or fractions between -4 and 4."""

    def __init__(self, variant: Variant, sizes: tuple[int, int, int]) -> None:
        kernel = variant.kernel
        draw = np.random.default_rng(variant.seed)
        self.sizes = sizes
        flat = SIDE * SIDE * SIDE
        self.parts: dict[str, Any] = {}
        for name, kind in kernel.arrays.items():
            count = {"p": SIDE**2, "q": SIDE**2, "b": flat, "d": flat}.get(name, 4 * max(12, *sizes) + 8)
            if name == "z" and not kernel.large:
                count = flat
            if name in kernel.records:
                count *= 3
            number = _number(kind)
            values = draw.integers(0, 9, count)
            fractions = not kernel.exact and kind in FLOATING
            self.parts[name] = (
                draw.uniform(-4, 4, count).astype(number) if fractions else values.astype(number)
            )
        for name, kind in kernel.scalars.items():
            value = BEFORE[name] ^ int(name in {"la", "lo"} and variant.seed % 7 == 0)
            self.parts[name] = np.full(1, value, _number(kind))
        for name in kernel.live:
            self.parts[f"{name} afterwards"] = np.full(1, 7, _number(kernel.indices[name]))

    def call(self, function: Any, places: Mapping[str, int] | None = None) -> None:
        """Run a function of the library over these values, or those that begin at `places`."""
        places = {name: part.ctypes.data for name, part in self.parts.items()} if places is None else places
        pointers = (ctypes.c_void_p * len(places))(*places.values())
        function(SIDE, *(ctypes.c_long(size) for size in self.sizes), pointers)


def _number(kind: str) -> Any:
    return NUMBERS[device_type(kind) or ""]


def difference(variant: Variant, one: Memory, two: Memory) -> str | None:
    """What is not the same: bit for bit for whole numbers, but for zeros' signs; within rounding for fractions.

    Two orders of summing `N` terms of size up to 16 differ by at most `4 N eps (16 N + |x|)`: N. Higham,
    "Accuracy and Stability of Numerical Algorithms", section 4.2.  A product that overflows on the way need not
    in another order: where the original is not finite, anything may stand.
    """
    kernel = variant.kernel
    touched = 3 * int(np.prod([max(size, 12) for size in one.sizes[: kernel.depth]]))
    for name, first in one.parts.items():
        second = two.parts[name]
        if first.dtype.kind != "f" or kernel.exact:
            same = np.equal(first, second) | ((first != first) & (second != second))
        else:
            precision = np.finfo(np.float32 if "float" in _kinds(kernel) else np.float64).eps
            bound = 4 * touched * precision * (16 * touched + np.abs(first))
            same = (np.abs(first - second) <= bound) | (first == second)
        if first.dtype.kind == "f":
            same |= ~np.isfinite(first)
        if not same.all():
            place = int(np.argmin(same))
            return f"{name}[{place}] is {second[place]}, and {first[place]} in the original"
    return None


def _kinds(kernel: RandomKernel) -> set[str]:
    """The floating types in a case, casts included."""
    found = {*kernel.arrays.values(), *kernel.scalars.values()} & set(FLOATING)
    return found | {kind for kind in FLOATING if re.search(rf"\b{kind}\b|f(min|max)f\(", kernel.code)}


@dataclass(frozen=True)
class Step:
    """A piece of news from a comparison: a case is at `size`, or has an outcome.

    `kind` is `at` (with the stage as text), `same`, `wrong`; `launches` counts those of kernels.  `facts` are
    the names by which a case is counted, if it is.
    """

    seed: int
    kind: str
    text: str = ""
    size: tuple[int, int, int] = (0, 0, 0)
    launches: int = 0
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


Reach = Mapping[str, tuple[int, int]]
"""The bytes of each part of the memory that kernels and host code may touch, as (first, behind the last)."""


class Runner(Protocol):
    """Kernels with what calls them, built."""

    @property
    def launches(self) -> int:
        """Of kernels so far."""
        ...

    def ways(self, variant: Variant) -> Sequence[str]:
        """The names of the functions that run the kernels of a case."""
        ...

    def call(self, name: str, memory: Memory, reach: Reach) -> str | None:
        """Run a function over values; what went wrong."""
        ...


Build = Callable[[Sequence[Variant], Path], Runner]
"""Builds the kernels of some cases in a folder."""


def compared(variants: Sequence[Variant], folder: Path, build: Build) -> Iterator[Step]:
    """Build originals and kernels, and compare each case; news come before what may crash."""
    yield Step(variants[0].seed, "at", "build")
    runner = build(variants, folder)
    originals = _Originals(variants, folder)
    for variant in variants:
        yield from _one(variant, runner, originals)


_RECORDER = """\
struct watched { char *begin, *end, *low, *high; } watched[32];
int watches;
static void touch(char *p, long bytes)
{
  for (int k = 0; k < watches; k++)
    if (p >= watched[k].begin && p < watched[k].end) {
      watched[k].low = !watched[k].low || p < watched[k].low ? p : watched[k].low;
      watched[k].high = p + bytes > watched[k].high ? p + bytes : watched[k].high;
    }
}
#define HOOK(bytes) \\
  void __tsan_read##bytes(void *p) { touch(p, bytes); } \\
  void __tsan_write##bytes(void *p) { touch(p, bytes); } \\
  void __tsan_unaligned_read##bytes(void *p) { touch(p, bytes); } \\
  void __tsan_unaligned_write##bytes(void *p) { touch(p, bytes); }
HOOK(1) HOOK(2) HOOK(4) HOOK(8) HOOK(16)
void __tsan_func_entry(void *p) { (void)p; }
void __tsan_func_exit(void) {}
void __tsan_init(void) {}
int way;
int either_way(int told)
{
  static unsigned state = 1;
  (void)told;
  state = state * 1103515245u + 12345u;
  return way < 2 ? way : state >> 16 & 1;
}
"""
"""What the calls do that the compiler puts before accesses for ThreadSanitizer; conditions on data are chosen."""

_HEAD = "#include <stdlib.h>\n#include <stdint.h>\n#include <math.h>\nint either_way(int);\n"

_WAYS = 10
"""How often a case is run to see what it reaches: with all conditions on data false, all true, and by chance."""


def _either_way(kernel: RandomKernel) -> str:
    """The code with the conditions on data left open: what stands under them counts as reached."""
    tree = _EitherWay(frozenset(kernel.scalars)).rewrite(parse(kernel.code))
    return emit(tree, braces=True)


class _EitherWay(Rewriter):
    def __init__(self, scalars: frozenset[str]) -> None:
        self._scalars = scalars

    def visit_If(self, node: c_ast.If) -> Node:
        """A branch."""
        return self.generic(c_ast.If(self._open(node.cond), node.iftrue, node.iffalse))

    def visit_TernaryOp(self, node: c_ast.TernaryOp) -> Node:
        """A choice."""
        return self.generic(c_ast.TernaryOp(self._open(node.cond), node.iftrue, node.iffalse))

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> Node:
        """What stands on the right of `&&` and `||` is under the condition on the left."""
        if node.op in {"&&", "||"}:
            node = c_ast.BinaryOp(node.op, self._open(node.left), node.right)
        return self.generic(node)

    def _open(self, condition: Node) -> Node:
        match condition:
            case c_ast.BinaryOp(op="&&" | "||" as op, left=left, right=right):
                return c_ast.BinaryOp(op, self._open(left), self._open(right))
            case c_ast.UnaryOp(op="!", expr=inner):
                return c_ast.UnaryOp("!", self._open(inner))
            case _:
                parts = list(walk(condition))
                names = {part.name for part in parts if isinstance(part, c_ast.ID)}
                is_data = names & self._scalars or any(map(_is_element, parts))
                return call("either_way", condition) if is_data else condition


def _is_element(node: Node) -> bool:
    return isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*")


class _Watched(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in ("begin", "end", "low", "high"))


class _Originals:
    """The loops in C, which tell what they reach."""

    def __init__(self, variants: Sequence[Variant], folder: Path) -> None:
        head = [_HEAD, *definitions([v.kernel for v in variants])]
        plain = (c_function(v.kernel, f"original_{v.seed}", v.kernel.code) for v in variants)
        # Compilers drop ordinary elements whose value does not matter, as in `(x[i] & 1) | 9`.
        reaching = (
            c_function(v.kernel, f"reach_{v.seed}", _either_way(v.kernel), qualifier="volatile")
            for v in variants
        )
        (folder / "originals.c").write_text("\n".join([*head, *plain]))
        (folder / "reaching.c").write_text("\n".join([*head, *reaching]))
        (folder / "recorder.c").write_text(_RECORDER)
        flags = ["-std=c99", "-w", "-fPIC"]
        for words in (
            ["-O0", "-fsanitize=thread", "-fwrapv", "-c", "reaching.c", "-o", "reaching.o"],
            ["-O0", *TRAPS, "-c", "originals.c", "-o", "originals.o"],
            ["-O1", "-shared", "recorder.c", "originals.o", "reaching.o", "-o", "originals.so", "-lm"],
        ):
            subprocess.run(["gcc", *flags, *words], check=True, timeout=120, cwd=folder)
        self._library = ctypes.CDLL(str(folder / "originals.so"))

    def call(self, variant: Variant, memory: Memory) -> None:
        """Run a case."""
        memory.call(self._library[f"original_{variant.seed}"])

    def reach(self, variant: Variant, size: tuple[int, int, int]) -> Reach:
        """What a case reaches, whatever the data."""
        memory = Memory(variant, size)
        table = (_Watched * 32).in_dll(self._library, "watched")
        for place, part in zip(table, memory.parts.values(), strict=False):
            begin = part.ctypes.data
            place.begin, place.end, place.low, place.high = begin, begin + part.nbytes, 0, 0
        ctypes.c_int.in_dll(self._library, "watches").value = len(memory.parts)
        for way in range(_WAYS):
            ctypes.c_int.in_dll(self._library, "way").value = way
            memory.call(self._library[f"reach_{variant.seed}"])
        found: dict[str, tuple[int, int]] = {}
        for place, (name, part) in zip(table, memory.parts.items(), strict=False):
            touched = (place.low - place.begin, place.high - place.begin) if place.low else (0, 0)
            found[name] = _whole(variant, name, touched, part)
        return found


def _whole(variant: Variant, name: str, touched: tuple[int, int], part: Any) -> tuple[int, int]:
    """What may be copied where these bytes are reached: all of what a declaration tells the size of."""
    kernel = variant.kernel
    text = _array(kernel, name) if name in kernel.arrays else "[]"
    if "[" in text and "(*" not in text:
        return 0, part.nbytes
    unit = 3 * part.itemsize if name in kernel.records else part.itemsize
    if any(buffer.rows for plan in variant.plans for buffer in plan.buffers if buffer.name == name):
        unit *= SIDE if "(*" in text else 1
    low, high = touched
    return low // unit * unit, -(-high // unit) * unit


def _one(variant: Variant, runner: Runner, originals: _Originals) -> Iterator[Step]:
    before = runner.launches
    for size in LARGE if variant.kernel.large else SIZES:
        one = Memory(variant, size)
        yield Step(variant.seed, "at", "original", size)
        originals.call(variant, one)
        reach = originals.reach(variant, size)
        for way in runner.ways(variant):
            two = Memory(variant, size)
            yield Step(variant.seed, "at", "kernel", size)
            problem = runner.call(way, two, reach) or difference(variant, one, two)
            if problem is not None:
                yield Step(variant.seed, "wrong", f"{way}: {problem}", size)
                return
    yield Step(variant.seed, "same", launches=runner.launches - before)


__all__ = ["Memory", "Refusal", "Step", "Variant", "compared", "difference", "offloaded"]
