"""Unrolled loops of which nobody knows how often they run: the loop's test stands between the copies."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

LOOPS = {
    "bound that the body lowers": "for (i = 0; i < *bound; i++) { log_it(i); if (i == k) *bound = k + 2; }",
    "bound that a call raises": "for (i = 0; i < *bound; i++) { log_it(i); if (i < 3) raise_bound(); }",
    "list": "for (at = list; at != 0; at = at->next) log_it(at->value);",
    "list that loses its end": "for (at = list; at; at = at->next) { log_it(at->value); if (at->value == k) at->next = 0; }",
    "while": "i = k; while (i * i < *bound) { log_it(i); i += 2; }",
    "index that the body moves": "for (i = 0; i < 20; i++) { log_it(i); if (i % 3 == 0) i += k; }",
    "two indices": "for (i = 0, j = 9; i < j; i++, j--) { log_it(i); log_it(j); *bound += 1; }",
    "name that hides one of the test": "for (i = 0; i < n; i++) { int n = *bound; log_it(n + i); moved++; } n += moved; ",
    "break": "for (i = 0; ; i++) { if (i > k) break; log_it(i); }",
    "break in an inner loop": (
        "for (at = list; at; at = at->next) for (j = 0; j < 9; j++) { if (j == at->value) break; log_it(j); }"
    ),
    "switch": "for (at = list; at; at = at->next) switch (at->value) { case 1: log_it(7); break; default: log_it(8); }",
    "steps that count in the test": "for (i = 0; i++ < *bound; ) { log_it(i); *bound -= 1; }",
}
FILE = """#include <stdio.h>
struct cell {{ int value; struct cell *next; }};
static int logged[999], many, global_bound;
void log_it(int value) {{ logged[many++] = value; }}
void raise_bound(void) {{ global_bound++; }}
{functions}
static void (*const kernels[][2])(int, int, int *, struct cell *) = {{{table}}};
int main(void) {{
  for (unsigned v = 0; v < sizeof kernels / sizeof *kernels; v++)
    for (int n = 0; n < 12; n++)
      for (int k = 0; k < 6; k++) {{
        int first = 0;
        for (int w = 0; w < 2; w++) {{
          struct cell cells[12];
          for (int c = 0; c < 12; c++) {{ cells[c].value = c % 5; cells[c].next = c + 1 < n ? &cells[c + 1] : 0; }}
          global_bound = n;
          many = w * 400;
          kernels[v][w](n, k, &global_bound, n ? cells : 0);
          if (w == 0) first = many;
        }}
        if (first != many - 400) {{ printf("%u %d %d: %d %d", v, n, k, first, many); return 1; }}
        for (int c = 0; c < first; c++) if (logged[c] != logged[c + 400]) {{ printf("%u differs", v); return 1; }}
      }}
  printf("same");
  return 0;
}}
"""
KERNEL = """static void {name}(int n, int k, int *bound, struct cell *list)
{{
  int i = 0, j = 0, moved = 0;
  struct cell *at = list;
  (void)at; (void)k; (void)n; (void)bound; (void)moved;
  {code}
  log_it(i); log_it(j); log_it(n); log_it(*bound);
}}
"""
TYPES = "struct cell { int value; struct cell *next; };\nvoid log_it(int value); void raise_bound(void);\n"


def marked(code: str, factor: int = 3) -> str:
    """The kernel's code with the loop annotated."""
    start = re.search(r"\b(for|while)\b", code)
    assert start is not None
    begin = start.start()
    end = code.rfind(" n += moved") if "n += moved" in code else len(code)
    opening = f"/*@ begin Loop(transform Unroll(ufactor={factor})) @*/\n"
    return f"{code[:begin]}{opening}{code[begin:end]}\n/*@ end @*/\n{code[end:]}"


def unrolled(code: str, name: str, factor: int = 3) -> str:
    """The kernel as `orio transform` writes it."""
    text = transformed_file(TYPES + KERNEL.format(name=name, code=marked(code, factor)), {})
    return text.removeprefix(TYPES)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("factor", [2, 3, 7])
def test_the_same_happens_in_the_same_order(factor: int, tmp_path: Path) -> None:
    functions: list[str] = []
    for number, code in enumerate(LOOPS.values()):
        functions.append(KERNEL.format(name=f"kernel_{number}", code=code))
        functions.append(unrolled(code, f"changed_{number}", factor))
    table = ", ".join(f"{{kernel_{k}, changed_{k}}}" for k in range(len(LOOPS)))
    program = FILE.format(functions="\n".join(functions), table=table)
    assert compile_and_run(program, tmp_path, *checked()) == "same"


def test_the_test_stands_between_the_copies() -> None:
    assert unrolled(LOOPS["list"], "kernel", 2).count("break;") == 1


def test_loops_that_keep_their_bound_are_unrolled_without() -> None:
    text = unrolled("for (i = 0; i < n; i++) log_it(i);", "kernel")
    assert "break" not in text
    assert "i += 3" in text


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for (i = 0; i < *bound; i++) { if (i == k) continue; log_it(i); *bound -= 1; }", "ORIO-T025"),
        ("for (i = 0; i < *bound; i++) { static int own; log_it(own++); *bound -= 1; }", "ORIO-T026"),
        ("for (i = 0; i < *bound; i++) { again: log_it(i); if (i++ == k) goto again; }", "ORIO-T025"),
    ],
)
def test_refusals(code: str, expected: str) -> None:
    with pytest.raises(Refusal) as caught:
        unrolled(code, "kernel")
    assert caught.value.diagnostics[0].position is not None
    assert {problem.code for problem in caught.value.diagnostics} & {expected, "ORIO-T024", "ORIO-T027"}
