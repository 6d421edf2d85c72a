"""Splicing and writing files."""

import stat
from pathlib import Path

import pytest

from orio_py.core.source import SourceFile, Span
from orio_py.tuning.files.writeback import splice, write_atomically


def test_only_the_spans_change_whatever_the_encoding() -> None:
    data = b"\xef\xbb\xbf/* caf\xe9 \xff */\r\nint a;\r\n\tint b;"
    at = data.index(b"int a;")
    source = SourceFile("a.c", data)
    assert splice(source, {}) == data
    new = splice(source, {Span(at, at + 6): "int changed;"})
    assert new == data.replace(b"int a;", b"int changed;")


def test_several_spans_in_any_order_and_overlaps_refused() -> None:
    source = SourceFile("a.c", b"0123456789")
    assert splice(source, {Span(7, 8): "X", Span(1, 3): ""}) == b"03456X89"
    with pytest.raises(ValueError, match="overlap"):
        splice(source, {Span(1, 5): "", Span(4, 6): ""})


def test_writing_keeps_the_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    source, target = tmp_path / "a.c", tmp_path / "_a.c"
    source.write_bytes(b"old")
    source.chmod(0o640)
    write_atomically(target, b"new", mode_of=source)
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["_a.c", "a.c"]


def test_writing_through_a_link_changes_what_it_points_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real.c", tmp_path / "link.c"
    real.write_bytes(b"old")
    link.symlink_to(real)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch) -> None:
    target = tmp_path / "a.c"
    target.write_bytes(b"old")

    def no(self: Path, other: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", no)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.c"]
