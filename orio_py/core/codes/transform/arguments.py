"""Diagnostic codes ORIO-T…: arguments."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T010",
        "argument of the wrong type",
        "The value of an argument is not of the kind that the transformation takes.  The message says what\n"
        "was found and what is needed.\n\n"
        "    transform Unroll(ufactor='4')       wrong: a string\n"
        "    transform Unroll(ufactor=4)         right",
    ),
    Code(
        "ORIO-T011",
        "argument out of range",
        "Unroll factors and tile sizes are integers of at least 1; 1 leaves the loop as it is.",
    ),
    Code(
        "ORIO-T012",
        "pragma text of several lines",
        "Each pragma text makes one `#pragma` line.  Use a list for several pragmas:\n\n"
        "    pragma_str=['ivdep', 'vector always']",
    ),
    Code(
        "ORIO-T013",
        "unusable name for a new loop",
        "The loop that tiling makes needs an index of its own: a C identifier that is not a keyword, not the\n"
        "tiled loop's index, and not a name that the loop uses.\n\n"
        "    transform Tile(tsize=32, tindex='i') for (i = 0; …      wrong\n"
        "    transform Tile(tsize=32, tindex='ii') for (i = 0; …     right",
    ),
    Code(
        "ORIO-T014",
        "tile size is not a multiple of the step",
        "A tile of `for (i = 0; i < n; i += 4)` holds whole steps, so its size is 4, 8, 12 …",
    ),
    Code(
        "ORIO-T015",
        "no loop of that name",
        "Loops are named by their index.  A loop that may be missing is written as a list, `['k']`; the first\n"
        "of several that exists as a tuple, `('ii', 'i')`.",
    ),
    Code(
        "ORIO-T016",
        "loop named twice",
        "A list of loops names each loop once:\n\n"
        "    unrolljam=(['i', 'i'], [2, 4])      wrong: which factor?\n"
        "    permut=[['j', 'i']]                 right",
    ),
)
