"""CUDA files as applications have them, without their host code: what a compiler of kernels alone can take.

    int size = 64;                                          (blank)
    __global__ void scale(int n, float *x) { … }            __global__ void scale(int n, float *x) { … }
    int main() { scale<<<1, 32>>>(size, x); }               (blank)

Lines keep their numbers, and directives stay.  External declarations are told apart by their outermost braces,
semicolons and words; where braces do not match, as under conditions of the preprocessor, the text stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_LIMITS = """\
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ull
"""

_FLOATS = """\
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-7f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
"""

_INTEGERS = """\
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
"""

HOST_HEADERS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "assert.h", "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "fcntl.h", "math.h", "omp.h",
            "ctype.h", "errno.h", "error.h", "getopt.h", "malloc.h", "memory.h", "signal.h", "stdio.h", "stdlib.h", "string.h",
            "strings.h", "sys/resource.h", "sys/stat.h", "sys/time.h", "sys/types.h", "time.h", "unistd.h", "algorithm", "cassert",
            "cctype", "chrono", "cmath", "cstdio", "cstdlib", "cstring", "ctime", "fstream", "iomanip", "iostream", "list", "map",
            "set", "sstream", "stdexcept", "string", "utility", "vector",
        ),
        "\n",
    ),
    **dict.fromkeys(("limits.h", "climits"), _LIMITS),
    **dict.fromkeys(("float.h", "cfloat"), _FLOATS),
    **dict.fromkeys(("stdint.h", "cstdint"), _INTEGERS),
}  # fmt: skip
"""Headers that files with kernels include for their host code, and what a compiler of kernels alone is given of them: of most
nothing, of those for numbers the constants and types that kernels use (C11, 5.2.4.2 and 7.20, on machines with 64 bits)."""

TEXTURE_REFERENCES = """\
template <class T, int D = 1, int M = 0> struct texture {};
template <class T, int M> __device__ __forceinline__ T tex1Dfetch(texture<T, 1, M>, int i)
{
  return __ldg((const T *)(1ull << 46) + i);
}
"""
"""What stands for texture references, which CUDA 12 has no more: reads of one array that lies apart from all others.

Only where an element is, and how it is read, is as with a texture; whoever runs this reads nothing good.
"""

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*|[{}();=]""",
    re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PROTOTYPE = re.compile(r"\s*(?:[\w:<>,]+[\s*&]+)+[\w:]+\s*\(")
_LINKAGE = re.compile(r'\bextern\s*"C"')
_DEVICE = re.compile(r"\b(?:__global__|__device__|__constant__|__shared__|__managed__|texture)\b")
_KEPT = re.compile(r"\b(?:template|struct|class|union|enum|namespace|typedef|using|const|constexpr|extern)\b")


def without_host_code(text: str) -> str:
    """The text with blanks in place of functions and variables that only the host has."""
    result: list[str] = []
    place = 0
    for start, end, head, is_host in _declarations(text):
        if end < 0:
            return text
        words = _LINKAGE.sub(" ", _COMMENT.sub(" ", head))
        is_kept = not is_host or _DEVICE.search(words) or _KEPT.search(words.partition("(")[0])
        result += [text[place:start], text[start:end] if is_kept else _blank(text[start:end])]
        place = end
    return "".join([*result, text[place:]])


def _declarations(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Each external declaration: its begin, its end (-1: braces do not match), its head, and if the host alone may need it.

    Those are functions, with a body or without, and variables; what looks like the use of a macro is neither.
    """
    start, head, depth, parentheses = 0, -1, 0, 0
    called = assigned = False
    for token in _TOKEN.finditer(text):
        word, place = token.group(), token.start()
        outside = depth == 0 and parentheses == 0
        ends, is_host = False, False
        match word:
            case "{":
                head, depth = place if head < 0 else head, depth + 1
            case "}":
                depth -= 1
                ends = is_host = depth == 0 and called and not assigned
            case "(" | ")" if depth == 0:
                parentheses, called = parentheses + (1 if word == "(" else -1), True
            case "=" if outside:
                head, assigned = place if head < 0 else head, True
            case ";" if outside:
                head, ends = place if head < 0 else head, True
                is_host = assigned or not called or _is_prototype(text[start:head])
            case _ if outside and word.lstrip().startswith("#") and not text[start:place].strip():
                start = token.end()
            case _:
                pass
        if depth < 0:
            break
        if ends:
            yield start, token.end(), text[start:head], is_host
            start, head, called, assigned = token.end(), -1, False, False
    if depth:
        yield start, -1, "", False


def _is_prototype(head: str) -> bool:
    """Whether what stands before a semicolon declares a function: a type and a name before parentheses."""
    return _PROTOTYPE.match(_LINKAGE.sub(" ", _COMMENT.sub(" ", head))) is not None


def _blank(text: str) -> str:
    """Spaces for everything but the ends of lines and the directives of the preprocessor."""
    lines = text.split("\n")
    return "\n".join(line if line.lstrip().startswith("#") else " " * len(line) for line in lines)
