"""Running values of loops: which there are, what iterations need for them, and elements that are made of the ones before."""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.ctree.emit import emit
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Compound
from orio_py.transformation.parallel.compaction import Compaction, compaction_of, spaced_writes
from orio_py.transformation.parallel.scans import PrefixScan, scan_of
from orio_py.transformation.simpler.running_values import with_running_values

DECLARATIONS = """int i, j, n, t, count, row[99]; unsigned u; double s, r, a[99], b[99], c[9][9], *p, *restrict x, *restrict y;
_Bool flag; unsigned char bytes[99], small;"""
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


def compaction(code: str) -> Compaction | None:
    loop = CanonicalLoop.match(statement(code))
    assert loop is not None
    return compaction_of(loop, AROUND)


@pytest.mark.parametrize(
    ("code", "spaced"),
    [
        (f"{FOR_I} if (a[i] > 0) {{ y[t] = a[i]; t++; }}", "for (i = 0; i < n; i++) if (a[i] > 0) { y[t + i] = a[i]; { } }"),
        (f"{FOR_I} {{ x[t] = i; y[t++] = a[i]; }}", "for (i = 0; i < n; i++) { x[t + i] = i; y[t + i] = a[i]; { } }"),
        ("for (i = n; i > 3; i--) if (a[i] > 0) y[t++] = i;", "for (i = n; i > 3; i--) if (a[i] > 0) { y[t + (n - i)] = i; { } }"),
        (f"{FOR_I} if (a[i] > 0) {{ int at = t++; y[at] = at; }}", "for (i = 0; i < n; i++) if (a[i] > 0) { y[t + i] = t; { } }"),
        (f"{FOR_I} if (a[i] > 0) {{ for (j = 0; j < n; j++) c[t][j] = b[j]; t += 1; }}",
         "for (i = 0; i < n; i++) if (a[i] > 0) { for (j = 0; j < n; j++) c[t + i][j] = b[j]; { } }"),
        (f"{FOR_I} if (a[i] > 0 && t < n) y[t++] = i;", "for (i = 0; i < n; i++) if (a[i] > 0) { if (t < n) { y[t + i] = i; } { } }"),
        (f"{FOR_I} {{ if (t < n) y[t] = i; t++; }}", "for (i = 0; i < n; i++) { if (t < n) y[t + i] = i; { } }"),
    ],
)  # fmt: skip
def test_kept_side_by_side(code: str, spaced: str) -> None:
    found = compaction(code)
    assert found is not None
    assert plain(emit(found.spaced.node)) == spaced


@pytest.mark.parametrize(
    "code",
    [
        f"{FOR_I} if (a[i] > 0) {{ y[t] = a[i]; t += 2; }}",
        f"{FOR_I} if (a[i] > 0) {{ t++; y[t] = a[i]; }}",  # behind the step
        f"{FOR_I} if (a[i] > 0) {{ if (b[i] > 0) y[t] = a[i]; t++; }}",  # leaves elements out
        f"{FOR_I} {{ if (a[i] > 0) y[t] = a[i]; t++; }}",
        f"{FOR_I} {{ y[t] = a[i]; if (a[i] > 0) t++; }}",  # written again
        f"{FOR_I} if (a[i] > 0) {{ y[t] += a[i]; t++; }}",
        f"{FOR_I} if (a[i] > 0) {{ y[t] = y[i]; t++; }}",
        f"{FOR_I} if (a[i] > 0) {{ y[t] = a[i]; if (b[i] > 0) continue; t++; }}",
        f"{FOR_I} {{ y[t] = a[i]; t++; y[t] = b[i]; t++; }}",
        f"{FOR_I} {{ for (j = 0; j < 3; j++) {{ y[t] = a[i]; t++; }} }}",
        f"{FOR_I} {{ for (j = 0; j < i; j++) y[t + j] = a[i]; t++; }}",  # as many as iterations before
        f"{FOR_I} if (a[i] > 0) {{ y[row[t]] = a[i]; t++; }}",
        f"{FOR_I} if (a[i] > 0) {{ y[t + i] = a[i]; t++; }}",
        f"{FOR_I} if (a[i] > 0 && t < u) y[t++] = i;",  # compared as unsigned numbers
        f"{FOR_I} if (a[i] > 0 && t < row[i]) y[t++] = i;",
        f"{FOR_I} if (t < n && a[i] > 0) y[t++] = i;",  # `a` is read below the limit only
        f"{FOR_I} {{ if (a[i] > 0 && t < n) y[t++] = i; b[i] = t; }}",  # the count that stops is used
        f"{FOR_I} if (a[i] > 0) y[bytes[0]++] = i;",
        f"{FOR_I} {{ if (t > 9) b[0] = a[i]; if (a[i] > 0) y[t++] = i; }}",
        f"{FOR_I} {{ j = t; b[j] = a[i]; if (a[i] > 0) y[t++] = i; }}",
        f"{FOR_I} {{ b[i] = a[t]; if (a[i] > 0) y[t++] = i; }}",
        f"{FOR_I} {{ b[i] = t > 3 ? i : n; if (a[i] > 0) y[t++] = i; }}",
        f"{FOR_I} if (a[i] > 0) {{ y[small] = a[i]; small++; }}",  # may begin again from 0
        "for (i = 0; i < n; i += 2) if (a[i] > 0) y[t++] = i;",
    ],
)
def test_not_kept_side_by_side(code: str) -> None:
    assert compaction(code) is None


def test_counters_with_sums_beyond_their_types() -> None:
    plain_, unsigned, limited = (
        compaction(f"{FOR_I} if (a[i] > 0{test}) y[{name}++] = i;")
        for name, test in (("t", ""), ("u", ""), ("t", " && t < n"))
    )
    assert plain_ is not None
    assert unsigned is not None
    assert limited is not None
    assert plain_.has_room(statement("n;")) is None
    for found, test in ((unsigned, "n <= 4294967295L - u;"), (limited, "t >= 0 && n <= 2147483647L - t;")):
        room = found.has_room(statement("n;"))
        assert room is not None
        assert plain(emit(room)) == test


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"{{ t = 0; {FOR_I} if (a[i] > 0) y[t++] = i; *p = t; }}",
         "{ t = 0; for (i = 0; i < n; i++) if (a[i] > 0) { y[t + i] = i; { } } *p = t; }"),
        (f"{{ {FOR_I} if (a[i] > 0) y[t++] = i; {FOR_I} if (b[i] > 0) y[t++] = i; }}", None),
        (f"for (j = 0; j < 3; j++) {FOR_I} if (a[i] > 0) y[t++] = i;", None),
    ],
)  # fmt: skip
def test_what_may_be_written(code: str, expected: str | None) -> None:
    """Where a counter goes on, its first value does not say where."""
    tree = statement(code)
    found = spaced_writes(tree, AROUND)
    if expected is None:
        first = found.block_items[0] if isinstance(found, Compound) else found
        assert found is tree or plain(emit(first)) == plain(
            emit(statement(f"{FOR_I} if (a[i] > 0) y[t++] = i;"))
        )
    else:
        assert f"{{ {plain(emit(found))} }}" == expected
