"""Every diagnostic code with its title and the long text that `orio explain` prints."""

from __future__ import annotations

from orio_py.core.codes.annotation import CODES as ANNOTATION
from orio_py.core.codes.build import CODES as BUILD
from orio_py.core.codes.ccode import CODES as CCODE
from orio_py.core.codes.code import Code
from orio_py.core.codes.expression import CODES as EXPRESSION
from orio_py.core.codes.measure import CODES as MEASURE
from orio_py.core.codes.space import CODES as SPACE
from orio_py.core.codes.spec import CODES as SPEC
from orio_py.core.codes.store import CODES as STORE
from orio_py.core.codes.transform import CODES as TRANSFORM
from orio_py.core.codes.usage import CODES as USAGE
from orio_py.core.registry import Registry

CODES: Registry[Code] = Registry(
    "diagnostic code",
    (
        (code.name, code)
        for group in (ANNOTATION, CCODE, EXPRESSION, SPEC, TRANSFORM, SPACE, BUILD, MEASURE, STORE, USAGE)
        for code in group
    ),
)

__all__ = ["CODES", "Code"]
