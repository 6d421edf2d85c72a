"""Diagnostic codes ORIO-T…: fusing, splitting and reordering loops."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T070",
        "loops with different headers",
        "Loops that are fused run over the same index values: their starts, bounds, steps, tests and index\n"
        "types are the same, up to the name of the index.\n\n"
        "    for (i = 0; i < n; i++) …      for (j = 0; j < n; j++) …          can be fused\n"
        "    for (i = 0; i < n; i++) …      for (j = 1; j < n; j++) …          cannot",
    ),
    Code(
        "ORIO-T071",
        "index that cannot be replaced",
        "The transformation has to write another expression for the index of the loop, and the body uses the\n"
        "new name for something else, or a macro in it may name the index, which its text does not show:\n\n"
        "    for (i = 0; i < n; i++) a[i] = 0;\n"
        "    for (j = 0; j < n; j++) for (i = 0; i < n; i++) …      `j` cannot become `i`",
    ),
    Code(
        "ORIO-T072",
        "statement between the loops",
        "Loops that are fused follow each other directly.  A statement between them is moved before the first\n"
        "or behind the second where it shares nothing with them that one of them changes:\n\n"
        "    for (i…) a[i] = 0;  s = 1;     for (i…) b[i] = 0;      `s = 1` moves\n"
        "    for (i…) s += a[i]; t = s / n; for (i…) a[i] -= t;     `t = s / n` has to stay",
    ),
    Code(
        "ORIO-T073",
        "no loops to fuse",
        "Fuse works on loops that stand in one block.  Put it before a block of several loops or before a loop\n"
        "around such a block; without `loops` it fuses those that follow each other directly and have equal\n"
        "headers.",
    ),
    Code(
        "ORIO-T074",
        "groups that do not cover the body",
        "The groups of Distribute hold each statement of the loop body once, by its number from 0; comments and\n"
        "pragmas do not count.\n\n"
        "    transform Distribute(groups=[[0, 2], [1]])      for a body of three statements",
    ),
    Code(
        "ORIO-T075",
        "loop that cannot be split",
        "Statements that depend on each other in a cycle have to stay in one loop, and all statements of this\n"
        "body do; or the body has only one.  A scalar that one statement sets and the next one uses makes such\n"
        "a cycle:\n\n"
        "    for (i = 0; i < n; i++) { t = a[i]; b[i] = t * t; }      stays one loop",
    ),
    Code(
        "ORIO-T076",
        "declaration in another loop",
        "A variable that is declared in the loop body exists in one iteration of one loop.  All statements that\n"
        "use it stay with its declaration, `force=True` or not:\n\n"
        "    for (i = 0; i < n; i++) { double t = a[i]; b[i] = t; c[i] = 0; }      groups=[[0, 1], [2]]",
    ),
    Code(
        "ORIO-T077",
        "start or bound of another type than the index",
        "The reversed loop begins at the original end and compares the index with the original start.  Both\n"
        "have to fit the index's type for certain:\n\n"
        "    for (short i = m; i < n; i++)      with `int m`: refused\n"
        "    for (int i = m; i < n; i++)        fine",
    ),
)
