"""Which files of a tree are meant, and its mirror."""

from pathlib import Path, PurePath

import pytest

from orio_py.core.diagnostics import DiagnosticError
from orio_py.tuning.files.tree import FileSelection, expand_paths, mirror


def tree(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"/* {name} */\n")
    return folder


@pytest.mark.parametrize(
    ("globs", "taken"),
    [
        (["*.h"], {"b.h", "lib/d.h"}),
        (["lib"], {"lib/c.c", "lib/d.h"}),
        (["lib/"], {"lib/c.c", "lib/d.h"}),
        (["lib/*.c"], {"lib/c.c"}),
        (["./a.c"], {"a.c"}),
        (["nothing"], set()),
    ],
)
def test_globs_are_compared_with_path_name_and_folders(globs, taken):
    names = {"a.c", "b.h", "lib/c.c", "lib/d.h"}
    assert {n for n in names if FileSelection(include=globs).takes(PurePath(n))} == taken
    assert {n for n in names if FileSelection(exclude=globs).takes(PurePath(n))} == names - taken


def test_outputs_and_hidden_folders_are_no_sources(tmp_path):
    tree(tmp_path, "a.c", "_a.c", "_own.c", ".git/x.c", "out/a.c", "sub/b.c", "note.txt")
    found = expand_paths([tmp_path], FileSelection(output=tmp_path / "out"))
    assert [inner.as_posix() for inner in found.values()] == ["_own.c", "a.c", "sub/b.c"]


def test_globs_that_leave_nothing_are_reported(tmp_path):
    tree(tmp_path, "a.c")
    with pytest.raises(DiagnosticError) as caught:
        expand_paths([tmp_path], FileSelection(include=["b*"]))
    assert caught.value.diagnostics[0].code == "ORIO-U033"


def test_files_that_are_named_are_taken_whatever_the_globs_say(tmp_path):
    tree(tmp_path, "a.c")
    assert list(expand_paths([tmp_path / "a.c"], FileSelection(exclude=["*"]))) == [tmp_path / "a.c"]


def test_a_mirror_has_the_bytes_and_modes_of_what_was_not_written(tmp_path):
    source = tree(tmp_path / "src", "a.c", "deep/er/run.sh", "Makefile")
    (source / "blob").write_bytes(bytes(range(256)))
    (source / "deep/er/run.sh").chmod(0o755)
    out = tmp_path / "out"
    tree(out, "a.c")
    (out / "a.c").write_text("tuned")
    copies = mirror([source], out, [out / "a.c"])
    assert {p.relative_to(out).as_posix() for p in copies} == {"deep/er/run.sh", "Makefile", "blob"}
    assert (out / "a.c").read_text() == "tuned"
    assert (out / "blob").read_bytes() == bytes(range(256))
    assert (out / "deep/er/run.sh").stat().st_mode & 0o777 == 0o755


def test_a_copy_that_is_the_same_already_is_not_written_again(tmp_path):
    source, out = tree(tmp_path / "src", "a.c"), tmp_path / "out"
    mirror([source], out, [])
    before = (out / "a.c").stat()
    mirror([source], out, [])
    assert (out / "a.c").stat().st_ino == before.st_ino


def test_a_mirror_inside_the_tree_does_not_contain_itself(tmp_path):
    source = tree(tmp_path, "a.c")
    mirror([source], tmp_path / "out", [])
    mirror([source], tmp_path / "out", [])
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["a.c"]
