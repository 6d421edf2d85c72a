"""Diagnostic codes ORIO-T…: recipes by statement number."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T100",
        "unknown command",
        "A recipe by statement number uses a command that does not exist.  The commands are permute,\n"
        "registers, unroll, fuse, distribute and cuda; `permute_loops`, `copy_to_registers` and `cudaize` are\n"
        "other spellings of the first, the second and the last.\n\n"
        '    permut(0, ("j", "i"))       wrong\n'
        '    permute(0, ("j", "i"))      right',
    ),
    Code(
        "ORIO-T101",
        "wrong arguments of a command",
        "A command has too few or too many arguments, or one of an unknown name.  The message shows how it is\n"
        "written.\n\n"
        '    unroll(0, "i")              wrong: how often?\n'
        '    unroll(0, "i", 4)           right',
    ),
    Code(
        "ORIO-T102",
        "no statement of that number",
        "Statements count from 0 in the order of the text.  Loops, blocks and declarations are not counted;\n"
        "an `if` or `switch` counts as one statement with all that it holds.\n\n"
        "    for (i = 0; i < n; i++) {\n"
        "      x[i] = 0;                                       statement 0\n"
        "      for (j = 0; j < n; j++) x[i] += a[i][j];        statement 1\n"
        "    }",
    ),
    Code(
        "ORIO-T103",
        "no such loop around the statement",
        "Commands name a loop around their statement by its index, or by its level: 1 is the outermost.  The\n"
        "loops are those that the commands before have left; after `fuse`, the statements have the indices of\n"
        "the first one's loops.\n\n"
        '    for (i…) for (j…) S;        unroll(0, "j", 4) and unroll(0, 2, 4) mean the same',
    ),
    Code(
        "ORIO-T104",
        "incomplete order of loops",
        "`permute` takes all loops around the statement in their new order, the outermost first.\n\n"
        "    for (i…) for (j…) for (k…) S;\n\n"
        '    permute(0, ("k", "i"))              wrong: where does `j` go?\n'
        '    permute(0, ("k", "i", "j"))         right',
    ),
    Code(
        "ORIO-T105",
        "loops that cannot be mapped",
        "`cuda` gives loops around a statement to the blocks and threads of one kernel.  A nest is mapped once, also\n"
        "where several statements are fused in it; commands behind it work on what is inside of the loops that it\n"
        "names; and iterations that run at the same time cannot add to one scalar.\n\n"
        '    cuda(0, block={"i"}, thread={"j"})\n'
        '    unroll(0, "j", 4)           wrong: `j` runs over threads\n'
        '    unroll(0, "k", 4)           right: `k` runs in each thread',
    ),
    Code(
        "ORIO-T106",
        "statement in several nests",
        "Unrolling leaves copies of a statement in the main loop and in the loop over the remainder.  Commands\n"
        "that work on that loop, or on the whole nest, come before it:\n\n"
        '    permute(0, ("j", "i"))\n'
        '    unroll(0, "i", 4)           from here on statement 0 stands in two nests',
    ),
    Code(
        "ORIO-T107",
        "statements that share no loop, or too many",
        "`distribute` splits a loop that is around all of its statements; `fuse` joins loops that follow each\n"
        "other in one block, each around one of its statements.\n\n"
        "    for (i…) S0;  for (j…) S1;          fuse(0, 1); distribute({0, 1}, 1) is refused\n"
        "    for (i…) { S0; S1; }                distribute({0, 1}, 1)",
    ),
    Code(
        "ORIO-T108",
        "no value to keep in a register",
        "`registers` keeps the array element that a statement assigns in a scalar while a loop runs.  The\n"
        "statement has to assign an element of an array, whose subscripts do not change with the loop.\n\n"
        "    for (k…) c[i][j] += a[i][k] * b[k][j];        c[i][j] stays the same while k runs",
    ),
)
