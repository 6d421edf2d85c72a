"""Threads, vectors, versions and `restrict` compute the same, bit for bit.

Sums of floating-point numbers are over small integers, which have no rounding: the order of the additions
shows in no bit.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, links, openmp
from c_trees import context, transformed_file
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from same_result import SIDE, Case, assert_same_results

from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Refusal, Transformation
from orio_py.transformation.offload.openacc import OpenACC
from orio_py.transformation.offload.openmp_target import OpenMPTarget
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.parallelize import Parallelize
from orio_py.transformation.parallel.pragma import Pragma
from orio_py.transformation.parallel.vector import Vector
from orio_py.transformation.parallel.vectorize import Vectorize
from orio_py.transformation.versions.restrict import Restrict
from orio_py.transformation.versions.specialize import Specialize

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BATCH = 20
quick = settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
FAST = (
    "-fno-sanitize=all",
    "-O3",
    "-march=native",
    "-ffp-contract=off",
    "-fno-tree-loop-distribute-patterns",
)
"""The vectoriser at work, which the sanitizers would hinder."""

KINDS = ("int", "long", "short", "unsigned", "unsigned long")


@dataclass(frozen=True, slots=True)
class Promised(Case):
    """A case whose user promises what can be promised."""

    @property
    def declarations(self) -> str:
        return f"""{self.kind} i, j, k, s, n, m; double acc; int count; double *a, *b; int *c;
        double (*p)[{SIDE}], (*q)[{SIDE}], (*r)[{SIDE}];"""

    @property
    def context(self) -> Context:
        live = "a b c p q r acc count" + (" i j k" if self.final_indices else "")
        promises = Assumptions(noalias=True, reassociate=True)
        return context(self.declarations, live=live, assumptions=promises)


VARIABLES = """double t = 1.5, big = 3.0; int best = 900, last = 5, bits = 12, place = 7; int ok = 7; _Bool flag = 1;
long product = 1; unsigned few = 9;
(void)t; (void)big; (void)best; (void)last; (void)bits; (void)place; (void)ok; (void)flag; (void)product; (void)few;"""
READS = (
    "acc += t;", "acc += big;", "count += best;", "count += last;", "count += bits;", "count += ok;",
    "count += flag;", "count += (int)(product % 1000);", "count += (int)(few % 999);", "count += place;",
    "count += (int)i;",
)  # fmt: skip

SHARED = (
    "a[X] = a[X] * 2.0 + b[X] / 3;",
    "t = a[X] * 2.0; b[X] = t + 1.0;",
    "{ t = b[X]; if (t > 20.0) t = 20.0; a[X] = t; }",
    "if (c[X] % 3 == 0) { t = a[X]; b[X] = t; }",
    "last = c[X] % 100;",
    "count += c[X] % 50;",
    "count -= c[X] % 7; count++;",
    "acc = acc + c[X] % 8;",
    "acc -= (c[X] % 4) * 0.5;",
    "if (c[X] % 5 < 2) acc += 1.0;",
    "best = c[X] < best ? c[X] : best;",
    "if (c[X] > best) best = c[X];",
    "if (b[X] > big) { big = b[X]; }",
    "big = big > a[X] ? a[X] : big;",
    "bits = bits | (c[X] & 64);",
    "bits ^= c[X] & 48;",
    "few += 3; few *= 5;",
    "few *= 2u * (unsigned)(c[X] % 3) + 1;",
    "product = product * (c[X] % 3 + 1) % 1000003;",
    "ok = c[X] % 97 != 5 && ok;",
    "flag = c[X] % 11 != 5 && flag;",
    "flag = flag || c[X] == 3;",
    "if (c[X] % 2) ok = c[X] > 1 && ok;",
    "for (k = 0; k < 3; k++) a[X] = a[X] * 0.5 + b[X];",
    "for (int u = 0; u < 2; u++) count += c[X] % 4;",
    "place += 2; b[X] = a[X] * place;",
    "b[X] = a[X] + place; place++;",
    "a[X + 4] = a[X] * 0.5;",
    "a[X + 2] = a[X] * 0.5;",
    "c[X + 3] = c[X] % 64 + 1;",
    "b[X] = b[X + 6] + 1.0;",
    "a[X] = a[X - 1] + 1.0;",
    "{ double own = a[X]; own = own * own; a[X] = own; }",
)


@st.composite
def single(draw: st.DrawFn) -> tuple[str, str, tuple[tuple[int, int, int], ...]]:
    """A loop among variables that are read after it or not, the type of its index, and sizes."""
    kind = draw(st.sampled_from(KINDS))
    natural = kind.startswith("unsigned")
    lowest = 8 if natural else -9
    upward, stride = draw(st.booleans()), draw(st.integers(1, 3))
    low = draw(st.sampled_from(["s", "8", "s + 1"]))
    high = draw(st.sampled_from(["n", "n - 1", "24"]))
    start, bound = (low, high) if upward else (high, low)
    relation = ("<" if upward else ">") + draw(st.sampled_from(["", "="]))
    declared = draw(st.integers(0, 2)) == 0
    chosen = draw(st.lists(st.sampled_from(SHARED), min_size=1, max_size=3, unique=True))
    body = " ".join(chosen).replace("X - 1", "i + 39").replace("X", "i + 40")
    reads = draw(st.lists(st.sampled_from(READS[:-1] if declared else READS), max_size=4, unique=True))
    step = f"i {'+' if upward else '-'}= {stride}"
    loop = f"for ({kind + ' ' if declared else ''}i = {start}; i {relation} {bound}; {step}) {{ {body} }}"
    number = st.integers(lowest, 30)
    sizes = tuple(draw(st.lists(st.tuples(number, number, number), min_size=3, max_size=5)))
    return (
        f"{{ {VARIABLES} {loop} {' '.join(reads)} }}",
        kind,
        ((lowest, lowest, 9), (lowest + 2, lowest + 1, 9), *sizes),
    )


NEST_BODIES = (
    "p[i][j] = p[i][j] * 0.5 + q[j][i];",
    "count += c[i + j];",
    "{ t = q[i][j]; p[i][j] = t * t; }",
    "p[i + 1][j] = q[i][j + 1] + 1.0;",
    "p[i][j] = p[i][j + 1] + 1.0;",
    "if (c[j] > best) best = c[j];",
    "c[i] += (int)(j * 3);",
    "last = (int)(i + j);",
)


@st.composite
def nested(draw: st.DrawFn) -> tuple[str, str, tuple[tuple[int, int, int], ...]]:
    kind = draw(st.sampled_from(KINDS))
    inner = draw(
        st.sampled_from(
            ["j = 0; j < m; j++", "j = 2; j <= 15; j += 3", "j = 0; j < i; j++", "j = m; j > 0; j--"]
        )
    )
    outer = draw(st.sampled_from(["i = 0; i < n; i++", "i = n; i > 0; i--", "i = 1; i < 16; i += 2"]))
    body = " ".join(draw(st.lists(st.sampled_from(NEST_BODIES), min_size=1, max_size=2, unique=True)))
    before = draw(st.sampled_from(["", "", "a[i] = 1.0;"]))
    reads = draw(st.lists(st.sampled_from([*READS, "count += (int)j;"]), max_size=3, unique=True))
    code = f"for ({outer}) {{ {before} for ({inner}) {{ {body} }} }}"
    sizes = ((0, 0, 0), (0, 1, 1), (0, 0, 5), (0, 5, 0), (0, 13, 12), (0, 16, 17))
    return f"{{ {VARIABLES} {code} {' '.join(reads)} }}", kind, sizes


def batches(
    transformations: st.SearchStrategy[Transformation],
    *codes: st.SearchStrategy[tuple[str, str, tuple[tuple[int, int, int], ...]]],
) -> st.SearchStrategy[list[Case]]:
    one = st.builds(
        lambda code, transformation: Promised(code[0], transformation, code[1], code[2]),
        st.one_of(*codes),
        transformations,
    )
    return st.lists(one, min_size=BATCH, max_size=BATCH)


def transformed(cases: st.SearchStrategy[list[Case]], *flags: str) -> float:
    """The share of the drawn cases that were transformed, all of them with the same results."""
    drawn, done = 0, 0

    @quick
    @given(cases)
    def compare(batch: list[Case]) -> None:
        nonlocal drawn, done
        with tempfile.TemporaryDirectory() as folder:
            drawn, done = drawn + len(batch), done + assert_same_results(batch, Path(folder), *flags)

    compare()
    return done / drawn


PARALLEL = st.builds(
    lambda schedule, threads: Parallelize(schedule=schedule, num_threads=threads),
    st.sampled_from(["", "static", "static,1", "dynamic", "dynamic, 3", "guided", "auto"]),
    st.sampled_from([None, 1, 3, 4]),
)
COLLAPSED = st.builds(
    lambda schedule, depth: Parallelize(schedule=schedule, collapse=depth),
    st.sampled_from(["", "dynamic"]),
    st.integers(1, 2),
)
VECTOR = st.sampled_from([None, 2, 4]).map(lambda length: Vectorize(simdlen=length))
INNER_VECTOR = st.sampled_from([None, "i", "j"]).map(lambda loop: Vectorize(loop))


def test_parallelize() -> None:
    assert transformed(batches(PARALLEL, single()), *openmp()) > 0.25


@pytest.mark.proof
def test_parallelize_nests() -> None:
    assert transformed(batches(COLLAPSED, nested()), *openmp()) > 0.3


@pytest.mark.proof
def test_vectorize() -> None:
    assert transformed(batches(VECTOR, single()), *openmp(), *FAST) > 0.3


def test_vectorize_nests() -> None:
    assert transformed(batches(INNER_VECTOR, nested()), *openmp()) > 0.3


TARGETS = st.builds(
    lambda depth, teams, threads: OpenMPTarget(
        nd=depth[0], threadLoops=depth[1], teamCount=teams, threadCount=threads
    ),
    st.sampled_from([(1, 0), (2, 0), (2, 1)]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([None, 1, 2]),
)
ACCELERATED = st.builds(
    lambda depth, gangs, lanes: OpenACC(
        nd=depth[0], vectorLoops=depth[1], gangCount=gangs, vectorLength=lanes
    ),
    st.sampled_from([(1, 0), (2, 0), (2, 1)]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([None, 1, 32]),
)


@pytest.mark.proof
def test_openmp_target() -> None:
    assert transformed(batches(TARGETS, single(), nested()), *openmp()) > 0.2


def test_openacc() -> None:
    flags = ("-fopenacc",) if links("-fopenacc") else ()
    assert transformed(batches(ACCELERATED, single(), nested()), *flags) > 0.2


TEXTS = st.sampled_from(
    [
        "omp parallel for",
        "omp parallel for lastprivate(t)",
        "omp parallel for private(t) reduction(+: count)",
        "omp parallel for reduction(+: acc, count) reduction(max: best)",
        "omp parallel for lastprivate(last) reduction(&&: ok)",
    ]
)


def test_openmp_texts() -> None:
    assert (
        transformed(batches(TEXTS.map(lambda text: OpenMP(True, (text,))), single(), nested()), *openmp())
        > 0.15
    )


PLAIN = st.sampled_from(
    ["omp parallel for", "omp parallel for reduction(+: acc, count)", "omp simd", "GCC unroll 2"]
)


@st.composite
def bare(draw: st.DrawFn) -> tuple[str, str, tuple[tuple[int, int, int], ...]]:
    """A loop that uses the variables of every case only."""
    kind, upward = draw(st.sampled_from(KINDS)), draw(st.booleans())
    body = draw(
        st.sampled_from(["count += c[X] % 50;", "acc += c[X] % 8;", "a[X] = b[X] * 2.0;", "a[X + 1] = a[X];"])
    )
    header = "i = s; i < n; i += 2" if upward else "i = n; i > s; i--"
    return (
        f"for ({header}) {{ {body.replace('X', 'i + 40')} }}",
        kind,
        ((9, 9, 9), (12, 9, 9), (9, 23, 9), (10, 28, 9)),
    )


def test_pragma_texts() -> None:
    assert transformed(batches(PLAIN.map(lambda text: Pragma((text,))), bare()), *openmp()) > 0.15


SIMD = st.sampled_from(
    [
        "omp simd",
        "omp simd lastprivate(last)",
        "omp simd reduction(+: count, acc) private(t)",
        "omp simd linear(place: 2)",
    ]
)


def test_simd_texts() -> None:
    assert (
        transformed(batches(SIMD.map(lambda text: Vector(True, (text,))), single()), *openmp(), *FAST) > 0.1
    )


VERSIONS = st.builds(
    lambda on, values, aligned, alignment: Specialize(on, tuple(values), aligned, alignment),
    st.sampled_from(["n", "s", "m"]),
    st.lists(st.integers(0, 20), min_size=1, max_size=3, unique=True),
    st.sampled_from([(), (), ("a",), ("a", "b")]),
    st.sampled_from([16, 32, 64, 4096]),
)


def test_specialize() -> None:
    cases = batches(VERSIONS, single(), nested()).map(lambda batch: [_with_its_values(c) for c in batch])
    assert transformed(cases, *openmp(), "-O1") > 0.15


def _with_its_values(case: Case) -> Case:
    """The case with sizes at which its versions run."""
    step = case.transformation
    assert isinstance(step, Specialize)
    place = "snm".index(step.on or "n")
    extra = tuple(
        (*size[:place], value, *size[place + 1 :])
        for value in step.values
        for size in case.sizes[-2:]
        if value >= case.sizes[0][place] or value >= 8
    )
    bounded = tuple(size for size in extra if max(size) <= 30)
    return Promised(case.code, step, case.kind, (*case.sizes, *bounded))


POINTERS = st.lists(st.sampled_from("abcpq"), min_size=1, max_size=3, unique=True).map(
    lambda names: Restrict(tuple(names))
)


def test_restrict() -> None:
    assert transformed(batches(POINTERS, single(), nested()), *openmp(), "-O2") > 0.15


@pytest.mark.parametrize(
    ("element", "accepted"),
    [("m->sizes[i]", True), ("m->sizes[i] * 2 + m->first", True), ("m->parts[i]", False)],
)
def test_sums_of_members_are_exact_where_these_are_integers(
    tmp_path: Path, element: str, accepted: bool
) -> None:
    text = f"""#include <stddef.h>
#include <stdio.h>
typedef struct {{ size_t sizes[16]; int first; double parts[16]; }} model;
static size_t total(const model *m)
{{
  size_t sum = 7;
  /*@ begin Loop(transform Parallelize()) @*/
  for (size_t i = 0; i < 16; i++) sum += {element};
  /*@ end @*/
  return sum;
}}
int main(void)
{{
  model m = {{{{0}}, 3, {{0}}}};
  for (int i = 0; i < 16; i++) m.sizes[i] = m.parts[i] = i * i;
  printf("%zu\\n", total(&m));
  return 0;
}}
"""
    if not accepted:
        # Each sum is cut off to a whole number.
        with pytest.raises(Refusal):
            transformed_file(text, {})
        return
    new = transformed_file(text, {})
    assert "reduction(+: sum)" in new
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == compile_and_run(
        text, tmp_path, *checked()
    )
