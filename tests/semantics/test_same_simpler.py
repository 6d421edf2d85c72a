"""Code in forms that recipes see through only after a rewrite: accepted, and it computes the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import context, statement, transformed_file

from orio_py.ctree.emit import emit
from orio_py.transformation.base import Refusal
from orio_py.transformation.simpler.private_scalars import with_private_scalars

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
#include <string.h>
#define THREE 3
#define SIX (2 * THREE)
enum {{ ONE = 1, TWO }};
struct state {{ double *rows, *other; int count; }};
static double *g;
static int work(int n, double *x, double *y, struct state *s)
{{
  int i, j, k;
  double t, u, *p, *q;
  {before}
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
  return {result};
}}
static double m[400];
int main(void)
{{
  for (int d = -60; d <= 60; d += 12)
    for (int n = -1; n < 9; n++) {{
      struct state s = {{m + 150, m + 20, n}};
      for (int i = 0; i < 400; i++) m[i] = i % 23 - 11;
      g = m + 200 + d;
      printf("%d ", work(n, m + 200, m + 200 + d, &s));
      for (int i = 0; i < 400; i++) printf("%g ", m[i]);
      puts("");
    }}
  return 0;
}}
"""
ROW = "for (i = 0; i < n; i++) {{ {} for (j = 0; j < 4; j++) p[j] = p[j] * 2 + q[j]; }}"
CASES = {
    "copied bound": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) { k = s->count; t = 0; for (j = 0; j < k; j++) t += y[j]; x[i] = t; }",
        "0",
    ),
    "copied bound that is read later": (
        "UnrollJam(ufactor=2)",
        "k = 7; @@ for (i = 0; i < n; i++) { k = s->count; t = 0; for (j = 0; j < k; j++) t += y[j]; x[i] = t; }",
        "k",
    ),
    "copy of a copy": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) { int a = i + 1; k = a; for (j = 0; j < k; j++) x[i] += y[j]; }",
        "0",
    ),
    "bound and place behind pointers": (
        "UnrollJam(ufactor=2)",
        "int *c = &s->count, *d = c; @@ for (i = 0; i < n; i++) { t = 0; for (j = 0; j < *c; j++) t += y[j]; x[i + *d] = t; }",
        "0",
    ),
    "written through a pointer set in the block": (
        "StripMine(tsize=4, tindex='strip')",
        "int *c = &s->count, *d = (int *)x; @@ for (i = 0; i < *c; i++) { int *o = d + i; o[0] = 1; }",
        "i",
    ),
    "walks as far as a structure says": (
        "Vectorize()",
        "p = x; q = y; @@ for (i = 0; i < s->count; i++) *p++ = *q++ + 1;",
        "(int)(p - x)",
    ),
    "walks as far as one of two members": (
        "Vectorize()",
        "k = s->count; p = x; @@ for (i = 1; i < (k > 2 ? s->count : s->count - 1) + 1; i++) *p++ += y[i - 1];",
        "i + (int)(p - x)",
    ),
    "declared": ("Parallelize()", ROW.format("double *p = x + i * 4; const double *q = &y[i * 4];"), "0"),
    "assigned": ("Parallelize()", ROW.format("p = x + 4 * i; q = y + 1;"), "0"),
    "set where it is declared": (
        "Parallelize()",
        "for (i = 0; i < n; i++) for (j = 0; j < 4; j++) { int at, left; at = i * 4 + j; left = j ? at - 1 : at; x[at] += y[left]; }",
        "0",
    ),
    "declared before it is set": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) { double *r = x + i * 4, *row; for (j = 0, row = y; j < 3; j++, row += 4) r[j] += row[0]; }",
        "0",
    ),
    "set in branches": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) { for (j = 0; j < 4; j++) { if (i > j) { k = i - j; x[i] += y[k]; }"
        " else if (i < j) { k = j - i; x[i] += 2 * y[k]; } else { x[i] -= y[0]; } } }",
        "0",
    ),
    "set anew in branches": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) for (j = 0; j < 4; j++) { if (j >= 2) { k = j - 2; if (i != 3) x[i] += y[60 + k];"
        " else { k = j + 1; x[i] -= y[60 + k]; for (int c = 0; c < 2; c++) { if (c) { k = 9; x[i] += y[60 + k]; } } } } }",
        "0",
    ),
    "set anew and read behind": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) for (j = 0; j < 4; j++) { k = j; if (i != 3) { k = j + 1; x[i] += k; } x[i] -= 2 * k; }",
        "0",
    ),
    "set anew and tested at the end": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { int c = 0; do { k = c; if (c == i) { k = c + 5; x[i] += k; } c++; } while (k < 4 && c < 9);"
        " for (int e = 0; e < 5; e += k) { k = 2; if (e == i) { k = 1; x[i] -= k; } } }",
        "0",
    ),
    "set anew in a loop that reads it": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { k = 1; for (j = 0; j < 4; j++) { x[i] += k; if (j == 2) { k = 3; x[i] *= k; } } }",
        "0",
    ),
    "tiles of a variable size": (
        "Parallelize()",
        "int size = n / 3 + 1; @@ for (j = 0; j < n; j += size) for (i = j; i < (n < j + size ? n : j + size); i++) x[i] = y[60 + i] * 2 + j;",
        "j",
    ),
    "tiles counted by a shorter index": (
        "Parallelize()",
        "long size = n / 3 + 1, end = n; @@ for (j = 1; j <= end; j += size) for (i = j; i <= (end < j + size - 1 ? end : j + size - 1); i++) x[i] = y[60 + i] * 2 + j;",
        "j",
    ),
    "tiles of both": (
        "Parallelize()",
        "int size = n / 2 + 1; @@ for (i = 0; i < n; i += size) for (j = 0; j < n; j += size)"
        " for (int a = i; a < i + size && a < n; a++) for (int b = j; b < j + size && b < n; b++) x[60 + a + n * b] = y[b + n * a] + 1;",
        "0",
    ),
    "blocks of an unknown size": (
        "Parallelize()",
        "int size = n - 2; @@ for (i = 0; i < 4; i++) for (j = i * size; j < i * size + size; j++) x[j + 60] = i;",
        "i",
    ),
    "windows that begin where the data says": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { int lo = y[i] > 3 ? i : 0; t = 0; for (j = lo; j < 9; j++) t += y[j]; x[i] = t; }",
        "0",
    ),
    "clamped by a comparison of another type": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { int hi = i + 2; if (hi > (unsigned)n) hi = n; for (j = 0; j < hi; j++) x[i] += y[j]; }",
        "0",
    ),
    "reversed up to a member": ("Reverse()", "for (i = 0; i < s->count; i++) x[i] = y[60 + i] + i;", "i"),
    "reversed up to what a pointer points to": (
        "Reverse()",
        "int *end = &s->count; @@ for (i = 1; i <= *end; i += 2) x[i] = y[60 + i] + i;",
        "i",
    ),
    "an element that only a later loop changes": (
        "ScalarReplace()",
        "t = 0; @@ for (i = 0; i < n; i++) { for (j = 2; j < i; j++) x[i] = y[60 + j]; for (j = 0; j < i; j++) x[i] = y[70 + j]; t += x[1]; }",
        "(int)t",
    ),
    "two bounds": ("Unroll(ufactor=2)", "for (k = 4, i = 0; i < n - 1 && i < k; i++) x[i] = 1;", "i"),
    "three bounds": (
        "Parallelize()",
        "for (k = 7 - n, i = 9; i >= n - 3 && i >= 2 && i >= k; i--) x[i] = i;",
        "i + k",
    ),
    "set before": ("Unroll(ufactor=2)", "for (t = 0, i = n - n; i < n; i++) t += x[i];", "(int)t"),
    "another variable is set": (
        "Unroll(ufactor=2)",
        "i = 0; @@ for (t = 3; i < n; i++) t += x[i];",
        "i + (int)t",
    ),
    "others are set in turn": (
        "UnrollJam(ufactor=2)",
        "i = 1; @@ for (t = u = 3; i < n; i++) for (j = 0; j < 3; j++) x[i] += y[j] * t;",
        "i + (int)u",
    ),
    "memory alone is set": (
        "Parallelize()",
        "i = 0; @@ for (s->count = 3; i < n; i++) x[i] = i;",
        "i + s->count",
    ),
    "set in memory before": (
        "Parallelize()",
        "for (s->count = 3, i = 0, k = n; i < k; i++) x[i] = k - 2 * i;",
        "i + k + s->count",
    ),
    "declared before": (
        "Unroll(ufactor=3)",
        "for (int a = 3, k = 0; k < n; k++) { x[k] = a; a += k; }",
        "k = 0",
    ),
    "in turn": ("Parallelize()", ROW.format("double *p = x + i * 4; double *q = p;"), "0"),
    "pointed": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { double *p = x + i; *p = *(y + i) + 1; }",
        "0",
    ),
    "member": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) { double *p = s->rows + i * 4; for (j = 0; j < 4; j++) p[j] = p[j] + 1; }",
        "0",
    ),
    "two": ("Unroll(ufactor=3)", "for (i = 0, j = 5; i < n; i++, j++) x[j] = x[j] + i;", "i * 100 + j"),
    "down": ("Unroll(ufactor=3)", "for (i = 1, j = 50; i <= n; i++, j--) x[j] = i;", "i * 100 + j"),
    "halves": ("Unroll(ufactor=2)", "for (i = 1, j = 1; i < n; i += 2, j++) x[j] = y[i];", "i * 100 + j"),
    "fourfold": ("Parallelize()", "for (i = 0, j = 3; i < n; i++, j += 4) x[j] = y[i];", "j"),
    "own": ("Parallelize()", "for (int k = 4 * n, i = 0; i < n; i++, k++) x[k + 9] = y[i];", "0"),
    "bumped": ("Parallelize()", "for (i = 0, p = x; i < n; i++, p++) p[0] = y[i];", "i"),
    "continue beside another branch": (
        "Unroll(ufactor=3)",
        "k = 1; t = 9; @@ for (i = 0; i < n; i++) { if (y[i] == 0) { continue; } else { if (!k) t = t < y[i] ? t : y[i]; else { t = y[i]; k = 0; } } }",
        "k * 100 + (int)t",
    ),
    "continue in the other branch": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) { if (y[i] > 2) { double e = y[i]; x[i] = e; } else { x[i] = 1; continue; }"
        " double e = 3; for (j = 0; j < 2; j++) x[i] += e; }",
        "i",
    ),
    "continue in both branches": (
        "Unroll(ufactor=2)",
        "for (i = 0; i < n; i++) { if (y[i] > 2) { if (i == 3) continue; x[i] = 2; } else continue; x[i] += y[i]; }",
        "i",
    ),
    "continue": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { if (y[i] < 0) { x[i] = 1; continue; } if (i == 3) continue; x[i] = y[i]; }",
        "0",
    ),
    "both": (
        "Unroll(ufactor=2)",
        "for (i = 0, k = 2; i < n; i++, k++) { if (x[k] > 3 || x[k] != x[k]) continue; x[k] += y[i]; }",
        "k",
    ),
    "unequal": (
        "Unroll(ufactor=3)",
        "for (i = 0; i != (n > 2 ? n : 2); i++) { if (i == 4) continue; x[i] = y[i]; }",
        "i",
    ),
    "downwards": ("Parallelize()", "for (i = 9; i != 1; i -= 2) x[i] = y[i] + 1;", "i"),
    "product": (
        "RegTile(loops=['i', 'j'], ufactors=[2, 3])",
        "for (i = 0; i < n; i++) for (j = 0; j < 5; j++) { t = y[i]; for (k = 0; k < 3; k++) t += y[i + k] * j; x[5 * i + j] = t; }",
        "i",
    ),
    "enumerated": ("Unroll(ufactor=3)", "for (i = 0; i < n; i += TWO) x[i] = y[i];", "i"),
    "named": ("Parallelize()", "for (i = 50; i > n; i -= SIX) x[i] = y[i];", "i"),
    "sized": ("Tile(tsize=8, tindex='ii')", "for (i = 0; i < n; i = i + sizeof(int)) x[i] = y[i];", "i"),
    "masked": (
        "Permut(seq=['j', 'i'])",
        "for (i = 0; i < n; i++) if (i % 3 != 1) { for (j = 0; j < 9; j++) x[9 * i + j] = y[9 * j + i]; }",
        "i",
    ),
    "masked by an array": (
        "Permut(seq=['j', 'i'])",
        "for (i = 0; i < n; i++) if (y[i] > 2) { for (j = 0; j < 9; j++) x[9 * i + j] = j - i; }",
        "i",
    ),
    "masked as far as an array says": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) if (s->rows[i] > 2) for (j = 0; j < 5; j++) x[9 * i + j] += s->rows[i];",
        "i",
    ),
    "masked by its bound": (
        "RegTile(loops=['i', 'j'], ufactors=[2, 2])",
        "for (i = 0; i < n; i++) if (s->count > i) for (j = 1; j < s->count; j++) x[9 * i + j] += j;",
        "i",
    ),
    "stepped in the body": (
        "Unroll(ufactor=2)",
        "for (i = 0, j = 0; i < n; i++, j++) { x[j] = 1; j += 2; }",
        "j",
    ),
    "from what changes": (
        "Unroll(ufactor=2)",
        "for (i = 0, j = 3; i < n; i++, j++) { x[j] = 1; k = i; }",
        "j",
    ),
    "over every second": ("Unroll(ufactor=2)", "for (i = 0; i != 2 * n * n; i += 2) x[i % 50] += 1;", "i"),
    "while": ("Unroll(ufactor=3)", "i = 2; @@ while (i < n) { x[i] = y[i]; i++; }", "i"),
    "while by two": ("Parallelize()", "i = 1; @@ while (n >= i) { x[i] = y[i]; i += 2; }", "i"),
    "from where it is": ("Unroll(ufactor=2)", "i = 1; @@ for (; i < n; i++) x[i] = y[i];", "i"),
    "counted down": ("Unroll(ufactor=3)", "for (i = n; i-- > 0;) { x[i] = y[i]; }", "i"),
    "places": ("Parallelize()", "for (p = x; p < x + n; p++) *p = *p * 2 + 1;", "0"),
    "to an end": ("Parallelize()", "for (p = x; p != x + 7; p++) { p[0] += 3; }", "0"),
    "between pointers": (
        "Unroll(ufactor=2)",
        "q = x + (n > 0 ? n : 0); @@ for (p = x; p < q; ++p) *p += y[0];",
        "q == x",
    ),
    "three by three": (
        "Parallelize()",
        "for (p = x, i = 0; i < n; i++) { *p++ = y[60 + i]; *p++ = i; *p++ = y[80 + i]; }",
        "p == x + 3 * n",
    ),
    "rows with a rest": (
        "Parallelize()",
        "k = n / 2; p = x; q = y + 50; @@ for (i = 0; i < n; i++) { for (j = 0; j < k; j++) *p++ = *q++ * 2; q += 3; }",
        "(int)(p - x) * 1000 + (int)(q - y)",
    ),
    "up and down": (
        "Unroll(ufactor=3)",
        "k = 90; @@ for (i = 0; i < n; i++) { x[k] = 1; k -= 4; x[k++] = i; x[k++] += 2; }",
        "k",
    ),
    "up and down by variables": (
        "Unroll(ufactor=2)",
        "j = 90; k = 2; @@ for (i = 0; i < n; i++) { x[j] = 1; j -= k; x[j] = i; j += 5; x[j] += 2; j -= k + 1; }",
        "j",
    ),
    "in both loops": (
        "Parallelize()",
        "p = x; @@ for (i = 0; i < n; i++) { t = *p++ + 1; for (j = 0; j < 3; j++) { *p++ = t; *p++ = j; } *p++ = 5; }",
        "(int)(p - x)",
    ),
    "a filter": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { p = y + i; q = y + 9; t = 0; for (k = 0; k < 4; k++) t += *p++ * *q--; x[30 + i] = t; }",
        "0",
    ),
    "on the way to a condition": (
        "Unroll(ufactor=2)",
        "p = y - 60; @@ for (i = 0; i < n; i++) { if (*p++ > 1) x[60 + i] = i; else y[i] += 1; }",
        "(int)(p - y)",
    ),
    "windows between variables": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { int lo = i - 2 > 0 ? i - 2 : 0, hi = i + 2 < n - 1 ? i + 2 : n - 1; t = 0; "
        "for (j = lo; j <= hi; j++) t += y[j]; x[i] = t; }",
        "i",
    ),
    "rows set to 0": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { memset(x + 5 * i, 0, 4 * sizeof(double)); x[5 * i + 4] = i; }",
        "i",
    ),
    "rows copied": (
        "Parallelize()",
        "k = 3; @@ for (i = 0; i < n; i++) memcpy(&x[60 + 3 * i], y - 100 + i, k * sizeof *x);",
        "i",
    ),
    "rows of a pointer": (
        "Unroll(ufactor=2)",
        "double row[4] = {1, 2, 3, 4}; @@ for (i = 0; i < n; i++) { p = x + 4 * i; memcpy(p, row, sizeof(row)); row[0] += i; }",
        "(int)row[0]",
    ),
    "bytes": (
        "Parallelize()",
        "unsigned char bytes[50] = {1}; @@ for (i = 0; i < n; i++) if (y[i] > 0) memset(bytes + 4 * i, 7, 3);",
        "bytes[0] + bytes[1] + bytes[9] + bytes[17]",
    ),
    "sums with subscripts": ("Parallelize()", "for (i = 0; i < n; i++) (x + 3 * i)[1] = (i + y)[0];", "i"),
    "an unsigned zero": ("Parallelize()", "for (i = n > 0 ? n : 0; i > 0U; i--) x[i] = y[i];", "i"),
    "an unsigned start": (
        "Parallelize()",
        "for (i = (unsigned)(n > 0 ? n : 0) - 1; i >= 0; --i) x[i] = i;",
        "0",
    ),
    "left in a branch": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { if (n > 3) { if (y[i] > 1) goto next; x[2 * i] = 1; } x[2 * i + 1] = 2; next: ; }",
        "i",
    ),
    "left in a block": (
        "Unroll(ufactor=2)",
        "for (i = 0; i < n; i++) { { if (y[i] > 1) goto next; x[i] = 1; } x[20 + i] += 2; next: x[40 + i]++; }",
        "i",
    ),
    "tested and taken away": ("Unroll(ufactor=2)", "for (i = n; i > 0 && i--;) x[i] = y[i] + i;", "i"),
    "unequal and taken away": (
        "Parallelize()",
        "for (i = n < 0 ? 0 : n; i != 0 && i--;) { if (y[i] > 2) x[i] = y[i]; }",
        "i",
    ),
    "an unsigned count": (
        "Parallelize()",
        "unsigned c; @@ for (c = n > 0 ? n : 0; c > 0 && c--;) x[c] = y[c] - c;",
        "(int)c",
    ),
    "an index with a value that nothing reads": (
        "Permut(seq=['j', 'i'])",
        "for (i = 0; i < n; i++) { int j = 0; for (j = 1; j < 5; j++) x[9 * i + j] += j; }",
        "i",
    ),
    "a scalar of a block": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { if (i != 3) { k = i - 1; for (j = 0; j <= k; j++) x[n * i + j] = i; } }",
        "i",
    ),
    "a pointer from a table": (
        "Parallelize()",
        "double *rows[9]; for (i = 0; i < 9; i++) rows[i] = x + 9 * i; @@"
        "for (i = 0; i < n; i++) { p = rows[i]; for (j = 0; j < 9; j++) *p++ = 2 * j + i; }",
        "0",
    ),
    "an element from a table": (
        "UnrollJam(ufactor=2)",
        "struct state all[9]; int at[9]; for (i = 0; i < 9; i++) { all[i] = *s; at[i] = i * 4 % 9; } @@"
        "for (i = 0; i < n; i++) { struct state *e = &all[at[i]]; for (j = 0; j < 4; j++) x[4 * i + j] += e->count; }",
        "0",
    ),
    "scaled by a macro": (
        "Parallelize()",
        "for (i = 0; i < n; i++) for (j = 0; j < SIX / 2; j++) { x[i * SIX + j] = y[j]; x[i * SIX + j + SIX / 2] = i; }",
        "i",
    ),
    "scaled by a constant": (
        "Parallelize()",
        "static const int six = SIX; @@"
        "for (i = 0; i < n; i++) for (j = 0; j < six >> 1; j++) { x[i * six + j] = y[j]; x[i * six + j + six / 2] = i; }",
        "i",
    ),
    "scaled by what had a value": (
        "Parallelize()",
        "int six = SIX; if (n > 4) six = 5; @@"
        "for (i = 0; i < n; i++) for (j = 0; j < six / 2; j++) { x[i * six + j] = y[j]; x[i * six + j + six / 2] = i; }",
        "six",
    ),
    "a macro of the region": (
        "Unroll(ufactor=2)",
        "for (i = 0; i < n; i++) {\n#define TWICE(v) (2 * (v))\n#define MORE 1 + 1\n x[i] = TWICE(y[i]) * MORE;\n#undef TWICE\n}",
        "MORE * 3",
    ),
    "a macro that the region ends": (
        "Parallelize()",
        "\n#define STEP 2\n@@\nfor (i = 0; i < n; i++) x[i] = STEP * y[i];\n#undef STEP\n#define STEP 5\n",
        "STEP",
    ),
    "counters that bodies declare": (
        "UnrollJam(ufactor=3)",
        "for (i = 0; i < n; i++) { int j, l; t = 1; for (j = 0; j < 4; j++) { for (l = j; l < 5; l++) t += y[j] * l; } x[7 * i] = t; for (j = 0; j < 3; j++) x[7 * i + j] += t; }",
        "0",
    ),
    "clamped": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { int lo = i - 2, hi = i + 3; if (lo < 0) lo = 0; if (n < hi) hi = n; for (j = lo; j < hi; j++) x[4 * i] += y[j]; }",
        "0",
    ),
    "clamped variables of the function": (
        "UnrollJam(ufactor=2)",
        "int hi; @@ for (i = 0; i < 4; i++) { hi = n + 3; if (hi > 6) { hi = 6; } for (j = 0; j < hi; j++) x[8 * i + j] += y[j]; }",
        "0",
    ),
    "clamped before": (
        "Parallelize()",
        "@@ k = n + 2; if (k > 7) k = 7; for (i = 1; i < k; i++) x[i] = 2 * y[i];",
        "k",
    ),
    "first statements": (
        "Unroll(ufactor=3)",
        "@@ x[0] = 5; { k = n; } for (i = 0; i < k; i++) y[i] += x[i]; t = y[0];",
        "(int)t + i",
    ),
    "as another type": (
        "Parallelize()",
        "unsigned char *bytes = (unsigned char *)x; (void)bytes; @@ for (i = 0; i < n; i++) ((double *)bytes)[i] = ((const long long *)y)[i] % 8 + *((double *)bytes + i);",
        "0",
    ),
    "as structures": (
        "Parallelize()",
        "struct pair { double a, b; }; @@ for (i = 0; i < n; i++) x[i] = ((struct pair *)y)[i].b + ((struct state *)s)->count;",
        "0",
    ),
    "rows that are changed": (
        "UnrollJam(ufactor=2)",
        "double *rows[9]; for (i = 0; i < 9; i++) rows[i] = x + 20 * i; @@ for (k = 0; k < n; k++) { p = rows[k]; for (i = 0; i < 6; i++) for (j = 0; j < k; j++) { q = rows[j]; p[i] -= q[i] * q[k]; } }",
        "0",
    ),
    "left at the top": ("Unroll(ufactor=4)", "for (i = 0; ; i++) { if (i >= n) break; x[i] *= 2; }", "i"),
    "left without a header": (
        "Parallelize()",
        "i = 1; @@ while (1) { if (n <= i) break; x[i] *= 2; i++; }",
        "i",
    ),
    "chosen": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) { t = y[i]; if (t > 1) u = 2; else u = t; for (j = 0; j < 4; j++) x[4 * i + j] += t * u; t = 0; }",
        "i",
    ),
}


def _file(recipe: str, code: str, result: str) -> str:
    """A program; of the code, what stands before `@@` stands before the region."""
    before, _, annotated = code.rpartition("@@")
    return FILE.format(recipe=recipe, before=before, code=annotated, result=result)


@pytest.mark.share(4)
@pytest.mark.parametrize("name", CASES)
def test_simpler_forms_compute_the_same(tmp_path: Path, name: str) -> None:
    recipe, code, result = CASES[name]
    text = _file(recipe, code, result)
    new = transformed_file(text, {})
    flags = ("-w", *checked(), *openmp())
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (new, text)]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("recipe", "code"),
    [
        # The bound is copied before it changes.
        (
            "UnrollJam(ufactor=2)",
            "for (i = 0; i < n; i++) { k = s->count; s->count = 2; for (j = 0; j < k; j++) x[i] += y[j]; }",
        ),
        # The pointer moves on, is used before it is set, or its base changes.
        ("Parallelize()", "for (i = 0; i < n; i++) { double *p = x + i; p++; p[0] = 1; }"),
        ("Parallelize()", "for (i = 0; i < n; i++) { p[0] = 1; p = x + i; }"),
        ("Parallelize()", "for (i = 0; i < n; i++) { double *p = s->rows + i; s->rows = y; p[0] = 1; }"),
        ("Parallelize()", "for (i = 0; i < n; i++) { double *p = x + i; x = y; p[0] = 1; }"),
        ("Parallelize()", "for (i = 0; i < n; i++) { int o = i; double *p = x + o; o = 0; p[0] = o; }"),
        ("Parallelize()", "for (i = 0; i < n; i++) { double *p = x + i; p[0] = p[1]; }"),
        ("Parallelize()", "for (i = 0; i < n; i++) { p = x + *(int *)s; s->count = i; p[i] = 1; }"),
        (
            "Parallelize()",
            "int *o = &s->count; @@ for (i = 0; i < n; i++) { double *p = x + *o; *o = 3; p[i] = 1; }",
        ),
        # The table changes, or what is written may be in it; a row may go on into the next one.
        ("Parallelize()", "double *r[9]; @@ for (i = 0; i < n; i++) { p = r[i]; r[i] = y; p[i] = 1; }"),
        ("Parallelize()", "double **r = &g; @@ for (i = 0; i < n; i++) { p = r[i]; g = y; p[i] = 1; }"),
        (
            "Parallelize()",
            "char **r = (char **)g; @@ for (i = 0; i < n; i++) { char *o = r[i]; r[i] = o + 1; o[i] = 1; }",
        ),
        ("Parallelize()", "double a[9][9]; @@ for (i = 0; i < n; i++) { p = &a[i][0]; p[n] = 1; }"),
        ("Parallelize()", "double a[9][9]; @@ for (i = 0; i < n; i++) { p = a[i]; p[n] = 1; }"),
        # The count is used where it is less by one already, or changed in the loop.
        ("Parallelize()", "for (i = n; i > 1 && i--;) x[i] = 1;"),
        ("Parallelize()", "for (i = n; i > 0 && k--;) x[i] = 1;"),
        ("Parallelize()", "for (i = n; i > 0 && i--;) { x[i] = 1; i -= 1; }"),
        # The value that a name has is not known, or is changed.
        (
            "Parallelize()",
            "int q = n; @@ for (i = 0; i < n; i++) for (j = 0; j < q / 2; j++) x[i * q + j + q / 2] = 1;",
        ),
        (
            "Parallelize()",
            "int q = 6; @@ for (i = 0; i < n; i++) { for (j = 0; j < q / 2; j++) x[i * q + j + q / 2] = 1; q = 2; }",
        ),
        # The second counter is changed elsewhere, or tested as well.
        ("Parallelize()", "for (i = 0, j = 0; i < n; i++, j++) { x[j] = 1; if (x[j + 1] > 0) j += 2; }"),
        ("Parallelize()", "for (i = 0; i < n; i++) { x[k] = 1; k += j; j++; }"),
        ("Parallelize()", "for (i = 0; i < n; i++) { if (y[i] > 0) continue; x[k + 1] = x[k]; k++; }"),
        ("Parallelize()", "p = x; @@ for (i = 0; i < n; i++) { if (*p++ > 0) continue; *p = 1; p += 2; }"),
        ("Parallelize()", "p = x; @@ for (i = 0; i < n; i++) { if (*p++ > 0) *p = 1; }"),
        ("Parallelize()", "p = x; @@ for (i = 0; i < n; i++) { *p++ = 1; if (y[i] > 0) p += 2; }"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0, j = 0; i + j < n; i++, j++) x[j] = 1;"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0, j = 0; i < n; i++, j++, x[j] = 2) x[j] = 1;"),
        # What the header sets changes where the index begins, or may do so.
        ("StripMine(tsize=2, tindex='strip')", "for (i = k, k = 0; i < n; i++) x[i] = k;"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = s->count, *(int *)x = 0; i < n; i++) x[i] = k;"),
        # A bound is of another type, or need not be there to be read.
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i < n && i < 4u; i++) x[i] = 1;"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i < n && i < t; i++) x[i] = 1;"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i < n && i < s->count; i++) x[i] = 1;"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i < n && x[i] > 0; i++) x[i] = 1;"),
        # The bound changes, or the index may pass it.
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i != n; i++) { x[i] = 1; n = k; }"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i != 5; i += 2) x[i] = 1;"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i != s->count; i++) { x[i] = 1; s->count = k; }"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i < n; i += k) { x[i] = 1; k++; }"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i < n; i += s->count) { x[i] = 1; s->count++; }"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i < n; i += *(int *)x) x[i] = 1;"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i < n; i += k) { x[i] = 1; q = (double *)&i; }"),
        ("StripMine(tsize=2, tindex='strip')", "for (t = 0; t < n; t += u) x[(int)t] = 1;"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; i < n; i += u) x[i] = 1;"),
        ("StripMine(tsize=2, tindex='strip')", "while (i < n) { i++; x[i] = 1; }"),
        ("StripMine(tsize=2, tindex='strip')", "for (p = x; p < y; p++) { *p = 1; p = y; }"),
        # The condition changes in the inner loop, or keeps it from a bound that does not exist.
        (
            "Permut(seq=['j', 'i'])",
            "for (i = 0; i < n; i++) if (k < 9) for (j = 0; j < n; j++) { x[9 * i + j] = 1; k++; }",
        ),
        (
            "Permut(seq=['j', 'i'])",
            "for (i = 0; i < n; i++) if (s) for (j = 0; j < s->count; j++) x[9 * i + j] = 1;",
        ),
        (
            "Permut(seq=['j', 'i'])",
            "for (i = 0; i < n; i++) if (x[i] < 9) for (j = 0; j < 4; j++) x[9 * i + j] = 1;",
        ),
        (
            "Permut(seq=['j', 'i'])",
            "for (i = 0; i < n; i++) if (i > 3) for (j = 0; j < s->count; j++) x[9 * i + j] = 1;",
        ),
        # What is set or copied is no number of elements, or of another type.
        ("Parallelize()", "for (i = 0; i < n; i++) memset(x + 8 * i, 0, 7);"),
        ("Parallelize()", "for (i = 0; i < n; i++) memset(x + 8 * i, 1, 8 * sizeof(double));"),
        ("Parallelize()", "for (i = 0; i < n; i++) memset(x + 8 * i, 0, 8 * sizeof(float));"),
        ("Parallelize()", "for (i = 0; i < n; i++) memset(x + 8 * i, 0, sizeof(x));"),
        ("Parallelize()", "for (i = 0; i < n; i++) memcpy(x + 8 * i, &k, sizeof(double));"),
        ("Parallelize()", "for (i = 0; i < n; i++) memmove(x + 8 * i, y, sizeof(double));"),
        # What is clamped is of another type, or the condition changes something.
        (
            "Parallelize()",
            "for (i = 0; i < n; i++) { int hi = i + 2; if (hi > n) hi = (int)y[i]; for (j = 0; j < hi; j++) x[i] += y[j]; }",
        ),
        # The pointer moves, or the row that it is set to.
        ("Parallelize()", "for (i = 0; i < n; i++) { ((float *)x)[i] = 1; x++; }"),
        (
            "Parallelize()",
            "double **rows = (double **)g; for (i = 0; i < n; i++) { p = rows[i]; rows[i] = y; p[0] = 1; }",
        ),
        # Tiles overlap.
        (
            "Parallelize()",
            "for (j = 0; j < n; j += k) for (i = j; i < j + k + 1; i++) x[i] = j;",
        ),
        ("Parallelize()", "for (j = 0; j < n; j++) for (i = j * k; i < j * k + 3; i++) x[i] = j;"),
        ("Parallelize()", "for (j = 0; j < n; j++) for (i = j * k; i < (j + 1) * k; i++) x[i] = x[i + 1];"),
        # A comparison with what is not a number has no contrary.
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; ; i++) { if (i >= y[0]) break; x[i] = 1; }"),
        ("StripMine(tsize=2, tindex='strip')", "for (i = 0; ; i++) { x[i] = 1; if (i >= n) break; }"),
        # One iteration reads what another one left.
        ("UnrollJam(ufactor=2)", "for (i = 0; i < n; i++) { for (j = 0; j < 4; j++) x[j] += t; t = y[i]; }"),
        (
            "UnrollJam(ufactor=2)",
            "for (i = 0; i < n; i++) { if (y[i] > 0) t = y[i]; for (j = 0; j < 4; j++) x[j] += t; }",
        ),
    ],
)
def test_what_has_no_simpler_form_stays_refused(recipe: str, code: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(_file(recipe, code, "0"), {})


@pytest.mark.parametrize(
    ("body", "is_apart"),
    [
        ("k = i; if (c) { k = 2; x[k] = 1; } ", True),
        ("k = i; while (c) { if (k < 3) { k = 2; x[k] = 1; } else c = 0; }", False),
        ("k = i; do { k = c; if (c) { k = 2; x[k] = 1; } } while (k < 4);", False),
        ("k = i; for (j = 0; j < 9; j += k) { k = 2; if (c) { k = 3; x[k] = 1; } }", False),
        ("k = i; for (j = 0; j < 9; j++) { k = 2; if (c) { k = 3; x[k] = 1; if (c > 1) continue; } }", True),
        ("k = i; for (j = 0; j < 9; j++) { if (c) { k = 3; x[k] = 1; break; } } x[0] = k;", False),
        ("k = i; if (c) { if (c > 1) k = 2; x[k] = 1; }", False),
        ("k = i; if (c) { k = 2; x[k] = 1; } x[9] = k;", False),
        ("k = i; if (c) { k = 2; x[k] = 1; } k = 3; x[9] = k;", True),
    ],
)
def test_branches_have_a_scalar_of_their_own_where_nothing_reads_it_behind_them(
    body: str, is_apart: bool
) -> None:
    loop = statement(f"for (i = 0; i < n; i++) {{ {body} }}")
    around = context("int i, j, k, n, c; double *x;", live="x")
    text = emit(with_private_scalars(loop, around))
    assert ("int k_2 = " in text) is is_apart


@pytest.mark.parametrize("step", ["const int block = 3;", "const unsigned char block = 3;", "int block = 3;"])
def test_steps_that_are_constants_of_the_function(tmp_path: Path, step: str) -> None:
    code = "for (i = 0; i < n; i += block) for (k = 0; k < block; k++) y[i + k] = 2 * x[i + k];"
    pragma = "#pragma omp parallel for private(k)\n"
    text = _file("Tile(tsize=2, tindex='ii')", f"{step}@@{code}", "i")
    flags = ("-w", *checked(), *openmp())
    new = transformed_file(text, {})
    assert compile_and_run(new, tmp_path, *flags) == compile_and_run(text, tmp_path, *flags)
    # Behind a pragma there is no way to count the iterations first.
    text = _file("Parallelize()", f"{step}@@{code}", "0").replace(
        "  for (i = 0; i < n; i += block)", f"{pragma}  for (i = 0; i < n; i += block)"
    )
    if step.startswith("const int"):
        new = transformed_file(text, {})
        assert "i += 3" in new
        assert compile_and_run(new, tmp_path, *flags) == compile_and_run(text, tmp_path, "-w", *checked())
    else:
        with pytest.raises(Refusal):
            transformed_file(text, {})


def test_macros_count_in_a_region_as_they_are_defined_there() -> None:
    region = "/*@ begin Loop(transform Unroll(ufactor=2)) @*/\n  {}\n  /*@ end @*/\n"
    text = (
        "void f(int n, double *x)\n{\n  int i;\n#define BY(v) (2 * (v))\n"
        "  /*@ begin PerfTuning (def input_vars { decl int n = 8; decl dynamic double x[8] = random; }) @*/\n"
        + region.format("for (i = 0; i < n; i++) x[i] = BY(x[i]);")
        + "#undef BY\n#define BY(v) (3 * (v))\n"
        + region.format("for (i = 0; i < n; i++) x[i] = BY(x[i]);")
        + "  /*@ end @*/\n}\n"
    )
    first, second = transformed_file(text, {}).split("#undef BY")
    assert "x[i + 1] = 2 * x[i + 1];" in first
    assert "x[i + 1] = 3 * x[i + 1];" in second


def test_an_index_that_is_counted_down_keeps_its_values_under_another_name(tmp_path: Path) -> None:
    text = """#include <stdio.h>
int main(void)
{
  unsigned char k, *at = &k;
  int i = 0, sum = 0;
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  while (i < 9) { k = i; while (k-- > 0) sum = 3 * sum % 1000 + *at; i++; }
  /*@ end @*/
  printf("%d\\n", sum);
  return 0;
}
"""
    new = transformed_file(text, {})
    assert compile_and_run(new, tmp_path, *checked()) == compile_and_run(text, tmp_path, *checked())
