"""Refusals of Fuse, Distribute, Interchange, Reverse, Coalesce and StripMine, each with its code and its place.

The place is marked by `@` in the code.  Beside them stand the near misses that are not refused.
"""

from __future__ import annotations

import pytest
from c_trees import context, parse, statement

from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import For
from orio_py.ctree.parse import position
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Refusal, Transformation
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.parallel.pragma import Pragma
from orio_py.transformation.restructuring.coalesce import Coalesce
from orio_py.transformation.restructuring.distribute import Distribute, distribute_loop
from orio_py.transformation.restructuring.fuse import Fuse, fuse_loops
from orio_py.transformation.restructuring.interchange import Interchange
from orio_py.transformation.restructuring.reverse import Reverse
from orio_py.transformation.restructuring.strip_mine import StripMine
from orio_py.transformation.sites import rewrite_where

DECLARATIONS = """int i, j, k, n, m, row[99]; unsigned u; short h; volatile int v;
double x, s, t, a[99], b[99], y[99], *p, *q, *restrict r, c[9][9], d[9][9];"""

FOR_I = "for (i = 0; i < n; i++)"
FOR_J = "for (j = 0; j < n; j++)"
IJ = Fuse(("i", "j"))

CASES: tuple[tuple[Transformation, str, str], ...] = (
    (Fuse(depth=0), "ORIO-T011", f"@{{ {FOR_I} a[i] = 0; {FOR_I} b[i] = 0; }}"),
    (Fuse(("k",)), "ORIO-T015", f"@{{ {FOR_I} a[i] = 0; {FOR_I} b[i] = 0; }}"),
    (IJ, "ORIO-T021", "{ @for (i = 0; i != n; i++) a[i] = 0; for (j = 0; j != n; j++) b[j] = 0; }"),
    (IJ, "ORIO-T024", f"{{ {FOR_I} a[i] = 0; {FOR_J} {{ b[j] = 0; @j++; }} }}"),
    (Fuse(), "ORIO-T025", f"{{ {FOR_I} a[i] = 0; {FOR_I} {{ if (a[i] > 0) @break; }} }}"),
    (Fuse(), "ORIO-T027", f"{{ {FOR_I} @n--; {FOR_I} a[i] = 0; }}"),
    (Fuse(), "ORIO-T027", f"{{ {FOR_I} a[i] = 0; {FOR_I} @n--; }}"),
    (Fuse(), "ORIO-T027", "{ @for (i = m; i < n; i++) m = 0; for (i = m; i < n; i++) a[i] = 0; }"),
    (Fuse(("i",), depth=2), "ORIO-T030", f"{{ @{FOR_I} a[i] = 0; {FOR_I} b[i] = 0; }}"),
    (Fuse(), "ORIO-T040", f"{{ {FOR_I} @a[i] = 0; {FOR_I} b[i] = a[i + 1]; }}"),
    (Fuse(), "ORIO-T040", f"{{ {FOR_I} b[i] = @a[i - 1]; {FOR_I} a[i] = 1; }}"),
    (Fuse(), "ORIO-T040", f"{{ {FOR_I} @s += a[i]; {FOR_I} b[i] = s; }}"),
    (Fuse(), "ORIO-T040", f"{{ {FOR_I} @s += a[i]; {FOR_I} s += b[i]; }}"),
    (
        Fuse(depth=2),
        "ORIO-T040",
        f"{{ {FOR_I} {FOR_J} @c[i][j] = 0; {FOR_I} {FOR_J} d[i][j] = c[i][j + 1]; }}",
    ),
    (Fuse(), "ORIO-T041", f"{{ {FOR_I} a[row[i]] = 0; {FOR_I} b[i] = @a[i]; }}"),
    (Fuse(), "ORIO-T041", f"{{ {FOR_I} a[i] = @g(i); {FOR_I} b[i] = 0; }}"),
    (IJ, "ORIO-T070", f"{{ {FOR_I} a[i] = 0; @for (j = 0; j < m; j++) b[j] = 0; }}"),
    (IJ, "ORIO-T070", f"{{ {FOR_I} a[i] = 0; @for (j = 0; j <= n; j++) b[j] = 0; }}"),
    (IJ, "ORIO-T070", f"{{ {FOR_I} a[i] = 0; @for (unsigned j = 0; j < n; j++) b[j] = 0; }}"),
    (IJ, "ORIO-T071", f"{{ {FOR_I} a[i] = 0; @{FOR_J} {{ for (i = 0; i < 3; i++) c[j][i] = 0; }} }}"),
    (IJ, "ORIO-T072", f"{{ {FOR_I} s += a[i]; @t = s; {FOR_J} a[j] -= t; }}"),
    (IJ, "ORIO-T072", f"{{ {FOR_I} s += a[i]; @g(); {FOR_J} y[j] = 0; }}"),
    (IJ, "ORIO-T072", f"{{ {FOR_I} s += p[i]; @q[0] = s; {FOR_J} x += p[j]; }}"),
    (IJ, "ORIO-T072", f"{{ {FOR_I} s += a[i]; @v = 3; {FOR_J} y[j] = 0; }}"),
    (IJ, "ORIO-T072", f"{{ {FOR_I} s += a[i]; double @z = s; {FOR_J} y[j] = z; }}"),
    (Fuse(), "ORIO-T073", f"@{{ {FOR_I} a[i] = 0; for (i = 0; i < m; i++) b[i] = 0; }}"),
    (Fuse(), "ORIO-T073", f"@{{ {FOR_I} a[i] = 0; s = 1; {FOR_I} b[i] = 0; }}"),
    (Fuse(), "ORIO-T073", f"@{FOR_I} a[i] = 0;"),
    (IJ, "ORIO-T073", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Distribute(), "ORIO-T020", "@while (n--) s++;"),
    (Distribute(loop="k"), "ORIO-T015", f"@{FOR_I} {{ a[i] = 0; b[i] = 0; }}"),
    (Distribute(), "ORIO-T024", f"{FOR_I} {{ a[i] = 0; @i++; }}"),
    (Distribute(), "ORIO-T025", f"{FOR_I} {{ a[i] = 0; if (n > 4) @continue; b[i] = 0; }}"),
    (Distribute(), "ORIO-T027", f"{FOR_I} {{ a[i] = 0; @n = 4; }}"),
    (Distribute(), "ORIO-T028", "for (i = 0; i < @g(n); i++) { a[i] = 0; b[i] = 0; }"),
    (Distribute(((0,), (1,))), "ORIO-T040", f"{FOR_I} {{ a[i] = b[i]; @b[i + 1] = 0; }}"),
    (Distribute(((1,), (0,))), "ORIO-T040", f"{FOR_I} {{ @a[i] = 1; b[i] = a[i]; }}"),
    (Distribute(((0,), (1,)), strip=0), "ORIO-T040", f"{FOR_I} {{ t = a[i]; y[i] = @t; }}"),
    (Distribute(((0,), (1,))), "ORIO-T041", f"{FOR_I} {{ if (a[i] > 0) @t = a[i]; y[i] = t; }}"),
    (Distribute(((0,), (1,))), "ORIO-T040", f"{FOR_I} {{ y[i] = t; @t = a[i]; }}"),
    (Distribute(((0,), (1,))), "ORIO-T040", f"{FOR_I} {{ t = b[i]; @b[i + 1] = t; }}"),
    (Distribute(((0, 2), (1,))), "ORIO-T040", f"{FOR_I} {{ t = a[i]; y[i] = @t; t = b[i]; }}"),
    (Distribute(), "ORIO-T041", f"{FOR_I} {{ a[i] = @g(i); b[i] = 0; }}"),
    (Distribute(((0,),)), "ORIO-T074", f"@{FOR_I} {{ a[i] = 0; b[i] = 0; }}"),
    (Distribute(((0, 1), (1,))), "ORIO-T074", f"@{FOR_I} {{ a[i] = 0; b[i] = 0; }}"),
    (Distribute(((0,), (1,), (2,))), "ORIO-T074", f"@{FOR_I} {{ a[i] = 0; b[i] = 0; }}"),
    (Distribute(), "ORIO-T075", f"@{FOR_I} a[i] = 0;"),
    (Distribute(strip=0), "ORIO-T075", f"@{FOR_I} {{ t = a[i]; b[i] = t; }}"),
    (Distribute(), "ORIO-T075", f"@{FOR_I} {{ t = a[i]; a[i + 1] = t; }}"),
    (Distribute(), "ORIO-T075", f"@{FOR_I} {{ a[i + 1] = b[i]; b[i + 1] = a[i]; }}"),
    (Distribute(((0,), (1,)), strip=0), "ORIO-T076", f"{FOR_I} {{ double @z = a[i]; b[i] = z; }}"),
    (Interchange("i", "k"), "ORIO-T015", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Interchange("j", "j"), "ORIO-T016", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Interchange("i", "j"), "ORIO-T030", f"@{FOR_I} {{ a[i] = 0; {FOR_J} c[i][j] = 0; }}"),
    (Interchange("j", "i"), "ORIO-T030", f"@{{ {FOR_I} a[i] = 0; {FOR_J} b[j] = 0; }}"),
    (Interchange("j", "i"), "ORIO-T031", f"@{FOR_I} for (j = 0; j <= row[i]; j++) c[i][j] = 0;"),
    (Interchange("i", "j"), "ORIO-T040", f"{FOR_I} {FOR_J} @c[i + 1][j] = c[i][j + 1];"),
    (Interchange("i", "j"), "ORIO-T041", f"{FOR_I} {FOR_J} @a[i * j] = a[i + j];"),
    (Reverse(), "ORIO-T020", f"@{{ {FOR_I} a[i] = 0; s = 1; }}"),
    (Reverse("k"), "ORIO-T015", f"@{FOR_I} a[i] = 0;"),
    (Reverse(), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) @break; }}"),
    (Reverse(), "ORIO-T027", f"{FOR_I} {{ @n--; }}"),
    (Reverse(), "ORIO-T040", f"{FOR_I} a[i] = @a[i + 1];"),
    (Reverse(), "ORIO-T040", f"{FOR_I} @s += a[i];"),
    (Reverse(), "ORIO-T040", f"{FOR_I} @x = a[i];"),
    (Reverse(), "ORIO-T041", f"{FOR_I} @a[row[i]] = a[i];"),
    (Reverse(), "ORIO-T077", "for (h = @m; h < n; h++) a[h] = 0;"),
    (Reverse(), "ORIO-T077", "for (i = m; i < @u; i += 2) a[i] = 0;"),
    (Coalesce("i"), "ORIO-T013", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Coalesce("c"), "ORIO-T013", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Coalesce("ij", "k"), "ORIO-T015", f"@{FOR_I} {FOR_J} c[i][j] = 0;"),
    (Coalesce("ij"), "ORIO-T020", "@s = 1;"),
    (Coalesce("ij"), "ORIO-T024", f"{FOR_I} {FOR_J} {{ a[j] = 0; @i++; }}"),
    (Coalesce("ij"), "ORIO-T025", f"{FOR_I} {FOR_J} if (a[j] > 0) @break;"),
    (Coalesce("ij"), "ORIO-T027", f"{FOR_I} {FOR_J} @n--;"),
    (Coalesce("ij"), "ORIO-T030", f"@{FOR_I} a[i] = 0;"),
    (Coalesce("ij"), "ORIO-T030", f"@{FOR_I} {{ s = 1; {FOR_J} c[i][j] = 0; }}"),
    (Coalesce("ij"), "ORIO-T030", f"{FOR_I} for (j = 0; j < @i; j++) c[i][j] = 0;"),
    (Coalesce("ij"), "ORIO-T077", f"{FOR_I} @for (j = m; j < u; j++) a[j] = 0;"),
    (StripMine(0, "ii"), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (StripMine(4, "i"), "ORIO-T013", f"@{FOR_I} a[i] = 0;"),
    (StripMine(6, "ii"), "ORIO-T014", "@for (i = 0; i < n; i += 4) a[i] = 0;"),
    (StripMine(4, "ii"), "ORIO-T021", "@for (i = 0; i != n; i++) a[i] = 0;"),
)


def place_in(code: str) -> tuple[str, int]:
    """The code without its mark, and the column of the mark."""
    return code.replace("@", ""), code.index("@") + 1


@pytest.mark.parametrize(("transformation", "code", "text"), CASES)
def test_refusal(transformation: Transformation, code: str, text: str) -> None:
    plain, column = place_in(text)
    node = statement(plain)
    before = structure_digest(node)
    with pytest.raises(Refusal) as caught:
        transformation.apply(node, context(DECLARATIONS, live="a b y c d s x"))
    assert structure_digest(node) == before
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code, diagnostic.headline()
    assert type(transformation).__name__ in diagnostic.message or code in {
        "ORIO-T011",
        "ORIO-T013",
        "ORIO-T014",
        "ORIO-T015",
        "ORIO-T016",
        "ORIO-T030",
        "ORIO-T031",
    }
    assert diagnostic.position is not None
    assert (diagnostic.position.line, diagnostic.position.column) == (1, column), diagnostic.headline()


@pytest.mark.parametrize(
    ("body", "numbers"), [("a[i] = 0;", "just 0"), ("{ a[i] = 0; b[i] = 0; }", "0 to 1")]
)
def test_numbers_of_the_statements(body: str, numbers: str) -> None:
    with pytest.raises(Refusal) as caught:
        Distribute(((7,),)).apply(statement(f"{FOR_I} {body}"), context(DECLARATIONS))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "ORIO-T074"
    assert f"they are {numbers}, and the groups hold 7" in diagnostic.message


def changed(transformation: Transformation, code: str, live: str = "a b c d y", **fields: object) -> str:
    """The code after the transformation, in one line."""
    tree = statement(code)
    before = structure_digest(tree)
    result = transformation.apply(tree, context(DECLARATIONS, live=live, **fields))
    assert structure_digest(tree) == before
    return " ".join(emit(result).split())


@pytest.mark.parametrize(
    ("transformation", "code"),
    [
        (Fuse(), f"{{\n#pragma omp parallel for\n{FOR_I} a[i] = 0; {FOR_I} b[i] = 0; }}"),
        (Distribute(loop="i"), f"{{\n#pragma GCC ivdep\n{FOR_I} {{ a[i] = 0; b[i] = 0; }} }}"),
        (Reverse("i"), f"{{\n#pragma omp simd\n{FOR_I} a[i] = 0; }}"),
    ],
)
def test_loop_with_a_pragma_before_it(transformation: Transformation, code: str) -> None:
    with pytest.raises(Refusal) as caught:
        changed(transformation, code)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "ORIO-T023"
    assert diagnostic.position is not None
    assert diagnostic.position.line == 3


def test_a_pragma_between_the_loops_is_not_moved() -> None:
    with pytest.raises(Refusal) as caught:
        changed(IJ, f"{{ {FOR_I} a[i] = 0;\n#pragma omp simd\n{FOR_J} b[j] = 0; }}")
    assert caught.value.diagnostics[0].code == "ORIO-T072"


@pytest.mark.parametrize(
    ("code", "live"),
    [
        (f"{{ {FOR_I} {{ t = a[i]; b[i] = t; }} {FOR_I} {{ t = y[i]; a[i] = t; }} }}", "t"),
        (f"{{ {FOR_I} {{ t = a[i]; b[i] = t; }} {FOR_I} {{ if (n > 3) {{ t = y[i]; a[i] = t; }} }} }}", ""),
        (f"{{ {FOR_I} s = a[i]; {FOR_I} b[i] = a[i]; }}", "s"),
        (
            f"{{ {FOR_I} for (k = 0; k < 3; k++) c[i][k] = 0; {FOR_I} for (k = 0; k < i; k++) d[i][k] = 0; }}",
            "k",
        ),
        (f"{{ {FOR_I} s = s + a[i]; {FOR_I} t = t * b[i]; }}", "s t"),
    ],
)
def test_scalars_that_pass_no_value_between_the_bodies(code: str, live: str) -> None:
    assert changed(Fuse(), code, live).count("i < n") == 1


@pytest.mark.parametrize(
    ("code", "live"),
    [
        (f"{{ {FOR_I} {{ t = a[i]; b[i] = t; }} {FOR_I} {{ if (n > 3) {{ t = y[i]; a[i] = t; }} }} }}", "t"),
        (
            f"{{ {FOR_I} for (k = 0; k < 3; k++) c[i][k] = 0; "
            f"{FOR_I} if (a[i] > 0) for (k = 0; k < i; k++) d[i][k] = 0; }}",
            "k",
        ),
        (f"{{ {FOR_I} t = a[i]; {FOR_I} b[i] = t; }}", ""),
    ],
)
def test_scalars_that_pass_a_value_on(code: str, live: str) -> None:
    with pytest.raises(Refusal):
        changed(Fuse(), code, live)


def test_sums_are_fused_where_the_specification_allows_it() -> None:
    code = f"{{ {FOR_I} s += a[i]; {FOR_I} s += b[i]; }}"
    free = Assumptions(reassociate=True)
    assert changed(Fuse(), code, "s", assumptions=free) == f"{FOR_I} {{ s += a[i]; s += b[i]; }}"
    mixed = f"{{ {FOR_I} s += a[i]; {FOR_I} s *= b[i]; }}"
    with pytest.raises(Refusal):
        changed(Fuse(), mixed, "s", assumptions=free)


def test_statements_between_the_loops_move_to_where_they_may() -> None:
    code = f"{{ {FOR_I} s += a[i]; x = s; t = 0; {FOR_J} t += b[j]; }}"
    assert changed(IJ, code, "s t x") == f"t = 0; {FOR_I} {{ s += a[i]; t += b[i]; }} x = s;"


@pytest.mark.parametrize(
    ("left", "right", "promises"),
    [("p", "r", {}), ("a", "p", {}), ("p", "q", {"noalias": True}), ("p", "q", {"noalias": frozenset("q")})],
)
def test_a_statement_moves_past_arrays_that_cannot_overlap(
    left: str, right: str, promises: dict[str, bool]
) -> None:
    code = f"{{ {FOR_I} s += {left}[i]; {right}[0] = s; {FOR_J} x += {left}[j]; }}"
    result = changed(IJ, code, "s x", assumptions=Assumptions(**promises))
    assert result.endswith(f"}} {right}[0] = s;")


def test_the_index_of_the_second_loop_gets_its_last_value() -> None:
    code = f"{{ {FOR_I} a[i] = 0; {FOR_J} b[j] = 0; }}"
    assert changed(Fuse(), code, "a b j").startswith(f"{FOR_I} {{ a[i] = 0; b[i] = 0; }} j = ")
    assert changed(Fuse(), code, "a b i") == f"{FOR_I} {{ a[i] = 0; b[i] = 0; }}"


def test_a_third_loop_that_reads_the_index_of_the_second_sees_its_last_value() -> None:
    code = f"{{ {FOR_I} a[i] = 0; {FOR_J} b[j] = 0; for (k = 0; k < n; k++) y[k] = j; }}"
    result = changed(Fuse(), code)
    assert result.startswith("j = ")
    assert result.endswith("{ a[i] = 0; b[i] = 0; y[i] = j; }")


def test_indices_that_are_live_in_another_order_are_refused() -> None:
    code = (
        "{ for (i = 1; i < n; i++) for (j = 0; j < i; j++) c[i][j] = 0; "
        "for (j = 1; j < n; j++) for (i = 0; i < j; i++) d[j][i] = c[j][i]; }"
    )
    with pytest.raises(Refusal) as caught:
        changed(Fuse(depth=2), code, "i j")
    assert caught.value.diagnostics[0].code == "ORIO-T029"


def test_exchanged_index_names_are_replaced_together() -> None:
    code = (
        "{ for (i = 0; i < n; i++) for (j = 0; j < i; j++) c[i][j] = 0; "
        "for (j = 0; j < n; j++) for (i = 0; i < j; i++) d[j][i] = c[j][i]; }"
    )
    assert changed(Fuse(depth=2), code) == (
        "for (i = 0; i < n; i++) for (j = 0; j < i; j++) { c[i][j] = 0; d[i][j] = c[i][j]; }"
    )


def test_declarations_of_the_first_body_do_not_reach_the_second() -> None:
    code = f"{{ {FOR_I} {{ double x = a[i]; b[i] = x; }} {FOR_I} y[i] = x; }}"
    assert changed(Fuse(), code) == f"{FOR_I} {{ {{ double x = a[i]; b[i] = x; }} y[i] = x; }}"


def test_distribute_sorts_the_loops_by_their_dependences() -> None:
    code = f"{FOR_I} {{ y[i] = b[i - 1]; b[i] = a[i]; }}"
    assert changed(Distribute(), code) == f"{FOR_I} b[i] = a[i]; {FOR_I} y[i] = b[i - 1];"


def test_distribute_keeps_the_last_value_of_an_inner_index() -> None:
    code = f"{FOR_I} {{ for (k = 0; k < i; k++) c[i][k] = 0; if (a[i] > 0) for (k = 0; k < 3; k++) d[i][k] = 0; }}"
    assert changed(Distribute(), code).count("i < n") == 2
    with pytest.raises(Refusal):
        changed(Distribute(), code, "k")
    with pytest.raises(Refusal):
        changed(Distribute(((0,), (1,))), code, "k")
    with pytest.raises(Refusal):
        changed(Distribute(((1,), (0,))), code.replace("if (a[i] > 0) ", ""), "k")


def test_one_group_of_all_statements_changes_nothing() -> None:
    node = statement(f"{FOR_I} {{ a[i] = 0; b[i] = 0; }}")
    assert Distribute(((0, 1),)).apply(node, context(DECLARATIONS)) is node


def test_a_loop_of_one_iteration_is_its_own_reverse() -> None:
    node = statement("for (i = 2; i < 3; i++) a[i] = a[i - 1];")
    assert Reverse().apply(node, context(DECLARATIONS)) is node


@pytest.mark.parametrize(
    ("header", "reversed_header"),
    [
        ("i = 0; i < n; i++", "i = n - 1; i >= 0; i--"),
        ("i = 0; i <= n; i++", "i = n; i >= 0; i--"),
        ("i = n - 1; i >= 0; i--", "i = 0; i < n; i++"),
        ("i = m; i < n; i++", "i = n; i > m; i--"),
        ("i = 1; i < 12; i += 4", "i = 9; i >= 1; i -= 4"),
        ("u = 0; u < 12; u += 5", "u = 15; u > 0; u -= 5"),
        ("u = 9; u > 3; u -= 2", "u = 5; u <= 9; u += 2"),
        ("i = 0; i < n; i += 4", "i = n > 0 ? (n - 1) / 4 * 4 : -4; i >= 0; i -= 4"),
    ],
)
def test_reversed_headers(header: str, reversed_header: str) -> None:
    assert changed(Reverse(), f"for ({header}) s = 1;", "").startswith(f"for ({reversed_header})")


def test_reverse_takes_sums_where_the_specification_allows_it() -> None:
    assert changed(Reverse(), f"{FOR_I} s += a[i];", "s", assumptions=Assumptions(reassociate=True))


FORCED: tuple[tuple[Transformation, str, str], ...] = (
    (Fuse(force=True), "Fuse:", f"{{ {FOR_I} a[i] = 0; {FOR_I} b[i] = a[i + 1]; }}"),
    (Distribute(((0,), (1,)), strip=0, force=True), "Distribute:", f"{FOR_I} {{ t = a[i]; b[i] = t; }}"),
    (Distribute(((0,), (1,)), force=True), "Distribute:", f"{FOR_I} {{ b[i] = t; t = a[i]; }}"),
    (Distribute(force=True), "Distribute:", f"{FOR_I} {{ a[i] = g(i); b[i] = 0; }}"),
    (Interchange("i", "j", force=True), "Interchange:", f"{FOR_I} {FOR_J} a[i * j] = a[i + j];"),
    (Reverse(force=True), "Reverse:", f"{FOR_I} a[row[i]] = 0;"),
)


@pytest.mark.parametrize(("transformation", "text", "code"), FORCED)
def test_force_overrules_the_dependence_test_and_says_so(
    transformation: Transformation, text: str, code: str
) -> None:
    node, around = statement(code), context(DECLARATIONS, live="a b")
    assert transformation.apply(node, around) is not node
    (told,) = around.overruled.texts
    assert told.startswith(text)


def test_scalars_pass_through_arrays_where_every_iteration_sets_them() -> None:
    code = f"{FOR_I} {{ double z = a[i]; y[i] = z; b[i] = z; }}"
    assert "double z_x[8]; for (i = i_strip;" in changed(Distribute(strip=8), code)
    apart = changed(Distribute(((0, 1), (2,)), strip=8), code)
    assert "{ double z = a[i]; z_x[i - i_strip] = z; y[i] = z; }" in apart
    assert "b[i] = z_x[i - i_strip];" in apart
    kept = changed(Distribute(strip=8), f"{FOR_I} {{ t += a[i]; y[i] = t; }}")
    assert "{ t += a[i]; t_x[i - i_strip] = t; }" in kept


def test_force_keeps_declarations_with_their_uses() -> None:
    code = f"{FOR_I} {{ double z = g(i); b[i] = z; a[i] = 0; }}"
    result = changed(Distribute(force=True), code)
    assert result == f"{FOR_I} {{ double z = g(i); b[i] = z; }} {FOR_I} a[i] = 0;"


def test_loops_are_fused_and_split_by_node() -> None:
    first, second = parse(f"{FOR_I} a[i] = 0; {FOR_J} b[j] = 0;").block_items or []
    assert isinstance(first, For)
    assert isinstance(second, For)
    around = context(DECLARATIONS, live="a b j")
    fused = fuse_loops(first, second, around)
    assert fused.statements[0] is fused.loop
    assert len(fused.statements) == 2
    loops = distribute_loop(fused.loop, ((0,), (1,)), around)
    assert [isinstance(loop, For) for loop in loops] == [True, True]


@pytest.mark.parametrize(
    ("name", "values", "code"),
    [
        ("Fuse", {"loops": 3}, "ORIO-T010"),
        ("Fuse", {"depth": 0}, "ORIO-T011"),
        ("Distribute", {"groups": [0, 1]}, "ORIO-T010"),
        ("Distribute", {"groups": [[0], []]}, "ORIO-T010"),
        ("Distribute", {"groups": [[0], [True]]}, "ORIO-T010"),
        ("Distribute", {"groups": 2}, "ORIO-T010"),
        ("Distribute", {"loop": 2}, "ORIO-T010"),
        ("Distribute", {"strip": -1}, "ORIO-T010"),
        ("Distribute", {"strip": 70000}, "ORIO-T010"),
        ("Distribute", {"strip": True}, "ORIO-T010"),
        ("Interchange", {"first": "i", "second": 2}, "ORIO-T010"),
        ("Reverse", {"loop": ["i"]}, "ORIO-T010"),
        ("Coalesce", {"index": "2"}, "ORIO-T013"),
        ("StripMine", {"tsize": 0, "tindex": "ii"}, "ORIO-T011"),
    ],
)
def test_arguments_of_the_wrong_kind(name: str, values: dict[str, object], code: str) -> None:
    with pytest.raises(Refusal) as caught:
        TRANSFORMATIONS[name].make(values)  # type: ignore[arg-type]
    assert caught.value.diagnostics[0].code == code


def test_arguments_become_fields() -> None:
    assert TRANSFORMATIONS["Fuse"].make({"loops": ["i", ["j"]], "depth": 2}) == Fuse(
        (LoopName(("i",)), LoopName(("j",), optional=True)), 2
    )
    assert TRANSFORMATIONS["Distribute"].make({"groups": [[0, 2], (1,)], "loop": "i"}) == Distribute(
        ((0, 2), (1,)), "i"
    )


def test_a_generated_statement_in_the_way_has_the_place_of_the_loop_behind_it() -> None:
    inner = context(DECLARATIONS, live="a y")
    code = statement(f"{{ {FOR_I} a[i] = 0; {FOR_J} y[j] = 0; }}")
    second = (code.block_items or [])[1]  # type: ignore[attr-defined]
    marked = rewrite_where(code, lambda n: n is second, Pragma(("GCC unroll 2",)).apply, inner)
    with pytest.raises(Refusal) as caught:
        IJ.apply(marked, inner)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "ORIO-T072"
    assert diagnostic.position is not None
    assert diagnostic.position == position(second)
