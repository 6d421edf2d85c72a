"""Diagnostic codes ORIO-T…: nests and dependences."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
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
        "After the exchange a loop's bounds would use an index that has no value yet.  Bounds that are linear\n"
        "in the indices get new ones; others cannot be turned round:\n\n"
        "    for (i = 0; i < n; i++)\n"
        "      for (j = 0; j <= i; j++)                 the loop over j can come to the outside\n"
        "      for (j = row[i]; j < row[i + 1]; j++)    this one cannot\n\n"
        "This holds with `force=True` too.",
    ),
    Code(
        "ORIO-T032",
        "OpenMP collapse does not fit",
        "`collapse(n)` needs n perfectly nested loops whose bounds do not depend on each other.",
    ),
    Code(
        "ORIO-T033",
        "pragmas that cannot stand before one loop together",
        "`omp parallel for`, `omp for` and `omp simd` have to stand directly before their loop, and another\n"
        "pragma for the loop is there already.  For threads and SIMD on one loop OpenMP has one pragma,\n"
        "`omp parallel for simd`; pragmas for other compilers go into the same list as OpenMP's, or into\n"
        "`vector=`, where they are left to compilers without OpenMP.\n\n"
        "gcc and clang take one pragma of a kind: `GCC ivdep` and `GCC unroll 4` together, but not\n"
        "`GCC unroll 2` and `GCC unroll 4`, nor `ivdep` (which becomes `GCC ivdep` for gcc) and `GCC ivdep`.\n"
        "Behind one for the loop they take no other than such.",
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
