r"""Reports of bottlenecks, each confirmed by changing the code accordingly.

    python -m benchmarks.bottlenecks

Each kernel comes in three versions: as it is, changed so that it asks less of what the report says it waits for, and changed so
that it asks less of something else.  If the report is right the first change makes it faster, and the second one does not.

C kernels are tuned with a single configuration on this machine, which times and profiles them (valgrind), and reported as by
`orio results bottleneck`.  CUDA kernels are emulated for a GPU that is not there; nothing of them runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory

import orio_py
from benchmarks.emulation.searching import EmulatedNest, Nest
from orio_py.analysis import bottlenecks
from orio_py.core.units import Seconds
from orio_py.model.counters.diagnosis import Bound, Diagnosis, diagnose
from orio_py.record.measurement import Success
from orio_py.results import Selection
from orio_py.tuning.options import TuneOptions

FILE = Template("""/* The loop of one iteration is there because recipes mark loops. */
void $name($parameters)
{
  int i, j, k, once;
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1]; }
    def input_params { param n[] = [$size]; }
    def input_vars {
$data
    }
    def performance_counter { arg method = 'valgrind'; }
  ) @*/
  /*@ begin Loop(transform Unroll(ufactor=U)) @*/
  for (once = 0; once < 1; once++) {
$code
  }
  /*@ end @*/
  /*@ end @*/
}
""")


@dataclass(frozen=True)
class Version:
    """A version of a C kernel: what was changed, and its code with the types and extents of its arrays."""

    change: str
    code: str
    arrays: Mapping[str, tuple[str, str]]

    def text(self, name: str, size: int) -> str:
        """The annotated file."""
        return FILE.substitute(
            name=name,
            size=size,
            parameters=", ".join(
                ["int n", *(f"{type_} *restrict {array}" for array, (type_, _) in self.arrays.items())]
            ),
            data="\n".join(
                f"      decl dynamic {type_} {array}[{extent}] = random;"
                for array, (type_, extent) in self.arrays.items()
            ),
            code="\n".join(f"    {line}" for line in self.code.strip("\n").splitlines()),
        )


@dataclass(frozen=True)
class Kernel:
    """A C kernel, what it is expected to be bound by, and its versions: as it is, relieved, relieved elsewhere."""

    name: str
    expected: Bound
    size: int
    versions: tuple[Version, Version, Version]


def _doubles(*names: str, extent: str = "n") -> dict[str, tuple[str, str]]:
    return dict.fromkeys(names, ("double", extent))


_POWERS = """
for (i = 0; i < n; i++) {
  double sum = 0.0;
  for (j = 0; j < 32; j++) {
    double power = 1.0;
    for (k = 0; k < j; k++)
      power = power * x[i];
    sum = sum + c[j] * power;
  }
  y[i] = sum;
}
"""

_COMPACTION = """
k = 0;
for (i = 0; i < n; i++)
  if (x[i] > 1.0) {
    y[k] = x[i];
    k = k + 1;
  }
at[0] = k;
"""

_SWEEPS = """
for (i = 0; i < n; i++)
  t[i] = b[i] + c[i];
for (i = 0; i < n; i++)
  u[i] = t[i] * d[i];
for (i = 0; i < n; i++)
  a[i] = u[i] - b[i];
"""

_WALK = """
k = 0;
for (i = 0; i < n / 16; i++) {
  k = (next[k] + i * 40503) & (n - 1);
  sum[0] = sum[0] + k;
}
"""

KERNELS = (
    Kernel(
        "powers",
        Bound.COMPUTE,
        20_000,
        (
            Version(
                "powers are multiplied anew for each term",
                _POWERS,
                _doubles("x", "y") | _doubles("c", extent="32"),
            ),
            Version(
                "fewer instructions: Horner's scheme",
                _POWERS[: _POWERS.index("for (j")]
                + "for (j = 31; j >= 0; j--)\n    sum = sum * x[i] + c[j];\n  y[i] = sum;\n}\n",
                _doubles("x", "y") | _doubles("c", extent="32"),
            ),
            Version(
                "half the bytes: x and y of 4 instead of 8",
                _POWERS,
                {"x": ("float", "n"), "y": ("float", "n"), "c": ("double", "32")},
            ),
        ),
    ),
    Kernel(
        "sweeps",
        Bound.BANDWIDTH,
        1_000_000,
        (
            Version(
                "three sweeps with two arrays between them", _SWEEPS, _doubles("a", "b", "c", "d", "t", "u")
            ),
            Version(
                "fewer bytes: one sweep, nothing stored in between",
                "for (i = 0; i < n; i++)\n  a[i] = (b[i] + c[i]) * d[i] - b[i];\n",
                _doubles("a", "b", "c", "d"),
            ),
            Version(
                "fewer instructions: eight iterations at once",
                "".join(
                    "for (i = 0; i < n; i += 8) {\n"
                    + "".join(
                        f"  {left}[i + {k}] = {right.replace('[i]', f'[i + {k}]')};\n" for k in range(8)
                    )
                    + "}\n"
                    for left, right in (("t", "b[i] + c[i]"), ("u", "t[i] * d[i]"), ("a", "u[i] - b[i]"))
                ),
                _doubles("a", "b", "c", "d", "t", "u"),
            ),
        ),
    ),
    Kernel(
        "walk",
        Bound.LATENCY,
        1 << 22,
        (
            Version(
                "each address needs the element before", _WALK, {"next": ("int", "n"), "sum": ("int", "1")}
            ),
            Version(
                "four walks side by side, a quarter of the steps each",
                "int a = 0, b = 1, c = 2, d = 3;\nfor (i = 0; i < n / 64; i++) {\n"
                + "".join(f"  {v} = (next[{v}] + i * 40503) & (n - 1);\n" for v in "abcd")
                + "  sum[0] = sum[0] + a + b + c + d;\n}\n",
                {"next": ("int", "n"), "sum": ("int", "1")},
            ),
            Version(
                "fewer instructions: the sum in a register, two steps at once",
                "int s = 0;\nk = 0;\nfor (i = 0; i < n / 16; i += 2) {\n"
                "  k = (next[k] + i * 40503) & (n - 1);\n  s = s + k;\n"
                "  k = (next[k] + i * 40503 + 40503) & (n - 1);\n  s = s + k;\n}\nsum[0] = sum[0] + s;\n",
                {"next": ("int", "n"), "sum": ("int", "1")},
            ),
        ),
    ),
    Kernel(
        "compaction",
        Bound.FRONT_END,
        100_000,
        (
            Version("a branch that nothing predicts", _COMPACTION, _doubles("x", "y") | {"at": ("int", "1")}),
            Version(
                "no branch: every element is stored, the place moves on or not",
                "k = 0;\nfor (i = 0; i < n; i++) {\n  y[k] = x[i];\n  k = k + (x[i] > 1.0);\n}\nat[0] = k;\n",
                {"x": ("double", "n"), "y": ("double", "n + 1"), "at": ("int", "1")},
            ),
            Version(
                "half the bytes: x and y of 4 instead of 8",
                _COMPACTION,
                {"x": ("float", "n"), "y": ("float", "n"), "at": ("int", "1")},
            ),
        ),
    ),
)


@dataclass(frozen=True)
class DeviceVersion:
    """A version of a CUDA kernel: what was changed, and the nest with one configuration."""

    change: str
    nest: Nest


@dataclass(frozen=True)
class DeviceKernel:
    """A CUDA kernel as `Kernel`, on a GPU that is emulated."""

    name: str
    expected: Bound
    gpu: str
    versions: tuple[DeviceVersion, DeviceVersion, DeviceVersion]


_MATMUL = "for (i = 0; i < n; i++)\n  for (j = 0; j < n; j++)\n    for (k = 0; k < n; k++)\n      C[i * n + j] += A[i * n + k] * B[k * n + j];"
_SQUARE = {"A": "n*n", "B": "n*n", "C": "n*n"}
_TRIAD = "for (i = 0; i < n; i++)\n  a[i] = b[i] + 3.0 * c[i];"
_SERIES = "for (i = 0; i < n; i++) {\n  double sum = 0.0;\n  for (k = 0; k < 200; k++)\n    sum = sum * x[i] + 0.5;\n  y[i] = sum;\n}"
_COLUMNS = "for (i = 0; i < n; i++) {\n  float sum = 0.0f;\n  for (k = 0; k < 4096; k++)\n    sum += A[k * n + i];\n  y[i] = sum;\n}"


def _nest(loops: str, arrays: Mapping[str, str], size: int, recipe: str, type_: str = "double") -> Nest:
    return Nest(loops, "i, j, k", arrays, size, {"U": "[1]"}, (), recipe, type_)


DEVICE_KERNELS = (
    DeviceKernel(
        "triad",
        Bound.BANDWIDTH,
        "sm_90",
        (
            DeviceVersion(
                "arrays of doubles", _nest(_TRIAD, dict.fromkeys("abc", "n"), 1 << 24, "threadCount=256")
            ),
            DeviceVersion(
                "half the bytes: floats",
                _nest(
                    _TRIAD.replace("3.0", "3.0f"),
                    dict.fromkeys("abc", "n"),
                    1 << 24,
                    "threadCount=256",
                    "float",
                ),
            ),
            DeviceVersion(
                "fewer instructions: two iterations for each thread, as vectors",
                _nest(_TRIAD, dict.fromkeys("abc", "n"), 1 << 24, "threadCount=256, vectorWidth=2"),
            ),
        ),
    ),
    DeviceKernel(
        "series",
        Bound.COMPUTE,
        "GeForce RTX 4090",
        (
            DeviceVersion(
                "sums in doubles", _nest(_SERIES, {"x": "n", "y": "n"}, 1 << 20, "threadCount=256", "float")
            ),
            DeviceVersion(
                "another unit: sums in floats",
                _nest(
                    _SERIES.replace("double", "float").replace("0.0", "0.0f").replace("0.5", "0.5f"),
                    {"x": "n", "y": "n"},
                    1 << 20,
                    "threadCount=256",
                    "float",
                ),
            ),
            DeviceVersion(
                "fewer branches: eight terms at once",
                _nest(_SERIES, {"x": "n", "y": "n"}, 1 << 20, "threadCount=256, unrollInner=8", "float"),
            ),
        ),
    ),
    DeviceKernel(
        "product",
        Bound.BANDWIDTH,
        "sm_90",
        (
            DeviceVersion(
                "an element for each thread",
                _nest(_MATMUL, _SQUARE, 1024, "nd=2, threadCount=[32, 8], unrollInner=8", "float"),
            ),
            DeviceVersion(
                "fewer loads: four by four elements for each thread, in registers",
                _nest(
                    _MATMUL,
                    _SQUARE,
                    1024,
                    "nd=2, threadCount=[32, 8], registerTile=[4, 4], unrollInner=8",
                    "float",
                ),
            ),
            DeviceVersion(
                "more warps at a time: blocks of 1024 threads",
                _nest(_MATMUL, _SQUARE, 1024, "nd=2, threadCount=[32, 32], unrollInner=8", "float"),
            ),
        ),
    ),
    DeviceKernel(
        "columns",
        Bound.LATENCY,
        "sm_90",
        (
            DeviceVersion(
                "one sum for each thread, few threads",
                _nest(_COLUMNS, {"A": "4096*n", "y": "n"}, 8192, "threadCount=64, unrollInner=1", "float"),
            ),
            DeviceVersion(
                "more loads at a time: the inner loop is unrolled",
                _nest(_COLUMNS, {"A": "4096*n", "y": "n"}, 8192, "threadCount=64, unrollInner=16", "float"),
            ),
            DeviceVersion(
                "a quarter of the bytes: elements of one byte",
                _nest(
                    _COLUMNS.replace("sum += A", "sum += (float)A"),
                    {"A": "4096*n", "y": "n"},
                    8192,
                    "threadCount=64, unrollInner=1",
                    "signed char",
                ),
            ),
        ),
    ),
)


@dataclass(frozen=True)
class Reported:
    """A version with its time and what it waits for."""

    change: str
    seconds: float
    found: Diagnosis


def reports(kernel: Kernel, folder: Path) -> Iterator[Reported]:
    """Tune each version, which has one configuration, and read the report of the database.

    Raises RuntimeError where a version could not be tuned.
    """
    for number, version in enumerate(kernel.versions):
        path, database = folder / f"{kernel.name}{number}.c", folder / f"{kernel.name}{number}.db"
        path.write_text(version.text(kernel.name, kernel.size))
        options = TuneOptions(db=database, search="exhaustive", full_samples=True)
        told = orio_py.tune(path, output=folder / "out.c", options=options)
        if told.exit_code:
            raise RuntimeError(f"{path.name}: {[d.headline() for d in told.diagnostics]}")
        (entry,) = bottlenecks(database, Selection())
        assert isinstance(entry.best.measurement, Success)
        yield Reported(version.change, entry.best.measurement.time, entry.found)


def device_reports(kernel: DeviceKernel, folder: Path) -> Iterator[Reported]:
    """Emulate each version.  Raises RuntimeError where a version cannot be emulated."""
    for number, version in enumerate(kernel.versions):
        path = folder / f"{kernel.name}{number}.c"
        path.write_text(version.nest.text(kernel.name))
        nest = EmulatedNest(path, kernel.gpu)
        first = nest.space.first()
        assert first is not None
        outcome = nest(first)
        if outcome.objective is None:
            raise RuntimeError(f"{path.name}: {version.change}: {outcome.failure}")
        found = diagnose(Seconds(outcome.objective), outcome.counters)
        assert found is not None
        yield Reported(version.change, outcome.objective, found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Report all kernels; 1 where a report is not what was expected or a change does not bear it out."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.bottlenecks", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--only", default="", metavar="A,B", help="these kernels only")
    parser.add_argument("--no-cuda", action="store_true", help="C kernels only")
    chosen = parser.parse_args(arguments)
    wanted = set(filter(None, chosen.only.split(",")))
    print(
        "| kernel | version | time | against the first | bound by | largest parts |\n|---|---|---|---|---|---|"
    )
    is_right = True
    with TemporaryDirectory() as name:
        for kernel in KERNELS if chosen.no_cuda else (*KERNELS, *DEVICE_KERNELS):
            if wanted and kernel.name not in wanted:
                continue
            where = "C" if isinstance(kernel, Kernel) else f"CUDA, {kernel.gpu}, emulated"
            told = reports if isinstance(kernel, Kernel) else device_reports
            found = list(told(kernel, Path(name)))  # type: ignore[arg-type]
            for one in found:
                print(_row(f"{kernel.name} ({where})", one, found[0]), flush=True)
            first, relieved, other = found
            is_right &= first.found.bound is kernel.expected
            is_right &= first.seconds / relieved.seconds > 1.2 * max(1.0, first.seconds / other.seconds)
    print("\nall reports are borne out" if is_right else "\nsome report is not borne out")
    return 0 if is_right else 1


def _row(title: str, one: Reported, first: Reported) -> str:
    parts = ", ".join(f"{name} {100 * value:.0f} %" for name, value in list(one.found.parts.items())[:3])
    speed = f"{first.seconds / one.seconds:.2f}x"
    return f"| {title} | {one.change} | {one.seconds * 1e3:.3g} ms | {speed} | {one.found.bound} | {parts} |"


if __name__ == "__main__":
    sys.exit(main())
