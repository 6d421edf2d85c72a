"""Builds the part of the emulation that is C, once for a compiler; later processes take what was kept."""

from __future__ import annotations

import atexit
import os
import shlex
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from orio_py.build.detect import compiler_version, compiler_words
from orio_py.build.process import run
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.core.digest import digest
from orio_py.core.resources import keep, kept
from orio_py.core.units import Seconds
from orio_py.emulation.native import SOURCE, NativeCore, load_core

BUILD_TIMEOUT = Seconds(120.0)

# Sums stay in the order of the text, so that the numbers are those of the plain version.
_FLAGS = ("-std=c99", "-O3", "-fPIC", "-shared", "-ffp-contract=off")


@cache
def emulation_core() -> NativeCore:
    """The emulation of a multiprocessor, compiled by this machine's C compiler.

    Raises EnvironmentProblem: ORIO-B001 without one, ORIO-B062 when it does not build the file.
    """
    words = compiler_words()
    # A library is loaded from a file, which goes when the process ends.
    folder = TemporaryDirectory(prefix="orio-emulation-")
    atexit.register(folder.cleanup)
    place = Path(folder.name) / "core.so"
    text = SOURCE.read_text(encoding="utf-8")
    version = compiler_version(words, place.parent)
    name = f"emulation-{digest([text, words, version, list(_FLAGS), os.uname().machine])[:24]}.so"
    if (found := kept(name)) is None:
        _build(words, place)
        keep(name, place.read_bytes())
    else:
        place.write_bytes(found)
    try:
        return load_core(place)
    except OSError as error:
        raise _problem(str(error)) from None


def _build(words: list[str], place: Path) -> None:
    command = [*words, *_FLAGS, str(SOURCE), "-o", str(place)]
    done = run(command, timeout=BUILD_TIMEOUT, directory=place.parent, environment={"LC_ALL": "C"})
    if not done.ok or not place.exists():
        told = done.stderr.strip().splitlines()
        raise _problem(f"`{shlex.join(words)}` does not build it: {told[0] if told else 'no reason given'}")


def _problem(reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(Diagnostic("ORIO-B062", f"the emulation cannot be run: {reason}"))
