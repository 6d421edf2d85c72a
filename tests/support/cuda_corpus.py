"""The annotated inputs of `tests/compat/cuda`: their spaces, one file with many configurations of all, and its driver."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orio_py
from orio_py.build.compiler import Artifact
from orio_py.build.cuda_cpu import CudaOnCpu
from orio_py.core.expr import Value, show
from orio_py.core.source import SourceFile
from orio_py.frontend.read import read
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.task import TuningTask

GROUP = 18
FLAGS = ("-std=c99", "-O1", "-ffp-contract=off", "-Wno-unknown-pragmas")
FOLDER = Path(__file__).resolve().parents[1] / "compat" / "cuda"

_CUBE = "n % 9"  # edges of cubes

CALLS: dict[str, str] = {
    "atax": "@atax(n, A, X, Y, Z);",
    "bicgk": "@bicgk(n, m, A, X, Y, Z, W);",
    "calls": "@calls(n, 1.5, X, K, Y);",
    "columns": "@columns(n, m, A, X, Y);",
    "composite_four": "@composite_four(n, m, A, X, Y);",
    "composite_named": "@composite_named(n, m, A, B);",
    "cube": f"@cube({_CUBE}, A, B);",
    "domain_flat": f"@domain_flat({_CUBE}, 0.25, A, B);",
    "fragment": "@fragment(n, m, X, Y, A);",
    "gemver": "@gemver(n, 1.5, 0.75, A, U, V, Y, Z, B, X, W);",
    "gesummv": "@gesummv(n, 1.5, 0.75, A, B, X, Y);",
    "jacobi_1d": "@jacobi_1d(8 * n, 3, X, Y);",
    "jacobi_2d": "@jacobi_2d(n, m, A, B);",
    "jacobian_3d": f"@jacobian_3d({_CUBE}, 0.25, X, A);",
    "laplacian_3d": f"@laplacian_3d({_CUBE}, 0.25, A, B);",
    "mat_mult": "@mat_mult(n, m, A, B, C);",
    "mat_t_vec": "@mat_t_vec(n, m, A, X, Y);",
    "mat_vec": "@mat_vec(n, m, A, X, Y);",
    "mat_vec_tile": "@mat_vec_tile(n, m, A, X, Y);",
    "nested_unroll": "@nested_unroll(n, m, A, Y);",
    "residual_3d": f"@residual_3d({_CUBE}, 0.25, A, B);",
    "sizes": "@sizes(n, X, Y);",
    "sparse_diagonals": "@sparse_diagonals(n, 3, OFFSETS, A, X, Y);",
    "sparse_rows": "@sparse_rows(n, ROWS[n], ROWS, COLUMNS, A, X, Y);",
    "triangular": "@triangular(n, A, X, Y);",
    "two_functions": "@first(n, X, Y); @second(n, X, Z); @third(n, 1.5, W);",
    "types": "@types(n, 3, K, BYTES, F, L, OUT, G);",
    "vec_axpy": "@vec_axpy(9 * n, 1.5, X, Y);",
    "vec_dot": "@vec_dot(9 * n, X, Y, Z);",
    "vec_extremes": "@vec_extremes(9 * n, X, K, SUMS, OUT);",
    "vec_maxpy4": "@vec_maxpy4(9 * n, X, A, Y);",
    "vec_mult": "@vec_mult(9 * n, F, G, H);",
    "vec_norm": "SUMS[0] = @vec_norm(9 * n, X);",
    "vec_scale": "@vec_scale(9 * n, 1.5, X);",
    "vec_sum_and_store": "@vec_sum_and_store(9 * n, 1.5, X, Y, SUMS);",
    "vec_waxpy": "@vec_waxpy(9 * n, 1.5, X, Y, W);",
}
"""What runs each input, `@` before its functions, with sizes `n` and `m`."""

AROUND = {
    "fragment": (
        "void fragment(int MSIZE, int NSIZE, const double *restrict x, double *restrict y,"
        " const double *restrict A)\n{\n",
        "}\n",
    )
}
"""What stands around an input that is a fragment, to make a function of it."""

SUMS = frozenset({"vec_dot", "vec_extremes", "vec_norm", "vec_sum_and_store"})
"""Inputs whose sums are formed in another order on the device."""


@dataclass(frozen=True, slots=True)
class Variant:
    """An input with one configuration, its functions named with a prefix and the number."""

    name: str
    number: int
    values: Mapping[str, Value]

    @property
    def text(self) -> str:
        """The annotated code, each parameter with its one value."""
        text = text_of(self.name)
        for parameter, value in self.values.items():
            given = f"param {parameter}[] = [{show(value)}];"
            text, times = re.subn(rf"param {parameter}\[\] = .*;", lambda _, new=given: new, text)
            assert times == 1, (self.name, parameter)
        for function, new in zip(functions(self.name), self.names, strict=True):
            text = re.sub(rf"\b{function}(?=\()", new, text)
        return text

    @property
    def names(self) -> list[str]:
        """The names of its functions."""
        return [f"nest_{function}_{self.number}" for function in functions(self.name)]


def text_of(name: str) -> str:
    """An input as a function."""
    before, after = AROUND.get(name, ("", ""))
    return f"{before}{(FOLDER / f'{name}.c').read_text()}{after}"


def functions(name: str) -> list[str]:
    """The names of an input's functions, in order."""
    return [function for _, function, _ in _signatures(name)]


def _signatures(name: str) -> list[tuple[str, str, str]]:
    return re.findall(r"^(void|double) (\w+)\(([^)]*)\)\s*\{", text_of(name), re.MULTILINE)


def tasks(name: str) -> tuple[TuningTask, ...]:
    """The tasks of an input, which has no problem."""
    text = text_of(name).encode()
    found = read(SourceFile(f"{name}.c", text), directory=FOLDER)
    assert not [d for d in found.diagnostics if d.code != "ORIO-S007"], found.diagnostics
    return found.tasks


def configurations(name: str, count: int) -> list[Mapping[str, Value]]:
    """The first and the last configuration of an input, and some more, as many as there are up to `count`."""
    spaces = [SearchSpace(t.parameters, t.constraints, dict.fromkeys(_sizes(t), 1)) for t in tasks(name)]
    size = max(space.size for space in spaces)
    others = list(range(1, size - 1))
    ranks = dict.fromkeys([0, size - 1, *random.Random(name).sample(others, min(count, len(others)))])
    return [
        {key: value for space in spaces for key, value in space.at(rank % space.size).items()}
        for rank in list(ranks)[:count]
    ]


def _sizes(task: TuningTask) -> list[str]:
    return [parameter.name for parameter in task.inputs.parameters]


def variants(count: int) -> list[Variant]:
    """Variants of all inputs, those of one after the other."""
    return [
        Variant(name, number, values)
        for name in CALLS
        for number, values in enumerate(configurations(name, count))
    ]


def built(toolkit: CudaOnCpu, folder: Path, chosen: Sequence[Variant]) -> Path:
    """A program that compares all variants; they stand in several files, for a file with many regions takes long."""
    for extra in FOLDER.glob("fragment_*"):
        (folder / extra.name).write_bytes(extra.read_bytes())
    outputs = [_transformed(folder, k, chosen[k : k + GROUP]) for k in range(0, len(chosen), GROUP)]
    names = {name for variant in chosen for name in variant.names}
    plain = [f"-D{name}=plain_{name.removeprefix('nest_')}" for name in sorted(names)]
    for number, flags in enumerate(([], ["-DORIO_ORIGINAL", *plain])):
        for output in outputs:
            command = ["gcc", *FLAGS, *flags, "-c", f"{output}.c", "-o", f"{output}_{number}.o"]
            subprocess.run(command, cwd=folder, check=True)
    objects = [f"{output}_{number}.o" for output in outputs for number in (0, 1)]
    subprocess.run(["ar", "rcs", "libcases.a", *objects], cwd=folder, check=True)
    (folder / "driver.cu").write_text(driver(chosen))
    sources = [folder / "driver.cu", *(folder / f"{output}_cuda.cu" for output in outputs)]
    flags = ["-O0", f"-L{folder}", "-lcases", "-lm"]
    program = toolkit.build_program(sources, folder / "program", flags=flags)
    assert isinstance(program, Artifact), program.log
    return program.path


def _transformed(folder: Path, number: int, chosen: Sequence[Variant]) -> str:
    """The name of the output of some variants, without ending."""
    text = folder / f"cases{number}.c"
    text.write_text(_HEAD + "\n".join(variant.text for variant in chosen))
    report = orio_py.transform(text, output=folder / f"out{number}.c")
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    return f"out{number}"


def device_text(folder: Path, number: int) -> str:
    """The kernels of the variants of a number, from the files that `built` wrote, with what they need."""
    # Without what names have of each file.
    own = re.compile(r"_of_out\d+\b|(?<=orio_cuda)_cases\d+")
    texts = [own.sub("", path.read_text()) for path in sorted(folder.glob("out*_cuda.cu"))]
    helpers: list[str] = []
    kernels: list[str] = []
    for text in texts:
        device = re.split(r"^static_assert.*$", text.partition("\nenum {")[0], flags=re.MULTILINE)[-1]
        before, *each = re.split(r'^(?=extern "C" __global__)', device, flags=re.MULTILINE)
        helpers += [before.strip()]
        kernels += [
            kernel for kernel in each if re.search(rf"orio_cuda_nest_\w+?_{number}(?:_r\d+)?_0", kernel)
        ]
    return "\n".join([*dict.fromkeys(helpers), *kernels])


def driver(chosen: Sequence[Variant]) -> str:
    """A program that runs each variant in C and in CUDA, at several sizes, and tells where they differ."""
    declared: list[str] = []
    calls: list[str] = []
    rows: list[str] = []
    for variant in chosen:
        found = _signatures(variant.name)
        for result, function, parameters in found:
            types = ", ".join(map(_cpp_type, parameters.split(",")))
            declared += [
                f'extern "C" {result} {kind}_{function}_{variant.number}({types});'
                for kind in ("nest", "plain")
            ]
        for kind in ("nest", "plain"):
            call = re.sub(r"@(\w+)", rf"{kind}_\1_{variant.number}", CALLS[variant.name])
            calls.append(
                f"static void call_{kind}_{variant.name}_{variant.number}(data *d, int n, int m) {{ {call} (void)d; (void)m; }}"
            )
        label = f"{variant.name}_{variant.number}"
        rows.append(
            f'  {{"{label}", call_nest_{label}, call_plain_{label}, {int(variant.name not in SUMS)}}},'
        )
    return (
        _DRIVER.replace("@DECLARED@", "\n".join(declared))
        .replace("@CALLS@", "\n".join(calls))
        .replace("@ROWS@", "\n".join(rows))
    )


def _cpp_type(parameter: str) -> str:
    """The C++ type of a C parameter; arrays are pointers to their numbers."""
    found = re.fullmatch(r"\s*(?:const )?((?:unsigned )?\w+)\s+(.*)", parameter.strip(), re.DOTALL)
    assert found is not None, parameter
    return f"{found[1]} *" if "*" in found[2] or "[" in found[2] else found[1]


SIZES = ((40, 37), (7, 33), (1, 1), (0, 5))

_HEAD = """\
#include <math.h>
"""
_DRIVER = """\
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 6000, ARRAYS = 10 };

struct data {
  double numbers[ARRAYS][COUNT];
  double sums[4];
  float singles[3][COUNT];
  long longs[COUNT];
  int whole[2][COUNT];
  int rows[64];
  int columns[COUNT];
  int offsets[4];
  unsigned char bytes[COUNT];
};

#define X d->numbers[0]
#define Y d->numbers[1]
#define Z d->numbers[2]
#define W d->numbers[3]
#define U d->numbers[4]
#define V d->numbers[5]
#define A d->numbers[6]
#define B d->numbers[7]
#define C d->numbers[8]
#define SUMS d->sums
#define F d->singles[0]
#define G d->singles[1]
#define H d->singles[2]
#define L d->longs
#define K d->whole[0]
#define OUT d->whole[1]
#define ROWS d->rows
#define COLUMNS d->columns
#define OFFSETS d->offsets
#define BYTES d->bytes

@DECLARED@

@CALLS@

typedef void function(data *d, int n, int m);
static const struct { const char *name; function *cuda; function *plain; int exact; } variants[] = {
@ROWS@
};

static data start, host, device;

static void fill(int n)
{
  unsigned state = 12345;
  data *d = &start;
  memset(d, 0, sizeof *d);
  for (int k = 0; k < COUNT; k++) {
    state = state * 1103515245u + 12345u;
    for (int a = 0; a < ARRAYS; a++)
      d->numbers[a][k] = (int)(state >> (10 + a) & 255) / 16.0 - 7;
    for (int a = 0; a < 3; a++)
      d->singles[a][k] = (int)(state >> (9 + a) & 255) / 8.0f;
    K[k] = (int)(state >> 20 & 15) - 4;
    L[k] = k;
    COLUMNS[k] = n > 0 ? (k * 7 + k / 3) % n : 0;
    BYTES[k] = (unsigned char)(state >> 9);
  }
  for (int k = 1; k < 64; k++)
    ROWS[k] = ROWS[k - 1] + k * 5 % 7;
  SUMS[0] = 2.5;
  SUMS[1] = 0.5;
  SUMS[2] = -100;
  OFFSETS[0] = -2;
  OFFSETS[2] = 1;
}

static int differs(int exact)
{
  const double *one = &host.numbers[0][0], *two = &device.numbers[0][0];
  if (exact)
    return memcmp(&host, &device, sizeof host) != 0;
  for (int k = 0; k < ARRAYS * COUNT + 4; k++)
    if (!(fabs(one[k] - two[k]) <= 1e-11 * (1 + fabs(one[k]))))
      return 1;
  return memcmp(&host.singles, &device.singles, sizeof host - ((char *)&host.singles - (char *)&host)) != 0;
}

int main(void)
{
  static const int sizes[][2] = {@SIZES@};
  int bad = 0;
  int runs = 0;
  int changed = 0;
  for (auto &size : sizes) {
    fill(size[0]);
    for (auto &one : variants) {
      host = device = start;
      one.plain(&host, size[0], size[1]);
      one.cuda(&device, size[0], size[1]);
      runs++;
      changed += memcmp(&host, &start, sizeof host) != 0;
      if (differs(one.exact)) {
        bad++;
        printf("%s differs at n=%d m=%d\\n", one.name, size[0], size[1]);
      }
    }
  }
  printf("%d runs, %d differ, %d changed something\\n", runs, bad, changed);
  return bad != 0;
}
""".replace("@SIZES@", ", ".join(f"{{{n}, {m}}}" for n, m in SIZES))
