"""Diagnostic codes ORIO-T…: threads, vectors and versions."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T090",
        "floating-point values would be combined in another order",
        "A parallel or vectorised sum adds in another order than the loop does and rounds differently; a\n"
        "smallest or largest value can differ in the sign of a zero, or where there are NaNs.\n\n"
        "    for (i = 0; i < n; i++) s += x[i];          needs the promise\n"
        "    for (i = 0; i < n; i++) count += c[i];      integers: does not\n\n"
        "The promise that this is fine is `def assumptions { arg reassociate = True; }` in the specification,\n"
        "or `force=True` at one transformation.",
    ),
    Code(
        "ORIO-T091",
        "OpenMP would do something else than the loop",
        "A clause makes the compiler combine or copy a variable in a way that differs from what the loop does:\n\n"
        "    reduction(*: s)     where the loop does     s += x[i];\n"
        "    lastprivate(t)      where only some iterations assign `t`\n\n"
        "`reduction` needs a variable that the loop only accumulates into, by that operator; `lastprivate` one\n"
        "that every iteration assigns.  Or the number of iterations would be another one: OpenMP counts a loop\n"
        "with a signed index and an unsigned bound in the type of the index, and gcc 12 runs loops wrong that\n"
        "count an unsigned index down with another schedule than `static`.",
    ),
    Code(
        "ORIO-T092",
        "vector longer than a dependence allows",
        "Iterations of the loop depend on earlier ones, a known distance away, so that only as many as the\n"
        "distance can run at the same time.  `simdlen` must not be larger.\n\n"
        "    for (i = 0; i < n; i++) a[i + 4] = a[i];        at most simdlen=4",
    ),
    Code(
        "ORIO-T093",
        "impossible alignment",
        "An alignment is a number of bytes that is a power of two, such as 16, 32 or 64.\n\n"
        "    transform Vectorize(aligned=['x'], alignment=48)      wrong\n"
        "    transform Vectorize(aligned=['x'], alignment=32)      right",
    ),
    Code(
        "ORIO-T094",
        "not an array that the code uses",
        "`aligned` and `arrays` name arrays or pointers that are declared and that the transformed code reads\n"
        "or writes, and that it does not set to other addresses.",
    ),
    Code(
        "ORIO-T095",
        "variable that cannot be specialised",
        "Specialize makes copies of the code in which a variable is a number.  The variable has to be an\n"
        "integer that the code uses and leaves alone, and that is known not to change while the code runs:\n\n"
        "    transform Specialize(on='n', values=[16, 64])\n"
        "    for (i = 0; i < n; i++) …                             right\n"
        "    for (i = 0; i < n; i++) { …; n = n - 1; }             wrong",
    ),
    Code(
        "ORIO-T096",
        "OpenMP pragma on a loop that carries a dependence",
        "The pragma that stands in the code itself lets iterations run at the same time, and they depend on\n"
        "each other: the program has a race, or computes something else.\n\n"
        "    #pragma omp parallel for\n"
        "    for (i = 0; i < n; i++)\n"
        "      for (j = 0; j < n; j++) …       j is shared by all threads: add private(j)\n\n"
        "The comparison of variants with the original is meaningless then.  Correct the pragma or the loop.",
    ),
    Code(
        "ORIO-T097",
        "OpenMP pragma on a loop that may carry a dependence",
        "The loop behind the pragma calls functions of unknown effect, or has subscripts that are not linear in\n"
        "its indices, so that its iterations cannot be shown to be independent.  It is taken as it is.",
    ),
    Code(
        "ORIO-T098",
        "nothing promises that arrays do not overlap",
        "`restrict` tells the compiler that two pointers never lead to the same memory.  Where that is wrong\n"
        "the program is wrong, so it has to be promised in the specification:\n\n"
        "    def assumptions { arg noalias = True; }            all arrays of the region\n"
        "    def assumptions { arg noalias = ['x', 'y']; }      these overlap nothing else\n\n"
        "`force=True` promises it for one transformation.",
    ),
    Code(
        "ORIO-T099",
        "value that the code cannot have as a number",
        "With the number in place of the variable the code would not compile cleanly, or would mean something\n"
        "else: a division by 0, an array of no elements, or a number that the variable's type does not hold.",
    ),
)
