"""Outputs that are no files: standard output, devices and pipes are written to, and never replaced."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

FILE = """void f(int n, double *x) {
  int i;
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++)
    x[i] = 2;
  /*@ end @*/
}
"""


def orio(*words: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "orio_py", *words], check=False, **options)  # type: ignore[call-overload]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "k.c"
    file.write_text(FILE)
    return file


def test_a_minus_is_standard_output(source: Path) -> None:
    done = orio("transform", str(source), "-o", "-", capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"void f(int n, double *x) {")
    assert b"i += 2" in done.stdout
    assert b"wrote" not in done.stdout


def test_what_was_on_standard_output_stays(source: Path, tmp_path: Path) -> None:
    there = tmp_path / "all.txt"
    there.write_text("first\n")
    with there.open("ab") as file:
        assert orio("transform", str(source), "-o", "-", stdout=file).returncode == 0
    assert there.read_text().startswith("first\nvoid f(")


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_tables_are_no_part_of_code_on_standard_output(source: Path, name: str) -> None:
    inputs = "def input_params { param n[] = [50]; } def input_vars { decl dynamic double x[n] = random; }"
    text = FILE.replace("  /*@ begin", f"  /*@ begin PerfTuning ({inputs}) @*/\n  /*@ begin", 1)
    source.write_text(text.replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/"))
    done = orio("tune", str(source), "--no-db", "-o", name, capture_output=True)
    assert done.returncode == 0
    assert done.stdout.startswith(b"void f(int n, double *x) {")
    assert done.stdout.endswith(b"}\n")
    assert b"speed-up" in done.stderr


@pytest.mark.parametrize("words", [("transform", "--json"), ("tune", "--json", "-")])
def test_code_and_json_do_not_share_standard_output(source: Path, words: tuple[str, ...]) -> None:
    done = orio(words[0], str(source), *words[1:], "-o", "-", capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"ORIO-U010" in done.stderr


def test_a_device_stays_one(source: Path) -> None:
    assert orio("transform", str(source), "-q", "-o", os.devnull).returncode == 0
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_pipe_is_written_to(source: Path, tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert orio("transform", str(source), "-q", "-o", str(pipe)).returncode == 0
    reader.join(30)
    assert b"i += 2" in found[0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.proof
def test_kernels_need_a_file_beside_the_output(source: Path) -> None:
    source.write_text(FILE.replace("Unroll(ufactor=2)", "OpenCL()"))
    done = orio("transform", str(source), "-o", "-", capture_output=True)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"ORIO-U010" in done.stderr
