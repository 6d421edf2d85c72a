"""What directives for devices refuse, with code and place (marked by `@` in the code), and how they treat members."""

from __future__ import annotations

import pytest
from c_trees import context, statement, transformed_file

from orio_py.core.expr import Value
from orio_py.ctree.equal import structure_digest
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Refusal, Transformation
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.offload.openacc import OpenACC
from orio_py.transformation.offload.openmp_target import OpenMPTarget

DECLARATIONS = """int i, j, n, m, t, row[99]; double s, a[99], b[99], c[9][9], *restrict x, *restrict y, **rows;
struct grid { double u[9][9]; } g;"""
FOR_I = "for (i = 0; i < n; i++)"

CASES: tuple[tuple[Transformation, str, str], ...] = (
    (OpenMPTarget(nd=0), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (OpenMPTarget(teamCount=0), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (OpenACC(vectorLength=-1), "ORIO-T011", f"@{FOR_I} a[i] = 0;"),
    (OpenACC(loop="k"), "ORIO-T015", f"@{FOR_I} a[i] = 0;"),
    (OpenMPTarget(), "ORIO-T020", "@while (n--) t++;"),
    (OpenACC(nd=2), "ORIO-T120", f"@{FOR_I} a[i] = 0;"),
    (OpenMPTarget(), "ORIO-T040", f"{FOR_I} a[i] = @a[i + 1];"),
    (OpenACC(), "ORIO-T122", f"{FOR_I} y[i] = @x[row[i]];"),
    (OpenMPTarget(), "ORIO-T123", f"{FOR_I} @a[i] = y[i];"),
    (OpenACC(), "ORIO-T124", f"{FOR_I} a[i] = @rows[i][0];"),
    (OpenACC(), "ORIO-T124", f"{FOR_I} a[i] = @g.u[i][0];"),
    (OpenACC(), "ORIO-T125", f"{FOR_I} a[i] = @f(i);"),
    (OpenACC(), "ORIO-T125", f"{FOR_I} {{ static const double @w[2] = {{1, 2}}; a[i] = w[i & 1]; }}"),
)


@pytest.mark.parametrize(("step", "code", "text"), CASES)
def test_refused(step: Transformation, code: str, text: str) -> None:
    node = statement(text.replace("@", ""))
    before = structure_digest(node)
    with pytest.raises(Refusal) as caught:
        step.apply(node, context(DECLARATIONS, live="a b c x y s", assumptions=Assumptions()))
    assert structure_digest(node) == before
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code, diagnostic.headline()
    assert diagnostic.position is not None
    assert diagnostic.position.column == text.index("@") + 1, diagnostic.headline()


def test_sums_in_another_order_are_promised() -> None:
    node = statement(f"{FOR_I} s += a[i];")
    with pytest.raises(Refusal, match="ORIO-T090"):
        OpenACC().apply(node, context(DECLARATIONS, live="s"))
    inner = context(DECLARATIONS, live="s", assumptions=Assumptions(reassociate=True))
    assert OpenACC().apply(node, inner) is not node


@pytest.mark.parametrize("name", ["OpenMPTarget", "OpenACC"])
@pytest.mark.parametrize("values", [{"nd": 1.5}, {"nd": "two"}, {"loop": 3}, {"force": 2}])
def test_arguments_have_types(name: str, values: dict[str, Value]) -> None:
    with pytest.raises(Refusal, match="ORIO-T010"):
        TRANSFORMATIONS[name].make(values)


def test_zero_leaves_numbers_to_the_compiler() -> None:
    step = TRANSFORMATIONS["OpenACC"].make({"gangCount": 0, "workerCount": 2, "vectorLength": 0})
    assert step == OpenACC(workerCount=2)


def test_what_a_constant_structure_points_to_may_be_written() -> None:
    text = """struct grid { int n; double *values; };
void fill(const struct grid *g) {
  /*@ begin Loop(transform OpenACC()
  for (int i = 0; i < g->n; i++)
    g->values[i] = i;
  ) @*/
  /*@ end @*/
}
"""
    result = transformed_file(text, {})
    assert "    double *g_values = g->values;" in result
    assert "copyout(g_values[0:g_n])" in result
