"""Running other programs: status, signals, time limits, output."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orio_py.build.process import OUTPUT_LIMIT_BYTES, run
from orio_py.core.units import Seconds


def python(code: str, tmp_path: Path, timeout: float = 20.0):
    return run([sys.executable, "-c", code], timeout=Seconds(timeout), directory=tmp_path)


def test_a_program_that_ends_well(tmp_path: Path) -> None:
    done = python("import sys; print('out'); print('err', file=sys.stderr)", tmp_path)
    assert done.ok
    assert (done.returncode, done.stdout, done.stderr) == (0, "out\n", "err\n")


def test_exit_status_and_signal_are_told_apart(tmp_path: Path) -> None:
    assert python("raise SystemExit(7)", tmp_path).returncode == 7
    killed = python("import os; os.abort()", tmp_path)
    assert not killed.ok
    assert killed.signal_name == "SIGABRT"


def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    child = f"import time; time.sleep(3); open({str(mark)!r}, 'w').close()"
    code = (
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    )
    done = python(code, tmp_path, timeout=1.0)
    assert done.timed_out
    assert done.seconds < 20
    import time

    time.sleep(3)
    assert not mark.exists()


def test_endless_output_is_cut(tmp_path: Path) -> None:
    done = python("print('x' * 10_000_000)", tmp_path)
    assert done.ok
    assert len(done.stdout) == OUTPUT_LIMIT_BYTES


def test_a_missing_program_is_a_value_not_an_exception(tmp_path: Path) -> None:
    done = run(["/no/such/program"], timeout=Seconds(1.0), directory=tmp_path)
    assert done.returncode is None
    assert not done.ok
    assert "No such file" in done.stderr


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux bounds another process")
def test_what_a_program_may_use_is_bounded_when_nobody_is_left_to_end_it(tmp_path: Path):
    starter = (
        "from pathlib import Path; from orio_py.build.process import run;"
        "run(['sh', '-c', 'echo $$ > pid; while :; do :; done'], timeout=1000.0, directory=Path('.'))"
    )
    process = subprocess.Popen([sys.executable, "-c", starter], cwd=tmp_path)
    written = tmp_path / "pid"
    while not (written.exists() and written.read_text().endswith("\n")):
        time.sleep(0.01)
    pid = int(written.read_text())
    deadline = time.monotonic() + 60
    while resource.prlimit(pid, resource.RLIMIT_CPU)[0] < 0 and time.monotonic() < deadline:
        time.sleep(0.01)  # The program runs before its limits are set.
    process.kill()
    process.wait()
    try:
        assert os.getpgid(pid) == pid
        most = 1001 * (os.cpu_count() or 1)
        assert resource.prlimit(pid, resource.RLIMIT_CPU) == (most, most)
    finally:
        os.kill(pid, signal.SIGKILL)
