"""Loop headers and launch shapes for random kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from orio_py.kernel.plan import Distribution
from orio_py.transformation.offload.cuda import CUDA
from orio_py.transformation.offload.opencl import OpenCL

SIDE = 14
"""The declared sides of matrices; loops reach 12 of them, and subscripts one more."""

FLOATING = ("float", "double")
UNSIGNED = ("unsigned", "unsigned long", "uint32_t", "uint64_t")
INTEGERS = (
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "long",
    "long long",
    "int64_t",
    *UNSIGNED,
)
CONSTANTS = (1, 2, 3, 5, 8, 12)
_THREADS = ((1, 2, 3, 5, 8, 16, 32, 32, 48, 64, 96), (1, 2, 3, 4), (1, 1, 2, 3))
"""Threads of a block along each dimension, fastest first."""


@dataclass(frozen=True)
class Header:
    """A loop's head."""

    text: str


def index_type(draw: Random) -> str:
    """The type of a loop's index."""
    rare = ("long", "unsigned", "size_t", "short", "unsigned long", "long long")
    return draw.choice(rare) if draw.random() < 0.35 else "int"


def header(draw: Random, name: str, kind: str, symbol: str, bound: str, constant: int | None) -> Header:
    """A loop over `name` below the symbol or constant; nothing wraps for bounds from 0 on."""
    end = symbol if constant is None else str(constant)
    step = draw.choice((1, 1, 1, 1, 2, 3, 4))
    plain = constant is None and bound in {"unsigned", "size_t"}
    natural = kind.startswith("unsigned") or kind == "size_t"
    up = f"{name}++" if step == 1 else draw.choice((f"{name} += {step}", f"{name} = {name} + {step}"))
    forms = [(0, f"{name} < {end}"), (0, f"{name} < {end}"), (draw.choice((1, 2, 3)), f"{name} < {end}")]
    if step == 1 and draw.random() < 0.15:
        forms = [(0, f"{name} != {end}")]
    if not plain:
        top = end if not natural else f"(int){end}"
        if not natural:
            forms += [(0, f"{name} <= {top} - 1"), (1, f"{name} < {top} - 1"), (1, f"{name} <= {top} - 2")]
            if kind != "short":
                return _downward(draw, name, end, step, forms, up)
    start, test = draw.choice(forms)
    return Header(f"for ({name} = {start}; {test}; {up})")


def _downward(draw: Random, name: str, end: str, step: int, forms: list[tuple[int, str]], up: str) -> Header:
    """A loop up, or one down."""
    if draw.random() < 0.7:
        start, test = draw.choice(forms)
        return Header(f"for ({name} = {start}; {test}; {up})")
    down = f"{name}--" if step == 1 else f"{name} -= {step}"
    tests = [f"{name} >= 0", f"{name} > 0", f"{name} >= 2", f"{name} > -1"]
    if step == 1:
        tests.append(f"{name} != -1")
    return Header(f"for ({name} = {end} - 1; {draw.choice(tests)}; {down})")


def triangular(draw: Random, name: str, outer: str, symbol: str) -> Header:
    """A loop whose bounds depend on the loop around it."""
    forms = (
        f"for ({name} = 0; {name} <= {outer}; {name}++)",
        f"for ({name} = {outer}; {name} < {symbol}; {name}++)",
        f"for ({name} = ({outer} < 3 ? {outer} : 3); {name} < {symbol}; {name} += 2)",
        f"for ({name} = {outer}; {name} >= 0; {name}--)",
    )
    return Header(draw.choice(forms))


def neighbouring(code: str) -> str:
    """The code with steps of 1 and without numbers times indices, so that vectors are possible more often."""
    code = re.sub(r"\b([ijk]) ([+-])= \d\b", r"\1\2\2", code)
    code = re.sub(r"\b([ijk]) = \1 \+ \d\b", r"\1++", code)
    code = re.sub(r"\b[234] \* (?=[ijk]\b)|(?<=\b[ijk]) \* 2\b", "", code)
    code = re.sub(r"\b([ijk]) \+ \1\b", r"\1", code)
    return re.sub(r"\[i\]((?:\[\d\])+)", r"\1[i]", code)


def with_members(code: str, records: frozenset[str]) -> str:
    """The code with members of structures for the elements of some arrays of one dimension."""
    for name in sorted(records):
        forms = (
            (rf"\b{name}\[([^][]*)\]", f"{name}[", "]."),
            (rf"\*\({name} \+ \(([^()]*)\)\)", f"({name} + (", "))->"),
        )
        for pattern, start, end in forms:
            pieces = re.split(pattern, code)
            code = pieces[0] + "".join(
                f"{start}{subscript}{end}m{len(subscript) % 3}{rest}"
                for subscript, rest in zip(pieces[1::2], pieces[2::2], strict=True)
            )
    return code


def opencl_launch(draw: Random, depth: int, *, stage: float = 0.4) -> OpenCL:
    """A launch shape with fewer or more items than iterations, and hints; tiles with a probability of `stage`."""
    tiled = draw.random() < stage
    vector = 1 if tiled else draw.choice((1, 1, 1, 2, 4, 4, 8, 16))
    nd = draw.choice((1, depth, depth, draw.randint(1, depth) if vector == 1 else depth))
    names = ("i", "j", "k")[:nd]
    given = draw.choice((nd, nd, nd, tuple(draw.sample(names, nd))))
    items = tuple(draw.choice((1, 2, 3, 4, 5)) for _ in range(nd)) if draw.random() < 0.7 else None
    groups = tuple(draw.choice((1, 2, 3)) for _ in range(nd)) if draw.random() < 0.4 else None
    coarsen = draw.choice((1, 1, 1, 2, 3, 5))
    spread = draw.choice(tuple(Distribution)) if groups is not None or coarsen > 1 else Distribution.STRIDED
    staged = tiled and spread is Distribution.STRIDED
    if groups is None and not staged and draw.random() < 0.1:
        items = (0,)
    registers = (
        None if coarsen > 1 or items == (0,) or spread is not Distribution.STRIDED else _registers(draw, nd)
    )
    tile = _local_tile(draw, items, registers) if staged and items is not None else None
    return OpenCL(
        nd=given,
        workItemsPerGroup=items,
        workGroups=groups,
        coarsen=coarsen,
        spread=spread,
        unrollInner=draw.choice((None, None, 2, 3, 4)),
        sizeHint=draw.random() < 0.25 and items != (0,),
        vecHint=draw.choice((0, 0, 0, 2, 4, 8, 16)),
        cacheBlocks=staged,
        streamCount=draw.choice((2, 3, 5)) if draw.random() < 0.25 else 1,
        localTile=tile,
        registerTile=registers,
        vectorWidth=vector,
    )


def cuda_launch(draw: Random, depth: int, *, stage: float = 0.4) -> CUDA:
    """Blocks of parts of warps, one warp or several, and all that only CUDA has."""
    tiled = draw.random() < stage
    vector = 1 if tiled else draw.choice((1, 1, 1, 2, 4, 4, 8, 16))
    nd = draw.choice((1, depth, depth, draw.randint(1, depth) if vector == 1 else depth))
    names = tuple(draw.sample(("i", "j", "k")[:nd], nd))
    given = draw.choice((nd, nd, nd, names))
    domain = names if given != nd and draw.random() < 0.5 else ()
    threads = tuple(draw.choice(_THREADS[k]) for k in range(nd)) if draw.random() < 0.8 else None
    blocks = tuple(draw.choice((1, 2, 3)) for _ in range(nd)) if draw.random() < 0.4 else None
    coarsen = draw.choice((1, 1, 1, 2, 3, 5))
    spread = draw.choice(tuple(Distribution)) if blocks is not None or coarsen > 1 else Distribution.STRIDED
    staged = tiled and spread is Distribution.STRIDED
    limit = draw.random()
    registers = None if coarsen > 1 or spread is not Distribution.STRIDED else _registers(draw, nd)
    tile = _local_tile(draw, threads, registers) if staged and threads is not None else None
    return CUDA(
        nd=1 if domain else given,
        domain=domain,
        threadCount=threads,
        blockCount=blocks,
        coarsen=coarsen,
        spread=spread,
        unrollInner=draw.choice((None, None, 2, 3, 4)),
        cacheBlocks=staged,
        streamCount=draw.choice((2, 3, 5)) if draw.random() < 0.25 else 1,
        localTile=tile,
        registerTile=registers,
        vectorWidth=vector,
        preferL1Size=draw.choice((0, 0, 0, 16, 32, 48)),
        pinHostMem=draw.random() < 0.3,
        dataOnDevice=draw.random() < 0.3,
        launchBounds=draw.choice((1, 2)) if limit < 0.15 else None,
        maxRegisters=draw.choice((32, 64)) if limit > 0.85 else None,
    )


def _registers(draw: Random, nd: int) -> tuple[int, ...] | None:
    """Iterations side by side, perhaps."""
    if draw.random() < 0.6:
        return None
    return tuple(draw.choice((1, 2, 3, 4)) for _ in range(nd))


def _local_tile(
    draw: Random, items: tuple[int, ...], registers: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """Multiples of the items, perhaps with the length of blocks."""
    if draw.random() < 0.5:
        return None
    tile = tuple(size * draw.choice((1, 1, 2, 3)) for size in items)
    if registers is not None:
        tile = tuple(size * count for size, count in zip(items, registers, strict=True))
    return (*tile, draw.choice((1, 2, 3, 5))) if draw.random() < 0.5 else tile
