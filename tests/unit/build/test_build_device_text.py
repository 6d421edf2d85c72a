"""Host code taken out of CUDA files: what stays, what goes, and lines that keep their numbers."""

from __future__ import annotations

import pytest

from orio_py.build.device_text import without_host_code

KEPT = (
    "__global__ void k(int n, const float *x) { if (n) { } }",
    "template <class T> __device__ T twice(T x) { return x + x; }",
    "struct Node { int first, last; };",
    "typedef struct { float x; } point;",
    "__constant__ float weights[3] = {1, 2, 3};",
    "const int SIZE = 3;",
    "#define HOST(x) { x",
    "__device__ float later(float x);",
    "KERNEL(twice);",
    "texture<float, 1> table;",
    'extern "C" { __global__ void k() {} }',
)
GONE = (
    "int main(int argc, char **argv) { k<<<1, 32>>>(argc); return 0; }",
    'void check(const char *text) { /* __global__ { */ puts("}"); }',
    "FILE *out;",
    "void later(FILE *out);",
    "int load(std::vector<int> &all, const char *name);",
    'extern "C" int setup(int argc) { return argc; }',
    "int sizes[2] = {1, 2};",
    "static double seconds() { return 0; }",
)


@pytest.mark.parametrize("text", KEPT)
def test_what_kernels_need_stays(text: str) -> None:
    assert without_host_code(f"{text}\n") == f"{text}\n"


@pytest.mark.parametrize("text", GONE)
def test_what_only_the_host_has_goes(text: str) -> None:
    around = f"{KEPT[0]}\n%s\n{KEPT[1]}\n"
    assert without_host_code(around % text) == around % (" " * len(text))


def test_lines_and_directives_stay() -> None:
    text = "void f() {\n#ifdef A\n  g();\n#endif\n}\n__global__ void k() {}\n"
    assert without_host_code(text).split("\n")[1:4] == ["#ifdef A", "      ", "#endif"]
    assert without_host_code(text).endswith("\n__global__ void k() {}\n")


@pytest.mark.parametrize(
    "text", ["void f() {\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n}}\n", "}\nvoid f() {}\n"]
)
def test_braces_that_do_not_match_leave_the_text_alone(text: str) -> None:
    assert without_host_code(text) == text
