"""Compiles and runs C programs for tests."""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
PLAIN = ("-std=c99", "-O0", "-g0")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@cache
def links(*flags: str) -> bool:
    """Whether the compiler links a program with these flags: clang's run-time libraries may be missing."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("int main(void) { return 0; }\n")
        command = ["gcc", *flags, str(source), "-o", str(Path(folder) / "probe")]
        return subprocess.run(command, capture_output=True).returncode == 0


def checked() -> tuple[str, ...]:
    """Flags for a checked program: with the sanitizers wherever the compiler has them."""
    return (*PLAIN, *SANITIZERS) if links(*SANITIZERS) else PLAIN


def openmp() -> tuple[str, ...]:
    """The OpenMP flag where the compiler links OpenMP programs; elsewhere the pragmas are ignored."""
    return ("-fopenmp",) if links("-fopenmp") else ()


@cache
def gcc_is_gnu() -> bool:
    """Whether `gcc` is GCC, and not another compiler by its name."""
    told = subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout
    return "Free Software Foundation" in told


def compile_strictly(source: Path, folder: Path, *flags: str) -> None:
    """Compile one file to nothing, with every warning an error."""
    run(["gcc", *STRICT, *flags, "-c", str(source), "-o", str(folder / "strict.o")])


def compile_and_run(text: str, folder: Path, *flags: str) -> str:
    """What the program prints.  Fails where it does not compile, crashes, or a sanitizer objects."""
    source, program = folder / "program.c", folder / "program"
    source.write_text(text)
    run(["gcc", *flags, str(source), "-o", str(program), "-lm"])
    return run([str(program)])


def run(command: list[str]) -> str:
    """The output of a command that must succeed within a minute."""
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "OMP_NUM_THREADS": "4"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done.stdout
