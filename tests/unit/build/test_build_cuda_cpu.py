"""CUDA texts as a C++ compiler gets them: kernels found, dynamic shared memory, compilers and errors."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda_cpu import Check, cuda_on_cpu, kernel_names, with_dynamic_memory
from orio_py.core.diagnostics import EnvironmentProblem


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__global__ void a(int *x) {}\n__global__ void b() {}", ("a", "b")),
        ('extern "C" __global__ void __launch_bounds__(8 * (2 + 1), 2) a(int n) {}', ("a",)),
        ("__launch_bounds__(64) __global__ void a() {}", ("a",)),
        ("__global__ void a(int);\n__global__ void a(int n) { f(n); }", ("a",)),
        ("/* __global__ void a() {} */ // __global__ void b()\n__global__ static void c() {}", ("c",)),
        ("template <class T> __global__ void a(T *x) {}\n__global__ void b() {}", ("b",)),
        ("__device__ int f(int x) { return x; }", ()),
    ],
)
def test_kernels_are_found(text, names):
    assert kernel_names(text) == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "extern __shared__ float a[];",
            "float *const a = reinterpret_cast<float *>(orio_cuda_dynamic_shared);",
        ),
        (
            "extern __shared__ unsigned char b[ ] ;",
            "unsigned char *const b = reinterpret_cast<unsigned char *>(orio_cuda_dynamic_shared);",
        ),
        (
            "extern __shared__ alignas(16) double c[];",
            "double *const c = reinterpret_cast<double *>(orio_cuda_dynamic_shared);",
        ),
        ("__shared__ float d[4];", "__shared__ float d[4];"),
    ],
)
def test_dynamic_shared_memory_is_a_pointer(text, expected):
    assert with_dynamic_memory(text) == expected


def test_no_compiler_is_the_environments_fault(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem) as caught:
        cuda_on_cpu(tmp_path)
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-B030"
    assert "g++" in problem.message
    assert "apt install g++" in (problem.help or "")


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_an_error_is_a_value_at_its_place(tmp_path: Path):
    text = "extern __shared__ double t[];\n__global__ void k(double *x) { x[0] = nothing; }"
    built = cuda_on_cpu(tmp_path).build_library(text, tmp_path / "k.so", check=Check.NONE)
    assert isinstance(built, BuildFailure)
    assert built.reason.startswith("k.cu:2:")
    assert "nothing" in built.reason


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_address_sanitizer_is_for_programs(tmp_path: Path):
    with pytest.raises(ValueError, match="AddressSanitizer"):
        cuda_on_cpu(tmp_path).build_library("", tmp_path / "k.so", check=Check.ADDRESSES)


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_only_what_is_certainly_unset_is_a_fault(tmp_path: Path):
    """A thread's value that is set and used behind the same test, as kernels with barriers in between have it."""
    text = """__global__ void k(double *x, int n) {
  double t;
  if ((int)threadIdx.x < n) t = x[threadIdx.x];
  for (int i = 0; i < n; i++) { __syncthreads(); if ((int)threadIdx.x < n) t += i; }
  if ((int)threadIdx.x < n) x[threadIdx.x] = t;
}"""
    executor = cuda_on_cpu(tmp_path)
    assert not isinstance(executor.build_library(text, tmp_path / "k.so", check=Check.NONE), BuildFailure)
    unset = "__global__ void k(double *x) { double t; x[0] = t; }"
    built = executor.build_library(unset, tmp_path / "u.so", check=Check.NONE)
    assert isinstance(built, BuildFailure)
    assert "uninitialized" in built.reason
