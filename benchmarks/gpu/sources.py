"""The kernels of `claims.py`: the annotated C of `benchmarks/kernels`, with a space and a recipe for a GPU instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
MIB = 1 << 20
DOUBLE = 8

_SPACE = re.compile(r"def performance_params \{.*?\n    \}", re.DOTALL)
_INPUTS = re.compile(r"param (\w+)\[\] = \[[^\]]*\];(?=\s*\}\s*def input_vars)")
_STEP = re.compile(r"transform (?:OpenCL|Composite)\(.*?\)\s*\) @\*/", re.DOTALL)
_BUILD = re.compile(r"    def build \{\s*arg build_command.*?\}\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: its file, the parameters and the step of its recipe, and its sizes, large and for a dry run.

    `bytes` are what one run has to move at a size, each element of each array once; `flops` the operations, where these
    and not bytes are the limit.
    """

    file: str
    space: str
    step: str
    size: int
    dry_size: int
    bytes: Callable[[int], int]
    flops: Callable[[int], int] | None = None

    def source(self, size: int) -> str:
        """The annotated C for a problem size.  Raises ValueError when the file does not look as expected."""
        text = (KERNELS / self.file).read_text()
        text = _BUILD.sub("", text)
        for pattern, new in (
            (
                _SPACE,
                "def performance_params {\n      " + "\n      ".join(self.space.split("\n")) + "\n    }",
            ),
            (_INPUTS, rf"param \1[] = [{size}];"),
            (_STEP, f"transform CUDA({self.step})) @*/"),
        ):
            text, count = pattern.subn(lambda found, new=new: found.expand(new), text)
            if count != 1:
                raise ValueError(f"{self.file}: `{pattern.pattern}` fits {count} times")
        return text


_VECTORS = """\
param TC[] = [64, 128, 256, 512, 1024];
param BC[] = [0, 264, 1056, 4224];
param VW[] = [1, 2, 4];
param UI[] = [1, 2, 4];
constraint loop_to_unroll = BC > 0 or UI == 1;"""
_VECTOR_STEP = "threadCount=TC, blockCount=BC, vectorWidth=VW, unrollInner=UI"

_SUMS = """\
param TC[] = [128, 256, 512, 1024];
param BC[] = [132, 264, 528, 1056, 2112];
param UI[] = [1, 2, 4];"""
_SUM_STEP = "threadCount=TC, blockCount=BC, unrollInner=UI"

_MATVEC = """\
param TC[] = [32, 64, 128, 256];
param LA[] = ['row', 'column'];
param CB[] = [False, True];
param UI[] = [1, 2, 4, 8];"""

_MATMUL = """\
param TX[] = [16, 32, 64];
param TY[] = [4, 8, 16];
param RT[] = [1, 2, 4];
param KT[] = [8, 16, 32, 64];
param UI[] = [1, 2, 4, 8];
constraint block = TX * TY <= 1024;"""

_STENCIL = """\
param TX[] = [32, 64, 128];
param TY[] = [1, 2, 4, 8];
param TZ[] = [1, 2];
param CB[] = [False, True];
constraint block = TX * TY * TZ <= 1024;"""

_DIAGONALS = """\
param TC[] = [64, 128, 256, 512];
param BC[] = [0, 1056, 4224];
param UI[] = [1, 2, 4];
constraint loop_to_unroll = BC > 0 or UI == 1;"""


def _vectors(file: str, arrays: int) -> Kernel:
    return Kernel(file, _VECTORS, _VECTOR_STEP, 16 * MIB, 20_000, lambda n: arrays * DOUBLE * n)


def _sums(file: str, arrays: int) -> Kernel:
    return Kernel(file, _SUMS, _SUM_STEP, 16 * MIB, 20_000, lambda n: arrays * DOUBLE * n)


ALL: dict[str, Kernel] = {
    "matvec": Kernel(
        "orcl/matvec.c",
        _MATVEC,
        "threadCount=TC, layout=['A:' + LA], cacheBlocks=CB, unrollInner=UI",
        4096,
        100,
        lambda n: DOUBLE * (n * n + 2 * n),
    ),
    "vecaxpy": _vectors("orcl/vecaxpy.c", 3),
    "vecmaxpy": _vectors("orcl/vecmaxpy.c", 6),
    "vecscale": _vectors("orcl/vecscale.c", 2),
    "vecwaxpy": _vectors("orcl/vecwaxpy.c", 3),
    "dot": _sums("orcl/dot.c", 2),
    "norm": _sums("orcl/norm.c", 1),
    "ex14ff": Kernel(
        "orcl/ex14ff.c",
        _STENCIL,
        "nd=3, threadCount=[TX, TY, TZ], cacheBlocks=CB",
        256,
        24,
        lambda m: 2 * DOUBLE * m**3,
    ),
    "ex14fj": Kernel(
        "orcl/ex14fj.c",
        _DIAGONALS,
        "threadCount=TC, blockCount=BC, unrollInner=UI",
        192,
        24,
        lambda m: 8 * DOUBLE * m**3,
    ),
    "matmul": Kernel(
        "matmul.c",
        _MATMUL,
        "nd=2, threadCount=[TX, TY], cacheBlocks=True, localTile=[TX, TY * RT, KT], unrollInner=UI",
        1024,
        48,
        lambda n: 4 * DOUBLE * n * n,
        lambda n: 2 * n**3,
    ),
}
"""By name, in the order in which they are shown; Table I of the OrCL paper first."""
