"""Diagnostic codes ORIO-T…: transformations and recipes."""

from __future__ import annotations

from orio_py.core.codes.code import Code
from orio_py.core.codes.transform.arguments import CODES as ARGUMENTS
from orio_py.core.codes.transform.forms import CODES as FORMS
from orio_py.core.codes.transform.nests import CODES as NESTS
from orio_py.core.codes.transform.offload import CODES as OFFLOAD
from orio_py.core.codes.transform.parallel import CODES as PARALLEL
from orio_py.core.codes.transform.recipe import CODES as RECIPE
from orio_py.core.codes.transform.restructuring import CODES as RESTRUCTURING
from orio_py.core.codes.transform.skewing import CODES as SKEWING
from orio_py.core.codes.transform.statements import CODES as STATEMENTS
from orio_py.core.codes.transform.storage import CODES as STORAGE
from orio_py.core.codes.transform.unrolling import CODES as UNROLLING

CODES: tuple[Code, ...] = (
    *RECIPE,
    *ARGUMENTS,
    *FORMS,
    *NESTS,
    *UNROLLING,
    *STORAGE,
    *RESTRUCTURING,
    *SKEWING,
    *PARALLEL,
    *STATEMENTS,
    *OFFLOAD,
)
