"""Which scalars a loop body only accumulates into, with which operator, and which it only steps."""

from __future__ import annotations

import pytest
from c_trees import context, parse

from orio_py.transformation.parallel.reductions import accumulation, induction_step, is_integer

DECLARATIONS = """int i, k, n, e[99], *p, two[9][9]; unsigned u; long wide; short tiny; unsigned char byte; _Bool ok;
double x, s, a[99]; uint16_t word; int64_t exact;"""


AROUND = context(DECLARATIONS)


def summary(text: str, name: str) -> tuple[str, bool, bool, bool] | None:
    found = accumulation(parse(text), name, AROUND)
    return None if found is None else (found.operator, found.exact, found.certain, found.truth)


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("s += a[i];", "+"),
        ("s -= a[i];", "+"),
        ("s *= a[i];", "*"),
        ("s++;", "+"),
        ("--s;", "+"),
        ("s = s + a[i];", "+"),
        ("s = a[i] + s;", "+"),
        ("s = s - a[i];", "+"),
        ("s = x + (a[i] + s);", "+"),
        ("s = s - x + a[i];", "+"),
        ("s = s * a[i];", "*"),
        ("s = a[i] * (x * s);", "*"),
        ("s = a[i] < s ? a[i] : s;", "min"),
        ("s = a[i] <= s ? a[i] : s;", "min"),
        ("s = s > a[i] ? a[i] : s;", "min"),
        ("s = s < a[i] ? s : a[i];", "min"),
        ("s = a[i] > s ? a[i] : s;", "max"),
        ("s = s >= a[i] ? s : a[i];", "max"),
        ("if (a[i] < s) s = a[i];", "min"),
        ("if (s < a[i]) { s = a[i]; }", "max"),
        ("if (a[i] >= s) s = a[i];", "max"),
        ("s = fmin(s, a[i]);", "min"),
        ("s = fmax(a[i], s);", "max"),
        ("s = MIN(a[i], s);", "min"),
        ("s = s > fabs(a[i]) ? s : fabs(a[i]);", "max"),
        ("if (s < fabs(a[i])) s = fabs(a[i]);", "max"),
        ("if (s < next()) s = next();", None),
        # Among other statements.
        ("k++; s += a[i];", "+"),
        ("k = 1; s += a[i];", "+"),
        ("x += 1; s *= a[i];", "*"),
        ("if (a[i] < x) x = a[i]; s += x;", "+"),
        ("if (s < x) x = s;", None),
        ("-s;", None),
        ("s = s < x ? a[i] : s;", None),
        ("s = x < a[i] ? a[i] : s;", None),
        # The variable on the right of a minus, twice, or where its value is used.
        ("s = a[i] - s;", None),
        ("s = x - (a[i] + s);", None),
        ("s = a[i] / s;", None),
        ("s = s / a[i];", None),
        ("s /= a[i];", None),
        ("s = s + s;", None),
        ("s = s + x * s;", None),
        ("s = x * (s + a[i]);", None),
        ("s += s;", None),
        ("a[i] = (s += x);", None),
        ("s += x; a[i] = s;", None),
        ("s += x; s *= a[i];", None),
        ("s = a[i];", None),
        ("s = a[i] == s ? a[i] : s;", None),
        ("s = a[i] < x ? a[i] : s;", None),
        ("s = a[i] < s ? x : s;", None),
        ("s = s < s ? s : s;", None),
        ("s = a[k++] < s ? a[k++] : s;", None),
        ("s = a[k = i] < s ? a[k = i] : s;", None),
        ("s = g(i) < s ? g(i) : s;", None),
        ("if (a[i] < s) s = a[i]; else k = 1;", None),
        ("if (a[i] < s) { s = a[i]; k = 1; }", None),
        ("if (a[i] < s) s += a[i];", None),
        ("s = fmin(s, s);", None),
        ("s = fmin(x, a[i]);", None),
        ("s = pow(s, a[i]);", None),
        ("double s = 0; s += a[i];", None),
        ("x = a[i];", None),
        ("s &= i;", None),
        ("s = a[i] && s;", None),
    ],
)
def test_floating_point_accumulations(text: str, operator: str | None) -> None:
    expected = None if operator is None else (operator, False, True, False)
    assert summary(text, "s") == expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("k += e[i];", "k", ("+", True, True, False)),
        ("if (e[i]) k += 2;", "k", ("+", True, False, False)),
        ("if (e[i]) k += 2; k++;", "k", ("+", True, True, False)),
        ("k = k - e[i];", "k", ("+", True, True, False)),
        ("k &= e[i];", "k", ("&", True, True, False)),
        ("k |= e[i];", "k", ("|", True, True, False)),
        ("k ^= e[i];", "k", ("^", True, True, False)),
        ("k = k | e[i];", "k", ("|", True, True, False)),
        ("k = e[i] & k;", "k", ("&", True, True, False)),
        ("k = k ^ e[i];", "k", ("^", True, True, False)),
        ("k = k & e[i] | n;", "k", None),
        ("k = e[i] && k;", "k", ("&&", True, True, True)),
        ("k = e[i] || k;", "k", ("||", True, True, True)),
        ("k = k && e[i];", "k", None),
        ("ok = e[i] && ok;", "ok", ("&&", True, True, False)),
        ("ok = x < a[i] || ok;", "ok", ("||", True, True, False)),
        ("ok &= e[i] > 2;", "ok", ("&", True, True, False)),
        ("ok |= e[i] > 2;", "ok", ("|", True, True, False)),
        ("ok += e[i];", "ok", None),
        ("ok ^= e[i];", "ok", None),
        ("ok &= a[i];", "ok", None),
        ("k += a[i];", "k", None),
        ("k *= x;", "k", None),
        ("k = k + a[i];", "k", None),
        ("k = e[i] < k ? e[i] : k;", "k", ("min", True, True, False)),
        ("k = max(k, e[i]);", "k", ("max", True, True, False)),
        ("k = max(k, a[i]);", "k", None),
        ("k = max(a[i], k);", "k", None),
        ("k = u < k ? u : k;", "k", None),
        ("k = wide < k ? wide : k;", "k", None),
        ("wide = e[i] < wide ? e[i] : wide;", "wide", ("min", True, True, False)),
        ("tiny = tiny > e[i] ? tiny : e[i];", "tiny", None),
        ("word = word > u ? word : u;", "word", None),
        ("unseen += a[i];", "unseen", ("+", False, True, False)),
        ("unseen &= e[i];", "unseen", ("&", False, True, False)),
        ("p += 2;", "p", None),
        ("e[0] += 2;", "e", None),
    ],
)
def test_accumulations_of_integers(
    text: str, name: str, expected: tuple[str, bool, bool, bool] | None
) -> None:
    assert summary(text, name) == expected


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("k++;", 1),
        ("++k;", 1),
        ("k--;", -1),
        ("--k;", -1),
        ("k += 3;", 3),
        ("k -= 3;", -3),
        ("k = k + 3;", 3),
        ("k = k - 3;", -3),
        ("k += 1;", 1),
        ("k++; a[i] = -k;", 1),
        ("&k;", None),
        ("k += 0;", None),
        ("k += 03;", None),
        ("k += 3L;", None),
        ("k += n;", None),
        ("k *= 3;", None),
        ("k = 3 + k;", None),
        ("k = n + 3;", None),
        ("k = k + n;", None),
        ("k = k * 3;", None),
        ("k = 3;", None),
        ("k++; k++;", None),
        ("k++; p = &k;", None),
        ("if (e[i]) k++;", None),
        ("a[k++] = 1;", None),
        ("n++;", None),
        ("int k = 0; k++;", None),
    ],
)
def test_step_of_a_variable(text: str, step: int | None) -> None:
    assert induction_step(parse(text), "k", AROUND) == step


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("wide", 1),
        ("u", 1),
        ("exact", 1),
        *((name, None) for name in ("tiny", "byte", "word", "ok", "s", "p", "unseen")),
    ],
)
def test_variables_that_can_be_linear(name: str, step: int | None) -> None:
    assert induction_step(parse(f"{name}++;"), name, AROUND) == step


@pytest.mark.parametrize(
    ("text", "integer"),
    [
        ("3", True),
        ("3UL", True),
        ("'c'", True),
        ("3.0", False),
        ("3.0f", False),
        ("k", True),
        ("s", False),
        ("p", False),
        ("p[0]", True),
        ("e[i]", True),
        ("e", False),
        ("two[i]", False),
        ("two[i][k]", True),
        ("a[i]", False),
        ("unseen", False),
        ("!s", True),
        ("~k", True),
        ("sizeof(double)", True),
        ("-k", True),
        ("+s", False),
        ("s < x", True),
        ("s && x", True),
        ("k % n", True),
        ("k << 2", True),
        ("k + n", True),
        ("k + s", False),
        ("s * k", False),
        ("i ? k : n", True),
        ("i ? k : s", False),
        ("i ? s : k", False),
        ("(long)s", True),
        ("(float)k", False),
        ("abs(k)", True),
        ("labs(k)", True),
        ("fabs(k)", False),
        ("k++", False),
    ],
)
def test_evident_integers(text: str, integer: bool) -> None:
    (statement,) = parse(f"return {text};").block_items or []
    assert is_integer(statement.expr, AROUND) == integer  # type: ignore[attr-defined]


def test_no_clause_names_an_atomic_variable() -> None:
    """Compilers refuse `_Atomic` variables in `reduction` clauses."""
    inside = context("_Atomic int total; int plain, e[99];")
    assert accumulation(parse("total += e[i];"), "total", inside) is None
    assert accumulation(parse("plain += e[i];"), "plain", inside) is not None
