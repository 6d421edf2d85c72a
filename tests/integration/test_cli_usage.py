"""Mistakes on the command line, help, version and `explain`: everything that needs no input file."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from orio_py import __version__
from orio_py.cli import main as main_module
from orio_py.cli.main import COMMANDS, main
from orio_py.core.codes import CODES
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem

NAMES = [function.__name__ for function, _ in COMMANDS]


def run(*arguments: str, env: dict[str, str] | None = None, **options) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "orio_py", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **(env or {})},
        **options,
    )


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (["tune", "--trails", "5", "mm.c"], "ORIO-U001", "--trials"),
        (["check", "--jsn", "mm.c"], "ORIO-U001", "--json"),
        (["--versoin"], "ORIO-U001", "--version"),
        (["tune", "--zzzzzzzz", "mm.c"], "ORIO-U001", "orio tune --help"),
        (["tun", "mm.c"], "ORIO-U002", "did you mean `tune`?"),
        (["chekc"], "ORIO-U002", "did you mean `check`?"),
        (["tune"], "ORIO-U003", "orio tune --help"),
        (["tune", "mm.c", "--trials"], "ORIO-U003", "--trials"),
        (["explain", "ORIO-U001", "again"], "ORIO-U003", "again"),
        (["devices", "--json=yes"], "ORIO-U003", "--json"),
        (["tune", "mm.c", "--trials", "0"], "ORIO-U004", "from 1"),
        (["tune", "mm.c", "--trials", "many"], "ORIO-U004", "--trials many"),
        (["tune", "mm.c", "--jobs", "-3"], "ORIO-U004", "--jobs -3"),
        (["tune", "mm.c", "--seed", "1.5"], "ORIO-U004", "--seed 1.5"),
        (["tune", "mm.c", "--trials", "9" * 5000], "ORIO-U004", "whole number"),
        (["tune", "--json", "--fresh", "mm.c"], "ORIO-U004", "./--fresh"),
        (["transform", "mm.c", "-o", "--verbose"], "ORIO-U004", "./--verbose"),
        (["model", "train", "-o", "--file"], "ORIO-U004", "./--file"),
        (["results", "export", "-o", "--form"], "ORIO-U004", "./--form"),
        (["results", "plot", "-o", "--kind"], "ORIO-U004", "./--kind"),
        (["tune", "mm.c", "--time", "10 parsecs"], "ORIO-U004", "10 parsecs"),
        (["tune", "mm.c", "--time", "0s"], "ORIO-U004", "positive"),
        (["tune", "mm.c", "--timeout", "-1"], "ORIO-U004", "positive"),
        (["tune", "mm.c", "--time", "nan"], "ORIO-U004", "nan"),
        (["check", "mm.c", "--color", "allways"], "ORIO-U004", "did you mean `always`?"),
        (["tune", "mm.c", "--set", "U_I"], "ORIO-U005", "--set NAME=VALUE"),
        (["tune", "mm.c", "--set", "=4"], "ORIO-U005", "--set NAME=VALUE"),
        (["tune", "mm.c", "--set", "U_I="], "ORIO-U005", "--set NAME=VALUE"),
        (["tune", "mm.c", "--set", "U[0]=4"], "ORIO-U005", "U[0]"),
        (["tune", "mm.c", "--set", "U=4", "--set", "U=8"], "ORIO-U005", "already set"),
        (["tune", "mm.c", "--json", "/nonexistent/out.json"], "ORIO-U009", "/nonexistent"),
        (["tune", "mm.c", "--json", "."], "ORIO-U009", "folder"),
        (["explain", "ORIO-U0001"], "ORIO-U015", "did you mean `ORIO-U001`?"),
        (["explain", "nonsense"], "ORIO-U015", "nonsense"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_bad_usage_names_what_is_wrong(arguments, code, hint, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error[{code}]: ")
    assert hint in captured.err
    assert "Traceback" not in captured.err
    assert list(tmp_path.iterdir()) == []


def test_no_arguments_prints_help_and_is_bad_usage(capsys):
    assert main([]) == 2
    assert "Usage: orio" in capsys.readouterr().out


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for name in NAMES:
        assert f"\n  {name} " in text


@pytest.mark.parametrize("name", NAMES)
def test_each_command_has_help_with_an_example_and_the_common_options(name, capsys):
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"Example: orio {name}" in text
    for option in ("--quiet", "--verbose", "--color"):
        assert option in text


def test_tune_has_the_options_of_the_contract(capsys):
    assert main(["tune", "--help"]) == 0
    text = capsys.readouterr().out
    wanted = "spec target search trials time seed jobs repeats timeout set keep cc json output in-place"
    assert [
        option for option in wanted.split() if f"--{option} " not in text and f"--{option}\n" not in text
    ] == []


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"orio_py {__version__}\n"


@pytest.mark.parametrize("spelling", ["ORIO-U001", "orio-u001", "U001", "u001"])
def test_explain_prints_title_and_text(spelling, capsys):
    assert main(["explain", spelling]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ORIO-U001: unknown option\n")
    assert out.split()[3:] == CODES["ORIO-U001"].explanation.split()
    assert "\n    $ orio tune mm.c --trails 50\n" in out
    assert max(map(len, out.splitlines())) <= 100


def test_explain_lists_every_code(capsys):
    assert main(["explain", "--quiet"]) == 0
    assert capsys.readouterr().out.split() == sorted(CODES)


def test_a_bug_is_reported_without_a_traceback(capsys, monkeypatch):
    def broken(arguments):
        raise ZeroDivisionError("a made-up bug")

    monkeypatch.setattr(main_module, "_run", broken)
    monkeypatch.delenv("ORIO_DEBUG", raising=False)
    assert main(["devices"]) == 70
    err = capsys.readouterr().err
    assert "ZeroDivisionError: a made-up bug" in err
    assert "bug in orio_py" in err
    assert "Traceback" not in err
    monkeypatch.setenv("ORIO_DEBUG", "1")
    assert main(["devices"]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (EnvironmentProblem(Diagnostic("ORIO-B001", "no C compiler was found")), 3, "error[ORIO-B001]"),
    ],
)
def test_exit_status_of_what_is_raised(error, status, text, capsys, monkeypatch):
    def raising(arguments):
        raise error

    monkeypatch.setattr(main_module, "_run", raising)
    assert main(["devices"]) == status
    assert text in capsys.readouterr().err


def test_colour_only_where_wanted(capsys):
    assert main(["explain", "U001", "--color", "always"]) == 0
    assert "\x1b[" in capsys.readouterr().out
    assert main(["explain", "U001", "--color", "never"]) == 0
    assert "\x1b[" not in capsys.readouterr().out
    assert main(["explain", "U001"]) == 0
    assert "\x1b[" not in capsys.readouterr().out


def test_a_closed_pipe_is_quiet():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "orio_py", "explain", "--verbose"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 141


def test_an_ascii_terminal_is_no_reason_to_fail():
    done = run("explain", "--verbose", env={"PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from orio_py.cli.main import main; main(['--help']);"
        "print([m for m in ('islpy', 'numpy', 'lark', 'jinja2', 'pycparser') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "[]"


def test_help_is_fast():
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run("--help").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    # 0.3 s of CPU time on an idle machine; the bound leaves room for slow and shared ones.
    assert min(seconds) < 1.0
