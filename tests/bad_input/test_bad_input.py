"""Every bad input gets located messages that say what was expected, quickly and without an exception.

The first 34 files recreate the wrong inputs that were tried on Orio; the others attack the expression
language, the importer and the scanner.  Some of the former are good input here, and some fail only when
they are built or run: those have to pass the front end.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from orio_py.core.diagnostics import Diagnostic, has_errors, render
from orio_py.core.source import SourceFile
from orio_py.frontend.read import read
from orio_py.spec.check import check
from orio_py.transformation.recipe import check_recipe

HERE = Path(__file__).parent
SECONDS = 10.0
"""Processor time that a bad input may take on any machine; a second is usual."""


@dataclass(frozen=True)
class Expected:
    """One diagnostic: its code, its line, and words of its message and help."""

    code: str
    line: int
    part: str
    hint: str = ""


BAD: dict[str, tuple[Expected, ...]] = {
    "01_missing_end": (
        Expected("ORIO-A001", 5, "`begin PerfTuning` is never closed; expected `/*@ end @*/`"),
    ),
    "02_extra_end": (Expected("ORIO-A002", 26, "no annotation is open here"),),
    "03_unknown_module": (Expected("ORIO-A003", 17, "unknown module `Loopy`", "did you mean `Loop`?"),),
    "04_unknown_transformation": (Expected("ORIO-T001", 18, "`Unrol`", "did you mean `Unroll`?"),),
    "05_unknown_argument": (
        Expected("ORIO-T002", 18, "no argument `ufactr`", "did you mean `ufactor`?"),
        Expected("ORIO-T003", 18, "needs the argument `ufactor`"),
    ),
    "06_undefined_parameter": (Expected("ORIO-T007", 18, "`UFX`", "did you mean `UF`?"),),
    "07_missing_semicolon": (Expected("ORIO-S001", 9, "expected `;` after the value of `param UF`"),),
    "08_unknown_section": (Expected("ORIO-S004", 15, "`def serch`", "did you mean `search`?"),),
    "09_unknown_arg": (Expected("ORIO-S004", 7, "argument `reps`", "repetitions"),),
    "10_bad_function": (Expected("ORIO-E003", 8, "function `rnge`", "did you mean `range`?"),),
    "11_c_syntax_error": (Expected("ORIO-C001", 20, "an expression is needed"),),
    "14_no_input_params": (Expected("ORIO-S017", 5, "values of `n` are not known", "input_params"),),
    "15_no_input_vars": (
        Expected("ORIO-S017", 5, "extents of `x`, `y` are not known", "decl dynamic double x[N]"),
        Expected("ORIO-S017", 5, "values of `a` are not known", "decl double a"),
    ),
    "30_missing_skeleton": (Expected("ORIO-S015", 16, "cannot read `none.c`"),),
    "70_unknown_counter": (
        Expected("ORIO-S019", 7, "`instructons`, which is neither", "did you mean `instructions`?"),
    ),
    "71_unknown_method": (Expected("ORIO-S006", 7, "not 'valgrid'", "did you mean `valgrind`?"),),
    "40_import_os": (Expected("ORIO-E010", 8, "attributes and methods are not part"),),
    "41_class_attribute": (Expected("ORIO-E010", 8, "attributes and methods are not part"),),
    "42_lambda": (Expected("ORIO-E010", 8, "`lambda` is not part"),),
    "43_format_string": (Expected("ORIO-E010", 8, "string prefixes such as `f`"),),
    "44_backticks": (Expected("ORIO-E010", 8, "backticks are not part"),),
    "45_huge_range": (Expected("ORIO-E006", 8, "at most 1000000 are allowed"),),
    "46_huge_list": (Expected("ORIO-E006", 8, "at most 1000000 are allowed"),),
    "47_huge_power": (Expected("ORIO-E006", 8, "more than 13000 bits"),),
    "48_huge_string": (Expected("ORIO-E006", 8, "at most 1000000 are allowed"),),
    "49_deep_parentheses": (Expected("ORIO-E007", 8, "nested more than"),),
    "50_many_signs": (Expected("ORIO-E007", 8, "nested more than"),),
    "51_injection_in_recipe": (Expected("ORIO-E010", 18, "attributes and methods are not part"),),
    "52_endless_comprehension": (Expected("ORIO-E006", 8, "evaluation steps"),),
    "53_recursive_import": (Expected("ORIO-S012", 1, "circle_a imports circle_b imports circle_a"),),
    "54_binary": (Expected("ORIO-A011", 1, "not a text file"),),
    "55_nul_in_annotation": (Expected("ORIO-A011", 1, "NUL byte"),),
    "57_unclosed_comment": (Expected("ORIO-A012", 2, "never closed; expected `@*/`"),),
    "58_comment_in_annotation": (Expected("ORIO-A012", 3, "ends it too early", "`//` or `#`"),),
    "59_fortran": (Expected("ORIO-A010", 1, "Fortran form", "/*@ begin Name"),),
    "60_missing_import": (Expected("ORIO-S015", 1, "nowhere.spec"),),
    "61_duplicate_parameter": (Expected("ORIO-S008", 9, "`UF` is defined twice"),),
    "62_mixed_types": (Expected("ORIO-S010", 8, "mix numbers and strings"),),
    "63_unknown_constraint_name": (Expected("ORIO-S026", 8, "unknown name `UG`", "UF"),),
    "64_unknown_placeholder": (Expected("ORIO-S021", 6, "`@UFF@`", "did you mean `UF`?"),),
    "65_invisible_size": (Expected("ORIO-S022", 9, "cannot see `M`"),),
    "66_unclosed_arguments": (Expected("ORIO-A013", 18, "never closed; expected `)`"),),
    "67_positional_argument": (Expected("ORIO-A013", 18, "expected an argument `name=value`, found `4`"),),
    "68_unknown_type": (Expected("ORIO-S014", 13, "unknown type `duoble`", "did you mean `double`?"),),
    "72_unknown_structure": (
        Expected("ORIO-S014", 13, "unknown type `struct scalar`", "define a structure"),
    ),
    "69_several_errors": (
        Expected("ORIO-S004", 7, "`reps`"),
        Expected("ORIO-E003", 8, "`rnge`"),
        Expected("ORIO-S002", 8, "`prm`", "did you mean `param`?"),
        Expected("ORIO-E001", 18, "expected a value"),
    ),
}

WARNED: dict[str, Expected] = {
    "13_stray_annotation": Expected("ORIO-A006", 2, "is ignored", "/*@ end @*/"),
    "33_old_method": Expected("ORIO-S007", 7, "'bgp counter' is not available; the basic timer is used"),
}

ACCEPTED: dict[str, int] = {
    "00_good": 1,
    "12_less_than_bound": 1,
    "16_c_compile_error": 1,
    "17_compiler_not_found": 1,
    "18_all_points_pruned": 1,
    "19_unknown_search": 1,
    "20_zero_unroll_factor": 1,
    "21_while_loop": 1,
    "22_pointers": 1,
    "23_operators": 1,
    "24_tile_index_is_loop_index": 1,
    "25_unknown_loop": 1,
    "26_two_tuning_regions": 2,
    "27_segmentation_fault": 1,
    "28_no_annotation": 0,
    "29_line_comment": 1,
    "31_random_seed": 1,
    "32_compiler_argument": 1,
    "34_two_sizes": 1,
    "35_annealing_option": 1,
    "56_empty": 0,
}


def diagnose(name: str) -> tuple[list[Diagnostic], int]:
    """All diagnostics of reading and checking a file, and the number of tasks."""
    path = HERE / f"{name}.c"
    source = SourceFile(path.name, path.read_bytes())
    start = time.process_time()
    result = read(source, directory=HERE)
    problems = list(result.diagnostics)
    for task in result.tasks:
        problems.extend(check(task))
        known = frozenset(p.name for p in (*task.parameters, *task.inputs.parameters))
        for region in task.regions:
            problems.extend(check_recipe(region, known))
    assert time.process_time() - start < SECONDS
    for problem in problems:
        assert "Traceback" not in render(problem, result.sources)
    return problems, len(result.tasks)


def matches(problem: Diagnostic, expected: Expected) -> bool:
    """Whether a diagnostic is the expected one."""
    return (
        problem.code == expected.code
        and problem.position is not None
        and problem.position.line == expected.line
        and expected.part in problem.message
        and expected.hint in (problem.help or "")
    )


def test_every_file_has_an_expectation() -> None:
    files = {path.stem for path in HERE.glob("*.c")}
    assert files == BAD.keys() | WARNED.keys() | ACCEPTED.keys()


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_is_refused_with_a_place(name: str) -> None:
    problems, _ = diagnose(name)
    errors = [problem for problem in problems if problem.severity == "error"]
    assert len(errors) == len(BAD[name]), [problem.headline() for problem in errors]
    for problem, expected in zip(errors, BAD[name], strict=True):
        assert matches(problem, expected), (problem.headline(), problem.help)
    assert not (HERE / "injected").exists()


@pytest.mark.parametrize("name", sorted(WARNED))
def test_suspicious_input_is_warned_of(name: str) -> None:
    problems, tasks = diagnose(name)
    assert tasks == 1
    assert not has_errors(problems)
    assert any(matches(problem, WARNED[name]) for problem in problems)


@pytest.mark.parametrize("name", sorted(ACCEPTED))
def test_good_input_passes_the_front_end(name: str) -> None:
    problems, tasks = diagnose(name)
    assert tasks == ACCEPTED[name]
    assert not has_errors(problems), [problem.headline() for problem in problems]
