"""What is found around a region without parsing the file."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.file_scope import FileScope, live_after, surroundings

REGION = "x[0] = 1;"


def around(text: str) -> FileScope:
    """The surroundings of the text between `<<` and `>>`."""
    start = text.index("<<")
    end = text.index(">>") - 2
    data = text.replace("<<", "").replace(">>", "").encode("latin-1")
    return surroundings(SourceFile("t.c", data), Span(start, end))


def names(declarations: tuple[object, ...]) -> list[str]:
    return [d.name for d in declarations]  # pyright: ignore


FILE = """\
#include <stdio.h>
#define N 100 /* size */
#define SQ(x) ((x) * \\
               (x))
#define OLD 1
#undef OLD
typedef double real;
struct s { int a; };
static double table[3] = {1, 2, 3}; /* } */
extern int counter;
double helper(double x) { return SQ(x) + '}' + "}{"[0]; }
static inline double used(double x) {
  return helper(x);
}
void unused(void) { if (1) { } }
#if 0
void broken( {
#else
int g;
#endif
void proto(int n);
static __attribute__((noinline)) void
kernel(int n, real a[restrict n][n], const double *x, double (*f)(double), struct s q) __attribute__((hot))
{
  int i, j = 3, *p, b[10];
  double s = 0.0, u;
  { int hidden; hidden = 1; }
  real (*A)[n] = a;
  for (int t = 0; t < 10; t++) {
    const real *w = x;
    <<for (i = 0; i < n; i++) s += used(w[i]);>>
    u = 1;
    j = s;
  }
  printf("%d", i, u);
}
void later(void) { proto(1); }
static double after(void) { return used(1); }
int last;
"""


def test_a_whole_file() -> None:
    near = around(FILE)
    assert not near.unsure
    assert near.function is not None
    assert near.function.name == "kernel"
    assert near.function.static
    assert near.function.return_type == "void"
    assert names(near.function.parameters) == ["n", "a", "x", "f", "q"]
    assert near.function.parameters[1].dimensions == ("n", "n")
    assert near.function.text.startswith("static __attribute__((noinline)) void\nkernel(int n")
    assert near.function.text.endswith("__attribute__((hot))")
    text = FILE.replace("<<", "").replace(">>", "")
    assert text[near.function.span.start : near.function.span.end].startswith("static __attribute__")
    assert text[near.function.span.start : near.function.span.end].endswith("u);\n}")
    assert names(near.locals) == ["i", "j", "p", "b", "s", "u", "A", "t", "w"]
    assert next(d for d in near.locals if d.name == "A").dimensions == ("", "n")
    assert next(d for d in near.locals if d.name == "w").qualifiers == {"const"}
    assert names(near.globals) == ["table", "counter", "g"]
    assert near.macros == {"N": "100"}
    assert near.function_macros == {"SQ"}
    assert near.typedefs == {"real"}
    assert near.in_loop


def test_the_text_before_and_after() -> None:
    near = around(FILE)
    for kept in ("#include <stdio.h>", "typedef double real;", "struct s", "table[3]", "double helper", "double used",
                 "void proto", "int g;", "#if 0", "#endif"):  # fmt: skip
        assert kept in near.before
    assert "unused" not in near.before
    assert "kernel" not in near.before
    assert near.after.split() == ["int", "last;"]


def test_a_function_in_the_other_branch_of_a_condition_ends_where_it_does() -> None:
    text = (
        "#ifdef A\nvoid one(void) { if (1) { } }\n#else\nvoid one(void) { }\n#endif\nint kept;\n"
        "void k(void) { <<int x;>> }\n"
        "#ifdef A\nvoid two(void) { }\n#else\nvoid two(void) { }\nint late;\n#endif\n"
    )
    near = around(text)
    assert near.before.split("\n") == ["#ifdef A", "", "#else", "", "#endif", "int kept;", ""]
    assert near.after.split() == ["#ifdef", "A", "#else", "int", "late;", "#endif"]


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef A\nint f(int a) {\n#else\nint f(void) {\n#endif\n  return 1;\n}\n",
        "#ifdef A\nint f(int a) {\n#else\nint g(void) { return 2; }\nint f(void) {\n#endif\n  return 1;\n}\n",
    ],
    ids=["headers", "header behind a function"],
)
def test_a_function_that_branches_share_is_one_item(text: str) -> None:
    near = around(f"{text}void k(void) {{ <<int x;>> }}\n")
    assert near.function is not None
    assert near.function.name == "k"
    assert near.unsure or "return" not in near.before


def test_macros_of_the_function_around_the_region() -> None:
    text = (
        "#define W 1\nvoid k(double *x)\n{\n#define REAL double\n#undef W\n#define W 2\n  REAL s = W;\n"
        "  <<x[0] = s;>>\n#undef REAL\n#define LATE 3\n}\nint late = LATE;\n"
    )
    near = around(text)
    assert [d.type for d in near.locals] == ["double"]
    assert near.macros == {"REAL": "double", "W": "2"}
    lines = [line for line in near.defined.split("\n") if line]
    assert lines == ["#undef REAL", "#define REAL double", "#undef W", "#undef W", "#define W 2"]
    assert [line for line in near.undone.split("\n") if line] == [
        "#undef REAL",
        "#undef LATE",
        "#define LATE 3",
    ]


def test_functions_after_the_region_that_it_needs() -> None:
    text = "double one(void);\nvoid k(void) { <<one();>> }\nint two(void) { return 2; }\ndouble one(void) { return two(); }\nvoid three(void) { }\n"
    near = around(text)
    assert "int two(void) { return 2; }" in near.after
    assert "double one(void) { return" in near.after
    assert "three" not in near.after


def test_functions_reached_through_macros_tables_and_annotations() -> None:
    text = (
        "int a(void) { return 1; }\nint b(void) { return 1; }\nint c(void) { return 1; }\nint d(void) { return 1; }\n"
        "#define CALL_A a()\nint (*table[])(void) = {b};\nvoid k(void) { <</*@ begin Loop(x = c();) @*/ CALL_A; /*@ end @*/>> }\n"
    )
    near = around(text)
    assert [f"int {name}(void) {{" in near.before for name in "abcd"] == [True, True, True, False]


def test_no_function() -> None:
    near = around(
        "int n;\nvoid f(void) { }\ndouble a[10];\n<<for (i = 0; i < n; i++) a[i] = 0;>>\nint later;\n"
    )
    assert near.function is None
    assert near.locals == ()
    assert names(near.globals) == ["n", "a"]
    assert near.before.split() == ["int", "n;", "double", "a[10];"]
    assert near.after == "\nint later;\n"
    assert not near.in_loop
    assert live_after(near, ["i", "n", "zz"]) == {"n"}


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef A\nvoid f(int n) {\n#else\nvoid f(long n) {\n#endif\n  <<x;>>\n}\nvoid g(void) { }\n",
        'void g(void) { }\nvoid f(int n) { char *s = "abc;\n <<x;>> }\n',
        "void g(void) { }\nvoid f(int n) { if (n) { <<x;>> }\n",
        "void g(void) { }\nvoid f(int n) { <<x;>> } }\n",
        "void g(void) { }\n#ifdef A\nvoid f(int n) { <<x;>> }\n",
        "void g(void) { }\nvoid f(\n#ifdef A\nint n\n#else\nlong n\n#endif\n) { <<x;>> }\n",
    ],
)
def test_unsure_scans_keep_the_whole_text(text: str) -> None:
    near = around(text)
    assert near.unsure
    assert near.function is not None
    assert near.function.name == "f"
    assert "g(void)" in near.before + near.after


@pytest.mark.parametrize(
    ("opens", "closes"),
    [
        ("#ifdef A\n{\n#else\nx;\n#endif\n", "#ifdef A\n}\n#endif\n"),
        ("#ifndef A\nx;\n#else\n{\n#endif\n", "#ifdef A\n}\n#endif\n"),
        ("#if defined(A)\n{\n#endif\n", "#ifndef A\n#else\n}\n#endif\n"),
        ("#if !defined A\nx;\n#elif B\n{\n#endif\n", "#ifdef A\n#if B\n}\n#endif\n#endif\n"),
        ("#if 0\n{\n#else\nx;\n#endif\n", ""),
    ],
)
def test_functions_end_where_braces_of_branches_do(opens: str, closes: str) -> None:
    function = f"void f(int n)\n{{\n{opens}  x;\n{closes}}}\n"
    text = f"{function}int g;\n"
    near = around(text.replace("  x;", "  <<x;>>"))
    assert near.function is not None
    assert text[near.function.span.start : near.function.span.end] == function.strip()
    assert "int g;" in near.after


@pytest.mark.parametrize(
    ("header", "parameters"),
    [
        ("f(g, n) int (*g)(); int n;", ["g", "n"]),
        ("double f(n, g) int n; double g();", ["n"]),  # a function is no variable
        ("static double *f(x, g, n) double (*g)(), *x; register int n;", ["x", "g", "n"]),
        ("EXPORT(int) f(n, g) double (*(*g)())();", ["n", "g"]),
    ],
)
def test_old_headers_with_functions_among_the_parameters(header: str, parameters: list[str]) -> None:
    for where in (f"{header} {{ <<y;>> }}\n", f"int a;\n{header} {{ y; }}\nh(m) {{ <<x;>> }}\n"):
        near = around(where)
        assert not near.unsure
        assert near.function is not None
        is_first = "<<y" in where
        assert near.function.name == ("f" if is_first else "h")
        assert sorted(names(near.function.parameters)) == (sorted(parameters) if is_first else ["m"])


@pytest.mark.parametrize("before", ["EXPORTED(g) double g();", "int g(int (*g)(), int);", "double g(n);"])
def test_declarations_that_look_like_old_headers_end(before: str) -> None:
    near = around(f"{before}\nint f(int n) {{ <<x;>> }}\n")
    assert near.function is not None
    assert near.function.text == "int f(int n)"


@pytest.mark.parametrize(
    "text",
    [
        '#ifdef __cplusplus\nextern "C" {\n#endif\nint f(int n) { <<x;>> }\n#ifdef __cplusplus\n}\n#endif\n',
        "int f(int n)\n{\n#ifndef ORIO_ORIGINAL\n  if (n) {\n    y;\n  }\n#else\n  <<x;>>\n#endif\n}\n",
        "int f(int n) {\n#ifdef A\n  if (n) { y; }\n#else\n  for (;;) { y; }\n#endif\n <<x;>> }\n",
        "#if 0\n}}}} ' \" {\n#endif\nint f(int n) { <<x;>> }\n",
        'int f(int n) { // }\n char c = \'}\'; /* { */ char *s = "}\\"}"; <<x;>> }\n',
        "#define BEGIN {\n#define LONG a \\\n  } b\nint f(int n) { <<x;>> }\n",
        "EXPORT(int) f(int n) { <<x;>> }\n",
        "int f(int n) { <<x;>> }\r\n",
        "struct t { int (*cb)(int); } v = { 0 };\nenum { A, B };\nint f(int n) { <<x;>> }\n",
        "int unfinished(void)\n; extern int f(int n)\n{ <<x;>> }\n",
        "static inline __attribute__((always_inline)) int f(int n) { <<x;>> }\n",
    ],
)
def test_sure_scans(text: str) -> None:
    near = around(text)
    assert not near.unsure
    assert near.function is not None
    assert near.function.name == "f"
    assert names(near.function.parameters) == ["n"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("int i, j = 3, *p, a[10]; <<x;>>", "i j p a"),
        ("{ int i; } <<x;>>", ""),
        ("{ int i; { int j; } <<x;>> }", "i"),
        ("for (int i = 0; i < n; i++) { int j; } <<x;>>", ""),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) { <<x;>> }", "i j"),
        ("for (int i = 0; i < n; i++)\n <<x;>>", "i"),
        ("for (int i = 0; i < n; i++) y; <<x;>>", ""),
        ("if (n) { int i = 1; <<x;>> } else { int j; }", "i"),
        ("double (*A)[n] = malloc(n * sizeof *A), *restrict B; <<x;>>", "A B"),
        ("foo_t i; size_t j; foo_t *k = 0; unknown(i); y * z + 1; <<x;>>", "i j k"),
        ("static const double __attribute__((aligned(64))) v[4] = {1, 2}; <<x;>>", "v"),
        ("__attribute__((unused)) int v; const + y; <<x;>>", "v"),
        ("again: ; int i; switch (n) { case 1: ; int j; default: <<x;>> }", "i j"),
        ("y = (struct s){1, 2}; int v = ({ int w = 1; w; }); <<x;>>", "v"),
        ("#ifdef A\nint i;\n#else\nint j;\n#endif\nint k; <<x;>>", "j k"),
        ("#if 0\nint i;\n#else\nint j;\n#endif\n<<x;>>", "j"),
        ("/*@ begin PerfTuning(def build { }) @*/ int i; <<x;>>", "i"),
        ("int i; { double i; <<x;>> }", "i"),
        ("do { int i; <<x;>> } while (n);", "i"),
        ("typedef double T; T v; T *w; <<x;>>", "v w"),
        ("unsigned u; struct s t, *v; enum e w; <<x;>>", "u t v w"),
        ("int i;\\\n int j; <<x;>>", "i j"),
        ("return; goto a; n = 3; f(n); (void)n; n++; <<x;>>", ""),
    ],
)
def test_locals(body: str, found: str) -> None:
    near = around(f"void f(int n)\n{{\n{body}\n}}\n")
    assert " ".join(names(near.locals)) == found


def test_an_inner_declaration_hides_an_outer_one() -> None:
    near = around("void f(int n) { int i; { double i; <<x;>> } }")
    assert [d.type for d in near.locals] == ["double"]


@pytest.mark.parametrize(
    ("body", "in_loop"),
    [
        ("<<x;>>", False),
        ("for (;;) { <<x;>> }", True),
        ("for (;;) <<x;>>", True),
        ("while (n) { if (n) { <<x;>> } }", True),
        ("do { <<x;>> } while (n);", True),
        ("do <<x;>> while (n);", True),
        ("for (;;) { y; } <<x;>>", False),
        ("do { y; } while (n); <<x;>>", False),
        ("if (n) { <<x;>> }", False),
        ("while (n) y; <<x;>>", False),
    ],
)
def test_in_loop(body: str, in_loop: bool) -> None:
    assert around(f"void f(int n) {{ {body} }}").in_loop == in_loop


@pytest.mark.parametrize(
    ("after", "live"),
    [
        ("", False),
        ("return v;", True),
        ("v = 1; return v;", False),
        ("v += 1;", True),
        ("v++;", True),
        ("y = v;", True),
        ("v = v + 1;", True),
        ("v = f(v);", True),
        ("v = f(w); y = v;", False),
        ("for (v = 0; v < 3; v++) y;", False),
        ("for (w = 0; w < 3; w++) v = 1; y = v;", True),
        ("if (w) v = 1; y = v;", True),
        ("if (w) { v = 1; } y = v;", True),
        ("if (w) v = 1; else v = 2; y = v;", False),
        ("while (w) { v = 1; break; } y = v;", True),
        ("{ v = 1; } y = v;", False),
        ("p->v = 1; s.v = 2;", False),
        ("a[v] = 1;", True),
        ("v == 1;", True),
        ("y = w, v = 1;", False),
        ('printf("v"); /* v */ // v\n', False),
        ("\n#ifdef A\nv = 1;\n#endif\ny = v;", True),
        ("\n#ifdef A\ny = v;\n#endif\n", False),
        ("\n#ifndef A\ny = v;\n#endif\n", True),
        ("if (w) return; v = 1; y = v;", False),
        ("if (w) goto out; v = 1; out: y = v;", True),
        ("y = &v;", True),
        ("y = w & v;", True),
        ("switch (w) { case 1: v = 1; } y = v;", True),
        ("int q = 1; v = q; y = v;", False),
        ("for (w = 0; w < 3; w++) for (v = 0; v < w; v++) y = v;", False),
        ("for (w = 0; w < 3; w++) for (v = v; v < w; v++) y;", True),
        ("if (w) for (v = 0; v < 3; v++) { y = v; } y = v;", True),
        ("if (w) for (v = 0; v < 3; v++) if (y) { y = v; } else y = v;", False),
    ],
)
def test_liveness_after_a_region(after: str, live: bool) -> None:
    near = around(f"int f(int w) {{ int v = 0; <<x[0] = v; v = 1;>> {after} }}")
    assert live_after(near, ["v"]) == ({"v"} if live else set())


@pytest.mark.parametrize(
    ("body", "live"),
    [
        ("if (w) { <<v = 1;>> } else { v = 2; } y = v;", True),
        ("if (w) { <<v = 1;>> } else v = 2; y = v;", True),
        ("if (w) { <<v = 1;>> v = 3; } y = v;", False),
        ("for (t = 0; t < 3; t++) { <<y[t] = v; v = 1;>> }", True),
        ("for (t = 0; t < 3; t++) { <<v = 1; y[t] = v;>> }", False),
        ("for (t = 0; t < 3; t++) { v = 0; <<y[t] = v; v = 1;>> }", False),
        ("for (t = 0; t < 3; t++) { y[t] = v; <<v = 1;>> }", True),
        ("for (t = 0; t < v; t++) { <<v = 1;>> }", True),
        ("for (t = 0; t < 3; t++) { <<y[t] = v; v = 1;>> } v = 0;", True),
        ("for (t = 0; t < 3; t++) { y[v] = 0; for (k = 0; k < 3; k++) { v = 0; <<v = 1;>> } }", True),
        ("do { <<v = 1;>> if (w) continue; v = 2; } while (v);", True),
        ("for (t = 0; t < 3; t++) { <</*@ begin Loop(v += 1;) @*/ /*@ end @*/>> }", True),
        ("for (t = 0; t < 3; t++) { <</*@ begin Loop(z += 1;) @*/ /*@ end @*/>> }", False),
        ("switch (w) { case 1: <<v = 1;>> break; case 2: v = 3; } y = v;", True),
        ("p = &v; <<v = 1;>>", True),
        ("for (t = 0; t < 3; t++) { <<for (k = 0; k < t; k++) for (v = 0; v < 3; v++) y[v] = 1;>> }", False),
        ("for (t = 0; t < 3; t++) { <<if (t) y[0] = v; v = 1;>> }", True),
    ],
)
def test_liveness_of_a_region_inside_other_code(body: str, live: bool) -> None:
    near = around(f"int f(int w) {{ int v = 0, t, k, *p; double y[9]; {body} }}")
    assert live_after(near, ["v"]) == ({"v"} if live else set())


def test_what_is_always_live() -> None:
    text = "int g; int f(int n, int *p, double a[n]) { static int st; int l; extern int e; <<x;>> }"
    asked, always = ["g", "n", "p", "a", "st", "l", "e", "elsewhere"], {"g", "p", "a", "st", "e"}
    assert live_after(around(text), asked) == always
    assert live_after(around('#include "others.h"\n' + text), asked) == {*always, "elsewhere"}


@given(st.text(alphabet=st.sampled_from(list("ab;{}()#\n\"'/*\\,=[] ")), max_size=80), st.integers(0, 80))
@settings(max_examples=300, deadline=None)
def test_the_scan_never_fails(text: str, at: int) -> None:
    source = SourceFile("t.c", text.encode("latin-1"))
    start = min(at, len(text))
    near = surroundings(source, Span(start, min(start + 5, len(text))))
    live_after(near, ["a", "b"])


TOKENS = 'int double a b f ( ) { } ; , * = for if else while [ ] 3 struct typedef static /*c*/ "s" return'
LINES = ["\n#if A\n", "\n#else\n", "\n#endif\n", "\n#define a b\n"]


@given(st.lists(st.sampled_from(TOKENS.split() + LINES), max_size=40), st.data())
@settings(max_examples=300, deadline=None)
def test_the_scan_never_fails_on_tokens(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    start = data.draw(st.integers(0, len(text)))
    near = surroundings(SourceFile("t.c", text.encode("latin-1")), Span(start, len(text)))
    live_after(near, ["a", "b"])


def test_a_variable_hides_the_type_of_its_name() -> None:
    near = around(
        "typedef double data; typedef double real; typedef struct { int n; } layer;\n"
        "void f(layer layer) { { int real; } int data; <<data = layer.n;>> }"
    )
    assert near.typedefs == {"real"}


@pytest.mark.parametrize(
    "header",
    [
        "void NAME(137)(int n, double *a, number *b)",
        "FUNC(void, work)(int n, double *a, number *b)",
        "static double NAME(add)(int n, double *a, number *b)",
        "FN(add)(int n, double *a, number *b)",
        "__attribute__((noinline)) void NAME(add, 2)(int n, double *a, number *b)",
        "static number (add)(int n, double *a, number *b)",
        "int (add)(int n, double *a, number *b)",
    ],
)
def test_a_function_that_an_unknown_macro_names_has_its_parameters(header: str) -> None:
    found = around(f"typedef double number;\n{header}\n{{\n  int i = 0;\n  <<a[i] = b[i];>>\n}}\n")
    assert found.function is not None
    assert names(found.function.parameters) == ["n", "a", "b"]
    assert names(found.locals) == ["i"]


@pytest.mark.parametrize(
    ("header", "parameters"),
    [
        ("int (*chosen(int n, int m))(int)", ["n", "m"]),
        ("double old(n, f) int n; double (*f)(double);", ["n", "f"]),
        ("double old(n, f) int n; number (*f)(double);", ["n", "f"]),
    ],
)
def test_other_declarators_with_two_pairs_of_parentheses(header: str, parameters: list[str]) -> None:
    found = around(f"typedef double number;\n{header}\n{{\n  <<n = 1;>>\n}}\n")
    assert found.function is not None
    assert names(found.function.parameters) == parameters
