"""Diagnostic codes ORIO-T…: recipes."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T001",
        "unknown transformation",
        "`transform NAME(…)` names a transformation that does not exist.  Names are case-sensitive:\n"
        "Unroll, Tile, Permut, Pragma, Composite.\n\n"
        "    transform Unrol(ufactor=4)      wrong\n"
        "    transform Unroll(ufactor=4)     right",
    ),
    Code(
        "ORIO-T002",
        "unknown argument",
        "The transformation has no argument of that name.  The reference page of each transformation lists\n"
        "its arguments.\n\n"
        "    transform Unroll(ufactr=4)      wrong\n"
        "    transform Unroll(ufactor=4)     right",
    ),
    Code(
        "ORIO-T003",
        "missing argument",
        "An argument without a default was left out.\n\n"
        "    transform Tile(tsize=32)                   wrong: which name has the new loop?\n"
        "    transform Tile(tsize=32, tindex='ii')      right",
    ),
    Code(
        "ORIO-T007",
        "undefined name in an argument",
        "Arguments are expressions over tuning parameters, input parameters and `let` names.  The name in\n"
        "question is none of them; often it is a misspelt parameter, or a string without its quotes:\n\n"
        "    transform Tile(tsize=T, tindex=ii)         wrong: ii is a name\n"
        "    transform Tile(tsize=T, tindex='ii')       right",
    ),
    Code(
        "ORIO-T008",
        "transformation not available yet",
        "The transformation belongs to the annotation language, but this version does not have it:\n"
        "MPIOverlap.  docs/reference/transformations lists those that it has.",
    ),
)
