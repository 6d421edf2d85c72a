"""What is known of the types of indices, bounds and numbers, at the limits of each rule."""

from __future__ import annotations

import pytest
from c_trees import statement
from typed_variables import around, expression

from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation import types


def loop(text: str) -> CanonicalLoop:
    view = CanonicalLoop.match(statement(f"for ({text}) ;"))
    assert view is not None
    return view


def counted(kind: str, rest: str) -> CanonicalLoop:
    return loop(f"{kind} r = {rest}")


def test_type_of_an_index() -> None:
    assert types.index_type(loop("register int r = 0; r < n; r++"), around()) == "int"
    assert types.index_type(loop("u = 0; u < n; u++"), around()) == "unsigned"
    assert types.index_type(loop("other = 0; other < n; other++"), around()) == "int"


@pytest.mark.parametrize(
    ("kind", "bound", "control"),
    [
        ("long", "u", "long"),
        ("unsigned", "n", "unsigned"),
        ("unsigned char", "n", "int"),
        ("unsigned char", "u", "unsigned"),
        ("unsigned short", "u", "unsigned"),
        ("unsigned short", "sizeof(double)", "unsigned"),
        ("unsigned short", "(size_t)n", "unsigned"),
        ("unsigned short", "(long)n", "int"),
        ("short", "u", "int"),
        ("_Bool", "n", "int"),
        ("char", "u", "int"),
        ("int8_t", "u", "int"),
        ("int16_t", "u", "int"),
        ("uint8_t", "u", "unsigned"),
        ("uint16_t", "n + u", "unsigned"),
        ("uint16_t", "n", "int"),
        ("uint32_t", "n", "uint32_t"),
    ],
)
def test_type_of_a_new_index(kind: str, bound: str, control: str) -> None:
    assert types.control_type(counted(kind, f"0; r < {bound}; r++"), around()) == control


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("i = 0; i < n; i++", None),
        ("p = row; p < row + n; p++", "is a pointer or an array"),
        ("row = 0; row < n; row++", "is a pointer or an array"),
        ("w = 0; w < n; w++", "is volatile"),
        ("volatile int r = 0; r < n; r++", "is volatile"),
        ("x = 0; x < n; x += 1", "is a floating-point variable"),
        ("float w = 0; w < n; w += 1", "is a floating-point variable"),
        ("int w = 0; w < n; w++", None),
    ],
)
def test_what_is_wrong_with_an_index(text: str, problem: str | None) -> None:
    assert types.index_type_problem(loop(text), around()) == problem


def test_index_whose_type_is_a_pointer_by_its_name() -> None:
    declared = {"i": CDeclaration("i", "double *")}
    assert types.index_type_problem(loop("i = 0; i < n; i++"), around(declarations=declared)) is not None
    declared = {"i": CDeclaration("i", "int *")}
    problem = types.index_type_problem(loop("i = 0; i < n; i++"), around(declarations=declared))
    assert problem == "is a pointer"


@pytest.mark.parametrize(
    ("kind", "start", "wraps"),
    [
        ("unsigned char", "0", False),
        ("unsigned char", "255", False),
        ("unsigned char", "256", True),
        ("unsigned char", "-1", True),
        ("unsigned short", "65535", False),
        ("unsigned short", "65536", True),
        ("_Bool", "1", False),
        ("_Bool", "2", True),
        ("char", "300", False),
        ("signed char", "300", True),
        ("signed char", "(unsigned char)n", True),
        ("short", "(unsigned char)n", False),
        ("signed char", "n", False),
        ("int", "-1", False),
        ("unsigned", "-1", False),
        ("unsigned char", "byte", False),
        ("unsigned char", "octet", False),
        ("unsigned char", "word", True),
        ("unsigned short", "byte", False),
        ("unsigned char", "tiny", True),
        ("unsigned char", "small", True),
        ("unsigned short", "letter", True),
        ("unsigned char", "n", True),
        ("unsigned char", "unknown", True),
        ("unsigned char", "(unsigned char)n", False),
        ("unsigned char", "(unsigned short)n", True),
        ("unsigned short", "(unsigned char)n", False),
        ("unsigned char", "byte + 0", False),
        ("unsigned char", "byte + 127", False),
        ("unsigned char", "byte + 128", True),
        ("unsigned char", "byte - 1", True),
        ("unsigned char", "n + 1", True),
        ("unsigned char", "byte + byte", True),
        ("unsigned char", "EDGE", False),
        ("unsigned char", "(EDGE)", False),
        ("unsigned char", "MORE", True),
        ("unsigned char", "TEXT", True),
    ],
)
def test_start_of_a_short_index(kind: str, start: str, wraps: bool) -> None:
    macros = {"EDGE": "( 255 )", "MORE": "256", "TEXT": "n"}
    view = counted(kind, f"{start}; r < n; r++")
    assert types.wraps_at_the_start(view, around(macros=macros)) == wraps


@pytest.mark.parametrize(
    ("kind", "bound", "wraps"),
    [
        ("unsigned char", "255", False),
        ("unsigned char", "256", True),
        ("unsigned char", "n", True),
        ("unsigned", "n", False),
        ("unsigned", "wide", True),
        ("unsigned", "ul", False),
        ("unsigned", "size", False),
        ("unsigned", "8L", True),
        ("unsigned", "n - 8L", True),
        ("unsigned", "(long)n", True),
        ("unsigned", "n + wide", True),
        ("unsigned", "n + unknown", False),
        ("unsigned", "(int)n", False),
        ("unsigned long", "wide", False),
        ("int", "wide", False),
    ],
)
def test_bound_of_an_unsigned_index(kind: str, bound: str, wraps: bool) -> None:
    assert types.bound_wraps(counted(kind, f"0; r < {bound}; r++"), around()) == wraps


@pytest.mark.parametrize(
    ("kind", "signedness"),
    [
        ("int", "signed"),
        ("long long", "signed"),
        ("unsigned", "unsigned"),
        ("unsigned long", "unsigned"),
        ("unsigned char", "signed"),
        ("unsigned short", "signed"),
        ("_Bool", "signed"),
        ("size_t", "unsigned"),
        ("uint32_t", "unsigned"),
        ("int64_t", "signed"),
        ("ptrdiff_t", "signed"),
        ("uint8_t", "signed"),
        ("double", "unknown"),
        ("unsigned real_t", "unknown"),
        ("size_t long", "unknown"),
        ("int64_t long", "unknown"),
        ("", "unknown"),
    ],
)
def test_signedness_of_types(kind: str, signedness: str) -> None:
    assert types.signedness_of_type(kind) == signedness


@pytest.mark.parametrize(
    ("text", "signedness"),
    [
        ("1", "signed"),
        ("1u", "unsigned"),
        ("1UL", "unsigned"),
        ("0X1u", "unsigned"),
        ("'u'", "signed"),
        ("1.0", "unknown"),
        ("1.0f", "unknown"),
        ("n", "signed"),
        ("u", "unsigned"),
        ("byte", "signed"),
        ("elsewhere", "signed"),
        ("MACRO", "unknown"),
        ("x", "unknown"),
        ("strange", "unknown"),
        ("p", "unknown"),
        ("p[i]", "signed"),
        ("many[i]", "unsigned"),
        ("many", "unknown"),
        ("grid[i]", "unknown"),
        ("grid[i][m]", "signed"),
        ("elsewhere[i]", "unknown"),
        ("-u", "unsigned"),
        ("+u", "unsigned"),
        ("~u", "unsigned"),
        ("!u", "unknown"),
        ("sizeof(n)", "unsigned"),
        ("sizeof(double) - 1", "unsigned"),
        ("u + v", "unsigned"),
        ("u - v", "unsigned"),
        ("u * v", "unsigned"),
        ("u / v", "unsigned"),
        ("u % v", "unsigned"),
        ("u & v", "unsigned"),
        ("u | n", "unknown"),
        ("u << n", "unsigned"),
        ("n >> u", "signed"),
        ("u + n", "unknown"),
        ("n + u", "unknown"),
        ("u + 1", "unsigned"),
        ("1 + u", "unsigned"),
        ("u - -1", "unknown"),
        ("n + 1", "signed"),
        ("n ? u : v", "unsigned"),
        ("n ? u : 0", "unsigned"),
        ("n ? u : n", "unknown"),
        ("(unsigned)n", "unsigned"),
        ("(unsigned char)u", "signed"),
        ("(double)n", "unknown"),
        ("size - 1", "unsigned"),
    ],
)
def test_signedness_of_expressions(text: str, signedness: str) -> None:
    assert types.signedness(expression(text), around(macros={"MACRO": "n"})) == signedness


@pytest.mark.parametrize(
    ("text", "natural"),
    [
        ("0", True),
        ("1", True),
        ("-1", False),
        ("n", False),
        ("SIZE", True),
        ("OPEN", True),
        ("LESS", False),
        ("SUM", False),
        ("1.0", False),
    ],
)
def test_natural_numbers(text: str, natural: bool) -> None:
    inner = around(macros={"SIZE": " 64 ", "OPEN": "( 7 )", "LESS": "-1", "SUM": "n + 1"})
    assert types.is_natural(expression(text), inner) == natural


@pytest.mark.parametrize(
    ("text", "index", "fits"),
    [
        ("n", "int", True),
        ("0", "unsigned", True),
        ("-1", "unsigned", False),
        ("u", "unsigned", True),
        ("u", "int", False),
        ("n", "unsigned", False),
        ("wide", "int", False),
        ("wide", "long", True),
        ("n", "long", True),
        ("size", "unsigned", False),
        ("u", "size_t", True),
        ("exact", "int", False),
        ("elsewhere", "int", True),
        ("n", "real_t", False),
    ],
)
def test_what_an_index_holds(text: str, index: str, fits: bool) -> None:
    assert types.fits_index(expression(text), index, around()) == fits


def test_mixture_of_signs() -> None:
    n, u, x, one = (expression(text) for text in ("n", "u", "x", "1"))
    assert types.same_signedness("int", around(), n, one)
    assert types.same_signedness("unsigned", around(), u, one)
    assert not types.same_signedness("int", around(), n, u)
    assert not types.same_signedness("int", around(), n, x)
    assert not types.same_signedness("real_t", around(), expression("strange"))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("(long)4", "4"),
        ("(int)0", "0"),
        ("(unsigned long)2147483647", "2147483647"),
        ("(long)2147483648", "(long)2147483648"),
        ("(int)-1", "(int) -1"),
        ("(char)127", "127"),
        ("(char)128", "(char)128"),
        ("(unsigned short)4", "4"),
        ("(unsigned char)256", "(unsigned char)256"),
        ("(_Bool)4", "(_Bool)4"),
        ("(double)4", "(double)4"),
        ("(long)n", "(long)n"),
        ("4", "4"),
        ("n", "n"),
    ],
)
def test_cast_of_a_number(text: str, result: str) -> None:
    assert emit_expression(types.without_cast(expression(text))) == result


@pytest.mark.parametrize(
    ("text", "unsigned"),
    [
        ("1u", True),
        ("1", False),
        ("-1u", True),
        ("(unsigned)1", True),
        ("(size_t)1", True),
        ("(unsigned char)1", False),
        ("(unsigned short)1", False),
        ("(long)1u", False),
        ("u", False),
    ],
)
def test_numbers_that_make_a_comparison_unsigned(text: str, unsigned: bool) -> None:
    assert types.makes_unsigned(expression(text), around()) == unsigned


def test_unsigned_parts() -> None:
    assert types.mentions_unsigned(expression("n + (u - n)"), around())
    assert not types.mentions_unsigned(expression("n + byte"), around())


@pytest.mark.parametrize(
    ("kind", "wide"),
    [
        *((kind, False) for kind in ("int", "unsigned", "short", "double")),
        *((kind, True) for kind in ("long", "unsigned long long", "size_t", "int64_t")),
        ("int32_t", False),
    ],
)
def test_wide_types(kind: str, wide: bool) -> None:
    assert types.is_wide(kind) == wide


@pytest.mark.parametrize(
    ("text", "floating"),
    [
        ("1.0", True),
        ("1.0f", True),
        ("1", False),
        ("(double)n", True),
        ("(float)n", True),
        ("(long double)n", True),
        ("(int)x", False),
        ("HALF", True),
        ("BARE", True),
        ("POWER", True),
        ("WHOLE", False),
        ("WORD", False),
        ("x", True),
        ("n", False),
        ("elsewhere", False),
        ("a[i]", True),
        ("a", False),
        ("row[i]", False),
        ("-x", True),
        ("+x", True),
        ("!x", False),
        ("n + x", True),
        ("x * n", True),
        ("n - x", True),
        ("x / n", True),
        ("x < n", False),
        ("n ? x : 1", True),
        ("n ? 1 : x", True),
        ("x > 2 ? 1 : n", False),
        ("sqrt(n)", True),
        ("abs(n)", False),
        ("max(n, x)", True),
        ("max(x, n)", True),
        ("max(n, m)", False),
        ("lrint(n)", False),
        ("unheard(n)", False),
        ("unheard()", False),
    ],
)
def test_floating_point_numbers(text: str, floating: bool) -> None:
    macros = {"HALF": "(1 / 2.)", "BARE": ".5", "POWER": "1e3", "WHOLE": "(12 + n)", "WORD": "a1.b"}
    assert types.is_floating(expression(text), around(macros=macros)) == floating
