"""Typedefs of numbers, through a project's headers."""

from pathlib import Path

from orio_py.core.source import SourceFile
from orio_py.tuning.files.headers import header_macros, number_types


def types(folder: Path, text: str, *folders: Path) -> dict[str, str]:
    path = folder / "a.c"
    path.write_text(text)
    return dict(number_types(SourceFile.read(path), path, folders))


def test_typedefs_are_followed_through_headers_and_each_other(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "real.h").write_text('#include "base.h"\ntypedef base real;\n')
    (tmp_path / "inc" / "base.h").write_text('#include "real.h"\ntypedef unsigned   long base;\n')
    text = "#include <real.h>\n#include <stdio.h>\ntypedef real number;\ntypedef struct s other;\n"
    expected = {"base": "unsigned long", "real": "unsigned long", "number": "unsigned long"}
    assert types(tmp_path, text, tmp_path / "inc") == expected


def test_a_header_beside_the_file_needs_no_folder(tmp_path):
    (tmp_path / "real.h").write_text("typedef float real;")
    assert types(tmp_path, '#include "real.h"\n') == {"real": "float"}


def test_a_name_with_two_meanings_stays_unknown(tmp_path):
    text = "#ifdef S\ntypedef float real;\n#else\ntypedef double real;\n#endif\ntypedef real other;\n"
    assert types(tmp_path, text) == {}


def test_comments_and_circles_define_nothing(tmp_path):
    assert types(tmp_path, "/* typedef int a; */\ntypedef b c;\ntypedef c b;\n") == {}


def test_object_like_macros_of_headers_are_found(tmp_path):
    (tmp_path / "a.h").write_text(
        "#define N 100 /* points */\n#define M (N + \\\n 1)\n#define F(x) x\n# define EMPTY\n// #define NO 1\n"
    )
    path = tmp_path / "a.c"
    path.write_text('#include "a.h"\n#define OWN 3\n')
    found = header_macros(SourceFile.read(path), path, [])
    assert found == {"N": "100", "M": "(N + 1)", "EMPTY": ""}
