"""What is known of values where a region begins: case by case, and on random functions that are run."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from c_programs import compile_and_run
from random_control_flow import NAMES, REGION, RandomFunction

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.dependence.affine import least_values
from orio_py.ctree.file_scope import FileScope, surroundings
from orio_py.ctree.unit.control_flow import ControlFlow, Step
from orio_py.ctree.unit.value_ranges import facts_before

FUNCTION = """int g;
void f(int n, int m, long w, unsigned u, size_t s, double x, int *p)
{
  int i, j;
  %s
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++) p[i] = 0;
  /*@ end @*/
  %s
}
"""


def scope(text: str, begin: str = "/*@ begin", end: str = "/*@ end @*/") -> FileScope:
    start = text.index(begin)
    return surroundings(SourceFile("f.c", text.encode()), Span(start, text.index(end, start) + len(end)))


def facts(before: str, after: str = "") -> set[str]:
    near = scope(FUNCTION % (before, after))
    assert near.flow is not None
    found = facts_before(near.flow, near.inside, near.declared)
    return {" ".join(f"{c:+d}{'*'.join(names)}" for names, c in sorted(fact.terms.items())) for fact in found}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("if (n <= 0) return;", {"-1 +1n"}),
        ("if (n <= 0 || m < n) return;", {"-1 +1n", "+1m -1n"}),
        ("if (n <= 0 && m < n) return;", set()),
        ("if (!n) return;", set()),
        ("if (!u) return;", {"-1 +1u"}),
        ("if (s == 0) return;", {"-1 +1s"}),
        ("if (n != 4) return;", {"-4 +1n", "+4 -1n"}),
        ("m = 100;", {"-100 +1m", "+100 -1m"}),
        ("int k = -3;", {"-3 -1k", "+3 +1k"}),
        ("while (m < n) m++;", {"+1m -1n"}),
        ("for (j = 0; j < n; j++) g++;", {"+1j -1n"}),
        ("do m++; while (m < 9);", {"-9 +1m"}),
        ("if (w * n < m - 2) return;", {"+2 -1m +1n*w"}),
        ("if (n > 3) goto over; return; over: ;", {"-4 +1n"}),
        ("if (n > 3) { m = 1; } else return;", {"-4 +1n", "-1 +1m", "+1 -1m"}),
        ("switch (n) { case 3: if (m < 1) return; }", set()),
        # The value is another one afterwards, or may be.
        ("if (n <= 0) return; n--;", set()),
        ("if (n <= 0) return; if (m) n = m;", set()),
        ('if (n <= 0) return; scanf("%d", &n);', set()),
        ("p = &n; if (n <= 0) return;", set()),
        ("if (g <= 0) return;", set()),
        ("{ int n = 3; if (n <= 0) return; }", set()),
        ("static int k = 3;", set()),
        # C compares other numbers than those that stand there.
        ("if (n < u) return;", set()),
        ("if (u - 1 < 3) return;", set()),
        ("if (n < s) return;", set()),
        ("if (x < 1) return;", set()),
        ("char k = 300;", set()),
        ("unsigned k = -1;", set()),
        ("if (p[0] < 1) return;", set()),
    ],
)
def test_what_is_known(before: str, expected: set[str]) -> None:
    assert facts(before) == expected


def test_loops_and_conditions_around() -> None:
    around = "for (j = 0; j < m; j++) if (j > 2) {"
    assert facts(around, "}") == {"-1 -1j +1m", "-3 +1j"}
    assert facts(around, "m--; }") == {"-1 -1j +1m", "-3 +1j"}
    assert facts("if (n < 1) return; while (m--) {", "n -= 2; }") == set()
    assert facts("if (n < 1) return; while (m--) {", "if (n > 3) continue; }") == {"-1 +1n"}


@pytest.mark.parametrize(
    ("before", "least"),
    [
        ("if (n < 3) return;", {"n": 3}),
        ("if (n < 3 || m < n || w <= m + n) return;", {"n": 3, "m": 3, "w": 7}),
        ("if (n < 3 || m > n) return;", {"n": 3}),
        ("if (n < 3 || m < n * n) return;", {"n": 3}),
        ("if (n < -3) return;", {}),
        ("if (n <= m || m <= n) return;", {}),
    ],
)
def test_least_values(before: str, least: dict[str, int]) -> None:
    near = scope(FUNCTION % (before, ""))
    assert near.flow is not None
    assert least_values(facts_before(near.flow, near.inside, near.declared)) == least


def test_a_region_that_is_never_reached() -> None:
    assert facts("return;") == set()


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", range(6))
def test_random_functions_keep_what_is_said(tmp_path: Path, seed: int) -> None:
    functions: list[str] = []
    count = 0
    for number in range(80):
        text = (
            RandomFunction(random.Random(f"ranges-{seed}-{number}")).text(f"f{number}").replace("POISON", "")
        )
        near = scope(text, *REGION)
        assert near.flow is not None, text
        checks = ""
        for fact in facts_before(
            near.flow, near.inside, {n: d for n, d in near.declared.items() if n in NAMES}
        ):
            value = " + ".join("*".join([f"{c}L", *names]) for names, c in fact.terms.items())
            checks += f' if ({value} < 0) puts("f{number}: {value}");'
            count += 1
        functions.append(text.replace(REGION[0], f"{checks} {REGION[0]}"))
    calls = "\n".join(
        f"for (fuel = 0; fuel < 40; fuel++) {{ int out[4] = {{0}}; f{n}(out, fuel); }}" for n in range(80)
    )
    main = f"int main(void) {{ int fuel; {calls} return 0; }}"
    program = "#include <stdio.h>\n" + "\n".join(functions) + main
    assert compile_and_run(program, tmp_path, "-w") == ""
    assert count > 10


def test_facts_settle_after_few_visits_of_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    visits: list[Step] = []
    behind = ControlFlow._behind

    def counted(self: ControlFlow, change):
        return behind(self, lambda step, before: visits.append(step) or change(step, before))

    monkeypatch.setattr(ControlFlow, "_behind", counted)
    parts = (
        f"if (n > {k}) {{ for (i = 0; i < m; i++) if (p[i]) j = {k}; }} else i = {k};" for k in range(60)
    )
    assert facts("if (m < 3) return; " + " ".join(parts)) == {"-3 +1m"}
    assert len(visits) <= 3 * len(set(map(id, visits)))
