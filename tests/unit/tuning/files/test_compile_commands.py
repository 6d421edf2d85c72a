"""A compilation database: which options of a file's command matter, and what is wrong with a bad one."""

import json
from pathlib import Path

import pytest

from orio_py.core.diagnostics import DiagnosticError
from orio_py.spec.target import BuildSpec
from orio_py.tuning.files.compile_commands import find_compile_commands, parse_command, read_compile_commands


def database(folder: Path, content: object) -> Path:
    path = folder / "compile_commands.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_paths_are_relative_to_the_directory_of_the_entry(tmp_path):
    entry = {
        "directory": str(tmp_path / "out"),
        "file": "../src/a.c",
        "command": "cc -I../inc -O2 -c ../src/a.c",
    }
    command = read_compile_commands(database(tmp_path, [entry])).of(tmp_path / "src" / "a.c")
    assert command is not None
    assert command.language == (f"-I{tmp_path}/out/../inc",)
    assert command.others == ("-O2",)
    assert [folder.resolve() for folder in command.include_folders] == [tmp_path / "inc"]


def test_arguments_are_taken_before_a_command_and_the_first_entry_of_a_file_counts(tmp_path):
    first = {
        "directory": ".",
        "file": "a.c",
        "arguments": ["gcc", "-DA=b c", "-c", "a.c"],
        "command": "x -DB",
    }
    second = {"directory": ".", "file": "a.c", "arguments": ["gcc", "-DC", "a.c"]}
    command = read_compile_commands(database(tmp_path, [first, second])).of(tmp_path / "a.c")
    assert command is not None
    assert (command.compiler, command.language) == ("gcc", ("-DA=b c",))


@pytest.mark.parametrize(
    ("words", "language", "others"),
    [
        ("gcc -I inc -I/abs -c a.c -o a.o", ("-I/w/inc", "-I/abs"), ()),
        ("gcc -isystem inc -iquote q a.c", ("-isystem", "/w/inc", "-iquote", "/w/q"), ()),
        ("gcc -D A -DB=1 -UC -std=c11 a.c", ("-DA", "-DB=1", "-UC", "-std=c11"), ()),
        (
            "gcc -fopenmp -Wall -g -O3 -march=native a.c",
            ("-fopenmp",),
            ("-Wall", "-g", "-O3", "-march=native"),
        ),
        ("gcc -MD -MF a.d -MT a.o -c a.c -oa.o -lm -L. -pipe", (), ()),
        ("gcc -include missing.h a.c", ("-include", "missing.h"), ()),
        ("ccache gcc -O1 a.c", (), ("-O1",)),
        ("/usr/bin/orio cc --trials 3 -- gcc -O1 a.c", (), ("-O1",)),
    ],
)
def test_what_decides_the_meaning_is_told_from_the_rest(words, language, others):
    command = parse_command(words.split(), Path("/w"))
    assert (command.compiler, command.language, command.others) == ("gcc", language, others)


def test_a_specifications_own_build_command_keeps_its_optimisation():
    command = parse_command(["clang", "-O1", "-DN=4", "'a.c'"], Path("/w"))
    own = BuildSpec(command="gcc -O3", is_default=False)
    assert command.applied_to(own).command == "gcc -O3 -DN=4"
    assert command.applied_to(BuildSpec()).command == "clang -O1 -DN=4"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("[1,\n2,,", "not JSON"),
        ("{}", "not a list"),
        ("[3]", "entry 1"),
        ('[{"directory": "."}]', "lacks"),
        ('[{"directory": ".", "file": "a.c"}]', "neither"),
        ('[{"directory": ".", "file": "a.c", "command": "gcc \'"}]', "neither"),
    ],
)
def test_a_bad_database_is_reported(tmp_path, content, found):
    with pytest.raises(DiagnosticError) as caught:
        read_compile_commands(database(tmp_path, content))
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-U030"
    assert found in problem.message


def test_the_place_of_a_json_mistake_is_told(tmp_path):
    with pytest.raises(DiagnosticError) as caught:
        read_compile_commands(database(tmp_path, "[\n  nonsense\n]"))
    position = caught.value.diagnostics[0].position
    assert position is not None
    assert (position.line, position.column) == (2, 3)


def test_it_is_found_in_the_folder_and_in_its_build_folder(tmp_path):
    source = tmp_path / "a.c"
    source.write_text("")
    assert find_compile_commands([tmp_path]) is None
    (tmp_path / "build").mkdir()
    built = database(tmp_path / "build", [])
    assert find_compile_commands([tmp_path]) == built
    assert find_compile_commands([source]) == built
    beside = database(tmp_path, [])
    assert find_compile_commands([tmp_path]) == beside


def test_it_is_looked_for_upwards_to_the_root_of_the_project(tmp_path):
    source = tmp_path / "project" / "src" / "deep" / "a.c"
    source.parent.mkdir(parents=True)
    source.write_text("")
    outside = database(tmp_path, [])
    assert find_compile_commands([source]) == outside
    (tmp_path / "project" / ".git").mkdir()
    assert find_compile_commands([source]) is None
    (tmp_path / "project" / "build-debug").mkdir()
    built = database(tmp_path / "project" / "build-debug", [])
    assert find_compile_commands([source]) == built
    assert find_compile_commands([source.parent]) == built
