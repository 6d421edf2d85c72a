"""Which loops that keep the place of a smallest or largest value become two, and which stay as they are."""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.ctree.emit import emit
from orio_py.transformation.base import Context
from orio_py.transformation.simpler.extreme_places import with_places_apart

DECLARATIONS = """int i, n, m, at, more, whole, marks[99]; unsigned u; long wide; double best, other, *restrict x; float single, *restrict f;
volatile double hot, ports[99]; short small, shorts[99];"""
FOR = "for (i = 0; i < n; i++)"


def around(*exposed: str) -> Context:
    return context(DECLARATIONS, live="best at single whole more", exposed=frozenset(exposed))


@pytest.mark.parametrize(
    ("code", "second"),
    [
        (f"{FOR} if (x[i] > best) {{ best = x[i]; at = i; }}", "i < best_place ? i : best_place"),
        (f"{FOR} if (best < x[i]) {{ at = i; best = x[i]; }}", "i < best_place ? i : best_place"),
        (f"{FOR} if (x[i] >= best) {{ best = x[i]; at = i; }}", "i > best_place ? i : best_place"),
        (
            "for (i = n; i > 0; i--) if (f[i] < best) { best = f[i]; at = i; }",
            "i > best_place ? i : best_place",
        ),
        (
            f"{FOR} if (-x[i] <= best) {{ best = -x[i]; at = i + m; more = marks[i]; }}",
            "more = marks[best_place];",
        ),
        (
            f"{FOR} if (marks[i] * 3 + m > whole) {{ whole = marks[i] * 3 + m; at = i; }}",
            "marks[i] * 3 + m == whole",
        ),
        (
            f"{FOR} if (shorts[i] > small) {{ small = shorts[i]; at = i; }}",
            "const short small_before = small;",
        ),
    ],
)
def test_loops_that_become_two(code: str, second: str) -> None:
    tree = statement(code)
    text = emit(with_places_apart(tree, around()))
    assert text.count("for (") == 2
    assert second in text
    assert emit(tree).count("for (") == 1


@pytest.mark.parametrize(
    "code",
    [
        f"{FOR} if (x[i] > best) best = x[i];",
        f"{FOR} if (x[i] != best) {{ best = x[i]; at = i; }}",
        f"{FOR} if (x[i] * x[i] > best) {{ best = x[i] * x[i]; at = i; }}",
        f"{FOR} if (fabs(x[i]) > best) {{ best = fabs(x[i]); at = i; }}",
        f"{FOR} if (x[i] > single) {{ single = x[i]; at = i; }}",
        f"{FOR} if (marks[i] > best) {{ best = marks[i]; at = i; }}",
        f"{FOR} if (x[i] > best) {{ best = x[i]; at++; }}",
        f"{FOR} if (x[i] > best) {{ best = x[i]; at = i; marks[i] = 1; }}",
        f"{FOR} if (x[i] > best) {{ best = x[i]; at = i; other = best; }}",
        f"{FOR} if (x[i] > best) {{ best = x[i]; at = i; n = at; }}",
        f"{FOR} if (x[at] > best) {{ best = x[at]; at = i; }}",
        f"{FOR} if (x[m] > best) {{ best = x[m]; at = i; }}",
        f"{FOR} if (x[i] > best) {{ best = x[i]; i = at; }}",
        f"{FOR} if (ports[i] > best) {{ best = ports[i]; at = i; }}",
        f"{FOR} if (x[i] > hot) {{ hot = x[i]; at = i; }}",
        f"{FOR} if (x[i] > best) {{ best = x[i]; at = i; }} else more = i;",
        f"{FOR} {{ if (x[i] > best) {{ best = x[i]; at = i; }} more = i; }}",
        f"{FOR} if (x[i] > best) {{ best = x[i]; at = work(i); }}",
        f"{FOR} if (x[i] > best) {{ best = x[i]; at = i; break; }}",
        f"{FOR} if (x[i] > best) {{ best = other; at = i; }}",
    ],
)
def test_loops_that_stay(code: str) -> None:
    tree = statement(code)
    assert with_places_apart(tree, around()) is tree


@pytest.mark.parametrize("name", ["best", "at"])
def test_what_others_may_change_stays(name: str) -> None:
    tree = statement(f"{FOR} if (x[i] > best) {{ best = x[i]; at = i; }}")
    assert with_places_apart(tree, around(name)) is tree
