"""Each refusal of a transformation, with its code and the place that it names (marked by `@` in the code)."""

from __future__ import annotations

import pytest
from c_trees import composite, context, statement

from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import Node
from orio_py.transformation.base import Context, Refusal, Transformation
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.pragma import Pragma
from orio_py.transformation.parallel.vector import Vector
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.tiling.permute import Permut
from orio_py.transformation.tiling.tile import Tile
from orio_py.transformation.unrolling.unroll import Unroll
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam

DECLARATIONS = """int i, j, k, n, m, t, *p, *row; unsigned u; double x, s, *a, *b, *y, c[9][9], d[9][9];
volatile int v;"""

FOR_I = "for (i = 0; i < n; i++)"


def names(*loops: str) -> tuple[LoopName, ...]:
    return tuple(LoopName((loop,)) for loop in loops)


PARALLEL = OpenMP(True, ("omp parallel for",))
PARALLEL_BY_FORCE = OpenMP(True, ("omp parallel for",), force=True)
IVDEP = Vector(True, ("ivdep",))
SIMD = Vector(True, ("omp simd",))
JI = Permut(names("j", "i"))

CASES: tuple[tuple[Transformation, str, str], ...] = (
    (Unroll(0), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (Unroll(2), "ORIO-T020", "@while (n--) t++;"),
    (Unroll(2), "ORIO-T020", "@{ t = 1; for (i = 0; i < n; i++) t++; }"),
    (Unroll(2), "ORIO-T021", "@for (i = 0; i != n; i++) a[i] = 0;"),
    (Unroll(2), "ORIO-T021", "@for (i = 1; i < n; i *= 2) a[i] = 0;"),
    (Unroll(2), "ORIO-T021", "@for (i = n; i < m; i--) a[i] = 0;"),
    (Unroll(2), "ORIO-T021", "@for (i = 0, j = 0; i < n; i++) a[i] = 0;"),
    (Unroll(2), "ORIO-T022", "@for (x = 0; x < n; x += 1) s += x;"),
    (Unroll(2), "ORIO-T022", "@for (i = n; i >= 0u; i--) s += 1;"),
    (Unroll(2), "ORIO-T022", "@for (double z = 0; z < n; z += 1) s += z;"),
    (Unroll(2), "ORIO-T022", "@for (p = row; p < row + n; p += 1) s += *p;"),
    (Unroll(2), "ORIO-T022", "@for (v = 0; v < n; v++) s += 1;"),
    (Unroll(2), "ORIO-T022", "@for (volatile int r = 0; r < n; r++) s += 1;"),
    (Unroll(2), "ORIO-T022", "@for (unsigned char r = n - 1; r > 0; r--) s += r;"),
    (Tile(4, "rr"), "ORIO-T022", "@for (uint16_t r = -3; r < n; r++) s += r;"),
    (Unroll(2), "ORIO-T022", "@for (unsigned char r = 300; r < n; r++) s += r;"),
    (Unroll(2), "ORIO-T024", f"{FOR_I} {{ a[i] = 0; @i = i + 1; }}"),
    (Unroll(2), "ORIO-T024", f"{FOR_I} {{ a[i] = 0; if (n > 3) @i++; }}"),
    (Unroll(2), "ORIO-T024", f"{FOR_I} {{ p = &@i; }}"),
    (Unroll(2), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) {{ @break; int i = 1; }} }}"),
    (Unroll(2), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) @continue; s += a[i]; }}"),
    (Unroll(2), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) {{ int i = 1; @goto out; }} }}"),
    (Unroll(2, parallelize=True), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) @return; }}"),
    (Unroll(2), "ORIO-T026", f"{FOR_I} {{ static int @count; count++; }}"),
    (Unroll(2), "ORIO-T027", f"{FOR_I} {{ a[i] = 0; @n = n - 1; }}"),
    (Unroll(2), "ORIO-T027", f"{FOR_I} {{ p = &@n; }}"),
    (Unroll(2), "ORIO-T027", "for (j = row[i]; j < row[i + 1]; j++) { @row[j] = 0; }"),
    (Unroll(2), "ORIO-T027", "for (i = 0; i < @v; i++) s += 1;"),
    (Unroll(2), "ORIO-T027", "for (i = 0; i < row[0]; i++) @g(row);"),
    (Unroll(2), "ORIO-T028", "for (i = 0; i < @m++; i++) s += 1;"),
    (Unroll(2), "ORIO-T028", "for (i = 0; i < @g(n); i++) s += 1;"),
    (Unroll(2, parallelize=True), "ORIO-T040", f"{FOR_I} a[i] = @a[i + 1];"),
    (Tile(0, "ii"), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (Tile(4, "i"), "ORIO-T013", f"@{FOR_I} a[i] = 0;"),
    (Tile(4, "n"), "ORIO-T013", f"@{FOR_I} a[i] = 0;"),
    (Tile(4, "for"), "ORIO-T013", f"@{FOR_I} a[i] = 0;"),
    (Tile(4, "i i"), "ORIO-T013", f"@{FOR_I} a[i] = 0;"),
    (Tile(6, "ii"), "ORIO-T014", "@for (i = 0; i < n; i += 4) a[i] = 0;"),
    (Tile(2, "ii"), "ORIO-T014", "@for (i = 0; i < n; i += 4) a[i] = 0;"),
    (Tile(4, "ii"), "ORIO-T024", f"{FOR_I} {{ @i = i + 1; }}"),
    (Tile(4, "ii"), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) @break; }}"),
    (Tile(4, "ii"), "ORIO-T027", f"{FOR_I} {{ @n--; }}"),
    (JI, "ORIO-T024", f"{FOR_I} for (j = 0; j < m; j++) @i = 3;"),
    (JI, "ORIO-T024", f"{FOR_I} for (j = 0; j < m; j++) @j = 3;"),
    (JI, "ORIO-T027", f"{FOR_I} for (j = 0; j < m; j++) @n = 3;"),
    (JI, "ORIO-T027", f"{FOR_I} for (j = 0; j < m; j++) @m = 3;"),
    (JI, "ORIO-T027", "@for (i = t; i < n; i++) for (j = 0; j < m; j++) t = 3;"),
    (Permut(names("j", "k")), "ORIO-T015", f"@{FOR_I} for (j = 0; j < n; j++) c[i][j] = 0;"),
    (Permut(names("j", "j")), "ORIO-T016", f"@{FOR_I} for (j = 0; j < n; j++) c[i][j] = 0;"),
    (JI, "ORIO-T030", f"@{FOR_I} {{ a[i] = 0; for (j = 0; j < n; j++) c[i][j] = 0; }}"),
    (JI, "ORIO-T031", f"@{FOR_I} for (j = 0; j <= i * i; j++) c[i][j] = 0;"),
    (
        Permut((LoopName(("w",)), LoopName(("r",)))),
        "ORIO-T031",
        "for (unsigned r = u - 1; r < u; r++) @for (unsigned w = 0; w < r + 3; w++) c[0][0] += 1;",
    ),
    (JI, "ORIO-T040", f"{FOR_I} for (j = 0; j < n; j++) @c[i + 1][j] = c[i][j + 1];"),
    (JI, "ORIO-T041", f"{FOR_I} for (j = 0; j < n; j++) @a[i * j] = a[i + j];"),
    (JI, "ORIO-T027", f"{FOR_I} for (j = 0; j < m; j++) @m = 4;"),
    (JI, "ORIO-T040", f"{FOR_I} for (j = 0; j < m; j++) c[i][j] = @t++;"),
    (Pragma(("a\nb",)), "ORIO-T012", f"@{FOR_I} a[i] = 0;"),
    (Pragma(("GCC ivdep",)), "ORIO-T020", "@{ t = 1; t = 2; }"),
    (Pragma(("ivdep",)), "ORIO-T020", "@t = 1;"),
    (
        composite(pragma=[("i", "GCC unroll 2")], vector=(True, ("omp simd",))),
        "ORIO-T033",
        f"@{FOR_I} a[i] = 0;",
    ),
    (
        composite(pragma=[("i", "GCC unroll 2")], openmp=(True, ("omp parallel for",))),
        "ORIO-T033",
        f"@{FOR_I} a[i] = 0;",
    ),
    (PARALLEL, "ORIO-T040", f"{FOR_I} @s += a[i];"),
    (PARALLEL, "ORIO-T040", f"{FOR_I} @a[i + 1] = a[i];"),
    (PARALLEL, "ORIO-T041", f"{FOR_I} @a[row[i]] = 0;"),
    (PARALLEL, "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) @break; }}"),
    (PARALLEL, "ORIO-T021", "@for (i = 0; i != n; i++) a[i] = 0;"),
    (
        OpenMP(True, ("omp parallel for collapse(3)",)),
        "ORIO-T032",
        f"@{FOR_I} for (j = 0; j < n; j++) c[i][j] = 0;",
    ),
    (
        OpenMP(True, ("omp parallel for collapse(2)",)),
        "ORIO-T032",
        f"{FOR_I} @for (j = 0; j < i; j++) c[i][j] = 0;",
    ),
    (
        OpenMP(True, ("omp parallel for shared(j)",)),
        "ORIO-T034",
        f"@{FOR_I} for (j = 0; j < n; j++) c[i][j] = 0;",
    ),
    (IVDEP, "ORIO-T040", f"{FOR_I} @a[i + 2] = a[i];"),
    (SIMD, "ORIO-T040", f"{FOR_I} @a[i + 2] = a[i];"),
    (IVDEP, "ORIO-T041", f"{FOR_I} @a[row[i]] = a[i];"),
    (SIMD, "ORIO-T021", "@for (i = 0; i != n; i++) a[i] = 0;"),
    (UnrollAndJam(2), "ORIO-T040", f"{FOR_I} for (j = 0; j < n; j++) @c[i + 1][j] = c[i][j + 1];"),
    (UnrollAndJam(2), "ORIO-T026", f"{FOR_I} {{ int @z = i; for (j = 0; j < z; j++) c[i][j] = z; }}"),
    (composite(tile=[("k", 4, "kk")]), "ORIO-T015", f"@{FOR_I} a[i] = 0;"),
    (composite(tile=[("k", 1, "kk")]), "ORIO-T015", f"@{FOR_I} a[i] = 0;"),
    (composite(pragma=[("k", "ivdep")]), "ORIO-T015", f"@{FOR_I} a[i] = 0;"),
    (
        composite(openmp=(True, ("omp parallel for",)), vector=(True, ("omp simd",))),
        "ORIO-T033",
        f"@{FOR_I} a[i] = 0;",
    ),
    (
        composite(unrolljam=(["i"], [2]), openmp=(True, ("omp parallel for",))),
        "ORIO-T040",
        f"{FOR_I} @a[i] = a[i - 1];",
    ),
)


def place_in(code: str) -> tuple[str, int]:
    """The code without its mark, and the column of the mark."""
    return code.replace("@", ""), code.index("@") + 1


def refusal_of(transformation: Transformation, node: Node, inner: Context) -> Refusal:
    before = structure_digest(node)
    with pytest.raises(Refusal) as caught:
        transformation.apply(node, inner)
    assert structure_digest(node) == before
    return caught.value


def test_factors_of_one_ask_for_nothing() -> None:
    node = statement("for (i = 0; i != n; i++) s += a[i];")
    for step in (
        composite(unrollreduction=(["i"], [1])),
        composite(unrolljam=(["i"], [1])),
        composite(tile=[("i", 1, "ii"), ("ii", 1, "iii")]),
    ):
        assert step.apply(node, context(DECLARATIONS)) is node


@pytest.mark.parametrize(("transformation", "code", "text"), CASES)
def test_refusal(transformation: Transformation, code: str, text: str) -> None:
    plain, column = place_in(text)
    refusal = refusal_of(transformation, statement(plain), context(DECLARATIONS, live="a b y c d s x"))
    (diagnostic,) = refusal.diagnostics
    assert diagnostic.code == code
    assert diagnostic.position is not None
    assert (diagnostic.position.line, diagnostic.position.column) == (1, column), diagnostic.headline()


@pytest.mark.parametrize(
    ("transformation", "text"),
    [
        (Tile(4, "ii"), f"{FOR_I} a[i] = 0;"),
        (PARALLEL, f"{FOR_I} a[i] = 0;"),
        (JI, f"{FOR_I} for (j = 0; j < n; j++) c[i][j] = 0;"),
    ],
)
def test_index_that_is_read_afterwards_gets_its_last_value(transformation: Transformation, text: str) -> None:
    result = emit(transformation.apply(statement(text), context(DECLARATIONS, live="i a c")))
    assert result.endswith("i = n > 0 ? n : 0;\n")


def test_unroll_keeps_the_final_index_so_it_may_be_read() -> None:
    Unroll(4).apply(statement(f"{FOR_I} a[i] = 0;"), context(DECLARATIONS, live="i a"))


@pytest.mark.parametrize(
    "text",
    [
        "{ for (i = 0; i < n; i++) a[i] = 0; a[0] = i; }",
        "{ for (i = 0; i < n; i++) a[i] = 0; if (m) i = 0; a[0] = i; }",
        "{ for (j = 0; j < n; j++) { s += i; for (i = 0; i < n; i++) a[i] = 0; } }",
        "{ while (i < n) { for (i = 0; i < n; i++) a[i] = 0; } }",
    ],
)
def test_index_that_is_read_later_in_the_region(text: str) -> None:
    result = Everywhere(Tile(4, "ii")).apply(statement(text), context(DECLARATIONS, live="a"))
    assert "i = n > 0 ? n : 0;\n" in emit(result)


@pytest.mark.parametrize(
    "text",
    [
        "{ for (i = 0; i < n; i++) a[i] = 0; i = 3; a[0] = i; }",
        "{ for (i = 0; i < n; i++) a[i] = 0; for (i = 0; i < n; i++) a[i] = 1; }",
        "for (j = 0; j < n; j++) { for (i = 0; i < n; i++) a[i] = 0; }",
        "{ for (int i = 0; i < n; i++) a[i] = 0; a[0] = i; }",
    ],
)
def test_index_that_is_assigned_first(text: str) -> None:
    Everywhere(Tile(4, "ii")).apply(statement(text), context(DECLARATIONS, live="a"))


@pytest.mark.parametrize("transformation", [Unroll(2), Tile(4, "ii"), JI])
@pytest.mark.parametrize(
    "pragma", ["omp parallel for", "GCC ivdep", "vector always", "omp simd reduction(+: s)"]
)
def test_loop_with_a_pragma_before_it(transformation: Transformation, pragma: str) -> None:
    inner = "for (j = 0; j < n; j++) c[i][j] = 0;" if isinstance(transformation, Permut) else "a[i] = 0;"
    code = f"{{\n#pragma {pragma}\n{FOR_I} {inner} }}"
    loop = statement(code)
    refusal = refusal_of(Everywhere(transformation), loop, context(DECLARATIONS, live="a c"))
    (diagnostic,) = refusal.diagnostics
    assert diagnostic.code == "ORIO-T023"
    assert diagnostic.position is not None
    assert diagnostic.position.line == 3


@pytest.mark.parametrize("pragma", ["omp barrier", "STDC FP_CONTRACT OFF", "scop"])
def test_pragma_that_belongs_to_no_loop_is_no_obstacle(pragma: str) -> None:
    code = f"{{\n#pragma {pragma}\n{FOR_I} a[i] = 0; }}"
    Everywhere(Unroll(2)).apply(statement(code), context(DECLARATIONS, live="a"))


FORCED: tuple[tuple[Transformation, str], ...] = (
    (Permut(names("j", "i"), force=True), f"{FOR_I} for (j = 0; j < n; j++) a[i * j] = a[i + j];"),
    (OpenMP(True, ("omp parallel for",), force=True), f"{FOR_I} a[row[i]] = 0;"),
    (Vector(True, ("ivdep",), force=True), f"{FOR_I} a[row[i]] = a[i];"),
    (Unroll(2, force=True), "for (i = 0; i < g(n); i++) s += 1;"),
    (Unroll(2, force=True), "for (i = 0; i < row[0]; i++) g(y);"),
)


@pytest.mark.parametrize(("transformation", "text"), FORCED)
def test_force_skips_what_cannot_be_decided(transformation: Transformation, text: str) -> None:
    node = statement(text)
    assert transformation.apply(node, context(DECLARATIONS, live="a s")) is not node


@pytest.mark.parametrize(
    ("transformation", "code", "text"),
    [
        (
            Permut(names("j", "i"), force=True),
            "ORIO-T031",
            f"{FOR_I} for (j = 0; j <= i * i; j++) c[i][j] = 0;",
        ),
        (Tile(4, "ii", force=True), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) break; }}"),
        (Tile(4, "ii", force=True), "ORIO-T027", f"{FOR_I} {{ n--; }}"),
    ],
)
def test_force_keeps_what_the_generated_code_needs(
    transformation: Transformation, code: str, text: str
) -> None:
    refusal = refusal_of(transformation, statement(text), context(DECLARATIONS, live="a c"))
    assert [d.code for d in refusal.diagnostics] == [code]


def test_force_overrules_a_dependence_and_says_so() -> None:
    around = context(DECLARATIONS, live="a")
    PARALLEL_BY_FORCE.apply(statement(f"{FOR_I} a[i + 1] = a[i];"), around)
    (text,) = around.overruled.texts
    assert text.startswith("`omp parallel for`: ")
    assert "`a[i + 1]`" in text


class Everywhere:
    """A transformation applied to the outermost loops over `i` of a block."""

    def __init__(self, inner: Transformation) -> None:
        self.inner = inner

    def check(self, node: Node, context: Context) -> None:
        self.apply(node, context)

    def apply(self, node: Node, context: Context) -> Node:
        def chosen(n: Node) -> bool:
            return type(n).__name__ == "For" and "i" in {getattr(getattr(n.init, "lvalue", None), "name", "")}

        return rewrite_where(node, chosen, self.inner.apply, context)
