"""Contractions as annotated C for kernels, and the choices that are tuned."""

from __future__ import annotations

import pytest
from c_trees import read_tasks

from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.program import read_program
from orio_py.spec.check import check
from orio_py.tensors.contraction import TensorProgram
from orio_py.tensors.kernel_choices import KernelChoices, kernel_choices
from orio_py.tensors.kernel_file import STEPS, kernel_file

TRIPLES = """sd_t memory: column pattern: strided define: n = {n}
variables: t3: (n,n,n,n,n,n) t2: (n,n,n,n) v2: (n,n,n,n)
operations: {statement}"""
D1_1 = "t3:(h3,h2,h1,p6,p5,p4) -= t2:(h7,p4,p5,h1) * v2:(h3,h2,p6,h7)"
D1_6 = "t3:(h1,h3,h2,p5,p4,p6) -= t2:(h7,p4,p5,h1) * v2:(h3,h2,p6,h7)"
GRADIENT = """g memory: column pattern: strided define: n = 10 e = 20
variables: u: (n,n,n,e) d: (n,n) ur: (n,n,n,e) us: (n,n,n,e)
operations: ur:(k,j,i,e) += d:(k,m) * u:(m,j,i,e)  us:(k,j,i,e) += u:(k,m,i,e) * d:(m,j)"""
CHAIN = (
    "f variables: a: (3,4) b: (4,5) s: 0 c: (3,5) operations: s = a(i,k) * a(i,k) c(i,j) = a(i,k) * b(k,j)"
)


def program(text: str) -> TensorProgram:
    return read_program(SourceFile("f.tensor", text.encode()), Span(0, len(text)))


def choices(statement: str, *, n: int = 16, has_vectors: bool = True) -> KernelChoices:
    found = program(TRIPLES.format(n=n, statement=statement))
    made = kernel_choices(found.contractions[0], found, has_vectors=has_vectors)
    assert made is not None
    return made


@pytest.mark.parametrize("text", [TRIPLES.format(n=16, statement=D1_1), GRADIENT, CHAIN])
@pytest.mark.parametrize("target", STEPS)
def test_files_are_free_of_mistakes(text: str, target: str) -> None:
    for task in read_tasks(kernel_file(program(text), target)):
        assert check(task) == ()


def test_vectors_are_columns_that_stand_side_by_side() -> None:
    made = choices(D1_1)
    assert (made.flatten, made.extent, made.depth) == ((("h3", "h2"),), 256, 3)
    assert (made.widths, made.columns[0], made.rows[0]) == ((8, 4, 2, 1), 2, 4)
    assert all(order[1:3] == ("h1", "h3") for order in made.orders)
    assert choices(D1_1, n=10).widths == (4, 2, 1)


def test_columns_that_lie_apart_have_no_vectors() -> None:
    assert choices(D1_6).widths == (1,)


def test_gpus_have_threads() -> None:
    made = choices(D1_1, has_vectors=False)
    assert made.widths == (1,)
    assert made.groups[0] == (16, 16, 1)
    assert all(x * y <= 256 for x, y, _ in made.groups)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 16])
def test_threads_have_rows_to_do(n: int) -> None:
    """Of `n` rows: blocks have no more lines, and with tiles of several rows each thread has one of them at least."""
    made = choices(D1_1, n=n, has_vectors=False)
    assert all(y <= n for _, y, _ in made.groups)
    if n == 16:
        assert "rows0 = ROWS0 * GROUP0[1] <= 16 or ROWS0 == 1" in list(made.constraints(0))


def test_statements_share_a_region_so_that_arrays_can_stay() -> None:
    text = kernel_file(program(GRADIENT), "opencl")
    assert text.count("begin PerfTuning") == 1
    assert text.count("transform OpenCL(") == 2


def test_a_sum_with_one_element_is_a_kernel_of_one_item() -> None:
    text = kernel_file(program(CHAIN), "hip")
    assert text.count("transform HIP(") == 2
    assert "transform HIP(threadCount=1, dataOnDevice=True)" in text
    assert "for (int item = 0; item < 1; item++) {" in text
