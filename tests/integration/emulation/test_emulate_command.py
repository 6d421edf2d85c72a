"""`orio emulate`: reports, what can be wrong, and files of every kind."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from cuda_compilers import nvrtc_or_skip

import orio_py
from orio_py.build.cuda import CudaBuildOptions
from orio_py.cli.main import main
from orio_py.emulation import threads

pytestmark = pytest.mark.nvrtc

ROOT = Path(__file__).resolve().parents[3]
TEXTS = ROOT / "benchmarks" / "kernels" / "cuda_text"
AXPY = str(TEXTS / "vecaxpy.cu")
LAUNCH = ("--grid", "65536", "--block", "256")
KERNELS = """\
template <class T> __device__ T twice(T x) { return x + x; }
__global__ void scale(int n, float f, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = twice(f * x[i]); }
__global__ void gather(int n, const int *at, const float *x, float *y)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && at[i] >= 0)
    y[i] = x[at[i]];
}
__global__ void endless(int n, float *x) { for (unsigned i = 1; i != 0; i = i * 3u + n % 7) if (i % 5 == 2) x[i] = 1; }
"""


@pytest.fixture(autouse=True)
def compiler():
    nvrtc_or_skip()


@pytest.fixture
def several(tmp_path):
    path = tmp_path / "several.cu"
    path.write_text(KERNELS)
    return str(path)


def told(capsys, *arguments):
    status = main(["emulate", *arguments])
    return status, *capsys.readouterr()


def test_a_report(capsys):
    status, out, err = told(capsys, AXPY, *LAUNCH, "--arg", "n=16777216")
    assert (status, err) == (0, "")
    assert "vecaxpy on H200 SXM (sm_90), grid 65536x1x1, block 256x1x1" in out
    assert re.search(r"emulated time 10\d us \(.* cycles at 1980 MHz\); not measured", out)
    assert "limited by the throughput of device memory" in out
    assert re.search(r"5 +LDG\.E\.64\.CONSTANT +1 +8\.0 \(8\.0\)", out)
    assert "issue: two instructions in a cycle" in out


def test_json_says_that_it_is_emulated(capsys):
    status, out, _ = told(capsys, AXPY, *LAUNCH, "--arg", "n=16777216", "--arch", "T4", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["file"] == AXPY
    kernel = found["emulation"]
    assert (kernel["obtained"], kernel["kernel"], kernel["gpu"]) == ("emulated", "vecaxpy", "T4")
    assert kernel["seconds"] == pytest.approx(3 * 8 * (1 << 24) / 0.22e12, rel=0.05)
    assert kernel["sensitivity"]["bottleneck"] == {"resource": "dram", "bound": "throughput"}
    assert {site["space"] for site in kernel["memory"]} == {"global"}
    assert "latency of sfu" in kernel["uncertain"]
    # What has no answer is no number: JSON has no infinities.
    assert "Infinity" not in out
    assert "NaN" not in out


def test_without_sensitivity(capsys):
    status, out, _ = told(capsys, AXPY, *LAUNCH, "--arg", "n=1000", "--no-sensitivity", "--verbose")
    assert status == 0
    assert "what if" not in out
    assert "uncertain numbers of H200 SXM" in out


@pytest.mark.proof
def test_a_picture(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "axpy.svg"
    arguments = (AXPY, *LAUNCH, "--arg", "n=16777216", "--no-sensitivity", "--plot")
    assert told(capsys, *arguments, str(path))[0] == 0
    text = path.read_text()
    assert text.count("<svg") == 1
    assert "emulated" in text
    status, _, err = told(capsys, *arguments, str(tmp_path / "axpy.txt"))
    assert (status, "ORIO-D016" in err) == (2, True)


def test_loops_and_lines_are_told(capsys):
    status, out, _ = told(
        capsys, str(TEXTS / "matmul_tile.cu"), "--grid", "64x64", "--block", "16x16", "--arg", "n=1024"
    )
    assert status == 0
    assert re.search(r"loop at 0x[0-9a-f]+ +14-17, 20-21", out)
    assert "limited by the throughput of shared memory" in out


def test_foreign_texts_and_cubins(capsys, several, tmp_path):
    status, out, err = told(
        capsys, several, "--kernel", "scale", "--grid", "1024", "--block", "256", "--arg", "n=262144"
    )
    assert (status, err) == (0, "")
    assert out.startswith("scale on H200 SXM")
    built = nvrtc_or_skip().compile(KERNELS, "sm_80", CudaBuildOptions())
    cubin = tmp_path / "several.cubin"
    cubin.write_bytes(built.cubin)
    shape = ("--grid", "1024", "--block", "256", "--arch", "A100", "--kernel")
    _, _, err = told(capsys, str(cubin), *shape, "_Z5scaleifPf", "--arg", "n=262144")
    assert "help: its text is not known: parameters have numbers, from 0 to 2" in err
    status, out, _ = told(capsys, str(cubin), *shape, "_Z5scaleifPf", "--arg", "0=262144")
    assert status == 0
    assert out.startswith("scale on A100")


def test_files_with_host_code(capsys, tmp_path):
    (tmp_path / "kernel.cu").write_text(KERNELS)
    path = tmp_path / "application.cu"
    path.write_text(
        '#include <stdio.h>\n#include <cuda_runtime.h>\n#include "kernel.cu"\nFILE *out;\n'
        "void usage(const char *name);\n"
        'int main(int argc, char **argv) { scale<<<64, 64>>>(argc, 2.0f, NULL); printf("%d", argc); return 0; }\n'
    )
    status, out, err = told(
        capsys,
        str(path),
        "--kernel",
        "scale",
        "--grid",
        "64",
        "--block",
        "64",
        "--arg",
        "0=4096",
        "--no-sensitivity",
    )
    assert (status, err) == (0, "")
    assert "scale on H200 SXM" in out


def test_kernels_of_included_files_have_the_names_of_their_parameters(capsys, tmp_path):
    """Headers of the host are empty but for constants and types of numbers."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "more.h").write_text('#pragma once\ntypedef int32_t number;\n#include "scale.cu"\n')
    (folder / "scale.cu").write_text(
        '#include "more.h"\n__global__ void scale(number count, float *x)\n'
        "{ int i = blockIdx.x * 64 + threadIdx.x; if (i < count && count < INT_MAX) x[i] = FLT_MAX; }\n"
    )
    path = tmp_path / "main.cu"
    path.write_text(
        "#include <limits.h>\n#include <cfloat>\n#include <stdint.h>\n#include <sys/stat.h>\n"
        '#include "kernels/more.h"\nint main() { return stat(0, 0); }\n'
    )
    launch = (str(path), "--grid", "8", "--block", "64")
    status, out, err = told(capsys, *launch, "--arg", "count=512")
    assert (status, err) == (0, "")
    assert "scale on H200 SXM" in out
    assert "help: did you mean `count`?" in told(capsys, *launch, "--arg", "counts=512")[2]
    assert "help: known names: count, x" in told(capsys, *launch, "--arg", "whatever=512")[2]


def test_declared_functions_and_textures(capsys, tmp_path):
    """As in applications of ten years ago: prototypes with types of the host, and texture references."""
    (tmp_path / "shared.h").write_text("typedef struct { float x; } point;\nfloat rms(point *p, int n);\n")
    path = tmp_path / "application.cu"
    path.write_text(
        '#include <vector>\n#include "shared.h"\nstd::vector<point> all;\n'
        "int load(std::vector<point> &points, const char *name);\n"
        "texture<float, 1, cudaReadModeElementType> table;\n"
        'extern "C" int setup(int n) { all.resize(n); return load(all, "x"); }\n'
        "__global__ void read(int n, float *y)\n"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = tex1Dfetch(table, i); }\n"
    )
    shape = ("--grid", "4096", "--block", "256", "--arg", "n=1048576", "--no-sensitivity")
    status, out, err = told(capsys, str(path), *shape)
    assert (status, err) == (0, "")
    assert re.search(r"LDG\.E\.CONSTANT +1 +4\.0 \(4\.0\)", out)


def test_what_data_decide_is_told(capsys, several):
    status, out, err = told(
        capsys, several, "--kernel", "gather", "--grid", "64", "--block", "256", "--arg", "n=16384"
    )
    assert status == 0
    assert "warning[ORIO-U057]" in err
    assert "data decide branches (lines 6): forward ones are not taken, loops have 8 iterations" in err
    assert "data decide the addresses of 1 accesses" in err
    assert re.search(r"LDG\.E\S* +1 +32\.0 \(4\.0\) \?", out)
    status, out, err = told(
        capsys,
        several,
        "--kernel",
        "gather",
        "--grid",
        "64",
        "--block",
        "256",
        "--arg",
        "n=16384",
        "--take-branches",
    )
    assert "forward ones are taken" in err


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.cu", "--grid", "1", "--block", "1"], "error[ORIO-U006]: `nowhere.cu` does not exist"),
        ([AXPY, "--grid", "1", "--block", "0"], "error[ORIO-U052]: `--block 0`: one to three whole numbers"),
        ([AXPY, "--grid", "1,2,3,4", "--block", "1"], "error[ORIO-U052]"),
        ([AXPY, *LAUNCH], "error[ORIO-U051]: the argument `n` of `vecaxpy` has no value"),
        ([AXPY, *LAUNCH, "--arg", "n"], "error[ORIO-U051]: `--arg n`: it must read"),
        ([AXPY, *LAUNCH, "--arg", "n=1", "--arg", "n=2"], "error[ORIO-U051]: `--arg n=2`: `n` is already 1"),
        ([AXPY, *LAUNCH, "--arg", "m=1"], "error[ORIO-U051]: `--arg m=1`: `vecaxpy` has no parameter `m`"),
        ([AXPY, *LAUNCH, "--arg", "n=1.5"], "error[ORIO-U051]: `--arg n=1.5`: '1.5' is no value of `int`"),
        ([AXPY, *LAUNCH, "--arg", "n=99999999999"], "the parameter has 32 bits"),
        ([AXPY, "--grid", "1", "--block", "2048", "--arg", "n=1"], "error[ORIO-U053]: the block has 2048 threads along x"),
        ([AXPY, "--grid", "1", "--block", "1024,2", "--arg", "n=1"], "error[ORIO-U053]: `vecaxpy` cannot be launched"),
        ([AXPY, "--grid", "1,70000", "--block", "1", "--arg", "n=1"], "error[ORIO-U053]: the grid has 70000 blocks along y"),
        ([AXPY, *LAUNCH, "--arch", "sm_61", "--arg", "n=1"], "error[ORIO-U054]: kernels for sm_61 are not emulated"),
        ([AXPY, *LAUNCH, "--arch", "H300", "--arg", "n=1"], "error[ORIO-U054]: latencies and gaps of `H300` are not known"),
        ([AXPY, *LAUNCH, "--arch", "V100", "--arg", "n=1"], "error[ORIO-B021]"),
        ([AXPY, *LAUNCH, "--iterations", "0", "--arg", "n=1"], "error[ORIO-U004]: `--iterations 0`"),
        ([AXPY, *LAUNCH, "--options", "-DCOUNT='", "--arg", "n=1"], "error[ORIO-B003]"),
        ([AXPY, *LAUNCH, "--kernel", "axpy", "--arg", "n=1"], "error[ORIO-U050]"),
        ([str(TEXTS), *LAUNCH], "error[ORIO-U008]"),
    ],
)  # fmt: skip
def test_mistakes(capsys, arguments, message):
    status, out, err = told(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_mistakes_in_the_text(capsys, tmp_path, several, monkeypatch):
    bad = tmp_path / "bad.cu"
    bad.write_text('extern "C" __global__ void k(int n)\n{\n  n = m;\n}\n')
    status, _, err = told(capsys, str(bad), *LAUNCH, "--arg", "n=1")
    assert status == 2
    assert (
        f'error[ORIO-B063]: {bad} does not compile: NVRTC: {bad}:3:7: error: identifier "m" is undefined'
        in err
    )
    status, _, err = told(capsys, several, *LAUNCH, "--arg", "n=1")
    assert status == 2
    assert re.search(r"ORIO-U050\]: .* has 3 kernels", err)
    empty = tmp_path / "empty.cu"
    empty.write_text("\n")
    assert told(capsys, str(empty), *LAUNCH)[0] == 2
    monkeypatch.setattr(threads, "MOST_EXECUTED", 2000)
    status, _, err = told(
        capsys, several, "--kernel", "endless", "--grid", "1", "--block", "32", "--arg", "n=1"
    )
    assert (status, "ORIO-U055" in err) == (2, True)


def test_machine_code_for_another_gpu(capsys, tmp_path):
    built = nvrtc_or_skip().compile(Path(AXPY).read_text(), "sm_75", CudaBuildOptions())
    cubin = tmp_path / "axpy.cubin"
    cubin.write_bytes(built.cubin)
    status, _, err = told(capsys, str(cubin), *LAUNCH)
    assert status == 2
    assert "has machine code for sm_75, and H200 SXM is sm_90" in err
    cubin.write_bytes(b"\x7fELF and nothing else")
    assert told(capsys, str(cubin), *LAUNCH)[0] == 2


def test_what_the_machine_lacks(capsys):
    status, _, err = told(capsys, AXPY, *LAUNCH, "--arg", "n=1", "--nvdisasm", "/nowhere/nvdisasm")
    assert status == 3
    assert "error[ORIO-B060]" in err
    assert "orio_py[cuda]" in err


def test_the_python_api():
    report = orio_py.emulate(
        AXPY, gpu="H100 PCIe", grid=(4096, 1, 1), block=(256, 1, 1), arguments={"n": "1048576"}
    )
    assert report.exit_code == 0
    assert report.emulation.prediction.kernel.timing.name == "H100 PCIe"
    assert 5e-6 < report.emulation.prediction.seconds < 50e-6


@pytest.mark.proof
def test_the_commands_of_the_page_work():
    page = (ROOT / "docs" / "reference" / "emulation.md").read_text()
    commands = re.findall(r"^    (orio emulate .*)$", page, re.MULTILINE)
    shown = {
        "vecaxpy.cu": ("106 us", "limited by the throughput of device memory"),
        "matmul_tiled.c": ("n=2048: TX = 32, TY = 8", "of 1 launches"),
    }
    assert len(commands) == len(shown)
    for command, (name, lines) in zip(commands, shown.items(), strict=True):
        done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PATH": f"{Path(os.sys.executable).parent}:{os.environ['PATH']}"})  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert name in command
        for line in lines:
            assert line in done.stdout


def test_lines_of_included_files_are_told_with_their_names(capsys, tmp_path):
    (tmp_path / "steps.cuh").write_text(
        "__device__ inline int far(const int *p, int i)\n{ return p[p[i]]; }\n"
        "template <class T> __global__ void chase(T *x, const int *p, int n)\n"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n && p[i] > 3)\n    x[i] = x[far(p, i)]; }\n"
    )
    text = '#include "steps.cuh"\ntemplate __global__ void chase<float>(float *, const int *, int);\n'
    (tmp_path / "k.cu").write_text(text)
    shape = ("--grid", "64", "--block", "256", "--arg", "n=16384", "--no-sensitivity")
    status, out, err = told(capsys, str(tmp_path / "k.cu"), *shape)
    assert status == 0
    assert "k.cu: data decide branches (lines steps.cuh:5)" in err
    assert re.search(r"steps\.cuh:2 +LDG", out)
    _, out, _ = told(capsys, str(tmp_path / "k.cu"), *shape, "--json")
    found = json.loads(out)["emulation"]
    assert {site["line"] for site in found["memory"]} == {"steps.cuh:2", "steps.cuh:5", "steps.cuh:6"}
    assert found["data_branches"] == {"steps.cuh:5": 1}
