"""Each observer against invented machines, and the catalog against the names of the specification."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from orio_py.build.process import Completed
from orio_py.core.units import Seconds
from orio_py.measure.job import ResultLines
from orio_py.measure.observers.base import (
    InsideObserver,
    ToolObserver,
    look_at,
    usable_counters,
)
from orio_py.measure.observers.catalog import OBSERVERS
from orio_py.measure.observers.papi import Papi, load_library
from orio_py.measure.observers.perf import Perf, open_event
from orio_py.measure.observers.rapl import Rapl
from orio_py.measure.observers.valgrind import Valgrind
from orio_py.record.trial import CounterSource
from orio_py.spec.counters import METHOD_COUNTERS

HEAD = "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim"


def test_the_catalog_and_the_names_of_the_specification_agree() -> None:
    assert set(OBSERVERS) == set(METHOD_COUNTERS)
    for name, observer in OBSERVERS.items():
        assert tuple(counter.name for counter in observer.counters()) == METHOD_COUNTERS[name]
        assert isinstance(observer, InsideObserver) != isinstance(observer, ToolObserver)


@pytest.mark.parametrize("name", sorted(OBSERVERS))
def test_every_observer_tells_whether_it_works_here(name: str) -> None:
    info = look_at(OBSERVERS[name])
    assert set(info.counters) | set(info.missing) == (
        set(METHOD_COUNTERS[name]) if not info.reason else set()
    )
    assert bool(info.counters) == (info.reason is None)
    assert [c.name for c in usable_counters(OBSERVERS[name])] == list(info.counters)


# --- valgrind ---


def test_callgrinds_totals_are_added_up_and_trailing_zeros_are_zeros() -> None:
    text = f"# callgrind format\nversion: 1\n\n{HEAD}\nsummary: 1 2 3\n\nfn=(644) k\n12 7\ntotals: 6007 1003 1001 1 63 5 1 62 4 1000 10\n"
    assert Valgrind().read({"out": text}) == {
        "instructions": 6007,
        "data_reads": 1003,
        "data_writes": 1001,
        "l1_instruction_misses": 1,
        "l1_data_misses": 68,
        "last_level_misses": 67,
        "branches": 1000,
        "branch_misses": 10,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        f"{HEAD}\n",
        "totals: 1 2 3\n",
        f"{HEAD}\ntotals: one two\n",
        "events: Ir\ntotals: 1 2\n",
    ],
)
def test_what_is_no_result_of_callgrind_gives_no_counters(text: str) -> None:
    assert Valgrind().read({"out": text}) == {}


def test_counters_that_were_not_simulated_are_left_out() -> None:
    assert Valgrind().read({"out": "events: Ir Bc Bcm Bi Bim\nsummary: 50 7 2\n"}) == {
        "instructions": 50,
        "branches": 7,
        "branch_misses": 2,
    }


def test_valgrind_reports_that_it_is_missing_or_broken() -> None:
    broken = Completed(1, "", "no valgrind for this processor", False, Seconds(0.1))
    assert "not on the PATH" in str(Valgrind(find=lambda: None).available())
    assert "no valgrind for this" in str(Valgrind(find=lambda: "v", version=lambda: broken).available())
    assert {c.source for c in Valgrind().counters()} == {CounterSource.SIMULATED}


def test_only_code_for_a_certain_processor_needs_a_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert Valgrind().compiler_options(["gcc", "-O3"]) == ()
    assert "-march=haswell" in Valgrind().compiler_options(["gcc", "-O3", "-march=native"])
    assert "-mno-avx512f" in Valgrind().compiler_options(["gcc", "-mavx512vl"])
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert Valgrind().compiler_options(["gcc", "-march=native"]) == ()


# --- perf ---


def test_perf_works_in_part_without_hardware_events() -> None:
    perf = Perf(probe=lambda kind, number: errno.ENOENT if kind == 0 else 0)
    assert perf.available() is None
    assert [c.name for c in usable_counters(perf)] == ["task_clock", "page_faults"]
    assert "offers no such event" in perf.missing()["instructions"]
    assert [line.split()[2] for line in perf.job_lines()] == ["task_clock", "page_faults"]
    assert perf.job_lines()[0].split()[-1] == "1e-09"


def test_perf_says_what_forbids_it() -> None:
    reason = Perf(probe=lambda kind, number: errno.EACCES).available()
    assert "perf_event_paranoid" in str(reason)
    assert "no perf events" in str(Perf(probe=lambda kind, number: errno.ENOSYS).available())
    assert Perf(probe=lambda kind, number: errno.EMFILE).available() == "Too many open files"


def test_an_event_that_does_not_exist_is_an_error_number() -> None:
    assert open_event(1, 999_999) in (errno.ENOENT, errno.EINVAL, errno.EACCES, errno.ENOSYS, errno.EPERM)


# --- PAPI ---


def test_papi_without_its_library_says_so() -> None:
    assert load_library(("libno_such_papi.so",)) is None
    papi = Papi(load=lambda: None)
    assert "libpapi was not found" in str(papi.available())
    assert usable_counters(papi) == ()


# --- RAPL ---


def meter(folder: Path, name: str, label: str, energy: str = "123", largest: str = "1000") -> Path:
    path = folder / name
    path.mkdir()
    (path / "name").write_text(f"{label}\n")
    (path / "energy_uj").write_text(f"{energy}\n")
    (path / "max_energy_range_uj").write_text(f"{largest}\n")
    return path / "energy_uj"


def test_rapl_takes_packages_and_memory_but_nothing_twice(tmp_path: Path) -> None:
    wanted = [
        meter(tmp_path, "intel-rapl:0", "package-0"),
        meter(tmp_path, "intel-rapl:0:1", "dram", largest="77"),
        meter(tmp_path, "intel-rapl:1", "package-1"),
    ]
    meter(tmp_path, "intel-rapl:0:0", "core")
    meter(tmp_path, "intel-rapl:2", "psys")
    rapl = Rapl(tmp_path)
    assert rapl.available() is None
    assert [m.file for m in rapl.meters()] == wanted
    assert rapl.job_lines()[1] == f"observe rapl 77 {wanted[1]}"


def test_rapl_says_why_it_cannot_be_read(tmp_path: Path) -> None:
    assert "no power meter" in str(Rapl(tmp_path / "none").available())
    assert "no RAPL package" in str(Rapl(tmp_path).available())
    meter(tmp_path, "intel-rapl:0", "package-0", energy="")
    assert "cannot be read" in str(Rapl(tmp_path).available())


# --- what the test program tells ---


def test_counters_are_read_from_the_results_file() -> None:
    report = ResultLines(
        (("valid", ""), ("counter", "rusage user_time 1.5e-3"), ("counter", "perf cycles 7"), ("end", ""))
    )
    assert report.counters() == (("rusage", "user_time", 0.0015), ("perf", "cycles", 7.0))
