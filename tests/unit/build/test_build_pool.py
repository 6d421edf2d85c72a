"""Worker processes: results, bugs, deaths, the parent's end."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from orio_py.build.pool import WorkerPool
from orio_py.build.process import run
from orio_py.core.units import Seconds


def drain(pool: WorkerPool[int, object], orders: list[int]) -> list[object]:
    for order in orders:
        pool.submit(order)
    found: list[object] = []
    try:
        while len(found) < len(orders):
            found.extend(pool.collect())
        assert pool.collect() == []
    finally:
        pool.close()
    return found


def make(work, workers: int = 2) -> WorkerPool[int, object]:
    return WorkerPool(work, lambda order: f"lost {order}", workers=workers, stop=lambda: None)


def test_every_order_is_answered_by_another_process() -> None:
    found = drain(make(lambda order, attempt: (order * order, os.getpid())), list(range(20)))
    assert sorted(square for square, _ in found) == [n * n for n in range(20)]
    workers = {pid for _, pid in found}
    assert os.getpid() not in workers
    assert len(workers) <= 2


def test_a_worker_that_dies_is_replaced_and_its_order_done(tmp_path: Path) -> None:
    def work(order: int, attempt: int) -> object:
        if order == 3 and attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return (order, attempt)

    assert sorted(drain(make(work), list(range(6)))) == [(n, 2 if n == 3 else 1) for n in range(6)]


def test_an_order_that_ends_two_workers_is_given_up() -> None:
    def work(order: int, attempt: int) -> object:
        if order == 1:
            os._exit(9)
        return order

    assert sorted(drain(make(work), [0, 1, 2]), key=str) == [0, 2, "lost 1"]


def test_a_bug_in_the_work_is_raised_with_its_traceback() -> None:
    pool = make(lambda order, attempt: 1 // order)
    pool.submit(0)
    try:
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            pool.collect()
    finally:
        pool.close()


def test_closing_ends_workers_in_the_middle_of_their_work(tmp_path: Path) -> None:
    def stop() -> None:
        (tmp_path / "stopped").touch()

    def work(order: int, attempt: int) -> object:
        (tmp_path / "begun").touch()
        time.sleep(600)
        return order

    pool = WorkerPool(work, str, workers=1, stop=stop)
    pool.submit(1)
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)
    pool.close()
    assert (tmp_path / "stopped").exists()


def test_workers_do_not_outlive_their_parent(tmp_path: Path) -> None:
    code = """
import os, signal, sys, time
from orio_py.build.pool import WorkerPool
if (child := os.fork()):
    os.waitpid(child, 0)
    sys.exit()
os.setsid()  # or the group's end would be theirs
pool = WorkerPool(lambda order, attempt: os.getpid(), str, workers=2, stop=lambda: None)
pool.submit(1); pool.submit(2)
seen = []
while len(seen) < 2:
    seen.extend(pool.collect())
pids = {worker.process.pid for worker in pool._workers}
print(*pids, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = run([sys.executable, "-c", code], timeout=Seconds(60.0), directory=tmp_path)
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2
    deadline = time.monotonic() + 20.0
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_alive, pids))


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
