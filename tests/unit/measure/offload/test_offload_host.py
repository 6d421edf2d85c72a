"""The timed code is followed: scalars, conditions, loops, pointers; what is more than that is told."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from device_calls import axpy_call, write_data

from orio_py.ctree.evaluate import NoValueError, Number, number_type
from orio_py.measure.offload.host import HostCode, Launch
from orio_py.measure.offload.host_state import HostState, Pointer, expression
from orio_py.measure.offload.variant import HostData, HostMember, HostVariable


def state(tmp_path: Path, constants: dict[str, str] | None = None) -> HostState:
    values = [
        ("n", "int", np.int32([10]), None),
        ("a", "double", np.float64([2.5]), None),
        ("s", "float", np.float32([0.5]), None),
        ("x", "double", np.arange(30.0), None),
        ("y", "double", np.arange(30.0), None),
    ]
    data = HostData.read(write_data(tmp_path, values))
    variables = tuple(v if v.name != "y" else replace(v, dimensions=("3", "n")) for v in data.variables)
    return HostState.of(
        HostData(data.inputs, data.reference, variables, constants or {}, {"real": "float"}, {})
    )


def followed(text: str, before: HostState) -> list[Launch]:
    launches: list[Launch] = []
    code = HostCode.of(text, {"axpy": axpy_call()}, {"real": "float"})
    code.run(before, lambda launch, _: launches.append(launch))
    return launches


def test_a_call_becomes_a_launch(tmp_path: Path) -> None:
    text = """{
      void axpy(double *y, const double *x, long orio_count_y, long orio_count_x, double a, long orio_trips_i);
      axpy(&y[1][2], x + 3, n * 2, n, a / 2, n - 1);
    }"""
    [launch] = followed(text, state(tmp_path))
    assert launch.pointers == {"y": Pointer("y", 12 * 8, 8), "x": Pointer("x", 3 * 8, 8)}
    assert launch.numbers["orio_count_y"] == Number(number_type("long"), 20)
    assert launch.numbers["a"] == Number(number_type("double"), 1.25)
    assert launch.trips == (9,)
    assert not launch.is_empty


def test_steps_from_an_element_of_a_matrix_are_elements(tmp_path: Path) -> None:
    [launch] = followed("axpy((double *)&y[1][0] + 4, &y[2][3] - n, n, n, a, n);", state(tmp_path))
    assert launch.pointers == {"y": Pointer("y", 14 * 8, 8), "x": Pointer("y", 13 * 8, 8)}


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        (
            "(unsigned long)(x + 30) <= (unsigned long)y || (unsigned long)(y[0] + 30) <= (unsigned long)x",
            True,
        ),
        ("(unsigned long)x == (unsigned long)x + 0", True),
        ("(unsigned long)(x + n) - (unsigned long)x == 80", True),
        ("(unsigned long)&y[1][2] - (unsigned long)y[0] == 96", True),
        ("(unsigned long)(x + 3) <= (unsigned long)(x + 2)", False),
        ("(unsigned long)&n == (unsigned long)&a", False),
        ("sizeof(*x) == 8 && x != 0", True),
        ("(long)n + 1 == 11 && (unsigned long)(n + 1) == 11", True),
    ],
)
def test_arrays_have_addresses_far_apart(tmp_path: Path, test: str, holds: bool) -> None:
    found = followed(f"if ({test}) axpy(y[0], x, n, n, a, n);", state(tmp_path))
    assert len(found) == int(holds)


def test_steps_from_a_matrix_would_be_rows(tmp_path: Path) -> None:
    with pytest.raises(NoValueError, match="arithmetic on a pointer to rows"):
        followed("axpy(y + 1, x, n, n, a, n);", state(tmp_path))


def test_one_subscript_of_a_matrix_is_flat(tmp_path: Path) -> None:
    [launch] = followed("axpy(&y[7], &x[n - 1], n, n, a, n);", state(tmp_path))
    assert launch.pointers == {"y": Pointer("y", 7 * 8, 8), "x": Pointer("x", 9 * 8, 8)}


def test_sizes_of_rows_are_those_of_the_declaration(tmp_path: Path) -> None:
    before = state(tmp_path)
    text = "axpy(&y[0][0], x, sizeof(y[0]) / sizeof(y[0][0]), sizeof(x[3]), a, n);"
    [launch] = followed(text, before)
    assert launch.numbers["orio_count_y"] == Number(number_type("long"), 10)
    assert launch.numbers["orio_count_x"] == Number(number_type("long"), 8)


def test_host_code_around_kernels_is_followed(tmp_path: Path) -> None:
    text = """
    /* a comment */
    #pragma once
    int k, m = SIZE - 1;
    real r = 1;
    s += m; s *= 2;
    for (k = 0; k < 3; k++)
      if (k != 1) { axpy(y, x, n, n, s, k + m); } else ;
    r /= 3; a = r; n--;
    """
    before = state(tmp_path, {"SIZE": "(TWICE + 1)", "TWICE": "2 * n"})
    launches = followed(text, before)
    assert [launch.trips for launch in launches] == [(20,), (22,)]
    assert launches[0].numbers["a"] == Number(number_type("double"), 41.0)
    assert before.scalars["a"] == Number(number_type("double"), float(np.float32(1.0) / np.float32(3.0)))
    assert before.scalars["n"] == Number(number_type("int"), 9)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("y[0] = 1.0;", "`y[0]` is a row"),
        ("q[0] = 1.0;", "`q` is not an array"),
        ("x[0] = other(n);", "the function `other` is not known"),
        ("for (n = 0; n < 2; n++) x[n] = other(n);", "the function `other` is not known"),
        ("other(n);", "the call of `other`"),
        ("do n--; while (n);", "a DoWhile statement"),
        ("while (1) n = 1;", "more than 1000000 steps"),
        ("int q[3] = {1};", "the declaration of `q`"),
        ("n = q;", "the value of `q` is not known"),
        ("a = x[0]; n = a;", "the value of `a` is not known"),
        ("a = x[0] + 1;", "has no value here"),
        ("axpy(y, x);", "`axpy` takes 6 arguments"),
        ("axpy(q, x, n, n, a, n);", "`q` is not an array"),
        ("axpy(&y[1][2][3], x, n, n, a, n);", "`y` has 2 dimensions"),
        ("for (;;) n = 1;", "more than 1000000 steps"),
        ("#if N\nn = 1;\n#endif", "`#if` is left to the compiler"),
        ("#define one(x) (x)\nn = one(1);", "`#define` is left to the compiler"),
    ],
)
def test_what_cannot_be_followed_is_told(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(NoValueError) as caught:
        followed(text, state(tmp_path))
    assert reason in str(caught.value)


def test_macros_that_the_code_defines_and_does_not_use_are_nothing(tmp_path: Path) -> None:
    after = state(tmp_path)
    assert (
        followed("#define max(x,y) \\\n  ((x) > (y)? (x) : (y))\n# define min(x,y) max(y,x)\nn = 3;", after)
        == []
    )


def test_a_constant_that_needs_itself_has_no_value(tmp_path: Path) -> None:
    with pytest.raises(NoValueError, match="the value of `P` is not known"):
        followed("n = P;", state(tmp_path, {"P": "Q + 1", "Q": "P + 1"}))


def test_locals_with_fixed_initialisers_are_evaluated(tmp_path: Path) -> None:
    data = state(tmp_path).data
    local = replace(data.variables[2], name="h", has_value=False, initialiser="a / n")
    found = HostState.of(replace(data, variables=(*data.variables, local)))
    assert found.scalars["h"] == Number(number_type("float"), 0.25)


def with_structures(tmp_path: Path) -> HostState:
    kind = np.dtype([("n", "i4"), ("w", "f4", 3), ("dt", "f8")], align=True)
    content = np.array([(7, (1, 2, 3), 0.5), (8, (4, 5, 6), 1.5)], kind)
    (tmp_path / "structures.bin").write_bytes(content.tobytes())
    members = (
        HostMember("n", "int", 0, 4, 1),
        HostMember("w", "float", 4, 4, 3),
        HostMember("dt", "double", 16, 8, 1),
    )

    def variable(name: str, dimensions: tuple[str, ...], *, written: bool = False) -> HostVariable:
        size = 24 * len(content) if dimensions else 24
        flags = {"is_array": bool(dimensions), "written": written, "compared": False, "has_value": True}
        return HostVariable(name, "struct s", dimensions, 0, size, 24, **flags, members=members)

    variables = (variable("p", ("2",)), variable("g", ()), variable("q", ("2",), written=True))
    path = str(tmp_path / "structures.bin")
    return HostState.of(HostData(path, path, variables, {}, {}, {}))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("g.n", Number(number_type("int"), 7)),
        ("p->n + p[1].n * 2", Number(number_type("int"), 23)),
        ("(*p).dt / 2", Number(number_type("double"), 0.25)),
        ("p[g.n - 6].w[g.n - 5]", Number(number_type("float"), 6.0)),
        ("sizeof(p[0])", Number(number_type("unsigned long"), 24)),
    ],
)
def test_members_of_structures_are_read_from_the_inputs(tmp_path: Path, text: str, value: Number) -> None:
    assert with_structures(tmp_path).number(expression(text)) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("q[0].n", "`q.n` may change"),
        ("p[2].n", "no such element of `p`"),
        ("p[0].w[3]", "no such element of `p`"),
        ("p[0].z", "the value of `p.z` is not known"),
    ],
)
def test_other_members_have_no_value(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(NoValueError, match=reason):
        with_structures(tmp_path).number(expression(text))


def test_casts_say_how_far_steps_go(tmp_path: Path) -> None:
    state = with_structures(tmp_path)
    assert state.pointer(expression("(const double *)&p[1] + 2")) == Pointer("p", 24 + 16, 8)
    assert state.pointer(expression("&p[1] - 1")) == Pointer("p", 0, 24)
    assert state.pointer(expression("g.w")) == Pointer("g", 4, 4)
    assert state.pointer(expression("&p[1].w[2]")) == Pointer("p", 24 + 12, 4)
    with pytest.raises(NoValueError, match="this cast of a pointer"):
        state.pointer(expression("(double (*)[3])&p[1]"))


def test_groups_cover_the_axis_where_none_are_given() -> None:
    call = replace(axpy_call(items=64, groups=None), coarsen=4)
    assert [call.group_counts((n,)) for n in (1, 256, 257, 1024)] == [(1,), (1,), (2,), (4,)]


def test_groups_cover_the_axis_by_tiles() -> None:
    call = replace(axpy_call(items=64, groups=None), tile=(128,), coarsen=2)
    assert [call.group_counts((n,)) for n in (1, 256, 257, 1024)] == [(1,), (1,), (2,), (4,)]
