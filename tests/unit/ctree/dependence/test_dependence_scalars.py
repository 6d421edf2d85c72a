"""Scalar flow and reductions."""

from __future__ import annotations

import pytest

from orio_py.core.source import SourceFile
from orio_py.ctree.dependence.scalars import reduction_operator, same_change, scalar_flow
from orio_py.ctree.nodes import Compound
from orio_py.ctree.parse import parse_statements


def tree(text: str) -> Compound:
    source = SourceFile("s.c", text.encode())
    return parse_statements(source.text, source=source, start=0)


@pytest.mark.parametrize(
    ("text", "exposed", "assigned"),
    [
        ("t = 1; A[i] = t;", False, True),
        ("A[i] = t; t = 1;", True, True),
        ("t += 1;", True, True),
        ("if (c) t = 1; A[i] = t;", True, False),
        ("if (c) t = 1; else t = 2; A[i] = t;", False, True),
        ("if (c) t = 1; else A[i] = t;", True, False),
        ("for (j = 0; j < n; j++) t = j; A[i] = t;", True, False),
        ("for (t = 0; t < n; t++) A[t] = 0;", False, True),
        ("while (c) { t = 1; }", False, False),
        ("do { t = 1; } while (c); A[i] = t;", False, True),
        ("do { if (c) break; t = 1; } while (c); A[i] = t;", True, False),
        ("A[i] = *t; t = B;", True, True),
        ("t = B; A[i] = t[i];", False, True),
        ("A[i] = sizeof t; t = 1;", False, True),
        ("switch (c) { case 1: t = 1; break; default: t = 2; } A[i] = t;", True, False),
        ("{ double t = 1; A[i] = t; }", False, False),
        ("{ double t = t0; t = 2; } A[i] = t;", True, False),
        ("c && (t = 1); A[i] = t;", True, False),
        ("A[i] = c ? (t = 1) : (t = 2);", False, True),
        ("if (c) continue; t = 1;", False, False),
        ("for (int t = 0; t < 3; t++) A[t] = 0;", False, False),
        ("s.t = 1; A[i] = s.t;", False, False),
    ],
)
def test_flow(text: str, exposed: bool, assigned: bool) -> None:
    flow = scalar_flow([tree(text)])
    assert ("t" in flow.exposed) == exposed
    assert ("t" in flow.assigned) == assigned


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("s += A[i];", "+"),
        ("s -= A[i];", "+"),
        ("s = s + A[i] + B[i];", "+"),
        ("s = A[i] + s - B[i];", "+"),
        ("s = A[i] - s;", None),
        ("s *= A[i];", "*"),
        ("s = A[i] * s * 2;", "*"),
        ("s = A[i] * s + 2;", None),
        ("s /= A[i];", None),
        ("s++;", "+"),
        ("s += A[i]; s *= 2;", None),
        ("s += A[i]; B[i] = s;", None),
        ("s += s;", None),
        ("if (A[i] > 0) s += A[i];", "+"),
        ("s = 1;", None),
        ("A[i] = 1;", None),
        ("for (j = 0; j < 3; j++, s += A[j]) B[j] = 0;", "+"),
        ("s++, A[i] = 1;", "+"),
        ("switch (i) { case 1: s += A[i]; }", "+"),
        ("A[i] = (s += B[i]);", None),
        ("A[s++] = B[i];", None),
        ("if ((s += A[i]) > 3) B[i] = 1;", None),
        ("A[i] = (s++, 2);", None),
        ("double z = s++; A[i] = z;", None),
        ("while (s++ < 3) A[i] = 1;", None),
        ("s += (s++, 2);", None),
    ],
)
def test_reductions(text: str, operator: str | None) -> None:
    assert reduction_operator(tree(text), "s") == operator


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("s++;", True),
        ("for (j = 0; j < 3; j++, s++) B[j] = 0;", True),
        ("s = 2 * s + t;", True),
        ("s = 2 * s + i;", False),
        ("A[i] = s++;", False),
        ("A[s++] = B[i];", False),
        ("if (s++ % 2) B[i] = 1;", False),
        ("A[i] = (s = 2 * s + t);", False),
    ],
)
def test_one_change_over_and_over(text: str, same: bool) -> None:
    assert same_change(tree(text), "s", {"i", "j", "A", "B"}) == same
