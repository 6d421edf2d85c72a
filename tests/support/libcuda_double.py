"""The fake driver of CUDA and its modules, built with gcc; and programs that run with it."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

FAKE = Path(__file__).resolve().parent / "libcuda"
ROOT = Path(__file__).resolve().parents[2]
_FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")


def build_driver(folder: Path) -> Path:
    """The folder with the fake `libcuda.so.1`."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    library = folder / "libcuda.so.1"
    name = "-Wl,-soname,libcuda.so.1"
    subprocess.run(["gcc", *_FLAGS, name, str(FAKE / "driver.c"), "-o", str(library), "-ldl"], check=True)
    return folder


def build_module(folder: Path, source: Path = FAKE / "kernels.cu") -> Path:
    """A CUDA text as a module for the fake driver."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    made = folder / f"{source.stem}.so"
    words = [*_FLAGS, "-std=c++17", "-I", str(FAKE), "-x", "c++", str(source), "-o", str(made)]
    subprocess.run(["g++", *words], check=True)
    return made


def environment(folder: Path | None, **more: str) -> dict[str, str]:
    """That of a process which finds the fake driver in a folder; None is one that finds no driver."""
    paths = [str(folder)] if folder is not None else []
    kept = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    code = os.pathsep.join([str(ROOT), str(Path(__file__).parent), *filter(None, [kept.get("PYTHONPATH")])])
    return {**kept, "LD_LIBRARY_PATH": os.pathsep.join(paths), "PYTHONPATH": code, **more}


def python(
    folder: Path | None, *words: str, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with the fake driver."""
    return subprocess.run(
        [sys.executable, *words],
        env=environment(folder, **(more or {})),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class Fake:
    """What a process with the fake driver asks of it."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def fail(self, call: str, status: int, after: int = 0) -> None:
        """Let a call fail once, after so many that do not."""
        self._library.fake_cuda_fail(call.encode(), status, after)

    def heal(self) -> None:
        """As a new process would find it."""
        self._library.fake_cuda_heal()

    @property
    def alive(self) -> dict[str, int]:
        """How many things of each kind were not given back."""
        words = (word.split("=") for word in self._text("fake_cuda_alive").split())
        return {name: int(count) for name, count in words}

    @property
    def calls(self) -> list[str]:
        """Which functions were called since the last `heal`."""
        return self._text("fake_cuda_calls").split()

    def _text(self, function: str) -> str:
        text = ctypes.create_string_buffer(1 << 16)
        getattr(self._library, function)(text, ctypes.c_size_t(len(text)))
        return text.value.decode()
