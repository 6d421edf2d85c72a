"""What the host finds out before kernels of the elements that they use, and when it cannot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from c_trees import parse

import orio_py
from orio_py.transformation.guards.fixed_reads import reads_are_fixed

LOOPS = """void f(int n, const int *{0} idx, const int *{0} row, const double *{0} x, {1}double *{0} y)
{{
  int i, k;
  /*@ begin Loop(transform CUDA(threadCount=32{2})) @*/
  for (i = 0; i < n; i++) {{ {3} }}
  /*@ end @*/
}}
"""


def transformed(
    folder: Path, body: str, *, qualifier: str = "restrict", more: str = "", first: str = ""
) -> str:
    """What becomes of a loop, or the first message."""
    (folder / "a.c").write_text(LOOPS.format(qualifier, first, more, body))
    report = orio_py.transform(folder / "a.c", output=folder / "out.c")
    if report.exit_code:
        found = report.diagnostics[0]
        return "\n".join([found.headline(), *(note.message for note in found.notes)])
    return (folder / "out.c").read_text()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("y[i] = x[(int)y[i]];", "a.c:5:36: error.ORIO-T122..*the loops write `y`, which says so"),
        ("k = idx[i]; switch (k) { case 0: y[i] = x[k]; break; default: y[i] = 0; }", "a `switch` does"),
        ("k = 0; if ((k = idx[i]) > 0) y[i] = x[k];", "sets a variable|is set inside of an expression"),
    ],
)
def test_a_refusal_tells_what_is_in_the_way(tmp_path: Path, body: str, reason: str) -> None:
    found = transformed(tmp_path, body)
    assert re.search(reason, found, re.DOTALL), found


def test_vectors_need_extents(tmp_path: Path) -> None:
    assert "ORIO-T" in transformed(tmp_path, "y[i] = x[idx[i]];", more=", vectorWidth=2").splitlines()[0]


def test_elements_one_after_the_other_are_known_by_their_ends(tmp_path: Path) -> None:
    found = transformed(tmp_path, "y[i] = 0; for (k = row[i]; k < row[i + 1]; k++) y[i] += x[k];")
    before = found.partition("void orio_cuda")[0].partition("/* Which elements")[2]
    assert "row[i_at + 1] - 1" in before
    assert "k_at" not in before


def test_bounds_that_are_no_integers_say_nothing_of_ends(tmp_path: Path) -> None:
    found = transformed(tmp_path, "y[i] = 0; for (k = idx[i]; k < 0.5 * row[i]; k++) y[i] += x[k];")
    assert "k_at < 0.5 * row[i_at]" in found


def test_a_promise_saves_the_loops(tmp_path: Path) -> None:
    text = LOOPS.format("restrict", "", "", "y[i] = x[idx[i]];").replace(
        "const double *restrict x", "const double x[restrict static n]"
    )
    (tmp_path / "a.c").write_text(text)
    assert orio_py.transform(tmp_path / "a.c", output=tmp_path / "out.c").exit_code == 0
    assert "/* Which elements" not in (tmp_path / "out.c").read_text()


def test_one_look_serves_the_test_for_overlaps_and_the_kernel(tmp_path: Path) -> None:
    found = transformed(tmp_path, "y[i] = x[idx[i]];", qualifier="")
    assert found.count("/* Which elements of `x` the loops use. */") == 1
    assert "x + x_from" in found
    assert "&x[x_from]" in found


@pytest.mark.parametrize(
    ("code", "is_fixed"),
    [
        ("for (i = 0; i < n; i++) { k = a[i]; if (k > m) m = k; }", True),
        ("for (i = 0; i < n; i++) { k = a[i]; if (k >= 0 && k < 9) m = k; }", True),
        ("for (i = 0; i < a[0]; i++) m = i;", False),
        ("for (i = 0; i < n; i++) m = a[a[i]];", False),
        ("for (i = 0; i < n; i++) { k = b[i]; m = a[k]; }", True),
        ("for (i = 0; i < n; i++) { k = a[i]; m = b[k]; }", False),
        ("for (i = 0; i < n; i++) { if (a[i] < 0) k = 1; m = b[k]; }", False),
        ("for (i = 0; i < n; i++) { if (a[i] < 0) continue; m = b[i]; }", False),
        ("for (i = 0; i < n; i++) m = a[i] < 0 ? 0 : b[i];", False),
        ("for (i = 0; i < n; i++) m = a[i] > 0 || b[i];", False),
        ("i = 0; while (i < n) { k = a[i]; i++; }", True),
        ("i = 0; while (i < n) { i += a[i]; }", False),
        ("i = 0; do { k = a[i]; i = i + 1; } while (k > 0);", False),
    ],
)
def test_reads_that_do_not_depend_on_an_array(code: str, is_fixed: bool) -> None:
    assert reads_are_fixed(parse(code), frozenset({"a"})) is is_fixed
