"""Tuned CUDA kernels of contractions beside the thesis' recipe, cuTENSOR, PyTorch and what memory allows.

    python -m benchmarks.tensor.gpu --size 16 --trials 60 --kernels sd_t_d1_1 sd_t_d1_6
    python -m benchmarks.tensor.gpu --size 8 --trials 24 --device emulated:A100

Times are those of kernels, without copies: medians by the GPU's events, in milliseconds.  `recipe` is the best kernel by
the thesis' rules, `tiles` the best in register tiles.  Where they are installed, `cuTENSOR` is CuPy's einsum with it and the
addition to the output, `torch` that of PyTorch.  `bound` is what a copy on the same GPU takes for all bytes that have
to be moved, each tensor once and outputs twice.  With an emulated GPU nothing else is there to compare with.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import orio_py
from benchmarks.tensor.kernels import programs
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.program import read_program
from orio_py.tensors.contraction import Contraction, TensorProgram

REPEATS = 21
COPIED = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Found:
    """The best kernel's time in seconds, None where nothing was timed, and whether all variants were right."""

    seconds: float | None
    is_right: bool


def tuned(text: str, name: str, given: argparse.Namespace, folder: Path, *, by_recipe: bool) -> Found:
    """Tune a program for CUDA."""
    source = folder / f"{name}.tensor"
    source.write_text(text)
    options = orio_py.TuneOptions(target="cuda", trials=given.trials, seed=1, device=given.device)
    report = orio_py.tensor(source, output=folder / f"{name}.c", by_recipe=by_recipe, options=options)
    assert report.regions, report.diagnostics
    best = [region.best for region in report.regions]
    wrong = sum(region.invalid + region.failed for region in report.regions)
    times = [one.timing.median_s for one in best if one is not None]
    return Found(sum(times) if len(times) == len(best) else None, not wrong)


@dataclass(frozen=True, slots=True)
class Rivals:
    """CuPy and PyTorch, None where one is not installed or finds no GPU."""

    cupy: Any = None
    torch: Any = None

    @classmethod
    def find(cls) -> Rivals:
        """Those that are there."""
        found: dict[str, Any] = {}
        for name, works in (
            ("cupy", lambda module: module.cuda.runtime.getDeviceCount() > 0),
            ("torch", lambda module: module.cuda.is_available()),
        ):
            try:
                module = importlib.import_module(name)
                if works(module):
                    found[name] = module
            except Exception as error:  # a library that is not ours must not end the table
                print(f"no {name}: {type(error).__name__}: {error}")
        return cls(**found)

    def bandwidth(self) -> float | None:
        """Bytes read and written in a second by a copy."""
        if self.cupy is None:
            return None
        one, two = (self.cupy.zeros(COPIED, dtype=self.cupy.uint8) for _ in range(2))
        return 2 * COPIED / self._timed_by_cupy(lambda: self.cupy.copyto(two, one))

    def cutensor(self, program: TensorProgram) -> float | None:
        """CuPy's einsum with cuTENSOR, or with cuBLAS where that is not installed."""
        if self.cupy is None:
            return None
        try:
            self.cupy._core.set_routine_accelerators(["cutensor"])
        except Exception as error:  # another version of CuPy, or no cuTENSOR
            print(f"no cuTENSOR: {error}")
        arrays = {
            t.name: self.cupy.asarray(self.cupy.random.random(t.extents), order="F")
            for t in program.parameters
        }
        return self._timed_by_cupy(lambda: _run(program, arrays, self.cupy.einsum))

    def pytorch(self, program: TensorProgram) -> float | None:
        """PyTorch's einsum."""
        if self.torch is None:
            return None
        cuda = self.torch.cuda
        arrays = {
            t.name: self.torch.rand(
                tuple(reversed(t.extents)), dtype=self.torch.float64, device="cuda"
            ).permute(*reversed(range(len(t.extents))))
            for t in program.parameters
        }
        times: list[float] = []
        for _ in range(REPEATS + 2):
            begin, end = (cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            _run(program, arrays, self.torch.einsum)
            end.record()
            end.synchronize()
            times.append(1e-3 * begin.elapsed_time(end))
        return median(times[2:])

    def _timed_by_cupy(self, call: Callable[[], object]) -> float:
        times: list[float] = []
        for _ in range(REPEATS + 2):
            begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
            begin.record()
            call()
            end.record()
            end.synchronize()
            times.append(1e-3 * self.cupy.cuda.get_elapsed_time(begin, end))
        return median(times[2:])


def _run(program: TensorProgram, arrays: dict[str, Any], einsum: Callable[..., Any]) -> None:
    for statement in program.contractions:
        product = einsum(letters(statement), *(arrays[o.tensor.name] for o in statement.operands))
        if statement.operator == "-=":
            arrays[statement.output.tensor.name] -= product
        else:
            arrays[statement.output.tensor.name] += product


def letters(statement: Contraction) -> str:
    """The statement as an einsum string."""
    names = {index: chr(ord("a") + place) for place, index in enumerate(statement.extents)}
    parts = ["".join(names[i] for i in part.indices) for part in (*statement.operands, statement.output)]
    return f"{','.join(parts[:-1])}->{parts[-1]}"


def moved_bytes(program: TensorProgram) -> int:
    """What has to be moved: each tensor once, outputs there and back."""
    outputs = {statement.output.tensor.name for statement in program.contractions}
    return 8 * sum(t.size * (1 + (t.name in outputs)) for t in program.parameters)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--device", help="an emulated GPU, such as emulated:A100")
    parser.add_argument("--kernels", nargs="*")
    given = parser.parse_args()
    found = programs(given.size)
    rivals = Rivals() if given.device else Rivals.find()
    bandwidth = rivals.bandwidth()
    print(f"{'kernel':12} {'recipe':>9} {'tiles':>9} {'cuTENSOR':>9} {'torch':>9} {'bound':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.kernels or found:
            program = read_program(SourceFile(name, found[name].encode()), Span(0, len(found[name])))
            kinds = [
                tuned(found[name], name, given, Path(folder), by_recipe=first) for first in (True, False)
            ]
            bound = None if bandwidth is None else moved_bytes(program) / bandwidth
            times = [
                *(kind.seconds for kind in kinds),
                rivals.cutensor(program),
                rivals.pytorch(program),
                bound,
            ]
            shown = [f"{'-' if t is None else f'{1e3 * t:.4f}':>9}" for t in times]
            wrong = "" if all(kind.is_right for kind in kinds) else "  WRONG"
            print(f"{name:12} {' '.join(shown)}{wrong}", flush=True)


if __name__ == "__main__":
    main()
