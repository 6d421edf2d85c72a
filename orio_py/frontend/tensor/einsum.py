"""Reads einsum strings: `ij,jk->ik`, with a size for each index.

The notation is that of `numpy.einsum`: without an arrow the output has the indices that stand once, in the order of
the alphabet, and an index that stands twice in an operand means the diagonal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position, SourceFile
from orio_py.frontend.tensor.rules import MOST_ELEMENTS, statement_problems, word_problems
from orio_py.tensors.contraction import Contraction, Tensor, TensorLayout, TensorProgram, TensorReference

_FORM = re.compile(r"[A-Za-z,\s]*(->[A-Za-z\s]*)?")
_ODD = re.compile(r"[^A-Za-z,\s]")


def read_einsum(
    text: str,
    sizes: Mapping[str, int],
    *,
    operator: str = "=",
    layout: str = "row",
    type: str = "double",
) -> TensorProgram:
    """The program of an einsum string: a function `einsum` of `out` and `in0`, `in1`, ….

    `layout` and `type` have the words of the options `memory` and `type` of programs.

    Raises DiagnosticError: ORIO-N001, N002, N004, N009, N010, N012, N013.
    """
    problems = [
        problem
        for name, word in (("memory", layout), ("type", type))
        for problem in word_problems(name, word)
    ]
    if problems:
        raise DiagnosticError(*problems)
    source = SourceFile("einsum", text.encode("utf-8"))
    if _FORM.fullmatch(text) is None:
        odd = _ODD.search(re.sub("->", "  ", text, count=1))
        at = odd.start() if odd is not None else 0
        message = f"unexpected `{text[at : at + 1]}` in an einsum string"
        fail("ORIO-N001", message, _place(source, at), help="the form is `ij,jk->ik`: an index is a letter")
    left, arrow, right = text.partition("->")
    places = [
        [(c, at) for at, c in enumerate(left) if c.isalpha() and left[:at].count(",") == number]
        for number in range(left.count(",") + 1)
    ]
    letters = [c for part in places for c, _ in part]
    once = [(c, 0) for c in sorted(set(letters)) if letters.count(c) == 1]
    target = [(c, len(left) + 2 + at) for at, c in enumerate(right) if c.isalpha()] if arrow else once
    used = dict.fromkeys([*letters, *(c for c, _ in target)])
    _check_sizes(source, {c: at for part in (*places, target) for c, at in part}, sizes)
    stored = TensorLayout(layout)
    tensors = [
        Tensor(f"in{number}", tuple(sizes[c] for c, _ in part), stored) for number, part in enumerate(places)
    ]
    output = Tensor("out", tuple(sizes[c] for c, _ in target), stored)
    operands = [
        TensorReference(t, tuple(c for c, _ in part)) for t, part in zip(tensors, places, strict=True)
    ]
    result = TensorReference(output, tuple(c for c, _ in target))
    statement = Contraction(result, operator, tuple(operands), position=_place(source, 0))
    where = [[_place(source, 0), *(_place(source, at) for _, at in part)] for part in (target, *places)]
    problems = list(statement_problems(statement, where, diagonals=True))
    problems += [
        Diagnostic(
            "ORIO-N012", f"`{t.name}` has {t.size} elements, more than an `int` counts", _place(source, 0)
        )
        for t in (*tensors, output)
        if t.size > MOST_ELEMENTS
    ]
    if problems:
        raise DiagnosticError(*problems)
    assert used.keys() <= sizes.keys()
    return TensorProgram("einsum", (output, *tensors), (statement,), type=type)


def _check_sizes(source: SourceFile, used: Mapping[str, int], sizes: Mapping[str, int]) -> None:
    """Raises DiagnosticError: ORIO-N004, N013."""
    problems = [
        Diagnostic(
            "ORIO-N004", f"the size of the index `{c}` is not given", _place(source, at), help=f"add `{c}=N`"
        )
        for c, at in used.items()
        if c not in sizes
    ]
    problems += [
        Diagnostic("ORIO-N004", f"the size of the index `{c}` is {size}; it must be at least 1")
        for c, size in sizes.items()
        if size < 1
    ]
    problems += [
        Diagnostic("ORIO-N013", f"there is no index `{c}` to give a size", help=did_you_mean(c, used))
        for c in sizes
        if c not in used
    ]
    if problems:
        raise DiagnosticError(*problems)


def _place(source: SourceFile, at: int) -> Position:
    return source.position(at)
