"""Fused, split, exchanged, reversed and strip-mined loops compute what the originals compute, bit for bit."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from same_result import Case, assert_same_results

from orio_py.transformation.restructuring.coalesce import Coalesce
from orio_py.transformation.restructuring.distribute import Distribute
from orio_py.transformation.restructuring.fuse import Fuse
from orio_py.transformation.restructuring.interchange import Interchange
from orio_py.transformation.restructuring.reverse import Reverse
from orio_py.transformation.restructuring.strip_mine import StripMine

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BATCH = 24
quick = settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

SIGNED = ("int", "long", "short")
UNSIGNED = ("unsigned", "unsigned long", "unsigned char", "size_t")

# X stands for the index, which lies in -9 … 34; `count` serves as a temporary, too.
BODIES = (
    "a[X + 40] = a[X + 40] * 2.0 + b[X + 40] / 3;",
    "b[X + 40] = a[X + 40] + 1;",
    "b[X + 40] = a[X + 39] + 1.0 / 3;",
    "b[X + 40] += a[X + 41];",
    "a[X + 41] = b[X + 40];",
    "a[X + 40] = b[80 - X];",
    "c[X + 40] = (int)(X) % 7 + 1;",
    "acc += a[X + 40];",
    "acc = acc + b[X + 40];",
    "count = c[X + 40]; b[X + 40] = count * 0.5;",
    "count = (int)(X) * 3; a[X + 41] = count;",
    "if (c[X + 40] % 2) count = (int)(X);",
    "if (c[X + 40] % 2) a[X + 40] += 7 / 2; else b[X + 40] = X;",
    "double t = b[X + 40]; /* local */ a[X + 40] = t * t; c[X + 41] = (int)t;",
    "double t = a[X + 40]; b[X + 40] = t + 1;",
    "for (int t = 0; t < 3; t++) { if (t == 2) break; a[X + 40 + t] += t * 1e-1; }",
    "for (k = 0; k < 4; k++) b[X + 40] += k;",
    "if (c[X + 40] % 3 == 0) for (k = 0; k < c[X + 40] % 5; k++) c[X + 41]++;",
)
BETWEEN = (
    "",
    "",
    "",
    "/* between */",
    "count = 7;",
    "acc = acc * 2;",
    "double z = acc + 1; b[3] = z;",
    "c[2]++;",
)


@st.composite
def headers(draw: st.DrawFn) -> tuple[str, str, tuple[tuple[int, int, int], ...]]:
    """A loop header over X, the type of its index, and sizes for which it ends and stays inside the arrays."""
    kind = draw(st.sampled_from(SIGNED + UNSIGNED))
    natural = kind in UNSIGNED
    lowest = 4 if natural else -9
    stride = draw(st.sampled_from([1, 1, 1, 2, 3]))
    upward, strict = draw(st.booleans()), draw(st.booleans())
    near = str(draw(st.integers(lowest, 12)))
    zero = "0" if upward or not natural or (strict and stride == 1) else "4"
    low = draw(st.sampled_from(["s", "s + 1", near, zero]))
    high = draw(st.sampled_from(["n", "n - 1", "n", str(draw(st.integers(4, 30)))]))
    start, bound = (low, high) if upward else (high, low)
    relation = ("<" if upward else ">") + ("" if strict else "=")
    sign = "+" if upward else "-"
    step = f"X {sign}= {stride}" if stride > 1 or draw(st.booleans()) else f"X{sign}{sign}"
    number = st.integers(lowest, 30)
    sizes = tuple(draw(st.lists(st.tuples(number, number, number), min_size=2, max_size=4)))
    header = f"X = {start}; X {relation} {bound}; {step}"
    return header, kind, ((lowest, lowest, 1), (lowest + 1, lowest + 2, 1), (lowest, 30, 2), *sizes)


@st.composite
def bodies(draw: st.DrawFn, least: int = 1) -> str:
    return " ".join(draw(st.lists(st.sampled_from(BODIES), min_size=least, max_size=3, unique=True)))


def loop(header: str, body: str, index: str, kind: str | None) -> str:
    header = header.replace("X", index)
    return f"for ({kind + ' ' if kind else ''}{header}) {{ {body.replace('X', index)} }}"


@st.composite
def neighbours(draw: st.DrawFn) -> Case:
    """Loops that follow each other, often with equal headers, perhaps inside another loop."""
    header, kind, sizes = draw(headers())
    items: list[str] = []
    names = [draw(st.sampled_from("iiij")) for _ in range(draw(st.integers(2, 3)))]
    named = draw(st.booleans())
    declared: list[bool] = []
    for name in names:
        declared.append(draw(st.sampled_from([False, False, True])))
        other = draw(st.sampled_from([False] * 9 + [True]))
        body = draw(st.sampled_from(BODIES))
        if body.count("count = c") == 0 and draw(st.booleans()):
            more = draw(st.sampled_from([b for b in BODIES if "double" not in b or "double" not in body]))
            body += " " + more
        mine = header.replace("n", "m") if other else header
        items.append(loop(mine, body, name, kind if declared[-1] else None))
        between = draw(st.sampled_from(BETWEEN)) if named else draw(st.sampled_from(["", "/* next */"]))
        items.append(between if "double z" not in " ".join(items) else "")
    code = "\n".join(items)
    if draw(st.sampled_from([False, False, False, True])):
        code = f"for (int w = 0; w < 2; w++) {{ {code} }}"
    step = Fuse(tuple(dict.fromkeys(names))) if named else Fuse()
    return Case(code, step, kind, sizes, final_indices=draw(st.booleans()))


NEST_BODIES = (
    "p[i][j] = q[i][j] * 2;",
    "q[i][j] = p[i][j] + 1.0 / 3;",
    "r[i][j] += p[i][j + 1];",
    "r[i][j] = p[i + 1][j];",
    "p[i + 1][j] = q[j][i];",
    "acc += p[i][j];",
    "q[i][j] += p[i][j] * r[j][i];",
    "c[j] = c[j] + 7 / 2;",
    "count = c[i + j]; r[i][j] = count;",
    "if (c[j] % 2) q[i][j] = 0;",
    "for (k = 0; k < 3; k++) r[i][j] += q[i][k];",
    "for (int k = 0; k <= i; k++) { p[i][j] += r[k][j]; }",
)
PASSED = (
    "acc = q[i][j] * 2; p[i][j] = acc; r[i][j] = acc + p[i][j];",
    "double u = q[j][i]; p[i][j] += u; count = c[j] + 1; r[i][j] = u * count;",
    "acc += q[i][j]; r[i][j] = acc / 3;",
    "if (c[j] % 2) acc = 2; else acc = q[i][j]; p[i][j] = acc; r[i][j] = acc;",
    "count = c[i]; count = count % 7; p[i][j] = count; acc = p[i][j] * 0.5; q[i][j] = acc + count;",
)
"""Statements between which scalars pass values."""

OUTER = ("i = 0; i < n; i++", "i = n - 1; i >= 0; i--", "i = 1; i <= n - 1; i += 2")
INNER = ("j = 0; j < m; j++", "j = 0; j <= i; j++", "j = i; j < m; j += 3", "j = m - 1; j >= 0; j--")
NEST_SIZES = ((0, 0, 0), (0, 1, 1), (0, 0, 5), (0, 7, 5), (0, 13, 12), (0, 16, 17))


def renamed(code: str) -> str:
    """The code with `i` and `j` exchanged."""
    return re.sub(r"\b[ij]\b", lambda found: "ij"[found[0] == "i"], code)


@st.composite
def neighbouring_nests(draw: st.DrawFn) -> Case:
    outer, inner = draw(st.sampled_from(OUTER)), draw(st.sampled_from(INNER))
    first, second = draw(st.sampled_from(NEST_BODIES)), draw(st.sampled_from(NEST_BODIES))
    heads = f"for ({outer}) /* rows */ for ({inner})"
    other = f"for ({outer}) for ({inner}) {{ {second} }}"
    if draw(st.sampled_from([False, False, True])):
        other = renamed(other)
    code = f"{heads} {{ {first} }} {other}"
    step = Fuse(depth=draw(st.sampled_from([1, 2])))
    return Case(code, step, sizes=NEST_SIZES, final_indices=draw(st.booleans()))


@st.composite
def splittable(draw: st.DrawFn) -> Case:
    """A loop over several statements."""
    header, kind, sizes = draw(headers())
    body = draw(bodies(2))
    count = 6 if draw(st.booleans()) else 0
    if body.count("double t") > 1:
        body = body.replace("double t = a", "double u = a").replace("t + 1", "u + 1")
    groups: tuple[tuple[int, ...], ...] = ()
    if count and draw(st.booleans()):
        first = body.split("; ", 1)
        if "{" not in body and len(first) == 2:
            total = body.replace("/* local */", "").count(";") - body.count("else")
            cut = draw(st.integers(1, max(1, total - 1)))
            groups = (tuple(range(cut)), tuple(range(cut, total))) if "for" not in body else ()
    declared = draw(st.booleans())
    step = Distribute(groups, strip=draw(st.sampled_from([1, 3, 256, 0])))
    code = loop(header, body, "i", kind if declared else None)
    return Case(code, step, kind, sizes, final_indices=draw(st.booleans()))


@st.composite
def splittable_nests(draw: st.DrawFn) -> Case:
    outer, inner = draw(st.sampled_from(OUTER)), draw(st.sampled_from(INNER))
    parts = draw(st.lists(st.sampled_from((*NEST_BODIES, *PASSED)), min_size=2, max_size=4, unique=True))
    strip = draw(st.sampled_from([1, 3, 4, 256, 0]))
    code = f"for ({outer}) for ({inner}) {{ {' '.join(parts)} }}"
    if draw(st.booleans()):
        loops = " ".join(f"for ({inner}) {{ {part} }}" for part in parts)
        code = f"for ({outer}) {{ {loops} }}"
        return Case(code, Distribute(strip=strip), sizes=NEST_SIZES, final_indices=draw(st.booleans()))
    step = Distribute(loop=draw(st.sampled_from([None, "i", "j"])), strip=strip)
    return Case(code, step, sizes=NEST_SIZES, final_indices=draw(st.booleans()))


@st.composite
def turned(draw: st.DrawFn) -> Case:
    header, kind, sizes = draw(headers())
    likely = [body for body in BODIES if "acc" not in body and "39" not in body and "41" not in body]
    body = draw(st.sampled_from(likely)) if draw(st.sampled_from([True, True, False])) else draw(bodies())
    if body.count("double t") > 1:
        body = body.replace("double t = a", "double u = a").replace("t + 1", "u + 1")
    code = loop(header, body, "i", kind if draw(st.booleans()) else None)
    return Case(code, Reverse(), kind, sizes, final_indices=draw(st.booleans()))


@st.composite
def nests(draw: st.DrawFn) -> str:
    outer, inner = draw(st.sampled_from(OUTER)), draw(st.sampled_from(INNER))
    body = " ".join(draw(st.lists(st.sampled_from(NEST_BODIES), min_size=1, max_size=2)))
    return f"for ({outer}) for ({inner}) {{ {body} }}"


@st.composite
def turned_nests(draw: st.DrawFn) -> Case:
    step = Reverse(draw(st.sampled_from([None, "i", "j"])))
    return Case(draw(nests()), step, sizes=NEST_SIZES, final_indices=draw(st.booleans()))


@st.composite
def exchanged(draw: st.DrawFn) -> Case:
    first, second = draw(st.permutations("ij"))
    return Case(draw(nests()), Interchange(first, second), sizes=NEST_SIZES)


@st.composite
def coalesced(draw: st.DrawFn) -> Case:
    step = Coalesce("number", draw(st.sampled_from([None, "i"])))
    if draw(st.booleans()):
        return Case(draw(nests()), step, sizes=NEST_SIZES, final_indices=draw(st.booleans()))
    header, kind, sizes = draw(headers())
    inner = draw(
        st.sampled_from(
            ["int j = 0; j < n; j++", "long j = n; j >= 1; j -= 2", "unsigned j = 1; j <= 5; j += 3"]
        )
    )
    code = loop(header, f"for ({inner}) {{ {draw(bodies())} }}", "i", kind if draw(st.booleans()) else None)
    return Case(code, step, kind, sizes, final_indices=draw(st.booleans()))


@st.composite
def stripped(draw: st.DrawFn) -> Case:
    header, kind, sizes = draw(headers())
    body = draw(st.sampled_from(BODIES))
    code = loop(header, body, "i", kind if draw(st.booleans()) else None)
    return Case(code, StripMine(6 * draw(st.integers(1, 4)), "strip"), kind, sizes)


def batches(one: st.SearchStrategy[Case]) -> st.SearchStrategy[list[Case]]:
    return st.lists(one, min_size=BATCH, max_size=BATCH)


def check(batch: list[Case], at_least: int) -> None:
    """All cases that are not refused give the same results, and enough of them are not refused."""
    with tempfile.TemporaryDirectory() as folder:
        assert assert_same_results(batch, Path(folder)) >= at_least


@quick
@given(batches(neighbours()))
def test_fuse(batch: list[Case]) -> None:
    check(batch, 2)


@pytest.mark.proof
def test_fuse_every_pair_of_bodies_with_scalars() -> None:
    header, sizes = "X = 0; X < n; X++", tuple((0, n, 0) for n in (0, 1, 2, 26, 27, 28, 29, 30))
    scalars = [body for body in BODIES if any(name in body for name in ("acc", "count", "k = 0"))]
    cases = [
        Case(
            f"{loop(header, first, 'i', None)} {loop(header, second, 'i', None)}",
            Fuse(),
            sizes=sizes,
            final_indices=True,
        )
        for first in scalars
        for second in scalars
    ]
    check(cases, len(cases) // 4)


@pytest.mark.proof
@quick
@given(batches(neighbouring_nests()))
def test_fuse_nests(batch: list[Case]) -> None:
    check(batch, 6)


@pytest.mark.proof
@quick
@given(batches(splittable()))
def test_distribute(batch: list[Case]) -> None:
    check(batch, 4)


@pytest.mark.proof
@quick
@given(batches(splittable_nests()))
def test_distribute_nests(batch: list[Case]) -> None:
    check(batch, 6)


@quick
@given(batches(turned()))
def test_reverse(batch: list[Case]) -> None:
    check(batch, 4)


@pytest.mark.proof
@quick
@given(batches(turned_nests()))
def test_reverse_in_nests(batch: list[Case]) -> None:
    check(batch, 4)


@quick
@given(batches(exchanged()))
def test_interchange(batch: list[Case]) -> None:
    check(batch, 2)


@pytest.mark.proof
@quick
@given(batches(coalesced()))
def test_coalesce(batch: list[Case]) -> None:
    check(batch, 4)


@pytest.mark.proof
@quick
@given(batches(stripped()))
def test_strip_mine(batch: list[Case]) -> None:
    check(batch, 12)
