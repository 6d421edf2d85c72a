"""Diagnostic codes ORIO-T…: forms of loops."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T020",
        "not a `for` loop",
        "The transformation works on a `for` loop, and the statement that it was given is another one.  Put\n"
        "`transform …` directly before the loop, or use Composite, which finds its loops by name.",
    ),
    Code(
        "ORIO-T021",
        "not a canonical loop",
        "A transformation has to know which values the index takes.  The loop must count one index from a\n"
        "start, in constant steps, to a bound that is tested by <, <=, > or >=:\n\n"
        "    for (i = 0; i < n; i++)                  for (int i = n - 1; i >= 0; i -= 2)\n\n"
        "Other loops may stand in a region; only the ones that a transformation names must be canonical.",
    ),
    Code(
        "ORIO-T022",
        "loop index is not an integer that holds the start",
        "The index of a loop that is transformed is an integer variable: not floating, no pointer, not\n"
        "volatile.  A short unsigned one has to hold the start, as it would begin elsewhere otherwise, at 255\n"
        "in place of -1:\n\n"
        "    for (unsigned char i = n - 1; i > 0; i--)        for (int i = n - 1; i > 0; i--)\n\n"
        "Take a wider index, or write the start with a cast to the type of the index.",
    ),
    Code(
        "ORIO-T023",
        "pragma before the loop",
        "A pragma such as `omp parallel for` or `GCC ivdep` belongs to the loop after it.  The transformed\n"
        "loop is another one (or two), for which the pragma may be wrong.  Remove it and let the recipe put\n"
        "pragmas on the result, with Composite's keys openmp, vector and pragma.",
    ),
    Code(
        "ORIO-T024",
        "the body changes the loop index",
        "The body assigns the index or takes its address, so the header does not say which values it takes.",
    ),
    Code(
        "ORIO-T025",
        "jump in the loop body",
        "A `break`, `continue`, `goto`, `return` or label can leave the body early or enter it from outside.\n"
        "A jump that stays inside an inner loop or `switch` is fine.",
    ),
    Code(
        "ORIO-T026",
        "body that cannot be copied",
        "Unrolling repeats the body.  A `static` variable would exist several times, a label or `case` would\n"
        "be defined twice, and beside loops that are fused a declaration would lose its scope.",
    ),
    Code(
        "ORIO-T027",
        "bound changes while the loop runs",
        "The bound is needed before all iterations are done, so it must keep its value:\n\n"
        "    for (j = 0; j < m; j++) { …; m = m - 1; }       refused\n"
        "    for (j = p[i]; j < p[i + 1]; j++) …             fine where p is not written\n\n"
        "Copy it into a variable before the loop.  Where only a called function could change it, `force=True`\n"
        "says that it does not.",
    ),
    Code(
        "ORIO-T028",
        "bound with side effects",
        "The generated loops evaluate start and bound a different number of times than the original.  They may\n"
        "not assign or call a function that is not known to be pure; `force=True` vouches for the function.",
    ),
    Code(
        "ORIO-T029",
        "loop index is used after the loop",
        "Code after the loop reads its index, the transformed loop leaves another value in it, and the value\n"
        "of the original cannot be written down: its bounds have another value by then, or the loop runs a\n"
        "varying number of times.  Assign the index before it is read, or use another variable.",
    ),
)
