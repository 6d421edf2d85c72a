"""The host compiler's part of an nvcc command: C code that holds nothing of CUDA is built by a C compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_WITH_VALUE = re.compile(
    r"--?(?:arch|gpu-architecture|code|gpu-code|gencode|generate-code|maxrregcount|Xptxas|ptxas-options|Xnvlink|x|ccbin|"
    r"compiler-bindir|rdc|relocatable-device-code|std|t|threads)(?:=(.*))?"
)
_FOR_HOST = re.compile(r"(?:-Xcompiler|--compiler-options|-Xlinker|--linker-options)(?:=(.*))?")
_DEVICE_ONLY = re.compile(
    r"--?(?:use_fast_math|lineinfo|generate-line-info|G|device-debug|dc|device-c|expt-.*|extended-lambda|"
    r"ftz.*|prec-.*|fmad.*|restrict)"
)
_C_STANDARD = re.compile(r"(?:c|gnu)\d+")
_BINDIR = re.compile(r"--?(?:ccbin|compiler-bindir)(?:=(.*))?")


def is_nvcc(driver: str) -> bool:
    """Whether a command's first word names nvcc."""
    return Path(driver).name == "nvcc"


def host_compiler(options: Sequence[str], default: str) -> str:
    """The compiler that nvcc is told to call for host code (`-ccbin`), or the default one."""
    words = iter(options)
    for word in words:
        if (found := _BINDIR.fullmatch(word)) is not None:
            return found[1] or next(words, default)
    return default


def host_options(options: Sequence[str]) -> list[str]:
    """What of an nvcc command's options a C compiler gets: its own, and those that nvcc passes on to it.

    >>> host_options(["-arch=sm_75", "-O3", "-use_fast_math", "-Xcompiler", "-fopenmp,-g", "-lm"])
    ['-O3', '-fopenmp', '-g', '-lm']
    """
    return list(_host_options(iter(options)))


def _host_options(words: Iterator[str]) -> Iterator[str]:
    for word in words:
        if (found := _FOR_HOST.fullmatch(word)) is not None:
            passed = (found[1] or next(words, "")).split(",")
            yield from passed if "ompiler" in word else (f"-Wl,{option}" for option in passed)
        elif (found := _WITH_VALUE.fullmatch(word)) is not None:
            value = found[1] or next(words, "")
            if "std" in word and _C_STANDARD.fullmatch(value):
                yield f"-std={value}"
        elif _DEVICE_ONLY.fullmatch(word) is None:
            yield word
