"""Diagnostic codes ORIO-C…: the C code of a region."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-C001",
        "C syntax error",
        """The code of a region is not a sequence of C99 statements.  The message names the piece of text that
does not fit, what stands before it, and what is needed there.

    for (i = 0; i < n; i++
      x[i] = 0;             found `x` where `)` is missing

Code that is no statement, such as a function definition, cannot stand in a region: put the region
inside the function.""",
    ),
    Code(
        "ORIO-C002",
        "preprocessor line in a region",
        """Only `#pragma` lines can stand among the statements of a region, because the code is read
without running the preprocessor.

    #define TWO 2           move this line before the region
    x = TWO;

Macros that are defined elsewhere can be used: `TWO` reads as a name, `MAX(a, b)` as a call.""",
    ),
    Code(
        "ORIO-C003",
        "unbalanced brackets",
        """A parenthesis, bracket or brace of the region has no partner inside the region.

    for (i = 0; i < n; i++) {
      x[i] = 0;             the `{` of the line above is never closed

A region has to hold whole statements: put both braces inside it or both outside.""",
    ),
    Code(
        "ORIO-C004",
        "comment or literal without an end",
        """A `/*` without `*/`, or a string or character without its closing quote on the same line.

    puts("hello);           the closing `"` is missing""",
    ),
    Code(
        "ORIO-C005",
        "control character in C code",
        """The code holds a character below 32 other than tab, line end and form feed, such as NUL.  The file
may be damaged, binary, or stored in UTF-16; C code is plain text in an encoding that extends ASCII.""",
    ),
    Code(
        "ORIO-C006",
        "code nested too deeply",
        """The expression or statement has too many levels, so that it cannot be handled safely.  Each operator
of a sum and each pair of parentheses that matters counts as one level, each loop, branch and block as
two; about 200 are possible.  Split the expression with a variable, or move inner code to a function.""",
    ),
    Code(
        "ORIO-C007",
        "construct outside C99",
        """The region uses a compiler extension, such as `__attribute__`, `asm` or a statement in
parentheses.  What such code does cannot be known, so it cannot be transformed.

    x = ({ int t = a; t * t; });    write   { int t = a; x = t * t; }

Attributes of functions and variables outside the region are no problem.""",
    ),
    Code(
        "ORIO-C008",
        "transform without a statement",
        """A `transform` applies to the statement behind it, and there is none: it stands inside an
expression, before a declaration, or at the end of a block.

    transform Unroll(ufactor=4)
    for (i = 0; i < n; i++)         the statement to transform follows directly
      x[i] = 0;""",
    ),
)
