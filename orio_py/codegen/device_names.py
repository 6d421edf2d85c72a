"""Names in kernels: those of the code, unless device languages use them otherwise."""

from __future__ import annotations

import re

_WORDS_TEXT = """
    kernel global local constant private read_only write_only read_write __kernel __global __local
    __constant __private half quad complex imaginary bool uchar ushort uint ulong size_t ptrdiff_t
    intptr_t uintptr_t event_t sampler_t image1d_t image1d_array_t image1d_buffer_t image2d_t
    image2d_array_t image3d_t vec_step pipe generic as_type min max fmin fmax barrier select
"""
_WORDS = frozenset(_WORDS_TEXT.split())
_VECTOR_FUNCTION = re.compile(r"(vload|vstore)\d+|(convert|as)_[a-z]+\d*")
_VECTORS = frozenset(
    f"{kind}{size}"
    for kind in (
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "float",
        "double",
        "half",
    )
    for size in (2, 3, 4, 8, 16)
)


def device_name(name: str) -> str:
    """The name itself, or another one where OpenCL C uses it otherwise.

    >>> device_name("local")
    'local_'
    """
    return f"{name}_" if name in _WORDS | _VECTORS or _VECTOR_FUNCTION.fullmatch(name) else name
