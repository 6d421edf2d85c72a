"""Counters from what Nsight Compute prints with `--csv`: a line per metric of a kernel, or (`--page raw`) one per kernel.

Source: Nsight Compute CLI, sections "Command Line Options" and "Print Units".  Metrics keep the names that the profiler gives them,
which `orio_py.model.counters.table` reads; the launch has its names there.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from orio_py.core.diagnostics import fail
from orio_py.core.source import Position
from orio_py.core.units import Seconds

TIME = "gpu__time_duration.sum"
_LAUNCH = {"launch__thread_count": "launched_threads", "launch__block_size": "threads_per_block"}
_SECONDS = {
    "second": 1.0,
    "msecond": 1e-3,
    "usecond": 1e-6,
    "nsecond": 1e-9,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
}
_NAME, _METRIC, _UNIT, _VALUE = "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class ProfiledKernel:
    """A launch of a kernel with its counters, and its time under the profiler, 0 where that was not asked for."""

    name: str
    seconds: Seconds
    counters: Mapping[str, float]


def read_nsight(text: str, name: str) -> list[ProfiledKernel]:
    """The launches in the order of the file.  Raises DiagnosticError ORIO-D007, with the line."""
    lines = text.splitlines()
    first = next(
        (k for k, line in enumerate(lines) if _NAME in line and line.lstrip().startswith('"ID"')), None
    )
    if first is None:
        fail("ORIO-D007", f"there is no line of headings with `{_NAME}`", Position(name, 1, 1))
    rows = list(csv.DictReader(_told(lines[first:])))
    found: dict[tuple[str, str], tuple[Seconds, dict[str, float]]] = {}
    units: Mapping[str, str] = {}
    for number, row in enumerate(rows, first + 2):
        if not row["ID"]:  # the line of units of a raw page
            units = {metric: unit or "" for metric, unit in row.items()}
            continue
        key = (row["ID"], row.get(_NAME) or "")
        seconds, counters = found.setdefault(key, (Seconds(0.0), {}))
        for metric, unit, value in _metrics(row, units):
            try:
                read = _number(value)
            except ValueError:
                if _METRIC not in row:
                    continue  # a raw page has texts among its columns, too
                if "." in metric:
                    fail("ORIO-D007", f"`{value}` of `{metric}` is no number", Position(name, number, 1))
                continue
            if metric == TIME:
                seconds = Seconds(read * _SECONDS.get(unit, 1e-9))
            else:
                counters[_LAUNCH.get(metric, metric)] = read
        found[key] = seconds, counters
    return [ProfiledKernel(kernel, *told) for (_, kernel), told in found.items()]


def _told(lines: Sequence[str]) -> Iterator[str]:
    """Lines of the table, without what the profiler reports between them."""
    return (line for line in dropwhile(lambda line: not line, lines) if line and not line.startswith("=="))


def _metrics(row: Mapping[str, str | None], units: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Name, unit and value of each metric in a line."""
    if row.get(_METRIC):
        yield row[_METRIC] or "", row.get(_UNIT) or "", row.get(_VALUE) or ""
        return
    for metric, value in row.items():
        if "__" in metric and value:
            yield metric, units.get(metric, ""), value


def _number(text: str) -> float:
    """A number as the profiler prints it: with commas between thousands, or for the decimal point."""
    return float(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", "."))
