"""Folders of runs: those of killed ones are removed by the next, those in use are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from orio_py.build.scratch import Scratch, remove_abandoned

PROGRAM = """
import sys
from pathlib import Path
from orio_py.build.scratch import Scratch
scratch = Scratch.make(Path(sys.argv[1]))
(scratch.path / "big").write_text("x")
print(scratch.path, flush=True)
sys.stdin.readline()
"""


def test_a_killed_run_leaves_nothing_for_long(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    path = Path(other.stdout.readline().strip())
    mine = Scratch.make(tmp_path)
    assert (path / "big").is_file(), "it is in use"
    other.kill()
    other.communicate()
    remove_abandoned(tmp_path)
    assert not path.exists()
    assert mine.path.is_dir()
    mine.remove()
    assert not list(tmp_path.iterdir())


def test_folders_of_others_stay(tmp_path: Path) -> None:
    for name in ("orio-pocl-12345678", "another", "orio-abcdefgh", "orio-older123"):
        (tmp_path / name).mkdir()
    os.utime(tmp_path / "orio-older123", (0, 0))
    os.utime(tmp_path / "orio-pocl-12345678", (0, 0))
    (tmp_path / "orio-link").symlink_to(tmp_path / "another")
    remove_abandoned(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"orio-pocl-12345678", "another", "orio-abcdefgh", "orio-link"}
