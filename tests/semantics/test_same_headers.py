"""Loops whose steps and ends are known at run time only, and variables that are stepped beside them: the same results."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

HEAD = """#include <stdio.h>
#include <string.h>
#include <stddef.h>
#define TWO 2
typedef int index_t;
typedef unsigned word_t;
typedef size_t place_t;
typedef float real_t;
static int held;
struct state { double *rows; int inc; };
struct given { int n, m, s, r; unsigned un, us; size_t zn; long ls; double *x, *y; struct state *st; };
typedef long work_t(int n, int m, int s, int r, unsigned un, unsigned us, size_t zn, long ls, double *x, double *y,
                    struct state *st, struct state sv);
"""
FUNCTION = """static long work_{number}(int n, int m, int s, int r, unsigned un, unsigned us, size_t zn, long ls, double *x,
                 double *y, struct state *st, struct state sv)
{{
  int i = 1, j = 2, k = 3, o = 4; long l = 5; unsigned u = 6; size_t z = 7; index_t v = 1;
  int *ps = n > 0 ? &held : 0; double t = 0, *p = x, *q = x + (n > 0 ? n : 0), *const x0 = x, *const y0 = y;
  {before}
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
  return (long)({result});
}}
"""
MAIN = """
static work_t *const works[] = {NAMES};
int main(void)
{
  static double memory[2][600];
  for (unsigned w = 0; w < sizeof works / sizeof *works; w++)
    for (int n = -1; n < 10; n += 1 + (n > 4))
      for (int m = 0; m < 4; m += 3)
        for (int s = 1; s < 5; s += 1 + (s > 1))
          for (int d = -20; d <= 400; d += s == 2 ? 7 : 420) {
            const int r = s == 3 ? -2 : s > 1 ? 2 : 0;
            held = s;
            struct state state = {memory[0] + 7, s};
            for (int i = 0; i < 600; i++) memory[0][i] = memory[1][i] = i % 23 - 11;
            double *y = d > 300 ? memory[1] + 300 : memory[0] + 300 + d;
            long out = works[w](n, m, s, r, (unsigned)(n < 0 ? 0 : n), (unsigned)s, (size_t)(n < 0 ? 0 : n), s,
                                memory[0] + 300, y, &state, state);
            unsigned long sum = (unsigned long)out;
            for (int i = 0; i < 600; i++)
              sum = sum * 31 + (unsigned long)(long)(memory[0][i] * 8) + 7 * (unsigned long)(long)(memory[1][i] * 8);
            printf("%u n=%d m=%d s=%d d=%d: %ld %lx\\n", w, n, m, s, d, out, sum);
          }
  return 0;
}
"""
CASES = (
    # Steps that are variables, up and down, of every type, with every relation.
    ("Unroll(ufactor=3)", "for (i = 0; i < n; i += s) x[i] = y[i] + i;", "i"),
    ("Parallelize()", "for (i = 0; i < n; i += s) x[i] = y[i] + i;", "i"),
    ("Unroll(ufactor=2)", "for (i = m; i <= n; i = i + s) x[i] = 2 * x[i];", "i"),
    ("Parallelize()", "for (i = m - 1; i <= n; i = s + i) x[i] = 2 * x[i];", "i"),
    ("Parallelize()", "for (i = n; i > 0; i -= s) x[i] = 2 * x[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = n; i >= m; i -= s) x[i] = 2 * x[i] + x[i - 1];", "i"),
    ("Unroll(ufactor=2)", "for (i = n - 1; i > -1; i -= s) x[i] = i;", "i"),
    ("Unroll(ufactor=2)", "for (u = 0; u < un; u += us) x[u] = y[u] + u;", "u"),
    ("Parallelize()", "for (u = 2; u <= un; u += s) x[u] += u;", "u"),
    ("Unroll(ufactor=3)", "for (z = 0; z < zn; z += us) x[z] = y[z];", "z"),
    ("Unroll(ufactor=2)", "for (z = 0; z < m; z += s) x[z] = z;", "0"),
    ("Unroll(ufactor=2)", "for (u = un + us; u >= us; u -= us) x[u] = u;", "u"),
    ("Unroll(ufactor=2)", "for (l = 0; l < n; l += ls) x[l] = y[l];", "l"),
    ("Unroll(ufactor=2)", "for (l = -1 + 1; l < n; l += s) x[l] = y[l];", "l"),
    ("Unroll(ufactor=2)", "for (v = 0; v < n; v += s) x[v] = y[v];", "v"),
    ("Unroll(ufactor=2)", "for (int a = m; a < n; a += s + 1) x[a] = a;", "0"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i += n / (m + 1)) { x[i] = i; if (n <= m) break; }", "0"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i += st->inc) x[i] = i;", "i"),
    ("Parallelize()", "for (i = 0; i < n; i += sv.inc) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i += s) { x[i] = i; if (i > 5) break; }", "0"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i += s) { if (y[i] > 5) return i; x[i] = i; }", "-1"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i += s) { if (y[i] > 5) continue; x[i] = i; }", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i += r) { x[k++] = i; if (k > 40) break; }", "k"),
    ("Unroll(ufactor=2)", "for (i = 0; i != n; i += r) { x[k++] = i; if (k > 40) break; }", "k"),
    ("Unroll(ufactor=2)", "for (u = 5; u < un; u += r) { x[k++] = u; if (k > 40) break; }", "k"),
    # In nests, named by their indices.
    ("Permut(seq=['j', 'i'])", "for (i = 0; i < n; i += s) for (j = 0; j < 4; j++) x[i] += j * x[i];", "i + j"),
    ("Permut(seq=['j', 'i'])", "for (i = 0; i < n; i++) for (j = 0; j < n; j += s) x[16 * i + j] = i - j;", "i"),
    ("Tile(loops=['i', 'j'], tsize=[2, 4], tindex=['ii', 'jj'])",
     "for (i = 0; i < n; i += s) for (j = m; j < 16; j += 2) x[16 * i + j] = i - j;", "i"),
    ("RegTile(loops=['i', 'j'], ufactors=[2, 2])",
     "for (i = 0; i < n; i += s) for (j = 0; j < 6; j += TWO) x[16 * i + j] = y[j] + i;", "i * 100 + j"),
    ("UnrollJam(ufactor=2)", "for (i = 0; i < n; i += s) { t = i; for (j = 0; j < 4; j++) x[16 * i + j] += t; }", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i++) for (j = i; j < n; j += s) x[16 * i + j] = i - j;", "i"),
    ("Parallelize()", "for (i = 0; i < n; i += s) { for (j = 0; j < 16; j += s) x[16 * i + j] = j; }", "i"),
    ("Tile(tsize=4, tindex='ii')", "for (i = 0; i < n; i += s) x[i] = i;", "i"),
    ("Peel(first=1)", "for (i = 0; i < n; i += s) x[i] = i;", "i"),
    ("Reverse()", "for (i = 0; i < n; i += s) x[i] = i;", "i"),
    ("Composite(unrolljam=(['i'], [2]), tile=[('i', 4, 'ii')])", "for (i = 0; i < n; i += s) x[i] = i;", "i"),
    # Ends that the index has to meet.
    ("Unroll(ufactor=2)", "for (i = 0; i != 4 * n * n; i += 4) { x[i % 64] += i; }", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i != n; i += 2) { x[i] = i; if (i >= n) break; }", "0"),
    ("Parallelize()", "for (u = 0; u != un * us; u += us) x[u] += u;", "u"),
    ("Unroll(ufactor=2)", "for (i = m * s; i != 0; i -= s) x[i] = i;", "i"),
    ("Unroll(ufactor=2)", "for (u = un * 3; 0 != u; u -= 3) x[u] = u;", "u"),
    ("Unroll(ufactor=2)", "for (u = 2; u != un + 2; u++) x[u] = u;", "u"),
    ("Parallelize()", "for (z = zn; z != zn + zn; ++z) x[z] += z;", "z"),
    ("Unroll(ufactor=2)", "for (i = m; i != n; i++) { x[i] = i; if (i > 5) break; }", "0"),
    # Beside the index.
    ("Parallelize()", "for (i = 0; i < n; i++) { y[k] += 2 * x[o]; o += s; k += s; }", "k * 100 + o"),
    ("Unroll(ufactor=2)", "i = 0; @@ while (i < n) { y[k] += 2 * x[o]; o += r; k += s; i++; }", "k * 100 + o"),
    ("Parallelize()", "for (i = 0; i < n; i++) { x[k] = 1; k++; y[k] = 2; }", "k"),
    ("Parallelize()", "for (i = 0; i < n; i++, k += s) x[k] = y[i];", "k"),
    ("Unroll(ufactor=2)", "for (i = 0, k = m; i < n; i += s, k++) x[k] = y[i];", "k * 100 + i"),
    ("Unroll(ufactor=2)", "for (i = 0, k = m; i != (m > 0 ? 5 : 2) * s; i += s, k += r) x[k] = y[i];", "k * 100 + i"),
    ("Parallelize()", "for (i = n; i > 0; i--) { x[k] = i; k += 2; }", "k"),
    ("Parallelize()", "for (i = 1; i <= n; i += 2) { x[k] = i; k -= 3; }", "k"),
    ("Parallelize()", "for (i = 0; i < n; i++) for (j = 0; j < 4; j++) { x[k] = i - j; k++; }", "k"),
    ("Permut(seq=['j', 'i'])", "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { x[k] = 1; k++; }", "k"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i++) { x[i] = u; u += us; }", "u"),
    ("Unroll(ufactor=2)", "for (u = 0; u < un; u++) { x[u] = i; i -= s; }", "i"),
    ("Unroll(ufactor=2)", "for (u = un; u > 0; u--) { x[u] = l; l += r; }", "l"),
    # As translated from Fortran.
    ("Parallelize()", "for (i = 1; i <= n; ++i) { y[o] += 2 * x[k]; k += *ps; o += *ps; }", "k * 100 + o"),
    ("Unroll(ufactor=2)", "for (i = 1; s < 0 ? i >= n : i <= n; i += s) { x[i] *= 2; }", "i"),
    ("Unroll(ufactor=2)", "for (i = m; r < 0 ? i >= n : i <= n; i += r) { x[k++] = 2; if (k > 40) break; }", "k"),
    # Pointers.
    ("Parallelize()", "for (i = 0; i < n; i++) { *y += 2 * *x; x += s; y += s; }", "x - x0 + 100 * (y - y0)"),
    ("Parallelize()", "for (i = 0; i < n; i++) *y++ = *x++ + 1;", "x - x0 + 100 * (y - y0)"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i++) *++y = x[i]--;", "y - y0"),
    ("Unroll(ufactor=2)", "while (p < q) *p++ = *y++;", "p - x0"),
    ("Parallelize()", "while (p != q) { *p = *p + 1; p++; }", "p - x0"),
    ("Parallelize()", "for (; p < q; p += s) { *p = *p + 1; }", "0"),
    ("Unroll(ufactor=2)", "for (p = x; p != x + 4 * s; p += s) { *p = *p + 1; }", "p - x0"),
    ("Unroll(ufactor=2)", "for (p = x; p <= x + n; p += 2) { *p = *p + 1; }", "0"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i++) { p = x; for (j = 0; j < 4; j++) { *p = *p * 2; p += 16; } x++; }", "x - x0"),
    # Numbers that count down to 0.
    ("Parallelize()", "i = n; @@ while (i-- > 0) *x++ += 1;", "i"),
    ("Unroll(ufactor=2)", "i = n > 0 ? n : 0; @@ while (i--) x[i] = i;", "i"),
    ("Unroll(ufactor=2)", "u = un; @@ while (u-- > 0) x[u] = u;", "u"),
    ("Parallelize()", "for (z = zn; z--;) x[z] += z;", "z"),
    ("Unroll(ufactor=2)", "i = n; @@ while (--i >= 0) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "i = m; @@ while (i < n) { x[i] = y[i]; i += s; }", "i"),
    ("Unroll(ufactor=2)", "for (i = m; i < n;) { x[i] = y[i]; i += 2; }", "i"),
    # Tests of more than the index; of unsigned sums some wrap at the start, and some behind the last iteration.
    ("Unroll(ufactor=2)", "for (i = 0; i + 3 < n; i += 4) x[i] = y[i] + x[i + 3];", "i"),
    ("Parallelize()", "for (i = m; i + 1 <= n; i += TWO) x[i] = y[i];", "i"),
    ("Unroll(ufactor=3)", "for (i = -3 + m; n + 2 >= i + TWO + 1 - 1; i++) x[i] = i;", "i"),
    ("Unroll(ufactor=2)", "for (u = 0; u + TWO - 1 < un; u += 2) x[u] = u;", "u"),
    ("Unroll(ufactor=2)", "for (z = us; zn > z + 3; z += 1) x[z] = z;", "z"),
    ("Unroll(ufactor=2)", "for (u = un - 1; u + 3 < us; u += 4) x[u % 64] += u % 8;", "u"),
    ("Unroll(ufactor=2)", "for (u = 0; 2 + u <= us - 4; u += 3) { x[u % 64] += u; if (u > 40) break; }", "u"),
    ("Tile(tsize=4, tindex='ii')", "for (i = 0; i + 1 < n; i += 2) for (j = 0; j + 3 < 16; j += 2) x[16 * i + j] = i;", "i"),
    ("Unroll(ufactor=2)", "u = us; @@ for (; u + 3 < un; u += 4) { x[u] = u; p += 2; }", "u + 100 * (p - x0)"),
    ("Parallelize()", "for (i = 0; i + s < n; i++) x[i] = y[i + s];", "i"),
    ("Unroll(ufactor=3)", "for (i = m; r + i <= n; i++) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i + s - 1 < n; i += 2) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i + m - 1 < n; i++) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = m; n > s + 1 + i; i += 3) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i + s < ls * 3; i++) x[i] = y[i];", "i"),
    ("Parallelize()", "for (i = 0; st->inc + i < n; i++) x[i] = y[i];", "i"),
    ("Unroll(ufactor=3)", "for (u = 0; u + us < un; u++) x[u] = y[u];", "u"),
    ("Unroll(ufactor=2)", "for (u = us; u + 1u + un < us * 4; u += 2) x[u] = y[u];", "u"),
    ("Unroll(ufactor=2)", "for (u = us; un + u < us; u++) { x[u % 64] += u; if (u > 40) break; }", "u"),
    ("Unroll(ufactor=2)", "for (u = us; u + (un - us) < un; u++) { x[u % 64] += u; if (u > 40) break; }", "u"),
    ("Unroll(ufactor=2)", "for (z = 0; z + zn - 2 < zn; z++) { x[z % 64] += z; if (z > 40) break; }", "z"),
    ("Parallelize()", "for (j = 0; j < 4; j++) { t = 0; for (i = 0; i + j < n; i++) t += y[i] * y[i + j]; x[j] = t; }", "i + j"),
    ("Unroll(ufactor=2)", "for (j = 1; j < 5; j++) for (i = m - 1; j + i + 2 <= n; i++) x[8 * j + i] = i;", "i + j"),
    ("Unroll(ufactor=2)", "for (j = 1; j < 9; j++) { for (i = 0; i + j - 3 < n; i++) x[i] = i; j += s; }", "i + j"),
    # Tests of what is left over.
    ("Parallelize()", "for (i = 0; n - i > 0; i++) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = m; n - i >= 4; i += 4) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; s < n - i; i++) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; r + 1 <= n - (i + 2); i++) x[i] = y[i];", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; n - i >= us; i++) { x[i % 64] = y[i % 64]; if (i > 40) break; }", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; n - i >= sizeof(int); i += 4) { x[i % 64] += i; if (i > 40) break; }", "i"),
    ("Unroll(ufactor=3)", "for (z = us; zn - z >= 2; z += 2) { x[z % 64] = z; if (z > 40) break; }", "z"),
    ("Unroll(ufactor=3)", "for (z = 0; 2 < zn - z; z += 3) x[z] = z;", "z"),
    ("Unroll(ufactor=2)", "for (z = 0; zn - z >= 2; z += 3) { x[z % 64] = z; if (z > 40) break; }", "z"),
    ("Unroll(ufactor=2)", "for (u = 0; un - (u + 2) > 1; u += 2) { x[u % 64] = u; if (u > 40) break; }", "u"),
    # Several tests, of which one counts up to the index of a loop around.
    ("Parallelize()", "for (i = 0; i < n; i++) { x[i] = 0; for (j = 0; j < m && j <= i; j++) x[i] += y[j] * y[i - j + 9]; }", "i"),
    ("UnrollJam(ufactor=2)", "for (i = 0; i < n; i += 2) for (j = 0; j <= i && j < 3; j++) x[i] += y[i + j];", "i"),
    ("Reverse()", "for (i = n; i > 0; i--) for (j = 9; j >= i && j > m; j--) x[i] += y[j];", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i++) { k = i; for (j = 0; j < m && j <= k; j++) x[j] += i; }", "i + j"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; i++) { for (j = 0; j < m && j <= i; j++) x[j] += i; i += s - 1; }", "i"),
    # Loops to a condition inside, whose copies follow each other.
    ("UnrollJam(ufactor=2)", "for (i = 0; i < n; i++) for (j = 0; j < 4; j++) { double z = y[i], w = y[j]; int c; for (c = 0; c < 9 && z * z < w * w + 9; c++) z += 1 + j % 2; x[4 * i + j] = z + c; }", "i + j"),
    ("RegTile(loops=['i', 'j'], ufactors=[2, 2])", "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { int c = i; while (c > j) { x[4 * i + j] += y[c]; c -= 2; } }", "i + j"),
    ("UnrollJam(ufactor=3)", "for (i = 0; i < n; i++) { for (j = 0; j < 4; j++) x[4 * i + j] += 1; for (k = i; k > 0; k /= 2) x[4 * i] += k; for (j = 0; j < 3; j++) x[4 * i + j] *= 2; }", "i + j"),
    # Several counters, some of which begin before the loop, and some of which are not counted by sums.
    ("Unroll(ufactor=2)", "i = m; @@ for (k = 5; i < s + 5 && i < n; i++, k--) x[i] = y[k];", "k * 100 + i"),
    ("Parallelize()", "i = m; @@ for (k = 5; i < s + 5 && i < n; i++, k++) x[k] = y[i];", "k * 100 + i"),
    ("Unroll(ufactor=2)", "for (i = 0, u = 1; i < n; i++, p++, u <<= 2) x[i] = *p + u % 64;", "u"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; ++i, k = 3 * k + 1) { if (i == 4) continue; x[i] = k % 17; }", "k"),
    ("Unroll(ufactor=2)", "for (i = 0; i < n; ++i, k = 3 * k + 1) { if (i == 4) break; x[i] = k % 17; }", "k"),
    # Accumulators of copies among the threads.
    ("Composite(unrollreduction=(['i'], [3]), parallelize=True)", "for (i = 0; i < n; i++) k += i * (i + m);", "k + i"),
    # Types by the names of typedefs.
    ("Parallelize()", "for (i = 0; i < n; i++) x[(place_t)i * us] = y[i];", "i"),
    ("Parallelize()", "for (i = 0; i < n; i++) { const word_t at = (word_t)i * 2; x[at + 1] += x[at]; }", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i < (word_t)(n + 1); i++) x[i] = y[i] + i;", "i"),
    ("Unroll(ufactor=2)", "for (i = 0; i < (real_t)n / 2; i++) x[i] = y[i] + i;", "i"),
    # A variable beside the index that begins where the index does.
    ("Parallelize()", "for (i = (m == 3 ? 2 : 0), p = &(y[i]); i < n; i++, p++) *p = 2 * *p + i;", "i + (p - y)"),
    ("Unroll(ufactor=3)", "for (i = m - 1, p = x + i; i < n; i++, p++) *p += y[i];", "i + (p - x)"),
    ("Reverse()", "for (p = x, i = m, q = &y[i + 1]; i < n; i++, q++, p++) *p = q[0] - i;", "i + (p - x) + (q - y)"),
)  # fmt: skip


def _functions() -> list[str]:
    functions: list[str] = []
    for number, (recipe, code, result) in enumerate(CASES):
        before, _, annotated = code.rpartition("@@")
        functions.append(
            FUNCTION.format(number=number, recipe=recipe, before=before, code=annotated, result=result)
        )
    return functions


def _program(functions: list[str]) -> str:
    names = ", ".join(re.findall(r"work_\d+", "".join(functions)))
    return HEAD + "".join(functions) + MAIN.replace("NAMES", names)


@pytest.mark.share(2)
@pytest.mark.parametrize("flags", [checked(), ("-O2",)], ids=["checked", "optimised"])
def test_loops_with_headers_of_run_time_compute_the_same(tmp_path: Path, flags: tuple[str, ...]) -> None:
    functions = _functions()
    new = [transformed_file(HEAD + each, {}).removeprefix(HEAD) for each in functions]
    outputs = [
        compile_and_run(_program(each), tmp_path, "-w", *flags, *openmp()).splitlines()
        for each in (functions, new)
    ]
    different = [(one, two) for one, two in zip(*outputs, strict=True) if one != two]
    if different:
        number = int(different[0][0].split()[0])
        pytest.fail(f"{different[0]}\n{new[number]}")


CHOSEN = """#include <stdio.h>
struct box {{ int n; }};
static void work(int m, double *x, double *y, const double *z, const struct box *box)
{{
  int i, j;
  /*@ begin Loop(
  for (i = 0; i < 4; i++) {{
    double *p = i % 2 ? x : y;
    transform {recipe}
    for (j = 0; j < m; j = j + {step}) p[j] = p[j] * 2 + z[j + i];
  }}
  ) @*/
  for (i = 0; i < 4; i++) {{
    double *p = i % 2 ? x : y;
    for (j = 0; j < m; j = j + {step}) p[j] = p[j] * 2 + z[j + i];
  }}
  /*@ end @*/
}}
int main(void)
{{
  static double a[300];
  for (int apart = 0; apart < 20; apart += 3)
    for (int m = -1; m < 12; m += 2)
      for (int s = 1; s < 4; s++) {{
        struct box box = {{s}};
        for (int k = 0; k < 300; k++) a[k] = k % 7;
        work(m, a + 50, a + 50 + apart, a + 120 - 3 * apart, &box);
        for (int k = 0; k < 300; k++) printf("%g ", a[k]);
      }}
  return 0;
}}
"""


@pytest.mark.parametrize("recipe", ["StripMine(tsize=4, tindex='jt')", "Reverse()", "Unroll(ufactor=3)"])
@pytest.mark.parametrize("step", ["1", "box->n"])
def test_statements_that_stand_once_for_each_pointer_run_their_own_originals(
    recipe: str, step: str, tmp_path: Path
) -> None:
    text = CHOSEN.format(recipe=recipe, step=step)
    new = transformed_file(text, {})
    if step == "box->n":  # else nothing needs a test but Reverse
        assert "p[j] = p[j] * 2 + z[j + i];\n" in new.partition("else")[2]
    assert compile_and_run(new, tmp_path, *checked()) == compile_and_run(text, tmp_path, *checked())
