"""Diagnostic codes ORIO-T…: scalars and buffers for array elements."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-T060",
        "type of an array not known",
        "A scalar or buffer for elements of an array needs their type, and no declaration of the array is\n"
        "visible in the file around the region.  Declare it there, or name the type:\n\n"
        "    transform ScalarReplace(dtype='double')",
    ),
    Code(
        "ORIO-T061",
        "not a type of numbers",
        "`dtype` is the type of array elements as C writes it, in words:\n\n"
        "    dtype='unsigned long'      right\n"
        "    dtype='double *'           wrong: elements are numbers",
    ),
    Code(
        "ORIO-T062",
        "not a reference to an array",
        "`aref` names an array with its subscripts.  For `ArrCopy` each subscript is the variable of one\n"
        "loop, and `dimsizes` has one size for each:\n\n"
        "    transform ArrCopy(aref='b[k][j]', dimsizes=[32, 64])",
    ),
    Code(
        "ORIO-T063",
        "no such reference in the loops",
        "The array of `aref` is not used in the loops that are to be changed, or not with these subscripts:\n\n"
        "    transform ArrCopy(aref='b[k][j]', dimsizes=[32, 64])\n"
        "    for (k…) for (j…) s += a[k][j];      there is no `b`",
    ),
    Code(
        "ORIO-T064",
        "tile is not a rectangle",
        "A buffer holds a rectangle of elements, so the range of each named loop must stay the same while the\n"
        "others run, and elements reached by several offsets need loops in steps of 1:\n\n"
        "    for (i = ii; i < ii + 32; i++)\n"
        "      for (j = ii; j <= i; j++)            the range of j depends on i",
    ),
    Code(
        "ORIO-T065",
        "tile does not fit the buffer",
        "Each dimension of the buffer needs at least as many elements as its loop has index values, and those\n"
        "that offsets such as `a[i + 1]` add.  A loop over a whole array has no known length; tile it first:\n\n"
        "    for (i = 0; i < n; i++)                                     not known to fit 32 elements\n"
        "    for (i = ii; i < (n - ii < 32 ? n : ii + 32); i++)          fits",
    ),
    Code(
        "ORIO-T066",
        "array used in another way too",
        "While a tile is in a buffer, nothing may read or write its elements in the array: not by another\n"
        "form of subscripts that may mean one of them, and not under another declaration of the name.\n\n"
        "    for (i…) for (j…) a[i][j] += a[j][i];      a[j][i] may be in the tile of a[i][j]",
    ),
    Code(
        "ORIO-T067",
        "buffer too large",
        "The buffer is a local array, which lies on the stack; above 2 MiB it could overflow.  A tile of\n"
        "512 x 512 numbers of type `double` just fits.",
    ),
    Code(
        "ORIO-T068",
        "element only used under a condition",
        "The loops may leave the element alone, and then a copy or a prefetch of it could leave the array:\n\n"
        "    for (i = 0; i < n; i++)\n"
        "      if (i > 0) s += a[i - 1];            a[-1] does not exist",
    ),
    Code(
        "ORIO-T069",
        "address not known in advance",
        "A prefetch needs the address of an element some iterations early: it has to depend on the innermost\n"
        "loop's index, and on nothing else that the loop sets.\n\n"
        "    for (i = 0; i < n; i++) { t = row[i]; s += a[t]; }     write a[row[i]] instead",
    ),
)
