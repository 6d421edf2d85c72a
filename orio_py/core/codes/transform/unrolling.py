"""Diagnostic codes ORIO-T…: register tiling and unrolling."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T050",
        "too many statements",
        "Unrolling makes as many copies of a body as the factors multiply to, and a nest of three loops with\n"
        "factors of 64 has 262144 of them: more than a compiler is glad of.  The limit is 100000 statements.\n\n"
        "    transform Unroll(ufactor=1000000)                   refused\n"
        "    constraint small = UI*UJ*UK <= 256;                 keeps such variants out of the search",
    ),
    Code(
        "ORIO-T051",
        "inner ranges that cannot be compared",
        "Copies of an inner loop are fused over the range that all of them have, so the transformation has to\n"
        "know which copy starts last and which ends first, and they have to meet:\n\n"
        "    for (i…) for (j = i; j < 2 * i + 1; j++)            fine\n"
        "    for (i…) for (j = row[i]; j < row[i + 1]; j++)      refused: any range\n"
        "    for (i…) for (j = i; j < n; j += 2)                 refused: odd and even never meet\n\n"
        "Unroll the inner loop instead, or the outer one with Unroll, which fuses nothing.",
    ),
    Code(
        "ORIO-T052",
        "iterations that cannot be counted",
        "Whether a loop has enough iterations to peel some off is decided from the distance between start\n"
        "and bound, which C computes as expected only if index, start and bound are all signed or all\n"
        "unsigned:\n\n"
        "    int i; unsigned n;  for (i = s; i < n; i++) …       refused: n - s is unsigned\n"
        "    int i, n;           for (i = s; i < n; i++) …       fine",
    ),
    Code(
        "ORIO-T053",
        "no reduction in the loop",
        "UnrollReduction needs a variable that the body only accumulates into, always by one operation:\n\n"
        "    s += x[i];    s = s * x[i];    s = s < x[i] ? x[i] : s;    if (x[i] > s) s = x[i];\n\n"
        "A variable that is also read otherwise, volatile or reached through a pointer is none.  Use Unroll\n"
        "for other loops.",
    ),
    Code(
        "ORIO-T054",
        "accumulation in another order",
        "Several accumulators add the terms in another order.  For floating numbers that changes the\n"
        "rounding, and where the type of a term is not known it may change more.  Say that this is all right:\n\n"
        "    def assumptions { arg reassociate = True; }\n\n"
        "Sums and products of integers of known types need no promise: they are formed in unsigned\n"
        "arithmetic, in which no intermediate result can overflow.",
    ),
)
