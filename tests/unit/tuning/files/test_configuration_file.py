"""`.oriorc` and `[tool.orio]`: where they are found, what they hold, what is wrong with them."""

import pytest

from orio_py.core.diagnostics import DiagnosticError
from orio_py.tuning.files.configuration_file import find_configuration_file, read_configuration_file

KNOWN = ("trials", "time", "compile-commands", "set")


def problem_of(path):
    with pytest.raises(DiagnosticError) as caught:
        read_configuration_file(path, KNOWN)
    return caught.value.diagnostics[0]


def test_the_nearest_file_counts_and_a_working_copy_ends_the_search(tmp_path):
    inner = tmp_path / "project" / "src"
    inner.mkdir(parents=True)
    (tmp_path / ".oriorc").write_text("")
    assert find_configuration_file(inner) == tmp_path / ".oriorc"
    (tmp_path / "project" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find_configuration_file(inner) == tmp_path / ".oriorc"
    (tmp_path / "project" / "pyproject.toml").write_text("[tool.orio]\ntrials = 3\n")
    assert find_configuration_file(inner / "a.c") == tmp_path / "project" / "pyproject.toml"
    (inner / ".git").mkdir()
    assert find_configuration_file(inner) is None


def test_keys_may_be_written_with_underscores(tmp_path):
    path = tmp_path / ".oriorc"
    path.write_text('trials = 5\ncompile_commands = "x.json"\n[set]\nU = 2\n')
    options = read_configuration_file(path, KNOWN).options
    assert {key: option.value for key, option in options.items()} == {
        "trials": 5,
        "compile-commands": "x.json",
        "set": {"U": 2},
    }
    assert [option.position.line for option in options.values()] == [1, 2, 3]


def test_only_the_table_of_the_tool_is_read_from_pyproject(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool.other]\ntrials = 1\n\n[tool.orio]\n  time = '5s'\n")
    options = read_configuration_file(path, KNOWN).options
    assert list(options) == ["time"]
    assert (options["time"].position.line, options["time"].position.column) == (5, 3)


def test_an_unknown_key_is_told_with_its_place_and_the_nearest_one(tmp_path):
    path = tmp_path / ".oriorc"
    path.write_text("time = '5s'\ntrails = 3\n")
    problem = problem_of(path)
    assert (problem.code, problem.help) == ("ORIO-U032", "did you mean `trials`?")
    assert str(problem.position) == f"{path}:2:1"


@pytest.mark.parametrize(("text", "line"), [("time = \n", 1), ("a = 1\nb = [1,\n\n", None)])
def test_what_is_not_toml_is_told_with_its_place(tmp_path, text, line):
    path = tmp_path / ".oriorc"
    path.write_text(text)
    problem = problem_of(path)
    assert problem.code == "ORIO-U031"
    assert line is None or (problem.position is not None and problem.position.line == line)


def test_a_table_that_is_none_is_refused(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool]\norio = 3\n")
    assert problem_of(path).code == "ORIO-U031"
