"""Loops between kernels that use elements of arrays: a C compiler builds them, and they run on the held arrays.

Each is a function of the places of its arrays and scalars:

    void orio_loop(char **orio_places) {
      int n;
      memcpy(&n, orio_places[0], sizeof n);
      double *a = (void *)orio_places[1];
      for (i = 0; i < n; i++) a[i] = b[i];
      memcpy(orio_places[2], &i, sizeof i);
    }
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from orio_py.build.detect import compiler_words
from orio_py.build.process import run
from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.core.units import Seconds
from orio_py.ctree.ctype import CType
from orio_py.ctree.emit import emit
from orio_py.ctree.evaluate import NoValueError, Number, number_type
from orio_py.ctree.known_functions import MAXIMUM_NAMES, MINIMUM_NAMES, PURE_FUNCTIONS, called_name
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import assigned_names, walk
from orio_py.measure.offload.variant import HostData, HostVariable

BUILD_TIMEOUT = Seconds(60.0)

_FUNCTION = "orio_loop"
_FLAGS = ("-std=gnu99", "-O2", "-fPIC", "-shared", "-w", "-ffp-contract=off")
_FUNCTIONS = PURE_FUNCTIONS - MINIMUM_NAMES - MAXIMUM_NAMES
_LEAVES = (c_ast.StructRef, c_ast.Return, c_ast.Goto, c_ast.Label)
_NAME = re.compile(r"[A-Za-z_]\w*")

Run = Callable[[Sequence[Any]], None]


class ContentNeededError(NoValueError):
    """A value depends on what is in arrays, and that is not known."""


def is_compiled(node: Node) -> bool:
    """Whether a statement is a loop that uses elements of arrays and does nothing but compute.

    Loops that reach into structures, call more than functions of `math.h` or may be left for good are none.
    """
    if not isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile):
        return False
    for part in walk(node):
        if isinstance(part, _LEAVES):
            return False
        if isinstance(part, c_ast.FuncCall) and called_name(part) not in _FUNCTIONS:
            return False
    return any(isinstance(part, c_ast.ArrayRef) for part in walk(node))


@dataclass(frozen=True, slots=True)
class CompiledLoop:
    """A loop as a function of arrays and scalars by name, in this order; `changed` are the scalars that it assigns."""

    text: str
    arrays: tuple[str, ...]
    scalars: tuple[str, ...]
    changed: tuple[str, ...]

    @classmethod
    def of(
        cls, loop: Node, data: HostData, types: Mapping[str, CType], values: Mapping[str, Number]
    ) -> CompiledLoop:
        """The function for a loop where scalars have these types, and some of them `values`.  Raises NoValueError."""
        arrays = {v.name: v for v in data.variables if v.is_array}
        body = emit(loop, indent="  ")
        used = _used(body, data, arrays)
        scalars = [name for name in types if name in used]
        places = {name: n for n, name in enumerate([*scalars, *(a for a in arrays if a in used)])}
        lines = ["#include <math.h>", "#include <stdlib.h>", "#include <string.h>"]
        lines += [f"typedef {words} {name};" for name, words in data.types.items() if name in used]
        lines += [
            f"#define {name} ({text})"
            for name, text in data.constants.items()
            if name in used and name not in places
        ]
        lines.append(f"void {_FUNCTION}(char **orio_places) {{")
        for name in scalars:
            lines.append(f"  {types[name].words} {name};")
            if name in values:
                lines.append(f"  memcpy(&{name}, orio_places[{places[name]}], sizeof {name});")
        lines += [_pointer(arrays[name], place) for name, place in places.items() if name in arrays]
        changed = tuple(name for name in assigned_names(loop) if name in places and name in types)
        stores = [f"  memcpy(orio_places[{places[name]}], &{name}, sizeof {name});" for name in changed]
        text = "\n".join([*lines, body.rstrip(), *stores, "}", ""])
        return cls(text, tuple(name for name in places if name in arrays), tuple(scalars), changed)

    def run(self, scalars: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Run it on the bytes of scalars and arrays.  Raises NoValueError where it does not compile."""
        _built(self.text)([*scalars, *arrays])


def _used(body: str, data: HostData, arrays: Mapping[str, HostVariable]) -> frozenset[str]:
    """All names in a text, in the extents of arrays in it and in the constants that it needs."""
    found: set[str] = set()
    waiting = set(_NAME.findall(body))
    while waiting:
        name = waiting.pop()
        found.add(name)
        more = [data.constants.get(name, ""), *(arrays[name].dimensions if name in arrays else ())]
        waiting.update(new for text in more for new in _NAME.findall(text) if new not in found)
    return frozenset(found)


def _pointer(array: HostVariable, place: int) -> str:
    kind = number_type(array.type).words
    rows = "".join(f"[{extent}]" for extent in array.dimensions[1:])
    declared = f"(*{array.name}){rows}" if rows else f"*{array.name}"
    return f"  {kind} {declared} = (void *)orio_places[{place}];"


@lru_cache(maxsize=256)
def _built(text: str) -> Run:
    """The function that a C compiler makes of a text.  Raises NoValueError with what it says."""
    with TemporaryDirectory(prefix="orio-loop-") as name:
        source, library = Path(name) / "loop.c", Path(name) / "loop.so"
        source.write_text(text, encoding="latin-1")
        try:
            command = [*compiler_words(), *_FLAGS, str(source), "-o", str(library), "-lm"]
        except EnvironmentProblem as problem:
            raise NoValueError(problem.diagnostics[0].message) from None
        done = run(command, timeout=BUILD_TIMEOUT, directory=Path(name), environment={"LC_ALL": "C"})
        if not done.ok or not library.exists():
            told = [line for line in done.stderr.splitlines() if "error:" in line] or ["no reason given"]
            raise NoValueError(
                f"a loop between them does not compile: {told[0].rpartition('error:')[2].strip()}"
            )
        function = ctypes.CDLL(str(library))[_FUNCTION]

    def called(places: Sequence[Any]) -> None:
        pointers = (ctypes.c_void_p * max(1, len(places)))(*(np.asarray(p).ctypes.data for p in places))
        function(pointers)

    return called
