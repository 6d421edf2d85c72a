"""Arrays that stay on the device around loops with directives: which ones, which part, and under which condition."""

from __future__ import annotations

import re

import pytest
from c_trees import transformed_file

HEAD = "void work(double *);\nvoid f(int m, int n, int flag, double *restrict a, double *restrict b, double *restrict c)\n"
DIRECTIVE = re.compile(r"#pragma ((?:acc data|omp target data)[^\n]*)")


def kept(code: str, step: str = "OpenACC", head: str = HEAD) -> str:
    """The directive for data around a region's code, in which `@` stands for a step; empty where there is none."""
    marked = code.replace("@", f"transform {step}()\n")
    text = f"{head}{{\n  int i, t;\n  double s = 0;\n  /*@ begin Loop(\n{marked}\n) @*/\n{code.replace('@', '')}\n  /*@ end @*/\n}}\n"
    found = DIRECTIVE.findall(transformed_file(text, {}))
    assert len(found) <= 1
    return found[0] if found else ""


FILL, USE = "@for (i = 0; i < n; i++) a[i] = b[i];", "@for (i = 0; i < n; i++) c[i] = a[i];"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"{{ {FILL} {USE} }}", "acc data copy(a[0:(n > 0 ? n : 0)])"),
        (
            f"for (t = 0; t < m; t++) {FILL}",
            "acc data if(0 < m) copyin(b[0:(n > 0 ? n : 0)]) copy(a[0:(n > 0 ? n : 0)])",
        ),
        (
            f"{{ {FILL} @for (i = 1; i < n; i++) c[i] = a[i]; }}",
            "acc data copy(a[0:(n > 0 ? n : 0)])",
        ),
        (FILL, ""),
        (f"{{ {FILL} s = a[0]; {USE} }}", ""),
        (f"{{ {FILL} work(c); {USE} }}", ""),
        (f"for (t = 0; t < m; t++) {{ if (flag) {{ {FILL} }} }}", ""),
        (f"{{ if (flag) {{ {FILL} }} {USE} }}", "acc data copy(a[0:(n > 0 ? n : 0)])"),
        (f"for (t = 0; t < m; t++) {{ if (s > t) break; {FILL} }}", ""),
        (f"{{ s = n; for (t = 0; t < m; t++) {FILL} }}", ""),
        (f"for (t = 0; t < m; t++) {{ {FILL} n--; }}", ""),
        (f"for (t = 0; t < m; t++) {{ {FILL} if (s > 1) return; }}", ""),
    ],
)
def test_arrays_stay(code: str, expected: str) -> None:
    assert kept(code) == expected


def test_an_array_that_is_there_stays_whatever_runs() -> None:
    head = "double a[100], b[100], c[100];\nvoid f(int m, int n, int flag)\n"
    code = "for (t = 0; t < m; t++) { if (flag) { @for (i = 0; i < 100; i++) a[i] += b[i]; } }"
    assert kept(code, head=head) == "acc data if(0 < m) copyin(b) copy(a)"


def test_openmp_says_it_in_its_words() -> None:
    found = kept(f"for (t = 0; t < m; t++) {FILL}", "OpenMPTarget")
    assert (
        found == "omp target data if(0 < m) map(to: b[0:(n > 0 ? n : 0)]) map(tofrom: a[0:(n > 0 ? n : 0)])"
    )
