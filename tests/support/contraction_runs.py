"""Runs variants of random contractions and compares them with `numpy.einsum`."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from random_contractions import Example, arrays_for, expected

from orio_py.core.digest import digest

# GCC 12 with -O2 -march=native puts arrays of 48 bytes on the stack of some functions without the alignment that its
# own instructions need (on AMD EPYC with AVX-512), so that right code crashes.
FLAGS = ("-O2", "-fopenmp", "-shared", "-fPIC", "-w", "-std=gnu99")


def differences(examples: Sequence[Example], folder: Path) -> list[str]:
    """What differs, as text; compiles all examples into one library."""
    includes = "#include <stdlib.h>\n"
    code = includes + "\n".join(re.sub(r"#include <stdlib.h>", "", e.code) for e in examples)
    # A library of a name that was loaded already would not be loaded anew.
    source, library = folder / "examples.c", folder / f"examples_{digest(code)[:16]}.so"
    source.write_text(code)
    subprocess.run(["gcc", *FLAGS, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    found = [difference(example, loaded, seed) for seed, example in enumerate(examples)]
    return [text for text in found if text]


def difference(example: Example, library: ctypes.CDLL, seed: int) -> str:
    """What an example computes wrongly; empty where nothing is."""
    given = arrays_for(example.program, seed)
    wanted = expected(example.program, given)
    passed = [np.require(given[t.name], requirements="W") for t in example.program.parameters]
    getattr(library, example.program.name)(*(ctypes.c_void_p(a.ctypes.data) for a in passed))
    for tensor, array in zip(example.program.parameters, passed, strict=True):
        right = wanted[tensor.name]
        if not np.allclose(
            array, right, rtol=1e-9, atol=1e-9 * max(1.0, float(np.abs(right).max(initial=0)))
        ):
            return f"{tensor.name} differs\n{example.text}\n{example.code}"
    return ""
