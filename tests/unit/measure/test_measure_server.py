"""The client of the fork server, against invented servers that die, hang or will not serve."""

import sys
from pathlib import Path
from textwrap import dedent

from orio_py.core.units import Seconds
from orio_py.measure.job import Job
from orio_py.measure.server import VariantServer

HEAD = """#!/bin/sh
''''exec "{python}" "$0" "$@" # '''
import os, signal, sys, time
inward, outward = map(int, os.environ["ORIO_SERVE"].split())
jobs = os.fdopen(inward)
def answer(line):
    os.write(outward, (line + "\\n").encode())
def block():
    lines = []
    while (line := jobs.readline().strip()) != "go":
        if not line:
            sys.exit()
        lines.append(line)
    return lines
def count():
    with open("count", "a") as file:
        file.write("x")
    return os.path.getsize("count")
block()
"""


def server(tmp_path: Path, body: str) -> VariantServer:
    program = tmp_path / "program"
    program.write_text(HEAD.format(python=sys.executable) + dedent(body))
    program.chmod(0o755)
    return VariantServer(program, tmp_path, job(), tmp_path / "results.txt")


def job() -> Job:
    return Job(Path("v.so"), Path("reference.bin"), False, 3, 5, Seconds(0.0), None, {})


def run(tmp_path: Path, body: str, timeout: float = 20.0):
    found = server(tmp_path, body)
    try:
        return found.run(job(), Seconds(timeout)), found
    finally:
        found.close()


def test_the_childs_status_is_told(tmp_path: Path) -> None:
    done, _ = run(tmp_path, 'answer("ready"); block(); answer("started 999999"); answer("ended 11")')
    assert done is not None
    assert done.signal_name == "SIGSEGV"


def test_a_server_that_dies_is_replaced_and_the_job_run_again(tmp_path: Path) -> None:
    body = """
    answer("ready"); first = count() == 1; block()
    if first: os._exit(1)
    answer("started 999999"); answer("ended 768")
    """
    done, found = run(tmp_path, body)
    assert done is not None
    assert (done.returncode, found.replaced) == (3, 1)


def test_a_job_that_ends_two_servers_is_not_given_to_a_third(tmp_path: Path) -> None:
    done, found = run(tmp_path, 'answer("ready"); count(); block(); answer("started 999999"); os._exit(1)')
    assert done is not None
    assert (done.returncode, done.timed_out) == (None, False)
    assert "ended with it, twice" in done.stderr
    assert found.replaced == 2
    assert (tmp_path / "count").read_text() == "xx"


def test_a_child_past_its_time_is_ended_with_its_group(tmp_path: Path) -> None:
    body = """
    answer("ready"); block()
    child = os.fork()
    if child == 0:
        time.sleep(600)
    os.setpgid(child, child)
    answer(f"started {child}")
    answer(f"ended {os.waitpid(child, 0)[1]}")
    """
    done, _ = run(tmp_path, body, timeout=0.2)
    assert done is not None
    assert done.timed_out
    assert done.signal_name == "SIGKILL"


def test_a_program_with_threads_does_not_serve(tmp_path: Path) -> None:
    done, found = run(tmp_path, 'answer("threads")')
    assert done is None
    assert not found.is_usable
    assert found.calibrate() is None


def test_a_program_that_cannot_be_started_does_not_serve(tmp_path: Path) -> None:
    found = VariantServer(tmp_path / "none", tmp_path, job(), tmp_path / "results.txt")
    assert found.run(job(), Seconds(1.0)) is None


def test_a_calibration_is_a_sample(tmp_path: Path) -> None:
    found = server(tmp_path, 'answer("ready"); jobs.readline(); answer("calibration 2e-3 1e-3")')
    try:
        loop = found.calibrate()
    finally:
        found.close()
    assert loop is not None
    assert (loop.wall, loop.cpu) == (2e-3, 1e-3)
