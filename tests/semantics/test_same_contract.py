"""Contractions in register tiles have the results of the nests that they were made of, bit by bit."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from same_result import Case, assert_same_results

from orio_py.transformation.contraction.contract import Contract

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BATCH = 16
quick = settings(
    max_examples=1,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
SUMS = (
    "p[i][j] {op} q[i][k] * r[k][j];",
    "p[j][i] {op} q[k][i] * r[j][k];",
    "p[i][j] {op} -2.5 * q[k][k] * r[i][j];",
    "a[i + {m} * j] {op} q[i][k] * b[k + {k} * j];",
    "a[j + {n} * i] {op} acc * b[j + {n} * i] * q[k][0];",
    "a[i + {m} * j] {op} b[i + {m} * j] * q[k][1];",
    "c[i] {op} count * i * (k - j);",
    "acc_[0] {op} q[i][k] * r[k][j];",
)
"""`a[j + n * i]` and `a[i + m * j]` have neighbours of `j` and `i` one behind the other."""


@st.composite
def contractions(draw: st.DrawFn) -> Case:
    """A nest with its loops in any order, and tiles of any size."""
    extents = {x: draw(st.sampled_from((1, 2, 3, 4, 5, 7, 8, 11))) for x in "ijk"}
    number = draw(st.integers(0, len(SUMS) - 2))
    op = draw(st.sampled_from(("+=", "-=")))
    sizes = {"m": extents["i"], "n": extents["j"], "k": extents["k"]}
    body = SUMS[number].format(op=op, **sizes)
    start = draw(st.sampled_from((0, 0, 0, 2)))
    declared = draw(st.booleans())
    order = draw(st.permutations("ijk"))
    free = "i" if body.startswith("c[") else "ij"

    def header(x: str) -> str:
        first = start if x == "k" and "{k} *" not in SUMS[number] else 0
        return f"for ({'int ' * declared}{x} = {first}; {x} < {extents[x] + first}; {x}++)"

    initial = draw(st.sampled_from(("", "0", "0.5 * i")))
    if initial and free == "ij":
        target = body.partition(f" {op}")[0]
        head = " ".join(header(x) for x in order if x != "k")
        code = f"{head} {{ {target} = {initial}; {header('k')} {body} }}"
    else:
        code = " ".join([*(header(x) for x in order), body])
    parts = draw(st.permutations(free))
    flatten: tuple[tuple[str, ...], ...] = ()
    if body.startswith("a[") and draw(st.booleans()):
        flatten = (("i", "j"),) if body.startswith("a[i") else (("j", "i"),)
        parts = flatten[0][:1]
    block = st.sampled_from((1, 2, 3, 4, 8))
    return Case(
        code,
        Contract(
            order=tuple(parts),
            flatten=flatten,
            rows=draw(st.none() | st.just((parts[-1], draw(block)))) if len(parts) > 1 else None,
            columns=draw(st.none() | st.just((parts[0], draw(block)))),
            pack=tuple(x for x in "qrb" if body.count(f"{x}[") == 1 and draw(st.booleans())),
            unroll=draw(st.sampled_from((1, 2, 3, 8, 99))),
            prefetch=draw(st.none() | st.just((parts[0], draw(st.integers(1, 3))))),
            parallel=draw(st.booleans()),
            sums=draw(st.sampled_from(("arrays", "scalars"))),
        ),
        sizes=((1, 1, 1),),
    )


def check(cases: list[Case]) -> int:
    folder = Path(tempfile.mkdtemp())
    try:
        return assert_same_results(cases, folder, "-fopenmp", "-std=c99", "-Wno-unused-but-set-variable")
    finally:
        shutil.rmtree(folder)


@quick
@given(st.lists(contractions(), min_size=BATCH, max_size=BATCH))
def test_random_contractions(batch: list[Case]) -> None:
    assert check(batch) >= BATCH // 2


@pytest.mark.proof
@settings(quick, max_examples=2)
@given(st.lists(contractions(), min_size=60, max_size=60))
def test_many_random_contractions(batch: list[Case]) -> None:
    assert check(batch) >= 40


def test_a_sum_of_all_elements_and_a_product_without_a_sum() -> None:
    nest = "for (i = 0; i < 5; i++) for (j = 0; j < 7; j++)"
    cases = [
        Case(f"{nest} a[3] += p[i][j] * q[j][i];", Contract(unroll=3)),
        Case(f"{nest} p[i][j] = q[i][j] * b[i];", Contract(order=("j",), rows=("i", 2), columns=("j", 4))),
        Case(f"{nest} p[i][j] -= 2 * q[j][i];", Contract(pack=("q",), columns=("j", 3), parallel=True)),
    ]
    assert check(cases) == len(cases)
