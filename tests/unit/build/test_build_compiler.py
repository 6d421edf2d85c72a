"""Build commands: substitution, resolution, failures as values."""

import ctypes
from pathlib import Path

import pytest

from orio_py.build.compiler import Artifact, BuildFailure, resolve, substitute
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.core.source import Position
from orio_py.spec.target import BuildSpec


@pytest.mark.parametrize(
    ("command", "values", "words"),
    [
        ("gcc -O3", {}, ["gcc", "-O3"]),
        ("gcc @CFLAGS -c", {"CFLAGS": "-O2 -funroll-loops"}, ["gcc", "-O2", "-funroll-loops", "-c"]),
        ("gcc @CFLAGS@", {"CFLAGS": ""}, ["gcc"]),
        ("gcc -DT=@T@ -O@LEVEL@x", {"T": 8, "LEVEL": 3}, ["gcc", "-DT=8", "-O3x"]),
        ("gcc @UNKNOWN@", {"T": 1}, ["gcc", "@UNKNOWN@"]),
        ("'my cc' -O2", {}, ["my cc", "-O2"]),
        ("gcc @F@", {"F": "; rm -rf /"}, ["gcc", ";", "rm", "-rf", "/"]),
    ],
)
def test_parameter_values_are_put_in_as_words(command, values, words) -> None:
    assert substitute(command, values) == words


def test_an_unknown_compiler_is_bad_input_at_its_place(tmp_path: Path) -> None:
    spec = BuildSpec("gccx -O3", position=Position("a.c", 3, 9), is_default=False)
    with pytest.raises(DiagnosticError) as caught:
        resolve(spec, tmp_path)
    problem = caught.value.diagnostics[0]
    assert (problem.code, problem.position) == ("ORIO-B002", Position("a.c", 3, 9))
    assert "gccx" in problem.message
    assert "gcc" in (problem.help or "")


def test_no_compiler_at_all_is_the_environments_fault(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem) as caught:
        resolve(BuildSpec(), tmp_path)
    assert caught.value.diagnostics[0].code == "ORIO-B001"
    assert "apt install gcc" in (caught.value.diagnostics[0].help or "")


def test_malformed_commands_are_refused(tmp_path: Path) -> None:
    for command in ("gcc 'O3", "  "):
        with pytest.raises(DiagnosticError) as caught:
            resolve(BuildSpec(command, is_default=False), tmp_path)
        assert caught.value.diagnostics[0].code == "ORIO-B003"


def test_a_shared_object_is_built_and_an_error_is_a_value(tmp_path: Path) -> None:
    compiler = resolve(BuildSpec(), tmp_path)
    good, bad = tmp_path / "good.c", tmp_path / "bad.c"
    good.write_text("int f(void) { return 1; }\n")
    bad.write_text("int f(void) { return nothing; }\n")
    built = compiler.build_shared(good, tmp_path / "good.so", {})
    assert isinstance(built, Artifact)
    assert built.path.exists()
    failed = compiler.build_shared(bad, tmp_path / "bad.so", {})
    assert isinstance(failed, BuildFailure)
    assert "nothing" in failed.reason
    assert not (tmp_path / "bad.so").exists()


def test_pre_and_post_build_commands_run(tmp_path: Path) -> None:
    script = tmp_path / "pre.sh"
    script.write_text(
        '#!/bin/sh\n# usage: pre.sh FLAGS… -o OUT IN\nwhile [ "$1" != "-o" ]; do shift; done\n'
        'sed s/MAGIC/42/ "$3" > "$2"\n'
    )
    script.chmod(0o755)
    spec = BuildSpec("gcc -O1", prebuild=str(script), postbuild="touch -r", is_default=False)
    source = tmp_path / "k.c"
    source.write_text("int f(void) { return MAGIC; }\n")
    built = resolve(BuildSpec("gcc -O1", prebuild=str(script), is_default=False), tmp_path).build_shared(
        source, tmp_path / "k.so", {}
    )
    assert isinstance(built, Artifact)
    assert (tmp_path / "k_preprocessed.c").read_text() == "int f(void) { return 42; }\n"
    failed = resolve(spec, tmp_path).build_shared(source, tmp_path / "k2.so", {})
    assert isinstance(failed, BuildFailure)
    assert "postbuild" in failed.reason


def test_variables_of_other_files_are_not_needed_for_functions_that_nobody_calls(tmp_path: Path) -> None:
    source = tmp_path / "kernel.c"
    entry = '__attribute__((visibility("default"))) int entry(void) { return 7; }'
    source.write_text(f"extern int elsewhere;\nint other(void) {{ return elsewhere; }}\n{entry}\n")
    built = resolve(BuildSpec("gcc -O0"), tmp_path).build_shared(source, tmp_path / "kernel.so", {})
    assert isinstance(built, Artifact)
    assert ctypes.CDLL(str(tmp_path / "kernel.so")).entry() == 7
