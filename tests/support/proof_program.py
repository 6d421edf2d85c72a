"""The C program that runs original and variant of many regions, and how it is made.

The original runs first, in large arrays, and records which elements it touches.  The variant then gets
arrays of exactly those elements, so that the address sanitizer sees every other access, and must leave the
same values in them.  The part that does not depend on the cases is compiled once, without sanitizers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from random_code import FLOATS, GLOBAL, PRELUDE, WIDTH, Array, Code, Run, plain, recorded, render

from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import declared_names

KIND_OF = {
    "double": (0, 8),
    "float": (1, 4),
    "int": (2, 4),
    "unsigned char": (3, 1),
    "unsigned short": (4, 2),
    "long": (5, 8),
    "short": (7, 2),
    "signed char": (8, 1),
    "unsigned": (9, 4),
    "long long": (10, 8),
}


def declarations(code: Code) -> str:
    """What stands before the region in its function."""
    lines = [f"  {kind} {name} = 77;" for name, kind in code.indices]
    lines += [f"  {kind} {name} = {value};" for name, kind, value in code.scalars]
    names = [name for name, *_ in (*code.numbers, *code.indices, *code.scalars)]
    names += [array.name for array in code.arrays if not array.is_global]
    uses = " ".join(f"(void){name};" for name in names)
    return "".join(line + "\n" for line in lines) + f"  {uses}\n  (void)out_; (void)last_;\n"


def results(code: Code) -> str:
    """What stands after the region: it reads what is live."""
    lines: list[str] = []
    kinds = {name: kind for name, kind, _ in code.scalars}
    for place, name in enumerate(code.live):
        floating = kinds.get(name) in FLOATS
        lines.append(
            f"  {'out_' if floating else 'last_'}[{place}] = ({'double' if floating else 'long'}){name};"
        )
    return "".join(line + "\n" for line in lines)


def parameters(code: Code) -> str:
    """The parameter list of the function around the region."""
    items = [f"{kind} {name}" for name, kind in code.numbers]
    items += [array.parameter for array in code.arrays if not array.is_global]
    return ", ".join([*items, "double *out_", "long *last_"])


def globals_of(code: Code) -> list[Array]:
    """The arrays at file scope."""
    return [array for array in code.arrays if array.is_global]


def annotated_file(code: Code, recipe: str, body: str) -> str:
    """The file with the region, its recipe and the code; `body` is empty if the recipe holds the code."""
    arrays = "".join(f"{a.element} {a.name}[{GLOBAL}];\n" for a in globals_of(code))
    return (
        f"{PRELUDE}{arrays}void region({parameters(code)}) {{\n{declarations(code)}"
        f"  /*@ begin Loop(\n{recipe}  ) @*/\n{body}  /*@ end @*/\n{results(code)}}}\n"
    )


def variant_text(tree: Node) -> str:
    """The emitted code of a variant, in a block of its own where it declares something."""
    return emit(tree, indent="  ", braces=bool(declared_names(tree)))


def function(name: str, number: int, code: Code, body: str) -> str:
    """One function with the region's body, between definitions of the names of its global arrays."""
    names = [array.name for array in globals_of(code)]
    defines = "".join(f"#define {each} {each}_{number}\n" for each in names)
    undefines = "".join(f"#undef {each}\n" for each in names)
    return (
        f'{defines}#line 1 "{name}_{number}"\nstatic void {name}_{number}({parameters(code)}) {{\n'
        f"{declarations(code)}{body}{results(code)}}}\n{undefines}"
    )


def _original(number: int, code: Code, *, record: bool) -> str:
    """The original of a case, which notes its accesses where it is to `record`."""
    body = render(code.items)
    mark = recorded if record else plain
    if code.file is None:
        return function("original", number, code, mark(body))
    return _whole("original", number, code, mark(code.file.text(code, "", body, body)))


def _variant(number: int, code: Code, variant: str) -> str:
    if code.file is None:
        return function("variant", number, code, variant)
    return _whole("variant", number, code, variant)


def _whole(name: str, number: int, code: Code, text: str) -> str:
    """A whole file, with other names for what it has at file scope and without its macros after it."""
    assert code.file is not None
    names = code.file.file_names(text)
    macros = [each for each in _DEFINED.findall(text) if each not in _KEPT]
    arrays = [array.name for array in globals_of(code)]
    defines = "".join(f"#define {each} {each}_{number}\n" for each in arrays)
    defines += "".join(f"#define {each} {each}_{name}_{number}\n" for each in names if each != "region")
    undefines = "".join(f"#undef {each}\n" for each in dict.fromkeys([*names, *arrays, *macros]))
    return f'{defines}#define region {name}_{number}\n#line 1 "{name}_{number}"\n{text}{undefines}'


_DEFINED = re.compile(r"^#\s*define\s+(\w+)", re.M)
_KEPT = frozenset(_DEFINED.findall(PRELUDE))


def _globals(number: int, code: Code) -> str:
    return "".join(f"static {a.element} {a.name}_{number}[{GLOBAL}];\n" for a in globals_of(code))


def cases_file(cases: Sequence[tuple[Code, str]], wanted: Sequence[int]) -> str:
    """The C file with the recorded originals and the variants of the wanted cases."""
    parts = [PRELUDE, '#define PROOF_CASES\n#include "proof.h"\n']
    kernels: list[str] = []
    runs: list[str] = []
    for number in wanted:
        code, variant = cases[number]
        parts.append(_globals(number, code))
        parts += [_original(number, code, record=True), _variant(number, code, variant)]
        parts.append(_call(number, code))
        kernels.append(_kernel(number, code))
        runs.extend(_run(len(kernels) - 1, run) for run in code.runs)
    table = ",\n".join(kernels)
    parts.append(f'#line 1 "tables"\nstruct kernel const kernels[] = {{\n{table}\n}};\n')
    parts.append("struct run const runs[] = {\n" + ",\n".join(runs) + "\n};\n")
    parts.append("int const run_count = sizeof runs / sizeof runs[0];\n")
    return "".join(parts)


def strict_file(cases: Sequence[tuple[Code, str]], wanted: Sequence[int]) -> str:
    """The C file with originals and variants as they stand, to look for warnings."""
    parts = [PRELUDE]
    for number in wanted:
        code, variant = cases[number]
        parts.append(_globals(number, code))
        parts += [_original(number, code, record=False), _variant(number, code, variant)]
    uses = "".join(f"  (void)original_{n};\n  (void)variant_{n};\n" for n in wanted)
    parts.append(f'#line 1 "uses"\nint main(void) {{\n{uses}  return 0;\n}}\n')
    return "".join(parts)


def _call(number: int, code: Code) -> str:
    arguments = [f"({kind})z[{place}]" for place, (_, kind) in enumerate(code.numbers)]
    for place, array in enumerate(code.arrays):
        if array.is_global:
            continue
        kind = f"{array.element} (*)[{WIDTH}]" if array.is_matrix else f"{array.element} *"
        arguments.append(f"({kind})p[{place}]")
    text = ", ".join([*arguments, "d", "l"])
    return f"""#line 1 "call_{number}"
static void call_{number}(int which, const long *z, char *const *p, double *d, long *l) {{
  (void)p;
  if (which)
    variant_{number}({text});
  else
    original_{number}({text});
}}
"""


def _kernel(number: int, code: Code) -> str:
    arrays: list[str] = []
    for array in code.arrays:
        kind, size = (6, 4) if array.name == "w" else KIND_OF[array.element]
        fixed = f"(char *){array.name}_{number}" if array.is_global else "0"
        width = WIDTH if array.is_matrix else 1
        arrays.append(f"{{{kind}, {size}, {width}, {int(array.may_overlap and not code.noalias)}, {fixed}}}")
    rounds_to_float = any(array.element == "float" for array in code.arrays)
    loose = int(code.reassociate) * (1 + rounds_to_float)
    return f"{{{number}, call_{number}, {len(arrays)}, {loose}, {{{', '.join(arrays)}}}}}"


def _run(kernel: int, run: Run) -> str:
    numbers = ", ".join(
        f"(long){value % 2**64}u" if abs(value) > 2**31 else str(value) for value in (run.s, run.n, run.m)
    )
    return f"{{{kernel}, {{{numbers}}}, {int(run.shift is not None)}, {run.shift or 0}}}"


HEADER = """#include <setjmp.h>
struct array { int kind, size, width, overlaps; char *fixed; };
struct kernel {
  int number;
  void (*call)(int which, const long *z, char *const *p, double *d, long *l);
  int arrays, loose;
  struct array array[8];
};
struct run { int kernel; long z[3]; int overlap; long shift; };
extern struct kernel const kernels[];
extern struct run const runs[];
extern int const run_count;
long r_(int slot, long at);
int t_(long index);
"""

RUNTIME = f"""#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include "proof.h"
enum {{ SIDE = 512, ROWS = 128, BYTES = 98304, LONGEST = 20000, LIVE = 32, GLOBAL = {GLOBAL} }};
static char big[8][BYTES] __attribute__((aligned(64)));
static char saved[8][GLOBAL * 8];
static long low[8], high[8], side[8], moved[8], ticks, origin;
static struct kernel const *kernel;
static jmp_buf out;
static unsigned long trace;

void note(long value) {{ trace = trace * 1000003u + (unsigned long)value + 17; }}

static int is_near(long at) {{
  unsigned long far = (unsigned long)at - (unsigned long)origin + 4096;
  return (at >= -4096 && at <= 4096) || far <= 8192;
}}

int t_(long index) {{
  if (++ticks > LONGEST || !is_near(index))
    longjmp(out, 1);
  return 1;
}}

long r_(int slot, long at) {{
  int k = slot / 2;
  if (slot % 2) {{
    if (at < 0 || at >= {WIDTH})
      longjmp(out, 2);
    return at;
  }}
  long least = kernel->array[k].fixed ? 0 : -side[k];
  long most = kernel->array[k].fixed ? GLOBAL : side[k];
  if (moved[k] < 0)
    least -= moved[k];
  else
    most -= moved[k];
  if (++ticks > 4 * LONGEST || at < least || at >= most)
    longjmp(out, 3);
  if (at < low[k])
    low[k] = at;
  if (at > high[k])
    high[k] = at;
  return at;
}}

/* The first value of element `at` of array `k`: any bits, but a small number. */
static void fill(char *to, int k, long from, long count) {{
  struct array const *a = &kernel->array[k];
  for (long e = 0; e < count * a->width; e++) {{
    unsigned long x = (unsigned long)(from * a->width + e) * 0x9E3779B97F4A7C15u + (unsigned long)(k + 1) * 0xD1B54A32D192ED03u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 32;
    switch (a->kind) {{
    case 0: ((double *)to)[e] = (double)(long)(x % 4000003) / 1000001.0 - 1.5; break;
    case 1: ((float *)to)[e] = (float)((double)(long)(x % 4000003) / 1000001.0 - 1.5); break;
    case 2: ((int *)to)[e] = (int)(x % 101) - 40; break;
    case 3: ((unsigned char *)to)[e] = (unsigned char)x; break;
    case 4: ((unsigned short *)to)[e] = (unsigned short)x; break;
    case 5: ((long *)to)[e] = (long)(x % 1001) - 400; break;
    case 7: ((short *)to)[e] = (short)((int)(x % 2001) - 1000); break;
    case 8: ((signed char *)to)[e] = (signed char)((int)(x % 251) - 125); break;
    case 9: ((unsigned *)to)[e] = (unsigned)(x % 301); break;
    case 10: ((long long *)to)[e] = (long long)(x % 1001) - 500; break;
    default: ((int *)to)[e] = (int)(x % 14); break;
    }}
  }}
}}

/* How far two sums of `ticks` terms of this size may lie apart (Higham, Accuracy and Stability, section 4.2):
   each is within (n - 1) eps times the sum of the sizes of its terms. */
static double slack(double size, double eps) {{ return 4.0 * (double)ticks * eps * ((double)ticks * 16.0 + size); }}

static int differ(int kind, char const *x, char const *y) {{
  if (kind == 0) {{
    double u, v;
    memcpy(&u, x, 8);
    memcpy(&v, y, 8);
    if (memcmp(x, y, 8) == 0 || (isnan(u) && isnan(v)))
      return 0;
    /* What was rounded to `float` on the way is as exact as that. */
    return !(kernel->loose && fabs(u - v) <= slack(fabs(u), kernel->loose > 1 ? (double)FLT_EPSILON : DBL_EPSILON));
  }}
  if (kind == 1) {{
    float u, v;
    memcpy(&u, x, 4);
    memcpy(&v, y, 4);
    if (memcmp(x, y, 4) == 0 || (isnan(u) && isnan(v)))
      return 0;
    return !(kernel->loose && fabsf(u - v) <= slack(fabsf(u), FLT_EPSILON));
  }}
  static size_t const sizes[] = {{8, 4, 4, 1, 2, 8, 4, 2, 1, 4, 8}};
  return memcmp(x, y, sizes[kind]);
}}

static double number_at(int kind, char const *x) {{
  switch (kind) {{
  case 0: return *(double const *)x;
  case 1: return *(float const *)x;
  case 3: return *(unsigned char const *)x;
  case 4: return *(unsigned short const *)x;
  case 5: return (double)*(long const *)x;
  case 7: return *(short const *)x;
  case 8: return *(signed char const *)x;
  case 9: return *(unsigned const *)x;
  case 10: return (double)*(long long const *)x;
  default: return *(int const *)x;
  }}
}}

/* Arrays that overlap share the memory of the first of their kind, each shifted against the one before. */
static int group_of(int k, struct run const *run, long *shift) {{
  struct array const *a = &kernel->array[k];
  *shift = 0;
  if (!run->overlap || !a->overlaps || a->kind == 6)
    return k;
  int first = -1, before = 0;
  for (int other = 0; other < k; other++)
    if (kernel->array[other].overlaps && kernel->array[other].kind == a->kind) {{
      first = first < 0 ? other : first;
      before++;
    }}
  *shift = run->shift * before;
  return first < 0 ? k : first;
}}

/* One second of processor time for a variant: a busy machine makes none look endless. */
static void clock_in(int seconds) {{
  struct itimerval limit = {{{{0, 0}}, {{seconds, 0}}}};
  setitimer(ITIMER_VIRTUAL, &limit, 0);
}}

static int one(int number, struct run const *run) {{
  kernel = &kernels[run->kernel];
  char *p[8], *block[8];
  double d[2][LIVE];
  long l[2][LIVE], first[8], count[8];
  memset(d, 0, sizeof d);
  memset(l, 0, sizeof l);
  origin = run->z[0];
  ticks = 0;
  trace = 0;
  for (int k = 0; k < kernel->arrays; k++) {{
    struct array const *a = &kernel->array[k];
    long shift;
    int g = group_of(k, run, &shift);
    moved[k] = g == k ? 0 : shift;
    side[k] = a->width > 1 ? ROWS : SIDE;
    low[k] = 1000000;
    high[k] = -1000000;
    if (a->fixed)
      fill(a->fixed, k, 0, GLOBAL);
    else if (g == k)
      fill(big[k], k, -side[k] - 8, 2 * side[k] + 16);
    p[k] = a->fixed ? a->fixed : big[g] + (side[k] + 8 + shift) * a->size * a->width;
  }}
  printf("o %d %d\\n", number, kernel->number);
  fflush(stdout);
  int why = setjmp(out);
  if (why == 0)
    kernel->call(0, run->z, p, d[0], l[0]);
  else
    return printf("skip %d %d %d\\n", number, kernel->number, why), 0;
  unsigned long traced = trace;
  trace = 0;
  for (int k = 0; k < kernel->arrays; k++) {{
    long shift;
    int g = group_of(k, run, &shift);
    if (g != k && low[k] <= high[k]) {{
      low[g] = low[k] + shift < low[g] ? low[k] + shift : low[g];
      high[g] = high[k] + shift > high[g] ? high[k] + shift : high[g];
    }}
  }}
  for (int k = 0; k < kernel->arrays; k++) {{
    struct array const *a = &kernel->array[k];
    long shift, bytes = (long)a->size * a->width;
    int g = group_of(k, run, &shift);
    block[k] = 0;
    if (a->fixed) {{
      memcpy(saved[k], a->fixed, GLOBAL * (size_t)a->size);
      fill(a->fixed, k, 0, GLOBAL);
      first[k] = 0;
      count[k] = GLOBAL;
    }} else if (g == k) {{
      first[k] = low[k] <= high[k] ? low[k] : 0;
      count[k] = low[k] <= high[k] ? high[k] - low[k] + 1 : 0;
      block[k] = malloc((size_t)(count[k] * bytes));
      fill(block[k], k, first[k], count[k]);
    }} else
      count[k] = 0;
    p[k] = a->fixed ? a->fixed : block[g] + (shift - first[g]) * bytes;
  }}
  printf("v %d %d\\n", number, kernel->number);
  fflush(stdout);
  clock_in(1);
  kernel->call(1, run->z, p, d[1], l[1]);
  clock_in(0);
  int wrong = 0;
  for (int k = 0; k < kernel->arrays && !wrong; k++) {{
    struct array const *a = &kernel->array[k];
    char const *was = a->fixed ? saved[k] : big[k] + (side[k] + 8 + first[k]) * a->size * a->width;
    char const *is = a->fixed ? a->fixed : block[k];
    for (long e = 0; e < count[k] * a->width && !wrong; e++)
      if (differ(a->kind, was + e * a->size, is + e * a->size)) {{
        wrong = 1;
        printf("diff %d %d array %d element %ld column %ld: original %.17g, variant %.17g", number, kernel->number, k,
               first[k] + e / a->width, e % a->width, number_at(a->kind, was + e * a->size), number_at(a->kind, is + e * a->size));
      }}
  }}
  for (int k = 0; k < LIVE && !wrong; k++)
    if (differ(0, (char *)&d[0][k], (char *)&d[1][k]) || l[0][k] != l[1][k]) {{
      wrong = 1;
      printf("diff %d %d live value %d: original %.17g %ld, variant %.17g %ld", number, kernel->number, k, d[0][k], l[0][k], d[1][k], l[1][k]);
    }}
  if (!wrong && trace != traced)
    wrong = printf("diff %d %d the calls of note() differ", number, kernel->number);
  if (wrong)
    printf(" (s = %ld, n = %ld, m = %ld%s)\\n", run->z[0], run->z[1], run->z[2], run->overlap ? ", overlapping" : "");
  else
    printf("same %d %d\\n", number, kernel->number);
  for (int k = 0; k < kernel->arrays; k++)
    free(block[k]);
  return wrong;
}}

/* From run `argv[1]` on; after a difference, on with the next kernel. */
int main(int argc, char **argv) {{
  for (int number = argc > 1 ? atoi(argv[1]) : 0; number < run_count; number++)
    if (one(number, &runs[number]))
      while (number + 1 < run_count && runs[number + 1].kernel == runs[number].kernel)
        number++;
  puts("end");
  return 0;
}}
"""
