"""Diagnostic codes ORIO-T…: transformations and recipes."""

from __future__ import annotations

from orio_py.core.codes.code import Code

_RECIPE = (
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
        "The transformation belongs to the annotation language, but this version does not have it.\n"
        "Available are Unroll, Tile, Permut, Pragma and Composite.",
    ),
    Code(
        "ORIO-T009",
        "key of Composite not available yet",
        "The keys arrcopy, regtile, scalarreplace, boundreplace and cuda belong to the language, but this\n"
        "version does not have them.  They are accepted where their value switches them off:\n\n"
        "    scalarreplace=(False, 'double')      accepted, does nothing\n"
        "    regtile=(['i', 'j'], [1, 1])         accepted, does nothing\n"
        "    scalarreplace=(SCR, 'double')        variants with SCR true are refused",
    ),
)

_ARGUMENTS = (
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

_FORMS = (
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
        "loop index is not an integer",
        "The index of a loop that is transformed is an integer variable: not floating, no pointer, not\n"
        "volatile.",
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
        "The transformed loop may leave another value in its index, for example where it runs zero times, and\n"
        "code after the loop reads it.  Assign the index before that, or use another variable.",
    ),
)

_NESTS = (
    Code(
        "ORIO-T030",
        "not a perfect nest",
        "Loops can change places only where each is the whole body of the one around it; comments do not\n"
        "count.\n\n"
        "    for (i…) { s[i] = 0; for (j…) …; }      i and j cannot change places",
    ),
    Code(
        "ORIO-T031",
        "bound depends on an inner loop",
        "After the exchange a loop's bounds would use an index that has no value yet:\n\n"
        "    for (i = 0; i < n; i++)\n"
        "      for (j = 0; j <= i; j++)              j cannot become the outer loop\n\n"
        "This holds with `force=True` too.",
    ),
    Code(
        "ORIO-T032",
        "OpenMP collapse does not fit",
        "`collapse(n)` needs n perfectly nested loops whose bounds do not depend on each other.",
    ),
    Code(
        "ORIO-T033",
        "OpenMP pragma not directly before its loop",
        "`omp parallel for`, `omp for` and `omp simd` have to stand directly before their loop, and another\n"
        "pragma for the loop is there already.  For threads and SIMD on one loop OpenMP has one pragma,\n"
        "`omp parallel for simd`; pragmas for other compilers go into the same list as OpenMP's, or into\n"
        "`vector=`, where they are left to compilers without OpenMP.",
    ),
    Code(
        "ORIO-T034",
        "shared index of an inner loop",
        "All threads would count with one variable.  Leave the index out of `shared(…)`: the generated pragma\n"
        "makes the indices of inner loops private.",
    ),
    Code(
        "ORIO-T040",
        "a dependence forbids it",
        "Two accesses to the same memory, at least one of them a write, would happen in another order, or at\n"
        "the same time.  The notes show both.\n\n"
        "    for (i = 1; i < n; i++) a[i] = a[i - 1];      cannot run in parallel",
    ),
    Code(
        "ORIO-T041",
        "the dependence test cannot decide",
        "The subscripts are not linear in the loop indices, a function of unknown effect is called, or the\n"
        "accesses are otherwise beyond the test.  `force=True` among the arguments says that the\n"
        "transformation keeps the result; each variant's output is compared with the original's in any case.",
    ),
)

CODES: tuple[Code, ...] = (*_RECIPE, *_ARGUMENTS, *_FORMS, *_NESTS)
