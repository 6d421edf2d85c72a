"""What is copied of an array where conditions and inner loops leave some references without an iteration."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_programs import compile_and_run
from c_trees import context, statement

from orio_py.ctree.emit import emit_expression
from orio_py.kernel.backends import BACKENDS
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Refusal
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.offload import offload

DECLARATIONS = (
    "int i, j, k, n, m; long w; unsigned u, v; unsigned long big; double s, *restrict x, *restrict y;"
)
I = "for (i = 0; i < n; i++)"  # noqa: E741 - the loop over `i`
J = "for (j = 0; j < m; j++)"
BIG = "for (big = 0; big < n; big++)"

CASES = (
    # The code, the array, and for values of n, m, w: its first element and how many.
    (f"{I} if (i == 0) y[i] = x[i]; else y[i] = x[i + 5];", "x", {(1, 0, 0): (0, 1), (3, 0, 0): (0, 8)}),
    (
        f"{I} if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i + 1];",
        "x",
        {(1, 0, 0): None, (2, 0, 0): None, (3, 0, 0): (0, 3), (9, 0, 0): (0, 9)},
    ),
    (f"{I} {J} y[i * w + j] = 0;", "y", {(2, 0, 9): None, (2, 3, 9): (0, 12)}),
    (
        f"{I} {J} for (k = 0; k < w; k++) y[(i * m + j) * w + k] = 0;",
        "y",
        {(2, -1, -3): None, (2, 3, 4): (0, 24), (2, -1, 4): None, (2, 3, -4): None},
    ),
    (
        f"{I} for (j = i; j < m; j++) y[i * 8 + j] = 0;",
        "y",
        {(5, 2, 0): (0, 10), (5, 0, 0): None, (2, 5, 0): (0, 13)},
    ),
    (
        f"{I} {J} {{ if (i > 4) s += x[i]; if (j > 4) s += x[j + 20]; }}",
        "x",
        {(6, 1, 0): (5, 1), (1, 6, 0): (25, 1), (1, 1, 0): None, (6, 7, 0): (5, 22)},
    ),
    (
        "for (i = 0; i < n; i += 2) if (i > 0) y[i] = 0;",
        "y",
        {(1, 0, 0): None, (2, 0, 0): None, (6, 0, 0): (2, 3)},
    ),
    (
        "for (i = 11; i >= 0; i -= 3) { if (i < 9) y[i] = x[i + 2]; else y[i] = 1; }",
        "x",
        {(0, 0, 0): (4, 7)},
    ),
    (f"{I} if (i != 0) y[i] = 0;", "y", {(1, 0, 0): None, (3, 0, 0): (1, 2)}),
    (f"{I} if (i != n - 1) y[i] = 0;", "y", {(1, 0, 0): None, (3, 0, 0): (0, 2)}),
    ("for (i = 2; i < 11; i += 4) if (i != 10) y[i] = 0;", "y", {(0, 0, 0): (2, 5)}),
    ("for (i = 2; i < 11; i += 4) if (i != 2) y[i] = 0;", "y", {(0, 0, 0): (6, 5)}),
    (
        "for (i = n - 1; i >= 0; i--) if (i < n - 1) y[i] = x[i + 1];",
        "x",
        {(1, 0, 0): None, (3, 0, 0): (1, 2)},
    ),
    (f"{I} {{ y[i] = 0; for (j = 5; j < 3; j++) y[i + 100] = 1; }}", "y", {(4, 0, 0): (0, 4)}),
    (f"{I} {J} y[i] += x[2 * j + 3];", "x", {(4, 0, 0): None, (4, 3, 0): (3, 5)}),
    ("for (u = 0; u < v; u++) if (u > 2) s += x[u - 3];", "x", {(2, 0, 0): None, (5, 0, 0): (0, 2)}),
    (
        f"{I} if (i != 2) y[i] = 0;",
        "y",
        {(1, 0, 0): (0, 1), (2, 0, 0): (0, 2), (3, 0, 0): (0, 2), (4, 0, 0): (0, 4)},
    ),
    (
        "for (i = 2; i < 5; i++) if (i != n) y[i] = 0;",
        "y",
        {(0, 0, 0): (2, 3), (2, 0, 0): (3, 2), (3, 0, 0): (2, 3), (4, 0, 0): (2, 2), (5, 0, 0): (2, 3)},
    ),
    (
        "for (i = 1; i < 2; i++) if (i != n) y[3 * i] = 0;",
        "y",
        {(0, 0, 0): (3, 1), (1, 0, 0): None, (2, 0, 0): (3, 1)},
    ),
    (
        f"{I} if (i != m && i != 4) y[i] = 0;",
        "y",
        {(5, 3, 0): (0, 3), (5, 0, 0): (1, 3), (1, 0, 0): None, (6, 5, 0): (0, 4), (9, 8, 0): (0, 8)},
    ),
    ("for (u = 0; u < v; u++) if (u < v / 2) y[u] = 0;", "y", {(1, 0, 0): None, (5, 0, 0): (0, 2)}),
    (f"{BIG} if (big < n - 1) y[big] = 0;", "y", {(1, 0, 0): None, (3, 0, 0): (0, 2)}),
    (f"{BIG} if ((long)big < n - 2) y[big] = 0;", "y", {(1, 0, 0): None, (3, 0, 0): (0, 1)}),
    (f"{BIG} {{ y[big] = 0; if (big < n - 2) y[big] = 1; }}", "y", {(1, 0, 0): (0, 1), (3, 0, 0): (0, 3)}),
    (f"{I} {{ s += x[i]; if (3 > 3) s += x[i + 9]; }}", "x", {(4, 0, 0): (0, 4)}),
    (f"{I} if (m > 2) y[i] = 0;", "y", {(4, 2, 0): None, (4, 3, 0): (0, 4)}),
    (f"{I} if (m == 2) y[i] = 0;", "y", {(4, 1, 0): None, (4, 2, 0): (0, 4), (4, 3, 0): None}),
    (f"{I} if (m != 2) y[i] = 0;", "y", {(4, 1, 0): (0, 4), (4, 2, 0): None, (4, 3, 0): (0, 4)}),
    (f"{I} if (m > 2 && i > 1) y[i] = 0;", "y", {(4, 2, 0): None, (4, 3, 0): (2, 2), (1, 3, 0): None}),
    (
        f"{I} {{ y[i] = 0; if (m > 2) y[i + 5] = 0; else y[i + 1] = 0; }}",
        "y",
        {(4, 2, 0): (0, 5), (4, 3, 0): (0, 9)},
    ),
    (f"{I} if (m == 1) y[i] = x[i]; else y[i] = 2 * x[i];", "x", {(4, 1, 0): (0, 4), (4, 0, 0): (0, 4)}),
    (
        f"{I} if (i % 2 || i < 3 && m > 0) {{ if (w > i) s += x[i]; else s -= x[i]; }} else s += 2 * x[i];",
        "x",
        {(4, 0, 1): (0, 4), (9, 1, 0): (0, 9)},
    ),
    (
        f"{I} {{ if (i > 2) s += x[i]; s += i % 2 ? x[i] : 1; }}".replace("i = 0", "i = 3"),
        "x",
        {(4, 0, 0): (3, 1), (9, 1, 0): (3, 6)},
    ),
)

WRAPPING = (
    # Conditions that an `unsigned` makes of a number below 0.
    f"{BIG} if (big < n - 2) y[big] = 0;",
    f"{BIG} if (big >= n - 2) y[big] = 0; else y[n - 1] = 0;",
    f"{BIG} if (big - 1 > 3) y[big] = 0;",
    f"{BIG} if (big < m) y[big] = 0;",
    f"{I} if (i - 3u > 5) y[i] = 0;",
    f"{I} {{ unsigned t = i - 3; if (t > 5) y[i] = 0; }}",
    "for (unsigned e = 0; e < v; e++) if (e + 1 < n - 2) y[e] = 0;",
    "for (size_t e = 0; e < n; e++) if (!(e >= n - 2)) y[e] = 0;",
    "for (u = 0; u < v; u++) if (u * v < 9) y[u] = 0;",
)

UNKNOWN = (
    # Whether an index right at the end that the condition gives is reached depends on `n`.
    "for (i = 9; i > -1; i -= 2) if (i < n) y[i] = x[i];",
    f"{I.replace('i++', 'i += 3')} if (i < m) y[i] = 0;",
    # Which of the first three are odd, and there at all, depends on `n`.
    f"{I} {{ if (i > 2) s += x[i]; s += i % 2 ? x[i] : 1; }}",
)


def test_what_no_iteration_touches_is_not_copied(tmp_path: Path) -> None:
    lines: list[str] = []
    wanted: list[tuple[int, ...]] = []
    for code, name, results in CASES:
        around = context(DECLARATIONS, live="x y s", assumptions=Assumptions(True, True))
        plan = offload(statement(code), around, OffloadArguments("Test", BACKENDS["opencl"], force=True))
        buffer = next(b for b in plan.buffers if b.name == name)
        address, count = emit_expression(buffer.address), emit_expression(buffer.count)
        for (n, m, w), result in results.items():
            lines.append(f"{{ int n = {n}, m = {m}; long w = {w}; unsigned v = n; long count = {count};")
            lines.append(f"  (void)m; (void)n; (void)v; (void)w; double *first = {address};")
            lines.append('  printf("%ld %ld ", count > 0 ? (long)(first - y) : 0, count > 0 ? count : 0); }')
            wanted.append(result or (0, 0))
    program = "\n".join(
        ["#include <stdio.h>", "static double y[1000], *x = y;", "int main(void) {", *lines, "}"]
    )
    found = [int(word) for word in compile_and_run(program, tmp_path).split()]
    pairs = [tuple(found[k : k + 2]) for k in range(0, len(found), 2)]
    told = [(code, name, values) for code, name, results in CASES for values in results]
    assert [(case, pair) for case, pair in zip(told, pairs, strict=True)] == list(
        zip(told, wanted, strict=True)
    )


@pytest.mark.parametrize("code", [*WRAPPING, *UNKNOWN])
def test_conditions_that_do_not_tell_what_is_copied(code: str) -> None:
    around = context(DECLARATIONS, live="x y s", assumptions=Assumptions(True, True))
    with pytest.raises(Refusal) as caught:
        offload(statement(code), around, OffloadArguments("Test", BACKENDS["opencl"], force=True))
    assert caught.value.diagnostics[0].code == "ORIO-T122"
