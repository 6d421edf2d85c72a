"""What UnrollJam, RegTile, UnrollReduction and Peel refuse, with the place that they name (`@` in the code)."""

from __future__ import annotations

import gc
import time
from dataclasses import replace

import pytest
from c_trees import context, parse, statement

from orio_py.core.expr import Value
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import Node
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Refusal, Transformation
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.unrolling.peel import Peel
from orio_py.transformation.unrolling.reg_tile import RegTile
from orio_py.transformation.unrolling.unroll import Unroll
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam as UnrollJam
from orio_py.transformation.unrolling.unroll_reduction import UnrollReduction
from orio_py.transformation.unrolling.unroll_rewrite import MAXIMUM_STATEMENTS

DECLARATIONS = """int i, j, k, n, m, t, total, *row; unsigned u, w; long wide; double x, s, *a, *b, y[9], c[9][9], d[9][9];
volatile int v;"""
FOR_I = "for (i = 0; i < n; i++)"
FOR_J = "for (j = 0; j < m; j++)"
TILE = RegTile(("i", "j"), (2, 2))
TILE_I = RegTile(("i",), (2,))
UNKNOWN_ORDER = UnrollReduction(2, force=True)

CASES: tuple[tuple[Transformation, str, str], ...] = (
    (UnrollJam(0), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (UnrollJam(2), "ORIO-T020", "@while (n--) t++;"),
    (UnrollJam(2), "ORIO-T021", f"{FOR_I} @for (j = 0; j != n; j++) c[i][j] = 0;"),
    (UnrollJam(2), "ORIO-T041", f"{FOR_I} {FOR_J} for (k = 0; k < 9 && x > k; k++) a[j + 1] += @a[j + 2];"),
    (UnrollJam(2), "ORIO-T023", f"{FOR_I} {{\n#pragma GCC ivdep\n{FOR_J} c[i][j] = 0; }}"),
    (UnrollJam(2), "ORIO-T024", f"{FOR_I} {FOR_J} {{ c[i][j] = 0; @j++; }}"),
    (UnrollJam(2), "ORIO-T026", f"{FOR_I} {{ int @z = i; for (j = 0; j < z; j++) c[i][j] = z; }}"),
    (UnrollJam(2), "ORIO-T027", f"{FOR_I} {{ for (j = 0; j < @t; j++) c[i][j] = 0; t = i; }}"),
    (UnrollJam(2), "ORIO-T027", f"{FOR_I} for (j = 0; j < @v; j++) c[i][j] = 0;"),
    (UnrollJam(2), "ORIO-T040", f"{FOR_I} {FOR_J} @c[i + 1][j] = c[i][j + 1];"),
    (UnrollJam(2), "ORIO-T041", f"{FOR_I} {FOR_J} @a[i * j] = a[i + j];"),
    (UnrollJam(2, parallelize=True), "ORIO-T040", f"{FOR_I} a[i] = @a[i + 1];"),
    (TILE, "ORIO-T015", f"@{FOR_I} a[i] = 0;"),
    (RegTile(("i", "i"), (2, 2)), "ORIO-T016", f"@{FOR_I} a[i] = 0;"),
    (RegTile(("i",), (2, 2)), "ORIO-T010", f"@{FOR_I} a[i] = 0;"),
    (RegTile(("i",), (0,)), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (TILE, "ORIO-T040", f"{FOR_I} {FOR_J} @c[i + 1][j] = c[i][j + 1];"),
    (TILE, "ORIO-T040", f"{FOR_I} for (j = i; j < m; j++) @c[i + 1][j] = c[i][j + 1];"),
    (TILE_I, "ORIO-T040", f"{FOR_I} for (j = 9 - i; j < m; j++) @a[i + j] = a[i + j] * 0.5 + i;"),
    (TILE_I, "ORIO-T051", f"{FOR_I} @for (j = row[i]; j < row[i + 1]; j++) a[j] += b[i];"),
    (TILE_I, "ORIO-T051", f"{FOR_I} @for (j = i; j < n; j += 2) c[i][j] = 0;"),
    (TILE_I, "ORIO-T051", f"{FOR_I} @for (j = 0; j < i * n; j++) c[i][j] = 0;"),
    (TILE_I, "ORIO-T051", f"{FOR_I} @for (j = (i < n - i ? n - i : i); j < n; j++) c[i][j] = 0;"),
    (TILE_I, "ORIO-T051", f"{FOR_I} @for (j = 0; j < i + wide; j++) c[i][j] = 0;"),
    (
        RegTile(("u",), (2,)),
        "ORIO-T051",
        "for (u = 0; u < w; u++) @for (unsigned z = u - 1; z < w; z++) c[u][z] = 0;",
    ),
    (TILE_I, "ORIO-T025", f"{FOR_I} {{ int i = 1; if (a[i] > 0) @break; }}"),
    (UnrollReduction(0), "ORIO-T011", f"@{FOR_I} s += a[i];"),
    (UnrollReduction(2), "ORIO-T053", f"{FOR_I} @a[i] = 0;"),
    (UnrollReduction(2), "ORIO-T053", f"{FOR_I} @{{ s += a[i]; b[i] = s; }}"),
    (UnrollReduction(2), "ORIO-T053", f"{FOR_I} @{{ s += a[i]; s *= b[i]; }}"),
    (UnrollReduction(2), "ORIO-T053", f"{FOR_I} @v += i;"),
    (UnrollReduction(2), "ORIO-T053", f"{FOR_I} @y[i] = (s += a[i]);"),
    (UnrollReduction(2), "ORIO-T053", f"{FOR_I} @{{ t = t > i ? t : i; t = t < n ? t : n; }}"),
    (UnrollReduction(2), "ORIO-T054", f"{FOR_I} @s += a[i];"),
    (UnrollReduction(2), "ORIO-T054", f"{FOR_I} {{ total += i; @s -= a[i] * b[i]; }}"),
    (UnrollReduction(2), "ORIO-T054", f"{FOR_I} @total += a[i];"),
    (UnrollReduction(2), "ORIO-T054", f"{FOR_I} @total += 2.5;"),
    (UnrollReduction(2), "ORIO-T054", f"{FOR_I} @total += wide;"),
    (UnrollReduction(2), "ORIO-T054", f"{FOR_I} @s = s > a[i] ? s : a[i];"),
    (UnrollReduction(2), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) @break; s += a[i]; }}"),
    (Peel(-1), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (Peel(0, -1), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (Peel(1), "ORIO-T020", "@t = 1;"),
    (Peel(1), "ORIO-T026", f"{FOR_I} {{ static int @count; count++; }}"),
    (Peel(1), "ORIO-T027", "for (i = @t; i < n; i++) { a[i] = 0; t = i; }"),
    (Peel(1), "ORIO-T052", "@for (i = t; i < w; i++) a[i] = 0;"),
)
SIZE_CASES: tuple[tuple[Transformation, str], ...] = (
    (Unroll(10**9), f"@{FOR_I} a[i] = 0;"),
    (Unroll(MAXIMUM_STATEMENTS // 2 + 1), f"@{FOR_I} {{ a[i] = 0; b[i] = 0; }}"),
    (UnrollJam(10**9), f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (RegTile(("i", "j", "k"), (64, 64, 64)), f"@{FOR_I} {FOR_J} for (k = 0; k < n; k++) c[i][j] += d[i][k];"),
    (RegTile(("i",), (10**9,)), f"@{FOR_I} for (j = i; j < n; j++) c[i][j] = 0;"),
    (UnrollReduction(10**9), f"@{FOR_I} total += i;"),
    (Peel(10**9), f"@{FOR_I} a[i] = 0;"),
    (Peel(0, 10**9), f"@{FOR_I} a[i] = 0;"),
)


def refused(transformation: Transformation, text: str, around: Context) -> tuple[str, int, int, str]:
    """Code, line and column of a refusal, and its message; the tree has to stay as it was."""
    node = statement(text.replace("@", ""))
    before = structure_digest(node)
    with pytest.raises(Refusal) as caught:
        transformation.apply(node, around)
    assert structure_digest(node) == before
    (problem,) = caught.value.diagnostics
    assert problem.position is not None
    return problem.code, problem.position.line, problem.position.column, problem.message


@pytest.mark.parametrize(("transformation", "code", "text"), CASES)
def test_refusal(transformation: Transformation, code: str, text: str) -> None:
    around = context(DECLARATIONS, live="a b y c d s x total t")
    found, line, column, message = refused(transformation, text, around)
    assert found == code, message
    expected = (1, text.index("@") + 1) if "@" in text else (3, 1)
    assert (line, column) == expected, message


@pytest.mark.parametrize(("transformation", "text"), SIZE_CASES)
def test_too_many_statements(transformation: Transformation, text: str) -> None:
    started = time.process_time()
    code, line, column, message = refused(transformation, text, context(DECLARATIONS, live="a b c total"))
    assert time.process_time() - started < 1
    assert (code, line, column) == ("ORIO-T050", 1, text.index("@") + 1)
    assert str(MAXIMUM_STATEMENTS) in message
    assert int(message.split("would make ")[1].split()[0]) > MAXIMUM_STATEMENTS


def test_statements_up_to_the_limit_are_made() -> None:
    result = Unroll(1000).apply(statement(f"{FOR_I} a[i] = 0;"), context(DECLARATIONS, live="a"))
    assert emit(result).count("a[i + 999]") == 1


def test_copies_cost_time_in_proportion_to_their_number() -> None:
    body = "".join(f"a[i] += b[2 * i + {number}] * c[i][j];" for number in range(10))

    def seconds(factor: int) -> float:
        node, around = statement(f"{FOR_I} {{ {body} }}"), context(DECLARATIONS, live="a")
        gc.disable()  # It would look through all that other tests have left.
        try:
            started = time.process_time()
            Unroll(factor).apply(node, around)
            return time.process_time() - started
        finally:
            gc.enable()

    few = min(seconds(60) for _ in range(3))
    assert min(seconds(960) for _ in range(3)) < 16 * few * 6  # quadratic time would be 256 times as long


IDENTITIES: tuple[Transformation, ...] = (
    UnrollJam(1),
    RegTile(("i",), (1,)),
    UnrollReduction(1),
    Peel(),
    RegTile(("z",), (4,), optional=True),
)


@pytest.mark.parametrize("transformation", IDENTITIES)
def test_nothing_to_do_gives_the_same_object(transformation: Transformation) -> None:
    node = statement(f"{FOR_I} s += a[i];")
    assert transformation.apply(node, context(DECLARATIONS, live="s")) is node


@pytest.mark.parametrize(
    "text",
    [
        f"{FOR_I} for (j = row[i]; j < row[i + 1]; j++) a[j] += b[i];",
        f"{FOR_I} for (j = i; j < m; j++) c[i + 1][j] = c[i][j + 1];",
        f"{FOR_I} for (j = i; j < n; j += 2) c[i][j] = 0;",
    ],
)
def test_unroll_and_jam_runs_copies_in_turn_where_they_cannot_meet(text: str) -> None:
    node, around = statement(text), context(DECLARATIONS, live="a c")
    assert emit(UnrollJam(2).apply(node, around)) == emit(Unroll(2).apply(node, around))


@pytest.mark.parametrize(
    "text",
    [
        f"{FOR_I} for (j = i; j < m; j++) a[j] = a[j] * 0.5 + i;",
        f"{FOR_I} for (j = i; j < m; j++) a[j - i] = a[j - i] * 0.5 + i;",
        f"{FOR_I} for (j = 0; j <= i; j++) a[j] = a[j] * 0.5 + i;",
    ],
)
def test_dependences_are_compared_at_equal_values_of_the_inner_index(text: str) -> None:
    node = statement(text)
    assert RegTile(("i",), (3,)).apply(node, context(DECLARATIONS, live="a")) is not node


def test_only_common_parts_are_unrolled_further() -> None:
    node = statement(f"{FOR_I} for (j = i; j < n; j++) y[i] += c[i][j];")
    text = emit(TILE.apply(node, context(DECLARATIONS, live="y")))
    lead = text[text.index("for (j = i; j < i + 1; j++)") :].splitlines()
    assert lead[1].strip() == "y[i] += c[i][j];"


@pytest.mark.parametrize("name", ["newlb_j", "newub_j"])
def test_limits_capture_no_name(name: str) -> None:
    code = f"{FOR_I} for (j = (i > 3 ? i : 3); j < (2 * i < n ? 2 * i : n); j++) c[i][j] = {name};"
    text = emit(TILE_I.apply(statement(code), context(f"{DECLARATIONS} double {name};", live="c")))
    assert f"const int {name}_2 = " in text
    assert f"const int {name} = " not in text


def test_reductions_are_forced_or_promised() -> None:
    node = statement(f"{FOR_I} s += a[i];")
    forced = context(DECLARATIONS, live="s")
    text = emit(UNKNOWN_ORDER.apply(node, forced))
    assert forced.overruled.texts == ("UnrollReduction: `s` is accumulated in another order",)
    promised = replace(context(DECLARATIONS, live="s"), assumptions=Assumptions(reassociate=True))
    assert emit(UnrollReduction(2).apply(node, promised)) == text
    assert promised.overruled.texts == ()


@pytest.mark.parametrize("value", ["abs(t - i)", "labs(i) / 2"])
def test_results_of_functions_of_c_have_their_types(value: str) -> None:
    around = replace(context("int i, n, t, total;", live="total"), assumptions=Assumptions(reassociate=True))
    text = emit(UnrollReduction(2).apply(statement(f"{FOR_I} total += {value};"), around))
    assert text.count("total") > 2, text
    with pytest.raises(Refusal):
        UnrollReduction(2).apply(statement(f"{FOR_I} total += sqrt(i);"), around)


MEMBERS = (
    "struct box { int *counts, most[9]; long *wide; struct box *in; } *b; struct box s[9]; int i, n, total;"
)


@pytest.mark.parametrize("value", ["b->counts[i]", "b->in->most[i]", "s[i].most[2]", "s[1].in->counts[i]"])
def test_elements_of_members_have_their_types(value: str) -> None:
    around = context(MEMBERS, live="total")
    loop = f"{FOR_I} total = total > {{0}} ? total : {{0}};"
    text = emit(UnrollReduction(2).apply(statement(loop.format(value)), around))
    assert text.count("total_1") > 2, text
    for other in ("b->wide[i]", "b->counts[i] * 1.5", "s[i].in->wide[0]", "b->w - i"):
        with pytest.raises(Refusal):
            UnrollReduction(2).apply(statement(loop.format(other)), around)


def test_accumulators_capture_no_name() -> None:
    node = statement(f"{FOR_I} {{ total += i; a[i] = total_0 + total_1; }}")
    around = context(f"{DECLARATIONS} int total_0, total_1;", live="total a")
    text = emit(UnrollReduction(2).apply(node, around))
    assert "unsigned total_0_2 = 0;" in text
    assert "total_1_2 += i + 1;" in text


def test_a_function_may_change_a_global_accumulator() -> None:
    node = statement(f"{FOR_I} {{ total += i; g(); }}")
    around = replace(context(DECLARATIONS, live="total"), exposed=frozenset({"total"}))
    with pytest.raises(Refusal) as caught:
        UnrollReduction(2).apply(node, around)
    assert [d.code for d in caught.value.diagnostics] == ["ORIO-T053"]


WRONG: tuple[tuple[str, dict[str, Value], str], ...] = (
    ("RegTile", {"loops": "i", "ufactors": [2]}, "ORIO-T010"),
    ("RegTile", {"loops": ["i"], "ufactors": 2}, "ORIO-T010"),
    ("RegTile", {"loops": ["i", "i"], "ufactors": [2, 2]}, "ORIO-T016"),
    ("RegTile", {"loops": ["i"], "ufactors": [0]}, "ORIO-T011"),
    ("Peel", {"first": "1"}, "ORIO-T010"),
    ("Peel", {"last": -1}, "ORIO-T011"),
    ("UnrollReduction", {"ufactor": 0}, "ORIO-T011"),
    ("UnrollJam", {"ufactor": True}, "ORIO-T010"),
)


@pytest.mark.parametrize(("name", "values", "code"), WRONG)
def test_wrong_argument(name: str, values: dict[str, Value], code: str) -> None:
    with pytest.raises(Refusal) as caught:
        TRANSFORMATIONS[name].make(values)
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_loops_of_a_name_are_tiled_wherever_they_stand() -> None:
    tree: Node = parse(f"t = 1; {FOR_I} {FOR_J} c[i][j] = 0; {FOR_J} a[j] = 0;")
    text = emit(TILE.apply(tree, context(DECLARATIONS, live="a c")))
    assert "c[i + 1][j + 1] = 0;" in text
    assert "a[j + 1] = 0;" in text
