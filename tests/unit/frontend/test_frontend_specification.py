"""The specification language: sections, statements, values, files and imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.core.diagnostics import Diagnostic, Severity, has_errors
from orio_py.core.expr import evaluate
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tuning.collect import Specification
from orio_py.frontend.tuning.files import Files
from orio_py.frontend.tuning.specification import Interpreter
from orio_py.spec.inputs import Storage


def interpret(text: str, directory: Path = Path(".")) -> tuple[Specification, list[Diagnostic]]:
    source = SourceFile("f.spec", text.encode("latin-1"))
    interpreter = Interpreter(Files(directory))
    interpreter.read(source, Span(0, len(text)))
    specification = interpreter.collected.finish(interpreter.files, interpreter.problems)
    return specification, interpreter.problems


def good(text: str, directory: Path = Path(".")) -> Specification:
    specification, problems = interpret(text, directory)
    assert problems == []
    return specification


def errors(text: str) -> list[Diagnostic]:
    return interpret(text)[1]


FULL = """
let SIZES = [10*k for k in range(1, 4)];  # three
def build {
  let O = '-O2';
  arg build_command = 'gcc ' + O + ' @CFLAGS # no comment';
  arg libs = '-lm';
  arg prebuild_command = 'pre'; arg postbuild_command = 'post'; arg postrun_command = 'run';
}
def performance_counter { arg method = 'basic timer'; arg repetitions = 3; }
def performance_params {
  param UF[] = range(1,11);
  param T = 16;
  param CFLAGS[] = ['-O1', "-O2 -g",];
  param MIX[] = [1, 2.5];
  let M = 8;
  constraint small = UF * T <= M * 16 and M > 1;
}
def cmdline_params { option "-n" = [1, 2]; option "--log-level" = ('a', 'b'); }
def input_params { param N[] = SIZES; param P = 3; constraint c = N > P; arg specialize = ['N']; }
def input_vars {
  arg seed = 7;
  decl static double x[N][N+1] = random;
  decl dynamic unsigned int y[N] = 2 * 3;
  decl managed __device__ float z[N];
  decl static int k[3] = {1, 2, 3};
  decl double a = random;
  decl long long b = 5;
  decl size_t c;
  decl macro MAX = 'MAX(a,b) ((a)>(b)?(a):(b))';
}
def search {
  arg algorithm = 'Simplex';
  arg simplex_local_distance = 2;
  arg simplex_x0 = [0, 0];
  arg total_runs = 5;
  arg time_limit = 2;
  arg seed = 42;
}
def validation { arg tolerance = 1e-9; arg tolerance_float = (1e-4, 1e-5); }
"""


def test_everything_of_the_language() -> None:
    spec = good(FULL)
    assert [(p.name, p.values, p.option) for p in spec.parameters] == [
        ("UF", tuple(range(1, 11)), None),
        ("T", (16,), None),
        ("CFLAGS", ("-O1", "-O2 -g"), None),
        ("MIX", (1, 2.5), None),
        ("n", (1, 2), "-n"),
        ("log_level", ("a", "b"), "--log-level"),
    ]
    assert str(spec.parameters[0].position) == "f.spec:11:9"
    (small,) = spec.constraints
    assert small.name == "small"
    assert evaluate(small.expression, {"UF": 8, "T": 16}) is True
    assert evaluate(small.expression, {"UF": 9, "T": 16}) is False
    assert spec.build.command == "gcc -O2 @CFLAGS # no comment"
    assert not spec.build.is_default
    assert (spec.build.libs, spec.build.prebuild, spec.build.postbuild, spec.build.postrun) == (
        "-lm",
        "pre",
        "post",
        "run",
    )
    assert spec.measurement.repetitions == 3
    assert spec.measurement.tolerance == {
        "double": (1e-9, 0.0),
        "long double": (1e-9, 0.0),
        "float": (1e-4, 1e-5),
    }
    assert spec.search.algorithm == "Simplex"
    assert spec.search.options == {"local_distance": 2, "x0": [0, 0], "seed": 42}
    assert (spec.search.budget.trials, spec.search.budget.time) == (5, 120.0)


def test_inputs_of_the_language() -> None:
    inputs = good(FULL).inputs
    assert [(p.name, p.values) for p in inputs.parameters] == [("N", (10, 20, 30)), ("P", (3,))]
    assert [c.name for c in inputs.constraints] == ["c"]
    assert inputs.specialize == ("N",)
    assert inputs.seed == 7
    assert inputs.macros == ("MAX(a,b) ((a)>(b)?(a):(b))",)
    assert [(d.name, d.type, d.storage, d.dimensions, d.initialiser) for d in inputs.declarations] == [
        ("x", "double", Storage.STATIC, ("N", "N+1"), "random"),
        ("y", "unsigned int", Storage.DYNAMIC, ("N",), "2 * 3"),
        ("z", "float", Storage.MANAGED, ("N",), None),
        ("k", "int", Storage.STATIC, ("3",), "{1, 2, 3}"),
        ("a", "double", Storage.SCALAR, (), "random"),
        ("b", "long long", Storage.SCALAR, (), "5"),
        ("c", "size_t", Storage.SCALAR, (), None),
    ]


def test_sizes_may_be_called_as_functions_are() -> None:
    inputs = good(
        "def input_params { param len[] = [2, 9]; param max = 5; constraint c = max(len, 3) < max; }"
    ).inputs
    (constraint,) = inputs.constraints
    sizes = [dict(zip(("len", "max"), values, strict=True)) for values in ((2, 5), (9, 5))]
    assert [evaluate(constraint.expression, each) for each in sizes] == [True, False]


def test_the_storage_class_may_stand_behind_the_type() -> None:
    (declared,) = good("def input_vars { decl double static x[3]; }").inputs.declarations
    assert (declared.type, declared.storage, declared.dimensions) == ("double", Storage.STATIC, ("3",))


def test_defaults() -> None:
    spec = good("")
    assert spec.build.command == "gcc -O3"
    assert spec.build.is_default
    assert spec.measurement.repetitions == 5
    assert spec.search.algorithm == "Exhaustive"
    assert spec.search.budget.trials is None
    assert spec.search.budget.time is None
    assert spec.inputs.seed == 1


def test_named_specification_block() -> None:
    spec = good("spec everything { let K = 2; def performance_params { param U[] = [K]; } }")
    assert [p.values for p in spec.parameters] == [(2,)]


def test_let_is_local_to_its_section() -> None:
    text = "def build { let A = 'x'; arg libs = A; } def performance_params { param U[] = [A]; }"
    (problem,) = errors(text)
    assert (problem.code, problem.message) == ("ORIO-E002", "unknown name `A`")


def test_unlimited_budget_and_specialize_all() -> None:
    spec = good(
        "def search { arg total_runs = -1; arg time_limit = -1; }"
        "def input_params { param N[] = [1]; param M[] = [2]; arg specialize = True; }"
    )
    assert (spec.search.budget.trials, spec.search.budget.time) == (None, None)
    assert spec.inputs.specialize == ("N", "M")


def test_random_seed_and_compiler() -> None:
    spec = good("def performance_counter { arg random_seed = 9; } def build { arg CC = 'clang'; }")
    assert spec.inputs.seed == 9
    assert spec.build.command == "clang -O3"


def test_the_time_of_a_device_variant_is_a_choice() -> None:
    times = {
        text: good(f"def performance_counter {{ {text} }}").measurement.time
        for text in ("", "arg time = 'kernel';", "arg time = 'kernel+transfer';")
    }
    assert [str(time) for time in times.values()] == ["call", "kernel", "kernel+transfer"]
    (problem,) = errors("def performance_counter { arg time = 'transfer'; }")
    assert problem.code == "ORIO-S006"
    assert "one of 'call', 'kernel', 'kernel+transfer'" in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "def build { arg batch_command = 'qsub'; }",
        "def build { arg status_command = 'qstat'; }",
        "def build { arg num_procs = 4; }",
        "def build { arg timer_file = 't.c'; }",
        "def build { arg CC = 'gcc'; arg build_command = 'gcc'; }",
        "def power { arg method = 'wattprof'; }",
        "def power { arg repetitions = 2; }",
        "def other { arg device_spec_file = 'd'; }",
        "def search { arg use_z3 = True; }",
        "def search { arg resume = True; }",
        "def search { arg msimplex_size = 3; }",
        "def performance_counter { arg timing_array_size = 3; }",
        "def performance_counter { arg method = 'bgp counter'; }",
        "def validation { arg expected_output = 'x'; }",
    ],
)
def test_what_has_no_effect_is_warned_of(text: str) -> None:
    (problem,) = errors(text)
    assert problem.code == "ORIO-S007"
    assert problem.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("text", "code", "place", "part", "hint"),
    [
        ("def build {\n arg libs = ''\n}", "ORIO-S001", "2:15", "after the value of `arg libs`", None),
        (
            "def build { arg libs = '' arg CC = 'a'; }",
            "ORIO-S001",
            "1:26",
            "`;` after the value of `arg libs`",
            None,
        ),
        ("let x = 1", "ORIO-S001", "1:10", "expected `;` after the value of `let x`", None),
        ("def build { ag libs = ''; }", "ORIO-S002", "1:13", "unexpected `ag`", "did you mean `arg`?"),
        ("dff build { arg libs = ''; }", "ORIO-S002", "1:1", "unexpected `dff`", "did you mean `def`?"),
        (
            "def build { arg = ''; }",
            "ORIO-S003",
            "1:17",
            "unexpected `=` in `arg`; expected a name",
            "arg NAME",
        ),
        ("def build { arg libs ''; }", "ORIO-S003", "1:22", "expected `=`", "arg NAME = value;"),
        ("def performance_params { param U[3] = [1]; }", "ORIO-S003", "1:34", "expected `]`", "param NAME[]"),
        ("def input_vars { decl static int x[]; }", "ORIO-S003", "1:36", "an array extent", None),
        ("def biuld { arg libs = ''; }", "ORIO-S004", "1:1", "`def biuld`", "did you mean `build`?"),
        ("def build { arg lib = ''; }", "ORIO-S004", "1:17", "argument `lib`", "did you mean `libs`?"),
        ("def build { arg repetitions = 1; }", "ORIO-S004", "1:17", "`repetitions`", "performance_counter"),
        ("def search { arg simplx_x0 = 1; }", "ORIO-S004", "1:18", "`simplx_x0`", None),
        (
            "def performance_params { arg x = 1; }",
            "ORIO-S005",
            "1:26",
            "`arg` cannot stand",
            "constraint, let",
        ),
        ("def build { param x = 1; }", "ORIO-S005", "1:13", "`param` cannot stand", "arg, let"),
        ("param x = 1;", "ORIO-S005", "1:1", "must stand inside a section", "performance_params"),
        (
            "def performance_counter { arg repetitions = 0; }",
            "ORIO-S006",
            "1:31",
            "a positive integer, not 0",
            None,
        ),
        ("def performance_counter { arg repetitions = '3'; }", "ORIO-S006", "1:31", "not '3'", None),
        ("def performance_counter { arg method = 'clock'; }", "ORIO-S006", "1:31", "'basic timer'", None),
        (
            "def performance_counter { arg method = ['rusage', 'valgrid']; }",
            "ORIO-S006",
            "1:31",
            "'valgrind'",
            "did you mean `valgrind`?",
        ),
        ("def performance_counter { arg method = []; }", "ORIO-S006", "1:31", "not a list", None),
        ("def performance_counter { arg objective = 3; }", "ORIO-S006", "1:31", "as a string", None),
        (
            "def performance_counter { arg objective = 'time * instuctions'; }",
            "ORIO-S019",
            "1:31",
            "`instuctions`, which is neither a time nor a counter",
            "did you mean `instructions`?",
        ),
        ("def performance_counter { arg objective = '2 + 3'; }", "ORIO-S019", "1:31", "the same", "energy"),
        ("def performance_counter { arg objective = 'time *'; }", "ORIO-E001", "1:31", "", None),
        ("def build { arg build_command = ''; }", "ORIO-S006", "1:17", "a non-empty string", None),
        ("def search { arg time_limit = True; }", "ORIO-S006", "1:18", "minutes", None),
        ("def search { arg total_runs = 1.5; }", "ORIO-S006", "1:18", "a positive integer", None),
        ("def validation { arg tolerance = -1; }", "ORIO-S006", "1:22", "not negative", None),
        (
            "def input_params { param N = 1; arg specialize = ['M']; }",
            "ORIO-S006",
            "1:37",
            "`M`",
            "known names: N",
        ),
        ("def cmdline_params { option 'n' = [1]; }", "ORIO-S006", "1:29", "a flag such as '-x'", None),
        ("def build { arg CC = 'a'; arg CC = 'b'; }", "ORIO-S008", "1:31", "`arg CC` is defined twice", None),
        ("def build { } def build { }", "ORIO-S008", "1:15", "written twice", None),
        (
            "def performance_params { param N = 1; } def input_params { param N = 1; }",
            "ORIO-S008",
            "1:66",
            "`N` is defined twice",
            None,
        ),
        ("def input_vars { decl int a; decl int a; }", "ORIO-S008", "1:39", "variable `a`", None),
        ("def performance_params { param for = 1; }", "ORIO-S009", "1:32", "`for` is a reserved word", None),
        ("def performance_params { param let = 1; }", "ORIO-S009", "1:32", "`let` is a reserved word", None),
        ("def performance_params { param min = 1; }", "ORIO-S009", "1:32", "`min` is a function", None),
        ("def performance_params { param U[] = []; }", "ORIO-S010", "1:32", "empty list", None),
        ("def input_params { param n = [2000]; }", "ORIO-S010", "1:26", "`n` is one number", None),
        (
            "def performance_params { param U[] = 3; }",
            "ORIO-S010",
            "1:32",
            "needs a list",
            "param U[] = [3];",
        ),
        (
            "def performance_params { param U[] = [1, 'a']; }",
            "ORIO-S010",
            "1:32",
            "mix numbers and strings",
            None,
        ),
        (
            "def performance_params { param U[] = [1, True]; }",
            "ORIO-S010",
            "1:32",
            "mix booleans and numbers",
            None,
        ),
        (
            "def performance_params { param U[] = rnge(3); }",
            "ORIO-E003",
            "1:38",
            "`rnge`",
            "did you mean `range`?",
        ),
        ("def performance_params { param U[] = [1,2; }", "ORIO-E001", "1:42", "expected `]`", None),
        (
            "def input_vars { decl double x[3]; }",
            "ORIO-S013",
            "1:30",
            "needs `static` or `dynamic`",
            "decl dynamic",
        ),
        ("def input_vars { decl static double x; }", "ORIO-S013", "1:37", "cannot be `static`", None),
        ("def input_vars { decl double static x; }", "ORIO-S013", "1:37", "cannot be `static`", None),
        ("def input_vars { decl x; }", "ORIO-S013", "1:18", "expected a type and a name", None),
        ("def input_vars { decl macro X = 3; }", "ORIO-S013", "1:18", "decl macro NAME", None),
        ("def input_vars { decl dynamic int x[3] = {1}; }", "ORIO-S013", "1:35", "only a static array", None),
        (
            "def input_vars { decl long duoble x; }",
            "ORIO-S014",
            "1:18",
            "`long duoble`",
            "did you mean `long double`?",
        ),
        ("def input_vars { decl void x; }", "ORIO-S014", "1:18", "`void`", None),
        ("def input_vars { arg decl_file = 'no.h'; }", "ORIO-S015", "1:22", "cannot read `no.h`", None),
        ("import spec nowhere;", "ORIO-S015", "1:1", "nowhere.spec", None),
        ("def build { arg libs = '';", "ORIO-S018", "1:27", "never closed; expected `}`", None),
        ("}", "ORIO-S018", "1:1", "no `def` is open", None),
        ("def { }", "ORIO-S018", "1:4", "expected a name after `def`", None),
        (
            "def build arg libs = ''; }",
            "ORIO-S018",
            "1:11",
            "expected `{` after `def build`, found `arg`",
            None,
        ),
        (
            "spec = axpy",
            "ORIO-S002",
            "1:1",
            "unexpected `spec`",
            "`import spec axpy;` reads axpy.spec beside this file",
        ),
        ("def build { def search { }", "ORIO-S018", "1:13", "`def build` is still open", None),
        ("def build { arg libs = '\0'; }", "ORIO-S018", "1:25", "NUL", None),
    ],
)
def test_errors(text: str, code: str, place: str, part: str, hint: str | None) -> None:
    (problem,) = errors(text)
    assert problem.code == code
    assert str(problem.position) == f"f.spec:{place}"
    assert part in problem.message
    assert hint is None or hint in (problem.help or "")


def test_duplicates_are_dropped_with_a_warning() -> None:
    spec, problems = interpret("def performance_params { param U[] = [1, 2, 1.0, 2]; }")
    assert [p.values for p in spec.parameters] == [(1, 2)]
    assert [(p.code, p.severity) for p in problems] == [("ORIO-S011", Severity.WARNING)]


def test_one_mistake_does_not_hide_another() -> None:
    text = """
def build { arg libs = ; arg CC = 3; }
def serch { arg algorithm = 'x'; }
def performance_params {
  param A[] = [1,2
  param B[] = rnge(3);
  prm C = 3;
  param D[] = [1];
"""
    codes = [p.code for p in errors(text)]
    assert sorted(codes) == sorted(
        [
            "ORIO-E001",
            "ORIO-S006",
            "ORIO-S004",
            "ORIO-S001",
            "ORIO-E001",
            "ORIO-E003",
            "ORIO-S002",
            "ORIO-S018",
        ]
    )


def test_files(tmp_path: Path) -> None:
    (tmp_path / "d.h").write_bytes(b"double x[10]; /* \xe9 */")
    (tmp_path / "i.c").write_text("void init_input_vars() { }")
    (tmp_path / "v.c").write_text("int isValid() { return 1; }")
    (tmp_path / "s.c").write_text("int main() { /*@ tested code @*/ }")
    spec = good(
        "def input_vars { arg decl_file = 'd.h'; arg init_file = 'i.c'; }"
        "def validation { arg validation_file = 'v.c'; }"
        "def performance_test_code { arg skeleton_code_file = 's.c'; }",
        tmp_path,
    )
    assert spec.inputs.decl_file is not None
    assert spec.inputs.decl_file.written == "d.h"
    assert spec.inputs.decl_file.text == "double x[10]; /* \xe9 */"
    assert spec.inputs.init_file is not None
    assert spec.measurement.validation_file is not None
    assert spec.measurement.skeleton_file is not None


def test_a_validation_file_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    spec, (problem,) = interpret("def validation { arg validation_file = 'v.c'; }", tmp_path)
    assert (problem.code, problem.severity) == ("ORIO-S015", Severity.WARNING)
    assert "`v.c`" in problem.message
    assert spec.measurement.validation_file is None
    (tmp_path / "v.c").symlink_to("nowhere.c")
    _, (problem,) = interpret("def validation { arg validation_file = 'v.c'; }", tmp_path)
    assert (problem.code, problem.severity) == ("ORIO-S015", Severity.ERROR)


@pytest.mark.parametrize(
    ("section", "argument", "needed"),
    [
        ("input_vars", "init_file", "init_input_vars"),
        ("validation", "validation_file", "isValid"),
        ("performance_test_code", "skeleton_code_file", "tested code"),
    ],
)
def test_files_must_hold_what_they_are_for(tmp_path: Path, section: str, argument: str, needed: str) -> None:
    (tmp_path / "x.c").write_text("int nothing;")
    _, (problem,) = interpret(f"def {section} {{ arg {argument} = 'x.c'; }}", tmp_path)
    assert problem.code == "ORIO-S016"
    assert needed in problem.message


def test_missing_file_names_a_similar_one(tmp_path: Path) -> None:
    (tmp_path / "skeleton.c").write_text("/*@ tested code @*/")
    _, (problem,) = interpret("def performance_test_code { arg skeleton_code_file = 'skeletn.c'; }", tmp_path)
    assert problem.help == "did you mean `skeleton.c`?"
    _, (problem,) = interpret("def performance_test_code { arg skeleton_code_file = '.'; }", tmp_path)
    assert "not a regular file" in problem.message


def test_import(tmp_path: Path) -> None:
    (tmp_path / "common.spec").write_text(
        "spec common { let K = 4; def build { arg CC = 'cc'; } import spec more; }"
    )
    (tmp_path / "more.spec").write_text("def performance_params { param U[] = range(K); }")
    spec = good("import spec common;", tmp_path)
    assert spec.build.command == "cc -O3"
    assert [p.values for p in spec.parameters] == [(0, 1, 2, 3)]


def test_recursive_import(tmp_path: Path) -> None:
    (tmp_path / "a.spec").write_text("import spec b;")
    (tmp_path / "b.spec").write_text("\n import spec a;")
    _, (problem,) = interpret("import spec a;", tmp_path)
    assert problem.code == "ORIO-S012"
    assert "a imports b imports a" in problem.message
    assert problem.position is not None
    assert (Path(problem.position.file).name, problem.position.line) == ("b.spec", 2)


def test_import_chain_is_limited(tmp_path: Path) -> None:
    for index in range(40):
        (tmp_path / f"s{index}.spec").write_text(f"import spec s{index + 1};")
    _, (problem,) = interpret("import spec s0;", tmp_path)
    assert problem.code == "ORIO-S012"
    assert "16 deep" in problem.message


def test_crlf() -> None:
    assert good(FULL.replace("\n", "\r\n")).build.command == "gcc -O2 @CFLAGS # no comment"


def test_problem_count_is_limited() -> None:
    _, problems = interpret("def build { " + "arg x = 1; " * 5000 + "}")
    assert has_errors(problems)
    assert len(problems) < 300


def test_methods_of_counting_and_the_objective_are_read() -> None:
    text = "def performance_counter { arg method = ['valgrind', 'rusage', 'TAU', 'valgrind']; arg objective = '%s'; }"
    found = good(text % "time * (data_reads + energy)").measurement
    assert found.methods == ("valgrind", "rusage", "tau")
    assert found.objective is not None
    assert found.objective.counters == ("data_reads", "energy")
    assert good(text % " time ").measurement.objective is None
    assert good("def performance_counter { arg method = 'basic timer'; }").measurement.methods == ()
    assert good("def performance_counter { arg method = 'papi'; }").measurement.methods == ("papi",)
