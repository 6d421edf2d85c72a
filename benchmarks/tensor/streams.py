"""Loops that move what a contraction has to move, and compute next to nothing: how fast memory lets it be."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from orio_py.tensors.contraction import Tensor, TensorProgram

FLAGS = ("-O3", "-march=native", "-shared", "-fPIC", "-std=gnu11")


def moved_bytes(program: TensorProgram) -> int:
    """Bytes to and from memory where each input is read once, and each output read and written once."""
    outputs = {statement.output.tensor.name for statement in program.contractions}
    return 8 * sum(tensor.size * (1 + (tensor.name in outputs)) for tensor in program.parameters)


def triad_bytes(program: TensorProgram) -> int:
    """Bytes that `triad` reads and writes."""
    return 24 * (_largest(program).size // 3)


def stream_calls(
    program: TensorProgram, arrays: Mapping[str, np.ndarray], folder: Path
) -> dict[str, Callable[[], None]]:
    """`streams`: all outputs are updated from inputs of their size, or from a number; `triad`: that of STREAM.

    J. D. McCalpin, "Memory bandwidth and machine balance in current high performance computers", 1995.
    """
    source = folder / f"{program.name}_streams.c"
    source.write_text("\n".join([_streams(program), _triad_code(program)]))
    subprocess.run(["gcc", *FLAGS, str(source), "-o", str(source.with_suffix(".so"))], check=True)
    library = ctypes.CDLL(str(source.with_suffix(".so")))
    passed = [ctypes.c_void_p(arrays[t.name].ctypes.data) for t in program.parameters]
    return {name: partial(getattr(library, name), *passed) for name in ("streams", "triad")}


def _parameters(program: TensorProgram) -> str:
    return ", ".join(f"double *restrict {tensor.name}" for tensor in program.parameters)


def _streams(program: TensorProgram) -> str:
    outputs = list(dict.fromkeys(statement.output.tensor for statement in program.contractions))
    lines: list[str] = []
    for size in dict.fromkeys(tensor.size for tensor in outputs):
        same = [tensor.name for tensor in program.parameters if tensor.size == size and tensor not in outputs]
        value = " + ".join(["1e-9", *(f"1e-9 * {name}[x]" for name in same)])
        body = [f"{tensor.name}[x] += value;" for tensor in outputs if tensor.size == size]
        lines += [
            f"  for (long x = 0; x < {size}; x++) {{ double value = {value};",
            *(f"    {line}" for line in body),
            "  }",
        ]
    return "\n".join([f"void streams({_parameters(program)})", "{", *lines, "}"])


def _largest(program: TensorProgram) -> Tensor:
    return max(program.parameters, key=lambda tensor: tensor.size)


def _triad_code(program: TensorProgram) -> str:
    """On thirds of the largest tensor."""
    name, third = _largest(program).name, _largest(program).size // 3
    parts = f"  double *restrict a = {name}, *restrict b = a + {third}, *restrict c = b + {third};"
    loop = f"  for (long x = 0; x < {third}; x++) a[x] = b[x] + 1e-9 * c[x];"
    return "\n".join([f"void triad({_parameters(program)})", "{", parts, loop, "}"])
