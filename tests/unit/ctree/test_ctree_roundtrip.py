"""parse ∘ emit is the identity, and what is emitted compiles without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from c_programs import gcc_is_gnu
from hypothesis import given, settings
from hypothesis import strategies as st

from orio_py.core.source import SourceFile
from orio_py.ctree.emit import emit, emit_expression
from orio_py.ctree.equal import equal, structure_digest
from orio_py.ctree.nodes import Compound
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.verify import verify

PRELUDE = """\
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <complex.h>
typedef double real;
struct point { double x, y; struct point *next; };
extern int i, j, k, n, m, c;
extern unsigned u;
extern double s, t, a[100], b[100], M[10][10], *p, *q;
extern struct point o, *w;
extern double f(double), g(double, double);
extern void h(void);
"""


def parse(text: str) -> Compound:
    return parse_statements(text, source=SourceFile("t.c", text.encode("latin-1")), start=0)


def check_round_trip(text: str) -> str:
    tree = parse(text)
    assert verify(tree) == []
    out = emit(tree)
    again = parse(out)
    assert equal(tree, again), out
    assert structure_digest(tree) == structure_digest(again)
    assert emit(again) == out
    return out


def compile_text(texts: list[str], folder: Path) -> None:
    gcc = shutil.which("gcc")
    if gcc is None or not gcc_is_gnu():
        pytest.skip("needs GCC: its own warnings are checked")
    body = "".join(f"void test{k}(void);\nvoid test{k}(void) {{\n{text}}}\n" for k, text in enumerate(texts))
    file = folder / "t.c"
    file.write_text(PRELUDE + body, encoding="latin-1")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-fopenmp", "-fsyntax-only"]
    done = subprocess.run([gcc, *flags, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


CORPUS = [
    "for (i = 0; i < n; i++) a[i] = b[i];",
    "for (int x = 0, y = 3; x < y; x += 2) { h(); }",
    "for (;;) { if (i) break; continue; }",
    "while (i < n) i++;",
    "do i--; while (i > 0);",
    "do { i--; } while (i > 0 && j);",
    "if (i) h(); else if (j) { h(); } else h();",
    "if (i) { if (j) h(); } else h();",
    "if (i) if (j) h(); else i = 1;",
    "if (i) for (;;) if (j) h(); else i = 1;",
    "if (i) while (j) { h(); } else h();",
    "if (i) if (j) h(); else i = 1; else i = 2;",
    "switch (i) { case 1: h(); break; case 2: case 3: { h(); } break; default: h(); }",
    "switch (i) { case 1: default: ; }",
    "switch (n % 4) { case 0: do { h(); case 3: h(); case 2: h(); } while (--n > 0); }",
    "again: h(); if (i) goto again;",
    "{ int x; { x = 1; } } ;",
    "i = j = k; i += j -= 2; i <<= 1, j >>= 2, k ^= 3; i &= 1; i |= 2; i %= 3;",
    "s = (i ? j : k) ? 1.0 : (j ? 2.0 : 3.0);",
    "s = i ? j : k ? 1 : 2;",
    "i = (j + k) * n - m / (j % k) - -1 + +2 - (-j) - (j - k) - (j + k);",
    "i = - -j; i = + +j; i = -(-j); i = ~-j; i = !-j; i = -~j; i = - --j; i = + ++j; i = j-- - --k;",
    "i = (j || k) && n; i = j && (k || n); i = (j && k) || n; i = !(i && j) || !i;",
    "i = (j & k) == 1; i = j & (k == 1); i = (j + 1) & k; i = (j | k) & n; i = j | (k ^ n);",
    "i = (j << 1) + 2; i = j << (1 + 2); i = (j < k) == n; i = (!j) == k; i = !(j == k); i = (j == k) != m;",
    "i = (!j) & k; u = ~u & 0xffu; i = j & -j;",
    "p = &a[3]; q = p + 2; *p++ = *--q; (*p)++; *(p + 1) = p[-1]; i = &a[3] - &a[1];",
    "o.x = w->y; w->next->x = (*w).y; (&o)->x = 1; i = (int)(w - &o);",
    "s = (double)i / (double)(j + 1); i = (int)-s; i = -(int)s; u = (unsigned)(int)s; s = (float)*p;",
    "i = sizeof(double) + sizeof(struct point) + sizeof(a) + sizeof(int (*)[3]) + sizeof(o.x);",
    "s = 1.5e-3f + 0x1p-2 + 2.L + .5 + 1e10; i = 0x1F + 017 + 'a' + '\\n' + L'b' + 1UL + 2ull;",
    'const char *z = "a\\"b" "c\\x12" "d"; i = "abc"[1];',
    "s = f(g(i, j) + f(-1)); h(); s = g((i, j), (k = 2));",
    "if ((i = j)) h(); while ((i = j)) h(); for (; (i = j);) h(); do h(); while ((i = j));",
    "if (i = j, k) h(); i = (j, k);",
    "int x = 1, *y = &x, z[3] = {1, 2, 3}, (*fp)(int, char *) = 0, *(*ap)[4] = 0, *aq[2] = {0, 0};",
    "int (*ff[3])(void); int (*(*fg)(int))(double); double (*const cp)[3] = 0; char **const *volatile d;",
    "const double *const r = a; static int x; register int y; volatile int v = 1; extern int ext;",
    "unsigned long long int x = 1; long double y = 2; signed char z; short int w1; _Bool bb = 1;",
    "double complex z = 1.0; double _Complex y = z; float complex zz = 0;",
    "size_t x = 3; uint64_t y = UINT64_C(4); int8_t z; ptrdiff_t d = p - q;",
    "real x = 1; real *y = &x, z[2]; real (*zz)[3]; s = (real)i; s = (real)(i + 1); s = *(real *)p;",
    "int x[] = {[2] = 1, [0] = 4}; struct point pp = {.x = 1, .y = 2, 0}, *pq = &(struct point){.y = 3};",
    "p = (double[]){1, 2, 3}; p = (double[2]){1.0} + 1; s = ((struct point){1, 2, 0}).x;",
    "int v[n]; double vv[n][m + 1]; double (*vp)[n] = 0; vv[1][2] = v[0] + (**vp);",
    "struct loc { int x; struct { int y, z; } in; unsigned bits : 3, : 2, more : 1; } l1, *l2 = &l1;",
    "union un { int x; double y; } u1; enum en { A1, B1 = 4, C1 } e = B1; enum en e2 = C1; enum { D1 } e3;",
    "struct { int x; } s1, *s2 = &s1; s2->x = 1;",
    "struct outer { struct { int a; } x, *y; } z; z.y = &z.x;",
    "typedef int T; T x = 3; { T *y = &x; *y = 1; } typedef struct { int a; } S, *SP; S sa; SP sp = &sa;",
    "double ff(int, double *restrict, ...); void gg(void); int (*hh(void))(int);",
    "void vla(int nn, double x[static 4], double y[const restrict], double z[nn][nn]);",
    "i++; ++i; i--; --i; (void)i; ;",
    "return;",
    "for (;;) ;",
    "#pragma omp parallel for \\\n  private(i)\nfor (i = 0; i < n; i++) h();",
    "for (i = 0; i < n; i++)\n#pragma omp simd\n  for (j = 0; j < n; j++) a[j] = i;",
    '_Pragma("omp simd") for (i = 0; i < n; i++) a[i] = 0;',
    "#pragma GCC ivdep\nfor (i = 0; i < n; i++) a[i] = 1;",
    "i = (int)fmax(i, j);",
    "s = M[i + 1][j - 1] + M[i][M[0][0] > 1 ? 1 : 0];",
    "i = u > 3u ? 1 : -1;",
    "for (i = n - 1; i >= 0; --i) { for (j = 0; j < i; j++) M[i][j] = 0; a[i] = 1; }",
]


@pytest.mark.parametrize("text", CORPUS)
def test_corpus_survives_the_round_trip(text: str) -> None:
    check_round_trip(text)


def test_corpus_compiles_without_warnings(tmp_path: Path) -> None:
    originals = [text + "\n" for text in CORPUS]
    gcc_is_quiet = [check_round_trip(text) for text in originals]
    compile_text(gcc_is_quiet, tmp_path)


def test_parenthesised_conditions_stay_quiet(tmp_path: Path) -> None:
    out = check_round_trip("if (i && j || k) h(); i = j + k << 2; i = j & k + 1 | n; i = j < k < n;")
    assert "(i && j) || k" in out
    assert "(j + k) << 2" in out
    assert "(j & (k + 1)) | n" in out
    assert "(j < k) < n" in out
    compile_text([out.replace("(j < k) < n", "(j < k) == n")], tmp_path)


NAMES = st.sampled_from(["i", "j", "k", "n"])
INTS = st.integers(0, 40).map(str)
BINARY = st.sampled_from(["+", "-", "*", "&", "|", "^", "&&", "||", "==", "!=", "<", ">", "<=", ">="])


def _compose(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, BINARY, inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        st.tuples(st.sampled_from(["-", "!", "~", "(int)"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]}) ? ({t[1]}) : ({t[2]})"),
        st.tuples(NAMES, inner).map(lambda t: f"{t[0]} = ({t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"(int)a[({t[0]}) & 7] , ({t[1]})"),
        st.tuples(inner).map(lambda t: f"(int)f({t[0]})" if "," not in t[0] else f"(int)f(({t[0]}))"),
    )


EXPRESSIONS = st.recursive(st.one_of(NAMES, INTS), _compose, max_leaves=12)


def _nest(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    head = st.sampled_from(["i", "j < 3", "(k)", "n - 1"])
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "{\n" + "\n".join(items) + "\n}"),
        st.tuples(head, inner).map(lambda t: f"if ({t[0]}) {t[1]}"),
        st.tuples(head, inner, inner).map(lambda t: f"if ({t[0]}) {{ {t[1]} }} else {t[2]}"),
        st.tuples(head, inner).map(lambda t: f"for (i = 0; {t[0]}; i++) {t[1]}"),
        st.tuples(head, inner).map(lambda t: f"while ({t[0]}) {t[1]}"),
        st.tuples(head, inner).map(lambda t: f"do {t[1]} while ({t[0]});"),
        st.tuples(head, inner, inner).map(
            lambda t: f"switch ({t[0]}) {{ case 1: {t[1]} break; default: {t[2]} }}"
        ),
    )


STATEMENTS = st.recursive(
    st.sampled_from(["h();", "i = 1;", ";", "{ int x = 1; i = x; }", "a[i] += 2;"]), _nest, max_leaves=10
)


@given(EXPRESSIONS)
@settings(max_examples=250, deadline=None)
def test_expressions_survive_the_round_trip(text: str) -> None:
    out = check_round_trip(f"i = ({text});")
    assert out.count("(") <= text.count("(") * 2 + 2


@given(st.lists(STATEMENTS, min_size=1, max_size=4))
@settings(max_examples=250, deadline=None)
def test_statements_survive_the_round_trip(items: list[str]) -> None:
    check_round_trip("\n".join(items))


@given(st.lists(EXPRESSIONS, min_size=20, max_size=40))
@settings(max_examples=8, deadline=None)
def test_expressions_keep_their_value_and_compile_quietly(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    """The compiler folds the original and the emitted expression to the same code."""
    gcc = shutil.which("gcc")
    if gcc is None or not gcc_is_gnu():
        pytest.skip("needs GCC: its own warnings are checked")
    folder = tmp_path_factory.mktemp("values")
    results: list[str] = []
    emitted = [emit_expression(parse(f"{text};").block_items[0]) for text in texts]
    for name, bodies in (("original", texts), ("emitted", emitted)):
        lines = [
            f"int test{k}(int i, int j, int k, int n) {{ return ({body}); }}" for k, body in enumerate(bodies)
        ]
        file = folder / f"{name}.c"
        file.write_text("extern double a[8]; extern double f(double);\n" + "\n".join(lines) + "\n")
        flags = ["-std=c99", "-O1", "-S", "-o", "-", "-fno-asynchronous-unwind-tables", "-x", "c", "-w"]
        quiet = ["-Wparentheses", "-Wlogical-not-parentheses", "-Werror"] if name == "emitted" else []
        command = [gcc, *[f for f in flags if f != "-w" or not quiet], *quiet, "-"]
        done = subprocess.run(command, input=file.read_text(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        results.append(done.stdout)
    assert results[0] == results[1]
