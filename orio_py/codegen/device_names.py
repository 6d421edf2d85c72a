"""Names in kernels: those of the code, unless device languages use them otherwise."""

from __future__ import annotations

import re

_WORDS_TEXT = """
    kernel global local constant private read_only write_only read_write __kernel __global __local
    __constant __private half quad complex imaginary bool uchar ushort uint ulong size_t ptrdiff_t
    intptr_t uintptr_t event_t sampler_t image1d_t image1d_array_t image1d_buffer_t image2d_t
    image2d_array_t image3d_t vec_step pipe generic as_type min max fmin fmax barrier select
    threadIdx blockIdx blockDim gridDim warpSize dim3 isfinite
"""
_CPP_WORDS_TEXT = """
    alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast
    explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public reinterpret_cast requires static_assert static_cast template this thread_local throw true
    try typeid typename using virtual wchar_t xor xor_eq
"""
CPP_WORDS = frozenset(_CPP_WORDS_TEXT.split())
"""Words of C++ that are none of C99 (ISO/IEC 14882:2020, [lex.key] and [lex.digraph])."""

_WORDS = frozenset(_WORDS_TEXT.split()) | CPP_WORDS
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
    """The name itself, or another one where OpenCL C or CUDA C++ uses it otherwise.

    >>> device_name("local")
    'local_'
    """
    return f"{name}_" if name in _WORDS | _VECTORS or _VECTOR_FUNCTION.fullmatch(name) else name
