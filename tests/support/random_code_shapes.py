"""Shapes of random code: what is drawn more often where a certain transformation is to find something to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """The least number of nests, of their loops and of innermost statements, and chances in percent.

    `twin` is the chance that a nest has the headers of the first, `between` that a statement stands between
    two nests, `beside` one between loops; `exact` and `promised` those of the two promises.  `calm` code
    uses mostly the elements at its indices, `short` loops have a literal extent, and `reduces` wants an
    accumulation in each innermost body.
    """

    nests: int = 1
    depth: int = 1
    statements: int = 1
    twin: int = 60
    between: int = 30
    beside: int = 28
    exact: int = 25
    promised: int = 20
    calm: bool = False
    short: bool = False
    reduces: bool = False


PLAIN = Shape()

SHAPES: Mapping[str, Shape] = {
    "Fuse": Shape(nests=2, twin=92, between=10, beside=10, calm=True),
    "Distribute": Shape(statements=2, calm=True),
    "Interchange": Shape(depth=2, beside=4, exact=50, calm=True),
    "Permut": Shape(depth=2, beside=6, calm=True),
    "Skew": Shape(depth=2, beside=6, calm=True),
    "Reverse": Shape(calm=True),
    "Coalesce": Shape(depth=2, beside=4, calm=True),
    "ArrCopy": Shape(beside=10, calm=True, short=True),
    "Prefetch": Shape(calm=True),
    "UnrollReduction": Shape(exact=75, calm=True, reduces=True),
    "Restrict": Shape(promised=150),
}
"""The shapes of code for transformations that refuse most of what is drawn without them."""
