"""Each parameter of CUDA does something: what stands in the generated text with it, and not without it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import orio_py
from orio_py.build.cuda import CudaBuildOptions, cuda_options
from orio_py.transformation.catalog import TRANSFORMATIONS

LINE = "for (i = 0; i < n; i++) y[i] = a * x[i];"
NEAR = "for (i = 1; i < n; i++) y[i] = x[i] - x[i - 1];"
ROWS = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[i] += A[i][j] * x[j];"
PLANE = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[i][j] = a * B[j][i];"
BINS = "for (i = 0; i < n; i++) bins[i & 7]++;"
CUBE = "for (i = 0; i < n; i++) for (j = 0; j < 9; j++) for (k = 0; k < 8; k++) V[i][j][k] = a;"
DEEP = (
    "for (i = 1; i < n; i++) for (j = 0; j < 9; j++) for (k = 0; k < 8; k++)"
    " V[i][j][k] = x[(i * 9 + j) * 8 + k] - x[((i - 1) * 9 + j) * 8 + k] + x[(i * 9 + j) * 8 + k + 1];"
)
TWICE = "for (k = 0; k < 3; k++) for (i = 0; i < n; i++) y[i] += x[i];"
SERIAL = "for (i = 1; i < n; i++) y[i] = y[i - 1] + 1;"

ROW = tuple[str, str, str, str, tuple[str, ...]]
CASES: tuple[ROW, ...] = (
    ("loop", TWICE, "", "loop='i'", ("orio_cuda_f_0_kernel", "orio_trips_i")),
    ("nd", PLANE, "", "nd=2", ("orio_trips_j", "blockIdx.y", "{32, 4}")),
    ("nd", CUBE, "nd=2", "nd=3", ("orio_trips_k", "blockIdx.z", "{32, 4, 1}")),
    ("nd", PLANE, "nd=2", "nd=['j', 'i']", ("orio_i = blockIdx.x",)),
    ("domain", CUBE, "", "domain='i, j, k'", ("blockIdx.z", "{32, 4, 1}")),
    ("threadCount", LINE, "", "threadCount=96", ("__launch_bounds__(96)", "blockIdx.x * 96")),
    ("threadCount", PLANE, "nd=2", "nd=2, threadCount=[16, 8]", ("{16, 8}", "blockIdx.y * 8")),
    ("threadCount", CUBE, "nd=3", "nd=3, threadCount=[8, 4, 2]", ("{8, 4, 2}", "__launch_bounds__(64)")),
    ("blockCount", LINE, "", "blockCount=14", ("{14}", "orio_i += gridDim.x")),
    ("blockCount", PLANE, "nd=2", "nd=2, blockCount=[3, 5]", ("{3, 5}",)),
    ("blockCount", CUBE, "nd=3", "nd=3, blockCount=[3, 5, 7]", ("{3, 5, 7}",)),
    ("coarsen", LINE, "", "coarsen=4", ("orio_i += gridDim.x", "orio_groups(orio_trips_i, 512)")),
    ("spread", LINE, "coarsen=4", "coarsen=4, spread='blocked'", ("orio_piece_i",)),
    ("unrollInner", ROWS, "", "unrollInner=4", ("#pragma unroll 4",)),
    ("streamCount", NEAR, "", "streamCount=3", ("ORIO_STREAMS = 3", "cudaStreamWaitEvent", "orio_from_i")),
    ("cacheBlocks", NEAR, "", "cacheBlocks=True", ("__shared__", "__syncthreads()")),
    ("localTile", NEAR, "cacheBlocks=True", "cacheBlocks=True, localTile=256", ("[257]",)),
    ("registerTile", LINE, "", "registerTile=2", ("orio_place_i_1", "orio_groups(orio_trips_i, 256)", "orio_whole")),
    ("rowThreads", PLANE, "", "rowThreads=64", ("__launch_bounds__(64)", "orio_j += 64")),
    ("march", DEEP, "nd=3", "nd=3, march=16", ("orio_queue_x_1", "orio_length_i", "orio_place_i < orio_length_i")),
    ("march", DEEP, "nd=3, march=16", "nd=3, march=16, cacheBlocks=True", ("orio_slot_tile_x_0", "__syncthreads()")),
    ("cacheUpdates", BINS, "", "cacheUpdates=True", ("__shared__", "__syncthreads()")),
    ("vectorWidth", LINE, "", "vectorWidth=2", ("orio_load<2>(", "orio_groups(orio_trips_i, 256)")),
    ("layout", ROWS, "", "layout='column'", ("orio_rows_A", "j * orio_rows_A + i")),
    ("preferL1Size", LINE, "", "preferL1Size=16", ("cudaFuncAttributePreferredSharedMemoryCarveout, 75",)),
    ("preferL1Size", LINE, "preferL1Size=16", "preferL1Size=48", ("SharedMemoryCarveout, 25",)),
    ("pinHostMem", LINE, "", "pinHostMem=True", ("orio_look_0, 1, 0,",)),
    ("dataOnDevice", LINE, "", "dataOnDevice=True", ("_on_device(const double *x, double *y",)),
    ("launchBounds", LINE, "", "launchBounds=4", ("__launch_bounds__(128, 4)",)),
    ("maxRegisters", LINE, "", "maxRegisters=40", ("__maxnreg__(40)",)),
    ("force", SERIAL, "", "force=True", ("orio_cuda_f_0_kernel",)),
    ("arch", LINE, "launchBounds=32, threadCount=64", "launchBounds=32, threadCount=64, arch='sm_90'", ("(64, 32)",)),
)  # fmt: skip
"""Parameter, nest, arguments without and with it, and what stands in the text then; refused recipes have no text."""


def generated(folder: Path, nest: str, arguments: str) -> str:
    """The kernels, the host code and its header, without the ends of names of the file; nothing where the recipe is refused."""
    (folder / "f.c").write_text(f"""\
int bins[8];
void f(int n, int m, double a, double *restrict x, double *restrict y, double A[restrict n][m],
       double B[restrict m][n], double V[restrict n][9][8])
{{
  int i, j, k;
  /*@ begin Loop(transform CUDA({arguments})) @*/
  {nest}
  /*@ end @*/
}}
""")
    report = orio_py.transform(folder / "f.c", output=folder / "o.c")
    texts = [path.read_text() for path in report.outputs if path.suffix in {".cu", ".h"}]
    return re.sub(r"_of_o\b", "", "\n".join(texts))


@pytest.mark.parametrize(("name", "nest", "without", "given", "words"), CASES)
def test_a_parameter_has_an_effect(
    tmp_path: Path, name: str, nest: str, without: str, given: str, words: tuple[str, ...]
) -> None:
    assert name in given
    before, after = generated(tmp_path, nest, without), generated(tmp_path, nest, given)
    assert [word for word in words if word not in after] == []
    assert [word for word in words if word in before] == []


def test_every_parameter_is_told_of_and_tried() -> None:
    names = {argument.name for argument in TRANSFORMATIONS["CUDA"].arguments}
    assert {case[0] for case in CASES} == names
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "cuda.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert names <= {word for row in rows for word in row.split("`")}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-arch=sm_90", CudaBuildOptions("sm_90")),
        ("-O3 -use_fast_math", CudaBuildOptions(fast_math=True, ptxas=("-O3",))),
        ("-maxrregcount 64", CudaBuildOptions(max_registers=64)),
        ("-Xcompiler -fopenmp -DN=4", CudaBuildOptions(flags=("-DN=4",))),
    ],
)
def test_options_of_the_build_command(text: str, wanted: CudaBuildOptions) -> None:
    assert cuda_options(text) == wanted
