"""A file as the compiler of its build command sees it, of which nothing but the preprocessor is run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import orio_py
from orio_py.build import preprocessor
from orio_py.core.diagnostics import Severity
from orio_py.core.source import SourceFile, Span
from orio_py.ctree.file_scope import surroundings
from orio_py.ctree.unit.translation_unit import TranslationUnit
from orio_py.spec.target import BuildSpec
from orio_py.tuning.files.load import load, unit_of


def unit(folder: Path, text: str, command: str = "gcc -O3") -> TranslationUnit:
    return unit_of(text, folder / "a.c", BuildSpec(command), {})


def macros(found: TranslationUnit) -> dict[str, str]:
    text = found.segments.text
    return dict(surroundings(SourceFile("a.c", text.encode()), Span(len(text), len(text)), found).macros)


def test_typedefs_are_followed_through_headers_and_each_other(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "real.h").write_text(
        '#ifndef R\n#define R\n#include "base.h"\ntypedef base real;\n#endif\n'
    )
    (tmp_path / "inc" / "base.h").write_text('#include "real.h"\ntypedef unsigned   long base;\n')
    text = "#include <real.h>\n#include <stdio.h>\ntypedef real number;\nnumber x; typedef struct s other;\n"
    expected = {"base": "unsigned long", "real": "unsigned long", "number": "unsigned long"}
    assert dict(unit(tmp_path, text, "gcc -I inc").number_types) == expected


def test_a_header_beside_the_file_needs_no_folder(tmp_path: Path) -> None:
    (tmp_path / "real.h").write_text("typedef float real;")
    assert dict(unit(tmp_path, '#include "real.h"\nreal x;').number_types) == {"real": "float"}


def test_types_of_system_headers_are_those_of_the_compiler(tmp_path: Path) -> None:
    found = unit(tmp_path, "#include <stdint.h>\n#include <time.h>\nuint_fast8_t a; clock_t t; intptr_t p;")
    assert found.number_types["clock_t"] in {"long", "long int"}


def test_the_options_of_the_command_decide_conditions(tmp_path: Path) -> None:
    text = "#if defined(WIDE) && WIDE == 2\ntypedef double real;\n#else\ntypedef float real;\n#endif\nreal x;"
    assert dict(unit(tmp_path, text).number_types) == {"real": "float"}
    assert dict(unit(tmp_path, text, "gcc -O2 -DWIDE=2 -DN=@N@").number_types) == {"real": "double"}


def test_macros_of_headers_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text(
        "#define N 100 /* points */\n#define M (N + \\\n 1)\n#define F(x) x\n# define EMPTY\n"
    )
    found = macros(unit(tmp_path, '#include "a.h"\n#define OWN 3\n', "gcc -DGIVEN=7"))
    assert {name: found[name] for name in ("N", "M", "EMPTY", "OWN", "GIVEN")} == {
        "N": "100",
        "M": "(N + 1)",
        "EMPTY": "",
        "OWN": "3",
        "GIVEN": "7",
    }
    assert "F" not in found


@pytest.mark.parametrize("missing", ["#include <no/such.h>\n", '#include "gone.h"\n#include <other.h>\n'])
def test_headers_that_are_missing_cost_what_they_define_only(tmp_path: Path, missing: str) -> None:
    found = unit(tmp_path, f"#include <stdint.h>\n{missing}typedef int_least32_t mine;\nmine x; theirs y;\n")
    assert "mine" in found.number_types


def test_a_header_may_include_what_a_build_would_have_made(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "config.h"\n#include <sub/types.h>\ntypedef short word;\n')
    found = unit(tmp_path, '#include "a.h"\n#include <stdint.h>\nword x; uint_least8_t y;\n', "gcc -DEXPORT=")
    assert found.number_types["word"] == "short"
    assert macros(found)["EXPORT"] == ""
    assert not (tmp_path / "config.h").exists()


@pytest.mark.parametrize("missing", ["../../gone.h", "/no/such/gone.h"])
def test_a_missing_header_outside_the_folders_leaves_the_project_s_own(tmp_path: Path, missing: str) -> None:
    (tmp_path / "real.h").write_text("typedef WIDE real;\n")
    found = unit(tmp_path, f'#include "{missing}"\n#include "real.h"\nreal x;', "gcc -DWIDE=double")
    assert dict(found.number_types)["real"] == "double"


@pytest.mark.parametrize("command", ["'unclosed", "", "@CC@ -O3", "ccache gcc -O2", "no-such-compiler -DA"])
def test_any_command_gives_a_unit(tmp_path: Path, command: str) -> None:
    assert (
        dict(unit(tmp_path, "#include <stdint.h>\ntypedef float real; real x;", command).number_types)["real"]
        == "float"
    )


def test_without_a_compiler_headers_of_the_project_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preprocessor, "_program", lambda _: None)
    (tmp_path / "real.h").write_text("#include <stdint.h>\n#define N 3\ntypedef float real;\n")
    found = unit(tmp_path, '#include "real.h"\n#if N == 3\ntypedef real three;\n#endif\nthree x;')
    assert dict(found.number_types) == {"real": "float", "three": "float"}


def script(path: Path, mark: Path) -> Path:
    path.write_text(f"#!/bin/sh\ntouch '{mark}'\nexec gcc \"$@\"\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "command",
    [
        "{folder}/gcc -O3",
        "./gcc",
        "{folder}/mine -c",
        "gcc -wrapper {folder}/mine",
        "gcc -B{folder}/",
        "gcc -B {folder} -no-integrated-cpp",
        "gcc -specs={folder}/specs",
        "gcc -fplugin={folder}/mine",
        "gcc @{folder}/options",
        "mine -O2",
    ],
)
def test_nothing_that_a_file_names_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    mark = tmp_path / "was run"
    for name in ("gcc", "mine", "cpp", "cc1"):
        script(tmp_path / name, mark)
    (tmp_path / "options").write_text(f"-wrapper {tmp_path}/mine")
    (tmp_path / "specs").write_text(f"%rename cpp old\n*cpp:\n{tmp_path}/mine %(old)\n")
    source = tmp_path / "a.c"
    source.write_text(f"""#include <stdio.h>
void f(int n, double *x)
{{
  int i;
  /*@ begin PerfTuning (
    def build {{ arg build_command = '{command.format(folder=tmp_path)}'; arg prebuild_command = '{tmp_path}/mine'; }}
    def performance_params {{ param U[] = [1, 2]; }}
    def input_params {{ param n[] = [10]; }}
    def input_vars {{ decl dynamic double x[n] = random; }}
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++) x[i] = 2 * x[i];
  /*@ end @*/
  /*@ end @*/
}}
""")
    monkeypatch.chdir(tmp_path)
    if command.startswith("mine"):
        monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{tmp_path}")
    assert orio_py.check(source).exit_code == 0
    assert orio_py.space(source).exit_code == 0
    assert orio_py.transform(source, output=tmp_path / "out.c").exit_code == 0
    assert not mark.exists()


def test_a_header_that_is_not_found_is_told_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(
        '#include <stdint.h>\n# include "gone.h"\n/*@ begin Loop(transform Unroll(ufactor=2)) @*/\nfor (i = 0; i < 9; i++) x[i] = 0;\n/*@ end @*/\n'
    )
    (found,) = load([path]).diagnostics
    assert (found.code, str(found.position), found.severity) == ("ORIO-U040", f"{path}:2:1", Severity.WARNING)
    assert "`gone.h` is not found" in found.message
    (tmp_path / "gone.h").write_text("extern int i; extern double x[9];\n")
    assert not load([path]).diagnostics
    (tmp_path / "gone.h").write_text('#include "deeper.h"\n')
    assert [str(found.position) for found in load([path]).diagnostics] == [f"{path}:1:1"]
