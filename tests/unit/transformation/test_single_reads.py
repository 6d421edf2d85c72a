"""What loops behind a test of overlap read once, and what they read where it stands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import compile_strictly, openmp
from c_trees import transformed_file

FILE = """typedef unsigned char byte;
typedef struct {{ int w, h; volatile int level; byte *data; byte *const fixed; byte **rows; byte *const *steady; struct {{ int gain; }} of; }} image;
void f(int n, unsigned h, byte **rows, const byte *const *in, const byte **lines, image *im);
void f(int n, unsigned h, byte **rows, const byte *const *in, const byte **lines, image *im)
{{
  int i, j;
  i = 0, j = 0;
  (void)n, (void)h, (void)rows, (void)in, (void)lines, (void)im, (void)i, (void)j;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
"""


def _new(code: str, recipe: str, folder: Path) -> str:
    """The code that runs where the test holds; compilers have nothing to say of the file."""
    text = transformed_file(FILE.format(code=code, recipe=recipe), {})
    source = folder / "code.c"
    source.write_text(text)
    if shutil.which("gcc") is not None:
        compile_strictly(source, folder, *openmp())
    return text.partition("} else {")[0]


@pytest.mark.parametrize(
    ("code", "recipe", "reads"),
    [
        (
            "for (i = 0; i < im->h; i++) for (j = 0; j < im->w; j++) im->data[i * 9 + j] = 1;",
            "Parallelize()",
            ["const int im_h = im->h;", "const int im_w = im->w;", "unsigned char *im_data = im->data;"],
        ),
        (
            "for (i = 0; i < im->h; i++) im->data[i] = im->of.gain;",
            "Unroll(ufactor=4)",
            ["const int im_of_gain = im->of.gain;", "im_data[i + 3] = im_of_gain;"],
        ),
        # A row is read where the loop over it runs, before the pragmas of that.
        (
            "for (i = 0; i < n; i++) for (j = 0; j < (int)h; j++) rows[i][j] = in[i][j];",
            "Parallelize()",
            [
                "unsigned char *rows_row = (int)h > 0 ? rows[i] : 0;",
                "const unsigned char *in_row = (int)h > 0 ? in[i] : 0;",
                "rows_row[j] = in_row[j];",
            ],
        ),
        (
            "for (i = 0; i < n; i++) for (j = 0; j < 7; j++) rows[i][j] += in[i][j];",
            "Vectorize()",
            ["unsigned char *rows_row = rows[i];", "rows_row[j] += in_row[j];"],
        ),
        (
            "for (i = 0; i < im->h; i++) { byte *p = im->rows[i]; for (j = 0; j < im->w; j++) p[j] ^= 1; }",
            "UnrollJam(ufactor=2)",
            ["unsigned char *im_rows_row = im_w > 0 ? im_rows[i] : 0;", "im_rows_row_2[j] ^= 1;"],
        ),
    ],
)
def test_what_is_read_once(code: str, recipe: str, reads: list[str], tmp_path: Path) -> None:
    new = _new(code, recipe, tmp_path)
    assert [read for read in reads if read not in new] == []


@pytest.mark.parametrize(
    ("code", "recipe", "kept"),
    [
        # It may change by itself, or its type cannot be written here.
        ("for (i = 0; i < im->h; i++) im->data[i] = 1 + im->level;", "Unroll(ufactor=2)", "im->level"),
        ("for (i = 0; i < im->h; i++) im->fixed[i] = 1;", "Unroll(ufactor=2)", "im->fixed[i + 1]"),
        # A row is read where it is used alone.
        (
            "for (i = 0; i < n; i++) for (j = 0; j < n; j++) rows[j][i] += in[j][i];",
            "Parallelize()",
            "rows[j][i] += in[j][i]",
        ),
        # Loops that a pragma takes together have nothing between them.
        (
            "for (i = 0; i < n; i++) for (j = 0; j < n; j++) rows[i][j] += in[i][j];",
            "Composite(openmp=(True, 'omp parallel for collapse(2)'))",
            "rows[i][j] += in[i][j]",
        ),
    ],
)
def test_what_stays_where_it_is(code: str, recipe: str, kept: str, tmp_path: Path) -> None:
    assert kept in _new(code, recipe, tmp_path)
