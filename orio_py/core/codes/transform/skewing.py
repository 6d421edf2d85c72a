"""Diagnostic codes ORIO-T…: skewing, bands of tiles, bounds."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T080",
        "types that do not allow a skewed index",
        "The skewed index runs over the old values plus a multiple of another index.  Its type has to hold\n"
        "them and compute with them as before: `int` or wider, no narrower than the other index, both signed\n"
        "or both unsigned, with bounds of the same kind; unsigned indices take a positive factor.\n\n"
        "    for (int i…) for (short j = 0; j < n; j++)           `short` may be too small for j + i\n"
        "    for (long i…) for (int j = 0; j < n; j++)            j - i would be a `long` in the body",
    ),
    Code(
        "ORIO-T081",
        "index cannot be replaced in the body",
        "In the body of the skewed loop `j` becomes `j - i`.  That is not possible where a macro names `j`,\n"
        "where a function-like macro is called, as it may lack parentheses around its arguments, or where a\n"
        "declaration in the body gives `i` another meaning.",
    ),
    Code(
        "ORIO-T082",
        "loop is not around the skewed one",
        "A loop is skewed by the index of a loop around it:\n\n"
        "    transform Skew(loop='j', by='i') for (i…) for (j…) …        right\n"
        "    transform Skew(loop='i', by='j') for (i…) for (j…) …        wrong: j has no value yet",
    ),
)
