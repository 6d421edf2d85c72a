"""Tests of overlap where remainders and conditions say which elements are touched: the same results wherever arrays lie."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

KERNELS = {
    "ring": "for (i = 0; i < n; i++) y[i] += x[(i + s) % m];",
    "ring that ends where the loop does": "for (i = 0; i < n; i++) y[i] += x[(i + n - 1) % n];",
    "rows of a quotient": "for (i = 0; i < n; i++) y[i] = x[i / m] + x[i / 3];",
    "mask": "for (i = 0; i < n; i++) y[i] = x[i & k] + x[i & 7];",
    "unsigned remainder": "for (i = 0; i < n; i++) y[i] += x[i % (unsigned)m];",
    "remainder of a quotient": "for (i = 0; i < n; i++) { int a = i / m % m, b = i / m / m; y[i] = x[a * m + b]; }",
    "quotients by two variables": "for (i = 0; i < n; i++) y[i] = x[i / (k + 4) % m] + x[(i / k + 1) % m];",
    "bound that is a quotient": "for (i = 0; i < n; i++) for (j = 0; j < i / m; j++) y[i] += x[j];",
    "start that is a remainder": "for (i = 0; i < n; i++) for (j = i % m; j < m; j++) y[i] += x[j];",
    "shifts": "for (i = 0; i < n; i++) y[i] += x[i >> 1] + x[(i + 3) >> 2] + x[(i >> 1) * 2];",
    "halves that are written": "for (i = 0; i < n; i += 2) y[i >> 1] = x[i] ^ x[i + 1];",
    "shift of an unsigned sum": "for (i = 0; i < n; i++) y[i] += x[(i + 4u) >> 1];",
    "bound that is divided by what may be 0": "for (i = 0; i < n / m; i++) y[i] += x[i];",
    "ends that are divided by what may be 0": "for (i = n % k; i < (n - 1) / k + m; i++) y[i] += x[i];",
    "masked value": "for (i = 0; i < n; i++) y[i] += x[(x[i] & 7) + (m & 3)];",
    "two masked values": "for (i = 0; i < n; i++) { int a = x[i] & 7; y[i] = a; y[i] += x[a - (int)(y[i] & 7) + 7]; }",
    "downwards": "for (i = n - 1; i >= 0; i--) y[i] += x[i % m];",
    "steps": "for (i = 0; i < n; i += 3) y[i] += x[(i + 1) % m];",
    "product": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[i] += x[(i % m) * m + j];",
    "sum below": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) if (i + j < n) y[i] += x[i + j];",
    "sum above": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) if (i - j >= s) y[i] += x[i - j];",
    "sum between": (
        "for (i = 0; i < n; i++) for (j = -m; j <= m; j++) { int at = i + j; if (!(at < 0 || at >= n)) y[i] += x[at]; }"
    ),
    "equal sums": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) if (i + j == k) y[i] += x[i + j] + x[i];",
    "picture": (
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { int a = i / m + j - s, b = i % m - j;"
        " if (a >= 0 && a < m && b >= 0 && b < m) y[i] += x[a * m + b]; }"
    ),
    "another loop inside": (
        "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) if (i + j < 5) y[i] += x[i + j];"
        " for (j = 0; j < 2 * m; j++) y[i] += x[i + j]; }"
    ),
    "neighbours in a grid": (
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { int c, w, e, u, d; c = i * m + j; w = j == 0 ? c : c - 1;"
        " e = j == m - 1 ? c : c + 1; u = i == 0 ? c : c - m; d = i == n - 1 ? c : c + m;"
        " y[c] = x[c] + x[w] + x[e] + x[u] + x[d]; }"
    ),
    "remainder that is compared": "for (i = 0; i < n; i++) if (i % m + k < m) y[i] += x[i % m + k];",
}
FILE = """static void {name}(int n, int m, int s, int k, unsigned *x, unsigned *y)
{{
  int i, j;
  (void)j; (void)m; (void)s; (void)k;
  /*@ begin Loop(transform Reverse()) @*/
  {code}
  /*@ end @*/
}}
"""
MAIN = """#include <stdio.h>
#include <string.h>
static int taken;
{functions}
static void (*const kernels[][2])(int, int, int, int, unsigned *, unsigned *) = {{{table}}};
static const int sizes[][4] = {{{{0, 1, 0, 1}}, {{1, 1, 0, 1}}, {{9, 4, 1, 3}}, {{12, 5, 0, 1}}, {{16, 4, 2, 15}}, {{7, 3, -2, 2}}, {{9, 4, 1, -3}}}};
int main(void)
{{
  static unsigned memory[2][600];
  for (unsigned v = 0; v < sizeof kernels / sizeof *kernels; v++) {{
    int apart = 0;
    for (unsigned z = 0; z < sizeof sizes / sizeof *sizes; z++)
      for (int at = 240; at <= 360; at++) {{
        const int *g = sizes[z];
        for (int k = 0; k < 600; k++) memory[0][k] = memory[1][k] = k * k % 101;
        for (int w = 0; w < 2; w++) {{
          taken = 0;
          kernels[v][w](g[0], g[1], g[2], g[3], memory[w] + 300, memory[w] + at);
        }}
        if (memcmp(memory[0], memory[1], sizeof memory[0]) != 0) {{ printf("%u %u %d differ", v, z, at); return 1; }}
        apart += taken && at == 360;
      }}
    printf("%d ", apart > 0);
  }}
  return 0;
}}
"""


def test_the_same_is_computed_wherever_arrays_lie(tmp_path: Path) -> None:
    functions: list[str] = []
    for number, code in enumerate(KERNELS.values()):
        plain = FILE.format(name=f"kernel_{number}", code=code)
        changed = transformed_file(plain, {}).replace(f"kernel_{number}(", f"changed_{number}(")
        marked, count = re.subn(
            r"(/\* Runs (?:unless|where).*?\n\s*if \(.*?\) \{)\n",
            r"\1 taken = 1;\n",
            changed,
            count=1,
            flags=re.DOTALL,
        )
        assert count == 1, changed
        functions += [re.sub(r"/\*@.*?@\*/", "", plain, flags=re.DOTALL), marked]
    table = ", ".join(f"{{kernel_{k}, changed_{k}}}" for k in range(len(KERNELS)))
    program = MAIN.format(functions="\n".join(functions), table=table)
    output = compile_and_run(program, tmp_path, *checked())
    assert output.split() == ["1"] * len(KERNELS)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("neighbours in a grid", "if ((unsigned long)(x + (long)m * n) <= (unsigned long)y ||"),
        ("sum between", "if ((unsigned long)(x + n) <= (unsigned long)y ||"),
        ("sum below", "if ((unsigned long)(x + n) <= (unsigned long)y ||"),
        (
            "ring that ends where the loop does",
            "if (n >= 1 && ((unsigned long)(x + n) <= (unsigned long)y ||",
        ),
        ("picture", "((unsigned long)(x + (long)m * m) <= (unsigned long)y ||"),
    ],
)
def test_no_more_is_compared_than_is_touched(name: str, shown: str) -> None:
    assert shown in transformed_file(FILE.format(name="kernel", code=KERNELS[name]), {})


NUMBERS = """#define HALF 8
#define ALL (2 * HALF)
static const unsigned w[ALL] = {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}};
static void {name}(int n, int m, int s, int k, unsigned *x, unsigned *y)
{{
  int i;
  (void)n; (void)m; (void)s; (void)k;
  /*@ begin Loop(transform Reverse()) @*/
  {code}
  /*@ end @*/
}}
"""


@pytest.mark.parametrize(
    ("code", "tested"),
    [
        ("for (i = 0; i < HALF; i++) { x[i] *= w[i]; x[ALL - 1 - i] += x[i]; }", "ALL == 16 && HALF == 8"),
        (
            "for (i = 0; i < HALF; i++) x[i] = y[i + HALF] + x[i + ALL];",
            "ALL == 16 && HALF == 8 && (x_end <= (unsigned long)(y + HALF)",
        ),
        ("for (i = 0; i < n; i++) y[i] += w[i % ALL];", ""),
        (
            "for (i = 0; i < 8; i++) { int j = ALL - 1 - i, k; k = j; x[i] *= w[i]; x[k] += x[i]; }",
            "ALL == 16",
        ),
    ],
)
def test_numbers_behind_names_tell_elements_apart(tmp_path: Path, code: str, tested: str) -> None:
    new = transformed_file(NUMBERS.format(name="changed", code=code), {})
    assert f"if ({tested}" in new if tested else "/* Runs " not in new
    plain = NUMBERS.format(name="kernel", code=code).partition("static void")[2]
    functions = f"{new}\nstatic void{plain}".replace("HALF 8", "HALF SOME")
    program = MAIN.format(functions=functions, table="{kernel, changed}")
    # The file may be compiled with another number, with which elements are used twice.
    for half in (8, 6):
        output = compile_and_run(program, tmp_path, f"-DSOME={half}", *checked())
        assert "differ" not in output


@pytest.mark.parametrize(
    "code",
    [
        "for (i = 0; i < HALF; i++) { x[i] *= w[i]; x[ALL - 2 - i - HALF] += x[i]; }",
        "for (i = 0; i < ALL; i++) x[i] = x[i + HALF];",
    ],
)
def test_numbers_that_do_not_tell_them_apart(code: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(NUMBERS.format(name="kernel", code=code), {})


@pytest.mark.parametrize(
    "code",
    [
        "for (i = 0; i < n; i++) { signed char c = i % m; y[i] = x[c]; }",
        "{ unsigned char c; for (i = 0; i < n; i++) { c = i; y[c] = x[i]; } }",
    ],
)
def test_short_variables_may_have_other_values_than_they_are_set_to(code: str) -> None:
    with pytest.raises(Refusal) as caught:
        transformed_file(FILE.format(name="kernel", code=code), {})
    assert caught.value.diagnostics[0].position is not None


@pytest.mark.parametrize("kind", ["unsigned", "long", "size_t"])
def test_others_have_the_value(kind: str) -> None:
    code = f"for (i = 0; i < n; i++) {{ {kind} c = i; y[i] = x[c]; }}"
    text = "typedef unsigned long size_t;\n" + FILE.format(name="kernel", code=code)
    assert "if ((unsigned long)(x + n) <= (unsigned long)y ||" in transformed_file(text, {})


def test_ends_are_computed_without_overflow_where_nothing_runs(tmp_path: Path) -> None:
    """Numbers at the ends of `int`, for which the original adds nothing to them."""
    codes = [
        "for (i = 5; i < n; i++) y[i - 4] = x[i + 3];",
        "for (i = m; i > s; i--) y[i - s] = x[i - s + 40];",
        "for (i = 5; i < n; i++) for (j = 5; j < m; j++) y[i - 4] = x[j - 3];",
        "for (i = 5; i < n; i++) y[i - 4] = x[(i - 4) / 3];",
        "for (i = s; i < n; i++) for (j = i + 3; j < m; j++) y[i - s] += x[j - s];",
    ]
    names = [f"kernel_{number}" for number in range(len(codes))]
    file = FILE.replace("Reverse()", "Parallelize()")
    texts = [transformed_file(file.format(name=n, code=c), {}) for n, c in zip(names, codes, strict=True)]
    calls = " ".join(f"{name}(least, least, least, 1, v, v + 50);" for name in names)
    main = f"int main(void) {{ static unsigned v[99]; int least = -2147483647 - 1; {calls} return 0; }}\n"
    compile_and_run("\n".join(texts) + main, tmp_path, *checked())


def test_distances_are_multiplied_not_the_numbers_that_they_are_between(tmp_path: Path) -> None:
    kernel = """static void kernel(long s, long n, double *b, double (*p)[40])
{
  /*@ begin Loop(transform Reverse()) @*/
  for (long i = s; i < n; i++) p[i - s][i - s] = b[i - s];
  /*@ end @*/
}
"""
    text = transformed_file(kernel, {})
    assert "(n - s) * 41" in text.replace("(long)n", "n")
    main = "int main(void) { static double p[40][40], b[40]; long most = 9223372036854775807; kernel(most - 9, most - 2, b, p); return 0; }\n"
    compile_and_run(text + main, tmp_path, *checked())


BYTES = """#include <stdio.h>
#include <string.h>
static int taken;
static void {name}(int n, unsigned char *d, const unsigned char *s, const unsigned char *t, const unsigned char (*u)[256])
{{
  int i;
  /*@ begin Loop(transform Reverse()) @*/
  for (i = 0; i < n; i++) {{ int c = s[i]; d[i] = t[c] + u[1][s[2 * i]] + t[(unsigned char)(s[i] - 300)]; }}
  /*@ end @*/
}}
"""
BYTES_MAIN = """
int main(void)
{
  static unsigned char memory[2][2000];
  int apart = 0;
  for (int at = 0; at <= 1900; at += at > 80 && at < 500 ? 59 : 1)
    for (int n = 0; n < 30; n += 7) {
      for (int k = 0; k < 2000; k++) memory[0][k] = memory[1][k] = (unsigned char)(k * k % 251);
      for (int w = 0; w < 2; w++) {
        const unsigned char (*u)[256] = (const unsigned char (*)[256])(memory[w] + 1000);
        taken = 0;
        (w ? changed : plain)(n, memory[w] + at, memory[w] + 40, memory[w] + 500, u);
      }
      if (memcmp(memory[0], memory[1], sizeof memory[0]) != 0) { printf("%d %d differ", at, n); return 1; }
      apart += taken && n == 28;
    }
  printf("%d", apart > 300);
  return 0;
}
"""


def test_bytes_choose_one_of_256(tmp_path: Path) -> None:
    plain = BYTES.format(name="plain")
    changed = transformed_file(BYTES.format(name="changed"), {})
    function = "static void" + changed.partition("static void")[2]
    marked, count = re.subn(r"(\n\s*if \(.*?\) \{)\n", r"\1 taken = 1;\n", function, count=1, flags=re.DOTALL)
    assert count == 1, changed
    assert "t + 256" in marked
    output = compile_and_run(plain + marked + BYTES_MAIN, tmp_path, *checked())
    assert output == "1"
