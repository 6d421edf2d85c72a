"""Runs original and transformed code side by side, many cases in one program.

Each case becomes two functions over the same arguments; the program runs both for a set of sizes, with
equal inputs, and compares every array, scalar and loop index bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from c_programs import checked, compile_and_run, run
from c_trees import context, parse

from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import declared_names
from orio_py.ctree.verify import verify
from orio_py.transformation.base import Context, Refusal, Transformation
from orio_py.transformation.forms import sole_statement
from orio_py.transformation.sites import rewrite_where

SIZE = 160
"""Elements of the vectors `a`, `b` (double) and `c` (int); the matrices are SIDE x SIDE."""

SIDE = 24

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-sign-compare", "-Wno-implicit-fallthrough")
"""The drawn code itself compares signed with unsigned numbers and falls through cases."""

PARAMETERS = f"""long s_, long n_, long m_, double *a, double *b, int *c,
    double (*p)[{SIDE}], double (*q)[{SIDE}], double (*r)[{SIDE}], double *out"""


@dataclass(frozen=True, slots=True)
class Case:
    """Code to transform; `kind` is the type of the variables `s`, `n`, `m` and of the indices.

    Where `final_indices` is set, the indices are compared after the code too.
    """

    code: str
    transformation: Transformation
    kind: str = "int"
    sizes: tuple[tuple[int, int, int], ...] = ((0, 0, 0), (0, 1, 1), (0, 7, 5), (2, 13, 9))
    final_indices: bool = False
    flags: tuple[str, ...] = ()

    @property
    def declarations(self) -> str:
        return f"""{self.kind} i, j, k, s, n, m; double acc; int count; double a[{SIZE}], b[{SIZE}];
        int c[{SIZE}]; double p[{SIDE}][{SIDE}], q[{SIDE}][{SIDE}], r[{SIDE}][{SIDE}];"""

    @property
    def context(self) -> Context:
        live = "a b c p q r acc count" + (" i j k" if self.final_indices else "")
        return context(self.declarations, live=live)


def transformed(case: Case) -> Node | None:
    """The transformed code, None where it is refused; checks that the input stays as it was."""
    tree = parse(case.code)
    before = structure_digest(tree)
    target = sole_statement(tree)
    try:
        result = rewrite_where(tree, lambda n: n is target, case.transformation.apply, case.context)
    except Refusal as refusal:
        if any(d.position is None for d in refusal.diagnostics):
            raise AssertionError("a refusal has no place") from refusal
        return None
    finally:
        assert structure_digest(tree) == before, "the input was modified"
    assert verify(result) == []
    again = rewrite_where(tree, lambda n: n is target, case.transformation.apply, case.context)
    assert emit(again) == emit(result), "the transformation is not deterministic"
    return result


def assert_same_results(cases: Sequence[Case], folder: Path, *flags: str) -> int:
    """Compile and compare all cases; how many were not refused."""
    pairs = [(case, tree) for case in cases if (tree := transformed(case)) is not None]
    if not pairs:
        return 0
    functions: list[str] = []
    runs: list[str] = []
    for number, (case, tree) in enumerate(pairs):
        functions.append(_function(f"original_{number}", case, parse(case.code)))
        functions.append(_function(f"variant_{number}", case, tree))
        runs.extend(f"  compare({number}, {s}, {n}, {m});" for s, n, m in case.sizes)
    names = "\n".join(f"  {{original_{k}, variant_{k}}}," for k in range(len(pairs)))
    program = _PROGRAM.replace("FUNCTIONS", "\n".join(functions)).replace("TABLE", names)
    program = program.replace("RUNS", "\n".join(runs))
    output = compile_and_run(program, folder, *checked(), *flags)
    # Apart, as the sanitizers' own branches can make gcc ignore a loop pragma with a warning.
    run(
        [
            "gcc",
            "-std=c99",
            "-S",
            *WARNINGS,
            *flags,
            str(folder / "program.c"),
            "-o",
            str(folder / "program.s"),
        ]
    )
    if output.strip() != "same":
        number = int(output.split()[1])
        case, tree = pairs[number]
        raise AssertionError(f"{output}\n{case.transformation}\n{case.code}\n--- became ---\n{emit(tree)}")
    return len(pairs)


def _function(name: str, case: Case, tree: Node) -> str:
    finals = "".join(f"  out[{2 + n}] = (double){x};\n" for n, x in enumerate("ijk")) * case.final_indices
    kind = case.kind
    return f"""static void {name}({PARAMETERS}) {{
  {kind} s = ({kind})s_, n = ({kind})n_, m = ({kind})m_, i = 77, j = 77, k = 77;
  double acc = 0.5; int count = 3;
  (void)s; (void)n; (void)m; (void)i; (void)j; (void)k; (void)a; (void)b; (void)c; (void)p; (void)q; (void)r;
{emit(tree, indent="  ", braces=bool(declared_names(tree)))}  out[0] = acc;
  out[1] = count;
{finals}}}
"""


_PROGRAM = f"""#include <stdio.h>
#include <string.h>
#include <limits.h>
typedef void Kernel({PARAMETERS});
FUNCTIONS
static Kernel *const table[][2] = {{
TABLE
}};
struct data {{ double a[{SIZE}], b[{SIZE}]; int c[{SIZE}]; double p[{SIDE}][{SIDE}], q[{SIDE}][{SIDE}],
  r[{SIDE}][{SIDE}], out[8]; }};
static void fill(struct data *d) {{
  unsigned x = 12345;
  memset(d, 0, sizeof *d);
  for (int t = 0; t < {SIZE}; t++) {{
    d->a[t] = (double)((x = x * 1103515245u + 12345u) >> 16) / 1000.0;
    d->b[t] = (double)((x = x * 1103515245u + 12345u) >> 16) / 999.0;
    d->c[t] = (int)(x >> 20);
  }}
  for (int t = 0; t < {SIDE}; t++)
    for (int u = 0; u < {SIDE}; u++) {{
      d->p[t][u] = (double)((x = x * 1103515245u + 12345u) >> 16) / 777.0;
      d->q[t][u] = (double)((x = x * 1103515245u + 12345u) >> 16) / 888.0;
      d->r[t][u] = (double)((x = x * 1103515245u + 12345u) >> 16) / 555.0;
    }}
}}
static int failures;
static void compare(int number, long s, long n, long m) {{
  static struct data one, two;
  fill(&one);
  fill(&two);
  table[number][0](s, n, m, one.a, one.b, one.c, one.p, one.q, one.r, one.out);
  table[number][1](s, n, m, two.a, two.b, two.c, two.p, two.q, two.r, two.out);
  if (memcmp(&one, &two, sizeof one) != 0 && failures++ == 0)
    printf("case %d differs for s = %ld, n = %ld, m = %ld\\n", number, s, n, m);
}}
int main(void) {{
RUNS
  if (failures == 0)
    puts("same");
  return 0;
}}
"""
