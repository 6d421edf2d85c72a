"""NVRTC from wheels: machine code without a GPU, what it uses, and how failures are told."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from cuda_compilers import nvrtc_or_skip
from ptxas_log import told_by_ptxas

from orio_py.build.compiler import BuildFailure
from orio_py.build.cubin import cubin_architecture
from orio_py.build.cuda import CudaBinary, CudaBuildOptions, cuda_options
from orio_py.build.nvrtc import find_nvrtc
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.core.units import Seconds

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_120")
KERNELS = """\
struct __align__(16) Four { float a, b, c, d; };

extern "C" __global__ void wide(int n, Four *x)
{
  Four kept[12];
#pragma unroll
  for (int k = 0; k < 12; k++) kept[k] = x[k * n + threadIdx.x];
#pragma unroll
  for (int k = 0; k < 12; k++) kept[k].a += kept[(5 * k + 1) % 12].b * kept[k].c;
#pragma unroll
  for (int k = 0; k < 12; k++) x[k * n + threadIdx.x] = kept[k];
}

extern "C" __global__ void indexed(const int *p, double *x)
{
  double kept[20];
  for (int k = 0; k < 20; k++) kept[k] = x[k];
  for (int k = 0; k < 20; k++) kept[p[k]] += kept[k];
  x[threadIdx.x] = kept[p[threadIdx.x]];
}

template <typename T> __global__ void sines(T *x)
{
  __shared__ T near[33];
  near[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = sin(near[threadIdx.x + 1]);
}
template __global__ void sines<double>(double *x);
"""


@pytest.fixture(scope="module")
def nvrtc():
    return nvrtc_or_skip()


def compiled(nvrtc, source, options="", architecture="sm_90"):
    built = nvrtc.compile(source, architecture, cuda_options(options))
    assert isinstance(built, CudaBinary), built
    return built


@pytest.mark.nvrtc
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_cubins_use_what_ptxas_says(nvrtc, architecture):
    built = compiled(nvrtc, KERNELS, "-maxrregcount=24 -Xptxas=-v", architecture)
    assert cubin_architecture(built.cubin) == built.architecture == architecture
    assert built.seconds > 0.0
    assert f".target {architecture}" in built.ptx
    told = told_by_ptxas(built.log)
    assert {kernel.name for kernel in built.kernels} == set(told) == {"wide", "indexed", "_Z5sinesIdEvPT_"}
    for kernel in built.kernels:
        wanted = told[kernel.name]
        assert (kernel.registers, kernel.shared_bytes) == (wanted.registers, wanted.shared)
        assert (kernel.spill_store_bytes, kernel.spill_load_bytes) == (wanted.stored, wanted.loaded)
        assert (kernel.stack_bytes, kernel.barriers) == (wanted.stack, wanted.barriers)
        assert wanted.constant in (None, kernel.constant_bytes)
    assert built.kernel("wide").spills
    assert not compiled(nvrtc, KERNELS, "", architecture).kernel("wide").spills


@pytest.mark.nvrtc
def test_options_reach_the_compiler(nvrtc):
    source = 'extern "C" __global__ void f(float *x) { x[0] = x[1] / x[N]; }'
    plain = compiled(nvrtc, source, "-DN=2")
    fast = compiled(nvrtc, source, "-DN=2 -use_fast_math")
    assert "div.rn.f32" in plain.ptx
    assert "div.approx.ftz.f32" in fast.ptx
    lines = compiled(nvrtc, source, "-DN=2 -lineinfo")
    assert b".debug_line" in lines.cubin
    assert b".debug_line" not in plain.cubin
    assert compiled(nvrtc, source, "-DN=2 -O0").cubin != plain.cubin


@pytest.mark.nvrtc
def test_errors_name_the_line_of_the_kernel(nvrtc):
    source = '\nextern "C" __global__ void f(int *x)\n{\n  *x = y;\n}\n'
    failed = nvrtc.compile(source, "sm_90", CudaBuildOptions())
    assert isinstance(failed, BuildFailure)
    assert failed.reason == 'NVRTC: kernels.cu:4:8: error: identifier "y" is undefined'
    assert failed.reason.removeprefix("NVRTC: ") in failed.log
    moved = nvrtc.compile('#line 70 "gemv.c"\n' + source, "sm_90", CudaBuildOptions())
    assert isinstance(moved, BuildFailure)
    assert moved.reason == 'NVRTC: gemv.c:73:8: error: identifier "y" is undefined'


@pytest.mark.nvrtc
@pytest.mark.parametrize(
    ("source", "options", "told"),
    [
        ("", "-bogus", "unrecognized option -bogus"),
        ("", "-dlto", "the options make no machine code"),
        (
            'extern "C" __global__ void f(int *x) { __shared__ int a[20000]; a[*x] = 1; __syncthreads(); *x = a[x[1]]; }',
            "",
            "uses too much shared data",
        ),
    ],
)
def test_other_failures_are_told(nvrtc, source, options, told):
    failed = nvrtc.compile(source, "sm_90", cuda_options(options))
    assert isinstance(failed, BuildFailure)
    assert told in failed.reason


@pytest.mark.nvrtc
def test_a_compilation_has_a_time_limit(nvrtc):
    late = replace(nvrtc, timeout=Seconds(0.0)).compile(KERNELS, "sm_90", CudaBuildOptions())
    assert isinstance(late, BuildFailure)
    assert late.timed_out
    assert late.reason == "NVRTC took longer than 0 s"


@pytest.mark.nvrtc
def test_an_unknown_architecture_is_refused(nvrtc):
    with pytest.raises(DiagnosticError) as caught:
        nvrtc.compile("", "sm_35", CudaBuildOptions())
    assert caught.value.diagnostics[0].code == "ORIO-B021"


@pytest.mark.parametrize("missing", ["cuda.bindings", "cuda.pathfinder"])
def test_without_the_extra_the_message_says_what_to_install(monkeypatch, missing):
    pytest.importorskip("elftools", reason="needs pyelftools, of the extra `cuda`")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(EnvironmentProblem) as caught:
        find_nvrtc()
    (told,) = caught.value.diagnostics
    assert (
        told.headline() == "error[ORIO-B020]: no NVRTC: the Python package `cuda.bindings` is not installed"
    )
    assert "pip install 'orio_py[cuda]'" in (told.help or "")


def test_without_pyelftools_the_message_says_so(monkeypatch):
    monkeypatch.setattr("orio_py.build.nvrtc.find_spec", lambda name: None)
    with pytest.raises(EnvironmentProblem, match="the Python package `elftools` is not installed"):
        find_nvrtc()


@pytest.mark.nvrtc
def test_without_the_library_the_message_says_so(nvrtc, monkeypatch):
    def lost(name):
        raise RuntimeError(f"Failure finding {name}\nsearched: everywhere")

    monkeypatch.setattr("cuda.pathfinder.load_nvidia_dynamic_lib", lost)
    with pytest.raises(EnvironmentProblem, match="no NVRTC: the library is not found: Failure finding nvrtc"):
        find_nvrtc()
