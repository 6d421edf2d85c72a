"""Builds files with CUDA regions for the processor: transformed, with their host code, and as they were."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import orio_py
from orio_py.build.compiler import Artifact
from orio_py.build.cuda_cpu import Check, CudaOnCpu

FLAGS = ("-std=c99", "-O1", "-ffp-contract=off", "-Wno-unknown-pragmas")


def transformed(folder: Path, text: str) -> list[str]:
    """Write `cases.c`, transform it to `out.c`, and the names of what was written."""
    (folder / "cases.c").write_text(text)
    report = orio_py.transform(folder / "cases.c", output=folder / "out.c")
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    return [path.name for path in report.outputs]


def build(
    toolkit: CudaOnCpu,
    folder: Path,
    driver: str,
    *,
    check: Check = Check.ACCESSES,
    more: Sequence[str] = (),
    host: str = "out_cuda.cu",
) -> Path:
    """A program of `driver` with the functions of `out.c`, and those as they were under names with `plain_`.

    The functions are those whose names begin with `nest_`; `more` are further words for the C++ compiler, `host` is the file
    with host code.
    """
    names = sorted(set(re.findall(r"\bnest_\w+(?=\()", (folder / "cases.c").read_text())))
    plain = [f"-D{name}=plain_{name.removeprefix('nest_')}" for name in names]
    for output, flags in (("tuned.o", []), ("plain.o", ["-DORIO_ORIGINAL", *plain])):
        subprocess.run(["gcc", *FLAGS, *flags, "-c", "out.c", "-o", output], cwd=folder, check=True)
    subprocess.run(["ar", "rcs", "libcases.a", "tuned.o", "plain.o"], cwd=folder, check=True)
    (folder / "driver.cu").write_text(driver)
    sources = [folder / host, folder / "driver.cu"]
    flags = ["-O0", f"-L{folder}", "-lcases", "-lm", *more]
    built = toolkit.build_program(sources, folder / "program", check=check, flags=flags)
    assert isinstance(built, Artifact), built.log
    return built.path


def run(program: Path, *words: str) -> str:
    """What a program prints; the executor has found nothing wrong."""
    done = subprocess.run([str(program), *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
