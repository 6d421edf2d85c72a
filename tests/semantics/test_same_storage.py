"""Code whose array elements live in scalars or buffers computes the same, bit for bit, under the sanitizers."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from c_trees import composite, parse
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from same_result import Case, assert_same_results, transformed

from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Node
from orio_py.transformation.base import Context, Transformation
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.storage.array_copy import ArrCopy
from orio_py.transformation.storage.bound_replace import BoundReplace
from orio_py.transformation.storage.prefetch import Prefetch
from orio_py.transformation.storage.scalar_replace import ScalarReplace
from orio_py.transformation.tiling.tile import Tile
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BATCH = 24
# No shrinking: a failure names its one case, and each attempt costs a compilation.
quick = settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

SIZES = ((0, 0, 0), (0, 1, 1), (1, 0, 5), (0, 7, 5), (2, 13, 12), (3, 12, 16))
POINTERS = "double *u = a + 4, *v = a + {}; (void)u; (void)v;"


@dataclass(frozen=True)
class Both:
    """One transformation after the other."""

    first: Transformation
    second: Transformation

    def check(self, node: Node, context: Context) -> None:
        self.apply(node, context)

    def apply(self, node: Node, context: Context) -> Node:
        return self.second.apply(self.first.apply(node, context), context)


def check(batch: Sequence[Case]) -> int:
    """Compare the results; how many cases the transformation changed."""
    with tempfile.TemporaryDirectory() as folder:
        assert_same_results(batch, Path(folder))
    results = [(case, transformed(case)) for case in batch]
    return sum(tree is not None and emit(tree) != emit(parse(case.code)) for case, tree in results)


UPWARD = ("{0} = 0; {0} < {1}; {0}++", "{0} = 1; {0} <= {1} - 1; {0} += 2", "int {0} = s; {0} < {1}; {0}++")
DOWNWARD = (
    "{0} = {1} - 1; {0} >= 0; {0}--",
    "{0} = {1}; {0} > 1; {0} -= 3",
    "long {0} = {1}; {0} > 0; {0}--",
)
INNER = (
    "p[i][j] += q[i][k] * r[k][j];",
    "p[i][j] = p[i][j] + q[i][k] * q[i][k];",
    "p[i][j] += p[i][k];",
    "p[i][j] += p[k][j] * p[i][j];",
    "p[i][j] = p[j][i] * 0.5 + p[i][j];",
    "a[i] += q[i][j] * b[j];",
    "a[i] = a[i] * 0.5 + a[k];",
    "if (q[i][j] > 50) a[i] += 1;",
    "if (q[i][j] > 50) { a[i] += 1; a[i] *= 0.5; } else a[i] -= b[j] * b[j];",
    "acc += a[c[i] % 7] + a[c[i] % 7];",
    "c[c[i] % 5] += 1; acc += a[c[i] % 7] + a[c[i] % 7];",
    "c[j] += c[i] * 3 % 11; c[j] %= 1000;",
    "u[i] += v[j] + v[j];",
    "u[j] += v[k]; v[j] *= 0.5;",
    "u[j + 1] = u[j + 1] * 0.5 + b[j];",
    "for (int t = 0; t < 3; t++) p[i][t] += p[i][j];",
    "for (int t = j; t < j + 3; t++) { p[i][t + 1] += p[i][j]; p[i][j] *= 0.5; }",
    "{ double t = q[i][j]; p[i][j] = t * t + q[i][j]; }",
    "{ double b[3]; b[0] = q[i][j]; b[1] = b[0] * 0.5; p[i][j] = b[1] + b[0]; }",
    "while (count > 1000) { count = count / 2; p[i][j] += count; p[i][j] += 1; }",
    "p[i][j]++; count += (int)p[i][j] % 3;",
    "p[i + 1][j] = p[i][j] + p[i][j] + p[i + 1][j];",
    "a[i * 2] += a[i * 2 + 1] + a[2 * i];",
    "b[s + 1] += a[s + 1] * b[s + 1];",
    "b[n % 4] += a[n % 4] * b[k] + a[n % 4];",
    "n = n / 2 * 2; b[n % 4] += a[n % 4] + a[n % 4];",
    "a[i] = 0; a[i] += b[j]; a[i] *= 2;",
    "acc += q[i][j] > 9 ? b[i] : b[j]; acc *= (b[i] > 4 && b[j] > 7) ? 1.5 : 1;",
    "*(a + i) += a[i] + b[j]; a[i] *= 0.5;",
    "switch (c[k] % 3) { case 0: a[i] += 1; a[i] *= 2; break; default: for (int t = 0; t < 2; t++) a[j] += t; }",
    "if (b[j] > 30) break; a[j] += b[j] + a[j] * 0.5 + b[j];",
    "if (b[j] > 30) continue; a[i] += b[j] + a[i] * 0.5 + b[j];",
    "a[i] += 1; if (b[j] > 30) continue; a[i] *= 0.5; a[i] += b[k];",
    "a[j] += 1; if (b[k] > 40) break; a[j] *= 0.5; a[j] += b[i];",
    "if (a[j] > 65000) goto out; a[j] += a[j] * 0.5 + b[j];",
)
BETWEEN = (
    "",
    "",
    "",
    "p[i][j] = 0;",
    "a[i] *= 0.5;",
    "p[i][j] = p[i][j] * 2.0 + b[i];",
    "a[j] = b[i] + a[j];",
)


@st.composite
def nests(draw: st.DrawFn) -> str:
    """Three loops around one to three statements, perhaps with others before and behind the innermost."""
    sizes = [draw(st.sampled_from(["n", "m", "7"])) for _ in "ijk"]
    headers = [draw(st.sampled_from(UPWARD + DOWNWARD[:2])) for _ in "ijk"]
    i, j, k = (header.format(name, size) for header, name, size in zip(headers, "ijk", sizes, strict=True))
    if draw(st.sampled_from([True, False, False])):
        k = draw(
            st.sampled_from(["k = j; k < n; k++", "k = 0; k <= i; k++", "k = c[3] % 3; k < c[4] % 9; k++"])
        )
    body = " ".join(draw(st.lists(st.sampled_from(INNER), min_size=1, max_size=3)))
    before, after, outer = (draw(st.sampled_from(BETWEEN)) for _ in range(3))
    outer = outer if "j" not in outer else ""
    inner = f"{before} for ({k}) {{ {body} }} {after}"
    if draw(st.booleans()):
        inner = f"for ({k}) {{ {body} }}"
    code = f"for ({i}) {{ {outer} for ({j}) {{ {inner} }} }}"
    if "n = n" in code:
        code = code.replace("< n", "< 9").replace("n - 1", "8").replace("= n;", "= 9;")
    if "u[" in body:
        code = f"{{ {POINTERS.format(draw(st.sampled_from([3, 5, 4, 40])))} {code} }}"
    end = " out: ;" if "goto" in code else ""
    return code + end


def before_it() -> st.SearchStrategy[Transformation | None]:
    factor = st.integers(1, 4)
    jams = st.tuples(factor, factor, factor).map(lambda f: composite(unrolljam=([*"ijk"], [*f])))
    tiles = st.just(composite(tile=[([x], 6, x * 2) for x in "ijk"]))
    return st.one_of(st.none(), jams, tiles)


def cases(second: Transformation, codes: st.SearchStrategy[str]) -> st.SearchStrategy[list[Case]]:
    one = st.builds(
        lambda code, first, final: Case(
            code,
            second if first is None or "*u" in code else Both(first, second),
            sizes=SIZES,
            final_indices=final,
        ),
        codes,
        before_it(),
        st.booleans(),
    )
    return st.lists(one, min_size=BATCH, max_size=BATCH)


@pytest.mark.proof
@quick
@given(cases(ScalarReplace(), nests()))
def test_scalar_replace(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 4


BOUNDS = (
    "{0} = 0; {0} < n - 1; {0}++",
    "{0} = s + 1; {0} <= n - 1; {0} += 2",
    "{0} = n / 2 - 1; {0} > s - 1; {0}--",
    "{0} = 2 * s; {0} < (m < 9 ? m : 9); {0}++",
    "{0} = c[3] % 5; {0} < c[4] % 9 + 3; {0}++",
    "{0} = c[s] % 5; {0} < m + 2; {0}++",
)
INNER_BOUNDS = (
    "{0} = {1} / 2; {0} < {1} + 3; {0}++",
    "{0} = c[{1}] % 4; {0} < c[{1} + 1] % 7; {0}++",
    "{0} = {1} + 1; {0} <= n - 1; {0} += 3",
    "{0} = n - 2; {0} >= {1} - 1; {0}--",
)
BOUND_BODIES = (
    "a[i + 30] += b[j + 30];",
    "c[j + 60] += i;",
    "c[4] = c[4] + 1;",
    "count += i * 3 + j; if (count > 5000) continue; acc += 1;",
    "if (count > 9000) break; count += 7;",
    "n = n - 1; a[i + 30] += n;",
    "{ int m = 3; count += m; for (int t = m + 1; t < 2 * m; t++) count += t; }",
)


@st.composite
def bounded(draw: st.DrawFn) -> tuple[str, str]:
    """Three loops with bounds that are expressions, and the type of their variables."""
    i = draw(st.sampled_from(BOUNDS)).format("i")
    j = draw(st.sampled_from(BOUNDS + INNER_BOUNDS)).format("j", "i")
    k = draw(st.sampled_from(BOUNDS + INNER_BOUNDS)).format("k", draw(st.sampled_from("ij")))
    bodies = [draw(st.sampled_from(BOUND_BODIES)) for _ in range(3)]
    before = bodies[2].replace("j", "i") if "{" not in bodies[2] and "if" not in bodies[2] else ""
    code = f"for ({i}) {{ {before} for ({j}) {{ {bodies[0]} for ({k}) {{ {bodies[1]} }} }} }}"
    if draw(st.booleans()):
        code = f"for ({i}) for ({j}) for ({k}) {{ {bodies[0]} {bodies[1]} }}"
    return code.replace("[i]", "[i + 8]").replace("[i + 1]", "[i + 9]"), draw(
        st.sampled_from(["int", "long", "short"])
    )


BOUND_SIZES = ((0, 0, 0), (0, 1, 3), (1, 0, 5), (0, 8, 5), (2, 13, 12), (3, 16, 7))


def bound_cases() -> st.SearchStrategy[list[Case]]:
    one = st.builds(
        lambda drawn, tiled, final: Case(
            drawn[0],
            Both(composite(tile=[("k", 6, "kk")]), BoundReplace()) if tiled else BoundReplace(),
            drawn[1],
            BOUND_SIZES,
            final_indices=final and not tiled,
        ),
        bounded(),
        st.booleans(),
        st.booleans(),
    )
    return st.lists(one, min_size=BATCH, max_size=BATCH)


@pytest.mark.proof
@quick
@given(bound_cases())
def test_bound_replace(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 3


TILED = {
    "i": (
        "i = 1; i < 9; i++",
        "i = 8; i >= 1; i--",
        "i = s; i < (n - s < 8 ? n : s + 8); i++",
        "i = 1; i <= 7; i += 2",
    ),
    "j": ("j = 2; j < 10; j++", "j = 0; j < n; j++", "j = m; j > m - 6; j--", "int j = 3; j <= 7; j += 4"),
    "k": ("k = 0; k < n; k++", "k = 0; k < m; k++", "k = 1; k < 4; k++", "k = i; k < 6; k++"),
}
TILED_BODIES = (
    "p[i][j] += q[i][k] * r[k][j];",
    "p[i][j] = q[i + 1][j] + q[i][j + 2] + (k + 1);",
    "p[i + 1][j] = p[i][j] * 0.5 + q[j][i];",
    "p[i + 1][j + 1] = q[i][j]; p[i][j + 1] += 1;",
    "if (q[i][j] > 30) p[i][j] = 1; else p[i][j] += 2;",
    "if (q[j][i] > 30) p[i][j] = 1;",
    "for (int t = 0; t < 3; t++) p[i][j] += q[i][t];",
    "for (int t = 0; t < n; t++) p[i][j + 1] += q[t][j];",
    "p[i][j] += p[j][i];",
    "p[i][j] += q[j + 12][i + 3] + p[i + 12][j];",
    "double t = p[i][j]; p[i][j] = t * t + q[i][j];",
    "while (count > 100) { count /= 2; p[i][j] += count; }",
    "p[i][j] = k + 1; q[i][j] = p[i][j] * 2.0;",
)


@st.composite
def tiles(draw: st.DrawFn) -> Case:
    """A nest over a tile, and a copy of one of its arrays."""
    i, j, k = (draw(st.sampled_from(TILED[name])) for name in "ijk")
    body = draw(st.sampled_from(TILED_BODIES))
    order = draw(st.permutations([i, j])) if "i" not in k.replace("i =", "") else [i, j]
    loops = [*order, k] if draw(st.booleans()) or "k = i" in k else [k, *order]
    code = " ".join(f"for ({header})" for header in loops) + f" {{ {body} }}"
    first: Transformation | None = None
    if draw(st.booleans()):
        tile = [(x, 8 if x == "i" else 4, x * 2) for x in "ij"]
        first = composite(tile=tile, permut=[[["jj"], ["ii"], ["i"], ["j"]]])
    array = draw(st.sampled_from("ppq"))
    sizes = draw(st.sampled_from([(24, 24), (10, 12), (9, 9), (8, 4), (12, 24), (24, 24)]))
    names = draw(st.sampled_from(["i][j", "i][j", "i][j", "i][j", "i][k", "j][i"]))
    if array == "q" and "q[i][j]" not in body and draw(st.integers(0, 5)):
        array, names = "p", "i][j"
    copy = ArrCopy(f"{array}[{names}]", sizes, draw(st.sampled_from(["_buf", "_tile"])))
    return Case(
        code, copy if first is None else Both(first, copy), sizes=((0, 0, 6), (0, 1, 7), (1, 8, 9), (2, 9, 6))
    )


@pytest.mark.proof
@quick
@given(st.lists(tiles(), min_size=2 * BATCH, max_size=2 * BATCH))
def test_array_copy(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 8


ROWS = (
    "j = i; j < 10; j++",
    "j = 0; j < i; j++",
    "j = i; j >= 1; j--",
    "j = 2; j < 10; j++",
    "j = i; j <= i + 6; j += 2",
)
ROW_BODIES = (
    "p[i][j] = p[i][j] * 0.5 + q[i][j];",
    "p[i + 1][j] += q[i][j + 2];",
    "p[i][j + 1] = p[i][j] + q[i + 2][j];",
    "if (q[i][j] > 30) p[i][j] = 1; else p[i][j] += 2;",
    "p[i][j] += p[j + 12][i + 3];",
    "for (int t = 0; t < 3; t++) p[i][j] += q[i][t];",
    "double t = p[i][j]; p[i][j] = t * t + q[i][j];",
)
AROUND_ROWS = ("%s", "{ acc += i; %s }", "{ %s p[i][0] = acc; }", "{ p[i][3] *= 0.5; %s }")


@st.composite
def rows(draw: st.DrawFn) -> Case:
    """Rows whose ranges change with the loop around them, or between which other statements stand."""
    outer, inner = draw(st.sampled_from(TILED["i"])), draw(st.sampled_from(ROWS))
    row = f"for ({inner}) {{ {draw(st.sampled_from(ROW_BODIES))} }}"
    code = f"for ({outer}) {draw(st.sampled_from(AROUND_ROWS)) % row}"
    sizes = draw(st.sampled_from([(1, 24), (12, 12), (8, 4)]))
    step: Transformation = ArrCopy(f"{draw(st.sampled_from('ppq'))}[i][j]", sizes)
    if row in code[-len(row) :] and inner == ROWS[3]:
        step = Both(composite(tile=[("i", 8, "ii"), ("j", 4, "jj")]), step)
    if draw(st.booleans()):
        step = Both(step, UnrollAndJam(2))
    return Case(code, step, sizes=((0, 0, 6), (0, 1, 7), (1, 8, 9), (2, 9, 6)))


@pytest.mark.proof
@quick
@given(st.lists(rows(), min_size=2 * BATCH, max_size=2 * BATCH))
def test_array_copy_of_rows(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 8


AHEAD = (
    "acc += a[i] * b[i + 1];",
    "a[i + 2] = a[i] * 0.5;",
    "acc += a[c[i] % 9]; b[i] += p[i % 9][3];",
    "if (c[i] % 3) a[i] += 1; else acc += b[i];",
    "for (int t = 0; t < 3; t++) acc += a[i + t];",
    "{ int t = c[i] % 7; a[t] += b[i]; }",
    "c[i] = c[i + 1] % 100; acc += a[c[i] % 9];",
    "acc += p[3][i % 20] + p[i % 20][s + 2];",
)


@st.composite
def ahead(draw: st.DrawFn) -> Case:
    header = draw(st.sampled_from([*UPWARD[:2], "{0} = 2; {0} < {1} + 3; {0} += 3", *DOWNWARD[:2]])).format(
        "i", "n"
    )
    body = " ".join(draw(st.lists(st.sampled_from(AHEAD), min_size=1, max_size=2)))
    aref = draw(st.sampled_from([None, None, "a[i]", "b[i + 1]", "a[c[i] % 9]", "b[i]", "c[i]"]))
    step = Prefetch(aref, draw(st.integers(1, 9)), draw(st.integers(0, 3)), draw(st.booleans()))
    kind = draw(st.sampled_from(["int", "long", "short", "unsigned", "size_t"]))
    if "un" in kind or "_t" in kind:
        header = header.replace("i >= 0", "i > 0").replace("i -= 3", "i--")
    return Case(
        f"for ({header}) {{ {body} }}", step, kind, ((0, 1, 0), (0, 2, 0), (0, 9, 0), (1, 15, 0), (0, 16, 0))
    )


@pytest.mark.proof
@quick
@given(st.lists(ahead(), min_size=BATCH, max_size=BATCH))
def test_prefetch(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 4


PIPED = (
    "p[i][j] += q[i][k] * r[k][j];",
    "p[i][j] = p[i][j] * 0.5 + q[i][k] * q[j][k];",
    "p[i][k] += q[i][j] + r[j][k] * r[j][k];",
    "a[i] += q[i][j] * r[j][k]; b[j] += a[i];",
    "p[i][j] += q[i][k]; acc += p[i][j];",
)


@st.composite
def pipelines(draw: st.DrawFn) -> Case:
    """Tiles, a copy, jammed loops, scalars and constants, in Composite's order."""
    body = draw(st.sampled_from(PIPED))
    headers = [draw(st.sampled_from(UPWARD[:2])).format(x, draw(st.sampled_from("nm"))) for x in "ijk"]
    code = " ".join(f"for ({header})" for header in headers) + " " + body
    sizes = {x: draw(st.sampled_from([4, 6, 8])) for x in "ijk"}
    tile = [(x, size, x * 2) for x, size in sizes.items()]
    order = [x * 2 for x in draw(st.permutations("ijk"))] + list(draw(st.permutations("ijk")))
    step: Transformation = composite(tile=tile, permut=[order])
    if draw(st.booleans()) and "a[" not in body:
        array, first, second = draw(st.sampled_from(["pij", "qik", "rkj"]))
        if f"{array}[{first}][{second}]" in body:
            step = Both(step, ArrCopy(f"{array}[{first}][{second}]", (sizes[first], sizes[second])))
    factors = ([*"ijk"], [draw(st.integers(1, 4)) for _ in "ijk"])
    step = Both(step, composite(unrolljam=factors)) if draw(st.booleans()) else step
    last = (ScalarReplace(), BoundReplace())
    for each in last if draw(st.booleans()) else reversed(last):
        step = Both(step, each)
    return Case(code, step, sizes=((0, 0, 0), (0, 1, 9), (0, 9, 1), (0, 7, 13), (0, 16, 9)))


@pytest.mark.proof
@quick
@given(st.lists(pipelines(), min_size=BATCH, max_size=BATCH))
def test_pipeline(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 3


FAR = 10_000_000
ZERO_TRIPS = (
    (
        "for (i = 0; i < m; i++) for (j = 0; j < 3; j++) { if (n < 1) continue; a[i] += b[j] * a[i]; }",
        (ScalarReplace(),),
    ),
    ("for (i = 0; i < m; i++) for (j = 0; j < 3; j++) if (n > 0) acc += a[i] * a[i];", (ScalarReplace(),)),
    (
        "for (i = 0; i < m; i++) for (j = 0; j < n; j++) a[i] += b[j];",
        (ScalarReplace(), Both(Tile(8, "ii"), ScalarReplace())),
    ),
    (
        "for (i = 0; i < m; i++) for (j = n; j > s; j--) a[i] += b[j] * a[i + 1];",
        (ScalarReplace(), UnrollAndJam(4)),
    ),
    (
        "for (i = 0; i < m; i++) for (j = 0; j < n; j++) acc += c[i] * c[i];",
        (ScalarReplace(), UnrollAndJam(2)),
    ),
    (
        "for (i = 0; i < m; i++) for (j = 0; j < n; j++) for (k = 0; k < 4; k++) acc += a[i + k];",
        (ScalarReplace(),),
    ),
    (
        "for (i = 0; i < m; i++) for (j = 0; j < n; j++) for (k = 0; k < c[i]; k++) acc += k;",
        (BoundReplace(),),
    ),
    (
        "for (i = 0; i < m; i++) for (j = 0; j < n; j++) for (k = i; k < i + 4; k++) b[k] += a[k];",
        (ArrCopy("b[k]", (4,)),),
    ),
    (
        "for (i = 0; i < m; i++) for (k = i; k < i + 4; k++) for (j = 0; j < n; j++) b[k] += a[k];",
        (ArrCopy("a[k]", (9,)),),
    ),
    (
        "for (i = 0; i < m; i++) for (j = i; j < i + n % 4; j++) b[0] += a[j - 1] + a[j + 1];",
        (ArrCopy("a[j]", (9,)),),
    ),
)


def test_elements_of_loops_that_do_not_run_are_left_alone() -> None:
    cases: list[Case] = []
    for code, steps in ZERO_TRIPS:
        for step in steps:
            chosen = Both(step, ScalarReplace()) if isinstance(step, UnrollAndJam) else step
            cases.append(Case(code, chosen, sizes=((0, 0, FAR), (0, 3, 5)), final_indices=True))
    check(cases)


@pytest.mark.share(2)
@pytest.mark.parametrize("kind", ["unsigned", "size_t", "unsigned char", "short"])
def test_types_other_than_int(kind: str) -> None:
    codes = (
        "for (i = 0; i < n; i++) for (j = s; j < m; j++) a[i] += b[j];",
        "for (i = n; i > 0; i--) for (j = i; j < m + 1; j += 2) a[i] += b[j] * a[0];",
        "for (i = s + 1; i < n; i++) for (j = 0; j < count; j++) a[i] += b[j];",
        "for (i = 0; i < 3; i++) for (j = count - 9; j < m; j++) a[i] += b[j];",
    )
    steps: tuple[Transformation, ...] = (
        ScalarReplace(),
        BoundReplace(),
        Both(BoundReplace(), ScalarReplace()),
    )
    sizes = ((0, 0, 0), (0, 1, 3), (3, 5, 0), (5, 3, 9), (0, 9, 4))
    check([Case(code, step, kind, sizes, final_indices=True) for code in codes for step in steps])


@pytest.mark.parametrize("kind", ["_Bool", "unsigned char", "unsigned short"])
def test_a_copy_counts_to_more_than_its_narrow_index(kind: str) -> None:
    text = f"for ({kind} e = 0; e < 1; e += 1) {{ a[e + 3] = 2.0; b[e] = a[e + 3] + a[e]; a[e + 1] += a[e + 2]; }}"
    assert check([Case(text, ArrCopy("a[e]", (8,)), sizes=SIZES[:1])]) == 1


@pytest.mark.parametrize("kind", ["int", "long", "size_t"])
@pytest.mark.parametrize("bound", ["(unsigned long)i", "(i < 2 ? i : sizeof(int))", "i"])
def test_a_copy_begins_below_an_unsigned_bound(kind: str, bound: str) -> None:
    nest = f"for (i = 0; i <= 2; i++) for ({kind} e = 0; e < {bound}; e++)"
    codes = (
        f"{nest} b[e - 1] -= 0.25 * (b[e] + c[2 * i]);",
        f"for (i = 0; i <= 2; i++) for ({kind} e = {bound}; e > 0; e--) b[e - 2] -= 0.25 * (b[e] + c[i]);",
    )
    steps = (Tile((3,), ("ee",), (LoopName(("e",)),)), ArrCopy("b[e]", (9,)))
    assert check([Case(code, Both(*steps), sizes=SIZES) for code in codes]) > 0
