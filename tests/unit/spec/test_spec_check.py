"""Cross-checks of a task."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.source import SourceFile
from orio_py.frontend.read import read
from orio_py.spec.check import check

PARAMS = "def performance_params { param U[] = [1, 2]; }"
SIZES = "def input_params { param n[] = [10, 20]; }"
VARS = "def input_vars { decl dynamic double x[n] = random; decl double a = 2; }"
CODE = "for (i = 0; i < n; i++) x[i] = a * x[i];"
HEAD = "void f(int n, double a, double *x)"


def problems(
    spec: str,
    *,
    code: str = CODE,
    head: str = HEAD,
    before: str = "",
    recipe: str = "transform Unroll(ufactor=U)",
) -> list[Diagnostic]:
    text = (
        f"{before}\n{head}\n{{\n  int i;\n/*@ begin PerfTuning({spec}) @*/\n"
        f"/*@ begin Loop({recipe}) @*/ {code} /*@ end @*/\n/*@ end @*/\n}}\n"
    )
    result = read(SourceFile("f.c", text.encode()), directory=Path("."))
    assert result.diagnostics == ()
    (task,) = result.tasks
    return list(check(task))


def test_sound_task_has_no_problems() -> None:
    assert problems(PARAMS + SIZES + VARS) == []


@pytest.mark.parametrize(
    ("spec", "code", "part", "severity"),
    [
        (
            "def performance_params { param U = 1; constraint c = U < V; }" + SIZES + VARS,
            "ORIO-S026",
            "unknown name `V`",
            "error",
        ),
        (
            "def input_params { param n = 1; constraint c = n < U; }" + PARAMS + VARS,
            "ORIO-S026",
            "unknown name `U`",
            "error",
        ),
        (
            "def build { arg build_command = 'gcc @V@'; }" + PARAMS + SIZES + VARS,
            "ORIO-S021",
            "`@V@`",
            "error",
        ),
        ("def build { arg libs = '@CFLAGS'; }" + PARAMS + SIZES + VARS, "ORIO-S021", "`@CFLAGS`", "error"),
        (
            "def performance_params { param U = 1; param W = 2; }" + SIZES + VARS,
            "ORIO-S020",
            "parameter `W`",
            "warning",
        ),
        (
            "def input_params { param n = 1; param M[] = [1, 2]; }" + PARAMS + VARS,
            "ORIO-S022",
            "cannot see `M`",
            "error",
        ),
        (
            PARAMS + SIZES + "def input_vars { decl dynamic double x[k]; decl double a = 1; }",
            "ORIO-S025",
            "`x` uses the unknown name `k`",
            "error",
        ),
        (PARAMS + SIZES + "def input_vars { decl double a = 1; }", "ORIO-S017", "extents of `x`", "error"),
        (
            PARAMS + SIZES + "def input_vars { decl dynamic double x[n]; }",
            "ORIO-S017",
            "values of `a`",
            "error",
        ),
        (PARAMS + VARS, "ORIO-S017", "values of `n`", "error"),
        (
            PARAMS + SIZES + VARS.replace("decl double a", "decl int z = 1; decl double a"),
            "ORIO-S024",
            "scalar `z`",
            "warning",
        ),
    ],
)
def test_problems(spec: str, code: str, part: str, severity: str) -> None:
    (problem,) = problems(spec)
    assert problem.code == code
    assert part in problem.message
    assert problem.severity == severity
    assert problem.position is not None


def test_names_of_the_file_determine_the_inputs() -> None:
    before = "#define n 100\nstatic double x[n]; static const double a = 2;"
    assert problems(PARAMS, before=before, head="void f(void)") == []


def test_extent_of_a_parameter_declared_in_c99_manner() -> None:
    spec = PARAMS + SIZES + "def input_vars { decl double a = 1; }"
    assert problems(spec, head="void f(int n, double a, double x[n])") == []


def test_placeholders_and_options_use_parameters() -> None:
    spec = (
        "def build { arg build_command = 'gcc @CFLAGS @W@'; }"
        "def performance_params { param U = 1; param CFLAGS[] = ['']; param W[] = ['']; }"
        "def cmdline_params { option '-t' = [1]; }"
    )
    assert problems(spec + SIZES + VARS) == []


def test_task_without_specification_is_not_checked() -> None:
    text = "void f(int n) { /*@ begin Loop() @*/ n++; /*@ end @*/ }"
    (task,) = read(SourceFile("f.c", text.encode()), directory=Path(".")).tasks
    assert check(task) == ()


OWN = "{ int m = n; for (i = 0; i < m; i++) x[i] = a * x[i]; }"


def test_a_block_may_name_the_values_that_the_input_gives() -> None:
    """`int m = n;` before the loops: what the build calls `n` is what the kernel calls `m`."""
    sizes = "def input_params { param N[] = [10, 20]; }"
    own = OWN.replace("int m = n", "int n = N").replace("i < m", "i < n")
    inputs = VARS.replace("x[n]", "x[N]")
    assert problems(PARAMS + sizes + inputs, code=own, head="void f(double a, double *x)") == []
    assert problems(PARAMS + SIZES + VARS, code=OWN) == []


def test_a_size_that_the_block_does_not_take_is_not_seen() -> None:
    own = OWN.replace("int m = n", "int n = 3").replace("i < m", "i < n")
    sizes = "def input_params { param N[] = [10, 20]; }"
    found = problems(
        PARAMS + sizes + VARS.replace("x[n]", "x[N]"), code=own, head="void f(double a, double *x)"
    )
    assert [(problem.code, "`N`" in problem.message) for problem in found] == [("ORIO-S022", True)]
