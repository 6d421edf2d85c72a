"""In-place Gauss-Seidel sweeps: tiles are refused as they stand, and legal, with the same result, after skewing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import STRICT, checked, compile_and_run, run

from orio_py import transform

FIVE_POINTS = "a[i][j] = (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 5;"
NINE_POINTS = """a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] +
                   a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9;"""
SOURCE = """void sweep(int steps, int n, double (*a)[n]);

void sweep(int steps, int n, double (*a)[n])
{
  int t, i, j;
  /*@ begin Loop(
    RECIPE
    for (t = 0; t < steps; t++)
      for (i = 1; i < n - 1; i++)
        for (j = 1; j < n - 1; j++)
          BODY
  ) @*/
  for (t = 0; t < steps; t++)
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++)
        BODY
  /*@ end @*/
}
"""
MAIN = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void original(int steps, int n, double (*a)[n]);
void variant(int steps, int n, double (*a)[n]);
int main(void)
{
  static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 30};
  static const int times[] = {0, 1, 2, 3, 5, 8, 11};
  int differing = 0;
  for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (unsigned l = 0; l < sizeof times / sizeof times[0]; l++) {
      int n = sizes[k], all = n * n;
      size_t bytes = (all + !all) * sizeof(double);
      double *first = malloc(bytes), *second = malloc(bytes);
      for (int x = 0; x < all; x++)
        first[x] = second[x] = 1.0 / (1 + (x * 7919) % 1009);
      original(times[l], n, (double (*)[n])first);
      variant(times[l], n, (double (*)[n])second);
      differing += memcmp(first, second, all * sizeof(double)) != 0;
      free(first);
      free(second);
    }
  printf("%d differ\\n", differing);
  return 0;
}
"""
SPACE = "transform Tile(tsize=[8, 4], tindex=['ii', 'jj'], loops=['i', 'j'])"
TIME = "transform Tile(tsize=SIZES, tindex=['tt', 'ii', 'jj'], loops=['t', 'i', 'j'])"
SKEW_I_BY_T = "transform Skew(loop='i', by='t')"
SKEW_J_BY_T = "transform Skew(loop='j', by='t')"
SKEW_J_BY_I = "transform Skew(loop='j', by='i')"
SWAP = "transform Permut(seq=['j', 'i'])"

SIZES = ("[4, 8, 8]", "[8, 8, 8]", "[3, 5, 7]", "[1, 16, 4]")

# The last transformation named is the first one applied.
LEGAL = {
    "five points, space": (FIVE_POINTS, [SPACE]),
    "five points, swapped": (FIVE_POINTS, [SWAP]),
    "five points, time": (FIVE_POINTS, [TIME, SKEW_J_BY_T, SKEW_I_BY_T]),
    "five points, wavefront": (FIVE_POINTS, [SWAP, SKEW_J_BY_I]),
    "nine points, space": (NINE_POINTS, [SPACE, SKEW_J_BY_I]),
    "nine points, swapped": (NINE_POINTS, [SWAP, SKEW_J_BY_I]),
    "nine points, wavefront": (NINE_POINTS, [SWAP, "transform Skew(loop='j', by='i', factor=2)"]),
    "nine points, tiles swapped": (
        NINE_POINTS,
        ["transform Tile(tsize=[5, 3], tindex=['jj', 'ii'], loops=['j', 'i'])", SWAP, SKEW_J_BY_I],
    ),
    "nine points, time": (NINE_POINTS, [TIME, SKEW_J_BY_I, SKEW_J_BY_T, SKEW_I_BY_T]),
}
REFUSED = {
    "five points, time": (FIVE_POINTS, [TIME], "then Skew(loop='j', by='t')"),
    "five points, time, one skew": (FIVE_POINTS, [TIME, SKEW_I_BY_T], "Skew(loop='j', by='t')"),
    "nine points, space": (NINE_POINTS, [SPACE], "Skew(loop='j', by='i')"),
    "nine points, swapped": (NINE_POINTS, [SWAP], None),
    "nine points, time": (NINE_POINTS, [TIME], "then Skew(loop='j', by='i')"),
    "nine points, time, skewed by time": (
        NINE_POINTS,
        [TIME, SKEW_J_BY_T, SKEW_I_BY_T],
        "Skew(loop='j', by='i')",
    ),
}


def annotated(body: str, steps: list[str], sizes: str) -> str:
    recipe = "\n    ".join(steps).replace("SIZES", sizes)
    return SOURCE.replace("RECIPE", recipe).replace("BODY", body)


@pytest.mark.share(3)
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize(
    ("name", "sizes"), [(n, s) for n in LEGAL for s in SIZES if s == SIZES[0] or TIME in LEGAL[n][1]]
)
def test_skewed_and_tiled_sweeps_keep_the_result(name: str, sizes: str, tmp_path: Path) -> None:
    body, steps = LEGAL[name]
    source, output = tmp_path / "sweep.c", tmp_path / "out.c"
    source.write_text(annotated(body, steps, sizes))
    report = transform(source, output=output)
    assert [d.headline() for d in report.diagnostics] == []
    objects: list[str] = []
    for function, path in (("original", source), ("variant", output)):
        objects.append(str(tmp_path / f"{function}.o"))
        run(["gcc", *STRICT, *checked(), f"-Dsweep={function}", "-c", str(path), "-o", objects[-1]])
    assert compile_and_run(MAIN, tmp_path, *checked(), *objects) == "0 differ\n"


@pytest.mark.parametrize("name", REFUSED)
def test_without_the_skews_the_dependence_is_in_the_way(name: str, tmp_path: Path) -> None:
    body, steps, advice = REFUSED[name]
    source = tmp_path / "sweep.c"
    source.write_text(annotated(body, steps, SIZES[0]))
    report = transform(source, output=tmp_path / "out.c")
    (diagnostic,) = report.diagnostics
    assert diagnostic.code == "ORIO-T040"
    assert "dependence on `a`" in diagnostic.message
    assert [note.message.split()[0] for note in diagnostic.notes][:2] in (
        ["writes", "reads"],
        ["reads", "writes"],
    )
    assert (diagnostic.help or "").endswith(advice or "")
    assert (diagnostic.help is None) == (advice is None)
    assert not (tmp_path / "out.c").exists()
