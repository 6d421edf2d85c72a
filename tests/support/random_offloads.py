"""Random loop nests in one to three dimensions with random launch shapes, for kernels on devices."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from orio_py.kernel.plan import Distribution
from orio_py.transformation.offload.opencl import OpenCL

_OUTER = (
    "for (i = 0; i < n; i++)",
    "for (i = 1; i < n - 1; i++)",
    "for (i = n - 1; i >= 0; i--)",
    "for (i = 1; i <= n - 2; i += 2)",
    "for (i = n - 2; i > 0; i -= 3)",
)
_INNER = (
    "for (j = 0; j < m; j++)",
    "for (j = 1; j < m - 1; j++)",
    "for (j = m - 1; j >= 0; j -= 2)",
)
_TRIANGULAR = ("for (j = 0; j <= i; j++)", "for (j = i; j < m; j++)", "for (j = (i < 3 ? i : 3); j < m; j++)")
_THIRD = ("for (k = 0; k < n; k++)", "for (k = 1; k < m; k++)")
_WITHIN = (
    "for ({i} = 2; {i} < {n} - 2; {i}++)",
    "for ({i} = 2; {i} <= {n} - 3; {i}++)",
    "for ({i} = {n} - 3; {i} >= 2; {i}--)",
    "for ({i} = 2; {i} < {n} - 2; {i} += 2)",
)
_TESTS = ("x[i] > 4", "i > 0", "i > 0 && i < n - 1", "i == 0 || c[i] > 3", "i % 3 != 1", "i != 2", "!(i < 2)")
_PAIR_TESTS = ("i < j", "j > 0 && i > 0", "p[i][j] > y[j + 1]", "i == j", "j != 0 || i > 2")
_REDUCTIONS = (
    "s += {e};",
    "s -= {e};",
    "count += c[i];",
    "bits ^= c[i];",
    "bits |= 2 * c[i];",
    "if ({e} > mx) mx = {e};",
    "mx = {e} < mx ? {e} : mx;",
    "ok = c[i] > 1 && ok;",
    "ok = c[i] > 7 || ok;",
)


def random_offload(draw: Random) -> tuple[str, OpenCL]:
    """Code over the variables of the same-result tests, and a kernel to make of it."""
    depth = draw.choice((1, 1, 2, 2, 2, 3))
    heads = [draw.choice(_OUTER)]
    if depth > 1:
        heads.append(draw.choice(_INNER if draw.random() < 0.8 else _TRIANGULAR))
    if depth > 2:
        heads.append(draw.choice(_THIRD))
    body = " ".join(_statement(draw, depth) for _ in range(draw.randint(1, 3)))
    perfect = draw.random() < 0.7 or depth == 1
    inside = f"{{ {body} }}" if perfect else f"{{ {body} }} y[i] = 2 * y[i]; }}"
    code = " ".join([*heads[:-1], "" if perfect else "{", heads[-1], inside])
    if not perfect and depth == 3:
        code = f"{heads[0]} {{ {heads[1]} {{ {body.replace('[k]', '[0]').replace('+ k', '')} }} y[i] = 1; }}"
    return code, _launch(draw, depth)


def random_stencil(draw: Random) -> tuple[str, OpenCL]:
    """A stencil over the same variables, with tiles in local memory; some have nothing to put there."""
    depth = draw.choice((1, 1, 2, 2, 3))
    heads = [draw.choice(_WITHIN).format(i=index, n=end) for index, end in zip("ijk", "nmn", strict=True)]
    value = " + ".join(f"{draw.randint(1, 4)} * {_neighbour(draw, depth)}" for _ in range(draw.randint(2, 5)))
    target = (
        "y[i]",
        draw.choice(("q[i][j]", "q[i][j]", "q[j][i]", "z[j * n + i]")),
        "z[(i * m + j) * n + k]",
    )[depth - 1]
    store = f"{target} = {value};"
    if depth == 3 or draw.random() < 0.2:
        store = f"{draw.choice(('s', 't = n; s'))} += {value};"
    elif draw.random() < 0.4:
        store = f"if ({_neighbour(draw, depth)} > {draw.choice('i3')}) {store} else {target} = i;"
    launch = replace(_launch(draw, depth), cacheBlocks=True, spread=Distribution.STRIDED)
    return " ".join([*heads[:depth], f"{{ {store} }}"]), launch


def _neighbour(draw: Random, depth: int) -> str:
    i, j, k = (f"{index} {draw.choice('+-')} {draw.choice('00112')}" for index in "ijk")
    line = (f"x[{i}]", f"c[{i}]", f"f[{i}]", f"p[{i}][1]", "c[i + 2]", "x[1]")
    plane = (f"p[{i}][{j}]", f"p[{i}][{j}]", f"z[({i}) * m + {j}]", f"x[{j}]", f"p[{j}][{i}]", f"c[{i}]")
    cube = (f"z[(({i}) * m + {j}) * n + {k}]", f"p[{j}][{k}]", f"x[{k}]", f"c[{j}]")
    return draw.choice((line, plane, cube)[depth - 1])


def _launch(draw: Random, depth: int) -> OpenCL:
    nd = draw.randint(1, depth)
    names = ("i", "j", "k")[:nd]
    given = draw.choice((nd, nd, tuple(draw.sample(names, nd))))
    items = tuple(draw.choice((1, 2, 3, 5)) for _ in range(nd)) if draw.random() < 0.7 else None
    groups = tuple(draw.choice((1, 2, 3)) for _ in range(nd)) if draw.random() < 0.4 else None
    coarsen = draw.choice((1, 1, 2, 5))
    spread = draw.choice(tuple(Distribution)) if groups is not None or coarsen > 1 else Distribution.STRIDED
    return OpenCL(
        nd=given,
        workItemsPerGroup=items,
        workGroups=groups,
        coarsen=coarsen,
        spread=spread,
        unrollInner=draw.choice((None, 2, 4)),
        sizeHint=draw.random() < 0.3,
    )


def _statement(draw: Random, depth: int) -> str:
    value = _value(draw, depth)
    kind = draw.random()
    if kind < 0.3:
        return draw.choice(_REDUCTIONS).format(e=value)
    if kind < 0.4:
        return f"t = {value}; {_target(draw, depth)} = t * 2;"
    store = f"{_target(draw, depth)} {draw.choice(('=', '=', '+=', '-='))} {value};"
    if kind < 0.65:
        tests = _TESTS if depth == 1 else (*_TESTS, *_PAIR_TESTS)
        other = draw.choice(("", f"else {store}", f"else {_target(draw, depth)} = 1;"))
        return f"if ({draw.choice(tests)}) {{ {store} }} {other}"
    return store


def _target(draw: Random, depth: int) -> str:
    if depth == 1:
        return draw.choice(("y[i]", "z[i]", "z[3 * i + 1]", "q[i][0]", "q[i][2]", "f[i]", "y[i + 1]"))
    if depth == 2:
        return draw.choice(("q[i][j]", "z[i * m + j]", "z[j * n + i]", "q[i][j]", "y[i]"))
    return draw.choice(("z[(i * m + j) * n + k]", "q[i][j]", "z[i * m + j]"))


def _value(draw: Random, depth: int) -> str:
    choices = [
        "x[i]",
        "x[i + 1]",
        "c[i]",
        "p[i][1]",
        "3",
        "n",
        "f[i]",
        "(i > 0 ? x[i - 1] : 1)",
        "fabs(x[i] - 5)",
    ]
    if depth > 1:
        choices += [
            "p[i][j]",
            "x[j]",
            "p[j][i]",
            "(j > 0 && i > 0 ? p[i - 1][j - 1] : j)",
            "x[i + j]",
            "c[j]",
        ]
    if depth > 2:
        choices += ["x[k]", "c[k]"]
    first, second = draw.choice(choices), draw.choice(choices)
    return f"{first} {draw.choice(('+', '-', '+ 2 *'))} {second}"
