"""CUDA kernels on the processor: right ones compute what they should, and each seeded mistake is told."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c_programs import SANITIZERS, links

from orio_py.build.compiler import Artifact
from orio_py.build.cuda_cpu import Check, CudaOnCpu, cuda_on_cpu
from orio_py.build.process import run
from orio_py.core.units import Seconds
from orio_py.machine.catalog import gpu_models
from orio_py.measure.cuda_cpu import CudaLibrary, LaunchOptions

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

SUPPORT = Path(__file__).resolve().parents[2] / "support"
KERNELS = SUPPORT / "cuda_cpu_kernels.cu"
ORDERS = LaunchOptions(orders=("forward", "backward", "random"), seed=5)


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory) -> CudaOnCpu:
    return cuda_on_cpu(tmp_path_factory.mktemp("cuda"))


@pytest.fixture(scope="module")
def library(toolkit) -> CudaLibrary:
    built = toolkit.build_library(KERNELS.read_text(), toolkit.folder / "kernels.so")
    assert isinstance(built, Artifact), built.log
    return CudaLibrary(built.path)


@pytest.fixture(scope="module")
def program(toolkit) -> Path:
    built = toolkit.build_program([SUPPORT / "cuda_cpu_host.cu"], toolkit.folder / "host")
    assert isinstance(built, Artifact), built.log
    return built.path


def launch(library, name, grid, block, *arguments, shared_bytes=0, options=ORDERS):
    found = library.launch(name, grid, block, arguments, shared_bytes=shared_bytes, options=options)
    assert found.ok, found.problems


@pytest.mark.proof
def test_grid_stride(library):
    x, y = np.arange(1000.0), np.ones(1000)
    launch(library, "axpy", (3,), (64,), x, y, 2.0, 1000)
    assert (y == 1.0 + 2.0 * x).all()


def test_tiles_of_two_dimensions(library):
    a, b = (np.random.default_rng(k).integers(0, 9, (48, 48)).astype(np.float32) for k in range(2))
    c = np.zeros_like(a)
    launch(library, "matmul", (3, 3), (16, 16), a, b, c, 48)
    assert (c == a @ b).all()


def test_dynamic_shared_memory_with_a_halo(library):
    x, y = np.random.default_rng(0).integers(0, 99, 200).astype(float), np.zeros(200)
    launch(library, "stencil", (4,), (50,), x, y, 200, shared_bytes=52 * 8)
    assert (y[1:-1] == x[:-2] - 2 * x[1:-1] + x[2:]).all()
    x, y = np.zeros(8000), np.ones(8000)
    launch(library, "stencil", (8,), (1000,), x, y, 8000, shared_bytes=100_000)
    assert not y[1:-1].any()


def test_reductions(library):
    x, partials = np.arange(1000.0), np.zeros(8)
    launch(library, "total", (8,), (128,), x, partials, 1000)
    assert partials.sum() == x.sum()


def test_the_last_block_sees_what_others_released(library):
    x, partials, total, count = np.arange(100.0), np.zeros(7), np.zeros(1), np.zeros(1, np.uint32)
    options = replace(ORDERS, fresh=(1, 2))
    launch(
        library,
        "last_block",
        (7,),
        (40,),
        x,
        partials,
        total,
        count,
        100,
        options=replace(options, orders=("forward",)),
    )
    assert total[0] == x.sum()


def test_operations_of_warps(library):
    out = np.zeros(16, np.int64)
    launch(library, "warps", (1,), (32,), out)
    expected = [30, 1 << 40, 3, 5, 7, 5, 21, 0xAAAAAAAA, 1, 0, 7, 1, 0, 496, 0, 0xFF]
    assert out.tolist() == expected


def test_atomics(library):
    ints, floats, doubles = np.zeros(8, np.int32), np.zeros(1, np.float32), np.zeros(1)
    ints[7] = -1
    longs = np.zeros(1, np.uint64)
    launch(library, "atomics", (2,), (32,), ints, floats, doubles, longs, options=LaunchOptions())
    assert ints.tolist() == [2016, -63, 63, 255, 0, 77, 1, -16]
    assert (floats[0], doubles[0], longs[0]) == (32.0, 16.0, 1 << 39)


def test_vectors_and_constants(library):
    x, y = np.arange(16, dtype=np.float32), np.zeros(8)
    launch(library, "vectors", (1,), (4,), x, y, 1)
    assert y.tolist() == [2.0, 3.0, 18.0, 7.0, 34.0, 11.0, 50.0, 15.0]


def test_three_dimensions(library):
    out = np.zeros(2 * 3 * 2 * 24, np.int32)
    launch(library, "shapes", (2, 3, 2), (4, 3, 2), out, options=replace(ORDERS, fresh=(0,)))
    assert out.tolist() == [block * 100 + thread for block in range(12) for thread in range(24)]


def test_syncwarp_orders(library):
    total = np.zeros(1, np.int32)
    launch(library, "tree", (1,), (32,), np.arange(32, dtype=np.int32), total)
    assert total[0] == 496


def ints(count=64):
    return np.zeros(count, np.int32)


MISTAKES = {
    "no_barrier": (
        (1, 64, (ints(), ints())),
        r"block \(0,0,0\), thread \(32,0,0\): race on shared memory .*kernels\.cu:154 what thread \(31,0,0\) writes "
        r"at .*:153, without a barrier",
    ),
    "no_barrier_behind": (
        (2, 64, (ints(128), ints())),
        r"race on shared memory .*it writes at .*:162 what thread \(\d+,0,0\) reads at .*:164",
    ),
    "shuffle_is_no_barrier": ((1, 32, (ints(), ints())), r"race on shared memory .*reads at .*:174"),
    "blocks_race": (
        (2, 1, (ints(1),)),
        r"block \(1,0,0\), thread \(0,0,0\): race on memory of the device \(byte 0 of a buffer of 4 bytes .*"
        r"what thread \(0,0,0\) of block \(0,0,0\) writes .*blocks have no order",
    ),
    "no_fence": (
        (3, 1, (np.zeros(3), np.zeros(1), ints(1))),
        r"block \(2,0,0\), thread \(0,0,0\): race on memory of the device .*reads at .*:185",
    ),
    "too_far": (
        (4, 32, (np.zeros(100), 100)),
        r"block \(3,0,0\), thread \(4,0,0\): writes 8 bytes at .*kernels\.cu:193: 0 bytes behind the end of a buffer "
        r"of 800 bytes",
    ),
    "before": (
        (1, 8, (np.zeros(9),)),
        r"thread \(0,0,0\): writes 8 bytes at .*: 16 bytes before a buffer of 72",
    ),
    "inner_row": ((1, 64, (ints(),)), r"thread \(8,0,0\): an index outside of its array at kernels\.cu:203"),
    "too_much_dynamic": (
        (1, 8, (ints(),)),
        r"thread \(4,0,0\): writes 4 bytes at .*: byte 16 of 16 bytes of dynamic shared memory",
    ),
    "misaligned": (
        (1, 1, (np.zeros(4, np.float32),)),
        r"thread \(0,0,0\): .*not a multiple of 8|misaligned address",
    ),
    "null_pointer": ((1, 1, (None, ints())), r"thread \(0,0,0\): .*a null pointer"),
    "divergent": (
        (2, 64, (ints(),)),
        r"block \(0,0,0\), thread \(0,0,0\): divergent barrier: it waits in __syncthreads at kernels\.cu:220, but "
        r"thread \(48,0,0\) has ended",
    ),
    "two_barriers": (
        (1, 64, (ints(),)),
        r"waits in __syncthreads at kernels\.cu:227, but thread \(1,0,0\) waits in __syncthreads at kernels\.cu:229",
    ),
    "barrier_against_shuffle": (
        (1, 32, (ints(),)),
        r"thread \(16,0,0\): it waits for ever in __shfl_xor_sync at kernels\.cu:238 with mask 0xffffffff for lane 0: "
        r"thread \(0,0,0\) waits in __syncthreads at kernels\.cu:236",
    ),
    "half_mask": (
        (1, 32, (ints(),)),
        r"__shfl_down_sync at kernels\.cu:244 reads lane 16, which is not there any more",
    ),
    "not_in_mask": (
        (1, 32, (ints(),)),
        r"thread \(16,0,0\): __shfl_sync at kernels\.cu:247 with mask 0x0000ffff, which does not name the calling "
        r"lane 16",
    ),
    "reads_outside_mask": (
        (1, 32, (ints(),)),
        r"thread \(15,0,0\): __shfl_down_sync at kernels\.cu:252 reads lane 16, which the mask does not name",
    ),
    "short_warp": (
        (1, 20, (ints(),)),
        r"__shfl_down_sync at kernels\.cu:259 reads lane 20, which is not there",
    ),
    "nobody_wrote": (
        (2, 32, (np.zeros(32),)),
        r"block \(0,0,0\), thread \(5,0,0\): reads at .*kernels\.cu:270 shared memory that nobody has written",
    ),
    "overflows": (
        (1, 8, (np.full(8, 647, np.int32),)),
        r"thread \(1,0,0\): a signed sum that overflows at kernels\.cu:273",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told(library, name):
    (grid, block, arguments), expected = MISTAKES[name]
    found = library.launch(name, (grid,), (block,), arguments, shared_bytes=16)
    assert not found.ok
    assert re.search(rf"^kernel {name}, .*(?:{expected})", "\n".join(found.problems), re.MULTILINE), (
        found.problems
    )


def test_every_kernel_is_tested():
    text = Path(__file__).read_text()
    names = re.findall(r'extern "C" __global__ void (?:__launch_bounds__\(\d+\) )?(\w+)', KERNELS.read_text())
    assert len(names) > 25
    assert [name for name in names if f'"{name}"' not in text] == []


def test_what_a_kernel_reads_must_have_been_written(library):
    x, y = np.zeros(10), np.zeros(10)
    found = library.launch("axpy", (1,), (10,), (x, y, 1.0, 10), options=LaunchOptions(fresh=(0,)))
    assert re.search(
        r"axpy, .*thread \(0,0,0\): reads at .*:6 memory of the device that nobody", found.problems[0]
    )


def test_arguments_that_do_not_fit_are_refused(library):
    x = np.zeros(10)
    for arguments in ((x, x, 1.0), (x, 1, 1.0, 10), (x, x, x, 10), (x[::2], x, 1.0, 5)):
        with pytest.raises(ValueError, match="kernel `axpy`"):
            library.launch("axpy", (1,), (1,), arguments)
    with pytest.raises(ValueError, match="no kernel `nothing`"):
        library.launch("nothing", (1,), (1,), ())
    with pytest.raises(ValueError, match="sideways"):
        library.launch("axpy", (1,), (1,), (x, x, 1.0, 10), options=LaunchOptions(orders=("sideways",)))
    assert library.launch("axpy", (1,), (1025,), (x, x, 1.0, 10)).status == "cudaErrorInvalidConfiguration"


def host(program: Path, name: str, options: str = ""):
    return run(
        [str(program), name],
        timeout=Seconds(60.0),
        directory=program.parent,
        environment={"ORIO_CUDA_CPU": options},
    )


@pytest.mark.parametrize("streams", ["lazy", "eager", "random"])
def test_host_code_as_it_should_be(program, streams):
    done = host(program, "good", f"streams={streams} leaks=1 seed=3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"])
def test_limits_are_those_of_the_architecture(program, architecture):
    done = host(program, "limits", f"arch={architecture}")
    assert done.returncode == 0, done.stdout
    name, *limits, multiprocessors = done.stdout.split()
    model = gpu_models()[architecture]
    assert name == architecture
    assert [int(limit) for limit in limits] == [
        model.shared_bytes_per_block_opt_in,
        model.shared_bytes_per_multiprocessor,
        model.max_warps_per_multiprocessor * model.warp_size,
        model.max_blocks_per_multiprocessor,
    ]
    known = [product.multiprocessors for product in model.products]
    assert not known or int(multiprocessors) in known


def test_statuses(program):
    done = host(program, "sticky")
    assert (done.returncode, done.stdout) == (0, "")
    assert host(program, "good", "arch=sm_1").returncode == 66


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("no_wait", r"host code reads at .*host\.cu:\d+ memory of an operation that nobody has waited for: "
                    r"cudaMemcpyAsync of 2048 bytes"),
        ("overwrites", r"host code writes at .*host\.cu:\d+ memory of an operation that nobody has waited for"),
        ("no_event", r"kernel add_one, block \(0,0,0\), thread \(0,0,0\): reads at .* memory of the device that nobody"),
        ("host_reads", r"host code reads at .*host\.cu:\d+ byte 8 of a buffer of 32 bytes on the device"),
        ("host_argument", r"kernel add_one: argument 0 is not a pointer to memory of the device"),
        ("host_argument", r"kernel add_one, block \(0,0,0\), thread \(0,0,0\): reads 8 bytes at .*: memory of the host"),
        ("long_copy", r"cudaMemcpy: the target of 33 bytes exceeds its buffer"),
        ("freed", r"kernel add_one, .*byte 0 of a buffer of 32 bytes on the device that has been freed"),
        ("leak", r"7 objects were not given back"),
    ],
)  # fmt: skip
def test_a_mistake_of_host_code_is_told(program, name, expected):
    done = host(program, name, "leaks=1" if name == "leak" else "")
    assert done.returncode == 66
    assert re.search(rf"^orio_cuda_cpu: {expected}", done.stderr, re.MULTILINE), done.stderr


def test_every_call_can_be_made_to_fail(program):
    """Host code that looks at each status ends properly whichever call fails, and gives everything back."""
    done = host(program, "calls")
    calls, alive = (int(word) for word in done.stdout.split())
    assert calls >= 20
    assert alive == 0
    for call in range(1, calls + 1):
        done = host(program, "calls", f"fail={call}:2 leaks=1")
        assert "cudaErrorMemoryAllocation" in done.stdout, call
        assert done.stdout.split()[-1] == "0", (call, done.stdout)
        assert done.stderr == ""


@pytest.mark.skipif(not links(*SANITIZERS), reason="the compiler's sanitizer libraries are not installed")
def test_without_instrumentation_and_with_address_sanitizer(toolkit):
    """Pages around buffers, and AddressSanitizer, find what instrumentation finds elsewhere."""
    source = toolkit.folder / "far.cu"
    source.write_text(
        "#include <cuda_runtime.h>\n"
        "__global__ void far(double *x, int n)\n"
        "{\n"
        "  double local[4] = {0.0, 1.0, 2.0, 3.0};\n"
        "  __syncthreads();\n"
        "  if ((int)threadIdx.x <= n)\n"
        "    x[threadIdx.x] = local[threadIdx.x & 3u];\n"
        "}\n"
        "int main()\n"
        "{\n"
        "  double *x;\n"
        "  int n = 10;\n"
        "  void *arguments[] = {&x, &n};\n"
        "  if (cudaMalloc(&x, 80) != cudaSuccess)\n"
        "    return 2;\n"
        "  cudaError_t status = cudaLaunchKernel(far, dim3(1), dim3(32), arguments);\n"
        "  status = cudaDeviceSynchronize();\n"
        "  return status == cudaErrorIllegalAddress ? 0 : 2;\n"
        "}\n"
    )
    for check in (Check.NONE, Check.ADDRESSES):
        built = toolkit.build_program([source], toolkit.folder / f"far-{check}", check=check)
        assert isinstance(built, Artifact), built.log
        done = run([str(built.path)], timeout=Seconds(60.0), directory=toolkit.folder)
        assert done.returncode not in (0, 2)
        assert "orio_cuda_cpu: kernel far, block (0,0,0), thread (10,0,0)" in done.stderr
        assert "far.cu:7" in done.stderr
