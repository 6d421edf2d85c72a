"""Options of CUDA compilers, and what is made of their messages."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest

from orio_py.build.cuda import (
    CudaBinary,
    CudaBuildOptions,
    check_architecture,
    cuda_options,
    encoded,
    failure,
    readable,
)
from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.units import Bytes, Seconds
from orio_py.record.cuda import KernelUsage


@dataclass(frozen=True)
class Known:
    name: str = "nvcc"
    version: str = "13.0"
    path: str = "nvcc"
    is_from_wheels: bool = False
    architectures: tuple[str, ...] = ("sm_75", "sm_90")

    def compile(self, source, architecture, options):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", CudaBuildOptions()),
        ("-arch=sm_90", CudaBuildOptions(architecture="sm_90")),
        ("-arch sm_80 --gpu-architecture=sm_90", CudaBuildOptions(architecture="sm_90")),
        ("-maxrregcount=32", CudaBuildOptions(max_registers=32)),
        ("--maxrregcount 40", CudaBuildOptions(max_registers=40)),
        ("-maxrregcount=many", CudaBuildOptions(flags=("--maxrregcount=many",))),
        ("-use_fast_math -lineinfo", CudaBuildOptions(fast_math=True, line_info=True)),
        ("--use_fast_math --generate-line-info", CudaBuildOptions(fast_math=True, line_info=True)),
        ("-O3", CudaBuildOptions(ptxas=("-O3",))),
        ("-Xptxas -v,-O1 --ptxas-options=-w", CudaBuildOptions(ptxas=("-v", "-O1", "-w"))),
        ("-Xcompiler -march=native -Xcompiler=-g -DN=4", CudaBuildOptions(flags=("-DN=4",))),
        ("-I 'a folder' -ftz=true", CudaBuildOptions(flags=("-I", "a folder", "-ftz=true"))),
    ],
)
def test_options_are_read_as_nvcc_reads_them(text, expected):
    assert cuda_options(text) == expected


def test_options_are_written_for_an_architecture():
    options = cuda_options("-arch=sm_75 -maxrregcount=32 -O1 -use_fast_math -lineinfo -DN=4")
    assert options.words("sm_90") == [
        "--gpu-architecture=sm_90",
        "--std=c++17",
        "--maxrregcount=32",
        "--use_fast_math",
        "--generate-line-info",
        "--ptxas-options=-O1",
        "-DN=4",
    ]
    assert CudaBuildOptions(flags=("-std=c++20",)).words("sm_90") == [
        "--gpu-architecture=sm_90",
        "-std=c++20",
    ]


def test_an_unbalanced_quote_is_refused():
    with pytest.raises(DiagnosticError) as caught:
        cuda_options("-DTEXT='a")
    assert caught.value.diagnostics[0].code == "ORIO-B003"


def test_an_architecture_that_the_compiler_does_not_know_is_refused():
    for architecture in ("sm_90", "sm_90a", "sm_75"):
        check_architecture(Known(), architecture)
    with pytest.raises(DiagnosticError) as caught:
        check_architecture(Known(), "sm_35")
    (told,) = caught.value.diagnostics
    assert (told.code, told.message) == ("ORIO-B021", "nvcc 13.0 makes no machine code for `sm_35`")
    assert told.help == "it knows sm_75, sm_90"


LOG = """\
kernels.cu(2): warning #177-D: variable "u" was declared but never referenced
  \tint u; *x = y;
  \t    ^

a b.c(11): error: identifier "y" is undefined
  \tint u; *x = y;
  \t            ^

kernels.cu(3): catastrophic error: could not open source file "math.h" (no directories in search list)

2 errors detected in the compilation of "kernels.cu".
"""


def test_messages_name_line_and_column():
    lines = readable(LOG).splitlines()
    assert lines[0] == 'kernels.cu:2:6: warning: variable "u" was declared but never referenced'
    assert lines[4] == 'a b.c:11:14: error: identifier "y" is undefined'
    assert lines[8].startswith('kernels.cu:3: catastrophic error: could not open source file "math.h"')
    assert lines[10] == '2 errors detected in the compilation of "kernels.cu".'


def test_a_failure_gives_the_first_error():
    failed = failure("NVRTC", LOG)
    assert failed.reason == 'NVRTC: a b.c:11:14: error: identifier "y" is undefined'
    assert "never referenced" in failed.log
    assembler = (
        "ptxas warning : w\nptxas error   : Entry function 'f' uses too much shared data (0xc3500 bytes)\n"
    )
    assert failure("nvcc", assembler).reason.startswith(
        "nvcc: ptxas error   : Entry function 'f' uses too much"
    )
    assert failure("nvcc", "nvcc fatal   : Unknown option '-bogus'").reason.endswith(
        "Unknown option '-bogus'"
    )
    assert failure("nvcc", "Killed\n").reason == "nvcc: Killed"
    assert failure("nvcc", "").reason == "nvcc: no reason given"


def test_texts_keep_the_bytes_of_their_file():
    assert encoded(b"/* \xe9 */".decode("latin-1")) == b"/* \xe9 */"
    assert encoded("/* \u2264 */") == "/* \u2264 */".encode()


def test_kernels_of_a_binary_are_found_by_name():
    none = Bytes(0)
    kernel = KernelUsage("f", 8, none, none, none, none, none, none, 0, None)
    binary = CudaBinary("sm_90", b"", (kernel,), "", Seconds(0.1), "")
    assert binary.kernel("f") is kernel
    with pytest.raises(KeyError):
        binary.kernel("g")


def test_nothing_of_cuda_is_loaded_before_it_is_used():
    code = (
        "import sys, orio_py.api, orio_py.cli.main, orio_py.build.cuda_catalog, orio_py.build.cuda_report\n"
        "print(sorted(name for name in sys.modules if name.partition('.')[0] in ('cuda', 'elftools')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
