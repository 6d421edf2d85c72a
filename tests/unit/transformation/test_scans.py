"""Running values of loops: which there are, what iterations need for them, and elements that are made of the ones before."""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.ctree.emit import emit
from orio_py.ctree.loops import CanonicalLoop
from orio_py.transformation.parallel.scans import PrefixScan, scan_of
from orio_py.transformation.simpler.running_values import with_running_values

DECLARATIONS = """int i, j, n, t, count, row[99]; unsigned u; double s, r, a[99], b[99], c[9][9], *p, *restrict x, *restrict y;
_Bool flag; unsigned char bytes[99];"""
FOR_I = "for (i = 0; i < n; i++)"
AROUND = context(DECLARATIONS, live="a b c x y row s")


def scan(code: str) -> PrefixScan | None:
    loop = CanonicalLoop.match(statement(code))
    assert loop is not None
    found = scan_of(loop, AROUND)
    return None if found is None else found[0]


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("body", "operator", "value"),
    [
        ("{ s += a[i]; b[i] = s; }", "+", "{ s += a[i]; }"),
        ("{ b[i] = s; s -= a[i] * r; }", "+", "{ s -= a[i] * r; }"),
        ("{ a[i] = s; if (row[i] > 2) { b[i] = s; s++; } }", "+", "{ if (row[i] > 2) { s++; } }"),
        ("{ r = a[i]; t = row[i]; r *= 2; s += r; b[i] = s; r = s; x[i] = r; }", "+", "{ r = a[i]; r *= 2; s += r; }"),
        ("{ double v = 0; for (j = 0; j < 3; j++) { v += c[i][j]; b[j] = 1; } s += v; a[i] = s; }", "+",
         "{ double v = 0; for (j = 0; j < 3; j++) { v += c[i][j]; } s += v; }"),
        ("{ double w[2]; w[0] = a[i]; w[1] = i; s += w[0]; a[i] = s; }", "+", "{ double w[2]; w[0] = a[i]; w[1] = i; s += w[0]; }"),
        ("{ t = 0; for (j = 0; j < 9; j++) { if (row[j] > i) break; t++; } b[i] = s; s += t; }", "+",
         "{ t = 0; for (j = 0; j < 9; j++) { if (row[j] > i) { break; } t++; } s += t; }"),
        ("{ if (a[i] > s) s = a[i]; b[i] = s; }", "max", "{ if (a[i] > s) s = a[i]; }"),
        ("{ count ^= row[i]; count ^= i; row[i] = count; }", "^", "{ count ^= row[i]; count ^= i; }"),
    ],
)  # fmt: skip
def test_values(body: str, operator: str, value: str) -> None:
    found = scan(f"{FOR_I} {body}")
    assert found is not None
    assert found.operator == operator
    assert f"{{ {plain(emit(found.value))} }}" == value


@pytest.mark.parametrize(
    "body",
    [
        "s += a[i];",  # nothing uses it: a sum
        "{ s += a[i] * s; b[i] = s; }",
        "{ s = r * s + a[i]; b[i] = s; }",
        "{ s += a[i]; s = 2 * s; b[i] = s; }",
        "{ s += a[i]; s *= b[i]; x[i] = s; }",
        "{ r = s; s += r; b[i] = s; }",
        "{ if (s < 9) s += a[i]; b[i] = s; }",
        "{ a[i] = 2 * a[i]; s += a[i]; b[i] = s; }",  # what it adds is written before
        "{ s += a[i]; count += row[i]; b[i] = s + count; }",
        "{ s += a[i]; r += b[i]; x[i] = s; }",  # a sum, too
        "{ flag = flag || row[i]; a[i] = flag; }",
        "{ count += a[i]; row[i] = count; }",  # cut off by each assignment
        "{ b[i] = (s += a[i]); }",
        "{ if (row[i]) goto done; s += a[i]; done: b[i] = s; }",
    ],
)
def test_no_scan(body: str) -> None:
    assert scan(f"{FOR_I} {body}") is None


def test_the_only_step_takes_a_value() -> None:
    found = scan(f"{FOR_I} {{ b[i] = s; s += a[i]; x[i] = s; }}")
    several = scan(f"{FOR_I} {{ s += a[i]; s += b[i]; x[i] = s; }}")
    assert found is not None
    assert several is not None
    value = statement("v;")
    assert plain(emit(found.behind_step(value))) == "b[i] = s; s = v; x[i] = s;"
    assert several.behind_step(value) is several.body


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for (i = 1; i < n; i++) y[i] = y[i - 1] + x[i];",
         "double y_before = n > 1 ? y[0] : 0; for (i = 1; i < n; i++) { y_before = y_before + x[i]; y[i] = y_before; }"),
        ("for (i = n - 2; i >= 0; i -= 2) { row[i + 1] += row[i + 3]; }",
         "int row_before = n - 2 >= 0 ? row[n + 1] : 0; for (i = n - 2; i >= 0; i -= 2) { row_before = row[i + 1] + row_before; row[i + 1] = row_before; }"),
        ("for (i = 1; i < n; i++) { b[i] = y[i - 1]; c[t][i] = b[i] * c[t][i - 1]; }",
         "double c_before = n > 1 ? c[t][0] : 0; for (i = 1; i < n; i++) { b[i] = y[i - 1]; c_before = b[i] * c_before; c[t][i] = c_before; }"),
    ],
)  # fmt: skip
def test_elements_before(code: str, expected: str) -> None:
    assert plain(emit(with_running_values(statement(code), AROUND))) == expected


@pytest.mark.parametrize(
    "code",
    [
        "for (i = 1; i < n; i++) y[i] = y[i - 2] + x[i];",
        "for (i = 1; i < n; i++) y[i] = y[i + 1] + x[i];",
        "for (i = 1; i < n; i += 2) y[i] = y[i - 1] + x[i];",
        "for (i = 1; i < n; i++) { if (x[i] > 0) y[i] = y[i - 1] + x[i]; }",
        "for (i = 1; i < n; i++) { if (x[i] > 0) continue; y[i] = y[i - 1] + x[i]; }",
        "for (i = 1; i < n; i++) { y[i] = y[i - 1] + x[i]; y[row[i]] = 0; }",
        "for (i = 1; i < n; i++) { p[i] = 0; a[i] = a[i - 1] + x[i]; }",
        "for (i = 1; i < n; i++) { t++; y[i + t] = y[i + t - 1] + x[i]; }",
        "for (i = 1; i < n; i++) { y[i] = y[i - 1] + f(x); }",
        "for (i = 0; i < n; i++) y[i] = i > 0 ? y[i - 1] + x[i] : x[i];",
        "for (i = 0; i < n; i++) row[i] = i && row[i - 1];",
        "for (i = 1; i < n; i++) y[row[i]] = y[row[i - 1]] + x[i];",
        "for (i = 1; i < n; i++) c[i] = c[i - 1] + t;",
    ],
)
def test_no_elements_before(code: str) -> None:
    tree = statement(code)
    assert with_running_values(tree, AROUND) is tree
