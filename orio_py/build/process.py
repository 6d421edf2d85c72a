"""Runs a program with a time limit, in a process group of its own; the only user of `subprocess`."""

from __future__ import annotations

import math
import os
import resource
import select
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import IO

from orio_py.core.units import Seconds

OUTPUT_LIMIT_BYTES = 64 * 1024
"""How much of each output stream is kept: the beginning, where compilers put the first error."""


@dataclass(frozen=True, slots=True)
class Completed:
    """How a program ended.  `returncode` is negative for a signal; None when it could not be started."""

    returncode: int | None
    stdout: str
    stderr: str
    timed_out: bool
    seconds: Seconds

    @property
    def ok(self) -> bool:
        """Whether the program ran to its end and returned 0."""
        return self.returncode == 0 and not self.timed_out

    @property
    def signal_name(self) -> str | None:
        """The name of the signal that ended the program, such as `SIGSEGV`."""
        if self.returncode is None or self.returncode >= 0:
            return None
        try:
            return signal.Signals(-self.returncode).name
        except ValueError:
            return f"signal {-self.returncode}"


class Running:
    """The programs that are running now, so that an interrupt need not wait for them."""

    def __init__(self) -> None:
        self._processes: set[subprocess.Popen[bytes]] = set()

    def add(self, process: subprocess.Popen[bytes]) -> None:
        """A program has been started."""
        self._processes.add(process)

    def discard(self, process: subprocess.Popen[bytes]) -> None:
        """A program has ended."""
        self._processes.discard(process)

    def kill(self) -> None:
        """End all of them; those who wait for them see a signal."""
        for process in list(self._processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def run(
    command: Sequence[str],
    *,
    timeout: Seconds,
    directory: Path,
    environment: Mapping[str, str] | None = None,
    running: Running | None = None,
    output_bytes: int = OUTPUT_LIMIT_BYTES,
) -> Completed:
    """Run `command` without a shell and wait for its end or for `timeout` seconds.

    Past the limit the whole process group is killed.  Output goes through temporary files, so a
    program that prints without end cannot fill this process's memory: `output_bytes` of each stream
    are kept.  A program that cannot be started gives `returncode` None and the reason as `stderr`.
    """
    start = perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=directory,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return Completed(None, "", str(error), False, Seconds(perf_counter() - start))
        _limit_processor_time(process.pid, timeout)
        running = running if running is not None else Running()
        running.add(process)
        try:
            timed_out = not _has_ended(process, timeout)
        finally:
            _kill_group(process)
            running.discard(process)
        seconds = Seconds(perf_counter() - start)
        return Completed(
            process.returncode, _head(out, output_bytes), _head(err, output_bytes), timed_out, seconds
        )


class Service:
    """A program that stays and answers lines with lines, through two pipes of its own.

    The program finds the numbers of its ends, reading and writing, in the environment variable that
    `ends` names; its standard streams lead nowhere.
    """

    def __init__(
        self, command: Sequence[str], *, directory: Path, ends: str, environment: Mapping[str, str]
    ) -> None:
        """Start the program.  Raises OSError when that is not possible."""
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=directory,
                env={**os.environ, **environment, ends: f"{their_in} {their_out}"},
                start_new_session=True,
                pass_fds=(their_in, their_out),
            )
        except OSError:
            os.close(self._out)
            os.close(self._in)
            raise
        finally:
            os.close(their_in)
            os.close(their_out)
        self._rest = b""

    def tell(self, text: str) -> bool:
        """Send text; False when the program is gone."""
        data = text.encode()
        try:
            while data:
                data = data[os.write(self._out, data) :]
        except OSError:
            return False
        return True

    def line(self, timeout: Seconds) -> str | None:
        """The next line of its answers.  Raises TimeoutError after `timeout` seconds; None when it is gone."""
        end = perf_counter() + timeout
        while b"\n" not in self._rest:
            left = end - perf_counter()
            if not _is_readable(self._in, Seconds(max(left, 0.0))):
                raise TimeoutError
            found = os.read(self._in, 4096)
            if not found:
                return None
            self._rest += found
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace")

    def status(self, timeout: Seconds) -> int | None:
        """The exit status of a program that has closed its pipe, negative for a signal; None if it still runs."""
        if not _has_ended(self._process, timeout):
            return None
        return self._process.wait()

    @property
    def pid(self) -> int:
        """The program's process number."""
        return self._process.pid

    def close(self) -> None:
        """End the program and what is left in its group."""
        for descriptor in (self._in, self._out):
            with suppress(OSError):
                os.close(descriptor)
        _kill_group(self._process)


def copy_variable(name: str, to: str) -> None:
    """Give an environment variable of this process the value of another one, if that is set."""
    if name in os.environ:
        os.environ[to] = os.environ[name]


def service_ends(name: str) -> tuple[int, int]:
    """For a program that a `Service` started: its ends of the pipes, from the variable that `ends` named."""
    reading, writing = os.environ[name].split()
    return int(reading), int(writing)


def kill_group(group: int) -> None:
    """End every process of a process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _limit_processor_time(pid: int, timeout: Seconds) -> None:
    """Bound what a program uses where nobody is left to end it, as after `kill -9`; Linux alone can do that.

    Its children inherit the bound, which nothing reaches that runs for less than `timeout`, on whatever processors.
    """
    if hasattr(resource, "prlimit"):
        most = (math.ceil(timeout) + 1) * (os.cpu_count() or 1)
        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_CPU, (most, most))


def _is_readable(descriptor: int, timeout: Seconds) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(1000.0 * timeout))


def _has_ended(process: subprocess.Popen[bytes], timeout: Seconds) -> bool:
    """Wait for the program's end; False when the time is up.

    Linux tells the end of a process through a file descriptor.  Elsewhere `Popen.wait` polls, which adds
    some milliseconds to every build and run.
    """
    if hasattr(os, "pidfd_open"):
        descriptor = os.pidfd_open(process.pid)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            return bool(poll.poll(1000.0 * timeout))
        finally:
            os.close(descriptor)
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End the process and whatever it left behind in its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _head(stream: IO[bytes], size: int) -> str:
    stream.seek(0)
    return stream.read(size).decode("utf-8", "replace")
