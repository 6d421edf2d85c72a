"""Diagnostic codes ORIO-T…: kernels on devices."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T120",
        "loops that cannot become dimensions of a device's index space",
        "A device runs iterations that are counted before they start, in up to three dimensions.  The mapped\n"
        "loops have to be perfectly nested, and the bounds of each must not use the index of another one:\n\n"
        "    for (i = 0; i < n; i++) for (j = 0; j < m; j++) …      nd=2\n"
        "    for (i = 0; i < n; i++) for (j = 0; j <= i; j++) …     nd=1: the outer loop alone\n\n"
        "The index is an integer, and the bounds compare as its own type does.",
    ),
    Code(
        "ORIO-T121",
        "value of the last iteration that is read after the loop",
        "Iterations run on the device in any order and each has variables of its own, so that nothing is left\n"
        "of them afterwards but what they wrote to arrays and what they combined.\n\n"
        "    for (i = 0; i < n; i++) { t = x[i]; y[i] = t; }  return t;      refused\n"
        "    for (i = 0; i < n; i++) s += x[i];               return s;      a sum: fine\n"
        "    for (i = 0; i < 1; i++) s = 2 * s;               return s;      one iteration, but no sum: refused\n\n"
        "Indices of the loops get their last values on the host.",
    ),
    Code(
        "ORIO-T122",
        "part of an array that cannot be worked out",
        "What a kernel uses is copied to the device, so it has to be known which elements those are: from the\n"
        "declaration of an array, or from subscripts that are linear in the indices of the loops around them.\n\n"
        "    double *x;  … x[i + 1] …          known from the bounds of the loop\n"
        "    double *x;  … x[row[i]] …         not known: declare x[100]\n"
        "    if (i % 3 == 0) x[i] = 0;         not known where the last such element is\n\n"
        "Elements under a condition on data count as used.\n\n"
        "A parameter declared `x[static n]` promises that there are n elements (C99 6.7.5.3); where subscripts\n"
        "do not tell, all of them are copied. The names in `n` have to be integer parameters that the function\n"
        "does not change.",
    ),
    Code(
        "ORIO-T123",
        "arrays that may overlap",
        "Each array gets memory of its own on the device.  Where two pointers lead to the same memory and one\n"
        "of them is written through, that would be another program.  Types and `restrict` can exclude it, or a\n"
        "promise in the specification:\n\n"
        "    def assumptions { arg noalias = True; }\n\n"
        "`force=True` promises it for one transformation.",
    ),
    Code(
        "ORIO-T124",
        "type that a kernel cannot hold",
        "Kernels work on numbers and on arrays of numbers: `float`, `double` and all integer types.  `long double`,\n"
        "complex numbers, arrays of pointers, volatile variables and addresses have no place in device memory, or\n"
        "another meaning there.  Arrays of structures are taken whose members are numbers or arrays of numbers, so\n"
        "that they lie in the device's memory as in the host's, and pointers, arrays and numbers in one structure:\n\n"
        "    struct point { double x, y, z; } *p;     p[i].x            fine\n"
        "    struct pair { int k; double v; } *q;     q[i].v            fine\n"
        "    struct grid { double *u; int n; } *g;    g->u[i] + g->n    fine\n"
        "                                             g->n = i          refused: assign a variable\n"
        "                                             q[i] = r[i]       refused: write out the members\n"
        "    struct node { struct node *next; } *l;   l[i].v            refused: addresses mean nothing there\n\n"
        "`long double`, `_Bool`, bit fields and structures inside structures have no counterpart either.",
    ),
    Code(
        "ORIO-T125",
        "code that devices do not run",
        "A kernel calls the functions of `math.h` that devices have and no others, and holds no static\n"
        "variables, pointers, strings, jumps out of the loop, or arrays whose extent is no number.\n\n"
        "    y[i] = sqrt(x[i]) + fmax(a, b);       fine\n"
        "    y[i] = f(x[i]);                       refused: write out what `f` does",
    ),
    Code(
        "ORIO-T126",
        "name whose meaning is not known",
        "What a kernel is given needs a type.  A variable has to be declared in the file, a header of the\n"
        "project or the specification; a macro has to be an expression of numbers, such as `#define N 100`; and\n"
        "a name has to mean the same everywhere in the loop.",
    ),
    Code(
        "ORIO-T127",
        "launch shape that does not fit the mapped loops",
        "`workGroups` and `workItemsPerGroup` have one number for each mapped loop, the innermost loop's first.\n"
        "One number alone is the fastest dimension of `workItemsPerGroup`; the others are then 1.\n\n"
        "    transform OpenCL(nd=2, workItemsPerGroup=[16, 4])\n\n"
        "`spread='blocked'` needs items that do more than one iteration.  `localTile` has a multiple of the items\n"
        "for each mapped loop, and may have one number more: the length of the blocks of a loop inside an\n"
        "iteration, which some array has to be staged for.",
    ),
    Code(
        "ORIO-T129",
        "two names of one argument",
        "`threadCount` is CUDA's name of `workItemsPerGroup`, `blockCount` that of `workGroups`.  A recipe gives\n"
        "one of the two, as both would have to say the same.",
    ),
    Code(
        "ORIO-T130",
        "nothing to keep in local memory",
        "`cacheBlocks=True` makes each group copy to local memory what several of its items read: arrays that\n"
        "the loops only read, where all subscripts are one sum of mapped indices and steady values but for\n"
        "whole numbers of them, as in a stencil, or where an index is missing from the subscripts.  The index of\n"
        "a loop inside an iteration counts too, as in a matrix product, if all items of a group can run the loop\n"
        "together: it stands under no condition, its bounds are the same for all of them, it is not left early.\n\n"
        "    transform OpenCL(nd=2, workItemsPerGroup=[16, 4], cacheBlocks=True)\n"
        "    for (i = 1; i < n - 1; i++)\n"
        "      for (j = 1; j < n - 1; j++)\n"
        "        q[i][j] = p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1];\n\n"
        "Where no two items of a group read the same element, copies cost time and save nothing.  With\n"
        "`spread='blocked'` the iterations of a group lie apart, so that no tile covers them.",
    ),
    Code(
        "ORIO-T140",
        "access that vectors cannot make",
        "With `vectorWidth=4` an item does 4 neighbouring iterations of the fastest dimension in the lanes of\n"
        "vectors.  A reference to an array is then 4 neighbouring elements, or one for all lanes:\n\n"
        "    y[i] = a[j] * x[i + 1];               over i: fine\n"
        "    y[i] = x[2 * i];   y[i] = A[i][0];    the elements lie apart\n"
        "    y[i] = x[n - i];                      two of three run the other way\n\n"
        "Where a condition differs between lanes, all of them load and store.  So the element has to be one\n"
        "that the original touches in each iteration, or the array a pointer whose buffer covers all iterations,\n"
        "and what is stored must not be used by other subscripts.  `nd` can make another loop the fastest.",
    ),
    Code(
        "ORIO-T141",
        "statement that vectors cannot do",
        "With `vectorWidth` above 1 the lanes of an item do each statement together: declarations, assignments,\n"
        "branches, and loops whose bounds are the same for all lanes.  Refused are loops and jumps that some\n"
        "lanes do and others do not, arrays that the iteration declares, truth values in `_Bool` variables,\n"
        "assignments inside expressions, and divisions of whole numbers under a condition on data:\n\n"
        "    if (c[i] != 0) y[i] = 100 / c[i];     lanes where it is 0 would divide too\n\n"
        "`vectorWidth` does not go with `cacheBlocks`.",
    ),
    Code(
        "ORIO-T142",
        "no array whose layout could be another one",
        "`layout='column'` has the device hold arrays of two dimensions column by column; the host transposes\n"
        "them as it copies.  An array counts that is declared with two dimensions, such as `double A[64][64]` or\n"
        "`double (*A)[m]`; of a pointer with one subscript, as in `A[i * m + j]`, it is not known where rows end.\n"
        "`layout='soa'` has it hold arrays of structures, such as `struct point *p`, member by member, if all members\n"
        "are of one type.  `layout='p:soa'`, or a list of such, says it of single arrays, which the loops have to use.\n\n"
        "Where the loops use no such array the variant would be the same as with `layout='row'`.",
    ),
    Code(
        "ORIO-T143",
        "kernel beyond the limits of the architecture",
        "The architecture that `arch` names, such as 'sm_90', has a largest block, a largest grid, and a largest\n"
        "number of registers and bytes of shared memory; without a name the limits count that all architectures\n"
        "from sm_75 on have.  They are those of the GPU that the code is for, not of the machine that it is built\n"
        "on.\n\n"
        "    transform CUDA(threadCount=2048)                  1024 threads are the most in a block\n"
        "    transform CUDA(threadCount=512, launchBounds=8)   128 warps on a multiprocessor: too many\n\n"
        "Such a variant could not be built or started, so that none is tried.",
    ),
    Code(
        "ORIO-T144",
        "arguments that exclude each other",
        "Some arguments decide the same thing, so that a recipe gives one of them:\n\n"
        "    domain, nd                    the loops that become dimensions of the grid\n"
        "    launchBounds, maxRegisters    how many registers a thread has; a kernel of CUDA takes only one of\n"
        "                                  the qualifiers `__launch_bounds__` with a number of blocks and\n"
        "                                  `__maxnreg__`",
    ),
)
