"""What threads, vectors, versions and `restrict` refuse, with code and place (marked by `@` in the code)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from c_trees import context, parse, statement, transformed_file

from orio_py.core.diagnostics import Severity
from orio_py.core.expr import Value
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.loops import CanonicalLoop
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Refusal, Transformation
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.parallel.data_sharing import sharing
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.parallelize import Parallelize
from orio_py.transformation.parallel.pragma import Pragma
from orio_py.transformation.parallel.pragma_text import clauses
from orio_py.transformation.parallel.user_pragmas import pragma_problems
from orio_py.transformation.parallel.vector import Vector
from orio_py.transformation.parallel.vectorize import Vectorize
from orio_py.transformation.unrolling.unroll import Unroll
from orio_py.transformation.versions.restrict import Restrict
from orio_py.transformation.versions.specialize import Specialize

DECLARATIONS = """int i, j, k, n, m, t, most, count, ok, row[99], e[99]; unsigned u, v; short tiny; long wide; _Bool flag;
size_t size; double x, s, a[99], b[99], y[99], c[9][9], d[9][9], *p; const double *q; volatile int w; float f;"""
FOR_I = "for (i = 0; i < n; i++)"
NEST = f"{FOR_I} for (j = 0; j < m; j++)"


def around(live: str = "a b y c d s count most ok flag", **fields: object) -> Context:
    return context(DECLARATIONS, live=live, **fields)


def refusal_of(transformation: Transformation, text: str, inner: Context) -> Refusal:
    node = statement(text)
    before = structure_digest(node)
    with pytest.raises(Refusal) as caught:
        transformation.apply(node, inner)
    assert structure_digest(node) == before
    return caught.value


def assert_refused(transformation: Transformation, code: str, text: str, inner: Context) -> None:
    column = text.index("@") + 1
    (diagnostic,) = refusal_of(transformation, text.replace("@", ""), inner).diagnostics
    assert diagnostic.code == code, diagnostic.headline()
    assert diagnostic.position is not None
    assert (diagnostic.position.line, diagnostic.position.column) == (1, column), diagnostic.headline()


CASES: tuple[tuple[Transformation, str, str], ...] = (
    (Parallelize(schedule="often"), "ORIO-T010", f"@{FOR_I} a[i] = 0;"),
    (Parallelize(schedule="auto, 4"), "ORIO-T010", f"@{FOR_I} a[i] = 0;"),
    (Parallelize(schedule="static, 0"), "ORIO-T010", f"@{FOR_I} a[i] = 0;"),
    (Parallelize(num_threads=0), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (Parallelize(collapse=0), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (Parallelize(loop="k"), "ORIO-T015", f"@{FOR_I} a[i] = 0;"),
    (Parallelize(), "ORIO-T020", "@while (n--) t++;"),
    (Parallelize(), "ORIO-T021", "@for (i = 0; i != n; i++) a[i] = 0;"),
    (Parallelize(), "ORIO-T024", f"{FOR_I} {{ @i = i + 1; }}"),
    (Parallelize(), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) @break; }}"),
    (Parallelize(), "ORIO-T027", f"{FOR_I} @n = n - 1;"),
    (Parallelize(collapse=2), "ORIO-T032", f"@{FOR_I} a[i] = 0;"),
    (Parallelize(collapse=2), "ORIO-T032", f"{FOR_I} @for (j = 0; j < i; j++) c[i][j] = 0;"),
    (Parallelize(), "ORIO-T040", f"{FOR_I} @a[i + 1] = a[i];"),
    (Parallelize(), "ORIO-T040", f"{FOR_I} y[i] = (@s += a[i]);"),
    (Parallelize(), "ORIO-T090", f"{FOR_I} {{ @s += a[i]; y[i] = s; }}"),
    (Parallelize(), "ORIO-T040", f"{FOR_I} {{ s += a[i]; y[i] = s; @y[i + 1] = 0; }}"),
    (Parallelize(), "ORIO-T040", f"{FOR_I} {{ @s += a[i]; s *= 2; }}"),
    (Parallelize(), "ORIO-T040", f"{FOR_I} @count += a[i];"),
    (Parallelize(), "ORIO-T040", f"{FOR_I} @flag += e[i];"),
    (Parallelize(), "ORIO-T040", f"{FOR_I} a[@count++] = a[i];"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (a[i] > s) {{ @s = a[i]; count = s; }}"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (a[i] > s) {{ y[i] = s; @s = a[i]; count = i; }}"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (a[i] > s) {{ @s = a[i] * 2; count = i; }}"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (a[i] > s) {{ s = a[i]; @count = i; }} else count++;"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (a[i] > most) {{ @most = a[i]; count = i; }}"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (v + e[i] > most) {{ @most = v + e[i]; count = i; }}"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (a[i] > a[count]) {{ count = i; @a[i] = 0; }}"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (a[i] > b[count]) @count = i;"),
    (Parallelize(collapse=2), "ORIO-T041", f"{NEST} if (c[i][j] > s) {{ s = c[i][j]; @count = j; }}"),
    (Parallelize(), "ORIO-T040", f"{FOR_I} @ok = ok && e[i] / t;"),
    (Parallelize(), "ORIO-T040", f"{FOR_I} if (i % 2) @ok = e[i] && ok;"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (i * i % 2) @ok = e[i] && ok;"),
    (Parallelize(), "ORIO-T041", f"{NEST} if (c[i][j] > s) {{ @s = c[i][j]; if (e[j]) continue; k = j; }}"),
    (Parallelize(collapse=2), "ORIO-T041", f"{NEST} if (c[i][j] > 0) @count = j;"),
    (Parallelize(trusted=True), "ORIO-T041", f"{FOR_I} if (a[i] > s) {{ @s = a[i]; y[i] = s; }}"),
    (Parallelize(trusted=True), "ORIO-T041", f"{FOR_I} {{ @s += a[i]; y[i] = s; }}"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} if (e[i]) {{ @count = i; y[i] = count; }}"),
    (Parallelize(), "ORIO-T041", f"{FOR_I} @a[row[i]] = 0;"),
    (Parallelize(), "ORIO-T090", f"{FOR_I} @s += a[i];"),
    (Parallelize(), "ORIO-T090", f"{FOR_I} @s = s < a[i] ? a[i] : s;"),
    (Parallelize(collapse=2), "ORIO-T090", f"{NEST} @s = c[i][j] + s;"),
    (Parallelize(), "ORIO-T091", "@for (_Bool e = 0; e < 1; e++) a[e] = 0;"),
    (Vectorize(), "ORIO-T091", "@for (_Bool e = 0; e < 1; e++) a[e] = 0;"),
    (Parallelize(), "ORIO-T091", "@for (i = m; i < u; i++) a[i] = 0;"),
    (Parallelize(), "ORIO-T091", "@for (i = m + 1; i < (n < 7 ? n : 7u); i += 3) a[i] = 0;"),
    (Parallelize(), "ORIO-T091", "@for (i = 0; i < n * 0.5; i++) a[i] = 0;"),
    (Parallelize(), "ORIO-T091", "@for (i = 0; i < (double)n / 2; i++) a[i] = 0;"),
    (Parallelize(), "ORIO-T091", "@for (i = 0; i < (n > 5 ? 2.5 : 3); i++) a[i] = 0;"),
    (Parallelize(), "ORIO-T091", "@for (i = 0; i < sqrt(n); i++) a[i] = 0;"),
    (Parallelize(), "ORIO-T091", "@for (unsigned char r = 0; r < n - m; r++) a[r] = 0;"),
    (Parallelize(), "ORIO-T091", "@for (unsigned r = 0; r < (long)(n - m); r++) a[r] = 0;"),
    (Vectorize(), "ORIO-T091", "@for (i = 0; i < n * 0.5; i++) a[i] = 0;"),
    (Parallelize(schedule="guided"), "ORIO-T091", "@for (u = 9; u > v; u--) a[u] = 0;"),
    (Vectorize(simdlen=0), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (Vectorize(), "ORIO-T020", "@t = 1;"),
    (Vectorize(), "ORIO-T024", f"{FOR_I} {{ a[i] = 0; @i = i + 1; }}"),
    (Vectorize(), "ORIO-T025", f"{FOR_I} {{ if (a[i] > 0) @break; }}"),
    (Vectorize(), "ORIO-T027", f"{FOR_I} @n = n - 1;"),
    (Vectorize(loop="j"), "ORIO-T015", f"@{FOR_I} a[i] = 0;"),
    (Vectorize(), "ORIO-T040", f"{FOR_I} @a[i + 1] = a[i];"),
    (Vectorize(), "ORIO-T040", f"{FOR_I} {{ @t = t + e[i]; b[t] = 0; }}"),
    (Vectorize(), "ORIO-T041", f"{FOR_I} @a[row[i]] = 0;"),
    (Vectorize(), "ORIO-T090", f"{NEST} @s += c[i][j];"),
    (Vectorize(simdlen=8), "ORIO-T092", f"@{FOR_I} a[i + 4] = a[i];"),
    (Vectorize(alignment=24), "ORIO-T093", f"@{FOR_I} a[i] = 0;"),
    (Vectorize(alignment=0), "ORIO-T093", f"@{FOR_I} a[i] = 0;"),
    (Vectorize(aligned=("b",)), "ORIO-T094", f"@{FOR_I} a[i] = 0;"),
    (Vectorize(aligned=("s",)), "ORIO-T094", f"@{FOR_I} a[i] = s;"),
    (Vectorize(aligned=("p",)), "ORIO-T094", f"@{FOR_I} {{ p = b; a[i] = p[i]; }}"),
    (Specialize("n", (4,)), "ORIO-T095", f"{FOR_I} @n = 3;"),
    (Specialize("x", (4,)), "ORIO-T095", f"@{FOR_I} a[i] = x;"),
    (Specialize("m", (4,)), "ORIO-T095", f"@{FOR_I} a[i] = x;"),
    (Specialize("w", (4,)), "ORIO-T095", f"@{FOR_I} a[i] = w;"),
    (Specialize("z", (4,)), "ORIO-T095", f"@{FOR_I} a[i] = z;"),
    (Specialize("e", (4,)), "ORIO-T095", f"@{FOR_I} a[i] = e[i];"),
    (Specialize("tiny", (4,)), "ORIO-T095", f"@{FOR_I} a[i] = sizeof tiny;"),
    (Specialize("m", (4,)), "ORIO-T095", f"@{FOR_I} {{ int m = 3; a[i] = m; }}"),
    (Specialize("n", (0,)), "ORIO-T099", f"{FOR_I} e[i] = @i / n;"),
    (Specialize("m", (3,)), "ORIO-T099", f"{FOR_I} e[i] = @i % (m - 3);"),
    (Specialize("n", (40,)), "ORIO-T099", f"{FOR_I} e[i] = @1 << n;"),
    (Specialize("n", (100000,)), "ORIO-T099", f"{FOR_I} e[i] = @n * n;"),
    (Specialize("u", (-1,)), "ORIO-T099", "@for (i = 0; i < 9; i++) a[i] = u;"),
    (Specialize("n", (2**31,)), "ORIO-T099", f"@{FOR_I} a[i] = 0;"),
    (Specialize("n", (0,)), "ORIO-T099", f"{{ double @z[n]; {FOR_I} z[i] = 0; }}"),
    (Specialize("n", (4,)), "ORIO-T026", f"{{ static int @z = 0; {FOR_I} z += 1; }}"),
    (Specialize("n", (4,)), "ORIO-T026", f"{{ {FOR_I} a[i] = 0; @again: t = 0; }}"),
    (Specialize("n", (4,)), "ORIO-T026", "int @z = n;"),
    (Specialize(aligned=("p",), alignment=7), "ORIO-T093", f"@{FOR_I} p[i] = 0;"),
    (Specialize(aligned=("a",)), "ORIO-T040", f"{FOR_I} @a[i + 1] = a[i];"),
    (Specialize(aligned=("y",)), "ORIO-T094", f"@{FOR_I} a[i] = 0;"),
    (Restrict(("p",)), "ORIO-T098", f"@{FOR_I} p[i] = a[i];"),
    (Restrict(("p",), force=True), "ORIO-T094", f"@{FOR_I} {{ p = a; p[i] = 0; }}"),
    (Restrict(("y",), force=True), "ORIO-T094", f"@{FOR_I} a[i] = 0;"),
    (Restrict(("a",), force=True), "ORIO-T094", f"@{FOR_I} a[i] = sizeof a / sizeof *a;"),
    (Restrict(("a",), force=True), "ORIO-T094", "@{ a[0] = 0; { double a[4]; a[1] = 0; } }"),
    (Restrict(("a",), force=True), "ORIO-T026", "double @z = a[0];"),
    (OpenMP(True, ("omp parallel for reduction(*: s)",)), "ORIO-T091", f"{FOR_I} @s += a[i];"),
    (
        OpenMP(True, ("omp parallel for private(a, p)",)),
        "ORIO-T091",
        f"@{FOR_I} {{ a[0] = b[i]; p = a + 1; y[i] = p[-1]; }}",
    ),
    (OpenMP(True, ("omp parallel for reduction(+: s)",)), "ORIO-T091", f"@{FOR_I} y[i] = (s += a[i]);"),
    (OpenMP(True, ("omp parallel for reduction(&&: ok)",)), "ORIO-T091", f"@{FOR_I} a[i] = 0;"),
    (OpenMP(True, ("omp parallel for lastprivate(t)",)), "ORIO-T091", f"@{FOR_I} if (e[i]) t = i;"),
    (OpenMP(True, ("omp parallel for private(x)",)), "ORIO-T091", f"@{FOR_I} a[i] = x;"),
    (OpenMP(True, ("omp for schedule(dynamic)",)), "ORIO-T091", "@for (u = 9; u > v; u--) a[u] = 0;"),
    (Vector(True, ("omp simd linear(k: 2)",)), "ORIO-T091", f"@{FOR_I} {{ a[i] = b[k]; k += 3; }}"),
    (Pragma(("omp parallel for",)), "ORIO-T040", f"{FOR_I} @a[i + 1] = a[i];"),
    (Pragma(("omp simd",)), "ORIO-T040", f"{FOR_I} @a[i + 1] = a[i];"),
    (Pragma(("omp for collapse(2)",)), "ORIO-T032", f"@{FOR_I} a[i] = 0;"),
)


@pytest.mark.parametrize(("transformation", "code", "text"), CASES)
def test_refusal(transformation: Transformation, code: str, text: str) -> None:
    assert_refused(transformation, code, text, around())


def test_index_of_an_inner_loop_that_is_read_afterwards() -> None:
    some = f"{FOR_I} if (e[i]) @for (j = 0; j < m; j++) c[i][j] = 0;"
    assert_refused(Parallelize(), "ORIO-T040", some, around("c j"))
    given = f"{FOR_I} @for (j = 0; j < m; j++) c[i][j] = 0;"
    assert_refused(OpenMP(True, ("omp parallel for private(j)",)), "ORIO-T040", given, around("c j"))


def test_value_that_cannot_be_written_down() -> None:
    text = "@for (i = (short)n; i < m; i++) a[i] = 0;"
    assert_refused(Parallelize(), "ORIO-T029", text, around("a i"))


def test_macro_whose_value_is_known() -> None:
    macros = around(macros={"n": "64"})
    assert_refused(Specialize("n", (4,)), "ORIO-T095", f"@{FOR_I} a[i] = 0;", macros)


def test_variable_that_a_function_may_change() -> None:
    text = f"@{FOR_I} g(i);"
    assert_refused(Specialize("n", (4,)), "ORIO-T095", text, around(exposed=frozenset({"n"})))
    Specialize("n", (4,)).apply(statement(text.replace("@", "")), around())


@pytest.mark.parametrize("step", [Specialize("n", (4,)), Restrict(("a",), force=True)])
def test_statement_behind_a_pragma_of_its_own(step: Transformation) -> None:
    inner = around(pragmas=("omp parallel for",))
    assert_refused(step, "ORIO-T023", f"@{FOR_I} a[i] = 0;", inner)


def test_loop_around_another_construct() -> None:
    text = f"{FOR_I} {{\n#pragma omp barrier\na[i] = 0; }}"
    for step in (Parallelize(), Vectorize()):
        (diagnostic,) = refusal_of(step, text, around()).diagnostics
        assert diagnostic.code == "ORIO-T023"
    (diagnostic,) = refusal_of(
        Parallelize(), f"{FOR_I} a[i] = 0;", around(pragmas=("GCC ivdep",))
    ).diagnostics
    assert diagnostic.code == "ORIO-T033"


def test_pragma_that_shares_out_no_loop() -> None:
    result = emit(OpenMP(True, ("omp parallel",)).apply(statement(f"{FOR_I} a[i + 1] = a[i];"), around()))
    assert "#pragma omp parallel\n" in result


def test_last_value_needs_bounds_of_one_kind() -> None:
    """A clause for a variable's last value needs a test of whether the loop runs at all."""
    for start, clause in (("0", True), ("m", True), ("u", False)):
        view = CanonicalLoop.match(statement(f"for (i = {start}; i < n; i++) {{ x = a[i]; b[i] = x; }}"))
        assert view is not None
        assert sharing([view], around("x")).last == (("x",) if clause else ())


def test_promises() -> None:
    total = statement(f"{FOR_I} s += a[i];")
    promised = around(assumptions=Assumptions(reassociate=True))
    assert "reduction(+: s)" in emit(Parallelize().apply(total, promised))
    assert promised.overruled.texts == ()
    forced = around()
    assert "reduction(+: s)" in emit(Vectorize(force=True).apply(total, forced))
    assert "another order" in forced.overruled.texts[0]
    copy = f"{FOR_I} p[i] = q[i];"
    for noalias in (True, frozenset({"p"})):
        Restrict(("p",)).apply(statement(copy), around(assumptions=Assumptions(noalias=noalias)))
    some = around(assumptions=Assumptions(noalias=frozenset({"p"})))
    assert_refused(Restrict(("p", "q")), "ORIO-T098", f"@{copy}", some)
    forced = around()
    Restrict(("p",), force=True).apply(statement(copy), forced)
    assert "`p`" in forced.overruled.texts[0]


def test_arguments_that_change_nothing() -> None:
    node = statement(f"{FOR_I} a[i] = n;")
    for step in (Specialize("n", ()), Specialize(None, (4,)), Restrict(())):
        assert step.apply(node, around()) is node


@pytest.mark.parametrize(
    ("name", "values", "code"),
    [
        ("Parallelize", {"schedule": "daily"}, "ORIO-T010"),
        ("Parallelize", {"schedule": 4}, "ORIO-T010"),
        ("Parallelize", {"num_threads": 0}, "ORIO-T011"),
        ("Vectorize", {"alignment": 12}, "ORIO-T093"),
        ("Vectorize", {"aligned": 3}, "ORIO-T010"),
        ("Specialize", {"on": "n", "values": ["4"]}, "ORIO-T010"),
        ("Specialize", {"on": 4}, "ORIO-T010"),
        ("Restrict", {"arrays": 4}, "ORIO-T010"),
    ],
)
def test_arguments(name: str, values: dict[str, Value], code: str) -> None:
    with pytest.raises(Refusal) as caught:
        TRANSFORMATIONS[name].make(values)
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_clauses_are_read() -> None:
    given = clauses(
        "omp simd linear(val(k), m: 2) reduction(task, max: s, t[0:n]) safelen(8) firstprivate(x)"
    )
    assert given.linear == (("k", "2"), ("m", "2"))
    assert given.operators == (("max", "s"), ("max", "t"))
    assert (given.safelen, given.first) == (8, frozenset({"x"}))
    assert clauses("omp for schedule(monotonic: dynamic, 4)").schedule == "dynamic"
    assert clauses("omp for lastprivate(conditional: x, y) lastprivate(k)").last == frozenset("xyk")
    twice = clauses("omp for collapse(2) collapse(3) safelen(4) safelen(8) schedule(static) schedule(auto)")
    assert (twice.collapse, twice.safelen, twice.schedule) == ("3", 8, "auto")


PARALLEL = "#pragma omp parallel for"
SIMD = "#pragma omp simd"
RIGHT = (
    f"{PARALLEL}\n{FOR_I} a[i] = b[i];",
    f"{PARALLEL} private(j)\n{NEST} c[i][j] = 0;",
    f"{PARALLEL} collapse(2)\n{NEST} c[i][j] = 0;",
    f"{PARALLEL}\n{FOR_I} {{\n{SIMD}\nfor (j = 0; j < m; j++) c[i][j] = 0; }}",
    f"{PARALLEL} reduction(+: s)\n{FOR_I} s += a[i];",
    f"{PARALLEL}\n{FOR_I} {{\n#pragma omp critical\ns += a[i]; }}",
    f"{PARALLEL} ordered\n{FOR_I} a[i + 1] = a[i];",
    f"{SIMD} safelen(4)\n{FOR_I} a[i + 4] = a[i];",
    f"#pragma omp parallel private(x)\n{{\n#pragma omp for\n{FOR_I} {{ x = a[i]; b[i] = x; }} }}",
    f"#pragma omp for\n{FOR_I} {{ x = a[i]; b[i] = x; }}",
    f"{FOR_I} a[i + 1] = a[i];",
    f"{PARALLEL} private(j, y)\n{FOR_I} {{ for (j = 0; j < m; j++) y[j] = e[j] * i; for (j = 1; j < m; j++) c[i][j] = y[j - 1]; }}",
    f"{PARALLEL} private(y)\n{FOR_I} {{ y[row[i]] = i; a[i] = y[row[i]]; }}",
)
WRONG = (
    f"{PARALLEL}\n{FOR_I} @a[i + 1] = a[i];",
    f"{PARALLEL}\n{FOR_I} @s += a[i];",
    f"{PARALLEL} reduction(max: s)\n{FOR_I} @s += a[i];",
    f"{PARALLEL}\n@{NEST} c[i][j] = 0;",
    f"{PARALLEL}\n{FOR_I} {{ @x = a[i]; b[i] = x; }}",
    f"{PARALLEL} collapse(2)\n{NEST} c[i][j] = @c[i][j + 1];",
    f"{SIMD} safelen(8)\n{FOR_I} @a[i + 4] = a[i];",
    f"{SIMD}\n{FOR_I} @a[i + 4] = a[i];",
    f"#pragma omp for\n{FOR_I} @b[i + 1] = b[i];",
    f"{PARALLEL} lastprivate(x)\n@{FOR_I} if (e[i]) x = a[i];",
    f"{PARALLEL} private(y)\n@{FOR_I} a[i] = y[i];",
)
UNDECIDED = (
    f"{PARALLEL}\n{FOR_I} a[i] = @g(i);",
    f"{PARALLEL}\n{FOR_I} @a[row[i]] = b[i];",
)


@pytest.mark.parametrize("text", RIGHT)
def test_pragma_of_the_user_that_is_right(text: str) -> None:
    assert pragma_problems(parse(text), around("a b c s")) == ()


@pytest.mark.parametrize(
    ("text", "code", "severity"),
    [(text, "ORIO-T096", Severity.ERROR) for text in WRONG]
    + [(text, "ORIO-T097", Severity.WARNING) for text in UNDECIDED],
)
def test_pragma_of_the_user_that_is_wrong(text: str, code: str, severity: Severity) -> None:
    last = text.rpartition("\n")[2]
    problems = pragma_problems(parse(text.replace("@", "")), around("a b c s x"))
    problem = problems[0]
    assert (problem.code, problem.severity) == (code, severity), problem.headline()
    assert problem.position is not None
    assert problem.position.column == last.index("@") + 1, problem.headline()


def test_global_variable_may_be_private_to_each_thread() -> None:
    inner = around("a")
    changed = {**inner.declarations, "x": context("double x;").declarations["x"]}
    changed["x"] = type(changed["x"])("x", "double", scope="global")
    text = f"{PARALLEL}\n{FOR_I} {{ x = a[i]; b[i] = x; }}"
    (problem,) = pragma_problems(parse(text), Context(declarations=changed, live_after=frozenset("ab")))
    assert (problem.code, problem.severity) == ("ORIO-T097", Severity.WARNING)


def test_parallel_unrolled_loop_keeps_its_index() -> None:
    Unroll(4, parallelize=True).apply(statement(f"{FOR_I} a[i] = 0;"), around("a i"))


@pytest.mark.parametrize("step", [Parallelize(collapse=2), OpenMP(True, ("omp parallel for collapse(2)",))])
def test_inner_loops_of_a_collapse_know_the_ranges_of_the_outer_ones(step: Transformation) -> None:
    triangle = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (k = 0; k <= i; k++) a[j * n * n + i * n + k] = k;"
    inner = around("a")
    declared = {**inner.declarations, "k": context("int k;").declarations["k"]}
    step.apply(statement(triangle), replace(inner, declarations=declared))


@pytest.mark.parametrize(("threads", "lanes", "fits"), [("i", "j", True), ("j", "i", False)])
def test_threads_do_not_begin_in_the_lanes_of_a_vector(threads: str, lanes: str, fits: bool) -> None:
    steps = f"transform Parallelize(loop='{threads}')\ntransform Vectorize(loop='{lanes}')"
    nest = "for (int i = 2; i < n; i++)\nfor (int j = 0; j < m; j++)\nq[i][j] += 1;"
    text = f"void f(int n, int m, double (*restrict q)[40]) {{\n/*@ begin Loop(\n{steps}\n{nest}\n) @*/\n/*@ end @*/\n}}\n"
    if fits:
        assert transformed_file(text, {}).count("#pragma omp") == 2
        return
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-T023"
    assert problem.position is not None
    assert problem.position.line == 5
