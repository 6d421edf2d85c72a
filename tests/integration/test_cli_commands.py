"""The commands on real files: output, JSON, exit codes, files written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from orio_py.cli.main import main

KERNEL = """\
void scale(int n, double factor, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params {
      param U[] = [1, 2, 4, 8];
      param V[] = [1, 2];
      constraint fits = U * V <= 8;
    }
    def input_params { param n[] = [3000]; }
    def input_vars { decl double factor = 1.5; decl dynamic double x[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = factor * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""

needs_compiler = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("gcc", "clang", "cc")), reason="needs a C compiler"
)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "scale.c").write_text(KERNEL)
    return tmp_path


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def orio(folder, monkeypatch, capsys) -> Callable[..., Done]:
    """Runs a command in this process: starting Python and building the grammars takes a second each time."""

    def run(*arguments: str) -> Done:
        monkeypatch.chdir(folder)
        capsys.readouterr()
        status = main(arguments)
        captured = capsys.readouterr()
        return Done(status, captured.out, captured.err)

    return run


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- check, space, devices ---


def test_check_of_a_good_file(orio, folder):
    done = orio("check", "scale.c")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 region: no errors, no warnings\n", "")


def test_check_shows_place_line_and_caret(orio, folder):
    (folder / "scale.c").write_text(KERNEL.replace("Unroll(", "Unrol("))
    done = orio("check", "scale.c")
    assert done.returncode == 2
    assert "1 error, no warnings" in done.stdout
    lines = done.stderr.splitlines()
    assert lines[0].startswith("scale.c:13:")
    assert ": error[ORIO-T001]: " in lines[0]
    assert "transform Unrol(ufactor=U)" in lines[1]
    assert lines[2].strip() == "^"
    assert lines[3] == "help: did you mean `Unroll`?"
    assert lines[2].index("^") == lines[1].index("transform")


def test_check_as_json_has_the_same_problems(orio, folder):
    (folder / "scale.c").write_text(KERNEL.replace("Unroll(", "Unrol("))
    done = orio("check", "scale.c", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 2
    assert document["version"] == 1
    assert [(d["code"], d["file"], d["line"], d["severity"]) for d in document["diagnostics"]] == [
        ("ORIO-T001", "scale.c", 13, "error")
    ]


def test_verbose_adds_the_long_text_and_quiet_keeps_the_error(orio, folder):
    (folder / "scale.c").write_text(KERNEL.replace("Unroll(", "Unrol("))
    verbose, quiet = orio("check", "-v", "scale.c"), orio("check", "-q", "scale.c")
    assert "\n  | " in verbose.stderr
    assert "ORIO-T001" in quiet.stderr
    assert "\n  | " not in quiet.stderr
    assert quiet.stdout == ""


def test_space_counts_exactly(orio, folder):
    done = orio("space", "scale.c", "--json")
    (region,) = json.loads(done.stdout)["regions"]
    assert done.returncode == 0
    assert region["space"] == {"cartesian": 8, "valid": 7}
    assert [(p["name"], p["count"]) for p in region["parameters"]] == [("U", 4), ("V", 2)]
    assert [(g["parameters"], g["constraints"]) for g in region["groups"]] == [(["U", "V"], ["fits"])]
    text = orio("space", "scale.c").stdout
    assert "Cartesian product  8" in text
    assert "valid              7" in text


@needs_compiler
def test_devices_names_the_compilers(orio, folder):
    done = orio("devices", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["cores"] >= 1
    assert any(compiler["works"] for compiler in document["compilers"])
    assert all(compiler["reason"] for compiler in document["compilers"] if not compiler["works"])
    cuda = document["cuda"]
    assert [compiler["name"] for compiler in cuda["compilers"]] == ["nvrtc", "nvcc"]
    assert all(compiler["architectures"] or compiler["reason"] for compiler in cuda["compilers"])
    assert cuda["devices"] or cuda["problem"]
    text = orio("devices").stdout
    assert "processor: " in text
    assert ("kernels cannot be run here" in text) == (cuda["problem"] is not None)


# --- transform ---


def test_transform_takes_pinned_values(orio, folder):
    done = orio("transform", "scale.c", "--set", "U=4")
    assert (done.returncode, done.stdout) == (0, "wrote _scale.c\n")
    assert "x[i + 3] = factor * x[i + 3];" in (folder / "_scale.c").read_text()
    assert (folder / "scale.c").read_text() == KERNEL


def test_transform_of_an_unknown_parameter_writes_nothing(orio, folder):
    done = orio("transform", "scale.c", "--set", "W=4")
    assert done.returncode == 2
    assert "error[ORIO-U011]" in done.stderr
    assert files(folder) == ["scale.c"]


def test_transform_as_json_names_what_it_wrote(orio, folder):
    done = orio("transform", "scale.c", "-o", "out.c", "--json")
    assert json.loads(done.stdout)["outputs"] == ["out.c"]
    assert files(folder) == ["out.c", "scale.c"]


# --- what the files of a command may be ---


@pytest.mark.parametrize("command", ["tune", "transform", "check", "space"])
@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (["scal.c"], "ORIO-U006", "did you mean `scale.c`?"),
        (["nowhere/scale.c"], "ORIO-U006", "nowhere"),
        (["empty"], "ORIO-U007", "empty"),
        (["scale.c", "--spec", "missing.spec"], "ORIO-U008", "missing.spec"),
    ],
)
def test_bad_paths(orio, folder, command, arguments, code, hint):
    (folder / "empty").mkdir()
    done = orio(command, *arguments)
    assert done.returncode == 2
    assert f"error[{code}]" in done.stderr
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
    assert files(folder) == ["empty", "scale.c"]


@pytest.mark.parametrize("command", ["tune", "transform"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["scale.c", "-o", "out.c", "--in-place"], "ORIO-U010"),
        (["scale.c", "other.c", "-o", "file"], "ORIO-U010"),
        (["scale.c", "-o", "missing/out.c"], "ORIO-U009"),
    ],
)
def test_bad_outputs(orio, folder, command, arguments, code):
    (folder / "other.c").write_text(KERNEL)
    (folder / "file").write_text("mine")
    done = orio(command, *arguments)
    assert done.returncode == 2
    assert f"error[{code}]" in done.stderr
    assert files(folder) == ["file", "other.c", "scale.c"]
    assert (folder / "file").read_text() == "mine"


# --- tune ---


@needs_compiler
def test_tune_prints_progress_table_and_writes(orio, folder):
    done = orio("tune", "scale.c", "--repeats", "3")
    assert done.returncode == 0, done.stderr
    assert "scale.c:4: scale (n = 3000): 7 of 8 configurations valid" in done.stderr
    for stage in ("baseline", "search", "finals"):
        assert f"  {stage}\n" in done.stderr
    heading, _, row, winner = [line for line in done.stdout.splitlines() if "doubtful times" not in line]
    assert heading.split() == ["region", "tried", "failed", "original", "best", "speed-up", "output"]
    assert row.startswith("scale.c:4 scale n=3000")
    assert row.rstrip().endswith("_scale.c")
    assert winner.startswith("scale.c:4 scale n=3000: ")
    written = (folder / "_scale.c").read_text()
    assert written.startswith(KERNEL[: KERNEL.index(" @*/\n  for")])
    assert written.endswith("  /*@ end @*/\n  /*@ end @*/\n}\n")
    assert (folder / "scale.c").read_text() == KERNEL


@needs_compiler
def test_tune_json_has_the_shape_of_the_contract(orio, folder):
    done = orio("tune", "scale.c", "--json", "-", "--trials", "3", "--search", "random", "--seed", "7")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["version"] == 1
    assert document["tool"].startswith("orio_py ")
    assert {"cpu", "cores", "compiler", "device"} <= set(document["environment"])
    (region,) = document["regions"]
    assert (region["file"], region["line"], region["name"], region["target"]) == ("scale.c", 4, "scale", "c")
    assert region["inputs"] == {"n": 3000}
    assert region["space"] == {"cartesian": 8, "valid": 7}
    assert region["trials"] == 3
    assert {"cached", "failed", "refused", "invalid"} <= set(region)
    assert set(region["seconds"]) == {"total", "build", "run", "search"}
    assert set(region["cost"]) == {"prepare", "finals", "transform_cpu", "compile_cpu", "least_run"}
    assert set(region["machine"]) == {"readings", "drift", "waiting", "is_steady", "remark", "cpu"}
    assert {"median_s", "mad_s", "repeats"} <= set(region["baseline"])
    assert {"configuration", "median_s", "mad_s", "repeats", "speedup"} <= set(region["best"])
    assert set(region["best"]["configuration"]) == {"U", "V"}
    assert "region" in done.stderr


@needs_compiler
def test_quiet_tuning_writes_and_says_nothing(orio, folder):
    done = orio("tune", "-q", "scale.c", "--trials", "2", "--json", "result.json", "--set", "V=1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert files(folder) == ["_scale.c", "result.json", "scale.c"]
    (region,) = json.loads((folder / "result.json").read_text())["regions"]
    assert region["space"]["valid"] == 4
    assert region["best"]["configuration"]["V"] == 1


@needs_compiler
def test_tuning_in_place_twice_starts_from_the_same_original(orio, folder):
    first = orio("tune", "scale.c", "--in-place", "--set", "U=4", "--repeats", "3")
    assert first.returncode == 0, first.stderr
    second = orio("tune", "scale.c", "--in-place", "--set", "U=2", "--repeats", "3")
    assert second.returncode == 0, second.stderr
    assert files(folder) == ["scale.c"]
    text = (folder / "scale.c").read_text()
    assert text.count("x[i] = factor * x[i];") in (1, 2, 3)
    assert "i + 3" not in text


@needs_compiler
def test_bad_search_and_target_are_bad_input(orio, folder):
    searcher = orio("tune", "scale.c", "--search", "randm")
    assert searcher.returncode == 2
    assert "did you mean `random`?" in searcher.stderr
    target = orio("tune", "scale.c", "--target", "openm")
    assert target.returncode == 2
    assert "did you mean `openmp`?" in target.stderr
    assert files(folder) == ["scale.c"]


def test_without_a_compiler_tuning_says_what_to_install(folder):
    (folder / "bin").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "orio_py", "tune", "scale.c"],
        cwd=folder,
        env={**os.environ, "PATH": str(folder / "bin")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 3
    assert "error[ORIO-B001]" in done.stderr
    assert "apt install gcc" in done.stderr
    assert "Traceback" not in done.stderr
    assert files(folder) == ["bin", "scale.c"]


@needs_compiler
def test_no_valid_variant_leaves_the_output_alone(orio, folder):
    # The code in the annotation computes something else than the code below it, which is the reference.
    other = "transform Unroll(ufactor=U) for (i = 0; i < n; i++) x[i] = 2.0 * x[i];"
    (folder / "scale.c").write_text(KERNEL.replace("transform Unroll(ufactor=U)", other))
    done = orio("tune", "scale.c", "--repeats", "3")
    assert done.returncode == 4, done.stderr
    assert "error[ORIO-M020]" in done.stderr
    assert "wrong result" in done.stdout
    assert files(folder) == ["scale.c"]


@needs_compiler
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_quietly_with_130_and_writes_nothing(folder, ending):
    many = KERNEL.replace("[1, 2, 4, 8]", "range(1, 900)").replace("constraint fits = U * V <= 8;", "")
    (folder / "scale.c").write_text(many)
    process = subprocess.Popen(
        [sys.executable, "-m", "orio_py", "tune", "scale.c", "--json", "partial.json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell's background job ignores SIGINT, and so do its children until they are told otherwise.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    seen = ""
    deadline = time.monotonic() + 60
    while "  search\n" not in seen and time.monotonic() < deadline:
        seen += process.stderr.readline()
    time.sleep(1.0)
    if ending == signal.SIGINT:
        os.killpg(process.pid, ending)
    else:
        process.send_signal(ending)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in out + err
    assert files(folder) == ["partial.json", "scale.c"]
    (region,) = json.loads((folder / "partial.json").read_text())["regions"]
    assert region["interrupted"] is True
