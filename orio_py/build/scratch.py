"""Folders for files that live as long as a run, and the end of those that a killed run has left."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_PREFIX = "orio-"
_LOCK = ".in-use"
_OLD_S = 24 * 3600.0
"""Age in seconds at which a folder without a lock is taken to be abandoned."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """A folder of a run; it counts as in use until `remove`, or until the process ends in any way."""

    path: Path
    lock: int

    @classmethod
    def make(cls, parent: Path | None) -> Scratch:
        """A new folder in `parent` (None: the usual temporary folder), without what killed runs left there."""
        where = Path(tempfile.gettempdir()) if parent is None else parent
        remove_abandoned(where)
        new = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=where))
        lock = os.open(new / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Others see it by this name once it is locked.
        return cls(new.rename(where / new.name[1:]), lock)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def remove_abandoned(parent: Path) -> None:
    """Remove the folders in `parent` whose runs have ended without doing so."""
    for folder in parent.glob(f"{_PREFIX}*"):
        if "-" in folder.name.removeprefix(_PREFIX):
            continue  # made for something else
        try:
            mine = folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.getuid()
            if mine and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # another run removes it


def _is_abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return time.time() - folder.stat().st_mtime > _OLD_S
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
