"""What a file's compiler sees of it: conditions, macros, types, functions, and what no parser reads."""

from __future__ import annotations

import pickle

import pytest

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.file_scope import FileScope, live_after, surroundings
from orio_py.ctree.symbols import declaration_of
from orio_py.ctree.unit.translation_unit import TranslationUnit, translation_unit


def scope(text: str) -> FileScope:
    """What the first region of a file sees; `REGION` stands for one."""
    text = text.replace("REGION", "/*@ begin Loop(transform Unroll(ufactor=2)) @*/ x[0] = v; /*@ end @*/", 1)
    start = text.index("/*@ begin")
    return surroundings(
        SourceFile("t.c", text.encode("latin-1")), Span(start, text.index("@*/", text.index("/*@ end")) + 3)
    )


def shown(near: FileScope, name: str) -> str:
    declared = near.declared[name]
    return " ".join(
        (declared.type, "*" * declared.pointers, "".join(f"[{d}]" for d in declared.dimensions))
    ).strip()


@pytest.mark.parametrize(
    ("name", "resolved"),
    [("real", "float"), ("other", "float"), ("circle", None), ("row", None), ("size_t", None), ("s", None)],
)
def test_typedefs_are_followed(name: str, resolved: str | None) -> None:
    text = """typedef float real; typedef real other; /* typedef int real; */ typedef unsigned long size_t;
    typedef loop circle; typedef circle loop; typedef double *row; typedef struct s s;"""
    assert translation_unit(text).number_types.get(name) == resolved


@pytest.mark.parametrize(
    ("attribute", "resolved"),
    [
        ("__attribute__((__vector_size__(16), __may_alias__))", None),
        ("__attribute__ ( (aligned(8), mode(DI)))", None),
        ("__attribute__((may_alias))", None),
        ("__attribute__((ext_vector_type(4)))", None),
        ("__attribute__((aligned(16)))", "float"),
    ],
)
def test_attributes_make_other_types(attribute: str, resolved: str | None) -> None:
    text = f"typedef float four {attribute}; typedef four other; typedef float mode; int (*f)(mode m);"
    known = translation_unit(text).number_types
    assert (known.get("four"), known.get("other"), known["mode"]) == (resolved, resolved, "float")


def test_complex_types_have_names_too() -> None:
    text = "typedef float _Complex point; typedef point other; typedef double complex wide; typedef struct { int re; } complex;"
    kinds = {"point": "float _Complex", "other": "float _Complex", "wide": "double complex"}
    assert translation_unit(text).number_types == kinds


def test_macros_name_types_too() -> None:
    text = "typedef unsigned short word;\n#define fp float\n#define W word\n#define N 3\n#define E\n#define F(x) int\n"
    assert translation_unit(text).number_types == {
        "word": "unsigned short",
        "fp": "float",
        "W": "unsigned short",
    }


def test_macros_name_types_by_other_macros() -> None:
    text = "#define real PRECISION\n#define PRECISION  word\ntypedef float word;\n#define a b\n#define b a\n#define M N + 1\n#define N 2\n"
    assert translation_unit(text).number_types == dict.fromkeys(("word", "PRECISION", "real"), "float")


def test_conditions_are_decided() -> None:
    text = "#define WIDE 1\n#if defined(WIDE) && WIDE > 0\ntypedef long index_type;\n#else\ntypedef int index_type;\n#endif\n"
    assert translation_unit(text).number_types == {"index_type": "long"}


@pytest.mark.parametrize("other", ["#else", "#elif 1", "#elif defined(A) || 1"])
def test_what_is_annotated_counts_as_compiled(other: str) -> None:
    near = scope(
        f"#ifdef A\nvoid f(int n, double *x)\n{{ int v; REGION }}\n{other}\nvoid f(long n);\n#endif\n"
    )
    assert shown(near, "n") == "int"
    assert shown(near, "v") == "int"


def test_a_condition_decides_between_annotated_branches() -> None:
    region = "/*@ begin Loop(transform Unroll(ufactor=2)) @*/ x[0] = n; /*@ end @*/"
    text = f"#ifdef A\nvoid f(int n) {{ {region} }}\n#else\nvoid f(long n) {{ {region} }}\n#endif\n"
    [function] = translation_unit(text).functions.values()
    [parameter] = function.parameters
    assert declaration_of(parameter).type == "long"


@pytest.mark.parametrize(
    ("define", "declared", "expected"),
    [
        ("#define fp float", "fp *x", "float *"),
        ("#define N_ n", "double x[N_]", "double  [n]"),
        ("#define N 100", "double x[N][N + 1]", "double  [N][N + 1]"),
        ("#define M (2 * N)\n#define N 100", "double x[M]", "double  [M]"),
        ("#define ROWS(a) double a[3]", "ROWS(x)", "double  [3]"),
        ("#define RESTRICT __restrict__", "double *RESTRICT x", "double *"),
        ("#define T(a, b) a##b", "T(dou, ble) *x", "double *"),
        ("#define NOTHING", "NOTHING double NOTHING *x", "double *"),
    ],
)
def test_macros_are_expanded_but_for_constants(define: str, declared: str, expected: str) -> None:
    near = scope(f"{define}\nvoid f(int n, {declared})\n{{ int v; REGION }}\n")
    assert shown(near, "x") == expected


def test_macros_are_those_of_the_place() -> None:
    near = scope(
        "#define A 1\n#define B 2\n#undef A\nvoid f(double *x) { int v; REGION }\n#define C 3\n#define F(x) x\n"
    )
    assert near.macros == {"B": "2"}
    assert near.function_macros == set()


def test_definitions_in_the_style_of_k_and_r() -> None:
    near = scope("void f(n, x, scale) int n; double *x, scale; { int v; REGION }\n")
    assert [shown(near, name) for name in ("n", "x", "scale")] == ["int", "double *", "double"]
    assert near.function is not None
    assert [p.name for p in near.function.parameters] == ["n", "x", "scale"]


@pytest.mark.parametrize(
    "text",
    [
        "f(n, x, m, k) double *x; register k; { register v; auto w = 1; static t; REGION }",
        "static f(n, x, m, k)\ndouble *x;\n{ auto v, w = 1; const t = 2; REGION }",
        "extern f(n, x, m, k) int n; double *x; const k; { int v; register w; static int t; REGION }",
    ],
)
def test_what_has_no_type_is_an_int(text: str) -> None:
    near = scope(f"static scale = 2;\nextern table[4];\n{text}\n")
    names = ("n", "x", "m", "k", "v", "w", "t", "scale", "table")
    kinds = ["int", "double *", "int", "int", "int", "int", "int", "int", "int [4]"]
    assert [" ".join(shown(near, name).split()) for name in names] == kinds
    assert near.function is not None
    assert near.function.return_type == "int"
    assert [p.text for p in near.function.parameters if p.name == "m"] == ["int m"]
    assert near.flow is not None


@pytest.mark.parametrize(
    "statement",
    [
        '__asm__ volatile ("nop" : : "r"(v) : "memory");',
        "v = __builtin_offsetof(struct s, a.b[2]);",
        "int __attribute__((unused)) w = ({ int q = 1; q + v; });",
        "auto void g(void); x = [&] { return 1; };",
        "FOREIGN(x) { v = 1; }",
        "for each (v in x) { v = 2; }",
    ],
)
def test_a_statement_that_no_parser_reads_costs_itself_only(statement: str) -> None:
    near = scope(f"void f(int n, double *x) {{ int v; {statement} REGION }}\n")
    assert near.flow is not None
    assert shown(near, "x") == "double *"
    assert shown(near, "v") == "int"


def test_a_parameter_s_type_need_not_be_known() -> None:
    near = scope("static void f(theirs *x, other y, int (*g)(third *z))\n{ int v; REGION }\n")
    assert near.flow is not None
    assert [shown(near, name) for name in ("x", "y")] == ["theirs *", "other"]


def test_what_such_a_statement_mentions_may_be_read() -> None:
    text = "void f(int n, double *x) {{ int v, w; REGION {} }}\n"
    assert live_after(scope(text.format("x = [&] { return v; };")), ["v", "w"]) == {"v"}


def test_a_declaration_that_no_parser_reads_costs_itself_only() -> None:
    near = scope("template <class T> T g(T x);\n@interface\n;int k;\nvoid f(double *x) { int v; REGION }\n")
    assert shown(near, "k") == "int"
    assert shown(near, "v") == "int"


def test_enumerators() -> None:
    found = translation_unit("enum { A, B = 0x10, C, D = B << 2, E = sizeof(int), F };").enumerators
    assert found == {"A": 0, "B": 16, "C": 17, "D": 64, "E": None, "F": None}


def unit_with_header(header: str, text: str) -> TranslationUnit:
    """A unit whose preprocessor wrote a header's text before the file's."""
    return translation_unit(
        "#include <h.h>\n" + text,
        preprocess=lambda segments: (
            f'# 1 "/usr/include/h.h" 1 3 4\n{header}\n' + segments.marked(masked=True)
        ),
    )


def test_of_headers_only_what_the_file_mentions_is_parsed() -> None:
    header = "typedef unsigned inner; typedef inner outer; typedef int other;\nextern int g(outer *x);\nstruct s { other o; };"
    unit = unit_with_header(header, "outer v;")
    assert dict(unit.number_types) == {"inner": "unsigned", "outer": "unsigned"}
    assert unit.structures == {}


def test_functions_of_the_systems_headers_that_are_macros_stay_calls() -> None:
    header = "#define issubnormal(x) ({ __typeof__(x) y = (x); y != y; })\n#define DBL_MAX 1.7e308"
    unit = unit_with_header(
        header,
        "void f(double *x)\n{ double v;\n/*@ begin Loop() @*/ v = issubnormal(x[0]) ? DBL_MAX : 0; /*@ end @*/ }",
    )
    flow = unit.functions["f"].flow
    assert any("issubnormal" in step.effects.calls for step in flow.steps if step.effects is not None)


def test_macros_of_a_project_header_that_calls_itself_the_systems_are_expanded() -> None:
    """`#pragma GCC system_header` has the compiler mark what follows; the header began as one of the project."""
    unit = translation_unit(
        '#include "own.h"\nvoid f(double *x)\n{ double v;\n/*@ begin Loop() @*/ v = SCALED(x[0]); /*@ end @*/ }',
        preprocess=lambda segments: (
            '# 1 "own.h" 1\n# 2 "own.h" 3\n#define SCALED(x) ((x) * 2)\n' + segments.marked(masked=True)
        ),
    )
    flow = unit.functions["f"].flow
    assert not any("SCALED" in step.effects.calls for step in flow.steps if step.effects is not None)


def test_a_statement_that_no_parser_reads_takes_the_loop_around_it_along() -> None:
    unread = "for (i = 0; i < 9; i++) for (; v < 3; v++) x[i] = choose(v, unsigned,);"
    near = scope(f"void f(double *x) {{ int v, i; double w; {unread} REGION v = 1; }}")
    assert [shown(near, name) for name in ("v", "w", "x")] == ["int", "double", "double *"]


@pytest.mark.parametrize(
    ("after", "live"),
    [
        ("y = TOTAL;", True),
        ("TOTAL; v = 1;", True),
        ("SET(v); y = v;", False),
        ("y = ONE; v = 1; y = v;", False),
        ("STEP; ", True),
        ("{ int v = 3; y = v; }", False),
        ("{ double v; v = 3; } y = v;", True),
        ("while (y > 0) { y--; if (y == 3) continue; v = 1; } y = v;", True),
        ("do { v = 1; } while (y--); y = v;", False),
        ("for (;;) { v = 1; if (y) break; } y = v;", False),
        ("switch (y) { case 1: v = 1; break; default: v = 2; } y = v;", False),
        ("switch (y) { default: ; v = 2; case 1: y = v; }", True),
        ("goto end; y = v; end: ;", False),
        ("again: v = 1; if (y--) goto again; y = v;", False),
        ("y && (v = 1); y = v;", True),
        ("y ? (v = 1) : (v = 2); y = v;", False),
        ("\n#pragma omp parallel for private(v)\nfor (y = 0; y < 3; y++) { v = y; }", False),
        ("\n#pragma omp parallel for firstprivate(v)\nfor (y = 0; y < 3; y++) { x[y] = v; }", True),
        ("int n = sizeof v; v = n; y = v;", False),
        ("do { if (y--) continue; v = 1; } while (0); y = v;", True),
        ("for (;; y = v) { if (y) continue; v = 1; break; }", True),
        ("for (;; y = 3) { if (y) continue; v = 1; break; } y = v;", False),
        ("\n#pragma omp parallel for if(v > 1)\nfor (y = 0; y < 3; y++) { x[y] = 0; }", True),
        ("\n#pragma omp parallel for shared(v)\nfor (y = 0; y < 3; y++) { x[y] = 0; }", False),
        ("v = 1; g(&v); y = v;", False),
        ("g(&v); y = 2;", True),
        ("v = g(&v);", True),
        ("if (y) g(&v);", True),
        ("int *p = &v; v = 1; y = *p;", True),
    ],
)
def test_what_is_read_after_a_region(after: str, live: bool) -> None:
    text = "#define TOTAL (v * 2)\n#define ONE 1\n#define SET(a) do { a = 1; } while (0)\n#define STEP (v += 1)\n"
    near = scope(f"{text}void f(double *x) {{ int v = 0, y = 0; REGION {after} }}\n")
    assert live_after(near, ["v"]) == ({"v"} if live else set())


@pytest.mark.parametrize(
    ("body", "live"),
    [
        ("do { y = v; REGION } while (y);", True),
        ("do { v = 1; y = v; REGION } while (y);", False),
        ("for (y = 0; y < 3; y++) { int v = 0; x[y] = v; REGION }", False),
        ("for (y = 0; y < 3; y++) { static int v = 0; x[y] = v; REGION }", True),
        ("{ int v; REGION } y = v;", False),
        ("again: y = v; REGION if (y) goto again;", True),
        ("g(&v); REGION v = 1;", True),
        ("do { REGION v = 1; g(&v); } while (y);", True),
        ("do { int v; REGION v = 1; g(&v); } while (y);", True),
        ("do { y = v; } while (y); REGION v = 1; g(&v);", False),
    ],
)
def test_what_is_read_when_a_region_comes_again(body: str, live: bool) -> None:
    near = scope(f"void f(double *x) {{ int v = 0, y = 0; {body} }}\n")
    assert live_after(near, ["v"]) == ({"v"} if live else set())


@pytest.mark.parametrize(
    ("after", "live"),
    [
        ("v.a = 1; v.b = 2; y = v.a + v.b;", False),
        ("v.a = 1; y = v.b;", True),
        ("if (y) v.a = 1; y = v.a;", True),
        ("if (y) { v.a = 1; y = v.a; } else v.a = 2; y = v.a;", False),
        ("for (y = 0; y < 3; y++) { v.a = y; x[y] = v.a; }", False),
        ("for (y = 0; y < 3; y++) { x[y] = v.a; v.a = y; }", True),
        ("v.a += 1;", True),
        ("v.a = v.a + 1;", True),
        ("v.a = 1; w = v;", True),
        ("v = w; y = v.b;", False),
        ("v.in.c = 1; y = v.in.c;", True),
        ("v.a = 1; g(&v); y = v.a;", True),
        ("{ struct s v; y = v.a; }", False),
    ],
)
def test_structures_are_read_by_their_members(after: str, live: bool) -> None:
    kind = "struct s { int a, b; struct { int c; } in; };\nvoid g();\n"
    near = scope(f"{kind}void f(double *x) {{ struct s v, w; int y = 0; v.a = v.b = 0; REGION {after} }}\n")
    assert live_after(near, ["v"]) == ({"v"} if live else set())


@pytest.mark.parametrize(
    ("after", "live"), [("y = v[0];", True), ("v[0] = 1; y = 1;", False), ("g(v);", True)]
)
def test_arrays_are_read_by_their_elements(after: str, live: bool) -> None:
    near = scope(f"void f(double *x) {{ int v[3], y = 0; REGION {after} }}\n")
    assert live_after(near, ["v"]) == ({"v"} if live else set())


def test_code_that_only_an_annotation_holds_counts_where_it_stands() -> None:
    def near(code: str) -> FileScope:
        region = "/*@ begin Loop(transform Unroll(ufactor=2)) @*/ x[0] = v; /*@ end @*/"
        other = "/*@ begin Loop() @*/ /*@ end @*/"
        text = f"void f(double *x) {{ int v; {region} {other} }}\n"
        at = text.index(other) + len("/*@ begin Loop() @*/")
        unit = translation_unit(text, codes={at: code})
        start = text.index(region)
        return surroundings(SourceFile("t.c", text.encode()), Span(start, start + len(region)), unit)

    assert live_after(near("for (v = 0; v < 9; v++) x[v] = 0;"), ["v"]) == set()
    assert live_after(near("x[1] = v;"), ["v"]) == {"v"}


def test_what_travels_to_other_processes_grows_with_the_file_not_with_its_headers() -> None:
    header = "\n".join(f"extern int function_{k}(int first, double second, char *third);" for k in range(500))
    unit = unit_with_header(header, "double x[3];\n")
    assert len(pickle.dumps(unit)) < len(header) / 4
    assert [node.name for node in pickle.loads(pickle.dumps(unit)).variables(unit.end)] == ["x"]


def test_extents_with_statements_in_them_are_not_known() -> None:
    near = scope("void f(double *x, int v) { char buffer[({ int k = 3; k > v ? k : v; })]; REGION }")
    assert shown(near, "buffer") == "char  [orio_opaque]"
