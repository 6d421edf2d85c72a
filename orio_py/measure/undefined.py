"""Functions that timed code calls and that no file defines."""

from __future__ import annotations

import re

from orio_py.build.process import Completed
from orio_py.core.diagnostics import Diagnostic
from orio_py.ctree.known_functions import called_name
from orio_py.ctree.nodes import c_ast
from orio_py.ctree.parse import position
from orio_py.ctree.rewrite import walk
from orio_py.spec.task import TuningTask

_EXIT = 127
"""The code with which the loader ends a program that calls what it does not find, in the words below."""
_UNDEFINED = re.compile(r"undefined symbol: (\w+)")


def undefined_function(task: TuningTask, done: Completed) -> Diagnostic | None:
    """ORIO-M018 where a run ended at such a call, at its place if the region makes it itself."""
    found = _UNDEFINED.search(done.stderr) if done.returncode == _EXIT else None
    if found is None:
        return None
    calls = (
        position(part)
        for region in task.regions
        for part in walk(region.reference)
        if isinstance(part, c_ast.FuncCall) and called_name(part) == found[1]
    )
    return Diagnostic(
        "ORIO-M018",
        f"`{found[1]}` is called, and neither the file nor a library defines it",
        next(calls, None) or task.position,
        help="name what does in the build section: `def build { arg libs = 'file.o'; }`, a C file or `-lNAME`",
    )
