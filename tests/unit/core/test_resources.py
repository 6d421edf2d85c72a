"""What is kept between processes."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from orio_py.core.resources import CACHE_FOLDER, keep, kept


@pytest.fixture
def folder(tmp_path: Path):
    path = tmp_path / "a" / "cache"
    token = CACHE_FOLDER.set(path)
    yield path
    CACHE_FOLDER.reset(token)


def test_content_comes_back(folder):
    assert kept("x") is None
    keep("x", b"content")
    assert kept("x") == b"content"
    assert [p.name for p in folder.iterdir()] == ["x"]
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 100])
def test_damaged_content_does_not_come_back(folder, damage):
    keep("x", b"content")
    (folder / "x").write_bytes(damage)
    assert kept("x") is None
    keep("x", b"content")
    assert kept("x") == b"content"


def test_nothing_is_kept_without_a_folder():
    token = CACHE_FOLDER.set(None)
    keep("x", b"content")
    assert kept("x") is None
    CACHE_FOLDER.reset(token)


def test_a_folder_that_cannot_be_made_costs_nothing_but_time(folder):
    folder.parent.write_text("a file where the folder should be")
    keep("x", b"content")
    assert kept("x") is None


def test_simultaneous_writers_leave_one_whole_file(folder):
    contents = [bytes([k]) * 50_000 for k in range(8)]

    def write(content: bytes) -> None:
        token = CACHE_FOLDER.set(folder)
        keep("x", content)
        CACHE_FOLDER.reset(token)

    threads = [Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept("x") in contents
    assert [p.name for p in folder.iterdir()] == ["x"]
