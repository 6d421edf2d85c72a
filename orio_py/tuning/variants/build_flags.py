"""Which options the application's build needs so that a winner does there what was measured."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orio_py.tuning.files.host_functions import called_backends

_OPENMP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+(?!(?:declare[ \t]+)?simd\b)", re.MULTILINE)
_OPENACC = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+acc[ \t]", re.MULTILINE)
_SIMD = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+(?:declare[ \t]+)?simd\b", re.MULTILINE)


def needed_flags(codes: Sequence[str], chosen: Sequence[str] = ()) -> tuple[str, ...]:
    r"""The options `chosen` by parameters, those of OpenMP and OpenACC, and the libraries of device languages, each once.

    >>> needed_flags(["#pragma omp simd\nfor (;;) ;"], ["-O3"]), needed_flags(["orio_opencl_axpy_0(y, n);"])
    (('-O3', '-fopenmp-simd'), ('-lOpenCL',))
    """
    text = "\n".join(codes)
    openmp = ["-fopenmp"] if _OPENMP.search(text) else ["-fopenmp-simd"] if _SIMD.search(text) else []
    libraries = [flag for backend in called_backends(text) for flag in backend.link_flags]
    given = [word for word in chosen if word.startswith("-")]
    openacc = ["-fopenacc"] if _OPENACC.search(text) else []
    return tuple(dict.fromkeys([*given, *openmp, *openacc, *libraries]))
