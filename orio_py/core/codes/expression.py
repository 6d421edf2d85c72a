"""Diagnostic codes ORIO-E…: parameter, constraint and argument expressions."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-E001",
        "not an expression",
        "The text is not a complete expression.  Expressions are written as in Python: numbers, strings in\n"
        "single or double quotes, `[lists]`, `(tuples,)`, `range(1, 9)`, `[2**i for i in range(5)]`,\n"
        "arithmetic, comparisons, `and`, `or`, `not`, and `a if condition else b`.\n",
    ),
    Code(
        "ORIO-E002",
        "unknown name",
        "The name is no parameter, no earlier `let` and no variable of the surrounding comprehension.\n",
    ),
    Code(
        "ORIO-E003",
        "unknown function",
        "These functions can be called: abs bool float int len list max min range str sum tuple.\n",
    ),
    Code(
        "ORIO-E004",
        "wrong type of operand",
        "The operator or function does not take a value of this type, such as `'a' - 1` or `len(3)`.\n",
    ),
    Code(
        "ORIO-E005",
        "division by zero",
        "The right side of `/`, `//` or `%`, or the step of a `range`, is zero.\n"
        "A condition can guard it: `T == 0 or N % T == 0`.\n",
    ),
    Code(
        "ORIO-E006",
        "too large",
        "Expressions are limited in size: lists and strings to a million elements, integers to about 3900\n"
        "digits, and the work of one evaluation to about a million steps.\n",
    ),
    Code(
        "ORIO-E007",
        "nested too deep",
        "Brackets and operators can be nested about a hundred deep.\n",
    ),
    Code(
        "ORIO-E008",
        "subscript out of range",
        "A subscript counts from 0, or from -1 backwards, and must lie inside the list.\n",
    ),
    Code(
        "ORIO-E009",
        "wrong number of arguments",
        "The function takes another number of arguments, for example `range` one to three.\n",
    ),
    Code(
        "ORIO-E010",
        "not part of the expression language",
        "The expression language resembles Python but is not Python: it has no attributes and methods, no\n"
        "dictionaries, slices, lambda or imports, and cannot reach anything outside the expression.\n",
    ),
)
