"""What inputs in Orio's dialect do with CUDA: each is generated, compiled for four architectures, and run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from cuda_compilers import nvrtc_or_skip
from cuda_corpus import CALLS, FOLDER, SIZES, Variant, built, device_text, tasks, variants
from cuda_host_build import run

import orio_py
from orio_py.build.compiler import substitute
from orio_py.build.cuda import CudaBinary, CudaBuildOptions, cuda_options
from orio_py.build.cuda_cpu import cuda_on_cpu, kernel_names

CONFIGURATIONS = 3
"""Of each input: the first, the last, and one that a generator with a seed draws."""

TABLE = FOLDER / "README.md"


@dataclass(frozen=True)
class Built:
    folder: Path
    program: Path
    chosen: list[Variant]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("corpus")
    chosen = variants(CONFIGURATIONS)
    return Built(folder, built(cuda_on_cpu(folder), folder, chosen), chosen)


def test_every_input_is_run_and_told_of() -> None:
    inputs = {path.stem for path in FOLDER.glob("*.c") if not path.stem.startswith("fragment_")}
    assert inputs == set(CALLS)
    assert set(re.findall(r"`(\w+)\.c`", TABLE.read_text())) == inputs


@pytest.mark.proof
def test_kernels_compute_what_the_code_computes(corpus: Built) -> None:
    """With every access checked; most runs change something, so that equal results mean something."""
    runs = len(SIZES) * len(corpus.chosen)
    found = re.fullmatch(r"(\d+) runs, 0 differ, (\d+) changed something\n", run(corpus.program))
    assert found is not None
    assert int(found[1]) == runs
    assert int(found[2]) >= runs // len(SIZES) * (len(SIZES) - 1)


@pytest.mark.share(2)
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_kernels_compile(corpus: Built, architecture: str) -> None:
    nvrtc = nvrtc_or_skip()
    text = device_text(corpus.folder, 0)
    compiled = nvrtc.compile(text, architecture, CudaBuildOptions())
    assert isinstance(compiled, CudaBinary), compiled
    names = set(kernel_names(text))
    assert {usage.name for usage in compiled.kernels} == names
    for variant in (variant for variant in corpus.chosen if variant.number == 0):
        assert all(f"orio_cuda_{function}_0_kernel" in names for function in variant.names), variant.name


@pytest.mark.parametrize(
    ("name", "configuration", "wanted"),
    [
        ("vec_axpy", "-use_fast_math -O3", CudaBuildOptions("sm_75", fast_math=True, ptxas=("-O3",))),
        ("vec_maxpy4", "-maxrregcount=32", CudaBuildOptions("sm_80", max_registers=32)),
        ("mat_vec", "-O3", CudaBuildOptions("sm_90", ptxas=("-O3",))),
        ("fragment", "", CudaBuildOptions("sm_75", ptxas=("-O3",))),
    ],
)
def test_the_build_command_is_read_as_nvcc_reads_it(
    name: str, configuration: str, wanted: CudaBuildOptions
) -> None:
    (task,) = tasks(name)
    (flags,) = (parameter for parameter in task.parameters if parameter.name == "CFLAGS")
    assert configuration in flags.values
    compiler, *words = substitute(task.build.command, {"CFLAGS": configuration})
    assert compiler == "nvcc"
    assert cuda_options(" ".join(words)) == wanted


VECTORS = "int n, double a, double *restrict x, double *restrict y"
AXPY = "for (i = 0; i < n; i++) y[i] += a * x[i];"


@pytest.mark.parametrize(
    ("parameters", "recipe", "code", "wanted", "words"),
    [
        # Orio stages each element once for one thread; here a tile has to be read by several.
        (VECTORS, "CUDA(cacheBlocks=True, localTile=128)", AXPY, "ORIO-T130", "nothing to keep in shared memory"),
        # Orio takes what these would compute for granted.
        ("int n, double a, double **x, double *y", "CUDA()", AXPY.replace("x[i]", "x[i][0]"), "ORIO-T124", "one piece"),
        (VECTORS, "CUDA()", "for (i = 1; i < n; i++) x[i] = x[i - 1] + a;", "ORIO-T090", ""),
        (VECTORS, "CUDA()", "for (i = 0; i < n; i++) a = a + x[i];@y[0] = a;", "ORIO-T090", "reassociate"),
        (f"{VECTORS}, const int *c", "CUDA()", "for (i = 0; i < n; i++) y[i] = x[(int)y[i]];", "ORIO-T122", "x"),
        (VECTORS.replace("*restrict x", "**x"), "CUDA()", "for (i = 0; i < n; i++) y[i] = x[i][0];", "ORIO-T124", "one piece"),
        (VECTORS, "CUDA()", "for (i = 0; i < n; i++) y[i] = mine(x[i]);", "ORIO-T125", "mine"),
        # Wrong values, which Orio refuses, too.
        (VECTORS, "CUDA(threadCount=1056)", AXPY, "ORIO-T143", "1056"),
        (VECTORS, "CUDA(preferL1Size=64)", AXPY, "ORIO-T010", "0, 16, 32 or 48"),
        (VECTORS, "CUDA(streamCount=0)", AXPY, "ORIO-T011", ""),
        (VECTORS, "CUDA(threadcount=32)", AXPY, "ORIO-T002", "threadCount"),
        (VECTORS, "Composite(cuda=(32, False, False))", AXPY, "ORIO-T010", "cuda"),
    ],
)  # fmt: skip
def test_refused(tmp_path: Path, parameters: str, recipe: str, code: str, wanted: str, words: str) -> None:
    """Each with its code, the place in the file, and what it is about."""
    text = f"double mine(double);\nvoid f({parameters})\n{{\n  int i;\n  /*@ begin Loop(transform {recipe}) @*/\n"
    loop, _, after = code.partition("@")
    (tmp_path / "f.c").write_text(f"{text}  {loop}\n  /*@ end @*/\n  {after}\n}}\n")
    report = orio_py.transform(tmp_path / "f.c", output=tmp_path / "o.c")
    (problem,) = report.diagnostics
    assert (report.exit_code, problem.code) == (2, wanted), problem.headline()
    assert words in f"{problem.message} {problem.help}"
    assert problem.position is not None
    assert not (tmp_path / "o.c").exists()
