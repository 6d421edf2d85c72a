"""nvcc as a program: a stand-in answers for it, so that no toolkit is needed; the real one where it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cuda_compilers import CUBINS

from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import CudaBinary, CudaBuildOptions, cuda_options
from orio_py.build.nvcc import find_nvcc
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.core.units import Seconds

STAND_IN = f"""\
#!/bin/sh
case "$1" in
  --version) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0;;
  --list-gpu-code) printf 'sm_90\\nsm_75\\nsm_120\\n'; exit 0;;
esac
for word; do echo "$word" >>"$0.words"; done
if grep -q broken kernels.cu; then
  echo 'kernels.cu(1): error: identifier "broken" is undefined'
  echo '  broken'
  echo '  ^'
  exit 1
fi
grep -q nothing kernels.cu && exit 0
grep -q slow kernels.cu && exec sleep 60
cp {CUBINS}/kernels_sm_75.cubin kernels.cubin
echo ".target sm_75" >kernels.ptx
echo "ptxas info    : something" >&2
"""


@pytest.fixture
def nvcc(tmp_path):
    program = tmp_path / "nvcc"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    return find_nvcc(str(program))


def test_the_program_is_asked_what_it_is(nvcc):
    assert (nvcc.version, nvcc.architectures) == ("13.0", ("sm_75", "sm_90", "sm_120"))
    assert not nvcc.is_from_wheels


def test_its_machine_code_is_read(nvcc):
    pytest.importorskip("elftools", reason="needs pyelftools, of the extra `cuda`")
    built = nvcc.compile("text", "sm_75", cuda_options("-maxrregcount=24 -DN='a b'"))
    assert isinstance(built, CudaBinary)
    assert built.kernel("spilled").spills
    assert (built.ptx, built.log) == (".target sm_75\n", "ptxas info    : something")
    assert built.seconds > 0.0
    words = Path(f"{nvcc.path}.words").read_text().splitlines()
    assert words == [
        "--cubin",
        "--keep",
        "--keep-dir=.",
        "--gpu-architecture=sm_75",
        "--std=c++17",
        "--maxrregcount=24",
        "-DN=a b",
        "--output-file=kernels.cubin",
        "kernels.cu",
    ]


def test_errors_and_delays_are_failures(nvcc, monkeypatch):
    failed = nvcc.compile("broken", "sm_75", CudaBuildOptions())
    assert isinstance(failed, BuildFailure)
    assert failed.reason == 'nvcc: kernels.cu:1:1: error: identifier "broken" is undefined'
    nothing = nvcc.compile("nothing", "sm_75", CudaBuildOptions())
    assert isinstance(nothing, BuildFailure)
    assert nothing.reason == "nvcc: the options make no machine code"
    monkeypatch.setattr("orio_py.build.nvcc.DEFAULT_BUILD_TIMEOUT", Seconds(0.2))
    slow = nvcc.compile("slow", "sm_75", CudaBuildOptions())
    assert isinstance(slow, BuildFailure)
    assert slow.timed_out
    assert slow.reason == "nvcc took longer than 0 s"


def test_an_unknown_architecture_is_refused_by_name(nvcc):
    with pytest.raises(DiagnosticError, match="makes no machine code for `sm_35`"):
        nvcc.compile("", "sm_35", CudaBuildOptions())


def test_a_program_that_is_missing_or_broken_is_told(tmp_path):
    with pytest.raises(EnvironmentProblem, match="no nvcc: `no-such-nvcc` is not on the PATH"):
        find_nvcc("no-such-nvcc")
    broken = tmp_path / "nvcc"
    broken.write_text("#!/bin/sh\necho nothing installed >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(EnvironmentProblem, match="does not work: nothing installed"):
        find_nvcc(str(broken))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on the PATH")
def test_a_real_nvcc_compiles():
    pytest.importorskip("elftools", reason="needs pyelftools, of the extra `cuda`")
    real = find_nvcc()
    built = real.compile(
        'extern "C" __global__ void f(int *x) { *x = 1; }', real.architectures[0], CudaBuildOptions()
    )
    assert isinstance(built, CudaBinary), built
    assert [kernel.name for kernel in built.kernels] == ["f"]
    assert f".target {real.architectures[0]}" in built.ptx
