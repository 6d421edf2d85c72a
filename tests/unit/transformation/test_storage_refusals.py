"""Refusals of ScalarReplace, BoundReplace, ArrCopy and Prefetch, and what they leave alone for a good reason.

The place that a refusal names is marked by `@` in the code.
"""

from __future__ import annotations

import pytest
from c_trees import context, parse, statement

from orio_py.core.diagnostics import DiagnosticError
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Refusal, Transformation
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.storage.array_copy import ArrCopy
from orio_py.transformation.storage.bound_replace import BoundReplace
from orio_py.transformation.storage.prefetch import Prefetch
from orio_py.transformation.storage.scalar_replace import ScalarReplace

DECLARATIONS = """int i, j, k, n, m, t, *row, idx[99]; unsigned u; double s, x[99], y[99], c[9][9], d[9][9];
double *p, *q, *restrict r, **rows; float *f; volatile double v[9]; struct pair { int a; } w[9];"""
FOR_I = "for (i = 0; i < n; i++)"
BOX = "for (i = 0; i < 8; i++) for (j = 0; j < 8; j++)"
C8 = ArrCopy("c[i][j]", (8, 8))

CASES: tuple[tuple[Transformation, str, str], ...] = (
    (ScalarReplace(dtype="double *"), "ORIO-T061", f"@{FOR_I} s += x[0];"),
    (ScalarReplace(dtype="while"), "ORIO-T061", f"@{FOR_I} s += x[0];"),
    (ScalarReplace(prefix="2"), "ORIO-T013", f"@{FOR_I} s += x[0];"),
    (BoundReplace(lprefix="a-b"), "ORIO-T013", f"@{FOR_I} s += x[0];"),
    (BoundReplace(uprefix=""), "ORIO-T013", f"@{FOR_I} s += x[0];"),
    (ArrCopy("c", (8,)), "ORIO-T062", f"@{BOX} c[i][j] = 1;"),
    (ArrCopy("c[i][2 * j]", (8, 8)), "ORIO-T062", f"@{BOX} c[i][j] = 1;"),
    (ArrCopy("c[i][i]", (8, 8)), "ORIO-T062", f"@{BOX} c[i][j] = 1;"),
    (ArrCopy("c[i)", (8, 8)), "ORIO-T062", f"@{BOX} c[i][j] = 1;"),
    (ArrCopy("c[i][j]", (8,)), "ORIO-T062", f"@{BOX} c[i][j] = 1;"),
    (ArrCopy("c[i]", (8,)), "ORIO-T062", f"@{BOX} c[i][j] = 1;"),
    (ArrCopy("w[i]", (8,)), "ORIO-T062", "@for (i = 0; i < 8; i++) w[i] = w[0];"),
    (ArrCopy("c[i][j]", (8, 0)), "ORIO-T011", f"@{BOX} c[i][j] = 1;"),
    (ArrCopy("c[i][j]", (8, 8), suffix="-"), "ORIO-T013", f"@{BOX} c[i][j] = 1;"),
    (ArrCopy("c[i][j]", (8, 8), dtype="a b["), "ORIO-T061", f"@{BOX} c[i][j] = 1;"),
    (ArrCopy("z[i][j]", (8, 8)), "ORIO-T060", f"@{BOX} z[i][j] = 1;"),
    (C8, "ORIO-T063", f"@{BOX} d[i][j] = 1;"),
    (C8, "ORIO-T063", f"@{BOX} d[i][j] = c[j][i];"),
    (C8, "ORIO-T063", "@for (k = 0; k < 8; k++) c[k][k] = 1;"),
    (
        C8,
        "ORIO-T030",
        "@for (i = 0; i < 8; i++) { s = 0; for (j = 0; j < 8; j++) { s += c[i][j]; i += 2; } }",
    ),
    (
        C8,
        "ORIO-T030",
        "@for (i = 0; i < 8; i++) { s = 0; for (j = 0; j < 8; j++) s += c[i][j] + c[i - 1][j]; }",
    ),
    (C8, "ORIO-T030", "@for (i = 0; i < 8; i++) { s = 0; for (j = 0; j < 9; j++) s += c[i][j]; }"),
    (C8, "ORIO-T030", "@for (i = 0; i < 8; i++) { s = 0; for (j = 0; j < 8; j++) c[i][j] = c[t][j]; }"),
    (C8, "ORIO-T021", "@for (i = 0; i != 8; i++) for (j = 0; j < 8; j++) s += c[i][j];"),
    (C8, "ORIO-T025", f"{BOX} {{ if (c[i][j] > 2) @break; }}"),
    (C8, "ORIO-T027", "for (i = 0; i < n; i++) for (j = 0; j < 8; j++) { c[i][j] = 1; @n = 3; }"),
    (C8, "ORIO-T064", "for (i = 0; i < 8; i++) for (j = @i; j < 8; j++) s += c[i][j] + c[i + 1][j];"),
    (C8, "ORIO-T064", "for (j = 0; j < 8; j++) for (i = @j; i < j + 9; i++) s += c[i][j];"),
    (C8, "ORIO-T064", "for (i = 0; i < 8; i++) @for (j = 0; j < 6; j += 2) s += c[i][j] + c[i][j + 1];"),
    (C8, "ORIO-T065", f"@{FOR_I} for (j = 0; j < 8; j++) s += c[i][j];"),
    (C8, "ORIO-T065", "for (i = 0; i < 8; i++) @for (j = 0; j <= 8; j++) s += c[i][j];"),
    (C8, "ORIO-T065", "@for (i = 0; i < 8; i++) for (j = 0; j < 8; j++) s += c[i][j] - c[i + 1][j];"),
    (C8, "ORIO-T065", "@for (i = n + 4; i >= n - 4; i--) for (j = 0; j < 8; j++) s += c[i][j];"),
    (C8, "ORIO-T066", f"{BOX} c[i][j] += @c[j][i];"),
    (C8, "ORIO-T066", f"{BOX} {{ s += c[i][j]; @c[t][i] = 2; }}"),
    (C8, "ORIO-T066", f"@{BOX} {{ s += c[i][j]; {{ double c[3][3]; c[0][0] = s; s = c[0][0]; }} }}"),
    (ArrCopy("p[i]", (8,)), "ORIO-T066", "@for (i = 0; i < 8; i++) { s += p[i]; p = q; }"),
    (ArrCopy("v[i]", (8,)), "ORIO-T066", "@for (i = 0; i < 8; i++) s += v[i];"),
    (ArrCopy("x[i]", (300000,)), "ORIO-T067", "@for (i = 0; i < 90; i++) s += x[i];"),
    (C8, "ORIO-T068", f"{BOX} if (i > 0) s += @c[i - 1][j];"),
    (C8, "ORIO-T068", f"{BOX} {{ s += c[i][j]; if (s > 2) @c[i][j] = 0; }}"),
    (C8, "ORIO-T068", f"{BOX} for (k = j; k < 5; k++) s += @c[i][j];"),
    (
        ArrCopy("c[i][j]", (8, 8)),
        "ORIO-T068",
        "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) for (k = 0; k < (int)sizeof(j); k++) s += @c[i][j];",
    ),
    (
        ArrCopy("x[i]", (8,)),
        "ORIO-T068",
        "for (i = 0; i < 8; i++) { for (k = n; k > 3; k -= 4) s += x[i]; for (; k > 0; k--) s += @x[i]; }",
    ),
    (C8, "ORIO-T041", f"@{BOX} {{ s += c[i][j]; g(s); }}"),
    (ArrCopy("p[i]", (8,)), "ORIO-T041", "@for (i = 0; i < 8; i++) q[i] = p[i];"),
    (Prefetch(None, 0), "ORIO-T011", f"@{FOR_I} s += x[i];"),
    (Prefetch(None, 1, 4), "ORIO-T011", f"@{FOR_I} s += x[i];"),
    (Prefetch("x", 1), "ORIO-T062", f"@{FOR_I} s += x[i];"),
    (Prefetch("x[", 1), "ORIO-T062", f"@{FOR_I} s += x[i];"),
    (Prefetch("y[i]", 1), "ORIO-T063", f"@{FOR_I} s += x[i];"),
    (Prefetch(None, 1), "ORIO-T063", "@s = 1;"),
    (Prefetch("x[i]", 1), "ORIO-T021", "@for (i = 0; i != n; i++) s += x[i];"),
    (Prefetch("x[i]", 1), "ORIO-T025", f"{FOR_I} {{ s += x[i]; if (s > 2) @break; }}"),
    (Prefetch("x[i]", 1), "ORIO-T024", f"{FOR_I} {{ s += x[i]; @i += 1; }}"),
    (Prefetch("x[i]", 1), "ORIO-T027", f"{FOR_I} {{ s += x[i]; @n -= 1; }}"),
    (Prefetch("x[i]", 1), "ORIO-T068", f"{FOR_I} if (i > 4) s += @x[i];"),
    (Prefetch("x[i]", 1), "ORIO-T068", f"{FOR_I} s += i > 4 ? @x[i] : 0;"),
    (Prefetch("x[0]", 1), "ORIO-T069", f"{FOR_I} s += @x[0];"),
    (Prefetch("x[t + i]", 1), "ORIO-T069", f"{FOR_I} {{ t = idx[i]; s += @x[t + i]; }}"),
    (Prefetch("x[idx[i]]", 1), "ORIO-T069", f"{FOR_I} {{ s += @x[idx[i]]; idx[i + 1] = 3; }}"),
    (Prefetch("x[abs(i)]", 1), "ORIO-T069", f"{FOR_I} s += @x[abs(i)];"),
)


@pytest.mark.parametrize(("transformation", "code", "text"), CASES)
def test_refusal(transformation: Transformation, code: str, text: str) -> None:
    node = statement(text.replace("@", ""))
    before = structure_digest(node)
    with pytest.raises(Refusal) as caught:
        transformation.apply(node, context(DECLARATIONS, live="x y c d s"))
    assert structure_digest(node) == before
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code, diagnostic.headline()
    assert diagnostic.position is not None
    assert diagnostic.position.column == text.index("@") + 1, diagnostic.headline()


@pytest.mark.parametrize(
    ("name", "values", "code"),
    [
        ("ScalarReplace", {"dtype": 4}, "ORIO-T010"),
        ("ScalarReplace", {"dtype": "int *"}, "ORIO-T061"),
        ("ScalarReplace", {"prefix": "+"}, "ORIO-T013"),
        ("ArrCopy", {"aref": "x[i]", "dimsizes": "8"}, "ORIO-T010"),
        ("ArrCopy", {"aref": "x[i]", "dimsizes": []}, "ORIO-T010"),
        ("ArrCopy", {"aref": "x[i]", "dimsizes": [0]}, "ORIO-T011"),
        ("Prefetch", {"aref": 3, "distance": 2}, "ORIO-T010"),
        ("Prefetch", {"aref": None, "distance": 0}, "ORIO-T011"),
        ("Prefetch", {"aref": None, "distance": 1, "locality": 7}, "ORIO-T011"),
        ("Prefetch", {"aref": None, "distance": 1, "locality": "3"}, "ORIO-T010"),
    ],
)
def test_arguments(name: str, values: dict[str, object], code: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        TRANSFORMATIONS[name].make(values)  # type: ignore[arg-type]
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_arguments_become_fields() -> None:
    copy = TRANSFORMATIONS["ArrCopy"].make({"aref": "x[i]", "dimsizes": 8, "dtype": "long  int"})
    assert copy == ArrCopy("x[i]", (8,), dtype="long int")
    ahead = TRANSFORMATIONS["Prefetch"].make({"aref": None, "distance": 8, "write": True})
    assert ahead == Prefetch(None, 8, write=True)


ALONE = (
    # Nothing is saved.
    f"{FOR_I} x[i] = x[i] + 1;",
    f"{FOR_I} x[i] += y[i];",
    # Another access may be the same element, or is.
    f"{FOR_I} x[0] += x[i];",
    f"{FOR_I} {{ x[t] += 1; x[k] *= x[t]; }}",
    f"{FOR_I} for (j = 0; j < n; j++) c[i][j] += c[i][k] * c[k][j];",
    # Pointers may overlap pointers and arrays of the same type.
    f"{FOR_I} p[0] += q[i];",
    f"{FOR_I} p[0] += x[i];",
    f"{FOR_I} x[0] += p[i];",
    f"{FOR_I} {{ *p += x[3]; }}",
    # Rows that lie in memory as pointers may be the same row.
    f"{FOR_I} {{ rows[0][1] += 1; rows[1][t] += rows[0][1]; }}",
    # It is not certain that the original code touches the element.
    f"{FOR_I} if (y[i] > 2) x[0] += 1;",
    f"{FOR_I} s += y[i] > 2 && x[0] > 1 ? x[0] : 1;",
    f"{FOR_I} {{ if (y[i] > 2) continue; x[0] += 1; }}",
    # Calls, volatile memory, pragmas, jumps and places that change.
    f"{FOR_I} {{ x[0] += 1; g(s); }}",
    f"{FOR_I} s += v[0] * v[0];",
    f"{FOR_I} {{ x[t] += 1; t = 1 - t; x[t] += 2; }}",
    f"{FOR_I} {{ s += x[idx[0]]; if (s > 2) idx[0]++; s -= x[idx[0]]; }}",
    f"{FOR_I} {{ x[0] += 1; if (x[0] > 3) return; x[0] *= 2; }}",
    "{\n#pragma omp parallel for\nfor (i = 0; i < n; i++) x[0] += 1;\n}",
    # Not numbers, or not elements.
    f"{FOR_I} s += w[0].a + w[0].a;",
    f"{FOR_I} rows[0] = rows[0] + 1;",
)


@pytest.mark.parametrize("text", ALONE)
def test_scalar_replace_leaves_it_alone(text: str) -> None:
    node = parse(text)
    assert ScalarReplace().apply(node, context(DECLARATIONS)) is node


def test_code_after_a_pragma_of_the_caller_gets_nothing_before_it() -> None:
    node = statement(f"{FOR_I} s += x[0];")
    assert ScalarReplace().apply(node, context(DECLARATIONS, pragmas=("omp parallel for",))) is node
    bounded = statement("for (i = 0; i < n - 1; i++) s += x[0];")
    assert BoundReplace().apply(bounded, context(DECLARATIONS, pragmas=("omp parallel for",))) is bounded


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (f"{FOR_I} r[0] += x[i];", {}),
        (f"{FOR_I} r[0] += p[i] + q[i];", {}),
        (f"{FOR_I} x[0] += f[i];", {}),
        (f"{FOR_I} p[0] += row[i];", {}),
        (f"{FOR_I} z[0] += p[i];", {"dtype": "double"}),
        (f"{FOR_I} p[0] += q[i];", {"noalias": True}),
        (f"{FOR_I} p[0] += q[i];", {"noalias": frozenset({"q"})}),
        (f"{FOR_I} rows[0][1] += rows[1][i];", {"noalias": True}),
        (f"{FOR_I} p[0] += q[i];", {"force": True}),
    ],
)
def test_scalar_replace_works(text: str, fields: dict[str, object]) -> None:
    # In these declarations the pointers are parameters, as `restrict` is only trusted among those.
    declared = {
        name: declaration
        if not declaration.pointers
        else type(declaration)(
            name,
            declaration.type,
            pointers=declaration.pointers,
            qualifiers=declaration.qualifiers,
            is_parameter=True,
            scope="parameter",
        )
        for name, declaration in context(DECLARATIONS).declarations.items()
    }
    promise = fields.pop("noalias", False)
    around = context(declarations="", assumptions=Assumptions(noalias=promise))  # type: ignore[arg-type]
    around = type(around)(declarations=declared, assumptions=around.assumptions, overruled=around.overruled)
    node = statement(text)
    assert ScalarReplace(**fields).apply(node, around) is not node  # type: ignore[arg-type]
    assert bool(around.overruled.texts) == ("force" in fields)


def test_global_scalars_may_be_reached_by_pointers() -> None:
    text = f"{FOR_I} {{ s += p[0]; p[0] *= 2; }}"
    inside = ScalarReplace().apply(statement(text), context(DECLARATIONS, exposed=frozenset("s")))
    outside = ScalarReplace().apply(statement(text), context(DECLARATIONS))
    assert "scv_1" not in emit(inside)
    assert emit(outside).startswith("if (n > 0) {\n  double scv_1 = p[0];")


def test_global_pointers_may_be_changed_by_pointers_to_them() -> None:
    text = f"{FOR_I} {{ s += p[0] * p[0]; rows[i] = q; s -= p[0]; }}"
    inside = ScalarReplace().apply(statement(text), context(DECLARATIONS, exposed=frozenset("p")))
    assert "const double scv_1 = p[0];\n  s += scv_1 * scv_1;\n" in emit(inside)


def test_scalars_for_elements_of_unknown_type_have_that_of_the_element() -> None:
    node = statement("for (j = 0; j < 9; j++) z[i][2] += x[j];")
    text = emit(ScalarReplace().apply(node, context(DECLARATIONS)))
    assert text.startswith("__typeof__(z[0][0]) scv_1 = z[i][2];")
    read = emit(ScalarReplace().apply(statement(f"{FOR_I} s += z[0];"), context(DECLARATIONS)))
    assert "const __typeof__(z[0]) scv_1 = z[0];" in read


def test_names_are_fresh() -> None:
    node = statement(f"{FOR_I} {{ double scv_1 = y[i]; s += scv_1 * x[0]; }}")
    result = emit(ScalarReplace().apply(node, context(DECLARATIONS + "double scv_2;")))
    assert "const double scv_1_2 = x[0];" in result


@pytest.mark.parametrize(
    "text",
    [
        # Trivial bounds, and bounds that the loop or a call may change.
        f"{FOR_I} s += x[i];",
        "for (i = -3; i < 9; i++) s += x[3];",
        "for (i = (short)1; i < (int)sizeof(double); i++) s += x[3];",
        "for (i = 0; i < n - 1; i++) n -= 2;",
        "for (i = 0; i < row[0]; i++) idx[3] = row[i] = 4;",
        "for (i = 0; i < row[0]; i++) g(row);",
        "for (i = 0; i < g(n); i++) s += 1;",
        "for (i = 0; i < m++ + 1; i++) s += 1;",
        "for (i = 0; i < v[0] + 1; i++) s += 1;",
        "for (i = 0; i < n - 1; i++) i += 2;",
        # The type of the bound is not certain.
        "for (i = 0; i < n * s; i++) s += 1;",
        "for (i = 0; i < z(n) - 1; i++) s += 1;",
        "for (i = 0; i < N + 1; i++) s += 1;",
    ],
)
def test_bound_replace_leaves_it_alone(text: str) -> None:
    node = statement(text)
    assert BoundReplace().apply(node, context(DECLARATIONS, macros={"N": "(n << m(2))"})) is node


@pytest.mark.parametrize(
    ("bound", "kind"),
    [
        ("n - 1", "int"),
        ("u + 1", "unsigned"),
        ("n + 1L", "long"),
        ("z + 1", "size_t"),
        ("h * 2", "int"),
        ("l + n", "long"),
        ("u * 2ul", "unsigned long"),
        ("(n < m ? n : m)", "int"),
        ("(short)n", "int"),
        ("n << 2", "int"),
    ],
)
def test_bound_replace_keeps_the_type_of_the_comparison(bound: str, kind: str) -> None:
    around = context(DECLARATIONS + "size_t z; unsigned short h; long l;")
    result = emit(BoundReplace().apply(statement(f"for (i = 0; i < {bound}; i++) s += 1;"), around))
    assert result.startswith(f"const {kind} ub_1 = ")


@pytest.mark.parametrize(
    ("index", "bound", "kind"),
    [
        # A comparison with an unsigned index is one of unsigned numbers, whatever the bound is.
        ("unsigned", "n - 1", "unsigned"),
        ("unsigned", "(unsigned short)(n - 1)", "unsigned"),
        ("size_t", "(short)n", "size_t"),
        ("size_t", "(long)n", "size_t"),
        ("unsigned", "n + 1L", "long"),
        ("unsigned char", "n - 1", "int"),
        ("int", "u + 1", "unsigned"),
    ],
)
def test_bound_replace_compares_as_the_index_does(index: str, bound: str, kind: str) -> None:
    loop = statement(f"for ({index} k = 0; k < {bound}; k++) s += 1;")
    result = emit(BoundReplace().apply(loop, context(DECLARATIONS)))
    assert result.startswith(f"const {kind} ub_1 = ")


def test_bounds_do_not_move_where_they_might_not_be_evaluated() -> None:
    node = statement(f"{FOR_I} for (j = 0; j < m - 1; j++) s += 1;")
    assert emit(BoundReplace().apply(node, context(DECLARATIONS))).startswith(f"{FOR_I} {{\n  const int ub_1")


def test_array_copy_forced_is_noted() -> None:
    around = context(DECLARATIONS)
    ArrCopy("p[i]", (8,), force=True).apply(statement("for (i = 0; i < 8; i++) q[i] = p[i];"), around)
    assert around.overruled.texts == ("ArrCopy: `p` and `q` are taken not to overlap",)


def test_array_copy_stays_inside_loops_that_change_the_tile() -> None:
    code = "for (k = 0; k < n; k++) for (t = 0; t < 4; t++) for (i = k; i < k + 8; i++) s += x[i];"
    result = emit(ArrCopy("x[i]", (8,)).apply(statement(code), context(DECLARATIONS)))
    assert result.startswith("for (k = 0; k < n; k++) {\n  double x_buf[8];\n")


def test_array_copy_takes_the_type_that_is_given() -> None:
    node = statement("for (i = 0; i < 8; i++) s += z[i];")
    assert "float z_copy[8];" in emit(
        ArrCopy("z[i]", (8,), "_copy", "float").apply(node, context("double s;"))
    )


def test_prefetch_takes_one_reference_of_each_shape() -> None:
    node = statement(f"{FOR_I} s += x[i] + x[i + 1] + c[i][t] + y[0];")
    result = emit(Prefetch(None, 4).apply(node, context(DECLARATIONS)))
    assert result.count("__builtin_prefetch") == 2


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        *((kind, 2**21) for kind in ("char", "_Bool")),
        ("short", 2**20),
        *((kind, 2**19) for kind in ("int", "unsigned", "float")),
        *((kind, 2**18) for kind in ("double", "long")),
        ("long double", 2**17),
    ],
)
def test_largest_buffer(kind: str, most: int) -> None:
    inner = context(f"int i; {kind} s, big[9999999];", live="s")
    for extra in (0, 1):
        node = statement(f"for (i = 0; i < {most + extra}; i++) s += big[i];")
        copy = ArrCopy("big[i]", (most + extra,))
        if not extra:
            assert f"[{most}]" in emit(copy.apply(node, inner))
            continue
        with pytest.raises(Refusal) as caught:
            copy.apply(node, inner)
        assert [d.code for d in caught.value.diagnostics] == ["ORIO-T067"]


def test_refusal_of_a_generated_loop_names_its_first_part_with_a_place() -> None:
    node = statement(f"{FOR_I} s += x[i];")
    node.coord = None
    with pytest.raises(Refusal) as caught:
        ArrCopy("y[i]", (8,)).apply(node, context(DECLARATIONS))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.position is not None
    assert diagnostic.position.column == 6
