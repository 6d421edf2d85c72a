"""NVRTC, NVIDIA's compiler as a library: wheels bring it, and it needs neither a GPU nor a driver.

It compiles inside this process and asks now and then whether it is to go on, which gives it a time limit; worker
processes (`build.pool`) are replaced when it takes them down.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING

from orio_py.build.compiler import DEFAULT_BUILD_TIMEOUT, BuildFailure
from orio_py.build.cubin import read_cubin
from orio_py.build.cuda import (
    INSTALL_CUDA,
    NO_CODE,
    SOURCE_NAME,
    CudaBinary,
    CudaBuildOptions,
    check_architecture,
    encoded,
    failure,
    readable,
)
from orio_py.build.device_text import HOST_HEADERS
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.core.units import Seconds

if TYPE_CHECKING:
    from cuda.bindings.nvrtc import nvrtcProgram as Program
    from cuda.bindings.nvrtc import nvrtcResult as Status

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
"""`nvrtcSetFlowCallback`: 1 ends the compilation."""


@dataclass(frozen=True, slots=True)
class Nvrtc:
    """NVRTC as it was found: the path of its library, version, and the architectures that it makes machine code for.

    `is_from_wheels` says that the library is one of the Python packages, not of a toolkit.  A compilation that takes
    longer than `timeout` is ended at the next point where the compiler asks.
    """

    path: str
    is_from_wheels: bool
    version: str
    architectures: tuple[str, ...]
    timeout: Seconds = DEFAULT_BUILD_TIMEOUT

    @property
    def name(self) -> str:
        """The compiler in messages."""
        return "NVRTC"

    def compile(self, source: str, architecture: str, options: CudaBuildOptions) -> CudaBinary | BuildFailure:
        """As `CudaCompiler.compile`."""
        check_architecture(self, architecture)
        from cuda.bindings import nvrtc  # of the extra `cuda`; takes time to load

        start = perf_counter()

        def is_late(payload: int | None, reserved: int | None) -> int:
            return int(perf_counter() - start > self.timeout)

        asked = _CALLBACK(is_late)
        contents = [text.encode() for text in HOST_HEADERS.values()]
        names = [name.encode() for name in HOST_HEADERS]
        status, program = nvrtc.nvrtcCreateProgram(
            encoded(source), SOURCE_NAME.encode(), len(names), contents, names
        )
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return BuildFailure(f"{self.name}: {status.name}", "")
        try:
            nvrtc.nvrtcSetFlowCallback(program, ctypes.cast(asked, ctypes.c_void_p).value or 0, 0)
            words = [word.encode() for word in options.words(architecture)]
            (status,) = nvrtc.nvrtcCompileProgram(program, len(words), words)
            seconds = Seconds(perf_counter() - start)
            log = _text(_content(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog))
            if status == nvrtc.nvrtcResult.NVRTC_ERROR_CANCELLED:
                reason = f"{self.name} took longer than {self.timeout:.0f} s"
                return BuildFailure(reason, readable(log), timed_out=True)
            if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
                return failure(self.name, log or status.name)
            cubin = _content(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
            if not cubin:
                return BuildFailure(f"{self.name}: {NO_CODE}", readable(log))
            ptx = _text(_content(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX))
        finally:
            nvrtc.nvrtcDestroyProgram(program)
        return CudaBinary(architecture, cubin, read_cubin(cubin), readable(log), seconds, ptx)


def find_nvrtc() -> Nvrtc:
    """NVRTC on this machine.  Raises EnvironmentProblem ORIO-B020 that says what is missing."""
    if find_spec("elftools") is None:  # cubins are read with it
        raise _missing("the Python package `elftools` is not installed")
    try:
        from cuda.bindings import nvrtc  # of the extra `cuda`; takes time to load
        from cuda.pathfinder import load_nvidia_dynamic_lib  # of the extra `cuda`; takes time to load
    except ImportError:
        raise _missing("the Python package `cuda.bindings` is not installed") from None
    try:
        library = load_nvidia_dynamic_lib("nvrtc")
        status, major, minor = nvrtc.nvrtcVersion()
        supported, numbers = nvrtc.nvrtcGetSupportedArchs()
    except (RuntimeError, OSError) as error:  # the library is not found, or does not load
        raise _missing(f"the library is not found: {str(error).splitlines()[0]}") from None
    if not status == supported == nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise _missing(f"the library does not work: {status.name}, {supported.name}")
    wheels = library.found_via == "site-packages"
    return Nvrtc(
        library.abs_path or "",
        wheels,
        f"{major}.{minor}",
        tuple(f"sm_{number}" for number in sorted(numbers)),
    )


def _content(
    program: Program,
    size: Callable[[Program], tuple[Status, int]],
    get: Callable[[Program, bytearray], object],
) -> bytes:
    """What NVRTC writes into a buffer of the size that it asks for."""
    buffer = bytearray(size(program)[1])
    get(program, buffer)
    return bytes(buffer)


def _text(content: bytes) -> str:
    return content.rstrip(b"\0").decode(errors="replace")


def _missing(reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(Diagnostic("ORIO-B020", f"no NVRTC: {reason}", help=INSTALL_CUDA))
