"""Pointers to memory that was allocated for them alone do not overlap; others may."""

from __future__ import annotations

import pytest
from c_programs import checked, compile_and_run
from c_trees import transformed_file

FILE = """#include <stdlib.h>
#include <stdio.h>
{before}
static double sum(int n, double *given, double **kept)
{{
  int i, j;
  double *x, *y = NULL, s = 0;
  {code}
  /*@ begin Loop(transform UnrollJam(ufactor=3)) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      y[i] = y[i] + {read};
  /*@ end @*/
  for (i = 0; i < n; i++) s += y[i] * (i + 1);
  {after}
  return s;
}}
int main(void)
{{
  double m[40], *kept[1] = {{m + 7}};
  for (int n = 0; n < 8; n++) {{
    for (int k = 0; k < 40; k++) m[k] = k % 7;
    printf("%g ", sum(n, m, kept));
  }}
  return 0;
}}
"""
GET = "x = (double *)malloc((n + 1) * sizeof(double)); y = malloc(sizeof *y * (n + 1));"
FILL = " for (i = 0; i < n; i++) x[i] = y[i] = i;"
FREE = "free(x); free(y);"


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("code", "read", "guarded"),
    [
        (GET + FILL, "x[j]", False),
        (GET + FILL, "given[j]", False),
        ("x = calloc(n + 1, 8); y = calloc(n + 1, 8); if (n > 2) { free(x); x = calloc(n + 2, 8); }" + FILL, "x[j]", False),
        ("if ((x = malloc((n + 1) * 8)) == NULL || n < 0) return 1; if (!(y = malloc((n + 1) * 8))) return 1;" + FILL, "given[j]", False),
        ("x = malloc((n + 1) * 8); if (posix_memalign((void **)&y, 64, (n + 1) * 8) != 0) return 1;" + FILL, "given[j]", False),
        (GET + FILL + " double *z = y + n / 2;", "z[j - j]", True),
        (GET + FILL + " kept[0] = y;", "kept[0][j]", True),
        (GET + FILL + " free(x); x = malloc(64); free(x); x = y - 0;", "x[j]", True),
        (GET + FILL + " x[0] = 1; double **p = &y; *p = *p + 0;", "x[j]", True),
        (GET + FILL + " given = y;", "given[j]", True),
    ],
)  # fmt: skip
def test_allocated_memory_is_of_its_own(tmp_path, code: str, read: str, guarded: bool) -> None:
    freed = "" if "x = y" in code else FREE
    text = FILE.format(before="", code=code, read=read, after=freed)
    new = transformed_file(text, {})
    assert ("/* Runs" in new) == guarded
    flags = [*checked(), "-fsanitize-recover=address"]
    assert compile_and_run(new, tmp_path, *flags) == compile_and_run(text, tmp_path, *flags)


BY_FUNCTIONS = "x = get(n + 1); y = get(n + 1);" + FILL
TESTED = """static void *safe(size_t n) { void *p = malloc(n); if (p == NULL) { puts("none"); exit(1); } memset(p, 0, n); return p; }
static double *get(int n) { return (double *)safe(n * sizeof(double)); }"""


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("functions", "guarded"),
    [
        (TESTED, False),
        (
            "static double *get(int n) { void *p = 0; int r; r = posix_memalign(&p, 64, 8 * n); if (r) p = NULL; return p; }",
            False,
        ),
        (
            "static double *get(int n) { double *v = calloc(n, 8); int i; if (!v) return NULL; for (i = 0; i < n; i++) v[i] = i; return v; }",
            False,
        ),
        # Something else leads to the memory, or it is none of its own.
        ("static double *all; static double *get(int n) { double *v = malloc(n * 8); all = v; return v; }", True),
        ("static double *get(int n) { static double *v; if (!v) v = malloc(64 + n * 8); return v; }", True),
        ("static double pool[99]; static double *get(int n) { double *v = malloc(8); free(v); v = pool; return v + n - n; }", True),
        ("static double *get(int n) { double *v = malloc(n * 8 + 64); v += 4; return v; }", True),
        ("static double pool[99]; static double *get(int n) { double *v = pool; v[n] = 0; return v; }", True),
        ("static double *all; static double *get(int n) { double *v = malloc(n * 8); all = memset(v, 0, n * 8); return v; }", True),
        ("typedef double real; static real *get(int n) { real *v = malloc(n * sizeof(real)); v[0] = n; v[1] = v[0]; return v; }", False),
        # What is read there leads into it again.
        ("typedef double row[1]; static double *hold; static row *rows(int n) { row *v = malloc(n * 8); hold = v[0]; return v; }\n"
         "static double *get(int n) { return (double *)rows(n); }", True),
        ("struct s { double v[1]; }; static double *hold; static double *get(int n) { struct s *p = malloc(n * 8); hold = p->v; return (double *)p; }", True),
        ("struct s { double v[1]; }; static double *get(int n) { struct s *p = malloc(n * 8); p->v[0] = n; return (double *)p; }", False),
        ("static double **hold; static double *get(int n) { double *v = malloc(n * 8); hold = &v; return v; }", True),
    ],
)  # fmt: skip
def test_functions_that_allocate(tmp_path, functions: str, guarded: bool) -> None:
    text = FILE.format(before=f"#include <string.h>\n{functions}", code=BY_FUNCTIONS, read="x[j]", after="")
    new = transformed_file(text, {})
    assert ("/* Runs" in new) == guarded
    assert compile_and_run(new, tmp_path, "-w") == compile_and_run(text, tmp_path, "-w")


def test_an_allocator_of_the_file_is_not_taken_for_the_librarys() -> None:
    own = "static double pool[64]; static void *my(size_t n) { (void)n; return pool; }\n#define malloc my"
    text = FILE.format(before=own, code=GET + FILL, read="x[j]", after="")
    assert "/* Runs" in transformed_file(text, {})
