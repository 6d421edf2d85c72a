"""Counters of real variants: taken, stored, shown, exported, minimised, refused."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import orio_py
from orio_py.build.compiler import resolve
from orio_py.cli.main import main
from orio_py.measure.evaluator import Evaluator, RunLimits
from orio_py.measure.observers.base import AnyObserver
from orio_py.measure.observers.catalog import OBSERVERS
from orio_py.measure.observers.choose import choose_observers
from orio_py.measure.observers.observing import Observation, Observing
from orio_py.measure.observers.papi import PRESETS, Papi
from orio_py.measure.observers.rapl import Rapl
from orio_py.record.trial import CounterSource
from orio_py.results import (
    Format,
    Selection,
    best_configurations,
    export_trials,
    show_finals,
    show_trials,
)
from orio_py.tuning.files.load import load
from orio_py.tuning.options import TuneOptions

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

needs_valgrind = pytest.mark.skipif(
    OBSERVERS["valgrind"].available() is not None, reason=f"{OBSERVERS['valgrind'].available()}"
)
needs_perf = pytest.mark.skipif(
    OBSERVERS["perf"].available() is not None, reason=f"{OBSERVERS['perf'].available()}"
)

SOURCE = """%(head)s
void axpy(int n, double a, double *x, double *y)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = '%(command)s'; }
    def performance_counter { %(counter)s arg repetitions = 3; }
    def performance_params { param U[] = [1, 4]; }
    def input_params { param n[] = [%(n)d]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
      decl double a = random;
    }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    y[i] = y[i] + a * %(element)s;
  /*@ end @*/
  /*@ end @*/
}
"""


def write(folder: Path, counter: str = "", **changes: object) -> Path:
    values = {"head": "", "command": "gcc -O1", "counter": counter, "n": 20000, "element": "x[i]"}
    path = folder / "axpy.c"
    path.write_text(SOURCE % {**values, **changes})
    return path


def tune(path: Path, db: Path | None = None, **options):
    chosen = TuneOptions(db=db, seed=1, **options)
    return orio_py.tune(path, output=path.with_name("out.c"), options=chosen)


def observe(path: Path, method: str, observers: Mapping[str, AnyObserver] = OBSERVERS) -> Observation:
    """The counters of the original, without a search."""
    loaded = load([path])
    assert not loaded.is_bad, loaded.diagnostics
    (task,) = loaded.tasks
    spec = replace(task.task.measurement, methods=(method,))
    choice = choose_observers(spec, None, is_parallel=False, observers=observers)
    assert choice.methods == (method,)
    compiler = resolve(task.task.build, path.parent)
    measured = replace(task.task, measurement=spec)
    evaluator = Evaluator(measured, task.points[0], compiler, path.parent / "work", RunLimits())
    try:
        baseline = evaluator.prepare({})
        return Observing(evaluator, choice.watches).observe(baseline.artifact, {})
    finally:
        evaluator.close()


def values(observation: Observation) -> dict[str, float]:
    return {counter.name: counter.value for counter in observation.counters}


# --- the observers ---


def test_rusage_counts_page_faults_time_and_memory(tmp_path: Path) -> None:
    """Each call maps fresh memory and touches its 64 pages; nothing else of the kernel faults."""
    head = """#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
static double touch(double x)
{
  long page = sysconf(_SC_PAGESIZE), k;
  char *memory = mmap(0, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, 64 * page, MADV_NOHUGEPAGE);
  for (k = 0; k < 64; k++) memory[k * page] = (char)x;
  munmap(memory, 64 * page);
  return x;
}
"""
    found = observe(write(tmp_path, head=head, element="touch(x[i])", n=10), "rusage")
    assert found.problems == ()
    assert 640 <= values(found)["page_faults"] < 660
    assert values(found)["peak_memory"] > 64 * 1024
    assert values(found)["user_time"] + values(found)["system_time"] > 0
    assert {c.source for c in found.counters} == {CounterSource.SYSTEM}


@needs_valgrind
def test_valgrind_counts_one_call_of_the_kernel_alone(tmp_path: Path) -> None:
    found = values(observe(write(tmp_path, n=20000), "valgrind"))
    assert 20000 <= found["data_writes"] < 20100
    assert 40000 <= found["data_reads"] < 40100
    assert 20000 <= found["branches"] < 20100
    assert 4 * 20000 < found["instructions"] < 8 * 20000


@needs_valgrind
def test_valgrind_counts_code_for_processors_that_it_does_not_know(tmp_path: Path) -> None:
    path = write(tmp_path, command="gcc -O3 -march=native", n=20000)
    first, second = (observe(path, "valgrind") for _ in range(2))
    assert first.problems == ()
    assert values(first)["instructions"] == values(second)["instructions"] < 4 * 20000


@needs_perf
def test_perf_counts_in_the_test_program(tmp_path: Path) -> None:
    found = observe(write(tmp_path), "perf")
    assert found.problems == ()
    assert 0 < values(found)["task_clock"] < 1
    if "instructions" in values(found):
        assert 4 * 20000 < values(found)["instructions"] < 8 * 20000


def test_rapl_adds_up_meters_that_run_over(tmp_path: Path) -> None:
    """The kernel itself moves the meter: 10 times 300 mJ per call, on a meter that restarts at 1 J."""
    folder = tmp_path / "powercap" / "intel-rapl:0"
    folder.mkdir(parents=True)
    (folder / "name").write_text("package-0\n")
    (folder / "energy_uj").write_text("900000\n")
    (folder / "max_energy_range_uj").write_text("4000000\n")
    head = f"""#include <stdio.h>
static double burn(double x)
{{
  long energy;
  FILE *file = fopen("{folder / "energy_uj"}", "r+");
  fscanf(file, "%ld", &energy);
  rewind(file);
  fprintf(file, "%ld\\n", (energy + 300000) % 4000000 + 0L);
  fclose(file);
  return x;
}}
""".replace("%", "%%")
    path = tmp_path / "axpy.c"
    path.write_text(
        (SOURCE.replace("%(head)s", head))
        % {"command": "gcc -O1", "counter": "", "n": 10, "element": "burn(x[i])"}
    )
    found = observe(path, "rapl", {"rapl": Rapl(tmp_path / "powercap")})
    (energy,) = found.counters
    assert energy.value == pytest.approx(3.0)
    assert (energy.unit, energy.source) == ("J", CounterSource.HARDWARE)


STAND_IN = """
static long long calls; static int events[8], count, running;
int PAPI_library_init(int version) { return version == (7 << 24 | 1 << 16) ? version : -1; }
int PAPI_is_initialized(void) { return 1; }
int PAPI_event_name_to_code(char *name, int *code) { *code = name[5]; return 0; }
int PAPI_create_eventset(int *set) { *set = 1; count = 0; return 0; }
int PAPI_add_event(int set, int code) { if (code == 'L' || count == 8) return -7; events[count++] = code; return 0; }
int PAPI_start(int set) { if (running) return -10; running = 1; calls++; return 0; }
int PAPI_stop(int set, long long *v) { int i; running = 0; for (i = 0; i < count; i++) v[i] = 100 * (i + 1); return 0; }
int PAPI_cleanup_eventset(int set) { count = 0; return 0; }
int PAPI_destroy_eventset(int *set) { *set = -1; return 0; }
"""


def test_papi_is_probed_and_used_through_its_library(tmp_path: Path) -> None:
    """A stand-in for the library, which counts 100, 200, … per call and refuses the cache presets."""
    (tmp_path / "papi.c").write_text(STAND_IN)
    library = tmp_path / "libpapi.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "papi.c"], check=True)
    papi = Papi(load=lambda: (str(library), ctypes.CDLL(str(library))))
    assert papi.available() is None
    assert set(papi.missing()) == {name for name, preset in PRESETS.items() if preset.startswith("PAPI_L")}
    found = observe(write(tmp_path), "papi", {"papi": papi})
    assert values(found) == {
        "instructions": 100,
        "cycles": 200,
        "branches": 300,
        "branch_misses": 400,
        "floating_point_operations": 500,
    }


class Tool:
    """A tool of our own in the place of valgrind."""

    name = "valgrind"
    keeps_files = False
    counters = OBSERVERS["valgrind"].counters

    def __init__(self, *words: str) -> None:
        self.words = words
        self.runs = 0

    def available(self) -> None:
        return None

    def missing(self) -> dict[str, str]:
        return dict.fromkeys(("branches", "branch_misses"), "not by this tool")

    def compiler_options(self, words: object) -> tuple[str, ...]:
        return ()

    def prefix(self, output: Path) -> tuple[str, ...]:
        self.runs += 1
        return self.words

    def environment(self, output: Path) -> dict[str, str]:
        return {}

    def read(self, files: Mapping[str, str]) -> dict[str, float]:
        return {"instructions": 5.0}


def test_a_tool_that_does_not_run_is_a_problem_with_a_reason(tmp_path: Path) -> None:
    found = observe(write(tmp_path), "valgrind", {"valgrind": Tool("sh", "-c", "kill -SEGV $$")})
    assert found == Observation((), ("method 'valgrind': the program was ended by SIGSEGV",))


def test_a_variant_is_run_under_a_tool_once(tmp_path: Path) -> None:
    tool = Tool("env")
    (task,) = load([write(tmp_path)]).tasks
    spec = replace(task.task.measurement, methods=("valgrind",))
    choice = choose_observers(spec, None, is_parallel=False, observers={"valgrind": tool})
    compiler = resolve(task.task.build, tmp_path)
    evaluator = Evaluator(task.task, task.points[0], compiler, tmp_path / "work", RunLimits())
    try:
        artifact = evaluator.prepare({}).artifact
        observing = Observing(evaluator, choice.watches)
        found = [observing.observe(artifact, {}) for _ in range(3)]
    finally:
        evaluator.close()
    assert [values(observation) for observation in found] == [{"instructions": 5.0}] * 3
    assert "gave no `data_reads`" in found[0].problems[0]
    assert tool.runs == 1


# --- in a tuning run ---


def test_counters_are_stored_shown_exported_and_recalled(tmp_path: Path, capsys) -> None:
    db = tmp_path / "results.db"
    path = write(tmp_path, "arg method = 'rusage';")
    report = tune(path, db, full_samples=True)
    assert report.exit_code == 0, report.diagnostics
    (region,) = report.as_json()["regions"]
    names = [counter["name"] for counter in region["baseline"]["counters"]]
    assert "page_faults" in names
    assert [counter["name"] for counter in region["best"]["counters"]] == names
    assert region["objective"] is None
    trials = show_trials(db, Selection())
    assert len(trials) == 2
    assert all(sorted(names) == sorted(c.name for c in trial.counters) for trial in trials)
    again = tune(path, db, full_samples=True)
    (remembered,) = again.as_json()["regions"]
    assert remembered["cached"] == 2
    assert remembered["best"]["counters"] == region["best"]["counters"]
    assert main(["results", "show", "--db", str(db)]) == 0
    text = capsys.readouterr().out
    assert "counters" in text
    assert "3 more" in text
    for form in ("t4", "csv"):
        assert main(["results", "export", "--format", form, "--db", str(db)]) == 0
        exported = capsys.readouterr().out
        assert "peak_memory" in exported
        if form == "t4":
            measurements = json.loads(exported)["results"][0]["measurements"]
            assert {"name", "value", "unit"} == set(measurements[-1])


@pytest.mark.proof
@needs_valgrind
def test_instructions_as_the_objective(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    path = write(tmp_path, "arg method = 'valgrind'; arg objective = 'instructions';")
    report = tune(path, db)
    assert report.exit_code == 0, report.diagnostics
    (region,) = report.regions
    assert region.goal is not None
    assert region.best is not None
    assert region.best.configuration == {"U": 4}
    assert not region.kept_original
    best = {c.name: c.value for c in region.best.counters}
    assert region.goal.best == best["instructions"]
    assert region.goal.baseline is not None
    assert region.goal.best < region.goal.baseline
    text = (tmp_path / "out.c").read_text()
    assert f"objective `instructions`: {region.goal.best:.6g}; original {region.goal.baseline:.6g}" in text
    trials = {trial.configuration["U"]: trial for trial in show_trials(db, Selection())}
    assert all(c.source is CounterSource.SIMULATED for c in trials[1].counters)
    counted = {u: {c.name: c.value for c in t.counters}["instructions"] for u, t in trials.items()}
    assert {u: dict(t.objectives) for u, t in trials.items()} == {
        u: {"instructions": value} for u, value in counted.items()
    }
    (held,) = show_finals(db, Selection())
    original, *variants = held.entries
    assert (held.objective, original.is_original) == ("instructions", True)
    assert set(original.values) == {region.goal.baseline}
    winner = next(entry for entry in variants if entry.configuration == {"U": 4})
    assert len(winner.samples) == region.best.timing.repeats
    (entry,) = best_configurations(db, Selection())
    assert (entry.objective, entry.value) == ("instructions", region.goal.best)
    _, text = export_trials(db, Selection(), Format.T4, None)
    results = json.loads(text or "")["results"]
    assert all(result["objectives"] == ["instructions"] for result in results)
    recalled = tune(path, db, trials=2)
    (region,) = recalled.regions
    assert region.best is not None
    assert region.best.configuration == {"U": 4}
    assert region.cached == 2


def test_several_objectives_give_a_front(tmp_path: Path, capsys) -> None:
    path = write(tmp_path, "arg method = 'rusage'; arg objective = ['time', 'peak_memory + 1'];")
    db = tmp_path / "r.db"
    words = ["tune", str(path), "--db", str(db), "--json", str(tmp_path / "r.json"), "--repeats", "2"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    (region,) = json.loads((tmp_path / "r.json").read_text())["regions"]
    goal = region["objective"]
    assert (goal["expression"], goal["others"]) == ("time", ["peak_memory + 1"])
    front = [tuple(point["values"]) for point in goal["front"]]
    assert front == sorted(front)
    assert [memory for _, memory in front] == sorted((memory for _, memory in front), reverse=True)
    assert "point" in shown
    capsys.readouterr()
    assert main(["results", "front", "--db", str(db), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["series"]
    assert [point["configuration"] for point in entry["front"]["points"]] == [
        point["configuration"] for point in goal["front"]
    ]


def test_an_objective_on_the_command_line_brings_its_counters(tmp_path: Path, capsys) -> None:
    path = write(tmp_path)
    words = ["tune", str(path), "--no-db", "-o", str(tmp_path / "out.c"), "--json", str(tmp_path / "r.json")]
    assert main([*words, "--objective", "time * (1 + major_page_faults)"]) == 0
    (region,) = json.loads((tmp_path / "r.json").read_text())["regions"]
    assert region["objective"]["expression"] == "time * (1 + major_page_faults)"
    assert region["objective"]["best"] > 0
    assert "major_page_faults" in [counter["name"] for counter in region["baseline"]["counters"]]
    assert "objective time" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("objective", "code", "message", "exit_code"),
    [
        ("instuctions", "ORIO-S019", "did you mean `instructions`?", 2),
        ("time *", "ORIO-E001", "error[ORIO-E001]", 2),
        ("time - 1e6 * (1 + page_faults)", "ORIO-M016", "must not be negative", 2),
    ],
)
def test_a_bad_objective_is_refused(
    tmp_path: Path, capsys, objective: str, code: str, message: str, exit_code: int
) -> None:
    words = ["tune", str(write(tmp_path)), "--no-db", "-o", str(tmp_path / "out.c")]
    assert main([*words, "--objective", objective]) == exit_code
    told = capsys.readouterr().err
    assert f"error[{code}]" in told
    assert message in told
    assert not (tmp_path / "out.c").exists()


def test_a_method_that_does_not_work_here_is_told_with_its_place(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(Rapl, "available", lambda self: "no meter")
    path = write(tmp_path, "arg method = ['rapl', 'rusage'];")
    words = ["tune", str(path), "--no-db", "-o", str(tmp_path / "out.c")]
    assert main(words) == 0
    told = capsys.readouterr().err
    assert f"{path}:7:35: warning[ORIO-M014]: method 'rapl' does not work here: no meter" in told
    assert main([*words, "--objective", "time * energy"]) == 3
    assert "error[ORIO-M015]: the objective needs the counter `energy`" in capsys.readouterr().err


def test_devices_lists_every_method_of_counting(capsys) -> None:
    assert main(["devices", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["observers"]
    assert [entry["name"] for entry in listed] == list(OBSERVERS)
    for entry in listed:
        assert entry["works"] == (entry["reason"] is None)
        assert bool(entry["counters"]) == entry["works"]
    assert main(["devices"]) == 0
    assert "counters by" in capsys.readouterr().out
