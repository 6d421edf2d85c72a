"""Refusals of Contract, each with its code and the place that it names (marked by `@` in the code)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from c_trees import context, statement

from orio_py.core.diagnostics import Diagnostic
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.parse import position
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.contraction.contract import Contract

DECLARATIONS = """int i, j, k, l, n; double s, x[99], y[99], c[9][9], a[9][9], b[9][9], *p; double *restrict q, *restrict r;
struct t { double v; } o; double f(int); float z[9]; extern double big[300000];"""
FOR_I = "for (i = 0; i < 6; i++)"
FOR_J = "for (j = 0; j < 6; j++)"
FOR_K = "for (k = 0; k < 5; k++)"
PRODUCT = f"{FOR_I} {FOR_J} {FOR_K} c[i][j] += a[i][k] * b[k][j];"

CASES: tuple[tuple[Contract, str, str], ...] = (
    (Contract(), "ORIO-T020", "@c[0][0] += a[0][0];"),
    (Contract(), "ORIO-T021", "@for (i = 0; i != 6; i++) x[i] += y[i];"),
    (Contract(), "ORIO-T022", "@for (s = 0; s < 6; s++) x[0] += y[1] * s;"),
    (Contract(), "ORIO-T150", f"@{FOR_I} {{ c[i][0] += a[i][0]; c[i][1] += a[i][0]; }}"),
    (Contract(), "ORIO-T150", f"{FOR_I} {FOR_J} @s += a[i][j];"),
    (Contract(), "ORIO-T150", f"{FOR_I} {FOR_J} @c[i][j] *= a[i][j];"),
    (Contract(), "ORIO-T150", f"{FOR_I} {FOR_J} {FOR_K} @c[i][j] = a[i][k] * b[k][j];"),
    (Contract(), "ORIO-T150", f"{FOR_I} @x[i] += f(i);"),
    (Contract(), "ORIO-T150", f"{FOR_I} @x[i] += o.v;"),
    (Contract(), "ORIO-T150", f"{FOR_I} @x[i] += y[n++];"),
    (Contract(), "ORIO-T150", f"{FOR_I} @x[i] += x[i + 1];"),
    (Contract(), "ORIO-T150", f"@{FOR_I} {{ x[0] = 0; {FOR_J} x[0] += c[i][j]; }}"),
    (Contract(parallel=True), "ORIO-T150", f"@{FOR_I} x[0] += y[i];"),
    (Contract(), "ORIO-T151", "@for (i = 0; i < n; i++) x[i] += y[i];"),
    (Contract(), "ORIO-T151", "@for (i = 0; i < 6; i += 2) x[i] += y[i];"),
    (Contract(), "ORIO-T151", f"{FOR_I} @for (j = i; j < 6; j++) c[i][j] += a[i][j];"),
    (Contract(), "ORIO-T040", f"{FOR_I} {FOR_J} @x[i + j] += a[i][j];"),
    (Contract(), "ORIO-T041", f"{FOR_I} @p[i] += x[i];"),
    (Contract(), "ORIO-T041", f"{FOR_I} @p[0] += r[i];"),
    (Contract(), "ORIO-T060", f"{FOR_I} @undeclared[i] += x[i];"),
    (Contract(order=("k",)), "ORIO-T015", f"@{PRODUCT}"),
    (Contract(order=("l",)), "ORIO-T015", f"@{PRODUCT}"),
    (Contract(order=("i", "i")), "ORIO-T016", f"@{PRODUCT}"),
    (Contract(rows=("k", 2)), "ORIO-T015", f"@{PRODUCT}"),
    (Contract(columns=("k", 2)), "ORIO-T015", f"@{PRODUCT}"),
    (Contract(prefetch=("k", 2)), "ORIO-T015", f"@{PRODUCT}"),
    (Contract(rows=("i", 2), columns=("i", 2)), "ORIO-T016", f"@{PRODUCT}"),
    (Contract(rows=("i", 0)), "ORIO-T011", f"@{PRODUCT}"),
    (Contract(rows=("i", 64), columns=("j", 64)), "ORIO-T011", f"@{PRODUCT}"),
    (Contract(flatten=(("i", "k"),)), "ORIO-T015", f"@{PRODUCT}"),
    (Contract(flatten=(("i", "i"),)), "ORIO-T016", f"@{PRODUCT}"),
    (Contract(flatten=(("j", "i"),)), "ORIO-T152", f"{FOR_I} {FOR_J} @c[i][j] += a[i][j];"),
    (Contract(flatten=(("i", "j"),)), "ORIO-T152", f"{FOR_I} {FOR_J} @x[i + 7 * j] += y[i + 6 * j];"),
    (Contract(flatten=(("i", "j"),)), "ORIO-T152", f"{FOR_I} {FOR_J} x[i + 6 * j] += @y[j + 6 * i];"),
    (Contract(flatten=(("i", "j"),)), "ORIO-T152", f"{FOR_I} {FOR_J} x[i + 6 * j] += @y[i];"),
    (Contract(flatten=(("i", "j"),)), "ORIO-T152", f"@{FOR_I} {FOR_J} x[i + 6 * j] += y[i + 6 * j] * i;"),
    (Contract(flatten=(("i", "j"),)), "ORIO-T152", f"@for (i = 1; i < 6; i++) {FOR_J} x[i + 5 * j] += y[i + 5 * j];"),
    (Contract(pack=("c",)), "ORIO-T153", f"@{PRODUCT}"),
    (Contract(pack=("x",)), "ORIO-T153", f"@{FOR_I} y[i] += x[i] * x[i + 1];"),
    (Contract(pack=("big",)), "ORIO-T153", "@for (i = 0; i < 300000; i++) x[0] += big[i];"),
    (Contract(pack=("unknown",)), "ORIO-T060", f"@{FOR_I} y[i] += unknown[i];"),
)  # fmt: skip


def around(live: str = "a b c x y") -> Context:
    return context(DECLARATIONS, live=live)


def refusal_of(transformation: Contract, code: str, live: str = "a b c x y") -> Diagnostic:
    node = statement(code)
    before = structure_digest(node)
    with pytest.raises(Refusal) as caught:
        transformation.apply(node, around(live))
    assert structure_digest(node) == before
    (found,) = caught.value.diagnostics
    return found


@pytest.mark.parametrize(("transformation", "code", "text"), CASES)
def test_what_is_no_contraction_is_refused_at_its_place(
    transformation: Contract, code: str, text: str
) -> None:
    found = refusal_of(transformation, text.replace("@", " "))
    assert (found.code, found.position and found.position.column) == (code, text.index("@") + 2)


def test_an_index_that_is_read_afterwards() -> None:
    assert refusal_of(Contract(), PRODUCT, "c i").code == "ORIO-T029"


def test_force_trusts_that_memory_is_apart() -> None:
    inner = around()
    Contract(force=True).apply(statement(f"{FOR_I} p[i] += x[i];"), inner)
    assert inner.overruled.texts


def test_the_tile_has_its_place_in_the_loops() -> None:
    made = Contract(order=("j",), rows=("i", 2), columns=("j", 3)).apply(statement(PRODUCT), around())
    assert position(made) is not None
    lines = emit(made).split("\n")
    assert lines[0] == "for (j = 0; j < 6; j += 3) {"
    assert lines[1].strip() == "for (i = 0; i < 6; i += 2) {"
    assert lines[2].strip() == "double sum0[3];"


@pytest.mark.parametrize(
    "values",
    [
        {"rows": "i"},
        {"rows": ("i",)},
        {"columns": ("i", "j")},
        {"flatten": ["i", "j"]},
        {"order": 3},
        {"parallel": "yes"},
        {"unroll": "2"},
        {"sums": "vectors"},
    ],
)
def test_arguments_of_the_wrong_type(values: dict[str, object]) -> None:
    with pytest.raises(Refusal) as caught:
        TRANSFORMATIONS["Contract"].make(values)  # type: ignore[arg-type]
    assert [d.code for d in caught.value.diagnostics] == ["ORIO-T010"]


@pytest.mark.parametrize(("bound", "code"), [("n", "ORIO-T151"), ("9", "")])
def test_a_loop_around_the_nest_needs_a_known_end(bound: str, code: str) -> None:
    loop = CanonicalLoop.match(statement(f"for (n = 0; n < {bound if bound != 'n' else 'm'}; n++) x[n] = 0;"))
    assert loop is not None
    inner = replace(around(), surrounding=(loop,))
    if not code:
        assert (
            emit(Contract(prefetch=("n", 1)).apply(statement(PRODUCT), inner)).count("__builtin_prefetch")
            == 1
        )
        return
    with pytest.raises(Refusal) as caught:
        Contract(prefetch=("n", 1)).apply(statement(PRODUCT), inner)
    assert [problem.code for problem in caught.value.diagnostics] == [code]
