"""Programs of tensor contractions and einsum strings: what is read from them, and what is wrong with others."""

from __future__ import annotations

import pytest

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.einsum import read_einsum
from orio_py.frontend.tensor.program import read_program
from orio_py.tensors.contraction import Pattern, SubscriptForm, TensorLayout, TensorProgram

TRIPLES = """sd_t_d1_1
memory: column
pattern: strided
define:
  h3u = 16
  h2u = 15
  h1u = 14
  p6u = 13
  p5u = 12
  p4u = 11
  h7u = 10
variables:
  t3: (h3u, h2u, h1u, p6u, p5u, p4u)
  t2: (h7u, p4u, p5u, h1u)
  v2: (h3u, h2u, p6u, h7u)
operations:
  t3: (h3, h2, h1, p6, p5, p4) -= t2: (h7, p4, p5, h1) * v2: (h3, h2, p6, h7)
"""
SMALL = """f
{options}
define: n = 4 m = 5
variables:
  a: (n, m)
  b: (m, n)
  c: (n, n)
{more}
operations:
  {statement}
"""


def program(text: str, name: str | None = None) -> TensorProgram:
    return read_program(SourceFile("f.tensor", text.encode()), Span(0, len(text)), name)


def small(
    statement: str = "c:(i,j) += a:(i,k) * b:(k,j)", options: str = "", more: str = ""
) -> TensorProgram:
    return program(SMALL.format(statement=statement, options=options, more=more))


def problems(text: str) -> list[tuple[str, int, int]]:
    with pytest.raises(DiagnosticError) as caught:
        program(text)
    places = [(d.code, d.position) for d in caught.value.diagnostics]
    return [(code, place.line, place.column) for code, place in places if place is not None]


def test_the_thesis_example_is_read():
    found = program(TRIPLES)
    (statement,) = found.contractions
    assert str(statement) == "t3(h3,h2,h1,p6,p5,p4) -= t2(h7,p4,p5,h1) * v2(h3,h2,p6,h7)"
    assert statement.contracted == ("h7",)
    assert statement.loops(found.pattern) == ("p4", "p5", "p6", "h1", "h2", "h3", "h7")
    assert [t.name for t in found.parameters] == ["t3", "t2", "v2"]
    assert found.contractions[0].output.strides() == {
        "h3": 1, "h2": 16, "h1": 16 * 15, "p6": 16 * 15 * 14, "p5": 16 * 15 * 14 * 13, "p4": 16 * 15 * 14 * 13 * 12
    }  # fmt: skip
    assert found.operations == 2 * 16 * 15 * 14 * 13 * 12 * 11 * 10


def test_options_have_the_defaults_that_the_documentation_names():
    found = small()
    assert (found.access, found.pattern, found.type) == (
        SubscriptForm.LINEARIZED,
        Pattern.CONTIGUOUS,
        "double",
    )
    assert {tensor.layout for tensor in found.tensors} == {TensorLayout.ROW}


@pytest.mark.parametrize("word", ["linearize", "linearized"])
def test_both_spellings_of_linearized_are_read(word):
    assert small(options=f"access: {word}").access is SubscriptForm.LINEARIZED


def test_options_stand_in_any_order():
    found = small(options="type: float pattern: strided\naccess: multidimensional memory: column")
    assert (found.access, found.pattern, found.type) == (
        SubscriptForm.MULTIDIMENSIONAL,
        Pattern.STRIDED,
        "float",
    )
    assert {tensor.layout for tensor in found.tensors} == {TensorLayout.COLUMN}


def test_a_tensor_can_have_a_layout_of_its_own():
    found = small(more="  d: (n, m) column", statement="c:(i,j) += d:(i,k) * b:(k,j)")
    assert [tensor.layout for tensor in found.tensors] == [TensorLayout.ROW] * 3 + [TensorLayout.COLUMN]


@pytest.mark.parametrize("declared", ["t: 2", "t: order2", "t: order 2", "t 2"])
def test_a_tensor_declared_by_order_takes_the_sizes_of_its_indices(declared):
    found = small(
        more=f"  {declared}", statement="t:(n, mu) += a:(n, mu)\n c:(i,j)+=a:(i,k)*b:(k,j)".replace("mu", "m")
    )
    assert found.tensors[-1].extents == (4, 5)


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("c(i,j) = a(i,k) * b(k,j)", "c(i,j) = a(i,k) * b(k,j)"),
        ("c:(i,j) -=\n 2.5 * a:(i,k) *\n b:(k,j);", "c(i,j) -= 2.5 * a(i,k) * b(k,j)"),
        ("c(i,j) += -a(i,k) * b(k,j)", "c(i,j) += -1 * a(i,k) * b(k,j)"),
        ("c(i,j) += a(i,k) * b(k,l) * c2(l,j)", "c(i,j) += a(i,k) * b(k,l) * c2(l,j)"),
        ("s += a(i,k) * b(k,i)", "s() += a(i,k) * b(k,i)"),
        ("s:() += 3 * 0.5e-1 * a(i,k)", "s() += 3 * 0.5e-1 * a(i,k)"),
    ],
)
def test_statements(statement, read):
    found = small(statement, more="  c2: (n, n)\n  s: 0")
    assert str(found.contractions[0]) == read


def test_remarks_and_semicolons_are_allowed():
    found = small("c(i,j) += a(i,k) * b(k,j);  # product\n  // and again\n  c(i,j) -= a(i,k) * b(k,j)")
    assert [s.operator for s in found.contractions] == ["+=", "-="]


def test_the_signature_can_be_given():
    found = small(options="signature: a, b, c")
    assert [t.name for t in found.parameters] == ["a", "b", "c"]


def test_inside_c_the_function_is_named_outside():
    assert program("variables: a: (3) s: 0 operations: s += a(i)", "around").name == "around"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SMALL.format(statement="c(i,j) += ", options="", more=""), ("ORIO-N001", 10, 12)),
        ("f variables: a (2 operations: a(i) += a(i)", ("ORIO-N001", 1, 19)),
        (SMALL.format(statement="c(i,j) += a(i,k) * b(k,j)", options="memory: rows", more=""), ("ORIO-N002", 2, 9)),
        (
            SMALL.format(statement="c(i,j) += a(i,k) * b(k,j)", options="type: float type: float", more=""),
            ("ORIO-N003", 2, 13),
        ),
        (SMALL.format(statement="c(i,j) += a(i,k) * b(k,j)", options="", more="  a: (n)"), ("ORIO-N003", 8, 3)),
        ("f define: n = 1 n = 2 variables: a: (n) s: 0 operations: s += a(i)", ("ORIO-N003", 1, 17)),
        ("f define: n = 0 variables: a: (n) s: 0 operations: s += a(i)", ("ORIO-N004", 1, 15)),
        ("f variables: a: (n) s: 0 operations: s += a(i)", ("ORIO-N004", 1, 18)),
        ("f variables: a: (0) s: 0 operations: s += a(i)", ("ORIO-N004", 1, 18)),
        ("f variables: a: 1 s: 0 operations: s += a(i)", ("ORIO-N004", 1, 43)),
        ("f variables: a: (2) b: 2 s: 0 operations: s += a(i)", ("ORIO-N004", 1, 21)),
        ("f variables: a: (2) operations: s += a(i)", ("ORIO-N005", 1, 33)),
        ("f variables: a: (2) s: 0 operations: s += a(i,j)", ("ORIO-N006", 1, 43)),
        ("f variables: a: (2, 3) s: 0 operations: s += a(i,j) * a(j,i)", ("ORIO-N007", 1, 57)),
        ("f variables: a: (2, 2) operations: a(i,j) += a(j,i)", ("ORIO-N008", 1, 46)),
        ("f variables: a: (2, 2) s: 0 operations: s += a(i,i)", ("ORIO-N009", 1, 50)),
        ("f variables: a: (2) c: (2, 2) operations: c(i,i) += a(i)", ("ORIO-N009", 1, 47)),
        ("f variables: a: (2) c: (2, 2) operations: c(i,j) += a(i)", ("ORIO-N010", 1, 47)),
        ("f variables: a: (2) operations:", ("ORIO-N011", 1, 21)),
        ("variables: a: (2) s: 0 operations: s += a(i)", ("ORIO-N011", 1, 1)),
        ("f variables: s: 0 operations: s += 2", ("ORIO-N011", 1, 33)),
        ("f variables: a: (65536, 65536) s: 0 operations: s += a(i,j)", ("ORIO-N012", 1, 14)),
        ("f variables: int: (2) s: 0 operations: s += int(i)", ("ORIO-N014", 1, 14)),
        ("f variables: a: (2) s: 0 operations: s += a(for)", ("ORIO-N014", 1, 45)),
        ("f variables: free: (2) s: 0 operations: s += free(i)", ("ORIO-N014", 1, 14)),
        ("f variables: a: (2) s: 0 operations: s += a(NULL)", ("ORIO-N014", 1, 45)),
        ("rand variables: a: (2) s: 0 operations: s += a(i)", ("ORIO-N014", 1, 1)),
        ("f variables: a: (2) s: 0 operations: s += a(a)", ("ORIO-N014", 1, 45)),
        ("f signature: a variables: a: (2) s: 0 operations: s += a(i)", ("ORIO-N015", 1, 14)),
        ("f signature: a a s variables: a: (2) s: 0 operations: s += a(i)", ("ORIO-N003", 1, 16)),
        ("f signature: a s q variables: a: (2) s: 0 operations: s += a(i)", ("ORIO-N005", 1, 18)),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_places(text, found):
    assert found in problems(text)


def test_all_mistakes_are_told_in_the_order_of_the_text():
    text = SMALL.format(statement="c(i,i) += q(i)\n c(i,j) += a(i)", options="memory: colum", more="")
    assert [p[0] for p in problems(text)] == ["ORIO-N002", "ORIO-N005", "ORIO-N006"]


def test_diagonals_can_be_allowed():
    found = program("f diagonal: allowed variables: a: (3, 3) s: 0 operations: s += a(i,i)")
    assert found.contractions[0].operands[0].strides() == {"i": 4}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("ij,jk->ik", "out(i,k) = in0(i,j) * in1(j,k)"),
        ("ij, jk", "out(i,k) = in0(i,j) * in1(j,k)"),
        ("ba", "out(a,b) = in0(b,a)"),
        ("ii->i", "out(i) = in0(i,i)"),
        ("ij,j,->", "out() = in0(i,j) * in1(j) * in2()"),
    ],
)
def test_einsum_strings(text, read):
    letters = {c for c in text if c.isalpha()}
    assert str(read_einsum(text, dict.fromkeys(letters, 3)).contractions[0]) == read


@pytest.mark.parametrize(
    ("text", "sizes", "code"),
    [
        ("i...->i", {"i": 2}, "ORIO-N001"),
        ("ij->i->j", {"i": 2, "j": 2}, "ORIO-N001"),
        ("ij->i", {"i": 2}, "ORIO-N004"),
        ("i->i", {"i": 0}, "ORIO-N004"),
        ("i->ii", {"i": 2}, "ORIO-N009"),
        ("i->j", {"i": 2, "j": 2}, "ORIO-N010"),
        ("ij->i", {"i": 65536, "j": 65536}, "ORIO-N012"),
        ("i->i", {"i": 2, "j": 2}, "ORIO-N013"),
    ],
)
def test_mistakes_in_einsum_strings(text, sizes, code):
    with pytest.raises(DiagnosticError) as caught:
        read_einsum(text, sizes)
    assert code in [d.code for d in caught.value.diagnostics]


@pytest.mark.parametrize("words", [{"layout": "rows"}, {"type": "int"}])
def test_words_of_options_are_checked(words):
    with pytest.raises(DiagnosticError) as caught:
        read_einsum("i->i", {"i": 2}, **words)
    assert [d.code for d in caught.value.diagnostics] == ["ORIO-N002"]


@pytest.mark.parametrize("name", ["rand", "order", "unsigned_", "sum0"])
def test_tensors_may_have_names_that_generated_code_does_not_use(name):
    text = f"f variables: {name}: (2) s: 0 operations: s += {name}(i)"
    assert [t.name for t in program(text).parameters] == ["s", name]


@pytest.mark.parametrize(
    "name",
    [
        "row",
        "column",
        "operations",
        "variables",
        "define",
        "signature",
        "access",
        "memory",
        "order4",
        "order",
    ],
)
def test_tensors_may_have_names_that_are_words_of_the_language(name: str) -> None:
    forms = (
        f"b: (n,n) {name}: (n,n) a: (n,n) operations: {name}:(i,j) += a:(i,k) * b:(k,j) b:(i,j) = {name}:(j,i)",
        f"b(n,n) {name}(n,n) a(n,n) operations: b(i,j) += a(i,k) * {name}(k,j) {name}(i,j) += a(i,k) * b(k,j)",
        f"b: order2 column {name} # x\n : 2 row; a 2 operations: {name} (i,j) += a(i,k) * b(k,j)",
    )
    layouts = [
        {
            t.name: t.layout.value
            for t in program(f"f memory: column define: n = 4 i = 4 j = 4 k = 4 variables: {form}").tensors
        }
        for form in forms
    ]
    assert layouts[0] == layouts[1] == {"a": "column", "b": "column", name: "column"}
    assert layouts[2] == {"a": "column", "b": "column", name: "row"}
