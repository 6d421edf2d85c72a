"""Random kernels beside the loops that they stand for: the same values afterwards, for many sizes."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from c_trees import context, parse
from opencl_runs import NUMBERS, PROBLEMS, Device, library
from random_kernel_parts import FLOATING, SIDE
from random_kernels import RandomKernel

from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import Node
from orio_py.ctree.verify import verify
from orio_py.spec.assumptions import Assumptions
from orio_py.transform.base import Refusal
from orio_py.transform.offload.call import kernel_plans
from orio_py.transform.offload.plan import KernelPlan
from orio_py.transform.offload.types import device_type

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


def _function(kernel: RandomKernel, name: str, code: str) -> str:
    """A C function over `memory`: the arrays, the reductions' scalars, the indices that are live."""
    lines = [f"void {name}(int w, long n_, long m_, long l_, void **memory) {{"]
    lines += [f"  {kind} {bound} = ({kind}){bound}_;" for bound, kind in kernel.bounds.items()]
    lines += [f"  {kind} {index} = 7;" for index, kind in kernel.indices.items()]
    for number, array in enumerate(kernel.arrays):
        # The pointer of the parameter that an array would be.
        text = _array(kernel, array)
        if "(*" not in text and "[" in text:
            text = re.sub(rf"{array}\[\d+\]", f"(*{array})", text)
        lines.append(f"  {text} = memory[{number}];")
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

    def call(self, function: Any) -> None:
        """Run a function of the library over these values."""
        pointers = (ctypes.c_void_p * len(self.parts))(*(part.ctypes.data for part in self.parts.values()))
        function(SIDE, *(ctypes.c_long(size) for size in self.sizes), pointers)

    def ranges(self) -> list[tuple[int, int]]:
        """The pieces of memory that belong to arrays."""
        return [(part.ctypes.data, part.ctypes.data + part.nbytes) for part in self.parts.values()]


def _number(kind: str) -> Any:
    return NUMBERS[device_type(kind) or ""]


def difference(variant: Variant, one: Memory, two: Memory) -> str | None:
    """What is not the same: bit for bit for whole numbers, but for zeros' signs; within rounding for fractions.

    Two orders of summing `N` terms of size up to 16 differ by at most `4 N eps (16 N + |x|)`: N. Higham,
    "Accuracy and Stability of Numerical Algorithms", section 4.2.
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


def compared(
    variants: Sequence[Variant],
    folder: Path,
    options: Sequence[str] = (),
    change: Callable[[KernelPlan], KernelPlan] | None = None,
) -> Iterator[Step]:
    """Build originals and kernels, and compare each case; news come before what may crash.

    `change` alters the plans of the kernels, to see that it is noticed.
    """
    yield Step(variants[0].seed, "at", "build")
    plans = [plan for variant in variants for plan in variant.plans]
    built = [replace(change(plan), name=plan.name) for plan in plans] if change else plans
    device = Device(built, options)
    text = "\n".join(definitions([v.kernel for v in variants])) + "\n"
    text += "".join(_function(v.kernel, f"variant_{v.seed}", emit(v.tree, braces=True)) for v in variants)
    loaded = library(text, built, device, folder, ["-w", "-O0"])
    originals = _originals(variants, folder)
    for variant in variants:
        yield from _one(variant, device, originals, loaded)


def _originals(variants: Sequence[Variant], folder: Path) -> ctypes.CDLL:
    source, target = folder / "originals.c", folder / "originals.so"
    functions = (_function(v.kernel, f"original_{v.seed}", v.kernel.code) for v in variants)
    head = "#include <stdlib.h>\n#include <stdint.h>\n#include <math.h>\n"
    source.write_text(head + "\n".join(definitions([v.kernel for v in variants])) + "\n" + "".join(functions))
    flags = ["-std=c99", "-O0", "-w", *TRAPS, "-fPIC", "-shared"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(target), "-lm"], check=True, timeout=120)
    return ctypes.CDLL(str(target))


def _one(variant: Variant, device: Device, originals: ctypes.CDLL, loaded: ctypes.CDLL) -> Iterator[Step]:
    before = device.launches
    for size in LARGE if variant.kernel.large else SIZES:
        one, two = Memory(variant, size), Memory(variant, size)
        yield Step(variant.seed, "at", "original", size)
        one.call(originals[f"original_{variant.seed}"])
        yield Step(variant.seed, "at", "kernel", size)
        device.arrays = two.ranges()
        PROBLEMS.clear()
        two.call(loaded[f"variant_{variant.seed}"])
        if problem := f"{PROBLEMS[0]!r}" if PROBLEMS else difference(variant, one, two):
            yield Step(variant.seed, "wrong", problem, size)
            return
    yield Step(variant.seed, "same", launches=device.launches - before)


__all__ = ["Memory", "Refusal", "Step", "Variant", "compared", "difference", "offloaded"]
