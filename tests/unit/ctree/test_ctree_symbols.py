"""Declarations as data, and what code does to variables."""

from __future__ import annotations

import pytest

from orio_py.core.source import SourceFile
from orio_py.ctree.known_functions import PURE_FUNCTIONS
from orio_py.ctree.nodes import Compound, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.symbols import CDeclaration, declaration_of, effects


def parse(text: str) -> Compound:
    return parse_statements(text, source=SourceFile("t.c", text.encode("latin-1")), start=0)


def declared(text: str) -> CDeclaration:
    return declaration_of(parse(text).block_items[0], scope="parameter")


@pytest.mark.parametrize(
    ("text", "type_", "dimensions", "pointers", "qualifiers"),
    [
        ("double x;", "double", (), 0, set()),
        ("double a[restrict 10][n + 1];", "double", ("10", "n + 1"), 0, {"restrict"}),
        ("double a[][4];", "double", ("", "4"), 0, set()),
        ("double (*A)[n];", "double", ("", "n"), 0, set()),
        ("const double *restrict p;", "double", (), 1, {"const", "restrict"}),
        ("double *const p;", "double", (), 1, set()),
        ("volatile unsigned int v;", "unsigned int", (), 0, {"volatile"}),
        ("struct s *q;", "struct s", (), 1, set()),
        ("char *argv[10];", "char", ("10",), 1, set()),
        ("real **pp;", "real", (), 2, set()),
        ("double *__restrict__ p;", "double", (), 1, {"restrict"}),
        ("double (*f)(double);", "double (*)(double)", (), 0, set()),
    ],
)
def test_declaration(
    text: str, type_: str, dimensions: tuple[str, ...], pointers: int, qualifiers: set[str]
) -> None:
    found = declared(text)
    assert (found.type, found.dimensions, found.pointers, found.qualifiers) == (
        type_,
        dimensions,
        pointers,
        qualifiers,
    )
    assert found.text.replace(" ", "") == text.rstrip(";").replace(" ", "")
    assert found.is_parameter
    assert found.scope == "parameter"


def test_initialiser_and_storage() -> None:
    found = declared("static int x[2] = {1, 2};")
    assert found.initialiser == "{1, 2}"
    assert found.storage == {"static"}
    assert found.text == "static int x[2]"


@pytest.mark.parametrize(
    ("type_", "kinds"),
    [
        ("int", "integer scalar"), ("unsigned", "integer unsigned scalar"), ("long long int", "integer scalar"),
        ("unsigned char", "integer unsigned scalar"), ("size_t", "integer unsigned scalar"), ("bool", "integer unsigned scalar"),
        ("int64_t", "integer scalar"), ("uint8_t", "integer unsigned scalar"), ("ptrdiff_t", "integer scalar"),
        ("double", "floating scalar"), ("float", "floating scalar"), ("long double", "floating scalar"),
        ("real", "scalar"), ("struct s", ""), ("enum e", "integer scalar"), ("double complex", "scalar"),
    ],
)  # fmt: skip
def test_kinds_of_types(type_: str, kinds: str) -> None:
    found = declared(f"{type_} x;")
    asked = {"integer": found.is_integer, "unsigned": found.is_unsigned, "floating": found.is_floating}
    asked["scalar"] = found.is_scalar
    assert {name for name, answer in asked.items() if answer} == set(kinds.split())
    assert not found.is_array_like
    array = declared(f"{type_} x[4];")
    assert array.is_array_like
    assert not array.is_scalar
    assert array.is_floating == found.is_floating


def test_only_variables_have_declarations() -> None:
    with pytest.raises(TypeError):
        declaration_of(c_ast.Break())
    with pytest.raises(ValueError, match="no name"):
        declaration_of(parse("struct s { int a; };").block_items[0])


def names(text: str) -> dict[str, str]:
    found = effects(parse(text))
    fields = [name for name in found.__slots__ if isinstance(getattr(found, name), frozenset)]
    return {name: " ".join(sorted(getattr(found, name))) for name in fields if getattr(found, name)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = y;", "reads=y writes=x"),
        ("x += y;", "reads=x y writes=x"),
        ("x++;", "reads=x writes=x"),
        ("a[i] = b[j];", "reads=b i j writes=a"),
        ("a[i] += 1;", "reads=a i writes=a"),
        ("a[b[i]] = 1;", "reads=b i writes=a"),
        ("*p = *q;", "reads=q writes=p"),
        ("*p++ = 1;", "reads=p writes=p"),
        ("p->x = q->y.z[i];", "reads=i q writes=p"),
        ("(*A)[i] = B[0][1];", "reads=B i writes=A"),
        ("s.x = t.y;", "reads=s t writes=s"),
        ("f(x, y + 1);", "reads=x y"),
        ("g(&x);", "reads=x writes=x"),
        ("g(&a[i]);", "reads=a i writes=a"),
        ("x = a[0]; f(a);", "reads=a writes=a x"),
        ("x = a[0]; y = sin(a[1]);", "reads=a writes=x y"),
        ("int x = y; x = z;", "reads=y z"),
        ("for (int i = 0; i < n; i++) a[i] = i;", "reads=n writes=a"),
        ("{ int x; x = 1; } x = 2;", "writes=x"),
        ("x = sizeof(y);", "writes=x"),
        ("x = (double)y;", "reads=y writes=x"),
        ("if (c) x = 1; else y = 2;", "reads=c writes=x y"),
        ("x = c ? y : z;", "reads=c y z writes=x"),
        ("struct s v = {.x = y}; int w[n];", "reads=n y"),
        ("switch (c) { case 1: x = 1; }", "reads=c writes=x"),
        ("return x;", "reads=x"),
        ("for (i = 0; i < n; i++) *(p + i) = *(i + q);", "reads=i n q writes=i p"),
    ],
)
def test_reads_and_writes(text: str, expected: str) -> None:
    found = names(text + (" a2[i] = 0;" if "*(i" in text else ""))
    found["writes"] = found.get("writes", "").replace("a2 ", "")
    shown = " ".join(f"{k}={found[k]}" for k in ("reads", "writes") if found.get(k))
    assert shown == expected


@pytest.mark.parametrize(
    ("text", "early"),
    [
        ("x = 1; y = x;", ""),
        ("y = x; x = 1;", "x"),
        ("x += 1;", "x"),
        ("if (c) x = 1; y = x;", "c x"),
        ("if (c) x = 1; else x = 2; y = x;", "c"),
        ("for (i = 0; i < n; i++) x = 1; y = x;", "n x"),
        ("for (i = 0; i < n; i++) { x = 1; y = x; }", "n"),
        ("for (i = 0; i < n; i++) { y = x; x = 1; }", "n x"),
        ("while (c) x = 1; y = x;", "c x"),
        ("do x = 1; while (c); y = x;", "c"),
        ("do { if (c) break; x = 1; } while (c); y = x;", "c x"),
        ("for (;;i = x) { if (c) continue; x = 1; }", "c x"),
        ("for (;;i = x) { x = 1; }", ""),
        ("x = x + 1;", "x"),
        ("c && (x = 1); y = x;", "c x"),
        ("(x = 1) && c; y = x;", "c"),
        ("y = c ? (x = 1) : (x = 2); z = x;", "c"),
        ("y = c ? (x = 1) : 2; z = x;", "c x"),
        ("switch (c) { case 1: x = 1; case 2: y = x; }", "c x"),
        ("switch (c) { case 1: x = 1; y = x; }", "c"),
        ("x = 1; a: y = x; goto a;", "x"),
        ("int x; y = x;", ""),
        ("{ int x = 1; } y = x;", "x"),
        ("s.x = 1; y = s.x;", "s"),
        ("a[i] = 1; x = a[i];", "i"),
        ("int x = x0, y = x;", "x0"),
    ],
)
def test_reads_before_write(text: str, early: str) -> None:
    assert " ".join(sorted(effects(parse(text)).reads_before_write)) == early


def test_calls_and_addresses() -> None:
    found = effects(parse("f(g(x), &y); h(a + i, (double *)b, &c[1], d);"))
    assert found.calls == {"f", "g", "h"}
    assert found.address_taken == {"y", "c"}
    assert found.escaping == {"x", "y", "a", "i", "b", "c", "d"}
    assert not found.opaque


def test_opaque_code() -> None:
    assert effects(parse("(*fp)(1);")).opaque
    assert effects(parse("*(p + q) = 1;")).opaque
    assert not effects(parse("*(p + 1) = 1; *(p - q) = 1;")).opaque
    assert not effects(parse("/* c */\n#pragma omp x\nfor (;;) ;")).opaque


def test_pure_functions() -> None:
    assert {"sin", "sqrtf", "fmaxl", "abs", "min", "MAX"} <= PURE_FUNCTIONS
    assert not {"rand", "printf", "frexp", "modf"} & PURE_FUNCTIONS
