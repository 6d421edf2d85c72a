"""Tuned contractions against plain C, plain C with `restrict`, and numpy's einsum, in one run.

    python -m benchmarks.tensor --size 16 --trials 100 --kernels sd_t_d1_1 sd_t_d1_6
    python -m benchmarks.tensor --size 10 --trials 30
    python -m benchmarks.tensor --size 10 --trials 30 --thread-trials 10 --opencl-trials 10 --picture speedups.svg

Each kernel is tuned by `orio_py.tensor`; then one program's functions – plain, with `restrict`, tuned – and
`numpy.einsum` run in turn on the same arrays, so that only ratios of one run are compared.  GF/s are the
multiplications and additions of the statements by the shortest of several runs, in processor time; those of two threads
are by the clock, those of OpenCL, naive and tuned, by the time of kernels on the first device.  `near` is the number of
trials after which a variant within 5 % of the best one was found.  With `--bandwidth` there is a line on the bytes that each
moves in a second, beside loops that update the outputs from the inputs and do nothing else (`streams`), and STREAM's triad.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import orio_py
from benchmarks.tensor.devices import DeviceRow, opencl_row, threads_code
from benchmarks.tensor.kernels import programs
from benchmarks.tensor.streams import FLAGS, moved_bytes, stream_calls, triad_bytes
from orio_py.tensors.contraction import TensorProgram
from orio_py.tuning.events import Event, TrialDone

NEAR = 1.05
"""A variant within 5 % of the best one found counts as that."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of a kernel; times in seconds."""

    name: str
    operations: int
    plain: float
    restrict: float
    numpy: float
    tuned: float
    seconds: float
    near: int | None
    recipe: str
    is_right: bool
    bandwidth: str
    """How many bytes it moves in a second, and loops that do nothing else."""
    threads: float | None = None
    opencl: DeviceRow | None = None

    def speedups(self) -> dict[str, float]:
        """Over plain C, by what does it."""
        times = {
            "restrict": self.restrict,
            "numpy": self.numpy,
            "tuned": self.tuned,
            "two threads": self.threads,
        }
        if self.opencl is not None:
            times |= {"OpenCL, naive": self.opencl.naive, "OpenCL": self.opencl.tuned}
        return {name: self.plain / seconds for name, seconds in times.items() if seconds is not None}

    def device_text(self) -> str:
        """A line on two threads and OpenCL."""
        parts: list[str] = []
        if self.threads is not None:
            parts.append(f"2 threads {self.operations / self.threads / 1e9:.2f} GF/s")
        if self.opencl is not None:
            naive, tuned = self.opencl.naive, self.opencl.tuned
            rates = [f"{self.operations / t / 1e9:.2f}" if t is not None else "-" for t in (naive, tuned)]
            ratio = f" ({naive / tuned:.1f} x)" if naive is not None and tuned is not None else ""
            parts.append(
                f"OpenCL {rates[0]} naive, {rates[1]} tuned{ratio}, {self.opencl.recipe}{self.opencl.problem}"
            )
        return f"{'':12} {'; '.join(parts)}"

    def text(self) -> str:
        """A line of the table."""
        rates = [self.operations / t / 1e9 for t in (self.plain, self.restrict, self.numpy, self.tuned)]
        ratios = [t / self.tuned for t in (self.plain, self.restrict, self.numpy)]
        numbers = [*(f"{r:7.2f}" for r in rates), *(f"{r:6.2f}" for r in ratios)]
        found = "-" if self.near is None else str(self.near)
        right = "" if self.is_right else "  WRONG"
        return f"{self.name:12} {' '.join(numbers)} {found:>5} {self.seconds:6.0f}  {self.recipe}{right}"


HEADER = (
    f"{'kernel':12} {'plain':>7} {'restr':>7} {'numpy':>7} {'tuned':>7} {'x pl':>6} {'x re':>6} {'x np':>6} "
    f"{'near':>5} {'sec':>6}  recipe"
)


def measured(name: str, text: str, given: argparse.Namespace, folder: Path) -> Row:
    """Tune a kernel, and compare it with what else there is."""
    file = folder / f"{name}.tensor"
    file.write_text(text)
    begun = time.monotonic()
    options = orio_py.TuneOptions(trials=given.trials, seed=1, target="c")
    times: list[float] = []

    def listener(event: Event) -> None:
        if isinstance(event, TrialDone) and event.seconds is not None:
            times.append(event.seconds)

    report = orio_py.tensor(file, output=folder / f"{name}_tuned.c", options=options, listener=listener)
    seconds = time.monotonic() - begun
    assert report.exit_code == 0, report.diagnostics
    assert report.program is not None
    tuned = (folder / f"{name}_tuned.c").read_text()
    program = report.program
    loaded = {
        kind: _library(code, folder / f"{name}_{kind}")
        for kind, code in (
            ("plain", report.annotated.replace("restrict ", "")),
            ("restrict", report.annotated),
            ("tuned", tuned),
        )
    }
    if given.thread_trials:
        code = threads_code(name, text, given.thread_trials, folder)
        loaded["threads"] = _library(code, folder / f"{name}_two", "-fopenmp")
    arrays = _arrays(program)
    calls: dict[str, Callable[[], None]] = {
        kind: _call(library, program, arrays) for kind, library in loaded.items()
    }
    calls["numpy"] = _einsum(program, arrays)
    is_right = _agree(calls, program, arrays)
    calls |= stream_calls(program, arrays, folder)
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(given.repeats):
        for kind, call in calls.items():
            clock = time.perf_counter if kind == "threads" else time.process_time
            started = clock()
            call()
            best[kind] = min(best[kind], clock() - started)
    chosen = re.search(r"configuration: (.*)", tuned)
    return Row(
        name,
        program.operations,
        best["plain"],
        best["restrict"],
        best["numpy"],
        best["tuned"],
        seconds,
        _near(times),
        chosen[1] if chosen else "as written",
        is_right,
        _bandwidth(program, best),
        best.get("threads"),
        opencl_row(name, text, given.opencl_trials, folder) if given.opencl_trials else None,
    )


def _bandwidth(program: TensorProgram, best: Mapping[str, float]) -> str:
    moved = moved_bytes(program)
    rates = [f"{kind} {moved / best[kind] / 1e9:.1f}" for kind in ("restrict", "tuned", "streams")]
    return f"GB/s of {moved / 1e6:.0f} MB: {', '.join(rates)}; triad {triad_bytes(program) / best['triad'] / 1e9:.1f}"


def _library(code: str, place: Path, *flags: str) -> ctypes.CDLL:
    source = place.with_suffix(".c")
    source.write_text(code)
    subprocess.run(["gcc", *FLAGS, *flags, str(source), "-o", str(place.with_suffix(".so"))], check=True)
    return ctypes.CDLL(str(place.with_suffix(".so")))


def _arrays(program: TensorProgram) -> dict[str, np.ndarray]:
    numbers = np.random.default_rng(1)
    order = {"row": "C", "column": "F"}
    return {
        t.name: np.asarray(numbers.random(t.extents), order=order[t.layout.value]) for t in program.parameters
    }


def _call(
    library: ctypes.CDLL, program: TensorProgram, arrays: Mapping[str, np.ndarray]
) -> Callable[[], None]:
    function = getattr(library, program.name)
    passed = [ctypes.c_void_p(arrays[t.name].ctypes.data) for t in program.parameters]
    return lambda: function(*passed)


def _einsum(program: TensorProgram, arrays: Mapping[str, np.ndarray]) -> Callable[[], None]:
    def run() -> None:
        for statement in program.contractions:
            letters = {index: place for place, index in enumerate(statement.extents)}
            parts: list[object] = []
            for operand in statement.operands:
                parts += [arrays[operand.tensor.name], [letters[index] for index in operand.indices]]
            target = [letters[index] for index in statement.output.indices]
            product = np.einsum(*parts, target, optimize=True)  # type: ignore[call-overload]
            output = arrays[statement.output.tensor.name]
            if statement.operator == "-=":
                output -= product
            else:
                output += product

    return run


def _agree(
    calls: Mapping[str, Callable[[], None]], program: TensorProgram, arrays: Mapping[str, np.ndarray]
) -> bool:
    """Whether one call of each changes the outputs alike."""
    outputs = {statement.output.tensor.name for statement in program.contractions}
    kept = {name: arrays[name].copy() for name in outputs}
    results: list[dict[str, np.ndarray]] = []
    for call in calls.values():
        call()
        results.append({name: arrays[name] - kept[name] for name in outputs})
        for name in outputs:
            arrays[name][...] = kept[name]
    return all(
        np.allclose(result[name], results[0][name], rtol=1e-8, atol=1e-8)
        for result in results[1:]
        for name in outputs
    )


def _near(times: Sequence[float]) -> int | None:
    """After how many trials the search had a variant within 5 % of the best one."""
    return next((k for k, t in enumerate(times, start=1) if t <= NEAR * min(times)), None)


def _picture(rows: Sequence[Row], path: Path) -> str:
    """Bars as in the thesis' figures 5.1 to 5.4: for each kernel what is how much faster than plain C."""
    try:
        from matplotlib.figure import Figure  # an optional library
    except ImportError:
        return "no picture: matplotlib is not installed (pip install 'orio_py[plot]')"
    kinds = list(dict.fromkeys(kind for row in rows for kind in row.speedups()))
    figure = Figure(figsize=(max(6, 0.45 * len(rows) + 2), 4.5), layout="constrained")
    axes = figure.add_subplot()
    width = 0.8 / len(kinds)
    for number, kind in enumerate(kinds):
        places = [place + width * number for place in range(len(rows))]
        axes.bar(places, [row.speedups().get(kind, 0) for row in rows], width, label=kind)
    axes.set_xticks([place + 0.4 - width / 2 for place in range(len(rows))])
    names = [row.name.removeprefix("sd_t_") for row in rows]
    axes.set_xticklabels(names, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_xlabel("kernel")
    axes.set_ylabel("speed-up over plain C")
    axes.axhline(1, color="black", linewidth=0.5)
    axes.margins(x=0.01)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(kinds), frameon=False)
    figure.savefig(path)
    return f"wrote {path}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--kernels", nargs="*")
    parser.add_argument("--thread-trials", type=int, default=0, help="also tune for two threads")
    parser.add_argument("--opencl-trials", type=int, default=0, help="also tune for the first OpenCL device")
    parser.add_argument("--bandwidth", action="store_true", help="also print bytes moved in a second")
    parser.add_argument("--picture", type=Path, help="write a bar chart of the ratios, with matplotlib")
    given = parser.parse_args()
    found = programs(given.size)
    print(HEADER)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.kernels or found:
            row = measured(name, found[name], given, Path(folder))
            print(row.text(), flush=True)
            if given.bandwidth:
                print(f"{'':12} {row.bandwidth}", flush=True)
            if row.threads is not None or row.opencl is not None:
                print(row.device_text(), flush=True)
            rows.append(row)
    if given.picture is not None:
        print(_picture(rows, given.picture))


if __name__ == "__main__":
    main()
